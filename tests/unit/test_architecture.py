"""The layers and names of the house, kept by test."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent
MODULES = sorted((ROOT / "ingest").rglob("*.py"))
# From the ground up. A module may import its own layer and those before it.
LAYERS = (
    ("errors",),
    ("column_names", "nearest", "model_options", "settings", "type_walk"),
    ("failpoint", "storage"),
    ("client_properties", "registry"),
    ("declarations",),
    ("spark",),
    ("lineage", "stack"),
    ("schemas",),
    ("parse",),
    ("envelopes",),
    ("event_types", "sources"),
    ("connectors", "contracts"),
    ("decoders",),
    ("quarantine",),
    ("cdc", "writers"),
    ("arrow_files",),
    ("landing",),
    ("runtime",),
    ("serve",),
    ("trials",),
    ("cli", "__main__"),
)
# Rooms and modules that know paths of this machine. All others find tables, state and landed files
# by keys and URLs, through `storage`.
LOCAL_PATHS = {
    "ingest/storage/": "the door itself; the embedded catalog is local by its nature",
    "ingest/stack/": "programs, folders and ports of this machine's own broker and databases",
    "ingest/cli/": "files that a person names, and that are written into the project",
    "ingest/settings.py": "finds the project, and makes declared paths absolute",
    "ingest/declarations/": "reads the project's own files",
    "ingest/contracts/revisions.py": "files of a revision of git, in a temporary folder",
    "ingest/client_properties.py": "files of properties that the environment names",
    "ingest/spark/java.py": "finds Java",
    "ingest/spark/shell.py": "the programs that Spark starts",
    "ingest/spark/session.py": "jars of the project",
    "ingest/spark/internals.py": "the archive of Java's classes, in the project",
    "ingest/spark/jvm_output.py": "the log of the JVM",
    "ingest/spark/profiles.py": "the user's spark-defaults.conf, and a pool file of the project",
    "ingest/serve/server.py": "dbt runs in the project's folder",
    "ingest/decoders/worker_daemon.py": "archives of Python modules",
    "ingest/arrow_files/parquet_stats.py": "workers of one machine write data files to its disk",
}
_OF_FILES = {"pathlib", "shutil", "deltalake", "obstore", "tempfile", "glob", "fcntl"}
# Of `os`, what concerns no file.
_OF_PROCESSES = {"getpid", "kill"}
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}


def name_of(path: Path) -> str:
    """Name of a module of `ingest`, for messages."""
    return str(path.relative_to(ROOT))


def layer_of(path: Path) -> str:
    """Layer of a module."""
    return path.relative_to(ROOT / "ingest").with_suffix("").parts[0]


def imported(path: Path) -> set[str]:
    """Full names of all that a module imports, wherever in it."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return names


def mentions(path: Path, text: str) -> bool:
    """Whether a module's code (not its words) holds `text`."""
    code = ast.unparse(ast.parse(path.read_text(encoding="utf-8")))
    return text in code


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_a_module_imports_only_layers_below_it(path: Path) -> None:
    if path == ROOT / "ingest" / "__init__.py":
        assert not imported(path)
        return
    layers = {name.split(".")[1] for name in imported(path) if name.startswith("ingest.")}
    above = {name for name in layers if LEVEL[name] > LEVEL[layer_of(path)]}
    assert not above, f"{layer_of(path)} must not import {sorted(above)}"


def knows_local_paths(path: Path) -> bool:
    """Whether a module opens files, or imports what works on them."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        match node:
            case ast.Call(func=ast.Name(id="open")):
                return True
            case ast.Attribute(value=ast.Name(id="os"), attr=name) if name not in _OF_PROCESSES:
                return True
    return bool({name.split(".")[0] for name in imported(path)} & _OF_FILES)


def test_only_named_modules_know_local_paths() -> None:
    found = {name_of(path) for path in MODULES if knows_local_paths(path)}
    allowed = {name: [one for one in found if one.startswith(name)] for name in LOCAL_PATHS}
    assert found - {one for names in allowed.values() for one in names} == set()
    # An exception that no module needs is removed.
    assert [name for name, names in allowed.items() if not names] == []


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_the_pipeline_does_not_know_the_demo(path: Path) -> None:
    assert not {
        name for name in imported(path) if name.split(".")[0] in ("demo", "live", "tests", "bench")
    }


def test_each_room_is_on_the_page_of_the_architecture() -> None:
    rows = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8").splitlines()
    named = [re.findall(r"`(\w+)/?`", row.split("|")[1]) for row in rows if row.startswith("| `")]
    rooms = {path.name for path in (ROOT / "ingest").iterdir() if (path / "__init__.py").is_file()}
    assert rooms <= {name for names in named for name in names}


def test_one_module_builds_sessions() -> None:
    builders = [name_of(path) for path in MODULES if mentions(path, "SparkSession.builder")]
    assert builders == ["ingest/spark/session.py"]


def test_one_room_calls_the_jvm() -> None:
    calls = re.compile(r"\._j(vm|sc|sparkSession|df)\b")
    rooms = {layer_of(path) for path in MODULES if calls.search(path.read_text("utf-8"))}
    assert rooms == {"spark"}


def test_one_module_reads_the_environment() -> None:
    readers = [
        name_of(path)
        for path in MODULES
        if mentions(path, "os.environ") or mentions(path, "getenv")
    ]
    assert readers == ["ingest/settings.py"]


def test_only_a_few_rooms_write_tables() -> None:
    write = re.compile(r"\.write\.format|\.writeStream|\.writeTo|saveAsTable|insertInto")
    writers = {layer_of(path) for path in MODULES if write.search(path.read_text("utf-8"))}
    # `trials` write a lake of their own.
    assert writers <= {"landing", "spark", "runtime", "trials"}


def test_only_the_runner_and_the_command_line_catch_everything() -> None:
    caught = {
        layer_of(path) for path in MODULES if "except Exception" in path.read_text(encoding="utf-8")
    }
    # In `envelopes` it is a reader of Avro, which broken bytes lead anywhere; in `landing` the
    # search for files that cannot be read; in `spark` the user's own code of a Python model.
    assert caught <= {
        *("runtime", "serve", "cli", "storage", "decoders", "envelopes", "landing", "spark")
    }


MODELS = sorted(path.relative_to(ROOT / "models") for path in (ROOT / "models").rglob("*.sql"))
NAMES = {
    r"silver/(?P<source>\w+)/stg_": r"stg_\w+?__\w+",
    r"silver/\w+/int_": r"int_\w+",
    r"silver/\w+/(?!stg_|int_)": r"\w+_(events|current|history)",
    r"gold/\w+/": r"(dim|fct|agg)_\w+",
}


@pytest.mark.parametrize("path", MODELS, ids=str)
def test_a_model_is_named_by_its_layer(path: Path) -> None:
    rules = [rule for place, rule in NAMES.items() if re.match(place, path.as_posix())]
    assert len(rules) == 1, f"{path} lies in no layer"
    assert re.fullmatch(rules[0], path.stem)


@pytest.mark.parametrize("path", MODELS, ids=str)
def test_model_description_is_in_its_folder(path: Path) -> None:
    described = {
        model["name"]
        for file in (ROOT / "models" / path.parent).glob("_*__models.yml")
        for model in yaml.safe_load(file.read_text(encoding="utf-8"))["models"]
    }
    assert path.stem in described


@pytest.mark.parametrize("path", sorted((ROOT / "models" / "bronze").glob("*.yml")), ids=name_of)
def test_a_bronze_table_is_named_by_source_and_entity(path: Path) -> None:
    for source in yaml.safe_load(path.read_text(encoding="utf-8")).get("sources", []):
        for table in source["tables"]:
            assert table["identifier"] == f"{source['name']}__{table['name']}"


def test_a_topic_or_table_is_of_one_live_test() -> None:
    # They share a broker and a lake, and in what order they run is not theirs to know.
    made = re.compile(r'topics\.(?:make|subscribe)\("([^"]+)"|create table (\w+)')
    tests: dict[str, set[tuple[str, str]]] = {}
    for path in sorted((ROOT / "tests" / "live").glob("test_*.py")):
        for function in re.split(r"^(?=def |@)", path.read_text(), flags=re.MULTILINE):
            for topic, table in made.findall(function):
                tests.setdefault(topic or table, set()).add((path.name, function.partition("(")[0]))
    assert [(name, users) for name, users in tests.items() if len(users) > 1] == []
