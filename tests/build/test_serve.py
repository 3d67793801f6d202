"""`ingest serve` as one process: a file becomes gold by itself, people ask and build beside it."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
import yaml
from pyhive import hive  # type: ignore[import-untyped]
from thrift.transport.TTransport import TTransportException  # type: ignore[import-untyped]

from ingest.lake import Lake
from ingest.run.lock import StreamLock

ROOT = Path(__file__).resolve().parent.parent.parent
PATIENCE = 240.0
DELTA = "{{ config(materialized='%s', schema='%s', file_format='delta'%s) }}\n"
# As if nothing had been heard of this dbt for long.
FORGOTTEN = (
    "{{ 'drop view global_temp.headwater_given_' ~ invocation_id | replace('-', '_') "
    "if target.name == 'server' else 'select 1' }}"
)
MODELS = {
    "order_events": DELTA
    % ("incremental", "silver", ", incremental_strategy='merge', unique_key='id', tags=['live']")
    + "select id, amount, _batch_id from {{ source('test', 'orders') }} "
    "where {{ unread(source('test', 'orders')) }}",
    "agg_orders": DELTA % ("table", "gold", "")
    + "select count(*) as orders, sum(amount) as amount from {{ ref('order_events') }}",
    "agg_amounts": DELTA
    % ("incremental", "gold", ", incremental_strategy='replace_where'")
    + "select id, sum(amount) as amount from {{ ref('order_events') }} "
    "where {{ touched('id', ref('order_events')) }} group by id",
    "placed_events": DELTA
    % ("incremental", "silver", ", on_schema_change='append_new_columns'")
    + "select * except (_payload) from {{ events_of('test', 'placed') }} "
    "where {{ unread(source('test', 'events')) }}",
    "agg_broken": DELTA % ("table", "gold", "")
    + "select out_of_order from {{ ref('order_events') }}",
    "agg_forgotten": DELTA % ("table", "gold", f', pre_hook="{FORGOTTEN}"')
    + "select max(id) as id from {{ ref('order_events') }}",
    "agg_of_broken": DELTA % ("table", "gold", "") + "select * from {{ ref('agg_broken') }}",
}


@dataclass(frozen=True, slots=True)
class Served:
    """A project, and the process that serves it."""

    project: Path
    process: subprocess.Popen[str]
    port: int

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


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A lake that is served, with a first file in it."""
    root = tmp_path_factory.mktemp("a served lake")
    a_project(root)
    port = a_lasting_port()
    with serving(root, port) as process:
        try:
            one = Served(root, process, port)
            one.drop("1", (1, 10), (2, 20))
            one.wait_until(lambda: one.states().get("agg_orders", {}).get("state") == "built")
            # A first pass may have come before the file.
            one.wait_until(lambda: one.ask("select * from gold.agg_orders") == [(2, 30)])
            yield one
        finally:
            process.kill()


def a_lasting_port() -> int:
    """A port that is free, and is given to nobody who asks for any, while its server restarts."""
    for port in range(20000 + os.getpid() % 10000, 32768):
        with socket.socket() as free, contextlib.suppress(OSError):
            free.bind(("127.0.0.1", port))
            return port
    raise AssertionError("no port is free")


def serving(root: Path, port: int, **environment: str) -> subprocess.Popen[str]:
    """A process that serves a project."""
    return subprocess.Popen(
        [sys.executable, "-m", "ingest", "serve", "--sql", str(port)],
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


def test_a_new_file_reaches_gold_and_is_answered_without_a_command(served: Served) -> None:
    served.drop("2", (2, 25), (3, 30))
    served.wait_until(lambda: served.ask("select * from gold.agg_orders") == [(3, 65)])
    assert served.states()["order_events"]["live"]
    amounts = (1, 10), (2, 25), (3, 30)
    served.wait_until(lambda: served.shows("select id, amount from gold.agg_amounts", *amounts))
    rows = (
        "select max_by(rows_affected, started_at) from ops.model_runs where relation = '%s' "
        "and status = 'success'"
    )
    served.wait_until(lambda: served.shows(rows % "silver.order_events", (2,)))
    # What was touched, and nothing beside it.
    served.wait_until(lambda: served.shows(rows % "gold.agg_amounts", (2,)))


def test_types_that_come_and_grow_meanwhile_are_tables_and_read_whole(served: Served) -> None:
    served.arrive("events", "1", {"type": "placed", "data": {"n": 1}})
    served.wait_until(lambda: served.shows("select n from bronze_test.placed", (1,)))
    served.arrive("events", "2", {"type": "placed", "data": {"n": 2, "by": "web"}})
    both = (1, None), (2, "web")
    served.wait_until(lambda: served.shows("select n, `by` from silver.placed_events", *both))
    served.arrive("events", "3", {"type": "paid", "data": {"eur": 3}})
    served.wait_until(lambda: served.shows("select eur from bronze_test.paid", (3,)))


def test_a_failing_model_stops_what_is_below_it_only_and_says_why(served: Served) -> None:
    served.wait_until(lambda: served.states()["agg_broken"]["state"] == "failed")
    states = served.states()
    assert "out_of_order" in states["agg_broken"]["error"]
    assert "\n" not in states["agg_broken"]["error"]
    assert states["agg_of_broken"]["state"] == "never built"
    assert states["agg_orders"]["state"] == "built"


def test_an_analyst_builds_beside_it_on_the_same_tables(served: Served) -> None:
    local = dbt(served, "compile")
    assert local.returncode == 2
    assert "use --target server" in local.stdout
    left_out = ("agg_of_broken", "agg_forgotten", "placed_events")
    answer = dbt(served, "build", "--target", "server", "--exclude", *left_out)
    assert answer.returncode == 1, answer.stdout
    assert "PASS=" in answer.stdout
    assert " ERROR=1 " in answer.stdout, answer.stdout
    assert "out_of_order" in answer.stdout
    assert "\tat " not in answer.stdout, "Java's stack traces are cut off"


def test_two_builds_of_one_model_follow_each_other(served: Served) -> None:
    """A person's claim makes an analyst's dbt wait, and both keep the model from being built."""

    def views(kind: str) -> int:
        # The comment tells that this person is still there.
        return len(
            served.ask(f"/* a_person */ show views in global_temp like 'headwater_{kind}_*'")
        )

    served.ask(
        "create global temporary view headwater_claim_a_person "
        "as select 'model.headwater.order_events' as models"
    )
    served.wait_until(lambda: views("given") == 1)
    with ThreadPoolExecutor() as pool:
        arguments = ("run", "--target", "server", "--select", "order_events")
        analyst = pool.submit(dbt, served, *arguments)
        served.drop("3", (4, 35))
        served.wait_until(lambda: views("claim") == 2)
        assert views("given") == 1
        assert served.ask("select max(id) from silver.order_events") == [(3,)]
        served.ask("drop view global_temp.headwater_claim_a_person")
        answer = analyst.result(PATIENCE)
    assert answer.returncode == 0, answer.stdout
    served.wait_until(lambda: served.ask("select * from gold.agg_orders") == [(4, 100)])
    assert views("claim") == views("given") == 0


def test_a_dbt_that_has_lost_its_claim_writes_no_more(served: Served) -> None:
    """What was read before may be older than what another build has written since."""
    served.wait_until(lambda: served.states()["agg_forgotten"]["state"] == "built")
    versions = served.ask("describe history gold.agg_forgotten")
    answer = dbt(served, "run", "--target", "server", "--select", "agg_forgotten")
    assert answer.returncode == 1, answer.stdout
    assert "ingest serve has not heard of this dbt for a while" in answer.stdout
    assert served.ask("describe history gold.agg_forgotten") == versions


def test_sigterm_to_the_group_ends_it_and_frees_the_lake(served: Served) -> None:
    os.killpg(served.process.pid, signal.SIGTERM)
    _, said = served.process.communicate(timeout=PATIENCE)
    assert "Traceback" not in said
    with StreamLock(served.lake.lock("test__orders"), "test.orders"):
        # Nobody else has it, and the next one opens the catalog.
        assert served.process.returncode == 0, said


@pytest.fixture(scope="module")
def guarded(served: Served) -> Iterator[Served]:
    """The same lake, which is free, served to those who log in; its streams have failed."""
    for table in ("test__orders", "test__events"):
        shutil.rmtree(served.lake.checkpoint(table))
    told = served.project / "sql.properties"
    ldap = ("=LDAP", ".ldap.url=ldap://127.0.0.1:9", ".ldap.baseDN=dc=example")
    told.write_text("\n".join(f"hive.server2.authentication{one}" for one in ldap), "utf-8")
    with serving(served.project, served.port, HEADWATER_SQL_PROPERTIES=str(told)) as process:
        try:
            assert process.stderr
            said = ""
            for line in process.stderr:
                said += line
                if "0 streams are running" in line:
                    break
            assert "0 streams are running" in said, said
            yield Served(served.project, process, served.port)
        finally:
            process.kill()


def test_who_asks_logs_in_where_the_settings_say_so(guarded: Served) -> None:
    """There is no directory that would know anybody."""
    with pytest.raises(TTransportException, match="Error validating the login"):
        hive.connect(host="127.0.0.1", port=guarded.port, username="bi", password="x", auth="LDAP")


def test_a_spark_that_was_killed_ends_it_with_one_line_where_no_stream_runs(
    guarded: Served,
) -> None:
    pid = guarded.process.pid
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text("utf-8").split()
    (java,) = (one for one in children if Path(f"/proc/{one}/comm").read_text() == "java\n")
    os.kill(int(java), signal.SIGKILL)
    _, said = guarded.process.communicate(timeout=PATIENCE)
    assert guarded.process.returncode == 1
    assert "Spark's Java process has ended" in said.splitlines()[-1]
    assert "Traceback" not in said
