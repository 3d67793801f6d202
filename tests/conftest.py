"""What every test process does before it starts a JVM or another Python."""

from __future__ import annotations

import os
import sys

from hypothesis import settings

from tests.fuzzing import cases, seed

# A test's JVM lives for minutes on rows that could be counted by hand: compiling its code well,
# beside it on the same cores, costs more than it ever wins back. Without the second compiler Java
# keeps 48 MB of compiled code, which Spark fills: then it throws code away and compiles it again.
os.environ.setdefault(
    "HEADWATER_JAVA_OPTIONS",
    "-XX:TieredStopAtLevel=1 -XX:ReservedCodeCacheSize=240m -XX:MetaspaceSize=400m "
    "-XX:+UseSerialGC -Xms1g -Xmn400m",
)

# Tests start a dozen processes of dbt, and each would compile dbt's modules again: seconds.
os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
sys.dont_write_bytecode = False

# A fixed seed, so that a change fails by what it did; `make fuzz` draws more, and others. How long
# a case takes says nothing on a machine that runs other tests meanwhile.
settings.register_profile(
    "headwater",
    deadline=None,
    derandomize=not seed(),
    max_examples=cases(100),
    database=None,
)
settings.load_profile("headwater")
