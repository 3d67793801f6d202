"""The SQL of models, with `ref` and `source` as the tables they stand for; no database is asked.

dbt compiles only with a connection, and its parser keeps the text with its Jinja. So models are
rendered once more as the parser does it (`execute` is false: a macro that asks the database
does not), but with the references of a run. Written for the dbt-core that is pinned; remove when
dbt compiles without a connection.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from ingest.lineage.relations import Unresolvable

if TYPE_CHECKING:
    from dbt.contracts.graph.manifest import Manifest

# The schema that stands for tables of types of events.
EVENTS = "events_of"


def events_table(source_name: str, stream_name: str) -> str:
    """The name under which types of a stream's events stand in rendered SQL."""
    return f"{EVENTS}.{source_name}__{stream_name}"


def renderer(manifest: Manifest) -> Callable[[Any], Iterator[str]]:
    """What renders a model of a parsed project: as for a first build, and for a later one.

    It raises Unresolvable.
    """
    from dbt.adapters.factory import FACTORY
    from dbt.clients.jinja import get_rendered
    from dbt.context import providers
    from dbt_common.exceptions import DbtBaseException

    providers_given = {
        "Config": providers.RuntimeConfigObject,
        "Var": providers.RuntimeVar,
        "ref": providers.RuntimeRefResolver,
        "source": providers.RuntimeSourceResolver,
    }
    references: Any = type("References", (providers.ParseProvider,), providers_given)
    adapter: Any = FACTORY.adapters[str(manifest.metadata.adapter_type)]

    # A project has many models, and each changed column asks again.
    known: dict[str, list[str]] = {}

    def rendered(model: Any) -> Iterator[str]:
        if model.unique_id not in known:
            known[model.unique_id] = list(dict.fromkeys(texts(model)))
        yield from known[model.unique_id]

    def texts(model: Any) -> Iterator[str]:
        if model.language != "sql":
            raise Unresolvable(f"it is written in {model.language}")
        for is_incremental in (False, True):
            context: Any = providers.ModelContext(
                model, adapter.config, manifest, references(), None
            )
            names = {**context.to_dict(), **_stand_ins(is_incremental)}
            try:
                yield get_rendered(model.raw_code, names, model)
            except DbtBaseException as error:
                # What a macro does in a later build may need a database; the first is enough then.
                if not is_incremental:
                    raise Unresolvable(" ".join(str(error).split())) from error

    return rendered


def _stand_ins(is_incremental: bool) -> Mapping[str, Callable[..., Any]]:
    def events_of(source_name: str, event_type: str, stream_name: str = "events") -> str:  # noqa: ARG001
        return events_table(source_name, stream_name)

    return {"is_incremental": lambda: is_incremental, "events_of": events_of}
