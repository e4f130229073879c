"""Keeps text that a log shows from being taken for a workflow command by the runner that reads the log."""

from __future__ import annotations


def defuse(text: str) -> str:
    """`text` with every line broken up that would begin a command: ``::name`` or, anywhere, ``##[name``."""
    if "::" not in text and "##[" not in text:
        return text
    lines = text.replace("##[", r"#\#[").split("\n")
    return "\n".join(_broken(line) if line.lstrip().startswith("::") else line for line in lines)


def _broken(line: str) -> str:
    start = len(line) - len(line.lstrip())
    return f"{line[:start]}\\{line[start:]}"
