"""Elicitation: from a type to the form that a client shows, and from the answer back to a value.

Strategy. A form is flat and knows few keywords (MCP, elicitation: strings, numbers, booleans,
choices among strings). So the type's own schema is cut down to what forms can show, and the answer
is read by the whole of it: what the form could not say is checked all the same.
"""

from __future__ import annotations

from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import msgspec
from toolwire_schemas.json_schema.graph import without_null

from ..errors import ArgumentsError, Declined, Dismissed, NotAnswered, RegistrationError
from ..schema.annotations import get_arguments
from ..schema.scalars import ANY_MOMENT
from ..signature import read_signature

if TYPE_CHECKING:
    from ..signature.arguments import Arguments

Schema = dict[str, Any]

_ANSWER = "answer"
"""The name of the field when the type is a single value."""

# The keywords of a form's field, by its type (MCP 2025-06-18, elicitation; later revisions only add
# to it).
_SHOWN = {
    "array": ("minItems", "maxItems", "default"),
    "string": ("minLength", "maxLength", "default"),
    "integer": ("minimum", "maximum", "default"),
    "number": ("minimum", "maximum", "default"),
    "boolean": ("default",),
}
_REMEDY = "a form can only ask for text, numbers, booleans, choices and lists of choices"
_FORMATS = ("email", "uri", "date", "date-time")


class WrittenForm(msgspec.Struct, frozen=True):
    """The form that an author has written as a JSON Schema; its answers are objects."""

    schema: Schema
    arguments: Arguments

    def read(self, answer: dict[str, Any]) -> dict[str, Any]:
        """As `ElicitationForm.read`."""
        content = _read_content(answer)
        try:
            _, bound = self.arguments.bind(content)
        except ArgumentsError as error:
            raise NotAnswered(f"The answer is invalid: {error}") from None
        return bound


class ElicitationForm(msgspec.Struct, frozen=True):
    """The form for answers of one type. `schema` is what MCP calls `requestedSchema`."""

    schema: Schema
    arguments: Arguments
    single: bool
    choices: dict[str, dict[str, Any]]
    """The values of a field's choices that are not strings."""

    def read(self, answer: dict[str, Any]) -> Any:
        """Return the value in the client's *answer*; raises `Declined`, `Dismissed` or
        `NotAnswered`.
        """
        meant = _read_content(answer)
        for name, values in self.choices.items():
            chosen = meant.get(name)
            if isinstance(chosen, str):
                meant[name] = values.get(chosen, chosen)
            elif isinstance(chosen, list):
                meant[name] = [
                    values.get(one, one) if isinstance(one, str) else one for one in chosen
                ]
        try:
            _, bound = self.arguments.bind({_ANSWER: meant.get(_ANSWER) if self.single else meant})
        except ArgumentsError as error:
            raise NotAnswered(f"The answer is invalid: {error}") from None
        return bound[_ANSWER]


def _read_content(answer: dict[str, Any]) -> dict[str, Any]:
    """Return the fields that the user has filled in; raises `Declined`, `Dismissed` or
    `NotAnswered`.
    """
    action, content = answer.get("action"), answer.get("content")
    if action == "decline":
        raise Declined("The user declined to answer.")
    if action == "cancel":
        raise Dismissed("The user closed the form without an answer.")
    if action != "accept" or not isinstance(content, dict):
        given = f"action {action!r}, content {type(content).__name__}"
        raise NotAnswered(f"The client's response is invalid: {given}.")
    return dict(content)


def read_form(kind: Any) -> ElicitationForm | WrittenForm:
    """Return the form that asks for an answer of the type *kind*; a type is read once. A dict is
    the JSON Schema of a form.

    Raises:
        TypeError: if no form can ask for that.
    """
    if isinstance(kind, dict):
        return _use_written_form(kind)
    try:
        hash(kind)
    except TypeError:  # of a type with a dict in `Annotated`, for example
        return _make_form(kind)
    # Literals of the same values in another order are equal, but their forms are not.
    return _read_once(kind, repr(kind))


def _use_written_form(schema: Schema) -> WrittenForm:
    from ..signature.given_schemas import make_arguments_by_schema

    if not isinstance(schema.get("properties"), dict):
        raise TypeError("ask: the schema of a form is an object with properties")
    try:
        return WrittenForm(schema, make_arguments_by_schema(schema, "ask"))
    except RegistrationError as error:
        raise TypeError(f"ask: {error.problem}; {error.remedy}") from None


@lru_cache(maxsize=128)
def _read_once(kind: Any, representation: str) -> ElicitationForm:
    return _make_form(kind)


def _make_form(kind: Any) -> ElicitationForm:
    def answer(answer: Any) -> None:
        """Replaces a tool that takes the answer."""

    answer.__annotations__ = {_ANSWER: kind}
    try:
        arguments = read_signature(answer, tool="ask", lenient=True).arguments
    except RegistrationError as error:
        raise TypeError(f"ask: {error.problem}; {error.remedy}") from None
    whole = arguments.input_schema["properties"].get(_ANSWER)
    if whole is None:  # `signature.read` hides a parameter for the context
        raise TypeError(f"ask: the answer is a Context; {_REMEDY}")
    single = "properties" not in whole
    hints = {_ANSWER: kind} if single else _read_hints(kind)
    fields = {_ANSWER: whole} if single else whole["properties"]
    required = [_ANSWER] if single else whole.get("required", [])
    shown: dict[str, Schema] = {}
    choices: dict[str, dict[str, Any]] = {}
    for name, schema in fields.items():
        field, optional = without_null(schema)
        if optional:
            required = [other for other in required if other != name]
        shown[name] = _make_field_schema(name, field, choices, _find_enum(hints.get(name)))
    form: Schema = {"type": "object", "properties": shown}
    if required:
        form["required"] = list(required)
    return ElicitationForm(form, arguments, single, choices)


def _read_hints(record: Any) -> dict[str, Any]:
    from typing import get_type_hints

    try:
        return get_type_hints(record)
    except (
        Exception
    ):  # a name that only the type checker knows: the form then shows values without names
        return {}


def _find_enum(hint: Any) -> type[Enum] | None:
    """Return the Enum that *hint* is, or has inside it, as `list[Size]` and `Size | None` have."""
    if isinstance(hint, type) and issubclass(hint, Enum):
        return hint
    return next(filter(None, map(_find_enum, get_arguments(hint))), None)


def _make_field_schema(
    name: str, schema: Schema, choices: dict[str, dict[str, Any]], names: type[Enum] | None
) -> Schema:
    kind, inner = schema.get("type"), schema.get("items")
    choice: Schema = {}
    if kind == "array" and isinstance(inner, dict) and (values := _list_values(inner)):
        choice = {"items": _make_choice(name, values, choices, names, "anyOf")}
    elif values := _list_values(schema):
        choice, kind = _make_choice(name, values, choices, names, "oneOf"), "string"
    if kind not in _SHOWN or (kind == "array" and not choice):
        what = "the answer"
        if name != _ANSWER:
            what = f"the field {name!r}"
        raise TypeError(f"ask: the type of {what} is {kind or 'no single one'}; {_REMEDY}")
    if name in choices:
        schema = {**schema, "default": None}
    field: Schema = {
        "type": kind,
        "title": str(schema.get("title") or name.replace("_", " ").capitalize()),
    }
    if "description" in schema:
        field["description"] = schema["description"]
    field |= {**choice, "type": kind}
    field.update((key, schema[key]) for key in _SHOWN[kind] if schema.get(key) is not None)
    if schema.get("format") in _FORMATS:
        field["format"] = schema["format"]
    elif (
        schema.get("pattern") == ANY_MOMENT
    ):  # hosts have a picker for this format, which allows less
        field["format"] = "date-time"
    return field


def _list_values(schema: Schema) -> list[Any]:
    values: list[Any] = schema.get("enum", [schema["const"]] if "const" in schema else [])
    return values


def _make_choice(
    name: str,
    values: list[Any],
    choices: dict[str, dict[str, Any]],
    names: type[Enum] | None,
    keyword: str,
) -> Schema:
    """Return the schema of one choice among *values*, with the names that members of an Enum have.

    A form has only texts: *choices* receives the values of other types, by their texts.
    """
    if not all(isinstance(value, str) for value in values):
        choices[name] = {str(value): value for value in values}
    texts = [str(value) for value in values]
    if names is None:
        return {"type": "string", "enum": texts}
    titles = {str(member.value): member.name.replace("_", " ").capitalize() for member in names}
    return {keyword: [{"const": text, "title": titles.get(text, text)} for text in texts]}
