"""A project whose rows move: parcels change day, are deleted, come late and twice."""

from __future__ import annotations

import shutil
import textwrap
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Final

from tests.build.lake import ROOT, Lake, Record, small_profile

_SOURCE: Final = """
    version: 2
    sources:
      - name: moved
        schema: bronze
        tables:
          - {name: parcels, identifier: moved__parcels}
"""

# Each documented pattern of an incremental model, and roll-ups of what it makes. Some models call
# macros by their old names (macros/deprecated).
MODELS: Final[Mapping[str, str]] = {
    "parcels_latest": """
        {{ config(
            unique_key = ['parcel', 'line'],
            source_alias = 'new', target_alias = 'old',
            matched_condition = '(new.seq, new.weight, new.day) > (old.seq, old.weight, old.day)'
        ) }}
        select * except (number) from (
            select
                parcel, line, day, weight, seq, _batch_id,
                row_number() over (
                    partition by parcel, line order by seq desc, weight desc, day desc
                ) as number
            from {{ source('moved', 'parcels') }}
            where {{ incremental_filter(source('moved', 'parcels')) }}
        )
        where number = 1
    """,
    "latest_daily": """
        {{ config(incremental_strategy = 'replace_where') }}
        select day, sum(weight) as weight, count(*) as parcels
        from {{ ref('parcels_latest') }}
        where {{ affected_partitions('day', ref('parcels_latest')) }}
        group by day
    """,
    "latest_weights": """
        {{ config(incremental_strategy = 'replace_where') }}
        select weight, count(*) as parcels
        from {{ ref('latest_seen') }}
        where {{ affected_partitions('weight', ref('latest_seen')) }}
        group by weight
    """,
    "latest_seen": """
        {{ config(materialized = 'view') }}
        select * from {{ ref('parcels_latest') }}
    """,
    "parcels_current": """
        {{ config(
            materialized = 'apply_changes', keys = ['parcel'], sequence_by = ['seq'],
            apply_as_deletes = "op = 'D'", except_column_list = ['op']
        ) }}
        select parcel, line, day, weight, seq, op, _batch_id from {{ source('moved', 'parcels') }}
    """,
    "current_daily": """
        {{ config(incremental_strategy = 'replace_where') }}
        select day, sum(weight) as weight, count(*) as parcels
        from {{ ref('parcels_current') }}
        where {{ affected_partitions('day', ref('parcels_current')) }}
        group by day
    """,
    "current_by_weight": """
        {{ config(unique_key = 'weight') }}
        with changed as ({{ changed_keys(ref('parcels_current'), 'weight') }})
        select weight, count(*) as parcels, max(day) as last_day
        from {{ ref('parcels_current') }}
        left semi join changed using (weight)
        group by weight
    """,
    "heavy_parcels": """
        {{ config(unique_key = 'parcel', merge_bounds = ['day']) }}
        select parcel, day, weight, _batch_id
        from {{ ref('parcels_current') }}
        where weight > 2 and {{ incremental_filter(ref('parcels_current')) }}
    """,
    "heavy_daily": """
        {{ config(incremental_strategy = 'replace_where') }}
        select day, count(*) as parcels
        from {{ ref('heavy_parcels') }}
        where {{ affected_partitions('day', ref('heavy_parcels')) }}
        group by day
    """,
    "parcels_history": """
        {{ config(
            materialized = 'apply_changes', stored_as_scd_type = 2, keys = ['parcel'],
            sequence_by = ['seq'], apply_as_deletes = "op = 'D'", except_column_list = ['op']
        ) }}
        select parcel, line, day, weight, seq, op, _batch_id from {{ source('moved', 'parcels') }}
    """,
    "parcel_facts": """
        {{ config(unique_key = 'parcel') }}
        with
        changed as (
            {{ changed_keys(ref('parcels_current'), 'parcel') }}
            union
            {{ unread_keys(ref('parcels_history'), 'parcel') }}
        ),
        versions as (
            select parcel, count(*) as versions from {{ ref('parcels_history') }} group by parcel
        )
        select current.parcel, current.day, versions.versions, {{ build_id() }} as _build_id
        from {{ ref('parcels_current') }} as current
        left semi join changed on current.parcel = changed.parcel
        left join versions on current.parcel = versions.parcel
    """,
    "facts_daily": """
        {{ config(incremental_strategy = 'replace_where') }}
        select day, sum(versions) as versions
        from {{ ref('parcel_facts') }}
        where {{ affected_partitions('day', ref('parcel_facts'), '_build_id') }}
        group by day
    """,
    "parcel_events": """
        {{ config(unique_key = 'seq', skip_matched_step = true) }}
        select * except (number) from (
            select
                seq, day, _batch_id,
                row_number() over (partition by seq order by _batch_id) as number
            from {{ source('moved', 'parcels') }}
            where {{ unread(source('moved', 'parcels')) }}
        )
        where number = 1
    """,
    "events_daily": """
        {{ config(incremental_strategy = 'replace_where') }}
        select day, count(*) as events
        from {{ ref('parcel_events') }}
        where {{ touched('day', ref('parcel_events')) }}
        group by day
    """,
}


def parcel_project(lake: Lake, root: Path, models: Mapping[str, str]) -> Lake:
    """The lake, with a project of these models in a folder of its own."""
    project = root / "project"
    shutil.rmtree(project, ignore_errors=True)
    project.mkdir()
    (project / "macros").symlink_to(ROOT / "macros")
    settings = (ROOT / "dbt_project.yml").read_text(encoding="utf-8")
    # It configures folders that are not here, of which dbt warns.
    warning = "      - UnusedResourceConfigPath"
    assert warning in settings
    (project / "dbt_project.yml").write_text(settings.replace(warning, "      #"), encoding="utf-8")
    made = Lake(lake.path, root / "target", lake.profiles, project)
    write_models(made, {"sources.yml": _SOURCE})
    write_models(made, {f"{name}.sql": text for name, text in models.items()})
    return made


def standalone(lake: Lake) -> Lake:
    """The lake's project as one that `ingest` works on: with a profile, jars, and a stream."""
    (lake.project / "profiles.yml").write_text(small_profile(), encoding="utf-8")
    (lake.project / ".jars").symlink_to(ROOT / ".jars")
    (lake.project / ".gitignore").write_text("/.jars\n/target\n", encoding="utf-8")
    # Git keeps no link that leads out of the project.
    (lake.project / "macros").unlink()
    shutil.copytree(ROOT / "macros", lake.project / "macros")
    declared = f"{{from: files, path: '{lake.path}/../landing', format: json}}"
    table = "{name: parcels, identifier: moved__parcels"
    stream = f"{table}, config: {{meta: {{ingest: {declared}}}}}"
    write_models(lake, {"sources.yml": _SOURCE.replace(table, stream)})
    return lake


def write_models(lake: Lake, files: Mapping[str, str]) -> None:
    """Write files of models of silver into a lake's project."""
    folder = lake.project / "models" / "silver"
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / name).write_text(textwrap.dedent(text), encoding="utf-8")


def parcel(seq: int, name: str, day: Any, weight: int | None = 1, **more: Any) -> Record:
    """A change of a parcel."""
    return {"seq": seq, "parcel": name, "day": day, "weight": weight, "op": "U", **more}


def refusals(answer: Any) -> dict[str, str]:
    """The line of each model that failed which says why, by the model's name."""
    results: Iterable[Any] = answer.result
    return {
        result.node.name: next(
            line.strip()
            for line in str(result.message).splitlines()[1:]
            if not line.endswith(" Error")
        )
        for result in results
        if result.status == "error"
    }
