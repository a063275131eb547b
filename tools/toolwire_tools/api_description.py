"""A function described as Lagent describes it: the dict that its agents show to the model.

Strategy. Few programs read the description of a decorated function, so it is made when one does.
"""

from __future__ import annotations

from types import MethodType
from typing import TYPE_CHECKING, Any

from .options import Options, name_of, options_for
from .schema.annotations import Names, Unresolved, members, unwrap_annotation
from .schema.constraints import read
from .schema.types import Types
from .signature import EMPTY, OPEN, Declared, Parameters, is_required, parameters_of
from .signature import docstring as docstrings
from .signature.docstring_sections import DocEntry, cut, unbulleted
from .signature.docstring_types import hint_of

if TYPE_CHECKING:
    from collections.abc import Callable

_STRING = "STRING"
_NAMES = {
    "boolean": "BOOLEAN",
    "integer": "NUMBER",
    "number": "FLOAT",
    "array": "Array",
    "object": "",
    "null": "",
}
"""The names of JSON Schema's types; objects and null have none."""


def description_of(
    function: Callable[..., Any], options: Options | None = None, *, name: str | None = None
) -> dict[str, Any]:
    """The `api_description` of *function*: `name`, `description`, `parameters`, `required`, perhaps
    `return_data`.

    *options* and *name* win over what the decorator said. A first parameter called `self`, or `cls`
    in a class, the context, `*args` and `**kwargs` are left out. Nothing is raised: a hint that
    cannot be read yet is a STRING.
    """
    options = options or options_for(function)
    doc = docstrings.of(function)
    described = {
        "name": name or options.name or name_of(function),
        "description": doc.description if options.explode_param else docstrings.text_of(function),
        **(
            _parameters(function, options)
            if options.input_schema is None
            else _of_schema(options.input_schema)
        ),
    }
    if options.description is not None:
        described["description"] = options.description
    if not options.explode_param:
        described["parameters"] = [
            {"name": parameter["name"]} for parameter in described["parameters"]
        ]
    if returned := return_data(function, options):
        described["return_data"] = returned
    return described


def type_name(hint: Any, names: Names) -> str:
    """Lagent's name for a type: STRING, NUMBER (a whole one), FLOAT, BOOLEAN or Array.

    Objects have none, and are called STRING as they always were: agents and prompts know these
    five. A union is called by one of its members, so that a value of the type that the name
    suggests is accepted.
    """
    try:
        types = Types("input", names)
        return _named(types.of(hint).schema, types.defs) or _STRING
    except (Unresolved, TypeError, RecursionError):  # it cannot be read yet, or has no form in JSON
        return _STRING


def _parameters(function: Any, options: Options) -> dict[str, Any]:
    try:
        found = parameters_of(function, options.include_arguments, options.exclude_arguments)
    except (ValueError, TypeError):  # written in C
        return {"parameters": [], "required": []}
    shown = [parameter for parameter in found.shown if parameter.kind not in OPEN]
    if shown and shown[0] is found.every[0] and _is_receiver(shown[0].name, function):
        del shown[0]
    return {
        "parameters": [_parameter(parameter, found) for parameter in shown],
        "required": [parameter.name for parameter in shown if is_required(parameter)],
    }


def _is_receiver(first: str, function: Any) -> bool:
    """True if the first parameter, called *first*, is not for callers."""
    scope = getattr(function, "__qualname__", "").rpartition(".")[0]
    in_class = not scope.endswith("<locals>") and scope != ""
    return not isinstance(function, MethodType) and (
        first == "self" or (first == "cls" and in_class)
    )


def _parameter(parameter: Declared, found: Parameters) -> dict[str, str]:
    hint = Any if parameter.annotation is EMPTY else parameter.annotation
    text = _text(hint, found.names) or found.text(parameter.name) or ""
    return {"name": parameter.name, "type": type_name(hint, found.names), "description": text}


def _of_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return Lagent's description of the arguments in *schema*."""
    properties = schema.get("properties", {})
    named = [
        {
            "name": name,
            "type": _named(member, schema.get("$defs", {})) or _STRING,
            "description": member.get("description", ""),
        }
        for name, member in properties.items()
    ]
    return {
        "parameters": named,
        "required": [name for name in schema.get("required", []) if name in properties],
    }


def return_data(function: Callable[..., Any], options: Options) -> list[dict[str, str]]:
    """Return the members of the result by the docstring of *function*, as far as *options* ask for
    them.
    """
    doc = docstrings.of(function)
    if options.explode_return:
        return [_returned(entry) for entry in bulleted(doc.returns[0].text)] if doc.returns else []
    return [_returned(entry) for entry in doc.returns] if options.returns_named_value else []


def with_members(
    schema: dict[str, Any], members: list[dict[str, Any]], *, is_tuple: bool
) -> dict[str, Any]:
    """Return an output *schema* with the names and texts of *members*, if it says nothing of them
    itself.

    Their types are left out: nothing but a docstring vouches for them. (A promise that a tool does
    not keep makes an error of every answer. `{"distance": 3.2}` is documented as `str` by Lagent's
    own BINGMap.)
    """
    named = [
        (member["name"], member.get("description", "")) for member in members if member.get("name")
    ]
    if not named:
        return schema
    if schema == {"type": "object"}:
        return {**schema, "properties": {name: {"description": text} for name, text in named}}
    if is_tuple:
        result = schema["properties"]["result"]
        places = result.get("prefixItems", [{}] * result.get("maxItems", len(named)))
        if len(places) == len(named):
            texts = [
                {"title": name, **({"description": text} if text else {})} for name, text in named
            ]
            told = [{**place, **text} for place, text in zip(places, texts, strict=True)]
            return {**schema, "properties": {"result": {**result, "prefixItems": told}}}
    return schema


def bulleted(text: str) -> list[DocEntry]:
    """The entries in the list below the first line of *text*, nested ones among them:
    `- name (type): text`.

    Bullets may be missing. A line that begins no entry goes on with the one above.
    """
    first, *rest = text.split("\n")
    lines = [
        line for line in (rest if unbulleted(first) is None else [first, *rest]) if line.strip()
    ]
    has_bullets = any(unbulleted(line) is not None for line in lines)
    found: list[str] = []
    for line in lines:
        item = unbulleted(line)
        if item is not None or _begins(line, has_bullets):
            found.append(line.strip() if item is None else item)
        elif found:
            found[-1] += " " + line.strip()
    parts = [cut(item) or cut(item + ":") or ("", "", item) for item in found]
    return [DocEntry(word or None, type_ or None, text) for word, type_, text in parts]


def _begins(line: str, has_bullets: bool) -> bool:
    """True for an entry without a bullet; where there are bullets, `note: text` belongs to the one
    above.
    """
    word, type_, _ = cut(line) or ("", "", "")
    return bool(word) and (not has_bullets or hint_of(type_) is not None)


def _returned(entry: DocEntry) -> dict[str, str]:
    return {
        **({"name": entry.name} if entry.name else {}),
        "description": entry.text.strip(),
        **({"type": type_name(hint_of(entry.type), {})} if entry.type else {}),
    }


def _text(hint: Any, names: Names) -> str:
    """Return what `Annotated` says of a type, or of a member of a union."""
    try:
        hints = (hint, *(members(unwrap_annotation(hint, names).hint, names) or ()))
        texts = [read(unwrap_annotation(each, names).metadata).texts for each in hints]
    except (Unresolved, TypeError):
        return ""
    return next((text["description"] for text in texts if "description" in text), "")


def _named(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    if "$ref" in schema:
        return _named(definitions.get(schema["$ref"].rpartition("/")[2], {}), definitions)
    if "anyOf" in schema:
        several = [name for member in schema["anyOf"] if (name := _named(member, definitions))]
        if _STRING in several or {"FLOAT", "NUMBER"} <= {*several}:
            return _STRING if _STRING in several else "FLOAT"
        return several[0] if several else ""
    return _NAMES.get(str(schema.get("type")), _STRING)
