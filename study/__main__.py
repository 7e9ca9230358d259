"""`python -m study`."""

from __future__ import annotations

from study.cli import entry

entry()
