"""Narrower schemas of a small model's next reply. Such a model copies well, and composes badly.

Strategy. Values are copied. Errors of tools often name the values that there are: a call that
failed is repeated with one that the user has named, and without one the user is asked. Numbers come
from the user and from results, and the model goes on while no call has used some of them. A tool
that the user names comes first. The answer is a result, or a part of it, word for word.

A schema of replies is an `anyOf` of branches (`reply_schema.py`): one that asks the user, one for
each tool, one or two for the final answer. Each step here replaces branches, and returns `None` if
it left none, since a schema without branches would allow no reply at all.
"""

from __future__ import annotations

import re
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

from toolwire_dialects.tool_entry import properties, required

from .evidence import MAX_VALUES, PARTS, WORDS, find_numbers
from .result_text import to_text

if TYPE_CHECKING:
    from collections.abc import Callable

    from .evidence import Evidence
    from .tool_lookup import Schema, Tools

    Numbers = tuple[float, ...]

_LINES = re.compile("\n")
_MAX_CHOICES = 60
"""Of numbers for one tool. More would fill the server's grammar."""


def narrow_schema(
    schema: Schema, tools: Tools, evidence: Evidence, *, own_refusal: str, max_chars: int
) -> Schema:
    """Return *schema* for the next reply. The assistant's own refusals start with *own_refusal*."""
    schema = _quote_results(schema, tools, evidence, max_chars)
    failure = evidence.find_failure()
    if failure is not None:
        tool, error = failure.action.tool, failure.result.result
        if isinstance(error, str) and not error.startswith(own_refusal):
            narrowed = _repeat_call(schema, tool, error, evidence)
            if narrowed is not None:
                return narrowed
    if evidence.has_failed:
        return schema
    if evidence.results and isinstance(evidence.results[-1], list):
        narrowed = _use_listed_value(schema, tools, evidence.results[-1], evidence)
        if narrowed is not None:
            return narrowed
    return _use_numbers(schema, tools, evidence)


def limit_texts(schema: Any, default_chars: int, max_chars: float) -> Any:
    """Return *schema* with texts of at most *max_chars*, and of *default_chars* if they have no
    limit.
    """
    if isinstance(schema, list):
        return [limit_texts(item, default_chars, max_chars) for item in schema]
    if not isinstance(schema, dict):
        return schema
    limited = {word: limit_texts(value, default_chars, max_chars) for word, value in schema.items()}
    if limited.get("type") == "string" and "enum" not in limited:
        limited["maxLength"] = min(limited.get("maxLength", default_chars), max_chars)
    return limited


# --- the final answer ---


def _quote_results(schema: Schema, tools: Tools, evidence: Evidence, max_chars: int) -> Schema:
    """Return *schema* with final answers that are the last result or a part of it, unless they have
    a type.

    The first reply cannot be an answer. `ok` is last: the model judges what it has written.
    """
    texts = _find_quotes(evidence.results[-1], max_chars) if evidence.results else []

    def change(branch: _Branch) -> list[_Branch]:
        if not branch.is_answer:
            return [branch]
        if evidence.is_first and tools.names:
            return []
        members = dict(branch.members)
        ok = members.pop("ok")
        if evidence.calls:
            ok = {"type": "boolean", "enum": [bool(evidence.results)]}
        if texts and _is_any_text(members["result"]):
            members["result"] = {"type": "string", "enum": texts}
        return [branch.with_members({**members, "ok": ok})]

    return _replace_branches(schema, change) or schema


def _is_any_text(schema: Schema) -> bool:
    return schema.get("type") == "string" and schema.keys() <= {"type", "maxLength"}


def _find_quotes(result: Any, max_chars: int) -> list[str]:
    """Return *result*, and the members of a list or an object, as texts of at most *max_chars*."""
    members: list[Any] = []
    if isinstance(result, dict):
        members = list(result.values())
    elif isinstance(result, list):
        members = result
    quotes: dict[str, None] = {}
    for value in (result, *members[:MAX_VALUES]):
        text = to_text(value)
        # `true` and `null` say nothing without the name of the member.
        if not isinstance(value, bool | None) and text.strip() and len(text) <= max_chars:
            quotes[text] = None
    return list(quotes)


# --- texts as arguments ---


def _repeat_call(schema: Schema, tool: str, error: str, evidence: Evidence) -> Schema | None:
    """Return *schema* to call *tool*, which failed with *error*, with another value that the error
    and the user name.
    """
    if not evidence.has_failed:  # another call has succeeded since
        return _call_with(schema, {tool}, evidence.find_values(error, PARTS))
    values = evidence.find_values(error, PARTS, WORDS)
    narrowed = _call_with(schema, {tool}, values, may_ask=not evidence.has_asked)
    if narrowed is None:
        return None
    has_call = any(branch.is_call for branch in _branches(narrowed))
    # Without a call the user is asked, if the error is about a value at all.
    if has_call or (not values and evidence.quotes_tried_value(error)):
        return narrowed
    return None


def _use_listed_value(
    schema: Schema, tools: Tools, listed: list[Any], evidence: Evidence
) -> Schema | None:
    """Return *schema* to call another tool with a value of a list that is the last result."""
    values = evidence.find_values("\n".join(map(to_text, listed)), _LINES)
    last_tool = evidence.calls[-1].action.tool
    return _call_with(schema, set(tools.names) - {last_tool}, values)


def _call_with(
    schema: Schema, tools: set[str], values: list[str], *, may_ask: bool = False
) -> Schema | None:
    """Return *schema* with calls of *tools* only, with *values* as their texts, and with *may_ask*
    the question to the user; `None` without such a branch.
    """

    def change(branch: _Branch) -> list[_Branch]:
        if branch.is_question and may_ask:
            return [branch]
        if not branch.is_call or branch.tool not in tools or not values:
            return []
        texts = {}
        for name, param in branch.params.items():
            if param.get("type") == "string" and "enum" not in param:
                texts[name] = {"type": "string", "enum": values}
        return [branch.with_params(texts)] if texts else []

    return _replace_branches(schema, change)


# --- numbers as arguments ---


def _use_numbers(schema: Schema, tools: Tools, evidence: Evidence) -> Schema:
    """Return *schema* with the tools that the user names, and with the numbers that there are."""
    last = find_numbers(*map(to_text, evidence.results[-1:]))
    unused = evidence.find_unused_numbers()
    counts = {name: _count_numbers(tools.schema(name)) for name in tools.names}
    possible = {name for name, count in counts.items() if count <= len(last) + len(unused)}
    if evidence.results:
        possible = {name for name in possible if counts[name]}
        if not unused or not possible:
            is_done = bool(counts.get(evidence.calls[-1].action.tool))
            return _without_calls(schema) if is_done else schema
    allowed = possible & evidence.find_named_tools(tools.entries) or possible
    if not allowed:
        return schema

    def change(branch: _Branch) -> list[_Branch]:
        if branch.is_call:
            if branch.tool not in allowed:
                return []
            return _with_numbers(branch, _choose_numbers(last, unused, counts[branch.tool]), unused)
        # While there are numbers to use, the model goes on.
        return [] if branch.is_answer and evidence.results else [branch]

    return _replace_branches(schema, change) or schema


def _without_calls(schema: Schema) -> Schema:
    def change(branch: _Branch) -> list[_Branch]:
        return [] if branch.is_call else [branch]

    return _replace_branches(schema, change) or schema


def _with_numbers(branch: _Branch, choices: list[Numbers], unused: list[float]) -> list[_Branch]:
    """Return *branch* once for each of *choices* that fits and uses an *unused* number; itself if
    none does, or there are too many.
    """
    if len(choices) > _MAX_CHOICES:
        return [branch]
    made = []
    for numbers in dict.fromkeys(choices):
        chosen = _assign(numbers, branch.params)
        if chosen and not set(unused).isdisjoint(numbers):
            made.append(branch.with_params(chosen))
    return made or [branch]


def _assign(numbers: Numbers, params: dict[str, Schema]) -> dict[str, Schema]:
    """Return the numeric ones of *params* with one of *numbers* each; nothing if they do not
    fit.
    """
    numeric = {name: param for name, param in params.items() if _is_numeric(param)}
    if len(numbers) != len(numeric):
        return {}
    chosen = {}
    for number, (name, param) in zip(numbers, numeric.items(), strict=True):
        if param["type"] == "integer" and number != int(number):
            return {}
        chosen[name] = {**param, "enum": [number]}
    return chosen


def _choose_numbers(last: list[float], unused: list[float], count: int) -> list[Numbers]:
    """Return the ways to choose *count* numbers: those of the *last* result first and *unused*
    then, or without a result neighbours in the question.
    """
    if last:
        return list(combinations([*last, *unused], min(count, 2)))
    size = min(count, 3)  # six orders of three numbers; of four there would be 24
    choices: list[Numbers] = []
    for start in range(len(unused) - size + 1):
        neighbours = unused[start : start + size]
        choices += permutations(neighbours)
    return choices


def _is_numeric(schema: Schema) -> bool:
    return schema.get("type") in ("integer", "number")


def _count_numbers(schema: Schema) -> int:
    """Return how many numbers a call requires."""
    params = properties(schema)
    return sum(_is_numeric(params.get(name, {})) for name in required(schema))


# --- the schema of replies ---


class _Branch:
    """One form that a reply may have: a question to the user, a call of one tool, an answer."""

    def __init__(self, schema: Schema) -> None:
        self.schema = schema
        self.members: dict[str, Schema] = schema["properties"]
        self.is_question = "content" in self.members
        self.is_call = "tool" in self.members
        self.is_answer = "ok" in self.members

    @property
    def tool(self) -> str:
        (tool,) = self.members["tool"]["enum"]
        return str(tool)

    @property
    def params(self) -> dict[str, Schema]:
        """The parameters of the tool."""
        return properties(self.members["params"])

    def with_members(self, members: dict[str, Schema]) -> _Branch:
        return _Branch({**self.schema, "properties": members})

    def with_params(self, chosen: dict[str, Schema]) -> _Branch:
        """Return the branch with the *chosen* schemas for some of its parameters."""
        params = {**self.members["params"], "properties": {**self.params, **chosen}}
        return self.with_members({**self.members, "params": params})


def _branches(schema: Schema) -> list[_Branch]:
    # OpenAI's strict mode has an object at the root: {"reply": …}.
    union = schema["properties"]["reply"] if "properties" in schema else schema
    return [_Branch(branch) for branch in union["anyOf"]]


def _replace_branches(schema: Schema, change: Callable[[_Branch], list[_Branch]]) -> Schema | None:
    """Return *schema* with each branch replaced by those of *change*; `None` if that leaves no
    branch.
    """
    branches = []
    for branch in _branches(schema):
        for changed in change(branch):
            branches.append(changed.schema)
    if not branches:
        return None
    if "properties" not in schema:
        return {**schema, "anyOf": branches}
    union = {**schema["properties"]["reply"], "anyOf": branches}
    return {**schema, "properties": {"reply": union}}
