"""Operators, contexts and loops that classes of the source give a meaning to, or that end in an unusual way."""

from __future__ import annotations

import pytest

from tests.support.executed import Sizing, disagreements, unseen

PAIR = "class B:\n    def __init__(self, x):\n        self.x = x\n"
OPERATORS = {
    "equal": Sizing("n -= 10 if B(1) == B(1) else 20", PAIR + "    def __eq__(self, o):\n        return self.x == o.x"),
    "not equal": Sizing(
        "n -= 10 if B(1) != B(2) else 20", PAIR + "    def __eq__(self, o):\n        return self.x == o.x"
    ),
    "less": Sizing("n -= 10 if B(1) < B(2) else 20", PAIR + "    def __lt__(self, o):\n        return self.x < o.x"),
    "contained": Sizing(
        "n -= 10 if 3 in B(3) else 20", PAIR + "    def __contains__(self, o):\n        return o == self.x"
    ),
    "an item": Sizing("n -= B(2)[4]", PAIR + "    def __getitem__(self, k):\n        return k * 3 + self.x"),
    "an item that is set": Sizing(
        "b = B(1)\nb['k'] = 5\nn -= b.x", PAIR + "    def __setitem__(self, k, v):\n        self.x = v * 2"
    ),
    "a length": Sizing("n -= len(B(7))", PAIR + "    def __len__(self):\n        return self.x + 6"),
    "a number": Sizing("n -= int(B(7))", PAIR + "    def __int__(self):\n        return self.x * 2"),
    "a sign": Sizing("n -= -B(7)", PAIR + "    def __neg__(self):\n        return self.x * 2"),
    "lists that are equal": Sizing("n -= 10 * ([1, 2] == [1, 2]) + 3 * ([1] != [1, 2])"),
    "lists in order": Sizing("n -= 10 * ([1, 2] < [1, 3])"),
}

LEAVING = "class C:\n    x = 1\n    def __enter__(self):\n        return self\n    def __exit__(self, *error):\n"
CONTEXTS = {
    "what leaving does": Sizing("c = C()\nwith c:\n    k = 2\nn -= c.x", LEAVING + "        self.x = 21"),
    "a context that ends a raise": Sizing(
        "k = 5\nwith C():\n    raise KeyError\nn -= k", LEAVING + "        return True"
    ),
    "suppressed": Sizing(
        "k = 5\nwith suppress(KeyError):\n    k = {'a': 1}['b']\nn -= k", "from contextlib import suppress"
    ),
    "raised and suppressed": Sizing(
        "k = 5\nwith suppress(KeyError):\n    raise KeyError\nn -= k", "from contextlib import suppress"
    ),
}

LOOPS = {
    "the end of a while loop": Sizing("k = 3\nwhile k:\n    k -= 1\nelse:\n    n -= 12"),
    "a while loop that is left": Sizing(
        "k = 3\nwhile k:\n    k -= 1\n    if k == 1:\n        break\nelse:\n    n -= 12\nn -= k"
    ),
    "left on some ways": Sizing("k = 0\nwhile k < 4:\n    k += 1\n    if k > self.tp_size:\n        break\nn -= k"),
}

EVERY = {**OPERATORS, **CONTEXTS, **LOOPS}


@pytest.mark.parametrize("name", EVERY)
def test_it_means_what_it_means_in_python(name: str) -> None:
    assert disagreements(EVERY[name]) == []


def test_a_loop_without_an_end_in_sight_is_a_gap() -> None:
    sizing = Sizing("k = 3\nwhile True:\n    k += 1\n    if k > self.tp_size:\n        break\nn -= k")
    assert sizing.extraction().gaps
    assert unseen(sizing) == []
