"""Text that is safe in GitHub-flavoured Markdown: as prose, as code, as a formula."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from analyzer.domain.characters import printable

# What Markdown or GitHub reads as markup: anywhere, before a word (references, addresses, emoji), at the start.
_SPECIAL: Final = re.compile(r"[\\`*_\[\]<>|~&$@]|[#:](?=\S)|(?<=\bwww)\.|^[#+-]|(?<=^\d)[.)]", re.IGNORECASE)
# An invisible character after these keeps GitHub from notifying a person or linking an issue.
_REFERENCE: Final = re.compile(r"\\[@#]|\bgh-", re.IGNORECASE)
_WORD_JOINER: Final = "\N{WORD JOINER}"
_TICKS: Final = re.compile("`+")


def prose(text: str, limit: int = 400) -> str:
    """`text` as a run of plain words: no markup, no link, no mention, on one line."""
    escaped = _SPECIAL.sub(r"\\\g<0>", one_line(text, limit))
    return _REFERENCE.sub(rf"\g<0>{_WORD_JOINER}", escaped)


def code(text: str, limit: int = 200) -> str:
    """`text` as a code span, whatever it holds; not for a table cell, where a pipe would end it."""
    line = one_line(text, limit)
    if not line:
        return ""
    fence = "`" * (1 + max((len(run) for run in _TICKS.findall(line)), default=0))
    padding = " " if line.startswith("`") or line.endswith("`") or line.isspace() else ""
    return f"{fence}{padding}{line}{padding}{fence}"


def link(text: str, address: str | None, limit: int = 200) -> str:
    """`text` as code that leads to `address`, or just the code when there is none."""
    return code(text, limit) if address is None else f"[{code(text, limit)}]({address})"


def math(latex: str) -> list[str]:
    """A formula as a displayed block; `latex` has no line breaks, so nothing in it can end the block."""
    # GitHub refuses \operatorname.
    return ["```math", one_line(latex.replace(r"\operatorname", r"\mathrm"), 0), "```"]


def fenced(kind: str, lines: Sequence[str]) -> list[str]:
    """Lines of a code block, each of which begins with something of our own, so that none can end the block."""
    return [f"```{kind}", *lines, "```"]


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """A table of cells that are escaped already."""
    return [_row(head), _row(["---"] * len(head)), *map(_row, rows)]


def folded(title: str, lines: Sequence[str]) -> list[str]:
    """Lines that show on a click; `title` is escaped already."""
    return ["<details>", f"<summary>{title}</summary>", "", *lines, "", "</details>"]


def one_line(text: str, limit: int) -> str:
    """`text` on one line, cut to `limit` characters unless that is 0."""
    line = printable(" ".join(text.split()))
    return line if not limit or len(line) <= limit else f"{line[: limit - 3]}..."


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
