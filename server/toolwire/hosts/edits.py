"""Sets one member in a file that people edit: the parts that editors of all formats share.

Strategy. An editor changes one place of the text, so that comments, order and layout of everything
else stay. The edited text is read again and compared with the intended value: an editor need not
know every layout, since what it misunderstands is refused and never written.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from .safe_write import NotRewritten

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence


class Editor(Protocol):
    """A module that edits one format."""

    def loads(self, text: str) -> Any:
        """Return the value of *text*.

        Raises:
            NotRewritten: if it is not of the format.
        """

    def set_member(self, text: str, path: Sequence[str], value: dict[str, Any]) -> str:
        """Return *text* with *value* at *path*, a name in an object of the root.

        Raises:
            NotRewritten: if *text* is not of the format, or laid out in a way that cannot be
                edited.
        """

    def dumps(self, path: Sequence[str], value: dict[str, Any]) -> str:
        """Return a text that has only *value* at *path*."""


def edit_safely(
    text: str,
    path: Sequence[str],
    value: Any,
    *,
    loads: Callable[[str], Any],
    edit: Callable[[str, Sequence[str], Any], str],
) -> str:
    """Return what *edit* makes of *text*, if its value differs only by *value* at *path*.

    Raises:
        NotRewritten: if *loads* or *edit* refuses *text*, or *edit* changed something else.
    """
    before = loads(text)
    edited = edit(text, path, value)
    expected = set_value(before, path, value)
    try:
        is_as_expected = loads(edited) == expected
    except NotRewritten:
        is_as_expected = False
    if not is_as_expected:
        raise NotRewritten("it is laid out in a way that cannot be edited safely")
    return edited


def set_value(before: Any, path: Sequence[str], value: Any) -> Any:
    """Return the objects *before* with *value* at *path*; a missing or null object on the way is
    added.

    Raises:
        NotRewritten: if something on the way is not an object.
    """
    if not path:
        return value
    name, *rest = path
    if not isinstance(before, dict):
        raise NotRewritten(f"there is no place for {name}")
    return {**before, name: set_value(before.get(name) or {}, rest, value)}


def read_member(text: str, path: Sequence[str], loads: Callable[[str], Any]) -> Any:
    """Return the value at *path*; `None` if it is missing.

    Raises:
        NotRewritten: if *loads* refuses *text*.
    """
    if not text.strip():
        return None
    value = loads(text)
    for name in path:
        if not isinstance(value, dict):
            return None
        value = value.get(name)
    return value


def replace_range(text: str, start: int, end: int, new: str) -> str:
    """Return *text* with *new* in place of the characters from *start* to *end*."""
    return text[:start] + new + text[end:]


def find_newline(text: str) -> str:
    """Return the line end of *text*."""
    return "\r\n" if "\r\n" in text else "\n"
