"""The register of rule sets: an id names exactly one, and there is no "latest".

A rule set's digest is the SHA-256 of its one source file, so that a document says
which text derived it.  It is computed when the rule set is named, before anything
is derived.

A distribution registers a rule set of its own by an entry point of the group
`replay.rules` (`replay.rules.installed`).  One of the built-in ids never asks what is
installed, so that nothing installed can stand in its place, or slow it down.  Where a rule
set of one's own has modules beside it, only the file that the entry point names is hashed.
"""

from __future__ import annotations

import importlib
import importlib.util
from typing import Final

from msgspec import structs

from replay.canonical import digest
from replay.errors import ReplayError, RulesError, UnknownRulesError
from replay.history import Prefix
from replay.projection import Growth, RuleSet

_MODULES: Final = {"coordination/1": "replay.rules.v1", "coordination/2": "replay.rules.v2"}
_named: dict[str, RuleSet] = {}


def _grow_v2(prefix: Prefix) -> Growth:
    from replay.rules.growth import grow  # only timelines need it

    return grow(prefix)


_GROW: Final = {"coordination/2": _grow_v2}


def known() -> tuple[str, ...]:
    """The ids that can be named: the built-in ones, oldest first, then those installed, by id.

    To know one does not load it: whether it can be used is seen when it is named.
    """
    from replay.rules.installed import registered

    reasons = _refused()
    return (*_MODULES, *(rules for rules in registered() if rules not in reasons))


def refused() -> tuple[RulesError, ...]:
    """Why an id that is registered cannot be named, where that is known without loading it."""
    return tuple(_refused().values())


def named(rules: str) -> RuleSet:
    """The rule set of that id; no other is loaded.

    Raises `UnknownRulesError`, and `RulesError` of an installed one that cannot be used.
    """
    if rules not in _named:
        _named[rules] = _built_in(rules) if rules in _MODULES else _installed(rules)
    return _named[rules]


def _built_in(rules: str) -> RuleSet:
    module = importlib.import_module(_MODULES[rules])
    rule_set: RuleSet = module.RULES
    source = _source_digest(module.__name__)
    return structs.replace(rule_set, digest=source, grow=_GROW.get(rules))


def _installed(rules: str) -> RuleSet:
    from replay.rules.guard import guarded
    from replay.rules.installed import load, registered

    entries = registered().get(rules, ())
    if not entries:
        raise UnknownRulesError(rules, known())
    rule_set, module = load(rules, entries)
    # grown or not, what it answers is what its guarded projections say
    return structs.replace(
        rule_set, digest=_source_digest(module), project=guarded(rule_set), grow=None
    )


def _refused() -> dict[str, RulesError]:
    from replay.rules.installed import reason_to_refuse, registered

    reasons = {rules: reason_to_refuse(rules, found) for rules, found in registered().items()}
    return {rules: reason for rules, reason in reasons.items() if reason is not None}


def _source_digest(module: str) -> str:
    spec = importlib.util.find_spec(module)
    # asked by name, since importlib.abc takes 50 ms to import
    get_data = getattr(spec.loader, "get_data", None) if spec is not None else None
    if spec is None or spec.origin is None or get_data is None:
        raise ReplayError(f"the source of {module} cannot be read, so it cannot be named")
    # a checkout may have rewritten the line ends; they are no part of the rules
    return digest(get_data(spec.origin).replace(b"\r\n", b"\n"))
