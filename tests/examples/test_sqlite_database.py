"""The example with a SQLite database: it answers questions, and no question changes or leaves the
file.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from examples.conftest import Serve
from support.example_data import make_database
from support.server_process import Process, call, request, wait_until

pytestmark = pytest.mark.process


@pytest.fixture
def shop(tmp_path: Path) -> Path:
    return make_database(tmp_path / "shop #1.db")


def test_a_model_sees_the_tables_and_asks_with_parameters(serve: Serve, shop: Path) -> None:
    server = serve("sqlite_database.py", DATABASE=str(shop))

    assert "CREATE TABLE teas (name TEXT, price REAL, picture BLOB)" in server.call("schema")
    assert server.call(
        "query", sql="SELECT * FROM teas WHERE price < ? ORDER BY price", parameters=[9]
    ) == {
        "columns": ["name", "price", "picture"],
        "rows": [["Assam", 4.5, "2 bytes"], ["Sencha", 6.0, None]],
        "has_more": False,
    }
    injected = server.call(
        "query", sql="SELECT name FROM teas WHERE name = ?", parameters=["x' OR '1'='1"]
    )
    assert injected["rows"] == []
    assert server.call("query", sql="SELECT count(*) FROM notes WHERE notes MATCH 'smoky'")[
        "rows"
    ] == [[1]]


def test_the_number_of_rows_is_limited(serve: Serve, shop: Path) -> None:
    server = serve("sqlite_database.py", DATABASE=str(shop))

    found = server.call("query", sql="SELECT name FROM teas ORDER BY name", limit=2)

    assert (found["rows"], found["has_more"]) == ([["Assam"], ["Pu-erh"]], True)
    assert server.call("query", sql="SELECT name FROM teas", limit=5000) == [
        "arguments.limit: 5000 is greater than 1000"
    ]


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM teas",
        "UPDATE teas SET price = 0",
        "INSERT INTO teas VALUES ('x', 1, NULL)",
        "UPDATE sqlite_master SET sql = ''",
        "DROP TABLE teas",
        "CREATE TABLE t (a)",
        "CREATE TEMP TABLE t (a)",
        "ATTACH 'other.db' AS other",
        "VACUUM INTO 'copy.db'",
        "PRAGMA query_only = 0",
        "PRAGMA writable_schema = 1",
        "BEGIN",
        "WITH t AS (SELECT 1) DELETE FROM teas",
        "SELECT load_extension('/tmp/x.so')",
        "SELECT 1; DELETE FROM teas",
        "SELECT hex(zeroblob(1000000000))",
        "SELECT prize FROM teas",
    ],
)
def test_what_is_no_question_is_refused_and_changes_nothing(
    serve: Serve, shop: Path, sql: str
) -> None:
    before = shop.read_bytes()
    server = serve("sqlite_database.py", DATABASE=str(shop))

    (told,) = server.call("query", sql=sql)

    assert told.startswith("SQLite: ")
    assert shop.read_bytes() == before
    assert sorted(path.name for path in shop.parent.iterdir()) == [shop.name]


def ticks(process: Process) -> int:
    """Return the processor time that the server has used so far."""
    with open(f"/proc/{process.popen.pid}/stat") as file:
        return int(file.read().rpartition(")")[2].split()[11])


@pytest.mark.skipif(
    not os.path.isdir("/proc/self"), reason="reads the use of the processor in /proc"
)
def test_a_query_without_end_stops_when_it_is_cancelled(serve: Serve, shop: Path) -> None:
    server = serve(
        "sqlite_database.py",
        "--limit",
        "max_workers=1",
        "--limit",
        "max_abandoned=1",
        DATABASE=str(shop),
    )
    endless = (
        "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n"
    )
    for number in range(4):  # one that went on would hold the only thread
        before = ticks(server.process)
        server.process.send(call("query", {"sql": endless}, id=f"long {number}"))
        wait_until(lambda before=before: ticks(server.process) > before + 10)
        server.process.send(
            request("notifications/cancelled", {"requestId": f"long {number}"}, id=...)
        )
        wait_until(lambda: not isinstance(server.call("schema"), list))  # as an error is


def test_a_wrong_path_is_an_error_that_names_the_remedy(serve: Serve, tmp_path: Path) -> None:
    for settings in ({}, {"DATABASE": str(tmp_path / "none.db")}):
        (told,) = serve("sqlite_database.py", **settings).call("schema")
        assert told.endswith("Set DATABASE to the path of a SQLite file.")
    assert [*tmp_path.iterdir()] == []
