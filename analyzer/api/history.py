"""Puts together what `log` and `diff --blame` need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from analyzer.api.workers import WorkerPool
from analyzer.application.analysis import is_immutable
from analyzer.application.history import log as use_case
from analyzer.application.scope import Scope
from analyzer.application.selection import check_scope, select_roots_to_compare
from analyzer.domain.characters import printable
from analyzer.domain.errors import UsageError
from analyzer.domain.history import Line
from analyzer.domain.report import LogReport
from analyzer.domain.source import Revision

if TYPE_CHECKING:
    from analyzer.api.workspace import Options, Workspace


def find_commits(  # noqa: PLR0913 - what is asked, and of whom
    workspace: Workspace, options: Options, base: str, head: str, scope: Scope, *, all_commits: bool = False
) -> LogReport:
    """Every commit between two refs that changed a formula, those on merged branches only with `all_commits`."""
    if options.source not in (None, "git"):
        raise UsageError("only a clone has a history", hint="leave out --source, or give a clone with --repo")
    check_scope(scope, workspace.rules)
    clone = workspace.clone
    old, new = (_commit(clone.resolve(spec)) for spec in (base, head))
    history = clone.history()
    fork = history.merge_base(old.commit, new.commit)
    if fork is None:
        raise UsageError(
            f"{printable(base)} and {printable(head)} have no common history",
            hint="a shallow clone may lack it, run `git fetch --unshallow`",
        )
    # A shallow clone has fewer commits between the same two.
    line = f"{fork} {history.count(fork, new.commit)} {history.count(fork, old.commit)} {all_commits}"

    def follow() -> LogReport:
        return _follow(workspace, options, (old, new, fork), scope, all_commits=all_commits)

    return workspace.logs.report(old, new, scope, line, follow)


def _follow(
    workspace: Workspace, options: Options, ends: tuple[Revision, Revision, str], scope: Scope, *, all_commits: bool
) -> LogReport:
    """The report on two commits, which `ends` holds with the one that both have grown from."""
    old, new, fork = ends
    history = workspace.clone.history()
    roots = select_roots_to_compare(scope.quantities, workspace.rules)
    ours, theirs = history.line(fork, new.commit), history.line(fork, old.commit)
    workers = WorkerPool(workspace, options, scope)

    def trace_branch(merge: str, tip: str) -> use_case.History:
        parted = history.merge_base(f"{merge}^1", tip)
        return use_case.History((), 0) if parted is None else trace(history.line(parted, tip))

    def trace(line: Line) -> use_case.History:
        traced = use_case.trace_line(line, workers, roots)
        return use_case.with_branches(traced, line, trace_branch) if all_commits else traced

    found, other = trace(ours), trace(theirs)
    return LogReport(
        base=old,
        head=new,
        merge_base=fork,
        entries=use_case.mark_twins(found.entries, other.entries),
        commits=ours.total + theirs.total,
        extracted=found.extracted + other.extracted,
        notes=(
            *dict.fromkeys(side.note for side in (old, new) if side.note),
            *(f"the change put down to {sha[:12]} may have come earlier" for sha in found.doubtful + other.doubtful),
        ),
    )


def _commit(revision: Revision) -> Revision:
    if not is_immutable(revision):
        raise UsageError(f"{printable(revision.spec)} is no commit", hint="give a tag, branch or commit")
    return revision
