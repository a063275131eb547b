"""Four times the schema takes four times the work, by whichever visitor of its graph.

Those that decide instead of describing (validation, comparison, strict arguments, generated values)
have budgets of steps, and are tested where these are.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from support.counted_calls import is_linear
from support.expensive_schemas import SCHEMAS, tool
from toolwire.inspect.form_nodes import write_form
from toolwire.loading.argument_text import read
from toolwire_agent.react.replies.reply_schema import _Definitions
from toolwire_agent.terminal.forms import read_fields
from toolwire_dialects import lagent, markdown, python_stub, typescript
from toolwire_dialects.compare.nodes import ComparedSchema
from toolwire_dialects.definition_meanings import find_meanings
from toolwire_dialects.lint.audit import audit
from toolwire_dialects.openai_strict import NotStrict, make_strict
from toolwire_dialects.typed_clients import generate, list_languages
from toolwire_schemas.json_schema.graph import SchemaGraph

ROOT = Path(__file__).parents[2]
Entry = dict[str, Any]


def write_client(language: str) -> Callable[[Entry], object]:
    return lambda entry: generate(language, [entry], command=[], head=[], runtime_in="package")


def write_strict(entry: Entry) -> None:
    with suppress(NotStrict):
        make_strict(entry["inputSchema"])


VISITORS: dict[str, Callable[[Entry], object]] = {
    "stub": python_stub.from_entry,
    "signature": python_stub.format_signature,
    "typescript": typescript.from_entry,
    "markdown": markdown.from_entry,
    "strict": write_strict,
    "lagent": lagent.from_entry,
    **{f"client in {language}": write_client(language) for language in list_languages()},
    "lint": lambda entry: audit([entry]),
    "meanings": lambda entry: find_meanings(SchemaGraph(entry["inputSchema"])),
    "comparison": lambda entry: ComparedSchema(entry["inputSchema"]),
    "form on the page": lambda entry: write_form(entry["inputSchema"]),
    "form at the terminal": lambda entry: read_fields(entry["inputSchema"]),
    "argument on the command line": lambda entry: read(["a=x"], entry["inputSchema"]),
    "reply": lambda entry: _Definitions().move(entry["inputSchema"], "t"),
}


# The others ask the graph, or the functions of `subschemas.py`.
MENTION_REFERENCES = {
    "schemas/toolwire_schemas/json_schema/graph.py": "follows them",
    "schemas/toolwire_schemas/json_schema/subschemas.py": "reads and writes them",
    "schemas/toolwire_schemas/json_schema/fast_schema_check.py": "checks the form of all keywords",
    "schemas/toolwire_dialects/openai_strict.py": "refuses one at the root by its name",
    "tools/toolwire_tools/schema/shape.py": "is imported at the start, where the others are not",
    "server/toolwire/wrapping/shapes.py": "lists the keywords that a shared recording may have",
    "clients/toolwire_client/redaction/redactor.py": "lists the keywords whose values stay",
    "clients/toolwire_check/playing/polled_task.py": "names the published schema of a state",
    "clients/toolwire_check/values/nasty_values.py": "sends it as the name of a member",
}


def test_nine_files_know_how_a_reference_is_written() -> None:
    found = []
    for package in ("schemas", "tools", "server", "clients"):
        for path in (ROOT / package).rglob("*.py"):
            if "$ref" in path.read_text("utf-8"):
                found.append(path.relative_to(ROOT).as_posix())
    assert sorted(found) == sorted(MENTION_REFERENCES)


@pytest.mark.slow
@pytest.mark.parametrize("kind", SCHEMAS)
@pytest.mark.parametrize("visitor", VISITORS)
def test_work_is_linear_in_the_schema(visitor: str, kind: str) -> None:
    visit = VISITORS[visitor]

    def prepare(times: int) -> Callable[[], object]:
        entry = tool(kind, times)
        return lambda: visit(entry)

    assert is_linear(prepare)
