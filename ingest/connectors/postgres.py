"""What PostgreSQL says of its log, and of the slot that keeps it for a connector."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ingest.declarations.stream import DatabaseTable
from ingest.errors import DatabaseUnreachable

if TYPE_CHECKING:
    import psycopg

# Seconds for a connection, and in which whoever reads a slot leaves it.
_TO_CONNECT, _TO_LEAVE = 10, 30.0
# Names of libpq, for those of Debezium.
_LIBPQ = {
    "database.hostname": "host",
    "database.port": "port",
    "database.user": "user",
    "database.password": "password",
    "database.dbname": "dbname",
    "database.sslmode": "sslmode",
    "database.sslrootcert": "sslrootcert",
    "database.sslcert": "sslcert",
    "database.sslkey": "sslkey",
}


# How somebody else than the connector makes the publication.
_MODE, _DISABLED = "publication.autocreate.mode", "disabled"
_BY_HAND = f"{_MODE}={_DISABLED}"
# What of a table says whether it can be followed.
_TABLE = """
    select
        relkind in ('r', 'p') and relpersistence = 'p' as is_ordinary,
        has_schema_privilege(relnamespace, 'usage') and has_table_privilege(pg_class.oid, 'select')
            as is_readable,
        pg_has_role(relowner, 'usage') as is_ours,
        has_database_privilege(current_database(), 'create')
            or exists (select from pg_publication where pubname = %s) as has_publication,
        pg_get_userbyid(relowner) as owner,
        current_user as me,
        current_database() as here,
        relreplident in ('f', 'i') or (relreplident = 'd' and exists (
            select from pg_index where indrelid = pg_class.oid and indisprimary)) as has_identity,
        array(select attname::text from pg_attribute
            where attrelid = pg_class.oid and attnum > 0 and not attisdropped) as columns
    from pg_class join pg_namespace on pg_namespace.oid = relnamespace
    where nspname = %s and relname = %s
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Slot:
    """A replication slot: the oldest place of the log that it keeps, and up to where it was read.

    Of one that is lost, PostgreSQL has removed the log that was not read yet.
    """

    needs_from: int | None
    read_up_to: int
    is_lost: bool


class PostgresLog:
    """Asks one database. Raises DatabaseUnreachable."""

    def __init__(self, name: str, properties: Mapping[str, str]) -> None:
        self._name = name
        # What Connect looks up by itself, ${file:...}, we cannot: libpq has places of its own.
        self._words = {
            word: properties[key]
            for key, word in _LIBPQ.items()
            if key in properties and not properties[key].startswith("${")
        }
        # Who publishes a table must own it, which concerns us where the connector does it.
        self._publishes = properties.get(_MODE) != _DISABLED
        self._publication = properties.get("publication.name", f"headwater_{name}")

    def position(self) -> int:
        """The place that is written next."""
        with self._connected() as database:
            return int(_one(database, "select pg_current_wal_lsn() - '0/0'::pg_lsn")[0])

    def slot(self, name: str) -> Slot | None:
        """A slot; None where there is none."""
        with self._connected() as database:
            found = _one(
                database,
                "select restart_lsn - '0/0'::pg_lsn, confirmed_flush_lsn - '0/0'::pg_lsn, "
                "wal_status from pg_replication_slots where slot_name = %s",
                name,
            )
        if found is None:
            return None
        needs_from, read_up_to, status = found
        return Slot(
            needs_from=None if needs_from is None else int(needs_from),
            read_up_to=int(read_up_to or 0),
            is_lost=status == "lost",
        )

    def drop_slot(self, name: str) -> None:
        """Drop a slot, where there is one."""
        from psycopg import errors

        until = time.monotonic() + _TO_LEAVE
        with self._connected() as database:
            while True:
                try:
                    database.execute(
                        "select pg_drop_replication_slot(slot_name) from pg_replication_slots "
                        "where slot_name = %s",
                        [name],
                    )
                    return
                except errors.ObjectInUse:
                    if time.monotonic() > until:
                        raise
                    time.sleep(0.5)

    def mark(self) -> int:
        """Write a message to the log, and so a place that readers of the log come to; the place."""
        with self._connected() as database:
            mark = "select pg_logical_emit_message(true, 'headwater', 'mark') - '0/0'::pg_lsn"
            return int(_one(database, mark)[0])

    def refused_tables(self, tables: Iterable[DatabaseTable]) -> Mapping[str, str]:
        """Why tables cannot be followed, by their names, and what to do.

        One of them would stop the connector, and all others with it. Of a table that is published
        and has no replica identity, PostgreSQL refuses updates: the application's.
        """
        with self._connected() as database:
            return {
                table.name: reason
                for table in tables
                if (reason := self._refusal(database, table)) is not None
            }

    def _refusal(self, database: psycopg.Connection[Any], table: DatabaseTable) -> str | None:
        from psycopg.rows import namedtuple_row

        schema, _, name = table.name.partition(".")
        asking: Any = database.cursor(row_factory=namedtuple_row)
        found = asking.execute(_TABLE, [self._publication, schema, name]).fetchone()
        if found is None:
            return "is not there"
        missing = sorted(set(table.key) - set(found.columns))
        if not found.is_ordinary:
            return "is a view, a foreign or an unlogged table; PostgreSQL does not publish it"
        if not found.is_readable:
            return (
                f"may not be read by {found.me}: `grant usage on schema {schema} to {found.me}`, "
                f"`grant select on {table.name} to {found.me}`"
            )
        if self._publishes and (may_not := _unpublished(found)):
            return f"{may_not}, or make the publication by hand ({_BY_HAND})"
        if not found.has_identity:
            return (
                "has no primary key, and could not be updated once it is followed: give it one, "
                f"or `alter table {table.name} replica identity full`"
            )
        return f"has no column {missing[0]}, which is declared as its key" if missing else None

    @contextlib.contextmanager
    def _connected(self) -> Iterator[psycopg.Connection[Any]]:
        import psycopg
        from psycopg.conninfo import make_conninfo

        where = make_conninfo(
            **self._words, connect_timeout=_TO_CONNECT, application_name="headwater"
        )
        try:
            with psycopg.connect(where, autocommit=True) as database:
                yield database
        except psycopg.Error as error:
            said = " ".join(str(error).split())
            raise DatabaseUnreachable(
                f"database {self._name} at {self._words.get('host')} does not answer or refuses "
                f"us: {said}"
            ) from error


def _unpublished(found: Any) -> str | None:
    """Why a table, a row of _TABLE, cannot be published by whom we are, and what to grant."""
    if not found.is_ours:
        return f"can be published by its owner only: `grant {found.owner} to {found.me}`"
    if not found.has_publication:
        return (
            f"needs a publication, which {found.me} may not make: `grant create on database "
            f"{found.here} to {found.me}`"
        )
    return None


def _one(database: psycopg.Connection[Any], query: str, *values: str) -> Any:
    return database.execute(query.encode(), values).fetchone()
