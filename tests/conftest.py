"""What every test process does before it starts a JVM."""

from __future__ import annotations

import os

# A test's JVM lives for minutes on rows that could be counted by hand: compiling its code well,
# beside it on the same cores, costs more than it ever wins back.
os.environ.setdefault("HEADWATER_JAVA_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
