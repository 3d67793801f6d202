"""Start, stop and watch the services. They keep running after the command that starts them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import signal
import subprocess
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest import settings
from ingest.errors import InputError, StackFailed
from ingest.spark import launch
from ingest.stack.broker import Broker
from ingest.stack.connect import Connect
from ingest.stack.ports import free_port, refuse_taken
from ingest.stack.postgres import Postgres
from ingest.stack.registry import Registry
from ingest.stack.s3 import S3
from ingest.stack.service import Service, ServiceHome
from ingest.stack.spark import MASTER, WORKERS, SparkMaster, SparkWorker
from ingest.storage.json_files import read_json, write_json
from ingest.storage.layout import Lake

# Seconds that a service may take to answer, and to end.
_TO_START, _TO_STOP = 60.0, 30.0
# Services that only start when they are asked for by name.
_ON_REQUEST = frozenset({"s3", MASTER, *WORKERS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """State of a service: running, stopped, or killed (it ended without `stack down`)."""

    service: str
    state: str
    address: str
    pid: int | None
    memory_mb: int | None
    folder: str


class Stack:
    """The services of one lake; their ports, folders and processes are in `_stack/stack.json`."""

    def __init__(self, lake: Lake) -> None:
        self._lake = lake.local
        self._folder = Path(self._lake.root, "_stack")
        project = settings.project_dir()
        jars, plugins = project / ".jars-stack", project / ".jars-plugins"
        for folder, pattern in ((jars, "*.jar"), (plugins, "*/*.jar")):
            if not any(folder.glob(pattern)):
                raise InputError(f"{folder} holds no jars; run 'make setup' first")
        services: tuple[Service, ...] = (
            Broker(jars),
            Postgres(),
            # It stores its schemas in PostgreSQL, so it starts after it.
            Registry(project / ".jars-registry"),
            Connect(jars, plugins),
            S3(project / ".jars-s3"),
            SparkMaster(),
            *map(SparkWorker, WORKERS),
        )
        self.services: Mapping[str, Service] = {service.name: service for service in services}

    def up(
        self,
        say: Callable[[str], None],
        only: Sequence[str] = (),
        ports: Mapping[str, int] | None = None,
    ) -> None:
        """Start the services that do not run, or `only` some, and wait until each answers.

        One that starts on request is started only where `only` names it, or `ports` does. `ports`
        are new client ports by service. Raises InputError where one is taken, before any
        change; and StackFailed where a service does not start, while others keep running.
        """
        with self._alone():
            self._take_over(ports or {}, say)
            for name in only or [*self.by_default, *(_ON_REQUEST & set(ports or ()))]:
                service = self.service(name)
                if self._was_killed(name):
                    say(f"{name}: was killed, starting again")
                elif self._pid(name) is None:
                    say(f"{name}: starting")
                self._start(service, self._home(service))
                say(f"{name}: {self.address(name)}")

    @property
    def by_default(self) -> Sequence[str]:
        """Names of the services that start without being named."""
        return [one for one in self.services if one not in _ON_REQUEST]

    def service(self, name: str) -> Service:
        """A service by its name. Raises InputError for an unknown one."""
        if name not in self.services:
            raise InputError(f"unknown service {name!r}; services are {', '.join(self.services)}")
        return self.services[name]

    def down(self, say: Callable[[str], None], only: Sequence[str] = ()) -> None:
        """Stop all services, or `only` some; their data are kept. Raises StackFailed."""
        with self._alone():
            for name in list(only or self.services)[::-1]:
                pid = self._pid(name)
                if pid is not None:
                    _ended(name, pid, self.services[name].ends_on)
                    say(f"{name}: stopped")
                if name in self._known():
                    self._remember(name, pid=None)

    @contextlib.contextmanager
    def _alone(self) -> Iterator[None]:
        """One command at a time starts and stops; others wait. Raises StackFailed."""
        try:
            self._folder.mkdir(parents=True, exist_ok=True)
            with (self._folder / "lock").open("w") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)
                yield
        except OSError as error:
            raise StackFailed(f"{self._folder}: {error.strerror}: {error.filename}") from error

    def status(self) -> Sequence[Status]:
        """State of each service; of one that starts on request, while it has not been stopped."""
        found = map(self._status, self.services)
        return [one for one in found if one.state != "stopped" or one.service in self.by_default]

    def log(self, name: str) -> Path:
        """Log file of a service. Raises InputError for an unknown name."""
        return self._folder / f"{self.service(name).name}.log"

    def address(self, name: str) -> str:
        """Client address of a service; empty for one that was never started."""
        ports = self._known().get(name, {}).get("ports", {})
        return f"127.0.0.1:{ports[self.services[name].listens[0]]}" if ports else ""

    def _start(self, service: Service, home: ServiceHome) -> None:
        if self._pid(service.name) is None:
            self._spawn(service, home)
        until = time.monotonic() + _TO_START
        while not service.is_healthy(home):
            pid = self._pid(service.name)
            if pid is None:
                raise StackFailed(f"{service.name}: it ended at once; see {self.log(service.name)}")
            if time.monotonic() > until:
                raise StackFailed(
                    f"{service.name}: it does not answer after {_TO_START:.0f} s; "
                    f"see {self.log(service.name)}"
                )
            time.sleep(0.2)
        if self._pid(service.name) is None:
            raise StackFailed(
                f"{service.name}: it ended, and another process answers at "
                f"{self.address(service.name)}; "
                f"see {self.log(service.name)}"
            )

    def _spawn(self, service: Service, home: ServiceHome) -> None:
        launch.prepare_process()
        service.prepare(home)
        with self.log(service.name).open("ab") as log:
            # In a session of its own, so that Ctrl-C in this terminal does not reach it.
            process = subprocess.Popen(
                service.command(home),
                cwd="/",
                user=service.user,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._remember(service.name, pid=process.pid)

    def _take_over(self, declared: Mapping[str, int], say: Callable[[str], None]) -> None:
        """Set the client ports of services. Raises InputError before any change."""
        before = {name: self.address(name) for name in declared}
        new = {
            name: port for name, port in declared.items() if not before[name].endswith(f":{port}")
        }
        kept = self._kept(new)
        running = ", ".join(name for name in self.services if self._pid(name) is not None)
        for name, port in new.items():
            asked = f"--port {name}={port}"
            if before[name] and running:
                raise InputError(
                    f"{asked}: {name} keeps {before[name]} while services run ({running}); "
                    "first: ingest stack down"
                )
            if port in kept:
                raise InputError(f"{asked}: the port of {kept[port]}; give another port")
            refuse_taken(name, port)
        for name, port in new.items():
            if before[name]:
                say(f"{name}: moved from {before[name]}; restart its clients")
            self._settle(self.services[name], {*kept, *declared.values()}, port)

    def _kept(self, given_up: Collection[str] = ()) -> Mapping[int, str]:
        """Services by port, without the client ports of the services in `given_up`."""
        return {
            port: name
            for name, known in self._known().items()
            for use, port in known["ports"].items()
            if name not in given_up or use != self.services[name].listens[0]
        }

    def _home(self, service: Service) -> ServiceHome:
        if service.name not in self._known():
            self._settle(service, self._kept())
        return self._known_home(service.name)

    def _settle(self, service: Service, taken: Collection[int], port: int | None = None) -> None:
        """Record ports and folder of a service: `port` for clients if given, else free ones."""
        known = self._known().get(service.name, {})
        ports = {**known.get("ports", {}), **({service.listens[0]: port} if port else {})}
        for use in service.listens:
            if use not in ports:
                ports[use] = free_port({*taken, *ports.values()})
        folder = known.get("folder")
        if folder is None:
            wanted = self._folder / service.name
            wanted.mkdir(parents=True, exist_ok=True)
            folder = str(service.folder(wanted))
        self._remember(service.name, ports=ports, folder=folder)

    def _known_home(self, name: str) -> ServiceHome:
        known = self._known()
        others = {
            other: ServiceHome(Path(one["folder"]), one["ports"])
            for other, one in known.items()
            if other != name
        }
        return ServiceHome(Path(known[name]["folder"]), known[name]["ports"], others)

    def _status(self, name: str) -> Status:
        known, pid = self._known().get(name, {}), self._pid(name)
        state = "running" if pid else "killed" if self._was_killed(name) else "stopped"
        return Status(
            service=name,
            state=state,
            address=self.address(name),
            pid=pid,
            memory_mb=int(_ask_ps(pid, "rss=") or 0) // 1024 if pid else None,
            folder=known.get("folder", ""),
        )

    def _was_killed(self, name: str) -> bool:
        """Whether it ended without `stack down`."""
        return self._known().get(name, {}).get("pid") is not None and self._pid(name) is None

    def _pid(self, name: str) -> int | None:
        """Process id of a running service; None where another process has the number now."""
        known = self._known().get(name, {})
        pid, folder = known.get("pid"), known.get("folder", "")
        is_it = pid is not None and f"{folder}/" in _ask_ps(pid, "command=")
        return pid if is_it else None

    def _known(self) -> dict[str, dict[str, Any]]:
        known: dict[str, dict[str, Any]] = read_json(self._lake.storage, self._lake.stack()) or {}
        return known

    def _remember(self, name: str, **values: object) -> None:
        known = self._known()
        known[name] = {**known.get(name, {}), **values}
        write_json(self._lake.storage, self._lake.stack(), known)


def _ended(name: str, pid: int, wish: signal.Signals) -> None:
    for number in (wish, signal.SIGKILL):
        try:
            os.kill(pid, number)
        except ProcessLookupError:
            return
        until = time.monotonic() + _TO_STOP
        while time.monotonic() < until:
            if not _is_alive(pid):
                return
            time.sleep(0.1)
    raise StackFailed(f"{name}: process {pid} does not end")


def _is_alive(pid: int) -> bool:
    answer = _ask_ps(pid, "stat=")
    # Java's first thread may have ended before others (`l`), which hold its ports and files.
    return bool(answer) and (answer[0] != "Z" or "l" in answer)


def _ask_ps(pid: int, what: str) -> str:
    """What `ps` prints of a process; empty where there is none."""
    answer = subprocess.run(
        ["ps", "-ww", "-o", what, "-p", str(pid)],
        capture_output=True,
        text=True,
        check=False,
        # Ctrl-C is not for it: it would print nothing of a process that is there.
        start_new_session=True,
    )
    return answer.stdout.strip()
