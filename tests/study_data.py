"""Published data sets as spells: see tests/data/README.md for where each is from."""

from __future__ import annotations

import csv
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from study.spells import Spell

DATA: Final = Path(__file__).parent / "data"

AML: Final[Mapping[str, str]] = {
    "Maintained": "9 13 13+ 18 23 28+ 31 34 45+ 48 161+",
    "Nonmaintained": "5 5 8 8 12 16+ 23 27 30 33 43 45",
}
"""R survival's `aml`, as printed in its tests/Examples/survival-Ex.Rout.save."""

OVARIAN: Final[Mapping[str, str]] = {
    "rx=1": "59 115 156 431 448+ 477+ 638 803+ 855+ 1040+ 1106+ 268 329",
    "rx=2": "421+ 464 475 563 744+ 769+ 770+ 1129+ 1206+ 1227+ 353 365 377+",
}
"""R survival's `ovarian` (26 rows): futime and fustat, by rx."""


def spells(written: str, event: str = "event") -> tuple[Spell, ...]:
    """Times as survival tables write them: a `+` after a time is censoring."""
    return tuple(
        Spell(float(word.rstrip("+")), None if word.endswith("+") else event)
        for word in written.split()
    )


def table(name: str) -> Iterator[dict[str, str]]:
    with (DATA / f"{name}.csv").open(encoding="utf-8", newline="") as file:
        yield from csv.DictReader(file)


def bmt(group: str) -> tuple[Spell, ...]:
    """Years of 365.25 days to relapse or death."""
    cause = {"0": None, "1": "relapse", "2": "death"}
    return tuple(
        Spell(int(row["days"]) / 365.25, cause[row["status"]])
        for row in table("bmt")
        if row["group"] == group
    )


def pbc(arm: str) -> tuple[Spell, ...]:
    """Years of 365.25 days to death."""
    return tuple(
        Spell(int(row["days"]) / 365.25, "death" if row["died"] == "1" else None)
        for row in table("pbc")
        if row["arm"] == arm
    )


def mgus2(sex: str | None = None) -> tuple[Spell, ...]:
    """Months to the first of malignancy (`pcm`) and death."""
    causes = {"censored": None, "pcm": "pcm", "death": "death"}
    return tuple(
        Spell(float(row["months"]), cause)
        for row in table("mgus2")
        if sex is None or row["sex"] == sex
        for column, cause in causes.items()
        for _ in range(int(row[column]))
    )
