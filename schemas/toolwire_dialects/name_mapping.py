"""Maps tool names to names that a dialect allows, and back.

Strategy. A name that is allowed stays. Any other gets what is forbidden replaced by underscores, as
in `Notes_read` for `Notes.read`; if that is taken, or wanted by two names, part of the name's
digest is appended. So what a name becomes depends on the set of names alone, not on their order,
and a tool that is added changes another one's name only if it would have taken it.
"""

from __future__ import annotations

import keyword
import re
import unicodedata
from itertools import count
from typing import TYPE_CHECKING

import msgspec

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

_DIGITS_OF_DIGEST = 8
_INNER_START = re.compile("(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
"""Where a word starts within another: `get|Status`, `HTTP|Status`."""


class NameRule(msgspec.Struct, frozen=True):
    """The rule of a dialect for names: which letters, which of them at the beginning, and how many.

    *convention* is how names are written there, such as `snake`; it comes before the other rules.
    *prefix* goes before a letter that may not begin.
    """

    is_letter: Callable[[str], bool]
    max_length: int = 10_000  # is unlimited
    may_begin: Callable[[str], bool] = lambda letter: True
    is_reserved: Callable[[str], bool] = lambda name: False
    convention: Callable[[str], str] = str
    prefix: str = "_"

    def allows(self, name: str) -> bool:
        """Whether *name* may stay as it is."""
        return name == self.find_nearest(name)

    def find_nearest(self, name: str, ending: str = "") -> str:
        """The nearest name to *name* that is allowed and has this *ending*."""
        name = self.convention(
            unicodedata.normalize("NFKC", name)
        )  # the form changes nothing that is ASCII
        made = "".join(letter if self.is_letter(letter) else "_" for letter in name) or self.prefix
        if not self.may_begin(made[0]):
            made = f"{self.prefix}{made}"
        made = made[: self.max_length - len(ending)] + ending
        if self.is_reserved(made):
            return f"{made}_"
        return made


def split_words(name: str) -> list[str]:
    """Return the words of *name*, which may be written in any convention: `getHTTPStatus` has
    three.
    """
    spaced = "".join(letter if letter.isalnum() else " " for letter in name)
    return _INNER_START.sub(" ", spaced).split()


def to_snake_case(name: str) -> str:
    """Return *name* as `get_http_status`."""
    return "_".join(split_words(name)).lower()


def to_pascal_case(name: str) -> str:
    """Return *name* as `GetHttpStatus`."""
    return "".join(word[0].upper() + word[1:].lower() for word in split_words(name))


def to_camel_case(name: str) -> str:
    """Return *name* as `getHttpStatus`."""
    first, *others = split_words(name) or [""]
    return first.lower() + "".join(map(to_pascal_case, others))


_ASCII = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_")
_OF_APIS = (_ASCII | {"-"}).__contains__
_WORDS_OF_TYPESCRIPT = (
    "any arguments as async await boolean break case catch class const continue debugger declare"
    " default delete do else enum eval export extends false finally for function if implements"
    " import in instanceof interface is keyof let module namespace never new null number object"
    " package private protected public readonly require return static string super switch symbol"
    " this throw true try type typeof undefined unique unknown var void while with yield bigint"
    " infer intrinsic Promise Record"
)

# Where the numbers are from is said in `vendors.py`. Python reads identifiers in Unicode's form
# NFKC; TypeScript's are kept to ASCII, which all of its tools take.
RULES = {
    "openai": NameRule(_OF_APIS, 64),
    "anthropic": NameRule(_OF_APIS, 128),
    "anthropic parameters": NameRule((_ASCII | {"-", "."}).__contains__, 64),
    "bedrock": NameRule(_OF_APIS, 64),
    "gemini": NameRule(_OF_APIS, 64, may_begin=lambda letter: letter.isalpha() or letter == "_"),
    "python": NameRule(
        lambda letter: f"_{letter}".isidentifier(),
        may_begin=str.isidentifier,
        is_reserved=lambda name: keyword.iskeyword(name) or name == "__debug__",
    ),
    "typescript": NameRule(
        (_ASCII | {"$"}).__contains__,
        may_begin=lambda letter: not letter.isdigit(),
        is_reserved=frozenset(_WORDS_OF_TYPESCRIPT.split()).__contains__,
    ),
}
"""The rules of each dialect that has some."""


class Names:
    """How each of *names* is called in a dialect (one of `RULES`, or its rule), and what it is that
    is called so there.

    `theirs` leads from our names to the dialect's, `ours` back. Both are complete and lose nothing:
    no two names are called the same, and what the dialect allows stays as it is.

    Raises:
        ValueError: if there is no such dialect.
    """

    def __init__(self, names: Iterable[str], dialect: str | NameRule) -> None:
        rule = RULES.get(dialect) if isinstance(dialect, str) else dialect
        if rule is None:
            raise ValueError(
                f"no dialect {dialect!r} has rules for names; those that have: {', '.join(RULES)}"
            )
        self.theirs = _map_names(list(dict.fromkeys(names)), rule)
        self.ours = {theirs: name for name, theirs in self.theirs.items()}


def _map_names(names: list[str], rule: NameRule) -> dict[str, str]:
    called = {name: name for name in names if rule.allows(name)}
    wanted: dict[str, list[str]] = {}
    for name in sorted(set(names) - called.keys()):
        wanted.setdefault(rule.find_nearest(name), []).append(name)
    for nearest, claimants in wanted.items():
        if len(claimants) == 1 and nearest not in called:
            called[claimants[0]] = nearest
    taken = set(called.values())
    for claimants in wanted.values():
        for name in claimants:
            if name in called:
                continue
            called[name] = _with_digest(name, rule, taken)
            taken.add(called[name])
    return {name: called[name] for name in names}


def _with_digest(name: str, rule: NameRule, taken: set[str]) -> str:
    from hashlib import sha256  # takes milliseconds, and few names need it

    for salt in count():
        digest = sha256((name + "'" * salt).encode("utf-8", "surrogatepass")).hexdigest()
        if (made := rule.find_nearest(name, f"_{digest[:_DIGITS_OF_DIGEST]}")) not in taken:
            break
    return made
