"""A class that calls at the top level of its module fill: what it holds is known when it is read."""

from __future__ import annotations

import pytest

from tests.support.project import MACHINE, extracted, outcome

REGISTRY = """from collections import defaultdict
import threading

class Kind:
    table = {}
    flags = defaultdict(set)
    count = 0

    def __init__(self, name, value):
        self.name = name
        self.value = value

    @classmethod
    def register(cls, name, aliases=None):
        if name in cls.table:
            raise ValueError(name)
        value = cls.count
        cls.count = max(cls.count, value + 1)
        kind = cls(name, value)
        cls.table[name] = kind
        setattr(cls, name, kind)
        for alias in aliases or ():
            cls.table[alias] = kind
        return kind

    @classmethod
    def of(cls, name):
        if name is None:
            return cls.NONE
        try:
            return cls.table[name.upper()]
        except KeyError as error:
            raise ValueError(name) from error

    @classmethod
    def mark(cls, flag, kind):
        cls.flags[flag].add(kind.value)

    def has(self, flag):
        return self.value in type(self).flags.get(flag.upper(), set())

LOCK = threading.RLock()
MARKS = {"WIDE": lambda kind: Kind.mark("WIDE", kind)}

def register(name, aliases=None, flags=None):
    with LOCK:
        try:
            kind = Kind.of(name.upper())
            exists = True
        except ValueError:
            kind = Kind.register(name.upper(), aliases)
            exists = False
        if exists:
            raise ValueError(name)
        if flags:
            for flag in flags:
                marker = MARKS.get(flag.upper())
                if marker is None:
                    raise ValueError(flag)
                marker(kind)
    return kind


Kind.register("NONE")
register("eagle", aliases=("NEXTN",), flags=("WIDE",))
register("ngram")
"""


@pytest.mark.parametrize(
    ("read", "value"),
    [
        ("Kind.NONE.value", 0),
        ("Kind.of(None).value", 0),
        ("Kind.of('EAGLE').value", 1),
        ("Kind.of('nextn').value", 1),
        ("Kind.of('NGRAM').value", 2),
        ("(5 if Kind.of('EAGLE').has('wide') else 6)", 5),
        ("(5 if Kind.of('NGRAM').has('wide') else 6)", 6),
        ("(5 if isinstance(Kind.NONE, Kind) else 6)", 5),
        ("len(Kind.table)", 4),
        ("len(Kind.flags)", 1),
    ],
)
def test_what_is_registered_is_there(read: str, value: int) -> None:
    extraction = extracted(module=REGISTRY, cell=f"return 100 + {read}")
    assert outcome(extraction, "cell_size", **MACHINE) == 100 + value
    assert extraction.gaps == ()


def test_an_option_chooses_among_what_is_registered() -> None:
    extraction = extracted(module=REGISTRY, cell="return 100 + Kind.of(self.server_args.speculative_algorithm).value")
    inputs = {**MACHINE, "speculative_algorithm": "EAGLE"}
    assert outcome(extraction, "cell_size", **inputs) == 101
    assert outcome(extraction, "cell_size", **{**inputs, "speculative_algorithm": None}) == 100


@pytest.mark.parametrize(
    ("lines", "value"),
    [
        ("try:\n    n = {'a': 1}['b']\nexcept KeyError:\n    n = 7", 7),
        ("try:\n    n = {'a': 1}['a']\nexcept KeyError:\n    n = 7", 1),
        ("try:\n    n = {'a': 1, 'b': 2}[self.device]\nexcept KeyError:\n    n = 7", 7),
        ("try:\n    n = {'cuda': 1}[self.device]\nexcept KeyError:\n    n = 7", 1),
        (
            "def look(k):\n    try:\n        return {'a': 1}[k]\n    except KeyError:\n        return 9\nn = look('z')",
            9,
        ),
    ],
)
def test_a_look_up_that_fails_reaches_its_handler(lines: str, value: int) -> None:
    extraction = extracted(cell=f"{lines}\nreturn 100 + n")
    assert outcome(extraction, "cell_size", **MACHINE) == 100 + value
