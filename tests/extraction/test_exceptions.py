"""What fails and is caught: the branch of the handler is the value; what ``finally`` does is done on every way."""

from __future__ import annotations

import pytest

from tests.support.executed import Sizing, disagreements


def attempt(expression: str, exception: str, module: str = "", before: str = "") -> Sizing:
    """`k` is an expression, or 9 where that fails."""
    return Sizing(f"{before}\ntry:\n    k = {expression}\nexcept {exception}:\n    k = 9\nn -= k", module)


PARSE = "def parse(t):\n    try:\n        return int(t)\n    except ValueError:\n        return 9"
TABLE = "D = {'a': 4}\ndef find(t):\n    return D[t]"
CAUGHT = {
    "text that is no number": attempt("int('x')", "ValueError"),
    "text that is one": attempt("int('7')", "ValueError"),
    "text that is no float": attempt("int(float('x'))", "Exception"),
    "no text at all": attempt("int(self.server_args.max_total_tokens)", "TypeError"),
    "one of two": attempt("int(self.server_args.max_total_tokens)", "(TypeError, ValueError)"),
    "a missing key": attempt("{'a': 1}['b']", "KeyError"),
    "a key that is there": attempt("{'a': 1}['a']", "KeyError"),
    "a key that is not known": attempt("{1: 10, 4: 40}[self.tp_size]", "KeyError"),
    "a missing element": attempt("[1][3]", "IndexError"),
    "by the class above": attempt("[1][3]", "LookupError"),
    "an empty list": attempt("xs.pop()", "IndexError", before="xs = []"),
    "a division by zero": attempt("5 // z", "ZeroDivisionError", before="z = 0"),
    "by what may be zero": attempt("5 // (self.page_size - 1)", "ZeroDivisionError"),
    "an attribute of nothing": attempt("x.y", "AttributeError", before="x = None"),
    "arithmetic with nothing": attempt("x + 1", "TypeError", before="x = None"),
    "nothing left": attempt("next(iter([]))", "StopIteration"),
    "the largest of nothing": attempt("max([])", "ValueError"),
    "in what is called": attempt("find('x')", "KeyError", TABLE),
    "in what is called, not this time": attempt("find('a')", "KeyError", TABLE),
    "of a class of its own": attempt(
        "fail()", "Base", "class Base(Exception):\n    pass\nclass Sub(Base):\n    pass\ndef fail():\n    raise Sub()"
    ),
    "of a class under a builtin one": attempt(
        "fail()", "ValueError", "class Sub(ValueError):\n    pass\ndef fail():\n    raise Sub()"
    ),
    "inside the callee": Sizing("n -= parse('x') + parse('30')", PARSE),
    "only looked up": Sizing("d = {'a': 1}\ntry:\n    d['b']\nexcept KeyError:\n    n -= 8"),
    "after some of it is done": Sizing(
        "d = {}\ntry:\n    k = 2\n    d['b']\n    k = 3\nexcept KeyError:\n    pass\nn -= k"
    ),
    "in a condition": Sizing("d = {}\ntry:\n    if d['b'] > 3:\n        n -= 1\nexcept KeyError:\n    n -= 8"),
    "in place": Sizing("d = {}\ntry:\n    n -= d['b']\nexcept KeyError:\n    n -= 8"),
    "with an else": Sizing(
        "d = {'a': 1}\ntry:\n    k = d['a']\nexcept KeyError:\n    k = 8\nelse:\n    k += 30\nn -= k"
    ),
    "done once": Sizing("xs = [1, 2, 3]\ntry:\n    k = xs.pop()\nexcept IndexError:\n    k = 9\nn -= k + sum(xs) * 10"),
    "at the top of a module": Sizing("n -= T", "try:\n    T = int('x')\nexcept ValueError:\n    T = 5"),
}

METHOD = "def f(self):\n    try:\n        {}\n    finally:\n        self.x = 12"
FINALLY = {
    "after a return": Sizing("self.f()\nn -= self.x", methods=METHOD.format("return 3"), init="self.x = 1"),
    "after a raise": Sizing(
        "try:\n    self.f()\nexcept ValueError:\n    pass\nn -= self.x",
        methods=METHOD.format("raise ValueError"),
        init="self.x = 1",
    ),
    "in the place of a return": Sizing(
        "n -= f()", "def f():\n    try:\n        return 3\n    finally:\n        return 11"
    ),
    "what is returned is computed before": Sizing(
        "n -= f()", "def f():\n    x = [1]\n    try:\n        return sum(x)\n    finally:\n        x.append(5)"
    ),
    "on some ways": Sizing(
        "n -= self.f() + self.x * 100",
        methods="def f(self):\n    try:\n        if self.tp_size > 2:\n            return 3\n        self.x = 5\n"
        "    finally:\n        self.x += 12\n    return 4",
        init="self.x = 1",
    ),
}

EVERY = {**CAUGHT, **FINALLY}


@pytest.mark.parametrize("name", EVERY)
def test_what_fails_is_caught_as_python_does(name: str) -> None:
    assert disagreements(EVERY[name]) == []
