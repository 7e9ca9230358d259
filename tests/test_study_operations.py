"""`study operations` as a whole: the function, the command, what is written, what is refused."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import jsonschema
import pandas as pd
import pytest

import replay
import study
from replay.table_csv import original
from replay.testing.simulate import Rates, simulate
from study.cli import main
from study.comparing import ASSIGNED, NOT_CAUSAL
from study.definitions import DEFINITIONS
from study.document import document
from study.estimates import BadInput, Interval, Unknown
from study.operational import LogsRefused, UsageError
from study.proportions import wilson
from study.result import Denominator, Estimate, Operations
from study.schemas import NAMES, schema
from study.tables import SUMMARIES
from tests.command import CASES, ROOT
from tests.notation import events, lines

RULES: Final = "coordination/2"
PAPER: Final = CASES / "paper-nine-events.jsonl"
HOUR: Final = 3600.0


@pytest.fixture(scope="module")
def simulated(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two logs of a process with known rates."""
    folder = tmp_path_factory.mktemp("simulated")
    paths = []
    for seed in (1, 2):
        path = folder / f"fleet-{seed}.jsonl"
        path.write_bytes(simulate(seed, Rates(), hours=80).log)
        paths.append(path)
    return paths


def asked(*logs: Path, **more: Any) -> Operations:
    return study.operations(logs, rules=RULES, **more)


@cache
def fleet(*logs: Path, **more: Any) -> Operations:
    """The same of logs that no test changes, asked once."""
    return asked(*logs, **more)


def log_at(folder: Path, notation: str, name: str = "a.jsonl") -> Path:
    path = folder / name
    path.write_bytes(lines(events(notation)))
    return path


def estimate(found: Operations, endpoint: str, name: str) -> Estimate:
    return next(one for one in found.endpoint(endpoint).estimates if one.name == name)


# The function


def test_the_papers_blocker_is_counted_once_and_took_seven_minutes() -> None:
    found = asked(PAPER)
    assert estimate(found, "blocker_recovery", "median time to recovery").value == 7 * 60
    counted = found.endpoint("blocker_recovery").denominator
    assert (counted.eligible, counted.observed, counted.censored) == (1, 1, 0)


def test_at_the_earlier_cutoff_it_is_censored_and_its_median_unknown() -> None:
    found = asked(PAPER, sequence=5, minute="9")
    counted = found.endpoint("blocker_recovery").denominator
    assert (counted.observed, counted.censored) == (0, 1)
    value = estimate(found, "blocker_recovery", "median time to recovery").value
    assert isinstance(value, Unknown)
    (row,) = found.to_pandas("blocker_recovery").itertuples()
    assert (row.duration, row.duration_ns, row.event_code) == (360.0, 360 * 10**9, 0)


def test_every_endpoint_is_there_in_one_order(simulated: list[Path]) -> None:
    found = fleet(*simulated)
    assert [one.id for one in found.endpoints] == [*DEFINITIONS]
    assert [log.name for log in found.logs] == ["fleet-1.jsonl", "fleet-2.jsonl"]


def parts(counted: Denominator) -> int:
    competing, lost = sum(counted.competing.values()), sum(counted.unavailable.values())
    return counted.observed + counted.censored + competing + lost


def test_every_denominator_adds_up_to_its_rows(simulated: list[Path]) -> None:
    for endpoint in fleet(*simulated, by="log").endpoints:
        for one in endpoint.estimates:
            assert parts(one.denominator) == one.denominator.eligible
        if endpoint.id != "cost":  # one denominator for each of its components
            left_out = sum(endpoint.denominator.excluded.values())
            assert endpoint.denominator.eligible + left_out == len(endpoint.rows)


def test_shares_are_the_counts_of_their_rows(simulated: list[Path]) -> None:
    found = fleet(*simulated)
    claims = found.to_pandas("false_success")
    observed = claims[claims.role == "observed"]
    one = estimate(found, "false_success", "claims without evidence")
    assert one.value == pytest.approx(observed.unevidenced.mean())
    assert isinstance(one.interval, Interval)
    plain = wilson(observed.unevidenced.sum(), len(observed))
    assert one.interval.low <= plain.low + 1e-9
    assert one.interval.high >= plain.high - 1e-9


def test_the_waiting_curve_is_lifelines_own(simulated: list[Path]) -> None:
    from lifelines import KaplanMeierFitter

    found = fleet(*simulated, options=study.Options(horizons=(2 * HOUR,)))
    rows = found.to_pandas("review_latency")
    rows = rows[rows.event_code.notna()]
    fit = KaplanMeierFitter().fit(rows.duration, rows.event_code > 0, entry=rows.entry)
    one = estimate(found, "review_latency", "still waiting")
    assert one.value == pytest.approx(fit.predict(2 * HOUR))


def test_the_shares_of_endings_and_of_waiting_make_one(simulated: list[Path]) -> None:
    found = fleet(*simulated, options=study.Options(horizons=(HOUR, 4 * HOUR)))
    for id in ("review_latency", "blocker_recovery", "progress_gap"):
        for at in (HOUR, 4 * HOUR):
            shares = [
                one.value
                for one in found.endpoint(id).estimates
                if one.unit == "share" and one.at == at and not isinstance(one.value, Unknown)
            ]
            assert sum(shares) == pytest.approx(1)


def test_the_mean_of_events_is_the_mean_of_events(simulated: list[Path]) -> None:
    found = fleet(*simulated)
    counts = [
        sum(event.work_id == work_id for event in history.events)
        for history in map(replay.load, simulated)
        for work_id in {event.work_id for event in history.events}
    ]
    one = estimate(found, "cost", "events recorded per work item")
    assert one.value == pytest.approx(sum(counts) / len(counts))
    assert one.denominator.observed == len(counts)


def test_a_cost_that_some_items_lack_is_unknown_with_what_is_on_record(tmp_path: Path) -> None:
    log = tmp_path / "a.jsonl"
    made = [json.loads(line) for line in lines(events("start start#W2 note")).splitlines()]
    made[2] |= {"type": "cost.recorded", "payload": {"tokens": 10}}
    log.write_text("".join(json.dumps(one) + "\n" for one in made), encoding="utf-8")
    found = asked(log)
    assert estimate(found, "cost", "tokens per work item").value == Unknown(
        "recorded for 1 of 2 work items only"
    )
    assert estimate(found, "cost", "tokens per work item, at least").value == 5.0
    assert estimate(found, "cost", "tool calls per work item").value == Unknown(
        "nobody recorded any of it"
    )


def test_windows_are_delayed_entry_and_their_end_a_cutoff(simulated: list[Path]) -> None:
    window = ("2026-01-02T00:00:00Z", "2026-01-03T00:00:00Z")
    found = fleet(simulated[0], window=window)
    rows = found.to_pandas("progress_gap")
    assert rows.at_utc.max() <= pd.Timestamp(window[1])
    assert rows.end_utc.max() <= pd.Timestamp(window[1])
    kept = rows[rows.event_code.notna()]
    late = (pd.Timestamp(window[0]) - kept.at_utc).dt.total_seconds().clip(lower=0)
    assert kept.entry.tolist() == pytest.approx(late.tolist())
    assert (rows[rows.reason == "ended before the window"].end_utc <= window[0]).all()
    claims = found.to_pandas("false_success")
    early = claims[claims.reason == "recorded before the window"]
    assert (early.at_utc < window[0]).all()
    assert len(early) > 0


def test_a_log_that_ends_before_the_window_is_left_out_by_name(tmp_path: Path) -> None:
    logs = [log_at(tmp_path, "r1 +b1 note:3"), log_at(tmp_path, "r1 +b1:20 note:29", "b.jsonl")]
    found = asked(*logs, window=("10", None))
    counted = found.endpoint("blocker_recovery").denominator
    assert (counted.eligible, counted.censored) == (1, 1)
    assert dict(counted.excluded) == {"observed before the window only": 1}
    assert found.notes == ("a.jsonl: observation had ended when the window began.",)


def test_the_same_logs_give_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        asked(ROOT / "fixtures/study/small-fleet.jsonl", by="lane").write(str(tmp_path / name))
    files = sorted(p.relative_to(tmp_path / "one") for p in (tmp_path / "one").rglob("*.*"))
    assert len(files) > 30
    for file in files:
        assert (tmp_path / "one" / file).read_bytes() == (tmp_path / "two" / file).read_bytes()


# What the logs cannot tell


def test_what_an_import_lost_is_unavailable_and_no_rate_of_a_hundred(tmp_path: Path) -> None:
    log = log_at(tmp_path, "ready@ done@")
    losses = {
        "document": "replay.losses/1",
        "source": "somewhere",
        "order": "recorded",
        "losses": [],
        "unavailable": ["receipts: no check has a result"],
    }
    before = estimate(asked(log), "false_success", "claims without evidence")
    assert before.value == 1.0
    Path(f"{log}.losses.json").write_text(json.dumps(losses), encoding="utf-8")
    after = estimate(asked(log), "false_success", "claims without evidence")
    assert isinstance(after.value, Unknown)
    assert dict(after.denominator.unavailable) == {"receipts: no check has a result": 2}


def test_a_register_tells_what_left_no_event(tmp_path: Path) -> None:
    log = log_at(tmp_path, "start start#W2 note")
    register = tmp_path / "register.csv"
    register.write_text(
        "kind,id,opened_at,closed_at,lane\nwork,W1,0,,east\nwork,W9,,,\nwork,W8,99,,\n"
        "result,e1,,,\nresult,e77,,,\n",
        encoding="utf-8",
    )
    found = asked(log, register=str(register))
    assert not isinstance(found.register, Unknown)
    assert (found.register.due, found.register.recorded) == (2, 1)
    assert found.register.omitted == ("W9",)
    assert found.register.unregistered == ("W2",)
    assert found.register.missing_events == (("result", "e77"),)
    events_each = estimate(found, "cost", "events recorded per work item")
    assert events_each.value == 1.0  # W1 has two events, the omitted W9 none, W2 is not registered
    assert dict(events_each.denominator.excluded) == {"not in the register": 1}
    assert found.endpoint("blocker_recovery").denominator.omitted == 1
    without = asked(log)
    assert isinstance(without.register, Unknown)
    assert isinstance(without.endpoint("cost").denominator.omitted, Unknown)


def test_without_an_access_file_completeness_is_bounded_and_not_told(tmp_path: Path) -> None:
    log = log_at(tmp_path, "r1 ci/gh+^p1&x1 r1#W2 ci/gh+@r1^p1&x2#W2")
    found = asked(log)
    assert isinstance(
        estimate(found, "receipt_completeness", "required fields complete").value, Unknown
    )
    low, high = (
        estimate(found, "receipt_completeness", f"required fields complete, at {bound}").value
        for bound in ("least", "most")
    )
    assert (low, high) == (6 / 8, 1.0)
    access = tmp_path / "access.csv"
    access.write_text("ref,status\nx1,accessible\nx2,inaccessible\n", encoding="utf-8")
    told = asked(log, access=str(access))
    assert estimate(told, "receipt_completeness", "required fields complete").value == 7 / 8


# Comparisons


@pytest.mark.parametrize("how", [{"by": "log"}, {"before_after": "2026-01-02T00:00:00Z"}])
def test_groups_that_nobody_assigned_are_not_causal(simulated: list[Path], how: Any) -> None:
    comparison = fleet(*simulated, **how).comparison
    assert comparison is not None
    assert (comparison.causal, comparison.assigned) == (NOT_CAUSAL, False)
    assert len(comparison.groups) == 2


def test_assigned_groups_are_compared_as_assigned(simulated: list[Path], tmp_path: Path) -> None:
    history = replay.load(simulated[0])
    work_ids = sorted({str(event.work_id) for event in history.events})
    rows = [f"{work_id},{'AB'[n % 2]}\n" for n, work_id in enumerate(work_ids[:-1])]
    assignment = tmp_path / "arms.csv"
    assignment.write_text("work_id,arm\nGONE,A\n" + "".join(rows), encoding="utf-8")
    found = fleet(simulated[0], assignment=str(assignment))
    comparison = found.comparison
    assert comparison is not None
    assert (comparison.causal, comparison.groups) == (ASSIGNED, ("A", "B"))
    assert any("left no event" in note and "1 in arm A" in note for note in found.notes)
    assert any(reason.startswith("not assigned") for reason in comparison.left_out)
    by_group = {one.group: one for one in comparison.estimates if one.endpoint == "stale_approval"}
    assert {*by_group} == {"A", "B"}


def test_a_difference_is_one_group_less_the_other(simulated: list[Path]) -> None:
    comparison = fleet(*simulated, by="log").comparison
    assert comparison is not None
    by_key = {(one.endpoint, one.name, one.at, one.group): one for one in comparison.estimates}
    compared = 0
    for contrast in comparison.contrasts:
        pair = [
            by_key[contrast.endpoint, contrast.name, contrast.at, group].value
            for group in (contrast.group, contrast.reference)
        ]
        if isinstance(contrast.difference, Unknown):
            continue
        assert contrast.difference == pytest.approx(pair[0] - pair[1])  # type: ignore[operator]
        if isinstance(contrast.interval, Interval):
            assert contrast.interval.low <= contrast.difference <= contrast.interval.high
            compared += 1
    assert compared >= 10


def test_both_groups_are_read_up_to_the_same_time(simulated: list[Path]) -> None:
    comparison = fleet(*simulated, by="log").comparison
    assert comparison is not None
    for id in ("review_latency", "blocker_recovery", "progress_gap"):
        times = {one.at for one in comparison.estimates if one.endpoint == id and one.at}
        assert len(times) == 1


def test_a_difference_is_that_of_the_printed_numbers_also_with_delayed_entry(
    simulated: list[Path],
) -> None:
    window = ("2026-01-02T00:00:00Z", None)
    options = study.Options(horizons=(60.0, 4 * HOUR))
    comparison = fleet(*simulated, by="log", window=window, options=options).comparison
    assert comparison is not None
    by_key = {(one.endpoint, one.name, one.at, one.group): one for one in comparison.estimates}
    for contrast in comparison.contrasts:
        key = (contrast.endpoint, contrast.name, contrast.at)
        one, other = (by_key[*key, group].value for group in (contrast.group, contrast.reference))
        if not isinstance(contrast.difference, Unknown):
            assert contrast.difference == pytest.approx(one - other)  # type: ignore[operator]


def test_a_horizon_before_the_curve_is_unknown_and_is_not_replaced(tmp_path: Path) -> None:
    words = []
    for number in range(12):  # each raised in the first minutes, recovered after the thirtieth
        words += [f"r1#W{number}:{number}", f"+b1#W{number}:{number}"]
    for number in range(12):
        raised = 2 * number + 2
        words.append(f"r2#W{number}<e{raised}:{31 + number}")
    log = log_at(tmp_path, " ".join(words))
    options = study.Options(horizons=(60.0, 40 * 60.0))
    found = asked(log, window=("30", None), options=options).endpoint("blocker_recovery")
    early = [one for one in found.estimates if one.at == 60.0]
    assert {type(one.value) for one in early} == {Unknown}
    (mean,) = [one for one in found.estimates if one.name == "mean time blocked"]
    assert mean.at == 40 * 60.0
    assert mean.value == pytest.approx(31 * 60)  # each waited 31 minutes, none less
    assert {"of those still waiting at" in one.method for one in found.estimates} == {True}


def test_groups_of_items_are_by_when_the_item_began(tmp_path: Path) -> None:
    log = log_at(tmp_path, "r1 +b1:2 r2<e2:3 +b2:20 note:25 r1#W2:30 +b1#W2:31 note:40")
    comparison = asked(log, before_after="10").comparison
    assert comparison is not None
    assert comparison.groups == ("before minute 10", "from minute 10")
    counted = {
        one.group: one.denominator.eligible
        for one in comparison.estimates
        if one.endpoint == "blocker_recovery"
    }
    assert counted == {"before minute 10": 2, "from minute 10": 1}
    assert any(one.endpoint == "cost" for one in comparison.contrasts)
    assert dict(comparison.left_out) == {}


def test_what_is_in_no_group_is_counted_once(tmp_path: Path) -> None:
    log = log_at(tmp_path, "start start#W2")
    comparison = asked(log, by="lane").comparison
    assert comparison is not None
    assert dict(comparison.left_out) == {
        "no lane (stretches)": 1,  # W2 is seen at the last moment only
        "no lane (work items)": 2,
    }


def test_a_group_without_an_event_has_no_certain_share(tmp_path: Path) -> None:
    calm = [f"r1#A{n} +b1#A{n}" for n in range(8)]
    busy = [f"r1#B{n} +b1#B{n}" for n in range(8)]
    log = log_at(tmp_path, f"{' '.join(calm)} note:90")
    raised = [f"r2#B{n}<e{2 * n + 2}:{40 + n}" for n in range(8)]
    other = log_at(tmp_path, f"{' '.join([*busy, *raised])} note:90", "b.jsonl")
    found = asked(log, other, by="log", options=study.Options(horizons=(50 * 60.0,)))
    assert found.comparison is not None
    (gap,) = [one for one in found.comparison.contrasts if one.name == "recovered"]
    assert gap.difference == 1.0
    assert isinstance(gap.interval, Unknown)


def test_few_work_items_bear_no_interval(tmp_path: Path) -> None:
    words = [f"r1#W{n} ready#W{n} ci+#W{n} ready#W{n}" for n in range(5)]
    one = estimate(
        asked(log_at(tmp_path, " ".join(words))), "false_success", "claims without evidence"
    )
    assert one.value == 0.5
    assert one.interval == Unknown(
        "5 work items with several each are too few to tell how they differ"
    )


def test_every_band_holds_its_point(simulated: list[Path]) -> None:
    bands = 0
    for endpoint in fleet(*simulated).endpoints:
        for curve in endpoint.curves:
            for point in curve.points:
                if isinstance(point.interval, Interval):
                    assert point.interval.low - 1e-9 <= point.value <= point.interval.high + 1e-9
                    bands += 1
    assert bands > 100


def test_corrected_waits_are_the_true_ones(tmp_path: Path) -> None:
    waits = 0
    for seed in range(6):
        drawn = simulate(seed, Rates(correction_probability=0.2), hours=40)
        log = tmp_path / f"{seed}.jsonl"
        log.write_bytes(drawn.log)
        rows = asked(log, time=drawn.horizon_utc).to_pandas("review_latency")
        found = {row.work_id: row for row in rows.itertuples() if row.role != "excluded"}
        first = [one for one in drawn.truth.reviews if one.first]
        assert {*found} == {one.work_id for one in first}
        for one in first:
            over = one.ended_at is not None and one.ended_at <= drawn.horizon
            until = one.ended_at if over and one.ended_at is not None else drawn.horizon
            assert found[one.work_id].duration_ns == until - one.ready_at
            assert found[one.work_id].cause == (one.kind if over else None)
            waits += 1
    assert waits > 60


# Refused


def test_the_same_bytes_twice_are_refused(tmp_path: Path) -> None:
    copy = tmp_path / "copy.jsonl"
    copy.write_bytes(PAPER.read_bytes())
    with pytest.raises(UsageError, match="counted twice"):
        asked(PAPER, copy)


def test_clones_that_differ_are_noted(tmp_path: Path) -> None:
    log = simulate(3, Rates(), hours=10).log.splitlines(keepends=True)
    for name, part in (("a", log), ("b", log[:-1])):
        (tmp_path / f"{name}.jsonl").write_bytes(b"".join(part))
    (note,) = asked(tmp_path / "a.jsonl", tmp_path / "b.jsonl").notes
    assert f"share {len(log) - 1} events" in note


def test_refused_logs_are_all_named_and_nothing_is_estimated(tmp_path: Path) -> None:
    good = log_at(tmp_path, "start")
    bad = [tmp_path / "bad1.jsonl", tmp_path / "bad2.jsonl"]
    for path in bad:
        path.write_bytes(b"{}\n")
    with pytest.raises(LogsRefused) as told:
        asked(good, *bad)
    assert [one.name for one in told.value.refused] == ["bad1.jsonl", "bad2.jsonl"]
    found = asked(good, *bad, without_refused=True)
    assert [one.name for one in found.refused] == ["bad1.jsonl", "bad2.jsonl"]
    assert [log.name for log in found.logs] == ["a.jsonl"]


def test_work_of_a_refused_log_is_not_called_omitted(tmp_path: Path) -> None:
    good = log_at(tmp_path, "start note")
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b"{}\n")
    register = tmp_path / "register.csv"
    rows = "kind,id,opened_at,closed_at,lane\nwork,W1,,,\nwork,W9,,,\n"
    register.write_text(rows, encoding="utf-8")
    found = asked(good, bad, without_refused=True, register=str(register))
    one = estimate(found, "cost", "events recorded per work item")
    assert (one.value, one.denominator.eligible) == (2.0, 1)
    assert isinstance(one.denominator.omitted, Unknown)


def test_what_one_of_two_logs_lost_is_said_beside_the_numbers(tmp_path: Path) -> None:
    logs = [log_at(tmp_path, "r1 +b1 r2<e2", f"{name}.jsonl") for name in "ab"]
    logs[1].write_bytes(logs[1].read_bytes().replace(b'"W1"', b'"W2"'))
    losses = {
        "document": "replay.losses/1",
        "source": "s",
        "order": "recorded",
        "losses": [],
        "unavailable": ["blocker ends: no kind ends one"],
    }
    Path(f"{logs[1]}.losses.json").write_text(json.dumps(losses), encoding="utf-8")
    endpoint = asked(*logs).endpoint("blocker_recovery")
    assert (endpoint.denominator.eligible, endpoint.denominator.observed) == (2, 1)
    assert endpoint.notes[0].startswith("1 are unavailable")
    (lost,) = [row for row in endpoint.rows if row.role == "unavailable"]
    assert (lost.cause, lost.end_event, lost.duration) == (None, None, None)  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("question", "told"),
    [
        ({"window": ("5", "9"), "minute": "7"}, "a window's end is a time cutoff"),
        ({"by": "colour"}, "expected lane or log"),
        ({"by": "lane", "before_after": "3"}, "in one way"),
        ({"window": ("9", "9")}, "a window ends after it begins"),
        ({"window": ("2026-01-01T00:00:00Z", None)}, "time basis is elapsed"),
    ],
)
def test_what_cannot_be_asked_is_a_usage_error(question: Any, told: str) -> None:
    with pytest.raises(UsageError, match=told):
        asked(PAPER, **question)


# The command

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    def running(*arguments: object) -> tuple[int, str, str]:
        status = main([str(argument) for argument in arguments])
        out, err = capfdbinary.readouterr()
        return status, out.decode(), err.decode()

    return running


def test_the_command_prints_every_endpoint_with_its_denominator(run: Run) -> None:
    status, out, err = run("operations", PAPER)
    assert (status, err) == (0, "")
    for definition in DEFINITIONS.values():
        assert f"\n{definition.title}\n" in out
    assert out.count("eligible ") >= len(DEFINITIONS)
    assert "omitted work: unavailable" in " ".join(out.split())


def test_the_command_writes_everything_that_the_function_has(
    run: Run, simulated: list[Path], tmp_path: Path
) -> None:
    out = tmp_path / "out"
    status, _, err = run("operations", *simulated, "-o", out, "--by", "log", "--horizon", "4h")
    assert status == 0
    assert str(out) in err
    names = {str(path.relative_to(out)) for path in out.rglob("*.*")}
    tables = [*SUMMARIES, *(f"rows/{id}" for id in DEFINITIONS)]
    for name in tables:
        assert {f"{name}.csv", f"{name}.parquet"} <= names
    assert {"report.html", "report.md", "operations.json"} <= names
    assert {
        f"figures/{id}.{kind}" for id in ("review_latency", "shares") for kind in ("svg", "pdf")
    } <= names
    found = fleet(*simulated, by="log", options=study.Options(horizons=(4 * HOUR,)))
    written = json.loads((out / "operations.json").read_bytes())
    assert written == json.loads(json.dumps(document(found)))
    jsonschema.Draft202012Validator(json.loads(schema("operations"))).validate(written)
    for name in tables:
        read = pd.read_parquet(out / f"{name}.parquet")
        pd.testing.assert_frame_equal(read, found.to_pandas(name))


def test_json_is_the_document(run: Run) -> None:
    status, out, _ = run("operations", PAPER, "--format", "json")
    assert status == 0
    jsonschema.Draft202012Validator(json.loads(schema("operations"))).validate(json.loads(out))


def test_each_published_schema_is_one(run: Run) -> None:
    assert run("schema")[1].split() == [*NAMES]
    for name in NAMES:
        jsonschema.Draft202012Validator.check_schema(json.loads(run("schema", name)[1]))
    assert run("schema", "nothing")[0] == 2


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (("operations", "nowhere.jsonl"), 2),
        (("operations", PAPER, "--rules", "nobody/1"), 2),
        (("operations", PAPER, "--window", "9"), 2),
        (("operations", PAPER, "--window", ".."), 2),
        (("operations", PAPER, "--horizon", "4"), 2),
        (("operations", PAPER, "--horizon", "0h"), 2),
        (("operations", PAPER, "--at-time", "yesterday"), 2),
        (("operations", PAPER, "--register", "nowhere.csv"), 2),
        (("operations", PAPER, "--access", PAPER), 2),
        (("operations", ROOT / "fixtures/refused/wrong_type.jsonl"), 3),
        (("operations",), 2),
        ((), 2),
        (("nothing",), 2),
        (("operations", "--help"), 0),
    ],
)
def test_the_exit_status_says_what_happened(
    run: Run, arguments: tuple[object, ...], status: int
) -> None:
    found, _, err = run(*arguments)
    assert found == status
    assert "Traceback" not in err
    assert "a fault of ours" not in err
    assert bool(err) == (status != 0)


def test_a_refusal_says_where_and_writes_nothing(run: Run, tmp_path: Path) -> None:
    status, out, err = run(
        "operations", ROOT / "fixtures/refused/wrong_type.jsonl", "-o", tmp_path / "out"
    )
    assert (status, out) == (3, "")
    assert "wrong_type.jsonl:2: wrong_type at /recorded_sequence" in err
    assert not (tmp_path / "out").exists()


def test_an_input_is_never_written_to(run: Run, tmp_path: Path) -> None:
    access = tmp_path / "estimates.csv"
    access.write_text("ref,status\n", encoding="utf-8")
    status, _, err = run("operations", PAPER, "--access", access, "-o", tmp_path)
    assert (status, access.read_text(encoding="utf-8")) == (2, "ref,status\n")
    assert "is an input" in err


def test_the_required_fields_are_printed(run: Run) -> None:
    out = run("fields")[1]
    assert "check.completed\n  artifact_revision" in out
    assert "evidence_refs" in out


def test_help_costs_no_statistics() -> None:
    code = (
        "import sys, study.cli\n"
        "study.cli.main(['operations', '--help'])\n"
        "heavy = {'pandas', 'pyarrow', 'lifelines', 'scipy', 'numpy', 'matplotlib', 'jinja2'}\n"
        "sys.exit(str(heavy & {*sys.modules}) if heavy & {*sys.modules} else 0)"
    )
    ran = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr


@pytest.mark.parametrize(
    ("command", "status"),
    [
        (">&-", 2),
        ("> /dev/full", 2),
        ("| head -1 > /dev/null", 0),
        ("2>&- -o OUT > /dev/null", 0),
        ("-o '' > /dev/null", 2),
        ("- - < /dev/null > /dev/null", 2),
    ],
)
def test_streams_that_are_closed_or_full_are_no_fault(
    tmp_path: Path, command: str, status: int
) -> None:
    told = command.replace("OUT", str(tmp_path / "out"))
    shell = f"set -o pipefail; {sys.executable} -m study operations {PAPER} {told}"
    ran = subprocess.run(["bash", "-c", shell], cwd=ROOT, capture_output=True, check=False)
    assert ran.returncode == status, ran.stderr
    assert b"Traceback" not in ran.stderr
    assert b"fault of ours" not in ran.stderr


# Hostile and huge


HOSTILE: Final = "=cmd|' /C calc'!A0\x1b[2J\u202e<script>$x_{|`"


def cost_log(folder: Path, *payloads: dict[str, Any]) -> Path:
    """One item with these costs."""
    log = folder / "costs.jsonl"
    notation = f"start {'note ' * len(payloads)}"
    made = [json.loads(line) for line in lines(events(notation)).splitlines()]
    for one, payload in zip(made[1:], payloads, strict=True):
        one |= {"type": "cost.recorded", "payload": payload}
    log.write_text("".join(json.dumps(one) + "\n" for one in made), encoding="utf-8")
    return log


def test_currencies_are_what_was_named_and_no_unit_of_ours(tmp_path: Path) -> None:
    named = ("seconds", "currency seconds", "no currency named", None, "EUR")
    log = cost_log(tmp_path, *({"amount": 2, "currency": one} for one in named))
    amounts = [one for one in asked(log).endpoint("cost").estimates if "amount" in one.name]
    assert {one.unit: one.value for one in amounts} == {
        "currency seconds": 2.0,
        "currency currency seconds": 2.0,
        "currency no currency named": 2.0,
        "no currency named": 2.0,
        "EUR": 2.0,
    }
    assert len({one.name for one in amounts}) == len(named)


def test_a_cost_too_large_to_add_up_is_unknown_and_the_rest_is_told(tmp_path: Path) -> None:
    log = cost_log(tmp_path, {"tokens": 10**400, "tool_calls": 3}, {"amount": 1e308})
    found = asked(log)
    tokens = estimate(found, "cost", "tokens per work item")
    assert tokens.value == Unknown("too large to add up")
    assert estimate(found, "cost", "tool calls per work item").value == 3.0


def test_a_wait_of_centuries_is_told_in_seconds(tmp_path: Path) -> None:
    made = [json.loads(line) for line in lines(events("+b1 note")).splitlines()]
    for one, year in zip(made, (1700, 2250), strict=True):
        del one["recorded_minute"]
        one |= {"schema_version": "events/1", "recorded_at_utc": f"{year}-01-01T00:00:00Z"}
    log = tmp_path / "a.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in made), encoding="utf-8")
    (row,) = asked(log).to_pandas("blocker_recovery").itertuples()
    assert row.duration > 500 * 365 * 86_400
    assert pd.isna(row.duration_ns)


def test_many_gaps_in_a_window_are_looked_at_once(tmp_path: Path) -> None:
    raised = [f"+b{n}#W{n}:{n}" for n in range(300)]
    ended = [f"~b{n}#W{n}:{300 + n / 100}" for n in range(300)]
    log = log_at(tmp_path, " ".join([*raised, *ended]))
    counted = asked(log, window=("300", None)).endpoint("blocker_recovery").denominator
    assert counted.eligible + sum(counted.excluded.values()) == 300


def test_losses_are_found_through_a_link_and_beside_a_compressed_log(tmp_path: Path) -> None:
    log = log_at(tmp_path, "ready@")
    losses = {
        "document": "replay.losses/1",
        "source": "s",
        "order": "recorded",
        "losses": [],
        "unavailable": ["receipts: none"],
    }
    Path(f"{log}.losses.json").write_text(json.dumps(losses), encoding="utf-8")
    link = tmp_path / "link.jsonl"
    link.symlink_to(log)
    packed = tmp_path / "a.jsonl.gz"
    packed.write_bytes(gzip.compress(log.read_bytes()))
    for path in (log, link, packed):
        one = estimate(asked(path), "false_success", "claims without evidence")
        assert isinstance(one.value, Unknown), path


def test_the_order_in_which_logs_are_named_changes_nothing(simulated: list[Path]) -> None:
    one, other = fleet(*simulated), fleet(*reversed(simulated))
    assert one == other


def test_two_empty_logs_are_not_the_same_log(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.jsonl").write_bytes(b"")
    assert [log.admitted for log in asked(tmp_path).logs] == [0, 0]


def test_more_groups_than_can_be_read_are_not_compared(run: Run, tmp_path: Path) -> None:
    made = [json.loads(line) for line in lines(events("start " * 60)).splitlines()]
    for number, one in enumerate(made):
        one |= {"work_id": f"W{number}", "lane_id": f"lane-{number}"}
    log = tmp_path / "a.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in made), encoding="utf-8")
    status, out, _ = run("operations", log, "--by", "lane")
    assert status == 0
    assert "No comparison: 60 groups by lane: at most 50 can be compared." in " ".join(out.split())


@pytest.mark.parametrize(
    "options",
    [{"horizons": (-5.0,)}, {"horizons": (float("nan"),)}, {"seed": -1}, {"minimum_at_risk": 0}],
)
def test_options_that_cannot_be_are_refused(options: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        study.Options(**options)


def test_no_text_of_a_log_is_markup_a_formula_or_a_terminal_escape(
    run: Run, tmp_path: Path
) -> None:
    made = [json.loads(line) for line in lines(events("start r1 ci+ +b1 ready")).splitlines()]
    for one in made:
        one |= {"work_id": HOSTILE, "lane_id": HOSTILE}
    made[3]["payload"] = {"blocker_id": HOSTILE}
    log = tmp_path / "<b>=1+1.jsonl"
    log.write_text("".join(json.dumps(one) + "\n" for one in made), encoding="utf-8")
    status, out, err = run("operations", log, "--by", "lane", "-o", tmp_path / "out")
    assert status == 0
    written = tmp_path / "out"
    page, plain = ((written / f"report.{kind}").read_text("utf-8") for kind in ("html", "md"))
    shown = asked(log)._repr_html_()
    for text in (out, err, page, plain, shown):
        assert not {"\x1b", "\u202e"} & {*text}
    for text in (page, plain, shown):
        assert "<script" not in text
        assert "<b>" not in text
    rows = (written / "rows" / "blocker_recovery.csv").read_text(encoding="utf-8")
    (row,) = csv.DictReader(io.StringIO(rows))
    assert row["work_id"][0] == "'"
    assert original(row["work_id"]) == HOSTILE
