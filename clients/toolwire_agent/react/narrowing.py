"""Narrower schemas of a small model's next reply. Such a model copies well, and composes badly.

Strategy. Values are copied. Errors of tools often name the values that there are: a call that
failed is repeated with one that the user has named, and without one the user is asked. Numbers come
from the user and from results, and the model goes on while no call has used some of them. A tool
that the user names comes first. The answer is a result, or a part of it, word for word.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from itertools import chain, combinations, islice, pairwise, permutations, takewhile
from typing import TYPE_CHECKING, Any

from toolwire_dialects.tool_entry import described, properties, required

from .messages import Action, ActionResult, Ask, Error, Question, UserResponse, from_json
from .result_text import to_text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from .messages import FromModel, ToModel
    from .prompt_protocol import Message
    from .tool_lookup import Entry, Schema, Tools

_MAX_CHARS = 5000
"""Of a text that is searched."""
_MAX_VALUES = 20
_MAX_CHOICES = 60
"""Of numbers for one tool. More would fill the server's grammar."""
_PARTS = re.compile(r"[,;:\n\"'“”‘’，、；：。！？()\[\]{}<>]+")
_WORDS = re.compile(rf"(?:\s|{_PARTS.pattern})+")
_NUMBER = re.compile(
    r"(?<![\w.])(?:(?<!\d)-)?\d{1,15}(?:,\d{3})*(?:\.\d{1,15})?(?!\w|[.,]\d)", re.ASCII
)
_TERM = re.compile(r"[^\W_]+|(?<=\s)[^\w\s](?=\s)")
"""A word, or a sign on its own, as in `a + b`."""
_MAX_DIGITS = 40
"""Of a number, which is infinite otherwise."""
_MIN_TERM = 4
_MIN_ALIKE = 3
_MAX_ENDING = 3


class Said:
    """The messages since the last question, and all texts of the user. Words in *common* do not
    count as values.
    """

    def __init__(self, history: list[Message], common: str) -> None:
        read = list(_read_back(history))
        start = max(
            (place for place, each in enumerate(read) if isinstance(each, Question)), default=0
        )
        since = [each for each in read[start:] if not isinstance(each, Error)]
        by_user = (Question, UserResponse)
        self.is_first = len(history) == 1
        self.errors = len(list(takewhile(lambda each: isinstance(each, Error), reversed(read))))
        """InvalidReply replies in a row."""
        self.calls = [
            (one, two)
            for one, two in pairwise(since)
            if isinstance(one, Action) and isinstance(two, ActionResult)
        ]
        self.results = [result.result for _, result in self.calls if result.success]
        self.has_asked = any(isinstance(each, Ask) for each in since)
        self._texts = [each.content for each in since if isinstance(each, by_user)]
        self._by_user = "\n".join(
            each.content for each in read if isinstance(each, by_user)
        ).casefold()
        tried = (
            str(value).casefold() for action, _ in self.calls for value in action.params.values()
        )
        self._tried = {value for value in tried if 0 < len(value) <= _MAX_CHARS}
        self._common = {*_WORDS.split(common.casefold())}

    def values(self, text: str, *between: re.Pattern[str]) -> list[str]:
        """Return the values in *text* that the user has said, except those of earlier calls and
        what quotes these.
        """
        text = self._quoted.sub(" ", text[:_MAX_CHARS])
        named = dict.fromkeys(part.strip(" .!?") for each in between for part in each.split(text))
        said = (each for each in named if each.casefold() in self._by_user)
        ignored = {*self._tried, *self._common, ""}
        found = (each for each in said if each.casefold() not in ignored)
        # "notebook" is in "notebooks", and "rice" not in "price".
        at_start = (
            each
            for each in found
            if re.search(rf"(?<![a-z0-9]){re.escape(each.casefold())}", self._by_user)
        )
        return list(islice(at_start, _MAX_VALUES))

    def is_about_value(self, error: str) -> bool:
        """Return whether *error* quotes a value of a call."""
        return bool(self._tried) and self._quoted.search(error[:_MAX_CHARS]) is not None

    def unused(self) -> list[float]:
        """Return the numbers of the user, and those that are earlier results, that no call has
        used.
        """
        given = Counter(
            _numbers(
                *self._texts, *(to_text(each) for each in self.results[:-1] if _is_number(each))
            )
        )
        used = (
            each
            for one, two in self.calls
            if two.success
            for each in one.params.values()
            if _is_number(each)
        )
        return list((given - Counter(used)).elements())

    def named(self, entries: Iterable[Entry]) -> set[str]:
        """Return the tools with a word that the user has said and no other tool has, except those
        that succeeded.
        """
        by_start: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
        for term, name in (
            (term, entry["name"]) for entry in entries for term in self._terms(entry)
        ):
            by_start[term[:_MIN_ALIKE]].append((term, name))
        found: set[str] = set()
        for word in {*_TERM.findall("\n".join(self._texts)[:_MAX_CHARS].casefold())}:
            with_it = {name for term, name in by_start[word[:_MIN_ALIKE]] if _is_alike(word, term)}
            found |= with_it if len(with_it) == 1 else set()
        return found - {action.tool for action, result in self.calls if result.success}

    @property
    def _quoted(self) -> re.Pattern[str]:
        return re.compile(
            rf"['\"“‘`](?:{'|'.join(map(re.escape, self._tried))})['\"”’`]", re.IGNORECASE
        )

    def _terms(self, entry: Entry) -> set[str]:
        about = (
            each
            for each in _TERM.findall(described(entry))
            if len(each) >= _MIN_TERM or not each.isalnum()
        )
        return {each.casefold() for each in (*_TERM.findall(entry["name"]), *about)} - self._common


def narrow_schema(schema: Schema, tools: Tools, said: Said, *, ours: str, max_chars: int) -> Schema:
    """Return *schema* for the next reply. *ours* is how the assistant's own refusals start."""
    schema = _answering(schema, tools, said, max_chars)
    has_failed = bool(said.calls) and not said.calls[-1][1].success
    tool, error = next(
        ((one.tool, two.result) for one, two in reversed(said.calls) if not two.success), ("", None)
    )
    if isinstance(error, str) and not error.startswith(ours):
        made = (
            _retrying(schema, tool, error, said)
            if has_failed
            else _calling(schema, {tool}, said.values(error, _PARTS))
        )
        if made is not schema:
            return made
    if has_failed:
        return schema
    if said.results and isinstance(found := said.results[-1], list):
        values = said.values("\n".join(map(to_text, found)), re.compile("\n"))
        made = _calling(schema, {*tools.names} - {said.calls[-1][0].tool}, values)
        if made is not schema:
            return made
    return _going_on(schema, tools, said)


def limit_texts(schema: Any, usual: int, most: float) -> Any:
    """Return *schema* with texts of at most *most* characters, and of *usual* ones if they have no
    limit.
    """
    if not isinstance(schema, dict):
        return (
            [limit_texts(each, usual, most) for each in schema]
            if isinstance(schema, list)
            else schema
        )
    made = {word: limit_texts(each, usual, most) for word, each in schema.items()}
    is_text = made.get("type") == "string" and "enum" not in made
    return {**made, "maxLength": min(made.get("maxLength", usual), most)} if is_text else made


def _answering(schema: Schema, tools: Tools, said: Said, max_chars: int) -> Schema:
    """Return *schema* with final answers that are the last result or a part of it, unless they have
    a type.

    The first reply cannot be an answer. `ok` is last: the model judges what it has written.
    """
    texts = _parts(said.results[-1], max_chars) if said.results else []
    quoted = {"result": {"type": "string", "enum": texts}} if texts else {}
    verdict = {"ok": {"type": "boolean", "enum": [bool(said.results)]}} if said.calls else {}

    def change(branch: Schema) -> list[Schema]:
        members = branch["properties"]
        if "ok" not in members:
            return [branch]
        is_text = (
            members["result"].keys() <= {"type", "maxLength"}
            and members["result"].get("type") == "string"
        )
        others = {name: of for name, of in members.items() if name != "ok"}
        final = {**others, **(quoted if is_text else {}), "ok": members["ok"], **verdict}
        return [] if said.is_first and tools.names else [{**branch, "properties": final}]

    return _with_branches(schema, change)


def _parts(result: Any, max_chars: int) -> list[str]:
    """Return *result*, and the members of a list or an object, as texts of at most *max_chars*."""
    members = (
        list(result.values())
        if isinstance(result, dict)
        else result
        if isinstance(result, list)
        else []
    )
    texts = [
        to_text(each)
        for each in (result, *members[:_MAX_VALUES])
        if not isinstance(each, bool | None)
    ]
    return list(dict.fromkeys(text for text in texts if text.strip() and len(text) <= max_chars))


def _retrying(schema: Schema, tool: str, error: str, said: Said) -> Schema:
    """Return *schema* to call *tool* with another value or ask for one; itself if *error* is not
    about a value.
    """
    values = said.values(error, _PARTS, _WORDS)
    made = _calling(schema, {tool}, values, may_ask=not said.has_asked)
    has_call = any("tool" in branch["properties"] for branch in _union(made)["anyOf"])
    return made if has_call or (not values and said.is_about_value(error)) else schema


def _calling(
    schema: Schema, tools: set[str], values: list[str], *, may_ask: bool = False
) -> Schema:
    """Return *schema* with calls of *tools* only, with *values* as their texts; itself if it has no
    such call.
    """

    def change(branch: Schema) -> list[Schema]:
        members = branch["properties"]
        params = properties(members.get("params", {}))
        texts = [
            name for name, of in params.items() if of.get("type") == "string" and "enum" not in of
        ]
        if not values or not texts or not tools.issuperset(members["tool"]["enum"]):
            return [branch] if may_ask and "content" in members else []
        return [_with_params(branch, {name: {"type": "string", "enum": values} for name in texts})]

    return _with_branches(schema, change)


def _going_on(schema: Schema, tools: Tools, said: Said) -> Schema:
    """Return *schema* with the tools that the user names, and with the numbers that there are."""
    last, unused = _numbers(*map(to_text, said.results[-1:])), said.unused()
    counts = {name: _count(tools.schema(name)) for name in tools.names}
    possible = {name for name, count in counts.items() if count <= len(last) + len(unused)}
    if said.results:
        possible = {name for name in possible if counts[name]}
        if not unused or not possible:
            is_done = counts.get(said.calls[-1][0].tool)  # the last number has been used
            return _with_branches(
                schema,
                lambda branch: [] if is_done and "tool" in branch["properties"] else [branch],
            )
    allowed = possible & said.named(tools.entries) or possible

    def change(branch: Schema) -> list[Schema]:
        members = branch["properties"]
        if "tool" not in members:
            return [] if said.results and "ok" in members else [branch]
        (tool,) = members["tool"]["enum"]
        return _with_numbers(branch, last, unused, counts[tool]) if tool in allowed else []

    return _with_branches(schema, change) if allowed else schema


def _with_numbers(
    branch: Schema, last: list[float], unused: list[float], count: int
) -> list[Schema]:
    """Return *branch* with *count* numbers, once for each way to choose them.

    They are of the *last* result first and *unused* then, or without a result neighbours in the
    question.
    """
    params = properties(branch["properties"]["params"])
    names = [name for name, of in params.items() if _is_numeric(of)]
    neighbours = zip(*(unused[start:] for start in range(min(count, 3))), strict=False)
    choices = list(
        combinations([*last, *unused], min(count, 2))
        if last
        else chain(*map(permutations, neighbours))
    )
    made = [
        _with_params(
            branch,
            {name: {**params[name], "enum": [n]} for name, n in zip(names, each, strict=True)},
        )
        for each in dict.fromkeys(choices)
        if len(each) == len(names)
        and len(choices) <= _MAX_CHOICES
        and set(unused).intersection(each)
        if all(
            params[name]["type"] == "number" or n == int(n)
            for name, n in zip(names, each, strict=True)
        )
    ]
    return made or [branch]


def _read_back(history: list[Message]) -> Iterator[ToModel | FromModel]:
    """Yield the messages of the structured protocol in *history*, without invalid replies."""
    for message in history:
        try:
            yield from_json(message["content"])
        except (ValueError, RecursionError):
            continue


def _numbers(*texts: str) -> list[float]:
    written = (each for text in texts for each in _NUMBER.findall(text[:_MAX_CHARS]))
    found = (each.replace(",", "") for each in written if len(each) <= _MAX_DIGITS)
    return [float(each) if "." in each else int(each) for each in found][:_MAX_VALUES]


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _is_numeric(schema: Schema) -> bool:
    return schema.get("type") in ("integer", "number")


def _count(schema: Schema) -> int:
    """Return how many numbers a call requires."""
    of = properties(schema)
    return sum(_is_numeric(of.get(name, {})) for name in required(schema))


def _is_alike(one: str, other: str) -> bool:
    """Return whether two words differ by their endings at most, as `divide` and `divided` do."""
    short, long = sorted((one, other), key=len)
    is_close = len(short) >= _MIN_ALIKE and len(long) - len(short) <= _MAX_ENDING
    return one == other or (
        is_close and long.startswith(short[:-1] if len(short) > _MIN_TERM else short)
    )


def _with_params(branch: Schema, chosen: dict[str, Schema]) -> Schema:
    members = branch["properties"]
    params = {
        **members["params"],
        "properties": {**members["params"].get("properties", {}), **chosen},
    }
    return {**branch, "properties": {**members, "params": params}} if chosen else branch


def _union(schema: Schema) -> Schema:
    union: Schema = schema["properties"]["reply"] if "properties" in schema else schema
    return union


def _with_branches(schema: Schema, change: Callable[[Schema], list[Schema]]) -> Schema:
    """Return *schema* with each branch replaced by those of *change*; itself if that leaves no
    branch.
    """
    union = {
        **_union(schema),
        "anyOf": [*chain.from_iterable(map(change, _union(schema)["anyOf"]))],
    }
    if not union["anyOf"]:
        return schema
    return {**schema, "properties": {"reply": union}} if "properties" in schema else union
