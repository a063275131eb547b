"""Questions to a SQLite database, which no question can change.

    DATABASE=shop.db toolwire serve sqlite_database.py
    toolwire config claude-desktop sqlite_database.py --env DATABASE=/path/to/shop.db --write

SQLite itself refuses what is not a SELECT: the file is opened for reading, and an authorizer allows
only to select, read columns and call functions. So ATTACH, which opens other files, and PRAGMA are
refused as well.
"""

import os
import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from msgspec import Meta
from toolwire import Context, ToolError, tool_api

ALLOWED = {
    sqlite3.SQLITE_SELECT,
    sqlite3.SQLITE_READ,
    sqlite3.SQLITE_FUNCTION,
    sqlite3.SQLITE_RECURSIVE,
}
FULL_TEXT_SEARCH = {
    (sqlite3.SQLITE_PRAGMA, "data_version"),
    (sqlite3.SQLITE_UPDATE, "sqlite_master"),
}
"""What SQLite itself does to open such a table. It changes nothing."""
MAX_VALUE_BYTES = 100_000
STEPS_BETWEEN_CHECKS = 10_000

Value = str | int | float | None


@dataclass
class Rows:
    columns: list[str]
    rows: list[list[Value]]
    has_more: bool


@contextmanager
def database() -> Iterator[sqlite3.Connection]:
    """Open the database for one call: calls run in threads, and each has a connection of its
    own.
    """
    path = Path(os.environ.get("DATABASE", ""))
    if not path.is_file():
        raise ToolError(
            f"There is no database {str(path)!r}. Set DATABASE to the path of a SQLite file."
        )
    with closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as connection:
        try:
            yield connection
        except sqlite3.Error as error:  # "no such column: prize" lets a model correct its query
            raise ToolError(f"SQLite: {error}") from None


@tool_api(read_only=True)
def schema() -> str:
    """Return the CREATE statements of all tables and views."""
    with database() as connection:
        found = connection.execute(
            "SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"
        )
        return ";\n".join(sql for (sql,) in found)


@tool_api(read_only=True, timeout_seconds=30)
def query(
    sql: Annotated[str, "one SELECT statement, with ? for each parameter"],
    context: Context,
    parameters: Annotated[tuple[Value, ...], "a value for each ? of the statement"] = (),
    limit: Annotated[int, Meta(ge=1, le=1000, description="return at most this many rows")] = 100,
) -> Rows:
    """Run a query and return its first rows."""
    with database() as connection:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, MAX_VALUE_BYTES)
        connection.set_authorizer(authorize)
        connection.set_progress_handler(lambda: context.cancelled, STEPS_BETWEEN_CHECKS)
        cursor = connection.execute(sql, parameters)
        rows = cursor.fetchmany(limit + 1)
        columns = [column for column, *_ in cursor.description or ()]
    return Rows(
        columns, [[as_json(value) for value in row] for row in rows[:limit]], len(rows) > limit
    )


def authorize(action: int, argument: str | None, *_: str | None) -> int:
    """Allow an action of a statement, or not."""
    is_allowed = action in ALLOWED or (action, argument) in FULL_TEXT_SEARCH
    return sqlite3.SQLITE_OK if is_allowed else sqlite3.SQLITE_DENY


def as_json(value: Value | bytes) -> Value:
    return f"{len(value)} bytes" if isinstance(value, bytes) else value
