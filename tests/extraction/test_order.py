"""What is measured before or after what takes memory: the order on the path is part of the formula."""

from __future__ import annotations

import pytest

from analyzer.domain.extraction import Extraction
from analyzer.domain.report import Change, Kind
from tests.support.comparing import compare_extractions
from tests.support.project import extracted, shipped_rules

PLAIN = "before = self.init_torch_distributed()\nself.load_model()\nself.init_memory_pool(before)"
OTHER_ORDER = {
    "loaded first": ("self.load_model()\nbefore = self.init_torch_distributed()\nself.init_memory_pool(before)", ""),
    "loaded first, in another method": (
        "self.prepare()\nself.init_memory_pool(self.before)",
        "def prepare(self):\n    self.load_model()\n    self.before = self.init_torch_distributed()",
    ),
    "loaded in the call that measures": (
        "before = self.start()\nself.init_memory_pool(before)",
        "def start(self):\n    self.load_model()\n    return self.init_torch_distributed()",
    ),
}
SAME_ORDER = {
    "a message between": (PLAIN.replace("self.load", "logger.info('loading')\nself.load"), ""),
    "a method around the loading": (
        "before = self.init_torch_distributed()\nself.prepare()\nself.init_memory_pool(before)",
        "def prepare(self):\n    self.load_model()",
    ),
    "a method around both": (
        "self.prepare()\nself.init_memory_pool(self.before)",
        "def prepare(self):\n    self.before = self.init_torch_distributed()\n    self.load_model()",
    ),
}


def changes(before: Extraction, after: Extraction) -> tuple[Change, ...]:
    found = compare_extractions(before, after, shipped_rules(), scenarios=["mha"], quantities=())
    assert found.verdict == max([change.kind for change in found.changes], default=Kind.IDENTICAL)
    return found.changes


@pytest.mark.parametrize("name", OTHER_ORDER)
def test_a_measurement_that_changes_places_with_the_loading_is_a_change_of_its_own(name: str) -> None:
    init, methods = OTHER_ORDER[name]
    found = [c for c in changes(extracted(init=PLAIN), extracted(init=init, methods=methods)) if c.kind > Kind.ROUNDING]
    assert [(change.rule, change.quantity) for change in found] == [("SGM134", "pre_model_load_memory")]
    assert found[0].summary.endswith("measured after the weights are loaded; it was measured before anything is loaded")
    assert {"rest_memory", "max_total_num_tokens"} <= set(found[0].affects)


@pytest.mark.parametrize("name", SAME_ORDER)
def test_another_way_to_the_same_order_is_none(name: str) -> None:
    init, methods = SAME_ORDER[name]
    found = changes(extracted(init=PLAIN), extracted(init=init, methods=methods))
    assert not [change for change in found if change.kind > Kind.ROUNDING]
