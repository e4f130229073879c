"""What is known of the history, as bytes for the cache."""

from __future__ import annotations

from typing import Final

import msgspec

from analyzer.domain.history import Found
from analyzer.domain.report import LogReport

_DECODER: Final = msgspec.msgpack.Decoder(Found)
_LOG_DECODER: Final = msgspec.msgpack.Decoder(LogReport)


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


class LogPack:
    """The commits that changed a formula, as MessagePack."""

    def encode(self, report: LogReport) -> bytes:
        """The bytes of `report`."""
        return msgspec.msgpack.encode(report)

    def decode(self, content: bytes) -> LogReport | None:
        """The report in `content`, or None when it is damaged."""
        try:
            return _LOG_DECODER.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
