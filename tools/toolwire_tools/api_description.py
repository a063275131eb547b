"""A function described as Lagent describes it: the dict that its agents show to the model.

Strategy. Few programs read the description of a decorated function, so it is made when one does.
"""

from __future__ import annotations

from types import MethodType
from typing import TYPE_CHECKING, Any

from toolwire_schemas.json_schema.graph import SchemaGraph

from .options import Options, find_options, name_of
from .schema.annotations import Names, Unresolved, list_members, unwrap_annotation
from .schema.constraints import read
from .schema.types import Types
from .signature import EMPTY, OPEN, Declared, Parameters, is_required, read_parameters
from .signature import docstring as docstrings
from .signature.docstring_entries import DocEntry
from .signature.docstring_sections import split_entry, without_bullet
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


def describe_api(
    function: Callable[..., Any], options: Options | None = None, *, name: str | None = None
) -> dict[str, Any]:
    """The `api_description` of *function*: `name`, `description`, `parameters`, `required`, perhaps
    `return_data`.

    *options* and *name* win over what the decorator said. A first parameter called `self`, or `cls`
    in a class, the context, `*args` and `**kwargs` are left out. Nothing is raised: a hint that
    cannot be read yet is a STRING.
    """
    options = options or find_options(function)
    doc = docstrings.read_docstring(function)
    description = options.description
    if description is None:
        description = doc.description if options.explode_param else docstrings.read_text(function)
    described: dict[str, Any] = {"name": name or options.name or name_of(function)}
    described["description"] = description
    if options.input_schema is None:
        described |= _describe_parameters(function, options)
    else:
        described |= _describe_schema(options.input_schema)
    if not options.explode_param:
        names = [{"name": parameter["name"]} for parameter in described["parameters"]]
        described["parameters"] = names
    if returned := return_data(function, options):
        described["return_data"] = returned
    return described


def name_type(hint: Any, names: Names) -> str:
    """Lagent's name for a type: STRING, NUMBER (a whole one), FLOAT, BOOLEAN or Array.

    Objects have none, and are called STRING as they always were: agents and prompts know these
    five. A union is called by one of its members, so that a value of the type that the name
    suggests is accepted.
    """
    try:
        types = Types("input", names)
        return _name_of_schema(types.plan_type(hint).schema, types.defs) or _STRING
    except (Unresolved, TypeError, RecursionError):  # it cannot be read yet, or has no form in JSON
        return _STRING


def _describe_parameters(function: Any, options: Options) -> dict[str, Any]:
    try:
        found = read_parameters(function, options.include_arguments, options.exclude_arguments)
    except (ValueError, TypeError):  # written in C
        return {"parameters": [], "required": []}
    shown = [parameter for parameter in found.shown if parameter.kind not in OPEN]
    if shown and shown[0] is found.every[0] and _is_receiver(shown[0].name, function):
        del shown[0]
    return {
        "parameters": [_describe_parameter(parameter, found) for parameter in shown],
        "required": [parameter.name for parameter in shown if is_required(parameter)],
    }


def _is_receiver(first: str, function: Any) -> bool:
    """True if the first parameter, called *first*, is not for callers."""
    scope = getattr(function, "__qualname__", "").rpartition(".")[0]
    is_in_class = not scope.endswith("<locals>") and scope != ""
    if isinstance(function, MethodType):  # it is bound: its receiver is no parameter
        return False
    return first == "self" or (first == "cls" and is_in_class)


def _describe_parameter(parameter: Declared, found: Parameters) -> dict[str, str]:
    hint = Any if parameter.annotation is EMPTY else parameter.annotation
    text = _find_text(hint, found.names) or found.get_text(parameter.name) or ""
    return {"name": parameter.name, "type": name_type(hint, found.names), "description": text}


def _describe_schema(schema: dict[str, Any]) -> dict[str, Any]:
    """Return Lagent's description of the arguments in *schema*."""
    properties = schema.get("properties", {})
    definitions = schema.get("$defs", {})
    parameters = []
    for name, member in properties.items():
        type_ = _name_of_schema(member, definitions) or _STRING
        text = member.get("description", "")
        parameters.append({"name": name, "type": type_, "description": text})
    required = [name for name in schema.get("required", []) if name in properties]
    return {"parameters": parameters, "required": required}


def return_data(function: Callable[..., Any], options: Options) -> list[dict[str, str]]:
    """Return the members of the result by the docstring of *function*, as far as *options* ask for
    them.
    """
    doc = docstrings.read_docstring(function)
    entries: list[DocEntry] = []
    if options.explode_return and doc.returns:
        entries = read_list(doc.returns[0].text)
    elif options.returns_named_value:
        entries = list(doc.returns)
    return [_describe_entry(entry) for entry in entries]


def with_members(
    schema: dict[str, Any], members: list[dict[str, Any]], *, is_tuple: bool
) -> dict[str, Any]:
    """Return an output *schema* with the names and texts of *members*, if it says nothing of them
    itself.

    Their types are left out: nothing but a docstring vouches for them. (A promise that a tool does
    not keep makes an error of every answer. `{"distance": 3.2}` is documented as `str` by Lagent's
    own BINGMap.)
    """
    named = [member for member in members if member.get("name")]
    if not named:
        return schema
    if schema == {"type": "object"}:
        properties = {}
        for member in named:
            properties[member["name"]] = {"description": member.get("description", "")}
        return {**schema, "properties": properties}
    if not is_tuple:
        return schema
    result = schema["properties"]["result"]
    places = result.get("prefixItems", [{}] * result.get("maxItems", len(named)))
    if len(places) != len(named):
        return schema
    described = []
    for place, member in zip(places, named, strict=True):
        item = {**place, "title": member["name"]}
        if member.get("description"):
            item["description"] = member["description"]
        described.append(item)
    return {**schema, "properties": {"result": {**result, "prefixItems": described}}}


def read_list(text: str) -> list[DocEntry]:
    """Return the entries of the list below the first line of *text*, nested ones among them:
    `- name (type): text`.

    Bullets may be missing. A line that begins no entry goes on with the one above.
    """
    found: list[str] = []
    lines = _find_lines_of_list(text)
    has_bullets = any(without_bullet(line) is not None for line in lines)
    for line in lines:
        item = without_bullet(line)
        if item is not None:
            found.append(item)
        elif _is_entry(line, has_bullets):
            found.append(line.strip())
        elif found:
            found[-1] += " " + line.strip()
    entries = []
    for item in found:
        word, type_, text = split_entry(item) or split_entry(item + ":") or ("", "", item)
        entries.append(DocEntry(word or None, type_ or None, text))
    return entries


def _find_lines_of_list(text: str) -> list[str]:
    first, *rest = text.split("\n")
    lines = rest if without_bullet(first) is None else [first, *rest]
    return [line for line in lines if line.strip()]


def _is_entry(line: str, has_bullets: bool) -> bool:
    """Return whether *line* without a bullet is an entry; where there are bullets, `note: text`
    belongs to the one above.
    """
    word, type_, _ = split_entry(line) or ("", "", "")
    if not word:
        return False
    return not has_bullets or hint_of(type_) is not None


def _describe_entry(entry: DocEntry) -> dict[str, str]:
    described = {"name": entry.name} if entry.name else {}
    described["description"] = entry.text.strip()
    if entry.type:
        described["type"] = name_type(hint_of(entry.type), {})
    return described


def _find_text(hint: Any, names: Names) -> str:
    """Return what `Annotated` says of a type, or of a member of a union."""
    try:
        members = list_members(unwrap_annotation(hint, names).hint, names) or ()
        for each in (hint, *members):
            texts = read(unwrap_annotation(each, names).metadata).texts
            if "description" in texts:
                return str(texts["description"])
    except (Unresolved, TypeError):
        pass
    return ""


def _name_of_schema(schema: dict[str, Any], definitions: dict[str, Any]) -> str:
    """Return Lagent's name for the type of *schema*; an empty text if it has none."""
    graph = SchemaGraph({"$defs": definitions})
    names = []
    for node in graph.get_node(schema).list_alternatives():
        if node.choices:
            continue
        type_ = ""
        if len(node.types) == 1:
            type_ = node.types[0]
        names.append(_NAMES.get(type_, _STRING))
    names = [name for name in names if name]
    if _STRING in names:
        return _STRING
    if "FLOAT" in names and "NUMBER" in names:
        return "FLOAT"
    if not names:
        return ""
    return names[0]
