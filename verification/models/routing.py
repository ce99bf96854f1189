"""Four replicas under five routing policies, in plain Python.

Second implementation of `examples/routing/routing.sq`. Replicas and the migration link are first come first served, and
a service time is known when its job joins, so a server is one number: the instant at which it will have finished
everything it has (`free_at`). Work in front of a newcomer is `free_at − now`.
"""

import heapq
import random
from dataclasses import dataclass, field

AFFINITY, LEAST_WORK, LEAST_WORK_OR_FETCH, SHORTEST, SHORTEST_OR_MIGRATE = range(5)


@dataclass(frozen=True, slots=True)
class Parameters:
    """Times in [s], sizes in [tokens].

    Attributes
    ----------
    policy : 0 always home; 1 least work, recompute away from home; 2 least work, fetch the KV when that is faster;
        3 least work plus own service; 4 the same with the better of migrating (beside the wait) and recomputing
    arrival_rate : [sessions/s]
    replicas : how many
    bandwidth : [tokens/s] of the one migration link
    keeps_place : under policy 4, whether a turn whose KV travels already stands in the replica's line, its service
        beginning when both are over, or joins the line when the KV is there; either way the replica goes on meanwhile
    horizon, warmup : [s]
    """

    policy: int = AFFINITY
    arrival_rate: float = 0.9
    replicas: int = 4
    bandwidth: float = 2e6
    keeps_place: bool = False
    overhead: float = 0.005
    per_token: float = 2e-5
    per_token_and_context: float = 2e-9
    per_output: float = 2e-4
    continue_probability: float = 0.9
    skew: float = 0.5
    tool_mean: float = 2.0
    new_mean: float = 500.0
    output_mean: float = 200.0
    first_range: tuple[float, float] = (5_000.0, 15_000.0)
    horizon: float = 10_000.0
    warmup: float = 1_000.0


@dataclass(slots=True)
class Session:
    """A conversation: its context, the replica that has its KV, and the turn it is in."""

    home: int
    turn: int = 0
    context: float = 0.0
    new: float = 0.0
    output: float = 0.0
    sent_at: float = 0.0
    replica: int = 0
    service: float = 0.0
    hit: bool = True


@dataclass(slots=True)
class Deployment:
    """The servers, as the instants at which they will be free, and what was measured."""

    free_at: list[float]
    link_free_at: float = 0.0
    responses: list[float] = field(default_factory=list)
    hits: list[float] = field(default_factory=list)


def run(parameters: Parameters, seed: int) -> dict[str, float]:
    """Simulate once.

    Returns
    -------
    response : [s] mean time from a turn's sending to its end
    hit : share of follow-up turns served with their context's KV in place (at home, or brought over the link)
    """
    generator = random.Random(seed)
    deployment = Deployment([0.0] * parameters.replicas)
    calendar: list[tuple[float, int, str, Session | None]] = [(0.0, 0, "arrive", None)]
    sequence = 0

    def schedule(at: float, what: str, session: Session | None) -> None:
        nonlocal sequence
        sequence += 1
        heapq.heappush(calendar, (at, sequence, what, session))

    def send(now: float, session: Session) -> None:
        session.turn += 1
        session.sent_at = now
        session.output = generator.expovariate(1.0 / parameters.output_mean)
        fetched_at = _route(parameters, deployment, session, now)
        if fetched_at is None:
            schedule(_join(deployment, session, now, now), "end", session)
        elif parameters.policy == SHORTEST_OR_MIGRATE and parameters.keeps_place:
            schedule(_join(deployment, session, now, fetched_at), "end", session)
        else:
            schedule(fetched_at, "join", session)

    while calendar[0][0] <= parameters.horizon:
        now, _, what, session = heapq.heappop(calendar)
        if what == "arrive":
            schedule(now + generator.expovariate(parameters.arrival_rate), "arrive", None)
            skewed = generator.random() < parameters.skew
            newcomer = Session(home=0 if skewed else generator.randrange(parameters.replicas))
            newcomer.new = generator.uniform(*parameters.first_range)
            send(now, newcomer)
            continue
        assert session is not None
        if what == "send":
            session.new = generator.expovariate(1.0 / parameters.new_mean)
            send(now, session)
        elif what == "join":
            schedule(_join(deployment, session, now, now), "end", session)
        else:
            if now >= parameters.warmup:
                deployment.responses.append(now - session.sent_at)
                if session.turn > 1:
                    deployment.hits.append(float(session.hit))
            session.home = session.replica
            session.context += session.new + session.output
            if generator.random() < parameters.continue_probability:
                schedule(now + generator.expovariate(1.0 / parameters.tool_mean), "send", session)
    return {
        "response": sum(deployment.responses) / len(deployment.responses),
        "hit": sum(deployment.hits) / len(deployment.hits),
    }


def _join(deployment: Deployment, session: Session, now: float, ready_at: float) -> float:
    """Put a turn into its replica's line; its service begins once the line is served and its KV is there."""
    start = max(now, deployment.free_at[session.replica], ready_at)
    deployment.free_at[session.replica] = start + session.service
    return start + session.service


def _route(parameters: Parameters, deployment: Deployment, session: Session, now: float) -> float | None:
    """Choose the replica, the service time and whether the KV is fetched; return when a fetch will be over."""
    works = [max(free_at - now, 0.0) for free_at in deployment.free_at]
    link_work = max(deployment.link_free_at - now, 0.0)
    reuse = _prefill(parameters, session.context, session.new) + parameters.per_output * session.output
    recompute = _prefill(parameters, 0.0, session.context + session.new) + parameters.per_output * session.output
    fetch = link_work + session.context / parameters.bandwidth
    home = session.home
    # of equally good replicas the home comes first, then the lowest number
    replicas = [home, *(replica for replica in range(parameters.replicas) if replica != home)]

    def own(replica: int) -> float:
        return reuse if replica == home else recompute

    def with_migration(replica: int) -> float:
        if replica == home:
            return works[replica] + reuse
        return min(max(works[replica], fetch) + reuse, works[replica] + recompute)

    fetches = False
    if parameters.policy == AFFINITY:
        chosen = home
    elif parameters.policy in (LEAST_WORK, LEAST_WORK_OR_FETCH):
        chosen = min(replicas, key=lambda replica: works[replica])
        fetches = parameters.policy == LEAST_WORK_OR_FETCH and chosen != home and fetch < recompute - reuse
    elif parameters.policy == SHORTEST:
        chosen = min(replicas, key=lambda replica: works[replica] + own(replica))
    else:
        chosen = min(replicas, key=with_migration)
        fetches = chosen != home and max(works[chosen], fetch) + reuse < works[chosen] + recompute
    session.replica = chosen
    session.hit = chosen == home or fetches
    session.service = reuse if session.hit else recompute
    if not fetches:
        return None
    deployment.link_free_at = now + fetch
    return deployment.link_free_at


def _prefill(parameters: Parameters, context: float, new: float) -> float:
    """Return the time [s] to prefill `new` tokens after a `context` that is in place."""
    attention = parameters.per_token_and_context * new * (context + new / 2.0)
    return parameters.overhead + parameters.per_token * new + attention
