"""Releases of SGLang as their wheels, fetched from the package index and kept outside the repository."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import zipfile
from functools import cache
from pathlib import Path

import platformdirs

CACHE_VARIABLE = "SGLANG_ANALYZER_TEST_CACHE"
PROJECT = "sglang"
_DOWNLOAD_SECONDS = 600
# Newer wheels hold compiled code; only their sources are read, so one build serves every machine.
_TARGET = ("--implementation=cp", "--python-version=3.11", "--platform=manylinux_2_34_x86_64")


class ReleaseUnavailableError(Exception):
    """A release could not be fetched, or does not hold the file that a test asks for."""


def cache_folder() -> Path:
    """Where downloaded wheels stay between test runs."""
    chosen = os.environ.get(CACHE_VARIABLE)
    base = Path(chosen) if chosen else platformdirs.user_cache_path("sglang-memory-analyzer-tests")
    return base / "wheels"


@cache
def wheel(version: str) -> Path:
    """The wheel of release `version`, downloaded once."""
    folder = cache_folder()
    kept = _kept(folder, version)
    return kept if kept is not None else _download(folder, version)


@cache
def read_module(version: str, module: str) -> bytes | None:
    """The source of dotted `module` in release `version`, None when the release has no such module."""
    stem = module.replace(".", "/")
    with zipfile.ZipFile(wheel(version)) as archive:
        for name in (f"{stem}.py", f"{stem}/__init__.py"):
            try:
                return archive.read(name)
            except KeyError:
                continue
    return None


def require_module(version: str, module: str) -> bytes:
    """The source of `module`, or an error that names what is missing."""
    source = read_module(version, module)
    if source is None:
        raise ReleaseUnavailableError(f"{PROJECT} {version} has no module {module}")
    return source


def _kept(folder: Path, version: str) -> Path | None:
    return next(iter(sorted(folder.glob(f"{PROJECT}-{version}-*.whl"))), None)


def _download(folder: Path, version: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    # A private folder and a rename: test workers may fetch the same release at the same time.
    with tempfile.TemporaryDirectory(dir=folder) as scratch:
        _pip_download(version, scratch)
        fetched = _kept(Path(scratch), version)
        if fetched is None:
            raise ReleaseUnavailableError(f"pip delivered no wheel of {PROJECT} {version}")
        return fetched.replace(folder / fetched.name)


def _pip_download(version: str, destination: str) -> None:
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary=:all:", *_TARGET, "--dest", destination, f"{PROJECT}=={version}"]
    try:
        subprocess.run(command, check=True, capture_output=True, text=True, timeout=_DOWNLOAD_SECONDS)
    except subprocess.CalledProcessError as error:
        raise ReleaseUnavailableError(f"cannot fetch {PROJECT} {version}: {_reason(error)}") from error
    except subprocess.TimeoutExpired as error:
        raise ReleaseUnavailableError(f"fetching {PROJECT} {version} took over {_DOWNLOAD_SECONDS} s") from error


def _reason(error: subprocess.CalledProcessError) -> str:
    """What pip says went wrong: its last error, which is the short one."""
    errors = [line for line in str(error.stderr).splitlines() if line.startswith("ERROR")]
    return errors[-1] if errors else f"pip ended with {error.returncode}"
