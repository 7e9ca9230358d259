"""Every document that goes in or comes out has a schema, and the schema is exact."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from replay import quarantine
from replay.check import OracleFile, check_document, check_log
from replay.decode import decode_bytes, recover_bytes
from replay.document import projection_document
from replay.errors import REFUSAL_CODES, OracleError, Place, Refusal, UsageError
from replay.event import APPLIED_TYPES
from replay.history import Cutoff, Gap, Input, PrefixFacts, admit
from replay.oracle import read_oracle
from replay.projection import (
    Anomaly,
    Cancelled,
    CancelledWithWork,
    Censored,
    Claim,
    Clocks,
    Correction,
    Derived,
    Episode,
    Item,
    Mark,
    Progress,
    Projection,
    Receipt,
    Recovered,
    Rule,
    RuleSet,
    Unassigned,
    Uncovered,
)
from replay.questions import QUESTIONS
from replay.schemas import names, schema
from replay.timestamps import NS_PER_MINUTE, NS_PER_SECOND
from tests import documents as written

Json = dict[str, Any]
HEX = written.SHA


def validator(name: str) -> jsonschema.Draft202012Validator:
    return jsonschema.Draft202012Validator(schema(name))


def accepts(name: str, document: object) -> bool:
    return bool(validator(name).is_valid(document))


def assert_valid(name: str, document: object) -> None:
    errors = [f"{e.json_path}: {e.message}" for e in validator(name).iter_errors(document)]
    assert errors == []


def objects(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Json]]:
    """Every object inside a document, with its path."""
    if isinstance(value, dict):
        yield path, value
        for key, member in value.items():
            yield from objects(member, (*path, key))
    elif isinstance(value, list):
        for index, entry in enumerate(value):
            yield from objects(entry, (*path, index))


def at(document: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        document = document[step]
    return document


def without_each_member(document: Json) -> Iterator[tuple[str, Json]]:
    for path, found in objects(document):
        for key in found:
            copied = copy.deepcopy(document)
            del at(copied, path)[key]
            yield "/".join(map(str, (*path, key))), copied


def with_an_unknown_member(document: Json) -> Iterator[tuple[str, Json]]:
    for path, _ in objects(document):
        copied = copy.deepcopy(document)
        at(copied, path)["surprise"] = 1
        yield "/".join(map(str, path)), copied


OUTPUTS: dict[str, list[Json]] = {
    "projection": [written.paper_early(), written.paper_full(), written.everything()],
    "refusal": [written.refusal(related=[{"file": "b.jsonl", "line": 3}])],
    "projections": [
        {
            "document": "replay.projections/1",
            "tool": written.TOOL,
            "logs": [
                {"projection": written.paper_early(), "refusal": None},
                {"projection": None, "refusal": written.refusal()},
            ],
            "exit": 3,
        }
    ],
    "losses": [
        {
            "document": "replay.losses/1",
            "source": "git",
            "order": "commit",
            "losses": [{"field": "trailers", "count": 2, "reason": "free text"}],
            "unavailable": ["blocked_since"],
        }
    ],
    "quarantine": [
        {
            "document": "replay.quarantine/1",
            "input": {"name": "a.jsonl", "sha256": HEX},
            "records": 1,
        },
        {
            "line": 3,
            "byte_offset": 200,
            "size": 4,
            "where": "torn_tail",
            "code": "truncated_input",
            "pointer": None,
            "expected": "a whole JSON value and a newline",
            "found": "a torn tail",
            "reason": "truncated_input: expected a whole JSON value and a newline, found a tail",
            "raw": "eyJhIg==",
            "raw_complete": True,
        },
    ],
    "rules": [
        {
            "document": "replay.rules/1",
            "tool": written.TOOL,
            "rules": [
                {
                    "id": "coordination/1",
                    "digest": f"sha256:{HEX}",
                    "rules": [{"id": "1/revision", "sentence": "The latest is current."}],
                }
            ],
        }
    ],
    "shrunk": [
        {
            "document": "replay.shrunk/1",
            "tool": written.TOOL,
            "input": {"name": "a.jsonl", "sha256": HEX},
            "keep": {"what": "claim", "work_id": "W1", "of": "e12"},
            "nothing": None,
            "rules": [{"id": "coordination/2", "digest": f"sha256:{HEX}"}],
            "cutoff": {"sequence": 12, "recorded": None, "observed": 9.5, "flags": []},
            "answers": [
                {
                    "id": "q1",
                    "rules": "coordination/2",
                    "work_id": "W1",
                    "question": "claim",
                    "of": "e12",
                }
            ],
            "refusal": None,
            "kept": {"unit": "event", "count": 2, "of": 1933},
            "events": ["e3", "e12"],
            "lines": [],
            "irredundant": True,
            "output": {"name": "b.jsonl", "sha256": HEX},
            "oracle": {"name": "b.oracle.json", "sha256": HEX},
        },
        {
            "document": "replay.shrunk/1",
            "tool": written.TOOL,
            "input": {"name": "a.jsonl", "sha256": HEX},
            "keep": {"what": "refusal", "work_id": None, "of": "wrong_type"},
            "nothing": "a.jsonl: its lines are not refused",
            "rules": [],
            "cutoff": None,
            "answers": [],
            "refusal": written.refusal(related=[{"file": "a.jsonl", "line": 3}]),
            "kept": None,
            "events": [],
            "lines": [3, 7],
            "irredundant": None,
            "output": None,
            "oracle": None,
        },
    ],
    "questions": [
        {
            "document": "replay.questions/1",
            "tool": written.TOOL,
            "questions": [
                {"id": q.id, "of": q.of, "expect": q.expect, "sentence": q.sentence}
                for q in QUESTIONS
            ],
        }
    ],
}
EXACT = [(name, document) for name, documents in OUTPUTS.items() for document in documents]


# The schemas themselves


@pytest.mark.parametrize("name", names())
def test_every_schema_is_itself_valid_and_names_itself(name: str) -> None:
    document = schema(name)
    jsonschema.Draft202012Validator.check_schema(document)
    assert document["$schema"] == "https://json-schema.org/draft/2020-12/schema"
    assert document["$id"] == f"urn:coordination-replay:schema:{name}"
    assert document["description"]


def test_every_schema_file_has_its_name_published() -> None:
    files = Path(__file__).parents[1].joinpath("replay", "schemas").glob("*.json")
    assert tuple(sorted(path.stem for path in files)) == names()


def test_a_schema_that_does_not_exist_is_a_usage_error_that_lists_those_that_do() -> None:
    with pytest.raises(UsageError, match="no schema 'x'; there are: bisect, check, diff"):
        schema("x")


def test_a_caller_cannot_change_the_schema_that_the_next_one_gets() -> None:
    schema("event")["properties"].clear()
    assert schema("event")["properties"]


# Outputs


@pytest.mark.parametrize(("name", "document"), EXACT)
def test_a_document_of_the_contract_is_valid(name: str, document: Json) -> None:
    assert_valid(name, document)


@pytest.mark.parametrize(("name", "document"), EXACT)
def test_no_member_of_an_output_may_be_missing(name: str, document: Json) -> None:
    judge = validator(name)
    let_through = [path for path, poor in without_each_member(document) if judge.is_valid(poor)]
    assert let_through == []


@pytest.mark.parametrize(("name", "document"), EXACT)
def test_no_output_has_a_member_that_the_contract_does_not_name(name: str, document: Json) -> None:
    judge = validator(name)
    let_through = [path for path, rich in with_an_unknown_member(document) if judge.is_valid(rich)]
    assert let_through == []


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (("input", "sha256"), "4F"),
        (("input", "lines"), -1),
        (("input", "time_basis"), "local"),
        (("rules", "digest"), HEX),
        (("cutoff", "flags"), ["surprise"]),
        (("cutoff", "observed"), "2026-03-01"),
        (("cutoff", "observed"), "2026-03-01T09:00:00.10Z"),
        (("cutoff", "observed"), "2026-03-01T10:00:00+01:00"),
        (("items", 0, "state", "value"), "done"),
        (("items", 0, "state", "value"), None),
        (("items", 0, "clocks", "last_message"), None),
        (("items", 0, "clocks", "last_progress"), {"event_id": "e3", "time": 2}),
        (("items", 0, "episodes"), None),
        (("items", 0, "undetermined_by"), ["e7"]),
        (("items", 0, "episodes", 0, "end", "kind"), "recovered"),
        (("items", 0, "episodes", 0, "elapsed_seconds"), -1),
        (("items", 0, "receipts", 0, "status"), "fresh"),
        (("items", 0, "receipts", 0, "outcome"), "ok"),
        (("items", 0, "authorization"), "established"),
    ],
)
def test_a_projection_with_one_wrong_value_is_not_valid(path: tuple[Any, ...], value: Any) -> None:
    document = written.paper_early()
    at(document, path[:-1])[path[-1]] = value
    assert not accepts("projection", document)


def checks() -> list[Json]:
    return [
        written.check(written.checked(), exit_status=1),
        written.check(
            written.unanswered("accepted", projection=written.everything()),
            written.unanswered("refused", refusal=written.refusal()),
            exit_status=3,
        ),
        written.check(),
    ]


@pytest.mark.parametrize("document", checks())
def test_a_check_is_valid(document: Json) -> None:
    assert_valid("check", document)


@pytest.mark.parametrize(
    ("change", "value"),
    [
        ("outcome", "accepted"),
        ("outcome", "refused"),
        ("outcome", "fine"),
        ("projection", None),
        ("refusal", written.refusal()),
        ("oracle", None),
        ("oracle", {"name": "x"}),
        ("summary", {"agree": 1}),
        ("answers", [{"id": "q1"}]),
        ("surprise", 1),
    ],
)
def test_a_check_whose_parts_do_not_fit_its_outcome_is_not_valid(change: str, value: Any) -> None:
    log = {**written.checked(), change: value}
    assert not accepts("check", written.check(log, exit_status=1))


def test_a_check_embeds_only_projections_that_are_valid_themselves() -> None:
    log = written.checked()
    log["projection"]["items"][0]["surprise"] = 1
    assert not accepts("check", written.check(log))


@pytest.mark.parametrize("code", REFUSAL_CODES)
def test_every_refusal_is_valid(code: str) -> None:
    whole = Refusal(
        code, file="a", line=None, byte_offset=None, pointer=None, expected="x", found="y"
    )
    placed = Refusal(
        code,
        file="a",
        line=1,
        byte_offset=0,
        pointer="/payload/a~1b~0/0",
        expected="x",
        found="",
        related=(Place("b", 2),),
    )
    assert_valid("refusal", whole.document())
    assert_valid("refusal", placed.document())


@pytest.mark.parametrize(
    "change",
    [{"code": "odd"}, {"line": 0}, {"pointer": "x"}, {"pointer": "/~2"}, {"related": None}],
)
def test_a_refusal_with_one_wrong_value_is_not_valid(change: Json) -> None:
    assert not accepts("refusal", {**written.refusal(), **change})


# What the document module writes


def facts(basis: Any, at_: int) -> PrefixFacts:
    source = Input(
        name="a.jsonl",
        sha256=HEX,
        lines=9,
        blank=1,
        duplicates=2,
        quarantined=1,
        admitted=5,
        time_basis=basis,
        complete=False,
        gaps=(Gap(2, 4),),
        notes=("line_order_differs",),
    )
    return PrefixFacts(
        input=source,
        basis=basis,
        cutoff=Cutoff(7, at_),
        observed=at_,
        flags=("cutoff_beyond_log", "cutoff_hides_admitted"),
        applied=2,
        inert=1,
        beyond_cutoff=2,
    )


def determined(now: Mark) -> Item:
    by = (now, ("e1",))
    ends = (Recovered(*by), Cancelled(*by), CancelledWithWork(*by), Censored(now.time))
    return Item(
        work_id="W1",
        state=Derived("blocked", now, "r", ("e1",)),
        revision=Derived("r1", now, "r"),
        clocks=Clocks(now, Progress("e1", now.time, "r"), now),
        episodes=tuple(Episode("W1", None, now, ("e2",), end, NS_PER_SECOND // 3) for end in ends),
        receipts=(
            Receipt("W1", "e1", "check.completed", "", "", "passed", None, "unbound", None),
            Receipt("W1", "e2", "review.completed", None, None, "approved", "r1", "current", "p"),
        ),
        claims=(Claim("W1", "e3", "work.completed", "missing", (), ("", "any check"), "r"),),
        corrections=(Correction("W1", "e4", "e3", "applied", ""),),
        anomalies=(Anomaly("link_missing", "e4", ("e0",)),),
        flags=("no_origin", "possibly_incomplete"),
    )


def undetermined(now: Mark) -> Item:
    return Item(
        work_id="W2",
        state=Derived(None, None, "r"),
        revision=Derived(None, None, "r"),
        clocks=Clocks(now),
        episodes=None,
        receipts=None,
        claims=None,
        corrections=None,
        anomalies=(),
        flags=(),
        undetermined_by=("e9",),
    )


@pytest.mark.parametrize("basis", ["utc", "elapsed"])
@pytest.mark.parametrize("time", [0, NS_PER_MINUTE, 7 * NS_PER_SECOND + 1])
def test_what_the_document_module_writes_is_valid_in_both_time_bases(basis: str, time: int) -> None:
    now = Mark("e1", time)
    rules = RuleSet("coordination/1", (Rule("r", "A rule."),), lambda prefix: projection, HEX)
    projection = Projection(
        rules=rules.id,
        facts=facts(basis, time),
        items=(determined(now), undetermined(now)),
        unassigned=Unassigned(1, now, (Anomaly("link_self", "e5", ("e5",)),)),
        uncovered=(Uncovered("e9", "work.completed", "W2"), Uncovered("e5", "x", None)),
    )
    assert_valid("projection", projection_document(projection, rules))


def test_the_sidecar_of_a_real_recovery_is_valid_line_by_line() -> None:
    recovery = recover_bytes(b'{"a":1}\n\xff\n{"schema', name="a.jsonl")
    lines = [json.loads(line) for line in quarantine.lines(recovery)]
    assert len(lines) == 4
    for line in lines:
        assert_valid("quarantine", line)


def test_a_check_that_was_really_made_is_valid() -> None:
    lines = [
        event(type="artifact.published", work_id="W1", **REVISED),
        event(type="blocker.raised", work_id="W1", event_id="e2", recorded_sequence=2),
        event(type="work.completed", work_id="W2", event_id="e3", recorded_sequence=3),
    ]
    data = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    log = admit([decode_bytes(data, name="a.jsonl")])
    authored = {"document": "replay.oracle/1", "answers": [ANSWER]}
    oracle = OracleFile("a.oracle.json", lambda: json.dumps(authored).encode())
    logs = [
        check_log(log, rules="coordination/1", oracle=oracle),
        check_log(log, rules="coordination/1"),
        check_log(
            Refusal("bom", file="b", line=1, byte_offset=0, pointer=None, expected="x", found="y"),
            rules="coordination/1",
        ),
    ]
    assert_valid("check", check_document(logs))


# Inputs


def event(**other: Any) -> Json:
    base = {"schema_version": "elapsed/1", "event_id": "e1", "recorded_sequence": 1}
    return {**base, "recorded_minute": 0, "type": "note", **other}


def utc(**other: Any) -> Json:
    changed = event(schema_version="events/1", recorded_at_utc="2026-03-01T09:00:00Z", **other)
    del changed["recorded_minute"]
    return changed


REVISED = {"artifact_revision": "r1"}


@pytest.mark.parametrize(
    "line",
    [
        event(),
        event(recorded_minute=0.25, occurred_minute=0),
        utc(),
        utc(occurred_at_utc="2261-12-31T23:59:59.123456789+11:30"),
        event(payload=None, causes=None, evidence_refs=None, supersedes=None, work_id=None),
        event(payload={"anything": [1, {}]}, evidence_refs=["x"], causes=["e0"], lane_id="l"),
        event(type="my.own", payload={"outcome": 1}),
        event(type="artifact.published", **REVISED),
        event(type="artifact.published", payload={"description": None, "size": 3}, **REVISED),
        event(type="event.retracted", supersedes="e0", payload={"reason": "x"}),
        event(type="check.completed", payload={"check": "", "outcome": "passed", "source": None}),
        event(type="blocker.raised"),
        event(type="blocker.resolved", payload={"blocker_id": "b"}),
        event(type="review.requested", payload={"requires": ["ci"]}),
        event(type="review.completed", payload={"outcome": "dismissed"}),
        event(type="status.asserted", payload={"state": "active", "as_of_sequence": 1}),
        event(type="cost.recorded", payload={"tokens": 5, "operator_seconds": 0.5, "amount": -1}),
    ],
)
def test_an_event_that_the_reader_takes_is_valid(line: Json) -> None:
    assert decode_bytes(json.dumps(line).encode(), name="a").events
    assert_valid("event", line)


@pytest.mark.parametrize("missing", ["schema_version", "event_id", "recorded_sequence", "type"])
def test_an_event_without_a_required_field_is_not_valid(missing: str) -> None:
    for line in (event(), utc()):
        del line[missing]
        assert not accepts("event", line)


@pytest.mark.parametrize(
    "line",
    [
        event(surprise=1),
        event(schema_version="events/2"),
        event(schema_version="events/1"),
        event(recorded_at_utc="2026-03-01T09:00:00Z"),
        {**utc(), "recorded_minute": 1},
        utc(occurred_minute=1),
        event(event_id=""),
        event(event_id=None),
        event(recorded_sequence=0),
        event(recorded_sequence="2"),
        event(recorded_sequence=True),
        event(recorded_sequence=2**53),
        event(recorded_minute=-1),
        event(recorded_minute=None),
        event(principal=""),
        event(payload=[]),
        event(causes=[""]),
        event(evidence_refs="x"),
        {**utc(), "recorded_at_utc": "2026-03-01T09:00:00"},
        {**utc(), "recorded_at_utc": "2026-03-01 09:00:00Z"},
        {**utc(), "recorded_at_utc": "2026-03-01T09:00:60Z"},
        {**utc(), "recorded_at_utc": "1677-03-01T09:00:00Z"},
        {**utc(), "recorded_at_utc": "2026-03-01T09:00:00.1234567890Z"},
        event(type="artifact.published"),
        event(type="artifact.published", artifact_revision=None),
        event(type="artifact.published", payload={"description": 1}, **REVISED),
        event(type="event.retracted"),
        event(type="check.completed"),
        event(type="check.completed", payload=None),
        event(type="check.completed", payload={"check": "ci"}),
        event(type="check.completed", payload={"check": "ci", "outcome": "success"}),
        event(type="check.completed", payload={"check": "ci", "outcome": "passed", "source": 1}),
        event(type="blocker.cancelled", payload={"blocker_id": 1}),
        event(type="work.cancelled", payload={"reason": 1}),
        event(type="review.requested", payload={"requires": "ci"}),
        event(type="review.completed", payload={"outcome": "passed"}),
        event(type="status.asserted", payload={"state": "done"}),
        event(type="status.asserted", payload={"state": "active", "as_of_sequence": 0}),
        event(type="cost.recorded", payload={"tokens": 0.5}),
    ],
)
def test_a_line_that_the_reader_refuses_is_not_valid(line: Json) -> None:
    with pytest.raises(Refusal):
        decode_bytes(json.dumps(line).encode(), name="a")
    assert not accepts("event", line)


def test_the_event_schema_knows_only_classes_of_the_contract() -> None:
    conditions = schema("event")["allOf"]
    named = {
        type_
        for condition in conditions
        for type_ in condition["if"]["properties"].get("type", {}).get("enum", [])
    }
    assert named <= APPLIED_TYPES | {"cost.recorded"}


def test_an_authored_oracle_is_valid() -> None:
    assert_valid("oracle", written.ORACLE)


ANSWER: Json = {
    "id": "q1",
    "rules": "coordination/1",
    "at": {},
    "work_id": "W1",
    "question": "state",
    "expect": "undetermined",
}


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"at": {"sequence": 0, "minute": 0.5}},
        {"at": {"time": "2026-03-01T09:00:00+01:00", "minute": None}},
        {"expect": None, "evidence": [], "why": "Because.", "of": None},
        {"question": "receipt", "of": "e3", "work_id": None},
        {"question": "anomaly", "of": "link_self"},
    ],
)
def test_an_answer_that_the_oracle_reader_takes_is_valid(change: Json) -> None:
    document = {"document": "replay.oracle/1", "answers": [{**ANSWER, **change}]}
    assert read_oracle("a", json.dumps(document).encode()).answers
    assert_valid("oracle", document)


@pytest.mark.parametrize(
    "change",
    [
        {"id": ""},
        {"surprise": 1},
        {"question": "why"},
        {"question": "receipt"},
        {"question": "receipt", "of": None},
        {"question": "anomaly", "of": "link_odd"},
        {"of": "e1"},
        {"at": {"sequence": -1}},
        {"at": {"minute": 1, "time": "2026-03-01T09:00:00Z"}},
        {"at": {"cutoff": 1}},
        {"evidence": "e1"},
    ],
)
def test_an_answer_that_the_oracle_reader_refuses_is_not_valid(change: Json) -> None:
    document = {"document": "replay.oracle/1", "answers": [{**ANSWER, **change}]}
    with pytest.raises(OracleError):
        read_oracle("a", json.dumps(document).encode())
    assert not accepts("oracle", document)


@pytest.mark.parametrize("missing", [*ANSWER])
def test_an_answer_without_a_required_member_is_not_valid(missing: str) -> None:
    poor = {key: value for key, value in ANSWER.items() if key != missing}
    document = {"document": "replay.oracle/1", "answers": [poor]}
    with pytest.raises(OracleError):
        read_oracle("a", json.dumps(document).encode())
    assert not accepts("oracle", document)


def test_the_catalogue_and_the_oracle_schema_ask_the_same_questions() -> None:
    asked = schema("oracle")["properties"]["answers"]["items"]["properties"]["question"]["enum"]
    assert asked == [question.id for question in QUESTIONS]
