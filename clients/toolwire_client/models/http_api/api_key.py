"""API keys: where they come from, and how they are kept out of texts."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from ..errors import NotReady

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

# Servers without accounts take any word ("EMPTY", "ollama"). Hiding those would only garble texts.
_SHORTEST_SECRET = 8


class Key:
    """A key that only `reveal` shows. *origin* says where it is from: `the variable X`."""

    __slots__ = ("_value", "origin")

    def __init__(self, value: str, origin: str = "the argument `key`") -> None:
        value = value.strip()
        if not value or not value.isascii() or not value.isprintable():
            raise NotReady(f"{origin} holds no key: it is empty, or has letters that no HTTP header can hold")
        self._value = value
        self.origin = origin

    def reveal(self) -> str:
        return self._value

    def hidden_in(self, text: str) -> str:
        return text.replace(self._value, "[key]") if len(self._value) >= _SHORTEST_SECRET else text

    def __repr__(self) -> str:
        return f"<Key from {self.origin}>"


def key_from(
    given: str | None, variables: Sequence[str], *, needed: bool, environ: Mapping[str, str] | None = None
) -> Key | None:
    """Return the *given* key, else the first of the environment's *variables* that is set."""
    if given is not None:
        return Key(given)
    environ = os.environ if environ is None else environ
    for variable in variables:
        if environ.get(variable, "").strip():
            return Key(environ[variable], f"the variable {variable}")
    if not needed:
        return None
    raise NotReady(
        f"there is no key: set the environment variable {' or '.join(variables)} (or, in Python, pass key=…)"
    )
