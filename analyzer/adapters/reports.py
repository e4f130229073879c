"""Comparisons as bytes for the cache."""

from __future__ import annotations

from typing import Final

import msgspec

from analyzer.domain.report import DiffReport

_DECODER: Final = msgspec.msgpack.Decoder(DiffReport)


class ReportPack:
    """A comparison as MessagePack, which keeps every number as it is."""

    def encode(self, report: DiffReport) -> bytes:
        """The bytes of `report`."""
        return msgspec.msgpack.encode(report)

    def decode(self, content: bytes) -> DiffReport | None:
        """The report in `content`, or None when it is damaged."""
        try:
            return _DECODER.decode(content)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
