"""What every importer hands back, and the two ends of a line: foreign in, contract out.

An importer tolerates and records; the contract is strict.  So a foreign line is read
here with a lenient eye (`read_object`), and what an importer makes of it is written as
one contract line that the strict reader takes (`write_line`).  What did not survive the
way is a `Loss`, which has one of three reasons, at times with a detail after a colon:
`no such field` (one side has no place for it), `free text` (it is said in prose, which
is never read) and `ambiguous` (the source does not say which).
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from math import inf, isfinite
from typing import Final, Literal, TypeAlias

from replay.event import Record

Order: TypeAlias = Literal["commit", "recorded", "derived"]

NO_SUCH_FIELD: Final = "no such field"
FREE_TEXT: Final = "free text"
AMBIGUOUS: Final = "ambiguous"

MAX_LINE_BYTES: Final = 4 * 2**20
MAX_TEXT_BYTES: Final = 1000  # an id may hold 1,024: room to number one that is borne again
MAX_DEPTH: Final = 64
_DIGITS_OF_A_DOUBLE: Final = 309


class Loss(Record, frozen=True):
    """What `count` records of the source lost, of which field, and why."""

    field: str
    count: int
    reason: str


class Imported(Record, frozen=True, kw_only=True):
    """Contract lines, each ending in a newline, with the account of what they do not hold.

    `order` says how the sequence is known.  `unavailable` names the answers that these
    records cannot give, whatever rule set is asked.  `recognized` is false where there were
    lines and none was of the source's shape: that is another thing, not a poor record.
    """

    source: str
    order: Order
    lines: tuple[bytes, ...]
    losses: tuple[Loss, ...]
    unavailable: tuple[str, ...]
    recognized: bool = True

    def document(self) -> dict[str, object]:
        """The `replay.losses/1` document, as plain values."""
        return {
            "document": "replay.losses/1",
            "source": self.source,
            "order": self.order,
            "losses": [
                {"field": loss.field, "count": loss.count, "reason": loss.reason}
                for loss in self.losses
            ],
            "unavailable": list(self.unavailable),
        }


class Options(Record, frozen=True):
    """What a call says beside its inputs.

    `recorded` is the path of a file of receipt times, `path` that of the file to read
    inside a repository.
    """

    recorded: str | None = None
    path: str | None = None


class Importer(Record, frozen=True, kw_only=True):
    """One foreign system: its id, what an input is, and the call that reads paths.

    `read(inputs, options)` raises `UsageError` for inputs that do not fit and
    `FileError` for those that cannot be read.
    """

    id: str
    inputs: str
    read: Callable[[Sequence[str], Options], Imported]


class Tally:
    """Losses while they are being counted."""

    def __init__(self) -> None:
        self._counts: dict[tuple[str, str], int] = {}

    def add(self, field: str, reason: str, count: int = 1) -> None:
        if count:
            key = (field, reason)
            self._counts[key] = self._counts.get(key, 0) + count

    def losses(self) -> tuple[Loss, ...]:
        """Every loss, sorted by field and reason."""
        ordered = sorted(self._counts.items())
        return tuple(Loss(field, count, reason) for (field, reason), count in ordered)


class Identities:
    """The ids in use: one that is borne again is numbered from `#2`, which is a loss."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._used: set[str] = set()
        self._borne: Counter[str] = Counter()  # how many times again

    def take(self, wanted: str, field: str) -> str:
        identity = wanted
        while identity in self._used:
            self._borne[wanted] += 1
            identity = f"{wanted}#{self._borne[wanted] + 1}"
        if identity != wanted:
            self._tally.add(field, f"{AMBIGUOUS}: borne by an earlier line, numbered from #2")
        self._used.add(identity)
        return identity

    def is_borne_again(self, wanted: str) -> bool:
        return self._borne[wanted] > 0


class AdmissionClock:
    """Recorded times that never fall: one that does becomes the latest before it."""

    def __init__(self, tally: Tally) -> None:
        self._tally = tally
        self._latest: int | None = None

    def admit(self, recorded_at: int) -> int:
        if self._latest is None or recorded_at >= self._latest:
            self._latest = recorded_at
        else:
            self._tally.add(
                "recorded_at_utc", f"{AMBIGUOUS}: fell, replaced by the latest time before it"
            )
        return self._latest


class Unreadable(Record, frozen=True):
    """A foreign line that is no JSON object with one value for each of its fields."""

    problem: str


class Object(Record, frozen=True):
    """A foreign line that is one JSON object.

    `fields` are its decoded values.  `exact` says whether a contract line may hold the
    object as it stands; if not (a number that no double holds, NaN, half a surrogate
    pair, a key repeated further down, nesting too deep), only its text can be kept.
    """

    fields: dict[str, object]
    exact: bool


def read_object(line: bytes, *, levels: int = 0) -> Object | Unreadable:
    """One foreign line, leniently; `levels` is how deep in an event it is to be nested."""
    repeats: list[bool] = []

    def pairs(found: list[tuple[str, object]]) -> dict[str, object]:
        value = dict(found)
        repeats.append(len(value) != len(found))
        return value

    try:
        value = json.loads(
            line.decode(),
            object_pairs_hook=pairs,
            parse_int=_integer,
        )
    except UnicodeDecodeError:
        return Unreadable("not UTF-8")
    except ValueError:
        return Unreadable("not JSON")
    except RecursionError:
        return Unreadable("nested too deep")
    if not isinstance(value, dict):
        return Unreadable("not an object")
    if repeats[-1]:  # the outermost object is closed last
        return Unreadable("a field given twice")
    return Object(value, exact=not any(repeats) and _holdable(value, MAX_DEPTH - levels))


def _integer(digits: str) -> int | float:
    # the interpreter refuses integers of thousands of digits; no double holds these
    return int(digits) if len(digits) <= _DIGITS_OF_A_DOUBLE else inf


def _holdable(value: object, depth: int) -> bool:
    """Whether the contract takes this value, nested at most `depth` deep."""
    pending: list[tuple[object, int]] = [(value, 1)]
    while pending:
        item, level = pending.pop()
        if isinstance(item, dict | list):
            if level > depth:
                return False
            below = item.values() if isinstance(item, dict) else item
            pending += [(each, level + 1) for each in below]
            if isinstance(item, dict):
                pending += [(key, level) for key in item]
        elif isinstance(item, str):
            if not _is_unicode(item):
                return False
        elif isinstance(item, int | float) and not _fits_a_double(item):
            return False
    return True


def _is_unicode(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _fits_a_double(number: int | float) -> bool:
    try:
        return isfinite(number)
    except OverflowError:
        return False


def value_key(line: bytes, read: Object | Unreadable) -> bytes:
    """A key that two lines share when, and only when, they say the same."""
    if isinstance(read, Object) and read.exact:
        return json.dumps(read.fields, sort_keys=True, separators=(",", ":")).encode()
    return line


def text_of(value: object) -> str | None:
    """A string that the envelope takes as it stands, else null."""
    if not isinstance(value, str) or not value or not _is_unicode(value):
        return None
    return value if len(value.encode()) <= MAX_TEXT_BYTES else None


def write_line(envelope: Mapping[str, object], payload: bytes) -> bytes:
    """One contract line; `payload` is JSON text, so that numbers keep their spelling.

    Nulls and empty lists are left out, as the contract reads them alike.
    """
    kept = {name: value for name, value in envelope.items() if value is not None and value != []}
    head = json.dumps(kept, ensure_ascii=False, separators=(",", ":")).encode()
    return head[:-1] + b',"payload":' + payload + b"}\n"


def write_whole(
    envelope: Mapping[str, object],
    head: Mapping[str, object],
    name: str,
    line: bytes,
    *,
    exact: bool,
    tally: Tally,
) -> bytes:
    """One contract line whose payload is `head` and, under `name`, the foreign line itself.

    As written where it is `exact`, else as text (`name_text`); where it does not fit,
    its digest (`name_digest`), which is not looked at again.
    """
    if exact:
        whole = write_line(envelope, _with(head, name, line))
    else:
        as_text = json.dumps(line.decode(), ensure_ascii=False).encode()
        whole = write_line(envelope, _with(head, f"{name}_text", as_text))
    if fits(whole):
        if not exact:
            tally.add(name, f"{NO_SUCH_FIELD}: not strict JSON, kept as its text")
        return whole
    tally.add(name, f"{NO_SUCH_FIELD}: longer than a line, kept as its SHA-256")
    return write_line(envelope, _with(head, f"{name}_digest", json.dumps(digest(line)).encode()))


def _with(head: Mapping[str, object], name: str, value: bytes) -> bytes:
    opened = json.dumps(head, ensure_ascii=False, separators=(",", ":")).encode()[:-1]
    return opened + (b"," if head else b"") + json.dumps(name).encode() + b":" + value + b"}"


def fits(line: bytes) -> bool:
    """Whether the strict reader takes a line of this length under its default limit."""
    return len(line) <= MAX_LINE_BYTES


def digest(line: bytes) -> dict[str, object]:
    """What is kept of a foreign line that is too long to be kept."""
    return {"sha256": hashlib.sha256(line).hexdigest(), "bytes": len(line)}


def ranges(numbers: Sequence[int]) -> str:
    """Rising numbers as a person writes them: `4, 9-12`."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][1] + 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(f"{first}" if first == last else f"{first}-{last}" for first, last in runs)
