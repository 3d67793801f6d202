"""Models of tables whose rows change: what is followed, and what is refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from tests.build.parcels import MODELS

SOURCE: Final = "{{ source('moved', 'parcels') }}"
UNREAD: Final = "where {{ incremental_filter(source('moved', 'parcels')) }}"
_PLAIN: Final = "{{ ref('plain') }}"
CURRENT: Final = "{{ ref('parcels_current') }}"
_FOLLOWING: Final = "materialized = 'apply_changes', sequence_by = ['seq']"


def roll_up(table: str, column: str) -> str:
    """A roll-up of a table by a column."""
    return f"""
        {{{{ config(incremental_strategy = 'replace_where') }}}}
        select {column}, sum(weight) as weight
        from {{{{ ref('{table}') }}}}
        where {{{{ affected_partitions('{column}', ref('{table}')) }}}}
        group by {column}
    """


def reading(table: str, key: str, more: str = "") -> str:
    """A model that merges what is new in a table."""
    return f"""
        {{{{ config(unique_key = '{key}'{more}) }}}}
        select {key}, max(weight) as weight, max(_batch_id) as _batch_id
        from {{{{ ref('{table}') }}}}
        where {{{{ incremental_filter(ref('{table}')) }}}}
        group by {key}
    """


FEEDS: Final[Mapping[str, str]] = {
    "plain": f"""
        {{{{ config(unique_key = 'parcel') }}}}
        select parcel, line, day, weight, _batch_id from {SOURCE} {UNREAD}
    """,
    "lines": f"""
        {{{{ config(unique_key = ['parcel', 'line'], skip_matched_step = true) }}}}
        select parcel, line, weight, _batch_id from {SOURCE} {UNREAD}
    """,
    "parcels_current": MODELS["parcels_current"],
    "whole": f"""
        {{{{ config(materialized = 'table', tblproperties = {{'quality': 'own'}}) }}}}
        select * from {_PLAIN}
    """,
    "seen": "{{ config(materialized = 'view') }} select *, weight + 1 as more from " + _PLAIN,
    # What is followed.
    "by_day": roll_up("plain", "day"),
    "by_parcel": roll_up("plain", "parcel"),
    "by_two_days": """
        {{ config(incremental_strategy = 'replace_where') }}
        select {{ window_start('day', '2 days') }} as began_at, sum(weight) as weight
        from {{ ref('plain') }}
        where {{ affected_windows('day', '2 days', ref('plain'), 'began_at') }}
        group by 1
    """,
    "uneven": """
        {{ config(incremental_strategy = 'replace_where') }}
        select {{ window_start('day', '100 days') }} as window_started_at, sum(weight) as weight
        from {{ ref('plain') }}
        where {{ affected_windows('day', '1 day', ref('plain')) }}
        group by 1
    """,
    "of_whole": roll_up("whole", "day"),
    "of_seen": roll_up("seen", "more"),
    "by_hand": f"""
        {{{{ config(unique_key = 'parcel') }}}}
        select parcel, day, weight, _batch_id from {SOURCE}
        {{% if is_incremental() %}}
        where _batch_id > (select max(_batch_id) from {{{{ this }}}})
        {{% endif %}}
    """,
    "of_hand": roll_up("by_hand", "day"),
    # Its first build has read nothing by watermark.
    "of_whole_later": """
        {{ config(incremental_strategy = 'replace_where') }}
        select day, sum(weight) as weight from {{ ref('whole') }}
        {% if is_incremental() %} where {{ affected_partitions('day', ref('whole')) }} {% endif %}
        group by day
    """,
    # A day that was missing is known later.
    "bounded": f"""
        {{{{ config(unique_key = 'parcel', merge_bounds = ['day']) }}}}
        select parcel, day, _batch_id from {SOURCE} {UNREAD} and parcel = 'p3'
    """,
    "numbered": """
        {{ config(unique_key = 'parcel') }}
        select parcel, weight, {{ build_id() }} as _build_id from {{ ref('plain') }}
        where {{ incremental_filter(ref('plain')) }}
    """,
    "seen_numbered": "{{ config(materialized = 'view') }} select * from {{ ref('numbered') }}",
    "of_numbered": """
        {{ config(unique_key = 'parcel') }}
        select parcel, weight from {{ ref('seen_numbered') }}
        where {{ incremental_filter(ref('seen_numbered'), '_build_id') }}
    """,
    "renamed": """
        {{ config(unique_key = 'name') }}
        with changed as ({{ changed_keys(ref('parcels_current'), 'parcel', own_key = 'name') }})
        select parcel as name, weight from {{ ref('parcels_current') }}
        left semi join changed using (parcel)
    """,
    "of_both": """
        {{ config(incremental_strategy = 'replace_where') }}
        with both as (
            select day from {{ ref('plain') }}
            where {{ affected_partitions('day', ref('plain')) }}
                or {{ affected_partitions('day', ref('parcels_current')) }}
            union all
            select day from {{ ref('parcels_current') }}
            where {{ affected_partitions('day', ref('plain')) }}
                or {{ affected_partitions('day', ref('parcels_current')) }}
        )
        select day, count(*) as rows from both group by day
    """,
    # What is refused.
    "by_line": reading("parcels_current", "line"),
    "first_copies": reading("plain", "parcel", ", skip_matched_step = true"),
    "read_whole": reading("whole", "parcel"),
    "appended": reading("plain", "parcel", ", incremental_strategy = 'append'"),
    "seen_current": "{{ config(materialized = 'view') }} select * from " + CURRENT,
    "followed": f"""
        {{{{ config({_FOLLOWING}, keys = ['parcel']) }}}}
        select * from {{{{ ref('seen_current') }}}}
    """,
    "followed_whole": f"""
        {{{{ config({_FOLLOWING}, keys = ['parcel']) }}}}
        select parcel, seq, weight from {CURRENT}
    """,
    "followed_by_line": f"""
        {{{{ config({_FOLLOWING}, keys = ['line']) }}}}
        select * from {CURRENT} where parcel in ('p3', 'p4')
    """,
    "by_weight": """
        {{ config(unique_key = 'weight') }}
        with changed as ({{ changed_keys(ref('parcels_current'), 'weight') }})
        select weight, count(*) as parcels, max(_batch_id) as _batch_id
        from {{ ref('parcels_current') }} left semi join changed using (weight)
        group by weight
    """,
    "of_weights": """
        {{ config(unique_key = 'weight') }}
        select weight, parcels from {{ ref('by_weight') }}
        where {{ incremental_filter(ref('by_weight')) }}
    """,
    "other_names": """
        {{ config(unique_key = 'parcel') }}
        with changed as ({{ changed_keys(ref('plain'), 'parcel') }})
        select 'x' || parcel as parcel from {{ ref('plain') }}
        left semi join changed using (parcel)
    """,
    "united": """
        {{ config(unique_key = ['kind', 'parcel']) }}
        select 'plain' as kind, parcel, weight from {{ ref('plain') }}
        where {{ incremental_filter(ref('plain')) }}
        union all
        select 'current' as kind, parcel, weight from {{ ref('parcels_current') }}
        where {{ incremental_filter(ref('parcels_current')) }}
    """,
    "named_alike": """
        {{ config(unique_key = 'parcel') }}
        select parcel, weight from {{ ref('plain') }} where {{ incremental_filter(ref('plain')) }}
        union all
        select 'x' || parcel as parcel, weight from {{ ref('parcels_current') }}
        where {{ incremental_filter(ref('parcels_current')) }}
    """,
    "without_number": f"""
        {{{{ config(incremental_strategy = 'append') }}}}
        select parcel from {SOURCE} {UNREAD}
    """,
    "by_ratio": """
        {{ config(incremental_strategy = 'replace_where') }}
        select ratio, count(*) as rows from {{ ref('ratios') }}
        where {{ affected_partitions('ratio', ref('ratios')) }}
        group by ratio
    """,
    "ratios": "{{ config(unique_key = 'parcel') }} select parcel, weight / 2 as ratio, _batch_id "
    f"from {SOURCE} {UNREAD}",
}


# What is refused before it has a table.
LATER: Final[Mapping[str, str]] = {
    "overwritten": f"""
        {{{{ config(incremental_strategy = 'insert_overwrite') }}}}
        select parcel, _batch_id from {SOURCE} {UNREAD}
    """,
    "apart": """
        {{ config(incremental_strategy = 'replace_where') }}
        with both as (
            select day from {{ ref('plain') }} where {{ affected_partitions('day', ref('plain')) }}
            union all
            select day from {{ ref('parcels_current') }}
            where {{ affected_partitions('day', ref('parcels_current')) }}
        )
        select day, count(*) as rows from both group by day
    """,
    "merged_days": roll_up("plain", "day").replace(
        "incremental_strategy = 'replace_where'", "unique_key = 'day'"
    ),
    "keyless_days": roll_up("lines", "line").replace(
        "incremental_strategy = 'replace_where'", "incremental_strategy = 'merge'"
    ),
    "days_of_none": roll_up("lines", "line").replace(
        "affected_partitions('line'", "affected_partitions('lime'"
    ),
    "other_days": roll_up("lines", "line").replace("select line,", "select line as number,"),
    "keyed_wrongly": reading("plain", "parcel", ", on_schema_change = 'ignore'").replace(
        "unique_key = 'parcel'", "unique_key = 'parsel'"
    ),
    "of_a_name": roll_up("lines", "line").replace(
        "affected_partitions('line', ref('lines'))", "affected_partitions('line', 'lines')"
    ),
    "of_no_column": roll_up("plain", "day").replace("sum(weight)", "sum(wight)"),
    "of_no_batches": """
        {{ config(unique_key = 'more') }}
        select more, weight from {{ ref('of_seen') }} where {{ incremental_filter(ref('of_seen')) }}
    """,
    "replaced_wrongly": reading("plain", "parcel", ", incremental_strategy = 'replacewhere'"),
    "keys_appended": """
        {{ config(incremental_strategy = 'append') }}
        with changed as ({{ changed_keys(ref('lines'), 'parcel') }})
        select parcel, _batch_id from {{ ref('lines') }} left semi join changed using (parcel)
    """,
    # What a replacement's column may be.
    "by_part": """
        {{ config(incremental_strategy = 'replace_where') }}
        select parcel, line from {{ ref('lines') }}
        where {{ affected_partitions('line % 2', ref('lines')) }};
    """,
    # A merge finds its rows by its key.
    "merged_without_lines": """
        {{ config(unique_key = 'parcel') }}
        select parcel, max(weight) as weight from {{ ref('lines') }}
        where {{ affected_partitions('line', ref('lines')) }} group by parcel
    """,
    "appended_days": roll_up("lines", "line").replace("replace_where", "append"),
    "no_column": """
        {{ config(unique_key = 'one') }}
        with changed as ({{ changed_keys(ref('plain'), 'day') }})
        select 1 as one, count(*) as rows from {{ ref('plain') }} left semi join changed using (day)
    """,
    "first_of_key": """
        {{ config(unique_key = 'parcel', skip_matched_step = true) }}
        with changed as ({{ changed_keys(ref('plain'), 'parcel') }})
        select parcel, weight from {{ ref('plain') }} left semi join changed using (parcel)
    """,
    "mixed": """
        {{ config(materialized = 'view') }}
        select parcel, weight, _batch_id from {{ ref('plain') }}
        union all
        select parcel, weight, _build_id as _batch_id from {{ ref('numbered') }}
    """,
    "of_mixed": reading("mixed", "parcel"),
    "inlined": "{{ config(materialized = 'ephemeral') }} select * from " + _PLAIN,
    "of_inlined": reading("inlined", "parcel"),
}
