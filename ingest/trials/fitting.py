"""Options of models that trials build without."""

from __future__ import annotations

from typing import Any

from ingest.model_options.checks import store_snapshots_in_delta


def fit_for_trials(manifest: Any) -> None:
    """Let each table be built in the trial's lake, and afresh where a build asks for it.

    In the manifest, by which dbt builds: the files of the project stay as they are.
    """
    for node in manifest.nodes.values():
        _stay_in_lake(node.config)
        if getattr(node.config, "full_refresh", None) is False:
            node.config.full_refresh = None
    # dbt gives a manifest to its plugin, which does this too, only where it writes files of JSON.
    store_snapshots_in_delta(manifest)
    manifest.build_flat_graph()


def _stay_in_lake(config: Any) -> None:
    """Remove what places a table elsewhere: in a trial that would be the real table."""
    given = set(config)
    if "location_root" in given:
        del config["location_root"]
    if "options" in given:
        kept = {
            name: one for name, one in (config["options"] or {}).items() if name.lower() != "path"
        }
        # dbt-spark would write an empty list of them, which does not parse.
        config["options"] = kept or None
