"""The `ingest` command. Commands import what they need, so `--help` is fast."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from ingest.cli import schema, stack
from ingest.errors import HeadwaterError

if TYPE_CHECKING:
    from ingest.declarations.stream import Stream
    from ingest.runtime.group_runner import Group as EventGroup
    from ingest.storage.layout import Lake

app = typer.Typer(
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    help="Ingest files, Kafka topics and database changes into bronze tables. A stream is a dbt "
    "source table with config.meta.ingest; options that select streams take dbt's selectors.",
)

app.add_typer(schema.app, name="schema")
app.add_typer(stack.app, name="stack")

Select = Annotated[
    list[str] | None,
    typer.Option("--select", "-s", help="Streams to include: source:shop.* or source:shop.orders."),
]
Exclude = Annotated[
    list[str] | None, typer.Option("--exclude", help="Streams to exclude, in the same syntax.")
]
# No command with one of these options has positional arguments.
_SELECTING = ("--select", "-s", "--exclude", "--streams", "--build")
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Group = Annotated[
    str | None,
    typer.Option(
        "--group",
        metavar="SOURCE.STREAM/GROUP",
        help="Ingest nothing; fill the tables of an event group declared with process: own.",
    ),
]

Against = Annotated[
    str | None,
    typer.Option(
        "--against",
        metavar="registry|REVISION",
        help="Compare with the schema registry or a git revision; fail on incompatible changes.",
    ),
]


@app.command()
def check(
    select: Select = None,
    exclude: Exclude = None,
    against: Against = None,
    data: Annotated[
        str | None,
        typer.Option(
            "--data",
            metavar="DAYS",
            help="With --against REVISION: build what changed from bronze of the last days (3d), "
            "and print which rows and exposures change.",
        ),
    ] = None,
    markdown: Annotated[
        bool, typer.Option("--markdown", help="With --data: print Markdown, for a comment.")
    ] = False,
    json: Json = False,
) -> None:
    """Validate the declarations of streams. Starts Spark with --data only."""
    from ingest.cli import gate, show
    from ingest.declarations.project import declared_streams, summary
    from ingest.errors import InputError
    from ingest.sources.listing import check_paths

    if markdown and data is None:
        raise InputError("--markdown needs --data: only that prints Markdown")
    if data is not None and (select or exclude or json):
        raise InputError("--data compares all models: leave out --select, --exclude and --json")
    if data is not None:
        from ingest.cli import impact

        impact.check(against, data, is_markdown=markdown)
        return
    if against is not None:
        gate.check_against(against, select or (), exclude or (), json)
        return
    show.step("reading the dbt project")
    streams = declared_streams(select or (), exclude or ())
    for missing in check_paths(streams):
        show.warning(missing)
    if json:
        show.as_json([summary(stream) for stream in streams])
    else:
        show.table("streams", [summary(stream) for stream in streams])


@app.command()
def run(select: Select = None, exclude: Exclude = None, group: Group = None) -> None:
    """Ingest all new files, messages and changes, then stop."""
    if group is not None:
        from ingest.runtime import group_runner

        _fill(group_runner.run, group, select, exclude)
        return
    from ingest.runtime import runner

    _land(runner.run, select, exclude)


@app.command()
def stream(select: Select = None, exclude: Exclude = None, group: Group = None) -> None:
    """Ingest continuously. Ctrl-C or SIGTERM stops it after the running batches."""
    if group is not None:
        from ingest.runtime import group_runner

        _fill(group_runner.stream, group, select, exclude)
        return
    from ingest.runtime import runner

    _land(runner.stream, select, exclude)


@app.command()
def serve(
    streams: Annotated[
        list[str] | None, typer.Option("--streams", help="Streams to ingest. Default: all.")
    ] = None,
    build: Annotated[
        list[str] | None, typer.Option("--build", help="Models to build. Default: all.")
    ] = None,
    sql: Annotated[
        str | None,
        typer.Option("--sql", metavar="PORT", help="Serve SQL (Thrift) at a port or address:port."),
    ] = None,
    health: Annotated[
        str | None,
        typer.Option(
            "--health", metavar="PORT", help="Answer GET /healthz at a port or address:port."
        ),
    ] = None,
) -> None:
    """Ingest continuously, build downstream models and serve SQL. Ctrl-C or SIGTERM stops it."""
    began = time.monotonic()
    from ingest import settings
    from ingest.cli import show
    from ingest.serve.health import health_address
    from ingest.serve.server import Addresses
    from ingest.serve.server import serve as serve_until_stopped
    from ingest.serve.sql_endpoint import address
    from ingest.storage.layout import Lake

    show.logging_to_stderr()
    at = Addresses(
        sql=address(sql, settings.sql_properties()) if sql is not None else None,
        health=health_address(health) if health is not None else None,
    )
    show.step("reading the dbt project and starting Spark")
    _end(serve_until_stopped(Lake(settings.lake()), streams or (), build or (), at, began))


@app.command()
def recover(select: Select = None, exclude: Exclude = None) -> None:
    """Replace a lost checkpoint by one made from bronze; snapshot a database with a gap again."""
    from ingest.runtime.recovery_files import recovered

    _land(recovered, select, exclude)


@app.command()
def status(
    select: Select = None,
    exclude: Exclude = None,
    models: Annotated[
        bool, typer.Option("--models", help="Show the models that `ingest serve` builds instead.")
    ] = False,
    json: Json = False,
) -> None:
    """Show the state, row counts and last error of each stream. Starts no Spark."""
    from dataclasses import asdict

    from ingest import settings
    from ingest.cli import show
    from ingest.connectors.states import connector_states
    from ingest.declarations.project import declared_streams
    from ingest.runtime.progress import seen_totals
    from ingest.serve.gaps import marked
    from ingest.serve.model_states import model_states
    from ingest.storage.layout import Lake

    lake = Lake(settings.lake())
    if models:
        rows = [asdict(one) for one in marked(lake, model_states(lake))]
    else:
        show.step("reading the dbt project")
        streams = declared_streams(select or (), exclude or ())
        connectors = connector_states(lake, streams)
        rows = [
            {
                **asdict(seen_totals(lake, one.name, one.table)),
                "connector": connectors.get(one.name),
            }
            for one in streams
        ]
    if json:
        show.as_json(rows)
    else:
        show.table("models" if models else "streams", rows, drop=("table", "newest_batch_id"))


@app.command()
def sql(
    query: Annotated[
        str | None,
        typer.Argument(
            help="A SELECT statement; without one, a shell opens, or a piped script runs."
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Query the tables of the lake, also while streams and builds run."""
    from ingest.cli.sql import answer, shell

    if query is None:
        raise typer.Exit(shell(json))
    answer(query, json)


@app.command(name="create-catalog")
def create_catalog() -> None:
    """Create the tables of a catalog that several processes share, in its database."""
    from ingest import settings
    from ingest.cli import show
    from ingest.spark.metastore import create, shared_catalog
    from ingest.spark.session import session

    url = shared_catalog()
    show.step("starting Spark")
    create(session("catalog", settings.lake()), url)
    show.line(f"The catalog is ready: {url}")


@app.command()
def docs() -> None:
    """Add event types to the page that `dbt docs generate --static` has written."""
    from ingest.cli import show

    show.step("adding event types to the docs page")
    from ingest.cli.docs import write

    typer.echo(write())


@app.command()
def scaffold(
    event_type: Annotated[str, typer.Argument(help="Event type that a stream has ingested.")],
    stream: Annotated[
        str | None, typer.Option("--stream", help="Its stream, if several streams have this type.")
    ] = None,
) -> None:
    """Write dbt models for an event type, as a start. Existing files are kept."""
    from ingest.cli import show
    from ingest.cli.scaffold import write

    show.step("reading the dbt project")
    for path, is_new in write(event_type, stream):
        typer.echo(f"{'written' if is_new else 'exists, unchanged'}: {path}")


@app.command()
def fuzz(
    models: Annotated[
        list[str] | None,
        typer.Argument(help="Names of dbt models; all by default. A version: dim.v2."),
    ] = None,
    cases: Annotated[int, typer.Option("--cases", min=1, help="How many cases to try.")] = 20,
    seed: Annotated[
        int, typer.Option("--seed", help="Number that the first case follows from.")
    ] = 1,
) -> None:
    """Test that increments of models equal a full refresh.

    Builds them from slices of bronze that come again, late, out of order or not at all, on a lake
    of their own. Prints the smallest slices that differ.
    """
    from ingest.cli.fuzz import run as run_fuzz

    run_fuzz(models or (), cases, seed)


def _land(
    work: Callable[[Lake, list[Stream]], list[HeadwaterError]], select: Select, exclude: Exclude
) -> None:
    from ingest import settings
    from ingest.cli import show
    from ingest.declarations.project import declared_streams
    from ingest.storage.layout import Lake

    show.logging_to_stderr()
    show.step("reading the dbt project")
    streams = declared_streams(select or (), exclude or ())
    show.step("starting Spark")
    _end(work(Lake(settings.lake()), streams))


def _fill(
    work: Callable[[Lake, EventGroup], list[HeadwaterError]],
    group: str,
    select: Select,
    exclude: Exclude,
) -> None:
    from ingest import settings
    from ingest.cli import show
    from ingest.declarations.project import declared_streams
    from ingest.errors import InputError
    from ingest.runtime.group_runner import named
    from ingest.storage.layout import Lake

    if select or exclude:
        raise InputError("--group names its stream: leave out --select and --exclude")
    show.logging_to_stderr()
    show.step("reading the dbt project")
    found = named(declared_streams((), ()), group)
    show.step("starting Spark")
    _end(work(Lake(settings.lake()), found))


def _end(errors: list[HeadwaterError]) -> None:
    """Print the errors and exit with the highest of their codes."""
    from ingest.cli import show

    for error in errors:
        show.error(error)
    if errors:
        raise typer.Exit(max(error.exit_code for error in errors))


def one_value_each(arguments: Sequence[str]) -> list[str]:
    """Repeat the option before each further value: `--select a b` as `--select a --select b`.

    dbt accepts the short form.
    """
    found: list[str] = []
    option = None
    for argument in arguments:
        if argument.startswith("-"):
            option = argument if argument in _SELECTING else None
        elif option and found[-1] != option:
            found.append(option)
        found.append(argument)
    return found


def main() -> None:
    """Run the command; an error is one line on stderr and an exit code."""
    from ingest.cli import show

    try:
        app(one_value_each(sys.argv[1:]))
    except HeadwaterError as error:
        show.error(error)
        sys.exit(error.exit_code)
    except BrokenPipeError:
        sys.exit(0)
