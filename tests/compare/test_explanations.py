"""What a difference is said to consist of: the smallest part, in the words of a rule."""

from __future__ import annotations

from pathlib import Path

import pytest

from analyzer.compare.explain import explain
from analyzer.compare.findings import choose_rule
from analyzer.compare.ladder import Judge
from analyzer.domain.notation import to_text
from analyzer.domain.report import Kind
from tests.support.comparing import compare_extractions
from tests.support.terms import change_rules, extraction, parse, rule_set

_RULES = rule_set()
_FOLDER = Path(__file__).parents[2] / "rules" / "changes"
_MIRROR = {"added": "removed", "removed": "added", "changed": "changed"}

_ROWS = [
    # area, action, before, after, the parts shown
    ("term", "added", "x - y", "x - y - z", None, "-z"),
    ("term", "removed", "a + b + 100", "a + b", "100", None),
    ("factor", "added", "n * m", "n * m * a", None, "a"),
    ("factor", "changed", "n * 2 * m", "n * (a + b) * m", "2", "a + b"),
    ("factor", "changed", "x * 0.95", "x * 0.9", "0.95", "0.9"),
    ("factor", "changed", "int(x / 2 * 256)", "int(x / 2 * 512)", "256", "512"),
    ("conversion", "changed", "n * (1 << 30)", "n * (1 << 20)", "2**30", "2**20"),
    ("clamp", "added", "n // m", "min(n // m, 4096)", None, "4096"),
    ("clamp", "added", "n", "n if max_total_tokens is None else min(n, max_total_tokens)", None, "max_total_tokens"),
    ("clamp", "changed", "min(max(n, 2), 5120)", "min(max(n, 2), 4096)", "5120", "4096"),
    ("guard", "changed", "a if n > 5 else b", "a if n >= 5 else b", "n > 5", "n >= 5"),
    ("guard", "added", "a", "b if p else a", None, "b if p else a"),
    ("error", "added", "n", "raises('E') if n > 5 else n", None, "n > 5"),
    ("error", "changed", "raises('E') if n > 5 else n", "raises('E') if n > 6 else n", "n > 5", "n > 6"),
    ("input", "changed", "a if p else n", "a if p else m", "n", "m"),
    ("rounding", "added", "n // m", "n // m // page_size * page_size", None, "n // m // page_size * page_size"),
    ("rounding", "changed", "int(n // m)", "int(n / m)", "n // m", "n / m"),
]


@pytest.mark.parametrize(("area", "action", "old", "new", "before", "after"), _ROWS)
def test_the_smallest_part_is_named(
    area: str, action: str, old: str, new: str, before: str | None, after: str | None
) -> None:
    judge = Judge(_RULES.symbols)
    (part,) = explain(parse(old), parse(new), judge.equal)
    shown = [None if term is None else to_text(term) for term in (part.before, part.after)]
    assert (part.area, part.action, *shown) == (area, action, before, after)
    (back,) = explain(parse(new), parse(old), judge.equal)
    assert (back.area, back.action, back.before, back.after) == (area, _MIRROR[action], part.after, part.before)


def test_a_difference_that_shows_in_a_guard_and_a_value_is_told_once() -> None:
    old, new = ("raises('E') if n * 2 <= 8 else n * 2", "raises('E') if n * 3 <= 8 else n * 3")
    (part,) = explain(parse(old), parse(new), Judge(_RULES.symbols).equal)
    assert (part.area, repr(part.before), repr(part.after)) == ("factor", "2", "3")


def test_independent_differences_are_told_apart() -> None:
    parts = explain(parse("n * 2 if p else m + a"), parse("n * 3 if p else m"), Judge(_RULES.symbols).equal)
    assert [(part.area, part.action) for part in parts] == [("factor", "changed"), ("term", "removed")]


class TestRules:
    """Every difference has a rule, and so has its mirror image."""

    def test_a_rule_is_called_like_its_file(self) -> None:
        stems = [path.stem.split("-")[0] for path in sorted(_FOLDER.glob("*.toml"))]
        assert [rule.id.lower() for rule in change_rules()] == stems

    def test_ids_are_unique(self) -> None:
        ids = [rule.id for rule in change_rules()]
        assert len(ids) == len(set(ids))

    def test_what_can_be_added_can_be_removed(self) -> None:
        pairs = {(rule.area, rule.action) for rule in change_rules()}
        assert {(area, _MIRROR[action]) for area, action in pairs} == pairs

    def test_kinds_levels_and_texts_are_known(self) -> None:
        fields = {"quantity": "q", "detail": "d", "before": "b", "after": "a", "scenarios": "s"}
        fields |= {"old_unit": "byte", "new_unit": "GiB"}
        for rule in change_rules():
            assert set(rule.kinds) <= {kind.label for kind in Kind}
            assert rule.level in ("note", "warning", "error")
            assert rule.message.format(**fields).startswith("q: ")
            assert all((rule.title, rule.why, rule.what_to_do, rule.example))

    @pytest.mark.parametrize("area", ["term", "factor", "guard", "clamp", "input", "conversion", "default", "error"])
    @pytest.mark.parametrize("action", ["added", "removed", "changed"])
    @pytest.mark.parametrize("kind", [Kind.SEMANTIC, Kind.UNDECIDED])
    def test_every_difference_has_a_rule(self, area: str, action: str, kind: Kind) -> None:
        assert choose_rule(change_rules(), area, action, kind, "cell_size").id != "SGM100"

    def test_a_rule_for_the_quantity_goes_before_a_general_one(self) -> None:
        general = change_rules()[0]
        special = type(general)(
            **{name: getattr(general, name) for name in general.__slots__}
            | {"id": "SGM999", "quantities": ("cell_size",)}
        )
        assert choose_rule((general, special), "term", "added", Kind.SEMANTIC, "cell_size").id == "SGM999"
        assert choose_rule((general, special), "term", "added", Kind.SEMANTIC, "rest_memory").id == general.id


def test_a_fingerprint_survives_moved_lines_and_other_scenarios() -> None:
    prints = set()
    for guard in ("p", "q"):
        base, head = (extraction({"cell_size": f"n * {factor} if {guard} else n"}) for factor in (2, 3))
        for scenarios in (("mha",), ("mha", "mla")):
            found = compare_extractions(base, head, _RULES, scenarios=scenarios, quantities=())
            prints |= {change.fingerprint for change in found.changes}
    assert len(prints) == 1


@pytest.mark.parametrize(
    ("old", "new", "parts"),
    [
        ("a", "b if n > 5 else raises('E')", [("error", None, "not n > 5"), ("term", "a", "b")]),
        ("raises('E') if n > 5 else a", "a if m > 5 else raises('E')", [("error", "n > 5", "not m > 5")]),
        (
            "0 if p else a",
            "(0 if p else b) if n > 5 else raises('E')",
            [("error", None, "not n > 5"), ("term", "a", "b")],
        ),
        ("a if p else b", "a if p else raises('E')", [("error", None, "not p")]),
        ("raises('E') if p else b", "a if p else b", [("error", "bool(p)", None)]),
    ],
)
def test_an_error_is_told_by_the_condition_under_which_it_is_raised(
    old: str, new: str, parts: list[tuple[str, str | None, str | None]]
) -> None:
    found = explain(parse(old), parse(new), Judge(_RULES.symbols).equal)
    shown = [[None if term is None else to_text(term) for term in (part.before, part.after)] for part in found]
    assert [(part.area.replace("input", "term"), *sides) for part, sides in zip(found, shown, strict=True)] == parts


def test_a_part_that_the_example_does_not_reach_is_not_shown() -> None:
    base, head = (
        extraction({"cell_size": text}) for text in ("(7 if n > 8 else x * 3) * m", "(x * 2 if n > 8 else x * 4) * m")
    )
    result = compare_extractions(base, head, _RULES, scenarios=("mha",), quantities=("cell_size",))
    [change] = result.changes
    assert change.witness is not None
    assert change.before is not None
    assert (change.before.text == "7") == (int(str(change.witness.inputs["n"])) > 8)


def test_what_shows_in_a_scenario_comes_before_what_shows_in_none() -> None:
    result = compare_extractions(
        extraction({"rest_memory": "x - (y if hidden == 3 else 0)", "cell_size": "n * 2"}),
        extraction({"rest_memory": "x - (z if hidden == 3 else 0)", "cell_size": "n * 3"}),
        _RULES,
        scenarios=("mha",),
        quantities=("rest_memory", "cell_size"),
    )
    assert [bool(change.scenarios) for change in result.changes] == sorted(
        (bool(change.scenarios) for change in result.changes), reverse=True
    )
    assert len(result.changes) > 1
