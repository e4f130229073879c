"""Instances that ``__new__`` makes, and named tuples, however they are declared."""

from __future__ import annotations

import pytest

from tests.support.executed import Sizing, disagreements

NEW = {
    "by object": Sizing(
        "n -= A(3).x",
        "class A:\n    def __new__(cls, x):\n        made = object.__new__(cls)\n"
        "        made.x = x * 5\n        return made",
    ),
    "and initialized": Sizing(
        "a = A(3)\nn -= a.x * 10 + a.y",
        "class A:\n    def __new__(cls, x):\n        made = super().__new__(cls)\n"
        "        made.y = 4\n        return made\n"
        "    def __init__(self, x):\n        self.x = x * 6",
    ),
    "of another type": Sizing("n -= A(3)", "class A:\n    def __new__(cls, x):\n        return x * 5"),
    "once": Sizing(
        "A().x = 9\nn -= A().x",
        "class A:\n    made = None\n    x = 1\n    def __new__(cls):\n        if cls.made is None:\n"
        "            cls.made = super().__new__(cls)\n        return cls.made",
    ),
}

USES = "t = T(3, 4)\na, b = t\nn -= t.a * 1000 + t[1] * 100 + a * 10 + b"
PLAIN = "from collections import namedtuple\nimport typing\nimport collections\n"
TUPLES = {
    "names in a text": Sizing(USES, PLAIN + "T = collections.namedtuple('T', 'a b')"),
    "names with commas": Sizing(USES, PLAIN + "T = namedtuple('T', 'a, b')"),
    "names in a list": Sizing(USES, PLAIN + "T = namedtuple('T', ['a', 'b'])"),
    "names with types": Sizing(USES, PLAIN + "T = typing.NamedTuple('T', [('a', int), ('b', int)])"),
    "a class": Sizing(USES, PLAIN + "class T(typing.NamedTuple):\n    a: int\n    b: int"),
    "a class of one": Sizing(
        USES + "\nn -= t.both()",
        PLAIN + "class T(namedtuple('T', 'a b')):\n    def both(self):\n        return self.a + self.b",
    ),
    "by name": Sizing("t = T(b=3, a=4)\nn -= t.a * 10 + t.b", PLAIN + "T = namedtuple('T', 'a b')"),
    "with another field": Sizing(
        "t = T(3, 4)._replace(a=7)\nn -= t.a * 10 + t.b", PLAIN + "T = namedtuple('T', 'a b')"
    ),
    "defaults": Sizing("t = T(3)\nn -= t.a * 10 + t.b", PLAIN + "T = namedtuple('T', 'a b', defaults=[8])"),
}

HOLDER = "import copy\nclass A:\n    def __init__(self):\n        self.v = 1\n        self.xs = [1]\n"
COPIES = {
    "a list": Sizing("x = [1]\ny = copy.copy(x)\ny.append(5)\nn -= sum(x) + sum(y) * 10", HOLDER),
    "a list by a slice": Sizing("x = [1]\ny = x[:]\ny.append(5)\nn -= sum(x) * 10 + sum(y)"),
    "an object": Sizing("x = A()\ny = copy.copy(x)\ny.v = 5\nn -= x.v * 10 + y.v", HOLDER),
    "an object that shares a list": Sizing("x = A()\ny = copy.copy(x)\ny.xs.append(5)\nn -= sum(x.xs)", HOLDER),
    "an object with its list": Sizing("x = A()\ny = copy.deepcopy(x)\ny.xs.append(5)\nn -= sum(x.xs)", HOLDER),
    "a dataclass with another field": Sizing(
        "a = D(4)\nb = replace(a, x=9)\nn -= b.y + a.y * 100",
        "from dataclasses import dataclass, replace\n@dataclass\nclass D:\n    x: int\n    y: int = 0\n"
        "    def __post_init__(self):\n        self.y = self.x * 3",
    ),
}

EVERY = {**NEW, **TUPLES, **COPIES}


@pytest.mark.parametrize("name", EVERY)
def test_an_instance_is_what_python_makes(name: str) -> None:
    assert disagreements(EVERY[name]) == []


def test_a_class_that_becomes_a_named_tuple_has_the_same_formula() -> None:
    terms = {
        EVERY[name].extraction().quantities["max_total_num_tokens"].term for name in ("names in a text", "a class")
    }
    assert len(terms) == 1
