"""Where to look up why: certificates, and words that a shell reads as the log's own ids.

A command on the page is there to be copied, and the ids in it are written by whoever wrote
the log.  So every id is one shell word: quoted as `shlex.quote` does, or, where it holds a
character that a reader would not see, in the `$'...'` of POSIX 2024, bash, zsh and ksh with
that character as the bytes of its UTF-8.  Nothing in an id ends its word, and nothing hidden
is copied unseen.
"""

from __future__ import annotations

import shlex
from typing import Final, NamedTuple

from replay.report.safe import shown


class Certificate(NamedTuple):
    """The events from which alone an answer at the page's cutoff is the same.

    `irredundant` says that leaving out any one of them changes it; false where looking for
    that was cut short.
    """

    work_id: str | None
    question: str
    of: str | None
    events: tuple[str, ...]
    irredundant: bool


class Certificates(NamedTuple):
    """Those that were looked for, and in words how many of how many those are."""

    found: tuple[Certificate, ...]
    counts: tuple[str, ...]


class Asking(NamedTuple):
    """How `replay explain` is asked of this log, each part as words of a shell.

    `log` is null where the log is no file of that name; `options` are those of every
    question, `cutoff` those of the page's own cutoff.
    """

    log: str | None
    options: str
    cutoff: str


NOT_A_WORD: Final = ""
"""What stands for an id that no command line can carry: one that holds a NUL."""


def shell_word(text: str) -> str:
    """`text` as one word of a shell, with every character of it visible.

    `NOT_A_WORD` where there is no such word.
    """
    if "\0" in text:
        return NOT_A_WORD
    if shown(text).replace("\\\\", "\\") == text:
        return shlex.quote(text)
    return f"$'{''.join(map(_escaped, text))}'"


def _escaped(char: str) -> str:
    if char.isascii() and char.isprintable():
        return f"\\{char}" if char in "'\\" else char
    return "".join(f"\\x{byte:02x}" for byte in char.encode("utf-8", "surrogatepass"))
