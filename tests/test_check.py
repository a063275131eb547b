"""`tests/check`: which tests its arguments choose. A program in the place of Python records how
pytest is called.
"""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

CHECK = Path(__file__).with_name("check")
QUICK = "not process and not slow"
PYTHON = """#!/bin/sh
case "$1 $2" in
    "-c "*) echo 2 ;;
    "-m pytest") printf '%s\\n' "$@" > "$RECORD" ;;
esac
"""


@pytest.mark.process
@pytest.mark.parametrize(
    ("arguments", "layer", "profile"),
    [
        ([], QUICK, "dev"),
        (["-x"], QUICK, "dev"),
        (["-k", "name"], QUICK, "dev"),
        (["-k", "tests"], QUICK, "dev"),  # also the name of a folder
        (["-x", "--durations=5"], QUICK, "dev"),
        (["tests/schemas"], "", "dev"),
        (["-k", "name", "tests/schemas"], "", "dev"),
        (["tests/test_check.py::test_arguments_choose_the_layer"], "", "dev"),
        (["--all"], "", "ci"),
        (["--all", "-x"], "", "ci"),
    ],
)
def test_arguments_choose_the_layer(
    tmp_path: Path, arguments: list[str], layer: str, profile: str
) -> None:
    python = tmp_path / "python"
    python.write_text(PYTHON)
    python.chmod(0o755)
    record = tmp_path / "record"
    environment = {**os.environ, "PYTHON": str(python), "RECORD": str(record)}

    done = subprocess.run(
        [CHECK, *arguments], env=environment, capture_output=True, text=True, check=False
    )

    assert (done.returncode, done.stderr) == (0, "")
    called = record.read_text().split("\n")[:-1]
    assert called[called.index("-m", 1) + 1] == layer
    assert f"--hypothesis-profile={profile}" in called
    passed_on = [argument for argument in arguments if argument != "--all"]
    assert called[len(called) - len(passed_on) :] == passed_on
