"""What of a function can matter: the interpreter leaves the rest alone as well."""

from __future__ import annotations

from textwrap import dedent

import pytest

from analyzer.frontend.slicing import Concern, relevant_meaning

CONCERN = Concern(frozenset({"tokens"}), frozenset({"measure"}), frozenset({"check"}), raises=False)
BASE = """
    def size(self, free):
        unused = free * 2
        budget = free - 1
        if free > 0:
            self.other = unused
        self.tokens = budget
        return None
"""


def same(text: str, concern: Concern = CONCERN) -> bool:
    """Whether what can matter in `text` is what can matter in the base."""
    return relevant_meaning(dedent(text).strip(), concern) == relevant_meaning(dedent(BASE).strip(), concern)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("unused = free * 2", "unused = free * 3"),
        ("self.other = unused", "self.another = unused"),
        ("if free > 0:", "if free > 10:"),
        ("self.tokens = budget", "self.tokens = budget  # why"),
        ("self.tokens = budget", "self.tokens = budget\n        logger.info(budget)"),
        ("self.tokens = budget", "self.tokens = budget\n        self.draw()"),
        ("return None", "assert free\n        return None"),
    ],
)
def test_what_nobody_reads_does_not_count(old: str, new: str) -> None:
    assert same(BASE.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("budget = free - 1", "budget = free - 2"),
        ("self.tokens = budget", "self.tokens = budget + 1"),
        ("self.other = unused", "budget = unused"),
        ("self.other = unused", "self.other.tokens = unused"),
        ("self.other = unused", "self.other = self.measure()"),
        ("self.other = unused", "self.other.update(tokens=3)"),
        ("self.other = unused", "return 1"),
        ("self.other = unused", "self.many.append(unused)"),
        ("self.other = unused", "locals()['budget'] = 1"),
        ("return None", "return 1"),
        ("(self, free)", "(self, free=1)"),
    ],
)
def test_what_somebody_may_read_counts(old: str, new: str) -> None:
    assert not same(BASE.replace(old, new))


def test_a_raise_counts_where_raises_do() -> None:
    strict = Concern(CONCERN.attributes, CONCERN.calls, CONCERN.raising, raises=True)
    for line in ("assert free", "check(free)"):
        text = BASE.replace("return None", f"{line}\n        return None")
        assert same(text)
        assert not same(text, strict)
