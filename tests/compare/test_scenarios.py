"""Partial evaluation: what a scenario fixes, what a release's defaults settle, what stays open."""

from __future__ import annotations

import pytest

from analyzer.domain.errors import UsageError
from analyzer.domain.extraction import Extraction
from analyzer.domain.scenario import Specialiser, outcome, scenario_formula, scenario_inputs, scenario_values
from tests.support.terms import extraction, formula, parse, rule_set

_RULES = rule_set()
_EMPTY = extraction({})


def _left(text: str, scenario: str = "mha", source: Extraction = _EMPTY) -> str:
    values, inputs = scenario_values(_RULES, scenario), scenario_inputs(_RULES, scenario)
    return repr(Specialiser(source, _RULES, values, open_symbols=inputs).term(parse(text)))


@pytest.mark.parametrize(
    ("text", "scenario", "left"),
    [
        ("1 if use_mla_backend else n", "mha", "n"),
        ("1 if use_mla_backend else n", "mla", "1"),
        ("1 if device == 'hip' else n", "mla+hip", "1"),
        # The rules' default settles what no scenario leaves open ...
        ("1 if enable_dp_attention else n", "mha", "n"),
        # ... unless the scenario is about it.
        ("1 if enable_dp_attention else n", "mha+dp", "(1 if bool(enable_dp_attention) else n)"),
        # ... and a free input stays, whatever its default is.
        ("page_size * n", "mha", "*(page_size, n)"),
        # What nobody declares is an option that nobody sets: false, None, equal to nothing.
        ("1 if server.option else n", "mha", "n"),
        ("1 if env.get() else n", "mha", "n"),
        ("1 if server.option is None else n", "mha", "1"),
        ("1 if server.option == 'x' else n", "mha", "n"),
        ("1 if server.option != 'x' else n", "mha", "1"),
        ("1 if server.option > 3 else n", "mha", "n"),
        ("1 if (env.get() if p else None) is None else n", "mha", "1"),
        # As a number it is no option but an input.
        ("config.dim * n", "mha", "*(config.dim, n)"),
    ],
)
def test_a_scenario_leaves(text: str, scenario: str, left: str) -> None:
    assert _left(text, scenario) == left


def test_the_default_of_the_release_goes_before_that_of_the_rules() -> None:
    release = extraction({}, defaults={"enable_dp_attention": "True"})
    assert _left("1 if enable_dp_attention else n", source=release) == "1"


def test_a_sub_quantity_that_comes_out_constant_is_put_in() -> None:
    release = extraction({}, {"is_latent": "use_mla_backend", "width": "n * m"})
    assert _left("1 if is_latent else width", "mha", release) == "width"


def test_the_fraction_is_never_settled() -> None:
    release = extraction({}, defaults={"mem_fraction_static": "0.9"})
    assert _left("1 - mem_fraction_static", source=release) == "-(1, mem_fraction_static)"


def test_modifiers_come_over_the_family() -> None:
    assert scenario_values(_RULES, "mla+hip") == {"use_mla_backend": True, "device": "hip"}


def test_an_unknown_scenario_is_an_error_with_a_suggestion() -> None:
    with pytest.raises(UsageError, match="did you mean 'mla'"):
        scenario_values(_RULES, "mlaa")


def test_an_outcome_is_the_value_in_the_unit_of_results_or_the_error() -> None:
    plain = formula("n", unit="GiB", source_unit="byte", error="raises('E') if p else None")
    assert repr(outcome(plain)) == "(raise E if bool(p) else /(n, 1073741824))"


def test_a_formula_keeps_its_error_apart() -> None:
    release = extraction({"cell_size": formula("n", error="raises('E') if use_mla_backend else None")})
    assert scenario_formula(release, _RULES, "cell_size", "mha").error is None
    assert repr(scenario_formula(release, _RULES, "cell_size", "mla").error) == "raise E"
