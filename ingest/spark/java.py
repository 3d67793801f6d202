"""Find a Java that Spark runs on. Standard library only: set-up runs it first.

Spark 4.0 needs Java 17 and stops on 23 and newer (a security interface it calls is gone), and
22 was never a long-term release, so 17 to 21 it is. Where JAVA_HOME names another one, the
usual folders are searched all the same: a shell set up for other work must not stop this.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from ingest.errors import JavaMissing

OLDEST, NEWEST = 17, 21

# A `java` that does not answer within this many seconds is no Java (macOS ships a stub that asks).
ANSWER_SECONDS = 20

# Patterns of Java homes, below the root folder, that packages of the systems we know make.
SYSTEM_HOMES = (
    "usr/lib/jvm/*",
    "usr/java/*",
    "opt/java/*",
    "opt/jdk*",
    "opt/homebrew/opt/openjdk*",
    "usr/local/opt/openjdk*",
    "Library/Java/JavaVirtualMachines/*/Contents/Home",
)
# The same below the user's home.
USER_HOMES = (
    ".sdkman/candidates/java/*",
    ".jdks/*",
    ".jabba/jdk/*",
    ".asdf/installs/java/*",
    ".local/share/mise/installs/java/*",
    "Library/Java/JavaVirtualMachines/*/Contents/Home",
)

INSTALL = (
    "install Java 17: Debian `apt install openjdk-17-jre-headless`, "
    "macOS `brew install openjdk@17`, conda `conda install -c conda-forge openjdk=17`"
)


@dataclass(frozen=True, slots=True)
class Java:
    """One Java on this machine."""

    home: Path
    major: int

    @property
    def is_suitable(self) -> bool:
        return OLDEST <= self.major <= NEWEST


def major_version(text: str) -> int | None:
    """The major version in what `java -version` printed, or None where it printed none.

    >>> major_version('openjdk version "17.0.15" 2025-04-15')
    17
    >>> major_version('java version "1.8.0_392"')
    8
    """
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else None


def inspected(home: Path) -> Java | None:
    """The Java at `home`, as it says itself, or None where none answers."""
    try:
        answer = subprocess.run(
            [str(home / "bin" / "java"), "-version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            timeout=ANSWER_SECONDS,
            check=False,
            env={},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    major = major_version(answer.stdout) if answer.returncode == 0 else None
    return None if major is None else Java(home, major)


def candidate_homes(environ: Mapping[str, str], root: Path) -> Iterator[Path]:
    """Folders that may hold a Java, the user's own choice first, each once."""
    seen: set[Path] = set()
    for home in _candidate_homes(environ, root):
        program = home / "bin" / "java"
        if not program.is_file():
            continue
        resolved = program.resolve()
        if resolved not in seen:
            seen.add(resolved)
            yield home


def _candidate_homes(environ: Mapping[str, str], root: Path) -> Iterator[Path]:
    for name in ("JAVA_HOME", "JDK_HOME"):
        if environ.get(name):
            yield Path(environ[name])
    for folder in environ.get("PATH", "").split(":"):
        program = Path(folder, "java")
        if folder and program.is_file():
            # Debian's /usr/bin/java is a chain of links to <home>/bin/java; a wrapper is not.
            resolved = program.resolve()
            yield resolved.parent.parent if resolved.parent.name == "bin" else Path(folder).parent
    if environ.get("CONDA_PREFIX"):
        prefix = Path(environ["CONDA_PREFIX"])
        yield from (prefix, prefix / "lib" / "jvm")
    for pattern in SYSTEM_HOMES:
        yield from sorted(root.glob(pattern))
    if environ.get("HOME"):
        for pattern in USER_HOMES:
            yield from sorted(Path(environ["HOME"]).glob(pattern))


def find_java(environ: Mapping[str, str], root: Path = Path("/")) -> Java:
    """The first suitable Java; raises `JavaMissing`, naming what was found instead."""
    unsuitable: list[Java] = []
    for home in candidate_homes(environ, root):
        java = inspected(home)
        if java is None:
            continue
        if java.is_suitable:
            return java
        unsuitable.append(java)
    raise JavaMissing(_complaint(unsuitable))


def _complaint(unsuitable: list[Java]) -> str:
    found = ", ".join(f"Java {java.major} at {java.home}" for java in unsuitable)
    return (
        f"Spark needs Java {OLDEST} to {NEWEST}, and "
        + (f"this machine has only {found}" if found else "no Java was found")
        + f"; {INSTALL}"
    )
