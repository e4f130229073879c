"""The generated site as Chromium shows it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select, WebDriverWait

from analyzer.adapters.rules import load_rules
from analyzer.application.docs.calculator import build_program
from analyzer.render.site import program_text
from tests.support.calculator import program_and_calculations
from tests.support.following import EVERY
from tests.support.operators import python_calls
from tests.support.project import MACHINES, TOKENS, outcome

pytestmark = pytest.mark.releases

_HERE: Final = Path(__file__).parent
# Inputs, and the whole numbers that came out when the sizing code of the release itself ran on them.
_CASES: Final = json.loads((_HERE / "cases.json").read_text())
_PAGES: Final = (
    "index.html",
    "versions/v0.5.4.html",
    "versions.html",
    "timeline.html",
    "meaning.html",
    "rules.html",
    "glossary.html",
)
_SECONDS: Final = 20


def _open(chrome: Chrome, site: Path, page: str) -> None:
    chrome.get("about:blank")
    chrome.get(f"{site.as_uri()}/{page}")
    # On a busy machine a page may be complete before its style is applied.
    WebDriverWait(chrome, _SECONDS).until(
        lambda driver: driver.execute_script("return document.styleSheets.length > 0")
    )


def _change_page(site: Path) -> str:
    return str(next(iter(sorted((site / "changes").glob("*.html")))).relative_to(site))


def _resize(chrome: Chrome, width: int) -> None:
    size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}
    chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)


@pytest.mark.parametrize("width", [1280, 390])
def test_pages_open_without_errors_requests_or_overflow(chrome: Chrome, site: Path, width: int) -> None:
    _resize(chrome, width)
    for page in (*_PAGES, _change_page(site)):
        _log(chrome, "browser")
        _log(chrome, "performance")
        _open(chrome, site, page)
        assert _log(chrome, "browser") == [], page
        assert all(url.startswith(("file:", "data:", "about:")) for url in _requests(chrome)), page
        assert chrome.find_element(By.TAG_NAME, "h1").is_displayed()
        assert chrome.execute_script("return document.documentElement.scrollWidth") <= width, page


def _log(chrome: Chrome, kind: str) -> list[dict[str, Any]]:
    return list(chrome.get_log(kind))  # type: ignore[no-untyped-call]  # selenium has no type here


def _requests(chrome: Chrome) -> list[str]:
    messages = [json.loads(entry["message"])["message"] for entry in _log(chrome, "performance")]
    sent = [message["params"] for message in messages if message["method"] == "Network.requestWillBeSent"]
    return [params["request"]["url"] for params in sent]


def test_formulas_are_typeset(chrome: Chrome, site: Path) -> None:
    _resize(chrome, 1280)
    _open(chrome, site, "versions/v0.5.4.html")
    script = """
        const fraction = [...document.querySelectorAll("mfrac")].find((item) => item.getClientRects().length);
        const [over, under] = [...fraction.children].map((part) => part.getBoundingClientRect());
        return [over.height > 5, over.bottom <= under.top + 4, over.width > 5];
    """
    assert chrome.execute_script(script) == [True, True, True]


def test_the_family_that_is_asked_for_shows(chrome: Chrome, site: Path) -> None:
    _open(chrome, site, "versions/v0.5.4.html")
    assert _shown_panels(chrome) == ["mha"]
    _open(chrome, site, "versions/v0.5.4.html#mla")
    assert _shown_panels(chrome) == ["mla"]


def _shown_panels(chrome: Chrome) -> list[str]:
    panels = chrome.find_elements(By.CLASS_NAME, "panel")
    return [str(panel.get_attribute("id")) for panel in panels if panel.is_displayed()]


def test_the_filter_filters(chrome: Chrome, site: Path) -> None:
    _open(chrome, site, "timeline.html")
    every = _visible(chrome)
    Select(chrome.find_element(By.NAME, "scenario")).select_by_value("mamba")
    of_family = _visible(chrome)
    kind = min((kind for kind, _ in of_family), key=[kind for kind, _ in of_family].count)
    Select(chrome.find_element(By.NAME, "kind")).select_by_value(kind)
    of_both = _visible(chrome)
    assert len(every) > len(of_family) > len(of_both) > 0
    assert all("mamba" in scenarios.split() for _, scenarios in of_family)
    assert of_both == [item for item in of_family if item[0] == kind]
    assert len(of_family) == sum("mamba" in scenarios.split() for _, scenarios in every)


def _visible(chrome: Chrome) -> list[tuple[str, str]]:
    script = """
        return [...document.querySelectorAll("[data-kind]")].filter((item) => item.getClientRects().length)
            .map((item) => [item.dataset.kind, item.dataset.scenarios]);
    """
    return [(kind, scenarios) for kind, scenarios in chrome.execute_script(script)]


def test_the_search_finds(chrome: Chrome, site: Path) -> None:
    _open(chrome, site, "index.html")
    chrome.find_element(By.TAG_NAME, "body").send_keys("/")
    field = chrome.find_element(By.ID, "search")
    assert chrome.switch_to.active_element == field
    field.send_keys("v0.4.6", Keys.ENTER)
    WebDriverWait(chrome, _SECONDS).until(lambda driver: driver.current_url.endswith("versions/v0.4.6.html"))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_texts_have_enough_contrast(chrome: Chrome, site: Path, scheme: str) -> None:
    _resize(chrome, 1280)
    feature = {"name": "prefers-color-scheme", "value": scheme}
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [feature]})
    script = (_HERE / "contrast.js").read_text()
    for page in (*_PAGES, _change_page(site)):
        _open(chrome, site, page)
        result = chrome.execute_script(script)
        assert result["found"] == [], page
        assert result["count"] > 20
    chrome.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": []})


def test_without_scripts_everything_but_filter_and_calculator_works(chrome: Chrome, site: Path) -> None:
    chrome.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        _open(chrome, site, "versions/v0.5.4.html#mla")
        assert chrome.find_element(By.ID, "mla").is_displayed()
        assert not chrome.find_element(By.ID, "mha").is_displayed()
        _open(chrome, site, "meaning.html")
        assert chrome.find_element(By.CSS_SELECTOR, ".chart svg").is_displayed()
        assert not chrome.find_element(By.ID, "calculator").is_displayed()
        assert "needs JavaScript" in chrome.find_element(By.TAG_NAME, "main").text
    finally:
        chrome.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})


@pytest.mark.parametrize("case", _CASES, ids=lambda case: f"{case['ref']}-{case['scenario']}")
def test_the_calculator_computes_what_the_release_computes(chrome: Chrome, site: Path, case: dict[str, Any]) -> None:
    _open(chrome, site, f"meaning.html#{case['ref']}/{case['scenario']}")
    WebDriverWait(chrome, _SECONDS).until(_has_results)
    for field in chrome.find_elements(By.CSS_SELECTOR, "#calculator input"):
        value = case["inputs"].get(field.get_attribute("name"))
        _type(chrome, field, "" if value is None else json.dumps(value))
    found = {name: _result(chrome, name) for name in case["expect"]}
    assert found == {name: str(value) for name, value in case["expect"].items()}


def _has_results(chrome: Chrome) -> bool:
    return bool(chrome.find_elements(By.CSS_SELECTOR, "#results td"))


def _type(chrome: Chrome, field: Any, text: str) -> None:
    # As a person types: the folded inputs take part too.
    script = "arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input', {bubbles: true}));"
    chrome.execute_script(script, field, text)


def _result(chrome: Chrome, quantity: str) -> str:
    cell = chrome.find_element(By.CSS_SELECTOR, f"#results [data-quantity='{quantity}']")
    return str(cell.get_attribute("data-value"))


def test_operators_are_those_of_python(chrome: Chrome, site: Path) -> None:
    _open(chrome, site, "meaning.html")
    WebDriverWait(chrome, _SECONDS).until(_has_results)
    calls = list(python_calls())
    script = """
        return arguments[0].map(([op, args]) => {
            try {
                return formula.text(formula.operators[op](...args.map(formula.parse)));
            } catch (error) {
                if (error instanceof formula.Raised) return error.exception;
                throw error;
            }
        });
    """
    found = chrome.execute_script(script, [[op, [_written(value) for value in values]] for op, values, _ in calls])
    differing = [(call, shown) for call, shown in zip(calls, found, strict=True) if call[2] != shown]
    assert differing == []
    assert len(calls) > 3000


@pytest.mark.parametrize("name", EVERY)
def test_what_is_computed_over_sequences_is_what_eval_computes(chrome: Chrome, site: Path, name: str) -> None:
    _open(chrome, site, "meaning.html")
    extraction = EVERY[name].extraction()
    program = json.loads(program_text(build_program(extraction, load_rules(), (), ())))
    program["scenarios"] = {"any": {"fixed": {}, "open": []}}
    script = """
        const [program, machines, name] = arguments;
        return machines.map((machine) => {
            const given = new Map(Object.entries(machine).map(([one, text]) => [one, formula.parse(text)]));
            return formula.text(formula.evaluate(program, "any", given)[name].value);
        });
    """
    machines = [{one: _written(value) for one, value in machine.items()} for machine in MACHINES]
    found = chrome.execute_script(script, program, machines, TOKENS)
    assert found == [str(outcome(extraction, **machine)) for machine in MACHINES]


def _written(value: Any) -> str:
    return json.dumps(value) if value is None or isinstance(value, bool) else repr(value)


@pytest.mark.parametrize("release", ["v0.3.6", "v0.4.9", "v0.5.9", "v0.5.14", "v0.5.18"])
def test_the_calculator_computes_what_eval_computes(chrome: Chrome, site: Path, release: str) -> None:
    _open(chrome, site, "meaning.html")
    program, calculations = program_and_calculations(release)
    script = """
        const [program, calculations] = arguments;
        const shown = (one) => {
            if (one.error) return `raises ${one.error}`;
            return one.absent ? "absent" : one.missing ? "missing" : formula.text(one.value);
        };
        return calculations.map(([scenario, inputs]) => {
            const given = new Map(Object.entries(inputs).map(([name, text]) => [name, formula.parse(text)]));
            const found = formula.evaluate(program, scenario, given);
            return Object.fromEntries(Object.entries(found).map(([name, one]) => [name, shown(one)]));
        });
    """
    cases = [[c.scenario, {name: json.dumps(value) for name, value in c.inputs.items()}] for c in calculations]
    found = chrome.execute_script(script, json.loads(program), cases)
    assert found == [calculation.expected for calculation in calculations]
    assert len(found) > 100
