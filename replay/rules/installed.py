"""Rule sets that other distributions register, found by name and loaded one at a time.

An entry point of the group `replay.rules` has a rule set's id as its name and
`MODULE:NAME` of a `replay.RuleSet` as its value.  An id is one rule set's: one that two
distributions register is refused, and both are named, rather than the one taken that
happens to come first.  `coordination/…` is reserved, so no installation can change what
the published rules answer.

What is loaded here is somebody else's code, which can fail in any way; whatever it does
is a `RulesError`, which is about that code and not about the log.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from operator import attrgetter
from types import ModuleType
from typing import Any, Final

from replay.errors import RulesError, quoted
from replay.projection import Rule, RuleSet
from replay.rules.guard import Unfit, aside, check_type, fault, kind

GROUP: Final = "replay.rules"
RESERVED: Final = "coordination/"


def registered() -> Mapping[str, Sequence[EntryPoint]]:
    """Every id that an installed distribution registers, sorted; nothing of it is imported."""
    found: dict[str, dict[tuple[str, str], EntryPoint]] = {}
    for entry in entry_points(group=GROUP):
        found.setdefault(entry.name, {})[_distribution(entry), entry.value] = entry
    return {rules: [*found[rules].values()] for rules in sorted(found)}


def reason_to_refuse(rules: str, entries: Sequence[EntryPoint]) -> RulesError | None:
    """Why an id cannot be named, as far as that can be known without loading it."""
    where = " and ".join(sorted(map(_said, entries)))
    if rules.lower().startswith(RESERVED):
        expected = f"an id that does not begin with {RESERVED}, which is reserved"
        return RulesError(rules, where=where, expected=expected, found=quoted(rules))
    if len(entries) > 1:
        expected = "one that registers this id"
        return RulesError(rules, where=where, expected=expected, found=str(len(entries)))
    return None


def load(rules: str, entries: Sequence[EntryPoint]) -> tuple[RuleSet, str]:
    """The rule set that an entry point names, and the module that it names it in.

    Raises `RulesError`.
    """
    reason = reason_to_refuse(rules, entries)
    if reason is not None:
        raise reason
    (entry,) = entries
    try:
        module, rule_set = _imported(entry.value)
        _check(rules, rule_set)
        _check_source(module)
    except Unfit as unfit:
        where = _said(entry, unfit.where)
        raise RulesError(
            rules, where=where, expected=unfit.expected, found=unfit.found
        ) from unfit.__cause__
    return rule_set, module.__name__


def _imported(value: str) -> tuple[ModuleType, Any]:
    path, _, name = (part.strip() for part in value.partition(":"))
    if not all(part.isidentifier() for part in f"{path}.{name}".split(".")):
        raise Unfit("", "MODULE:NAME", quoted(value))
    try:
        with aside():
            module = import_module(path)
            return module, attrgetter(name)(module)
    except (Exception, SystemExit) as problem:
        raise Unfit(
            "", "a module that can be imported, with that name", fault(problem)
        ) from problem


def _check(rules: str, rule_set: Any) -> None:
    """Raise `Unfit` unless it is a rule set of that id."""
    if type(rule_set) is not RuleSet:
        raise Unfit("", "a RuleSet", kind(rule_set))
    if rule_set.id != rules:
        found = quoted(rule_set.id) if type(rule_set.id) is str else kind(rule_set.id)
        raise Unfit(".id", f"{quoted(rules)}, the entry point's name", found)
    check_type(rule_set.rules, tuple[Rule, ...], ".rules")
    ids = [rule.id for rule in rule_set.rules]
    if not ids or len({*ids}) < len(ids) or not all(r.id and r.sentence for r in rule_set.rules):
        raise Unfit(
            ".rules", "one rule or more, each with an id of its own and a sentence", f"{ids}"
        )
    if not callable(rule_set.project):
        raise Unfit(".project", "a function of a Prefix", kind(rule_set.project))
    check_type(rule_set.items_alone, bool, ".items_alone")


def _check_source(module: ModuleType) -> None:
    """Raise `Unfit` unless the file to hash is there, as source."""
    spec = module.__spec__
    origin = None if spec is None else spec.origin
    get_data = None if spec is None else getattr(spec.loader, "get_data", None)
    expected = "a module whose source file can be read and hashed"
    if origin is None or get_data is None or not origin.endswith(".py"):
        raise Unfit("", expected, origin or "none")
    try:
        get_data(origin)
    except OSError as problem:
        raise Unfit("", expected, fault(problem)) from problem


def _said(entry: EntryPoint, part: str = "") -> str:
    return f"{entry.value}{part} of {_distribution(entry)}"


def _distribution(entry: EntryPoint) -> str:
    """The name and version of the distribution that registers it, as far as it says them."""
    metadata: Any = {} if entry.dist is None else entry.dist.metadata
    said = (metadata.get("Name"), metadata.get("Version"))
    return " ".join(part for part in said if part) or "a distribution with no name"
