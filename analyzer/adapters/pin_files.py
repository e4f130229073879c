"""What a file of a project says about the version of SGLang that it wants, whatever kind of file it is."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

PROJECT: Final = "sglang"
_COMMENT: Final = re.compile(r"(^|\s)#.*")
_OPTION: Final = re.compile(r"\s--?\w[\w-]*([= ]\S*)?")
_IMAGE: Final = re.compile(r"(?:^|[\s\"'=/])sglang:(?P<tag>[\w.${}:-]+)")
_ARGUMENT: Final = re.compile(r"^[ \t]*(?:ARG|ENV)[ \t]+(?P<name>\w+)[= \t]+[\"']?(?P<value>[\w.+-]+)", re.MULTILINE)
_VARIABLE: Final = re.compile(r"\$\{?(?P<name>\w+)(?::-(?P<default>[\w.+-]+))?\}?")
# An image is tagged with the release and then what it was built for: v0.5.9-cu126, v0.5.9.post1-rocm630.
_TAG: Final = re.compile(r"v?(?P<version>\d+(?:\.\d+)+(?:(?:rc|a|b|\.post|\.dev)\d+)*)(?:$|[-_])")
_GIT: Final = re.compile(r"git\+[^@\s]*(?:@[^@\s/]+/)?[^@\s]*/sglang(?:\.git)?@(?P<ref>[^#\s\"']+)")
_KEY: Final = re.compile(
    r"^[ \t]*(?:\[[^\]\n#]*\bdependencies\.)?(?P<name>[\"']?sglang[\"']?)[ \t]*[=\]]", re.MULTILINE
)
_INCLUDED: Final = re.compile(r"^\s*(?:-r|--requirement|-c|--constraint)[= \t]*(?P<file>\S+)", re.MULTILINE)
_INSTALLED: Final = re.compile(r"(?<![\w.-])sglang(?:\[[\w, -]*\])?\s*={2,3}\s*(?P<version>[\w.!+-]+)")


@dataclass(frozen=True, slots=True)
class Mention:
    """One place that names SGLang: the ref it pins, or why it pins none."""

    line: int
    ref: str = ""
    problem: str = ""


def find_mentions(name: str, text: str) -> list[Mention]:
    """Every place of the file called `name` that wants SGLang, in order."""
    return list(_reader(name.replace("\\", "/").rpartition("/")[2].lower())(text))


def included_files(name: str, text: str) -> list[str]:
    """The files that requirements called `name` take in."""
    is_requirements = name.lower().endswith((".txt", ".in"))
    return [found["file"] for found in _INCLUDED.finditer(text)] if is_requirements else []


def _reader(name: str) -> Callable[[str], Iterator[Mention]]:
    if name in ("uv.lock", "poetry.lock", "pdm.lock") or re.fullmatch(r"pylock\.(?:[\w-]+\.)?toml", name):
        return _lock
    if name == "pipfile.lock":
        return _pipfile_lock
    if name.endswith(".toml"):
        return _pyproject
    if name.endswith((".txt", ".in")):
        return _requirements
    return _image


# --- requirements -----------------------------------------------------------------------


def _requirements(text: str) -> Iterator[Mention]:
    whole, first = "", 1
    for line, raw in enumerate(text.splitlines(), 1):
        first = first if whole else line
        whole += raw.removesuffix("\\")
        if raw.endswith("\\"):
            continue
        found = _requirement_line(whole, first)
        if found is not None:
            yield found
        whole = ""


def _requirement_line(text: str, line: int) -> Mention | None:
    plain = _COMMENT.sub("", text).strip()
    if plain.startswith(("-e ", "--editable ")):
        plain = plain.partition(" ")[2].strip()
        return _from_address(plain, line) if _GIT.search(plain) else None
    if not plain or plain.startswith("-"):
        return None
    return _requirement(_OPTION.sub("", f" {plain}").strip(), line)


def _requirement(text: str, line: int) -> Mention | None:
    """What one requirement says, None when it is about another project."""
    if _GIT.match(text):
        return _from_address(text, line)
    try:
        wanted = Requirement(text)
    except InvalidRequirement:
        return None
    if canonicalize_name(wanted.name) != PROJECT:
        return None
    if wanted.url is not None:
        return _from_address(wanted.url, line)
    return _from_specifier(str(wanted.specifier), line)


def _from_specifier(specifier: str, line: int) -> Mention:
    exact = re.fullmatch(r"={2,3}\s*(?P<version>[^,*]+)", specifier)
    if exact is None:
        return Mention(line, problem=f"{specifier or 'any version'} is not one version")
    return _from_version(exact["version"], line)


def _from_version(text: str, line: int) -> Mention:
    try:
        return Mention(line, f"v{Version(text.strip())}")
    except InvalidVersion:
        return Mention(line, problem=f"{text!r} is not a version")


def _from_address(address: str, line: int) -> Mention:
    """The ref in the address of a repository, or the version in that of an archive."""
    found = _GIT.search(address)
    if found is not None:
        return Mention(line, found["ref"])
    try:
        return Mention(line, f"v{parse_wheel_filename(address.partition('#')[0].rpartition('/')[2])[1]}")
    except InvalidWheelFilename:
        return Mention(line, problem="the address names no version")


# --- TOML and JSON ----------------------------------------------------------------------


def _pyproject(text: str) -> Iterator[Mention]:
    data = _toml(text)
    project, tools = _table(data, "project"), _table(data, "tool")
    lists = [project.get("dependencies"), *_table(project, "optional-dependencies").values()]
    lists += _table(data, "dependency-groups").values()
    uv = _table(tools, "uv")
    lists += [uv.get(key) for key in ("dev-dependencies", "constraint-dependencies", "override-dependencies")]
    source = _table(_table(uv, "sources"), PROJECT)
    for wanted in (item for entries in lists if isinstance(entries, list) for item in entries):
        found = _requirement(wanted, _line_of(text, wanted)) if isinstance(wanted, str) else None
        if found is not None:
            yield _from_table(source, found.line) or found
    poetry = _table(tools, "poetry")
    groups = [poetry, *(group for group in _table(poetry, "group").values() if isinstance(group, dict))]
    for wanted in (_table(group, "dependencies").get(PROJECT) for group in groups):
        if wanted is not None:
            yield _from_poetry(wanted, _line_of_key(text))


def _from_poetry(wanted: object, line: int) -> Mention:
    if isinstance(wanted, dict):
        return _from_table(wanted, line) or _from_poetry(wanted.get("version", "*"), line)
    text = str(wanted).strip()
    # A bare version is exact for Poetry; ^ and ~ are ranges.
    return _from_version(text, line) if text[:1].isdigit() and "," not in text else _from_specifier(text, line)


def _from_table(source: Mapping[str, Any], line: int) -> Mention | None:
    """What a table that names a repository says."""
    if "git" not in source:
        return None
    ref = next((source[key] for key in ("rev", "tag", "branch") if isinstance(source.get(key), str)), None)
    return Mention(line, ref) if ref else Mention(line, problem="the repository is named without a revision")


def _lock(text: str) -> Iterator[Mention]:
    data = _toml(text)
    packages = [item for key in ("package", "packages") for item in data.get(key, ()) if isinstance(item, dict)]
    for package in packages:
        if canonicalize_name(str(package.get("name", ""))) == PROJECT:
            line = _line_of(text, f'name = "{package["name"]}"')
            source = _table(package, "source")
            commit = source.get("resolved_reference") or str(source.get("git", "")).partition("#")[2]
            commit = commit or _table(package, "vcs").get("commit-id")
            yield Mention(line, str(commit)) if commit else _from_version(str(package.get("version", "")), line)


def _pipfile_lock(text: str) -> Iterator[Mention]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise ValueError(str(error)) from error
    for section in data.values() if isinstance(data, dict) else ():
        wanted = section.get(PROJECT) if isinstance(section, dict) else None
        if isinstance(wanted, dict):
            line = _line_of(text, f'"{PROJECT}"')
            ref = wanted.get("ref")
            yield Mention(line, str(ref)) if ref else _from_specifier(str(wanted.get("version", "")), line)


def _toml(text: str) -> dict[str, Any]:
    return tomllib.loads(text)


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = data.get(key)
    return value if isinstance(value, dict) else {}


def _line_of(text: str, part: str) -> int:
    """The line on which `part` first stands."""
    place = text.find(part)
    return text.count("\n", 0, max(place, 0)) + 1


def _line_of_key(text: str) -> int:
    """The line of a TOML file that gives the project as a key or as a table of its own."""
    found = _KEY.search(text)
    return text.count("\n", 0, found.start("name")) + 1 if found else 1


# --- images -----------------------------------------------------------------------------


def _image(text: str) -> Iterator[Mention]:
    """Image tags, and what a Dockerfile installs."""
    arguments = {found["name"]: found["value"] for found in _ARGUMENT.finditer(text)}
    for line, raw in enumerate(text.splitlines(), 1):
        plain = _VARIABLE.sub(lambda found: arguments.get(found["name"], found["default"] or ""), _uncommented(raw))
        for found in _IMAGE.finditer(plain):
            tag = _TAG.match(found["tag"])
            problem = f"the tag {found['tag']!r} names no version"
            yield _from_version(tag["version"], line) if tag else Mention(line, problem=problem)
        for found in _INSTALLED.finditer(plain):
            yield _from_version(found["version"], line)
        for found in _GIT.finditer(plain):
            yield Mention(line, found["ref"])


def _uncommented(line: str) -> str:
    return "" if line.lstrip().startswith("#") else line
