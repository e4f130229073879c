"""Layers that are counted by kind: however a release spells it, it is the same number."""

from __future__ import annotations

import pytest

from analyzer.domain.extraction import Extraction
from analyzer.domain.notation import to_text
from tests.support.project import MACHINE, extracted, outcome

LAYERS = {"full_attention_layers": 12, "model_full_attention_layers": 24, "num_layers": 16, "num_hidden_layers": 16}
MODEL = "self.is_hybrid_swa = self.hf_config.window > 0\nself.full_attention_layer_ids = self.hf_config.kinds"
INIT = """
self.model = self.load_model()
self.start_layer = getattr(self.model, "start_layer", 0)
self.end_layer = getattr(self.model, "end_layer", self.model_config.num_hidden_layers)
before = self.init_torch_distributed()
self.init_memory_pool(before)
"""


def counted(lines: str, init: str = INIT, model_init: str = MODEL) -> Extraction:
    """A project whose bytes per token are 1024 for each layer that `lines` count as `n`."""
    return extracted(cell=f"{lines}\nreturn n * 1024", init=init, model_init=model_init)


def layers(extraction: Extraction, **inputs: int | bool) -> object:
    """How many layers a token is charged for."""
    cell = outcome(extraction, "cell_size", **{**MACHINE, **LAYERS, **inputs})
    return cell / 1024 if isinstance(cell, int) else cell


IDS = "ids = self.model_config.full_attention_layer_ids\n"
OF_THIS_RANK = {
    "a filtered list": "n = len([i for i in ids if self.start_layer <= i < self.end_layer])",
    "another name": "n = len([layer for layer in ids if self.start_layer <= layer < self.end_layer])",
    "two comparisons": "n = len([i for i in ids if i >= self.start_layer and self.end_layer > i])",
    "two conditions": "n = len([i for i in ids if i >= self.start_layer if i < self.end_layer])",
    "what is left out": "n = len([i for i in ids if not (i < self.start_layer or i >= self.end_layer)])",
    "a sum of ones": "n = sum(1 for i in ids if self.start_layer <= i < self.end_layer)",
    "a sum of conditions": "n = sum(self.start_layer <= i < self.end_layer for i in ids)",
    "a range": "n = len([i for i in range(self.start_layer, self.end_layer) if i in ids])",
    "a range that holds them": "n = len([i for i in ids if i in range(self.start_layer, self.end_layer)])",
    "a loop that collects": (
        "mine = []\nfor i in ids:\n  if self.start_layer <= i < self.end_layer:\n    mine.append(i)\nn = len(mine)"
    ),
    "a loop that counts": "n = 0\nfor i in ids:\n    if self.start_layer <= i < self.end_layer:\n        n += 1",
    "a condition on all": (
        "n = len([i for i in ids if hasattr(self, 'start_layer') and self.start_layer <= i < self.end_layer])"
    ),
}


@pytest.mark.parametrize("spelling", OF_THIS_RANK)
def test_the_layers_of_a_rank_are_one_number(spelling: str) -> None:
    extraction = counted(IDS + OF_THIS_RANK[spelling])
    assert layers(extraction) == 12
    assert extraction.gaps == ()


def test_the_layers_of_the_model_are_another_one() -> None:
    assert layers(counted(IDS + "n = len(ids)")) == 24


def test_a_range_that_ends_one_too_late_counts_the_next_layer() -> None:
    inclusive = counted(IDS + "n = len([i for i in range(self.start_layer, self.end_layer + 1) if i in ids])")
    assert layers(inclusive) == 12
    assert layers(inclusive, next_layer_is_full=True) == 13


def test_what_one_object_hands_to_another_has_the_formula_of_the_first() -> None:
    module = """
class _PPLayerRange:
    def __init__(self, start_layer, end_layer):
        self.start_layer = start_layer
        self.end_layer = end_layer
"""
    init = INIT.replace('getattr(self.model, "end_layer", self.model_config.num_hidden_layers)', "span.end_layer")
    span = "span = _PPLayerRange(0, self.model_config.num_hidden_layers)\nself.start_layer ="
    extraction = extracted(
        cell="return (self.end_layer + self.start_layer) * 1024",
        init=init.replace("self.start_layer =", span),
        model_init=MODEL,
        module=module,
    )
    assert to_text(extraction.definitions["end_layer"].term) == "num_hidden_layers"


def test_what_others_write_replaces_the_list_of_the_model() -> None:
    init = INIT.replace("before =", "self.model_config.full_attention_layer_ids = [0, 1, 2]\nbefore =")
    assert layers(counted(IDS + "n = len(ids)", init=init)) == 3


def test_a_list_that_only_some_models_have() -> None:
    model = "self.is_hybrid_swa = self.hf_config.window > 0\nif self.is_hybrid_swa:\n    "
    model += "self.full_attention_layer_ids = self.hf_config.kinds"
    lines = "n = len(getattr(self.model_config, 'full_attention_layer_ids', []))"
    assert layers(counted(lines, model_init=model), is_hybrid_swa=True) == 24
    assert layers(counted(lines, model_init=model), is_hybrid_swa=False) == 0


def test_an_empty_list_is_no_layers_at_all() -> None:
    lines = IDS + "n = len([i for i in ids if self.start_layer <= i < self.end_layer])"
    lines += "\nmine = [i for i in ids if self.start_layer <= i < self.end_layer]\nn = n if mine else 5"
    assert layers(counted(lines)) == 12
    assert layers(counted(lines), full_attention_layers=0) == 5


@pytest.mark.parametrize(
    ("lines", "n"),
    [
        ("n = len([i for i in range(self.end_layer) if i % 4 == 0])", 4),
        ("n = sum(i for i in range(self.end_layer))", 120),
        ("n = max(end - start for start, end in ((i, i * 2) for i in range(self.end_layer)))", 15),
        ("n = max(len([j for j in range(i) if j > 2]) for i in range(self.end_layer))", 12),
        ("n = 0\nfor i in range(self.end_layer):\n    n += i", 120),
        ("n = 3\nfor i in range(self.end_layer):\n    n = max(n, i % 7)", 6),
        ("n = 9\nfor i in range(self.end_layer):\n    n = max(i % 7, n)", 9),
        (
            "n = 3\nfor i in range(self.end_layer):\n    k = i + 2\n    n = max(n, sum(i <= j < k for j in range(9)))",
            3,
        ),
        ("n = 50\nfor i in range(self.end_layer):\n    if i % 2: n = min(n, i + 10)", 11),
        ("n = 0\nfor i in range(self.end_layer):\n    if i % 5 > n: n = i % 5", 4),
        ("n = 9\nfor i in range(self.end_layer):\n    if i % 5 >= n: pass\n    else: n = i % 5", 0),
        ("n = sum([i * 2 for i in range(self.end_layer)][2:7:2])", 24),
        ("n = len([i for i in range(self.end_layer)][-5:])", 5),
    ],
)
def test_a_range_of_this_rank_is_gone_through_when_its_end_is_known(lines: str, n: int) -> None:
    extraction = counted(lines)
    assert layers(extraction) == n
    assert extraction.gaps == ()


def test_a_loop_that_reads_what_it_collects_is_a_gap() -> None:
    lines = IDS + "mine = []\nfor i in ids:\n    if len(mine) < 3:\n        mine.append(i)\nn = len(mine)"
    assert counted(lines).gaps != ()


@pytest.mark.parametrize(
    "lines",
    [
        "n, m = 1, 2\nfor i in range(self.end_layer):\n    n = max(n, m)\n    m = max(m, i)",
        "n = 1\nfor i in range(self.end_layer):\n    n = max(n * 2, i)",
        "n = 1\nfor i in range(self.end_layer):\n    n = max(n, i)\n    if i > 3: break",
        "n = 1\nfor i in range(self.end_layer):\n    if n > i: n = i + 1",
    ],
)
def test_a_loop_that_is_no_fold_is_a_gap(lines: str) -> None:
    assert counted(lines).gaps != ()
