"""Reading the rule files: every file is checked, and all problems are reported at once."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Final, TypeVar

from analyzer.adapters.content import MAX_FILE_SIZE
from analyzer.adapters.files import read_file
from analyzer.adapters.tables import RuleFile, RuleTable
from analyzer.domain.errors import RuleFileError
from analyzer.domain.report import Kind
from analyzer.domain.rules import (
    LEVELS,
    QUANTITY_ROOTS,
    RUNNER,
    Anchors,
    ChangeExample,
    ChangeRule,
    Domain,
    InvariantRule,
    QuantityRule,
    RuleSet,
    ScenarioRule,
    SymbolRule,
)
from analyzer.domain.suggest import suggestion
from analyzer.domain.terms import Term, symbols_of

_DOMAIN_KINDS: Final = ("integer", "real", "boolean", "choice", "memory", "object", "record")
_ACTIONS: Final = ("added", "removed", "changed", "any")
_AREAS: Final = (
    *("term", "factor", "guard", "clamp", "input", "conversion", "default", "order"),
    *("error", "path", "unit", "rounding", "extraction", "measurement", "setting"),
)
_KINDS: Final = tuple(kind.label for kind in Kind)
_CHECKS: Final = (
    *("units-mixed", "unit-misnamed", "budget-not-bounded", "rounding-before-division", "coarse-rounding"),
    *("decimal-unit", "no-rank-minimum", "reservation-without-pool"),
)
_FOLDERS: Final = ("quantities", "symbols", "scenarios", "changes", "invariants")
_FILES: Final = ("anchors.toml", "units.toml")

Entry = TypeVar("Entry")


def default_folder() -> Path:
    """The rules that belong to this program: shipped in the wheel, or beside the package in a source tree."""
    package = Path(__file__).resolve().parent.parent
    shipped = package / "_rules"
    return shipped if shipped.is_dir() else package.parent / "rules"


def load_rules(folder: Path | None = None) -> RuleSet:
    """The rules under `folder`, or the program's own. Raises RuleFileError that lists every problem."""
    root = folder if folder is not None else default_folder()
    if not root.is_dir():
        raise RuleFileError("no such rules folder", where=str(root), hint="give a folder with anchors.toml in it")
    problems: list[str] = []
    files = _read_files(root, problems)
    rules = _assemble(files)
    if problems:
        count = f"{len(problems)} problem{'s' if len(problems) > 1 else ''} in the rules"
        raise RuleFileError("\n  ".join([f"{count} under {root}:", *problems]))
    return rules


def _read_files(root: Path, problems: list[str]) -> dict[str, RuleFile]:
    files = {}
    for path in sorted(root.rglob("*.toml"), key=lambda p: p.relative_to(root).as_posix()):
        name = path.relative_to(root).as_posix()
        parts = name.split("/")
        if name not in _FILES and (len(parts) != 2 or parts[0] not in _FOLDERS):  # noqa: PLR2004 - folder/file
            problems.append(f"{name}:1: not a place for a rule file; they go in {', '.join(_FOLDERS)}")
            continue
        try:
            files[name] = RuleFile(name, read_file(path, limit=MAX_FILE_SIZE), problems)
        except OSError as error:
            problems.append(f"{name}:1: {error.strerror}")
    if "anchors.toml" not in files:
        problems.append("anchors.toml:1: missing")
    return files


def _digest(files: Mapping[str, RuleFile]) -> str:
    digest = hashlib.sha256()
    for name in sorted(files):
        content = files[name].content
        digest.update(f"{name}\0{len(content)}\0".encode())
        digest.update(content)
    return digest.hexdigest()


# --- rules ------------------------------------------------------------------------------


def _assemble(files: Mapping[str, RuleFile]) -> RuleSet:
    symbols, origins = _read_symbols(files)
    quantities = _collect(files, "quantities", _read_quantity, lambda rule: rule.name)
    rules = RuleSet(
        anchors=Anchors(_read_anchors(files)),
        quantities=quantities,
        symbols=symbols,
        origins=origins,
        scenarios=_collect(files, "scenarios", _read_scenario, lambda rule: rule.name),
        units=_read_units(files),
        changes=tuple(_collect(files, "changes", _read_change, lambda rule: rule.id).values()),
        digest=_digest(files),
        invariants=tuple(_collect(files, "invariants", _read_invariant, lambda rule: rule.id).values()),
    )
    if all(file.data for file in files.values()):
        # Only files that parse can say which names are missing.
        _check_references(files, rules)
    return rules


def _collect(
    files: Mapping[str, RuleFile],
    folder: str,
    read: Callable[[RuleTable, str], Entry],
    name_of: Callable[[Entry], str],
) -> dict[str, Entry]:
    """One entry per file of `folder`, by name."""
    found: dict[str, Entry] = {}
    for file in _in_folder(files, folder):
        table = RuleTable(file, file.data)
        entry = read(table, Path(file.path).stem)
        table.close()
        name = name_of(entry)
        if name in found:
            file.problem(f"{name!r} is defined twice", "name")
        found[name] = entry
    return found


def _in_folder(files: Mapping[str, RuleFile], folder: str) -> list[RuleFile]:
    return [file for name, file in files.items() if name.startswith(f"{folder}/") and file.data]


def _read_quantity(table: RuleTable, stem: str) -> QuantityRule:
    return QuantityRule(
        name=table.text("name", among=(stem,)),
        unit=table.text("unit"),
        title=table.text("title"),
        description=table.text("description"),
        sinks=table.texts("sinks"),
        scenario_free=table.flag("scenario_free"),
        root=table.text("root", default=RUNNER, among=QUANTITY_ROOTS),
    )


def _read_scenario(table: RuleTable, _stem: str) -> ScenarioRule:
    return ScenarioRule(
        name=table.text("name"),
        title=table.text("title"),
        who=table.text("who"),
        values=table.assignment("values"),
        open=table.texts("open"),
    )


def _read_identity(table: RuleTable, stem: str) -> str:
    identity = table.text("id")
    if identity and stem != identity.lower() and not stem.startswith(f"{identity.lower()}-"):
        table.problem("id", f"id is {identity!r}, but the file name does not begin with it")
    return identity


def _read_invariant(table: RuleTable, stem: str) -> InvariantRule:
    return InvariantRule(
        id=_read_identity(table, stem),
        check=table.text("check", among=_CHECKS),
        level=table.text("level", among=LEVELS),
        title=table.text("title"),
        message=table.text("message"),
        why=table.text("why"),
        what_to_do=table.text("what_to_do"),
        seen=table.text("seen"),
        example=table.text("example"),
        pools={name: str(value) for name, value in table.assignment("pools").items()},
    )


def _read_change(table: RuleTable, stem: str) -> ChangeRule:
    return ChangeRule(
        id=_read_identity(table, stem),
        area=table.text("area", among=_AREAS),
        action=table.text("action", among=_ACTIONS),
        kinds=table.texts("kinds", among=_KINDS),
        quantities=table.texts("quantities"),
        level=table.text("level", among=LEVELS),
        title=table.text("title"),
        message=table.text("message"),
        why=table.text("why"),
        what_to_do=table.text("what_to_do"),
        example=_read_example(table.table("example")) if "example" in table.names() else None,
    )


def _read_example(table: RuleTable) -> ChangeExample:
    for key in ("before", "after"):
        table.expression(key)
    example = ChangeExample(
        seen=table.text("seen"),
        quantity=table.text("quantity"),
        before=table.text("before", default=""),
        after=table.text("after", default=""),
        units=table.texts("units"),
        places=table.texts("places"),
        gaps=table.texts("gaps"),
        steps=table.texts("steps"),
        input=table.text("input", default=""),
        defaults={name: str(value) for name, value in table.assignment("defaults").items()},
        settings={name: str(value) for name, value in table.assignment("settings").items()},
    )
    table.close()
    return example


def _read_anchors(files: Mapping[str, RuleFile]) -> dict[str, tuple[str, ...]]:
    names = _single_table(files, "anchors")
    return {name: names.texts(name) for name in names.names()} if names else {}


def _read_units(files: Mapping[str, RuleFile]) -> dict[str, str]:
    units = _single_table(files, "units")
    return {origin: units.text(origin) for origin in units.names()} if units else {}


def _single_table(files: Mapping[str, RuleFile], name: str) -> RuleTable | None:
    """The one table that ``NAME.toml`` holds."""
    file = files.get(f"{name}.toml")
    if file is None or not file.data:
        return None
    table = RuleTable(file, file.data)
    inner = table.table(name)
    table.close()
    return inner


def _read_symbols(files: Mapping[str, RuleFile]) -> tuple[dict[str, SymbolRule], dict[str, Term]]:
    symbols: dict[str, SymbolRule] = {}
    origins: dict[str, Term] = {}
    for file in _in_folder(files, "symbols"):
        table = RuleTable(file, file.data)
        for name, entry in table.tables("symbol"):
            if name in symbols:
                file.problem(f"symbol {name!r} is defined twice", "symbol", name)
            symbols[name] = _read_symbol(name, entry)
            entry.close()
        origin = table.table("origin", optional=True)
        for name in origin.names():
            if name in origins:
                file.problem(f"origin {name!r} is defined twice", "origin", name)
            term = origin.expression(name)
            if term is not None:
                origins[name] = term
        table.close()
    return symbols, origins


def _read_symbol(name: str, table: RuleTable) -> SymbolRule:
    domain = table.table("domain")
    rule = SymbolRule(
        name=name,
        unit=table.text("unit"),
        description=table.text("description"),
        domain=_read_domain(domain),
        sources=table.texts("sources"),
        default=table.expression("default"),
        free=table.flag("free"),
        initial=table.flag("initial"),
        hint=table.text("hint", default=""),
    )
    domain.close()
    return rule


def _read_domain(table: RuleTable) -> Domain:
    domain = Domain(
        kind=table.text("kind", among=_DOMAIN_KINDS),
        low=table.number("low"),
        high=table.number("high"),
        choices=table.values("choices"),
        optional=table.flag("optional"),
    )
    if domain.low > domain.high:
        table.problem("low", f"low {domain.low} is above high {domain.high}")
    if domain.kind == "choice" and not domain.choices:
        table.problem("choices", "a choice domain needs choices")
    return domain


# --- references between files ------------------------------------------------------------


def _check_references(files: Mapping[str, RuleFile], rules: RuleSet) -> None:
    """Report names that no file declares, and origins that two symbols claim."""
    known = rules.symbols.keys() | rules.quantities.keys()
    _check_symbols(files, rules, known)
    for folder, key in (("scenarios", "values"), ("scenarios", "open"), ("changes", "quantities")):
        for file in _in_folder(files, folder):
            for name in _names(file.data.get(key)):
                if name not in known:
                    file.problem(f"unknown symbol {name!r}{suggestion(name, known)}", key, name)


def _check_symbols(files: Mapping[str, RuleFile], rules: RuleSet, known: AbstractSet[str]) -> None:
    claimed: dict[str, str] = dict.fromkeys(rules.origins, "[origin]")
    for file in _in_folder(files, "symbols"):
        for name in _names(file.data.get("symbol")):
            rule = rules.symbols.get(name)
            if rule is not None:
                _check_known(file, rule.default, known, "symbol", name, "default")
                _check_claims(file, rule, claimed)
        for origin in _names(file.data.get("origin")):
            _check_known(file, rules.origins.get(origin), known, "origin", origin)


def _check_claims(file: RuleFile, rule: SymbolRule, claimed: dict[str, str]) -> None:
    for origin in rule.sources:
        owner = claimed.setdefault(origin, rule.name)
        if owner != rule.name:
            file.problem(f"source {origin!r} is claimed by {owner} too", "symbol", rule.name, "sources")


def _names(value: object) -> tuple[str, ...]:
    """The strings that a list or table of a file that may be wrong holds."""
    return tuple(name for name in value if isinstance(name, str)) if isinstance(value, list | dict) else ()


def _check_known(file: RuleFile, term: Term | None, known: AbstractSet[str], *keys: str) -> None:
    for name in sorted(symbols_of(term) - known) if term is not None else ():
        file.problem(f"unknown symbol {name!r}{suggestion(name, known)}", *keys)
