"""The simulator: what its logs show is the truth that it keeps, and its rates are those given."""

from __future__ import annotations

import doctest
from collections.abc import Iterable
from functools import cache
from hashlib import sha256
from math import sqrt
from typing import Any, Final

import pytest

import replay
from replay.decode import decode_bytes
from replay.errors import UsageError
from replay.history import admit
from replay.latency import Closed, Reviewed, Waiting, latencies
from replay.projection import (
    Cancelled,
    CancelledWithWork,
    Censored,
    Episode,
    EpisodeEnd,
    Projection,
    Recovered,
)
from replay.testing import simulate as module
from replay.testing.simulate import Rates, Simulated, TrueEpisode, TrueReview, simulate

SEEDS: Final = range(200)
USUAL: Final = Rates(correction_probability=0.1)
KINDS: Final = {
    Recovered: "recovered",
    Cancelled: "cancelled",
    CancelledWithWork: "cancelled_with_work",
}


@cache
def drawn(seed: int) -> Simulated:
    return simulate(seed, USUAL, hours=20)


@cache
def shown(seed: int) -> Projection:
    return replay.project(drawn(seed).prefix, rules="coordination/2")


def test_the_same_seed_gives_the_same_bytes() -> None:
    again = [drawn.__wrapped__(seed) for seed in range(20)]
    assert again == [drawn(seed) for seed in range(20)]
    assert len({one.log for one in again}) == 20


def test_the_bytes_are_the_same_on_every_machine() -> None:
    digests = [sha256(drawn(seed).log).hexdigest() for seed in range(50)]
    assert sha256("".join(digests).encode()).hexdigest() == RECORDED


RECORDED: Final = "831d7c41733911eec53ebb227e281229c485abd1fdcd466fe07f7c07a4d6e008"


@pytest.mark.parametrize("seed", range(20))
def test_a_log_is_admitted_as_the_history_beside_it_with_no_gap(seed: int) -> None:
    one = drawn(seed)
    history = admit([decode_bytes(one.log, name=one.history.input.name)])
    assert history.input == one.history.input
    assert [event.event_id for event in history.events] == [e.event_id for e in one.history.events]
    sequences = [event.recorded_sequence for event in history.events]
    assert sequences == [*range(1, len(sequences) + 1)]
    assert all(event.recorded_at <= one.horizon for event in history.events)
    assert one.prefix == one.history.until(time=one.horizon_utc)


def by_origin(episodes: Iterable[Episode]) -> dict[str, Episode]:
    return {episode.opened.event_id: episode for episode in episodes}


def expected_end(truth: TrueEpisode, horizon: int) -> tuple[str, int]:
    """The kind and the time of an episode's end as an observer at the horizon has it."""
    if truth.ended_at is None or truth.ended_at > horizon:
        return "censored", horizon
    assert truth.kind is not None
    return truth.kind, truth.ended_at


def derived_end(end: EpisodeEnd) -> tuple[str, int]:
    return ("censored", end.at) if isinstance(end, Censored) else (KINDS[type(end)], end.by.time)


def test_derived_episodes_are_the_true_ones_censored_at_the_horizon() -> None:
    compared: list[str] = []
    for seed in SEEDS:
        derived, one = by_origin(shown(seed).episodes), drawn(seed)
        assert {*derived} == {truth.origin for truth in one.truth.episodes}
        for truth in one.truth.episodes:
            episode = derived[truth.origin]
            kind, at = expected_end(truth, one.horizon)
            assert derived_end(episode.end) == (kind, at)
            assert (episode.opened.time, episode.elapsed) == (truth.opened_at, at - truth.opened_at)
            assert (episode.work_id, episode.blocker_id) == (truth.work_id, truth.blocker_id)
            assert episode.repeats == truth.repeats
            compared.append(kind)
    assert {kind: compared.count(kind) > 20 for kind in sorted({*compared})} == {
        "cancelled": True,
        "cancelled_with_work": True,
        "censored": True,
        "recovered": True,
    }


def test_what_is_censored_has_a_true_end_beyond_the_horizon() -> None:
    ends = [
        (truth.ended_at, drawn(seed).horizon)
        for seed in SEEDS
        for truth in drawn(seed).truth.episodes
    ]
    assert all(ended is not None for ended, _ in ends)
    assert any(ended > horizon for ended, horizon in ends if ended is not None)


def first_reviews(one: Simulated) -> dict[str, TrueReview]:
    return {review.work_id: review for review in one.truth.reviews if review.first}


def derived_wait(end: Any) -> tuple[str | None, int]:
    match end:
        case Reviewed(by=by):
            return "reviewed", by.time
        case Closed(by=by, kind="cancelled"):
            return "cancelled", by.time
        case Waiting(at=at):
            return None, at
    raise AssertionError(end)


def test_derived_review_latencies_are_the_true_ones() -> None:
    compared: list[str | None] = []
    for seed in SEEDS:
        one = drawn(seed)
        found = latencies(replay.timeline_of(one.prefix, rules="coordination/2"))
        truths = first_reviews(one)
        assert {wait.work_id for wait in found.waits} | {*found.left_out} == {*truths}
        assert {*found.left_out} == {*truths} & {*one.truth.corrected}
        for wait in found.waits:
            truth = truths[wait.work_id]
            seen = truth.ended_at is not None and truth.ended_at <= one.horizon
            expected = (truth.kind, truth.ended_at) if seen else (None, one.horizon)
            assert derived_wait(wait.end) == expected
            assert (wait.claim.event_id, wait.ready.time) == (truth.claim, truth.ready_at)
            compared.append(expected[0])
    assert {kind: compared.count(kind) > 2 for kind in {*compared}} == {
        "reviewed": True,
        "cancelled": True,
        None: True,
    }


def verdict_when_made(one: Simulated, event_id: str) -> str:
    sequence = next(e.recorded_sequence for e in one.history.events if e.event_id == event_id)
    then = replay.project(one.history.until(sequence=sequence), rules="coordination/2")
    return next(claim.verdict for claim in then.claims if claim.event_id == event_id)


def test_true_claims_are_supported_when_made_and_false_ones_are_not() -> None:
    verdicts: dict[tuple[str, bool], set[str]] = {}
    for seed in range(60):
        one = drawn(seed)
        for claim in one.truth.claims:
            made = verdict_when_made(one, claim.event_id)
            verdicts.setdefault((claim.type, claim.true), set()).add(made)
    assert verdicts == {
        ("review.requested", True): {"supported"},
        ("review.requested", False): {"missing", "contradicted"},
        ("work.completed", True): {"supported"},
        ("work.completed", False): {"missing", "contradicted"},
    }


def test_no_false_claim_is_supported_at_the_horizon_either() -> None:
    for seed in SEEDS:
        false = {claim.event_id for claim in drawn(seed).truth.claims if not claim.true}
        claims = {claim.event_id: claim.verdict for claim in shown(seed).claims}
        assert {claims[event_id] for event_id in false} <= {"missing", "contradicted", "stale"}


def test_every_claim_of_the_log_is_in_the_truth() -> None:
    for seed in SEEDS:
        claims = [c for c in shown(seed).claims if c.claim != "blocker.resolved"]
        assert {c.event_id for c in claims} == {c.event_id for c in drawn(seed).truth.claims}


def test_corrections_are_all_effective_and_their_items_named() -> None:
    for seed in SEEDS:
        corrections = shown(seed).corrections
        assert {correction.status for correction in corrections} <= {"applied"}
        assert {c.work_id for c in corrections} == {*drawn(seed).truth.corrected}


# The rates: estimates from many logs, within five standard errors of what was put in


def per_hour(count: int, hours: float, rate: float) -> float:
    """The estimate's distance from the rate, in standard errors of a Poisson count."""
    return abs(count - rate * hours) / sqrt(rate * hours)


def share(count: int, of: int, probability: float) -> float:
    return abs(count - of * probability) / sqrt(of * probability * (1 - probability))


def counts() -> dict[str, int]:
    found: dict[str, int] = {}
    for seed in SEEDS:
        for event in uncorrected(seed).history.events:
            key = f"{event.type}:{event.payload.get('outcome', '')}"
            found[key] = found.get(key, 0) + 1
    return found


@cache
def uncorrected(seed: int) -> Simulated:
    return simulate(seed, Rates(), hours=30)


def hours(state: str) -> float:
    exposures = (uncorrected(seed).truth.exposure for seed in SEEDS)
    return sum(float(getattr(exposure, state)) for exposure in exposures)


def of_truth(part: str, **wanted: object) -> int:
    """How many observed episodes, reviews or claims have these values."""
    return sum(
        all(getattr(one, name) == value for name, value in wanted.items())
        and (getattr(one, "ended_at", None) or 0) <= uncorrected(seed).horizon
        for seed in SEEDS
        for one in getattr(uncorrected(seed).truth, part)
    )


def test_every_hazard_is_the_rate_that_was_given() -> None:
    rates, count = Rates(), counts()
    opened = sum(len(uncorrected(seed).truth.episodes) for seed in SEEDS)
    repeats = count["blocker.raised:"] - opened
    observed = sum(hours(state) for state in ("active", "blocked", "waiting", "approved"))
    readiness, completion = count["review.requested:"], count["work.completed:"]
    distances = {
        "arrive": per_hour(count["work.proposed:"], 30 * len(SEEDS), rates.arrive_per_hour),
        "block": per_hour(opened, hours("active"), rates.block_per_hour),
        "claim": per_hour(readiness, hours("active"), rates.claim_per_hour),
        "recover": per_hour(
            of_truth("episodes", kind="recovered"), hours("blocked"), rates.recover_per_hour
        ),
        "cancel_blocker": per_hour(
            count["blocker.cancelled:"], hours("blocked"), rates.cancel_blocker_per_hour
        ),
        "repeat": per_hour(repeats, hours("blocked"), rates.repeat_per_hour),
        "review": per_hour(
            of_truth("reviews", kind="reviewed"), hours("waiting"), rates.review_per_hour
        ),
        "complete": per_hour(completion, hours("approved"), rates.complete_per_hour),
        "cancel_work": per_hour(count["work.cancelled:"], observed, rates.cancel_work_per_hour),
        "message": per_hour(count["heartbeat:"], observed, rates.message_per_hour),
    }
    assert {name for name, distance in distances.items() if not distance < 5} == set()


def test_publications_happen_at_the_rate_that_was_given() -> None:
    # with no claims, blockers or corrections, every revision is a publication of its own
    alone = Rates(block_per_hour=0, claim_per_hour=0)
    logs = [simulate(seed, alone, hours=30) for seed in range(50)]
    published = sum(e.type == "artifact.published" for one in logs for e in one.history.events)
    active = sum(one.truth.exposure.active for one in logs)
    assert per_hour(published, active, alone.publish_per_hour) < 5
    checks = [
        e.payload["outcome"]
        for one in logs
        for e in one.history.events
        if e.type == "check.completed"
    ]
    assert len(checks) == published
    assert share(checks.count("passed"), len(checks), alone.pass_probability) < 5


def test_every_probability_is_the_one_that_was_given() -> None:
    rates, count = Rates(), counts()
    approved = count["review.completed:approved"]
    reviewed = approved + count["review.completed:changes_requested"]
    assert share(approved, reviewed, rates.approval_probability) < 5
    for type in ("review.requested", "work.completed"):
        false, true = (of_truth("claims", type=type, true=value) for value in (False, True))
        assert share(false, false + true, rates.false_claim_probability) < 5
    standing = mistaken = 0
    for seed in SEEDS:
        for event in drawn(seed).history.events:
            wrong = event.supersedes is not None
            correctable = event.type in ("artifact.published", "check.completed", "blocker.raised")
            mistaken += wrong
            standing += correctable
    assert share(mistaken, standing - mistaken, USUAL.correction_probability) < 5


def test_times_to_recovery_are_exponential() -> None:
    # with no competing hazard each true duration, beyond the horizon too, is exponential:
    # half of them, and a tenth, lie below its quantiles
    alone = Rates(cancel_blocker_per_hour=0, cancel_work_per_hour=0)
    truths = [t for seed in range(100) for t in simulate(seed, alone, hours=30).truth.episodes]
    durations = [(t.ended_at or 0) - t.opened_at for t in truths]
    for probability, quantile in ((0.1, 0.105360516), (0.5, 0.693147181), (0.9, 2.302585093)):
        below = quantile / alone.recover_per_hour * module.NS_PER_HOUR
        count = sum(duration <= below for duration in durations)
        assert share(count, len(durations), probability) < 5


# At the edges


def test_what_nothing_can_end_has_no_true_end() -> None:
    endless = Rates(
        arrive_per_hour=2,
        block_per_hour=5,
        recover_per_hour=0,
        cancel_blocker_per_hour=0,
        cancel_work_per_hour=0,
        review_per_hour=0,
        claim_per_hour=5,
    )
    truth = simulate(1, endless, hours=5).truth
    assert {(episode.kind, episode.ended_at) for episode in truth.episodes} == {(None, None)}
    assert {(review.kind, review.ended_at) for review in truth.reviews} == {(None, None)}
    assert truth.episodes[0].repeats


def test_with_no_arrivals_the_log_is_empty() -> None:
    one = simulate(1, Rates(arrive_per_hour=0))
    assert (one.log, one.history.events, one.truth.work_ids) == (b"", (), ())


def test_with_no_hazard_at_all_an_item_stays_active() -> None:
    still = Rates(**{name: 0 for name in Rates.__struct_fields__ if name != "arrive_per_hour"})
    one = simulate(1, still, hours=10)
    assert {event.type for event in one.history.events} == {"work.proposed", "work.started"}
    assert one.truth.exposure.active > 0


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("block_per_hour", -1.0),
        ("review_per_hour", float("inf")),
        ("pass_probability", 1.5),
        ("approval_probability", float("nan")),
    ],
)
def test_a_rate_that_is_none_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(UsageError, match=name):
        Rates(**{name: value})


@pytest.mark.parametrize("hours", [0, -1, float("inf"), float("nan")])
def test_a_horizon_that_is_none_is_refused(hours: float) -> None:
    with pytest.raises(UsageError, match="hours"):
        simulate(1, hours=hours)


def test_the_module_names_every_rate() -> None:
    assert doctest.testmod(module).failed == 0
    named = module.__doc__ or ""
    words = [n.removesuffix("_per_hour") for n in Rates.__struct_fields__]
    assert [w for w in words if w not in named and w != "arrive"] == []
