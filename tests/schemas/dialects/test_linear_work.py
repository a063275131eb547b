"""Four times the schema takes four times the work, in whichever format it is written."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest
from support.counted_calls import is_linear
from support.expensive_schemas import SCHEMAS, tool
from toolwire_dialects import lagent, markdown, python_stub, typescript
from toolwire_dialects.openai_strict import NotStrict, strict
from toolwire_dialects.typed_clients import generate, list_languages

Entry = dict[str, Any]


def write_client(language: str) -> Callable[[Entry], object]:
    return lambda entry: generate(language, [entry], command=[], head=[], embeds=False)


def write_strict(entry: Entry) -> None:
    with suppress(NotStrict):
        strict(entry["inputSchema"])


VISITORS: dict[str, Callable[[Entry], object]] = {
    "stub": python_stub.from_entry,
    "signature": python_stub.signature,
    "typescript": typescript.from_entry,
    "markdown": markdown.from_entry,
    "strict": write_strict,
    "lagent": lagent.from_entry,
    **{f"client in {language}": write_client(language) for language in list_languages()},
}


@pytest.mark.parametrize("kind", SCHEMAS)
@pytest.mark.parametrize("visitor", VISITORS)
def test_work_is_linear_in_the_schema(visitor: str, kind: str) -> None:
    visit = VISITORS[visitor]

    def prepare(times: int) -> Callable[[], object]:
        entry = tool(kind, times)
        return lambda: visit(entry)

    assert is_linear(prepare)
