"""An S3 server, S3Proxy, which keeps each bucket as a folder."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from ingest.errors import InputError, StackFailed
from ingest.stack.service import JavaService, ServiceHome, answers

# It listens on loopback only, as PostgreSQL does, which asks for no password.
BUCKET, KEY_ID, SECRET = "headwater", "headwater", "headwater-local"
REGION = "us-east-1"
# Conditional puts of one object by two clients have one winner; see the decision.
_PROPERTIES = """\
s3proxy.endpoint=http://127.0.0.1:{clients}
s3proxy.authorization=aws-v2-or-v4
s3proxy.identity={key_id}
s3proxy.credential={secret}
jclouds.provider=filesystem-nio2
jclouds.identity=none
jclouds.credential=none
jclouds.filesystem.basedir={data}
"""


class S3(JavaService):
    """S3Proxy; `jars` is the folder of its jar."""

    def __init__(self, jars: Path) -> None:
        super().__init__(jars)
        self._jars = jars

    @property
    def name(self) -> str:
        return "s3"

    @property
    def listens(self) -> Sequence[str]:
        return ("clients",)

    def prepare(self, home: ServiceHome) -> None:
        """Create the bucket, and write the server's properties."""
        if not any(self._jars.glob("*.jar")):
            raise InputError(f"{self._jars} holds no jars; run 'make setup' first")
        data = home.folder / "data"
        try:
            data.mkdir(exist_ok=True)
            # What others may read here is public there.
            (data / BUCKET).mkdir(mode=0o700, exist_ok=True)
            (home.folder / "s3proxy.conf").write_text(
                _PROPERTIES.format(data=data, key_id=KEY_ID, secret=SECRET, **home.ports), "utf-8"
            )
        except OSError as error:
            raise StackFailed(f"s3: {error.filename}: {error.strerror}") from error

    def command(self, home: ServiceHome) -> Sequence[str]:
        program = ("org.gaul.s3proxy.Main", "--properties", f"{home.folder}/s3proxy.conf")
        return (*self._java, "-Xmx256m", *program)

    def is_healthy(self, home: ServiceHome) -> bool:
        """Whether it refuses a request that nobody has signed."""
        return answers(home.ports["clients"], "/", status=403)


def environment(port: int) -> Mapping[str, str]:
    """The variables by which clients find the server."""
    return {
        "AWS_ENDPOINT_URL": f"http://127.0.0.1:{port}",
        "AWS_ALLOW_HTTP": "true",
        "AWS_ACCESS_KEY_ID": KEY_ID,
        "AWS_SECRET_ACCESS_KEY": SECRET,
        "AWS_REGION": REGION,
    }
