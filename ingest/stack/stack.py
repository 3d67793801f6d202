"""Start, stop and look after the parts. They outlive the command that starts them."""

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
from ingest.stack.part import Part, ServiceHome
from ingest.stack.ports import free_port, refuse_taken
from ingest.stack.postgres import Postgres
from ingest.stack.registry import Registry
from ingest.storage.json_files import read_json, write_json
from ingest.storage.layout import Lake

# Seconds that a part may take to answer, and to end.
_TO_START, _TO_STOP = 60.0, 30.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """How a part is: running, stopped, or killed (it ended, and nobody asked it to)."""

    part: str
    state: str
    address: str
    pid: int | None
    memory_mb: int | None
    folder: str


class Stack:
    """The parts of one lake; what is known of them is in `<lake>/_stack/stack.json`."""

    def __init__(self, lake: Lake) -> None:
        self._lake, self._folder = lake, Path(lake.root, "_stack")
        project = settings.project_dir()
        jars, plugins = project / ".jars-stack", project / ".jars-plugins"
        for folder, pattern in ((jars, "*.jar"), (plugins, "*/*.jar")):
            if not any(folder.glob(pattern)):
                raise InputError(f"{folder} holds no jars; run 'make setup' first")
        parts: tuple[Part, ...] = (
            Broker(jars),
            Postgres(),
            # It keeps what it knows in PostgreSQL.
            Registry(project / ".jars-registry"),
            Connect(jars, plugins),
        )
        self.parts: Mapping[str, Part] = {part.name: part for part in parts}

    def up(
        self,
        say: Callable[[str], None],
        only: Sequence[str] = (),
        ports: Mapping[str, int] | None = None,
    ) -> None:
        """Start every part that does not run, or `only` some, and see that each answers.

        `ports` are those that parts listen on for clients from now on. Raises InputError where
        they cannot be had, with nothing done, and StackFailed, with what did start left on.
        """
        with self._alone():
            self._take_over(ports or {}, say)
            for name in only or self.parts:
                part = self.parts[name]
                if self._was_killed(name):
                    say(f"{name}: was killed, starting again")
                self._start(part, self._place(part))
                say(f"{name}: {self.address(name)}")

    def down(self, say: Callable[[str], None], only: Sequence[str] = ()) -> None:
        """Stop every part, or `only` some; what it keeps stays. Raises StackFailed."""
        with self._alone():
            for name in list(only or self.parts)[::-1]:
                pid = self._pid(name)
                if pid is not None:
                    _ended(name, pid, self.parts[name].ends_on)
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
        """How each part is."""
        return [self._status(name) for name in self.parts]

    def log(self, name: str) -> Path:
        """The file of what a part says. Raises InputError for a part that there is none of."""
        if name not in self.parts:
            raise InputError(f"there is no part {name!r}, but {', '.join(self.parts)}")
        return self._folder / f"{name}.log"

    def address(self, name: str) -> str:
        """Where clients find a part; empty for one that was never started."""
        ports = self._known().get(name, {}).get("ports", {})
        return f"127.0.0.1:{ports[self.parts[name].listens[0]]}" if ports else ""

    def _start(self, part: Part, place: ServiceHome) -> None:
        if self._pid(part.name) is None:
            self._spawn(part, place)
        until = time.monotonic() + _TO_START
        while not part.is_healthy(place):
            pid = self._pid(part.name)
            if pid is None:
                raise StackFailed(f"{part.name}: it ended at once; see {self.log(part.name)}")
            if time.monotonic() > until:
                raise StackFailed(
                    f"{part.name}: it does not answer after {_TO_START:.0f} s; "
                    f"see {self.log(part.name)}"
                )
            time.sleep(0.2)
        if self._pid(part.name) is None:
            raise StackFailed(
                f"{part.name}: something else answers at {self.address(part.name)}, and it ended; "
                f"see {self.log(part.name)}"
            )

    def _spawn(self, part: Part, place: ServiceHome) -> None:
        launch.prepare_process()
        part.prepare(place)
        with self.log(part.name).open("ab") as log:
            # In a session of its own: Ctrl-C in the terminal that started it is not for it.
            process = subprocess.Popen(
                part.command(place),
                cwd="/",
                user=part.user,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
            )
        self._remember(part.name, pid=process.pid)

    def _take_over(self, declared: Mapping[str, int], say: Callable[[str], None]) -> None:
        """Have parts keep declared ports. Raises InputError, and then nothing has changed."""
        before = {name: self.address(name) for name in declared}
        new = {
            name: port for name, port in declared.items() if not before[name].endswith(f":{port}")
        }
        kept = self._kept(new)
        running = ", ".join(name for name in self.parts if self._pid(name) is not None)
        for name, port in new.items():
            asked = f"--port {name}={port}"
            if before[name] and running:
                raise InputError(
                    f"{asked}: {name} keeps {before[name]} while services run that may use it "
                    f"({running}); first: ingest stack down"
                )
            if port in kept:
                raise InputError(f"{asked}: {kept[port]} keeps that one; declare another one")
            refuse_taken(name, port)
        for name, port in new.items():
            if before[name]:
                say(f"{name}: no longer at {before[name]}; restart what uses that address")
            self._settle(self.parts[name], {*kept, *declared.values()}, port)

    def _kept(self, given_up: Collection[str] = ()) -> Mapping[int, str]:
        """The parts by the ports that they keep, without those for clients of some parts."""
        return {
            port: name
            for name, known in self._known().items()
            for use, port in known["ports"].items()
            if name not in given_up or use != self.parts[name].listens[0]
        }

    def _place(self, part: Part) -> ServiceHome:
        if part.name not in self._known():
            self._settle(part, self._kept())
        return self._known_place(part.name)

    def _settle(self, part: Part, taken: Collection[int], port: int | None = None) -> None:
        """Have a part keep a port for clients, if one is given; what it lacks is found for it."""
        known = self._known().get(part.name, {})
        ports = {**known.get("ports", {}), **({part.listens[0]: port} if port else {})}
        for use in part.listens:
            if use not in ports:
                ports[use] = free_port({*taken, *ports.values()})
        folder = known.get("folder")
        if folder is None:
            wanted = self._folder / part.name
            wanted.mkdir(parents=True, exist_ok=True)
            folder = str(part.folder(wanted))
        self._remember(part.name, ports=ports, folder=folder)

    def _known_place(self, name: str) -> ServiceHome:
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
            part=name,
            state=state,
            address=self.address(name),
            pid=pid,
            memory_mb=int(_ask_ps(pid, "rss=") or 0) // 1024 if pid else None,
            folder=known.get("folder", ""),
        )

    def _was_killed(self, name: str) -> bool:
        """Whether it does not run, and nobody asked it to end."""
        return self._known().get(name, {}).get("pid") is not None and self._pid(name) is None

    def _pid(self, name: str) -> int | None:
        """The process of a part; a number that another one has got since is not it."""
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
