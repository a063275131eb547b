"""The forms of tools' elicitations, field by field, and how typed text is read. No I/O.

MCP allows flat objects of strings, numbers, booleans and choices.
"""

from __future__ import annotations

from typing import Any

import msgspec
from toolwire_client.validation import LenientValidator
from toolwire_schemas.json_schema.choices import list_choices
from toolwire_schemas.json_schema.graph import SchemaGraph
from toolwire_schemas.language import say
from toolwire_schemas.wire import codec

from ..presentation import to_json

Schema = dict[str, Any]

_SWITCHES = {"y": True, "yes": True, "true": True, "n": False, "no": False, "false": False}


class FormField(msgspec.Struct, frozen=True):
    """One field of a form. `hint` says what may be typed; `schema` validates it."""

    name: str
    label: str
    hint: str
    schema: Schema
    is_required: bool

    def read_value(self, text: str) -> Any:
        """Return the value of the typed *text*; `msgspec.UNSET` if it is empty and the field is
        optional.

        Raises:
            ValueError: if it does not fit the field; the text says why.
        """
        text = text.strip()
        if not text and "default" in self.schema:
            return self.schema["default"]
        if not text and not self.is_required:
            return msgspec.UNSET
        value = self._read(text)
        faults = LenientValidator(self.schema).find_faults(value, self.name)
        if faults or not text:
            raise ValueError(
                "; ".join(sentence for _, sentence in faults) or say("an answer is needed")
            )
        return value

    def _read(self, text: str) -> Any:
        if choices := _read_choices(self.schema):
            return _find_choice(text, choices)
        match self.schema.get("type"):
            case "string":
                return text
            case "boolean":
                return _SWITCHES.get(text.lower(), text)
            case "array":
                choices = _read_choices(self.schema.get("items"))
                return [_find_choice(part.strip(), choices) for part in text.split(",")]
        try:
            return codec.decode(text)
        except codec.DecodingError:
            return text


def read_fields(schema: Schema) -> list[FormField]:
    """Return the fields of a form in order."""
    properties, required = schema.get("properties"), schema.get("required")
    if not isinstance(properties, dict):
        return []
    return [
        FormField(
            name=name,
            label=str(inner.get("title") or name),
            hint=_hint(inner),
            schema=inner,
            is_required=isinstance(required, list) and name in required,
        )
        for name, inner in properties.items()
        if isinstance(inner, dict)
    ]


def _hint(schema: Schema) -> str:
    choices = _read_choices(schema) or _read_choices(schema.get("items"))
    type_ = str(schema.get("type", ""))
    if choices:
        kind = " | ".join(_format_choices(choices))
    else:
        kind = {"boolean": "yes | no", "string": ""}.get(type_, type_)
    if type_ == "array":
        kind = say("{kind}; several with commas", kind=kind)
    usual = ""
    if "default" in schema:
        usual = say("default {value}", value=to_json(schema["default"]))
    return "; ".join(str(part) for part in (schema.get("description"), kind, usual) if part)


def _read_choices(schema: Any) -> dict[str, Any]:
    """Return the values of a choice by label; empty if the field is not a choice."""
    node = SchemaGraph(schema).root.resolved
    return {choice.label: choice.value for choice in list_choices(node)}


def _format_choices(choices: dict[str, Any]) -> list[str]:
    if not _has_numbers(choices):
        return list(choices)
    return [f"{number} {label}" for number, label in enumerate(choices, 1)]


def _has_numbers(choices: dict[str, Any]) -> bool:
    """Return whether choices are numbered: sentences are tedious to type, words are not."""
    return any(" " in label for label in choices) and not any(map(str.isdecimal, choices))


def _find_choice(text: str, choices: dict[str, Any]) -> Any:
    """Return the value of the choice that *text* names: by its label, by a beginning of it that no
    other has, or by its number; else *text*.
    """
    typed = text.lower()
    by_label = {label.lower(): value for label, value in choices.items()}
    if typed in by_label:
        return by_label[typed]
    if _has_numbers(choices):
        numbers = map(str, range(1, len(choices) + 1))
        by_number = dict(zip(numbers, choices.values(), strict=True))
        if typed in by_number:
            return by_number[typed]
    begun = [label for label in by_label if typed and label.startswith(typed)]
    return by_label[begun[0]] if len(begun) == 1 else text
