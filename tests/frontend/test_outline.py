"""Two versions of a file are compared by the pieces that differ."""

from __future__ import annotations

from analyzer.frontend.outline import differing, excerpt, outline

FILE = b'''"""Doc."""
import os
from typing import (
    Any,
)

LIMIT = 3


@decorated
def helper(x):
    y = x
    return y


class Pool(Base):
    size: int = 1

    @property
    def free(self):
        return self.size

    def grow(self):
        self.size += 1


if LIMIT:
    EXTRA = 1
'''


def changed(*replacements: tuple[bytes, bytes]) -> tuple[bytes, bytes] | None:
    """The excerpts of the file and of the file with something replaced."""
    text = FILE
    for old, new in replacements:
        assert old in text
        text = text.replace(old, new)
    before, after = outline(FILE), outline(text)
    pieces = differing(before, after)
    return None if pieces is None else (excerpt(before, pieces), excerpt(after, pieces))


def test_every_byte_is_in_one_piece() -> None:
    assert sorted(b"".join(outline(FILE).values())) == sorted(FILE)


def test_pieces_are_named_after_what_they_define() -> None:
    assert list(outline(FILE)) == [
        ("rest", "", ""),
        ("import", "", ""),
        ("bind", "", "LIMIT"),
        ("def", "", "helper"),
        ("class", "", "Pool"),
        ("bind", "Pool", "size"),
        ("def", "Pool", "free"),
        ("def", "Pool", "grow"),
    ]


def test_an_excerpt_holds_a_changed_function_with_its_decorators() -> None:
    assert changed((b"y = x", b"y = 2 * x")) == (
        b"@decorated\ndef helper(x):\n    y = x\n    return y\n\n\n",
        b"@decorated\ndef helper(x):\n    y = 2 * x\n    return y\n\n\n",
    )


def test_a_changed_method_stands_in_its_class() -> None:
    found = changed((b"self.size += 1", b"self.size += 2"))
    assert found is not None
    assert found[0].startswith(b"class Pool(Base):\n    pass\n    def grow(self):\n        self.size += 1")


def test_a_decorator_belongs_to_what_follows() -> None:
    found = changed((b"    @property\n", b""))
    assert found is not None
    assert b"@property\n    def free" in found[0]
    assert b"def grow" not in found[0]


def test_what_only_moved_is_not_excerpted() -> None:
    free = b"    @property\n    def free(self):\n        return self.size\n\n"
    grow = b"    def grow(self):\n        self.size += 1\n\n"
    assert changed((free + grow, grow + free)) == (b"", b"")


def test_variables_in_another_order_need_the_whole_file() -> None:
    before, after = b"class A(Enum):\n    x = 1\n    y = 2\n", b"class A(Enum):\n    y = 2\n    x = 1\n"
    assert differing(outline(before), outline(after)) is None
