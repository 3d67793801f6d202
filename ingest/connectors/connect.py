"""Kafka Connect, through its REST API."""

from __future__ import annotations

import contextlib
import json
import time
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Any
from urllib.parse import quote

from ingest.client_properties import RestApi
from ingest.errors import ConnectorFailed

# Seconds that an answer may take, and for which a worker may be busy with others.
_TO_ANSWER, _TO_SETTLE = 30.0, 60.0
_RUNNING, _FAILED = "RUNNING", "FAILED"


@dataclass(frozen=True, slots=True, kw_only=True)
class ConnectorState:
    """How a connector and its tasks are, in Connect's words; `trace` is that of a failure."""

    connector: str
    tasks: tuple[str, ...] = ()
    trace: str = ""

    @property
    def is_running(self) -> bool:
        """Whether it works, and all its tasks."""
        return bool(self.tasks) and {self.connector, *self.tasks} == {_RUNNING}

    @property
    def has_failed(self) -> bool:
        """Whether it has failed, or one of its tasks."""
        return _FAILED in (self.connector, *self.tasks)

    @property
    def reason(self) -> str:
        """Why it has failed: the last cause of its trace, or the first line."""
        causes = [
            line.removeprefix("Caused by: ").strip()
            for line in self.trace.splitlines()
            if line.startswith("Caused by: ")
        ]
        return (causes or self.trace.splitlines() or [""])[-1 if causes else 0][:400]

    def __str__(self) -> str:
        if self.has_failed:
            return f"{_FAILED}: {self.reason}"
        states = {self.connector, *self.tasks}
        return ", ".join(sorted(states)) if self.tasks else f"{self.connector}, without a task"


class Connect:
    """Asks for connectors, each by its name. Raises ConnectorFailed."""

    def __init__(self, api: RestApi) -> None:
        self._api = api

    def config(self, name: str) -> dict[str, str] | None:
        """Configuration of a connector; None where there is none."""
        found = self._ask("GET", f"{_path(name)}/config", missing=True)
        return None if found is None else {k: v for k, v in found.items() if k != "name"}

    def put(self, name: str, config: Mapping[str, str]) -> None:
        """Create a connector, or restart it with another configuration."""
        self._ask("PUT", f"{_path(name)}/config", {"name": name, **config})

    def state(self, name: str) -> ConnectorState | None:
        """How a connector is; None where there is none."""
        found = self._ask("GET", f"{_path(name)}/status", missing=True)
        if found is None:
            return None
        parts = [found["connector"], *found["tasks"]]
        return ConnectorState(
            connector=found["connector"]["state"],
            tasks=tuple(task["state"] for task in found["tasks"]),
            trace=next((part["trace"] for part in parts if part.get("trace")), ""),
        )

    def has_offsets(self, name: str) -> bool:
        """Whether it is known up to where a connector has read."""
        found = self._ask("GET", f"{_path(name)}/offsets", missing=True)
        return bool(found and any(one.get("offset") for one in found["offsets"]))

    def forget_offsets(self, name: str) -> None:
        """Let a connector, which must be stopped, begin as if it had never run."""
        self._ask("DELETE", f"{_path(name)}/offsets")

    def stop(self, name: str) -> None:
        """Stop a connector, and wait until its tasks have ended."""
        self._ask("PUT", f"{_path(name)}/stop")
        until = time.monotonic() + _TO_SETTLE
        while (state := self.state(name)) and (state.connector != "STOPPED" or state.tasks):
            if time.monotonic() > until:
                raise ConnectorFailed(f"connector {name} does not stop: {state}")
            time.sleep(0.2)

    def resume(self, name: str) -> None:
        """Let a stopped connector go on."""
        self._ask("PUT", f"{_path(name)}/resume")

    def restart_failed(self, name: str) -> None:
        """Start again what has failed of a connector."""
        self._ask("POST", f"{_path(name)}/restart?includeTasks=true&onlyFailed=true")

    def restart(self, name: str) -> None:
        """Start a connector and all its tasks again."""
        self._ask("POST", f"{_path(name)}/restart?includeTasks=true&onlyFailed=false")

    def _ask(self, method: str, path: str, value: object = None, missing: bool = False) -> Any:
        """The answer; None where there is none, or `missing` allows that nothing is found."""
        until = time.monotonic() + _TO_SETTLE
        while True:
            try:
                return self._asked(method, path, value)
            except urllib.error.HTTPError as error:
                if error.code == 404 and missing:
                    return None
                # Workers agree on who does what, or the connector is only being made.
                if error.code not in (404, 409) or time.monotonic() > until:
                    raise ConnectorFailed(
                        f"Kafka Connect at {self._api.url} refuses {method} {path}: {_said(error)}"
                    ) from error
                time.sleep(0.5)
            except (OSError, HTTPException, ValueError) as error:
                reason = getattr(error, "reason", error)
                raise ConnectorFailed(
                    f"Kafka Connect at {self._api.url} does not answer: {reason}"
                ) from error

    def _asked(self, method: str, path: str, value: object) -> Any:
        headers = {"Accept": "application/json", "Content-Type": "application/json"}
        if self._api.authorization:
            headers["Authorization"] = self._api.authorization
        data = None if value is None else json.dumps(value).encode()
        # The scheme was checked where the address was read.
        request = urllib.request.Request(  # noqa: S310
            self._api.url + path, data=data, headers=headers, method=method
        )
        with urllib.request.urlopen(request, timeout=_TO_ANSWER) as answer:  # noqa: S310
            text = answer.read()
        return json.loads(text) if text else None


def _path(name: str) -> str:
    return f"/connectors/{quote(name, safe='')}"


def _said(error: urllib.error.HTTPError) -> str:
    text = error.read().decode(errors="replace")
    with contextlib.suppress(ValueError, KeyError, TypeError):
        text = json.loads(text)["message"]
    return f"{error.code}: {' '.join(text.split())[:400]}"
