"""What a piece of source says, apart from what only people read."""

from __future__ import annotations

import pytest

from analyzer.frontend.meaning import meaning_of_annotation


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A[bool, 'Run in eager mode.']", "A[bool, 'Run without graphs at all.']"),
        ("A[int, Arg(help='How many.', choices=[1])]", "A[int, Arg(choices=[1], help='How many ranks.')]"),
        ("Annotated[Optional[int], 'How many.']", "Annotated[Optional[int], 'How many of them.']"),
    ],
)
def test_help_texts_do_not_count(before: str, after: str) -> None:
    assert meaning_of_annotation(before) == meaning_of_annotation(after)


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("A[bool, 'Run in eager mode.']", "A[int, 'Run in eager mode.']"),
        ("A[int, Arg(choices=[1])]", "A[int, Arg(choices=[1, 2])]"),
        ("Literal['a b', 'c d']", "Literal['a b', 'e f']"),
        ("dict[str, 'ModelConfig']", "dict[str, 'ServerArgs']"),
        ("'ModelConfig'", "'ServerArgs'"),
    ],
)
def test_types_and_choices_count(before: str, after: str) -> None:
    assert meaning_of_annotation(before) != meaning_of_annotation(after)
