"""Whether a default fits the type of its parameter. Imported for the first default whose type is
not exactly the hint.

The measure is what callers see: the schema of the parameter, in which the default stands. A model
that sends it must not be refused. A default without a form in JSON, such as a sentinel, is in no
schema and is left alone.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import RegistrationError
from ..schema.shape import load
from ..schema.to_json import to_jsonable

if TYPE_CHECKING:
    from typing import Protocol

    from ..schema.shape import Schema, TypePlan
    from ..schema.types import Types

    class HintedParameter(Protocol):
        """The part of a `Declared` that is used here."""

        @property
        def name(self) -> str: ...

        @property
        def annotation(self) -> Any: ...


_MAX_SHOWN = 80


def check_default(
    tool: str, parameter: HintedParameter, plan: TypePlan, default: Any, types: Types | None
) -> None:
    """Do nothing if *default* fits *plan*, which *types* has made.

    Raises:
        RegistrationError: if not; names the *parameter*, its type and what to write.
    """
    fault = _find_fault(default, plan, types.defs if types else {})
    if not fault:
        return
    hint = _hint_text(parameter.annotation)
    raise RegistrationError(
        f"its default {_shorten(repr(default))} does not fit its type {hint}: {fault}",
        tool=tool,
        parameter=f"parameter {parameter.name!r}",
        remedy=_write_remedy(parameter.name, hint, default),
    )


def _find_fault(default: Any, plan: TypePlan, defs: dict[str, Schema]) -> str:
    """Return why *default* does not fit *plan*, whose schema may refer to *defs*; an empty text if
    it does.
    """
    try:
        sent = to_jsonable(default)
    except Exception:  # no JSON, or an author's object that does not let itself be read
        return ""
    try:
        load(sent, plan.msgspec_type)
    except Exception:  # also of an author's `__post_init__`: the schema decides
        return _find_fault_by_schema(sent, {**plan.schema, "$defs": defs} if defs else plan.schema)
    return ""


def _find_fault_by_schema(sent: Any, schema: Schema) -> str:
    from ..schema.validator import ToolSchemaValidator

    faults = ToolSchemaValidator(schema).find_faults(sent, "default")
    return "; ".join(
        sentence if place == "default" else f"{place} {sentence}" for place, sentence in faults
    )


def _write_remedy(name: str, hint: str, default: Any) -> str:
    """Return what to write instead of the parameter *name* with this *hint* and *default*."""
    kind = type(default).__name__
    wider = f"{hint} | {kind}"
    if kind in hint:
        return "give a default that callers may send as well, or a wider type"
    return (
        f"give a default of this type, or a type that has it: `{name}: {wider} ="
        f" {_shorten(repr(default))}`"
    )


def _hint_text(hint: Any) -> str:
    """Return *hint* as its author may have written it."""
    if isinstance(hint, str):
        return hint
    if isinstance(hint, type) and not hasattr(hint, "__args__"):
        return hint.__name__
    return str(hint)


def _shorten(text: str) -> str:
    """Return the beginning of *text*, if it is long."""
    if len(text) <= _MAX_SHOWN:
        return text
    return text[: _MAX_SHOWN - 1] + "…"
