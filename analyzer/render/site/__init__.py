"""A static site about the formulas of many releases, that opens from disk without a network."""

from analyzer.render.site.markdown import write_pages, write_release
from analyzer.render.site.overview import render_overview
from analyzer.render.site.program import program_name, program_text
from analyzer.render.site.release import Neighbours, render_release

__all__ = [
    "Neighbours",
    "program_name",
    "program_text",
    "render_overview",
    "render_release",
    "write_pages",
    "write_release",
]
