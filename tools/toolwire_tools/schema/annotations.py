"""Annotations as objects: strings evaluated, wrappers taken off.

Strategy. `typing.get_type_hints` gives up on a whole function for one bad name and costs more than the rest
of a registration, so each annotation is evaluated by itself, and only if it is a string.
"""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from typing import Annotated, Any, ClassVar, ForwardRef, Union

import msgspec

_TEXTS = ("title", "description", "examples")
BOUNDS = ("ge", "gt", "le", "lt", "multiple_of")
LENGTHS = ("min_length", "max_length")
CONSTRAINTS = (*BOUNDS, *LENGTHS, "pattern", "tz")


class Constraints(msgspec.Struct, frozen=True):
    """Texts and constraints collected from one annotation, the outermost winning."""

    texts: dict[str, Any] = {}
    constraints: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    """Members for the JSON Schema, exactly as the author wrote them."""

    def over(self, inner: Constraints) -> Constraints:
        """These notes, and *inner* where these say nothing."""
        return Constraints(inner.texts | self.texts, inner.constraints | self.constraints, inner.schema | self.schema)


NOTHING = Constraints()


def read(metadata: tuple[Any, ...]) -> Constraints:
    """Return what the members of an `Annotated[...]` after the first say; unknown ones are passed over."""
    texts: dict[str, Any] = {}
    constraints: dict[str, Any] = {}
    schema: dict[str, Any] = {}
    for item in _flat(metadata):
        if isinstance(item, str):
            texts["description"] = item
        elif isinstance(item, msgspec.Meta):
            texts |= _set(item, _TEXTS)
            constraints |= _set(item, CONSTRAINTS)
            schema |= item.extra_json_schema or {}
        elif isinstance(text := getattr(item, "documentation", None), str):
            texts["description"] = text
        elif not isinstance(item, type):
            constraints |= _set(item, (*CONSTRAINTS, *(() if is_field(item) else ("tz",))))
            if is_field(item):
                texts |= _set(item, _TEXTS)
    return Constraints(texts, constraints, schema)


def is_field(item: Any) -> bool:
    """True for what pydantic's `Field(...)` returns."""
    return type(item).__name__ == "FieldInfo" and type(item).__module__ == "pydantic.fields"


def only_describes(field: Any) -> bool:
    """True if a pydantic field says nothing that `read` would lose: no alias, no validator, no strictness."""
    known = {"annotation", "default", "default_factory", "description", "title", "examples", "metadata"}
    said = set(getattr(field, "_attributes_set", known)) - {"annotation"}
    plain = all(any(hasattr(item, name) for name in CONSTRAINTS) for item in field.metadata)
    strict = any(hasattr(item, "strict") for item in field.metadata)
    return plain and not strict and said <= known | set(CONSTRAINTS)


def _flat(metadata: tuple[Any, ...]) -> list[Any]:
    """The members, with `Interval`, `Len` and pydantic's fields replaced by the single constraints in them."""
    flat: list[Any] = []
    for item in metadata:
        if is_field(item):
            flat += [*_flat(tuple(item.metadata)), item]
        elif hasattr(item, "__is_annotated_types_grouped_metadata__"):
            flat += list(item)
        else:
            flat.append(item)
    return flat


def _set(item: Any, names: tuple[str, ...]) -> dict[str, Any]:
    return {name: value for name in names if (value := getattr(item, name, None)) is not None}


Names = Mapping[str, Any]


class Unresolved(Exception):
    """An annotation that is no type at run time, mostly since its module lacks the name, and what to do about it."""

    def __init__(self, annotation: str, error: Exception) -> None:
        is_prose = isinstance(error, SyntaxError)
        super().__init__(
            f"the annotation {annotation!r} " + ("is no type" if is_prose else f"cannot be resolved ({error})")
        )
        self.annotation = annotation
        self.remedy = _DESCRIBE_IT if is_prose else _IMPORT_IT


_IMPORT_IT = (
    "define or import the name at the top of the module, so that it is there at run time "
    "(not only under TYPE_CHECKING, and not inside a function)"
)
_DESCRIBE_IT = 'write a type, such as int; words about it go next to it: Annotated[int, "how many"]'


class UnwrappedHint(msgspec.Struct, frozen=True):
    """A hint without its wrappers."""

    hint: Any
    notes: Constraints
    metadata: tuple[Any, ...] = ()
    wrappers: frozenset[str] = frozenset()
    """Names of the qualifiers taken off: Required, NotRequired, ClassVar, …"""


_QUALIFIERS = {"Required", "NotRequired", "ReadOnly", "Final", "ClassVar"}


def unwrap_annotation(hint: Any, names: Names) -> UnwrappedHint:
    """Take `Annotated`, `NewType`, `Final`, `Required` and the like off *hint*, evaluating it if it is a string."""
    notes = NOTHING
    metadata: tuple[Any, ...] = ()
    wrappers: set[str] = set()
    while True:
        hint = evaluated(hint, names)
        if metadata_here := getattr(hint, "__metadata__", None):
            notes = notes.over(read(metadata_here))
            metadata = (*metadata_here, *metadata)
            hint = hint.__origin__
        elif (parent := getattr(hint, "__supertype__", None)) is not None:
            hint = parent
        elif name := _qualifier(hint):
            wrappers.add(name)
            hint = hint.__args__[0] if getattr(hint, "__args__", None) else Any
        else:
            return UnwrappedHint(hint, notes, metadata, frozenset(wrappers))


def _qualifier(hint: Any) -> str | None:
    if hint is ClassVar or hint is typing.Final:
        return str(hint).rpartition(".")[2]
    name = getattr(getattr(hint, "__origin__", None), "_name", None)
    return name if name in _QUALIFIERS else None


def evaluated(hint: Any, names: Names) -> Any:
    """Return the object that a string or forward reference names; anything else as it is.

    Raises:
        Unresolved: if it names something unknown.
    """
    if isinstance(hint, ForwardRef):
        module = hint.__forward_module__
        names = vars(sys.modules[module]) if isinstance(module, str) and module in sys.modules else names
        hint = hint.__forward_arg__
    if not isinstance(hint, str):
        return hint
    try:
        return evaluated(eval(_compiled(hint), dict(_EVERYWHERE), names), names)
    except Unresolved:
        raise
    except Exception as error:
        raise Unresolved(hint, error) from None


@functools.lru_cache(maxsize=1024)
def _compiled(hint: str) -> types.CodeType:
    """The code of an annotation: compiling is most of what evaluating `int` costs, and every tool's is read twice."""
    return compile(hint.strip(), "<annotation>", "eval")


# What people write in annotations although their file imports it for the type checker only.
_EVERYWHERE = {
    "Any": Any,
    "Union": Union,
    "Optional": typing.Optional,
    "Literal": typing.Literal,
    "Annotated": Annotated,
    **{name: getattr(typing, name) for name in ("Sequence", "Mapping", "Iterable", "Iterator", "Callable")},
    **{name: getattr(typing, name) for name in ("AsyncIterator", "Generator", "AsyncGenerator")},
}


def names_of(function: Callable[..., Any]) -> Names:
    """Return the names that the annotations of *function* may use: those of its module, its closure and itself."""
    plain = unwrap_function(function)
    names: dict[str, Any] = getattr(plain, "__globals__", {})
    inner: dict[str, Any] = {p.__name__: p for p in getattr(plain, "__type_params__", ())}
    code = getattr(plain, "__code__", None)
    for name, cell in zip(getattr(code, "co_freevars", ()), getattr(plain, "__closure__", None) or (), strict=False):
        try:
            inner[name] = cell.cell_contents
        except ValueError:  # a variable that is not set yet
            continue
    return {**names, **inner} if inner else names


def unwrap_function(function: Any) -> Any:
    """Return the function that was written with `def`, below partials, methods, wrappers and callable objects."""
    for layer in layers(function):
        function = layer
    return function


def layers(function: Any) -> Iterator[Any]:
    """Yield *function*, what it wraps, what that wraps, and so on."""
    while True:
        yield function
        if isinstance(function, partial):
            function = function.func
        elif isinstance(function, types.MethodType):
            function = function.__func__
        elif (wrapped := getattr(function, "__wrapped__", None)) is not None:
            function = wrapped
        elif not isinstance(function, types.FunctionType | types.BuiltinFunctionType | type):
            call = getattr(type(function), "__call__", None)  # noqa: B004 (it is wanted, not asked for)
            if not isinstance(call, types.FunctionType):
                return
            function = call
        else:
            return


def is_async(function: Any) -> bool:
    """True if a call of *function* itself returns a coroutine or an async generator, whatever it wraps.

    That includes functions only marked as coroutine functions (inspect.markcoroutinefunction).
    """
    called = (function, getattr(type(function), "__call__", None))  # noqa: B004 (it is wanted, not asked for)
    return any(map(inspect.iscoroutinefunction, called)) or any(map(inspect.isasyncgenfunction, called))


def members(hint: Any, names: Names) -> tuple[Any, ...] | None:
    """Return the members of a union, evaluated, or None if *hint* is not one."""
    return tuple(evaluated(member, names) for member in hint.__args__) if is_union(hint) else None


def is_union(hint: Any) -> bool:
    """True for `A | B`, `Union[A, B]` and `Optional[A]`."""
    return isinstance(hint, types.UnionType) or getattr(hint, "__origin__", None) is Union


def mentions(hint: Any, wanted: Callable[[Any], bool], names: Names, around: tuple[Any, ...] = ()) -> bool:
    """True if *hint*, or any hint inside it, is wanted. *around* are those that it is inside of."""
    try:
        plain = unwrap_annotation(hint, names).hint
    except Unresolved:
        return False
    if wanted(plain):
        return True
    if getattr(plain, "__origin__", None) is typing.Literal or plain in around:
        return False
    around = (*around, plain)
    return any(mentions(inner, wanted, names, around) for inner in getattr(plain, "__args__", None) or ())
