"""Where the SQL endpoint may listen."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from ingest.errors import AddressRefused
from ingest.serve import server
from ingest.serve.sql_endpoint import address, check_free
from ingest.storage.layout import Lake


@pytest.mark.parametrize(
    ("text", "host"),
    [
        ("10000", "127.0.0.1"),
        ("127.0.0.1:10000", "127.0.0.1"),
        ("127.1.2.3:10000", "127.1.2.3"),
        ("localhost:10000", "localhost"),
        ("[::1]:10000", "::1"),
    ],
)
def test_this_machine_may_ask_without_a_login(text: str, host: str) -> None:
    found = address(text)
    assert (found.host, found.port) == (host, 10000)
    assert found.settings()["spark.hadoop.hive.server2.thrift.bind.host"] == host


@pytest.mark.parametrize(
    "text", ["0.0.0.0:10000", "[::]:10000", "10.0.0.7:10000", "[::ffff:10.0.0.7]:1"]
)
@pytest.mark.parametrize("login", [None, "NONE", "NOSASL", "CUSTOM", "PAM"])
def test_another_address_is_refused_without_a_login(
    text: str, login: str | None, tmp_path: Path
) -> None:
    file = tmp_path / "sql.properties"
    file.write_text(f"hive.server2.authentication={login}\n" if login else "# none\n")
    with pytest.raises(AddressRefused, match="without a login") as refused:
        address(text, str(file))
    assert refused.value.exit_code == 2


@pytest.mark.parametrize("login", ["LDAP", "kerberos"])
def test_with_a_login_any_address_will_do_and_its_settings_are_passed_on(
    login: str, tmp_path: Path
) -> None:
    file = tmp_path / "sql.properties"
    file.write_text(
        f"# the company's\nhive.server2.authentication = {login}\n"
        "hive.server2.authentication.ldap.url=ldap://directory?a=b\n"
        "hive.server2.thrift.bind.host=1.2.3.4\n"
    )
    settings = address("10.0.0.7:10001", str(file)).settings()
    assert settings["spark.hadoop.hive.server2.authentication"] == login
    url = "spark.hadoop.hive.server2.authentication.ldap.url"
    assert settings[url] == "ldap://directory?a=b"
    assert settings["spark.hadoop.hive.server2.thrift.bind.host"] == "10.0.0.7", "as was checked"
    assert settings["spark.hadoop.hive.server2.thrift.port"] == "10001"


@pytest.mark.parametrize(
    "text", ["", "here", "0", "65536", "127.0.0.1:", "-1", "no.such.host.x:1", "::1"]
)
def test_what_is_no_address_is_one_line(text: str) -> None:
    with pytest.raises(AddressRefused, match="--sql"):
        address(text)


@pytest.mark.parametrize("line", ["hive.server2.authentication", "spark.driver.memory=1g", "=x"])
def test_a_file_that_holds_something_else_is_named(line: str, tmp_path: Path) -> None:
    file = tmp_path / "sql.properties"
    file.write_text(line)
    with pytest.raises(
        AddressRefused, match=r"is no setting of the Thrift server|line 1 is no key=value"
    ):
        address("10000", str(file))


def test_a_line_that_is_wrong_is_not_repeated(tmp_path: Path) -> None:
    file = tmp_path / "sql.properties"
    file.write_text("# login\nhive.server2.keystore.password: s3cret")
    with pytest.raises(AddressRefused, match="line 2 is no key=value") as refused:
        address("10000", str(file))
    assert "s3cret" not in str(refused.value)


def test_a_transport_that_listens_everywhere_is_refused(tmp_path: Path) -> None:
    file = tmp_path / "sql.properties"
    file.write_text("hive.server2.transport.mode=http")
    with pytest.raises(AddressRefused, match="can only be binary"):
        address("10000", str(file))


def test_a_taken_port_is_refused_before_spark_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dbt_project.yml").touch()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(server, "driver_session", lambda *_: pytest.fail("Spark was started"))
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(AddressRefused, match=f"{port}: .*choose another port"):
            server.serve(Lake(str(tmp_path)), (), (), server.Addresses(address(str(port))), 0.0)
    # It was closed a moment ago.
    check_free(address(str(port)))
