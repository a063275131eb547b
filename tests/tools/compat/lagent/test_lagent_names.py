"""Every public name of Lagent has a place here, or an ImportError that says what to use instead.

`python tests/tools/compat/lagent/test_lagent_names.py` writes the table of MIGRATING.md anew.
"""

from __future__ import annotations

import importlib
import re
from pathlib import Path

import pytest
from toolwire_compat import lagent
from toolwire_compat.lagent import missing_names

MIGRATING = Path(__file__).parents[4] / "MIGRATING.md"
RECORDED = Path(__file__).with_name("lagent_public_names.txt")
"""The names that modules of Lagent 0.2.4 and 0.5 define or re-export, with the versions that have
them.
"""

_TABLE = re.compile(r"(?<=<!-- names of Lagent -->\n).*?(?=<!-- /names of Lagent -->)", re.DOTALL)


def public_names() -> list[str]:
    return [line.split()[0] for line in RECORDED.read_text("utf-8").splitlines()]


def without_place() -> list[str]:
    return [
        name for replacement in missing_names._load_names().replaced for name in replacement.names
    ]


def table() -> str:
    lines = ["| Lagent | instead |", "|---|---|"]
    for name, place in missing_names._load_names().moved.items():
        lines.append(f"| `{name}` | `from {place} import {name}` |")
    for replacement in missing_names._load_names().replaced:
        names = ", ".join(f"`{name}`" for name in replacement.names)
        instead = replacement.instead.replace("{twin}", "the class without `Async`")
        lines.append(f"| {names} | {instead} |")
    return "\n".join(lines) + "\n"


def test_both_versions_are_recorded() -> None:
    lines = RECORDED.read_text("utf-8").splitlines()
    assert {version for line in lines for version in line.split()[1:]} == {"0.2.4", "0.5"}
    assert "list_tools 0.2.4" in lines
    assert "AgentMessage 0.5" in lines


def test_each_public_name_has_a_place_or_an_error_that_says_what_to_use() -> None:
    for name in public_names():
        check_public_name(name)


def check_public_name(name: str) -> None:
    place = lagent.__name__ if name in lagent.__all__ else missing_names.find_other_place(name)
    if place is not None:
        assert hasattr(importlib.import_module(place), name)
        assert missing_names.find_remedy(name) is None
        return
    with pytest.raises(
        ImportError, match=f"^{name} of Lagent has no counterpart: (use|pass|leave|subclass) "
    ):
        exec(f"from toolwire_compat.lagent import {name}", {})


def test_table_has_each_name_of_lagent_once() -> None:
    listed = [*missing_names._load_names().moved, *without_place()]
    assert len(listed) == len(set(listed))
    assert set(listed) <= set(public_names())


def test_remedies_name_existing_objects() -> None:
    objects = re.compile(r"\b(toolwire_\w+(?:\.[a-z]\w*)*)\.([A-Za-z]\w+)")
    for replacement in missing_names._load_names().replaced:
        for module, name in objects.findall(replacement.instead):
            assert hasattr(importlib.import_module(module), name), f"{module}.{name}"


def test_table_of_the_page_matches_the_error_messages() -> None:
    found = _TABLE.search(MIGRATING.read_text("utf-8"))
    assert found is not None
    assert found[0] == table(), "run: python tests/tools/compat/lagent/test_lagent_names.py"


if __name__ == "__main__":
    page = MIGRATING.read_text("utf-8")
    MIGRATING.write_text(_TABLE.sub(lambda _: table(), page), "utf-8")
