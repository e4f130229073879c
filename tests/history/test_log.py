"""`log` names the commits that changed a formula, and no other."""

from __future__ import annotations

from analyzer import api
from analyzer.domain.report import Kind, LogReport
from analyzer.domain.rules import ROOTS
from analyzer.render.formats import render
from analyzer.render.page import Page
from tests.history.conftest import Repository

PAGED = "self.max_total_num_tokens = self.profile_max_num_token(before) // self.page_size * self.page_size"
PLAIN = "self.max_total_num_tokens = self.profile_max_num_token(before)"


def log(repository: Repository, base: str, head: str, **options: object) -> LogReport:
    """The commits of the repository that changed a formula."""
    return api.log(base, head, options=api.Options(repo=repository.folder), **options)  # type: ignore[arg-type]


def subjects(report: LogReport) -> list[str]:
    return [entry.commit.subject for entry in report.entries]


def test_the_commit_that_changed_the_formula_is_named_whatever_its_subject(repository: Repository) -> None:
    repository.commit("Start", tag="v0.1.0")
    repository.commit("Fix the formula", methods="def unrelated(self):\n    return 1")
    changed = repository.commit("Update docs (#123)", pool=PAGED, methods="def unrelated(self):\n    return 2")
    repository.commit("Change the KV cache", pool=f"# why\n{PAGED}", methods="def unrelated(self):\n    return 3")
    repository.git("tag", "v0.2.0")
    (entry,) = log(repository, "v0.1.0", "v0.2.0").entries
    assert entry.commit.sha == changed
    assert (entry.commit.subject, entry.commit.pr) == ("Update docs (#123)", 123)
    assert entry.kind is Kind.ROUNDING
    assert {change.quantity for change in entry.changes} == {"max_total_num_tokens"}


def test_only_commits_that_say_something_else_where_it_was_asked_are_extracted(repository: Repository) -> None:
    repository.commit("Start", tag="v0.1.0")
    for number in range(5):
        repository.commit(f"Unrelated {number}", methods=f"def unrelated(self):\n    return {number}")
    repository.commit("Reformat", pool=f"# a comment\n{PLAIN}")
    repository.commit("Log", pool=f'logger.info("%s tokens", before)\n{PLAIN}')
    report = log(repository, "v0.1.0", "main")
    assert report.entries == ()
    assert report.commits == 7
    assert report.extracted == 2 * len(ROOTS), "the start and the end, from each of the roots"


def test_what_a_helper_in_another_file_does_counts(repository: Repository) -> None:
    helper = "sglang/srt/model_executor/sizes.py"
    parts = {
        "imports": "from sglang.srt.model_executor.sizes import usable",
        "pool": "self.max_total_num_tokens = usable(self.profile_max_num_token(before))",
    }
    repository.commit("Start", {helper: "def usable(tokens):\n    return tokens\n"}, **parts)
    repository.commit("Words", {helper: "def usable(tokens):\n    '''All.'''\n    return tokens\n"}, **parts)
    repository.commit("Less", {helper: "def usable(tokens):\n    return tokens - 1\n"}, **parts)
    assert subjects(log(repository, "main~2", "main")) == ["Less"]


def test_a_module_that_was_looked_for_in_vain_counts_when_it_appears(repository: Repository) -> None:
    parts = {
        "imports": "try:\n    from sglang.srt.limits import LIMIT\nexcept ImportError:\n    LIMIT = 1000",
        "pool": "self.max_total_num_tokens = min(self.profile_max_num_token(before), LIMIT)",
    }
    repository.commit("Start", **parts)
    repository.commit("Add a limit", {"sglang/srt/limits.py": "LIMIT = 2000\n"}, **parts)
    assert subjects(log(repository, "main~1", "main")) == ["Add a limit"]


def test_a_change_and_its_revert_are_a_pair(repository: Repository) -> None:
    repository.commit("Start", tag="v0.1.0")
    done = repository.commit("Page the pool", pool=PAGED)
    undone = repository.commit('Revert "Page the pool"', pool=PLAIN)
    report = log(repository, "v0.1.0", "main")
    later, earlier = report.entries
    assert (later.commit.sha, later.undoes) == (undone, done)
    assert (earlier.commit.sha, earlier.undone_by) == (done, undone)


def test_the_same_words_the_other_way_round_elsewhere_take_nothing_back(repository: Repository) -> None:
    cell = """
        width = (A if self.page_size > 8 else 1) + (B if self.server_args.dp_size > 4 else 1)
        return self.model_config.head_dim * width
    """
    repository.commit("Start", tag="v0.1.0", cell=cell.replace("A", "4").replace("B", "6"))
    repository.commit("Many", cell=cell.replace("A", "4").replace("B", "4"))
    repository.commit("Pages", cell=cell.replace("A", "6").replace("B", "4"), tag="v0.2.0")
    entries = log(repository, "v0.1.0", "main").entries
    assert [(entry.commit.subject, entry.undoes, entry.undone_by) for entry in entries] == [
        ("Pages", None, None),
        ("Many", None, None),
    ]


def test_a_change_is_taken_back_whatever_else_changed_in_between(repository: Repository) -> None:
    repository.commit("Start", tag="v0.1.0")
    three = "return self.model_config.head_dim * self.model_config.num_hidden_layers * 3"
    repository.commit("Three", cell=three)
    repository.commit("Page", cell=three, pool=PAGED)
    repository.commit("Back", pool=PAGED)
    marks = {
        entry.commit.subject: entry.undoes or entry.undone_by for entry in log(repository, "v0.1.0", "main").entries
    }
    assert marks["Page"] is None
    assert marks["Back"]
    assert marks["Three"]


def test_a_formula_that_is_lost_and_found_again_is_told_at_both_commits(repository: Repository) -> None:
    repository.commit("Start", tag="v0.1.0")
    repository.commit("Break", pool="self.max_total_num_tokens = (")
    repository.commit("Mend", pool=PLAIN)
    mended, broken = log(repository, "v0.1.0", "main").entries
    assert (broken.commit.subject, broken.kind) == ("Break", Kind.LOST)
    assert (mended.commit.subject, mended.kind) == ("Mend", Kind.LOST)
    assert "again" in mended.changes[-1].summary


def test_a_release_branch_is_judged_against_the_fork(repository: Repository) -> None:
    repository.commit("Start")
    repository.git("checkout", "--quiet", "-b", "release")
    picked = repository.commit("Page the pool (#1) (#9)", pool=PAGED)
    repository.commit("Cap the pool", pool=f"{PAGED}\nself.max_total_num_tokens -= 1", tag="v0.1.0")
    repository.git("checkout", "--quiet", "main")
    original = repository.commit("Page the pool (#1)", pool=PAGED, tag="v0.2.0")
    report = log(repository, "v0.1.0", "v0.2.0")
    assert {(entry.commit.subject, entry.side, entry.twin) for entry in report.entries} == {
        ("Page the pool (#1)", "head", picked),
        ("Page the pool (#1) (#9)", "base", original),
        ("Cap the pool", "base", None),
    }


def test_a_rewrite_is_listed_on_request(repository: Repository) -> None:
    repository.commit("Start", tag="v0.1.0")
    cell = """
        heads = self.model_config.get_num_kv_heads(self.tp_size)
        return 4 * self.model_config.num_hidden_layers * self.model_config.head_dim * heads
    """
    repository.commit("Rewrite", cell=cell)
    assert subjects(log(repository, "v0.1.0", "main")) == []
    assert subjects(log(repository, "v0.1.0", "main", kinds=[Kind.REFACTOR])) == ["Rewrite"]


def test_log_and_diff_agree(repository: Repository) -> None:
    repository.commit("Start", tag="v0.1.0")
    repository.commit("Page", pool=PAGED)
    repository.commit("Four bytes", pool=PAGED, cell="return self.model_config.head_dim * 4")
    repository.commit("Words", pool=PAGED, cell="# four\nreturn self.model_config.head_dim * 4", tag="v0.2.0")
    found = log(repository, "v0.1.0", "v0.2.0")
    direct = api.diff("v0.1.0", "v0.2.0", options=api.Options(repo=repository.folder))
    assert subjects(found) == ["Four bytes", "Page"]
    explained = {change.quantity for entry in found.entries for change in entry.changes}
    assert {change.quantity for change in direct.changes if change.kind >= Kind.UNIT} <= explained


def test_blame_names_the_commits_of_each_change(repository: Repository) -> None:
    repository.commit("Start", tag="v0.1.0")
    paged = repository.commit("Page (#7)", pool=PAGED)
    repository.commit("Halve", pool=PAGED, cell="return self.model_config.head_dim * 4")
    repository.commit("Three bytes", pool=PAGED, cell="return self.model_config.head_dim * 3", tag="v0.2.0")
    options = api.Options(repo=repository.folder)
    report = api.blame(api.diff("v0.1.0", "v0.2.0", options=options), options=options)
    commits = {change.quantity: change.commits for change in report.changes if change.kind >= Kind.UNIT}
    assert [(commit.sha, commit.pr) for commit in commits["max_total_num_tokens"]] == [(paged, 7)]
    assert [commit.subject for commit in commits["cell_size"]] == ["Halve", "Three bytes"]


def test_blame_leaves_out_what_was_taken_back(repository: Repository) -> None:
    repository.commit("Start", tag="v0.1.0")
    repository.commit("Three bytes", cell="return self.model_config.head_dim * 3")
    repository.commit("Back")
    repository.commit("Five bytes", cell="return self.model_config.head_dim * 5", tag="v0.2.0")
    options = api.Options(repo=repository.folder)
    report = api.blame(api.diff("v0.1.0", "v0.2.0", options=options), options=options)
    assert {commit.subject for change in report.changes for commit in change.commits} == {"Five bytes"}


def test_the_branch_behind_a_merge_is_followed_on_request(repository: Repository) -> None:
    repository.commit("Start", tag="v0.1.0")
    repository.git("checkout", "--quiet", "-b", "branch")
    repository.commit("Work in progress", cell="return self.model_config.head_dim * 3")
    repository.commit("Words", cell="# three\nreturn self.model_config.head_dim * 3")
    repository.git("checkout", "--quiet", "main")
    repository.git("merge", "--quiet", "--no-ff", "--message", "Merge the branch", "branch")
    assert subjects(log(repository, "v0.1.0", "main")) == ["Merge the branch"]
    assert subjects(log(repository, "v0.1.0", "main", all_commits=True)) == ["Merge the branch", "Work in progress"]


def test_a_subject_is_text_whatever_it_holds(repository: Repository) -> None:
    hostile = "[x](http://evil) @all `rm` \x1b[31m ::error:: \u202e (#5)"
    repository.commit("Start", tag="v0.1.0")
    repository.commit(hostile, cell="return self.model_config.head_dim * 3")
    report = log(repository, "v0.1.0", "main")
    assert report.entries[0].commit.subject == hostile
    for name in ("text", "markdown", "json"):
        written = render("log", name, report, Page())
        assert "\x1b" not in written
        assert "\u202e" not in written
    assert "`[x](http://evil)" not in render("log", "text", report, Page())


def test_a_default_of_an_option_counts(repository: Repository) -> None:
    pool = "self.max_total_num_tokens = int(self.profile_max_num_token(before) * self.server_args.share)"
    repository.commit("Start", fields="share: float = 0.2", pool=pool)
    changed = repository.commit("More", fields="share: float = 0.9", pool=pool)
    repository.commit("Later", fields="share: float = 0.9", pool=f"{pool}\nself.tokens = before")
    (entry,) = log(repository, "main~2", "main").entries
    assert entry.commit.sha == changed


def test_what_the_options_become_counts_while_there_is_no_runner(repository: Repository) -> None:
    worker = "sglang/srt/managers/tp_worker.py"
    older = "def __post_init__(self):\n    if self.mem_fraction_static is None:\n        self.mem_fraction_static = 0.9"
    newer = older.replace("0.9", "0.8")
    repository.commit("Start", tag="v0.1.0", config_methods=older)
    repository.commit("No worker", {worker: None}, config_methods=older)
    repository.commit("Less", {worker: None}, config_methods=newer)
    repository.commit("Words", {worker: "# later\n"}, config_methods=newer)
    repository.commit("Worker", config_methods=newer)
    entries = {entry.commit.subject: entry for entry in log(repository, "v0.1.0", "main").entries}
    assert list(entries) == ["Worker", "Less", "No worker"]
    assert [change.quantity for change in entries["Less"].changes] == ["default_mem_fraction_static"]
    assert {change.kind for change in entries["Worker"].changes} == {Kind.LOST}
