"""Random IR programs: every shape the model allows, with names that mostly exist, so that many of them nearly link."""

from dataclasses import replace

from hypothesis import strategies as st

from serq.ir import model as ir
from serq.ir.vocabulary import CONTEXT_VARIABLES, DISTRIBUTIONS, FUNCTIONS, MEMBER_FUNCTIONS

POOLS, STAGES = ("kv", "slots", "P.kv"), ("z", "e", "nic")
ATTRIBUTES = ("a", "b", "serial", "cached", "computed", "turn_no")

numbers = st.one_of(st.sampled_from((0.0, 1.0, 2.0, 0.5, -1.0, 3.0)), st.floats(allow_nan=False, allow_infinity=False))
names = st.sampled_from((*ATTRIBUTES, *ATTRIBUTES, "inf", "now", "j", "nothing", *CONTEXT_VARIABLES, *POOLS))
assigned = st.sampled_from(("a", "b", "serial", "inf", "present"))


def members(known):
    plain = st.sampled_from((*known, *known, "nothing"))
    return st.one_of(plain, plain, st.builds(ir.Member, name=plain, index=leaves))


leaves = st.one_of(numbers, names)
pool_references, stage_references = members(POOLS), members(STAGES)
references = st.one_of(pool_references, stage_references)


def larger(parts):
    """Expressions one form larger than those given."""
    operators = st.sampled_from(("+", "-", "*", "/", "^", "==", "!=", "<", "<=", ">", ">=", "&&", "||"))
    lists = st.lists(parts, min_size=1, max_size=2).map(tuple)
    observables = st.sampled_from(sorted(MEMBER_FUNCTIONS))
    return st.one_of(
        st.builds(ir.Unary, op=st.sampled_from(("-", "!")), operand=parts),
        st.builds(ir.Binary, op=operators, left=parts, right=parts),
        st.builds(ir.Conditional, test=parts, then=parts, otherwise=parts),
        st.builds(ir.Call, function=st.sampled_from((*FUNCTIONS, "cube")), args=lists),
        st.builds(ir.Call, function=observables, args=references.map(lambda member: (member,))),
        st.builds(ir.Draw, distribution=st.sampled_from((*DISTRIBUTIONS, "pareto")), args=lists),
        st.builds(
            ir.Aggregate,
            of=st.sampled_from(("max", "min", "sum")),
            index=st.sampled_from(("j", "k", "a")),
            bound=st.sampled_from((1.0, 2.0, 0.0, 5000.0, "a", "j")),
            body=parts,
        ),
    )


expressions = st.recursive(leaves, larger, max_leaves=6)
keys = st.lists(expressions, max_size=2).map(tuple)
some_keys = st.lists(expressions, min_size=1, max_size=2).map(tuple)
maybe = st.one_of(st.none(), expressions)

claims = st.builds(ir.Claim, pool=pool_references, units=expressions, reserve=maybe)
leases = st.builds(ir.Lease, pool=pool_references, seconds=expressions)
plain_statements = st.one_of(
    st.just(ir.Turn()),
    st.just(ir.End()),
    st.builds(ir.Set, name=assigned, value=expressions),
    st.builds(ir.Observe, name=st.sampled_from(("x", "y")), value=expressions),
    st.builds(ir.Grow, pool=pool_references, amount=expressions),
    st.builds(ir.Drop, pool=pool_references),
    st.builds(ir.Release, pool=pool_references),
    st.builds(ir.Load, pool=pool_references, tokens=expressions),
    st.builds(
        ir.Run,
        stages=st.lists(stage_references, min_size=1, max_size=2).map(tuple),
        work=expressions,
        mode=st.sampled_from((None, "prefill", "decode")),
        growing=st.one_of(st.none(), pool_references),
    ),
    st.builds(ir.Choose, name=assigned, bound=expressions, keys=some_keys),
)


def nested(parts):
    """Statements with a body."""
    bodies = st.lists(parts, max_size=3).map(tuple)
    return st.one_of(
        st.builds(
            ir.Hold,
            pools=st.lists(claims, min_size=1, max_size=2).map(tuple),
            body=bodies,
            reuse=maybe,
            cache=maybe,
            lease=st.one_of(st.none(), leases),
        ),
        st.builds(ir.Branch, guard=expressions, then=bodies, otherwise=bodies),
        st.builds(ir.Loop, body=bodies),
    )


statements = st.recursive(plain_statements, nested, max_leaves=6)
bodies = st.lists(statements, max_size=4).map(tuple)
simple_bodies = st.lists(
    st.one_of(
        st.builds(ir.Set, name=assigned, value=expressions),
        st.builds(ir.Observe, name=st.sampled_from(("x", "y")), value=expressions),
    ),
    max_size=2,
).map(tuple)

sizes = st.sampled_from((None, None, 1.0, 2.0, 3.0))
spills = st.builds(ir.Spill, pool=pool_references, stage=stage_references, work=expressions, when=expressions)
pools = st.builds(
    ir.Pool,
    name=st.sampled_from(POOLS),
    size=sizes,
    cap=st.one_of(st.just(10.0), expressions),
    block=st.sampled_from((None, None, 2.0, 0.0)),
    evict=keys,
    preempt=st.one_of(st.sampled_from(("none", "lifo")), some_keys),
    queue=keys,
    admit_via=st.one_of(st.none(), stage_references),
    spill=st.one_of(st.none(), st.none(), spills),
    unfit=st.sampled_from(("reject", "wait")),
)
pools = st.builds(
    lambda pool, then: pool if pool.preempt == "none" else replace(pool, preempt_then=then),
    pools,
    st.sampled_from(("stop", "continue")),
)
kinds = st.one_of(
    st.just(ir.Delay()),
    st.builds(ir.Fifo, servers=st.sampled_from((1.0, 2.0, 0.0))),
    st.builds(ir.ProcessorSharing, capacity=expressions),
    st.builds(
        ir.Step,
        budget=expressions,
        cost=expressions,
        chunk=maybe,
        serve=st.one_of(st.just("exclusive prefill"), keys),
        memory=st.one_of(st.none(), pool_references),
    ),
)
stages = st.builds(ir.Stage, name=st.sampled_from(STAGES), kind=kinds, size=sizes)
values = st.dictionaries(st.sampled_from(("a", "prompt", "new")), numbers, max_size=2)
explicit = st.builds(
    ir.ExplicitSession, at=st.floats(0, 100), attributes=values, turns=st.lists(values, max_size=2).map(tuple)
)
arrivals = st.one_of(
    st.just(ir.NoArrivals()),
    st.builds(ir.Poisson, rate=expressions),
    st.builds(ir.Renewal, gap=expressions),
    st.builds(ir.Closed, population=st.one_of(st.just(2.0), expressions)),
    st.builds(ir.Batch, count=st.one_of(st.just(2.0), expressions)),
    st.builds(ir.Explicit, sessions=st.lists(explicit, max_size=2).map(tuple)),
)
rows = st.builds(ir.TraceRow, new=numbers, out=numbers, think=numbers, forced=numbers)
traces = st.one_of(
    st.none(),
    st.builds(ir.TraceFile, path=st.text(max_size=5), ordered=st.booleans()),
    st.builds(
        ir.InlineTrace,
        sessions=st.lists(st.lists(rows, min_size=1, max_size=2).map(tuple), min_size=1, max_size=2).map(tuple),
        ordered=st.booleans(),
    ),
)
workloads = st.builds(
    ir.Workload,
    arrive=arrivals,
    trace=traces,
    init=simple_bodies,
    turn=simple_bodies,
    hidden=st.lists(st.sampled_from(("a", "b", "cached")), max_size=1).map(tuple),
)
run_blocks = st.builds(
    ir.RunBlock,
    horizon=st.one_of(st.just(50.0), expressions),
    warmup=st.sampled_from((0.0, 10.0)),
    seed=st.sampled_from((1.0, 7.0)),
    arrivals=st.sampled_from((None, None, 3.0)),
)
gauges = st.builds(ir.Gauge, name=st.sampled_from(("g", "h", "x")), value=expressions)
programs = st.builds(
    ir.Program,
    version=st.just(ir.IR_VERSION),
    pools=st.lists(pools, max_size=3, unique_by=lambda pool: pool.name).map(tuple),
    stages=st.lists(stages, max_size=3, unique_by=lambda stage: stage.name).map(tuple),
    share=st.sampled_from((None, "maxmin", "bottleneck")),
    workload=workloads,
    session=bodies,
    gauges=st.lists(gauges, max_size=2).map(tuple),
    run=run_blocks,
)
