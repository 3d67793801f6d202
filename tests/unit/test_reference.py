"""The reference pages say what the code does: every key, column and code, and no other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml
from jsonschema import Draft202012Validator
from referencing import Registry, Resource

from ingest import errors
from ingest.declarations.reading import json_schema
from ingest.model_options.known import APPLY_CHANGES, OURS
from ingest.model_options.refused import REFUSED
from ingest.schemas.ingest_columns import INGEST, QUARANTINE
from ingest.storage import embedded_catalog

ROOT = Path(__file__).resolve().parent.parent.parent
REFERENCE = ROOT / "docs" / "reference"
DECLARATION = (REFERENCE / "declaration.md").read_text(encoding="utf-8")
COLUMNS = (REFERENCE / "bronze-columns.md").read_text(encoding="utf-8")
ERRORS = (REFERENCE / "errors.md").read_text(encoding="utf-8")
OPTIONS = (REFERENCE / "dbt-options.md").read_text(encoding="utf-8")
CHANGES = (REFERENCE / "apply-changes.md").read_text(encoding="utf-8")


def keys(schema: Mapping[str, Any], above: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """Every key that a declaration may have, by its path."""
    for name, written in schema["properties"].items():
        reference = written.get("$ref", "").removeprefix("#/$defs/")
        one = {**json_schema()["$defs"].get(reference, {}), **written}
        yield above + name, one
        inner = one.get("items", one)
        if "properties" in inner:
            yield from keys(inner, f"{above}{name}.")


def sections(text: str) -> dict[str, str]:
    """Text below each heading that is a key between backticks."""
    parts = re.split(r"^### `([\w.]+)`\n", text, flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def section(text: str, heading: str) -> str:
    """Text below a heading, up to the next of its level."""
    return text.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]


def first_cells(text: str) -> set[str]:
    """What stands between backticks at the beginning of a table's rows."""
    return set(re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE))


def codes(parent: type[errors.HeadwaterError]) -> Iterator[tuple[str, int]]:
    """Code and exit code of an error and all that are made from it."""
    yield parent.code, parent.exit_code
    for child in parent.__subclasses__():
        yield from codes(child)


def test_every_key_of_a_declaration_is_documented_and_no_other() -> None:
    assert set(sections(DECLARATION)) == {name for name, _ in keys(json_schema())}


def test_every_choice_of_a_key_is_documented() -> None:
    told = sections(DECLARATION)
    missing = [
        f"{name}: {value}"
        for name, one in keys(json_schema())
        for value in one.get("enum", ())
        if f"`{value}`" not in told[name]
    ]
    assert not missing


def test_every_key_that_is_not_required_has_its_default_documented() -> None:
    schema = json_schema()
    silent = {"dated_folders", "csv", "move_destination", "sequence_by", "apply_as_deletes"}
    silent |= {"event_type", "event_time", "dated_folders.format", "dated_folders.open_for"}
    silent |= {"path", "event_groups.name", "event_groups.event_types"}
    optional = {name for name, _ in keys(schema)} - set(schema["required"]) - silent
    told = sections(DECLARATION)
    assert [name for name in sorted(optional) if "Default: " not in told[name]] == []


@pytest.mark.parametrize("text", re.findall(r"```yaml\n(.*?)```", DECLARATION, re.DOTALL))
def test_examples_of_declarations_are_valid(text: str) -> None:
    written = yaml.safe_load(text)
    if "sources" in written:
        declared = written["sources"][0]["tables"][0]["config"]["meta"]["ingest"]
    else:
        declared = {"from": "files", "path": "a", "format": "json", **written}
        if declared["from"] != "files":
            del declared["path"]
    assert [
        each.message for each in Draft202012Validator(json_schema()).iter_errors(declared)
    ] == []


def test_the_schema_for_editors_finds_a_wrong_key_in_a_source_file() -> None:
    text = re.findall(r"```json\n(.*?)```", DECLARATION, re.DOTALL)[0]
    inner = json.loads(text.replace("../ingest/declarations/schema.json", "urn:ingest"))
    resource = Resource.from_contents(json_schema())
    editor = Draft202012Validator(inner, registry=Registry().with_resource("urn:ingest", resource))
    for path in sorted((ROOT / "models" / "bronze").glob("*.yml")):
        written = yaml.safe_load(path.read_text(encoding="utf-8"))
        assert editor.is_valid(written), path.name
        written["sources"][0]["tables"][0]["config"]["meta"]["ingest"]["evenlope"] = "dms"
        assert not editor.is_valid(written)


def test_every_column_that_ingest_adds_is_documented_with_its_type() -> None:
    rows = re.findall(r"^\| `(_\w+)` \| (\S+) \|", COLUMNS, re.MULTILINE)
    added = {**{one.name: one for one in INGEST}, **{one.name: one for one in QUARANTINE}}
    assert dict(rows) == {name: one.dataType.simpleString() for name, one in added.items()}


def test_every_error_code_is_documented_under_its_exit_code() -> None:
    known = set(codes(errors.HeadwaterError))
    assert (embedded_catalog.CatalogHeld.code, 1) in known
    for exit_code in (1, 2):
        documented = first_cells(section(ERRORS, f"Codes with exit code {exit_code}"))
        assert documented == {code for code, ends in known if ends == exit_code}


def test_every_reason_for_quarantine_is_documented() -> None:
    documented = first_cells(section(ERRORS, "Reasons for quarantine"))
    assert documented == set(get_args(errors.ReasonCode))
    macro = ROOT / "macros/apply_changes/steps/quarantined_changes.sql"
    found = re.findall(r"(?:then|else) '(\w+)'", macro.read_text(encoding="utf-8"))
    assert found
    assert documented.issuperset(found)


def test_every_option_of_models_is_described() -> None:
    heading = "Options of this project and of dbt-databricks"
    assert first_cells(section(OPTIONS, heading)) == OURS - APPLY_CHANGES
    assert first_cells(section(OPTIONS, "Refused options of dbt-databricks")) == set(REFUSED)


def test_every_option_of_apply_changes_is_described() -> None:
    rows = re.findall(r"^\| (`\w+`[^|]*) \|", section(CHANGES, "Configuration"), re.MULTILINE)
    described = {name for row in rows for name in re.findall(r"`(\w+)`", row)}
    assert described == APPLY_CHANGES | {"on_schema_change"}


def test_every_warning_that_is_an_error_is_described() -> None:
    project = yaml.safe_load((ROOT / "dbt_project.yml").read_text(encoding="utf-8"))
    errors_of_dbt = project["flags"]["warn_error_options"]["error"]
    assert first_cells(section(OPTIONS, "Warnings")) == set(errors_of_dbt)
