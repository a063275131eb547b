"""A server is set in a TOML or YAML file that people edit, and everything else in it stays."""

from __future__ import annotations

import tomllib
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from toolwire.hosts import toml_edit, yaml_edit
from toolwire.hosts.safe_write import NotRewritten

VALUE: dict[str, Any] = {"command": "py", "args": ["-m", "x y"], "env": {"A": 'b "c" \\ ü\t'}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "[s.x]\na = 1\n"),
        ("# mine\nm = 1 # one", "# mine\nm = 1 # one\n\n[s.x]\na = 1\n"),
        ("[s.y]\nb = 2\n\n", "[s.y]\nb = 2\n\n[s.x]\na = 1\n"),
        (
            "[s.x]\nold = [\n  1,\n]\n[s.x.env]\nK = 1 # gone\n\n# of z\n[z]\nc = 3\n",
            "[s.x]\na = 1\n\n# of z\n[z]\nc = 3\n",
        ),
        ("[s.'x']\nold = 1\n", "[s.x]\na = 1\n"),
        ("[a]\nb = 1\r\n[s.x]\r\nold = 1\r\n", "[a]\nb = 1\r\n[s.x]\r\na = 1\r\n"),
        ("[s.x]\nold = 1\n[z]\n[s.x.env]\nK = 1\n", "[s.x]\na = 1\n[z]\n"),
    ],
)
def test_a_table_is_set_and_the_layout_of_toml_stays(before: str, after: str) -> None:
    assert toml_edit.set_member(before, ("s", "x"), {"a": 1}) == after


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "s:\n  x:\n    a: 1\n"),
        ("# only\n", "# only\ns:\n  x:\n    a: 1\n"),
        ("m: 1 # one", "m: 1 # one\ns:\n  x:\n    a: 1\n"),
        ("s:\nm: 1\n", "s:\n  x:\n    a: 1\nm: 1\n"),
        ("s: {} # none yet\nm: 1\n", "s:\n  x:\n    a: 1 # none yet\nm: 1\n"),
        (
            "s:\n    # of y\n    y:\n        b: 2\n",
            "s:\n    # of y\n    x:\n      a: 1\n    y:\n        b: 2\n",
        ),
        (
            "s:\n  x:\n    old:\n      - 1\n      - 2 # gone\n  # of y\n  y: 2\n",
            "s:\n  x:\n    a: 1 # gone\n  # of y\n  y: 2\n",
        ),
        ("s:\n  x:\n  y: 2\n", "s:\n  x:\n    a: 1\n  y: 2\n"),
        ("s:\r\n  y: 2\r\n", "s:\r\n  x:\r\n    a: 1\r\n  y: 2\r\n"),
    ],
)
def test_a_mapping_is_set_and_the_layout_of_yaml_stays(before: str, after: str) -> None:
    assert yaml_edit.set_member(before, ("s", "x"), {"a": 1}) == after


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (toml_edit, "s = {}\n"),
        (toml_edit, "s.x = 1\n"),
        (toml_edit, "[[s]]\n"),
        (toml_edit, 'text = """\n[s.x]\n"""\n[s.x]\na = 2\n'),
        (toml_edit, "["),
        (yaml_edit, "s: {y: 1}\n"),
        (yaml_edit, "s: [1]\n"),
        (yaml_edit, "s: text\n"),
        (yaml_edit, "- 1\n"),
        (yaml_edit, "text\n"),
        (yaml_edit, "a: b: c\n"),
        (yaml_edit, "a: 1\n---\nb: 2\n"),
        (yaml_edit, "!!python/object:os.system {}\n"),
    ],
)
def test_a_file_that_cannot_be_edited_safely_is_refused(edit: Any, text: str) -> None:
    with pytest.raises(NotRewritten):
        edit.set_member(text, ("s", "x"), {"a": 1})


NAMES = st.text(st.characters(codec="utf-8", exclude_categories=["Cc", "Cs"]), max_size=5)
SCALARS = st.booleans() | st.integers(-9, 9) | NAMES
TABLES = st.dictionaries(
    NAMES, st.dictionaries(NAMES, SCALARS | st.lists(SCALARS, max_size=2), max_size=3), max_size=3
)


@given(TABLES, NAMES, st.booleans())
def test_everything_else_in_a_toml_file_is_kept(
    before: dict[str, Any], name: str, is_last: bool
) -> None:
    parts = [toml_edit.dumps(("s", other), value) for other, value in before.items()]
    parts.insert(len(parts) if is_last else 0, "# mine\n[other] # one\nkey = 1\n")
    text = "\n".join(parts)
    made = toml_edit.set_member(text, ("s", name), VALUE)
    assert tomllib.loads(made) == {"other": {"key": 1}, "s": {**before, name: VALUE}}
    assert "# mine\n[other] # one\nkey = 1\n" in made


@given(TABLES, NAMES, st.sampled_from(["  ", "    "]))
def test_everything_else_in_a_yaml_file_is_kept(
    before: dict[str, Any], name: str, unit: str
) -> None:
    lines = [yaml_edit.dumps((other,), value, unit) for other, value in before.items()]
    block = "".join(f"\n{unit}{line}" for part in lines for line in part.split("\n"))
    text = f"# mine\nother: 1 # one\ns:{block}\n# last\n"
    try:
        made = yaml_edit.set_member(text, ("s", name), VALUE)
    except NotRewritten:  # PyYAML refuses some characters, which JSON and so we do not escape
        with pytest.raises(yaml.YAMLError):
            yaml.safe_load(text + yaml_edit.dumps((name,), VALUE))
        return
    assert yaml.safe_load(made) == {
        "other": 1,
        "s": {**(yaml.safe_load(text)["s"] or {}), name: VALUE},
    }
    assert made.startswith("# mine\nother: 1 # one\ns:")
    assert made.endswith("\n# last\n")


@given(st.sampled_from([toml_edit, yaml_edit]), st.text(alphabet="{}[]\"'=.:#-s x1\n", max_size=14))
def test_any_text_is_edited_or_refused(edit: Any, text: str) -> None:
    try:
        made = edit.set_member(text, ("s", "x"), VALUE)
    except NotRewritten:
        return
    assert edit.loads(made)["s"]["x"] == VALUE
