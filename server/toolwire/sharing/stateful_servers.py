"""Servers of others that keep the state of a conversation in their process: sessions that share one
see each other's.

Each process that a host starts imports this file, so it imports little.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

ALWAYS = "always"
"""The value of `--share` that shares these servers, too."""

_PAGE = "its tools act on one browser, and on the page that was selected last"

STATEFUL: Mapping[str, tuple[str, str]] = {
    "@playwright/mcp": (_PAGE, "https://github.com/microsoft/playwright/issues/40585"),
    "mcp-server-playwright": (_PAGE, "https://github.com/microsoft/playwright-mcp/issues/1230"),
    "mcr.microsoft.com/playwright/mcp": (
        _PAGE,
        "https://github.com/microsoft/playwright-mcp/issues/1230",
    ),
    "chrome-devtools-mcp": (
        _PAGE,
        "https://github.com/ChromeDevTools/chrome-devtools-mcp/issues/926",
    ),
    "@modelcontextprotocol/server-sequential-thinking": (
        "it numbers the thoughts of all calls together",
        "https://github.com/modelcontextprotocol/servers/issues/4721",
    ),
    "mcp-server-sequential-thinking": (
        "it numbers the thoughts of all calls together",
        "https://github.com/modelcontextprotocol/servers/issues/4721",
    ),
}
"""The state of each, and a page that shows it, by the name of the package or program."""


def find_state(command: Iterable[str]) -> str:
    """Return why the server that *command* starts should not be shared; empty if nothing is known
    against it.
    """
    for word in command:
        for name in (_strip_version(word), _strip_version(word.rpartition("/")[2])):
            if name in STATEFUL:
                state, _ = STATEFUL[name]
                return f"{name} is not shared: {state}. --share={ALWAYS} shares it all the same"
    return ""


def _strip_version(word: str) -> str:
    """Return *word* without the version of a package, or the tag of an image."""
    scope, _, name = word.rpartition("/")
    name = name.partition("@")[0].partition(":")[0]
    return f"{scope}/{name}" if scope else name


def is_always_shared(words: Sequence[str]) -> bool:
    """Return whether the options in *words* ask to share such servers, too."""
    text = " ".join(words).replace("=", " ")
    return f"--share {ALWAYS}" in text
