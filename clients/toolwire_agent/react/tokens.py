"""Groot's protocols: prose, followed by an action between two special tokens.

`parse(text)` returns Groot's `(text, action)` and corrects its faults: empty tokens never start an
action, an end token inside a JSON string ends nothing, two actions are refused, and malformed
actions are errors for the model.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.error_text import format_value
from toolwire_schemas.wire import codec

from .messages import Action, FinalAnswer
from .prompt_protocol import InvalidReply, Protocol, ValidReply, refuse_incomplete
from .prompts import Unreadable, remark
from .replies.reply_parser import find_end_of_thoughts, read_object_at

if TYPE_CHECKING:
    from collections.abc import Mapping

    from .messages import ModelReply
    from .tool_lookup import Entry, Tools

_FENCE = re.compile(r"\s*(?P<marks>`{2,})(?:(?P<language>[\w+.-]*)[ \t]*\n)?")
_CLOSING_FENCE = re.compile(r"\s*`{2,}")
_OBJECT = re.compile(r"\s*(?P<bracket>\[\s*)?(?=\{)")
_CLOSING_BRACKET = re.compile(r"\s*\]")
_PYTHON = ("python", "py", "python3", "ipython", "")
_CODE = ("PythonInterpreter", "code")
"""Groot's target of code, whatever tools there are."""
CODE_TOOL_REMARKS = ("no_code_tool", "several_code_tools")
"""The remarks that `code_tool` of a protocol prevents."""


class BaseProtocol(Protocol):
    """Text with at most one action between two tokens: `{"name": …, "parameters": {…}}`, or a block
    of code.

    Code goes to *code_tool*, the names of a tool and its parameter, by default to the only tool
    that runs code. The slots of *prompt* are `{{tools}}` (required), `{{start}}`, `{{end}}` and
    `{{instructions}}`. A subclass may override `parse`.

    Raises:
        ValueError: for special tokens other than `action_start_token` and `action_end_token`.
    """

    required_slots = ("tools",)
    optional_slots = ("start", "end", "instructions")

    def __init__(
        self,
        special_tokens: Mapping[str, str] | None = None,
        *,
        code_tool: tuple[str, str] | None = None,
        language: str | None = None,
        prompt: str | None = None,
        instructions: str = "",
    ) -> None:
        super().__init__(language, prompt=prompt, instructions=instructions)
        self.special_tokens = {"action_start_token": "", "action_end_token": ""}
        if strange := (special_tokens or {}).keys() - self.special_tokens:
            raise ValueError(
                f"unknown special tokens: {sorted(strange)}; known: {list(self.special_tokens)}"
            )
        self.special_tokens |= special_tokens or {}
        self.code_tool = code_tool

    def parse(self, text: str) -> tuple[str, dict[str, Any] | None]:
        """Return the text before the action, and the action's `name` and `parameters`, or None.

        Without a `code_tool`, code is returned in Groot's form: as `code` for `PythonInterpreter`.

        Raises:
            Unreadable: if the action is malformed, or one of several.
        """
        start = self.special_tokens["action_start_token"]
        at = text.find(start, find_end_of_thoughts(text)) if start else -1
        if at < 0:
            return text, None
        action, end = self._read_action(text, at + len(start))
        self._refuse_more(text[end:])
        return text[:at], action

    def parse_reply(self, reply: ModelReply, tools: Tools) -> tuple[str, dict[str, Any] | None]:
        """Return the reply's text without thoughts, and its action with the code's tool found in
        *tools*.

        Raises:
            Unreadable: if the reply is incomplete or empty, or not exactly one tool runs its code.
            ValueError: from an overridden `parse`.
        """
        refuse_incomplete(reply.finish_reason)
        text, action = self.parse(reply.text)
        text = text[find_end_of_thoughts(text) :].strip()
        if action is None and not text:
            raise Unreadable("empty")
        if action is None:
            return text, None
        action = check_action(action)
        return text, action if self.code_tool else redirect_code(action, tools)

    @property
    def default_prompt(self) -> str:
        return self.language.tokens

    def format_system_prompt(self, tools: Tools) -> str:
        tokens = self.special_tokens
        if not tokens["action_start_token"]:
            raise ValueError(
                "without an action_start_token no reply can have an action; give special_tokens"
            )
        return self.template.fill(
            tools="\n".join(map(_describe, tools.entries)) or self.language.say("nothing"),
            start=tokens["action_start_token"],
            end=tokens["action_end_token"],
            instructions=self.instructions,
        )

    def read(self, reply: ModelReply, tools: Tools) -> ValidReply | InvalidReply:
        try:
            text, action = self.parse_reply(reply, tools)
        except Unreadable as error:
            return InvalidReply((error.remark,))
        except ValueError as error:  # from an overridden `parse`
            return InvalidReply((remark("unreadable", reason=str(error)),))
        if action is None:
            return ValidReply(FinalAnswer("", True, text))
        return ValidReply(
            Action(text, tools.find(action["name"]) or action["name"], action["parameters"])
        )

    def describe_reply_format(self, tools: Tools, *, final: bool = False) -> str:
        if final:
            return ""
        tokens, (name, parameters) = self.special_tokens, tools.sample() or ("…", {})
        call = json.dumps({"name": name, "parameters": parameters}, ensure_ascii=False)
        start, end = tokens["action_start_token"], tokens["action_end_token"]
        return self.language.say("format_tokens", start=start, call=call, end=end)

    def _read_action(self, text: str, at: int) -> tuple[dict[str, Any], int]:
        """Return the action that starts at *at*, and its end."""
        fence = _FENCE.match(text, at)
        if fence is None:
            return self._read_object(text, at)
        language = (fence["language"] or "").lower()
        if language == "json":
            action, end = self._read_object(text, fence.end())
            closing = _CLOSING_FENCE.match(text, end)
            return action, closing.end() if closing else end
        if language not in _PYTHON:
            raise Unreadable("code_language", language=format_value(language))
        code, end = self._read_code(text, fence)
        tool, parameter = self.code_tool or _CODE
        return {"name": tool, "parameters": {parameter: code}}, end

    def _read_object(self, text: str, at: int) -> tuple[dict[str, Any], int]:
        found = _OBJECT.match(text, at)
        if found is None:
            raise Unreadable("no_object")
        members, end = read_object_at(text, found.end())
        if found["bracket"]:  # Doubao writes a list of one
            closing = _CLOSING_BRACKET.match(text, end)
            if closing is None:
                raise Unreadable("several")
            end = closing.end()
        return check_action(members), end

    def _read_code(self, text: str, fence: re.Match[str]) -> tuple[str, int]:
        end_token = self.special_tokens["action_end_token"]
        start = fence.end()
        after = r"\n|\Z"
        if end_token:
            after += f"|{re.escape(end_token)}"
        closing = re.compile(rf"{fence['marks']}`*[ \t]*(?={after})").search(text, start)
        if closing is not None:
            return text[start : closing.start()].rstrip(), closing.end()
        # Without a closing fence the code ends at the token.
        end = text.find(end_token, start) if end_token else -1
        if end < 0:
            raise Unreadable("unfinished_code")
        return text[start:end].rstrip(), end

    def _refuse_more(self, rest: str) -> None:
        """Refuse text after the action that may be part of it, or another action."""
        start, end = (
            self.special_tokens["action_start_token"],
            self.special_tokens["action_end_token"],
        )
        before, found, after = rest, "", ""
        if end:
            before, found, after = rest.partition(end)
        if start in before or start in after:
            raise Unreadable("several")
        if found and before.strip():
            raise Unreadable("between", end=end, found=format_value(before.strip()))


class DoubaoProtocol(BaseProtocol):
    """The tokens of ByteDance's Doubao models."""

    def __init__(self, special_tokens: Mapping[str, str] | None = None, **settings: Any) -> None:
        tokens = {
            "action_start_token": "<|FunctionCallBegin|>",
            "action_end_token": "<|FunctionCallEnd|>",
        }
        super().__init__(special_tokens or tokens, **settings)


def redirect_code(action: dict[str, Any], tools: Tools) -> dict[str, Any]:
    """Return *action*, with code in Groot's form redirected to the one tool that runs code.

    Raises:
        Unreadable: if none or several of the tools run code.
    """
    tool, parameter = _CODE
    is_elsewhere = tools.names and (
        tool not in tools.names or parameter not in tools.get_schema(tool).get("properties", {})
    )
    if not is_elsewhere or (action["name"], [*action["parameters"]]) != (tool, [parameter]):
        return action
    match tools.find_code_runners():
        case [(found, place)]:
            return {"name": found, "parameters": {place: action["parameters"][parameter]}}
        case []:
            raise Unreadable("no_code_tool", names=", ".join(tools.names))
        case several:
            raise Unreadable(
                "several_code_tools",
                tools=", ".join(f"{name} ({place})" for name, place in several),
            )


def check_action(members: Any) -> dict[str, Any]:
    """Return the name and the parameters among *members*.

    Raises:
        Unreadable: if one is missing or of another type.
    """
    if not isinstance(members, dict):
        given = format_value(members)
        raise Unreadable("wrong_type", member="action", wanted="object", given=given)
    name, parameters = members.get("name"), _parse_parameters(members.get("parameters"))
    for member, value, kind, wanted in (
        ("name", name, str, "string"),
        ("parameters", parameters, dict, "object"),
    ):
        if member not in members:
            raise Unreadable("missing", member=member)
        if not isinstance(value, kind):
            raise Unreadable("wrong_type", member=member, wanted=wanted, given=format_value(value))
    return {"name": name, "parameters": parameters}


def _parse_parameters(parameters: Any) -> Any:
    """Return *parameters* as an object if they are one in JSON, as in OpenAI's format; else
    unchanged.
    """
    if not isinstance(parameters, str):
        return parameters
    try:
        found = codec.decode(parameters)
    except codec.DecodingError:
        return parameters
    if isinstance(found, dict):
        return found
    return parameters


def _describe(entry: Entry) -> str:
    about = {
        "description": entry.get("description", ""),
        "parameters": entry.get("inputSchema", {}),
    }
    return json.dumps({"name": entry["name"], **about}, ensure_ascii=False)
