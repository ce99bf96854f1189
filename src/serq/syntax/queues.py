"""Queues: stations with pools, a stage and entries of their own.

Input: a cursor behind `queue`. Output: the queue's tree.
Invariant: pools stand above `serve` and `nic`, and these above the entries, or there is a finding (the tree does not
keep that order).

Reference: language §2, Queues. Roles and their entries are names here; the expansion knows them.
"""

from __future__ import annotations

from serq.diagnostics import Label
from serq.records import dataclass, field
from serq.syntax.nodes import Entry, Name, Parameter, Pool, Queue, Serve, StageKind
from serq.syntax.resources import ResourceParser
from serq.syntax.tokens import QUEUE_ITEMS, Token


@dataclass(slots=True)
class _QueueDraft:
    """The items of a queue as they are read; `last` is the word of the latest one that has an order."""

    pools: list[Pool] = field(default_factory=list)
    serve: Serve | None = None
    nic: StageKind | None = None
    entries: list[Entry] = field(default_factory=list)
    first_serve: Token | None = None
    first_entry: Token | None = None


class QueueParser(ResourceParser):
    """The layer of queues."""

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
