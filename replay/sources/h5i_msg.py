"""Agent-to-agent messages that h5i keeps on the git ref `refs/h5i/msg`.

The file `messages.jsonl` on that ref has one message a line and is meant to be
append-only.  What the ref holds:

| contract | message | default, and what is never done |
|---|---|---|
| `schema_version` | - | `events/1` |
| `event_id` | `id` | `ID#2`, `ID#3` for an id that is borne again; `message-N` for none |
| `recorded_sequence` | position of the line in commit order | - |
| `recorded_at_utc` | committer time of the first commit that holds the line | whole seconds |
| `occurred_at_utc` | `ts`, as spelled | absent unless RFC 3339 with a zone; none is guessed |
| `principal` | - | null: `from` is written by the sender, the git author is the operator |
| `claimed_author` | `from` | null |
| `relayed_by` | - | null |
| `work_id` | `thread_id` | that of the message replied to, where earlier; else the own `id` |
| `lane_id` | `branch` | null |
| `type` | `kind` | `KINDS` below; `h5i.msg.KIND`, inert, for any other; `note` for none |
| `payload` | `{"commit", "message"}` | the message as written, whole |
| `artifact_revision` | - | null: no revision is read from a branch or from a token in prose |
| `evidence_refs` | the strings of `links` | `[]` |
| `causes` | `reply_to`, whatever it names | `[]` |
| `supersedes` | - | null: a "corrected copy" is so in prose only |

A kind is a declared field, so it chooses the class; `body`, `risk`, `tag` and `status`
are never read.  `DONE` is a completion claim and `REVIEW_REQUEST` a readiness claim,
neither of a named revision; `BLOCKED` raises a blocker.  The other known kinds say
nothing that a class stands for: an ask proposes no work, an acknowledgement starts
none, a handoff moves nothing, and one agent's decline does not cancel the work.

A link is never judged here.  A reply to an unknown message is a `link_missing` anomaly,
a reply across threads a `link_other_item`, under whichever rules are asked.

Order.  The sequence follows first parents from the root, and within a commit the file.
`appended` decides what counts as a new line, and what becomes of one that is removed or
changed; what replaces a changed line has an id that is borne again.  A line that is no
message is a loss with its number and leaves a gap, so that items are flagged
`possibly_incomplete`.

Times.  A committer time that falls below an earlier one cannot be an admission time.
It is replaced by the latest time before it, which is a loss; the committer's own is in
the payload as `committed_at_utc`.  A shallow clone is refused, since its first commit
did not record what it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from replay.errors import FileError, UsageError
from replay.sources.appended import Arrivals, Recorded, by_rows, content_of, of_repository
from replay.sources.imported import (
    AMBIGUOUS,
    FREE_TEXT,
    NO_SUCH_FIELD,
    AdmissionClock,
    Identities,
    Imported,
    Importer,
    Options,
    Order,
    Tally,
    Unreadable,
    fits,
    ranges,
    text_of,
    write_line,
    write_whole,
)
from replay.timestamps import BadTime, format_utc, parse_utc

SOURCE: Final = "h5i-msg"
REF: Final = "refs/h5i/msg"
FILE: Final = "messages.jsonl"
INPUTS: Final = f"a git repository that has {REF}, or {FILE} with --recorded FILE"

KINDS: Final = {
    "ASK": "note",
    "FYI": "note",
    "BROADCAST": "note",
    "ACK": "note",
    "RISK": "note",
    "HANDOFF": "note",
    "DECLINE": "note",
    "REVIEW_REQUEST": "review.requested",
    "DONE": "work.completed",
    "BLOCKED": "blocker.raised",
}
"""The event class of each kind of message that the protocol defines."""

UNAVAILABLE: Final = (
    "authorship: the sender writes `from`, and the git author is the operator",
    "revision: named in prose only",
    "receipts: no check and no review has a result in these records",
    "last_progress: nothing in these records counts as progress",
    "blocker ends: no kind resolves or cancels a blocker",
    "corrections: made in prose only",
    "delivery: who has read a message is kept on each machine",
)

_NAMED_KIND: Final = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{0,63}\Z")
_DIGEST_ROOM: Final = b" " * 400  # what a digest, a commit and its time take at most
_PROSE: Final = ("body", "risk")
_ENVELOPE: Final = frozenset(
    {"id", "ts", "from", "thread_id", "reply_to", "branch", "kind", "links", *_PROSE}
)


def convert(arrivals: Arrivals, order: Order) -> Imported:
    """Contract lines of a message file's lines.  Pure, and a prefix gives a prefix."""
    tally = Tally()
    log = _Log(tally)
    lines = [line for arrival in arrivals.lines if (line := log.take(arrival)) is not None]
    for problem, numbers in log.unreadable.items():
        tally.add("line", f"{AMBIGUOUS}: {problem}, at {ranges(numbers)}", len(numbers))
    tally.add("line", f"{AMBIGUOUS}: removed or changed by a later commit", arrivals.removed)
    return Imported(
        source=SOURCE,
        order=order,
        lines=tuple(lines),
        losses=tally.losses(),
        unavailable=UNAVAILABLE,
        recognized=log.recognized or not arrivals.lines,
    )


class _Log:
    """What the lines so far have said: ids in use, threads, and the latest time."""

    def __init__(self, tally: Tally) -> None:
        self.unreadable: dict[str, list[int]] = {}
        self.recognized = False
        self._tally = tally
        self._identities = Identities(tally)
        self._clock = AdmissionClock(tally)
        self._threads: dict[str, str] = {}

    def take(self, arrival: Recorded) -> bytes | None:
        """The contract line of the next recorded line; null where it is no message."""
        read = arrival.read
        if isinstance(read, Unreadable):
            self.unreadable.setdefault(read.problem, []).append(arrival.sequence)
            return None
        message = read.fields
        self.recognized = self.recognized or ("from" in message and "body" in message)
        self._count_what_has_no_place(message)
        recorded_at = self._clock.admit(arrival.recorded_at)
        thread = self._thread(message)
        identity = self._identity(message, arrival.sequence)
        event_type = self._type(message)
        envelope: dict[str, object] = {
            "schema_version": "events/1",
            "event_id": identity,
            "recorded_sequence": arrival.sequence,
            "recorded_at_utc": format_utc(recorded_at),
            "occurred_at_utc": self._occurred(message),
            "claimed_author": self._text(message, "from"),
            "work_id": thread,
            "lane_id": self._text(message, "branch"),
            "type": event_type,
            "evidence_refs": self._references(message),
            "causes": self._causes(message),
        }
        if arrival.unordered:
            self._tally.add("recorded_sequence", f"{AMBIGUOUS}: brought by a merge")
        return self._write(envelope, arrival, read.exact, recorded_at)

    def _count_what_has_no_place(self, message: dict[str, object]) -> None:
        self._tally.add("principal", NO_SUCH_FIELD)
        for name in message:
            if name in _PROSE:
                self._tally.add(name, FREE_TEXT)
            elif name not in _ENVELOPE:
                # a foreign name goes into a document, so it is held to what a text may be
                self._tally.add(text_of(name) or "(a name that is no text)", NO_SUCH_FIELD)

    def _identity(self, message: dict[str, object], sequence: int) -> str:
        wanted = self._text(message, "id")
        if wanted is None:
            self._tally.add("event_id", f"{NO_SUCH_FIELD}: made from the sequence")
            wanted = f"message-{sequence}"
        return self._identities.take(wanted, "id")

    def _thread(self, message: dict[str, object]) -> str | None:
        own, named = text_of(message.get("id")), self._text(message, "thread_id")
        target = text_of(message.get("reply_to"))
        inherited = None if target is None else self._threads.get(target)
        if named is not None and inherited not in (None, named):
            self._tally.add("thread_id", f"{AMBIGUOUS}: not the thread of the message replied to")
        thread = named or inherited or own
        if thread is None:
            self._tally.add("work_id", f"{NO_SUCH_FIELD}: neither a thread nor an id")
        elif own is not None:
            self._threads.setdefault(own, thread)
        return thread

    def _type(self, message: dict[str, object]) -> str:
        kind = message.get("kind")
        if kind is None or kind == "":
            self._tally.add("kind", NO_SUCH_FIELD)
            return "note"
        known = KINDS.get(kind) if isinstance(kind, str) else None
        if known is None:
            self._tally.add("kind", f"{NO_SUCH_FIELD}: not of the protocol, kept inert")
            named = isinstance(kind, str) and _NAMED_KIND.match(kind)
            return f"h5i.msg.{kind}" if named else "h5i.msg.unnamed"
        if known in ("work.completed", "review.requested"):
            self._tally.add("artifact_revision", FREE_TEXT)
        return known

    def _occurred(self, message: dict[str, object]) -> str | None:
        written = message.get("ts")
        try:
            parse_utc(written if isinstance(written, str) else "")
        except BadTime:
            reason = NO_SUCH_FIELD if written is None else f"{AMBIGUOUS}: not RFC 3339 with a zone"
            self._tally.add("occurred_at_utc", reason)
            return None
        return str(written)

    def _references(self, message: dict[str, object]) -> list[str]:
        kept = []
        for leaf in _leaves(message.get("links")):
            text = text_of(leaf)
            if text is None:
                self._tally.add("links", f"{NO_SUCH_FIELD}: not a short text")
            else:
                kept.append(text)
        return kept

    def _causes(self, message: dict[str, object]) -> list[str]:
        target = self._text(message, "reply_to")
        if target is None:
            return []
        if self._identities.is_borne_again(target):
            self._tally.add(
                "reply_to", f"{AMBIGUOUS}: an id borne more than once, taken as the first"
            )
        return [target]

    def _text(self, message: dict[str, object], name: str) -> str | None:
        value = message.get(name)
        text = text_of(value)
        if text is None and value is not None and value != "":
            self._tally.add(name, f"{AMBIGUOUS}: not a short text")
        return text

    def _write(
        self, envelope: dict[str, object], arrival: Recorded, exact: bool, recorded_at: int
    ) -> bytes:
        head: dict[str, object] = {} if arrival.commit is None else {"commit": arrival.commit}
        if arrival.recorded_at != recorded_at:
            head["committed_at_utc"] = format_utc(arrival.recorded_at)
        if not fits(write_line(envelope, _DIGEST_ROOM)):
            self._tally.add("links", f"{NO_SUCH_FIELD}: longer than a line")
            envelope = envelope | {"evidence_refs": []}
        return write_whole(envelope, head, "message", arrival.line, exact=exact, tally=self._tally)


def _leaves(value: object) -> Iterator[object]:
    """The values of an open object or list, in order; nothing of an empty one."""
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, dict):
            pending += reversed(item.values())
        elif isinstance(item, list):
            pending += reversed(item)
        elif item is not None and item != "":
            yield item


def read(inputs: Sequence[str], options: Options) -> Imported:
    """Import one repository, or one message file with its receipt times."""
    if len(inputs) != 1:
        raise UsageError(f"{SOURCE} takes one input, found {len(inputs)}: {INPUTS}")
    path = inputs[0]
    if options.recorded is not None:
        expected = f"a file: --recorded goes with {FILE}"
        records, rows = content_of(path, expected), content_of(options.recorded, expected)
        return convert(by_rows(records, rows, options.recorded), "recorded")
    if Path(path).is_dir():
        return convert(of_repository(path, REF, FILE, INPUTS), "commit")
    if Path(path).exists():
        raise UsageError(
            f"{path}: a file of messages does not say when each was recorded; expected {INPUTS}"
        )
    raise FileError(path, f"no such file or folder; expected {INPUTS}")


H5I_MSG: Final = Importer(id=SOURCE, inputs=INPUTS, read=read)
