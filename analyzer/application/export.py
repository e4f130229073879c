"""One formula of one scenario as a Python function that needs nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Final

from analyzer.domain.build import leaves, rewrite
from analyzer.domain.code import Parameter, PythonFunction, Statement, exception_name, expression, identifier
from analyzer.domain.extraction import Extraction, Formula
from analyzer.domain.iteration import EACH, ITERATIONS, is_clause, is_loop_variable, is_of_loop
from analyzer.domain.notation import abridged
from analyzer.domain.rules import RuleSet
from analyzer.domain.scenario import Specialiser, in_result_unit, scenario_inputs, scenario_values
from analyzer.domain.source import Span
from analyzer.domain.terms import (
    NONE,
    Apply,
    Atom,
    Conditional,
    Constant,
    Opaque,
    Raise,
    Term,
    children,
    post_order,
    symbol,
    symbols_of,
    walk,
)

_SHORT: Final = 3
_OF_NUMBERS: Final = frozenset(
    {"|", "^", "&", "<<", ">>", "+", "-", "*", "/", "//", "%", "neg", "**", "int", "float", "float32", "min", "max"}
    | {"round", "abs", "ceil", "floor", "gcd", "lcm", "bit_length", "sum", "rank_min"}
)


def export_function(extraction: Extraction, rules: RuleSet, quantity: str, scenario: str) -> PythonFunction:
    """`quantity` under `scenario`, with every quantity that it reads computed on the way."""
    rule = rules.quantities.get(quantity)
    options = Specialiser(
        extraction, rules, scenario_values(rules, scenario), open_symbols=scenario_inputs(rules, scenario)
    )
    export = _Export(extraction, rules, options)
    formula = extraction.quantities.get(quantity) or extraction.definitions[quantity]
    result = export.add(quantity, formula)
    errors, unwritten = ((), ()) if formula.error is None else export.errors(formula.error)
    return PythonFunction(
        name=identifier(quantity),
        title=rule.title if rule is not None else quantity,
        unit=formula.unit,
        scenario=scenario,
        parameters=export.parameters(),
        statements=tuple(export.statements),
        errors=errors,
        unwritten=unwritten,
        result=result,
        locations=formula.locations,
    )


class _Export:
    """Turns terms into statements, operands first."""

    def __init__(self, extraction: Extraction, rules: RuleSet, specialiser: Specialiser) -> None:
        self._extraction = extraction
        self._rules = rules
        self._specialiser = specialiser
        self._named: dict[Term, str] = {}
        # What calls that were not followed are called as parameters.
        self._calls: dict[Term, str] = {}
        self._done: dict[str, str] = {}
        self._inputs: set[str] = set()
        self.statements: list[Statement] = []

    def add(self, quantity: str, formula: Formula) -> str:
        """Compute `quantity`; its name."""
        if quantity not in self._done:
            self._done[quantity] = identifier(quantity)
            text = self._write(self._specialiser.term(in_result_unit(formula)), quantity)
            comment = f"[{formula.unit}] {_places(formula.locations[:_SHORT])}".rstrip()
            self.statements.append(Statement(identifier(quantity), text, comment=comment))
        return self._done[quantity]

    def _write(self, term: Term, prefix: str) -> str:
        """`term` as an expression, after what it reads and what it has more than once."""
        term = self._without_calls(term)
        for name in sorted(symbols_of(term)):
            if name in self._extraction.quantities and name != prefix and not _is_measured(name):
                self.add(name, self._extraction.quantities[name])
            elif name not in self._done:
                self._inputs.add(name)
        order = post_order(term)
        uses = Counter(child for node in order for child in children(node))
        for node in order:
            if uses[node] > 1 and children(node) and node not in self._named and not _is_inside_loop(node):
                name = f"{identifier(prefix)}_{len(self._named) + 1}"
                lazy = not self._is_safe(node)
                self.statements.append(Statement(name, expression(node, self._named), lazy))
                self._named[node] = f"{name}()" if lazy else name
        return self._named.get(term) or expression(term, self._named)

    def _without_calls(self, term: Term) -> Term:
        """`term` with a parameter for every call that was not followed and whose number it needs."""
        operands = [
            arg for node in walk(term) if isinstance(node, Apply) and node.op in _OF_NUMBERS for arg in node.args
        ]
        needed = {leaf for operand in (term, *operands) for leaf in _values(operand) if _is_unknown(leaf)}

        def as_parameter(node: Term) -> Term | None:
            return symbol(self._call_name(node)) if node in needed or node in self._calls else None

        return rewrite(term, as_parameter) if needed or self._calls else term

    def _call_name(self, call: Term) -> str:
        assert isinstance(call, Opaque)
        if call not in self._calls:
            name = f"{identifier(call.name.removesuffix('()'))}_value"
            taken = sum(known.startswith(name) for known in self._calls.values())
            self._calls[call] = f"{name}_{taken + 1}" if taken else name
        return self._calls[call]

    def _is_safe(self, term: Term) -> bool:
        """Whether computing `term` where no branch asks for it can do no harm."""
        optional = {
            name
            for name in symbols_of(term)
            if name not in self._rules.symbols
            or self._rules.symbols[name].domain.optional
            or self._rules.symbols[name].domain.kind == "object"
        } - self._done.keys()
        return not optional and not any(isinstance(node, Opaque | Conditional) for node in walk(term))

    def errors(self, error: Term) -> tuple[tuple[tuple[str, str], ...], tuple[str, ...]]:
        """The conditions under which SGLang raises, each with the exception, and what stands in the way of others."""
        written: list[tuple[str, str]] = []
        unwritten: dict[str, None] = {}
        for guard, exception in _raises(self._specialiser.error(error), ()):
            unknown = sorted(set(_uncomputable(guard)))
            if unknown:
                unwritten[f"{exception_name(exception)}, which depends on {', '.join(unknown)}"] = None
                continue
            texts = [self._write(part, "error") for part in guard]
            condition = " and ".join(f"({text})" if len(texts) > 1 else text for text in texts)
            written.append((condition, exception_name(exception)))
        return tuple(written), tuple(unwritten)

    def parameters(self) -> tuple[Parameter, ...]:
        """The inputs that are left: those that must be given first, a computed default after what it reads."""
        found: dict[str, Parameter] = {}
        for name in sorted(self._inputs):
            self._add_parameter(name, found, ())
        return tuple(sorted(found.values(), key=lambda item: (item.default is not None, item.computed)))

    def _add_parameter(self, name: str, found: dict[str, Parameter], above: tuple[str, ...]) -> None:
        if name in found or name in above:
            return
        default = self._specialiser.default(name)
        reads = frozenset[str]() if default is None else symbols_of(default)
        can_compute = reads <= self._rules.symbols.keys() - {name, *above}
        for other in sorted(reads) if can_compute else ():
            self._add_parameter(other, found, (*above, name))
        found[name] = self._parameter(name, default if can_compute else None)

    def _parameter(self, name: str, default: Term | None) -> Parameter:
        call = next((term for term, known in self._calls.items() if known == name), None)
        if call is not None:
            return Parameter(identifier(name), "1", f"what {abridged(call)} gives, which was not followed", "None")
        rule = self._rules.symbols.get(name)
        unit, description = (rule.unit, rule.description) if rule is not None else ("1", "an option of SGLang")
        if default is None or default is NONE:
            # What only a default reads is needed only where that default is.
            indirect = name not in self._inputs
            unset = indirect or rule is None or rule.domain.optional or rule.domain.kind == "object"
            return Parameter(identifier(name), unit, description, "None" if unset else None)
        is_plain = isinstance(default, Constant | Atom)
        return Parameter(identifier(name), unit, description, expression(default, {}), computed=not is_plain)


def _values(term: Term) -> Iterator[Term]:
    """What `term` can be worth, whatever its conditions are."""
    yield from leaves(term) or () if isinstance(term, Conditional) else (term,)


def _is_unknown(term: Term) -> bool:
    """Whether `term` is a call that was not followed, and no part of a loop."""
    return isinstance(term, Opaque) and not (term.name in ITERATIONS or is_clause(term) or is_of_loop(term))


def _places(spans: Iterable[Span]) -> str:
    """Where a formula is, file by file."""
    lines: dict[str, dict[str, None]] = {}
    for span in spans:
        lines.setdefault(span.path, {})[str(span.line)] = None
    return "; ".join(f"{path}:{', '.join(numbers)}" for path, numbers in lines.items())


def _is_inside_loop(term: Term) -> bool:
    """Whether `term` is a part of a comprehension, which has no value outside it."""
    nodes = list(walk(term))
    loops = any(isinstance(node, Opaque) and node.name == EACH for node in nodes)
    return is_clause(term) or (not loops and any(is_loop_variable(node) for node in nodes))


def _uncomputable(terms: Iterable[Term]) -> Iterator[str]:
    """What in `terms` a function without SGLang cannot compute."""
    for node in walk(*terms):
        if isinstance(node, Raise):
            yield f"whether {exception_name(node.exception)} is raised before"
        elif isinstance(node, Opaque) and not (node.name in ITERATIONS or is_clause(node) or is_loop_variable(node)):
            yield node.name


def _is_measured(name: str) -> bool:
    return name in ("available_gpu_memory", "pre_model_load_memory")


def _raises(error: Term, path: tuple[Term, ...]) -> Iterator[tuple[tuple[Term, ...], str]]:
    """Each raise behind at least one condition, with the conditions that lead to it in their order.

    Conditions are tried in order, so that what an earlier one excludes need not be said again.
    """
    while isinstance(error, Conditional):
        yield from _raises(error.then, (*path, error.guard))
        error = error.otherwise
    if isinstance(error, Raise) and path:
        yield path, error.exception
