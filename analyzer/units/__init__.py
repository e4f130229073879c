"""Inferring units of measure over terms."""

from analyzer.units.declared import declared_units
from analyzer.units.inference import Inference
from analyzer.units.wording import StatedUnit, stated_units

__all__ = ["Inference", "StatedUnit", "declared_units", "stated_units"]
