"""What every source of files shares: content ids, the size limit, the layout and safe text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from typing import Final

# The largest file of any release has 0.4 MB; what is larger is not source code.
MAX_FILE_SIZE: Final = 8 * 1024 * 1024

# Where `sglang/` lies in a repository, in the order of preference.
LAYOUTS: Final = ("python/", "")

_SHA256_LENGTH: Final = 64


def blob_id(content: bytes, *, like: str = "") -> str:
    """The id git gives to `content`, with the hash function that made the id `like`."""
    algorithm = "sha256" if len(like) == _SHA256_LENGTH else "sha1"
    digest = hashlib.new(algorithm, b"blob %d\0" % len(content), usedforsecurity=False)
    digest.update(content)
    return digest.hexdigest()


def holds_srt(paths: Iterable[str]) -> bool:
    """Whether `paths` are those of SGLang rather than of some other package of that name."""
    return any(path.startswith("sglang/srt/") for path in paths)


def is_source(path: str) -> bool:
    """Whether `path` is a Python file of the package, with no step out of its folder."""
    return path.startswith("sglang/") and path.endswith(".py") and "/../" not in path


def printable(text: str) -> str:
    """`text` without anything that a terminal or an encoder would choke on."""
    safe = text.encode("utf-8", "backslashreplace").decode("utf-8")
    return re.sub(r"[\x00-\x1f\x7f-\x9f]", lambda match: f"\\x{ord(match[0]):02x}", safe)
