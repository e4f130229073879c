"""Which releases have one formula, so that nothing has to be compared."""

from __future__ import annotations

from analyzer.domain.extraction import Extraction


def same_formula(base: Extraction, head: Extraction) -> bool:
    """Whether two releases have one and the same formula, in the same places of the source, and the same settings."""
    # Terms are unique, so that this compares identities.
    return (
        base.quantities == head.quantities
        and base.definitions == head.definitions
        and base.inputs == head.inputs
        and base.settings == head.settings
        and base.every_gap == head.every_gap
        and _places(base) == _places(head)
    )


def _places(extraction: Extraction) -> tuple[object, ...]:
    formulas = {
        name: (formula.source_name, {span.path for span in formula.locations})
        for name, formula in extraction.quantities.items()
    }
    return extraction.hops, tuple(hop.path for hop in extraction.hops), formulas
