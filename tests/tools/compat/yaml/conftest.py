from __future__ import annotations

from pathlib import Path
from textwrap import dedent
from typing import Any

import pytest


@pytest.fixture
def write(tmp_path: Path) -> Any:
    """Write a file of tools into the test's folder and return its path."""

    def write(text: str, name: str = "tool.yaml") -> str:
        path = tmp_path / name
        path.write_text(dedent(text), "utf-8")
        return str(path)

    return write
