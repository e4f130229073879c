"""Links into the repository that the analysed code comes from."""

from __future__ import annotations

from urllib.parse import quote

from analyzer.domain.source import Revision, Span
from analyzer.render.blocks import is_commit

_PACKAGE = "sglang/"


def revision_name(revision: Revision) -> str | None:
    """What the upstream repository calls `revision`; None when it has no such commit or release."""
    if is_commit(revision):
        return revision.commit
    return f"v{revision.version}" if revision.version else None


def repository_path(revision: Revision, path: str) -> str:
    """`path` as the repository has it: an archive holds the package without the folder around it."""
    if is_commit(revision) or _PACKAGE not in path:
        return path
    return f"python/{path[path.index(_PACKAGE) :]}"


def line_link(upstream: str, revision: Revision, span: Span) -> str | None:
    """The address of the lines of `span`, None when the revision is not upstream."""
    name = revision_name(revision)
    if name is None:
        return None
    lines = f"#L{span.line}" if span.end_line <= span.line else f"#L{span.line}-L{span.end_line}"
    return f"{upstream}/blob/{quote(name)}/{quote(repository_path(revision, span.path))}{lines}"


def compare_link(upstream: str, base: Revision, head: Revision) -> str | None:
    """The address of everything between two revisions, None when one is not upstream."""
    names = revision_name(base), revision_name(head)
    return None if None in names else f"{upstream}/compare/{quote(names[0] or '')}...{quote(names[1] or '')}"


def pull_link(upstream: str, number: int) -> str:
    """The address of a pull request."""
    return f"{upstream}/pull/{number}"
