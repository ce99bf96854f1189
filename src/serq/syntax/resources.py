"""Pools and stages.

Input: a cursor behind the declaration's word. Output: the declaration's tree.
Invariant: a step engine always has a budget and a cost, or a finding.

Reference: language §2, `poolopt` and `kind`; `unfit`, `preempt by` and `then` are this project's (notes §14).
"""

from __future__ import annotations

from serq.records import dataclass
from serq.syntax.nodes import (
    Delay,
    Expression,
    Fifo,
    Number,
    Pool,
    ProcessorSharing,
    Reference,
    Spill,
    Stage,
    StageKind,
    Step,
)
from serq.syntax.options import OptionParser
from serq.syntax.tokens import POOL_OPTIONS, STAGE_KINDS, STEP_OPTIONS, Token


@dataclass(slots=True)
class _PoolDraft:
    """The options of a pool as they are read."""

    cap: Expression | None = None
    block: Expression | None = None
    evict: tuple[Expression, ...] | None = None
    preempt: str | tuple[Expression, ...] | None = None
    preempt_then: str | None = None
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


class ResourceParser(OptionParser):
    """The layer of pools and stages."""

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
            draft.preempt_then,
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
                    | "preempt" , ( "none" | ( "lifo" | "by" , keys ) , [ "then" , ( "stop" | "continue" ) ] ) , ";"
                    | "queue" , ( "fifo" | "by" , keys ) , ";"
                    | "admit" , "via" , reference , ";"
                    | spill , ";"
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
                draft.preempt_then = self._preempt_then(choice)
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

    def _preempt_then(self, choice: Token) -> str | None:
        """Parse what an iteration does when the grower was its own victim; `choice` is the word of the rule."""
        cursor = self.cursor
        if not cursor.at("then"):
            return None
        if choice.text == "none":
            raise cursor.failure(
                "expected `;` after `preempt none`",
                "`none` takes memory from nobody",
                helps=("write `preempt lifo then continue;`, or leave the `then` out",),
            )
        return self._choice(cursor.advance(), ("stop", "continue"), "`stop` or `continue`").text

    def _spill(self, word: Token) -> Spill:
        """Parse where evicted prefixes go; the word is taken.

        spill = "spill" , reference , "via" , reference , bracketed , "when" , bracketed ;
        """
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

        kind = "fifo" , [ bracketed ] | "ps" , bracketed | "delay" | step ;
        """
        cursor = self.cursor
        word = self._choice(owner, STAGE_KINDS, "`fifo`, `ps (capacity)`, `delay` or `step { … }`", "a stage")
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
        """Parse the options of a step engine, two of which it cannot do without.

        step = "step" , "{" , { step option } , "}" ;
        """
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
                    | "serve" , order , ";"
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
        """Parse how a step engine serves its residents; `serve` is taken.

        order = "admission" | "by" , keys | "decode" , "first" | "exclusive" , "prefill" ;
        """
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
