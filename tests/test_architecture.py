"""The page about the architecture names what exists."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

_ROOT = Path(__file__).resolve().parents[1]
_ROW = re.compile(r"^\| (?P<layers>`.*?) \|.*\| (?P<names>`.*?) \|$", re.MULTILINE)
_CODE = re.compile(r"`([\w.]+)`")


def _rows() -> list[tuple[list[str], str]]:
    rows = _ROW.findall((_ROOT / "ARCHITECTURE.md").read_text())
    return [(_CODE.findall(layers), name) for layers, names in rows for name in _CODE.findall(names)]


def _source(layer: str) -> str:
    path = _ROOT / "analyzer" / layer
    files = [path.with_suffix(".py")] if path.with_suffix(".py").is_file() else sorted(path.rglob("*.py"))
    return "".join(file.read_text() for file in files)


@pytest.mark.parametrize(("layers", "name"), _rows(), ids=lambda value: value if isinstance(value, str) else "")
def test_a_name_of_the_codemap_is_defined_in_its_layer(layers: list[str], name: str) -> None:
    defined = re.compile(rf"^(class|def) {name}\b|^{name}\b.* = ", re.MULTILINE)
    assert any(defined.search(_source(layer)) for layer in layers)


def test_every_layer_has_a_row() -> None:
    described = {layer for layers, _ in _rows() for layer in layers}
    packages = {path.parent.name for path in (_ROOT / "analyzer").glob("*/__init__.py")}
    assert described == packages | {"__main__"}
