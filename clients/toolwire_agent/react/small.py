"""The structured protocol for small models, of up to about a billion parameters.

Strategy. Measured with a model of 135 million parameters (docs/small-models.md), which imitates: it
takes the form of a reply from the messages before it rather than from rules. So each tool has a
call as an example, with values that are copied from the question, and one exchange goes on to the
answer.
The model answers from memory if it may, so its first reply is an action or a question. It repeats
itself without end, so texts are short. `result` comes before `ok`: the model judges its answer when
it has written it.
"""

from __future__ import annotations

import json
import math
from typing import TYPE_CHECKING, Any

from toolwire_dialects import python_stub as python
from toolwire_dialects.tool_entry import (
    as_schema,
    describe,
    get_properties,
    list_required,
    on_one_line,
)

from .evidence import Evidence
from .messages import Action, ActionResult, FinalAnswer, Question
from .narrowing import limit_texts, narrow_schema
from .structured import StructuredProtocol

if TYPE_CHECKING:
    from .messages import FromModel
    from .prompt_protocol import Message
    from .replies.reply_schema import Thought
    from .tool_lookup import Entry, Schema, Tools

MAX_CHARS = 200
"""Default limit of each text in a reply. A small model that writes more repeats itself, up to the
limit of tokens.
"""
_SHORTENED = 3
"""After each invalid reply texts may have a third of the length: where the schema is applied, it
was cut off.
"""
MAX_SAMPLES = 8
"""Tools that have a call as an example. More would fill the context of a small model."""


class SmallProtocol(StructuredProtocol):
    """The structured protocol with a short prompt, examples and short replies: see
    `StructuredProtocol`.

    *max_chars* limits each text in a reply, and each parameter without a `maxLength` of its own.
    """

    def __init__(
        self,
        language: str | None = None,
        *,
        thought: Thought = "none",
        prompt: str | None = None,
        instructions: str = "",
        max_chars: int = MAX_CHARS,
    ) -> None:
        super().__init__(
            language,
            thought=thought,
            prompt=prompt,
            instructions=instructions,
            describe=_write_lines,
        )
        self.max_chars = max_chars

    @property
    def default_prompt(self) -> str:
        return self.language.small

    def list_examples(self, tools: Tools) -> list[Message]:
        say = self.language.say
        answer = self.encode_reply(FinalAnswer(self._write_thought(), True, "34"))
        made = self._make_call(say("example_question"), "get_age", {"name": say("example_name")})
        made += [
            *self.format_message(ActionResult(True, 34), []),
            {"role": "assistant", "content": answer},
        ]
        # The samples come last, since the model repeats what it saw last, and get_age is not one of
        # its tools.
        return [
            *made,
            *(message for entry in tools.entries[:MAX_SAMPLES] for message in self._sample(entry)),
        ]

    def encode_reply(self, message: FromModel) -> str:
        members: dict[str, Any] = json.loads(super().encode_reply(message))
        if "ok" in members:
            members["ok"] = members.pop("ok")
        return json.dumps(members, ensure_ascii=False)

    def narrow_schema(self, schema: Schema, tools: Tools, history: list[Message]) -> Schema:
        evidence = Evidence(history, self.template.text)
        max_chars = self.max_chars // _SHORTENED**evidence.errors
        # Before the first error a parameter's own `maxLength` counts.
        limit = max_chars if evidence.errors else math.inf
        schema = limit_texts(schema, self.max_chars, limit)
        refusal = self.language.say("undone", why="")  # for instance: the user refused it
        return narrow_schema(schema, tools, evidence, own_refusal=refusal, max_chars=max_chars)

    def _sample(self, entry: Entry) -> list[Message]:
        """Return a call of the tool as an example: its description as a question, and values to
        copy.
        """
        schema = as_schema(entry.get("inputSchema"))
        params = {}
        for place, name in enumerate(list_required(schema)):
            params[name] = _make_sample(get_properties(schema).get(name, {}), place)
        if None in params.values():
            return []
        values = ", ".join(f"{name} = {value}" for name, value in params.items())
        question = on_one_line(describe(entry)).rstrip(".。")
        if values:
            question += f". {values}"
        return self._make_call(question, entry["name"], params)

    def _make_call(self, question: str, tool: str, params: dict[str, Any]) -> list[Message]:
        action = Action(self._write_thought(), tool, params)
        return [
            *self.format_message(Question(question), []),
            {"role": "assistant", "content": self.encode_reply(action)},
        ]

    def _write_thought(self) -> str:
        if self.thought == "none":
            return ""
        return self.language.say("example_thought")


def _make_sample(schema: Schema, place: int) -> Any:
    """Return a value for the parameter at *place* that is no likely answer; None for one that is
    not a plain value.
    """
    numbers = (3, 8)
    values = {
        "string": "foo bar",
        "boolean": True,
        "integer": numbers[place % 2],
        "number": numbers[place % 2],
    }
    if "enum" in schema:
        return None
    return values.get(str(schema.get("type")))


def _write_lines(entries: list[Entry]) -> str:
    """Return a line for each tool: its name, parameters and description."""
    return "\n".join(
        f"- {entry['name']}{_write_parameters(entry)}: {on_one_line(describe(entry))}"
        for entry in entries
    )


def _write_parameters(entry: Entry) -> str:
    return " ".join(line for line in python.format_signature(entry) if not line.startswith("->"))
