"""Writes the page as one file that needs no server: its scripts, its style and what it shows.

Strategy. The file is the same page, whose modules are functions of one script, since a browser
loads no module from a file. The session is data in an element that no browser runs. The policy
names the digests of the script and of the style, so nothing else can run, whatever the messages
hold, and nothing is loaded.
"""

from __future__ import annotations

import re
from base64 import b64encode
from hashlib import sha256
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from toolwire_client.pages.page import read_style

from .traffic import encode

if TYPE_CHECKING:
    from collections.abc import Iterable

SAVED_VIEWS = ("traffic", "run", "time", "compare")
"""The views that need no server."""

SAVED_EVENTS = ("message", "stderr", "gap", "run", "comparison")
"""The events that these views show."""

_STATIC = Path(__file__).with_name("static")
_IMPORT = re.compile(r'^import (\{[^}]*\}) from "\./(\w+\.js)";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function\*?|const) (\w+))", re.MULTILINE)
_LINKS = re.compile(r'  <link rel="stylesheet"[^>]*>\n|  <script [^>]*></script>\n')


def write_one_file(state: dict[str, Any], events: Iterable[Any]) -> str:
    """Return a page that shows *state* and *events* of a feed, as the served page does."""
    script = bundle_modules("app.js")
    styles = read_style() + (_STATIC / "app.css").read_text("utf-8")
    policy = (
        f"default-src 'none'; script-src {_digest(script)}; style-src {_digest(styles)};"
        " img-src data:; media-src data:; base-uri 'none'; form-action 'none'"
    )
    title = f"{state['title']} · toolwire inspect"
    head = [
        f'<meta http-equiv="Content-Security-Policy" content="{escape(policy)}">',
        '<meta name="referrer" content="no-referrer">',
        f"<style>{styles}</style>",
    ]
    data = "\n".join(encode(line).decode().strip() for line in (state, *events))
    page = (_STATIC / "index.html").read_text("utf-8")
    page = re.sub("<title>.*</title>", lambda found: f"<title>{escape(title)}</title>", page)
    page = _LINKS.sub("", page).replace("</head>", "\n".join(head) + "\n</head>")
    # In JSON, a "<" stands only in texts: as an escape it can end no element.
    session = data.replace("<", "\\u003c")
    end = (
        f'<script type="application/json" id="session">{session}</script>\n'
        f"<script>{script}</script>\n</body>"
    )
    before, _, after = page.rpartition("</body>")
    return before + end + after


def bundle_modules(entry: str) -> str:
    """Return the module *entry*, and those that it imports, as one script."""
    written: dict[str, str] = {}
    _add_module(entry, written)
    parts = [f'modules["{name}"] = (() => {{\n{text}}})();' for name, text in written.items()]
    return '"use strict";\nconst modules = {};\n' + "\n".join(parts) + "\n"


def _add_module(name: str, written: dict[str, str]) -> None:
    text = (_STATIC / name).read_text("utf-8")
    for _, imported in _IMPORT.findall(text):
        if imported not in written:
            _add_module(imported, written)
    exported = [found[1] for found in _EXPORT.findall(text)]
    text = _IMPORT.sub(lambda found: f'const {found[1]} = modules["{found[2]}"];', text)
    written[name] = _EXPORT.sub(r"\1", text) + f"return {{ {', '.join(exported)} }};\n"


def _digest(text: str) -> str:
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"
