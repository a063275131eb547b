"""TypeScript's compiler takes what we write, whatever a server says, and takes what the schemas
take.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from interop import peers
from support.tool_entry_strategies import ENTRIES, SAMPLES, Sample
from toolwire_dialects import typescript

MANY = settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))


def compiled(modules: list[str], folder: Path) -> str:
    """What the compiler has to say about *modules*."""
    for number, text in enumerate(modules):
        (folder / f"tools{number}.ts").write_text(text, encoding="utf-8")
    options = {
        "noEmit": True,
        "strict": True,
        "target": "es2022",
        "types": [],
        "skipLibCheck": True,
    }
    (folder / "tsconfig.json").write_text(
        json.dumps({"compilerOptions": options, "include": ["*.ts"]})
    )
    done = peers.run(
        [
            peers.node(),
            str(peers.installed_package("typescript") / "bin" / "tsc"),
            "--project",
            str(folder),
        ],
        folder,
    )
    assert (done.returncode == 0) == (done.stdout == ""), done.stderr
    return done.stdout


def test_any_tools_compile(tmp_path: Path) -> None:
    modules: list[str] = []

    @MANY
    @given(st.lists(ENTRIES, max_size=2, unique_by=lambda entry: entry["name"]))
    def write(entries: list[dict[str, Any]]) -> None:
        modules.append(typescript.from_entries(entries))

    write()
    assert compiled(modules, tmp_path) == ""


def test_a_type_takes_whatever_its_schema_takes(tmp_path: Path) -> None:
    modules: list[str] = []

    @MANY
    @given(SAMPLES)
    def write(sample: Sample) -> None:
        schema, arguments, _ = sample
        declared = typescript.from_entry({"name": "f", "inputSchema": schema})
        modules.append(f"{declared}\nf({json.dumps(arguments)});\n")

    write()
    assert compiled(modules, tmp_path) == ""


def test_a_type_refuses_what_its_schema_refuses(tmp_path: Path) -> None:
    schema = {
        "type": "object",
        "properties": {
            "unit": {"type": "string", "enum": ["m", "km"]},
            "at": {"$ref": "#/$defs/Point"},
            "pair": {
                "type": "array",
                "prefixItems": [{"type": "integer"}, {"type": "string"}],
                "items": False,
            },
        },
        "required": ["unit"],
        "$defs": {
            "Point": {"type": "object", "properties": {"x": {"type": "number"}}, "required": ["x"]}
        },
    }
    declared = typescript.from_entry({"name": "f", "inputSchema": schema})
    wrong = [
        "{}",
        '{ unit: "cm" }',
        '{ unit: "m", at: {} }',
        '{ unit: "m", pair: [1] }',
        '{ unit: "m", other: 1 }',
    ]
    said = compiled([f"{declared}\nf({argument});\n" for argument in wrong], tmp_path)
    assert sorted(
        {line.partition("(")[0] for line in said.splitlines() if line.startswith("tools")}
    ) == [f"tools{number}.ts" for number in range(len(wrong))]
