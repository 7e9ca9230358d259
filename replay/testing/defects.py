"""Seeded defects: what can go wrong with a record, each as one injector.

A reader of logs is worth what it notices.  Each `Defect` takes a valid log and one source of
chance and gives the bytes of a faulty one, so that any reader can be asked whether it sees
the difference; `replay.testing.kills` asks this one.

    >>> from random import Random
    >>> from replay.testing.defects import BY_ID, valid_log
    >>> from replay.testing.simulate import simulate
    >>> log = valid_log(simulate(1, hours=20).log)
    >>> spoiled = BY_ID["lost-in-the-middle"].inject(log, Random(1))
    >>> len(spoiled.data.splitlines()) == len(log.lines) - 1
    True
"""

from __future__ import annotations

from typing import Final

from replay.testing import content_defects, line_defects
from replay.testing.spoiled import Defect, Inject, Injected, Trace, ValidLog, valid_log

__all__ = ["BY_ID", "DEFECTS", "Defect", "Inject", "Injected", "Trace", "ValidLog", "valid_log"]

DEFECTS: Final = (*line_defects.DEFECTS, *content_defects.DEFECTS)
BY_ID: Final = {defect.id: defect for defect in DEFECTS}
