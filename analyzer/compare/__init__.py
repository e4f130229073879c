"""Comparing formulas by meaning."""

from analyzer.compare.comparison import Comparison, Differences, find_differences

__all__ = ["Comparison", "Differences", "find_differences"]
