"""Reading the configuration of a project; every problem in it is reported at once."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Any, Final

from analyzer.adapters.content import MAX_FILE_SIZE
from analyzer.adapters.files import read_file
from analyzer.adapters.tables import RuleFile, RuleTable
from analyzer.domain.effect import Limit, Server, parse_limit
from analyzer.domain.errors import SettingsError, UsageError
from analyzer.domain.evaluation import DEFAULT_SCENARIO
from analyzer.domain.report import KINDS
from analyzer.domain.rules import LEVELS, RuleSet
from analyzer.domain.scenario import scenario_values
from analyzer.domain.settings import Ignore, Settings
from analyzer.domain.suggest import suggestion

_OWN_FILE: Final = "analyzer.toml"
_SHARED_FILE: Final = "pyproject.toml"
_TABLE: Final = "sglang-analyzer"


def load_settings(folder: Path, rules: RuleSet, formats: Collection[str]) -> Settings:
    """The settings that hold in `folder`, those without a file when there is none. Raises SettingsError."""
    for place in (folder, *folder.parents):
        found = list(_files(place))
        if len(found) > 1:
            raise SettingsError(
                f"settings are in {_OWN_FILE} and in {_SHARED_FILE}", where=str(place), hint="keep one of them"
            )
        if found:
            return _read(*found[0], place, rules, formats)
        if (place / ".git").exists():
            break
    return Settings()


def _files(folder: Path) -> Iterator[tuple[RuleFile, RuleTable]]:
    """The files of `folder` that hold settings, with the table that they are in."""
    for name, keys in ((_OWN_FILE, ()), (_SHARED_FILE, ("tool", _TABLE))):
        path = folder / name
        try:
            content = read_file(path, limit=MAX_FILE_SIZE)
        except FileNotFoundError:
            continue
        except OSError as error:
            raise SettingsError(f"cannot read the settings: {error.strerror}", where=str(path)) from error
        problems: list[str] = []
        file = RuleFile(name, content, problems)
        data: Any = file.data
        for key in keys:
            data = data.get(key, {}) if isinstance(data, dict) else {}
        if problems and (name == _OWN_FILE or f"[tool.{_TABLE}" in content.decode(errors="replace")):
            raise SettingsError(problems[0], where=str(folder))
        if name == _OWN_FILE or data:
            yield file, RuleTable(file, data, *keys[1:])


def _read(file: RuleFile, table: RuleTable, folder: Path, rules: RuleSet, formats: Collection[str]) -> Settings:
    repository = table.text("repository", default="")
    fail_on = table.text("fail_on", default="")
    if "fail_on" in table.names() and fail_on not in KINDS:
        table.problem("fail_on", f"fail_on is {fail_on!r}; it must be one of {', '.join(KINDS)}")
    settings = Settings(
        scenarios=_scenarios(table, rules),
        quantities=_known(table, "quantities", rules.quantities),
        levels=_levels(table, rules),
        ignores=tuple(_ignore(item, rules) for item in table.items("ignore")),
        repository=folder / Path(repository).expanduser() if repository else None,
        formats=_known(table, "formats", formats),
        fail_on=KINDS.get(fail_on),
        fail_if=tuple(_limits(table, rules)),
        servers=_servers(table, rules),
        place=str(folder / file.path),
    )
    table.close()
    if file.problems:
        count = f"{len(file.problems)} problem{'s' if len(file.problems) > 1 else ''} in the settings"
        raise SettingsError("\n  ".join([f"{count} in {folder}:", *file.problems]))
    return settings


def _scenarios(table: RuleTable, rules: RuleSet) -> tuple[str, ...]:
    names = table.texts("scenarios")
    for name in names:
        try:
            scenario_values(rules, name)
        except UsageError as error:
            table.problem("scenarios", str(error))
    return names


def _known(table: RuleTable, key: str, known: Collection[str]) -> tuple[str, ...]:
    """The names at `key`, each of which must be one of `known`."""
    names = table.texts(key)
    for name in names:
        _require(table, key, name, known)
    return names


def _require(table: RuleTable, key: str, name: str, known: Collection[str]) -> None:
    if name not in known:
        table.problem(key, f"{key} has the unknown name {name!r}{suggestion(name, known)}")


def _levels(table: RuleTable, rules: RuleSet) -> dict[str, str]:
    inner = table.table("levels", optional=True)
    known = rules.every_rule()
    for name in inner.names():
        if name not in known:
            inner.problem(name, f"unknown rule {name!r}{suggestion(name, known)}")
    return {name: inner.text(name, among=LEVELS) for name in inner.names()}


def _limits(table: RuleTable, rules: RuleSet) -> Iterator[Limit]:
    for text in table.texts("fail_if"):
        try:
            limit = parse_limit(text)
        except UsageError as error:
            table.problem("fail_if", str(error))
            continue
        _require(table, "fail_if", limit.quantity, rules.quantities)
        yield limit


def _servers(table: RuleTable, rules: RuleSet) -> tuple[Server, ...]:
    found: dict[str, Server] = {}
    for item in table.items("server"):
        server = _server(item, rules)
        if server.name in found:
            item.problem("name", f"two servers have the name {server.name!r}")
        found[server.name] = server
    return tuple(found.values())


def _server(table: RuleTable, rules: RuleSet) -> Server:
    scenario = table.text("scenario", default=DEFAULT_SCENARIO)
    try:
        scenario_values(rules, scenario)
    except UsageError as error:
        table.problem("scenario", str(error))
    inputs = table.assignment("inputs")
    for name in inputs:
        _require(table, "inputs", name, rules.symbols.keys() | rules.quantities.keys())
    found = Server(table.text("name"), scenario, inputs)
    table.close()
    return found


def _ignore(table: RuleTable, rules: RuleSet) -> Ignore:
    rule = table.text("rule")
    if rule:
        _require(table, "rule", rule, rules.every_rule())
    reason = table.text("reason").strip()
    if not reason and "reason" in table.names():
        table.problem("reason", "reason is empty; say why the rule is ignored")
    until = table.text("until", default="")
    from analyzer.adapters.versions import parse_version  # noqa: PLC0415 - packaging is slow to import

    if until and parse_version(until) is None:
        table.problem("until", f"until is {until!r}; it must be a version such as 0.5.12")
    found = Ignore(rule, reason, _known(table, "quantities", rules.quantities), until or None)
    table.close()
    return found
