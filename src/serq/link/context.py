"""What the parts of the linker share: the program, what it declares, the findings, and the sites.

Input: an IR program. Invariants: a finding is recorded at the place its IR path stands for; a path has one site.
"""

from __future__ import annotations

from collections.abc import Callable

from serq.diagnostics import Findings, Label, Place, Span, error
from serq.diagnostics.suggest import did_you_mean
from serq.ir import model as ir
from serq.ir.evaluate import NotConstant, Terms, evaluate
from serq.records import dataclass, field


@dataclass(frozen=True, slots=True)
class Family:
    """A declared pool or stage: its members are `base` … `base + count - 1` of the flat list."""

    name: str
    base: int
    count: int
    is_family: bool
    path: str
    position: int


@dataclass(slots=True)
class Context:
    """The state of one linking.

    Attributes
    ----------
    place_of : IR path → place of the text (or the path itself)
    constants : names of the constants that are folded into the program
    pools, stages : families by name
    slots : attribute → slot
    assigned : attribute → path of its first assignment (for those the program assigns)
    hidden : attributes the scheduler may not read
    terms : counts the terms of aggregates
    sites : paths, by site
    """

    program: ir.Program
    place_of: Callable[[str], Place]
    findings: Findings = field(default_factory=Findings)
    pools: dict[str, Family] = field(default_factory=dict)
    stages: dict[str, Family] = field(default_factory=dict)
    slots: dict[str, int] = field(default_factory=dict)
    assigned: dict[str, str] = field(default_factory=dict)
    hidden: frozenset[str] = frozenset()
    constants: tuple[str, ...] = ()
    terms: Terms = field(default_factory=Terms)
    sites: list[str] = field(default_factory=list)
    _site_of: dict[str, int] = field(default_factory=dict)

    def site(self, path: str) -> int:
        """Give the site of a path, the same for the same path."""
        known = self._site_of.get(path)
        if known is None:
            known = self._site_of[path] = len(self.sites)
            self.sites.append(path)
        return known

    def error(
        self,
        name: str,
        message: str,
        path: str,
        label: str = "",
        *,
        also: tuple[tuple[str, str], ...] = (),
        notes: tuple[str, ...] = (),
        helps: tuple[str, ...] = (),
    ) -> None:
        """Record a finding at an IR path; `also` are other paths that matter, each with its label."""
        secondary = tuple(Label(self.place_of(other), words) for other, words in also)
        self.findings.add(
            error(name, message, self.place_of(path), label, secondary=secondary, notes=notes, helps=helps)
        )

    def constant(self, expression: ir.Expression, path: str, what: str) -> float | None:
        """Give the value of an expression in a constant's place, or None after a finding.

        Parameters
        ----------
        what : what the constant is, for messages ("the cap of `kv`")
        """
        try:
            value = evaluate(expression, path, self.terms)
        except NotConstant as found:
            notes = (f"{what} is known before the program runs",) if found.name == "not-constant" else ()
            self.error(found.name, found.message, found.path, found.label, notes=notes, helps=self.near(found))
            return None
        if value != value:
            self.error(
                "constant-nan",
                f"{what} is NaN, which is no number",
                path,
                "is NaN",
                notes=("a constant is a number or `inf`; `0/0` and `inf - inf` are neither",),
            )
            return None
        return value

    def near(self, found: NotConstant) -> tuple[str, ...]:
        """Give the helps for a part that is no constant: the constant whose name is near, else what it came with."""
        place = self.place_of(found.path)
        if found.name == "not-constant" and isinstance(place, Span):
            return did_you_mean(place.text, self.constants) or found.helps
        return found.helps


def described(reference: ir.Reference) -> str:
    """Write a reference as the program does: `kv`, `kv[2]`, or `kv[…]` when the index is no number."""
    if isinstance(reference, str):
        return reference
    index = reference.index
    if isinstance(index, float | int):
        return f"{reference.name}[{index:g}]"
    return f"{reference.name}[{index}]" if isinstance(index, str) else f"{reference.name}[…]"


def named(reference: ir.Reference) -> str:
    """Give the pool's or stage's name in a reference."""
    return reference if isinstance(reference, str) else reference.name


def plural(count: int, noun: str) -> str:
    """Write a count: "1 member", "2 members"."""
    return f"{count} {noun}" + ("" if count == 1 else "s")
