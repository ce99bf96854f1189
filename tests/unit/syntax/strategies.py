"""Random surface trees, built from the nodes themselves: every tree the parser can make, up to size.

Names are drawn with the language's own words among them, for no word is reserved. Spans are empty: they take no part
in equality.
"""

from hypothesis import strategies as st

from serq.diagnostics import SourceFile, Span
from serq.syntax import nodes as n
from serq.syntax.tokens import ARRIVALS, MODES, SERVING_VERBS, SHARES, STATEMENT_WORDS, WORDS
from serq.syntax.vocabulary import DISTRIBUTIONS

HERE = Span(SourceFile("<tree>", ""), 0, 0)

words = st.sampled_from([*sorted(WORDS), "x", "kv", "P", "prompt", "hit_1", "_", "é", "o2"])
dotted = st.one_of(words, words, st.lists(words, min_size=2, max_size=3).map(".".join))
numbers = st.one_of(
    st.integers(0, 10**6).map(float),
    st.floats(min_value=0, allow_nan=False, allow_infinity=False).map(abs),
)


def node(kind, *parts):
    """Build nodes of one class, their parts drawn, all but the span given in order."""
    return st.builds(lambda *values: kind(HERE, *values), *parts)


def tuples_of(parts, low=0, high=3):
    return st.lists(parts, min_size=low, max_size=high).map(tuple)


def optional(parts):
    return st.one_of(st.none(), parts)


def draws(parts):
    return st.one_of(
        *(node(n.Draw, st.just(name), tuples_of(parts, count, count)) for name, count in sorted(DISTRIBUTIONS.items()))
    )


def larger(parts):
    """Give expressions one operation larger than some."""
    operators = ["+", "-", "*", "/", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||"]
    return st.one_of(
        node(n.Indexed, dotted, parts),
        node(n.Call, words, tuples_of(parts)),
        draws(parts),
        node(n.Unary, st.sampled_from(["-", "!"]), parts),
        node(n.Binary, st.sampled_from(operators), parts, parts),
        node(n.Binary, st.sampled_from(operators), parts, parts),
        node(n.Conditional, parts, parts, parts),
        node(n.Aggregate, st.sampled_from(["max", "min", "sum"]), words, parts, parts),
    )


expressions = st.recursive(st.one_of(node(n.Number, numbers), node(n.Name, dotted)), larger, max_leaves=12)
small = st.recursive(st.one_of(node(n.Number, numbers), node(n.Name, dotted)), larger, max_leaves=3)
keys = tuples_of(small, 1, 2)
references = node(n.Reference, dotted, optional(small))
here = st.just(HERE)
from_to = st.one_of(
    st.tuples(st.none(), st.none(), st.none()),
    st.tuples(references, st.none(), st.none()),
    st.tuples(optional(references), references, small),
)


@st.composite
def runs(draw):
    stages = draw(tuples_of(references, 0, 2))
    alone = len(stages) == 1
    mode = draw(st.sampled_from([None, *MODES])) if alone else None
    growing = draw(optional(references)) if len(stages) < 2 else None
    return n.Run(HERE, stages, mode, draw(small), growing)


@st.composite
def places(draw, most):
    """Give where a serving form runs: nowhere said, an index, or stages."""
    if draw(st.booleans()):
        return draw(optional(small)), ()
    return None, draw(tuples_of(references, 1, most))


@st.composite
def servings(draw):
    index, stages = draw(places(1))
    verb = draw(st.sampled_from(SERVING_VERBS))
    return n.Serving(HERE, verb, index, stages, draw(small), draw(optional(references)))


@st.composite
def transfers(draw):
    index, stages = draw(places(2))
    return n.Transfer(HERE, index, stages, draw(small), *draw(from_to))


@st.composite
def entry_calls(draw):
    queue = draw(references)
    return n.EntryCall(HERE, queue, draw(words), draw(tuples_of(small)), *draw(from_to))


simple_statements = st.one_of(
    node(n.Turn),
    node(n.End),
    node(n.Request, optional(words)),
    node(n.SetStatement, dotted, expressions, here),
    node(n.Observe, dotted, expressions, here),
    node(n.Grow, references, small),
    node(n.Drop, references),
    node(n.Release, references),
    node(n.Load, references, small),
    runs(),
    servings(),
    transfers(),
    node(n.Choose, dotted, small, keys, here),
    entry_calls(),
    node(n.Mark, words),
    node(n.DefinitionCall, words.filter(lambda word: word not in STATEMENT_WORDS), tuples_of(small)),
)
claims = node(n.Claim, references, small, optional(small))
leases = node(n.Lease, references, small)
bindings = node(n.Binding, words, small)


def nested(parts):
    """Give statements with braces around some."""
    bodies = tuples_of(parts)
    return st.one_of(
        node(n.Hold, tuples_of(claims, 1, 2), optional(small), tuples_of(bindings, 0, 2), bodies, optional(small),
             optional(leases)),
        node(n.Branch, small, st.booleans(), bodies, bodies),
        node(n.Loop, bodies),
    )  # fmt: skip


statements = st.recursive(simple_statements, nested, max_leaves=6)
bodies = tuples_of(statements)
parameters = tuples_of(node(n.Parameter, words))
kinds = st.one_of(
    node(n.Fifo, optional(small)),
    node(n.ProcessorSharing, small),
    node(n.Delay),
    node(
        n.Step,
        small,
        small,
        optional(small),
        st.one_of(st.sampled_from([None, "admission", "decode first", "exclusive prefill"]), keys),
        optional(references),
    ),
)
spills = node(n.Spill, references, references, small, small)


preemptions = st.one_of(
    st.sampled_from([(None, None), ("none", None)]),
    st.tuples(st.one_of(st.just("lifo"), keys), st.sampled_from([None, "stop", "continue"])),
)


def pools(sizes):
    return st.builds(
        lambda *parts: n.Pool(HERE, *parts[:5], *parts[5], *parts[6:]),
        dotted,
        sizes,
        optional(small),
        optional(small),
        optional(tuples_of(small, 0, 2)),
        preemptions,
        optional(tuples_of(small, 0, 2)),
        optional(references),
        optional(spills),
        st.sampled_from([None, "wait", "reject"]),
        here,
    )


arrivals = st.one_of(
    st.just(n.Arrive(HERE, "none", None)),
    node(n.Arrive, st.sampled_from([kind for kind in ARRIVALS if kind != "none"]), small),
)
paths = st.text(st.characters(exclude_characters='"\n', exclude_categories=["Cs"]), max_size=8)
plain_statements = st.one_of(
    node(n.SetStatement, dotted, small, here),
    node(n.Observe, dotted, small, here),
    node(n.DefinitionCall, words.filter(lambda word: word not in STATEMENT_WORDS), tuples_of(small)),
)
workloads = node(
    n.Workload,
    optional(arrivals),
    optional(node(n.Trace, paths, st.booleans())),
    tuples_of(plain_statements),
    tuples_of(plain_statements),
    optional(bodies),
    tuples_of(node(n.Name, dotted)),
)
entries = node(
    n.Entry,
    words.filter(lambda word: word not in ("pool", "serve", "nic")),
    parameters,
    optional(node(n.Parameter, words)),
    bodies,
)
items = st.one_of(
    node(n.Let, dotted, expressions, here),
    node(n.Use, paths),
    node(n.ExpressionDefinition, words, parameters, expressions, here),
    node(n.StatementDefinition, words, parameters, bodies, here),
    pools(optional(small)),
    node(n.Stage, dotted, optional(small), kinds, here),
    workloads,
    node(n.Session, bodies),
    node(n.Server, bodies),
    node(
        n.Queue,
        dotted,
        optional(small),
        tuples_of(node(n.Name, words)),
        tuples_of(pools(st.none()), 0, 2),
        optional(node(n.Serve, kinds, optional(small))),
        optional(kinds),
        tuples_of(entries, 0, 2),
        here,
    ),
    node(n.RunBlock, optional(small), optional(small), optional(small), optional(small)),
    node(n.Share, st.sampled_from(SHARES)),
    node(n.Pull, references, references, optional(small), st.sampled_from([None, *SHARES])),
    node(n.Gauge, dotted, expressions, here),
)
programs = node(n.Program, tuples_of(items, 0, 4))
