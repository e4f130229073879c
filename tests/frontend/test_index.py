"""Indexing a file: what it imports, defines and binds, whatever its encoding and layout."""

from __future__ import annotations

from textwrap import dedent

import pytest

from analyzer.domain.errors import SourceSyntaxError
from analyzer.domain.modules import Definition, ModuleFacts
from analyzer.domain.source import SourceFile
from analyzer.domain.syntax import Assign, ImportBinding
from analyzer.frontend.index import effects_of, index_module
from analyzer.frontend.lower import lower_function

PATH = "sglang/srt/pool.py"


def index(content: str | bytes, path: str = PATH) -> ModuleFacts:
    """The facts of one file."""
    data = content if isinstance(content, bytes) else dedent(content).encode()
    module = path.removesuffix(".py").removesuffix("/__init__").replace("/", ".")
    return index_module(SourceFile(path, "0" * 40, data), module)


def function(content: str | bytes, name: str = "f") -> Definition:
    """One top-level function of a file."""
    return index(content).functions[name]


@pytest.mark.parametrize(
    ("statement", "binding"),
    [
        ("import torch", ImportBinding("torch", "torch", None)),
        ("import torch as t", ImportBinding("t", "torch", None)),
        ("import torch.cuda", ImportBinding("torch", "torch", None)),
        ("import torch.cuda as c", ImportBinding("c", "torch.cuda", None)),
        ("from sglang.srt import utils", ImportBinding("utils", "sglang.srt", "utils")),
        ("from sglang.srt.utils import free as left", ImportBinding("left", "sglang.srt.utils", "free")),
        ("from . import utils", ImportBinding("utils", "sglang.srt", "utils")),
        ("from .utils import free", ImportBinding("free", "sglang.srt.utils", "free")),
        ("from ..lang import ir", ImportBinding("ir", "sglang.lang", "ir")),
    ],
)
def test_imports(statement: str, binding: ImportBinding) -> None:
    assert index(statement).imports == {binding.name: binding}


@pytest.mark.parametrize(
    ("statement", "module"),
    [("from . import a", "sglang.srt"), ("from .b import a", "sglang.srt.b"), ("from .. import a", "sglang")],
)
def test_relative_imports_of_a_package_start_at_the_package(statement: str, module: str) -> None:
    assert index(statement, "sglang/srt/__init__.py").imports["a"].module == module


@pytest.mark.parametrize(
    "text",
    [
        "if TYPE_CHECKING:\n    from sglang.srt.runner import ModelRunner\n",
        "try:\n    from sglang.srt.runner import ModelRunner\nexcept ImportError:\n    ModelRunner = None\n",
        "if A:\n    pass\nelse:\n    if B:\n        from sglang.srt.runner import ModelRunner\n",
        "with quiet():\n    from sglang.srt.runner import ModelRunner\n",
    ],
)
def test_imports_under_a_condition_are_known(text: str) -> None:
    assert index(text).imports["ModelRunner"].module == "sglang.srt.runner"


def test_star_imports_are_kept_as_modules() -> None:
    facts = index("from .a import *\nfrom sglang.b import *\n")
    assert facts.stars == ("sglang.srt.a", "sglang.b")
    assert not facts.imports


def test_a_functions_own_imports_belong_to_the_function() -> None:
    found = function("def f():\n    from .a import b as c\n    import torch.cuda\n")
    assert not index(found.text).imports
    assert effects_of(found.text).imports == (ImportBinding("c", ".a", "b"), ImportBinding("torch", "torch", None))


def test_the_first_definition_under_a_condition_stands_for_all() -> None:
    facts = index("if A:\n    def f(): return 1\nelse:\n    def f(): return 2\n")
    assert "return 1" in facts.functions["f"].text


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r"])
def test_line_endings_do_not_matter(ending: str) -> None:
    text = ending.join(["x = 1", "", "def f(a):", "    b = a", "    return b", ""])
    found = function(text.encode())
    assert (found.line, found.text) == (3, "def f(a):\n    b = a\n    return b\n")


@pytest.mark.parametrize(
    "content",
    [
        b"\xef\xbb\xbfx = 1\n\ndef f():\n    return 1\n",
        b"x = 1\n\x0c\ndef f():\n    return 1\n",
        b"x = '\x0b\x1c\xe2\x80\xa8'\n\ndef f():\n    return 1\n",
        b"x = '''\n'''\ndef f():\n    return 1",
    ],
    ids=["byte-order mark", "form feed", "separators that are no line ends", "no newline at the end"],
)
def test_lines_are_counted_as_the_parser_counts_them(content: bytes) -> None:
    found = function(content)
    assert (found.line, found.text) == (3, "def f():\n    return 1\n")


def test_a_form_feed_inside_an_indentation_does_not_shift_the_text() -> None:
    found = index(b"class A:\n    x = 1\n\x0c\n    def f(self):\n        return self.x\n").classes["A"].methods["f"]
    assert (found.line, found.text) == (4, "def f(self):\n    return self.x\n")


def test_latin_1_with_a_coding_cookie_is_read() -> None:
    content = "# -*- coding: latin-1 -*-\nname = 'é'\ndef f():\n    return 'é'\n".encode("latin-1")
    assert lower_function(function(content).text).body[0].value.value == "é"  # type: ignore[union-attr]  # a return of a literal


def test_text_in_a_method_keeps_multi_line_strings() -> None:
    text = 'class A:\n    def f(self):\n        x = """a\n  b"""\n        return x\n'
    body = lower_function(index(text).classes["A"].methods["f"].text).body
    assert isinstance(body[0], Assign)
    assert body[0].value.value == "a\n  b"  # type: ignore[union-attr]  # a literal


def test_a_decorated_definition_starts_at_a_known_line() -> None:
    found = function("\n@once\n@cached(\n    size=1,\n)\ndef f():\n    return 1\n")
    first = lower_function(found.text).body[0]
    assert found.line + first.line == 7
    assert found.decorators == ("once", "cached(size=1)")


def test_classes() -> None:
    facts = index("""
        @dataclass(frozen=True)
        class Pool(Base, abc.ABC):
            size: int = 4
            rows: "list[int]"
            kind = width = 'full'

            @property
            def total(self) -> int:
                return 1

            @total.setter
            def total(self, value):
                self.size = value

            async def wait(self): ...
    """).classes["Pool"]
    assert (facts.bases, facts.decorators) == (("Base", "abc.ABC"), ("dataclass(frozen=True)",))
    assert {name: field.value for name, field in facts.fields.items()} == {
        "size": "4",
        "rows": None,
        "kind": "'full'",
        "width": "'full'",
    }
    assert facts.methods.keys() == {"total", "wait"}
    assert "return 1" in facts.methods["total"].text


def test_module_statements_name_what_they_bind() -> None:
    facts = index("A = 1\nB, (C, *D) = f()\nif A:\n    E = 2\nfor F in A: pass\nG: int = 3\nH.x = 1\n")
    assert [sorted(statement.names) for statement in facts.statements] == [["A"], ["B", "C", "D"], ["E"], ["F"], ["G"]]


def test_names_that_functions_set_are_marked() -> None:
    assert index("A = B = None\ndef f():\n    global A, B\n    A = 1\n").reassigned == {"A", "B"}
    put_back = """
A = B = C = None
def use(value, other):
    global A, B, C
    before, last = A, B
    A, B, C = value, other, 1
    try:
        yield
    finally:
        A, B = before, last
"""
    assert index(put_back).reassigned == {"C"}
    assert index(put_back.replace("A, B = before, last", "A, B = last, before")).reassigned == {"A", "B", "C"}
    assert index(put_back + "def set():\n    global A\n    A = 2\n").reassigned == {"A", "C"}


def test_effects() -> None:
    effects = effects_of("""
def f(self, args):
    self.own = args.read
    args.other = self.step()
    args.nested.deep += 1
    context.override("why", keyword=1)
    make()()
""")
    assert effects.own_writes == {"own"}
    assert effects.writes == {"other", "deep", "keyword"}
    assert {"read", "step", "nested"} <= effects.reads
    assert {"self.step", "context.override", "make"} <= effects.calls


@pytest.mark.parametrize(
    ("content", "line"),
    [
        (b"x = 1\ndef f(:\n    pass\n", 2),
        (b"x = 1\n\n\ny = (\n", 4),
        (b"def f():\n    x = 1\n  y = 2\n", 3),
        (b"x = '\xff\xfe'\n", 1),
        (b"a = 1\nb = '\xe9'\n", 2),
        (b"x = 1\x00\n", 1),
        (b"print 'old'\n", 1),
        (b"# coding: no-such-codec\nx = 1\n", 1),
    ],
    ids=["token", "open bracket", "dedent", "no UTF-8", "latin-1", "null byte", "Python 2", "unknown codec"],
)
def test_a_file_that_does_not_parse_is_one_clear_line(content: bytes, line: int) -> None:
    with pytest.raises(SourceSyntaxError) as caught:
        index(content)
    assert PATH in str(caught.value)
    assert f"line {line}" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    "content",
    ["x = " + "(" * 500 + "1" + ")" * 500, "x = " + "-" * 100_000 + "1", "x = " + "1+" * 100_000 + "1"],
    ids=["parentheses", "signs", "sum"],
)
def test_too_deep_a_file_is_an_error_and_no_crash(content: str) -> None:
    try:
        assert index(content).statements
    except SourceSyntaxError as error:
        line = str(error)
    else:
        line = ""
    assert "\n" not in line


def test_a_blank_line_in_a_method_keeps_its_place() -> None:
    text = "class Pool:\n    def size(self):\n        a = 1\n\n        return a\n"
    facts = index_module(SourceFile("sglang/pool.py", "blob", text.encode()), "sglang.pool")
    assert facts.classes["Pool"].methods["size"].text == "def size(self):\n    a = 1\n\n    return a\n"
