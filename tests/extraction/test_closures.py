"""Nested functions and lambdas see the variables around them, as these are when they are called."""

from __future__ import annotations

import pytest

from tests.support.executed import Sizing, disagreements

CALL = "def call(f):\n    return f()"
LATE = {
    "a lambda": Sizing("k = 2\nf = lambda: k * 3\nk = 5\nn -= f()"),
    "handed on": Sizing("k = 2\nf = lambda: k * 3\nk = 5\nn -= call(f)", CALL),
    "a function handed on": Sizing("k = 2\ndef f():\n    return k * 3\nk = 5\nn -= call(f)", CALL),
    "returned": Sizing(
        "n -= make()()", "def make():\n    k = 2\n    def f():\n        return k * 3\n    k = 7\n    return f"
    ),
    "kept in a dict": Sizing("k = 2\nd = {'a': lambda: k * 3}\nk = 5\nn -= d['a']()"),
    "kept in an attribute": Sizing("k = 2\nself.f = lambda: k * 3\nk = 5\nn -= self.f()"),
    "made in a loop": Sizing("fs = []\nfor k in (1, 2, 3):\n    fs.append(lambda: k * 10)\nn -= fs[0]()"),
    "set on some ways": Sizing("k = 2\nf = lambda: k * 3\nif self.tp_size > 2:\n    k = 50\nn -= call(f)", CALL),
    "set after the definition": Sizing("def f():\n    return later * 3\nlater = 4\nn -= f()"),
    "a key to sort by": Sizing("k = 1\nf = lambda v: v * k\nk = -1\nn -= sorted([1, 2, 3], key=f)[0]"),
    "one that calls itself": Sizing("def f(i):\n    return 1 if i <= 1 else i * f(i - 1)\nn -= f(4)"),
    "one that calls another": Sizing("k = 2\ndef f():\n    return k\ndef g():\n    return f() * 10\nk = 3\nn -= g()"),
    "two of one function": Sizing(
        "a = make(3)\nb = make(5)\nn -= a() * 10 + b()", "def make(k):\n    return lambda: k * 2"
    ),
}

BUMP = "k = 1\ndef bump():\n    nonlocal k\n    k += 4\n"
REBOUND = {
    "here": Sizing(BUMP + "bump()\nbump()\nn -= k"),
    "handed on": Sizing(BUMP + "twice(bump)\nn -= k", "def twice(f):\n    f()\n    f()"),
    "on some ways": Sizing(
        "k = 1\ndef bump():\n    nonlocal k\n    if self.tp_size > 2:\n        k = 40\nbump()\nn -= k"
    ),
    "two functions up": Sizing(
        "k = 1\ndef a():\n    def b():\n        nonlocal k\n        k = 9\n    b()\n    return k\nn -= a() * 10 + k"
    ),
}

EVERY = {**{f"read: {name}": s for name, s in LATE.items()}, **{f"set: {name}": s for name, s in REBOUND.items()}}


@pytest.mark.parametrize("name", EVERY)
def test_a_nested_function_and_the_one_around_share_variables(name: str) -> None:
    assert disagreements(EVERY[name]) == []
