"""The texts of a bundle: its manifest, its entry point, its project, and the entry of the MCP
registry.

Strategy. As of November 2026: version 0.4 of the manifest is the first with the type `uv`, whose
`mcp_config` the official CLI (2.1.2) demands (github.com/anthropics/mcpb, MANIFEST.md). The newest
schema of `server.json` is that of 2025-12-11 (github.com/modelcontextprotocol/registry,
docs/reference/server-json).
"""

from __future__ import annotations

import json
import re
import sys
from typing import Any
from urllib.parse import urlsplit

import msgspec

from ..errors import UsageError

_SCHEMA = "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json"
_PYTHON = ">=3.11"
_MAX_DESCRIPTION = 100
"""The registry's limit, in characters."""


class About(msgspec.Struct, frozen=True, kw_only=True):
    """The server of a bundle, as its author and its own answers describe it."""

    name: str
    title: str
    version: str
    description: str
    author: str
    tools: list[dict[str, Any]]
    has_prompts: bool = False
    variables: list[str] = []
    has_icon: bool = False
    requires_python: str | None = None


def make_manifest(about: About, *, is_vendored: bool) -> str:
    """Return `manifest.json`; a vendored bundle has its packages in `lib` and fits this system and
    Python only.
    """
    env = {name: f"${{user_config.{name}}}" for name in about.variables}
    if is_vendored:
        major, minor = sys.version_info[:2]
        version = f">={major}.{minor},<{major}.{minor + 1}"
        start = {
            "command": "python" if sys.platform == "win32" else "python3",
            "args": ["${__dirname}/main.py"],
            "env": {"PYTHONPATH": "${__dirname}/lib", **env},
        }
    else:
        version = about.requires_python or _PYTHON
        start = {
            "command": "uv",
            "args": ["run", "--directory", "${__dirname}", "main.py"],
            "env": env,
        }
    value: dict[str, Any] = {
        "manifest_version": "0.4",
        "name": about.name,
        "display_name": about.title,
        "version": about.version,
        "description": about.description,
        "author": {"name": about.author},
        "icon": "icon.png" if about.has_icon else None,
        "server": {
            "type": "python" if is_vendored else "uv",
            "entry_point": "main.py",
            "mcp_config": start,
        },
        "tools": about.tools,
        "prompts_generated": about.has_prompts,
        "compatibility": {"runtimes": {"python": version}},
        "user_config": {name: {**_SECRET, "title": name} for name in about.variables},
    }
    if is_vendored:
        platform = sys.platform if sys.platform in ("win32", "darwin") else "linux"
        value["compatibility"]["platforms"] = [platform]
    members = {name: item for name, item in value.items() if item}
    return json.dumps(members, indent=2, ensure_ascii=False) + "\n"


_SECRET = {
    "type": "string",
    "description": "A variable of the server's environment.",
    "sensitive": True,
    "required": True,
}


def write_project(about: About, dependencies: list[str], wheel: str | None) -> str:
    """Return `pyproject.toml`, by which uv makes the server's environment."""
    # Neither name nor version are those of the server: uv refuses a project that depends on its own
    # name. A list of strings in JSON is one in TOML, too.
    sources = ""
    if wheel:
        sources = f"\n[tool.uv.sources]\ntoolwire = {{ path = {json.dumps(wheel)} }}\n"
    return f"""[project]
name = "mcp-bundle"
version = "0"
requires-python = {json.dumps(about.requires_python or _PYTHON)}
dependencies = {json.dumps(dependencies, indent=4, ensure_ascii=False)}

[tool.uv]
package = false
{sources}"""


def write_entry_point(targets: list[str], options: list[str]) -> str:
    """Return `main.py`, which serves *targets*, those in `server/` being files of the bundle."""
    return f'''"""Starts the server of this bundle."""

import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
TARGETS = {targets!r}
OPTIONS = {options!r}

sys.path[:] = [path for path in sys.path if os.path.abspath(path or ".") != HERE]

from toolwire.__main__ import main

targets = [os.path.join(HERE, one) if one.startswith("server/") else one for one in TARGETS]
sys.exit(main(["serve", *targets, *OPTIONS]))
'''


def make_registry_entry(about: About, url: str, name: str | None) -> dict[str, Any]:
    """Return `server.json` for a bundle that *url* will lead to; *name* is the server's name in the
    registry.

    The hash of the bundle, `packages[0].fileSha256`, is left to add.

    Raises:
        UsageError: if the registry would refuse *url* or *name*.
    """
    address = urlsplit(url)
    is_known = address.scheme == "https" and address.hostname in ("github.com", "gitlab.com")
    if not is_known or "mcp" not in url:
        raise UsageError(
            f"the MCP registry takes bundles from releases at GitHub or GitLab only, not from {url}"
        )
    if name is None and address.hostname != "github.com":
        raise UsageError(
            "the name in the MCP registry is not known: give it, as in --registry-name"
            " com.example/tools"
        )
    if name is None:
        owner = address.path.lstrip("/").partition("/")[0]
        last_part = re.sub(r"[^a-zA-Z0-9._-]+", "-", about.name)
        name = f"io.github.{owner}/{last_part}"
    if not re.fullmatch(r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+", name):
        raise UsageError(f"--registry-name takes a name such as com.example/tools, not {name!r}")
    package: dict[str, Any] = {
        "registryType": "mcpb",
        "identifier": url,
        "version": about.version,
        "transport": {"type": "stdio"},
    }
    if about.variables:
        package["environmentVariables"] = [
            {"name": variable, "isRequired": True, "isSecret": True} for variable in about.variables
        ]
    return {
        "$schema": _SCHEMA,
        "name": name,
        "title": about.title[:_MAX_DESCRIPTION],
        "description": _shorten(about.description),
        "version": about.version,
        "packages": [package],
    }


def _shorten(description: str) -> str:
    if len(description) <= _MAX_DESCRIPTION:
        return description
    return description[: _MAX_DESCRIPTION - 1].rstrip() + "…"
