"""A dbt project without anything of ours but the profile, and dbt-spark as it comes."""

from __future__ import annotations

import pkgutil
import shutil
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

import yaml

ROOT: Final = Path(__file__).resolve().parent.parent

MODEL: Final = "stock_page_view_events"
# As `page_view_events`, in the words of dbt's own documentation.
_SQL: Final = """
{{ config(materialized='incremental', incremental_strategy='merge', file_format='delta',
          unique_key='event_id') }}
select event_id, session_id, page, referrer, device_os, app_version, duration_ms, event_date,
       happened_at, _ingested_at, _batch_id
from silver.app_events
where event_type = 'page_viewed'
{% if is_incremental() %} and _batch_id > (select max(_batch_id) from {{ this }}) {% endif %}
"""


def written(folder: Path) -> Path:
    """Write the project, with one model of a table that our own project has built."""
    (folder / "models").mkdir(parents=True)
    settings = {
        "name": "stock",
        "profile": "headwater",
        "flags": {"send_anonymous_usage_stats": False},
    }
    (folder / "dbt_project.yml").write_text(yaml.safe_dump(settings), "utf-8")
    (folder / "models" / f"{MODEL}.sql").write_text(_SQL, "utf-8")
    shutil.copyfile(ROOT / "profiles.yml", folder / "profiles.yml")
    # The profile names jars beside it.
    (folder / ".jars").symlink_to(ROOT / ".jars")
    return folder


def hide_plugin() -> None:
    """Hide our plugin from dbt, which finds it by its name."""
    whole = pkgutil.iter_modules
    pkgutil.iter_modules = lambda *given, **named: (
        one for one in whole(*given, **named) if one.name != "dbt_headwater"
    )


def main(arguments: Sequence[str]) -> None:
    """Run dbt as it comes."""
    from dbt.cli.main import cli

    hide_plugin()
    cli(list(arguments))


if __name__ == "__main__":
    main(sys.argv[1:])
