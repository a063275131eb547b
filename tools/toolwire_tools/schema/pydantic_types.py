"""pydantic's types, by pydantic's own means. Imported by whoever uses it; never by us alone.

Strategy. pydantic gives the schema, made portable here; its strict JSON mode reads values, because the lax one takes
what the published schema refuses ("5" for an integer). Once jsonschema has passed the value, the lax one may read it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

import msgspec

from .portable import portable
from .shape import JUDGE, Build, Refused, Schema, Shape

if TYPE_CHECKING:
    from .scalars import Direction


class NotAModel(TypeError):
    """pydantic itself cannot describe the type."""


def shape(hint: Any, direction: Direction, defs: dict[str, Schema]) -> Shape:
    """Return the shape of a type that pydantic describes; definitions it cannot do without go into *defs*.

    Raises:
        NotAModel: if pydantic does not know the type either.
    """
    from pydantic import TypeAdapter
    from pydantic.errors import PydanticUserError

    try:
        adapter: Any = TypeAdapter(hint)
        mode: Any = "serialization" if direction == "output" else "validation"
        schema = portable(adapter.json_schema(mode=mode), defs)
    except (PydanticUserError, NameError, ImportError) as error:  # ImportError: EmailStr has a package of its own
        raise NotAModel(str(error).partition("\n")[0]) from error
    build = None if direction == "output" else _reader(adapter, lax=direction == "lenient")
    return Shape(schema, Any, build, care=JUDGE)


def _reader(adapter: Any, *, lax: bool) -> Build:
    from pydantic import VERSION, ValidationError
    from pydantic_core.core_schema import ErrorType

    # Before 2.12 only the model's own configuration can forbid unknown members.
    forbids = tuple(map(int, VERSION.split(".")[:2])) >= (2, 12)
    how: dict[str, Any] = {} if lax else {"strict": True, "extra": "forbid"} if forbids else {"strict": True}

    # The other types of error carry the text of a validator that the tool's author wrote.
    own = set(get_args(ErrorType)) - {"value_error", "assertion_error"}

    def build(value: Any) -> Any:
        try:
            return adapter.validate_json(msgspec.json.encode(value), **how)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            raise Refused(first["msg"], first["loc"], private=first["type"] not in own) from error

    return build


def dumped(value: Any) -> Any:
    """An object of a class that pydantic knows, as plain JSON data."""
    from pydantic import TypeAdapter

    return TypeAdapter(type(value)).dump_python(value, mode="json", by_alias=True)
