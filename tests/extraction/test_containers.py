"""Lists, sets and dicts that are changed: by a function, under another name, in part, in order."""

from __future__ import annotations

import pytest

from tests.support.executed import Sizing, disagreements, unseen

MORE = "def more(xs, k=5):\n    xs.append(k * 2)"
IN_PLACE = {
    "a parameter loses an element": Sizing("xs = [1, 2, 3]\ndrop(xs)\nn -= len(xs) * 7", "def drop(xs):\n    xs.pop()"),
    "a parameter grows": Sizing("xs = [1, 2]\nmore(xs, 6)\nn -= sum(xs)", MORE),
    "a parameter given by keyword": Sizing("more(xs=self.xs)\nn -= sum(self.xs)", MORE, init="self.xs = [1, 2]"),
    "through two functions": Sizing(
        "outer(self.xs)\nn -= sum(self.xs)", MORE + "\ndef outer(ys):\n    more(ys, 8)", init="self.xs = [1, 2]"
    ),
    "an attribute in another method": Sizing(
        "self.trim()\nn -= len(self.xs) * 7",
        "def drop(xs):\n    xs.pop()",
        "def trim(self):\n    drop(self.xs)",
        "self.xs = [1, 2]",
    ),
    "a method of its own": Sizing(
        "self.trim(self.xs)\nn -= sum(self.xs)", methods="def trim(self, xs):\n    xs.pop()", init="self.xs = [1, 2]"
    ),
    "a collected argument": Sizing(
        "more(*[self.xs])\nn -= sum(self.xs)", "def more(*every):\n    every[0].append(9)", init="self.xs = [1]"
    ),
    "what is returned counts too": Sizing(
        "k = more(self.xs)\nn -= sum(self.xs) + k",
        "def more(xs):\n    xs.append(90)\n    return 3",
        init="self.xs = [1]",
    ),
    "in a loop": Sizing("xs = []\nfor k in range(4):\n    more(xs, k)\nn -= sum(xs)", MORE),
    "under a condition": Sizing(
        "more(self.xs, self.tp_size)\nn -= sum(self.xs)",
        "def more(xs, k):\n    if k > 2:\n        xs.append(90)\n    else:\n        xs.pop()",
        init="self.xs = [1, 2]",
    ),
    "an item of a parameter": Sizing(
        "first(self.d)\nn -= self.d['a']", "def first(d):\n    d['a'] = 40", init="self.d = {'a': 1}"
    ),
    "an item counts up": Sizing(
        "first(self.d)\nn -= self.d['a']", "def first(d):\n    d['a'] += 6", init="self.d = {'a': 1}"
    ),
    "a key is taken out": Sizing(
        "first(self.d)\nn -= self.d.get('a', 77)", "def first(d):\n    d.pop('a')", init="self.d = {'a': 1}"
    ),
    "a key is deleted": Sizing(
        "first(self.d)\nn -= self.d.get('a', 77)", "def first(d):\n    del d['a']", init="self.d = {'a': 1}"
    ),
    "a set grows": Sizing("s = {1, 2}\nmore(s)\nn -= len(s) * 9", "def more(s):\n    s.add(3)"),
    "an item of an attribute": Sizing(
        "self.fill()\nn -= self.d['a']", methods="def fill(self):\n    self.d['a'] = 40", init="self.d = {'a': 1}"
    ),
    "an item of an item": Sizing(
        "self.fill()\nn -= self.d['a']['b']",
        methods="def fill(self):\n    self.d['a']['b'] = 40",
        init="self.d = {'a': {'b': 1}}",
    ),
    "another name for an attribute": Sizing(
        "self.fill()\nn -= self.d['a']",
        methods="def fill(self):\n    d = self.d\n    d['a'] = 40",
        init="self.d = {'a': 1}",
    ),
    "an attribute of an attribute": Sizing(
        "self.fill()\nn -= sum(self.part.xs)",
        "class Part:\n    def __init__(self):\n        self.xs = [1]",
        "def fill(self):\n    self.part.xs.append(40)",
        "self.part = Part()",
    ),
    "taken out on the way": Sizing("k = self.xs.pop() + 1\nn -= sum(self.xs)", init="self.xs = [1, 2]"),
    "the value is not used": Sizing("xs = [1, 2, 4]\nk = xs.pop()\nn -= sum(xs)"),
}

PARTS = {
    "a deleted element": Sizing("xs = [1, 2, 3]\ndel xs[0]\nn -= sum(xs)"),
    "a deleted slice": Sizing("xs = [1, 2, 3]\ndel xs[1:]\nn -= sum(xs)"),
    "a slice that is set": Sizing("xs = [1, 2, 3]\nxs[:2] = [9]\nn -= sum(xs)"),
    "inserted": Sizing("xs = [1]\nxs.insert(0, 5)\nn -= xs[0]"),
    "popped at a place": Sizing("xs = [1, 2, 3]\nk = xs.pop(0)\nn -= k * 10 + sum(xs)"),
    "removed once": Sizing("xs = [3, 1, 3]\nxs.remove(3)\nn -= sum(xs)"),
    "looked up": Sizing("xs = [3, 1, 3]\nn -= xs.index(1) + xs.count(3) * 10"),
    "repeated": Sizing("n -= sum([2] * 3)"),
    "a deleted key": Sizing("d = {'a': 1, 'b': 2}\ndel d['a']\nn -= len(d) * 10 + d.get('a', 5)"),
    "a dict that is emptied": Sizing("d = {'a': 1}\nd.clear()\nn -= len(d) * 10 + d.get('a', 3)"),
    "the last item": Sizing("d = {'a': 1, 'b': 2}\nk, v = d.popitem()\nn -= v * 10 + len(d)"),
    "a key set again comes last": Sizing("d = {'a': 1, 'b': 2}\nd.pop('a')\nd['a'] = 5\nn -= list(d.values())[0]"),
    "dicts joined": Sizing("d = {'a': 1} | {'a': 5, 'b': 2}\nn -= d['a'] * 10 + d['b']"),
    "a dict of pairs": Sizing("d = dict([('a', 3), ('b', 4)])\nn -= d['b']"),
    "a dict of columns": Sizing("d = dict(zip(['a', 'b'], [3, 4]))\nn -= d['b']"),
}

ORDER = {
    "sorted by a key": Sizing("n -= sorted([1, 2, 3], key=lambda v: -v)[0]"),
    "by a part": Sizing("n -= sorted([(1, 9), (2, 5)], key=lambda v: v[1])[0][0]"),
    "by a key, backwards": Sizing("n -= sorted([1, 2, 3], key=lambda v: -v, reverse=True)[0]"),
    "in place": Sizing("xs = [3, 1, 2]\nxs.sort()\nn -= xs[0] * 10 + xs[1]"),
    "in place by a key": Sizing("xs = [3, 1, 2]\nxs.sort(key=lambda v: -v)\nn -= xs[0] * 10 + xs[1]"),
    "in place in another method": Sizing(
        "self.order()\nn -= self.xs[0]", methods="def order(self):\n    self.xs.sort()", init="self.xs = [5, 1]"
    ),
    "turned around": Sizing("xs = [3, 1, 2]\nxs.reverse()\nn -= xs[0] * 10 + xs[1]"),
    "added to a start": Sizing("n -= sum((x for x in (1, 2, 3) if x > self.tp_size), 40)"),
}

SETS = {
    "a display": Sizing("n -= len({1, 1, 2}) * 10"),
    "an element more": Sizing("s = {1, 2}\ns.add(2)\nn -= len(s) * 10"),
    "several more": Sizing("s = {1, 2}\ns.update([2, 3])\nn -= len(s) * 10"),
    "of values that are not known": Sizing("n -= len({1, 2, 2, self.tp_size}) * 10"),
    "twice on some ways": Sizing(
        "s = {4}\nif self.tp_size > 2:\n    s.add(4)\n    s.add(5)\n"
        "if self.page_size > 1:\n    s.add(5)\nn -= len(s) * 10"
    ),
    "operators": Sizing("n -= len({1, 2} | {2, 3}) + len({1, 2} & {2, 3}) * 10 + len({1, 2} ^ {2, 3}) * 100"),
    "methods": Sizing("n -= len({1, 2}.intersection([2, 3])) * 10 + len({1, 2}.difference([2])) * 100"),
}

EVERY = {**IN_PLACE, **PARTS, **ORDER, **SETS}


@pytest.mark.parametrize("name", EVERY)
def test_a_changed_container_is_what_python_makes_of_it(name: str) -> None:
    assert disagreements(EVERY[name]) == []


LOST = {
    "an order by what is not known": Sizing("n -= sorted([self.tp_size, 2, 3], key=lambda v: v * -4)[0]"),
    "a place that is not known": Sizing("xs = [1, 2, 3]\nxs.insert(self.tp_size, 7)\nn -= xs[0]"),
    "an element of a set": Sizing("s = {4}\nn -= s.pop()"),
}


@pytest.mark.parametrize("name", LOST)
def test_what_cannot_be_followed_is_a_gap_in_which_every_number_counts(name: str) -> None:
    assert LOST[name].extraction().gaps
    assert unseen(LOST[name]) == []
