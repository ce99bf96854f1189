"""Declarations, and the way in: text to surface tree.

Input: a `SourceFile`. Output: its `Program`. Errors: `ProgramError` with every finding of the lexer and the parser.
Invariants: spans lie in the file; every expression and every nesting is shallow enough to recurse over
(`expressions.DEPTH_LIMIT`, `cursor.NESTING_LIMIT`); names mean nothing yet.

Reference: language §2; `grammar.txt` beside this file is the whole grammar, and each method quotes its part of it.
"""

from __future__ import annotations

from serq.diagnostics import DiagnosticLimit, Findings, ProgramError, SourceFile, Span
from serq.records import dataclass, field
from serq.syntax.cursor import Cursor, ListFailure, SyntaxFailure, listed, nearest
from serq.syntax.lexer import tokenize
from serq.syntax.nodes import (
    Arrive,
    DefinitionCall,
    Expression,
    ExpressionDefinition,
    Gauge,
    Item,
    Let,
    Name,
    Number,
    Observe,
    Program,
    Pull,
    RunBlock,
    Server,
    Session,
    SetStatement,
    Share,
    Statement,
    StatementDefinition,
    Trace,
    Use,
    Workload,
)
from serq.syntax.queues import QueueParser
from serq.syntax.tokens import (
    ARRIVALS,
    ITEM_WORDS,
    RUN_OPTIONS,
    SHARES,
    STATEMENT_WORDS,
    WORKLOAD_ITEMS,
    Token,
    TokenKind,
)


def parse(source: SourceFile) -> Program:
    """Parse a whole program, or raise `ProgramError` with everything found wrong in its text."""
    findings = Findings()
    try:
        program = _DeclarationParser(Cursor(source, tokenize(source, findings), findings)).program()
    except DiagnosticLimit:
        raise ProgramError(findings.items) from None
    findings.stop_if_any()
    return program


def parse_expression(source: SourceFile) -> Expression:
    """Parse a text that is one expression, as in `--set name=expression`; raise `ProgramError` otherwise."""
    findings = Findings()
    try:
        parser = _DeclarationParser(Cursor(source, tokenize(source, findings), findings))
        tree = parser.lone_expression()
    except DiagnosticLimit:
        raise ProgramError(findings.items) from None
    findings.stop_if_any()
    return tree


@dataclass(slots=True)
class _WorkloadDraft:
    """The items of a workload as they are read."""

    arrive: Arrive | None = None
    trace: Trace | None = None
    init: tuple[Statement, ...] = ()
    turn: tuple[Statement, ...] = ()
    session: tuple[Statement, ...] | None = None
    hidden: list[Name] = field(default_factory=list)


class _DeclarationParser(QueueParser):
    """The declaration layer, the outermost."""

    def lone_expression(self) -> Expression:
        """Parse an expression that is the whole text."""
        try:
            tree = self.expression()
            if self.cursor.token.kind is not TokenKind.END:
                self.cursor.failure("expected an operator or the end of the expression", "does not belong to it")
            return tree
        except SyntaxFailure:
            return Number(self.cursor.span_of(self.cursor.token), 0.0)  # dropped: the failure is recorded

    def program(self) -> Program:
        """Parse all items; one that fails is reported and skipped.

        program = { item } ;
        """
        cursor = self.cursor
        items: list[Item] = []
        failed = False
        while cursor.token.kind is not TokenKind.END:
            start = cursor.index
            try:
                if cursor.at("}"):
                    raise self._stray_brace(quiet=failed)
                items.append(self._item())
                failed = False
            except ListFailure:
                cursor.nesting = 0
                failed = True
            except SyntaxFailure:
                cursor.nesting = 0
                failed = True
                self._recover_item(start)
        return Program(Span(cursor.source, 0, len(cursor.source.text)), tuple(items))

    def _stray_brace(self, quiet: bool) -> SyntaxFailure:
        """Report a `}` that closes nothing, unless it is the rest of an item that failed."""
        if quiet:
            return SyntaxFailure()
        return self.cursor.failure(
            "expected a declaration",
            "closes nothing",
            helps=("leave this `}` out, or open its braces above",),
        )

    def _recover_item(self, start: int) -> None:
        """Go to the next item."""
        cursor = self.cursor
        if cursor.index == start and not cursor.at("{"):
            cursor.advance()
            if cursor.tokens[start].text in ("}", ";"):
                return
        cursor.skip_to_end_of(frozenset(ITEM_WORDS))
        if cursor.at("{"):
            cursor.skip_group()
            cursor.take(";")

    def _item(self) -> Item:
        """Parse one item.

        item = let | use | def | pool | stage | workload | session | server | queue | run block | share | pull
             | gauge ;
        """
        cursor = self.cursor
        word = cursor.token
        if word.kind is not TokenKind.NAME:
            raise self._no_item()
        beside = cursor.past_reference()
        if cursor.next_is("pull", beside) and cursor.at_name(beside + 1):
            return self._pull()
        match word.text:
            case "let":
                return self._let(cursor.advance())
            case "use":
                return self._use(cursor.advance())
            case "def":
                return self._def(cursor.advance())
            case "pool":
                return self._pool(cursor.advance())
            case "stage":
                return self._stage(cursor.advance())
            case "workload":
                return self._workload(cursor.advance())
            case "session":
                return self._session(cursor.advance())
            case "server":
                return self._server(cursor.advance())
            case "queue":
                return self._queue(cursor.advance())
            case "run":
                return self._run_block(cursor.advance())
            case "share":
                return self._share(cursor.advance())
            case "gauge":
                return self._gauge(cursor.advance())
        raise self._unknown_item()

    def _session(self, word: Token) -> Session:
        """Parse the session in one block.

        session = "session" , body ;
        """
        body = self.body(word)
        return Session(self.cursor.since(word), body)

    def _server(self, word: Token) -> Server:
        """Parse the server's side.

        server = "server" , body ;
        """
        body = self.body(word)
        return Server(self.cursor.since(word), body)

    # --------------------------------------------------------------------------- names for numbers and text

    def _let(self, word: Token) -> Let:
        """Parse a constant.

        let = "let" , dotted , "=" , expression , ";" ;
        """
        name, name_span, value = self._named_value("let", "a constant's name")
        node = Let(self.cursor.since(word), name, value, name_span)
        self.cursor.semicolon(f"the value of `{name}`")
        return node

    def _gauge(self, word: Token) -> Gauge:
        """Parse a gauge.

        gauge = "gauge" , dotted , "=" , expression , ";" ;
        """
        name, name_span, value = self._named_value("gauge", "a gauge's name")
        node = Gauge(self.cursor.since(word), name, value, name_span)
        self.cursor.semicolon(f"the value of `{name}`")
        return node

    def _named_value(self, word: str, what: str) -> tuple[str, Span, Expression]:
        """Parse `NAME = e`."""
        name, name_span = self.cursor.dotted_name(f"{what} after `{word}`")
        self.cursor.expect("=", f"after `{word} {name}`")
        return name, name_span, self.expression(f"the value of `{name}`")

    def _use(self, word: Token) -> Use:
        """Parse the use of a library.

        use = "use" , string , ";" ;
        """
        path = self._path("use")
        node = Use(self.cursor.since(word), path)
        self.cursor.semicolon("the library's path")
        return node

    def _path(self, word: str) -> str:
        """Take a path between double quotes."""
        cursor = self.cursor
        token = cursor.token
        if token.kind is not TokenKind.STRING:
            raise cursor.failure(
                f"expected a path in double quotes after `{word}`",
                "expected a path",
                helps=(f'write `{word} "FILE"`',),
            )
        return cursor.advance().text[1:-1]

    def _def(self, word: Token) -> ExpressionDefinition | StatementDefinition:
        """Parse a definition, of an expression or of statements.

        def = "def" , name , parameters , ( "=" , expression , ";" | body ) ;
        """
        cursor = self.cursor
        name = cursor.expect_name("a name after `def`")
        if not cursor.at("("):
            raise cursor.failure(
                f"expected `(` and parameters after `def {name.text}`",
                "expected `(`",
                helps=(f"a name for a number is `let {name.text} = …;`",) if cursor.at("=") else (),
            )
        parameters = self._parameters()
        name_span = cursor.span_of(name)
        if cursor.at("{"):
            body = self.body(name)
            return StatementDefinition(cursor.since(word), name.text, parameters, body, name_span)
        cursor.expect("=", f"or `{{` after the parameters of `{name.text}`")
        value = self.expression(f"what `{name.text}` stands for")
        node = ExpressionDefinition(cursor.since(word), name.text, parameters, value, name_span)
        cursor.semicolon(f"the definition of `{name.text}`")
        return node

    # -------------------------------------------------------------------------------------------- workload

    def _workload(self, word: Token) -> Workload:
        """Parse a workload.

        workload = "workload" , "{" , { workload item } , "}" ;
        """
        cursor = self.cursor
        draft = _WorkloadDraft()
        self._options(
            word, "a workload", WORKLOAD_ITEMS, lambda item: self._workload_item(item, draft), repeatable=("hidden",)
        )
        return Workload(
            cursor.since(word),
            draft.arrive,
            draft.trace,
            draft.init,
            draft.turn,
            draft.session,
            tuple(draft.hidden),
        )

    def _workload_item(self, word: Token, draft: _WorkloadDraft) -> None:
        """Parse one item of a workload.

        workload item = "arrive" , arrivals , ";"
                      | "trace" , string , [ "ordered" ] , ";"
                      | "init" , body
                      | "turn" , body
                      | "session" , body
                      | "hidden" , dotted , { "," , dotted } , ";" ;
        """
        cursor = self.cursor
        match word.text:
            case "arrive":
                draft.arrive = self._arrive(word)
                cursor.semicolon("`arrive`")
            case "trace":
                path = self._path("trace")
                ordered = cursor.take("ordered")
                draft.trace = Trace(cursor.since(word), path, ordered)
                cursor.semicolon("`trace`")
            case "init":
                draft.init = self._attribute_body(word)
            case "turn":
                draft.turn = self._attribute_body(word)
            case "session":
                draft.session = self.body(word)
            case "hidden":
                draft.hidden.append(self._hidden())
                while cursor.take(","):
                    draft.hidden.append(self._hidden())
                cursor.semicolon("`hidden`")

    def _hidden(self) -> Name:
        """Parse one attribute the scheduler may not read."""
        name, span = self.cursor.dotted_name("an attribute's name after `hidden`")
        return Name(span, name)

    def _arrive(self, word: Token) -> Arrive:
        """Parse how sessions arrive; `arrive` is taken.

        arrivals = ( "poisson" | "renewal" | "closed" | "batch" ) , bracketed | "none" ;
        """
        cursor = self.cursor
        kind = self._choice(word, ARRIVALS, "`poisson (rate)`, `renewal (gap)`, `closed (n)`, `batch (n)` or `none`")
        argument = None
        if kind.text != "none":
            what = {"poisson": "a rate", "renewal": "a gap"}.get(kind.text, "a number of sessions")
            argument = self.parenthesised(what, f"`{kind.text}`")
        return Arrive(cursor.since(word), kind.text, argument)

    def _attribute_body(self, word: Token) -> tuple[Statement, ...]:
        """Parse an `init` or `turn` block, which may only set and observe (or use a definition that does)."""
        statements = self.body(word)
        for statement in statements:
            if not isinstance(statement, SetStatement | Observe | DefinitionCall):
                first = statement.span.text.split(maxsplit=1)[0].rstrip(";({[")
                self.cursor.report(
                    f"`{word.text}` only sets and observes: `{first}` belongs in the session",
                    "takes part in the deployment",
                    name="statement-not-allowed",
                    place=Span(statement.span.source, statement.span.start, statement.span.start + len(first)),
                    notes=(f"`{word.text}` draws a session's attributes; no time passes and nothing is held in it",),
                )
        return statements

    # ------------------------------------------------------------------------------- sharing and the run

    def _run_block(self, word: Token) -> RunBlock:
        """Parse the run.

        run block = "run" , "{" , { run option } , "}" ;
        run option = ( "horizon" | "warmup" | "seed" | "arrivals" ) , expression , ";" ;
        """
        values: dict[str, Expression] = {}

        def option(name: Token) -> None:
            values[name.text] = self.expression(f"a value after `{name.text}`")
            self.cursor.semicolon(f"`{name.text}`")

        self._options(word, "a run", RUN_OPTIONS, option)
        return RunBlock(
            self.cursor.since(word),
            values.get("horizon"),
            values.get("warmup"),
            values.get("seed"),
            values.get("arrivals"),
        )

    def _share(self, word: Token) -> Share:
        """Parse how a run over several stages divides them.

        share = "share" , policy , ";" ;
        policy = "maxmin" | "bottleneck" ;
        """
        policy = self._choice(word, SHARES, "`maxmin` or `bottleneck`").text
        node = Share(self.cursor.since(word), policy)
        self.cursor.semicolon("`share`")
        return node

    def _pull(self) -> Pull:
        """Parse who reads KV from whom. Without `share` it has no meaning, which the expansion explains.

        pull = reference , "pull" , reference , [ "latency" , expression ] , [ "share" , policy ] , ";" ;
        """
        cursor = self.cursor
        first = cursor.token
        reader = self.reference("the reading queue")
        cursor.expect("pull", f"after `{reader.span.text}`")
        source = self.reference("the queue it reads from, after `pull`")
        latency = self.expression("a wait after `latency`") if cursor.take("latency") else None
        policy = None
        if cursor.at("share"):
            policy = self._choice(cursor.advance(), SHARES, "`maxmin` or `bottleneck`").text
        node = Pull(cursor.since(first), reader, source, latency, policy)
        cursor.semicolon("`pull`")
        return node

    # ---------------------------------------------------------------------------------------- near misses

    def _no_item(self) -> SyntaxFailure:
        """Say that no declaration begins here."""
        helps = ("leave this `;` out: nothing stands before it that needs one",) if self.cursor.at(";") else ()
        return self.cursor.failure("expected a declaration", "expected a declaration", helps=helps)

    def _unknown_item(self) -> SyntaxFailure:
        """Say that a word begins no declaration, and what was perhaps meant."""
        cursor = self.cursor
        word = cursor.token
        near = nearest(word.text, ITEM_WORDS)
        helps: tuple[str, ...]
        if word.text in STATEMENT_WORDS:
            helps = (f"`{word.text}` is a statement: put it in `session {{ … }}`",)
        elif cursor.next_is("="):
            helps = (f"a constant is `let {word.text} = …;`",)
        elif word.text in _FOREIGN_ITEMS:
            helps = (_FOREIGN_ITEMS[word.text],)
        elif near is None:
            helps = (f"the declarations are {listed(ITEM_WORDS)}, and `QUEUE pull QUEUE`",)
        else:
            helps = ()
        return cursor.failure(
            f"no declaration begins with `{word.text}`",
            f"did you mean `{near}`?" if near else "not a declaration",
            name="unknown-item",
            helps=helps,
        )


# Words of other languages, and what says the same here.
_FOREIGN_ITEMS = {
    "const": "a constant is `let NAME = value;`",
    "var": "a constant is `let NAME = value;`; attributes are assigned with `set` in a session",
    "import": 'a library is read with `use "FILE";`',
    "include": 'a library is read with `use "FILE";`',
    "function": "a definition is `def NAME (a, b) = value;` or `def NAME (a, b) { … }`",
    "fn": "a definition is `def NAME (a, b) = value;` or `def NAME (a, b) { … }`",
    "route": "a `route` stands in a queue of the role `gateway`; a session's path is `session { … }`",
    "pull": "a pull relation names the reader first: `D pull P share maxmin;`",
}
