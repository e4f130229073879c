"""What is known of one source file before any of it is lowered."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from dataclasses import field as dataclass_field
from typing import Final

from analyzer.domain.syntax import ImportBinding

# What Python runs when an instance is made, in this order.
CONSTRUCTORS: Final = ("__new__", "__init__", "__post_init__")

# Decorators outside the analysed package under which a function or class still computes what it says.
TRANSPARENT_DECORATORS: Final = frozenset(
    {
        "abc.abstractclassmethod",
        "abc.abstractmethod",
        "abc.abstractproperty",
        "abc.abstractstaticmethod",
        "attr.dataclass",
        "attr.define",
        "attr.frozen",
        "attr.s",
        "attrs.define",
        "attrs.frozen",
        "contextlib.asynccontextmanager",
        "contextlib.contextmanager",
        "dataclasses.dataclass",
        "enum.unique",
        "functools.cache",
        "functools.cached_property",
        "functools.lru_cache",
        "functools.total_ordering",
        "functools.wraps",
        "nvtx.annotate",
        "pydantic.dataclasses.dataclass",
        "torch.compile",
        "torch.compiler.disable",
        "torch.cuda.nvtx.range",
        "torch.enable_grad",
        "torch.inference_mode",
        "torch.jit.ignore",
        "torch.jit.script",
        "torch.jit.unused",
        "torch.no_grad",
        "torch._dynamo.disable",
        "typing.final",
        "typing.no_type_check",
        "typing.overload",
        "typing.override",
        "typing.runtime_checkable",
        "typing_extensions.deprecated",
        "typing_extensions.final",
        "typing_extensions.overload",
        "typing_extensions.override",
        "typing_extensions.runtime_checkable",
        "warnings.deprecated",
    }
)


# Where a callee gets an argument: a position, ``self`` not counted, or a keyword.
Slot = int | str


@dataclass(frozen=True, slots=True)
class Effects:
    """The names a definition touches, read off its text without resolving anything.

    `reads` and `writes` are attribute names (`own_writes`: of ``self``); `calls` are dotted callees,
    ``self.x`` and ``obj.x`` included; a ``?`` stands for a callee that is no dotted name. `imports` are
    the function's own. `passed` are the names handed on as arguments, which may be functions; `named` are
    attributes named without being written there: keywords, keys of dicts, ``*`` for a computed name.
    Changing a container is writing the attribute or the module variable that holds it. `changed` are the parameters
    whose containers the function changes (``*`` for what the others are collected in), `handed` what is given to
    whom: the simple name of the callee, the position or keyword, and a parameter, attribute or module variable.
    `filled` are the dotted attributes whose items are set or deleted, `taken` the dotted names that stand for values
    which may be functions, `held` the attributes that are set to what may
    be a function, with its dotted name.
    """

    reads: frozenset[str]
    writes: frozenset[str]
    own_writes: frozenset[str]
    calls: frozenset[str]
    raises: bool = False
    imports: tuple[ImportBinding, ...] = ()
    passed: frozenset[str] = frozenset()
    named: frozenset[str] = frozenset()
    changed: frozenset[str] = frozenset()
    handed: tuple[tuple[str, Slot, str], ...] = ()
    filled: frozenset[str] = frozenset()
    taken: frozenset[str] = frozenset()
    held: frozenset[tuple[str, str]] = frozenset()


@dataclass(frozen=True, slots=True)
class Definition:
    """A function or method found by the index; `text` is dedented source, lowered on demand.

    `parameters` pairs each name with its annotation as written.
    """

    module: str
    path: str
    qualname: str
    line: int
    text: str
    decorators: tuple[str, ...]
    parameters: tuple[tuple[str, str | None], ...]
    returns: str | None

    @property
    def name(self) -> str:
        """The last part of the qualified name."""
        return self.qualname.rsplit(".", 1)[-1]

    @property
    def is_constructor(self) -> bool:
        """Whether this runs while an object is made."""
        return self.name in CONSTRUCTORS

    @property
    def called_as(self) -> str:
        """The simple name in a call: a constructor is called by its class."""
        owner, _, name = self.qualname.rpartition(".")
        return owner if owner and self.is_constructor else name

    @property
    def owner(self) -> str:
        """The key of the class whose method this is; "" for a plain function."""
        cls, dot, _ = self.qualname.rpartition(".")
        return f"{self.module}:{cls}" if dot else ""

    @property
    def key(self) -> str:
        """A name unique within one tree."""
        return f"{self.module}:{self.qualname}"


@dataclass(frozen=True, slots=True)
class Field:
    """An annotated or assigned name in a class body."""

    name: str
    annotation: str | None
    value: str | None
    line: int


@dataclass(frozen=True, slots=True)
class ClassFacts:
    """A class: its bases as written, methods and fields.

    `setters` and `deleters` run when a property is assigned to or deleted.
    """

    module: str
    path: str
    name: str
    line: int
    bases: tuple[str, ...]
    decorators: tuple[str, ...]
    methods: Mapping[str, Definition]
    fields: Mapping[str, Field]
    setters: Mapping[str, Definition] = dataclass_field(default_factory=dict)
    deleters: Mapping[str, Definition] = dataclass_field(default_factory=dict)

    @property
    def key(self) -> str:
        """A name unique within one tree."""
        return f"{self.module}:{self.name}"


@dataclass(frozen=True, slots=True)
class ModuleStatement:
    """A top-level statement that binds names: its text is executed when one of them is read."""

    names: frozenset[str]
    text: str
    line: int


@dataclass(frozen=True, slots=True)
class ModuleFacts:
    """One file: what it imports, defines and binds.

    `stars` are modules imported with ``*``; `reassigned` are names that some function declares global
    and does not put back, or sets in ``globals()`` (``*`` for a computed one);
    `calls` are the top-level statements that only call something, such as entries of a registry;
    `patches` those that set attributes (their `names`) of what is defined elsewhere; `rebound` are names
    that are bound in any case, and imported again under a condition.
    """

    module: str
    path: str
    stars: tuple[str, ...]
    imports: Mapping[str, ImportBinding]
    functions: Mapping[str, Definition]
    classes: Mapping[str, ClassFacts]
    statements: tuple[ModuleStatement, ...]
    calls: tuple[ModuleStatement, ...]
    reassigned: frozenset[str]
    patches: tuple[ModuleStatement, ...] = ()
    rebound: Mapping[str, ImportBinding] = dataclass_field(default_factory=dict)

    @property
    def definitions(self) -> tuple[Definition, ...]:
        """Every function and method of the file."""
        methods = (method for cls in self.classes.values() for method in cls.methods.values())
        return (*self.functions.values(), *methods)
