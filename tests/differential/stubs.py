"""Stand-ins for everything that the sizing code imports but does not need."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import FunctionType
from typing import Any, Self


class Stub:
    """A nameless outside: an option that is off, a call with no effect, a class nothing is an instance of.

    Arithmetic and ordering are not defined on purpose: a stub that reaches the formula must fail
    loudly, never become a number.
    """

    def __init__(self, name: str) -> None:
        self._stub_name = name

    def __getattr__(self, name: str) -> Stub:
        if name.startswith("__"):
            raise AttributeError(name)
        return Stub(f"{self._stub_name}.{name}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        # A stub used as a decorator must leave the function or class it decorates alone.
        if len(args) == 1 and not kwargs and isinstance(args[0], (FunctionType, type)):
            return args[0]
        return Stub(f"{self._stub_name}()")

    def __getitem__(self, key: object) -> Stub:
        return Stub(f"{self._stub_name}[]")

    def __setitem__(self, key: object, value: object) -> None:
        """Forget what is stored: nobody reads it back."""

    def __bool__(self) -> bool:
        return False

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __contains__(self, item: object) -> bool:
        return False

    def __or__(self, other: object) -> Stub:
        return Union(self, other)

    def __ror__(self, other: object) -> Stub:
        return Union(other, self)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exception: object) -> None:
        """Let exceptions through."""

    def __mro_entries__(self, _bases: tuple[object, ...]) -> tuple[type, ...]:
        return ()

    def __instancecheck__(self, instance: object) -> bool:
        return self._stub_name.rpartition(".")[2] in getattr(instance, "class_names", ())

    def __subclasscheck__(self, subclass: type) -> bool:
        return False

    def __repr__(self) -> str:
        return f"<stub {self._stub_name}>"

    def __format__(self, specification: str) -> str:
        return repr(self)


class Union(Stub):
    """``A | B`` of stub classes, as ``isinstance`` takes it."""

    def __init__(self, *members: object) -> None:
        super().__init__("union")
        self._members = members

    def __instancecheck__(self, instance: object) -> bool:
        # To `isinstance`, a stub is a class: it answers the question itself.
        classes: list[Any] = [member for member in self._members if isinstance(member, (Stub, type))]
        return any(isinstance(instance, member) for member in classes)


class Settings:
    """Options by name: what was set, else the release's own default, else a stub that is off."""

    def __init__(self, values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        self.__dict__.update(values)
        self.__dict__["_defaults"] = defaults

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        defaults = self.__dict__["_defaults"]
        return defaults[name] if name in defaults else Stub(f"option {name}")

    def override(self, _reason: str, **values: Any) -> None:
        """Set options the way the releases' configuration context does."""
        self.__dict__.update(values)


class Strict:
    """A bag of attributes that has only what it was given, so that ``getattr`` defaults work."""

    def __init__(self, **values: Any) -> None:
        self.__dict__.update(values)

    def get_text_config(self) -> Strict:
        """Itself: the models here have no separate text part."""
        return self
