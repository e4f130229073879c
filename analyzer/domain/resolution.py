"""What a name can mean."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Resolution:
    """A resolved name.

    `kind` is function, class, module, global or external. For function and class, `key` is the key
    of the definition; for module and external a dotted name; for global ``module:name``.
    """

    kind: str
    key: str
