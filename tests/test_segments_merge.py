"""Several files as one log: `--segments` reads them as one, `merge` writes one."""

from __future__ import annotations

import json
from itertools import pairwise, permutations
from pathlib import Path
from typing import Any, Final

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from replay.decode import decode_bytes
from replay.encode import encode_line
from replay.event import APPLIED_TYPES, LISTED_INERT_TYPES, Event
from replay.history import admit
from replay.segments import join
from tests.command import PAPER, Run, document, in_process, in_words, oracle
from tests.drawn import event_lists
from tests.notation import history, lines

Json = Any
NAMES: Final = ("a.jsonl", "b.jsonl", "c.jsonl")


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capsysbinary)


def stored(path: Path, data: bytes) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(data)
    return path


def segments(folder: Path, *notations: str) -> list[Path]:
    """Files a.jsonl, b.jsonl, …, each of the events of a notation."""
    return [
        stored(folder / name, lines(history(notation)))
        for name, notation in zip(NAMES, notations, strict=False)
    ]


def cut(log: bytes, *bounds: int) -> list[bytes]:
    """The lines of a log in pieces that end at the bounds."""
    written = log.splitlines(keepends=True)
    ends = [0, *bounds, len(written)]
    return [b"".join(written[a:b]) for a, b in pairwise(ends)]


def event_line(number: int, **changed: Json) -> bytes:
    value = {
        "schema_version": "elapsed/1",
        "event_id": f"e{number}",
        "recorded_sequence": number,
        "recorded_minute": number,
        "work_id": "W1",
        "type": "note",
        **changed,
    }
    return json.dumps(value).encode() + b"\n"


# ---- segments


def test_the_segments_of_a_log_give_the_answers_of_the_whole_in_any_order(
    run: Run, tmp_path: Path
) -> None:
    pieces = zip(NAMES, cut(PAPER.read_bytes(), 3, 6), strict=True)
    paths = [stored(tmp_path / name, piece) for name, piece in pieces]
    whole = document(run("project", PAPER, "--format", "json"))
    found = [
        run("project", *order, "--segments", "--format", "json") for order in permutations(paths)
    ]
    assert {ran.out for ran in found} == {found[0].out}
    joined = document(found[0])
    assert joined["items"] == whole["items"]
    assert joined["input"]["name"] == "a.jsonl+b.jsonl+c.jsonl"
    assert (joined["input"]["gaps"], joined["input"]["notes"]) == ([], [])
    assert run("project", tmp_path, "--segments", "--format", "json") == found[0]


def test_the_name_and_hash_of_the_whole_follow_the_sequence_not_the_names(
    run: Run, tmp_path: Path
) -> None:
    late, early = cut(PAPER.read_bytes(), 4)[::-1]
    stored(tmp_path / "a.jsonl", late)
    stored(tmp_path / "b.jsonl", early)
    joined = document(run("project", tmp_path, "--segments", "--format", "json"))
    assert joined["input"]["name"] == "b.jsonl+a.jsonl"
    # a later segment that was read first is no disorder of lines
    assert joined["input"]["notes"] == []


def test_segments_that_begin_alike_have_one_order_whatever_is_given_first(
    run: Run, tmp_path: Path
) -> None:
    paths = [stored(tmp_path / n / "log.jsonl", event_line(1) + event_line(2)) for n in "xy"]
    paths[1].write_bytes(event_line(1) + event_line(3))
    first = run("project", *paths, "--segments", "--format", "json")
    assert run("project", *reversed(paths), "--segments", "--format", "json") == first
    assert first.status == 0


def test_a_gap_between_segments_is_named_and_one_inside_a_segment_is_only_listed(
    run: Run, tmp_path: Path
) -> None:
    segments(tmp_path, "start beat$3", "beat$8")
    (tmp_path / "b.jsonl").write_bytes(event_line(8))
    found = document(run("project", tmp_path, "--segments", "--format", "json"))
    assert found["input"]["gaps"] == [{"from": 2, "to": 2}, {"from": 4, "to": 7}]
    assert found["input"]["notes"] == ["segment_gap a.jsonl b.jsonl 4 7"]
    assert found["items"][0]["flags"] == ["no_origin", "possibly_incomplete"]
    assert "a.jsonl" in run("project", tmp_path, "--segments").text


def test_a_gap_after_a_segment_within_another_is_named_by_the_one_that_reaches_further(
    run: Run, tmp_path: Path
) -> None:
    stored(tmp_path / "a.jsonl", b"".join(map(event_line, range(1, 7))))
    stored(tmp_path / "b.jsonl", b"".join(map(event_line, range(2, 4))))
    stored(tmp_path / "c.jsonl", event_line(9))
    found = document(run("project", tmp_path, "--segments", "--format", "json"))
    assert found["input"]["duplicates"] == 2
    assert found["input"]["notes"] == ["segment_gap a.jsonl c.jsonl 7 8"]


def test_segments_that_overlap_exactly_collapse_and_every_line_is_accounted_for(
    run: Run, tmp_path: Path
) -> None:
    written = PAPER.read_bytes().splitlines(keepends=True)
    stored(tmp_path / "a.jsonl", b"".join(written[:6]) + b"\n")
    stored(tmp_path / "b.jsonl", b"".join(written[4:]))
    found = document(run("project", tmp_path, "--segments", "--format", "json"))
    account = {key: found["input"][key] for key in ("lines", "blank", "duplicates", "admitted")}
    assert account == {"lines": 12, "blank": 1, "duplicates": 2, "admitted": 9}
    assert found["items"] == document(run("project", PAPER, "--format", "json"))["items"]


def test_an_empty_segment_changes_nothing_but_the_name(run: Run, tmp_path: Path) -> None:
    stored(tmp_path / "a.jsonl", PAPER.read_bytes())
    stored(tmp_path / "b.jsonl", b"")
    found = document(run("project", tmp_path, "--segments", "--format", "json"))
    assert found["input"]["name"] == "b.jsonl+a.jsonl"
    assert found["items"] == document(run("project", PAPER, "--format", "json"))["items"]


CONFLICTS: Final = {
    "conflicting_duplicate": event_line(2, lane_id="L2"),
    "readmitted_id": event_line(2, recorded_sequence=5, recorded_minute=5),
    "sequence_conflict": event_line(2, event_id="x2"),
    "recorded_time_reversed": event_line(4, recorded_minute=1),
    "mixed_time_basis": b'{"schema_version":"events/1","event_id":"u1","recorded_sequence":9,'
    b'"recorded_at_utc":"2026-01-01T00:00:00Z","type":"note"}\n',
}


@pytest.mark.parametrize("code", CONFLICTS)
@pytest.mark.parametrize("backwards", [False, True])
def test_a_conflict_of_segments_is_refused_and_names_both_files(
    run: Run, tmp_path: Path, code: str, backwards: bool
) -> None:
    one = stored(tmp_path / "a.jsonl", b"".join(map(event_line, range(1, 4))))
    other = stored(tmp_path / "b.jsonl", CONFLICTS[code])
    paths = [other, one] if backwards else [one, other]
    ran = run("project", *paths, "--segments", "--format", "json")
    refusal = document(ran)
    assert (ran.status, refusal["code"]) == (3, code)
    assert {refusal["file"], refusal["related"][0]["file"]} == {"a.jsonl", "b.jsonl"}
    assert ran.said == [in_words(refusal)]


def test_segments_are_one_log_with_one_oracle(run: Run, tmp_path: Path) -> None:
    pieces = zip(NAMES, cut(PAPER.read_bytes(), 3, 6), strict=True)
    for name, piece in pieces:
        stored(tmp_path / name, piece)
    answers = stored(tmp_path / "all.json", oracle({"expect": {"value": "awaiting_review"}}))
    ran = run("check", tmp_path, "--segments", "--oracle", answers, "--format", "json")
    (checked,) = document(ran)["logs"]
    assert (ran.status, checked["outcome"]) == (0, "agree")


def test_a_segment_that_is_missing_or_refused_stops_the_whole(run: Run, tmp_path: Path) -> None:
    good = stored(tmp_path / "a.jsonl", event_line(1))
    bad = stored(tmp_path / "b.jsonl", b"{}\n")
    ran = run("check", good, tmp_path / "none.jsonl", "--segments", "--format", "json")
    assert (ran.status, document(ran)["logs"]) == (2, [])
    ran = run("check", good, bad, "--segments", "--format", "json")
    assert (ran.status, document(ran)["logs"][0]["refusal"]["file"]) == (3, "b.jsonl")


def test_a_damaged_segment_is_recovered_and_the_whole_is_incomplete(
    run: Run, tmp_path: Path
) -> None:
    stored(tmp_path / "a.jsonl", event_line(1) + b"torn\n")
    stored(tmp_path / "b.jsonl", event_line(2))
    ran = run("project", tmp_path, "--segments", "--recover", "--format", "json")
    assert ran.status == 3
    assert document(ran)["input"]["complete"] is False
    assert (tmp_path / "a.jsonl.quarantine.jsonl").exists()
    assert not (tmp_path / "b.jsonl.quarantine.jsonl").exists()


@given(st.data())
def test_any_cut_of_a_history_into_segments_joins_to_the_same_events(data: st.DataObject) -> None:
    written = data.draw(event_lists(max_size=8))
    owner = [data.draw(st.sets(st.integers(0, 2), min_size=1)) for _ in written]
    parts = [
        decode_bytes(
            lines([e for e, own in zip(written, owner, strict=True) if number in own]), name=name
        )
        for number, name in enumerate(NAMES)
    ]
    results = [join(order) for order in permutations(parts)]
    found = [replace(event, line=0, byte_offset=0) for event in results[0].events]
    assert found == [replace(event, line=0, byte_offset=0) for event in written]
    assert {result.input for result in results} == {results[0].input}


# ---- merge


def merged(run: Run, folder: Path, *paths: object) -> bytes:
    out = folder / "out" / "merged.jsonl"
    out.parent.mkdir(exist_ok=True)
    ran = run("merge", *paths, "-o", out)
    assert (ran.status, ran.out) == (0, b"")
    assert [path.name for path in out.parent.iterdir()] == ["merged.jsonl"]
    return out.read_bytes()


def test_clones_are_united_and_what_both_have_is_written_once(run: Run, tmp_path: Path) -> None:
    written = PAPER.read_bytes().splitlines(keepends=True)
    one = stored(tmp_path / "one" / "log.jsonl", b"".join(written[:6]))
    other = stored(tmp_path / "two" / "log.jsonl", b"".join([*written[:3], *written[6:]]))
    data = merged(run, tmp_path, one, other)
    assert len(data.splitlines()) == 9
    out = stored(tmp_path / "log.jsonl", data)
    again = document(run("project", out, "--format", "json"))
    assert again["items"] == document(run("project", PAPER, "--format", "json"))["items"]
    assert (one.read_bytes(), other.read_bytes().count(b"\n")) == (b"".join(written[:6]), 6)


def test_a_merge_says_how_many_events_it_wrote_and_how_many_came_again(
    run: Run, tmp_path: Path
) -> None:
    out = tmp_path / "out.jsonl"
    ran = run("merge", PAPER, PAPER, "-o", out)
    assert ran.said == [f"{out}: 9 events of 2 logs, 9 recorded more than once"]


def test_a_log_merged_with_itself_or_alone_is_the_same_history(run: Run, tmp_path: Path) -> None:
    alone = merged(run, tmp_path, PAPER)
    assert merged(run, tmp_path, PAPER, PAPER) == alone
    out = stored(tmp_path / "alone.jsonl", alone)
    assert merged(run, tmp_path, out) == alone
    read = [decode_bytes(data, name="x").events for data in (alone, PAPER.read_bytes())]
    placeless = [[replace(e, line=0, byte_offset=0) for e in events] for events in read]
    assert placeless[0] == placeless[1]


def test_one_value_spelled_in_two_ways_is_written_alike_in_any_order(
    run: Run, tmp_path: Path
) -> None:
    spellings = [
        b'{"a":1,"b":"\xc3\xa9"}',
        b'{ "b" : "\\u00e9", "a" : 1 }',
        b'{"b":"\xc3\xa9","a":1}',
    ]
    usual = event_line(1)[:-2] + b',"payload":'
    paths = [
        stored(tmp_path / name, usual + spelling + b"}\n" + event_line(number))
        for number, name, spelling in zip((2, 3, 4), NAMES, spellings, strict=True)
    ]
    outputs = {merged(run, tmp_path, *order) for order in permutations(paths)}
    assert len(outputs) == 1
    first = merged(run, tmp_path, *paths[:2])
    united = stored(tmp_path / "united.jsonl", first)
    assert {merged(run, tmp_path, united, paths[2])} == outputs


@pytest.mark.parametrize("code", CONFLICTS)
@pytest.mark.parametrize("backwards", [False, True])
def test_a_conflict_of_clones_is_refused_with_both_sources_named(
    run: Run, tmp_path: Path, code: str, backwards: bool
) -> None:
    log = b"".join(map(event_line, range(1, 4)))
    clones = [stored(tmp_path / "one" / "log.jsonl", log)]
    clones.append(stored(tmp_path / "two" / "log.jsonl", CONFLICTS[code]))
    out = stored(tmp_path / "out.jsonl", b"an earlier merge")
    ran = run("merge", *(reversed(clones) if backwards else clones), "-o", out)
    refusal = document(ran)
    named = {refusal["file"], *(place["file"] for place in refusal["related"])}
    assert (ran.status, refusal["code"], named) == (3, code, {str(path) for path in clones})
    assert ran.said == [in_words(refusal)]
    assert out.read_bytes() == b"an earlier merge"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["one", "out.jsonl", "two"]


def test_a_clone_that_is_refused_or_missing_writes_nothing(run: Run, tmp_path: Path) -> None:
    bad = stored(tmp_path / "bad.jsonl", b"{}\n")
    out = tmp_path / "out.jsonl"
    ran = run("merge", PAPER, bad, "-o", out)
    assert (ran.status, document(ran)["file"]) == (3, str(bad))
    assert run("merge", PAPER, tmp_path / "none.jsonl", "-o", out).status == 2
    assert not out.exists()


@pytest.mark.parametrize("name", ["a.jsonl", "./a.jsonl", "alias.jsonl", "hard.jsonl"])
def test_a_merge_never_writes_over_an_input(run: Run, tmp_path: Path, name: str) -> None:
    path = stored(tmp_path / "a.jsonl", event_line(1))
    (tmp_path / "alias.jsonl").symlink_to(path)
    (tmp_path / "hard.jsonl").hardlink_to(path)
    for inputs in ([path], [PAPER, path], [tmp_path]):
        ran = run("merge", *inputs, "-o", f"{tmp_path}/{name}")
        assert (ran.status, ran.out) == (2, b"")
        assert "inputs are never written to" in ran.said[0]
    assert path.read_bytes() == event_line(1)
    assert (tmp_path / "alias.jsonl").is_symlink()


def test_a_merge_into_a_folder_that_is_not_there_ends_with_2(run: Run, tmp_path: Path) -> None:
    ran = run("merge", PAPER, "-o", tmp_path / "none" / "out.jsonl")
    assert (ran.status, len(ran.said)) == (2, 1)


def test_a_line_at_the_length_limit_is_written_no_longer(run: Run, tmp_path: Path) -> None:
    links = ",".join(f'"c{number}"' for number in range(50)).encode()
    line = event_line(1).replace(b": ", b":").replace(b", ", b",")[:-2]
    log = stored(tmp_path / "log.jsonl", line + b',"causes":[' + links + b"]}\n")
    out = stored(tmp_path / "out.jsonl", merged(run, tmp_path, log))
    limit = len(log.read_bytes()) - 1
    assert run("check", out, "--max-line", limit).status == 0


# ---- the line that is written, read again

ids = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=12)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**30), 10**30),
    st.floats(allow_nan=False, allow_infinity=False),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
)
values = st.recursive(
    scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=3), st.dictionaries(ids, inner, max_size=3)),
    max_leaves=8,
)
utc_times = st.builds(
    "{:04d}-{:02d}-{:02d}T{:02d}:{:02d}:{:02d}{}{}".format,
    st.integers(1679, 2260),
    st.integers(1, 12),
    st.integers(1, 28),
    st.integers(0, 23),
    st.integers(0, 59),
    st.integers(0, 59),
    st.sampled_from(["", ".5", ".500", ".000000001", ".123456789", ".0"]),
    st.sampled_from(["Z", "+00:00", "-00:00", "+05:30", "-23:59"]),
)
minutes = st.one_of(
    st.integers(0, 153_722_867).map(str),
    st.decimals(0, 1000, places=6).map(str),
    st.decimals(153_722_860, 153_722_866, places=6).map(str),
    st.sampled_from(["0.0", "-0", "-0.0", "1.0", "1.50", "1e2", "1E+2", "0.1e1", "10e-1", "1e-6"]),
)


@st.composite
def written_lines(draw: st.DrawFn) -> bytes:
    """A valid line of any spelling: nulls or nothing, any escapes, any white space."""
    utc = draw(st.booleans())
    clock = utc_times.map(json.dumps) if utc else minutes
    recorded, occurred = (
        ("recorded_at_utc", "occurred_at_utc") if utc else ("recorded_minute", "occurred_minute")
    )
    unlisted = ids.filter(lambda name: name not in APPLIED_TYPES | LISTED_INERT_TYPES)
    members: dict[str, str] = {
        "schema_version": '"events/1"' if utc else '"elapsed/1"',
        "event_id": json.dumps(draw(ids)),
        "recorded_sequence": str(draw(st.integers(1, 2**53 - 1))),
        recorded: draw(clock),
        "type": json.dumps(draw(st.one_of(st.just("note"), st.just("heartbeat"), unlisted))),
    }
    if draw(st.booleans()):
        members[occurred] = draw(st.one_of(st.just("null"), clock))
    for name in ("principal", "claimed_author", "relayed_by", "work_id", "lane_id"):
        if draw(st.booleans()):
            members[name] = json.dumps(draw(st.one_of(st.none(), ids)))
    for name in ("artifact_revision", "supersedes"):
        if draw(st.booleans()):
            members[name] = json.dumps(draw(st.one_of(st.none(), ids)), ensure_ascii=False)
    for name in ("evidence_refs", "causes"):
        if draw(st.booleans()):
            members[name] = json.dumps(draw(st.one_of(st.none(), st.lists(ids, max_size=3))))
    if draw(st.booleans()):
        payload = draw(st.one_of(st.none(), st.dictionaries(ids, values, max_size=4)))
        separators = draw(st.sampled_from([(",", ":"), (", ", ": "), (" ,\t", "\r: ")]))
        ascii_only = draw(st.booleans())
        members["payload"] = json.dumps(payload, separators=separators, ensure_ascii=ascii_only)
    order = draw(st.permutations(list(members)))
    colon = draw(st.sampled_from([":", " : ", "\t:"]))
    body = " ,".join(f'"{name}"{colon}{members[name]}' for name in order)
    return b"{" + body.encode() + b"}"


def read(line: bytes) -> Event:
    (event,) = decode_bytes(line, name="log.jsonl").events
    return replace(event, line=0, byte_offset=0)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(written_lines())
def test_a_line_that_is_written_reads_back_as_an_equal_event(line: bytes) -> None:
    event = read(line)
    encoded = encode_line(event)
    assert b"\n" not in encoded
    assert read(encoded) == event
    assert encode_line(read(encoded)) == encoded


@given(event_lists())
def test_events_of_every_class_are_written_and_read_back_equal(events: tuple[Event, ...]) -> None:
    for event in events:
        assert read(encode_line(event)) == replace(event, line=0, byte_offset=0)


@example([])
@given(st.lists(st.integers(0, 2), max_size=8))
def test_what_a_merge_would_write_is_admitted_as_the_history_it_came_from(
    owners: list[int],
) -> None:
    written = [event_line(number) for number in range(1, len(owners) + 1)]
    parts = [
        decode_bytes(
            b"".join(line for line, own in zip(written, owners, strict=True) if own in (number, 2)),
            name=name,
        )
        for number, name in enumerate(NAMES[:2])
    ]
    whole = admit(parts, name="out.jsonl")
    data = b"".join(encode_line(event) + b"\n" for event in whole.events)
    again = admit([decode_bytes(data, name="out.jsonl")])
    assert [e.event_id for e in again.events] == [f"e{n}" for n in range(1, len(owners) + 1)]
    assert again.input.duplicates == 0
