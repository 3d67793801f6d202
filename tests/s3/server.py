"""An S3 server on this machine: S3Proxy, which keeps each bucket in a folder."""

from __future__ import annotations

import socket
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from ingest import settings
from ingest.stack.ports import free_port

# Where set-up puts the server's jar.
JARS = ".jars-s3"
BUCKET = "lakes"
KEY, SECRET = "an-access-key", "a-secret-key"
# Seconds in which it answers on a busy machine.
_TO_START = 60

_PROPERTIES = """
s3proxy.endpoint=http://127.0.0.1:{port}
s3proxy.authorization=aws-v2-or-v4
s3proxy.identity={key}
s3proxy.credential={secret}
jclouds.provider=filesystem-nio2
jclouds.identity=unused
jclouds.credential=unused
jclouds.filesystem.basedir={folder}
"""


@dataclass
class S3Server:
    """The server, with one bucket. `environ` is what clients are told of it."""

    folder: Path
    port: int = field(default_factory=lambda: free_port(()))
    _process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"http://127.0.0.1:{self.port}"

    def environ(self, url: str = "") -> dict[str, str]:
        """Variables that name it, or what stands in front of it at `url`, and the key to it."""
        return {
            "AWS_ENDPOINT_URL": url or self.url,
            "AWS_ALLOW_HTTP": "true",
            "AWS_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": KEY,
            "AWS_SECRET_ACCESS_KEY": SECRET,
        }

    def path(self, key: str) -> Path:
        """Where the server keeps an object."""
        return self.folder / BUCKET / key

    def start(self) -> None:
        """Start it and wait until it answers."""
        self.path("").mkdir(parents=True, exist_ok=True)
        properties = self.folder.parent / "s3proxy.properties"
        properties.write_text(
            _PROPERTIES.format(port=self.port, key=KEY, secret=SECRET, folder=self.folder), "utf-8"
        )
        (jar,) = (settings.project_dir() / JARS).glob("s3proxy-*.jar")
        java = ["java", "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]
        with (self.folder.parent / "s3proxy.log").open("ab") as log:
            self._process = subprocess.Popen(
                [*java, "-jar", str(jar), "--properties", str(properties)], stdout=log, stderr=log
            )
        until = time.monotonic() + _TO_START
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > until:
                raise RuntimeError(f"S3Proxy does not answer; see {log.name}")
            time.sleep(0.1)

    def stop(self) -> None:
        """End its process."""
        if self._process:
            self._process.terminate()
            self._process.wait()

    def _answers(self) -> bool:
        try:
            with socket.create_connection(("127.0.0.1", self.port), timeout=5) as tried:
                # Without a signature the answer is an error, which is an answer.
                tried.sendall(b"GET / HTTP/1.0\r\n\r\n")
                return bool(tried.recv(1))
        except OSError:
            return False
