"""Functions that are called under another name than their own: what they write is seen, or said to be unknown."""

from __future__ import annotations

import pytest

from tests.support.project import COUNT, disagreements, extracted

MODULE = """
class Acc:
    def __init__(self):
        self.t = 0
    def bump(self, k):
        self.t += k
        return self.t
def apply(f):
    f()
def run_all(fs):
    for f in fs:
        f()
"""
METHODS = """
def set_extra(self, k):
    self.extra = k
def three(self):
    self.extra = 3
def other(self):
    self.unrelated = 1
@property
def hooked(self):
    return self.three
def pick(self):
    return self.three
"""
THREE = "tokens - 3"
CALLED = {
    "an attribute": ("self.hook = self.three\nself.hook()", THREE),
    "a lambda in an attribute": ("self.hook = lambda: self.three()\nself.hook()", THREE),
    "a variable": ("go = self.three\ngo()", THREE),
    "one of two": (
        "go = self.three if self.page_size > 1 else self.other\ngo()",
        "tokens - (3 if page_size > 1 else 1)",
    ),
    "an unpacked variable": ("go, stay = self.three, self.other\ngo()", THREE),
    "a walrus": ("(go := self.three)()", THREE),
    "an item of a dict": ("d = {'x': self.three}\nd['x']()", THREE),
    "an item of a display": ("go = {'x': self.three, 'y': self.other}['x']\ngo()", THREE),
    "an item of an attribute's dict": ("self.fns = {}\nself.fns['a'] = self.three\nself.fns['a']()", THREE),
    "items of a tuple": ("for f in (self.other, self.three):\n    f()", THREE),
    "items of a list": ("fs = []\nfs.append(self.three)\nfor f in fs:\n    f()", THREE),
    "items of an attribute's list": (
        "self.fns = [self.other]\nself.fns.append(self.three)\nfor f in self.fns:\n    f()",
        THREE,
    ),
    "items in a generator": ("any(f() for f in [self.other, self.three])", THREE),
    "an argument": ("apply(self.three)", THREE),
    "a list as an argument": ("run_all([self.other, self.three])", THREE),
    "an attribute by name": ("getattr(self, 'three')()", THREE),
    "a property": ("self.hooked()", THREE),
    "what a method returns": ("self.pick()()", THREE),
    "a partial function": ("import functools\ngo = functools.partial(self.set_extra, 3)\ngo()", THREE),
    "a partial function with keywords": ("import functools\nfunctools.partial(self.set_extra, k=3)()", THREE),
    "map": ("list(map(self.set_extra, [3]))", THREE),
    "a list comprehension": ("[self.set_extra(k) for k in (2, 3)]", THREE),
    "a filtered comprehension": ("x = [self.set_extra(k) for k in (2, 3, 9) if k < 4]", THREE),
    "a dict comprehension": ("d = {k: self.set_extra(k) for k in (2, 3)}", THREE),
    "a local object's method in a comprehension": ("a = Acc()\n[a.bump(k) for k in (1, 2)]\nself.extra = a.t", THREE),
}


@pytest.mark.parametrize("name", CALLED)
def test_what_a_function_does_under_another_name_is_seen(name: str) -> None:
    lines, expression = CALLED[name]
    pool = f"self.extra = 1\n{COUNT}{lines}\nn -= self.extra\nself.max_total_num_tokens = n"
    assert disagreements(extracted(module=MODULE, methods=METHODS, pool=pool), expression) == []


VALUES = {
    "map": "n -= sum(map(lambda x: x + 1, [1, 0]))",
    "filter": "n -= len(list(filter(lambda x: x > 1, [1, 2, 3, 4])))",
    "filter without a function": "n -= len(list(filter(None, [0, 2, 3, 4])))",
    "partial": "import functools\nn -= functools.partial(max, 3)(1)",
}


@pytest.mark.parametrize("name", VALUES)
def test_functions_of_functions(name: str) -> None:
    pool = f"{COUNT}{VALUES[name]}\nself.max_total_num_tokens = n"
    assert disagreements(extracted(pool=pool), THREE) == []


@pytest.mark.parametrize(
    ("lines", "unknown"),
    [
        ("import threading\nthreading.Thread(target=self.three).start()", "threading.Thread calls"),
        ("import contextlib\nwith contextlib.ExitStack() as s:\n    s.callback(self.three)", ".callback() calls"),
    ],
)
def test_whether_a_library_calls_what_it_is_given_is_not_known(lines: str, unknown: str) -> None:
    pool = f"self.extra = 1\n{COUNT}{lines}\nn -= self.extra\nself.max_total_num_tokens = n"
    assert unknown in extracted(methods=METHODS, pool=pool).coverage.opaque_calls
