"""Text to surface tree and back. Knows no meaning: names, sizes and kinds are later stages' concern."""

from serq.syntax.parser import parse, parse_expression
from serq.syntax.printer import print_expression, print_program

__all__ = ["parse", "parse_expression", "print_expression", "print_program"]
