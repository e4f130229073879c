"""Comparing formulas by meaning."""

from analyzer.compare.comparison import Comparison, Differences, compare_extractions, find_differences

__all__ = ["Comparison", "Differences", "compare_extractions", "find_differences"]
