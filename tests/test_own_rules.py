"""Rule sets of one's own: how one is found, what it is given, and how it fails."""

from __future__ import annotations

import importlib
import py_compile
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import pytest

import replay
from replay.errors import RulesError, UnknownRulesError, UsageError
from replay.event import Record
from replay.history import History, Prefix
from replay.rules import known, named, refused
from tests.command import PAPER, Ran, document, oracle, process
from tests.notation import history, lines
from tests.plugins import (
    REGISTERED,
    SOURCE,
    distribution,
    example,
    failing,
    module,
    site,
)

__all__ = ["site"]  # a fixture

BUILT_IN: Final = ("coordination/1", "coordination/2")


# ---- found


def test_installed_rule_sets_are_known_after_the_built_in_ones_by_id(site: Path) -> None:
    before = known()
    distribution(site, **{"zeta/1": "z:RULES", "acme/1": "acme_rules:RULES"})
    distribution(site, name="beta", **{"beta/10": "b:RULES", "beta/2": "b:RULES"})
    assert before == BUILT_IN
    assert known() == (*BUILT_IN, "acme/1", "beta/10", "beta/2", "zeta/1")
    assert "z" not in sys.modules


def test_naming_one_loads_that_one_alone(site: Path) -> None:
    example(site)
    module(site, "raise SystemExit(0)", "beta_rules")
    distribution(site, name="beta", **{"beta/1": "beta_rules:RULES"})
    assert (named("acme/1").id, named("acme/1")) == ("acme/1", named("acme/1"))
    assert "acme_rules" in sys.modules
    assert "beta_rules" not in sys.modules


def test_its_digest_is_that_of_the_file_that_its_entry_point_names(site: Path) -> None:
    example(site)
    assert named("acme/1").digest == sha256(SOURCE.encode()).hexdigest()


def test_the_line_ends_of_its_file_are_no_part_of_its_digest(site: Path) -> None:
    example(site)
    (site / "acme_rules.py").write_bytes(SOURCE.replace("\n", "\r\n").encode())
    assert named("acme/1").digest == sha256(SOURCE.encode()).hexdigest()


def test_of_a_package_only_the_module_that_is_named_is_hashed(site: Path) -> None:
    (site / "acme_rules").mkdir()
    module(site / "acme_rules", "from acme_rules.beside import RULES", "__init__")
    module(site / "acme_rules", SOURCE, "beside")
    distribution(site, **REGISTERED)
    assert named("acme/1").digest == sha256(b"from acme_rules.beside import RULES").hexdigest()


def test_an_id_that_nobody_registers_is_unknown_and_the_known_ones_are_named(site: Path) -> None:
    distribution(site, **REGISTERED)
    with pytest.raises(UnknownRulesError) as caught:
        named("acme/2")
    assert str(caught.value) == f"no rule set 'acme/2'; known: {', '.join((*BUILT_IN, 'acme/1'))}"


WHAT_IS_LOADED: Final = """
import atexit, sys
asked = {"importlib.metadata", "replay.rules.installed", "replay.rules.guard", "acme_rules"}
atexit.register(lambda: print("", *sorted(asked & set(sys.modules)), file=sys.stderr))
"""


@pytest.mark.parametrize("arguments", [(), ("--rules", "coordination/1")])
def test_a_built_in_rule_set_asks_nobody_what_is_installed(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    env = example(tmp_path)
    ran = process("check", PAPER, *arguments, prologue=WHAT_IS_LOADED, env=env)
    assert (ran.status, ran.err) == (0, "\n")
    own = process("project", PAPER, "--rules", "acme/1", prologue=WHAT_IS_LOADED, env=env)
    assert own.err == " acme_rules importlib.metadata replay.rules.guard replay.rules.installed\n"


# ---- refused


@pytest.mark.parametrize("claimed", ["coordination/1", "coordination/3", "Coordination/2"])
def test_a_reserved_id_is_refused_and_never_stands_for_a_built_in_one(
    site: Path, claimed: str
) -> None:
    module(site, SOURCE.replace("acme/1", claimed))
    distribution(site, **{claimed: "acme_rules:RULES"})
    (reason,) = refused()
    assert str(reason) == (
        f"rule set '{claimed}': acme_rules:RULES of acme-rules 1.0: expected an id that does not"
        f' begin with coordination/, which is reserved, found "{claimed}"'
    )
    assert known() == BUILT_IN
    if claimed in BUILT_IN:
        assert named(claimed).project.__module__ == "replay.rules.v1"
    else:
        with pytest.raises(RulesError, match="which is reserved"):
            named(claimed)
    assert "acme_rules" not in sys.modules


def test_an_id_that_two_distributions_register_is_refused_and_both_are_named(site: Path) -> None:
    example(site)
    distribution(site, name="other", version="2.1", **{"acme/1": "other_rules:RULES"})
    with pytest.raises(RulesError) as caught:
        named("acme/1")
    assert str(caught.value) == (
        "rule set 'acme/1': acme_rules:RULES of acme-rules 1.0 and other_rules:RULES of other 2.1:"
        " expected one that registers this id, found 2"
    )
    assert "acme/1" not in known()
    assert [str(reason) for reason in refused()] == [str(caught.value)]


def test_metadata_that_names_no_distribution_is_no_obstacle(site: Path) -> None:
    example(site, SOURCE.replace("RULES = replay.RuleSet", "RULES = list"))
    (site / "acme_rules-1.0.dist-info" / "METADATA").unlink()
    with pytest.raises(RulesError, match="of a distribution with no name: expected a module"):
        named("acme/1")


UNUSABLE: Final = {
    "raise ImportError('gone')": "with that name, found ImportError: gone",
    "raise SystemExit(0)": "with that name, found SystemExit: 0",
    "def broken(:": "with that name, found SyntaxError: invalid syntax",
    "": "found AttributeError: module 'acme_rules' has no attribute 'RULES'",
    "RULES = []": ":RULES of acme-rules 1.0: expected a RuleSet, found a value of type list",
    "RULES = None": "expected a RuleSet, found None",
    SOURCE.replace('"acme/1"', '"acme/2"'): (
        'acme_rules:RULES.id of acme-rules 1.0: expected "acme/1", the entry point\'s name,'
        ' found "acme/2"'
    ),
    SOURCE.replace('"acme/1"', "1"): "name, found a value of type int",
    SOURCE.replace("UNCOVERED), project)", "UNCOVERED), None)"): (
        "RULES.project of acme-rules 1.0: expected a function of a Prefix, found None"
    ),
    SOURCE.replace("(PROPOSED, ACTIVE, REVISION, PROGRESS, UNCOVERED)", "()"): (
        "RULES.rules of acme-rules 1.0: expected one rule or more, each with an id of its own and"
        " a sentence, found []"
    ),
    SOURCE.replace("(PROPOSED, ACTIVE,", "(PROPOSED, PROPOSED,"): "found ['acme/proposed', 'acme/p",
    SOURCE.replace('"acme/active", "An', '"", "An'): "found ['acme/proposed', '',",
    SOURCE.replace("(PROPOSED, ACTIVE,", "(PROPOSED, 'acme/active',"): (
        "RULES.rules[1] of acme-rules 1.0: expected Rule, found a value of type str"
    ),
    SOURCE.replace("(PROPOSED, ACTIVE, REVISION, PROGRESS, UNCOVERED)", "[PROPOSED]"): (
        "RULES.rules of acme-rules 1.0: expected tuple, found a value of type list"
    ),
    SOURCE.replace("UNCOVERED), project)", "UNCOVERED), project, items_alone=1)"): (
        "RULES.items_alone of acme-rules 1.0: expected bool, found a value of type int"
    ),
}


@pytest.mark.parametrize("source", UNUSABLE, ids=[*range(len(UNUSABLE))])
def test_one_that_cannot_be_used_says_what_was_found_and_expected(site: Path, source: str) -> None:
    example(site, source)
    with pytest.raises(RulesError) as caught:
        named("acme/1")
    assert str(caught.value).startswith("rule set 'acme/1': acme_rules:RULES")
    assert UNUSABLE[source] in str(caught.value)
    assert caught.value.rules == "acme/1"
    assert isinstance(caught.value, UsageError)  # which ends a command with 2


@pytest.mark.parametrize("value", ["acme_rules", "acme rules:RULES", "acme_rules:", ":RULES"])
def test_an_entry_point_that_names_no_object_is_refused(site: Path, value: str) -> None:
    module(site, SOURCE)
    distribution(site, **{"acme/1": value})
    with pytest.raises(RulesError, match="expected MODULE:NAME, found"):
        named("acme/1")


def test_one_whose_source_is_not_there_cannot_be_named(site: Path) -> None:
    distribution(site, **REGISTERED)
    source = module(site, SOURCE)
    py_compile.compile(str(source), cfile=str(site / "acme_rules.pyc"))
    source.unlink()
    with pytest.raises(RulesError, match=r"source file can be read and hashed, found .*\.pyc"):
        named("acme/1")


def test_one_that_failed_to_load_can_be_named_once_it_is_mended(site: Path) -> None:
    distribution(site, **REGISTERED)
    with pytest.raises(RulesError, match="No module named 'acme_rules'"):
        named("acme/1")
    module(site, SOURCE)
    importlib.invalidate_caches()
    assert named("acme/1").id == "acme/1"


# ---- given a prefix and nothing else


def reachable(value: Any) -> Iterator[Any]:
    """Everything that can be reached from a record by its fields."""
    yield value
    match value:
        case Record():
            for name in value.__struct_fields__:
                yield from reachable(getattr(value, name))
        case tuple():
            for entry in value:
                yield from reachable(entry)


def test_it_is_handed_a_prefix_from_which_no_path_can_be_reached(
    site: Path, tmp_path: Path
) -> None:
    source = "handed = []\n" + failing("handed.append(prefix)").replace(
        "(prefix: replay.Prefix)", "(prefix: replay.Prefix, *more, **named)"
    )
    example(site, source.replace("handed.append(prefix)", "handed.append((prefix, more, named))"))
    folder = tmp_path / "secret"
    folder.mkdir()
    (folder / "log.jsonl").write_bytes(lines(history("propose r1 r2")))
    (folder / "log.oracle.json").write_bytes(oracle())
    replay.check_log(folder / "log.jsonl", rules="acme/1")
    ((prefix, more, named_),) = sys.modules["acme_rules"].handed
    assert (type(prefix), more, named_) == (Prefix, (), {})
    found = [*reachable(prefix)]
    plain = (Record, tuple, str, bytes, int, bool, type(None))
    assert [value for value in found if not isinstance(value, plain)] == []
    assert not [value for value in found if isinstance(value, str) and "secret" in value]
    assert not any(isinstance(value, History) for value in found)


TELL_OF_ORACLES: Final = """
import sys
def hook(event, arguments):
    if event == "open" and str(arguments[0]).endswith(".oracle.json"):
        print("opened", file=sys.stderr)
sys.addaudithook(hook)
"""


def test_the_oracle_is_opened_after_it_derived_and_changes_nothing_that_it_derives(
    tmp_path: Path,
) -> None:
    env = example(tmp_path / "site", failing("print('derived')"))
    log, authored = tmp_path / "log.jsonl", tmp_path / "log.oracle.json"
    log.write_bytes(lines(history("propose r1 r2")))
    arguments = ("check", log, "--rules", "acme/1", "--format", "json")
    derived = []
    for content in (None, oracle(), b"poisoned"):
        if content is not None:
            authored.write_bytes(content)
        ran = process(*arguments, prologue=TELL_OF_ORACLES, env=env)
        said = ran.err.split()
        assert said[:2] == ["derived", *(["opened"] if content else [])]
        derived += [log["projection"] for log in document(ran)["logs"]]
    assert len(derived) == 2
    assert derived[0] == derived[1]


# ---- what becomes of its failures


def ran_with(tmp_path: Path, source: str, *arguments: object) -> Ran:
    env = example(tmp_path / "site", source)
    return process(*arguments, "--rules", "acme/1", env=env)


FAILURES: Final = {
    "raise ZeroDivisionError('over\\nnothing')": r"ZeroDivisionError: over\nnothing",
    "raise SystemExit(0)": "SystemExit: 0",
    "raise replay.UsageError('mine')": "replay.errors.UsageError: mine",
    "raise type('Mute', (Exception,), {'__str__': None})": "Mute: <exception str() failed>",
    "return project(prefix)": "RecursionError: maximum recursion depth exceeded",
    "return None": "None",
    "return prefix": "a value of type Prefix",
}


@pytest.mark.parametrize("body", FAILURES)
def test_what_fails_while_it_derives_is_one_sentence_that_names_it_and_ends_with_2(
    tmp_path: Path, body: str
) -> None:
    ran = ran_with(tmp_path, failing(body), "check", PAPER)
    (said,) = ran.said
    assert (ran.status, ran.out) == (2, b"")
    start = f"{PAPER}: rule set 'acme/1': project: expected a Projection, found "
    assert said.startswith(start)
    assert FAILURES[body] in said.removeprefix(start)


@pytest.mark.parametrize("command", ["check", "project", "timeline"])
def test_debug_shows_where_it_failed(tmp_path: Path, command: str) -> None:
    source = failing("raise KeyError('here')")
    ran = ran_with(tmp_path, source, command, PAPER, "--debug")
    assert (ran.status, ran.out) == (2, b"")
    assert "Traceback (most recent call last):" in ran.err
    assert "acme_rules.py" in ran.err
    assert ran.err.splitlines()[-1].endswith("expected a Projection, found KeyError: 'here'")


def test_a_log_that_it_fails_on_is_named_and_the_others_are_answered(tmp_path: Path) -> None:
    source = failing("assert len(prefix.events) < 9")
    short = tmp_path / "short.jsonl"
    short.write_bytes(lines(history("propose r1")))
    ran = ran_with(tmp_path, source, "check", PAPER, short, "--format", "json")
    found = document(ran)
    assert [log["projection"]["input"]["name"] for log in found["logs"]] == ["short.jsonl"]
    assert (ran.status, found["exit"], len(ran.said)) == (2, 2, 1)
    assert ran.said[0].startswith(f"{PAPER}: rule set 'acme/1': project:")


def test_what_it_prints_is_no_part_of_a_document(tmp_path: Path) -> None:
    source = f"print('loading')\n{failing('print(len(prefix.events))')}"
    ran = ran_with(tmp_path, source, "project", PAPER, "--format", "json")
    document(ran)
    assert (ran.status, ran.err) == (0, "loading\n9\n")


def test_one_that_cannot_be_loaded_ends_with_2_before_anything_is_read(tmp_path: Path) -> None:
    ran = ran_with(tmp_path, "raise ImportError('gone')", "check", tmp_path / "missing.jsonl")
    assert (ran.status, ran.out, len(ran.said)) == (2, b"", 1)
    assert ran.said[0].startswith("rule set 'acme/1': acme_rules:RULES of acme-rules 1.0: ")


def test_rules_lists_what_can_be_used_and_says_what_cannot(tmp_path: Path) -> None:
    env = example(tmp_path)
    distribution(tmp_path, name="bad", **{"bad/1": "nowhere:RULES", "coordination/1": "x:RULES"})
    ran = process("rules", "--format", "json", env=env)
    listed = [rule_set["id"] for rule_set in document(ran)["rules"]]
    assert (ran.status, listed) == (2, [*BUILT_IN, "acme/1"])
    assert [line.split(":")[0] for line in ran.said] == [
        "rule set 'coordination/1'",
        "rule set 'bad/1'",
    ]
    assert process("rules", "coordination/1", env=env).status == 0
    assert process("rules", "bad/1", env=env).out == b""
