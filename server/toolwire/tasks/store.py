"""Keeps tasks in an SQLite file, so that their results and states survive the process.

Strategy. A row is written before a client gets the handle of a task, and again with the outcome at
its end. Between the two, the row says `working`. Each process that uses the file holds a lock file
next to it for as long as it lives: the system frees the lock however the process ends. So a row
that says `working` and whose process has gone is that of a task that was interrupted.

A handle cannot be guessed, so any client that has one may read a task whose session has ended. The
tasks of an open session are unknown to all others.
"""

from __future__ import annotations

import atexit
import os
import sqlite3
import sys
import threading
import time
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from toolwire_schemas.wire.tasks import FINAL_STATUSES

from .. import log
from .kept_jobs import KeptJob
from .stored_task import StoredTask, StoreError, encode_interruption

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ..workers.cluster.found_jobs import FoundJob, JobOutcome
    from .task import Task, TaskOutcome

_APPLICATION_ID: Final = 0x54774B73
"""Marks the files of this module (`PRAGMA application_id`)."""

_VERSION: Final = 1
"""The version of the table (`PRAGMA user_version`). Raise it with every change."""

_BUSY_SECONDS = 0.5
"""How long a write waits for another process. Writes take a tenth of a millisecond."""

_MAX_CHECKED_BYTES = 32 * 1024 * 1024
"""Up to this size, a file is checked when it is opened, which takes a tenth of a second at most."""

_TABLE = """
CREATE TABLE tasks (
    id TEXT PRIMARY KEY, owner TEXT NOT NULL, session TEXT NOT NULL, tool TEXT NOT NULL,
    is_modern INTEGER NOT NULL, status TEXT NOT NULL, message TEXT, created REAL NOT NULL,
    updated REAL NOT NULL, keep_seconds REAL NOT NULL, outcome BLOB NOT NULL
) WITHOUT ROWID
"""

_JOBS = "CREATE TABLE IF NOT EXISTS jobs (id TEXT PRIMARY KEY, job BLOB NOT NULL) WITHOUT ROWID"
"""Where the jobs of tasks on a cluster are found again: each a `KeptJob`. Earlier versions of this
module have not had it; they may use such a file, and report these tasks as interrupted.
"""

_COLUMNS = "id, owner, session, tool, is_modern, status, message, created, updated, keep_seconds"


class _KeptTask(NamedTuple):
    """A task whose job outlives its process."""

    id: str
    tool: str
    is_modern: bool
    job: KeptJob


class TaskStore:
    """The tasks in the file *path*, for all sessions of this process. Thread-safe.

    Raises:
        StoreError: if the file cannot be used; likewise all methods but `find` and `cancel_job`.
    """

    def __init__(self, path: str) -> None:
        self._path = os.path.abspath(path)
        self._lock = threading.Lock()
        self._owner = os.urandom(8).hex()
        self._found: dict[str, FoundJob] = {}
        """The jobs of earlier processes that this one follows, by task."""
        with _raise_store_errors(self._path):
            # Results may be private.
            os.close(os.open(self._path, os.O_RDWR | os.O_CREAT, 0o600))
            self._database = sqlite3.connect(
                self._path, timeout=_BUSY_SECONDS, isolation_level=None, check_same_thread=False
            )
            try:
                self._prepare()
                self._life = _Life(self._path, self._owner)
                self._note_interrupted()
            except BaseException:
                self._database.close()
                raise

    def close(self) -> None:
        """Close the file. Its tasks that run count as interrupted for others."""
        with self._lock:
            self._database.close()
            self._life.end()
            self._life.remove(self._owner)  # its rows count as those of a process that has gone

    def _prepare(self) -> None:
        """Check what the file is before anything is changed, and make the table in a new one."""
        execute = self._database.execute
        is_new = self._check()
        execute("PRAGMA journal_mode = WAL")
        execute("PRAGMA synchronous = NORMAL")  # a crash of the process loses nothing
        if is_new:
            execute("BEGIN IMMEDIATE")
            try:
                if self._check():  # another process may have made it just now
                    execute(f"PRAGMA application_id = {_APPLICATION_ID}")
                    execute(f"PRAGMA user_version = {_VERSION}")
                    execute(_TABLE)
            finally:
                execute("COMMIT")
        execute(_JOBS)

    def _check(self) -> bool:
        """Return whether the file is new.

        Raises:
            StoreError: if it is no store of this version, or damaged.
        """
        execute = self._database.execute
        [(id,)] = execute("PRAGMA application_id")
        [(version,)] = execute("PRAGMA user_version")
        [(tables,)] = execute("SELECT count(*) FROM sqlite_schema")
        if (id, version, tables) == (0, 0, 0):
            return True
        if id != _APPLICATION_ID:
            raise StoreError("it is the database of another program")
        if version != _VERSION:
            raise StoreError(f"it is of version {version}, and this is version {_VERSION}")
        if os.path.getsize(self._path) <= _MAX_CHECKED_BYTES:
            [(found,), *_] = execute("PRAGMA quick_check(1)")
            if found != "ok":
                raise StoreError(f"it is damaged: {found.splitlines()[-1]}")
        return False

    def add(self, task: Task, tool: str, session: str) -> None:
        """Keep *task*, which runs *tool*, for an open *session*."""
        row = (task.id, self._owner, session, tool, task.is_modern, task.status, task.message)
        values = (*row, task.created, task.updated, task.keep_seconds, b"")
        self._write(f"INSERT INTO tasks VALUES ({', '.join('?' * len(values))})", values)

    def finish(self, id: str, end: TaskOutcome) -> None:
        """Keep the end of a task."""
        values = (end.status, end.message, end.at, end.member, id)
        self._write(
            "UPDATE tasks SET status = ?, message = ?, updated = ?, outcome = ? WHERE id = ?",
            values,
        )

    def keep_job(self, id: str, job: KeptJob) -> None:
        """Note that the task *id* runs as *job*, which outlives this process."""
        values = (id, msgspec.json.encode(job))
        self._write("INSERT OR REPLACE INTO jobs VALUES (?, ?)", values)

    def cancel_job(self, id: str) -> None:
        """End the job of a task of an earlier process, if this one follows it."""
        found = self._found.pop(id, None)
        if found is None:
            return
        found.cancel()
        self._finish_found(id, "cancelled", b"")

    def _finish_found(self, id: str, status: str, outcome: bytes) -> None:
        values = (status, time.time(), outcome, id)
        try:
            self._write(
                "UPDATE tasks SET status = ?, updated = ?, outcome = ? WHERE id = ?", values
            )
        except StoreError as error:
            log.error(f"the end of the task {id} cannot be written to the store: {error}")

    def forget(self, id: str) -> None:
        """Remove a task."""
        self._write("DELETE FROM tasks WHERE id = ?", (id,))

    def release(self, session: str) -> None:
        """Let others find the tasks of *session*, which has ended."""
        self._write("UPDATE tasks SET owner = '', session = '' WHERE session = ?", (session,))

    def open_to_others(self, session: str) -> None:
        """Let others find the tasks of *session*, whose client has gone; they may run."""
        self._write("UPDATE tasks SET session = '' WHERE session = ?", (session,))

    def find(self, id: str, session: str) -> StoredTask | None:
        """Return the task *id*, if it is that of *session* or of one that has ended."""
        try:
            with self._lock, _raise_store_errors(self._path):
                row = self._select(id)
                if row is None or row.session in ("", session):
                    return self._drop_if_expired(row)
                if row.owner == self._owner or self._life.is_alive(row.owner):
                    return None
                self._note_interrupted()
                return self._drop_if_expired(self._select(id))
        except StoreError as error:
            log.error(f"the task store cannot be read: {error}")
            return None

    def _select(self, id: str) -> StoredTask | None:
        query = f"SELECT {_COLUMNS}, outcome FROM tasks WHERE id = ?"
        for row in self._database.execute(query, (id,)):
            named = dict(zip(StoredTask.__struct_fields__, row, strict=True))
            return msgspec.convert(named, StoredTask, strict=False, builtin_types=(bytes,))
        return None

    def _drop_if_expired(self, row: StoredTask | None) -> StoredTask | None:
        if row is None or (row.is_final and row.updated + row.keep_seconds < time.time()):
            return None
        return row

    def _note_interrupted(self) -> None:
        """Note the tasks of processes that have gone as interrupted, but find those again whose
        jobs go on; and remove old ones.
        """
        execute = self._database.execute
        kept: list[_KeptTask] = []
        execute("BEGIN IMMEDIATE")
        try:
            owners = [owner for (owner,) in execute("SELECT DISTINCT owner FROM tasks") if owner]
            for owner in owners:
                if owner != self._owner and not self._life.is_alive(owner):
                    kept += self._take_over(owner)
            execute(
                "DELETE FROM tasks WHERE owner = '' AND updated + keep_seconds < ?", (time.time(),)
            )
            execute("DELETE FROM jobs WHERE id NOT IN (SELECT id FROM tasks WHERE owner != '')")
        finally:
            execute("COMMIT")
        if kept:
            self._find_jobs(kept)

    def _take_over(self, owner: str) -> list[_KeptTask]:
        """Take the tasks of a process that has gone; return those whose jobs go on."""
        execute = self._database.execute
        kept = []
        query = (
            "SELECT tasks.id, tool, is_modern, status, job FROM tasks"
            " LEFT JOIN jobs ON jobs.id = tasks.id WHERE owner = ?"
        )
        for id, tool, is_modern, status, job in execute(query, (owner,)).fetchall():
            if status in FINAL_STATUSES:
                continue
            with suppress(msgspec.DecodeError, TypeError):  # none, or of another version
                found = msgspec.json.decode(job, type=KeptJob)
                kept.append(_KeptTask(id, tool, bool(is_modern), found))
                execute("UPDATE tasks SET owner = ?, session = '' WHERE id = ?", (self._owner, id))
                continue
            values = (time.time(), encode_interruption(tool), id)
            execute(
                "UPDATE tasks SET status = 'failed', updated = ?, outcome = ? WHERE id = ?", values
            )
        execute("UPDATE tasks SET owner = '', session = '' WHERE owner = ?", (owner,))
        self._life.remove(owner)
        return kept

    def _find_jobs(self, tasks: list[_KeptTask]) -> None:
        """Follow the jobs of *tasks* from now on, in threads."""
        from ..workers.cluster.found_jobs import FoundJob, find_jobs  # with the client

        for task in tasks:
            report, end = partial(self._note_status, task.id), partial(self._end_job, task)
            self._found[task.id] = FoundJob(task.job, task.is_modern, report, end)
        find_jobs([self._found[task.id] for task in tasks])

    def _note_status(self, id: str, message: str) -> None:
        with suppress(StoreError):  # the next one may be written
            self._write("UPDATE tasks SET message = ? WHERE id = ?", (message, id))

    def _end_job(self, task: _KeptTask, end: JobOutcome | None) -> None:
        """Note the *end* of a job; `None` if it has ended without a response, or is lost."""
        if self._found.pop(task.id, None) is None:
            return  # it was cancelled
        if end is None:
            self._finish_found(task.id, "failed", encode_interruption(task.tool))
        else:
            self._finish_found(task.id, end.status, end.member)

    def _write(self, statement: str, values: tuple[object, ...]) -> None:
        with self._lock, _raise_store_errors(self._path):
            self._database.execute(statement, values)


class _Life:
    """The lock files of the processes that use the file *path*: `PATH-OWNER.lock`."""

    def __init__(self, path: str, owner: str) -> None:
        self._path = path
        self._descriptor = os.open(self._name_lock_file(owner), os.O_RDWR | os.O_CREAT, 0o600)
        _lock(self._descriptor)

    def end(self) -> None:
        """Free the lock."""
        os.close(self._descriptor)

    def is_alive(self, owner: str) -> bool:
        """Return whether the process *owner* lives."""
        try:
            descriptor = os.open(self._name_lock_file(owner), os.O_RDWR)
        except FileNotFoundError:
            return False
        try:
            _lock(descriptor)
        except OSError:
            return True
        finally:
            os.close(descriptor)
        return False

    def remove(self, owner: str) -> None:
        """Remove the file of a process that has gone."""
        with suppress(OSError):
            os.unlink(self._name_lock_file(owner))

    def _name_lock_file(self, owner: str) -> str:
        return f"{self._path}-{owner}.lock"


def _lock(descriptor: int) -> None:
    """Lock a file until its descriptor is closed.

    Raises:
        OSError: if another process has locked it.
    """
    if sys.platform == "win32":
        import msvcrt

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)


@contextmanager
def _raise_store_errors(path: str) -> Iterator[None]:
    """Raise a `StoreError` with a readable text for any error inside the `with` block."""
    try:
        yield
    except OSError as error:
        raise StoreError((error.strerror or str(error)).lower()) from None
    except sqlite3.Error as error:
        reason = str(error).replace(path, "").strip(" :'") or type(error).__name__
        raise StoreError(reason) from None


_stores: dict[str, TaskStore] = {}
_opening = threading.Lock()


def close_stores() -> None:
    """Close all stores of this process."""
    with _opening:
        while _stores:
            _, store = _stores.popitem()
            store.close()


atexit.register(close_stores)  # removes the lock files


def open_store(path: str) -> TaskStore:
    """Return the store in the file *path*: the same one for all sessions of this process.

    Raises:
        StoreError: if the file cannot be used.
    """
    with _opening:
        key = os.path.realpath(path)
        if key not in _stores:
            _stores[key] = TaskStore(path)
        return _stores[key]
