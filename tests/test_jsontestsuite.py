"""The public JSON parsing suite, each case as a payload value and as a whole file.

A payload value stands in one line, so raw newlines are spaces there; that makes
`n_string_unescaped_newline` a string with a space, which is valid, and it is refused as
a whole file.  An empty file and one of a space are logs of no line and of a blank line,
which are allowed; they are refused as values.  A case is refused when it is in one of
the two ways.  The cases are read where they are provided, not copied.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from replay.decode import decode_bytes
from replay.errors import Refusal

SUITE: Final = (
    Path(__file__).parent.parent.parent
    / "shared"
    / "data"
    / "vectors"
    / "jsontestsuite"
    / "test_parsing"
)
CASES: Final = {path.stem: path for path in sorted(SUITE.glob("*.json"))}
pytestmark = pytest.mark.skipif(
    not CASES, reason="the JSON parsing suite is not provided beside the repository"
)

LINE: Final = (
    b'{"schema_version":"elapsed/1","event_id":"e1","recorded_sequence":1,"recorded_minute":0,'
    b'"type":"note","payload":{"value":%s}}\n'
)
ACCEPTED: Final = "accepted"
VALID_AS_A_VALUE: Final = {"n_string_unescaped_newline"}
BLANK_AS_A_FILE: Final = {"n_single_space", "n_structure_no_data"}
REPEATED_KEY: Final = {"y_object_duplicated_key", "y_object_duplicated_key_and_value"}
OF_SEVERAL_LINES: Final = {"y_array_with_1_and_newline", "y_object_with_newlines"}

# What the standard leaves to the implementation, as a payload value: integers of any
# size are kept, and what a double rounds to zero is not out of range; what no double
# holds is; every surrogate is half of a pair, UTF-8 is the only encoding, a byte-order
# mark is no JSON (at the beginning of a line it has a code of its own), 64 levels do.
VERDICTS: Final = {
    "i_number_double_huge_neg_exp": ACCEPTED,
    "i_number_huge_exp": "number_out_of_range",
    "i_number_neg_int_huge_exp": "number_out_of_range",
    "i_number_pos_double_huge_exp": "number_out_of_range",
    "i_number_real_neg_overflow": "number_out_of_range",
    "i_number_real_pos_overflow": "number_out_of_range",
    "i_number_real_underflow": ACCEPTED,
    "i_number_too_big_neg_int": ACCEPTED,
    "i_number_too_big_pos_int": ACCEPTED,
    "i_number_very_big_negative_int": ACCEPTED,
    "i_object_key_lone_2nd_surrogate": "lone_surrogate",
    "i_string_1st_surrogate_but_2nd_missing": "lone_surrogate",
    "i_string_1st_valid_surrogate_2nd_invalid": "lone_surrogate",
    "i_string_UTF-16LE_with_BOM": "not_utf8",
    "i_string_UTF-8_invalid_sequence": "not_utf8",
    "i_string_UTF8_surrogate_U+D800": "not_utf8",
    "i_string_incomplete_surrogate_and_escape_valid": "lone_surrogate",
    "i_string_incomplete_surrogate_pair": "lone_surrogate",
    "i_string_incomplete_surrogates_escape_valid": "lone_surrogate",
    "i_string_invalid_lonely_surrogate": "lone_surrogate",
    "i_string_invalid_surrogate": "lone_surrogate",
    "i_string_invalid_utf-8": "not_utf8",
    "i_string_inverted_surrogates_U+1D11E": "lone_surrogate",
    "i_string_iso_latin_1": "not_utf8",
    "i_string_lone_second_surrogate": "lone_surrogate",
    "i_string_lone_utf8_continuation_byte": "not_utf8",
    "i_string_not_in_unicode_range": "not_utf8",
    "i_string_overlong_sequence_2_bytes": "not_utf8",
    "i_string_overlong_sequence_6_bytes": "not_utf8",
    "i_string_overlong_sequence_6_bytes_null": "not_utf8",
    "i_string_truncated-utf-8": "not_utf8",
    "i_string_utf16BE_no_BOM": "not_utf8",
    "i_string_utf16LE_no_BOM": "not_utf8",
    "i_structure_500_nested_arrays": "too_deep",
    "i_structure_UTF-8_BOM_empty_object": "not_json",
}
# Where the whole file's code is another one.  A value that is accepted in a payload is,
# as a file, an array: JSON, and no event.
AS_A_FILE: Final = {"i_structure_UTF-8_BOM_empty_object": "bom"}


def cases(kind: str) -> list[str]:
    return [name for name in CASES if name.startswith(kind)]


def verdict(data: bytes) -> str:
    try:
        decode_bytes(data, name="suite.jsonl")
    except Refusal as refused:
        return refused.code
    return ACCEPTED


def as_value(name: str) -> str:
    return verdict(LINE % CASES[name].read_bytes().replace(b"\n", b" "))


def as_file(name: str) -> str:
    return verdict(CASES[name].read_bytes())


def test_the_suite_is_whole() -> None:
    assert [len(cases(kind)) for kind in ("n_", "y_", "i_")] == [188, 95, 35]


@pytest.mark.parametrize("name", cases("n_"))
def test_what_is_not_json_is_refused(name: str) -> None:
    assert (as_value(name) == ACCEPTED) == (name in VALID_AS_A_VALUE)
    assert (as_file(name) == ACCEPTED) == (name in BLANK_AS_A_FILE)


@pytest.mark.parametrize("name", cases("y_"))
def test_what_is_json_is_accepted_as_a_value_unless_it_repeats_a_key(name: str) -> None:
    assert as_value(name) == ("duplicate_key" if name in REPEATED_KEY else ACCEPTED)


@pytest.mark.parametrize("name", cases("y_"))
def test_what_is_json_is_refused_as_a_file_only_for_not_being_an_event(name: str) -> None:
    if name in REPEATED_KEY:
        assert as_file(name) == "duplicate_key"
    elif name in OF_SEVERAL_LINES:
        assert as_file(name) == "not_json"  # its first line alone
    else:
        assert as_file(name) in ("not_an_object", "missing_field")


def test_every_case_that_the_standard_leaves_open_has_a_verdict() -> None:
    assert sorted(VERDICTS) == cases("i_")


@pytest.mark.parametrize("name", cases("i_"))
def test_what_the_standard_leaves_open_has_the_verdict_of_the_table(name: str) -> None:
    wanted = VERDICTS[name]
    assert as_value(name) == wanted
    assert as_file(name) == ("not_an_object" if wanted == ACCEPTED else AS_A_FILE.get(name, wanted))
