"""The effect on the servers of a project in words, shared by the formats that people read."""

from __future__ import annotations

from analyzer.domain.effect import Effect, ServerEffect
from analyzer.domain.evaluation import Result
from analyzer.domain.report import DiffReport
from analyzer.render.blocks import number, share
from analyzer.render.document import Document, Piece


def write_effects(document: Document, report: DiffReport) -> None:
    """Write one paragraph per number of a server; nothing when the settings describe none."""
    if not report.effects:
        return
    document.heading("Your servers")
    for effect in report.effects:
        name = f"{effect.server.name} ({effect.server.scenario}), {effect.quantity}: "
        document.write((Piece(name), Piece(effect_change(effect), "bad" if effect.broken else "")), 1, 4)
        for text, style in ((effect_failure(effect), "bad"), (effect_advice(effect), "")):
            if text:
                document.say(text, style, indent=2, hanging=2)


def effect_change(effect: Effect) -> str:
    """Both numbers, and how far they are apart."""
    unit = f" {effect.unit}" if effect.unit != "1" and effect.after.value is not None else ""
    relative = f" ({share(effect.relative)})" if effect.relative else ""
    if effect.before == effect.after:
        return f"{_outcome(effect.after)}{unit}, unchanged"
    return f"{_outcome(effect.before)} -> {_outcome(effect.after)}{unit}{relative}"


def effect_failure(effect: ServerEffect) -> str:
    """Which limits are broken, empty when none is."""
    if not effect.broken:
        return "could not be decided whether the formula changed" if effect.undecided else ""
    limits = " and ".join(effect.broken)
    return f"fails, undecided: {limits} cannot be ruled out" if effect.undecided else f"fails: {limits}"


def effect_advice(effect: ServerEffect) -> str:
    """The fraction that keeps today's tokens, empty where nothing is to be kept."""
    keeping = effect.keeping
    if keeping is None:
        return ""
    if keeping.missing:
        return ""
    if keeping.value is None or keeping.tokens is None:
        return "no --mem-fraction-static below 1 keeps today's tokens"
    more = "" if keeping.is_monotone else "; not every larger fraction does"
    return f"--mem-fraction-static {keeping.value:g} keeps today's tokens ({number(keeping.tokens)}){more}"


def _outcome(result: Result) -> str:
    if result.value is not None:
        return number(result.value)
    if result.error is not None:
        return result.error
    return "no such number" if result.absent else f"unknown without {', '.join(result.missing)}"
