"""Errors a user can cause or meet; each is one line: what, where, what to do."""

from __future__ import annotations


class AnalyzerError(Exception):
    """Base of every expected failure; `str()` is the line shown to the user."""

    exit_code = 2

    def __init__(self, what: str, *, where: str = "", hint: str = "") -> None:
        super().__init__(what)
        self.what = what
        self.where = where
        self.hint = hint

    def __str__(self) -> str:
        place = f" ({self.where})" if self.where else ""
        advice = f"; {self.hint}" if self.hint else ""
        return f"{self.what}{place}{advice}"


class UsageError(AnalyzerError):
    """The command line or an input file asks for something that does not exist."""


class RepositoryError(AnalyzerError):
    """The repository, or an object in it, cannot be read."""


class UnknownRefError(RepositoryError):
    """No source of versions knows the given ref."""


class MissingBlobError(RepositoryError):
    """A partial clone lacks the content of a file that the analysis needs."""


class RuleFileError(AnalyzerError):
    """One or more files under the rules folder are wrong; all problems are listed."""


class SettingsError(AnalyzerError):
    """The configuration of the project is wrong; all problems are listed."""


class SnapshotError(AnalyzerError):
    """A stored snapshot is damaged or was written by an incompatible version."""


class WorkerError(AnalyzerError):
    """A process that did a part of the work was ended from outside."""


class ExtractionError(AnalyzerError):
    """The formula could not be extracted from a ref."""

    exit_code = 3


class SourceSyntaxError(ExtractionError):
    """A file of the analysed ref does not parse or has a wrong encoding."""


class AnchorNotFoundError(ExtractionError):
    """An anchor named in the rules is absent; the message lists where it was sought."""
