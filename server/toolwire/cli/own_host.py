"""Settings and names of a server for the host of `serve --for HOST`."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from ..wrapping.host_results import find_max_tokens
from ..wrapping.host_rules import shape_own

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from toolwire_tools import Tool


def choose_settings(host: str) -> dict[str, Any]:
    """Return the defaults of settings that the limits of *host* give."""
    tokens = find_max_tokens(host)
    if tokens is None:
        return {}
    return {"max_result_tokens": tokens, "on_large_result": "truncate"}


def make_shape(host: str) -> Callable[[Sequence[Tool]], list[Tool]]:
    """Return the `shape` of a server whose tools *host* takes."""
    return partial(shape_own, host=host)
