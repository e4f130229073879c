"""Parts of the language whose meaning hangs on a definition elsewhere: enums, generators, operators of own classes."""

from __future__ import annotations

import pytest

from analyzer.domain.notation import to_text
from tests.support.project import disagreements, extracted

CASES = {
    "a member of a numeric enum": (
        "from enum import IntEnum\nclass Level(IntEnum):\n    LOW = 3\n    HIGH = 9",
        "n -= Level.LOW * 2",
        "tokens - 6",
    ),
    "a numeric member compared with a number": (
        "from enum import IntEnum\nclass Level(IntEnum):\n    LOW = 3\n    HIGH = 9",
        "n -= 1 if Level.HIGH == 9 else 2",
        "tokens - 1",
    ),
    "members that are counted": (
        "from enum import IntEnum, auto\nclass Level(IntEnum):\n    NONE = 4\n    LOW = auto()\n    HIGH = auto()",
        "n -= Level.HIGH + Level.LOW.value",
        "tokens - 11",
    ),
    "an operator of an own class": (
        "class By:\n  def __mul__(self, x):\n    return x * 2\n  def __rsub__(self, x):\n    return x - 7",
        "n = n - By() - By() * 3",
        "tokens - 13",
    ),
    "the truth of an own class": (
        "class Off:\n  def __bool__(self):\n    return False\nclass Held:\n  def __len__(self):\n    return 2",
        "n -= 1 if Off() else 2\nheld = Held()\nn -= 10 if held else 20",
        "tokens - 12",
    ),
    "a named tuple": (
        "from typing import NamedTuple\nclass Pair(NamedTuple):\n    a: int = 5\n    b: int = 7",
        "x, y = Pair(b=1)\nn -= x * 10 + y + Pair()[1]",
        "tokens - 58",
    ),
    "what a context manager hands out": (
        "from contextlib import contextmanager\n@contextmanager\ndef reserve(size):\n  kept = size * 2\n  yield kept",
        "with reserve(4) as kept:\n    n -= kept",
        "tokens - 8",
    ),
    "what a context enters": (
        "class Reserve:\n    def __enter__(self):\n        return 6\n    def __exit__(self, *args):\n        pass",
        "with Reserve() as kept:\n    n -= kept",
        "tokens - 6",
    ),
    "a generator": (
        "def sizes(page):\n    yield 1\n    if page > 1:\n        yield 10\n    yield from (100, 200)",
        "n -= sum(sizes(self.page_size))",
        "tokens - (311 if page_size > 1 else 301)",
    ),
    "a list that grows for whoever holds it": ("", "a = [1]\nb = a\nb += [2, 3]\nn -= sum(a)", "tokens - 6"),
    "a match on values": (
        "",
        "match self.page_size, self.tp_size:\n  case 1, _: n -= 1\n  case 64 | 16, ranks: n -= ranks\n  case _: n -= 3",
        "tokens - (1 if page_size == 1 else tp_size if page_size in (16, 64) else 3)",
    ),
    "a text that is known": ("", "self.k_2 = 4\nn -= getattr(self, f'k_{1 + 1}')", "tokens - 4"),
    "numbers that begin elsewhere": (
        "",
        "n -= sum(i * x for i, x in enumerate((5, 7), start=2))\nn -= sum((1, 2), start=4)",
        "tokens - 38",
    ),
    "quotient and remainder": ("", "q, r = divmod(n, 7)\nn = q * 1000 + r", "tokens // 7 * 1000 + tokens % 7"),
    "the largest by a key": ("", "n -= max((3, -9, 5), key=abs) + min((3, 8), key=lambda x: -x)", "tokens + 1"),
    "a reduction": (
        "import functools, operator\nfrom typing import cast",
        "n -= functools.reduce(operator.mul, [2, 3, self.page_size], 1) + cast(int, 5)",
        "tokens - 6 * page_size - 5",
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_the_language_is_followed(name: str) -> None:
    module, lines, expression = CASES[name]
    pool = f"n = self.profile_max_num_token(before)\n{lines}\nself.max_total_num_tokens = n"
    extraction = extracted(module=module, pool=pool)
    assert disagreements(extraction, expression) == []
    assert extraction.gaps == ()


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("while k > self.tp_size: k //= 2", "while k >= self.tp_size: k //= 2"),
        ("for layer in self.model.layers: k = self.more(k)", "for layer in self.model.others: k = self.more(k)"),
        ("k = float(f'{self.page_size}.5')", "k = float(f'{self.page_size}.7')"),
        ("k = float('%d.5' % self.page_size)", "k = float('%d.7' % self.page_size)"),
    ],
    ids=["condition", "sequence", "f-string", "template"],
)
def test_what_is_not_followed_still_shows_that_it_changed(before: str, after: str) -> None:
    texts = []
    for changed in (before, after):
        pool = f"n = self.profile_max_num_token(before)\nk = 8\n{changed}\nself.max_total_num_tokens = n - int(k)"
        texts.append(to_text(extracted(pool=pool).quantities["max_total_num_tokens"].term))
    assert texts[0] != texts[1]
