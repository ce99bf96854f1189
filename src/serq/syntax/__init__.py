"""Text to surface tree, and back (`printer.py`). Knows no meaning: names, sizes and kinds are later stages' concern."""

from serq.syntax.parser import parse, parse_expression

__all__ = ["parse", "parse_expression"]
