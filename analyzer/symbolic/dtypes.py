"""What is known of the dtypes of torch."""

from __future__ import annotations

from typing import Final

from analyzer.domain.terms import Atom, Opaque, Term, constant

_BYTES: Final = {
    "float64": 8, "double": 8, "int64": 8, "long": 8, "float32": 4, "float": 4, "int32": 4, "int": 4,
    "float16": 2, "half": 2, "bfloat16": 2, "int16": 2, "uint16": 2, "int8": 1, "uint8": 1, "bool": 1,
    "float8_e5m2": 1, "float8_e4m3fn": 1, "float8_e5m2fnuz": 1, "float8_e4m3fnuz": 1, "float8_e8m0fnu": 1,
    "float4_e2m1fn_x2": 1,
}  # fmt: skip  # one table row a line would hide the pattern; sizes as torch defines them
_WHOLE: Final = frozenset({"int64", "long", "int32", "int", "int16", "int8", "uint16", "uint8"})
_BITS_OF_A_BYTE: Final = 8


def element_size(term: Term) -> Term | None:
    """Bytes per element of a torch dtype, when `term` is one."""
    if isinstance(term, Atom) and term.name.rsplit(".", 1)[-1] in _BYTES:
        return constant(_BYTES[term.name.rsplit(".", 1)[-1]])
    return None


def integer_limit(term: Term, name: str) -> Term | None:
    """``torch.iinfo(dtype).max`` and its kin; None for anything else."""
    match term:
        case Opaque("torch.iinfo", (Atom(dtype),)) if dtype.rsplit(".", 1)[-1] in _WHOLE:
            short = dtype.rsplit(".", 1)[-1]
            bits = _BYTES[short] * _BITS_OF_A_BYTE
            low, high = (0, bits) if short.startswith("u") else (-(2 ** (bits - 1)), bits - 1)
            limits = {"bits": bits, "min": low, "max": 2**high - 1}
            return constant(limits[name]) if name in limits else None
        case _:
            return None
