"""The hostile logs of `fixtures/hostile`, and the texts in them that tests look for.

They are valid by the contract and written against whoever prints them: markup in every field
that takes text, marks that reorder or hide what stands beside them, words longer than any
screen, names that a script's objects already have, what templates, comments and scripts would
end at, and what a terminal, a spreadsheet, a shell or an option parser would obey.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.command import ROOT

MARKUP_LOG: Final = ROOT / "fixtures" / "hostile" / "markup.jsonl"
WORDS_LOG: Final = ROOT / "fixtures" / "hostile" / "words.jsonl"
LOGS: Final = (MARKUP_LOG, WORDS_LOG)

MARKUP: Final = "<script>alert(1)</script><img src=x onerror=alert(2)>"
REORDERED: Final = "\u202egnp.exe\u2066"
HUGE: Final = "W" + "x" * 1000
HIDDEN: Final = (
    "\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u200b\u200e\u200f\u2028\u2029"
    "\x07\x1b\x9b\x00"
)


def write(path: Path) -> Path:
    """The log of markup as a file of the name wanted."""
    path.write_bytes(MARKUP_LOG.read_bytes())
    return path
