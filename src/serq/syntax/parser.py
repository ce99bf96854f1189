"""Declarations, and the way in: text to surface tree.

Input: a `SourceFile`. Output: its `Program`. Errors: `ProgramError` with every finding of the lexer and the parser.
Invariants: spans lie in the file; every expression and every nesting is shallow enough to recurse over
(`expressions.DEPTH_LIMIT`, `cursor.NESTING_LIMIT`); names mean nothing yet.

Reference: language §2; `grammar.txt` beside this file is the whole grammar, and each method quotes its part of it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from serq.diagnostics import DiagnosticLimit, Findings, Label, ProgramError, SourceFile, Span
from serq.syntax.cursor import Cursor, ListFailure, SyntaxFailure, listed, nearest
from serq.syntax.lexer import tokenize
from serq.syntax.nodes import (
    Arrive,
    DefinitionCall,
    Delay,
    Entry,
    Expression,
    ExpressionDefinition,
    Fifo,
    Gauge,
    Item,
    Let,
    Name,
    Number,
    Observe,
    Parameter,
    Pool,
    ProcessorSharing,
    Program,
    Pull,
    Queue,
    Reference,
    RunBlock,
    Serve,
    Server,
    Session,
    SetStatement,
    Share,
    Spill,
    Stage,
    StageKind,
    Statement,
    StatementDefinition,
    Step,
    Trace,
    Use,
    Workload,
)
from serq.syntax.statements import StatementParser
from serq.syntax.tokens import (
    ARRIVALS,
    ITEM_WORDS,
    POOL_OPTIONS,
    QUEUE_ITEMS,
    RUN_OPTIONS,
    SHARES,
    STAGE_KINDS,
    STATEMENT_WORDS,
    STEP_OPTIONS,
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
class _PoolDraft:
    """The options of a pool as they are read."""

    cap: Expression | None = None
    block: Expression | None = None
    evict: tuple[Expression, ...] | None = None
    preempt: str | tuple[Expression, ...] | None = None
    waiting: tuple[Expression, ...] | None = None
    admit_via: Reference | None = None
    spill: Spill | None = None
    unfit: str | None = None


@dataclass(slots=True)
class _StepDraft:
    """The options of a step engine as they are read."""

    budget: Expression | None = None
    cost: Expression | None = None
    chunk: Expression | None = None
    serve: str | tuple[Expression, ...] | None = None
    memory: Reference | None = None


@dataclass(slots=True)
class _WorkloadDraft:
    """The items of a workload as they are read."""

    arrive: Arrive | None = None
    trace: Trace | None = None
    init: tuple[Statement, ...] = ()
    turn: tuple[Statement, ...] = ()
    session: tuple[Statement, ...] | None = None
    hidden: list[Name] = field(default_factory=list)


@dataclass(slots=True)
class _QueueDraft:
    """The items of a queue as they are read; `last` is the word of the latest one that has an order."""

    pools: list[Pool] = field(default_factory=list)
    serve: Serve | None = None
    nic: StageKind | None = None
    entries: list[Entry] = field(default_factory=list)
    first_serve: Token | None = None
    first_entry: Token | None = None


class _DeclarationParser(StatementParser):
    """The declaration layer, on top of statements and expressions."""

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
        beside = cursor.past_brackets(1)
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
                cursor.advance()
                body = self.body(word)
                return Session(cursor.since(word), body)
            case "server":
                cursor.advance()
                body = self.body(word)
                return Server(cursor.since(word), body)
            case "queue":
                return self._queue(cursor.advance())
            case "run":
                return self._run_block(cursor.advance())
            case "share":
                return self._share(cursor.advance())
            case "gauge":
                return self._gauge(cursor.advance())
        raise self._unknown_item()

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

    def _parameters(self) -> tuple[Parameter, ...]:
        """Parse the parameters of a definition or an entry.

        parameters = "(" , [ name , { "," , name } ] , ")" ;
        """
        cursor = self.cursor
        opener = cursor.expect("(", "before parameters")
        names: list[Parameter] = []
        if not cursor.at(")"):
            while True:
                name = cursor.expect_name("a parameter's name")
                names.append(Parameter(cursor.span_of(name), name.text))
                if not cursor.take(","):
                    break
        self.close(opener, ")")
        return tuple(names)

    # --------------------------------------------------------------------------------------- option blocks

    def _options(
        self,
        owner: Token,
        noun: str,
        known: tuple[str, ...],
        parse: Callable[[Token], None],
        repeatable: tuple[str, ...] = (),
        other: Callable[[Token], bool] | None = None,
    ) -> None:
        """Parse options in braces: each begins with a known word and is given once.

        Parameters
        ----------
        owner : the word or name the braces belong to
        noun : what the options are options of, for messages ("a pool")
        parse : reads one option, whose word is taken by then
        other : reads what begins with another word, if it can, and tells whether it did
        """
        cursor = self.cursor
        opener = cursor.expect("{", f"and the options of `{owner.text}`")
        cursor.enter(opener)
        seen: dict[str, Token] = {}
        while not cursor.at("}"):
            self._hold_to_open(opener, owner)
            start, nesting = cursor.index, cursor.nesting
            try:
                word = cursor.token
                if word.kind is not TokenKind.NAME:
                    raise self._no_option(noun, known)
                if other is not None and other(word):
                    continue
                if word.text not in known:
                    raise self._unknown_option(word, noun, known)
                if word.text in seen and word.text not in repeatable:
                    self._duplicate_option(word, seen[word.text], owner, noun)
                seen.setdefault(word.text, word)
                parse(cursor.advance())
            except ListFailure:
                raise
            except SyntaxFailure:
                cursor.nesting = nesting
                self._recover_option(start, known)
        cursor.advance()
        cursor.leave()

    def _recover_option(self, start: int, known: tuple[str, ...]) -> None:
        """Go to the next option."""
        cursor = self.cursor
        if cursor.index == start and not cursor.at_one("{};"):
            cursor.advance()
        cursor.skip_to_end_of(frozenset(known))
        if cursor.at("{"):
            cursor.skip_group()
            cursor.take(";")

    def _no_option(self, noun: str, known: tuple[str, ...]) -> SyntaxFailure:
        """Say that no option begins here."""
        helps = ("leave this `;` out: nothing stands before it that needs one",) if self.cursor.at(";") else ()
        return self.cursor.failure(
            f"expected an option of {noun}",
            "expected an option",
            notes=(f"the options are {listed(known)}",),
            helps=helps,
        )

    def _unknown_option(self, word: Token, noun: str, known: tuple[str, ...]) -> SyntaxFailure:
        """Say that a word is no option, and what was perhaps meant."""
        meant = _OPTION_SYNONYMS.get(word.text)
        near = meant if meant in known else nearest(word.text, known)
        return self.cursor.failure(
            f"{noun} has no option `{word.text}`",
            f"did you mean `{near}`?" if near else "not an option",
            name="unknown-option",
            place=self.cursor.span_of(word),
            notes=(f"the options are {listed(known)}",),
        )

    def _duplicate_option(self, word: Token, first: Token, owner: Token, noun: str) -> None:
        """Report a second value for one option."""
        self.cursor.report(
            f"`{word.text}` is given twice in `{owner.text}`",
            "the second",
            name="duplicate-option",
            place=self.cursor.span_of(word),
            secondary=(Label(self.cursor.span_of(first), "the first"),),
            notes=(f"each option of {noun} has one value",),
            helps=("keep one of them",),
        )

    def _choice(self, word: Token, known: tuple[str, ...], forms: str) -> Token:
        """Take one of a few words after an option's word, or fail and list them; `forms` shows how they are written."""
        cursor = self.cursor
        if cursor.at_one(known):
            return cursor.advance()
        if cursor.token.kind is not TokenKind.NAME:
            raise cursor.failure(f"expected {forms} after `{word.text}`", f"`{word.text}` of what kind?")
        near = nearest(cursor.token.text, known)
        raise cursor.failure(
            f"`{word.text}` takes {forms}, not `{cursor.token.text}`",
            f"did you mean `{near}`?" if near else "not one of them",
            name="unknown-choice",
        )

    # ------------------------------------------------------------------------------------ pools and stages

    def _size(self) -> Expression | None:
        """Parse how many members a family has."""
        return self.index() if self.cursor.at("[") else None

    def _pool(self, word: Token) -> Pool:
        """Parse a pool.

        pool = "pool" , dotted , [ index ] , "{" , { pool option } , "}" ;
        """
        cursor = self.cursor
        owner = cursor.token
        name, name_span = cursor.dotted_name("a pool's name after `pool`")
        size = self._size()
        draft = _PoolDraft()
        self._options(owner, "a pool", POOL_OPTIONS, lambda option: self._pool_option(option, draft))
        return Pool(
            cursor.since(word),
            name,
            size,
            draft.cap,
            draft.block,
            draft.evict,
            draft.preempt,
            draft.waiting,
            draft.admit_via,
            draft.spill,
            draft.unfit,
            name_span,
        )

    def _pool_option(self, word: Token, draft: _PoolDraft) -> None:
        """Parse one option of a pool.

        pool option = "cap" , expression , ";"
                    | "block" , expression , ";"
                    | "evict" , ( "lru" | "by" , keys ) , ";"
                    | "preempt" , ( "none" | "lifo" | "by" , keys ) , ";"
                    | "queue" , ( "fifo" | "by" , keys ) , ";"
                    | "admit" , "via" , reference , ";"
                    | "spill" , reference , "via" , reference , bracketed , "when" , bracketed , ";"
                    | "unfit" , ( "wait" | "reject" ) , ";" ;
        """
        cursor = self.cursor
        match word.text:
            case "cap":
                draft.cap = self.expression("a capacity after `cap`")
            case "block":
                draft.block = self.expression("a block's size after `block`")
            case "evict":
                choice = self._choice(word, ("lru", "by"), "`lru` or `by (keys)`")
                draft.evict = self.keys("`evict by`") if choice.text == "by" else ()
            case "preempt":
                choice = self._choice(word, ("none", "lifo", "by"), "`none`, `lifo` or `by (keys)`")
                draft.preempt = self.keys("`preempt by`") if choice.text == "by" else choice.text
            case "queue":
                choice = self._choice(word, ("fifo", "by"), "`fifo` or `by (keys)`")
                draft.waiting = self.keys("`queue by`") if choice.text == "by" else ()
            case "admit":
                cursor.expect("via", "after `admit`")
                draft.admit_via = self.reference("a stage's name after `admit via`")
            case "spill":
                draft.spill = self._spill(word)
            case "unfit":
                draft.unfit = self._choice(word, ("wait", "reject"), "`wait` or `reject`").text
        cursor.semicolon(f"`{word.text}`")

    def _spill(self, word: Token) -> Spill:
        """Parse where evicted prefixes go; the word is taken."""
        pool = self.reference("a pool's name after `spill`")
        self.cursor.expect("via", f"and a stage after `spill {pool.span.text}`")
        stage = self.reference("a stage's name after `via`")
        work = self.parenthesised("the work of the write", f"`via {stage.span.text}`")
        self.cursor.expect("when", "and a test after the write's work")
        predicate = self.parenthesised("a test", "`when`")
        return Spill(self.cursor.since(word), pool, stage, work, predicate)

    def _stage(self, word: Token) -> Stage:
        """Parse a stage; the `;` may be left out behind the braces of a step engine.

        stage = "stage" , dotted , [ index ] , ":" , kind , ";" ;
        """
        cursor = self.cursor
        owner = cursor.token
        name, name_span = cursor.dotted_name("a stage's name after `stage`")
        size = self._size()
        cursor.expect(":", f"and a kind after `stage {name}`")
        kind = self._kind(owner)
        node = Stage(cursor.since(word), name, size, kind, name_span)
        self._end_of_kind(kind, f"stage `{name}`")
        return node

    def _end_of_kind(self, kind: StageKind, after: str) -> None:
        """Take the `;` behind a stage's kind."""
        if isinstance(kind, Step):
            self.cursor.take(";")
        else:
            self.cursor.semicolon(after)

    def _kind(self, owner: Token) -> StageKind:
        """Parse a stage's kind.

        kind = "fifo" , [ bracketed ] | "ps" , bracketed | "delay" | "step" , "{" , { step option } , "}" ;
        """
        cursor = self.cursor
        word = self._choice(owner, STAGE_KINDS, "`fifo`, `ps (capacity)`, `delay` or `step { … }`")
        match word.text:
            case "fifo":
                servers = self.parenthesised("a number of servers", "`fifo`") if cursor.at("(") else None
                return Fifo(cursor.since(word), servers)
            case "ps":
                capacity = self.parenthesised("a capacity", "`ps`")
                return ProcessorSharing(cursor.since(word), capacity)
            case "delay":
                return Delay(cursor.span_of(word))
            case _:
                return self._step(word)

    def _step(self, word: Token) -> Step:
        """Parse the options of a step engine, two of which it cannot do without."""
        cursor = self.cursor
        draft = _StepDraft()
        before = len(cursor.findings.items)
        self._options(word, "a step engine", STEP_OPTIONS, lambda option: self._step_option(option, draft))
        span = cursor.since(word)
        missing = [f"`{name}`" for name, value in (("budget", draft.budget), ("cost", draft.cost)) if value is None]
        if missing and len(cursor.findings.items) == before:  # a failed option is not a missing one
            cursor.report(
                f"a step engine needs {' and '.join(missing)}",
                f"has no {' and no '.join(missing)}",
                name="missing-option",
                place=cursor.span_of(word),
                notes=(
                    "`budget` is the tokens of an iteration, `cost` the time it takes; without them nothing can run",
                ),
                helps=("write `step { budget 512; cost 0.01 + 0.00005 * prefilled; }`",),
            )
        nothing = Number(span, 0.0)
        return Step(span, draft.budget or nothing, draft.cost or nothing, draft.chunk, draft.serve, draft.memory)

    def _step_option(self, word: Token, draft: _StepDraft) -> None:
        """Parse one option of a step engine.

        step option = "budget" , expression , ";"
                    | "cost" , expression , ";"
                    | "chunk" , expression , ";"
                    | "serve" , ( "admission" | "by" , keys | "decode" , "first" | "exclusive" , "prefill" ) , ";"
                    | "memory" , reference , ";" ;
        """
        cursor = self.cursor
        match word.text:
            case "budget":
                draft.budget = self.expression("a number of tokens after `budget`")
            case "cost":
                draft.cost = self.expression("a time after `cost`")
            case "chunk":
                draft.chunk = self.expression("a number of tokens after `chunk`")
            case "serve":
                draft.serve = self._serving_order(word)
            case "memory":
                draft.memory = self.reference("a pool's name after `memory`")
        cursor.semicolon(f"`{word.text}`")

    def _serving_order(self, word: Token) -> str | tuple[Expression, ...]:
        """Parse how a step engine serves its residents; `serve` is taken."""
        choice = self._choice(
            word,
            ("admission", "by", "decode", "exclusive"),
            "`admission`, `by (keys)`, `decode first` or `exclusive prefill`",
        )
        match choice.text:
            case "by":
                return self.keys("`serve by`")
            case "decode":
                self.cursor.expect("first", "after `serve decode`")
                return "decode first"
            case "exclusive":
                self.cursor.expect("prefill", "after `serve exclusive`")
                return "exclusive prefill"
            case _:
                return "admission"

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

        workload item = "arrive" , ( ( "poisson" | "renewal" | "closed" | "batch" ) , bracketed | "none" ) , ";"
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
        """Parse how sessions arrive; `arrive` is taken."""
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

    # ---------------------------------------------------------------------------------------------- queues

    def _queue(self, word: Token) -> Queue:
        """Parse a station.

        queue = "queue" , dotted , [ index ] , [ ":" , name , { "," , name } ] , "{" , { queue item } , "}" ;
        """
        cursor = self.cursor
        owner = cursor.token
        name, name_span = cursor.dotted_name("a queue's name after `queue`")
        size = self._size()
        roles: list[Name] = []
        if cursor.take(":"):
            while True:
                role = cursor.expect_name("a role")
                roles.append(Name(cursor.span_of(role), role.text))
                if not cursor.take(","):
                    break
        draft = _QueueDraft()
        self._options(
            owner,
            "a queue",
            QUEUE_ITEMS,
            lambda item: self._queue_item(item, draft, name),
            repeatable=("pool",),
            other=lambda item: self._entry(item, draft),
        )
        return Queue(
            cursor.since(word),
            name,
            size,
            tuple(roles),
            tuple(draft.pools),
            draft.serve,
            draft.nic,
            tuple(draft.entries),
            name_span,
        )

    def _queue_item(self, word: Token, draft: _QueueDraft, queue: str) -> None:
        """Parse one item of a queue but an entry, and hold it to its place above what reads it.

        queue item = pool
                   | "serve" , kind , [ "latency" , expression ] , ";"
                   | "nic" , kind , ";"
                   | entry ;
        """
        cursor = self.cursor
        match word.text:
            case "pool":
                self._hold_to_queue_order(word, queue, draft.first_serve or draft.first_entry)
                pool = self._pool(word)
                if pool.size is not None:
                    cursor.report(
                        f"pool `{pool.name}` of queue `{queue}` has a size of its own",
                        "a queue's pool is one per member",
                        name="family-in-queue",
                        place=pool.size.span,
                        helps=(f"write `pool {pool.name} {{ … }}`; its members are the members of `{queue}`",),
                    )
                draft.pools.append(pool)
            case "serve":
                self._hold_to_queue_order(word, queue, draft.first_entry)
                kind = self._kind(word)
                latency = self.expression("a wait after `latency`") if cursor.take("latency") else None
                draft.serve = Serve(cursor.since(word), kind, latency)
                draft.first_serve = draft.first_serve or word
                if latency is None:
                    self._end_of_kind(kind, "`serve`")
                else:
                    cursor.semicolon("`latency`")
            case "nic":
                self._hold_to_queue_order(word, queue, draft.first_entry)
                draft.nic = self._kind(word)
                self._end_of_kind(draft.nic, "`nic`")

    def _hold_to_queue_order(self, word: Token, queue: str, below: Token | None) -> None:
        """Report an item of a queue that stands below what reads it."""
        if below is None:
            return
        self.cursor.report(
            f"queue `{queue}` declares its pools, then `serve` and `nic`, then its entries",
            f"`{word.text}` stands too low",
            name="queue-order",
            place=self.cursor.span_of(word),
            secondary=(Label(self.cursor.span_of(below), "reads only what is above it"),),
        )

    def _entry(self, word: Token, draft: _QueueDraft) -> bool:
        """Parse an entry if one begins here: a verb that is no item's word, with parameters, a source and a body.

        entry = name , [ parameters ] , [ "from" , name ] , body ;
        """
        cursor = self.cursor
        if word.text in QUEUE_ITEMS or not (
            cursor.next_is("(") or cursor.next_is("{") or (cursor.next_is("from") and cursor.at_name(2))
        ):
            return False
        cursor.advance()
        draft.first_entry = draft.first_entry or word
        parameters = self._parameters() if cursor.at("(") else ()
        source = None
        if cursor.take("from"):
            name = cursor.expect_name("a name after `from`")
            source = Parameter(cursor.span_of(name), name.text)
        body = self.body(word)
        draft.entries.append(Entry(cursor.since(word), word.text, parameters, source, body))
        return True

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


# Options by the names other tools give them.
_OPTION_SYNONYMS = {
    "capacity": "cap",
    "size": "cap",
    "limit": "cap",
    "block_size": "block",
    "eviction": "evict",
    "preemption": "preempt",
    "order": "queue",
    "tokens": "budget",
    "time": "cost",
    "duration": "cost",
    "arrival": "arrive",
    "arrivals": "arrive",
    "until": "horizon",
    "stage": "serve",
}

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
