"""The published schemas, by name: as text, as dicts, as validators, as one document. Needs no
network.

They are JSON Schema 2020-12, one to a file, and refer to each other by their `$id`s, which are
names and no addresses: `urn:toolwire:v1:tool`. A validator in any language that is given all of
them, or a bundle, resolves every reference.
"""

from __future__ import annotations

from functools import cache
from importlib.resources import files
from typing import TYPE_CHECKING, Any

from .did_you_mean import explain_unknown_name, sort_closest_first
from .json_schema.graph import SchemaGraph
from .json_schema.subschemas import (
    get_reference,
    map_subschemas,
    refer_to,
    refer_to_definition,
    walk,
)
from .wire.codec import decode

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from importlib.resources.abc import Traversable

    from jsonschema import Draft202012Validator
    from referencing import Registry

DIALECT = "https://json-schema.org/draft/2020-12/schema"

PREFIX = "urn:toolwire:v1:"
"""The part of a schema's `$id` before its name. Within `v1` no schema changes its meaning."""

_FOLDER = files(__package__) / "v1"
_CASES = files(__package__) / "cases"
_SUFFIX = ".schema.json"


class UnknownSchema(LookupError):
    """No schema has this name, or it has no such place. The message proposes the closest and lists
    all.
    """

    def __str__(self) -> str:
        return str(self.args[0])


@cache
def list_names() -> tuple[str, ...]:
    """Return the names of all schemas, in order."""
    found = (path.name for path in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(_SUFFIX) for name in found if name.endswith(_SUFFIX)))


def read_text(name: str) -> str:
    """Return the schema of this *name* as it stands in its file.

    Raises:
        UnknownSchema: if no schema has this name.
    """
    if name not in list_names():
        raise UnknownSchema(
            explain_unknown_name("schema", name, sort_closest_first(name, list_names(), 3))
        )
    return (_FOLDER / (name + _SUFFIX)).read_text("utf-8")


def load(name: str) -> dict[str, Any]:
    """Return the schema of this *name*, a new dict at each call.

    Raises:
        UnknownSchema: if no schema has this name.
    """
    schema: dict[str, Any] = decode(read_text(name))
    return schema


def load_validator(name: str) -> Draft202012Validator:
    """Return jsonschema's validator for the schema of this *name*, or for a part of it:
    `jsonrpc-error#/$defs/error`.

    Raises:
        UnknownSchema: if no schema has this name.
    """
    from jsonschema import Draft202012Validator
    from referencing.exceptions import Unresolvable

    try:
        _load_registry().resolver().lookup(PREFIX + name)
    except Unresolvable:
        whole, _, place = name.partition("#")
        parts = [f"/$defs/{part}" for part in load(whole).get("$defs", {})]
        raise UnknownSchema(explain_unknown_name(f"place in {whole}", place, parts)) from None
    return Draft202012Validator(refer_to(PREFIX + name), registry=_load_registry())


def bundle(*chosen: str) -> dict[str, Any]:
    """Return one document that holds all schemas, or the *chosen* ones and whatever these refer to,
    under `$defs`.

    Every reference in it is to a place in it. If one schema is chosen, the document is that one,
    and can be given to a validator, an editor or a generator of types as it is.

    Raises:
        UnknownSchema: if one of the *chosen* does not exist.
    """
    root = ""
    if len(set(chosen)) == 1:
        root = chosen[0]
    parts = {}
    for name in _with_referenced(chosen or list_names()):
        parts[name] = _with_local_references(load(name), name, root)
    whole = parts.pop(root, {"$schema": DIALECT})
    for part in parts.values():  # with an `$id` of its own it would be a document of its own
        del part["$id"], part["$schema"]
    return {**whole, "$defs": {**whole.get("$defs", {}), **parts}}


def list_references(schema: dict[str, Any]) -> list[str]:
    """Return the names of the other schemas that *schema* refers to, each once."""
    found: dict[str, None] = {}
    graph = SchemaGraph(schema)
    for _, inner in walk(schema, ""):  # in the order of the file
        pointer = graph.get_node(inner).pointer
        if pointer.startswith(PREFIX):
            found[_name_in(pointer)] = None
    return list(found)


def iterate_files_to_export(*, with_cases: bool = False) -> Iterator[tuple[str, str]]:
    """Yield the name and the text of every file that hosts in other languages may want: schemas and
    declarations.

    *with_cases* adds the contract cases, in the folder `cases`.
    """
    for path in _list_files(_FOLDER):
        yield path.name, path.read_text("utf-8")
    if not with_cases:
        return
    for path in _list_files(_CASES):
        if path.name.endswith((".json", ".md")):
            yield f"cases/{path.name}", path.read_text("utf-8")


def _list_files(folder: Traversable) -> list[Traversable]:
    return sorted(folder.iterdir(), key=lambda path: path.name)


def _with_referenced(chosen: Sequence[str]) -> list[str]:
    """Return the *chosen* names, and those of all schemas that they refer to."""
    found = list(dict.fromkeys(chosen))
    for name in found:  # the loop appends to it
        for other in list_references(load(name)):
            if other not in found:
                found.append(other)
    return found


def _with_local_references(schema: Any, name: str, root: str) -> Any:
    """Return *schema*, which is the one called *name* or a part of it, as it is in a bundle whose
    root is called *root*.
    """
    if not isinstance(schema, dict):
        return schema
    made = map_subschemas(schema, lambda inner: _with_local_references(inner, name, root))
    reference = get_reference(made)
    if reference is None:
        return made
    other, _, place = reference.removeprefix(PREFIX).partition("#")
    document = other or name
    if document == root:
        return {**made, **refer_to(f"#{place}")}
    return {**made, **refer_to_definition(document + place)}


def _name_in(reference: str) -> str:
    return reference.removeprefix(PREFIX).partition("#")[0]


@cache
def _load_registry() -> Registry[Any]:
    from referencing import Registry, Resource

    resources = ((PREFIX + name, Resource.from_contents(load(name))) for name in list_names())
    return Registry().with_resources(resources).crawl()
