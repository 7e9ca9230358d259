"""`python -m replay`."""

from replay.cli import entry

entry()
