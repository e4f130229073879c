"""A varied project beside what Python itself makes of the varied part: the formula has to give the same."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass, replace
from textwrap import dedent, indent
from types import SimpleNamespace
from typing import Any

from analyzer.domain.extraction import Extraction
from analyzer.domain.semantics import Value
from tests.support.project import MACHINES, TOKENS, expected, extracted, outcome

_RUNNER = """
class ModelRunner:
    def start(self, n):
{body}
        return n
{methods}
"""


@dataclass(frozen=True)
class Sizing:
    """Lines that change the number of tokens `n`, with what they need.

    `module` stands at the top of the runner's module, `methods` in its class, and `init` runs before the sizing.
    """

    body: str
    module: str = ""
    methods: str = ""
    init: str = ""

    def extraction(self) -> Extraction:
        """The formulas of a project that sizes its pool like this."""
        start = "before = self.init_torch_distributed()\nself.load_model()\nself.init_memory_pool(before)"
        return extracted(
            module=self.module,
            methods=self.methods,
            init=f"{dedent(self.init)}\n{start}",
            pool=f"n = self.profile_max_num_token(before)\n{dedent(self.body)}\nself.max_total_num_tokens = n",
        )

    def changed(self) -> Iterator[Sizing]:
        """The same with one number more by one, each in turn."""
        for part in ("body", "module", "methods", "init"):
            text = dedent(getattr(self, part))
            for position in range(_numbers(text)):
                yield replace(self, **{part: _incremented(text, position)})

    def results(self) -> list[Value]:
        """What Python makes of the lines on each machine."""
        return [self._result(dict(machine)) for machine in MACHINES]

    def _result(self, machine: dict[str, Any]) -> Value:
        body = f"{dedent(self.init)}\n{dedent(self.body)}"
        methods = indent(dedent(self.methods), " " * 4)
        names: dict[str, Any] = {}
        exec(dedent(self.module) + _RUNNER.format(body=indent(body, " " * 8), methods=methods), names)  # noqa: S102 - written in the tests
        runner = names["ModelRunner"]()
        vars(runner).update({name: machine[name] for name in ("page_size", "tp_size", "device")})
        runner.server_args = SimpleNamespace(**machine)
        result: Value = runner.start(expected("tokens", machine))
        return result


def _numbers(text: str) -> int:
    return sum(_is_number(node) for node in ast.walk(ast.parse(text)))


def _is_number(node: ast.AST) -> bool:
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def _incremented(text: str, position: int) -> str:
    tree = ast.parse(text)
    number = [node for node in ast.walk(tree) if _is_number(node)][position]
    assert isinstance(number, ast.Constant)
    assert isinstance(number.value, int | float)
    number.value += 1
    return ast.unparse(tree)


def disagreements(sizing: Sizing) -> list[str]:
    """Where the formula and Python differ; empty when they agree on every machine."""
    extraction, wanted = sizing.extraction(), sizing.results()
    found = [outcome(extraction, **machine) for machine in MACHINES]
    return [f"Python {one!r}, formula {other!r}" for one, other in zip(wanted, found, strict=True) if one != other]


def unseen(sizing: Sizing) -> list[Sizing]:
    """The changes of one number that change what Python makes of the lines, but not the formula."""
    before, wanted = sizing.extraction(), sizing.results()
    return [
        changed for changed in sizing.changed() if changed.results() != wanted and _same(before, changed.extraction())
    ]


def _same(one: Extraction, other: Extraction) -> bool:
    return all(
        (one.quantities[name].term, one.quantities[name].error)
        == (other.quantities[name].term, other.quantities[name].error)
        for name in (TOKENS,)
    )
