"""The official Python client, second generation, as `requested.py` drives it."""

from __future__ import annotations

import mcp_types
from mcp import Client
from requested import run

run(mcp_types, Client)
