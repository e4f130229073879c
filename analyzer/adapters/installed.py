"""Finds the sglang package of the current environment, by its metadata; it is never imported."""

from __future__ import annotations

import json
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from analyzer.adapters.folder import FolderSource
from analyzer.domain.errors import UnknownRefError

INSTALLED: Final = "INSTALLED"


def installed_source() -> FolderSource:
    """The sglang package of the current environment, found by its metadata and never imported."""
    try:
        package = distribution("sglang")
    except PackageNotFoundError:
        raise UnknownRefError(
            "sglang is not installed in this environment", hint="run analyzer in the environment of your server"
        ) from None
    folder = _editable_folder(package) or Path(str(package.locate_file("")))
    return FolderSource(folder, INSTALLED, package.version)


def _editable_folder(package: Distribution) -> Path | None:
    """The source folder of a package that was installed with ``pip install -e``."""
    try:
        origin = json.loads(package.read_text("direct_url.json") or "{}")
    except ValueError:
        return None
    if not isinstance(origin, dict) or not isinstance(origin.get("dir_info"), dict):
        return None
    url = urlsplit(str(origin.get("url", "")))
    is_editable = url.scheme == "file" and origin["dir_info"].get("editable") is True
    return Path(url2pathname(url.path)) if is_editable else None
