"""Narrower schemas of a small model's next reply. Such a model copies well, and composes badly.

Strategy. Values are copied. Errors of tools often name the values that there are: a call that
failed is repeated with one that the user has named, and without one the user is asked. Numbers come
from the user and from results, and the model goes on while no call has used some of them. A tool
that the user names comes first. The answer is a result, or a part of it, word for word.
Each step here replaces branches of the schema (`reply_branches.py`).
"""

from __future__ import annotations

import re
from itertools import combinations, permutations
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_dialects.tool_entry import get_properties, list_required

from .evidence import MAX_VALUES, PARTS, WORDS, find_numbers
from .replies.reply_branches import find_branches, replace_branches
from .result_text import to_text

if TYPE_CHECKING:
    from .evidence import Evidence
    from .replies.reply_branches import Branch
    from .tool_lookup import Schema, Tools

    Choice = tuple[float, ...]

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
    limited = {}
    for word, value in schema.items():
        limited[word] = limit_texts(value, default_chars, max_chars)
    is_free_text = limited.get("type") == "string" and "enum" not in limited
    if is_free_text:
        own_limit = limited.get("maxLength", default_chars)
        limited["maxLength"] = min(own_limit, max_chars)
    return limited


# --- the final answer ---


def _quote_results(schema: Schema, tools: Tools, evidence: Evidence, max_chars: int) -> Schema:
    """Return *schema* with final answers that are the last result or a part of it, unless they have
    a type.

    The first reply cannot be an answer. `ok` is last: the model judges what it has written.
    """
    texts = _find_quotes(evidence.results[-1], max_chars) if evidence.results else []

    def change(branch: Branch) -> list[Branch]:
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

    return replace_branches(schema, change) or schema


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
    has_call = any(branch.is_call for branch in find_branches(narrowed))
    # Without a call the user is asked, if the error is about a value at all.
    if has_call or (not values and evidence.quotes_tried_value(error)):
        return narrowed
    return None


def _use_listed_value(
    schema: Schema, tools: Tools, listed: list[Any], evidence: Evidence
) -> Schema | None:
    """Return *schema* to call another tool with a value of a list that is the last result."""
    text = "\n".join(map(to_text, listed))
    values = evidence.find_values(text, _LINES)
    last_tool = evidence.calls[-1].action.tool
    return _call_with(schema, set(tools.names) - {last_tool}, values)


def _call_with(
    schema: Schema, tools: set[str], values: list[str], *, may_ask: bool = False
) -> Schema | None:
    """Return *schema* with calls of *tools* only, with *values* as their texts, and with *may_ask*
    the question to the user; `None` without such a branch.
    """

    def change(branch: Branch) -> list[Branch]:
        if branch.is_question and may_ask:
            return [branch]
        if not branch.is_call or branch.tool not in tools or not values:
            return []
        texts = {}
        for name, param in branch.params.items():
            if param.get("type") == "string" and "enum" not in param:
                texts[name] = {"type": "string", "enum": values}
        if texts:
            return [branch.with_params(texts)]
        return []

    return replace_branches(schema, change)


# --- numbers as arguments ---


class _Numbers(msgspec.Struct, frozen=True):
    """The numbers of the last result, and those of the user and of earlier results that no call has
    used.
    """

    last: list[float]
    unused: list[float]

    def choose(self, count: int) -> list[Choice]:
        """Return the ways to choose *count* numbers: those of the last result first and unused ones
        then, or without a result neighbours in the question.
        """
        if self.last:
            return list(combinations([*self.last, *self.unused], min(count, 2)))
        size = min(count, 3)  # six orders of three numbers; of four there would be 24
        choices: list[Choice] = []
        for start in range(len(self.unused) - size + 1):
            neighbours = self.unused[start : start + size]
            choices += permutations(neighbours)
        return choices


def _use_numbers(schema: Schema, tools: Tools, evidence: Evidence) -> Schema:
    """Return *schema* with the tools that the user names, and with the numbers that there are."""
    numbers = _find_numbers(evidence)
    counts = {name: _count_numbers(tools.get_schema(name)) for name in tools.names}
    possible = set()
    for name, count in counts.items():
        # After a result the model goes on only to use numbers.
        is_needed = count > 0 or not evidence.results
        if is_needed and count <= len(numbers.last) + len(numbers.unused):
            possible.add(name)
    if evidence.results and not (numbers.unused and possible):
        takes_numbers = counts.get(evidence.calls[-1].action.tool)
        # The last call has used the last number.
        if takes_numbers:
            return _without_calls(schema)
        return schema
    allowed = possible & evidence.find_named_tools(tools.all_entries) or possible
    if not allowed:
        return schema

    def change(branch: Branch) -> list[Branch]:
        if not branch.is_call:
            # While there are numbers to use, the model goes on.
            if branch.is_answer and evidence.results:
                return []
            return [branch]
        if branch.tool not in allowed:
            return []
        return _with_numbers(branch, numbers, counts[branch.tool])

    return replace_branches(schema, change) or schema


def _find_numbers(evidence: Evidence) -> _Numbers:
    last = [to_text(result) for result in evidence.results[-1:]]
    return _Numbers(find_numbers(*last), evidence.find_unused_numbers())


def _without_calls(schema: Schema) -> Schema:
    def change(branch: Branch) -> list[Branch]:
        if branch.is_call:
            return []
        return [branch]

    return replace_branches(schema, change) or schema


def _with_numbers(branch: Branch, numbers: _Numbers, count: int) -> list[Branch]:
    """Return *branch* once for each choice of *count* numbers that fits and uses an unused one;
    itself if none does, or there are too many.
    """
    choices = numbers.choose(count)
    if len(choices) > _MAX_CHOICES:
        return [branch]
    made = []
    for choice in dict.fromkeys(choices):
        chosen = _assign(choice, branch.params)
        if chosen and not set(numbers.unused).isdisjoint(choice):
            made.append(branch.with_params(chosen))
    return made or [branch]


def _assign(numbers: Choice, params: dict[str, Schema]) -> dict[str, Schema]:
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


def _is_numeric(schema: Schema) -> bool:
    return schema.get("type") in ("integer", "number")


def _count_numbers(schema: Schema) -> int:
    """Return how many numbers a call requires."""
    params = get_properties(schema)
    count = 0
    for name in list_required(schema):
        if _is_numeric(params.get(name, {})):
            count += 1
    return count
