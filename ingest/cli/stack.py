"""`ingest stack`: what a lakehouse works with, on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ingest.stack.stack import Stack

app = typer.Typer(
    no_args_is_help=True,
    help="Run Kafka, PostgreSQL, a schema registry, Kafka Connect with Debezium, an S3 server and "
    "a Spark cluster on this machine, for development.",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.command()
def up(
    service: Annotated[
        list[str] | None,
        typer.Argument(help="Services to start, as in `status`. Default: all but s3 and spark-…."),
    ] = None,
    port: Annotated[
        list[str] | None,
        typer.Option(
            "--port",
            metavar="SERVICE=NUMBER",
            help="Port of a service from now on, such as kafka=9092. Default: a free port.",
        ),
    ] = None,
) -> None:
    """Start the services that are not running. They keep running after this command."""
    from ingest.cli import show
    from ingest.stack.ports import declared_ports

    stack = _stack()
    ports = declared_ports(port or (), stack.services)
    stack.up(show.line, only=service or (), ports=ports)


@app.command()
def down() -> None:
    """Stop all services. Their data are kept."""
    from ingest.cli import show

    _stack().down(show.line)


@app.command()
def status(json: Json = False) -> None:
    """Show the state, address and data folder of each service."""
    from dataclasses import asdict

    from ingest.cli import show

    rows = [asdict(one) for one in _stack().status()]
    if json:
        show.as_json(rows)
    else:
        show.table("stack", rows)


@app.command()
def logs(
    service: Annotated[str, typer.Argument(help="Name of a service, as in `status`.")],
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="Number of lines.")] = 50,
) -> None:
    """Print the last lines of a service's log."""
    from ingest.cli import show

    path = _stack().log(service)
    text = path.read_text("utf-8", errors="replace").splitlines() if path.exists() else []
    for line in text[-lines:]:
        show.line(line)


def _stack() -> Stack:
    from ingest import settings
    from ingest.stack.stack import Stack
    from ingest.storage.layout import Lake

    return Stack(Lake(settings.lake()))
