"""Formula documentation: what is said about each release, and what spans them."""

from analyzer.application.docs.pages import Documentation, Program, Release, ReleaseFacts, ReleasePage
from analyzer.application.docs.timeline import compare_neighbours, same_formula

__all__ = [
    "Documentation",
    "Program",
    "Release",
    "ReleaseFacts",
    "ReleasePage",
    "compare_neighbours",
    "same_formula",
]
