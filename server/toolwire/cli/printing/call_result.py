"""Prints the result of a call."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.output import RED, emphasize

from .result_content import format_content, save_data
from .terminal import format_json, print_data, print_error, print_remark

if TYPE_CHECKING:
    from toolwire_client import CallResult


def print_result(answer: CallResult, options: dict[str, Any]) -> None:
    """Print *answer* as `--json` and `--output` in *options* say."""
    if options.get("json"):
        print_data(format_json(answer.raw))
        return
    if answer.is_error:
        print_error(emphasize(RED, format_content(answer.content)))
        return
    files = []
    if "output" in options:
        files = save_data(answer.content, options["output"])
        if not files:
            print_remark("nothing was saved: the result is only text")
    print_data(format_content(answer.content, files, hint="; -o FILE saves it"))
