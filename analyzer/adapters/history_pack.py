"""What is known of the history, as bytes for the cache."""

from __future__ import annotations

from typing import Final

import msgspec

from analyzer.domain.history import Found

_DECODER: Final = msgspec.msgpack.Decoder(Found)


class HistoryPack:
    """What one commit's formula is, as MessagePack."""

    def encode(self, found: Found) -> bytes:
        """The bytes of `found`."""
        return msgspec.msgpack.encode(found)

    def decode(self, content: bytes) -> Found | None:
        """What is in `content`, or None when it is damaged."""
        try:
            return _DECODER.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
