"""The words of a command line that decide about sharing, known before its options can be read.

Every session imports this file, so it imports little.
"""

from __future__ import annotations

import os

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_HELP = frozenset(("-h", "--help", "--help-all"))
_SHARE_ENV = "--share-env"


def select_own_words(words: Sequence[str]) -> Sequence[str]:
    """Return the *words* before `--`: those after it belong to another program."""
    return words[: words.index("--")] if "--" in words else words


def can_start(program: str) -> bool:
    """Return whether *program* can be started by its name or path. The address of a remote server
    counts as one.
    """
    if "://" in program:
        return True
    if "/" in program:
        return os.access(program, os.X_OK)
    folders = os.environ.get("PATH", os.defpath).split(os.pathsep)
    return any(os.access(os.path.join(folder, program), os.X_OK) for folder in folders)


def asks_to_share(words: Sequence[str]) -> bool:
    """Return whether *words* ask for a shared process."""
    own = select_own_words(words)
    if own[:1] not in (["serve"], ["wrap"]):
        return False
    if not _HELP.isdisjoint(own):
        return False
    return any(word.partition("=")[0] == "--share" for word in own)


def find_named_variables(words: Sequence[str]) -> Iterator[str]:
    """Yield the names of `--share-env NAME`."""
    previous = ""
    for word in select_own_words(words):
        flag, equals, value = word.partition("=")
        if previous == _SHARE_ENV:
            yield word
        elif flag == _SHARE_ENV and equals:
            yield value
        previous = word
