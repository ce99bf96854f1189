"""Put definitions in their place: `def NAME(…) = …` and `def NAME(…) {…}`.

Before:  def both(a, b) = a + b;   … run z (both(n, 2 * k));
After:   … run z (n + 2 * k);

The arguments go in as trees, so a definition needs no brackets of its own. Substitution happens where the call stands:
names of the body that are not parameters mean what they mean there, and each statement of the body runs there.

Reference: language §2, Syntax; notes §10.   Relies on: libraries read (`uses`).
Establishes: no `def` and no call of one is left.
Reports: definition-name, definition-kind, definition-order, definition-arity, unknown-definition, unknown-override,
parameter-assigned, argument-draws, argument-captured, argument-live, argument-not-reference.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TypeVar

from serq.diagnostics import Label, Origin, SourceFile, Span
from serq.expand.items import declared_kinds, map_item_bodies
from serq.expand.limits import hold_to_depth, outermost, substitute_within
from serq.expand.report import Report, counted, did_you_mean, listed
from serq.expand.tree import (
    NotAReference,
    assigned_names,
    children,
    draws,
    free_names,
    live_reads,
    map_body,
    map_expressions,
    observed_names,
    through,
    walk,
)
from serq.expand.uses import shipped_home
from serq.expand.vocabulary import RESERVED_FOR_DEFINITIONS, RESERVED_FOR_PARAMETERS
from serq.records import dataclass, replace
from serq.syntax.nodes import (
    Aggregate,
    Call,
    DefinitionCall,
    Expression,
    ExpressionDefinition,
    Indexed,
    Item,
    Mark,
    Name,
    Node,
    Number,
    Program,
    Reference,
    Request,
    Statement,
    StatementDefinition,
)
from serq.syntax.statements import FOREIGN

Definition = ExpressionDefinition | StatementDefinition
AnyItem = TypeVar("AnyItem", bound=Item)
AnyNode = TypeVar("AnyNode", bound=Node)


@dataclass(frozen=True, slots=True)
class _Known:
    """A definition whose body is expanded, and what its calls are held to."""

    definition: Definition
    reads: Mapping[str, int]
    assigned: frozenset[str]

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def parameters(self) -> tuple[str, ...]:
        return tuple(parameter.name for parameter in self.definition.parameters)


def expand_definitions(program: Program, report: Report, overrides: Mapping[str, Expression]) -> Program:
    """Replace every call of a definition by its body and drop the definitions.

    Parameters
    ----------
    overrides : bodies that take the place of expression definitions' own (`--def NAME=EXPR`)
    """
    program = _overridden(program, report, overrides)
    _check_names(program, report)
    return _Definitions(program, report).run()


def _overridden(program: Program, report: Report, overrides: Mapping[str, Expression]) -> Program:
    """Give expression definitions the bodies set from outside."""
    named = {item.name: item for item in program.items if isinstance(item, Definition)}
    for name, value in overrides.items():
        known = [n for n, item in named.items() if isinstance(item, ExpressionDefinition)]
        if name not in named:
            report.add(
                "unknown-override",
                f"no definition of the program is named `{name}`",
                Span(SourceFile("--def", f"{name}={value.span.source.text}"), 0, len(name)),
                "no such definition",
                helps=did_you_mean(name, known)
                or ((f"the expression definitions are {listed(known)}",) if known else ()),
            )
        elif name not in known:
            report.add(
                "unknown-override",
                f"`{name}` is a definition of statements, and only an expression can be set from outside",
                value.span,
                "an expression",
                secondary=(Label(named[name].name_span, "defined here"),),
            )

    def changed(item: Item) -> Item:
        if isinstance(item, ExpressionDefinition) and item.name in overrides:
            return replace(item, value=overrides[item.name])
        return item

    return Program(program.span, tuple(changed(item) for item in program.items))


def _check_names(program: Program, report: Report) -> None:
    """Hold the names of definitions and parameters to be nobody else's."""
    declared = declared_kinds(program)
    earlier: dict[str, Span] = {}
    for item in program.items:
        if not isinstance(item, Definition):
            continue
        if item.name in RESERVED_FOR_DEFINITIONS:
            _report_name(report, item.name, item.name_span, "a word of the language")
        elif item.name in declared:
            kind, span = declared[item.name]
            _report_name(report, item.name, item.name_span, kind, Label(span, "declared here"))
        elif item.name in earlier:
            _report_name(report, item.name, item.name_span, "a definition", Label(earlier[item.name], "the first"))
        earlier.setdefault(item.name, item.name_span)
        seen: dict[str, Span] = {}
        for parameter in item.parameters:
            name = parameter.name
            if name in RESERVED_FOR_PARAMETERS:
                _report_name(report, name, parameter.span, "a word of the language")
            elif name in seen:
                _report_name(report, name, parameter.span, "a parameter", Label(seen[name], "the first"))
            elif name in declared and declared[name][1].source is parameter.span.source:
                # Only in one file: a library cannot know the names of the programs that use it.
                kind, span = declared[name]
                _report_name(report, name, parameter.span, kind, Label(span, "declared here"))
            seen.setdefault(name, parameter.span)


def _report_name(report: Report, name: str, span: Span, kind: str, *where: Label) -> None:
    """Report a name that is taken."""
    report.add(
        "definition-name",
        f"`{name}` is already {kind}",
        span,
        "needs a name of its own",
        secondary=where,
        notes=("a reader could not tell which of the two a use means",),
    )


class _Definitions:
    """The pass over one program, from the top down: a definition is visible below itself."""

    def __init__(self, program: Program, report: Report) -> None:
        self.program = program
        self.report = report
        self.known: dict[str, _Known] = {}
        self.written = {item.name: item for item in program.items if isinstance(item, Definition)}
        self.inside: Definition | None = None

    def run(self) -> Program:
        """Expand every item."""
        items: list[Item] = []
        for item in self.program.items:
            if isinstance(item, Definition):
                self.inside = item
                self._learn(self._expanded(item))
                self.inside = None
            else:
                items.append(self._expanded(item))
        return Program(self.program.span, tuple(items))

    def _expanded(self, item: AnyItem) -> AnyItem:
        """Expand the calls inside one item."""
        item = map_expressions(item, self._expression)
        return map_item_bodies(item, lambda body: map_body(body, self._statement))

    def _learn(self, definition: Definition) -> None:
        """Check the body of a definition and make it known."""
        parts: tuple[Node, ...]
        if isinstance(definition, ExpressionDefinition):
            parts, assigned, written = (definition.value,), {}, {}
        else:
            parts = definition.body
            assigned = assigned_names(definition.body)
            written = observed_names(definition.body)
            written |= {n.name: n.span for n in walk(*parts) if isinstance(n, Mark)}
        indices = {n.index: n.span for n in walk(*parts) if isinstance(n, Aggregate)}
        for parameter in definition.parameters:
            place = {**indices, **written, **assigned}.get(parameter.name)
            if place is not None:
                self.report.add(
                    "parameter-assigned",
                    f"`{parameter.name}` is a parameter of `{definition.name}`, and its body assigns or binds it",
                    place,
                    "names what is assigned or bound",
                    secondary=(Label(parameter.span, "the parameter"),),
                )
        reads = _read_counts(parts, [parameter.name for parameter in definition.parameters])
        hold_to_depth(self.report, f"`{definition.name}`", definition.name_span, *parts)
        self.known.setdefault(definition.name, _Known(definition, reads, frozenset(assigned)))

    # --------------------------------------------------------------------------------------------- calls

    def _expression(self, expression: Expression) -> Expression:
        """Expand a call in an expression."""
        if not isinstance(expression, Call):
            return expression
        known = self.known.get(expression.function)
        if known is None:
            if expression.function not in self.written:
                return expression  # a function or an observable: the linker knows them
            self._out_of_order(expression.function, expression.span)
            return Number(expression.span, 0.0)
        if isinstance(known.definition, StatementDefinition):
            self.report.add(
                "definition-kind",
                f"`{known.name}` is a definition of statements, and stands in an expression",
                expression.span,
                "needs a value here",
                secondary=(Label(known.definition.name_span, "`def … {…}`: statements"),),
                helps=(f"`{known.name}(…);` is a statement",),
            )
            return Number(expression.span, 0.0)
        values = self._arguments(known, expression.arguments, expression.span)
        if values is None:
            return Number(expression.span, 0.0)
        body = through(known.definition.value, Origin(f"in the definition `{known.name}`", expression.span))
        return self._put_in(known, body, values) or Number(expression.span, 0.0)

    def _statement(self, statement: Statement) -> Iterable[Statement]:
        """Expand a call that is a statement."""
        if not isinstance(statement, DefinitionCall):
            return (statement,)
        known = self.known.get(statement.name)
        if known is None:
            if statement.name in self.written:
                self._out_of_order(statement.name, statement.span)
            else:
                self.report.add(
                    "unknown-definition",
                    f"no definition of statements is named `{statement.name}`",
                    statement.span,
                    "not defined above",
                    helps=self._meant(statement.name),
                )
            return ()
        if isinstance(known.definition, ExpressionDefinition):
            self.report.add(
                "definition-kind",
                f"`{known.name}` is a definition of an expression, and stands as a statement",
                statement.span,
                "needs statements here",
                secondary=(Label(known.definition.name_span, "`def … = …`: an expression"),),
                helps=(f"a statement that uses the value reads it: `set x = {known.name}(…);`",),
            )
            return ()
        values = self._arguments(known, statement.arguments, statement.span)
        if values is None:
            return ()
        self._check_live(known, values)
        origin = Origin(f"in the definition `{known.name}`", statement.span)
        result: list[Statement] = []
        for part in known.definition.body:
            new = self._put_in(known, through(part, origin), values)
            if new is not None:
                result.append(new)
        return result

    def _meant(self, name: str) -> tuple[str, ...]:
        """Give the help for a call of nothing: a stage's name, a library's, another language's word, or misspelt."""
        declared = declared_kinds(self.program)
        if name in declared and declared[name][0] == "a stage":
            return (f"a job at the stage `{name}` is `run {name} (…);`",)
        library = shipped_home(name)
        if library is not None:
            return (f'write `use "{library}";` above',)
        if name in FOREIGN:
            return (FOREIGN[name],)
        known = [n for n, k in self.known.items() if isinstance(k.definition, StatementDefinition)]
        return did_you_mean(name, known)

    def _out_of_order(self, name: str, span: Span) -> None:
        """Report the use of a definition that is not above."""
        itself = self.inside is not None and self.inside.name == name
        self.report.add(
            "definition-order",
            f"`{name}` uses itself" if itself else f"`{name}` is defined below its use",
            span,
            "inside its own body" if itself else "not defined yet",
            secondary=(Label(self.written[name].name_span, "defined here"),),
            notes=("a definition is put in its place as it stands, so it may use only the ones above it",),
            helps=() if itself else (f"move `def {name}` up",),
        )

    def _arguments(self, known: _Known, arguments: tuple[Expression, ...], span: Span) -> dict[str, Expression] | None:
        """Check the arguments of a call and give them by parameter, or None when they cannot go in."""
        parameters = known.parameters
        if len(arguments) != len(parameters):
            self.report.add(
                "definition-arity",
                f"`{known.name}` takes {counted(len(parameters), 'argument')}, and is given {len(arguments)}",
                span,
                f"{len(arguments)} given",
                secondary=(Label(known.definition.name_span, "defined here"),),
            )
            return None
        values = dict(zip(parameters, arguments))
        for name, value in values.items():
            if known.reads[name] > 1 and draws(value):
                times = "in every term of an aggregate" if known.reads[name] >= IN_AGGREGATE else "more than once"
                self.report.add(
                    "argument-draws",
                    f"the argument for `{name}` draws, and `{known.name}` reads `{name}` {times}",
                    value.span,
                    "would be drawn anew each time",
                    secondary=(Label(known.definition.name_span, f"reads `{name}` {times}"),),
                    helps=(f"draw first: `set x = …;`, then give `{known.name}` the `x`",),
                )
            for read, place in free_names(value).items():
                if read in known.assigned:
                    self.report.add(
                        "argument-captured",
                        f"the argument for `{name}` reads `{read}`, which `{known.name}` assigns",
                        place,
                        "would be read after the body changed it",
                        secondary=(Label(known.definition.name_span, f"assigns `{read}`"),),
                        helps=("copy it to another attribute before the call",),
                    )
        return values

    def _check_live(self, known: _Known, values: Mapping[str, Expression]) -> None:
        """Refuse arguments of statements that read what changes while the statements run."""
        for name, value in values.items():
            for read, place in live_reads(value):
                self.report.add(
                    "argument-live",
                    f"the argument for `{name}` of `{known.name}` reads `{read}`, which changes while statements run",
                    place,
                    "would be read where the body reads it, not here",
                    helps=(f"take the value here: `set x = {value.span.text};`, then give `{known.name}` the `x`",),
                )

    def _put_in(self, known: _Known, body: AnyNode, values: Mapping[str, Expression]) -> AnyNode | None:
        """Substitute the arguments, or report the one that would have to be a pool's or stage's name."""
        try:
            return substitute_within(self.report, f"`{known.name}`", outermost(body.span), body, values)
        except NotAReference as wrong:
            value = values[wrong.name]
            self.report.add(
                "argument-not-reference",
                f"`{known.name}` names a pool, stage or queue with its parameter `{wrong.name}`",
                value.span,
                "not a name that can stand there",
                secondary=(Label(wrong.place.span, f"`{wrong.name}` names something here"),),
                helps=("give it a name, such as `kv` or `kv[j]`; where the body gives the index, the name alone",),
            )
            return None


# A read inside an aggregate counts for this many: its terms are written out, however many they are.
IN_AGGREGATE = 1000


def _read_counts(parts: Iterable[Node], parameters: Iterable[str]) -> dict[str, int]:
    """Count how often a body reads each parameter (`q.kv` reads `q`)."""
    counts = dict.fromkeys(parameters, 0)

    def visit(node: Node, weight: int) -> None:
        match node:
            case Name(name=name) | Indexed(name=name) | Reference(name=name) | Request(gateway=str(name)):
                for candidate in {name, name.partition(".")[0]} & counts.keys():
                    counts[candidate] += weight
            case _:
                pass
        for part in children(node):
            visit(part, IN_AGGREGATE if isinstance(node, Aggregate) and part is node.body else weight)

    for root in parts:
        visit(root, 1)
    return counts
