"""Texts of a hostile server in generated clients: none of them reaches source code as it is."""

from __future__ import annotations

from typing import Any

import pytest
from clients.languages.hostile import CHARACTERS, forbidden_in, hostile_entries
from hypothesis import given
from hypothesis import strategies as st
from toolwire_dialects.typed_clients import LANGUAGES, generate
from toolwire_dialects.typed_clients.source_text import clean, to_lines

HOSTILE = hostile_entries()


@pytest.mark.parametrize("language", LANGUAGES)
@pytest.mark.parametrize("embeds", [True, False])
def test_no_character_that_steers_a_reader_is_in_a_client(language: str, embeds: bool) -> None:
    command = [f"server {text}" for text in CHARACTERS.values()]
    source = generate(
        language,
        HOSTILE,
        command=command,
        head=list(CHARACTERS.values()),
        runtime_in="client" if embeds else "package",
    )
    assert forbidden_in(source) == set()


def described(text: str) -> list[Any]:
    """Return a tool with *text* as the description of a definition that another one refers to."""
    inner = {"type": "object", "description": text, "properties": {"x": {"type": "number"}}}
    reference = {"$ref": "#/$defs/inner"}
    schema = {
        "type": "object",
        "properties": {"a": reference, "b": reference},
        "$defs": {"inner": inner},
    }
    return [{"name": "tool", "inputSchema": schema, "outputSchema": schema}]


@pytest.mark.parametrize("language", LANGUAGES)
@given(text=st.text())
def test_any_description_of_a_definition_becomes_printable(language: str, text: str) -> None:
    source = generate(
        language, described(text), command=["server"], head=["Head."], runtime_in="package"
    )
    assert forbidden_in(source) == set()


@given(st.text())
def test_cleaning_keeps_what_is_printable_and_the_layout(text: str) -> None:
    cleaned = clean(text)
    assert len(cleaned) == len(text)
    for before, after in zip(text, cleaned, strict=True):
        assert after == before if before.isprintable() or before in "\n\t" else after in " \ufffd"


def test_spaces_of_other_scripts_stay_spaces_in_comments() -> None:
    assert to_lines("\u3000wide\u3000\u00a0space\n") == ["wide  space"]
