"""What is wrong, as data, and how it is drawn. Knows nothing of the rest of the package."""

from serq.diagnostics.diagnostic import (
    Diagnostic,
    DiagnosticLimit,
    Findings,
    Label,
    Path,
    Place,
    ProgramError,
    Severity,
    error,
)
from serq.diagnostics.source import Origin, SourceFile, Span

__all__ = [
    "Diagnostic",
    "DiagnosticLimit",
    "Findings",
    "Label",
    "Origin",
    "Path",
    "Place",
    "ProgramError",
    "Severity",
    "SourceFile",
    "Span",
    "error",
]
