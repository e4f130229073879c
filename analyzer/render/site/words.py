"""Words that mislead readers of SGLang's memory sizing, whatever the version, and what needs words of its own."""

from __future__ import annotations

from typing import Final

from analyzer.application.docs.pages import Documentation
from analyzer.domain.report import Change, Kind

_MEASURED: Final = "pre_model_load_memory"
_MISREAD: Final = (
    (
        "fraction",
        (
            "The static fraction is a share of what was free before loading, not of the card and not of what is left"
            " after loading: 1 - fraction of it stays free for activations and graphs, and weights and KV cache share"
            " the rest. A model that weighs more than the fraction allows leaves a negative budget."
        ),
    ),
    (
        "GB and GiB",
        (
            "1 GiB is 2^30 = 1,073,741,824 bytes, 1 GB is 10^9 bytes: 80 GB are 74.5 GiB. Logs often write GB where"
            " they mean GiB; a factor of 1.0737 between two numbers is this one."
        ),
    ),
    (
        "token",
        "One position of one sequence in the KV cache, over all layers counted. Its cost in bytes is cell_size.",
    ),
)


def is_outside(change: Change) -> bool:
    """Whether no model family shows a change: it takes an option that is off in all of them."""
    return not change.scenarios and change.kind is not Kind.LOST


def misread_words(documentation: Documentation) -> tuple[tuple[str, str], ...]:
    """Each word with what it means here; what "total" is comes from the rules."""
    known = {rule.name: rule.description for rule in documentation.rules.quantities}
    total = (("total", known[_MEASURED]),) if _MEASURED in known else ()
    return (*total, *_MISREAD)
