"""Strict decoding: what a line says, what is refused, and that both paths agree."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import example, given, settings
from hypothesis import strategies as st

from replay import errors, event
from replay.decode import Limits, decode, decode_bytes, recover_bytes
from replay.errors import Refusal, UsageError
from replay.event import (
    Blocker,
    Check,
    Event,
    Review,
    ReviewRequest,
    Source,
    Stated,
    StatusAssertion,
)
from replay.exact import DEFAULT_LIMITS, is_blank, read_event
from replay.fastpath import FastPath, is_plain
from replay.files import load
from replay.history import admit
from replay.strictjson import Fault, scan

REFUSED = Path(__file__).parent.parent / "fixtures" / "refused"
REFUSED_LOGS = sorted(REFUSED.glob("*.jsonl*"))

ELAPSED: dict[str, Any] = {
    "schema_version": "elapsed/1",
    "event_id": "e1",
    "recorded_sequence": 1,
    "recorded_minute": 8,
    "work_id": "W1",
    "type": "work.started",
}
UTC: dict[str, Any] = {
    "schema_version": "events/1",
    "event_id": "e1",
    "recorded_sequence": 1,
    "recorded_at_utc": "2026-03-01T10:00:00Z",
    "type": "heartbeat",
}


def text(base: dict[str, Any] = ELAPSED, **fields: Any) -> bytes:
    return json.dumps({**base, **fields}, ensure_ascii=False).encode()


def one(line: bytes, **options: Any) -> Event:
    (only,) = decode_bytes(line, name="log.jsonl", **options).events
    return only


def refusal(data: bytes, **options: Any) -> Refusal:
    with pytest.raises(Refusal) as caught:
        decode_bytes(data, name="log.jsonl", **options)
    return caught.value


# ---- what a line says


def test_an_absent_field_a_null_and_the_default_are_one_value() -> None:
    absent = one(text())
    null = one(text(principal=None, payload=None, causes=None, evidence_refs=None, supersedes=None))
    default = one(text(payload={}, causes=[], evidence_refs=[]))
    assert absent == null == default
    assert absent.payload_json == b"{}"


def test_the_payload_is_kept_as_written() -> None:
    line = text(type="note")[:-1] + b',"payload": { "n" : 1.50, "\\u0061":[ ] } }'
    assert one(line).payload_json == b'{ "n" : 1.50, "\\u0061":[ ] }'


@pytest.mark.parametrize(
    ("fields", "written"),
    [
        ({"recorded_minute": 8}, None),
        ({"recorded_minute": 8.5}, None),
        ({"recorded_minute": 8.0}, (8.0, None)),
        ({"recorded_minute": 8, "occurred_minute": 7.0}, (None, 7.0)),
    ],
)
def test_a_minute_whose_json_type_is_not_canonical_is_remembered(
    fields: dict[str, Any], written: Any
) -> None:
    got = one(text(**fields)).written
    assert got == written
    assert got is None or all(part is None or type(part) is float for part in got)


@pytest.mark.parametrize(
    ("time", "written"),
    [
        ("2026-03-01T10:00:00Z", None),
        ("2026-03-01T10:00:00.25Z", None),
        ("2026-03-01T10:00:00.250Z", "2026-03-01T10:00:00.250Z"),
        ("2026-03-01T11:00:00.25+01:00", "2026-03-01T11:00:00.25+01:00"),
    ],
)
def test_a_time_that_is_spelled_otherwise_is_remembered(time: str, written: str | None) -> None:
    got = one(text(UTC, recorded_at_utc=time))
    assert got.written == (None if written is None else (written, None))
    assert got.recorded_at // 10**9 == 1772359200


def test_nine_fraction_digits_are_kept_exactly() -> None:
    got = one(text(UTC, recorded_at_utc="1969-12-31T23:59:59.999999999Z"))
    assert got.recorded_at == -1


@pytest.mark.parametrize(
    ("kind", "payload", "data"),
    [
        ("check.completed", {"check": "ci", "outcome": "passed"}, Check("ci", "passed")),
        (
            "check.completed",
            {"check": "ci", "outcome": "failed", "source": "Local", "run": {"id": 7}},
            Check("ci", "failed", "Local"),
        ),
        ("blocker.raised", {"blocker_id": None, "reason": None}, Blocker()),
        ("blocker.resolved", {"blocker_id": "b1"}, Blocker("b1")),
        ("review.requested", {}, ReviewRequest()),
        ("review.requested", {"requires": ["ci", "lint"]}, ReviewRequest(("ci", "lint"))),
        ("review.completed", {"outcome": "dismissed"}, Review("dismissed")),
        (
            "status.asserted",
            {"state": "blocked", "revision": None, "as_of_sequence": 9007199254740991},
            StatusAssertion("blocked", None, 9007199254740991),
        ),
        ("work.cancelled", {"reason": "descoped"}, Stated("descoped")),
        ("cost.recorded", {"tokens": 10**30, "operator_seconds": 0.5, "amount": -1}, event.NO_DATA),
        ("heartbeat", {"outcome": 7, "requires": None}, event.NO_DATA),
        ("deploy.finished", {"check": 5}, event.NO_DATA),
    ],
)
def test_a_listed_payload_becomes_typed_data(kind: str, payload: Any, data: Any) -> None:
    assert one(text(type=kind, payload=payload)).data == data


@pytest.mark.parametrize(
    ("kind", "payload", "pointer"),
    [
        ("check.completed", {"check": None, "outcome": "passed"}, "/payload/check"),
        ("check.completed", {"check": "ci", "outcome": "Passed"}, "/payload/outcome"),
        ("check.completed", {"check": "ci", "outcome": "passed", "source": 1}, "/payload/source"),
        ("blocker.cancelled", {"blocker_id": 1}, "/payload/blocker_id"),
        ("review.requested", {"requires": "ci"}, "/payload/requires"),
        ("review.completed", {}, "/payload/outcome"),
        ("review.completed", {"outcome": ["approved"]}, "/payload/outcome"),
        ("status.asserted", {"state": "done"}, "/payload/state"),
        ("status.asserted", {"state": "active", "as_of_sequence": 0}, "/payload/as_of_sequence"),
        ("status.asserted", {"state": "active", "as_of_sequence": True}, "/payload/as_of_sequence"),
        ("cost.recorded", {"tool_calls": 1.0}, "/payload/tool_calls"),
        ("cost.recorded", {"reviewer_seconds": -0.5}, "/payload/reviewer_seconds"),
        ("cost.recorded", {"amount": "1"}, "/payload/amount"),
    ],
)
def test_a_malformed_listed_payload_is_refused_at_its_key(
    kind: str, payload: Any, pointer: str
) -> None:
    got = refusal(text(type=kind, payload=payload))
    assert (got.code, got.pointer) == ("bad_payload", pointer)


def test_free_text_in_listed_keys_moves_no_typed_data() -> None:
    words = "blocked complete passed local approved event.retracted"
    got = one(text(type="blocker.raised", payload={"reason": words, "outcome": "passed"}))
    assert got.data == Blocker()


# ---- lines


def test_blank_lines_are_counted_and_shift_no_line_number() -> None:
    got = decode_bytes(b"\n \t\r\n" + text() + b"\r\n\n", name="log.jsonl")
    assert (got.lines, got.blank, len(got.events)) == (4, 3, 1)
    assert (got.events[0].line, got.events[0].byte_offset) == (3, 5)


@pytest.mark.parametrize("data", [b"", b"\n", b" ", b"\r\n\t"])
def test_an_empty_or_blank_log_is_accepted_with_no_events(data: bytes) -> None:
    history = admit([decode_bytes(data, name="log.jsonl")])
    assert (history.events, history.time_basis) == ((), None)


def test_other_separators_end_no_line() -> None:
    separators = "\u2028 \u2029 \x85 \x7f"
    assert one(text(type="note", payload={"t": separators})).payload == {"t": separators}


def test_the_last_line_needs_no_newline() -> None:
    assert one(text()) == one(text() + b"\n")


@given(st.integers(1, 7), st.binary(max_size=40))
def test_where_a_stream_is_cut_changes_nothing(size: int, end: bytes) -> None:
    data = text() + b"\n\n" + text(type="note", payload={"t": "é"}) + b"\n" + end
    cut = [data[at : at + size] for at in range(0, len(data), size)]
    assert outcome([data]) == outcome(cut)


def outcome(chunks: list[bytes], limits: Limits = DEFAULT_LIMITS) -> object:
    try:
        return decode(chunks, name="log.jsonl", sha256="", limits=limits)
    except Refusal as refused:
        return refused.document()


# ---- limits


def test_a_line_is_as_long_as_the_limit_allows_and_no_longer() -> None:
    exact = Limits(line_bytes=len(text()))
    assert one(text() + b"\n", limits=exact).event_id == "e1"
    shorter = Limits(line_bytes=len(text()) - 1)
    assert refusal(text() + b"\n", limits=shorter).code == "line_too_long"
    assert refusal(text(), limits=shorter).code == "line_too_long"


def test_an_endless_line_is_refused_before_it_is_read() -> None:
    read = 0

    def endless() -> Any:
        nonlocal read
        while True:
            read += 1
            yield b"a" * 100

    with pytest.raises(Refusal) as caught:
        decode(endless(), name="log.jsonl", sha256="", limits=Limits(line_bytes=1000))
    assert (caught.value.code, read) == ("line_too_long", 11)


@pytest.mark.parametrize("opening", ['{"a":', "["])
def test_sixty_four_levels_are_the_deepest(opening: str) -> None:
    closing = "}" if opening.startswith("{") else "]"

    def nested(levels: int) -> bytes:
        value = (opening * levels + "1" + closing * levels).encode()
        return text(type="note")[:-1] + b',"payload":{"v":' + value + b"}}"

    assert one(nested(62)).type == "note"
    assert refusal(nested(63)).code == "too_deep"
    assert one(nested(63), limits=Limits(nesting=65)).type == "note"


def test_brackets_in_strings_are_no_levels() -> None:
    assert one(text(type="note", payload={"t": "[" * 1000 + "{" * 1000})).type == "note"


def test_hundred_thousand_levels_are_refused_without_exhausting_the_stack() -> None:
    assert refusal(b"[" * 100_000).code == "too_deep"


@pytest.mark.parametrize(
    "field", ["event_id", "principal", "claimed_author", "relayed_by", "work_id", "lane_id"]
)
def test_an_id_is_measured_in_bytes(field: str) -> None:
    assert one(text(**{field: "é" * 512}))
    got = refusal(text(**{field: "é" * 512 + "a"}))
    assert (got.code, got.pointer) == ("id_too_long", f"/{field}")


@pytest.mark.parametrize(
    ("field", "value", "pointer"),
    [
        ("artifact_revision", "abcde", "/artifact_revision"),
        ("supersedes", "abcde", "/supersedes"),
        ("causes", ["a", "abcde"], "/causes/1"),
    ],
)
def test_the_id_limit_can_be_set(field: str, value: Any, pointer: str) -> None:
    got = refusal(text(type="note", **{field: value}), limits=Limits(id_bytes=4))
    assert (got.code, got.pointer) == ("id_too_long", pointer)


def test_an_evidence_reference_may_be_a_long_address() -> None:
    assert one(text(evidence_refs=["x" * 2000])).evidence_refs == ("x" * 2000,)


@pytest.mark.parametrize(
    "limits", [{"line_bytes": 1}, {"nesting": 1}, {"nesting": 513}, {"id_bytes": 0}]
)
def test_limits_that_make_no_sense_are_a_usage_error(limits: dict[str, int]) -> None:
    with pytest.raises(UsageError):
        Limits(**limits)


# ---- numbers


@pytest.mark.parametrize("number", ["1" * 400, "-" + "9" * 5000, "1e-400", "0.0", "1E+2", "-0"])
def test_a_number_that_a_double_or_an_integer_holds_is_kept(number: str) -> None:
    line = text(type="note")[:-1] + f',"payload":{{"n":{number}}}}}'.encode()
    assert one(line).payload_json == f'{{"n":{number}}}'.encode()


def test_integers_beyond_what_python_converts_are_compared_exactly() -> None:
    lines = [
        text(type="note")[:-1] + f',"payload":{{"n":{digits}}}}}\n'.encode()
        for digits in ("7" * 5000, "7" * 4999 + "8")
    ]
    same = decode_bytes(lines[0] + lines[0].replace(b'"n":', b'"n": '), name="log.jsonl")
    assert len(admit([same]).duplicates) == 1
    with pytest.raises(Refusal, match="conflicting_duplicate at /payload/n"):
        admit([decode_bytes(b"".join(lines), name="log.jsonl")])


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1" * 400 + ".5", "0.1e999999999999999999"])
def test_a_number_that_no_double_holds_is_out_of_range(number: str) -> None:
    line = text(type="note")[:-1] + f',"payload":{{"n":[{number}]}}}}'.encode()
    got = refusal(line)
    assert (got.code, got.pointer) == ("number_out_of_range", "/payload/n/0")


@pytest.mark.parametrize(
    ("minute", "code"),
    [
        ("-1e-400", "bad_time"),
        ("153722867.1", "number_out_of_range"),
        ("9" * 5000, "number_out_of_range"),
        ("1e-7", "bad_time"),
        ("0.1234567", "bad_time"),
        ('"8"', "wrong_type"),
        ("false", "wrong_type"),
        ("[8]", "wrong_type"),
    ],
)
def test_a_minute_that_is_none_is_refused(minute: str, code: str) -> None:
    line = text().replace(b'"recorded_minute": 8', f'"recorded_minute": {minute}'.encode())
    got = refusal(line)
    assert (got.code, got.pointer) == (code, "/recorded_minute")


# ---- the order of judgement


@pytest.mark.parametrize(
    ("line", "code"),
    [
        (b'{"a":1,"a":NaN,', "duplicate_key"),
        (b'{"a":NaN,"a":1', "nan_or_infinity"),
        (b'{"schema_version":"events/9","a":1,"event_id":2}', "unknown_schema_version"),
        (text(severity=1, recorded_sequence="1"), "unknown_field"),
        (text(event_id=None, recorded_sequence="1"), "missing_field"),
        (text(type="check.completed", payload={}, supersedes=1), "wrong_type"),
        (text(type="artifact.published", payload={"description": 1}), "missing_field"),
    ],
)
def test_the_first_fault_in_the_documented_order_is_reported(line: bytes, code: str) -> None:
    assert refusal(line + b"\n").code == code


# ---- every code has a fixture


@pytest.mark.parametrize("log", REFUSED_LOGS, ids=lambda log: log.name)
def test_a_refused_fixture_is_refused_exactly_as_authored(log: Path) -> None:
    with pytest.raises(Refusal) as caught:
        load(str(log))
    authored = REFUSED / f"{log.name.split('.jsonl')[0]}.error.json"
    assert rfc8785.dumps(caught.value.document()) + b"\n" == authored.read_bytes()
    assert caught.value.code == log.name.split(".")[0].split("-")[0]


def test_every_code_has_a_fixture() -> None:
    covered = {log.name.split(".")[0].split("-")[0] for log in REFUSED_LOGS}
    assert covered == set(errors.REFUSAL_CODES)


# ---- arbitrary bytes

FRAGMENTS = st.sampled_from(
    [
        *(bytes([byte]) for byte in b'{}[],:"\\ue-+.0123456789 \t\r\n\x00\xef\xbb\xbf\xed\xa0\x80'),
        *(b"true", b"null", b"NaN", b"-Infinity", b"1e400", b"\\ud83d", b"\\ude00", b'"a":'),
        *(text(), text(UTC), b'{"payload":{"a":1,"a":2}}'),
    ]
)
BYTES = st.one_of(st.binary(max_size=80), st.lists(FRAGMENTS, max_size=40).map(b"".join))


@given(BYTES)
def test_any_bytes_are_read_or_refused_with_a_known_code(data: bytes) -> None:
    match outcome([data]):
        case Source() as source:
            assert source.lines == source.blank + len(source.events)
        case {"code": code, "line": int(line), "byte_offset": int(offset)} as document:
            assert code in errors.REFUSAL_CODES
            assert line == data.count(b"\n", 0, offset) + 1
            rfc8785.dumps(document)
        case other:
            pytest.fail(f"neither read nor refused: {other!r}")


@given(BYTES)
def test_recovery_of_any_bytes_accounts_for_every_line(data: bytes) -> None:
    got = recover_bytes(data, name="log.jsonl")
    source = got.source
    lines = data.count(b"\n") + (not data.endswith(b"\n") and data != b"")
    assert source.lines == lines == source.blank + len(source.events) + source.quarantined
    for rejected in got.rejected:
        end = rejected.byte_offset + rejected.size
        assert data[rejected.byte_offset : end] == rejected.raw


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text(st.characters(codec="utf-8"), max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(JSON_VALUES, st.booleans(), st.sampled_from([None, (" , ", " : "), (",", ":")]))
def test_the_exact_scanner_reads_what_the_standard_library_wrote(
    value: Any, ascii_only: bool, separators: tuple[str, str] | None
) -> None:
    written = json.dumps(value, ensure_ascii=ascii_only, separators=separators)
    assert repr(scan(written, 64).value) == repr(json.loads(written))


# ---- both paths


TYPES = st.sampled_from([*sorted(event.APPLIED_TYPES | event.LISTED_INERT_TYPES), "other.type"])
WORDS = st.one_of(
    st.sampled_from(
        ["e1", "ci", "passed", "approved", "blocked", "a:b", " :", ":", "é", "\t", '"']
    ),
    st.text(st.characters(codec="utf-8"), max_size=4),
)
PAYLOADS = st.dictionaries(
    st.sampled_from(
        ["check", "outcome", "source", "state", "requires", "reason", "as_of_sequence", "tokens"]
    )
    | WORDS,
    WORDS | JSON_VALUES,
    max_size=4,
)
TIMES = st.one_of(
    st.sampled_from(
        [
            *("2026-03-01T10:00:00Z", "2026-03-01T10:00:00.5Z", "2026-03-01T10:00:00.50Z"),
            *("2026-03-01T10:00:00.²Z", "2026-03-01T10:00:00.Z", "2026-03-01T10:00:00,5Z"),
            *("2026-03-01T10:00:00", "2026-03-01T10:00:00.1", "2026-03-01T10:00:00.1_0Z"),
            *("2026-03-01T10:00:60Z", "2026-03-01T10:00:00.0000000001Z", "2026-03-01"),
            "1678-01-01T00:00:00+00:01",
        ]
    ),
    st.datetimes().map(lambda time: time.isoformat() + "Z"),
)
MINUTES = st.one_of(st.integers(-1, 200_000_000), st.floats(0, 100), st.just(8.0))
OPTIONAL = st.none() | WORDS
REFS = st.none() | st.lists(WORDS, max_size=2)


@st.composite
def lines(draw: st.DrawFn) -> bytes:
    utc = draw(st.booleans())
    fields: dict[str, Any] = {
        "schema_version": "events/1" if utc else "elapsed/1",
        "event_id": draw(WORDS),
        "recorded_sequence": draw(st.sampled_from([1, 2**53 - 1, 2**53, 0, 7])),
        "recorded_at_utc" if utc else "recorded_minute": draw(TIMES if utc else MINUTES),
        "type": draw(TYPES),
    }
    optional = {
        "occurred_at_utc" if utc else "occurred_minute": st.none() | (TIMES if utc else MINUTES),
        "payload": st.none() | PAYLOADS,
        "evidence_refs": REFS,
        "causes": REFS,
        **dict.fromkeys(["principal", "claimed_author", "relayed_by", "work_id"], OPTIONAL),
        **dict.fromkeys(["lane_id", "artifact_revision", "supersedes"], OPTIONAL),
    }
    chosen = draw(st.sets(st.sampled_from(sorted(optional))))
    fields |= {name: draw(optional[name]) for name in sorted(chosen)}
    separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,", " :")]))
    return json.dumps(fields, ensure_ascii=draw(st.booleans()), separators=separators).encode()


@st.composite
def mutated(draw: st.DrawFn) -> bytes:
    """A line with some bytes removed, repeated or replaced."""
    line = draw(lines())
    for _ in range(draw(st.integers(0, 3))):
        begin = draw(st.integers(0, len(line)))
        end = draw(st.integers(begin, min(len(line), begin + 20)))
        piece = draw(st.sampled_from([b"", line[begin:end] * 2]) | FRAGMENTS)
        line = line[:begin] + piece + line[end:]
    return line.replace(b"\n", b" ")


LIMITS = st.sampled_from([DEFAULT_LIMITS, Limits(nesting=2), Limits(nesting=3), Limits(id_bytes=2)])


def exact(line: bytes, limits: Limits) -> Event | None:
    try:
        return None if is_blank(line) else read_event(line, 3, 17, limits)
    except Fault:
        return None


def identical(one: Event, other: Event) -> bool:
    """Equal, and of the same types where equality is lax (1 and 1.0)."""
    return one == other and repr(one) == repr(other)


@settings(max_examples=400)
@given(mutated(), LIMITS)
@example(text()[:-1] + b',"work_id": "W2"}', DEFAULT_LIMITS)
@example(text(type="note")[:-1] + b',"payload":{"a":1,"a" :2}}', DEFAULT_LIMITS)
@example(text(type="note")[:-1] + b',"payload":{"a":{"b":1},"a":[]}}', DEFAULT_LIMITS)
@example(text(type="note", payload={"a": ":", "b": [{"c": ":"}]}), DEFAULT_LIMITS)
@example(text(type="note")[:-1] + b',"payload":{"n":1e400}}', DEFAULT_LIMITS)
@example(text(type="note")[:-1] + b',"payload":{"n":"\xed\xa0\x80"}}', DEFAULT_LIMITS)
@example(text(type="note")[:-1] + b',"payload":{"n":[[]]}}', Limits(nesting=3))
@example(text(type="note")[:-1] + b',"payload":{"a":1,"a"\t:2}}', DEFAULT_LIMITS)
@example(text(type="note")[:-1] + b',"payload":{"a":1,"a"\r:2}}', DEFAULT_LIMITS)
@example(text(UTC, recorded_at_utc="2026-03-01T10:00:00.12"), DEFAULT_LIMITS)
@example(text(UTC, recorded_at_utc="2026-03-01T10:00:00.12z"), DEFAULT_LIMITS)
@example(text(lane_id=""), DEFAULT_LIMITS)
@example(text(causes=["e0", ""]), DEFAULT_LIMITS)
@example(text(occurred_minute=0), DEFAULT_LIMITS)
@example(text(type="event.retracted"), DEFAULT_LIMITS)
@example(text(UTC, occurred_at_utc=None), DEFAULT_LIMITS)
@example(text(UTC, occurred_minute=1), DEFAULT_LIMITS)
def test_what_the_fast_path_gives_the_exact_path_gives_too(line: bytes, limits: Limits) -> None:
    if not is_plain(line):
        return
    fast = FastPath(limits).event(line, 3, 17)
    if fast is not None:
        slow = exact(line, limits)
        assert slow is not None
        assert identical(fast, slow)


@given(lines())
def test_a_log_is_read_alike_with_and_without_the_fast_path(line: bytes) -> None:
    with pytest.MonkeyPatch.context() as patch:
        fast = outcome([line, b"\n"])
        patch.setattr(FastPath, "event", lambda *_: None)
        assert repr(outcome([line, b"\n"])) == repr(fast)


@pytest.mark.parametrize(
    "line",
    [
        text(),
        text(UTC, occurred_at_utc="2026-03-01T09:59:59.123Z", payload={"t": "a: b", "n": [1.5]}),
        text(type="check.completed", payload={"check": "ci", "outcome": "passed"}, causes=["e0"]),
        text(type="note", payload={"t": "né"}, principal=None, artifact_revision="r1"),
        text(type="note", payload={"a": {"b": [{"c": 1}]}, "d": []}),
    ],
)
def test_typical_lines_take_the_fast_path(line: bytes) -> None:
    fast = FastPath(DEFAULT_LIMITS).event(line, 3, 17)
    assert fast is not None
    assert fast == exact(line, DEFAULT_LIMITS)
