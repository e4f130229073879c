"""Lines of a sizing with searches, products, sets and loops whose operands only the inputs decide."""

from __future__ import annotations

from typing import Final

from tests.support.executed import Sizing

EVERY: Final = {
    "the bits of a number": Sizing("n -= self.page_size.bit_length() * 5 + (self.page_size - 1).bit_length()"),
    "a search over a range": Sizing(
        "n -= bisect.bisect_right(range(self.page_size * 9), self.tp_size + 20)", "import bisect"
    ),
    "a search before equals": Sizing(
        "n -= bisect.bisect_left(range(self.page_size * 9), self.page_size)", "import bisect"
    ),
    "a search by a key": Sizing(
        "n -= bisect.bisect(range(self.page_size * 9), n, key=lambda k: k * 100 + 7)", "import bisect"
    ),
    "a product of known parts": Sizing("n -= math.prod((self.page_size, self.tp_size, 3))", "import math"),
    "a product of what a loop gives": Sizing("n -= math.prod(k + 2 for k in range(self.tp_size))", "import math"),
    "a product in a loop": Sizing("p = 3\nfor k in range(self.tp_size):\n    p *= k + 1\nn -= p"),
    "a sum in two loops": Sizing(
        "t = 5\nfor k in range(self.tp_size):\n    for j in range(self.page_size):\n        t += k * 3 + j\nn -= t"
    ),
    "a loop that leaves out some turns": Sizing(
        "t = 0\nfor k in range(self.page_size):\n    if k % 3 != 1:\n        t += k\nn -= t"
    ),
    "what a loop only needs for a turn": Sizing(
        "t = 0\nfor k in range(self.page_size):\n    w = k * 7\n    t += w + 1\nn -= t"
    ),
    "a list repeated as often as an input says": Sizing("n -= sum([3, 4] * self.tp_size) + len([5] * self.page_size)"),
    "an empty list repeated": Sizing("n -= len([] * self.tp_size) + 3"),
    "a function of every element": Sizing("n -= sum(map(lambda k: k * 2 + 1, range(self.page_size)))"),
    "what two sets share": Sizing(
        "a, b = set(range(self.page_size)), set(range(2, self.tp_size + 4))\nn -= len(a & b) * 3 + len(a - b)"
    ),
    "what one of two sets has": Sizing(
        "a, b = set(range(self.page_size)), set(range(2, self.tp_size + 4))\nn -= len(a ^ b) * 3"
    ),
    "sets without a common element": Sizing(
        "a, b = set(range(self.page_size)), set(range(2, self.tp_size + 4))\nn -= 4 if a.isdisjoint(b) else 9"
    ),
    "a set that is a part": Sizing(
        "a, b = set(range(self.page_size)), set(range(self.tp_size + 1))\n"
        "n -= (a <= b) + (a < b) * 2 + (a >= b) * 4 + (a > b) * 8 + (a == b) * 16 + (a != b) * 32\n"
        "n -= a.issubset(b) * 64 + a.issuperset(b) * 128"
    ),
}
