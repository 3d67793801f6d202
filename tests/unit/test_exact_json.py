"""One document at a time is read exactly, or refused with a reason."""

from __future__ import annotations

import json
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.parse.json_exact import (
    DEEPEST,
    LARGEST_RECORD,
    Refused,
    decoded,
    is_double,
    leftovers,
    record,
    written,
)

SUITE = Path(__file__).resolve().parent.parent / "data" / "json-test-suite"
FILES = sorted(SUITE.glob("*.json"))
CODES = {
    "MALFORMED_JSON",
    "NOT_AN_OBJECT",
    "DUPLICATE_KEY",
    "INVALID_UTF8",
    "TOO_DEEP",
}
# Files of the suite that must parse, as JSON goes, and that Headwater refuses with a reason.
REFUSED = {
    "y_object_duplicated_key.json": "DUPLICATE_KEY",
    "y_object_duplicated_key_and_value.json": "DUPLICATE_KEY",
}


def refusal(document: str | bytes) -> Refused | None:
    """Why a document is not taken."""
    try:
        record(decoded(document.encode() if isinstance(document, str) else document))
    except Refused as refused:
        return refused
    return None


def test_the_suite_is_whole() -> None:
    kinds = [path.name[0] for path in FILES]
    assert {kind: kinds.count(kind) for kind in "yni"} == {"y": 95, "n": 188, "i": 35}


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_each_file_of_the_suite_is_judged(path: Path) -> None:
    refused = refusal(path.read_bytes())
    assert not refused or (refused.code in CODES and refused.reason)
    if path.name in REFUSED:
        assert refused
        assert refused.code == REFUSED[path.name]
    elif path.name.startswith("y_"):
        assert not refused or refused.code == "NOT_AN_OBJECT"
    elif path.name.startswith("n_"):
        assert refused


@pytest.mark.parametrize(
    ("document", "expected"),
    [
        ("", "MALFORMED_JSON"),
        (" ", "MALFORMED_JSON"),
        ('{"a": 1', "MALFORMED_JSON"),
        ('{"a": 1} x', "MALFORMED_JSON"),
        ('{"a": NaN}', "MALFORMED_JSON"),
        ('{"a": -Infinity}', "MALFORMED_JSON"),
        ("[]", "NOT_AN_OBJECT"),
        ("null", "NOT_AN_OBJECT"),
        ("1", "NOT_AN_OBJECT"),
        ('{"a": {"b": 1, "b": 2}}', "DUPLICATE_KEY"),
        (b'{"a": "\xff"}', "INVALID_UTF8"),
        ('{"a":' * DEEPEST + "1" + "}" * DEEPEST, "TOO_DEEP"),
        ('{"a":' * (DEEPEST - 1) + "1" + "}" * (DEEPEST - 1), None),
        ("[" * 100_000, "TOO_DEEP"),
        (b" " * (LARGEST_RECORD + 1), "TOO_LARGE"),
        ("{}", None),
        (b"\xef\xbb\xbf{}", None),
    ],
)
def test_a_document_is_refused_with_its_code(document: str | bytes, expected: str | None) -> None:
    refused = refusal(document)
    assert (refused and refused.code) == expected


def test_a_reason_says_where() -> None:
    assert "character" in str(refusal(b'{"a": 1, }'))
    assert "ends" in str(refusal(b'{"a": 1'))
    assert "'b'" in str(refusal(b'{"b": 1, "b": 2}'))
    assert "an array" in str(refusal(b"[1]"))


@pytest.mark.parametrize(
    "digits",
    ["0", "-0", "1", "-1.5", "9223372036854775808", "0.1", "1e2", "1.5E-25", "1" * 38, "5e-324"],
)
def test_a_number_that_some_type_holds_stays_as_it_is(digits: str) -> None:
    document = f'{{"n":{digits}}}'
    assert written(record(document)) == document


@pytest.mark.parametrize(
    "digits",
    ["1e400", "-1e400", "1e-400", "1" * 39, "0." + "123456789" * 5, "1.00000000000000001e5"],
)
def test_a_number_that_no_type_holds_becomes_text(digits: str) -> None:
    text = written(record(f'{{"a": [{{"n": {digits}}}], "b": true}}'))
    assert json.loads(text) == {"a": [{"n": digits}], "b": True}


@given(st.decimals(allow_nan=False, allow_infinity=False))
def test_no_number_is_ever_another_one(number: Decimal) -> None:
    digits = f"{number}"
    text = written(record(f'{{"n": {digits}}}'))
    held = json.loads(text, parse_float=float, parse_int=Decimal)["n"]
    if isinstance(held, str):
        assert held == digits
    elif isinstance(held, float) and len(number.as_tuple().digits) > 38:
        assert Decimal(repr(held)) == number


def test_leftovers_are_what_no_column_holds_by_path() -> None:
    columns: dict[str, dict[str, object]] = {"a": {}, "o": {"x": {}}, "l": {"y": {}}}
    text = '{"a":"abc","o":{"x":1,"z":[1]},"l":[{"y":1},{"y":"no"}],"new":{"k":1.50}}'
    typed = '{"o":{"x":1},"l":[{"y":1},{}]}'
    assert json.loads(leftovers(text, typed, columns, True) or "") == {
        "a": "abc",
        "o.z": [1],
        "l[1].y": "no",
        "new": {"k": 1.5},
    }


def test_leftovers_keep_the_digits_of_a_number() -> None:
    text = '{"n":12345678901234567890.10}'
    assert leftovers(text, "{}", {"n": {}}, True) == '{"n":"12345678901234567890.10"}'


def test_nothing_left_is_nothing() -> None:
    assert leftovers('{"a":1,"b":null,"c":[]}', '{"a":1,"c":[]}', {"a": {}}, True) is None


def test_what_is_empty_is_left_where_no_column_has_it() -> None:
    text = '{"a":[],"b":{},"c":[null],"d":{"e":[]}}'
    found = leftovers(text, '{"d":{}}', {"d": {"x": {}}}, True)
    assert found is not None
    assert json.loads(found) == {"a": [], "b": {}, "c": [None], "d.e": []}


def test_half_of_a_surrogate_pair_is_left_where_a_column_shows_something_else() -> None:
    text, typed = r'{"v":{"x":"a\ud800","y":1,"\ud800":2}}', '{"v":{"x":"a\ufffd","y":1}}'
    found = leftovers(text, typed, {"v": {}}, True)
    assert found is not None
    assert json.loads(found) == {"v.x": "a\ud800", "v.\ud800": "2"}
    assert leftovers(None, None, {}, True) is None


def test_fields_without_a_column_are_left_out_where_they_are_not_wanted() -> None:
    columns: dict[str, dict[str, object]] = {"a": {}, "o": {"x": {}}}
    text = '{"a":"abc","b":1,"o":{"x":"no","y":2}}'
    assert json.loads(leftovers(text, '{"o":{}}', columns, False) or "") == {
        "a": "abc",
        "o.x": "no",
    }


def test_a_number_past_all_exponents_is_no_double() -> None:
    for digits in ("0e99999999999999999999999", "1e-99999999999999999999999"):
        assert not is_double(digits)
