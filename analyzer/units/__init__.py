"""Inferring units of measure over terms."""

from analyzer.units.declared import declared_units
from analyzer.units.inference import Inference

__all__ = ["Inference", "declared_units"]
