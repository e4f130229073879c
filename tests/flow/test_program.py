"""Names across modules, classes across files, and only the files that are asked about."""

from __future__ import annotations

import pytest

from analyzer.domain.resolution import Resolution
from analyzer.flow.program import TreeProgram
from analyzer.frontend.index import index_module
from tests.support.project import draw

FILES = {
    "sglang/__init__.py": "from sglang.srt.pool import Pool as PublicPool\nfrom . import version\n",
    "sglang/version.py": "number = '1'\n",
    "sglang/srt/pool.py": """
        import torch
        import torch.cuda as device
        from torch import tensor as make
        from sglang.srt import helpers
        from .helpers import *
        from ..version import number
        LIMIT: int = 3

        class Pool(Base, Generic[T]):
            pass

        class Wide(Pool, helpers.Other):
            def size(self): ...

        class Deep(Wide, Side):
            pass

        def free(): ...
    """,
    "sglang/srt/helpers.py": """
        from sglang.srt.deep.inner import hidden
        class Base:
            def size(self): ...
            def name(self): ...
        class Other(Base): ...
        class Side(Base): ...
        def shared(): ...
    """,
    "sglang/srt/deep/__init__.py": "from .inner import hidden as shown\n",
    "sglang/srt/deep/inner.py": "def hidden(): ...\n",
    "sglang/srt/circle.py": "from sglang.srt.circle2 import a\nclass X(Y): ...\nclass Y(X): ...\nclass Z(Z): ...\n",
    "sglang/srt/circle2.py": "from sglang.srt.circle import a\nfrom sglang.srt.circle2 import *\n",
}
POOL = "sglang.srt.pool"
HELPERS = "sglang.srt.helpers"


@pytest.fixture
def program() -> TreeProgram:
    """A program over the drawn files."""
    return TreeProgram(draw(FILES), index_module)


@pytest.mark.parametrize(
    ("module", "name", "found"),
    [
        (POOL, "Pool", ("class", f"{POOL}:Pool")),
        (POOL, "free", ("function", f"{POOL}:free")),
        (POOL, "LIMIT", ("global", f"{POOL}:LIMIT")),
        (POOL, "torch", ("external", "torch")),
        (POOL, "device", ("external", "torch.cuda")),
        (POOL, "make", ("external", "torch.tensor")),
        (POOL, "helpers", ("module", HELPERS)),
        (POOL, "shared", ("function", f"{HELPERS}:shared")),
        (POOL, "hidden", ("function", "sglang.srt.deep.inner:hidden")),
        (POOL, "number", ("global", "sglang.version:number")),
        ("sglang", "PublicPool", ("class", f"{POOL}:Pool")),
        ("sglang", "version", ("module", "sglang.version")),
        ("sglang.srt.deep", "shown", ("function", "sglang.srt.deep.inner:hidden")),
    ],
)
def test_names_are_resolved(program: TreeProgram, module: str, name: str, found: tuple[str, str]) -> None:
    assert program.resolve(module, name) == Resolution(*found)


@pytest.mark.parametrize(("module", "name"), [(POOL, "absent"), ("sglang.absent", "x"), ("sglang.srt.circle", "a")])
def test_a_name_that_leads_nowhere_is_none(program: TreeProgram, module: str, name: str) -> None:
    assert program.resolve(module, name) is None


@pytest.mark.parametrize(
    ("importer", "target", "member", "key"),
    [
        (POOL, "sglang.srt.helpers", "shared", f"{HELPERS}:shared"),
        (POOL, ".helpers", "shared", f"{HELPERS}:shared"),
        (POOL, ".", "helpers", HELPERS),
        (POOL, "..version", "number", "sglang.version:number"),
        ("sglang.srt.deep", ".inner", "hidden", "sglang.srt.deep.inner:hidden"),
        ("sglang", ".srt.pool", "Pool", f"{POOL}:Pool"),
        (POOL, "math", "ceil", "math.ceil"),
        (POOL, "math", None, "math"),
    ],
)
def test_imports_of_functions(program: TreeProgram, importer: str, target: str, member: str | None, key: str) -> None:
    found = program.resolve_import(importer, target, member)
    assert found is not None
    assert found.key == key


def test_ancestors_come_in_resolution_order(program: TreeProgram) -> None:
    assert [cls.name for cls in program.mro(f"{POOL}:Deep")] == ["Deep", "Wide", "Pool", "Other", "Side", "Base"]


def test_the_nearest_method_wins(program: TreeProgram) -> None:
    owners = {name: next(c.name for c in program.mro(f"{POOL}:Deep") if name in c.methods) for name in ("size", "name")}
    assert owners == {"size": "Wide", "name": "Base"}


def test_names_of_external_ancestors_are_known(program: TreeProgram) -> None:
    assert {"Deep", "Wide", "Pool", "Base", "Generic"} <= program.base_names(f"{POOL}:Deep")


@pytest.mark.parametrize("name", ["X", "Y", "Z"])
def test_an_inheritance_circle_ends(program: TreeProgram, name: str) -> None:
    order = [cls.name for cls in program.mro(f"sglang.srt.circle:{name}")]
    assert order[0] == name
    assert len(order) == len(set(order))


@pytest.mark.parametrize(
    ("annotation", "name"),
    [
        ("Pool", "Pool"),
        ("'Pool'", "Pool"),
        ("Optional[Pool]", "Pool"),
        ("Optional['Pool']", "Pool"),
        ("Pool | None", "Pool"),
        ("None | Pool", "Pool"),
        ("Union[None, Pool]", "Pool"),
        ("helpers.Other", "Other"),
        ("Annotated[Pool, 'why']", "Pool"),
        ("List[Pool]", None),
        ("dict[str, Pool]", None),
        ("int", None),
        ("torch.Tensor", None),
        ("", None),
        (None, None),
    ],
)
def test_annotations(program: TreeProgram, annotation: str | None, name: str | None) -> None:
    found = program.annotated_class(POOL, annotation)
    assert (None if found is None else found.name) == name


def test_definitions_are_found_by_key(program: TreeProgram) -> None:
    assert program.definition(f"{POOL}:free").qualname == "free"
    assert program.definition(f"{POOL}:Wide.size").line == program.class_facts(f"{POOL}:Wide").line + 1


def test_only_the_analysed_package_is_internal(program: TreeProgram) -> None:
    assert program.is_internal("sglang.srt")
    assert not program.is_internal("sglang_router")
    assert not program.is_internal("torch")
    assert program.module("torch") is None


def test_the_manifest_holds_what_was_asked_for_and_its_absences(program: TreeProgram) -> None:
    program.resolve(HELPERS, "shared")
    program.module("sglang.absent")
    assert program.manifest.keys() == {"sglang/srt/helpers.py", "sglang/absent.py", "sglang/absent/__init__.py"}
    assert program.manifest["sglang/absent.py"] is None
    assert program.indexed == 1
