"""Services of the stack: start, stop, ports and health, with processes that only sleep."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest
from typer.testing import CliRunner

from ingest.cli import app
from ingest.errors import InputError
from ingest.spark import launch
from ingest.stack.broker import new_cluster_id
from ingest.stack.ports import declared_ports, free_port
from ingest.stack.service import JavaService, ServiceHome
from ingest.stack.stack import Stack
from ingest.storage.layout import Lake


class Sleeper(JavaService):
    """A service that answers at once, and whose process sleeps."""

    def __init__(self, name: str, listens: Sequence[str] = ("clients",)) -> None:
        super().__init__(Path())
        self._name, self._listens = name, listens

    @property
    def name(self) -> str:
        """See Part."""
        return self._name

    @property
    def listens(self) -> Sequence[str]:
        return self._listens

    def prepare(self, home: ServiceHome) -> None:
        pass

    def command(self, home: ServiceHome) -> Sequence[str]:
        return (sys.executable, "-S", "-c", "import time; time.sleep(60)", f"{home.folder}/data")

    def is_healthy(self, home: ServiceHome) -> bool:
        return home.folder.is_dir()


@pytest.fixture
def stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Stack]:
    """A stack of two services, of which the first has a second port."""
    monkeypatch.setattr(launch, "prepare_process", lambda: None)
    stack = Stack(Lake(str(tmp_path)))
    services = Sleeper("kafka", ("clients", "controller")), Sleeper("postgres")
    stack.services = {service.name: service for service in services}
    yield stack
    stack.down(lambda _: None)


def up(stack: Stack, **ports: int) -> list[str]:
    """Lines that starting it prints, without those of services that begin to start."""
    lines: list[str] = []
    stack.up(lines.append, ports=ports)
    return [line for line in lines if not line.endswith(": starting")]


def address(stack: Stack, name: str) -> str:
    """Address of a service in `status`."""
    (found,) = (one.address for one in stack.status() if one.service == name)
    return found


def test_service_keeps_a_given_port(stack: Stack) -> None:
    port = free_port(())
    assert up(stack, kafka=port)[0] == f"kafka: 127.0.0.1:{port}"
    stack.down(lambda _: None)
    up(stack)
    assert address(stack, "kafka") == f"127.0.0.1:{port}"
    assert address(stack, "postgres") not in ("", f"127.0.0.1:{port}")


def test_port_changes_only_while_all_services_are_stopped(stack: Stack, tmp_path: Path) -> None:
    up(stack)
    kept = address(stack, "kafka")
    known = json.loads((tmp_path / "_stack" / "stack.json").read_text())
    port = free_port(known["kafka"]["ports"].values())
    with pytest.raises(InputError, match=rf"keeps {kept} .*\(kafka, postgres\).* stack down"):
        up(stack, kafka=port)
    # The port that it has already is no change.
    assert up(stack, kafka=int(kept.partition(":")[2]))[0] == f"kafka: {kept}"
    stack.down(lambda _: None)
    assert up(stack, kafka=port)[:2] == [
        f"kafka: moved from {kept}; restart its clients",
        f"kafka: 127.0.0.1:{port}",
    ]
    ports = json.loads((tmp_path / "_stack" / "stack.json").read_text())["kafka"]["ports"]
    assert ports == {**known["kafka"]["ports"], "clients": port}


def test_taken_port_is_refused_before_any_change(stack: Stack) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        said = rf"--port postgres={port}: 127\.0\.0\.1:{port} is taken: Address already in use"
        with pytest.raises(InputError, match=said):
            up(stack, kafka=free_port([port]), postgres=port)
    assert [(one.address, one.state) for one in stack.status()] == [("", "stopped")] * 2
    up(stack)
    stack.down(lambda _: None)
    kept = int(address(stack, "kafka").partition(":")[2])
    with pytest.raises(InputError, match=f"--port postgres={kept}: the port of kafka"):
        up(stack, postgres=kept)


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        (["kafk=9092"], "--port kafk=9092: unknown service 'kafk'; services are kafka, postgres"),
        (["kafka"], "--port kafka: '' is not a port from 1024 to 65535"),
        (["kafka=new"], "--port kafka=new: 'new' is not a port"),
        (["kafka=65536"], "--port kafka=65536: '65536' is not a port"),
        (["kafka=80"], "--port kafka=80: '80' is not a port"),
        (["kafka=9092", "kafka=9093"], "--port kafka=9093: each service needs a port of its own"),
        (["kafka=9092", "postgres=9092"], "--port postgres=9092: each service needs"),
    ],
)
def test_invalid_port_is_refused(typed: list[str], said: str) -> None:
    with pytest.raises(InputError, match=said):
        declared_ports(typed, ["kafka", "postgres"])


def test_a_part_that_was_killed_is_named_until_it_starts_again(stack: Stack) -> None:
    up(stack)
    (kafka, postgres) = stack.status()
    assert kafka.pid
    os.kill(kafka.pid, signal.SIGKILL)
    until = time.monotonic() + 30
    while stack.status()[0].state == "running" and time.monotonic() < until:
        time.sleep(0.01)
    assert [one.state for one in stack.status()] == ["killed", "running"]
    assert up(stack) == [
        "kafka: was killed, starting again",
        f"kafka: {kafka.address}",
        f"postgres: {postgres.address}",
    ]
    assert [one.state for one in stack.status()] == ["running", "running"]


def test_the_commands_show_a_stack(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HEADWATER_LAKE", str(tmp_path))
    command = CliRunner()
    status = command.invoke(app, ["stack", "status", "--json"])
    assert [(one["service"], one["state"]) for one in json.loads(status.stdout)] == [
        (name, "stopped") for name in ("kafka", "postgres", "registry", "connect")
    ]
    (tmp_path / "_stack").mkdir()
    (tmp_path / "_stack" / "kafka.log").write_text("one\ntwo\nthree\n")
    assert command.invoke(app, ["stack", "logs", "-n", "2", "kafka"]).stdout == "two\nthree\n"
    assert command.invoke(app, ["stack", "logs", "postgres"]).stdout == ""
    for wrong in (["logs", "kafk"], ["up", "--port", "kafk=9092"]):
        refused = command.invoke(app, ["stack", *wrong]).exception
        assert isinstance(refused, InputError)
        assert "unknown service 'kafk'; services are kafka, postgres" in str(refused)
    given: dict[str, object] = {}
    monkeypatch.setattr(Stack, "up", lambda _, __, **more: given.update(more))
    command.invoke(app, ["stack", "up", "--port", "kafka=9092", "--port", "connect=8083"])
    assert given == {"only": (), "ports": {"kafka": 9092, "connect": 8083}}
    command.invoke(app, ["stack", "up", "s3"])
    assert given == {"only": ["s3"], "ports": {}}


def test_the_s3_server_starts_when_it_is_named(stack: Stack) -> None:
    stack.services = {**stack.services, "s3": Sleeper("s3")}
    up(stack)
    assert [one.service for one in stack.status()] == ["kafka", "postgres"]
    stack.up(lambda _: None, only=["s3"])
    assert [one.state for one in stack.status()] == ["running"] * 3
    stack.down(lambda _: None)
    assert [one.service for one in stack.status()] == ["kafka", "postgres"]
    up(stack, s3=free_port(()))
    assert stack.status()[-1].service == "s3"
    with pytest.raises(InputError, match="unknown service 's4'; services are kafka, postgres, s3"):
        stack.up(lambda _: None, only=["s4"])


def test_the_stack_of_a_lake_in_a_bucket_is_local(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dbt_project.yml").touch()
    monkeypatch.chdir(tmp_path)
    one, other = (Lake(f"s3a://{name}").local.root for name in ("a-b/lake", "a/b/lake"))
    assert one.startswith(f"{tmp_path}/.local/s3a-a-b-lake-")
    assert one != other
    assert Lake(f"file://{tmp_path}/lake").local.root == f"{tmp_path}/lake"


def test_no_id_of_a_cluster_is_taken_for_an_option() -> None:
    ids = {new_cluster_id() for _ in range(1000)}

    # One in 64 would begin with a dash if nobody looked.
    assert len(ids) == 1000
    assert not [each for each in ids if each.startswith("-") or len(each) != 22]
