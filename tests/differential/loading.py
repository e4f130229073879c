"""Modules of a release, executed with their imports replaced."""

from __future__ import annotations
import __future__

import ast
import importlib
from collections.abc import Callable, Mapping
from typing import Any

from tests.differential.stubs import Stub
from tests.support.releases import read_module

# Imported for real: pure, and part of how the releases express values.
_REAL = frozenset(
    {"abc", "bisect", "collections", "contextlib", "dataclasses", "enum", "functools", "itertools"}
    | {"math", "msgspec", "os", "types", "typing", "json", "re"}
)

# Executed from the release, because the sizing code or what it calls lives there.
OPENED = frozenset(
    {
        "sglang.kernels.ops.attention.dsv4.kv_layout",
        "sglang.srt.configs.hybrid_arch",
        "sglang.srt.configs.model_config",
        "sglang.srt.environ",
        "sglang.srt.layers.attention.qsa.config",
        "sglang.srt.layers.cp.utils",
        "sglang.srt.layers.quantization.fp4_kv_cache_quant_method",
        "sglang.srt.managers.controller.model_runner",
        "sglang.srt.managers.router.model_runner",
        "sglang.srt.mem_cache.deepseek_v4_memory_pool",
        "sglang.srt.mem_cache.kv_cache_configurator",
        "sglang.srt.mem_cache.layout.fused_draft",
        "sglang.srt.mem_cache.memory_pool",
        "sglang.srt.mem_cache.page_interleave",
        "sglang.srt.model_config",
        "sglang.srt.model_executor.model_runner",
        "sglang.srt.model_executor.model_runner_kv_cache_mixin",
        "sglang.srt.model_executor.pool_configurator",
        "sglang.srt.speculative.dflash_utils",
    }
)

# Code objects of releases carry this file name, so that the observer can tell them apart.
SOURCE_PREFIX = "<release "


class ReleaseModules:
    """Loads modules of one release; `replacements` stand in for imported names, wherever imported from.

    `changed` are sources in the place of the release's own.
    """

    def __init__(self, version: str, replacements: Mapping[str, Any], changed: Mapping[str, bytes]) -> None:
        self.version = version
        self._changed = changed
        self._replacements = replacements
        self._loaded: dict[str, dict[str, Any]] = {}

    def namespace(self, module: str) -> dict[str, Any] | None:
        """The globals of `module` after execution, None when the release has no such module."""
        if module not in self._loaded:
            source = self._source(module)
            if source is None:
                return None
            self._loaded[module] = names = self._blank()
            self._execute(module, source, names)
        return self._loaded[module]

    def tree(self, module: str) -> ast.Module:
        """The syntax tree of `module`, imports untouched."""
        return ast.parse(self._source(module) or b"")

    def _source(self, module: str) -> bytes | None:
        return self._changed.get(module) or read_module(self.version, module)

    def compiled(self, expression: ast.expr, module: str) -> Callable[[Mapping[str, Any]], Any]:
        """`expression` of `module` as a function of its local variables."""
        code = compile(ast.Expression(expression), self._file(module), "eval")
        names = self.namespace(module)
        return lambda variables: eval(code, names, variables)  # noqa: S307 - the point of this harness

    def _blank(self) -> dict[str, Any]:
        # `dataclasses` looks a class's module up in `sys.modules`, so the name must be a real one.
        return {"__name__": __name__, "__import_member__": self._member, "__import_module__": self._module}

    def _file(self, module: str) -> str:
        return f"{SOURCE_PREFIX}{self.version} {module}>"

    def _execute(self, module: str, source: bytes, names: dict[str, Any]) -> None:
        tree = _ImportRewriter().visit(ast.parse(source))
        # Annotations stay text: they name types that do not exist here.
        flags = __future__.annotations.compiler_flag
        code = compile(ast.fix_missing_locations(tree), self._file(module), "exec", flags, dont_inherit=True)
        exec(code, names)  # noqa: S102 - the point of this harness

    def _member(self, module: str, member: str) -> Any:
        if _root(module) in _REAL:
            return getattr(importlib.import_module(module), member)
        if member in self._replacements:
            return self._replacements[member]
        if f"{module}.{member}" in OPENED:
            return self._module(f"{module}.{member}")
        names = self.namespace(module) if module in OPENED else None
        return Stub(f"{module}.{member}") if names is None or member not in names else names[member]

    def _module(self, module: str) -> Any:
        root = _root(module)
        if root in self._replacements:
            return self._replacements[root]
        return importlib.import_module(root) if root in _REAL else Stub(root)


class _ImportRewriter(ast.NodeTransformer):
    """Turns every import, nested ones included, into assignments from the harness's importer."""

    def visit_Import(self, node: ast.Import) -> list[ast.stmt]:
        return [_assign(alias.asname or _root(alias.name), "__import_module__", alias.name) for alias in node.names]

    def visit_ImportFrom(self, node: ast.ImportFrom) -> list[ast.stmt]:
        module = "." * node.level + (node.module or "")
        if module == "__future__" or node.names[0].name == "*":
            return [ast.Pass()]
        return [_assign(alias.asname or alias.name, "__import_member__", module, alias.name) for alias in node.names]


def _root(module: str) -> str:
    return module.partition(".")[0]


def _assign(name: str, importer: str, *arguments: str) -> ast.stmt:
    call = ast.Call(ast.Name(importer, ast.Load()), [ast.Constant(text) for text in arguments], [])
    return ast.Assign([ast.Name(name, ast.Store())], call)


def method_calls(tree: ast.AST, method: str) -> list[ast.Call]:
    """The calls of ``self.<method>(...)`` in `tree`, in source order."""

    def matches(node: ast.AST) -> bool:
        return isinstance(node, ast.Call) and _is_self_attribute(node.func, method)

    return sorted(
        (node for node in ast.walk(tree) if isinstance(node, ast.Call) and matches(node)),
        key=lambda node: node.lineno,
    )


def _is_self_attribute(node: ast.expr, name: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and node.attr == name
        and isinstance(node.value, ast.Name)
        and node.value.id == "self"
    )


def assigned_values(tree: ast.AST, holds: Callable[[ast.expr], bool]) -> list[tuple[str, ast.expr]]:
    """Every ``name = value`` in `tree` whose value satisfies `holds`, in source order."""
    found = [
        (node.lineno, node.targets[0].id, node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and holds(node.value)
    ]
    return [(name, value) for _, name, value in sorted(found, key=lambda item: item[0])]
