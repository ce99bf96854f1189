"""Join the two sides: the session inside `workload` and the `server` block become one `session`.

Before:  workload { … session { turn; request; end; } }   server { run svc (n); }
After:   workload { … }   session { turn; run svc (n); end; }

`request;` runs the server once; its statements stand in its place, at any depth and as often as it is written.
`request GATEWAY;` stays for the queue pass.

Each side owns its words: `turn`, `end` and `request` are the session's.

Reference: language §2, The two sides.   Relies on: definitions expanded; serving forms resolved where they are written.
Establishes: no Server and no workload session is left, and no bare `request`.
Reports: duplicate-item, two-sessions, server-without-session, session-without-server, request-without-server,
server-never-requested, session-word-in-server, request-outside-session.
"""

from __future__ import annotations

from collections.abc import Iterable

from serq.diagnostics import Label, Origin, Span
from serq.expand.items import Body, entry_form
from serq.expand.limits import hold_to_size, size_of
from serq.expand.report import Report, listed
from serq.expand.tree import each_statement, map_body, through
from serq.records import replace
from serq.syntax.nodes import (
    End,
    Item,
    Pool,
    Program,
    Queue,
    Request,
    RunBlock,
    Server,
    Session,
    Stage,
    Statement,
    Turn,
    Workload,
)


def join_sides(program: Program, report: Report) -> Program:
    """Splice the server into the session and lift the session to the top level."""
    _check_single(program, report)
    workload = next((item for item in program.items if isinstance(item, Workload)), None)
    server = next((item for item in program.items if isinstance(item, Server)), None)
    kernel_session = next((item for item in program.items if isinstance(item, Session)), None)
    inner = None if workload is None else workload.session
    _check_words(program, server, inner, report)
    if inner is None:
        if server is not None:
            _report_lone_server(server, kernel_session, report)
        return Program(program.span, tuple(item for item in program.items if not isinstance(item, Server)))
    assert workload is not None
    if kernel_session is not None:
        report.add(
            "two-sessions",
            "a program has one session: inside `workload`, or at top level",
            _word(kernel_session.span, "session"),
            "the session at top level",
            secondary=(Label(_word(workload.span, "workload"), "this one holds a session too"),),
            helps=("with a `server` or a gateway, keep the one inside `workload`",),
        )
    _check_requests(workload, inner, server, report)
    if server is not None:
        requests = sum(isinstance(one, Request) for one in each_statement(inner))
        hold_to_size(report, "the `server`", _word(server.span, "server"), requests * size_of(*server.body))
    session = Session(workload.span, _spliced(inner, server))
    return Program(program.span, tuple(_placed(program, session)))


def _word(span: Span, word: str) -> Span:
    """Give the span of an item's first word, enough to point at it."""
    return replace(span, end=min(span.end, span.start + len(word)))


def _check_single(program: Program, report: Report) -> None:
    """Hold the program to one of each item there can be one of."""
    first: dict[type[Item], Item] = {}
    for item in program.items:
        kind = type(item)
        for word, single in (("workload", Workload), ("session", Session), ("server", Server), ("run", RunBlock)):
            if kind is single and kind in first:
                report.add(
                    "duplicate-item",
                    f"a program has one `{word}`",
                    _word(item.span, word),
                    "a second one",
                    secondary=(Label(_word(first[kind].span, word), "the first"),),
                )
        first.setdefault(kind, item)


def _check_words(program: Program, server: Server | None, inner: Body | None, report: Report) -> None:
    """Hold each side to its own words."""
    for item in program.items:
        match item:
            case Server():
                _check_server_words(item.body, "the `server`", report)
            case Queue():
                for entry in item.entries:
                    _check_server_words(entry.body, entry_form(item, entry), report)
            case Session():
                if server is None or inner is not None:  # else one mistake: the session belongs into the workload
                    _check_no_request(item.body, report)
            case Workload():
                _check_no_request(item.init, report)
                _check_no_request(item.turn, report)
            case _:
                pass


def _check_server_words(body: Body, where: str, report: Report) -> None:
    """Refuse the session's words on the deployment's side."""
    for statement in each_statement(body):
        match statement:
            case Turn():
                word, reason = "turn", "whether and when a next turn comes is the session's to say"
            case End():
                word, reason = "end", "it is done with a request where its statements end"
            case Request():
                word, reason = "request", "a request is what it serves, not what it sends"
            case _:
                continue
        report.add(
            "session-word-in-server",
            f"`{word}` stands in {where}, and is the session's word",
            statement.span,
            "not the deployment's to say",
            notes=(reason,),
            helps=("write it in the `session` inside `workload`",),
        )


def _check_no_request(body: Body, report: Report) -> None:
    """Refuse `request` where there is nothing to request."""
    for statement in each_statement(body):
        if isinstance(statement, Request):
            report.add(
                "request-outside-session",
                "`request` is a statement of the `session` inside `workload`",
                statement.span,
                "not inside `workload { session { … } }`",
                helps=("a session at top level writes what the deployment does in its place",),
            )


def _report_lone_server(server: Server, session: Session | None, report: Report) -> None:
    """Say that nothing can request the server."""
    secondary = () if session is None else (Label(_word(session.span, "session"), "this one cannot request it"),)
    report.add(
        "server-without-session",
        "a `server` needs a `session` inside `workload` that requests it",
        _word(server.span, "server"),
        "nothing requests it",
        secondary=secondary,
        helps=("write the session inside `workload`, with `request;` where the server runs",)
        if session is None
        else ("move the session into `workload`, and write `request;` where the server runs",),
    )


def _check_requests(workload: Workload, inner: Body, server: Server | None, report: Report) -> None:
    """Hold the session to requesting what there is."""
    requests = [statement for statement in each_statement(inner) if isinstance(statement, Request)]
    bare = [request for request in requests if request.gateway is None]
    if server is None:
        for request in bare:
            report.add(
                "request-without-server",
                "`request` runs the `server`, and the program has none",
                request.span,
                "no server to run",
                helps=("write `server { … }`, or name a gateway: `request QUEUE;`",),
            )
        if not requests:
            report.add(
                "session-without-server",
                "a `session` inside `workload` is one side of two, and nothing here is the other",
                _word(workload.span, "workload"),
                "its session requests nothing",
                helps=("write the session at top level, or request a `server` or a gateway in it",),
            )
    elif not bare:
        report.add(
            "server-never-requested",
            "the `server` is never requested",
            _word(server.span, "server"),
            "never runs",
            secondary=(Label(_word(workload.span, "workload"), "the session in here has no `request;`"),),
            notes=() if not requests else (f"`request {requests[0].gateway};` enters a gateway, not the server",),
            helps=(f"write {listed(['request;'])} in the session where the server runs",),
        )


def _spliced(inner: Body, server: Server | None) -> Body:
    """Put the server's statements where the session requests it."""

    def statement(one: Statement) -> Iterable[Statement]:
        if not isinstance(one, Request) or one.gateway is not None:
            return (one,)
        if server is None:
            return ()
        origin = Origin("in the `server`, for the `request`", one.span)
        return tuple(through(part, origin) for part in server.body)

    return map_body(inner, statement)


def _placed(program: Program, session: Session) -> Iterable[Item]:
    """Put the session behind the last declaration its statements may name."""
    items: list[Item] = []
    for item in program.items:
        if isinstance(item, Workload):
            items.append(replace(item, session=None))
        elif not isinstance(item, Server | Session):
            items.append(item)
    last = max((n for n, item in enumerate(items) if isinstance(item, Workload | Pool | Stage | Queue)), default=-1)
    return [*items[: last + 1], session, *items[last + 1 :]]
