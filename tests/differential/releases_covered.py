"""Which releases are executed, and for which families: at least one of every era of the formula."""

from __future__ import annotations

from typing import Final

from packaging.version import Version

RELEASES: Final = (
    "0.1.3",  # memory in bytes, fp16 assumed, no check for a budget below zero
    "0.1.16",  # last in bytes
    "0.1.17",  # memory in GiB
    "0.2.0",
    "0.2.15",  # MLA as an option
    "0.3.2",  # MLA by default
    "0.3.6",  # text configuration
    "0.4.3",  # attention TP
    "0.4.8",  # effective layers
    "0.5.2",  # hybrid linear attention
    "0.5.6.post2",
    "0.5.7",  # mixin; K and V widths apart
    "0.5.9",  # window layers counted by their own width
    "0.5.11",  # configurator classes
    "0.5.14",  # negative budget is a ValueError
    "0.5.16",  # sizing leaves the runner
    "0.5.18",
)

# The others of each era, and releases newer than the tool was written for: too slow for every run.
MORE_RELEASES: Final = (
    *("0.1.20", "0.2.8", "0.3.0", "0.4.0", "0.4.4", "0.4.10", "0.5.4", "0.5.8", "0.5.10", "0.5.13", "0.5.15"),
    *("0.5.17", "0.5.19", "0.5.20", "0.5.21", "0.5.22", "0.5.23"),
)

# Before these releases the runner prepares the family outside the sizing code, or knows none such.
_SINCE: Final = {
    "mha": Version("0.1.3"),
    "mla": Version("0.1.3"),
    "dsa": Version("0.5.4"),
    "swa": Version("0.5.2"),
    "mamba": Version("0.5.4"),
    "dsv4": Version("0.5.16"),
    "minimax": Version("0.5.16"),
}


# Families with a modifier, at the ends of the eras in which it is part of the formula.
MODIFIED: Final = (
    ("0.5.6.post2", "mha+eagle"),  # headroom for drafts; a registry of algorithms
    ("0.5.9", "mamba+eagle"),  # intermediate states
    ("0.5.18", "mamba+eagle"),  # states and drafts solved together
    ("0.5.18", "mla+fp4"),
    ("0.5.18", "mha+mxfp8"),
    ("0.5.18", "mha+pp"),
    *(("0.5.9", "mha+draft"), ("0.5.11", "mha+draft"), ("0.5.18", "mha+draft")),  # an option; a configuration
    *(("0.5.11", "mha+dflash"), ("0.5.18", "mla+dflash")),
    *(("0.5.9", "mha+dp"), ("0.5.18", "mla+dp")),
    *(("0.4.3", "mha+hip"), ("0.5.18", "mha+hip")),
    *(("0.5.9", "mha+npu"), ("0.5.18", "mla+npu")),
    *(("0.5.9", "mha+xpu"), ("0.5.18", "mha+xpu")),
    *(("0.5.9", "mha+cpu"), ("0.5.18", "mha+cpu")),
)
MORE_MODIFIED: Final = (
    *(("0.5.21", "mamba+eagle"), ("0.5.23", "swa+eagle"), ("0.5.23", "mla+fp4"), ("0.5.23", "mha+mxfp8")),
    *(("0.5.21", "mha+pp"), ("0.5.23", "mha+draft"), ("0.5.23", "mla+dp"), ("0.5.23", "mha+hip")),
    *(("0.5.23", "mla+npu"), ("0.5.23", "mha+xpu"), ("0.5.23", "mha+cpu")),
    *(("0.4.3", "mha+eagle"), ("0.4.8", "mha+eagle"), ("0.5.2", "mha+eagle"), ("0.5.14", "mha+eagle")),
    *(("0.5.18", "mha+eagle"), ("0.5.18", "swa+eagle"), ("0.5.16", "dsa+eagle")),
    *(("0.5.6.post2", "mha+fp4"), ("0.5.9", "mla+fp4"), ("0.5.18", "mha+fp4"), ("0.5.18", "dsa+fp4")),
    *(("0.4.3", "mha+draft"), ("0.5.13", "mla+draft"), ("0.5.16", "mha+draft"), ("0.5.18", "swa+draft")),
    *(("0.5.16", "mha+dflash"), ("0.5.18", "mha+dflash")),
    *(("0.4.8", "mla+dp"), ("0.5.14", "mha+dp"), ("0.5.18", "mamba+dp")),
    *(("0.5.9", "mha+hip"), ("0.5.14", "mla+hip"), ("0.5.18", "mamba+hip")),
    *(("0.5.14", "mla+npu"), ("0.5.18", "mha+npu"), ("0.5.14", "mha+xpu"), ("0.5.14", "mha+cpu")),
    *(("0.5.9", "mha+pp"), ("0.5.14", "mla+pp"), ("0.5.16", "mla+pp")),
)


def covered(*scenarios: str, releases: tuple[str, ...] = RELEASES) -> list[tuple[str, str]]:
    """Every (release, scenario) that can be executed."""
    return [
        (release, scenario) for release in releases for scenario in scenarios if Version(release) >= _SINCE[scenario]
    ]
