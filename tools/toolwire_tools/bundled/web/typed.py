"""Answers in JSON as values of a type: what is none of it is one clear error, wherever it is wrong."""

from __future__ import annotations

from typing import TypeVar

import msgspec

from .errors import Unusable

T = TypeVar("T")


def typed(answer: bytes, shape: type[T], service: str, *, strict: bool = True) -> T:
    """The *answer* of *service* as a value of the type *shape*. If not *strict*, a number may be written as a string.

    Raises:
        Unusable: if it is none, with the place.
    """
    try:
        return msgspec.json.decode(answer, type=shape, strict=strict)
    except (ValueError, RecursionError) as error:
        raise Unusable(f"{service}'s answer is not what it documents: {error}") from None
