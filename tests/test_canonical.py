"""Canonical bytes are those of RFC 8785, whichever encoder gives them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import rfc8785
from hypothesis import given
from hypothesis import strategies as st

from replay.canonical import encode

VECTORS = Path(__file__).parent.parent.parent / "shared" / "data" / "vectors" / "jcs"

numbers = st.one_of(
    st.integers(-(2**53) + 1, 2**53 - 1),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from((1e16, 1e21, 1e-6, 1e-7, 0.1, -0.0, 5e-324, 2.0, 153722867.280912)),
)
values: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | numbers | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@given(values)
def test_any_value_has_the_bytes_of_rfc_8785(value: Any) -> None:
    assert encode(value) == rfc8785.dumps(value)


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1.5, "b": "1.5"},
        {"\ufb33": 1, "\U0001f600": 2},
        ['\u2028\x7f\x1f\b/\\"'],
        {"n": 9007199254740991, "m": -9007199254740991},
        [1234567890123456, 12345678901234567890 // 10**5],
        "x:1.5",
        1.0,
        10,
        [],
    ],
)
def test_where_encoders_differ_the_bytes_are_still_those_of_rfc_8785(value: Any) -> None:
    assert encode(value) == rfc8785.dumps(value)


@pytest.mark.parametrize("value", [2**53, -(2**53), float("nan"), float("inf"), "\ud800"])
def test_what_rfc_8785_cannot_hold_is_refused(value: Any) -> None:
    with pytest.raises((rfc8785.CanonicalizationError, TypeError, AttributeError)):
        encode(value)


def test_the_published_vectors() -> None:
    if not VECTORS.is_dir():
        pytest.skip("the published JCS vectors are not there (shared/data/vectors/jcs)")
    inputs = sorted((VECTORS / "input").glob("*.json"))
    assert inputs
    for given_input in inputs:
        expected = (VECTORS / "output" / given_input.name).read_bytes()
        value = json.loads(given_input.read_bytes())
        assert encode(value) == expected.rstrip(b"\n"), given_input.name
