"""Takes releases from the package index that the user's own pip is configured for."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from packaging.version import Version

from analyzer.adapters.content import printable
from analyzer.adapters.store import prepare_cache
from analyzer.adapters.versions import parse_version, sort_releases, suggestion_hint
from analyzer.adapters.wheel import ArchiveTree, archive_version
from analyzer.domain.errors import RepositoryError, UnknownRefError
from analyzer.domain.source import Revision
from analyzer.ports import Progress

_PACKAGE: Final = "sglang"
_PIP_OPTIONS: Final = ("--disable-pip-version-check", "--no-input", "--no-color")
# Recent wheels are built for Linux and one version of Python. They are read, not run, so any will
# do where this interpreter's own is missing.
_LINUX: Final = ("--platform", "manylinux_2_34_x86_64", "--platform", "manylinux2014_x86_64", "--implementation", "cp")
_TARGETS: Final[Sequence[Sequence[str]]] = (
    (),
    (*_LINUX, "--python-version", "3.12"),
    (*_LINUX, "--python-version", "3.11"),
    (*_LINUX, "--python-version", "3.10"),
)


class PackageIndexSource:
    """The releases of the sglang package, as wheels in a folder of the cache."""

    def __init__(self, cache: Path, progress: Progress) -> None:
        """Keep what is downloaded in `cache`."""
        self._cache = cache
        self._progress = progress

    def resolve(self, spec: str) -> Revision:
        """The release `spec`; its wheel is downloaded here, so that an unknown one is an error here."""
        version = parse_version(spec)
        if version is None:
            raise UnknownRefError(
                f"'{printable(spec)}' is not a version",
                hint="a package index has only releases such as v0.4.0; give a clone with --repo for other refs",
            )
        wheel = self._find(version) or self._download(version)
        found = archive_version(wheel.name) or str(version)
        note = None if spec == f"v{found}" else f"{spec} resolved to release v{found}"
        return Revision(spec, f"v{found}", wheel.name, found, note)

    def tree(self, revision: Revision) -> ArchiveTree:
        """The files of a release that was resolved before."""
        return ArchiveTree(revision, self._cache / revision.commit)

    def releases(self) -> Sequence[str]:
        """The releases on the index that have a wheel for this platform, oldest first."""
        result = _run_pip("index", "versions", "--pre", "--only-binary=:all:", _PACKAGE)
        found = re.search(r"Available versions: (.*)", result.stdout)
        if found is None:
            raise RepositoryError(f"pip cannot list the releases of sglang: {_reason(result.stderr)}", hint=_PIP_HINT)
        return sort_releases(f"v{name.strip()}" for name in found[1].split(","))

    def _find(self, version: Version) -> Path | None:
        wheels = sorted(self._cache.glob(f"{_PACKAGE}-*.whl"))
        return next((wheel for wheel in wheels if parse_version(archive_version(wheel.name) or "") == version), None)

    def _download(self, version: Version) -> Path:
        self._progress.note(f"downloading the wheel of sglang {version}")
        try:
            prepare_cache(self._cache.parent)
            self._cache.mkdir(exist_ok=True)
            with tempfile.TemporaryDirectory(prefix=".download-", dir=self._cache) as folder:
                wheel = _download_wheel(version, Path(folder))
                return wheel.replace(self._cache / wheel.name)
        except OSError as error:
            raise RepositoryError(
                f"cannot write the wheel: {error.strerror}",
                where=printable(str(self._cache)),
                hint="set SGLANG_ANALYZER_CACHE to another folder",
            ) from error


_PIP_HINT: Final = f"run `{sys.executable} -m pip download --no-deps {_PACKAGE}` to see why"


def _download_wheel(version: Version, folder: Path) -> Path:
    """Download one wheel of `version` into `folder`, for this platform or else for another."""
    errors = ""
    for target in _TARGETS:
        options = ("--no-deps", "--only-binary=:all:", "--quiet", "--dest", str(folder))
        errors = _run_pip("download", *options, *target, f"{_PACKAGE}=={version}").stderr
        wheels = sorted(folder.glob("*.whl"))
        if wheels:
            return wheels[0]
        if "No matching distribution" not in errors:
            raise RepositoryError(f"pip cannot download sglang {version}: {_reason(errors)}", hint=_PIP_HINT)
        if "Retrying" in errors:
            break
    known = re.search(r"from versions: ([^)]*)", errors)
    names = known[1].split(", ") if known and known[1] != "none" else []
    if not names:
        # To pip, an index that does not answer is one without packages.
        raise RepositoryError(
            f"pip finds no release of {_PACKAGE}: its package index has none, or cannot be reached",
            hint="check the network and `pip config list`, or give a clone with --repo",
        )
    raise UnknownRefError(
        f"the package index has no wheel of sglang {version}",
        hint=suggestion_hint(str(version), names, "an sdist is not built; give a clone with --repo"),
    )


def _run_pip(*arguments: str) -> subprocess.CompletedProcess[str]:
    """Run the user's pip; `-P` keeps a ``pip.py`` in the current folder from being run instead."""
    return subprocess.run(  # noqa: S603 - a fixed program, and arguments that are no shell text
        [sys.executable, "-P", "-m", "pip", *arguments, *_PIP_OPTIONS],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        errors="replace",
        check=False,
    )


def _reason(errors: str) -> str:
    """The line of pip's output that says why."""
    lines = [line for line in errors.splitlines() if line.strip()]
    fatal = [line.removeprefix("ERROR: ") for line in lines if line.startswith("ERROR: ")]
    return printable((fatal or lines or ["no reason given"])[-1].strip())
