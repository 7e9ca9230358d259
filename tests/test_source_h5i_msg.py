"""Agent messages on a git ref become contract lines, and what they lose is written down."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import replay
from replay import sources
from replay.decode import decode_bytes
from replay.errors import FileError, UsageError
from replay.event import Event
from replay.history import History, admit
from replay.sources.appended import by_commit, by_rows
from replay.sources.git import Repository, Version
from replay.sources.h5i_msg import KINDS, convert
from replay.sources.imported import Imported, Options

ROOT = Path(__file__).parent.parent
FIXTURES = ROOT / "fixtures" / "foreign" / "h5i-msg"
REAL = ROOT.parent / "shared" / "data" / "real"
START = 1_772_442_000  # 2026-03-02T09:00:00Z


def imported(path: Path, recorded: Path | None = None) -> Imported:
    options = Options(recorded=None if recorded is None else str(recorded))
    return sources.named("h5i-msg").read([str(path)], options)


def fixture(name: str) -> Imported:
    return imported(FIXTURES / f"{name}.messages.jsonl", FIXTURES / f"{name}.recorded.jsonl")


def history(result: Imported) -> History:
    """Through the strict reader and admission, like any other log."""
    return admit([decode_bytes(b"".join(result.lines), name="imported.jsonl")])


def events(result: Imported) -> tuple[Event, ...]:
    return history(result).events


def losses(result: Imported) -> dict[str, list[tuple[int, str]]]:
    found: dict[str, list[tuple[int, str]]] = {}
    for loss in result.losses:
        found.setdefault(loss.field, []).append((loss.count, loss.reason))
    return found


def message(**fields: Any) -> bytes:
    return json.dumps(fields).encode()


def committed(
    *contents: Sequence[bytes] | None, at: Sequence[int] = (), merges: Sequence[int] = ()
) -> Imported:
    """What the file held at each commit, a second apart unless `at` says otherwise."""
    versions = [
        Version(
            f"{number:040x}",
            START + (at[number] if at else number),
            number in merges,
            None if lines is None else b"".join(line + b"\n" for line in lines),
        )
        for number, lines in enumerate(contents)
    ]
    return convert(by_commit(versions, "repository"), "commit")


A, B, C = (message(id=name, ts="2026-03-02T09:00:00Z", kind="ASK") for name in "abc")


class Git:
    """A real repository with fixed dates and authors, deaf to the machine's configuration."""

    def __init__(self, path: Path, *options: str) -> None:
        self.path = path
        path.mkdir(parents=True, exist_ok=True)
        self("init", "--quiet", "--initial-branch=main", *options)

    def __call__(self, *arguments: str, at: int = 0, stdin: bytes = b"") -> str:
        date = f"{START + at} +0000"
        person = {"NAME": "Operator", "EMAIL": "operator@example.org", "DATE": date}
        environment = {
            name: value for name, value in os.environ.items() if not name.startswith("GIT_")
        }
        environment |= {f"GIT_AUTHOR_{name}": value for name, value in person.items()}
        environment |= {f"GIT_COMMITTER_{name}": value for name, value in person.items()}
        environment |= {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        done = subprocess.run(
            ["git", *arguments],
            cwd=self.path,
            env=environment,
            input=stdin,
            capture_output=True,
            check=True,
        )
        return done.stdout.decode().strip()

    def commit(self, lines: Sequence[bytes] | None, *parents: str, at: int = 0) -> str:
        """A commit that holds these message lines; none at all is a tree without the file."""
        blob = self("hash-object", "-w", "--stdin", stdin=b"".join(x + b"\n" for x in lines or ()))
        entries = f"100644 blob {blob}\tagents.json\n"
        if lines is not None:
            entries += f"100644 blob {blob}\tmessages.jsonl\n"
        tree = self("mktree", stdin=entries.encode())
        links = [word for parent in parents for word in ("-p", parent)]
        return self("commit-tree", tree, *links, "-m", "h5i msg: ada → bo", at=at)

    def append(self, *commits: Sequence[bytes] | None, at: Sequence[int] = ()) -> None:
        """Commits on the message ref, each on top of the last."""
        tip = self.tip()
        for number, lines in enumerate(commits):
            tip = self.commit(lines, *([tip] if tip else []), at=at[number] if at else number)
            self("update-ref", "refs/h5i/msg", tip)

    def tip(self) -> str:
        return self("for-each-ref", "--format=%(objectname)", "refs/h5i/msg")


@pytest.fixture
def git(tmp_path: Path) -> Git:
    if shutil.which("git") is None:
        pytest.skip("no git program on this machine")
    return Git(tmp_path / "repository")


# --- the mapping, row by row ----------------------------------------------------------


def test_every_message_is_one_event_in_the_order_of_its_recording() -> None:
    found = events(fixture("thread"))
    assert [event.recorded_sequence for event in found] == list(range(1, 11))
    assert [event.event_id for event in found] == [f"a00000000000000{n}" for n in "123456789a"]


def test_the_recorded_time_is_the_commits_and_the_occurred_time_the_messages() -> None:
    line = json.loads(fixture("thread").lines[1])
    assert line["recorded_at_utc"] == "2026-03-02T09:05:00Z"
    assert line["occurred_at_utc"] == "2026-03-02T09:05:00.750000Z"


def test_a_message_may_occur_later_within_the_second_in_which_it_was_recorded() -> None:
    late = [e for e in events(fixture("thread")) if e.occurred_at and e.occurred_at > e.recorded_at]
    assert len(late) == 4


def test_an_occurred_time_with_an_offset_keeps_its_spelling() -> None:
    assert (
        json.loads(fixture("thread").lines[4])["occurred_at_utc"] == "2026-03-02T09:08:00.5+01:00"
    )


def test_the_sender_is_a_claimed_author_and_nobody_is_authenticated() -> None:
    found = events(fixture("thread"))
    assert {event.principal for event in found} == {None}
    assert [event.claimed_author for event in found[:3]] == ["ada", "ada", "bo"]
    assert {event.relayed_by for event in found} == {None}


def test_a_thread_is_the_work_item_and_its_opening_message_names_it() -> None:
    assert [event.work_id for event in events(fixture("thread"))] == [
        "a000000000000001",
        "a000000000000002",
        "a000000000000002",
        "a000000000000002",
        "a000000000000002",  # no thread_id: that of the message it replies to
        "a000000000000002",
        "a000000000000007",
        "a000000000000008",
        "a000000000000008",
        "a00000000000000a",
    ]


def test_the_branch_is_the_lane_and_never_a_revision() -> None:
    found = events(fixture("thread"))
    assert [event.lane_id for event in found[:3]] == [None, "parser", "parser"]
    assert {event.artifact_revision for event in found} == {None}


def test_each_kind_has_its_class() -> None:
    assert [event.type for event in events(fixture("thread"))] == [
        "note",
        "review.requested",
        "note",
        "blocker.raised",
        "work.completed",
        "note",
        "note",
        "note",
        "note",
        "h5i.msg.SHRUG",
    ]


@pytest.mark.parametrize(("kind", "event_type"), sorted(KINDS.items()))
def test_the_declared_kind_alone_chooses_the_class(kind: str, event_type: str) -> None:
    line = message(id="a", kind=kind, body="BLOCKED DONE approved", status="done", tag="review")
    (event,) = events(committed([line]))
    assert event.type == event_type


@pytest.mark.parametrize(
    ("kind", "event_type"),
    [
        ("done", "h5i.msg.done"),
        (" DONE", "h5i.msg.unnamed"),
        ("work.completed", "h5i.msg.work.completed"),
        ("\x1b[2J", "h5i.msg.unnamed"),
        ("X" * 65, "h5i.msg.unnamed"),
        (7, "h5i.msg.unnamed"),
        (["DONE"], "h5i.msg.unnamed"),
        ("", "note"),
        (None, "note"),
    ],
)
def test_a_kind_of_no_protocol_is_visible_and_inert(kind: object, event_type: str) -> None:
    (event,) = events(committed([message(id="a", kind=kind)]))
    assert event.type == event_type
    assert event.inert


def test_the_payload_is_the_whole_message_as_written_with_its_commit() -> None:
    source = (FIXTURES / "thread.messages.jsonl").read_bytes().splitlines()
    for number, (event, line) in enumerate(zip(events(fixture("thread")), source, strict=True), 1):
        assert event.payload == {"commit": f"{number:040x}", "message": json.loads(line)}


def test_numbers_of_a_message_keep_their_spelling() -> None:
    line = b'{"id":"a","meta":[1.10, 1E2, 123456789012345678901234567890]}'
    assert line in committed([line]).lines[0]


def test_links_become_evidence_references_and_other_values_a_loss() -> None:
    result = fixture("thread")
    assert events(result)[1].evidence_refs == ("pull/7", "1a2b3c4")
    assert losses(result)["links"] == [(1, "no such field: not a short text")]


def test_a_reply_is_caused_by_what_it_answers() -> None:
    found = events(fixture("thread"))
    assert found[2].causes == ("a000000000000002",)
    assert found[1].causes == ()


def test_a_corrected_copy_supersedes_nothing() -> None:
    (event,) = events(committed([message(id="a", body="Corrected copy of #b", kind="DONE")]))
    assert event.supersedes is None


# --- what is lost ---------------------------------------------------------------------


def test_the_losses_document_says_what_has_no_place() -> None:
    document = fixture("thread").document()
    assert list(document) == ["document", "source", "order", "losses", "unavailable"]
    assert document["document"] == "replay.losses/1"
    assert document["source"] == "h5i-msg"
    assert document["order"] == "recorded"
    assert document["losses"] == [
        {"field": "artifact_revision", "count": 2, "reason": "free text"},
        {"field": "body", "count": 10, "reason": "free text"},
        {"field": "focus", "count": 1, "reason": "no such field"},
        {"field": "kind", "count": 1, "reason": "no such field"},
        {"field": "kind", "count": 1, "reason": "no such field: not of the protocol, kept inert"},
        {"field": "links", "count": 1, "reason": "no such field: not a short text"},
        {"field": "principal", "count": 10, "reason": "no such field"},
        {"field": "priority", "count": 1, "reason": "no such field"},
        {"field": "risk", "count": 1, "reason": "free text"},
        {"field": "to", "count": 10, "reason": "no such field"},
        {"field": "version", "count": 9, "reason": "no such field"},
    ]


def test_the_losses_document_names_what_is_unavailable() -> None:
    unavailable = fixture("thread").unavailable
    assert {line.split(":")[0] for line in unavailable} >= {"revision", "receipts", "corrections"}


def test_every_reason_begins_with_one_of_the_three() -> None:
    for loss in (*fixture("thread").losses, *fixture("odd").losses):
        assert loss.reason.split(":")[0] in ("no such field", "free text", "ambiguous")
        assert loss.count > 0


def test_odd_messages_are_tolerated_and_every_oddity_is_counted() -> None:
    result = fixture("odd")
    found = events(result)
    lost = losses(result)
    assert [event.event_id for event in found] == [
        "b000000000000001",
        "b000000000000002",
        "message-4",
        "b000000000000001#2",
        "b000000000000003",
        "b000000000000005",
        "b000000000000006",
    ]
    assert lost["line"] == [
        (1, "ambiguous: a field given twice, at 7"),
        (1, "ambiguous: not JSON, at 3"),
        (1, "ambiguous: not an object, at 9"),
    ]
    assert lost["occurred_at_utc"] == [
        (1, "ambiguous: not RFC 3339 with a zone"),
        (1, "no such field"),
    ]
    assert lost["event_id"] == [(1, "no such field: made from the sequence")]
    assert lost["work_id"] == [(1, "no such field: neither a thread nor an id")]
    assert lost["id"] == [(1, "ambiguous: borne by an earlier line, numbered from #2")]
    assert lost["from"] == [(1, "ambiguous: not a short text")]
    assert lost["message"] == [(2, "no such field: not strict JSON, kept as its text")]
    assert lost["reply_to"] == [(1, "ambiguous: an id borne more than once, taken as the first")]
    assert lost["thread_id"] == [(1, "ambiguous: not the thread of the message replied to")]


def test_a_line_that_is_no_message_leaves_a_gap_in_the_sequence() -> None:
    gaps = history(fixture("odd")).input.gaps
    assert [(gap.first, gap.last) for gap in gaps] == [(3, 3), (7, 7), (9, 9)]


def test_a_principal_that_a_message_claims_is_not_believed() -> None:
    assert events(fixture("odd"))[-1].principal is None


def test_half_a_surrogate_pair_is_kept_as_text_and_not_repaired() -> None:
    event = events(fixture("odd"))[4]
    assert "\\ud800" in event.payload["message_text"]
    assert event.type == "h5i.msg.done"


# --- when a line was recorded ---------------------------------------------------------


def test_several_messages_of_one_commit_share_its_time_in_the_order_of_the_file() -> None:
    found = events(committed([A], [A, B, C]))
    assert [event.event_id for event in found] == ["a", "b", "c"]
    assert [event.recorded_at // 10**9 - START for event in found] == [0, 1, 1]


def test_a_committer_time_that_falls_is_replaced_by_the_latest_before_it() -> None:
    result = committed([A], [A, B], [A, B, C], at=[5, 3, 6])
    found = events(result)
    assert [event.recorded_at // 10**9 - START for event in found] == [5, 5, 6]
    assert found[1].payload["committed_at_utc"] == "2026-03-02T09:00:03Z"
    assert "committed_at_utc" not in found[2].payload
    assert losses(result)["recorded_at_utc"] == [
        (1, "ambiguous: fell, replaced by the latest time before it")
    ]


def test_a_committer_time_that_no_log_can_hold_is_refused_by_name() -> None:
    with pytest.raises(FileError, match="1678 to 2261"):
        committed([A], at=[10**12])


def test_a_file_that_a_merge_sorted_and_spelled_anew_records_only_its_new_lines() -> None:
    respelled = b'{ "kind" : "ASK", "ts":"2026-03-02T09:00:00Z", "id":"b" }'
    result = committed([A, B], [C, respelled, A], merges=[1])
    assert [event.event_id for event in events(result)] == ["a", "b", "c"]
    assert losses(result)["recorded_sequence"] == [(1, "ambiguous: brought by a merge")]
    assert "line" not in losses(result)


def test_a_line_that_is_removed_stays_as_recorded_and_is_a_loss() -> None:
    result = committed([A, B], [A], [A, C], None)
    assert [event.event_id for event in events(result)] == ["a", "b", "c"]
    assert losses(result)["line"] == [(3, "ambiguous: removed or changed by a later commit")]


def test_a_line_that_comes_back_is_not_recorded_twice() -> None:
    assert [event.event_id for event in events(committed([A, B], [A], [A, B]))] == ["a", "b"]


def test_a_line_that_is_changed_is_a_line_of_its_own() -> None:
    changed = message(id="b", kind="DONE")
    result = committed([A, B], [A, changed])
    assert [event.event_id for event in events(result)] == ["a", "b", "b#2"]
    assert events(result)[2].work_id == "b"
    assert losses(result)["line"] == [(1, "ambiguous: removed or changed by a later commit")]
    assert losses(result)["id"] == [(1, "ambiguous: borne by an earlier line, numbered from #2")]


def test_a_line_given_twice_is_two_events_with_two_ids() -> None:
    assert [e.event_id for e in events(committed([A, A, A]))] == ["a", "a#2", "a#3"]


def test_an_id_that_looks_numbered_never_collides() -> None:
    lines = [message(id=name) for name in ("a#2", "a", "a", "a", "a#2")] + [
        message(x=1),
        message(id="message-6"),
    ]
    found = [event.event_id for event in events(committed(lines))]
    assert len(set(found)) == len(found) == 7
    assert found[:2] == ["a#2", "a"]


# --- real repositories ----------------------------------------------------------------


def test_a_repository_gives_what_its_commits_recorded(git: Git) -> None:
    git.append(None, [A], [A, B, C])
    result = imported(git.path)
    assert result.order == "commit"
    assert [event.recorded_at // 10**9 - START for event in events(result)] == [1, 2, 2]
    assert events(result)[2].payload["commit"] == git.tip()


def test_importing_twice_gives_identical_bytes(git: Git) -> None:
    git.append([A], [A, B], [C, B, A], at=[4, 3, 5])
    first, second = imported(git.path), imported(git.path)
    assert first.lines == second.lines
    assert first.document() == second.document()


def test_importing_a_grown_repository_keeps_the_earlier_lines(git: Git) -> None:
    git.append([A], [A, B], at=[4, 3])
    before = imported(git.path)
    side = git.commit([A, C], git.tip(), at=6)
    git.append([A, B, b"torn"], at=[7])
    merged = git.commit([A, B, C, A], git.tip(), side, at=8)
    git("update-ref", "refs/h5i/msg", merged)
    after = imported(git.path)
    assert after.lines[: len(before.lines)] == before.lines
    assert [event.event_id for event in events(after)] == ["a", "b", "c", "a#2"]


def test_importing_grown_files_keeps_the_earlier_lines(tmp_path: Path) -> None:
    names = ("odd.messages.jsonl", "odd.recorded.jsonl")
    for name in names:
        lines = (FIXTURES / name).read_bytes().splitlines(keepends=True)
        (tmp_path / name).write_bytes(b"".join(lines[: 9 if "messages" in name else 8]))
    before = imported(*(tmp_path / name for name in names))
    assert fixture("odd").lines[: len(before.lines)] == before.lines
    assert len(before.lines) < len(fixture("odd").lines)


def test_bare_repositories_and_linked_work_trees_are_read_alike(git: Git, tmp_path: Path) -> None:
    git.append([A], [A, B])
    git("update-ref", "refs/heads/main", git.tip())
    git("worktree", "add", "--quiet", "--detach", str(tmp_path / "tree"), "main")
    bare = Git(tmp_path / "bare", "--bare")
    bare("fetch", "--quiet", str(git.path), "refs/h5i/msg:refs/h5i/msg")
    expected = imported(git.path).lines
    assert expected
    assert imported(tmp_path / "tree").lines == expected
    assert imported(tmp_path / "bare").lines == expected


def test_the_callers_environment_and_the_repositorys_settings_run_nothing(
    git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    git.append([A])
    expected = imported(git.path).lines
    trap, ran = tmp_path / "trap", tmp_path / "ran"
    trap.write_text(f"#!/bin/sh\ntouch '{ran}'\n")
    trap.chmod(0o755)
    for setting in (
        "core.fsmonitor",
        "core.pager",
        "gpg.program",
        "diff.external",
        "core.sshCommand",
    ):
        git("config", setting, str(trap))
    git("config", "log.showSignature", "true")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_EXTERNAL_DIFF", str(trap))
    assert imported(git.path).lines == expected
    assert not ran.exists()


def test_replacement_objects_do_not_rewrite_history(git: Git) -> None:
    git.append([A], [A, B])
    expected = imported(git.path).lines
    git("replace", git.tip(), git.commit([C], at=9))
    assert imported(git.path).lines == expected


def test_a_shallow_clone_is_refused(git: Git, tmp_path: Path) -> None:
    git.append([A], [A, B])
    clone = Git(tmp_path / "clone")
    origin = git.path.as_uri()
    clone("fetch", "--quiet", "--depth=1", origin, "refs/h5i/msg:refs/h5i/msg")
    with pytest.raises(FileError, match="shallow"):
        imported(clone.path)


@pytest.mark.parametrize("content", [None, b"", b"not an object"])
@pytest.mark.parametrize("name", ["{tip}", "{tip}~1", "{tip}^{{tree}}", "{tip}~1:messages.jsonl"])
def test_a_missing_or_damaged_object_is_an_error_and_not_an_empty_file(
    git: Git, name: str, content: bytes | None
) -> None:
    git.append([A], [A, B])
    oid = git("rev-parse", name.format(tip=git.tip()))
    stored = git.path / ".git" / "objects" / oid[:2] / oid[2:]
    stored.unlink()
    if content is not None:
        stored.write_bytes(content)
    with pytest.raises(FileError, match=r"missing or damaged|cannot be read|has no refs"):
        imported(git.path)


def test_a_link_of_that_name_is_not_a_message_file(git: Git) -> None:
    blob = git("hash-object", "-w", "--stdin", stdin=A)
    tree = git("mktree", stdin=f"120000 blob {blob}\tmessages.jsonl\n".encode())
    commit = git("commit-tree", tree, "-m", "link")
    assert [v.content for v in Repository(str(git.path)).versions(commit, "messages.jsonl")] == [
        None
    ]


# --- what is refused ------------------------------------------------------------------


def test_messages_with_no_receipt_times_are_refused_and_both_inputs_named() -> None:
    with pytest.raises(UsageError, match=r"refs/h5i/msg.*--recorded FILE"):
        imported(FIXTURES / "thread.messages.jsonl")


def test_a_folder_that_is_no_repository_is_refused_and_both_inputs_named(git: Git) -> None:
    inside = git.path / "folder"
    inside.mkdir()
    with pytest.raises(FileError, match=r"not a git repository.*refs/h5i/msg.*--recorded FILE"):
        imported(inside)


def test_a_repository_with_no_messages_is_refused_and_both_inputs_named(git: Git) -> None:
    with pytest.raises(FileError, match=r"has no refs/h5i/msg.*--recorded FILE"):
        imported(git.path)


def test_an_input_that_does_not_exist_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="no such file"):
        imported(tmp_path / "nothing")
    with pytest.raises(FileError, match="cannot be read"):
        imported(tmp_path / "nothing", FIXTURES / "thread.recorded.jsonl")


def test_a_folder_does_not_go_with_receipt_times(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="a folder"):
        imported(tmp_path, FIXTURES / "thread.recorded.jsonl")


def test_two_inputs_are_refused() -> None:
    with pytest.raises(UsageError, match="one input, found 2"):
        sources.named("h5i-msg").read(["a", "b"], Options())


def test_an_unknown_source_is_refused_and_the_known_ones_named() -> None:
    with pytest.raises(UsageError, match="known: h5i-msg"):
        sources.named("h5i")


def test_a_machine_without_git_is_told_so(git: Git, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", os.devnull)
    with pytest.raises(FileError, match="needs the git program"):
        imported(git.path)


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"id": "another"}, "found id 'another' for line 1, expected 'a'"),
        ({"id": None}, "found id None for line 1, expected 'a'"),
        ({"line": 3}, "found line 3"),
        ({"line": True}, "found line True"),
        ({"recorded_sequence": 0}, "found recorded_sequence 0"),
        ({"recorded_sequence": "1"}, "found recorded_sequence '1'"),
        ({"recorded_at": "2026-03-02 09:00"}, "found recorded_at '2026-03-02 09:00'"),
        ({"recorded_at": None}, "found recorded_at None"),
        ({"line": 2, "id": "b"}, "line 2 is recorded twice"),
        ({"recorded_sequence": 2}, "sequence 2 is recorded twice"),
    ],
)
def test_receipt_times_that_do_not_fit_the_messages_are_refused(
    changes: dict[str, object], complaint: str
) -> None:
    when = "2026-03-02T09:00:00Z"
    rows: list[dict[str, object]] = [
        {"recorded_sequence": n, "line": n, "recorded_at": when, "id": "ab"[n - 1]} for n in (1, 2)
    ]
    rows[0] |= changes
    encoded = b"\n".join(json.dumps(row).encode() for row in rows)
    with pytest.raises(FileError) as caught:
        by_rows(A + b"\n" + B + b"\n", encoded, "recorded.jsonl")
    assert complaint in str(caught.value)


def test_a_message_with_no_receipt_time_is_refused_with_its_line() -> None:
    with pytest.raises(FileError, match=r"has 0 rows for 2 records.*line 1-2"):
        by_rows(A + b"\n" + B, b"\n", "recorded.jsonl")


def test_receipt_times_that_are_no_objects_are_refused_with_their_line() -> None:
    with pytest.raises(FileError, match="line 2: not an object"):
        by_rows(A, b"\n[]", "recorded.jsonl")


def test_receipts_may_order_lines_otherwise_than_the_file() -> None:
    when = "2026-03-02T09:00:00Z"
    rows = [
        {"recorded_sequence": 9, "line": 1, "recorded_at": when, "id": "a"},
        {"recorded_sequence": 4, "line": 2, "recorded_at": when, "id": "b"},
    ]
    arrivals = by_rows(A + b"\n" + B, b"\n".join(json.dumps(row).encode() for row in rows), "r")
    assert [event.event_id for event in events(convert(arrivals, "recorded"))] == ["b", "a"]


# --- hostile text ---------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        "\x1b[2J\x1b]0;owned\x07",
        "\u202egnitset\u202c",
        "nul \x00 inside",
        "line\nbreak\r\u2028\u2029\x85",
        '"},{"type":"work.completed"}',
        "work.completed blocker.raised approved passed revision deadbeef",
    ],
)
def test_a_hostile_body_is_carried_as_it_is_and_moves_nothing(body: str) -> None:
    (event,) = events(committed([message(id="a", kind="ASK", body=body)]))
    assert event.payload["message"]["body"] == body
    assert (event.type, event.work_id, event.artifact_revision) == ("note", "a", None)


@pytest.mark.parametrize("escaped", [False, True])
def test_a_body_too_long_for_a_line_is_kept_as_a_digest(escaped: bool) -> None:
    body = '"' * 2_200_000 if escaped else "x" * 4_194_304
    result = committed([message(id="a", kind="DONE", body=body)])
    (event,) = events(result)
    assert event.type == "work.completed"
    assert set(event.payload["message_digest"]) == {"sha256", "bytes"}
    assert losses(result)["message"] == [
        (1, "no such field: longer than a line, kept as its SHA-256")
    ]


def test_links_too_long_for_a_line_are_left_out_and_counted() -> None:
    result = committed([message(id="a", links=["x" * 900] * 5000)])
    assert events(result)[0].evidence_refs == ()
    assert losses(result)["links"] == [(1, "no such field: longer than a line")]


@pytest.mark.parametrize("depth", [60, 61, 62, 63, 400, 100_000])
def test_a_message_nested_too_deep_is_kept_as_text_or_counted(depth: int) -> None:
    line = b'{"id":"a","meta":' + b"[" * depth + b"]" * depth + b"}"
    result = committed([line, B])
    kept = {event.event_id: event.payload for event in events(result)}
    assert "b" in kept
    assert ("message" in kept.get("a", {})) == (depth <= 61)
    assert ("a" in kept) or losses(result)["line"] == [(1, "ambiguous: nested too deep, at 1")]


def test_an_id_longer_than_the_contract_takes_is_made_from_the_sequence() -> None:
    found = events(committed([message(id="é" * 501), message(id="é" * 500), message(id="é" * 500)]))
    assert [event.event_id for event in found] == ["message-1", "é" * 500, "é" * 500 + "#2"]


texts = st.text(st.characters(exclude_categories=()), max_size=8) | st.sampled_from(
    ["a", "b", "DONE", "BLOCKED", "2026-03-02T09:00:00Z", "\ud800", "\x00", "", "message-1", "a#2"]
)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | texts | st.just(10**400),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=8,
)
names = st.sampled_from(
    [
        "id",
        "ts",
        "from",
        "to",
        "body",
        "kind",
        "thread_id",
        "reply_to",
        "branch",
        "links",
        "version",
    ]
)
messages = st.dictionaries(names | texts, texts | json_values, max_size=8)
foreign_lines = st.lists(
    messages.map(lambda value: json.dumps(value).encode())
    | st.binary(max_size=12).filter(lambda line: b"\n" not in line),
    max_size=6,
)


@given(foreign_lines)
def test_whatever_a_line_holds_the_strict_reader_takes_what_is_imported(lines: list[bytes]) -> None:
    result = committed(lines)
    found = events(result)
    unread = sum(count for count, _ in losses(result).get("line", []))
    assert len(found) + unread == sum(1 for line in lines if line.strip(b" \t\r"))
    assert len(found) == len(result.lines)
    json.dumps(result.document(), ensure_ascii=False).encode()


@given(
    foreign_lines, foreign_lines, st.lists(st.integers(-3, 3), min_size=4, max_size=4), st.randoms()
)
def test_a_grown_history_keeps_its_earlier_lines(
    first: list[bytes], more: list[bytes], times: list[int], chance: random.Random
) -> None:
    both = [*first, *more]
    shuffled = chance.sample(both, len(both))
    short = committed(first, both, at=times)
    grown = committed(first, both, shuffled, more, at=times)
    assert grown.lines[: len(short.lines)] == short.lines


# --- the real log ---------------------------------------------------------------------


@pytest.fixture
def real() -> Imported:
    folder = REAL / "h5i"
    if not folder.exists():
        pytest.skip("the real message log is not beside this repository")
    return imported(folder / "h5i_i5h_messages.jsonl", folder / "h5i_i5h_recorded.jsonl")


def test_the_real_log_is_admitted_whole(real: Imported) -> None:
    admitted = history(real)
    assert (admitted.input.admitted, admitted.input.gaps, admitted.input.notes) == (178, (), ())
    kinds: dict[str, int] = {}
    for event in admitted.events:
        kinds[event.type] = kinds.get(event.type, 0) + 1
    assert kinds == {"note": 116, "review.requested": 31, "work.completed": 31}
    assert {loss.reason for loss in real.losses} == {"no such field", "free text"}


def test_177_of_the_real_messages_occur_later_within_the_second_they_were_recorded(
    real: Imported,
) -> None:
    late = [
        event
        for event in events(real)
        if event.occurred_at is not None and 0 < event.occurred_at - event.recorded_at < 10**9
    ]
    assert len(late) == 177


def test_58_of_81_real_threads_are_determined_under_the_papers_rules(real: Imported) -> None:
    projection = replay.project(history(real).until(), rules="coordination/1")
    assert len(projection.items) == 81
    undetermined = [item for item in projection.items if item.undetermined_by]
    assert len(undetermined) == 23
    kinds = {event.event_id: event.type for event in events(real)}
    assert {kinds[entry] for item in undetermined for entry in item.undetermined_by} == {
        "work.completed"
    }


def test_no_link_of_the_real_log_is_an_anomaly(real: Imported) -> None:
    projection = replay.project(history(real).until(), rules="coordination/1")
    assert [anomaly for item in projection.items for anomaly in item.anomalies] == []


def test_the_real_log_committed_line_by_line_gives_the_same_events(
    real: Imported, git: Git
) -> None:
    lines = (REAL / "h5i" / "h5i_i5h_messages.jsonl").read_bytes().splitlines(keepends=True)
    stream = b""
    for number, event in enumerate(events(real), 1):
        held = b"".join(lines[:number])
        stream += b"commit refs/h5i/msg\ncommitter O <o@example.org> %d +0000\ndata 0\n" % (
            event.recorded_at // 10**9
        )
        stream += b"M 100644 inline messages.jsonl\ndata %d\n%b\n" % (len(held), held)
    git("fast-import", "--quiet", stdin=stream)
    found = imported(git.path)
    assert found.losses == real.losses
    for line, expected in zip(found.lines, real.lines, strict=True):
        one, other = json.loads(line), json.loads(expected)
        del one["payload"]["commit"], other["payload"]["commit"]
        assert one == other


def test_the_real_log_with_no_receipt_times_is_refused() -> None:
    path = REAL / "coordination" / "h5i-dev__h5i" / "mid.messages.jsonl"
    if not path.exists():
        pytest.skip("the real message log is not beside this repository")
    with pytest.raises(UsageError, match="--recorded FILE"):
        imported(path)


def test_receipt_times_of_a_longer_real_log_are_refused() -> None:
    messages_file = REAL / "coordination" / "h5i-dev__h5i" / "mid.messages.jsonl"
    rows = REAL / "h5i" / "h5i_i5h_recorded.jsonl"
    if not messages_file.exists() or not rows.exists():
        pytest.skip("the real message log is not beside this repository")
    with pytest.raises(FileError, match="found line 141, expected that of a record"):
        imported(messages_file, rows)
