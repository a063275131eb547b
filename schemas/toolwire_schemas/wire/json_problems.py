"""Says what is wrong with a text that is not JSON. Imported for such a text alone."""

from __future__ import annotations

from orjson import JSONDecodeError, loads


def explain(text: bytes | str, problem: str, too_long: str) -> str:
    """Return the *problem* that msgspec has with *text*, clearer for integers that are *too_long*
    and for halves of surrogate pairs.
    """
    try:
        loads(text)
    except JSONDecodeError as error:
        is_of_utf_8 = "UTF-8" in error.msg  # it speaks of surrogates there, too
        if "surrogate" in error.msg and not is_of_utf_8:
            half = "an escaped surrogate without the other half of its pair"
            return f"{half} (character {error.pos})"
    return problem.replace("Integer value out of range", f"an integer has {too_long}")
