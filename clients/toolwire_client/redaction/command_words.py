"""Hides secrets in the words of a command line.

Strategy. Which options are secret is known to the program alone, so the values of all are hidden.
An option may be a switch, and the next word no value: it is hidden too, unless the program is a
launcher whose switches are known.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from toolwire_client.redaction.hidden import HIDDEN

if TYPE_CHECKING:
    from collections.abc import Sequence

    from .redactor import Redactor

_LAUNCHERS = {
    "npx": ("-y", "--yes", "-q", "--quiet"),
    "bunx": ("--bun", "--silent"),
    "uvx": ("--quiet", "--offline", "--isolated"),
    "uv": ("--quiet", "--offline", "--isolated"),
    "docker": ("-i", "-t", "-it", "--rm", "--init", "--interactive"),
    "podman": ("-i", "-t", "-it", "--rm", "--init", "--interactive"),
    "python": ("-m", "-u", "-P", "-I", "-E", "-s", "-B"),
}
"""Switches of programs that start others; `-m` of Python takes a module, which is no secret."""

_SUBCOMMANDS = ("run", "exec", "tool", "container", "env")

_VERSION = re.compile(r"[\d.]*(?:\.exe|\.cmd)?$")
_ASSIGNMENT = re.compile(r"(?P<name>[A-Za-z_][A-Za-z0-9_]*)=.*", re.DOTALL)
_ADDRESS = re.compile(
    r"(?P<origin>[a-z][a-z0-9+.-]*://)(?:[^/?#]*@)?(?P<host>[^/?#]*)(?P<rest>.*)", re.DOTALL
)


def hide_in_command(words: Sequence[str], redactor: Redactor) -> list[str]:
    """Return the *words* of a command without the values of options, assignments and addresses."""
    hidden = []
    switches: tuple[str, ...] = ()
    is_launching = True
    is_value = False
    for word in words:
        program = _VERSION.sub("", re.split(r"[/\\]", word)[-1].lower())
        if word.startswith("-") and word not in ("-", "--"):
            if word in switches:
                hidden.append(word)
                is_value = False
            else:
                hidden.append(_hide_in_option(word))
                is_value = "=" not in word
        elif is_value:
            hidden.append(HIDDEN)
            is_value = False
        else:
            is_launching = is_launching and (program in _LAUNCHERS or word in _SUBCOMMANDS)
            if not is_launching:
                switches = ()
            elif program in _LAUNCHERS:
                switches = _LAUNCHERS[program]
            hidden.append(_hide_in_word(word, redactor))
    return hidden


def _hide_in_option(word: str) -> str:
    if word.startswith("--"):
        name, _, value = word.partition("=")
        if not value:
            return word
        return f"{name}={HIDDEN}"
    if len(word) == 2:
        return word
    return word[:2] + HIDDEN  # `-pVALUE`


def _hide_in_word(word: str, redactor: Redactor) -> str:
    assignment = _ASSIGNMENT.fullmatch(word)
    if assignment is not None:
        return f"{assignment['name']}={HIDDEN}"
    address = _ADDRESS.fullmatch(word)
    if address is None:
        return redactor.redact_text(word)
    server = redactor.redact_text(address["origin"] + address["host"])
    if address["rest"].strip("/"):
        return f"{server}/{HIDDEN}"
    return server + address["rest"]
