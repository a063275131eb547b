"""Which user of this machine has opened a connection to the page, as Linux says it."""

from __future__ import annotations

import os
import sys

_TABLES = ("/proc/net/tcp", "/proc/net/tcp6")
"""See proc(5): a line for each connection, with both ends in hexadecimal digits and the user that
owns it.
"""

_LOCAL, _REMOTE, _USER = 1, 2, 7
"""Columns of the tables."""


def is_own_connection(client_port: int, server_port: int) -> bool:
    """Return whether a process of this user has opened the connection from *client_port* to our
    *server_port*.

    False, too, if Linux does not list the connection. Always true on other systems, which have no
    such table.
    """
    if sys.platform != "linux":
        return True
    return find_user(client_port, server_port) == os.geteuid()


def find_user(client_port: int, server_port: int) -> int | None:
    """Return the number of the user whose process has opened that connection; `None` if it is not
    listed.
    """
    for table in _TABLES:
        try:
            with open(table, encoding="ascii") as file:
                lines = file.read().splitlines()
        except OSError:  # a system without IPv6 has one table
            continue
        for line in lines[1:]:
            columns = line.split()
            if (
                _read_port(columns[_LOCAL]) == client_port
                and _read_port(columns[_REMOTE]) == server_port
            ):
                return int(columns[_USER])
    return None


def _read_port(address: str) -> int:
    return int(address.rpartition(":")[2], 16)
