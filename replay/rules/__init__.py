"""The register of rule sets: an id names exactly one, and there is no "latest".

A rule set's digest is the SHA-256 of its one source file, so that a document says
which text derived it.  It is computed when the rule set is named, before anything
is derived.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Final

from msgspec import structs

from replay.canonical import digest
from replay.errors import ReplayError, UnknownRulesError
from replay.history import Prefix
from replay.projection import Growth, RuleSet

_MODULES: Final = {"coordination/1": "replay.rules.v1", "coordination/2": "replay.rules.v2"}
_named: dict[str, RuleSet] = {}


def _grow_v2(prefix: Prefix) -> Growth:
    from replay.rules.growth import grow  # only timelines need it

    return grow(prefix)


_GROW: Final = {"coordination/2": _grow_v2}


def known() -> tuple[str, ...]:
    """The ids of every registered rule set, oldest first."""
    return tuple(_MODULES)


def named(rules: str) -> RuleSet:
    """The rule set of that id.  Raises `UnknownRulesError`."""
    if rules not in _named:
        if rules not in _MODULES:
            raise UnknownRulesError(rules, known())
        module = importlib.import_module(_MODULES[rules])
        rule_set: RuleSet = module.RULES
        source = _source_digest(module.__name__)
        _named[rules] = structs.replace(rule_set, digest=source, grow=_GROW.get(rules))
    return _named[rules]


def _source_digest(module: str) -> str:
    spec = importlib.util.find_spec(module)
    # asked by name, since importlib.abc takes 50 ms to import
    get_data = getattr(spec.loader, "get_data", None) if spec is not None else None
    if spec is None or spec.origin is None or get_data is None:
        raise ReplayError(f"the source of {module} cannot be read, so it cannot be named")
    # a checkout may have rewritten the line ends; they are no part of the rules
    return digest(get_data(spec.origin).replace(b"\r\n", b"\n"))
