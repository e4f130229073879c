"""Which models are of a kind: the classes that a release lists are the formula of a symbol."""

from __future__ import annotations

import pytest

from analyzer.domain.extraction import Extraction
from analyzer.domain.notation import to_text
from tests.support.project import MACHINE, extracted, outcome

READ = "config = self.hybrid_gdn_config\nif config is not None:\n    n = n - config.extra"


def hybrid(test: str) -> Extraction:
    """A project that counts otherwise for the models that `test` tells."""
    methods = f"""
    @property
    def hybrid_gdn_config(self):
        config = self.model_config.hf_config
        if isinstance(config, {test}):
            return config
        return None
    """
    imports = "from sglang.srt.configs.next import Next, Jet"
    files = {"sglang/srt/configs/next.py": "class Next:\n    pass\nclass Jet:\n    pass"}
    pool = f"n = self.profile_max_num_token(before)\n{READ}\nself.max_total_num_tokens = n"
    return extracted(files, methods=methods, imports=imports, pool=pool)


def kind(extraction: Extraction) -> str:
    return to_text(extraction.definitions["linear_attention_family"].term)


@pytest.mark.parametrize("test", ["Next | Jet", "(Next, Jet)", "(Next | Jet)"])
def test_a_class_that_joins_a_list_is_one_condition_more(test: str) -> None:
    alone, joined = hybrid("Next"), hybrid(test)
    assert "Jet" not in kind(alone)
    assert kind(joined) == kind(hybrid("(Next, Jet)"))
    assert "isinstance(hf_config, <Next>) or isinstance(hf_config, <Jet>)" in kind(joined)


def test_where_nothing_tells_the_kind_its_default_holds() -> None:
    extraction = hybrid("Next")
    given = {**MACHINE, "is_hybrid_linear": True, "linear_attention_config.extra": 5}
    plain = outcome(extracted(), **MACHINE)
    assert isinstance(plain, int)
    assert outcome(extraction, **given) == plain - 5
    assert outcome(extraction, **given, linear_attention_family="kimi") == plain
