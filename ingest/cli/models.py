"""Text of dbt models of one type of event, in the style of those that persons write."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from string import Template

import yaml
from pyspark.sql import types as T

from ingest.spark.sql import quoted, sql_type

# Words that cannot stand for a column without quotes, in the dialect that the linter knows.
_RESERVED = frozenset(
    """
    all and any as authorization both case cast check collate column constraint create cross
    current_date current_time current_timestamp current_user else end escape except false fetch
    filter for foreign from full grant group having in inner intersect into is join leading
    natural not null on only or order outer overlaps primary references select session_user some
    table then to trailing union unique unknown user using when where with
    """.split()  # noqa: SIM905 - a list of them would be five times as long
)
# Headings of groups of columns, and what belongs below each.
_GROUPS: tuple[tuple[str, tuple[type[T.DataType], ...]], ...] = (
    ("strings", (T.StringType, T.BinaryType)),
    ("numbers", (T.NumericType,)),
    ("booleans", (T.BooleanType,)),
    ("dates", (T.DateType,)),
    ("timestamps", (T.TimestampType, T.TimestampNTZType)),
    ("objects and lists", (T.DataType,)),
)


@dataclass(frozen=True, slots=True)
class Column:
    """A column of a type's table, its name in the models, and the attribute that it shows."""

    name: str
    alias: str
    kind: T.DataType
    attribute: str | None = None

    @property
    def selected(self) -> str:
        """The column in the staging view's list."""
        name, alias = in_sql(self.name), in_sql(self.alias)
        return name if name == alias else f"{name} as {alias}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """What the models of a type select; what they are read by stands first, with statistics."""

    ids: Sequence[Column]
    event_type: str
    event_date: str
    happened_at: Column | None
    rest: Sequence[Column]

    def groups(self) -> Iterator[tuple[str, list[Column]]]:
        """The columns below their headings."""
        when = [Column("_event_date", self.event_date, T.DateType())]
        if self.happened_at:
            when.append(self.happened_at)
        yield "ids", list(self.ids)
        yield "the event", [Column("_event_type", self.event_type, T.StringType()), *when]
        ours = (("_ingested_at", T.TimestampType()), ("_batch_id", T.LongType()))
        yield "ours", [Column(name, name, kind) for name, kind in ours]
        left = list(self.rest)
        for heading, kinds in _GROUPS:
            group = [column for column in left if isinstance(column.kind, kinds)]
            left = [column for column in left if column not in group]
            if group:
                yield heading, group


_STAGING = Template("""\
with

source as (

    select * from {{ events_of($type) }}

),

renamed as (

    select
$columns

    from source

)

select * from renamed
""")


def staging_model(columns: Columns, source: str, event_type: str, table: str) -> str:
    """The staging view: the type's own table under our names."""
    stream = [] if table == "events" else [table]
    groups = [
        f"        ---------- {heading}\n"
        + ",\n".join(f"        {column.selected}" for column in group)
        for heading, group in columns.groups()
    ]
    return _STAGING.substitute(
        type=", ".join(map(in_jinja, [source, event_type, *stream])),
        columns=",\n\n".join(groups),
    )


_EVENTS = Template("""\
{{
    config(
        unique_key = $unique_key,
        skip_matched_step = true,
        liquid_clustered_by = ['$event_date']
    )
}}

with

arrived as (

    select *
    from {{ ref('$staging') }}
    where {{ incremental_filter(source($stream), event_type=$type) }}

),

deduplicated as (

    select
        *,
        row_number() over (
            partition by $key
            order by _batch_id, _ingested_at
        ) as delivery_number

    from arrived

),

events as (

    select
$columns

    from deduplicated

    where delivery_number = 1

)

select * from events
""")


def events_model(columns: Columns, staging: str, stream: tuple[str, str], event_type: str) -> str:
    """The table of events: the first copy of each stays."""
    keys = [in_sql(column.alias) for column in columns.ids]
    names = [column.alias for _, group in columns.groups() for column in group]
    return _EVENTS.substitute(
        unique_key=f"'{keys[0]}'" if len(keys) == 1 else str(keys),
        event_date=columns.event_date,
        staging=staging,
        stream=", ".join(map(in_jinja, stream)),
        type=in_jinja(event_type),
        key=", ".join(keys),
        columns=",\n".join(f"        {in_sql(name)}" for name in names),
    )


def descriptions(columns: Columns, staging: str, events: str, event_type: str) -> str:
    """What the models and their columns mean, as far as it can be known, and tests."""
    keys = [column.alias for column in columns.ids]
    kind = in_words(event_type)
    delivered: dict[str, object] = {
        "name": staging,
        "description": f"Events of type {kind} under our names. One row per delivered event.",
        "config": {"materialized": "view"},
        "columns": [_described(column, []) for _, group in columns.groups() for column in group],
    }
    table: dict[str, object] = {
        "name": events,
        "description": f"Events of type {kind}. One row per event.",
    }
    if len(keys) > 1:
        table["data_tests"] = [{"unique_together": {"arguments": {"columns": keys}}}]
    tests = ["not_null", "unique"] if len(keys) == 1 else ["not_null"]
    table["columns"] = [
        _described(column, tests if column in columns.ids else [])
        for _, group in columns.groups()
        for column in group
    ]
    parts = ({"version": 2}, {"models": [delivered]}, {"models": [table]})
    version, first, second = (
        yaml.dump(part, Dumper=_Indented, sort_keys=False, allow_unicode=True, width=2**31)
        for part in parts
    )
    return f"{version}\n{first}\n{second.removeprefix('models:').lstrip(chr(10))}"


class _Indented(yaml.SafeDumper):
    """Lists stand further in than what they belong to, as in the other files."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:  # noqa: ARG002
        super().increase_indent(flow, False)


_TEXTS = {
    "_event_type": "What happened, in the words of its producer.",
    "_event_date": '{{ doc("event_date") }}',
    "_ingested_at": '{{ doc("_ingested_at") }}',
    "_batch_id": '{{ doc("_batch_id") }}',
    "event_id": '{{ doc("event_id") }}',
    "happened_at": "When the event happened, as its producer says.",
}


def _described(column: Column, tests: Sequence[str]) -> dict[str, object]:
    own = column.attribute is not None and column.alias == column.name
    text = None if own else _TEXTS.get(column.name) or _TEXTS.get(column.alias)
    if text is None and column.attribute is not None:
        text = f"Attribute {in_words(column.attribute)}."
    described: dict[str, object] = {
        "name": column.alias,
        "data_type": sql_type(column.kind),
        "description": text or f"`{column.name}` of the event.",
    }
    if in_sql(column.alias) != column.alias:
        described["quote"] = True
    if tests:
        described["data_tests"] = list(tests)
    return described


def in_sql(name: str) -> str:
    """A name as it stands in SQL: between backticks only where it must be."""
    is_plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) and name.lower() not in _RESERVED
    return name if is_plain else quoted(name)


def in_jinja(text: str) -> str:
    """A text as a literal of Jinja."""
    plain = text.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + "".join(one if _is_harmless(one) else f"\\U{ord(one):08x}" for one in plain) + "'"


def in_words(text: str) -> str:
    """A text from outside in a description, which is Markdown that Jinja reads."""
    shown = "".join(one if _is_harmless(one) and one not in "`<>" else " " for one in text)
    return f"`{' '.join(shown.split())}`"


def _is_harmless(one: str) -> bool:
    return one.isprintable() and one not in "{}"
