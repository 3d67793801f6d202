"""A project that `ingest serve` serves in a process of its own, and who asks and builds beside."""

from __future__ import annotations

import contextlib
import ipaddress
import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import yaml
from pyhive import hive  # type: ignore[import-untyped]

from ingest.storage.layout import Lake

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 240.0
DELTA = "{{ config(materialized='%s', schema='%s', file_format='delta'%s) }}\n"
# As if nothing had been heard of this dbt for long.
FORGOTTEN = (
    "{{ 'drop view global_temp.headwater_given_' ~ invocation_id | replace('-', '_') "
    "if target.name == 'server' else 'select 1' }}"
)
# Where row 99 is read, or the one that `--vars` names, a model says so and takes its time.
SLOW_ROW = "{{ var('slow', 99) }}"
SLOWLY = (
    f"case when id = {SLOW_ROW} then concat("
    f"java_method('java.lang.System', 'setProperty', 'test.slow', '{SLOW_ROW}'), "
    "java_method('java.lang.Thread', 'sleep', 6000L)) end is distinct from ''"
)
MODELS = {
    "order_events": DELTA
    % ("incremental", "silver", ", incremental_strategy='merge', unique_key='id', tags=['live']")
    + "select id, amount, _batch_id from {{ source('test', 'orders') }} "
    "where {{ incremental_filter(source('test', 'orders')) }}",
    "agg_orders": DELTA
    % ("table", "gold", "")
    + "select count(*) as orders, sum(amount) as amount from {{ ref('order_events') }} "
    f"where {SLOWLY}",
    "agg_amounts": DELTA
    % ("incremental", "gold", ", incremental_strategy='replace_where'")
    + "select id, sum(amount) as amount from {{ ref('order_events') }} "
    "where {{ affected_partitions('id', ref('order_events')) }} group by id",
    "placed_events": DELTA
    % ("incremental", "silver", ", on_schema_change='append_new_columns'")
    + "select * except (_payload) from {{ events_of('test', 'placed') }} "
    "where {{ incremental_filter(source('test', 'events')) }}",
    "agg_broken": DELTA % ("table", "gold", "")
    + "select out_of_order from {{ ref('order_events') }}",
    "agg_forgotten": DELTA % ("table", "gold", f', pre_hook="{FORGOTTEN}"')
    + "select orders, '{{ target.name }}' as builder from {{ ref('agg_orders') }}",
    "agg_of_broken": DELTA % ("table", "gold", "") + "select * from {{ ref('agg_broken') }}",
}


@dataclass(frozen=True, slots=True)
class Served:
    """A project, and the process that serves it."""

    project: Path
    process: subprocess.Popen[str]
    port: int
    health_port: int

    @property
    def lake(self) -> Lake:
        """Its lake."""
        return Lake(str(self.project / "lake"))

    def drop(self, name: str, *orders: tuple[int, int]) -> None:
        """A file of orders arrives, whole."""
        records = [{"id": number, "amount": amount} for number, amount in orders]
        self.arrive("landing", name, *records)

    def arrive(self, folder: str, name: str, *records: dict[str, Any]) -> None:
        """A file of records arrives in a stream's folder, whole."""
        new = self.project / f"{name}.new"
        new.write_text("\n".join(map(json.dumps, records)) + "\n", encoding="utf-8")
        new.rename(self.project / folder / f"{name}.jsonl")

    def ask(self, query: str) -> Any:
        """What a client of the endpoint is answered."""
        with hive.connect(host="127.0.0.1", port=self.port, username="bi") as connection:
            cursor = connection.cursor()
            cursor.execute(query)
            return cursor.fetchall()

    def shows(self, query: str, *rows: tuple[Any, ...]) -> bool:
        """Whether it answers with these rows by now."""
        try:
            return sorted(self.ask(query)) == list(rows)
        except hive.OperationalError:
            # A table or a column that is not there yet.
            return False

    def is_slow_at(self, row: int) -> bool:
        """Whether a model takes its time by now, for that row."""
        return self.shows(
            "select java_method('java.lang.System', 'getProperty', 'test.slow')", (str(row),)
        )

    def states(self) -> dict[str, Any]:
        """What it says of its models."""
        file = self.project / "lake" / "_progress" / "_models.json"
        found = json.loads(file.read_text("utf-8")) if file.exists() else []
        return {one["model"]: one for one in found}

    def wait_until(self, is_so: Callable[[], bool]) -> None:
        """Wait, as long as it runs."""
        until = time.monotonic() + PATIENCE
        while not is_so():
            assert self.process.poll() is None, "it has ended"
            assert time.monotonic() < until, self.states()
            time.sleep(0.2)


def a_project(root: Path) -> None:
    """Two streams of files and some models, with the macros and profiles of this one."""
    source = {
        "name": "orders",
        "identifier": "test__orders",
        "columns": [{"name": name, "data_type": "bigint"} for name in ("id", "amount")],
        "config": {
            "meta": {"ingest": {"from": "files", "path": str(root / "landing"), "format": "json"}}
        },
    }
    declared = {"from": "files", "format": "json", "event_type": "type", "payload": "data"}
    events = {
        "name": "events",
        "identifier": "test__events",
        "config": {"meta": {"ingest": declared | {"path": str(root / "events")}}},
    }
    ours = yaml.safe_load((ROOT / "dbt_project.yml").read_text(encoding="utf-8"))
    for layer in ("models", "seeds"):
        del ours[layer]
    sources = [{"name": "test", "schema": "bronze", "tables": [source, events]}]
    (root / "models").mkdir()
    (root / "landing").mkdir()
    (root / "events").mkdir()
    (root / "dbt_project.yml").write_text(yaml.safe_dump(ours), encoding="utf-8")
    # What a model of a type that has not come yet is built from.
    placed = {"name": "placed_events", "columns": [{"name": "n", "data_type": "bigint"}]}
    (root / "models" / "test.yml").write_text(
        yaml.safe_dump({"version": 2, "sources": sources, "models": [placed]}), encoding="utf-8"
    )
    for name, text in MODELS.items():
        (root / "models" / f"{name}.sql").write_text(text, encoding="utf-8")
    shutil.copytree(ROOT / "macros", root / "macros")
    shutil.copyfile(ROOT / "profiles.yml", root / "profiles.yml")
    (root / ".jars").symlink_to(ROOT / ".jars")


def a_lasting_port(but: int = 0) -> int:
    """A port that is free, and is given to nobody who asks for any, while its server restarts."""
    for port in range(20000 + os.getpid() % 10000, 32768):
        with socket.socket() as free, contextlib.suppress(OSError):
            if port == but:
                continue
            free.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def serving(root: Path, port: int, *more: str, **environment: str) -> subprocess.Popen[str]:
    """A process that serves a project."""
    return started(root, "serve", "--sql", str(port), *more, **environment)


def health(port: int) -> tuple[int, Any]:
    """What `/healthz` answers: the status and the JSON."""
    connection = HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", "/healthz")
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def started(root: Path, *command: str, **environment: str) -> subprocess.Popen[str]:
    """A command of `ingest` in a project, on its lake."""
    return subprocess.Popen(
        [sys.executable, "-m", "ingest", *command],
        cwd=root,
        env=os.environ | {"HEADWATER_LAKE": str(root / "lake")} | environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def dbt(served: Served, *arguments: str) -> subprocess.CompletedProcess[str]:
    """An analyst's dbt."""
    return subprocess.run(
        [
            *(str(Path(sys.executable).with_name("dbt")), "--no-use-colors", *arguments),
            *("--target-path", str(served.project / "target" / "analyst")),
        ],
        cwd=served.project,
        env=os.environ
        | {"HEADWATER_LAKE": served.lake.root, "HEADWATER_SQL_PORT": str(served.port)},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


def listening(port: int) -> set[str]:
    """The addresses at which something listens on a port of this machine."""
    found = set()
    for table in ("tcp", "tcp6"):
        for line in Path("/proc/net", table).read_text("utf-8").splitlines()[1:]:
            _, local, _, state, *_ = line.split()
            number, _, at = local.partition(":")
            if state == "0A" and int(at, 16) == port:
                # Words of four bytes, each the wrong way round.
                words = (number[start : start + 8] for start in range(0, len(number), 8))
                found.add(ipaddress.ip_address(b"".join(bytes.fromhex(one)[::-1] for one in words)))
    return {str(getattr(one, "ipv4_mapped", None) or one) for one in found}
