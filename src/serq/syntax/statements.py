"""Statements and the braces around them.

Input: a cursor before a statement. Output: its tree, the cursor behind it.
Invariants: a statement that fails is reported and skipped, so that the next one is still read; the parser takes
a little more than the language where a later stage can say better what is wrong (`transfer` without `from … to`, a
`run` without a stage, `mark` outside an entry).

Reference: language §2, `stmt` and `serving`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from serq.diagnostics import Label
from serq.syntax.cursor import NESTING_LIMIT, ListFailure, SyntaxFailure, nearest
from serq.syntax.expressions import ExpressionParser
from serq.syntax.nodes import (
    Binding,
    Branch,
    Choose,
    Claim,
    DefinitionCall,
    Drop,
    End,
    EntryCall,
    Expression,
    Grow,
    Hold,
    Lease,
    Load,
    Loop,
    Mark,
    Observe,
    Reference,
    Release,
    Request,
    Run,
    Serving,
    SetStatement,
    Statement,
    Transfer,
    Turn,
)
from serq.syntax.tokens import ITEM_WORDS, MODES, STATEMENT_WORDS, Token, TokenKind

_STATEMENT_STARTS = frozenset(STATEMENT_WORDS)
# A hold's clauses in the order the language has them (notes: the header is read top to bottom).
_HOLD_CLAUSES = ("reserve", "reuse", "at", "cache", "lease")


class StatementParser(ExpressionParser):
    """The statement layer; declarations build on it."""

    def body(self, owner: Token) -> tuple[Statement, ...]:
        """Parse statements in braces; `owner` is the word or name they belong to.

        body = "{" , { statement } , "}" ;
        """
        cursor = self.cursor
        opener = cursor.expect("{", f"and the statements of `{owner.text}`")
        cursor.enter(opener)
        statements: list[Statement] = []
        while not cursor.at("}"):
            self._hold_to_open(opener, owner)
            start, nesting = cursor.index, cursor.nesting
            try:
                statements.append(self.statement())
            except ListFailure:
                raise
            except SyntaxFailure:
                cursor.nesting = nesting
                self._recover(start, owner)
        cursor.advance()
        cursor.leave()
        return tuple(statements)

    def _hold_to_open(self, opener: Token, owner: Token, known: Collection[str] = ()) -> None:
        """Fail when the text ends, or goes on with a declaration, before these braces close.

        `known` are the words that begin an item of this list: they are that, wherever they stand on their line.
        """
        cursor = self.cursor
        where = (Label(cursor.span_of(opener), f"the braces of `{owner.text}` open here"),)
        if cursor.token.kind is TokenKind.END:
            cursor.failure("expected `}`", f"`{owner.text}` is still open", secondary=where)
            raise ListFailure
        if cursor.token.text not in known and self.declaration_starts():
            cursor.failure(
                "expected `}` before this declaration",
                "a declaration stands outside any braces",
                secondary=where,
            )
            raise ListFailure

    def declaration_starts(self) -> bool:
        """Tell whether a declaration begins here at the margin, as it does when a `}` above was forgotten."""
        cursor = self.cursor
        word = cursor.token
        if word.kind is not TokenKind.NAME or word.text not in ITEM_WORDS:
            return False
        if word.start > 0 and cursor.source.text[word.start - 1] != "\n":
            return False
        if word.text in ("workload", "session", "server", "run"):
            return cursor.next_is("{")
        if word.text == "use":
            return cursor.peek().kind is TokenKind.STRING
        return cursor.at_name(1)

    def _recover(self, start: int, owner: Token) -> None:
        """Go to the next statement, reading the braces of the failed one for further mistakes."""
        cursor = self.cursor
        if cursor.index == start and cursor.token.kind is not TokenKind.END and not cursor.at_one("{};"):
            cursor.advance()
        while True:
            cursor.skip_to_end_of(_STATEMENT_STARTS)
            if not cursor.at("{"):
                return
            if cursor.nesting >= NESTING_LIMIT:
                cursor.skip_group()
            else:
                self.body(owner)
            if not cursor.at_one(("cache", "lease", "else", ";", ",", ")")):
                return

    # -------------------------------------------------------------------------------------- one statement

    def statement(self) -> Statement:
        """Parse one statement. The first word decides, unless what follows shows that it is a name.

        statement = turn | end | request | set | observe | hold | grow | drop | release | load | run | branch
                  | loop | choose | mark | serving | transfer | entry call | definition call ;
        """
        cursor = self.cursor
        word = cursor.token
        if word.kind is not TokenKind.NAME:
            raise self._no_statement()
        if cursor.next_is(".") or (cursor.next_is("[") and cursor.next_is(".", cursor.past_brackets(1))):
            return self._entry_call()
        if cursor.next_is("="):
            return self._missing_set()
        parse = self._parsers().get(word.text)
        if parse is not None:
            cursor.advance()
            return parse(word)
        if cursor.next_is("("):
            return self._definition_call()
        if cursor.next_is("["):
            return self._entry_call()
        raise self._unknown_statement()

    def _parsers(self) -> dict[str, Callable[[Token], Statement]]:
        """Give the parser of each statement word; the word itself is taken by then."""
        return {
            "turn": self._turn,
            "end": self._end,
            "request": self._request,
            "set": self._set,
            "observe": self._observe,
            "hold": self._hold,
            "grow": self._grow,
            "drop": self._drop,
            "release": self._release,
            "load": self._load,
            "run": self._run,
            "branch": self._branch,
            "loop": self._loop,
            "choose": self._choose,
            "mark": self._mark,
            "prefill": self._serving,
            "decode": self._serving,
            "tool": self._serving,
            "transfer": self._transfer,
        }

    def _turn(self, word: Token) -> Turn:
        """Parse the next turn.

        turn = "turn" , ";" ;
        """
        self.cursor.semicolon("`turn`")
        return Turn(self.cursor.span_of(word))

    def _end(self, word: Token) -> End:
        """Parse the session's exit.

        end = "end" , ";" ;
        """
        self.cursor.semicolon("`end`")
        return End(self.cursor.span_of(word))

    def _request(self, word: Token) -> Request:
        """Parse a request of the server or of a gateway.

        request = "request" , [ name ] , ";" ;
        """
        cursor = self.cursor
        gateway = None
        # a statement's word on the next line is the next statement: the `;` is what is missing
        is_next = cursor.token.fresh_line and cursor.token.text in _STATEMENT_STARTS
        if cursor.at_name() and not is_next:
            gateway = cursor.advance().text
        node = Request(cursor.since(word), gateway)
        cursor.semicolon("`request`")
        return node

    def _set(self, word: Token) -> SetStatement:
        """Parse an assignment.

        set = "set" , dotted , "=" , expression , ";" ;
        """
        cursor = self.cursor
        name, name_span = cursor.dotted_name("an attribute's name after `set`")
        cursor.expect("=", f"after `set {name}`")
        value = self.expression(f"the value of `{name}`")
        node = SetStatement(cursor.since(word), name, value, name_span)
        cursor.semicolon(f"the value of `{name}`")
        return node

    def _observe(self, word: Token) -> Observe:
        """Parse a sample.

        observe = "observe" , dotted , "=" , expression , ";" ;
        """
        cursor = self.cursor
        name, name_span = cursor.dotted_name("a name after `observe`")
        cursor.expect("=", f"after `observe {name}`")
        value = self.expression(f"the value of `{name}`")
        node = Observe(cursor.since(word), name, value, name_span)
        cursor.semicolon(f"the value of `{name}`")
        return node

    def _hold(self, word: Token) -> Hold:
        """Parse an admission with its scope; the last `;` may be left out.

        hold = "hold" , claim , { "," , claim } , [ "reuse" , bracketed ] ,
               [ "at" , "admission" , "(" , binding , { "," , binding } , ")" ] ,
               body , [ "cache" , bracketed ] , [ lease ] , [ ";" ] ;
        """
        cursor = self.cursor
        claims = [self._claim("a pool's name after `hold`")]
        while cursor.take(","):
            claims.append(self._claim("a pool's name after `,`"))
        reuse = None
        if cursor.take("reuse"):
            reuse = self.parenthesised("the units to reuse", "`reuse`")
        bindings = self._bindings() if cursor.at("at") else ()
        self._hold_to_order()
        body = self.body(word)
        cache = None
        if cursor.take("cache"):
            cache = self.parenthesised("the units to keep cached", "`cache`")
        lease = self._lease() if cursor.at("lease") else None
        node = Hold(cursor.since(word), tuple(claims), reuse, bindings, body, cache, lease)
        self._hold_to_order()
        cursor.take(";")
        return node

    def _hold_to_order(self) -> None:
        """Fail when a clause of the hold stands where it cannot."""
        cursor = self.cursor
        clause = cursor.token
        is_clause = (
            (cursor.at_one(("reserve", "reuse", "cache")) and cursor.next_is("("))
            or (cursor.at("at") and cursor.next_is("admission"))
            or (cursor.at("lease") and cursor.at_name(1))
        )
        if not is_clause:
            return
        shown = "at admission" if clause.text == "at" else clause.text
        raise cursor.failure(
            f"the clauses of a hold have an order, each once, and `{shown}` is out of it",
            "out of order",
            name="hold-clause-order",
            helps=(
                "write `hold POOL (units) reserve (r), … reuse (u) at admission (x = e) { … } cache (c) "
                "lease POOL (t)`, leaving out what is not needed",
            ),
        )

    def _claim(self, what: str) -> Claim:
        """Parse one pool of a hold.

        claim = reference , bracketed , [ "reserve" , bracketed ] ;
        """
        cursor = self.cursor
        first = cursor.token
        pool = self.reference(what)
        units = self.parenthesised("the units to hold", f"`hold {pool.span.text}`")
        reserve = None
        if cursor.take("reserve"):
            reserve = self.parenthesised("the units to reserve", "`reserve`")
        return Claim(cursor.since(first), pool, units, reserve)

    def _bindings(self) -> tuple[Binding, ...]:
        """Parse the clause that names what a header is written in terms of.

        binding = name , "=" , expression ;
        """
        cursor = self.cursor
        cursor.advance()
        cursor.expect("admission", "after `at`")
        opener = cursor.expect("(", "after `at admission`")
        cursor.enter(opener)
        bindings: list[Binding] = []
        while True:
            name = cursor.expect_name("a name to bind")
            cursor.expect("=", f"after `{name.text}`")
            value = self.expression(f"the value of `{name.text}`")
            bindings.append(Binding(cursor.since(name), name.text, value))
            if not cursor.take(","):
                break
        self.close(opener, ")")
        cursor.leave()
        return tuple(bindings)

    def _lease(self) -> Lease:
        """Parse the clause that lets one pool's allocation outlive the scope.

        lease = "lease" , reference , bracketed ;
        """
        first = self.cursor.advance()
        pool = self.reference("a pool's name after `lease`")
        seconds = self.parenthesised("how long the lease lasts", f"`lease {pool.span.text}`")
        return Lease(self.cursor.since(first), pool, seconds)

    def _grow(self, word: Token) -> Grow:
        """Parse a growth of the enclosing hold.

        grow = "grow" , reference , bracketed , ";" ;
        """
        pool = self.reference("a pool's name after `grow`")
        amount = self.parenthesised("the units to grow by", f"`grow {pool.span.text}`")
        node = Grow(self.cursor.since(word), pool, amount)
        self.cursor.semicolon("`grow`")
        return node

    def _drop(self, word: Token) -> Drop:
        """Parse the discarding of the own cached prefix.

        drop = "drop" , reference , ";" ;
        """
        node = Drop(self.cursor.span_of(word), self.reference("a pool's name after `drop`"))
        self.cursor.semicolon("`drop`")
        return node

    def _release(self, word: Token) -> Release:
        """Parse the giving back of one pool.

        release = "release" , reference , ";" ;
        """
        node = Release(self.cursor.span_of(word), self.reference("a pool's name after `release`"))
        self.cursor.semicolon("`release`")
        return node

    def _load(self, word: Token) -> Load:
        """Parse the arrival of tokens computed elsewhere.

        load = "load" , reference , bracketed , ";" ;
        """
        pool = self.reference("a pool's name after `load`")
        tokens = self.parenthesised("the tokens that arrived", f"`load {pool.span.text}`")
        node = Load(self.cursor.since(word), pool, tokens)
        self.cursor.semicolon("`load`")
        return node

    def _run(self, word: Token) -> Run:
        """Parse a job; `run (w);` names the queue's own stage, and a stage may be named `prefill`.

        run = "run" , [ reference , { "," , reference } ] , [ mode ] , bracketed , [ growing ] , ";" ;
        mode = "prefill" | "decode" ;
        """
        cursor = self.cursor
        stages = () if cursor.at("(") else self._stages("a stage's name after `run`")
        mode = cursor.advance().text if stages and cursor.at_one(MODES) else None
        form = "run" if not stages else "run " + ", ".join(stage.span.text for stage in stages)
        work = self.parenthesised("the work to run", f"`{form}`" if mode is None else f"`{form} {mode}`")
        growing = self._growing()
        node = Run(cursor.since(word), stages, mode, work, growing)
        if len(stages) > 1 and (mode is not None or growing is not None):
            clause = f"`{mode}`" if mode is not None else "`growing`"
            cursor.report(
                f"a run over several stages takes no {clause}",
                "one job on all these stages at once",
                name="clause-on-several-stages",
                place=stages[0].span.to(stages[-1].span),
                notes=("modes and growing memory belong to a step engine, and a step engine is run alone",),
            )
        cursor.semicolon("`run`")
        return node

    def _stages(self, what: str) -> tuple[Reference, ...]:
        """Parse stages between commas."""
        stages = [self.reference(what)]
        while self.cursor.take(","):
            stages.append(self.reference("a stage's name after `,`"))
        return tuple(stages)

    def _growing(self) -> Reference | None:
        """Parse the pool a run grows on.

        growing = "growing" , reference ;
        """
        return self.reference("a pool's name after `growing`") if self.cursor.take("growing") else None

    def _branch(self, word: Token) -> Branch:
        """Parse a test or a draw.

        branch = "branch" , [ "with" ] , bracketed , body , [ "else" , body ] ;
        """
        cursor = self.cursor
        drawn = cursor.take("with")
        form = "`branch with`" if drawn else "`branch`"
        guard = self.parenthesised("a probability" if drawn else "a test", form)
        then = self.body(word)
        otherwise: tuple[Statement, ...] = ()
        if cursor.at("else"):
            other = cursor.advance()
            if cursor.at("branch"):
                raise cursor.failure(
                    "expected `{` after `else`",
                    "a `branch` of its own",
                    helps=("put it in braces: `else { branch (…) { … } }`",),
                )
            otherwise = self.body(other)
        return Branch(cursor.since(word), guard, drawn, then, otherwise)

    def _loop(self, word: Token) -> Loop:
        """Parse a loop, which only `end` or a rejection leaves.

        loop = "loop" , body ;
        """
        body = self.body(word)
        return Loop(self.cursor.since(word), body)

    def _choose(self, word: Token) -> Choose:
        """Parse the choice of an index by keys.

        choose = "choose" , dotted , "in" , expression , "by" , keys , ";" ;
        """
        cursor = self.cursor
        name, name_span = cursor.dotted_name("an attribute's name after `choose`")
        cursor.expect("in", f"after `choose {name}`")
        bound = self.expression("how many there are to choose from")
        cursor.expect("by", "and the keys of `choose`")
        keys = self.keys("`by`")
        node = Choose(cursor.since(word), name, bound, keys, name_span)
        cursor.semicolon("`choose`")
        return node

    def _mark(self, word: Token) -> Mark:
        """Parse a moment the caller of an entry reads.

        mark = "mark" , name , ";" ;
        """
        name = self.cursor.expect_name("a name after `mark`")
        self.cursor.semicolon(f"`mark {name.text}`")
        return Mark(self.cursor.span_between(word, name), name.text)

    # --------------------------------------------------------------------------------- the serving forms

    def _serving(self, word: Token) -> Serving:
        """Parse a serving form but `transfer`; its work needs no brackets.

        serving = ( "prefill" | "decode" | "tool" ) , [ index | "on" , reference ] , expression , [ growing ] , ";" ;
        """
        cursor = self.cursor
        index, stages = self._place(word)
        if len(stages) > 1:
            cursor.report(
                f"`{word.text}` runs on one stage",
                "only `transfer` holds several stages at once",
                name="clause-on-several-stages",
                place=stages[0].span.to(stages[-1].span),
            )
        work = self._work(word)
        growing = self._growing()
        node = Serving(cursor.since(word), word.text, index, stages, work, growing)
        cursor.semicolon(f"`{word.text}`")
        return node

    def _place(self, word: Token) -> tuple[Expression | None, tuple[Reference, ...]]:
        """Parse where a serving form runs: `[j]`, `on STAGE, …`, or nothing."""
        cursor = self.cursor
        if cursor.at("["):
            return self.index(), ()
        # `on` alone is a name: `decode on + 1;` reads an attribute.
        if cursor.at("on") and cursor.at_name(1):
            cursor.advance()
            return None, self._stages(f"a stage's name after `{word.text} on`")
        return None, ()

    def _work(self, word: Token) -> Expression:
        """Parse a serving form's work; a bracket it begins with is no deeper nesting, for the printer adds one."""
        bracketed = self.cursor.at("(")
        self.cursor.nesting -= bracketed
        work = self.expression(f"the work of `{word.text}`")
        self.cursor.nesting += bracketed
        return work

    def _transfer(self, word: Token) -> Transfer:
        """Parse a transfer of KV. Without `from` or `to` it has no meaning, which the expansion explains.

        transfer = "transfer" , [ index | "on" , reference , { "," , reference } ] , expression ,
                   [ from ] , [ to ] , ";" ;
        """
        cursor = self.cursor
        index, stages = self._place(word)
        work = self._work(word)
        source, target, tokens = self._from_to()
        node = Transfer(cursor.since(word), index, stages, work, source, target, tokens)
        cursor.semicolon("`transfer`")
        return node

    def _from_to(self) -> tuple[Reference | None, Reference | None, Expression | None]:
        """Parse where KV comes from and where it goes.

        from = "from" , reference ;
        to = "to" , reference , bracketed ;
        """
        source = target = tokens = None
        if self.cursor.take("from"):
            source = self.reference("a name after `from`")
        if self.cursor.take("to"):
            target = self.reference("a pool's name after `to`")
            tokens = self.parenthesised("the tokens that move", f"`to {target.span.text}`")
        return source, target, tokens

    # -------------------------------------------------------------------------------------- calls by name

    def _entry_call(self) -> EntryCall:
        """Parse the call of a queue's entry.

        entry call = dotted , [ index ] , "." , name , arguments , [ from ] , [ to ] , ";" ;
        """
        cursor = self.cursor
        first = cursor.expect_name("a queue's name")
        name, last = first.text, first
        while cursor.at(".") and cursor.at_name(1) and (cursor.next_is(".", 2) or cursor.next_is("[", 2)):
            cursor.advance()
            last = cursor.advance()
            name += "." + last.text
        index = self.index() if cursor.at("[") else None
        queue = Reference(cursor.since(first), name, index)
        cursor.expect(".", f"and an entry after `{queue.span.text}`")
        verb = cursor.expect_name(f"an entry's name after `{queue.span.text}.`")
        arguments = self.arguments(f"`{queue.span.text}.{verb.text}`")
        source, target, tokens = self._from_to()
        node = EntryCall(cursor.since(first), queue, verb.text, arguments, source, target, tokens)
        cursor.semicolon(f"the call of `{verb.text}`")
        return node

    def _definition_call(self) -> DefinitionCall:
        """Parse the use of a statement definition.

        definition call = name , arguments , ";" ;
        """
        cursor = self.cursor
        name = cursor.expect_name("a definition's name")
        arguments = self.arguments(f"`{name.text}`")
        if cursor.at("{"):
            raise self._unknown_statement(name)
        node = DefinitionCall(cursor.since(name), name.text, arguments)
        cursor.semicolon(f"the use of `{name.text}`")
        return node

    # ---------------------------------------------------------------------------------------- near misses

    def _missing_set(self) -> SetStatement:
        """Read `x = e;` as `set x = e;` and say that the word is missing."""
        cursor = self.cursor
        name = cursor.advance()
        cursor.report(
            f"`{name.text} = …` is no statement: an assignment begins with `set`",
            "assigned without `set`",
            name="missing-set",
            place=cursor.span_of(name),
            helps=(f"write `set {name.text} = …;`",),
        )
        cursor.advance()
        value = self.expression(f"the value of `{name.text}`")
        node = SetStatement(cursor.since(name), name.text, value, cursor.span_of(name))
        cursor.semicolon(f"the value of `{name.text}`")
        return node

    def _no_statement(self) -> SyntaxFailure:
        """Say that no statement begins here."""
        cursor = self.cursor
        helps: tuple[str, ...] = ()
        if cursor.at(";"):
            helps = ("leave this `;` out: nothing stands before it that needs one",)
        elif cursor.at("{"):
            helps = ("braces follow a word: `hold`, `branch`, `else` or `loop`",)
        return cursor.failure("expected a statement", "expected a statement", helps=helps)

    def _unknown_statement(self, word: Token | None = None) -> SyntaxFailure:
        """Say that a word begins no statement, and what was perhaps meant."""
        cursor = self.cursor
        word = cursor.token if word is None else word
        following = cursor.peek()
        if following.text in MODES and following.kind is TokenKind.NAME and cursor.next_is("(", 2):
            return cursor.failure(
                f"`{word.text} {following.text} (…)` is no statement: a job begins with `run`",
                "a stage and its mode, without `run`",
                name="mode-without-run",
                place=cursor.span_between(word, following),
                helps=(f"write `run {word.text} {following.text} (…);`",),
            )
        near = nearest(word.text, STATEMENT_WORDS)
        helps: tuple[str, ...] = ()
        if word.text in FOREIGN:
            helps = (FOREIGN[word.text],)
        elif word.text in ITEM_WORDS:
            helps = (f"`{word.text}` is a declaration, which stands outside any braces",)
        elif word.text in _HOLD_CLAUSES or word.text == "admission":
            helps = ("it is a clause of `hold`, not a statement",)
        elif near is None:
            helps = (
                "statements begin with words such as `set`, `hold`, `run` and `branch`",
                f"the use of a definition has brackets: `{word.text} (…);`",
            )
        return cursor.failure(
            f"no statement begins with `{word.text}`",
            f"did you mean `{near}`?" if near else "not a statement",
            name="unknown-statement",
            place=cursor.span_of(word),
            helps=helps,
        )


# Words of other languages, and what says the same here.
_DELAY = "a delay is a stage: `stage think : delay;` and `run think (seconds);`; on a stage `tool`, `tool (seconds);`"
FOREIGN = {
    "if": "a test is `branch (test) { … } else { … }`",
    "while": "repeat with `loop { … }` and leave it with `end`",
    "for": "repeat with `loop { … }` and leave it with `end`",
    "return": "`end` ends the session",
    "break": "`end` ends the session; nothing else leaves a `loop`",
    "let": "a constant is declared outside any braces; an attribute is assigned with `set`",
    "var": "an attribute is assigned with `set`",
    "else": "`else` stands right behind the braces of its `branch`",
    "admit": "an admission is `hold POOL (units) { … }`",
    "enter": "an admission is `hold POOL (units) { … }`",
    "acquire": "an admission is `hold POOL (units) { … }`",
    "delay": _DELAY,
    "pause": _DELAY,
    "sleep": _DELAY,
    "think": _DELAY,
    "wait": _DELAY,
    "free": "`release POOL` gives an allocation back",
    "evict": "`drop POOL` discards the own cached prefix; the pool's `evict` option orders the others",
}
