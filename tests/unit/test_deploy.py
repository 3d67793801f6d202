"""What `deploy/` says about running elsewhere, checked by the tools that read it where they are."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import click
import pytest
import yaml
from dbt.cli.main import cli as dbt
from typer.main import get_command

from ingest.cli import app

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy"
CHART = DEPLOY / "helm" / "headwater"
UNITS = sorted((DEPLOY / "systemd").iterdir())
# Longer than a batch has that is asked to end (`StreamQuery.stop`), and a model after it.
GRACE = 120


def tool(name: str) -> str:
    """Where a program is; the test is skipped where it is not installed."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def check_command(command: Sequence[str]) -> None:
    """Parse a command line of `ingest` or `dbt` as they do."""
    program, name, *arguments = command
    group: Any = {"ingest": get_command(app), "dbt": dbt}[Path(program).name]
    with click.Context(group) as context:
        group.get_command(context, name).make_context(name, arguments, parent=context)


# ---------- systemd


def setting(unit: Path, name: str) -> str:
    """The value of a setting that a unit has once."""
    (value,) = re.findall(rf"^{name}=(.*)$", unit.read_text("utf-8"), re.MULTILINE)
    return str(value)


def test_systemd_accepts_the_units(tmp_path: Path) -> None:
    verify = tool("systemd-analyze")
    # Programs have to be there, at a path without a blank.
    programs = tmp_path / "bin"
    programs.symlink_to(Path(sys.executable).parent)
    for unit in UNITS:
        text = unit.read_text("utf-8").replace("/opt/headwater/.venv/bin", str(programs))
        (tmp_path / unit.name).write_text(text, "utf-8")
    paths = [str(tmp_path / unit.name) for unit in UNITS]
    answer = subprocess.run(
        [verify, "verify", "--man=no", *paths], capture_output=True, text=True, check=False
    )
    assert (answer.returncode, answer.stderr) == (0, "")


@pytest.mark.parametrize(
    "unit", [one for one in UNITS if one.suffix == ".service"], ids=lambda one: one.stem
)
def test_units_start_commands_that_exist_and_give_them_time(unit: Path) -> None:
    check_command(shlex.split(setting(unit, "ExecStart")))
    minutes = re.fullmatch(r"(\d+)min", setting(unit, "TimeoutStopSec"))
    assert minutes
    assert int(minutes[1]) * 60 >= GRACE
    assert setting(unit, "KillMode") == "mixed", "Java would be asked to end before ingest"


# ---------- the container file


def instructions() -> list[tuple[str, str]]:
    """Instructions of the container file with their arguments, lines joined."""
    text = (DEPLOY / "Containerfile").read_text("utf-8")
    lines = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ").splitlines()
    pairs = (line.split(maxsplit=1) for line in lines if line.strip())
    return [(name, " ".join(arguments.split())) for name, arguments in pairs]


def test_the_image_copies_what_is_there_and_let_in() -> None:
    ignored = (ROOT / ".dockerignore").read_text("utf-8").splitlines()
    let_in = [line[1:] for line in ignored if line.startswith("!")]
    assert "*" in ignored
    copied = [
        source
        for name, arguments in instructions()
        if name == "COPY" and not arguments.startswith("--from")
        for source in arguments.split()[:-1]
    ]
    assert {"ingest", "models", "macros"} <= set(copied)
    for source in copied:
        assert list(ROOT.glob(source)), source
        assert any(fnmatch(source, pattern) for pattern in let_in), source


def test_the_image_runs_as_a_user_that_is_not_root_and_knows_no_secret() -> None:
    found = instructions()
    users = [arguments for name, arguments in found if name == "USER"]
    assert re.fullmatch(r"[1-9]\d*:[1-9]\d*", users[-1])
    assert "ADD" not in dict(found)
    named = " ".join(arguments for name, arguments in found if name in ("ARG", "ENV"))
    assert not re.search(r"(?i)secret|password|token|_key", named)


def test_the_image_starts_a_command_that_exists() -> None:
    found = dict(instructions())
    assert yaml.safe_load(found["ENTRYPOINT"]) == ["tini", "--"]
    check_command(yaml.safe_load(found["CMD"]))


def test_hadolint_accepts_the_container_file() -> None:
    answer = subprocess.run(
        [tool("hadolint"), str(DEPLOY / "Containerfile")],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (answer.returncode, answer.stdout) == (0, "")


# ---------- the chart


def template(*values: str) -> subprocess.CompletedProcess[str]:
    """Helm's answer for the chart with these values."""
    return subprocess.run(
        [
            *(tool("helm"), "template", "lake", str(CHART), "--kube-version", "1.31"),
            *(argument for value in values for argument in ("--set", value)),
        ],
        capture_output=True,
        text=True,
        check=False,
    )


def rendered(*values: str) -> dict[str, Any]:
    """What Helm makes of the chart, by kind."""
    answer = template(*values)
    assert answer.returncode == 0, answer.stderr
    found = [one for one in yaml.safe_load_all(answer.stdout) if one]
    assert len({one["kind"] for one in found}) == len(found)
    return {one["kind"]: one for one in found}


def check_pod(pod: Any) -> Any:
    """What each pod must have; gives its container."""
    assert pod["securityContext"]["runAsNonRoot"]
    assert f"{pod['securityContext']['runAsUser']}:" in dict(instructions())["USER"]
    assert pod["terminationGracePeriodSeconds"] >= GRACE
    (container,) = pod["containers"]
    assert container["securityContext"]["readOnlyRootFilesystem"]
    assert {"cpu", "memory"} <= set(container["resources"]["requests"])
    volumes = {one["name"] for one in pod["volumes"]}
    assert {one["name"] for one in container["volumeMounts"]} == volumes
    names = [one["name"] for one in container["env"]]
    assert len(set(names)) == len(names)
    check_command(container["args"])
    return container


def test_values_of_the_chart_are_declared() -> None:
    values = yaml.safe_load((CHART / "values.yaml").read_text("utf-8"))
    used = {
        name
        for path in (CHART / "templates").iterdir()
        for name in re.findall(r"\.Values\.([\w.]+)", path.read_text("utf-8"))
    }
    assert "serve.sql" in used
    for name in used:
        value = values
        for part in name.split("."):
            assert part in value, name
            value = value[part]


def test_helm_lints_the_chart() -> None:
    answer = subprocess.run(
        [tool("helm"), "lint", "--strict", str(CHART)], capture_output=True, text=True, check=False
    )
    assert answer.returncode == 0, answer.stdout


def test_serve_is_one_driver_that_is_asked_for_its_health() -> None:
    found = rendered()
    assert set(found) == {"Deployment", "PersistentVolumeClaim"}
    assert found["PersistentVolumeClaim"]["metadata"]["annotations"] == {
        "helm.sh/resource-policy": "keep"
    }
    deployment = found["Deployment"]["spec"]
    assert (deployment["replicas"], deployment["strategy"]) == (1, {"type": "Recreate"})
    labels = deployment["template"]["metadata"]["labels"]
    assert deployment["selector"]["matchLabels"].items() <= labels.items()
    container = check_pod(deployment["template"]["spec"])
    paths = {
        name: container[f"{name}Probe"]["httpGet"] for name in ("startup", "liveness", "readiness")
    }
    live, ready = "/healthz/live", "/healthz"
    assert [one["path"] for one in paths.values()] == [live, live, ready]
    assert {one["port"] for one in paths.values()} == {"health"}
    assert container["ports"] == [{"name": "health", "containerPort": 8080}]
    assert container["args"][2:4] == ["--health", "0.0.0.0:8080"]
    assert not any("envFrom" in key for key in container)


def test_sql_and_a_job_of_dbt_are_added_by_values() -> None:
    found = rendered(
        *("serve.sql.enabled=true", "dbtBuild.enabled=true", "dbtBuild.target=server"),
        *("secretEnv=keys", "secretFiles=files", "volume.existingClaim=mine"),
        *("serve.streams={source:shop.*}", "dbtBuild.args={--select,tag:daily}", "env.A=1"),
    )
    assert set(found) == {"Deployment", "Service", "CronJob"}
    served = check_pod(found["Deployment"]["spec"]["template"]["spec"])
    assert served["envFrom"] == [{"secretRef": {"name": "keys"}}]
    assert {"name": "A", "value": "1"} in served["env"]
    assert "HEADWATER_SQL_PROPERTIES" in {one["name"] for one in served["env"]}
    service, job = found["Service"], found["CronJob"]["spec"]
    assert service["spec"]["publishNotReadyAddresses"]
    labels = found["Deployment"]["spec"]["template"]["metadata"]["labels"]
    assert service["spec"]["selector"].items() <= labels.items()
    assert job["concurrencyPolicy"] == "Forbid"
    pod = job["jobTemplate"]["spec"]["template"]["spec"]
    assert pod["restartPolicy"] == "Never"
    built = check_pod(pod)
    assert built["args"] == ["dbt", "build", "--target", "server", "--select", "tag:daily"]
    assert {"name": "HEADWATER_SQL_HOST", "value": service["metadata"]["name"]} in built["env"]


def test_a_lake_at_a_uri_needs_no_volume() -> None:
    found = rendered("volume.enabled=false", "lake=s3a://bucket/lake")
    assert set(found) == {"Deployment"}
    container = check_pod(found["Deployment"]["spec"]["template"]["spec"])
    assert {"name": "HEADWATER_LAKE", "value": "s3a://bucket/lake"} in container["env"]


def test_a_job_on_the_endpoint_of_nobody_is_refused() -> None:
    answer = template("dbtBuild.enabled=true", "dbtBuild.target=server")
    assert answer.returncode == 1
    assert "set serve.enabled and serve.sql.enabled" in answer.stderr
