"""What the parts of the live stack are started with."""

from __future__ import annotations

from ingest.stack.broker import new_cluster_id


def test_no_id_of_a_cluster_is_taken_for_an_option() -> None:
    ids = {new_cluster_id() for _ in range(1000)}

    # One in 64 would begin with a dash if nobody looked.
    assert len(ids) == 1000
    assert not [each for each in ids if each.startswith("-") or len(each) != 22]
