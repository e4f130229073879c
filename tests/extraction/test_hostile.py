"""Source that is broken, malicious or unknown: an answer, a gap or one clear error, never a crash or a wrong value."""

from __future__ import annotations

import pytest

from analyzer.domain.errors import AnchorNotFoundError, ExtractionError, SourceSyntaxError
from analyzer.domain.extraction import Extraction
from tests.support.project import (
    COUNT,
    MODEL_CONFIG,
    RUNNER,
    SERVER_ARGS,
    UTILS,
    WORKER,
    disagreements,
    extract_project,
    extracted,
    minimal_project,
)

SINK = "\nself.max_total_num_tokens = n"


def is_honest(extraction: Extraction, expression: str) -> bool:
    """Whether the count is right, or says that something was not followed."""
    return bool(extraction.gaps) or disagreements(extraction, expression) == []


def refusal(files: dict[str, str] | None = None, /, **parts: str) -> str:
    """The error that a project is refused with, "" when it has a formula."""
    try:
        extracted(files, **parts)
    except ExtractionError as error:
        return str(error)
    return ""


UNKNOWN = {
    "a loop of unknown length": ("for layer in self.model.layers: n -= layer.size", "'unknown'"),
    "a loop that may not end": ("while self.more(): n -= 1", "'unknown'"),
    "a loop over an open range": ("for i in range(self.page_size): n -= i", "'unknown'"),
    "an endless loop": ("while True: n -= 1", "'unknown'"),
    "a loop that writes an attribute": (
        "self.k = 1\nfor layer in self.model.layers: self.k += 1\nn -= self.k",
        "'unknown'",
    ),
    "a loop that returns early": ("n = self.search(n)", "'unknown'"),
    "a match statement": (
        "match self.sizes():\n  case {'a': k}: n -= k\n  case _: n -= 2",
        "'unknown'",
    ),
    "a name bound nowhere": ("n -= no_such_name", "'unknown'"),
    "an import that leads nowhere": ("from sglang.srt.nowhere import k\nn -= k", "'unknown'"),
    "an await": ("n -= (await self.more())", "'unknown'"),
    "recursion": ("n -= self.down(n)", "'unknown'"),
    "mutual recursion": ("n -= self.ping(n)", "'unknown'"),
    "a global that functions set": ("bump()\nn -= LEVEL", "tokens - 2"),
    "a starred target": ("a, *b = 1, 2, 3\nn -= b[1]", "tokens - 3"),
    "an item of unknown position": ("sizes = [1, 2, 3]\nsizes[self.page_size] = 9\nn -= sizes[0]", "'unknown'"),
    "a dict changed under an open key": (
        "sizes = {1: 5}\nsizes[self.page_size] = 9\nn -= sizes[1]",
        "tokens - (9 if page_size == 1 else 5)",
    ),
    "a dict filled in a loop": (
        "sizes = {}\nfor layer in self.model.layers:\n    sizes[layer.name] = 1\nn -= len([k for k in sorted(sizes)])",
        "'unknown'",
    ),
    "a list filled in a loop": (
        "sizes = []\nfor layer in self.model.layers:\n    sizes.append(len(sizes))\nn -= len(sizes)",
        "'unknown'",
    ),
    "a dict changed in a branch": (
        "sizes = {1: 5}\nif self.page_size > 1:\n    sizes[self.page_size] = 9\nn -= sizes[1]",
        "tokens - 5",
    ),
    "exec": ("exec('n = 5')\nn -= 0", "tokens"),
    "a generator": ("n -= sum(self.parts())", "tokens - 3"),
}
METHODS = """
def more(self):
    return self.model.more
def search(self, n):
    for layer in self.model.layers:
        if layer.size > 4:
            return n - 4
    return n
def down(self, n):
    return 0 if n <= 0 else 1 + self.down(n // 2)
def ping(self, n):
    return self.pong(n - 1)
def pong(self, n):
    return self.ping(n - 1)
def sizes(self):
    return {"a": self.tp_size}
def parts(self):
    yield 1
    yield 2
"""


@pytest.mark.parametrize("name", UNKNOWN)
def test_what_is_not_followed_is_a_gap_and_never_a_wrong_value(name: str) -> None:
    lines, expression = UNKNOWN[name]
    module = "LEVEL = 1\ndef bump():\n    global LEVEL\n    LEVEL = 2"
    assert is_honest(extracted(pool=COUNT + lines + SINK, methods=METHODS, module=module), expression)


def test_a_gap_names_its_place_and_what_it_affects() -> None:
    extraction = extracted(pool=COUNT + "for layer in self.model.layers:\n    n -= layer.size" + SINK)
    (gap,) = extraction.gaps
    line = minimal_project(pool=COUNT + "for layer")[RUNNER].splitlines().index("        for layer") + 1
    assert (gap.path, gap.line) == (f"python/{RUNNER}", line)
    assert "unknown length" in gap.reason
    assert "max_total_num_tokens" in gap.affects


def test_a_loop_that_feeds_nothing_is_no_gap() -> None:
    assert extracted(pool=COUNT + "for layer in self.model.layers: layer.reset()" + SINK).gaps == ()


def test_a_changed_loop_is_another_unknown() -> None:
    one, other = (extracted(pool=COUNT + f"for x in self.model.layers: n -= {k}" + SINK) for k in (1, 2))
    assert one.quantities["max_total_num_tokens"].term is not other.quantities["max_total_num_tokens"].term


HUGE = {
    "a shift": "n -= 1 << (1 << 30)",
    "a power": "n -= 10 ** 10 ** 10",
    "a product": "n -= (1 << 4000) * (1 << 4000) * (1 << 4000)",
    "a long number": "n -= " + "9" * 5000,
    "a long number in other digits": "n -= 0x" + "f" * 5000,
    "a repeated string": "n -= len('x' * (1 << 40))",
    "a long range": "n -= len(range(1 << 60))",
    "a range beyond a machine word": "n -= len(range(1 << 100))",
    "a range without a step": "n -= len(range(1, 5, 0))",
    "a list that doubles": "s = [1, 2]\n" + "s = s + s\n" * 40 + "n -= len(s)",
    "a tuple that doubles": "s = (1, 2)\n" + "s = s + s\n" * 40 + "n -= len(s)",
    "a list that grows by itself": "s = [1, 2]\n" + "s.extend(s)\n" * 40 + "n -= len(s)",
    "a long list": "n -= len([0] * (1 << 40))",
    "a float overflow": "n -= int(1e308 * 10)",
    "a division by zero": "n -= 1 // 0",
    "a negative shift": "n -= 1 << -1",
    "nested loops": "for a in range(500):\n  for b in range(500):\n    for c in range(500): n -= 1",
    "a doubling formula": "for _ in range(400): n = n + n if self.tp_size > n else n - n",
    "doubling branches": "\n".join(f"if self.page_size > {k}: n += {k}" for k in range(200)),
    "a long sum": "n -= " + "+".join(["1"] * 2000),
    "a deep expression": "n -= " + "(" * 150 + "1" + ")" * 150,
    "deep conditions": "".join(f"{' ' * k}if self.page_size > {k}:\n" for k in range(90)) + " " * 90 + "n -= 1",
    "a chain of conditions": "if self.page_size == 0: n -= 1\n"
    + "".join(f"elif self.page_size == {k}: n -= {k}\n" for k in range(1, 300)),
    "nested functions": "\n".join(f"{' ' * k}def f{k}():" for k in range(20)) + "\n" + " " * 20 + "return 1",
}


def test_long_numbers_are_told_apart() -> None:
    one, other = (extracted(pool=COUNT + f"n -= 0x{'f' * 5000}{digit}" + SINK) for digit in "12")
    assert one.quantities["max_total_num_tokens"].term is not other.quantities["max_total_num_tokens"].term
    assert one.gaps


@pytest.mark.parametrize("name", HUGE)
def test_no_source_can_exhaust_the_machine(name: str) -> None:
    assert "\n" not in refusal(pool=COUNT + HUGE[name] + SINK)


@pytest.mark.parametrize(
    "lines",
    [
        "n -= " + "(" * 500 + "1" + ")" * 500,
        "".join(f"{' ' * k}if n:\n" for k in range(300)) + " " * 300 + "n -= 1",
        "n -= " + "-" * 50_000 + "1",
    ],
    ids=["parentheses", "ifs", "signs"],
)
def test_too_deep_a_source_is_one_clear_error(lines: str) -> None:
    with pytest.raises(ExtractionError) as caught:
        extracted(pool=COUNT + lines + SINK)
    assert "model_runner.py" in str(caught.value)
    assert "\n" not in str(caught.value)


CYCLES: dict[str, tuple[dict[str, str], str, str]] = {
    "modules that import each other": (
        {"sglang/srt/a.py": "from sglang.srt.b import k\n", "sglang/srt/b.py": "from sglang.srt.a import k\n"},
        "from sglang.srt.a import k",
        "n -= k",
    ),
    "star imports in a circle": (
        {"sglang/srt/a.py": "from sglang.srt.b import *\n", "sglang/srt/b.py": "from sglang.srt.a import *\n"},
        "from sglang.srt.a import *",
        "n -= k",
    ),
    "a module variable that needs itself": ({}, "k = k + 1", "n -= k"),
    "variables that need each other": ({}, "j = lambda: k()\nk = lambda: j()", "n -= k()"),
    "a class attribute that needs itself": ({}, "class A:\n    k = k + 1", "n -= A.k"),
    "a class that inherits from itself": ({}, "class A(A):\n    pass", "n -= A().k"),
    "classes that inherit from each other": ({}, "class A(B):\n    j = 1\nclass B(A):\n    j = 2", "n -= A().k"),
    "a property that reads itself": (
        {},
        "class A:\n    @property\n    def k(self):\n        return self.k",
        "n -= A().k",
    ),
    "a constructor that constructs itself": (
        {},
        "class A:\n    def __init__(self):\n        self.a = A()",
        "n -= A().k",
    ),
    "a default that calls its function": ({}, "def f(x=f()):\n    return x", "n -= f()"),
    "a closure that calls itself": ({}, "", "def f(): return f()\nn -= f()"),
    "a list that holds itself": ({}, "", "a = []\na.append(a)\nn -= len(a)"),
    "an object that holds itself": ({}, "class A:\n    k = 1", "a = A()\na.a = a\nn -= a.a.a.k"),
}


@pytest.mark.parametrize("name", CYCLES)
def test_circles_end(name: str) -> None:
    files, module, lines = CYCLES[name]
    assert "\n" not in refusal(files, module=module, pool=COUNT + lines + SINK)


def test_a_runner_that_inherits_from_itself_is_read() -> None:
    assert disagreements(extracted(bases="(ModelRunner)"), "tokens") == []


@pytest.mark.parametrize(
    ("files", "missing", "hint"),
    [
        ({}, "ModelRunner", "runner_classes"),
        (
            minimal_project(pool="self.tokens = self.profile_max_num_token(before)"),
            "max_total_num_tokens",
            "sink_attributes",
        ),
        (minimal_project() | {WORKER: "class Worker:\n    pass\n"}, "ModelRunner", "driver_folders"),
        (minimal_project(pool="self.max_total_num_tokens = 4096"), "measure", "measure_functions"),
        (
            {p: t.replace("get_available_gpu_memory", "free_memory") for p, t in minimal_project().items()},
            "measure",
            "measure_functions",
        ),
    ],
    ids=["no runner", "no sink", "no driver", "no measurement", "another measuring function"],
)
def test_a_missing_anchor_is_named_with_advice(files: dict[str, str], missing: str, hint: str) -> None:
    with pytest.raises(AnchorNotFoundError) as caught:
        extract_project(files)
    assert missing in str(caught.value)
    assert hint in caught.value.hint
    assert caught.value.where
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("path", [RUNNER, WORKER, UTILS, MODEL_CONFIG, SERVER_ARGS])
@pytest.mark.parametrize(
    "content", [b"x = '\xff\xfe'\n", b"def f(:\n", b"\x00"], ids=["no UTF-8", "no Python", "a null byte"]
)
def test_a_file_that_cannot_be_read_is_named(path: str, content: bytes) -> None:
    with pytest.raises(SourceSyntaxError) as caught:
        extract_project({**minimal_project(), path: minimal_project()[path].encode() + content})
    assert path in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_broken_file_beside_the_path_does_not_matter() -> None:
    extraction = extract_project(
        {**minimal_project(), "sglang/srt/models/broken.py": b"def f(:\n", "sglang/srt/test/x.py": b"\xff"}
    )
    assert disagreements(extraction, "tokens") == []


def test_an_empty_file_is_a_module() -> None:
    extraction = extract_project({**minimal_project(), "sglang/__init__.py": b"", "sglang/srt/managers/empty.py": b""})
    assert disagreements(extraction, "tokens") == []


@pytest.mark.parametrize(("mark", "ending"), [(b"\xef\xbb\xbf", "\n"), (b"", "\r\n")], ids=["mark", "CRLF"])
def test_every_file_in_another_layout(mark: bytes, ending: str) -> None:
    extraction = extract_project(
        {path: mark + text.replace("\n", ending).encode() for path, text in minimal_project().items()}
    )
    assert extraction.quantities == extracted().quantities
