"""Everything that models are known to get wrong in their replies, on purpose: to see what an agent
does about it.

Each fault takes a reply and returns it as a model would have written it on a bad day. They are
those that users of frameworks report: fences, prose, thoughts, truncation, two actions at once,
broken JSON, members that are missing or of the wrong type, tools that do not exist.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Collection, Iterable
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_agent.models.model import Model, OnText, as_model, emit_text
from toolwire_agent.react.messages import ModelReply, ToolCall

if TYPE_CHECKING:
    from toolwire_agent.models.model import Message

Fault = Callable[[ModelReply, random.Random], ModelReply]


class FaultyModel:
    """A model that asks *model* and then spoils its reply, one reply in 1 / *rate*, in one of the
    ways of *faults*.

    No more than *most_in_a_row* are spoiled one after the other, for an agent gives up at some
    time. The same *seed* spoils the same replies in the same ways. `injected` names what was done
    to each reply so far, with `None` for those left as they were; a fault that has nothing to spoil
    in a reply leaves it, too.

    Raises:
        ValueError: for a fault that does not exist.
    """

    def __init__(
        self,
        model: object,
        *,
        faults: Collection[str] | None = None,
        rate: float = 1.0,
        most_in_a_row: int | None = None,
        seed: int = 0,
    ) -> None:
        self._model: Model = as_model(model)
        self._faults = sorted(FAULTS if faults is None else faults)
        if unknown := set(self._faults) - FAULTS.keys():
            raise ValueError(f"no fault is called {min(unknown)!r}; there are {', '.join(FAULTS)}")
        self._rate = rate
        self._most_in_a_row = most_in_a_row
        self._random = random.Random(seed)
        self.injected: list[str | None] = []

    @property
    def strict_schemas(self) -> bool:
        """As the model that is asked."""
        return bool(getattr(self._model, "strict_schemas", False))

    async def reply(
        self,
        messages: list[Message],
        *,
        tools: list[dict[str, Any]] | None = None,
        reply_schema: dict[str, Any] | None = None,
        on_text: OnText | None = None,
        max_tokens: int | None = None,
    ) -> ModelReply:
        """As `Model.reply`, spoiled."""
        good = await self._model.reply(messages, tools=tools, reply_schema=reply_schema)
        spoiled, name = good, None
        if self._faults and self._random.random() < self._rate and not self._is_enough():
            name = self._random.choice(self._faults)
            spoiled = FAULTS[name](good, self._random)
        self.injected.append(name if spoiled != good else None)
        await emit_text(on_text, spoiled.text)
        return spoiled

    def _is_enough(self) -> bool:
        last = self.injected[-self._most_in_a_row :] if self._most_in_a_row else []
        return len(last) == self._most_in_a_row and None not in last

    def __repr__(self) -> str:
        return f"<{self._model!r} with faults>"


# --- around the reply -----------------------------------------------------------------------------


def _text(change: Callable[[str], str]) -> Fault:
    """A fault of the text alone."""
    return lambda reply, chance: _with(reply, text=change(reply.text)) if reply.text else reply


def _with(reply: ModelReply, **changes: Any) -> ModelReply:
    return msgspec.structs.replace(reply, **changes)


def _truncated(reply: ModelReply, chance: random.Random) -> ModelReply:
    if len(reply.text) < 2:
        return reply
    return _with(
        reply, text=reply.text[: chance.randrange(1, len(reply.text))], finish_reason="length"
    )


def _truncated_silently(reply: ModelReply, chance: random.Random) -> ModelReply:
    cut = _truncated(reply, chance)
    return _with(cut, finish_reason=reply.finish_reason)


def _empty(reply: ModelReply, chance: random.Random) -> ModelReply:
    return ModelReply(finish_reason="stop", usage=reply.usage)


def _filtered(reply: ModelReply, chance: random.Random) -> ModelReply:
    return _with(
        reply, text="I cannot help with that.", tool_calls=(), finish_reason="content_filter"
    )


# --- within the JSON ------------------------------------------------------------------------------


def _members(change: Callable[[dict[str, Any], random.Random], object]) -> Fault:
    """A fault of the object that a reply is; *change* changes it, or returns what takes its
    place.
    """

    def fault(reply: ModelReply, chance: random.Random) -> ModelReply:
        members = _object_in(reply.text)
        if members is None:
            return reply
        changed = change(members, chance)
        made = members if changed is None else changed
        return _with(
            reply, text=made if isinstance(made, str) else json.dumps(made, ensure_ascii=False)
        )

    return fault


def _object_in(text: str) -> dict[str, Any] | None:
    try:
        value = json.loads(text)
    except ValueError:
        return None
    if isinstance(value, dict) and value.keys() == {"reply"}:  # the form for OpenAI's strict mode
        value = value["reply"]
    return value if isinstance(value, dict) else None


def _put(name: str, value: Any) -> Fault:
    return _members(
        lambda members, chance: members.update({name: value}) if name in members else None
    )


def _dropped(names: Iterable[str]) -> Fault:
    def drop(members: dict[str, Any], chance: random.Random) -> None:
        if present := [name for name in names if name in members]:
            del members[chance.choice(present)]

    return _members(drop)


def _bad_params(members: dict[str, Any], chance: random.Random) -> None:
    params = members.get("params")
    if isinstance(params, dict) and params:
        name = chance.choice(sorted(params))
        match chance.randrange(3):
            case 0:
                params[name] = {"value": str(params[name])}
            case 1:
                del params[name]
            case _:
                params[f"{name}_"] = params.pop(name)


def _doubled(members: dict[str, Any], chance: random.Random) -> object:
    other = dict(members)
    if isinstance(other.get("params"), dict):
        other["params"] = {name: f"{value}0" for name, value in other["params"].items()}
    written = [json.dumps(each, ensure_ascii=False) for each in (members, other)]
    return chance.choice(["\n", " ", "\n\nThen:\n"]).join(written)


def _single_quotes(text: str) -> str:
    members = _object_in(text)
    return text if members is None else repr(members)


def _full_width(text: str) -> str:
    return (
        text.replace('": ', '"：').replace(', "', '，"') if _object_in(text) is not None else text
    )


# --- calls by the model's own means ---------------------------------------------------------------


def _calls(change: Callable[[tuple[ToolCall, ...]], tuple[ToolCall, ...]]) -> Fault:
    return lambda reply, chance: (
        _with(reply, tool_calls=change(reply.tool_calls)) if reply.tool_calls else reply
    )


def _cut_arguments(calls: tuple[ToolCall, ...]) -> tuple[ToolCall, ...]:
    call, *others = calls
    written = (
        call.arguments
        if isinstance(call.arguments, str)
        else json.dumps(call.arguments, ensure_ascii=False)
    )
    return (msgspec.structs.replace(call, arguments=written[:-1]), *others)


FAULTS: dict[str, Fault] = {
    "fence": _text(lambda text: f"```json\n{text}\n```"),
    "fence_without_language": _text(lambda text: f"```\n{text}\n```"),
    "prose_before": _text(lambda text: f"Sure! Here is my next step:\n\n{text}"),
    "prose_behind": _text(lambda text: f"{text}\n\nLet me know if you need anything else."),
    "prose_only": _text(
        lambda text: "I think {a} and {b} should be looked at first, then I will answer."
    ),
    "think": _text(
        lambda text: f'<think>\nFirst {{"type": "ACTION"}}, or not?\n</think>\n\n{text}'
    ),
    "think_unclosed": _text(lambda text: f"<think>\nLet me see: {text}"),
    "byte_order_mark": _text(lambda text: f"\ufeff{text}"),
    "wrapper_tag": _text(lambda text: f"<response>\n{text}\n</response>"),
    "list_of_one": _text(lambda text: f"[{text}]"),
    "raw_newlines": _members(
        lambda members, chance: json.dumps(members).replace(
            '"thought": "', '"thought": "line\nline '
        )
    ),
    "trailing_comma": _text(lambda text: text[:-1] + ",}" if text.endswith("}") else text),
    "single_quotes": _text(_single_quotes),
    "full_width_punctuation": _text(_full_width),
    "comment": _text(
        lambda text: text.replace("{", "{ // my reply\n", 1) if text.startswith("{") else text
    ),
    "truncated": _truncated,
    "truncated_silently": _truncated_silently,
    "doubled_action": _members(_doubled),
    "empty": _empty,
    "filtered": _filtered,
    "unknown_type": _put("type", "THINK"),
    "lower_case_type": _members(
        lambda members, chance: members.update(type=str(members.get("type")).lower())
    ),
    "type_first": _members(lambda members, chance: {"type": members.get("type"), **members}),
    "missing_member": _dropped(("type", "content", "tool", "params", "ok", "result")),
    "missing_thought": _dropped(("thought",)),
    "extra_member": _members(lambda members, chance: members.update(confidence=0.9)),
    "thought_of_wrong_type": _put("thought", ["first", "then"]),
    "result_of_wrong_type": _put("result", {"answer": 42}),
    "ok_of_wrong_type": _put("ok", "yes"),
    "unknown_tool": _put("tool", "do_everything"),
    "params_as_text": _members(
        lambda members, chance: (
            members.update(params=json.dumps(members["params"])) if "params" in members else None
        )
    ),
    "params_as_list": _put("params", [1, 2]),
    "bad_params": _members(_bad_params),
    "doubled_call": _calls(
        lambda calls: (*calls, msgspec.structs.replace(calls[0], id="call_again"))
    ),
    "call_of_unknown_tool": _calls(
        lambda calls: (msgspec.structs.replace(calls[0], name="do_everything"), *calls[1:])
    ),
    "arguments_cut_off": _calls(_cut_arguments),
}
"""All faults, by name."""
