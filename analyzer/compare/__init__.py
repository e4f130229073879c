"""Comparing formulas by meaning."""

from analyzer.compare.comparison import Comparison, compare_extractions

__all__ = ["Comparison", "compare_extractions"]
