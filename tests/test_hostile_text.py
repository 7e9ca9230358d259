"""Text from a log is hostile: it never reaches a terminal as anything but visible text."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from replay.report.safe import columns, cut, padded, shortened, shown

any_text = st.text(st.characters(exclude_categories=()))
tricky = st.text(
    st.sampled_from("a\\x1b[31m]0;\x07\x9b\x9c\u202e\u200b \t\n\u0301e\u00e9\u1100\u1161\u212b{}")
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("e1", "e1"),
        ("two  words", "two  words"),
        ("", ""),
        ("\x1b", r"\x1b"),
        ("\x7f", r"\x7f"),
        ("\x00", r"\x00"),
        ("\x85", r"\x85"),
        ("a\nb\tc\r", r"a\nb\tc\r"),
        ("a\\nb", r"a\\nb"),
        ("\u202eevil\u202c", r"\u202eevil\u202c"),
        ("\u2066x\u2069", r"\u2066x\u2069"),
        ("\u200e\u200f\u061c", r"\u200e\u200f\u061c"),
        ("ze\u200bro", r"ze\u200bro"),
        ("\ufeffbom", r"\ufeffbom"),
        ("\u2028\u2029", r"\u2028\u2029"),
        ("\u00a0", r"\xa0"),
        (" edge ", r"\x20edge\x20"),
        ("  ", r"\x20\x20"),
        ("\U000e0041", r"\U000e0041"),
        ("\ue000", r"\ue000"),
        ("\u3164", r"\u3164"),
        ("h\u00e9", "h\u00e9"),
        ("he\u0301", r"he\u0301"),
        ("\u212b", r"\u212b"),
        ("\u65e5\u672c", "\u65e5\u672c"),
        ("\ud800", r"\ud800"),
    ],
)
def test_every_character_that_a_reader_could_not_see_is_shown_as_an_escape(
    text: str, expected: str
) -> None:
    assert shown(text) == expected


@pytest.mark.parametrize(
    "sequence",
    [
        "\x1b[31m",
        "\x1b[2J",
        "\x1b[?1049h",
        "\x9b31m",
        "\x1b]0;title\x07",
        "\x1b]8;;https://example.org\x1b\\",
        "\x1bPq#0\x1b\\",
        "\x9d0;title\x9c",
        "\x1bc",
        "\x1b(0",
    ],
)
def test_a_terminal_sequence_is_escaped_as_one_whole(sequence: str) -> None:
    hexadecimal = sequence.encode().hex()
    assert shown(f"a{sequence}b") == f"a\\x{{{hexadecimal}}}b"


def test_an_unterminated_title_sequence_hides_nothing_that_follows() -> None:
    assert shown("\x1b]0;all of this") == "\\x{1b5d}0;all of this"


def test_marks_stacked_beyond_what_languages_use_are_escaped() -> None:
    assert shown("x" + "\u0325" * 5) == "x" + "\u0325" * 3 + r"\u0325\u0325"


def test_a_mark_with_no_letter_to_stand_on_is_escaped() -> None:
    assert shown("\u0325a") == r"\u0325a"


@given(any_text | tricky)
@example("\u0344")
@example("\U0001d15e")
@example("\u1100\u1161")
def test_what_is_shown_is_visible_normalised_and_shown_as_itself_no_further(text: str) -> None:
    safe = shown(text)
    assert safe == safe.strip()
    assert unicodedata.is_normalized("NFC", safe)
    hidden = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
    assert not [c for c in safe if unicodedata.category(c) in hidden]
    assert not [c for c in safe if unicodedata.category(c) == "Zs" and c != " "]


@given(tricky, tricky)
@example("\x1b", "\\x1b")
@example("\x1b[31m", "\x1b[32m")
@example("e\u0301", "\u00e9")
@example("\x1b[m", "\\x{1b5b6d}")
@example(" a", "a")
def test_two_different_texts_never_print_alike(one: str, other: str) -> None:
    assert (shown(one) == shown(other)) == (one == other)


@given(any_text, any_text)
def test_nor_do_any_two_texts(one: str, other: str) -> None:
    assert (shown(one) == shown(other)) == (one == other)


@given(any_text | tricky, st.integers(14, 60))
def test_a_shortened_text_fits_its_columns(text: str, width: int) -> None:
    assert columns(shown(text, width)) <= width


def test_a_shortened_word_says_how_much_is_left_out_and_which_word_it_was() -> None:
    one, other = shown("a" * 500, 20), shown("a" * 499 + "b", 20)
    assert one.startswith("aaaaaaaa…+492#")
    assert len(one) == 20
    assert one != other


def test_a_word_that_fits_is_not_shortened() -> None:
    assert shortened("e" * 20, 20) == "e" * 20


def test_wide_characters_take_two_columns_and_marks_none() -> None:
    assert columns("\u65e5\u672c") == 4
    assert columns("x\u0325") == 1
    assert cut("\u65e5\u672c", 3) == "\u65e5"
    assert padded("\u65e5", 4) == "\u65e5  "
