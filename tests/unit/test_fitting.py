"""Records are read into columns that hold all of them, or they are held back.

Whether counting proves a record whole is compared with a look at each of its values, which
shares no code with it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from typing import Any
from unittest.mock import patch

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql import types as T

from ingest.column_names import member_path
from ingest.declarations.datatypes import data_type
from ingest.parse import json_columns
from ingest.parse.json_exact import is_unicode, loaded
from ingest.parse.json_fit import arrow_type, fitted, taken
from tests.fuzzing import cases, seed


def struct(text: str) -> T.StructType:
    """A struct from its members."""
    kind = data_type(f"struct<{text}>")
    assert isinstance(kind, T.StructType)
    return kind


def read(kind: T.StructType, *texts: str | bytes | None) -> list[dict[str, Any] | None]:
    """Each text's record; None where its columns do not hold all of it."""
    raw = [text.encode() if isinstance(text, str) else text for text in texts]
    array = pa.array(raw, pa.binary())
    strings = pa.Array.from_buffers(pa.string(), len(array), array.buffers())
    found = json_columns.records(strings, kind, overflow_matters=True)
    pairs = zip(found.columns.to_pylist(), found.are_whole, strict=True)
    return [row if is_whole else None for row, is_whole in pairs]


def fits(text: str | None, kind: T.StructType) -> bool:
    """Whether a look at each value finds that columns hold all of a text."""
    return fitted(text, kind, overflow_matters=True) is not None


# Columns, a document that fits them, and what they hold of it.
FITTING = [
    ("a bigint", '{"a": 1}', {"a": 1}),
    ("a bigint", '{"a":-9223372036854775808}', {"a": -(2**63)}),
    ("a string", '{"a":8999999999999999999}', {"a": "8999999999999999999"}),
    ("a variant", '{"a":[-8999999999999999999]}', {"a": "[-8999999999999999999]"}),
    ("a bigint", '{"a":null}', {"a": None}),
    ("a bigint", '{"b":null}', {"a": None}),
    ("a bigint", '{"b":[{}, null]}', {"a": None}),
    ("a bigint, o struct<a: bigint>", '{"a":1,"o":{"a":null}}', {"a": 1, "o": {"a": None}}),
    ("m map<string,bigint>", '{"m":{"x":null}}', {"m": [("x", None)]}),
    ("v variant", f'{{"v":{"[" * 199}{"]" * 199}}}', {"v": f"{'[' * 199}{']' * 199}"}),
    ("v variant", f'{{"v":["{"[" * 300}"]}}', {"v": f'["{"[" * 300}"]'}),
    ("a string", '{"a":"\\ud83d\\ude00"}', {"a": "😀"}),
    ("a bigint", " {}\r", {"a": None}),
    ("a bigint", '{"a"\n:\t1}', {"a": 1}),
    ("a bigint", '{"\\u0061":1}', {"a": 1}),
    ("a string", '{"a":1}', {"a": "1"}),
    ("a string", '{"a":true}', {"a": "true"}),
    ("a string", '{"a":"x\\":\\"y: [1]"}', {"a": 'x":"y: [1]'}),
    ("a string", '{"a":"{\\"b\\":1}"}', {"a": '{"b":1}'}),
    ("a string", '{"a":":null"}', {"a": ":null"}),
    ("a string", '{"a":"NaN, 1e5 "}', {"a": "NaN, 1e5 "}),
    ("a double", '{"a":1}', {"a": 1.0}),
    ("a double", '{"a":1.50}', {"a": 1.5}),
    ("a double", '{"a":52.51627399999999}', {"a": 52.51627399999999}),
    ("a boolean", '{"a":false}', {"a": False}),
    ("a struct<b: bigint>", '{"a":{"b":1}}', {"a": {"b": 1}}),
    ("a struct<b: bigint>", '{"a":{"b":null}}', {"a": {"b": None}}),
    ("a struct<b: bigint>", '{"a":{}}', {"a": {"b": None}}),
    ("a array<bigint>", '{"a":[1,null]}', {"a": [1, None]}),
    ("a array<bigint>", '{"a":[]}', {"a": []}),
    ("a array<string>", '{"a":["[",""]}', {"a": ["[", ""]}),
    ("a array<array<string>>", '{"a":[["b"],[]]}', {"a": [["b"], []]}),
    ("a array<struct<b: bigint>>", '{"a":[{"b":1},{"b":2}]}', {"a": [{"b": 1}, {"b": 2}]}),
    ("a array<struct<b: bigint>>", '{"a":[{"b":1},{}]}', {"a": [{"b": 1}, {"b": None}]}),
    ("a map<string,bigint>", '{"a":{"x":1,"y":2}}', {"a": [("x", 1), ("y", 2)]}),
    ("a map<string,struct<`b c`: double>>", '{"a":{"x":{"b c":1}}}', {"a": [("x", {"b c": 1.0})]}),
    ("a variant", '{"a":{"x":[{"y":1}]}}', {"a": '{"x":[{"y":1}]}'}),
    ("a variant", '{"a":"{"}', {"a": '"{"'}),
    ("a variant, b bigint", '{"a":[{"b":2}],"b":1}', {"a": '[{"b":2}]', "b": 1}),
]
# Columns, and a document of which they would lose something.
MISFITTING = [
    ("a bigint", '{"a":"1"}'),
    ("a bigint", '{"a":1.5}'),
    ("a bigint", '{"a":1.0}'),
    ("a bigint", '{"a":1e2}'),
    ("a bigint", '{"a":9223372036854775808}'),
    ("a bigint", '{"a":-9223372036854775809}'),
    ("a bigint", '{"a":true}'),
    ("a bigint", '{"b":1}'),
    ("a bigint", '{"b":{"c":[{"d":false}]}}'),
    ("a bigint", '{"A":1}'),
    ("a bigint", '{"a":{"x":1}}'),
    ("a bigint", '{"a":1,"a":1}'),
    ("a bigint", '{"a":1,"a":null}'),
    ("a bigint", '{"a":1,"b":2,"a": null}'),
    ("a bigint", '{"a":null,"a":null}'),
    ("a bigint", '{"a":1,"\\u0061":null}'),
    ("o struct<abcdefghijk: bigint>", '{"o":{"abcdefghijk":1,"abcdefghijk":null}}'),
    ("m map<string,bigint>", '{"m":{"":null,"":null}}'),
    ("a bigint, v variant", '{"v":{"x":null},"a":1,"a":null}'),
    ("v variant", f'{{"v":{"[" * 200}{"]" * 200}}}'),
    ("v variant", f'{{"v":{"[" * 1500}{"]" * 1500}}}'),
    ("a bigint, b string", '{"a":1,"b":"\\ud800"}'),
    ("a bigint, b array<string>", '{"a":1,"b":["x","\\udc00\\ud83d"]}'),
    ("a bigint, m map<string,string>", '{"a":1,"m":{"\\ud800":"x"}}'),
    ("a bigint, v variant", '{"a":1,"v":{"b":{"c":"\\ud800"}}}'),
    ("a bigint, v variant", '{"a":1,"v":{"\\ud800":1}}'),
    ("a bigint", '{"a":1,"\\ud800":2}'),
    ("a bigint", '{"a":1}{"a":2}'),
    ("a bigint", '{"a":1} x'),
    ("a bigint", '{"a":1,}'),
    ("a bigint", '{"a":1'),
    ("a bigint", '[{"a":1}]'),
    ("a bigint", "[]"),
    ("a bigint", "null"),
    ("a bigint", "3"),
    ("a bigint", ""),
    ("a bigint", None),
    ("a bigint, s string", b'{"s":"\xc3(","a":1}'),
    ("a bigint, b string", '{"a":"12","b":5}'),
    ("a bigint, b bigint", '{"b" :1,"b":1}'),
    ("a string, b struct<c: string>", '{"a":{},"b":"x"}'),
    ("a string", '{"a":{"x":1}}'),
    ("a string", '{"a":[]}'),
    ("a string", '{"a":["x"]}'),
    ("a string", '{"a":1e5}'),
    ("a string", '{"a":0.12345678901234567890}'),
    ("a string", '{"a":123456789012345678901}'),
    ("a double", '{"a":NaN}'),
    ("a double", '{"a": -inf\t}'),
    ("a array<double>", '{"a":[1,\n nAn ]}'),
    ("a array<variant>", '{"a":[ Infinity,1]}'),
    ("a double", '{"a":"1.5"}'),
    ("a double", '{"a":9007199254740993}'),
    ("a double", '{"a":1795693096559116001}'),
    ("a variant", '{"a":10000000000000000001}'),
    ("a double", '{"a":0.12345678901234567890}'),
    ("a double", '{"a":1e400}'),
    ("a boolean", '{"a":"true"}'),
    ("a boolean", '{"a":1}'),
    ("a struct<b: bigint>", '{"a":{"c":1}}'),
    ("a struct<b: bigint>", '{"a":3}'),
    ("a struct<b: bigint>", '{"a":[]}'),
    ("a array<bigint>", '{"a":["1"]}'),
    ("a array<bigint>", '{"a":1}'),
    ("a array<string>", '{"a":[["x"]]}'),
    ("a array<string>", '{"a":[{}]}'),
    ("a array<array<bigint>>", '{"a":[[1],2]}'),
    ("a array<struct<b: bigint>>", '{"a":[{"b":1},3]}'),
    ("a map<string,bigint>", '{"a":{"x":"y"}}'),
    ("a map<string,string>", '{"a":{"x":{}}}'),
    ("a map<string,bigint>", '{"a":{"x":1,"x":1}}'),
    ("a map<string,bigint>", '{"a":"x"}'),
    ("a variant", '{"a":0.12345678901234567890}'),
]


@pytest.mark.parametrize(("columns", "text", "held"), FITTING)
def test_columns_hold_all_of_it(columns: str, text: str, held: dict[str, Any]) -> None:
    assert read(struct(columns), text) == [held]
    assert fits(text, struct(columns))


@pytest.mark.parametrize(("columns", "text"), MISFITTING)
def test_record_is_deferred(columns: str, text: str | bytes | None) -> None:
    neighbour = "{}"
    assert read(struct(columns), neighbour, text)[1] is None
    if not isinstance(text, bytes):
        assert not fits(text, struct(columns))


def test_prose_and_times_cost_no_second_look() -> None:
    """Strings are full of what would be an odd number elsewhere."""
    text = '{"a": "in nature, a nanosecond: 1e5", "b": ["10:30:12.123456789Z", " inf "], "c": 1.5}'
    # Of a change's message.
    change = '{"ts_us":1795693096559116,"ts_ns":1795693096559116000}'

    with patch.object(json_columns, "fitted", side_effect=AssertionError):
        held = read(struct("a string, b array<string>, c double"), text)
        held += read(struct("ts_us bigint, ts_ns bigint"), change)

    assert held == [json.loads(text), json.loads(change)]


def test_a_field_without_a_column_is_ignored_where_nothing_is_rescued() -> None:
    assert fitted('{"b":1}', struct("a bigint"), overflow_matters=False)


def test_a_misfit_does_not_touch_its_neighbours() -> None:
    texts = ['{"a":1,"m":{"x":true}}', '{"a":"1"}', '{"a":3}', "no JSON", '{"a":4,"m":{}}']
    assert read(struct("a bigint, m map<string,boolean>"), *texts) == [
        {"a": 1, "m": [("x", True)]},
        None,
        {"a": 3, "m": None},
        None,
        {"a": 4, "m": []},
    ]


def test_a_misfit_does_not_touch_large_numbers_of_its_column() -> None:
    texts = ['{"a":"x"}', f'{{"a":{2**63 - 1}}}', f'{{"a":{2**63}}}', '{"d":"x"}', '{"d":2e5}']
    assert read(struct("a bigint, d double"), *texts) == [
        None,
        {"a": 2**63 - 1, "d": None},
        None,
        None,
        {"a": None, "d": 200_000.0},
    ]


def test_without_columns_only_empty_objects_fit() -> None:
    texts = pa.array(["{}", '{"a":1}', "[]", "{"])
    found = json_columns.records(texts, struct(""), overflow_matters=True)
    assert list(found.are_whole) == [True, False, False, False]


COLUMNS = struct(
    "a bigint, b string, c struct<a: double, d: array<string>, e: struct<b: boolean>>,"
    " f array<struct<a: bigint, m: map<string,string>>>, v variant, m map<string,struct<a: bigint>>"
)
NAMES = st.sampled_from(["a", "b", "c", "d", "e", "f", "m", "v", '":', "\\"])
SCALARS = st.one_of(
    st.none(),
    st.text(max_size=3),
    st.sampled_from(["\ud800", "x\udfff", "\x00", "\ufffd", "\ud83d\ude00"]),
    st.booleans(),
    st.integers(-(2**64), 2**65),
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(["", "1", "true", '":', ':"', "\\", "[", "{", '{"a":1}', ": null", "1e5"]),
)
DOCUMENTS = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=4),
    max_leaves=12,
)


@st.composite
def fitting_mostly(draw: Callable[[Any], Any], kind: T.DataType = COLUMNS) -> Any:
    """A document of these columns, here and there another value."""
    if draw(st.integers(0, 15)) == 0:
        return draw(DOCUMENTS)
    if isinstance(kind, T.StructType):
        chosen = draw(st.lists(st.sampled_from(kind.fields), unique_by=lambda one: one.name))
        return {one.name: draw(fitting_mostly(one.dataType)) for one in chosen}
    if isinstance(kind, T.ArrayType):
        return [draw(fitting_mostly(kind.elementType)) for _ in range(draw(st.integers(0, 2)))]
    if isinstance(kind, T.MapType):
        return {name: draw(fitting_mostly(kind.valueType)) for name in draw(st.sets(NAMES))}
    if isinstance(kind, T.VariantType):
        return draw(DOCUMENTS)
    return draw(SCALARS)


@given(
    document=fitting_mostly(),
    separators=st.sampled_from([(",", ":"), (", ", ": "), (" ,", " : "), (",\n", ":\t")]),
    is_ascii=st.booleans(),
)
def test_what_counting_proves_holds_value_by_value(
    document: Any, separators: tuple[str, str], is_ascii: bool
) -> None:
    text = json.dumps(document, separators=separators, ensure_ascii=is_ascii)
    if not is_unicode(text):
        text = json.dumps(document, separators=separators)
    texts = pa.array([text, "{}"])
    with patch.object(json_columns, "fitted", return_value=None):
        proven = json_columns.records(texts, COLUMNS, overflow_matters=True)
    found = json_columns.records(texts, COLUMNS, overflow_matters=True)
    assert found.are_whole[0] or not proven.are_whole[0]
    assert found.are_whole[0] == fits(text, COLUMNS)
    if found.are_whole[0]:
        held = shown(found.columns[0].as_py(), COLUMNS, json.loads)
        assert without_nulls(held) == without_nulls(
            shown(json.loads(text), COLUMNS, lambda one: one)
        )
        # The careful way takes as much.
        again = pa.array([taken(loaded(text), COLUMNS)], arrow_type(COLUMNS))[0].as_py()
        assert without_nulls(shown(again, COLUMNS, json.loads)) == without_nulls(held)


def test_a_text_that_is_whole_holds_just_what_python_reads() -> None:
    """Also in records of which one name stands twice, and beside records that are none."""
    draw = random.Random(seed())
    for _ in range(cases(60)):
        documents = [fitting_document(draw, COLUMNS) for _ in range(40)]
        texts = [dumped(draw, one) for one in documents]
        found = json_columns.records(pa.array(texts), COLUMNS, overflow_matters=True)
        columns, rescued = found.columns.to_pylist(), found.rescued.to_pylist()
        for row in np.flatnonzero(found.are_whole).tolist():
            text = texts[row]
            document = json.loads(text, object_pairs_hook=without_repetition)
            there = shown(columns[row], COLUMNS, json.loads)
            left = json.loads(rescued[row] or "{}")
            sent, found_again = leaves(document), leaves(there)
            found_again |= set().union(*(leaves(one, path) for path, one in left.items()))
            assert sent <= found_again, text
            # A struct of nulls is what columns have of an object whose members are empty.
            assert all(one.endswith("={}") for one in found_again - sent), text


def fitting_document(draw: random.Random, kind: T.DataType) -> Any:
    """A document of columns, with strings and empty values that readers stumble over."""
    if draw.random() < 0.1:
        return draw.choice([None, [], {}, [None], "\ud800", 10**19, 1.5, {"a": None}])
    if isinstance(kind, T.StructType):
        chosen = [one for one in kind.fields if draw.random() < 0.7]
        found = {one.name: fitting_document(draw, one.dataType) for one in chosen}
        if draw.random() < 0.2:
            found[draw.choice(["new", "\udfff", "x y"])] = draw.choice([None, [], {}, [None], 1])
        return found
    if isinstance(kind, T.ArrayType):
        return [fitting_document(draw, kind.elementType) for _ in range(draw.randrange(3))]
    if isinstance(kind, T.MapType):
        names = draw.sample(["a", "b", '"', "\\", "", "\ud83d\ude00"], draw.randrange(3))
        return {name: fitting_document(draw, kind.valueType) for name in names}
    if isinstance(kind, T.VariantType):
        return fitting_document(draw, struct("a bigint, b array<map<string,string>>"))
    strings = ["", "x", "\x00", "\ufffd", "\ud83d\ude00", "x\ud83d", '\\":', "[{"]
    values: dict[type[T.DataType], Any] = {T.LongType: 7, T.DoubleType: 0.5, T.BooleanType: True}
    return values.get(type(kind), draw.choice(strings))


def dumped(draw: random.Random, value: Any) -> str:
    """JSON, with a member that stands twice here and there."""
    if isinstance(value, list):
        return "[" + ",".join(dumped(draw, one) for one in value) + "]"
    if not isinstance(value, dict):
        return json.dumps(value)
    members = [
        # In a VARIANT a name that stands twice is Spark's to find.
        f"{json.dumps(name)}:{json.dumps(one) if name == 'v' else dumped(draw, one)}"
        for name, one in value.items()
    ]
    if members and draw.random() < 0.1:
        repeated = f"{json.dumps(draw.choice(list(value)))}:null"
        members.insert(draw.randrange(len(members) + 1), repeated)
    return "{" + ",".join(members) + "}"


def without_repetition(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; a name that stands twice in it is an error."""
    assert len(dict(pairs)) == len(pairs), pairs
    return dict(pairs)


def leaves(value: Any, path: str = "") -> set[str]:
    """Each path that has a value, with that; also where it is empty."""
    if value is None:
        return set()
    if isinstance(value, dict):
        inner = [leaves(one, member_path(path, name)) for name, one in value.items()]
        return set().union(*inner) or ({f"{path}={{}}"} if path else set())
    if isinstance(value, list) and value:
        return set().union(*(leaves(one, f"{path}[{n}]") for n, one in enumerate(value)))
    # A number in a column of text is its digits.
    number = int(value) if isinstance(value, float) and value.is_integer() else value
    return {f"{path}={value if isinstance(value, str) else json.dumps(number)}"}


def shown(value: Any, kind: T.DataType, variant: Callable[[Any], Any]) -> Any:
    """A value as its column shows it: maps as dicts, scalars in strings as their text."""
    if value is None:
        return None
    if isinstance(kind, T.StructType):
        return {one.name: shown(value.get(one.name), one.dataType, variant) for one in kind.fields}
    if isinstance(kind, T.ArrayType):
        return [shown(one, kind.elementType, variant) for one in value]
    if isinstance(kind, T.MapType):
        return {name: shown(one, kind.valueType, variant) for name, one in dict(value).items()}
    value = variant(value) if isinstance(kind, T.VariantType) else value
    is_text = isinstance(kind, T.StringType) and not isinstance(value, str)
    return json.dumps(value) if is_text else value


def without_nulls(value: Any) -> Any:
    """A value without members that are null or empty objects."""
    if isinstance(value, dict):
        inner = {name: without_nulls(one) for name, one in value.items()}
        return {name: one for name, one in inner.items() if one not in (None, {})}
    return [without_nulls(one) for one in value] if isinstance(value, list) else value


@pytest.mark.parametrize(
    ("members", "document", "expected"),
    [
        ("a bigint", '{"a":"12"}', 12),
        ("a bigint", '{"a":1.0}', 1),
        ("a bigint", '{"a":"012"}', None),
        ("a bigint", '{"a":1.5}', None),
        ("a bigint", '{"a":1e2}', None),
        ("a bigint", '{"a":9223372036854775808}', None),
        ("a bigint", '{"a":true}', None),
        ("a double", '{"a":"1.50"}', 1.5),
        ("a double", '{"a":"Infinity"}', float("inf")),
        ("a double", '{"a":0.12345678901234567890}', None),
        ("a boolean", '{"a":"false"}', False),
        ("a boolean", '{"a":1}', None),
        ("a string", '{"a":1.50}', "1.50"),
        ("a string", '{"a":true}', "true"),
        ("a string", '{"a":"\\ud83d"}', None),
        ("a map<string,bigint>", '{"a":{"\\ud83d":1}}', []),
        ("a string", '{"a":{"b":[1,null]}}', '{"b":[1,null]}'),
        ("a array<bigint>", '{"a":[1,"x",null]}', [1, None, None]),
        ("a array<bigint>", '{"a":1}', None),
        ("a map<string,bigint>", '{"a":{"k":1,"l":"x"}}', [("k", 1), ("l", None)]),
        ("a struct<b: bigint>", '{"a":{"b":1,"c":2}}', {"b": 1}),
        ("a struct<b: bigint>", '{"a":[1]}', None),
        ("a variant", '{"a":{"b":1e500}}', '{"b":"1e500"}'),
        ("a variant", '{"a":"x"}', '"x"'),
    ],
)
def test_columns_take_of_a_value_what_they_can_show_again(
    members: str, document: str, expected: object
) -> None:
    kind = struct(members)
    found = pa.array([taken(loaded(document), kind)], arrow_type(kind))
    assert found.to_pylist() == [{"a": expected}]
