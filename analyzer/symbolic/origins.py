"""Origins: what the rules say a name, a call or a whole expression of SGLang is worth."""

from __future__ import annotations

import re

from analyzer.domain.rules import RuleSet
from analyzer.domain.terms import Term, symbol

_NAMED = re.compile(r"(\*\.)?[\w.]+(\(\))?")


def named_origins(rules: RuleSet) -> dict[str, Term]:
    """Origins that are names: ``Class.attribute``, ``Class.method()``, ``function()``."""
    found = dict(rules.origins)
    for rule in rules.symbols.values():
        for source in rule.sources:
            if _NAMED.fullmatch(source):
                found[source] = symbol(rule.name)
    return found


def expression_origins(rules: RuleSet) -> dict[str, Term]:
    """Origins that are whole expressions over symbols (``end_layer - start_layer``), by their text."""
    found = {text: term for text, term in rules.origins.items() if not _NAMED.fullmatch(text)}
    for rule in rules.symbols.values():
        found.update({source: symbol(rule.name) for source in rule.sources if not _NAMED.fullmatch(source)})
    return found
