"""`ingest stack`: the parts that streams stand on, on this machine."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from ingest.stack.stack import Stack

app = typer.Typer(
    no_args_is_help=True,
    help="What streams stand on, on this machine: Kafka, PostgreSQL, Kafka Connect with Debezium.",
)

Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]


@app.command()
def up(
    port: Annotated[
        list[str] | None,
        typer.Option(
            "--port",
            metavar="PART=NUMBER",
            help="A part's port from now on, such as kafka=9092; else it is a free one.",
        ),
    ] = None,
) -> None:
    """Start what does not run; it goes on when this command ends."""
    from ingest.cli import show
    from ingest.stack.ports import declared_ports

    stack = _stack()
    stack.up(show.line, ports=declared_ports(port or (), stack.parts))


@app.command()
def down() -> None:
    """Stop all; data stay for the next time."""
    from ingest.cli import show

    _stack().down(show.line)


@app.command()
def status(json: Json = False) -> None:
    """Show how each part is, where it answers and where its data are."""
    from dataclasses import asdict

    from ingest.cli import show

    rows = [asdict(one) for one in _stack().status()]
    if json:
        show.as_json(rows)
    else:
        show.table("stack", rows)


@app.command()
def logs(
    part: Annotated[str, typer.Argument(help="A part's name, as status shows it.")],
    lines: Annotated[int, typer.Option("--lines", "-n", min=1, help="So many of the last.")] = 50,
) -> None:
    """Print the last of what a part has said."""
    from ingest.cli import show

    path = _stack().log(part)
    said = path.read_text("utf-8", errors="replace").splitlines() if path.exists() else []
    for text in said[-lines:]:
        show.line(text)


def _stack() -> Stack:
    from ingest import settings
    from ingest.stack.stack import Stack
    from ingest.storage.layout import Lake

    return Stack(Lake(settings.lake()))
