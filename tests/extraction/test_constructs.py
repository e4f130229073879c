"""Each construct that a formula has been written with, as a variation of the small project."""

from __future__ import annotations

import pytest

from tests.support.project import disagreements, extracted

PROFILE = """
after = get_available_gpu_memory(self.device, self.gpu_id, distributed=self.tp_size > 1)
left = after - before * (1 - self.mem_fraction_static)
"""


def profile(*lines: str) -> str:
    """A sizing method that measures, computes `left`, and then does `lines`."""
    return PROFILE + "\n".join(lines)


def pool(*lines: str) -> str:
    """A pool method that sizes `n` and then does `lines`."""
    return "n = self.profile_max_num_token(before)\n" + "\n".join(lines)


def check(expression: str, files: dict[str, str] | None = None, **parts: str) -> None:
    """The varied project computes what `expression` says on every machine, without a gap."""
    extraction = extracted(files, **parts)
    assert disagreements(extraction, expression) == []
    assert extraction.gaps == ()


ARITHMETIC = [
    ("left * (1 << 30) // c", "budget * GIB // cell"),
    ("int(left * (1 << 30) // c)", "tokens"),
    ("int(left * 1024**3) // c", "int(budget * GIB) // cell"),
    ("int(left * (1 << 30) / c)", "int(budget * GIB / cell)"),
    ("int(left * 1073741824 // (c + 576))", "int(budget * GIB // (cell + 576))"),
    ("4 * int(left * (1 << 30) // c) - 12 * int(left) * 7 // (3 * 7 + 1)", "4 * tokens - 12 * int(budget) * 7 // 22"),
    ("int(left * (1 << 30) // c) // self.page_size * self.page_size", "tokens // page_size * page_size"),
    ("-(-int(left * (1 << 30) // c) // self.page_size)", "-(-tokens // page_size)"),
    ("int(left * (1 << 30) // c) % 1000 ** 1", "tokens % 1000"),
    ("int(left * (1 << 30) // c) >> 3", "tokens >> 3"),
    ("round(left * (1 << 30) / c)", "round(budget * GIB / cell)"),
    ("max(int(left * (1 << 30) // c), 256)", "max(tokens, 256)"),
    ("min(max(int(left * (1 << 30) // c), 256), 100_000)", "min(max(tokens, 256), 100000)"),
    ("int(min((left, 20.5)) * (1 << 30) // c)", "int(min(budget, 20.5) * GIB // cell)"),
    ("abs(int(left * (1 << 30) // c))", "abs(tokens)"),
    ("int(sum([left, 1, 2]) * (1 << 30) // c)", "int((budget + 1 + 2) * GIB // cell)"),
    ("int(left * 2**30 // c) if left > 0 else 0", "tokens if budget > 0 else 0"),
    ("int(left * (1 << 30) // c) if 10 < left <= 60 else 1", "tokens if 10 < budget <= 60 else 1"),
    ("(left > 0 and int(left * (1 << 30) // c)) or 7", "(budget > 0 and tokens) or 7"),
    ("int(left * (1 << 30) // c) * (self.tp_size in (1, 2))", "tokens * (tp_size in (1, 2))"),
]


@pytest.mark.parametrize(("returned", "expression"), ARITHMETIC)
def test_arithmetic_keeps_order_and_types(returned: str, expression: str) -> None:
    check(expression, profile=profile("c = self.bytes_per_token()", f"return {returned}"))


STATEMENTS = [
    ("n = min(n, self.server_args.max_total_tokens or n)", "min(tokens, max_total_tokens or tokens)"),
    (
        "if self.server_args.max_total_tokens is not None: n = min(n, self.server_args.max_total_tokens)",
        "tokens if max_total_tokens is None else min(tokens, max_total_tokens)",
    ),
    (
        "if self.tp_size > 2: n //= 2\nelif self.page_size > 1: n -= 5\nelse: n += 1",
        "tokens // 2 if tp_size > 2 else tokens - 5 if page_size > 1 else tokens + 1",
    ),
    (
        "if self.tp_size > 2:\n  if self.page_size > 1: n //= 2\n  else: n = 9",
        "(tokens // 2 if page_size > 1 else 9) if tp_size > 2 else tokens",
    ),
    ("x, (y, *_) = n, (3, 4, 5)\nn = x * y", "tokens * 3"),
    ("a = b = n\nn = a + b", "tokens + tokens"),
    ("a, b = n, 2\na, b = b, a\nn = b - a", "tokens - 2"),
    ("n = (lambda x, y=2: x * y)(n)", "tokens * 2"),
    ("scale = lambda x: x * self.page_size\nn = scale(n)", "tokens * page_size"),
    ("def align(x):\n  return x // self.page_size * self.page_size\nn = align(n)", "tokens // page_size * page_size"),
    ("k = 2\ndef scale(x):\n  return x * k\nk = 3\nn = scale(n)", "tokens * 3"),
    ("k = 2\ndef bump():\n  nonlocal k\n  k = 5\nbump()\nn *= k", "tokens * 5"),
    (
        "if (cap := self.server_args.max_total_tokens) is not None: n = min(n, cap)",
        "tokens if max_total_tokens is None else min(tokens, max_total_tokens)",
    ),
    (
        "if cap := self.server_args.max_total_tokens: n = min(n, cap)",
        "min(tokens, max_total_tokens) if max_total_tokens else tokens",
    ),
    ("for k in (2, 3): n -= k", "tokens - 2 - 3"),
    ("for k in range(1, 4): n -= k", "tokens - 1 - 2 - 3"),
    ("for i, k in enumerate([5, 6]): n -= i * k", "tokens - 0 - 6"),
    ("for k in (2, 3, 4):\n  if k == 3: continue\n  n -= k", "tokens - 2 - 4"),
    (
        "for k in (2, 3, 4):\n  if k > self.tp_size: break\n  n -= k\nelse:\n  n = 0",
        "tokens - (2 if tp_size >= 2 else 0) - (3 if tp_size >= 3 else 0) if tp_size < 4 else 0",
    ),
    ("for k, v in {'a': 1, 'b': 2}.items(): n -= v", "tokens - 1 - 2"),
    ("k = 3\nwhile k > 0:\n  n -= k\n  k -= 1", "tokens - 3 - 2 - 1"),
    ("while True:\n  n -= 1\n  break", "tokens - 1"),
    ("n -= sum(k for k in (1, 2, 3) if k != 2)", "tokens - 4"),
    ("n -= len([k for k in range(10) if k % 3 == 0])", "tokens - 4"),
    ("n -= max({'a': 1, 'b': self.page_size}.values())", "tokens - max(1, page_size)"),
    ("sizes = {'small': 1}\nsizes['large'] = 9\nn -= sizes['large'] + sizes.get('none', 2)", "tokens - 11"),
    ("sizes = [1, 2]\nsizes.append(4)\nn -= sizes[-1] + len(sizes)", "tokens - 7"),
    ("sizes = [1, 2]\nsizes[0] = 9\nn -= sizes[0]", "tokens - 9"),
    ("n -= [1, 2, 3][1:][0]", "tokens - 2"),
    ("n -= any([self.tp_size > 2, False])", "tokens - (tp_size > 2)"),
    ("try:\n  n -= 1\nexcept Exception:\n  n = 0", "tokens - 1"),
    ("try:\n  n -= 1\nexcept Exception:\n  n = 0\nelse:\n  n -= 2\nfinally:\n  n -= 4", "tokens - 7"),
    ("try:\n  raise ValueError\nexcept ValueError:\n  n -= 3", "tokens - 3"),
    (
        "try:\n  if self.tp_size > 2: raise KeyError\n  n -= 1\nexcept TypeError:\n  n = 0\nexcept KeyError:\n  n -= 8",
        "tokens - 8 if tp_size > 2 else tokens - 1",
    ),
    ("with torch.device('cuda') as _: n -= 1", "tokens - 1"),
    ("assert True\nn -= 1", "tokens - 1"),
    ("del before\nn -= 1", "tokens - 1"),
    ("n -= isinstance(self.page_size, int) and 0 or 0", "tokens - 0"),
    ("logger.info(f'{n=} {before:.2f}')\nn -= 1", "tokens - 1"),
    ("n = n if isinstance(n, int) else int(n)", "tokens"),
    ("n -= getattr(self, 'headroom', 6)", "tokens - 6"),
    ("n -= getattr(self, 'page_size', 6)", "tokens - page_size"),
    ("setattr(self, 'headroom', 4)\nn -= self.headroom", "tokens - 4"),
    ("n -= 3 if hasattr(self, 'nothing') else 4", "tokens - 4"),
    ("kw = {'x': 2}\ndef sub(x, y=1): return x + y\nn -= sub(**kw) + sub(*[1, 2])", "tokens - 6"),
    ("def total(*rest, **named): return sum(rest) + named['z']\nn -= total(1, 2, z=3)", "tokens - 6"),
    ("import math\nn = math.ceil(n / 7) + math.gcd(12, 18)", "math.ceil(tokens / 7) + 6"),
    ("from math import floor as down\nn = down(n / 7)", "math.floor(tokens / 7)"),
]


@pytest.mark.parametrize(("lines", "expression"), STATEMENTS)
def test_statements_between_the_count_and_the_sink(lines: str, expression: str) -> None:
    check(expression, pool=pool(lines, "self.max_total_num_tokens = n"))


RETURNS = [
    ("if self.tp_size > 2: return 5\nreturn n", "5 if tp_size > 2 else tokens"),
    (
        "if self.tp_size > 2:\n  if self.page_size > 1: return 5\n  n -= 1\nelse:\n  return 6\nreturn n",
        "6 if tp_size <= 2 else 5 if page_size > 1 else tokens - 1",
    ),
    (
        "for k in (1, 2, 4):\n  if k == self.tp_size: return n * k\nreturn n",
        "tokens * tp_size if tp_size in (1, 2, 4) else tokens",
    ),
    ("try:\n  raise KeyError\nexcept KeyError:\n  return n - 2", "tokens - 2"),
    ("try:\n  return n - 1\nfinally:\n  n = 0", "tokens - 1"),
    ("try:\n  try:\n    raise KeyError\n  except:\n    return n - 2\nexcept:\n  return 0", "tokens - 2"),
    ("with torch.no_grad():\n  return n - 1", "tokens - 1"),
    ("while True:\n  if n: return n\n  return 0", "tokens"),
    ("return (n, 3)[0] - (n, 3)[1]", "tokens - 3"),
    ("def go():\n  if self.tp_size > 2: return 1\n  return 2\nreturn n - go()", "tokens - (1 if tp_size > 2 else 2)"),
    ("return [f() for f in (lambda: n, lambda: 1)][0]", "tokens"),
]


@pytest.mark.parametrize(("lines", "expression"), RETURNS)
def test_ways_to_return(lines: str, expression: str) -> None:
    check(
        expression,
        pool="self.max_total_num_tokens = self.clamp(self.profile_max_num_token(before))",
        methods="def clamp(self, n):\n    " + lines.replace("\n", "\n    "),
    )


MODULE = [
    ("LIMIT = 3", "LIMIT", "3"),
    ("BASE = 3\nLIMIT = BASE * 2", "LIMIT", "6"),
    ("SIZES = [3, 4]\nSIZES.append(5)", "len(SIZES)", "3"),
    ("SIZES = {'a': 3}", "SIZES['a']", "3"),
    ("A, B = 3, 4", "B", "4"),
    ("try:\n    import absent\n    LIMIT = 3\nexcept ImportError:\n    LIMIT = 4", "LIMIT", "3"),
    ("if True:\n    LIMIT = 3\nelse:\n    LIMIT = 4", "LIMIT", "3"),
    ("LIMIT = 3\nif LIMIT > 2:\n    LIMIT += 1", "LIMIT", "4"),
    ("def limit(x=3):\n    return x", "limit()", "3"),
    ("LIMIT = int(os.getenv('SGLANG_LIMIT', '3'))", "LIMIT", "3"),
    ("LIMIT = int(os.environ.get('SGLANG_LIMIT', 3))", "LIMIT", "3"),
    ("FLAG = os.getenv('SGLANG_FLAG', 'false').lower() in ('true', '1')", "(3 if FLAG else 4)", "4"),
    ("FLAG = os.getenv('SGLANG_FLAG')", "(3 if FLAG else 4)", "4"),
    (
        "def flag(name):\n    return os.getenv(name, 'true').lower() == 'true'\nFLAG = flag('SGLANG_FLAG')",
        "(3 if FLAG else 4)",
        "3",
    ),
    ("limit = lambda x: x + 1", "limit(2)", "3"),
]


@pytest.mark.parametrize(("module", "read", "expression"), MODULE)
def test_names_of_the_module(module: str, read: str, expression: str) -> None:
    check(f"tokens - {expression}", module=module, pool=pool(f"self.max_total_num_tokens = n - {read}"))


def test_an_environment_variable_is_an_input() -> None:
    extraction = extracted(
        module="LIMIT = int(os.getenv('SGLANG_LIMIT', '3'))", pool=pool("self.max_total_num_tokens = n - LIMIT")
    )
    assert disagreements(extraction, "tokens - 3") == []
    assert "env.SGLANG_LIMIT" in extraction.inputs


def test_the_bytes_era_gives_the_same_count() -> None:
    check(
        "int(((available_gpu_memory * GIB) - (pre_model_load_memory * GIB) * (1 - mem_fraction_static)) // cell)",
        init="before = get_available_gpu_memory(self.device, self.gpu_id) * (1 << 30)\nself.init_memory_pool(before)",
        profile="""
            after = get_available_gpu_memory(self.device, self.gpu_id) * (1 << 30)
            left = after - before * (1 - self.mem_fraction_static)
            return int(left // self.bytes_per_token())
        """,
    )


MATCHES = [
    ("match self.tp_size:\n  case 1: n -= 1\n  case 2 | 4: n -= 2\n  case _: n -= 3", "tokens - {1: 1, 4: 2}[tp_size]"),
    (
        "match (self.tp_size, self.page_size):\n  case (1, p) if p > 4: n -= p\n  case (4, 64): n -= 7\n  case _: pass",
        "tokens - (page_size if tp_size == 1 and page_size > 4 else 7 if tp_size == 4 else 0)",
    ),
    (
        "match self.server_args.max_total_tokens:\n  case None: pass\n  case int(cap): n = min(n, cap)",
        "tokens if max_total_tokens is None else min(tokens, max_total_tokens)",
    ),
    ("match n:\n  case k if k > 1000: n = k - 1000", "tokens - 1000 if tokens > 1000 else tokens"),
]


@pytest.mark.parametrize(("lines", "expression"), MATCHES)
def test_a_match_chooses_as_python_does(lines: str, expression: str) -> None:
    check(expression, pool=pool(lines, "self.max_total_num_tokens = n"))
