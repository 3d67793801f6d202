"""The stack itself: what it keeps while it is stopped."""

from __future__ import annotations

import os
import stat
import subprocess
from pathlib import Path

import pytest

from tests.live.avro import client, record, registered
from tests.live.topics import Topics


@pytest.mark.long
def test_a_stack_that_was_stopped_in_good_order_knows_its_schemas_by_their_ids(
    topics: Topics,
) -> None:
    assert topics.stack
    schema = record("Survivor", ("id", "int"))
    number = registered(topics, "survivor-value", schema)
    before = {one.service: one for one in topics.stack.status()}
    try:
        topics.stack.down(lambda _: None)
        assert [one.state for one in topics.stack.status()] == ["stopped"] * 4
        pids = ",".join(str(one.pid) for one in before.values())
        looked = ["ps", "-o", "args=", "-p", pids]
        assert subprocess.run(looked, capture_output=True, text=True, check=False).stdout == ""
        assert Path(before["kafka"].folder, "data", ".kafka_cleanshutdown").exists()
        said = topics.stack.log("postgres").read_text("utf-8").splitlines()
        assert said[-1].endswith("database system is shut down")
    finally:
        topics.stack.up(lambda _: None)
    assert client(topics).get_schema(number).schema_str == schema
    assert registered(topics, "survivor-value", schema) == number
    folder = Path(before["postgres"].folder)
    assert stat.S_IMODE(folder.stat().st_mode) == stat.S_IRWXU
    # Another user than root, as which it runs then, cannot reach the folders of tests.
    assert folder.is_relative_to(topics.lake.root) == (os.geteuid() != 0)
