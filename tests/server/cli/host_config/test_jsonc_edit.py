"""A member is set in a text that people wrote, and all else in it stays."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from toolwire.hosts.edits import read_member
from toolwire.hosts.jsonc_edit import loads, set_member
from toolwire.hosts.safe_write import NotRewritten

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=10,
)
OBJECTS = st.dictionaries(st.text(max_size=3), VALUES, max_size=4)
COMMENTS = st.sampled_from(["// one\n", "//\n", "/* two */", '/* { " */', '// "a": 1,\r\n', "/**/"])
SPACES = st.lists(st.sampled_from([" ", "\n", "\t", "\r\n"]) | COMMENTS, max_size=3).map("".join)

_COMMENT = re.compile(r'"(?:[^"\\]|\\.)*"|(//[^\r\n]*|/\*.*?\*/)', re.DOTALL)


@st.composite
def documents(draw: st.DrawFn, value: Any) -> str:
    """*value* as a person may have written it: comments, odd spaces, trailing commas."""

    def space() -> str:
        return draw(SPACES)

    def written(value: Any) -> str:
        match value:
            case dict():
                parts = [
                    f"{space()}{json.dumps(key)}{space()}:{written(inner)}"
                    for key, inner in value.items()
                ]
            case list():
                parts = [written(inner) for inner in value]
            case _:
                return space() + json.dumps(value) + space()
        comma = "," if parts and draw(st.booleans()) else ""
        opening, closing = "{}" if isinstance(value, dict) else "[]"
        return space() + opening + ",".join(parts) + comma + space() + closing + space()

    return written(value)


def comments(text: str) -> list[str]:
    return [found[1].rstrip() for found in _COMMENT.finditer(text) if found[1]]


@given(st.data(), OBJECTS)
def test_what_people_write_means_what_it_says(data: st.DataObject, value: dict[str, Any]) -> None:
    assert loads(data.draw(documents(value))) == value


@given(st.data(), OBJECTS, st.sampled_from(["new", "a"]), VALUES)
def test_everything_else_in_the_file_is_kept(
    data: st.DataObject, before: dict[str, Any], name: str, value: Any
) -> None:
    holder = data.draw(st.sampled_from(["servers", *before]))
    if not isinstance(before.get(holder, {}), dict):
        before = {**before, holder: {}}
    text = data.draw(documents(before))

    made = set_member(text, (holder, name), value)

    assert loads(made) == {**before, holder: {**before.get(holder, {}), name: value}}
    if name not in before.get(holder, {}):
        # Nothing is taken away: the old text is still there, in order.
        letters = iter(made)
        assert all(letter in letters for letter in re.sub(r"\s", "", text))
        assert comments(made) == comments(text)


@given(OBJECTS, VALUES)
def test_plain_json_stays_plain_json(before: dict[str, Any], value: Any) -> None:
    before = {**before, "servers": {"old": 1}}
    for indent in (None, 2, "\t"):
        made = set_member(json.dumps(before, indent=indent), ("servers", "new"), value)
        assert json.loads(made) == {**before, "servers": {"old": 1, "new": value}}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "servers": {\n    "x": 1\n  }\n}\n'),
        ("{}", '{\n  "servers": {\n    "x": 1\n  }\n}'),
        ('{"servers": {}}', '{"servers": {\n  "x": 1\n}}'),
        ('{"servers": {"a": 2}}', '{"servers": {"x": 1, "a": 2}}'),
        ('{"servers": {"x": 2}}', '{"servers": {"x": 1}}'),
        (
            '{\n    // mine\n    "servers": {\n        "a": 2 // two\n    }, // end\n}\n',
            (
                '{\n    // mine\n    "servers": {\n        "x": 1,\n        "a": 2 // two\n    },'
                " // end\n}\n"
            ),
        ),
        (
            '{\n\t"servers": {\n\t\t"a": 2,\n\t\t// "b": 3,\n\t},\n}',
            '{\n\t"servers": {\n\t\t"x": 1,\n\t\t"a": 2,\n\t\t// "b": 3,\n\t},\n}',
        ),
        (
            '{\r\n  "theme": "dark" /* at night */\r\n}\r\n',
            (
                '{\r\n  "servers": {\r\n    "x": 1\r\n  },\r\n  "theme": "dark" /* at night'
                " */\r\n}\r\n"
            ),
        ),
        (
            '{\n  "servers": {\n    // none yet\n  }\n}',
            '{\n  "servers": {\n    "x": 1\n    // none yet\n  }\n}',
        ),
    ],
)
def test_the_layout_is_that_of_the_file(before: str, after: str) -> None:
    assert set_member(before, ("servers", "x"), 1) == after


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("{", "line 1: "),
        ('{\n"a" 1}', "line 2: "),
        ('{"a": 1\n"b": 2}', "line 2: "),
        ('{"a": 1', "line 1: "),
        ('{"a": }', "line 1: "),
        ('{"a": NaN}', "NaN is not JSON"),
        ('{"a": "\\q"}', "line 1: "),
        ('{"a": 1}\n{}', "line 2: "),
        ('{\n"a": 1 /* b', "line 2: "),
        ('{"a": 1,,}', "line 1: "),
        ("[]", "line 1: the whole is not an object"),
        ('{\n"servers": null}', "line 2: servers is not an object"),
        ("[" * 100_000, "it is nested too deeply"),
        ("1" * 5000, "a number in it is too long"),
    ],
)
def test_what_cannot_be_edited_is_refused_with_its_line(text: str, told: str) -> None:
    with pytest.raises(NotRewritten) as refusal:
        set_member(text, ("servers", "x"), 1)
    assert str(refusal.value).startswith(told)


@given(st.text(alphabet='{}[]",:/*1a\\ \n', max_size=12))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        made = set_member(text, ("a", "b"), 1)
    except NotRewritten:
        return
    assert read_member(made, ("a", "b"), loads) == 1
