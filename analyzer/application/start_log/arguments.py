"""Server arguments as a log prints them, whole or cut off."""

from __future__ import annotations

import re
from typing import Final

from analyzer.domain.terms import Scalar

_MAX_TEXT: Final = 400
_PAIR: Final = re.compile(
    r"\b([a-z][a-z0-9_]{0,80})=(?:'((?:[^'\\]|\\.){0,2000})'|\"((?:[^\"\\]|\\.){0,2000})\"|([^\s,()\[\]{}'\"<>]{1,80}))(?=[,)\s]|$)"
)
_OPTION: Final = re.compile(r"--([a-z][a-z0-9-]{1,80})(?:[ =]+([^\s\\'\"-][^\s'\"]{0,400}))?")
_WORDS: Final[dict[str, Scalar]] = {"None": None, "True": True, "False": False}
# Short forms of the command line.
_SHORT: Final = {"tp": "tp_size", "dp": "dp_size", "pp": "pp_size", "model": "model_path", "ep": "ep_size"}
_FULL: Final = {
    "tensor_parallel_size": "tp_size",
    "data_parallel_size": "dp_size",
    "pipeline_parallel_size": "pp_size",
}


def read_arguments(text: str) -> dict[str, Scalar]:
    """The arguments in ``ServerArgs(name=value, ...)``; what is cut off or nested is left out.

    The first of two equal names is the server's own, later ones belong to nested values.
    """
    found: dict[str, Scalar] = {}
    for name, single, double, bare in _PAIR.findall(text):
        if name not in found and name != "server_args":
            found[name] = _scalar(bare) if bare else (single or double)[:_MAX_TEXT]
    return found


def read_command(text: str) -> dict[str, Scalar]:
    """The arguments of a command line, as the names of the server's own."""
    found: dict[str, Scalar] = {}
    for option, value in _OPTION.findall(text):
        name = option.replace("-", "_")
        name = _SHORT.get(name) or _FULL.get(name) or name
        found[name] = _scalar(value) if value else True
    return found


def _scalar(text: str) -> Scalar:
    if text in _WORDS:
        return _WORDS[text]
    for kind in (int, float):
        try:
            value = kind(text)
        except ValueError:
            continue
        # Neither `nan` nor `1_0` is an argument that a server prints.
        return value if text.replace(".", "", 1).lstrip("-").replace("e-", "").isdigit() else text
    return text
