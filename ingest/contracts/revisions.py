"""The declarations as they are at a revision of git."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path

from ingest import settings
from ingest.contracts.promises import Promise, node_without_file
from ingest.declarations.project import parsed
from ingest.declarations.reading import read_stream
from ingest.errors import DeclarationInvalid, ProjectUnreadable, RevisionUnknown
from ingest.registry.compatibility import why_not_readable


def promised_at(revision: str) -> Mapping[str, Promise]:
    """The promises of the project at a revision, by stream; those that it can keep today.

    Raises RevisionUnknown, ProjectUnreadable.
    """
    with checked_out(str(settings.project_dir()), revision) as root:
        if root is None:
            return {}
        try:
            return {one.name: one for one in _promises(Path(root))}
        except ProjectUnreadable as error:
            raise ProjectUnreadable(f"at revision {revision!r}: {error}") from error


@contextlib.contextmanager
def checked_out(project: str, revision: str) -> Iterator[str | None]:
    """A folder of the project as it is at a revision; None where it was not there yet.

    Packages are those that are installed now. Raises RevisionUnknown.
    """
    with tempfile.TemporaryDirectory(prefix="headwater-") as folder:
        root = Path(folder)
        if not _check_out(Path(project), revision, root):
            yield None
            return
        installed = Path(project, "dbt_packages")
        if installed.is_dir() and not (root / installed.name).exists():
            (root / installed.name).symlink_to(installed)
        # dbt goes to the project that it works on, and this one is about to be removed.
        with contextlib.chdir(Path.cwd()):
            yield folder


def _promises(root: Path) -> Iterator[Promise]:
    for source in parsed(root).sources.values():
        node = source.to_dict()
        if "ingest" not in (node["config"].get("meta") or {}):
            continue
        plain, file = node_without_file(node)
        try:
            yield Promise(read_stream(plain), _text(root, file))
        except DeclarationInvalid:
            # By today's rules it is no stream, and whoever changes it mends it.
            continue


def _text(root: Path, file: str | None) -> str | None:
    """The schema in a file of that revision; None where there was none."""
    if file is None:
        return None
    project = settings.project_dir()
    inside = os.path.relpath(settings.located(file), project)
    path = root / inside
    if inside.startswith("..") or not path.is_file():
        return None
    text = path.read_text("utf-8")
    try:
        why_not_readable(text, text)
    except ValueError:
        return None
    return text


def _check_out(project: Path, revision: str, root: Path) -> bool:
    """Put the project's files of a revision into a folder; False where it was not there yet."""
    wanted = ("rev-parse", "--verify", "--quiet", "--end-of-options")
    found = _git(project, *wanted, f"{revision}^{{commit}}")
    commit = found.stdout.decode().strip()
    if found.returncode:
        cause = found.stderr.decode(errors="replace").strip() or "it is not there"
        raise RevisionUnknown(
            f"git has no revision {revision!r} of {project}: {cause}; fetch it, or name another one"
        )
    if _git(project, *wanted, f"{commit}:./dbt_project.yml").returncode:
        return False
    # In a folder of the repository, git packs that folder, and paths begin there.
    packed = _git(project, "archive", "--format=tar", commit)
    if packed.returncode:
        cause = packed.stderr.decode(errors="replace").strip()
        raise RevisionUnknown(f"git does not give the files of {revision!r}: {cause}")
    with tarfile.open(fileobj=io.BytesIO(packed.stdout)) as archive:
        try:
            archive.extractall(root, filter="data")
        except tarfile.FilterError as error:
            raise RevisionUnknown(f"files of {revision!r} cannot be put aside: {error}") from error
    return True


def _git(project: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(["git", *arguments], cwd=project, capture_output=True, check=False)
    except FileNotFoundError as error:
        raise RevisionUnknown("there is no git here") from error
