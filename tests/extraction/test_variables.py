"""Variables of modules and classes that functions change, default values, and what is deleted."""

from __future__ import annotations

import pytest

from tests.support.executed import Sizing, disagreements

A = "class A:\n    x = 1\n    xs = [1]\n"

SHARED = {
    "a list of the module": Sizing("grow()\nn -= sum(XS)", "XS = [1]\ndef grow():\n    XS.append(4)"),
    "a dict of the module": Sizing("grow()\nn -= D['a']", "D = {'a': 1}\ndef grow():\n    D['a'] = 4"),
    "a list of the module as an argument": Sizing(
        "grow(XS)\nn -= sum(XS)", "XS = [1]\ndef grow(xs):\n    xs.append(4)"
    ),
    "a list of the class": Sizing(
        "a = A()\na.grow()\nn -= sum(A.xs) + a.x", A + "    def grow(self):\n        self.xs.append(4)"
    ),
    "a variable of the class": Sizing(
        "A.grow()\nn -= A.x", A + "    @classmethod\n    def grow(cls):\n        cls.x = 5"
    ),
    "a variable of a base": Sizing("A.x = 7\nn -= B.x", A + "class B(A):\n    pass"),
    "the class of an instance": Sizing(
        "A().grow()\nn -= A().x", A + "    def grow(self):\n        self.__class__.x = 5"
    ),
    "a default value": Sizing("more(1)\nn -= sum(more(3))", "def more(k, xs=[5]):\n    xs.append(k)\n    return xs"),
    "in place through another name": Sizing("xs = [1, 2]\nys = xs\nzs = [7]\nys += zs\nn -= sum(xs)"),
    "repeated in place": Sizing("xs = [1, 2]\nys = xs\nys *= 2\nn -= sum(xs)"),
    "joined in place": Sizing("d = {'a': 1}\ne = d\nd |= {'a': 5}\nn -= e['a'] * 10"),
    "sets joined in place": Sizing("s = {1, 2}\nt = s\ns |= {2, 3}\nn -= len(t) * 10"),
    "a default of a nested function": Sizing("k = 2\ndef f(x=k):\n    return x\nk = 5\nn -= f()"),
    "defaults of functions in a list": Sizing("fs = [lambda k=k: k * 10 for k in (1, 2, 3)]\nn -= fs[0]()"),
}

DELETED = {
    "an attribute, read with a default": Sizing("self.x = 5\ndel self.x\nn -= getattr(self, 'x', 30)"),
    "an attribute, asked for": Sizing("self.x = 5\ndel self.x\nn -= 10 if hasattr(self, 'x') else 3"),
    "an attribute by its name": Sizing("self.x = 5\ndelattr(self, 'x')\nn -= getattr(self, 'x', 30)"),
    "what hides the class": Sizing("a = A()\na.x = 5\ndel a.x\nn -= a.x", A),
    "in another method": Sizing(
        "self.clear()\nn -= getattr(self, 'x', 30)", methods="def clear(self):\n    del self.x", init="self.x = 5"
    ),
    "in a function": Sizing(
        "clear(self)\nn -= getattr(self, 'x', 30)", "def clear(a):\n    del a.x", init="self.x = 5"
    ),
    "on some ways": Sizing("if self.tp_size > 2:\n    del self.x\nn -= getattr(self, 'x', 30)", init="self.x = 5"),
    "several at once": Sizing("self.x = 5\nself.y = 6\ndel self.x, self.y\nn -= getattr(self, 'y', 30)"),
    "through a property": Sizing(
        "b = B()\ndel b.x\nn -= b.y",
        "class B:\n    y = 2\n    @property\n    def x(self):\n        return 1\n"
        "    @x.deleter\n    def x(self):\n        self.y = 31",
    ),
    "an attribute that is read after all": Sizing(
        "self.x = 5\ndel self.x\ntry:\n    n -= self.x\nexcept AttributeError:\n    n -= 9"
    ),
    "a local that is read after all": Sizing("x = 1\ndel x\ntry:\n    n -= x\nexcept UnboundLocalError:\n    n -= 9"),
}

EVERY = {**SHARED, **DELETED}


@pytest.mark.parametrize("name", EVERY)
def test_a_variable_holds_what_it_holds_in_python(name: str) -> None:
    assert disagreements(EVERY[name]) == []
