"""Compares refs as PEP 440 versions, and suggests what an unknown ref may have meant."""

from __future__ import annotations

import difflib
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from typing import Final

from packaging.version import InvalidVersion, Version

from analyzer.domain.characters import printable
from analyzer.domain.errors import UnknownRefError, UsageError

_MAX_SUGGESTIONS: Final = 4


def parse_version(text: str) -> Version | None:
    """`text` as a version (``v0.4`` and ``0.4.0`` are equal), or None when it is none."""
    # PEP 440 also allows words such as "alpha1"; a release begins with a digit.
    if not text.removeprefix("v")[:1].isdigit():
        return None
    try:
        return Version(text)
    except InvalidVersion:
        return None


def is_below(version: str, other: str) -> bool:
    """Whether `version` is older than `other`; what is no version is not."""
    first, second = parse_version(version), parse_version(other)
    return first is not None and second is not None and first < second


def sort_releases(names: Iterable[str]) -> tuple[str, ...]:
    """Those of `names` that are versions, oldest first."""
    versions = ((parse_version(name), name) for name in names)
    return tuple(name for _, name in sorted((v, name) for v, name in versions if v is not None))


def find_equal(spec: str, names: Iterable[str]) -> str | None:
    """The one of `names` that is the same version as `spec`; the one with a ``v`` if several are."""
    wanted = parse_version(spec)
    if wanted is None:
        return None
    equal = [name for name in names if parse_version(name) == wanted]
    return max(equal, key=lambda name: name.startswith("v"), default=None)


def releases_between(names: Sequence[str], first: str | None, last: str | None) -> Sequence[str]:
    """Those of the releases `names`, oldest first, from `first` to `last`, both included.

    A `last` that is no version follows all of them. Raises UnknownRefError, UsageError.
    """
    start = 0 if first is None else _place(first, names)
    if last is not None and parse_version(last) is None:
        return (*names[start:], last)
    end = len(names) if last is None else _place(last, names) + 1
    if start >= end:
        raise UsageError(f"{first} comes after {last}", hint="exchange --from and --to")
    return tuple(names[start:end])


def _place(spec: str, names: Sequence[str]) -> int:
    found = find_equal(spec, names)
    if found is None:
        what = f"no release here is called '{printable(spec)}'"
        raise UnknownRefError(what, hint=suggestion_hint(spec, names, "give a version such as v0.5.9"))
    return names.index(found)


def suggest(spec: str, names: Sequence[str]) -> tuple[str, ...]:
    """The few of `names` that are nearest to `spec`, by version and then by spelling."""
    near = [*_neighbours(spec, names), *difflib.get_close_matches(spec, names, n=_MAX_SUGGESTIONS)]
    return tuple(dict.fromkeys(near))[:_MAX_SUGGESTIONS]


def suggestion_hint(spec: str, names: Sequence[str], otherwise: str) -> str:
    """The nearest of `names` as the end of an error line, or `otherwise` when none is near."""
    near = suggest(spec, names)
    return f"did you mean {', '.join(near)}?" if near else otherwise


def _neighbours(spec: str, names: Iterable[str]) -> list[str]:
    """The releases just below and just above the version `spec`."""
    wanted = parse_version(spec)
    if wanted is None:
        return []
    ordered = sort_releases(names)
    place = bisect_left(ordered, wanted, key=lambda name: parse_version(name) or wanted)
    return list(ordered[max(place - 1, 0) : place + 1])
