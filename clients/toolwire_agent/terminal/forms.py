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
    kind = (
        " | ".join(choices) if choices else {"boolean": "yes | no", "string": ""}.get(type_, type_)
    )
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


def _find_choice(text: str, choices: dict[str, Any]) -> Any:
    by_name = {name.lower(): value for name, value in choices.items()}
    return by_name.get(text.lower(), text)
