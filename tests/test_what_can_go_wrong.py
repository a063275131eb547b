"""The pages of limits: every test that they name exists, and they have every limit of the settings
with its default.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from toolwire.settings import Settings

ROOT = Path(__file__).parent.parent
PAGES = ("what-can-go-wrong.md", "limits-of-tools.md", "limits-of-other-servers.md")
LINES = "\n".join((ROOT / "docs" / page).read_text(encoding="utf-8") for page in PAGES)
LIMITS = [name for name in Settings.__struct_fields__ if name.startswith("max_")]


def test_each_test_that_is_named_exists() -> None:
    named = set(re.findall(r"`(test_\w+)`", LINES))
    for file in (ROOT / "tests").rglob("test_*.py"):
        named.difference_update(re.findall(r"def (test_\w+)\(", file.read_text(encoding="utf-8")))
    assert not named


@pytest.mark.parametrize("limit", LIMITS)
def test_each_limit_is_there_with_its_default(limit: str) -> None:
    default = getattr(Settings(), limit)
    if default is None:
        shown = "none; with `--for` that of the host"
    elif default == Settings().max_result_bytes:
        shown = "just below 10 MiB"
    elif default % 2**20 == 0:
        shown = f"{default // 2**20} MiB"
    else:
        shown = f"{default:,}"
    [row] = [
        line for line in LINES.splitlines() if f"| `{limit}` |" in line and "twice" not in line
    ]
    assert f"| {shown} |" in row
