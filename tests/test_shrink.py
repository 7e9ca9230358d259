"""A shrunk log still shows what was kept, through the file, and nothing of it can go."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import replay
from replay import check, disagreement, minimal
from replay.check import OracleFile, Sealed, check_log, seal
from replay.decode import decode_bytes
from replay.document import projection_document
from replay.event import Event
from replay.history import Cutoff, History, Prefix, admit
from replay.oracle import read_oracle
from replay.questions import ANOMALY_CODES, Derived, derive
from replay.rules import named
from tests.command import CASES, PAPER, REFUSED, Json, Run, document, in_process, oracle, process
from tests.drawn import cutoffs, histories
from tests.notation import UTC_START, history, history_of, lines

RULES: Final = ("coordination/1", "coordination/2")
OF_ITEMS: Final = ("state", "revision", "last_message", "last_progress", "blocked_since")
OF_EVENTS: Final = ("episode", "receipt", "claim", "correction")
FILES = settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture
def run(capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capfdbinary)


class Files:
    """A log, what it is shrunk to, and the answers beside that."""

    def __init__(self, folder: Path, name: str = "log.jsonl") -> None:
        self.log = folder / name
        self.out = folder / "small.jsonl"
        self.oracle = folder / "small.oracle.json"

    def shrink(self, run: Run, *options: object) -> Any:
        self.oracle.unlink(missing_ok=True)
        return run("shrink", self.log, "-o", self.out, *options)

    @property
    def ids(self) -> list[str]:
        return [event.event_id for event in replay.load(self.out).events]

    @property
    def answers(self) -> list[Json]:
        return list(json.loads(self.oracle.read_bytes())["answers"])


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(tmp_path)


def written(files: Files, notation: str) -> History:
    log = history(notation)
    files.log.write_bytes(lines(log))
    return log


def derived(log: History, answer: Json) -> Derived:
    """What an oracle's answer asks, derived of a log at the answer's own cutoff."""
    at = answer["at"]
    prefix = log.until(sequence=at.get("sequence"), time=at.get("time"), minute=at.get("minute"))
    rule_set = named(answer["rules"])
    projected = projection_document(rule_set.project(prefix), rule_set)
    return derive(projected, answer["question"], answer["work_id"], answer.get("of"))


def shown(answer: Derived) -> object:
    return "undetermined" if answer.undetermined_by else ("value", answer.value)


def part_of(log: History, kept: list[Event]) -> History:
    return admit([decode_bytes(lines(kept), name="part")]) if kept else history_of([])


def omissions(log: History) -> Iterator[tuple[Event, History]]:
    """Every log with one event less, by way of its lines."""
    for left_out in log.events:
        yield left_out, part_of(log, [event for event in log.events if event != left_out])


# Answers


def test_the_paper_is_ready_for_review_by_three_of_its_nine_events(run: Run, files: Files) -> None:
    files.log = PAPER
    ran = files.shrink(run, "--keep", "state", "--work", "W1")
    assert (ran.status, ran.out) == (0, b"")
    assert ran.said == [f'{files.out}: 3 of 9 events kept (irredundant): state, work item "W1"']
    assert files.ids == ["e6", "e7", "e8"]
    assert run("check", files.out).status == 0


def test_an_open_blocker_is_as_long_as_it_was_when_nothing_after_it_is_left(
    run: Run, files: Files
) -> None:
    written(files, "r1 +b1:3 note:9 note:12")
    for cutoff, seconds, at in (
        ((), 540, {"minute": 12}),
        (("--at-sequence", 3), 360, {"sequence": 3, "minute": 9}),
        (("--at-minute", "10.5"), 450, {"minute": 10.5}),
    ):
        assert (
            files.shrink(run, "--keep", "episode", "--work", "W1", "--of", "e2", *cutoff).status
            == 0
        )
        assert files.ids == ["e2"]
        (answer,) = files.answers
        assert answer["at"] == at
        assert answer["expect"] == {"kind": "censored", "by": None, "elapsed_seconds": seconds}
        assert run("check", files.out).status == 0


def test_a_log_of_utc_times_keeps_the_time_at_which_it_was_observed(run: Run, files: Files) -> None:
    files.log.write_bytes(lines(history("+b1 note:9", basis="utc")))
    assert files.shrink(run, "--keep", "blocked_since", "--work", "W1").status == 0
    assert files.answers[0]["at"] == {"time": replay.render(UTC_START + 540 * 10**9, "utc")}
    assert run("check", files.out).status == 0


@st.composite
def questions(draw: st.DrawFn) -> tuple[History, list[str], Cutoff]:
    """A drawn history, a question as options, and a cutoff."""
    log = draw(histories(max_size=10))
    question = draw(st.sampled_from((*OF_ITEMS, *OF_EVENTS, "certifying_check", "permission")))
    events = [event.event_id for event in log.events] or ["e1"]
    options = ["--keep", question, "--work", draw(st.sampled_from(("W1", "W1", "W2")))]
    if question in OF_EVENTS:
        options += ["--of", draw(st.sampled_from(events))]
    if question == "certifying_check":
        options += ["--of", draw(st.sampled_from(("ci", "lint")))]
    at = draw(cutoffs(log))
    if at.recorded is not None:  # to a time that a minute of six decimals holds
        at = Cutoff(at.sequence, at.recorded - at.recorded % 60_000)
    return log, [*options, "--rules", draw(st.sampled_from(RULES))], at


def as_options(log: History, cutoff: Cutoff) -> list[str]:
    at = [] if cutoff.sequence is None else ["--at-sequence", str(cutoff.sequence)]
    if cutoff.recorded is not None:
        at += ["--at-minute", str(replay.render(cutoff.recorded, "elapsed"))]
    return at


@FILES
@given(questions())
def test_a_shrunk_log_on_disk_answers_as_the_whole_did_and_no_event_of_it_can_go(
    run: Run, files: Files, drawn: tuple[History, list[str], Cutoff]
) -> None:
    log, options, cutoff = drawn
    files.log.write_bytes(lines(log))
    ran = files.shrink(run, *options, *as_options(log, cutoff))
    in_view = log.at(cutoff, basis="elapsed").events
    work_id, of = options[3], options[options.index("--of") + 1] if "--of" in options else None
    asked_of = {of} if options[1] in OF_EVENTS else set()
    own = {event.event_id for event in in_view if event.work_id == work_id}
    if not own or not asked_of <= own:
        assert ran.status == 1
        assert ran.said[0].startswith("nothing to keep: ")
        return
    assert ran.status == 0, ran.err
    (answer,) = files.answers
    small = replay.load(files.out)
    whole = projected(log.at(cutoff, basis="elapsed"), answer)
    assert shown(derived(small, answer)) == shown(whole)
    check = document(run("check", files.out, "--format", "json"))
    assert check["logs"][0]["outcome"] == "agree"
    # every event is there for the answer, or is what was asked about
    for left_out, less in omissions(small):
        is_asked_about = left_out.event_id in asked_of or not any(
            event.work_id == work_id for event in less.events
        )
        assert is_asked_about or shown(derived(less, answer)) != shown(whole)


def projected(prefix: Prefix, answer: Json) -> Derived:
    rule_set = named(answer["rules"])
    found = projection_document(rule_set.project(prefix), rule_set)
    return derive(found, answer["question"], answer["work_id"], answer.get("of"))


@FILES
@given(questions())
def test_shrinking_again_takes_nothing_and_writes_the_same_bytes(
    run: Run, files: Files, drawn: tuple[History, list[str], Cutoff]
) -> None:
    log, options, _ = drawn
    files.log.write_bytes(lines(log))
    if files.shrink(run, *options).status == 1:
        return
    small, answers = files.out.read_bytes(), files.answers
    files.log.write_bytes(small)
    at = answers[0]["at"]
    again = files.shrink(run, *options, *(["--at-minute", str(at["minute"])] if at else []))
    assert again.status == 0
    assert (files.out.read_bytes(), files.answers) == (small, answers)


def test_a_withdrawn_receipt_stays_withdrawn_with_what_withdrew_it(run: Run, files: Files) -> None:
    written(files, "r1 ci+ note retract!e2 ready")
    assert files.shrink(run, "--keep", "receipt", "--work", "W1", "--of", "e2").status == 0
    assert files.ids == ["e2", "e4"]
    assert files.answers[0]["expect"] is None


def test_an_undetermined_answer_keeps_the_event_that_is_not_covered(run: Run, files: Files) -> None:
    written(files, "r1 done ci+ note")
    options = ("--keep", "state", "--work", "W1", "--rules", "coordination/1")
    assert files.shrink(run, *options).status == 0
    assert files.ids == ["e2"]
    assert files.answers[0]["expect"] == "undetermined"
    assert "evidence" not in files.answers[0]
    assert run("check", files.out).status == 0


def test_what_other_items_say_goes(run: Run, files: Files) -> None:
    written(files, "r1 +#W2 ci+ note# ready done#W2")
    assert files.shrink(run, "--keep", "claim", "--work", "W1", "--of", "e5").status == 0
    assert files.ids == ["e1", "e3", "e5"]


# Anomalies


@FILES
@given(histories(max_size=10), st.sampled_from(ANOMALY_CODES), st.sampled_from((None, "W1", "W2")))
def test_an_anomaly_is_carried_by_some_event_and_without_any_other_event_by_none(
    run: Run, files: Files, log: History, code: str, work_id: str | None
) -> None:
    def carried(some: History) -> list[Json]:
        rule_set = named("coordination/2")
        found: Any = projection_document(rule_set.project(some.until()), rule_set)
        listed = [one for item in found["items"] for one in item["anomalies"]
                  if work_id in (None, item["work_id"])]  # fmt: skip
        unassigned = found["unassigned"]["anomalies"] if work_id is None else []
        return [one for one in (*listed, *unassigned) if one["code"] == code]

    files.log.write_bytes(lines(log))
    about = [] if work_id is None else ["--work", work_id]
    ran = files.shrink(run, "--keep", "anomaly", "--of", code, *about)
    if not carried(log):
        assert ran.status == 1
        return
    assert ran.status == 0
    small = replay.load(files.out)
    assert carried(small)
    assert all(not carried(less) for _, less in omissions(small))
    assert run("check", files.out).status == 0


def test_an_anomaly_of_an_event_that_names_no_work_item_is_kept_too(run: Run, files: Files) -> None:
    written(files, "r1 note# note#<e9 ci+")
    assert files.shrink(run, "--keep", "anomaly", "--of", "link_missing").status == 0
    assert files.ids == ["e3"]
    assert files.answers[0]["work_id"] is None


# Disagreements


def test_a_disagreement_keeps_the_authored_and_the_derived_answer(run: Run, files: Files) -> None:
    written(files, "r1 ci- +b1 +b1:8 r2<b1:10 ci+ ready")
    expected = {"kind": "recovered", "elapsed_seconds": 120}
    authored = oracle(
        {"expect": {"value": "awaiting_review"}},
        {"question": "episode", "of": "e3", "expect": expected, "why": "From the repeat."},
    )
    beside = files.log.with_name("log.oracle.json")
    beside.write_bytes(authored)
    ran = files.shrink(run, "--keep", "disagreement")
    assert ran.status == 0
    assert files.ids == ["e3", "e5"]
    (answer,) = files.answers
    assert (answer["id"], answer["expect"], answer["why"]) == ("q2", expected, "From the repeat.")
    check = document(run("check", files.out, "--format", "json"))
    assert check["exit"] == 1
    assert check["logs"][0]["answers"][0]["derived"]["elapsed_seconds"] == 480
    assert beside.read_bytes() == authored


def test_the_disagreement_that_is_named_is_kept_and_others_only_where_they_show(
    run: Run, files: Files
) -> None:
    written(files, "r1 ci+ ready +b1")
    beside = oracle(
        {"question": "revision", "expect": {"value": "r9"}},
        {"expect": {"value": "active"}},
        {"question": "blocked_since", "expect": None},
        {"question": "receipt", "of": "e2", "expect": {"status": "current"}},
    )
    files.log.with_name("log.oracle.json").write_bytes(beside)
    assert files.shrink(run, "--keep", "disagreement").status == 0
    assert (files.ids, [a["id"] for a in files.answers]) == (["e1"], ["q1"])
    assert files.shrink(run, "--keep", "disagreement", "--of", "q3").status == 0
    assert (files.ids, [a["id"] for a in files.answers]) == (["e4"], ["q3", "q2"])
    assert run("check", files.out).status == 1
    ran = files.shrink(run, "--keep", "disagreement", "--of", "q4")
    assert ran.status == 1
    assert ran.said == ['nothing to keep: log.oracle.json: no answer "q4" disagrees with the log']


def test_wrong_evidence_alone_is_a_disagreement_whose_evidence_stays(
    run: Run, files: Files
) -> None:
    written(files, "r1 ci+ lint+ ready note")
    value = {"verdict": "supported"}
    elsewhere = files.log.with_name("other.json")
    elsewhere.write_bytes(
        oracle(
            {
                "rules": "coordination/2",
                "question": "claim",
                "of": "e4",
                "expect": value,
                "evidence": ["e2"],
            }
        )
    )
    assert files.shrink(run, "--keep", "disagreement", "--oracle", elsewhere).status == 0
    assert files.ids == ["e1", "e2", "e3", "e4"]


def test_an_oracle_that_agrees_or_is_undetermined_leaves_nothing_to_keep(
    run: Run, files: Files
) -> None:
    written(files, "r1 done")
    files.log.with_name("log.oracle.json").write_bytes(oracle({"expect": {"value": "active"}}))
    ran = files.shrink(run, "--keep", "disagreement", "--format", "json")
    assert ran.status == 1
    assert document(ran)["nothing"] == "log.oracle.json: no answer disagrees with the log"
    assert not files.out.exists()
    assert not files.oracle.exists()


def test_every_smaller_log_is_sealed_before_its_oracle_is_opened(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    order: list[str] = []

    def noted_seal(prefix: Prefix, rules: str) -> Sealed:
        order.append("seal")
        return seal(prefix, rules)

    def noted_check(log: History, *, oracle: OracleFile, **options: Any) -> Any:
        def read() -> bytes:
            order.append("open")
            return oracle.read()

        return check_log(log, oracle=OracleFile(oracle.name, read), **options)

    monkeypatch.setattr(check, "seal", noted_seal)
    monkeypatch.setattr(disagreement, "check_log", noted_check)
    answers = oracle({"rules": "coordination/2", "expect": {"value": "active"}})
    log = history("r1 ci+ ready note")
    keep, others = disagreement.keep_disagreements(
        log, OracleFile("o", lambda: answers), rules="coordination/2"
    )
    assert keep.holds(keep.start)
    assert others == []
    assert order[:2] == ["seal", "open"]
    assert order == ["seal", "open"] * (len(order) // 2)


@FILES
@given(histories(max_size=8), st.data())
def test_any_disagreement_is_kept_as_it_was(
    run: Run, files: Files, log: History, data: st.DataObject
) -> None:
    files.log.write_bytes(lines(log))
    rules = data.draw(st.sampled_from(RULES))
    question = data.draw(st.sampled_from(("state", "revision", "last_progress", "blocked_since")))
    wrong = {"rules": rules, "question": question, "expect": {"value": "nothing like it"}}
    authored = oracle(wrong)
    files.log.with_name("log.oracle.json").write_bytes(authored)
    ran = files.shrink(run, "--keep", "disagreement")
    (answer,) = read_oracle("o", authored).answers
    whole = derived(log, {"at": {}, "work_id": "W1", "rules": rules, "question": question})
    if whole.undetermined_by or not any(event.work_id == "W1" for event in log.events):
        assert ran.status == 1
        return
    assert ran.status == 0
    small = replay.load(files.out)
    (kept,) = files.answers
    assert kept["expect"] == answer.expect
    assert derived(small, kept).value == whole.value
    assert run("check", files.out).status == 1
    for _, less in omissions(small):
        emptied = not any(event.work_id == "W1" for event in less.events)
        assert emptied or shown(derived(less, kept)) != shown(whole)


# Differences


def test_the_first_difference_of_two_rule_sets_is_kept_with_both_answers(
    run: Run, files: Files
) -> None:
    written(files, "r1#W1 ci+ ready r1#W2 done#W2 ci+#W2 note#W2")
    options = ("--keep", "difference", "--rules", RULES[0], "--rules", RULES[1])
    ran = files.shrink(run, *options)
    assert ran.status == 0
    assert ran.said[0].endswith(
        'difference of coordination/1 and coordination/2: state, work item "W2"'
    )
    assert files.ids == ["e4", "e5", "e6"]
    assert [(a["rules"], a["expect"]) for a in files.answers] == [
        ("coordination/1", "undetermined"),
        ("coordination/2", {"value": "complete", "since": {"event_id": "e6", "time": 5}}),
    ]
    assert run("check", files.out).status == 0
    assert files.shrink(run, *options, "--work", "W1").status == 1


@FILES
@given(histories(max_size=10))
def test_a_difference_that_is_kept_is_the_one_of_the_whole_log(
    run: Run, files: Files, log: History
) -> None:
    files.log.write_bytes(lines(log))
    ran = files.shrink(run, "--keep", "difference", "--rules", RULES[0], "--rules", RULES[1])
    if ran.status == 1:
        # the two agree wherever the older one answers at all
        rule_set = named(RULES[0])
        assert not any(item.undetermined_by for item in rule_set.project(log.until()).items)
        return
    assert ran.status == 0
    small = replay.load(files.out)
    one, other = files.answers
    wholes = [shown(projected(log.until(), answer)) for answer in (one, other)]
    assert one["expect"] != other["expect"]
    assert [shown(derived(small, answer)) for answer in (one, other)] == wholes
    for _, less in omissions(small):
        emptied = not any(event.work_id == one["work_id"] for event in less.events)
        assert emptied or [shown(derived(less, a)) for a in (one, other)] != wholes


# Refusals


@pytest.mark.parametrize("case", sorted(REFUSED.glob("*.jsonl")), ids=lambda path: path.stem)
def test_a_refused_log_shrinks_to_lines_that_are_refused_alike(
    run: Run, tmp_path: Path, case: Path
) -> None:
    code = document(run("project", case, "--format", "json"))["code"]
    padded = tmp_path / "padded.jsonl"
    padded.write_bytes(case.read_bytes())
    out = tmp_path / "out.jsonl"
    ran = run("shrink", padded, "-o", out, "--keep", "refusal", "--of", code, "--format", "json")
    assert ran.status == 0
    found = document(ran)
    assert found["refusal"]["code"] == code
    assert document(run("project", out, "--format", "json"))["code"] == code
    kept = out.read_bytes().splitlines(keepends=True)
    everything = padded.read_bytes().splitlines(keepends=True)
    assert kept == [everything[number - 1] for number in found["lines"]]
    assert 1 <= len(kept) <= 2
    assert not (tmp_path / "out.oracle.json").exists()
    for index in range(len(kept)):
        less = tmp_path / "less.jsonl"
        less.write_bytes(b"".join(kept[:index] + kept[index + 1 :]))
        rest = document(run("project", less, "--format", "json"))
        assert rest.get("code") != code


def test_a_log_that_is_admitted_or_refused_otherwise_has_no_such_refusal(
    run: Run, files: Files
) -> None:
    written(files, "r1 ci+")
    assert files.shrink(run, "--keep", "refusal").said == [
        "nothing to keep: log.jsonl: its lines are not refused"
    ]
    files.log.write_bytes(b"{}\n")
    ran = files.shrink(run, "--keep", "refusal", "--of", "bom")
    assert ran.status == 1
    assert ran.said == ["nothing to keep: log.jsonl: refused as missing_field, not as bom"]


# The files


def test_lines_are_kept_byte_for_byte_once_and_in_sequence_order(run: Run, files: Files) -> None:
    first = (
        b'{ "type":"artifact.published","artifact_revision" : "r\\u0031","schema_version":'
        b'"elapsed/1","event_id":"e1","recorded_sequence":1,"recorded_minute":0.0,"work_id":"W1"}\r'
    )
    second = lines(history("r1 ci+ ready").events[1:2]).rstrip(b"\n")
    third = lines(history("r1 ci+ ready").events[2:]).rstrip(b"\n")
    again = (
        lines(history("r1").events)
        .rstrip(b"\n")
        .replace(b'"recorded_minute":0', b'"recorded_minute":0.0')
    )
    files.log.write_bytes(b"\n".join((third, b"", first, second, again, third)))
    assert files.shrink(run, "--keep", "claim", "--work", "W1", "--of", "e3").status == 0
    assert files.out.read_bytes() == b"".join(line + b"\n" for line in (first, second, third))


def test_sequences_are_evidence_and_never_renumbered(run: Run, files: Files) -> None:
    log = written(files, "r1 note note ci+ note ready")
    assert files.shrink(run, "--keep", "claim", "--work", "W1", "--of", "e6").status == 0
    kept = [event.recorded_sequence for event in replay.load(files.out).events]
    assert kept == [1, 4, 6]
    assert {*kept} < {event.recorded_sequence for event in log.events}


def test_compressed_logs_are_read_and_written(run: Run, files: Files, tmp_path: Path) -> None:
    packed = tmp_path / "log.jsonl.gz"
    packed.write_bytes(gzip.compress(PAPER.read_bytes()))
    for suffix in ("jsonl.gz", "jsonl.zst", "jsonl"):
        out = tmp_path / f"out-{suffix.replace('.', '-')}.{suffix}"
        assert run("shrink", packed, "-o", out, "--keep", "revision", "--work", "W1").status == 0
        assert [event.event_id for event in replay.load(out).events] == ["e6"]
        assert run("check", out).status == 0
        stem = out.name.removesuffix(f".{suffix}")
        assert (tmp_path / f"{stem}.oracle.json").exists()


def test_a_log_from_standard_input_is_written_anew(tmp_path: Path) -> None:
    out = tmp_path / "out.jsonl"
    options = ("--keep", "revision", "--work", "W1")
    ran = process("shrink", "-", "-o", out, *options, stdin=PAPER.read_bytes())
    assert ran.status == 0
    assert lines(replay.load(out)) == out.read_bytes()


def test_segments_are_one_log_and_each_line_comes_from_its_own(
    run: Run, files: Files, tmp_path: Path
) -> None:
    each = lines(history("r1 note ci+ ready")).splitlines(keepends=True)
    names = [tmp_path / name for name in ("a.jsonl", "b.jsonl")]
    names[0].write_bytes(each[0].replace(b'":', b'" :') + each[1])
    names[1].write_bytes(each[2].replace(b'":', b'":  ') + each[3])
    options = ("-o", files.out, "--segments", "--keep", "claim", "--work", "W1", "--of", "e4")
    assert run("shrink", *names, *options).status == 0
    expected = (each[0].replace(b'":', b'" :'), each[2].replace(b'":', b'":  '), each[3])
    assert files.out.read_bytes() == b"".join(expected)
    ran = run("shrink", *names, *(option for option in options if option != "--segments"))
    assert ran.status == 2


def test_of_a_damaged_log_the_good_lines_are_shrunk_and_the_status_says_so(
    run: Run, files: Files
) -> None:
    files.log.write_bytes(lines(history("r1 ci+")) + b"{bad\n")
    assert files.shrink(run, "--keep", "revision", "--work", "W1").status == 3
    ran = files.shrink(run, "--keep", "revision", "--work", "W1", "--recover")
    assert ran.status == 3
    assert files.ids == ["e1"]


def test_a_refused_log_prints_its_refusal(run: Run, files: Files) -> None:
    files.log.write_bytes(b"{bad\n")
    ran = files.shrink(run, "--keep", "state", "--work", "W1", "--format", "json")
    assert ran.status == 3
    assert document(ran)["code"] == "not_json"
    assert not files.out.exists()


def test_the_document_names_what_was_read_kept_and_written(run: Run, files: Files) -> None:
    log = written(files, "r1 ci+ note ready")
    options = ("--keep", "claim", "--work", "W1", "--of", "e4", "--at-sequence", 4)
    found = document(files.shrink(run, *options, "--format", "json"))
    assert found["input"] == {"name": "log.jsonl", "sha256": log.input.sha256}
    assert found["keep"] == {"what": "claim", "work_id": "W1", "of": "e4"}
    assert found["events"] == ["e1", "e2", "e4"]
    assert found["kept"] == {"unit": "event", "count": 3, "of": 4}
    assert found["cutoff"] == {"sequence": 4, "recorded": None, "observed": 3, "flags": []}
    assert found["irredundant"] is True
    assert found["output"]["sha256"] == replay.load(files.out).input.sha256
    assert found["nothing"] is None
    assert [answer["question"] for answer in found["answers"]] == ["claim"]
    assert files.shrink(run, *options, "--no-oracle", "--format", "json").status == 0
    assert not files.oracle.exists()


def test_the_answers_beside_it_say_that_they_are_not_authored(run: Run, files: Files) -> None:
    written(files, "r1 ci+")
    assert files.shrink(run, "--keep", "last_progress", "--work", "W1").status == 0
    found = json.loads(files.oracle.read_bytes())
    assert found["title"] == (
        "skeleton: derived by coordination/2, not authored; replace each why and check each expect"
    )
    (answer,) = found["answers"]
    assert answer["expect"] == {"event_id": "e2", "time": 1}
    assert answer["why"].startswith("derived, not authored")


def test_authored_answers_that_are_there_are_never_written_over(run: Run, files: Files) -> None:
    written(files, "r1 ci+")
    options = ("shrink", files.log, "-o", files.out, "--keep", "revision", "--work", "W1")
    files.oracle.write_bytes(b"authored")
    ran = run(*options)
    assert ran.status == 2
    assert "authored answers are never written over" in ran.said[0]
    assert files.oracle.read_bytes() == b"authored"
    assert not files.out.exists()
    assert run(*options, "--no-oracle").status == 0
    files.oracle.unlink()
    assert [run(*options).status, run(*options).status] == [0, 0]


def test_an_input_is_never_written_to(run: Run, files: Files) -> None:
    log = written(files, "r1 ci+")
    before = files.log.read_bytes()
    beside = files.log.with_name("log.oracle.json")
    beside.write_bytes(oracle({"expect": {"value": "blocked"}}))
    for options in (
        ("-o", files.log, "--keep", "state", "--work", "W1"),
        ("-o", beside, "--keep", "disagreement"),
        ("-o", beside.with_name("log.jsonl.gz"), "--keep", "disagreement"),
        ("-o", "-", "--keep", "state", "--work", "W1"),
    ):
        ran = run("shrink", files.log, *options)
        assert ran.status == 2
    assert files.log.read_bytes() == before == lines(log)
    assert json.loads(beside.read_bytes())["answers"]


def test_a_budget_that_ended_is_said_and_effort_is_more_of_it(
    run: Run, files: Files, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(minimal, "BUDGET", 4)
    written(files, "r1 ci+ ready r1 ci+ ready")
    options = ("--keep", "claim", "--work", "W1", "--of", "e6", "--format", "json")
    ran = files.shrink(run, *options)
    assert ran.status == 0
    assert "(not shown irredundant: try --effort 10)" in ran.said[0]
    assert document(ran)["irredundant"] is False
    assert run("check", files.out).status == 0
    assert document(files.shrink(run, *options, "--effort", 100))["irredundant"] is True


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--keep", "mood"], '--keep "mood": expected one of state, '),
        (["--keep", "state"], "--keep state is about a work item: give --work ID"),
        (["--keep", "anomaly"], "--keep anomaly is of a code: give --of CODE"),
        (["--keep", "anomaly", "--of", "odd"], 'not an anomaly: "odd"'),
        (["--keep", "claim", "--work", "W1"], "claim is asked of something: event"),
        (["--keep", "state", "--work", "W1", "--of", "e1"], "state is asked of nothing"),
        (["--keep", "difference"], "--keep difference compares two rule sets: give --rules twice"),
        (["--keep", "state", "--work", "W1", *("--rules", "a") * 2], "--rules is given once"),
        (["--keep", "state", "--work", "W1", "--oracle", "x"], "--keep state takes no --oracle"),
        (["--keep", "refusal", "--at-sequence", "3"], "--keep refusal takes no --at-sequence"),
        (["--keep", "disagreement", "--rules", "x"], "--keep disagreement takes no --rules"),
        (["--keep", "state", "--work", "W1", "--rules", "x/1"], "no rule set 'x/1'"),
        (["--keep", "state", "--work", "W1", "--effort", "0"], ""),
    ],
)
def test_what_does_not_fit_together_is_a_usage_error(
    run: Run, files: Files, options: list[str], said: str
) -> None:
    files.log = PAPER
    ran = files.shrink(run, *options)
    assert ran.status == 2
    assert said in ran.err
    assert not files.out.exists()


def test_a_disagreement_needs_an_oracle(run: Run, files: Files) -> None:
    written(files, "r1")
    assert files.shrink(run, "--keep", "disagreement").said == [
        "--keep disagreement: no oracle is beside the log; give --oracle FILE"
    ]


def test_text_of_a_log_acts_on_no_terminal(run: Run, files: Files) -> None:
    files.log.write_bytes(lines(history("r1 ci+")).replace(b'"W1"', b'"\\u001b[2JW"'))
    ran = files.shrink(run, "--keep", "revision", "--work", "\x1b[2JW")
    assert ran.status == 0
    assert "\x1b" not in ran.err


def test_every_authored_case_shrinks_to_logs_that_agree(run: Run, files: Files) -> None:
    for case in sorted(CASES.glob("*.jsonl"))[:12]:
        files.log = case
        for item in replay.project(replay.load(case).until(), rules="coordination/2").items:
            ran = files.shrink(run, "--keep", "state", "--work", item.work_id)
            assert ran.status == 0
            assert run("check", files.out).status == 0
