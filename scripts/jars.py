"""Fetch the jars of a lock file, or write that lock file.

    python -m scripts.jars fetch      what jgo.lock.toml names, into .jars/, and so of each set;
                                      then compile the project's Java, which needs them
    python -m scripts.jars lock       jgo.lock.toml from jgo.toml

A jar is what its sha256 says, wherever it comes from: the local Maven repository is asked
first, the central one next. Nothing is resolved beyond the list. `.jars/*` is Spark's class
path, so what the lock does not name is removed.

A second set of jars is one more line in `SETS`.
"""

from __future__ import annotations

import hashlib
import shutil
import sys
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from ingest.errors import JavaMissing
from scripts import java_sources

ROOT = Path(__file__).resolve().parent.parent

# Lock file → folder, both below the project.
SETS = {
    "jgo.lock.toml": ".jars",
    "jgo.s3client.lock.toml": ".jars-s3client",
    "jgo.compiler.lock.toml": ".jars-compiler",
    "jgo.stack.lock.toml": ".jars-stack",
    "jgo.registry.lock.toml": ".jars-registry",
    "jgo.converter.lock.toml": ".jars-plugins/avro",
    "jgo.s3.lock.toml": ".jars-s3",
}
# Sets that a copy of the project installs in place of the first two.
OTHERS = ("jgo.spark-4.0.lock.toml", "jgo.spark-4.0.s3client.lock.toml")
# Sets that hold what the POMs of their coordinates name, too.
TRANSITIVE = {"jgo.stack.lock.toml", "jgo.converter.lock.toml"}

# jgo gives up on a read that stays silent for so many seconds.
SILENCE_SECONDS = 60


class JarRefused(Exception):
    """A jar cannot be had, or is not what the lock says."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Jar:
    """One line of a lock file."""

    group: str
    artifact: str
    version: str
    packaging: str
    classifier: str
    sha256: str

    @property
    def filename(self) -> str:
        suffix = f"-{self.classifier}" if self.classifier else ""
        return f"{self.artifact}-{self.version}{suffix}.{self.packaging}"

    def __str__(self) -> str:
        return f"{self.group}:{self.artifact}:{self.version}"


# Yields places where a jar may lie, nearest first; the second argument is a scratch folder.
Sources = Callable[[Jar, Path], list[Callable[[], Path | None]]]


def locked_jars(lock: Path) -> tuple[Jar, ...]:
    """The jars that a jgo lock file names; one without a hash is refused."""
    entries = tomllib.loads(lock.read_text(encoding="utf-8"))["dependencies"]
    for entry in entries:
        if not entry.get("sha256"):
            raise JarRefused(f"{lock.name}: {entry['artifactId']} has no sha256; run `make lock`")
    return tuple(
        Jar(
            group=entry["groupId"],
            artifact=entry["artifactId"],
            version=entry["version"],
            packaging=entry.get("packaging", "jar"),
            classifier=entry.get("classifier") or "",
            sha256=entry["sha256"],
        )
        for entry in entries
    )


def sha256_of(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def maven_sources(jar: Jar, scratch: Path) -> list[Callable[[], Path | None]]:
    """The local Maven repository, then the central one, which is fetched into `scratch`."""
    from jgo.maven import Artifact, MavenContext

    def artifact(context: MavenContext) -> Artifact:
        component = context.project(jar.group, jar.artifact).at_version(jar.version)
        return component.artifact(classifier=jar.classifier, packaging=jar.packaging)

    def local() -> Path | None:
        path = artifact(MavenContext()).cached_path
        return path if path is not None and path.is_file() else None

    def central() -> Path | None:
        # jgo writes in place: a download that is killed must not stay in the local repository.
        context = MavenContext(repo_cache=scratch, timeout=SILENCE_SECONDS)
        return Path(artifact(context).resolve())

    return [local, central]


def fetch(lock: Path, folder: Path, sources: Sources = maven_sources) -> int:
    """Make `folder` hold exactly the jars of `lock`; returns how many had to be fetched."""
    jars = locked_jars(lock)
    if folder.is_symlink():
        folder.unlink()
    folder.mkdir(parents=True, exist_ok=True)
    scratch = folder / ".partial"
    shutil.rmtree(scratch, ignore_errors=True)
    fetched = 0
    try:
        for jar in jars:
            target = folder / jar.filename
            if target.is_file() and sha256_of(target) == jar.sha256:
                continue
            _place(jar, target, scratch, sources)
            fetched += 1
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    for path in folder.glob("*.jar"):
        if path.name not in {jar.filename for jar in jars}:
            path.unlink()
    return fetched


def _place(jar: Jar, target: Path, scratch: Path, sources: Sources) -> None:
    target.unlink(missing_ok=True)
    scratch.mkdir(exist_ok=True)
    problem = "no source has it"
    for source in sources(jar, scratch):
        try:
            found = source()
        except Exception as error:  # jgo raises what requests raises, and RuntimeError
            problem = " ".join(str(error).split())
            continue
        if found is None:
            continue
        copy = scratch / jar.filename
        if found != copy:
            shutil.copyfile(found, copy)
        actual = sha256_of(copy)
        if actual == jar.sha256:
            copy.replace(target)
            return
        copy.unlink()
        problem = f"its sha256 is {actual}, the lock says {jar.sha256}"
    raise JarRefused(f"cannot use {jar}: {problem}")


def write_lock(spec: Path, lock: Path) -> None:
    """Write the lock of `spec`."""
    from jgo.env import EnvironmentSpec, LockFile
    from jgo.maven import MavenContext

    wanted = EnvironmentSpec.load(spec)
    # Hashes are taken of fresh copies: the local repository may hold a torn one.
    with tempfile.TemporaryDirectory() as scratch:
        context = MavenContext(repo_cache=Path(scratch), timeout=SILENCE_SECONDS)
        named = [context.create_dependency(coordinate) for coordinate in wanted.coordinates]
        if lock.name in TRANSITIVE:
            own, more = context.resolver.resolve(named)
            named = sorted({str(one.artifact): one for one in [*own, *more]}.values(), key=str)
        locked = LockFile.from_resolved_dependencies(named, environment_name=wanted.name)
    # jgo dates what it writes, so a lock that says the same as before stays as it is.
    resolved = lock.with_suffix(".new")
    locked.save(resolved)
    if lock.exists() and locked_jars(lock) == locked_jars(resolved):
        resolved.unlink()
    else:
        resolved.replace(lock)


def main(arguments: list[str]) -> int:
    try:
        if arguments == ["lock"]:
            for lock in (*SETS, *OTHERS):
                write_lock(ROOT / lock.replace(".lock", ""), ROOT / lock)
        else:
            for lock, folder in SETS.items():
                fetch(ROOT / lock, ROOT / folder)
            java_sources.build(ROOT)
    except (JarRefused, JavaMissing, java_sources.SourcesRefused, OSError) as error:
        print(f"error: jars: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
