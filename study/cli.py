"""The `study` command.  Nothing is built yet, and it says so instead of pretending."""

from __future__ import annotations

import sys

NOTHING_YET = """\
usage: study COMMAND

Nothing is available yet: this release has the replay core only (see `replay --help`).
The operational endpoints and the reviewer study come in later releases.
"""


def main(argv: list[str] | None = None) -> int:
    """Say what there is; exit status 2, since nothing that was asked can be done."""
    del argv
    sys.stderr.write(NOTHING_YET)
    return 2


def entry() -> None:
    """Console script."""
    sys.exit(main())
