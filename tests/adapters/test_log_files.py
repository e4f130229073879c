"""Logs are read line by line, whatever they hold."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from analyzer.adapters.log_files import MAX_LINE, marked_lines, read_logs
from analyzer.application.start_log.events import SKIPPED
from analyzer.domain.errors import UsageError

MARKERS = {b"one": 1, b"two": 2}


def lines(content: bytes) -> list[tuple[int, bytes]]:
    """The marked lines of `content`."""
    return list(marked_lines(io.BytesIO(content), MARKERS))


def test_lines_come_in_order_with_their_first_marker() -> None:
    assert lines(b"a\ntwo one\nb\nxtwo\none") == [(1, b"two one"), (2, b"xtwo"), (1, b"one")]
    assert lines(b"") == lines(b"\n\n") == []


def test_lines_may_lie_across_the_pieces_that_are_read() -> None:
    filler = b"x" * 999 + b"\n"
    content = filler * 1048 + b"y" * 500 + b"one\n" + filler * 2000 + b"two"
    assert [kind for kind, _ in lines(content)] == [1, 2]


def test_of_a_huge_line_only_the_beginning_is_kept() -> None:
    found = lines(b"one" + b"x" * 5_000_000 + b"two\nnext two\n")
    assert [(kind, len(line)) for kind, line in found] == [(1, MAX_LINE), (2, 8)]
    assert lines(b"x" * 3_000_000 + b"one\n") == []


def test_a_log_that_is_not_there_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot read the log"):
        list(next(read_logs([str(tmp_path / "none.log")], MARKERS)))


def test_a_flood_is_read_in_part_and_says_so() -> None:
    flood = b"".join(b"%d one\n" % number for number in range(900_000))
    found = lines(b"first two\n" + flood + b"last two\n")
    kept = [line for kind, line in found if kind != SKIPPED]
    numbers = [int(line.split()[0]) for line in kept[1:-1]]
    assert (kept[0], kept[-1]) == (b"first two", b"last two")
    assert numbers == sorted(set(numbers))
    assert (numbers[0], numbers[-1]) == (0, 899_999)
    # What a real log can hold is whole; of each further megabyte a little is left.
    assert numbers[:200_000] == list(range(200_000))
    assert len(numbers) < 300_000
    assert sum(kind == SKIPPED for kind, _ in found) > 3
