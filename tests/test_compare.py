"""What `replay diff` reports is so, and nothing that is so is missed."""

from __future__ import annotations

import copy
import json
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import jsonschema
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from replay import load, rules
from replay.compare import compare_documents, compare_logs, compare_rules
from replay.document import projection_document
from replay.errors import FileError, UsageError
from replay.event import Event
from replay.history import Cutoff, History, Prefix
from replay.projection import RuleSet
from replay.questions import QUESTIONS, Derived, derive
from replay.recorded import projection_of, read, unequal
from replay.schemas import schema
from replay.told import BESIDE, bare
from tests import hostile
from tests.command import REFUSED, Run, document, in_process
from tests.drawn import cutoffs, drawn_words, event_lists, histories
from tests.notation import event, history, history_of, lines
from tests.test_schemas import with_an_unknown_member, without_each_member

FIRST, SECOND = rules.named("coordination/1"), rules.named("coordination/2")
FULL = Cutoff()
Json = Any


@pytest.fixture
def run(capsysbinary: pytest.CaptureFixture[bytes]) -> Run:
    return in_process(capsysbinary)


def projected(prefix: Prefix, rule_set: RuleSet = SECOND) -> Json:
    return json.loads(json.dumps(projection_document(rule_set.project(prefix), rule_set)))


def every_question(*documents: Json) -> Iterator[tuple[str | None, str, str | None]]:
    """All that any of these documents shows of each work item, as questions."""
    asked: dict[tuple[str | None, str, str | None], None] = {}
    for seen in documents:
        asked |= {(None, "last_message", None): None}
        asked |= {(None, "anomaly", a["code"]): None for a in seen["unassigned"]["anomalies"]}
        for item in seen["items"]:
            asked |= {(item["work_id"], *about): None for about in shown(item)}
    yield from asked


def shown(item: Json) -> Iterator[tuple[str, str | None]]:
    yield from ((question.id, None) for question in QUESTIONS if question.of is None)
    yield from (("episode", e["opened"]["event_id"]) for e in item["episodes"] or ())
    for receipt in item["receipts"] or ():
        yield "receipt", receipt["event_id"]
        if receipt["check"] is not None:
            yield "certifying_check", receipt["check"]
    yield from (("claim", claim["event_id"]) for claim in item["claims"] or ())
    yield from (("correction", one["event_id"]) for one in item["corrections"] or ())
    yield from (("anomaly", anomaly["code"]) for anomaly in item["anomalies"])


def unlike(one: Derived, other: Derived) -> str | None:
    """How the catalogue's answers differ; the rule that gave one is told apart."""
    if bool(one.undetermined_by) != bool(other.undetermined_by):
        return "undetermined"
    return "value" if bare(one.value) != bare(other.value) else None


def assert_right(diff: Json, one: Json, other: Json) -> None:
    """Every reported answer is what both sides answer, and every other question is alike."""
    reported = {(d["work_id"], d["question"], d["of"]): d for d in diff["differences"]}
    assert len(reported) == len(diff["differences"])
    for asked in every_question(one, other):
        work_id, question, of = asked
        first, second = (derive(seen, question, work_id, of) for seen in (one, other))
        kind = unlike(first, second)
        found = reported.pop(asked, None)
        if found is None:
            assert kind is None, asked
            if one["rules"] == other["rules"] and not first.undetermined_by:
                assert first.evidence == second.evidence, asked
                rules_ = {first.rule, second.rule} - {None}  # an item not there has none
                assert len(rules_) <= 1 or first.rule == second.rule, asked
            continue
        assert found["kind"] == (kind or "detail")
        for side, derived in (("a", first), ("b", second)):
            assert found[side]["value"] == bare(derived.value)
            assert found[side]["evidence"] == [*derived.evidence]
            assert found[side]["rule"] == derived.rule
            assert found[side]["undetermined_by"] == [*derived.undetermined_by]
    assert {question for _, question, _ in reported} <= {*BESIDE}
    if not diff["differences"] and one["rules"] == other["rules"]:
        assert all(one[part] == other[part] for part in ("items", "unassigned", "uncovered"))


def assert_first(
    diff: Json, one: History, other: History, sets: tuple[RuleSet, RuleSet], bound: int | None
) -> None:
    """The first event of each difference is the first cutoff at which both sides differ."""
    sequences = sorted({e.recorded_sequence for log in (one, other) for e in log.events})
    seen = {
        sequence: [
            projected(log.at(Cutoff(sequence, bound)), rule_set)
            for log, rule_set in zip((one, other), sets, strict=True)
        ]
        for sequence in sequences
    }
    for found in diff["differences"]:
        first = found["first_event"]
        assert first is not None, found
        for log, side in ((one, "a"), (other, "b")):
            at = [e for e in log.events if e.recorded_sequence == first["sequence"]]
            assert (first[side] and first[side]["event_id"]) == (at[0].event_id if at else None)
        if found["question"] in BESIDE or found["kind"] == "detail":
            continue
        asked = (found["question"], found["work_id"], found["of"])
        differing = [
            sequence
            for sequence in sequences
            if unlike(*(derive(document, *asked) for document in seen[sequence])) is not None
        ]
        assert differing[0] == first["sequence"], found


# Two rule sets


@given(data=st.data(), log=histories(max_size=10))
@settings(max_examples=40, deadline=None)
def test_two_rule_sets_on_one_log_differ_exactly_where_their_documents_do(
    data: st.DataObject, log: History
) -> None:
    cutoff = data.draw(cutoffs(log))
    prefix = log.at(cutoff)
    diff: Json = compare_rules(prefix, FIRST, SECOND)
    assert_right(diff, projected(prefix, FIRST), projected(prefix, SECOND))
    assert_first(
        diff, history_of(prefix.events), history_of(prefix.events), (FIRST, SECOND), cutoff.recorded
    )


def test_that_one_rule_set_does_not_cover_an_event_is_no_value() -> None:
    diff: Json = compare_rules(history("r1 done").at(FULL), FIRST, SECOND)
    (state,) = [d for d in diff["differences"] if d["question"] == "state"]
    assert state["kind"] == "undetermined"
    assert (state["a"]["value"], state["a"]["undetermined_by"]) == (None, ["e2"])
    assert state["b"]["value"] == {"value": "active", "since": {"event_id": "e1", "time": 0}}
    assert state["first_event"]["a"] == {"event_id": "e2", "time": 1}


def test_a_log_under_one_rule_set_twice_has_no_difference() -> None:
    diff: Json = compare_rules(history("r1 + done").at(FULL), SECOND, SECOND)
    assert (diff["differences"], diff["exit"], diff["elsewhere"]) == ([], 0, [])


# Two logs


@given(log=histories())
@settings(max_examples=40, deadline=None)
def test_a_log_has_no_difference_from_itself(log: History) -> None:
    diff: Json = compare_logs(log.at(FULL), log.at(FULL), SECOND)
    assert (diff["differences"], diff["exit"], diff["events"]["first"]) == ([], 0, None)
    assert diff["events"]["common"] == len(log.events)


@st.composite
def tampered(draw: st.DrawFn, written: tuple[Event, ...]) -> tuple[Event, ...]:
    """The events with one left out, one said otherwise, or others at the end."""
    kept = [*written]
    others = {e.event_id: e for e in draw(event_lists(max_size=len(written)))}
    for index in sorted(
        draw(st.sets(st.integers(0, max(len(kept) - 1, 0)), max_size=2)), reverse=True
    ):
        if index >= len(kept):
            continue
        mine = kept[index]
        other = others.get(mine.event_id)
        if other is None or draw(st.booleans()):
            del kept[index]
        else:
            same = {"recorded_sequence": mine.recorded_sequence, "recorded_at": mine.recorded_at}
            kept[index] = replace(other, **same)
    if draw(st.booleans()) and kept:
        last = kept[-1]
        more = {
            "recorded_sequence": last.recorded_sequence + 1,
            "recorded_at": last.recorded_at + 7,
        }
        kept.append(event("note", "e99", work_id=draw(st.sampled_from(("W1", "W3", None)))))
        kept[-1] = replace(kept[-1], **more)
    return tuple(kept)


@given(data=st.data())
@settings(max_examples=60, deadline=None)
def test_two_logs_differ_exactly_where_their_documents_do(data: st.DataObject) -> None:
    written = data.draw(event_lists(max_size=10))
    one, other = history_of(written), history_of(data.draw(tampered(written)))
    diff: Json = compare_logs(one.at(FULL), other.at(FULL), SECOND)
    assert_right(diff, projected(one.at(FULL)), projected(other.at(FULL)))
    assert_first(diff, one, other, (SECOND, SECOND), None)
    assert diff["exit"] == (diff["events"]["first"] is not None)


@pytest.mark.parametrize("seed", range(25))
def test_two_unrelated_logs_do_too(seed: int) -> None:
    one, other = (history(drawn_words(Random(seed * 2 + n))) for n in (0, 1))
    diff: Json = compare_logs(one.at(FULL), other.at(FULL), SECOND)
    assert_right(diff, projected(one.at(FULL)), projected(other.at(FULL)))
    assert_first(diff, one, other, (SECOND, SECOND), None)


def swapped(diff: Json) -> Json:
    """The same differences told from the other side."""
    turned = {
        "a": "b",
        "b": "a",
        "only_a": "only_b",
        "only_b": "only_a",
    }
    match diff:
        case dict():
            return {turned.get(key, key): swapped(value) for key, value in diff.items()}
        case list():
            return [swapped(value) for value in diff]
        case "only_a" | "only_b":
            return turned[diff]
    return diff


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_a_difference_is_the_same_from_both_sides(data: st.DataObject) -> None:
    written = data.draw(event_lists(max_size=10))
    one, other = history_of(written), history_of(data.draw(tampered(written)))
    diff: Json = compare_logs(one.at(FULL), other.at(FULL), SECOND)
    turned: Json = swapped(compare_logs(other.at(FULL), one.at(FULL), SECOND))
    assert without_payloads(diff) == without_payloads(turned)


def without_payloads(diff: Json) -> Json:
    """Of a payload the first differing member is named, in the order of the first of two."""
    for entry in (*diff["events"]["changed"], diff["events"]["first"] or {"pointers": []}):
        entry["pointers"] = [p if p[:8] != "/payload" else "/payload" for p in entry["pointers"]]
    return diff


@pytest.mark.parametrize(
    ("one", "other", "kind", "sequence", "pointers"),
    [
        ("r1 ci+ ci+", "r1 ci+", "only_a", 3, []),
        ("r1 ci+", "r1 ci+ note", "only_b", 3, []),
        ("r1 ci+ note", "r1 ci- note", "changed", 2, ["/payload/outcome"]),
        ("r1 ci+^a:1", "r1 ci+^b:1", "changed", 2, ["/principal"]),
        ("r1 ci+$2 note", "r1 ci+$4 note", "changed", 2, ["/recorded_sequence"]),
    ],
)
def test_the_first_event_that_is_not_in_both_logs_is_told(
    one: str, other: str, kind: str, sequence: int, pointers: list[str]
) -> None:
    diff: Json = compare_logs(history(one).at(FULL), history(other).at(FULL), SECOND)
    first = diff["events"]["first"]
    assert (first["kind"], first["sequence"], first["pointers"]) == (kind, sequence, pointers)


def test_two_events_at_one_sequence_are_told_both() -> None:
    one = history("r1 ci+")
    other = history_of((one.events[0], replace(one.events[1], event_id="x2")))
    diff: Json = compare_logs(one.at(FULL), other.at(FULL), SECOND)
    first = diff["events"]["first"]
    assert (first["kind"], first["a"], first["b"]) == ("another_event", "e2", "x2")
    assert diff["events"]["only_a"] == [{"sequence": 2, "event_id": "e2"}]
    assert diff["events"]["only_b"] == [{"sequence": 2, "event_id": "x2"}]


def test_the_same_events_spelled_otherwise_are_no_difference() -> None:
    one = history("r1 ci+")
    other = history_of(one.events[::-1], name="clone.jsonl")
    diff: Json = compare_logs(one.at(FULL), other.at(FULL), SECOND)
    assert (diff["exit"], diff["events"]["common"]) == (0, 2)
    assert "/input/sha256" in diff["elsewhere"]


def test_how_long_an_open_episode_has_lasted_first_differs_where_the_logs_end_apart() -> None:
    one, other = history("+ note note"), history("+ note note:9")
    diff: Json = compare_logs(one.at(FULL), other.at(FULL), SECOND)
    (episode,) = [d for d in diff["differences"] if d["question"] == "episode"]
    assert episode["first_event"]["sequence"] == 3


def test_a_principal_that_differs_is_a_detail_of_a_receipt() -> None:
    one, other = history("r1 ci+^a"), history("r1 ci+^b")
    diff: Json = compare_logs(one.at(FULL), other.at(FULL), SECOND)
    (receipt,) = [d for d in diff["differences"] if d["question"] == "receipt"]
    assert (receipt["kind"], receipt["first_event"]["sequence"]) == ("detail", 2)
    assert receipt["details"] == [{"member": "principal", "a": "a", "b": "b"}]


def test_logs_of_two_time_bases_are_not_compared() -> None:
    one, other = history("r1"), history("r1", basis="utc")
    with pytest.raises(UsageError, match="time bases are elapsed and utc"):
        compare_logs(one.at(FULL), other.at(FULL), SECOND)


# Two documents


@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_two_documents_differ_as_the_logs_do_at_an_event_that_they_cannot_tell(
    data: st.DataObject,
) -> None:
    written = data.draw(event_lists(max_size=8))
    one, other = history_of(written), history_of(data.draw(tampered(written)))
    from_logs: Json = compare_logs(one.at(FULL), other.at(FULL), SECOND)
    diff: Json = compare_documents(projected(one.at(FULL)), projected(other.at(FULL)))
    unknown = [{**d, "first_event": None} for d in from_logs["differences"]]
    assert diff["differences"] == unknown
    assert diff["events"] is None


EVERYTHING = (
    "r1 ci+ +b1 +b1 ready r2<b1 ci- done note# -b1 retract!e7?typo says=active ci+!e7<e99,e3^x"
)


def leaves(value: Json, pointer: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    if isinstance(value, dict | list) and value:
        for key, member in value.items() if isinstance(value, dict) else enumerate(value):
            yield from leaves(member, (*pointer, key))
    else:
        yield pointer


def changed(document: Json, path: tuple[Any, ...]) -> Json:
    """The document with another value of the same type there."""
    copied = copy.deepcopy(document)
    holder = copied
    for step in path[:-1]:
        holder = holder[step]
    match holder[path[-1]]:
        case bool() as value:
            holder[path[-1]] = not value
        case int() | float() as value:
            holder[path[-1]] = value + 1
        case str() as value:
            holder[path[-1]] = f"{value}x"
        case list():
            holder[path[-1]] = ["x"]
        case _:
            holder[path[-1]] = "x"
    return copied


@pytest.mark.parametrize("log", [EVERYTHING, "r1 done note#"])
def test_no_change_of_a_document_is_missed(log: str) -> None:
    rule_set = FIRST if log.startswith("r1 done") else SECOND
    recorded = projected(history(log).at(FULL), rule_set)
    paths = [path for path in leaves(recorded) if path != ("document",)]
    assert len(paths) > 40
    for path in paths:
        other = changed(recorded, path)
        try:
            projection_of("x.json", other)
        except FileError:
            continue  # not the form of a projection any more
        diff: Json = compare_documents(recorded, other)
        assert diff["exit"] == 1, path


def test_documents_of_two_cutoffs_say_so_beside_their_answers() -> None:
    log = history("r1 + note")
    diff: Json = compare_documents(projected(log.at(Cutoff(2))), projected(log.at(Cutoff(3))))
    assert "/cutoff/sequence" in diff["elsewhere"]
    assert {d["question"] for d in diff["differences"]} == {"last_message", "episode"}


@pytest.mark.parametrize(
    ("written", "words"),
    [
        (b"\xff", "not UTF-8"),
        (b"{", "line 1 column 2"),
        (b"[]", "a JSON object"),
        (b"{}", "found none"),
        (b'{"document":"replay.oracle/1"}', 'found "replay.oracle/1"'),
        (b'{"document":"replay.projection/1","document":"x"}', 'the key "document" twice'),
        (b'{"document":"replay.projection/1","a":NaN}', "NaN"),
        (b'{"document":"replay.projection/1","a":1e999}', "no double holds"),
        (b'{"document":"replay.projection/1","a":9007199254740993}', "canonical JSON"),
        (b'{"document":"replay.projection/1","a":"\\ud800"}', "canonical JSON"),
        (b'{"a":' + b"[" * 100_000, "nested too deeply"),
        (b'{"document":' + b"9" * 5000 + b"}", "canonical JSON"),
    ],
)
def test_a_document_is_read_strictly(written: bytes, words: str) -> None:
    with pytest.raises(FileError, match=words) as raised:
        read("x.json", written)
    assert raised.value.path == "x.json"


def test_what_is_unequal_is_told_by_pointer_and_numbers_by_value() -> None:
    found = [*unequal({"a": [1, 2], "b": {"~/": 1.0}}, {"a": [1], "b": {"~/": 1}, "c": None})]
    assert [(u.pointer, u.one, u.other) for u in found] == [("/a/1", (2,), ()), ("/c", (), (None,))]
    assert [u.pointer for u in unequal([1, 0], [True, False])] == ["/0", "/1"]


# The command


@pytest.fixture
def here(tmp_path: Path) -> Path:
    (tmp_path / "a.jsonl").write_bytes(lines(history("r1 ci+ + done note#")))
    (tmp_path / "b.jsonl").write_bytes(lines(history("r1 ci- + done ready")))
    for name in ("a", "b"):
        seen = projected(load(tmp_path / f"{name}.jsonl").until())
        (tmp_path / f"{name}.json").write_text(json.dumps(seen))
    return tmp_path


def forms(here: Path) -> list[tuple[Any, ...]]:
    return [
        (here / "a.jsonl", "--rules", "coordination/1", "--rules", "coordination/2"),
        (here / "a.jsonl", here / "b.jsonl"),
        (here / "a.json", here / "b.json"),
    ]


def test_each_form_prints_a_valid_document_and_a_text_that_names_every_item(
    run: Run, here: Path
) -> None:
    for arguments in forms(here):
        ran = run("diff", *arguments, "--format", "json")
        printed = document(ran)
        jsonschema.Draft202012Validator(schema("diff")).validate(printed)
        assert (ran.status, printed["exit"]) == (1, 1)
        text = run("diff", *arguments)
        assert text.status == 1
        assert f"{len(printed['differences'])} of {printed['answers']} answers differ" in text.text
        for found in printed["differences"]:
            assert (found["work_id"] or "the events that name no work item") in text.text


def test_no_member_of_a_difference_may_be_missing_or_unknown(here: Path) -> None:
    one, other = (load(here / f"{name}.jsonl").until() for name in ("a", "b"))
    printed = json.loads(json.dumps(compare_logs(one, other, SECOND)))
    judge = jsonschema.Draft202012Validator(schema("diff"))
    assert judge.is_valid(printed)
    exact = {**printed, "differences": printed["differences"][:3]}
    let_through = [p for p, poor in without_each_member(exact) if judge.is_valid(poor)]
    assert [p for p in let_through if "/value/" not in p] == []  # an answer is any value
    rich = [*with_an_unknown_member({**exact, "differences": []})]
    assert [p for p, changed_ in rich if judge.is_valid(changed_)] == []


def test_the_text_says_which_event_comes_first(run: Run, here: Path) -> None:
    flat = " ".join(run("diff", here / "a.jsonl", here / "b.jsonl").text.split())
    assert "3 in both alike, 2 changed, 0 only in A, 0 only in B" in flat
    assert "at sequence 2: e2 differs at /payload/outcome" in flat
    assert "certifying ci: A e2, passed; B e2, failed; at e2 (sequence 2) first" in flat
    assert "e2: A current, passed; B current, failed; at e2 (sequence 2) first" in flat


def test_two_documents_have_no_first_event_and_the_text_says_why(run: Run, here: Path) -> None:
    flat = " ".join(run("diff", here / "a.json", here / "b.json").text.split())
    assert "a document has no log to tell at which event" in flat
    assert " first" not in flat.replace("first event", "")


def test_alike_is_exit_status_0(run: Run, here: Path) -> None:
    for name in ("a.jsonl", "a.json"):
        ran = run("diff", here / name, here / name)
        assert ran.status == 0
        assert ran.text.startswith("No answer differs")


def test_a_check_of_one_log_is_compared_as_its_projection(run: Run, here: Path) -> None:
    (here / "c.json").write_bytes(run("check", here / "a.jsonl", "--format", "json").out)
    assert run("diff", here / "a.json", here / "c.json").status == 0
    both = run("check", here / "a.jsonl", here / "b.jsonl", "--format", "json").out
    (here / "d.json").write_bytes(both)
    ran = run("diff", here / "a.json", here / "d.json")
    assert ran.status == 2
    assert "exactly one log" in ran.err


def test_cutoffs_are_those_of_both_logs(run: Run, here: Path) -> None:
    early = ("diff", here / "a.jsonl", here / "b.jsonl", "--at-sequence")
    assert run(*early, 1).status == 0
    assert run(*early, 2).status == 1


def test_a_log_under_a_time_basis_of_its_own_is_a_usage_error(run: Run, here: Path) -> None:
    (here / "utc.jsonl").write_bytes(lines(history("r1", basis="utc")))
    ran = run("diff", here / "a.jsonl", here / "utc.jsonl")
    assert ran.status == 2
    assert "time bases" in ran.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("a.jsonl",), "found 1 and 1"),
        (("a.jsonl", "b.jsonl", "a.jsonl"), "found 3 and 1"),
        (
            ("a.jsonl", "b.jsonl", "--rules", "coordination/1", "--rules", "coordination/2"),
            "2 and 2",
        ),
        (("a.json", "b.jsonl"), "two recorded documents"),
        (("a.json",), "two recorded documents"),
        (("a.json", "b.json", "--rules", "coordination/1"), "have their rules"),
        (("a.json", "b.json", "--at-sequence", "0"), "have their rules"),
        (("a.json", "missing.json"), "no such file"),
        (("a.json", "bad.json"), "not a recorded document"),
        (("a.jsonl", "b.jsonl", "--rules", "coordination/9"), "no rule set"),
    ],
)
def test_what_cannot_be_compared_is_a_usage_error(
    run: Run, here: Path, arguments: tuple[str, ...], words: str
) -> None:
    (here / "bad.json").write_bytes(b'{"document":"replay.oracle/1","answers":[]}')
    given = [here / a if a.endswith((".json", ".jsonl")) else a for a in arguments]
    ran = run("diff", *given)
    assert ran.status == 2
    assert words in ran.err


def test_a_refused_log_prints_its_refusal(run: Run, here: Path) -> None:
    ran = run("diff", here / "a.jsonl", REFUSED / "wrong_type.jsonl")
    assert ran.status == 3
    assert "REFUSED" in ran.text


def test_a_log_in_another_form_is_no_projection(run: Run, here: Path) -> None:
    poor = json.loads((here / "a.json").read_text())
    del poor["items"][0]["clocks"]["last_message"]
    (here / "poor.json").write_text(json.dumps(poor))
    ran = run("diff", here / "a.json", here / "poor.json")
    assert ran.status == 2
    assert "last_message" in ran.err


def test_hostile_text_is_made_visible_and_long_lists_are_cut(run: Run, tmp_path: Path) -> None:
    log = hostile.write(tmp_path / "hostile.jsonl")
    (tmp_path / "less.jsonl").write_bytes(log.read_bytes().partition(b"\n")[2])
    text = run("diff", log, tmp_path / "less.jsonl").text
    assert hostile.REORDERED not in text
    assert not {*text} & {"\x1b", "\u202e", "\u200b", "\x00"}
    many = history_of([event("note", f"e{n}", sequence=n, work_id=f"W{n}") for n in range(1, 30)])
    (tmp_path / "many.jsonl").write_bytes(lines(many))
    (tmp_path / "none.jsonl").write_bytes(b"")
    assert (
        "20 of 29 work items shown"
        in run("diff", tmp_path / "many.jsonl", tmp_path / "none.jsonl").text
    )
