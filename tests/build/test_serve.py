"""`ingest serve` as one process: a file becomes gold by itself, people ask and build beside it."""

from __future__ import annotations

import os
import shutil
import signal
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyhive import hive  # type: ignore[import-untyped]
from thrift.transport.TTransport import TTransportException  # type: ignore[import-untyped]

from ingest.storage import delta_log
from ingest.storage.locks import stream_lock
from tests.build.served import (
    PATIENCE,
    Served,
    a_lasting_port,
    a_project,
    dbt,
    health,
    listening,
    serving,
    started,
)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    """A lake that is served, with a first file in it."""
    root = tmp_path_factory.mktemp("a served lake")
    a_project(root)
    port = a_lasting_port()
    health_port = a_lasting_port(but=port)
    # A shell of somebody who has another Hive.
    with serving(
        root, port, "--health", str(health_port), HIVE_SERVER2_THRIFT_BIND_HOST="::"
    ) as process:
        try:
            one = Served(root, process, port, health_port)
            one.drop("1", (1, 10), (2, 20))
            one.wait_until(lambda: one.states().get("agg_orders", {}).get("state") == "built")
            # A first pass may have come before the file.
            one.wait_until(lambda: one.ask("select * from gold.agg_orders") == [(2, 30)])
            yield one
        finally:
            process.kill()


def test_a_new_file_reaches_gold_and_is_answered_without_a_command(served: Served) -> None:
    # Nothing of the project is read again, so nothing is wrong with it yet.
    unreadable = served.project / "models" / "unreadable.sql"
    unreadable.write_text("{{", encoding="utf-8")
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
    unreadable.unlink()


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


def test_health_is_answered_while_streams_run(served: Served) -> None:
    streams = {"test.events": "running", "test.orders": "running"}
    assert health(served.health_port) == (
        200,
        {"state": "running", "streams": streams, "sql": "up"},
    )


def test_sql_is_local_whatever_the_environment(served: Served) -> None:
    assert listening(served.port) == {"127.0.0.1"}


def test_second_serve_and_run_name_the_lock_owner(served: Served) -> None:
    second, run = serving(served.project, served.port), started(served.project, "run")
    for process, code in ((second, "CATALOG_HELD"), (run, "LOCKED")):
        _, said = process.communicate(timeout=PATIENCE)
        assert process.returncode == 1, said
        (line,) = said.splitlines()
        assert line.startswith(f"error[{code}]: ")
        assert f"process {served.process.pid}" in line


def test_analysts_dbt_builds_on_the_same_tables(served: Served) -> None:
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


@pytest.mark.long
def test_two_builds_of_one_model_follow_each_other(served: Served) -> None:
    """A person's claim makes an analyst's dbt wait, and both keep the model from being built."""

    def views(kind: str) -> int:
        # The comment tells that this person is still there.
        return len(
            served.ask(f"/* a_person */ show views in global_temp like 'headwater_{kind}_*'")
        )

    ((newest,),) = served.ask("select max(id) from silver.order_events")
    ((orders, amount),) = served.ask("select * from gold.agg_orders")
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
        assert served.ask("select max(id) from silver.order_events") == [(newest,)]
        served.ask("drop view global_temp.headwater_claim_a_person")
        answer = analyst.result(PATIENCE)
    assert answer.returncode == 0, answer.stdout
    built = (orders + 1, amount + 35)
    served.wait_until(lambda: served.ask("select * from gold.agg_orders") == [built])
    assert views("claim") == views("given") == 0


def test_a_dbt_that_has_lost_its_claim_writes_no_more(served: Served) -> None:
    """What was read before may be older than what another build has written since."""
    served.wait_until(lambda: served.states()["agg_forgotten"]["state"] == "built")
    answer = dbt(served, "run", "--target", "server", "--select", "agg_forgotten")
    assert answer.returncode == 1, answer.stdout
    assert (
        "ingest serve restarted, or received no statement of this dbt for a while" in answer.stdout
    )
    assert served.ask("select builder from gold.agg_forgotten") == [("local",)]


@pytest.mark.long
def test_analysts_lost_conflict_is_one_line(served: Served) -> None:
    """Somebody who has claimed nothing writes the table while the analyst's model is at work."""
    rows = served.ask("select * from gold.agg_orders")
    with ThreadPoolExecutor() as pool:
        arguments = ("run", "--target", "server", "--select", "agg_orders", "--vars", "slow: 1")
        analyst = pool.submit(dbt, served, *arguments)
        served.wait_until(lambda: served.is_slow_at(1))
        served.ask("update gold.agg_orders set orders = orders")
        answer = analyst.result(PATIENCE)
    assert answer.returncode == 1, answer.stdout
    assert "Another build wrote the table at the same time: run again." in answer.stdout
    assert "\tat " not in answer.stdout
    assert served.ask("select * from gold.agg_orders") == rows


def test_sigterm_to_the_group_ends_it_after_the_model_and_frees_the_lake(served: Served) -> None:
    ((before,),) = served.ask("select orders from gold.agg_orders")
    served.wait_until(lambda: served.shows("select orders from gold.agg_forgotten", (before,)))
    served.drop("slow", (99, 1))
    served.wait_until(lambda: served.is_slow_at(99))
    os.killpg(served.process.pid, signal.SIGTERM)
    _, said = served.process.communicate(timeout=PATIENCE)
    assert "Traceback" not in said
    with stream_lock(served.lake, "test__orders", "test.orders"):
        # Nobody else has it, and the next one opens the catalog.
        assert served.process.returncode == 0, said
    for model, orders in (("agg_orders", before + 1), ("agg_forgotten", before)):
        table = served.lake.table("gold", model)
        assert delta_log.rows(table, ["orders"]).to_pylist() == [{"orders": orders}], model


@pytest.fixture(scope="module")
def guarded(served: Served) -> Iterator[Served]:
    """The same lake, which is free, served to those who log in; its streams have failed."""
    for table in ("test__orders", "test__events"):
        shutil.rmtree(served.lake.url(served.lake.checkpoint(table)))
    told = served.project / "sql.properties"
    ldap = ("=LDAP", ".ldap.url=ldap://127.0.0.1:9", ".ldap.baseDN=dc=example")
    told.write_text("\n".join(f"hive.server2.authentication{one}" for one in ldap), "utf-8")
    more = "--health", str(served.health_port)
    with serving(served.project, served.port, *more, HEADWATER_SQL_PROPERTIES=str(told)) as process:
        try:
            assert process.stderr
            said = ""
            for line in process.stderr:
                said += line
                if "serving after" in line:  # /healthz says "starting" until then
                    break
            assert "streams running: 0" in said, said
            yield Served(served.project, process, served.port, served.health_port)
        finally:
            process.kill()


def test_health_names_the_streams_that_have_failed(guarded: Served) -> None:
    status, answer = health(guarded.health_port)
    assert (status, answer["state"], answer["sql"]) == (503, "failing", "up")
    assert answer["streams"] == {"test.events": "failed", "test.orders": "failed"}
    assert answer["errors"]["test.orders"].startswith("CHECKPOINT")


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
