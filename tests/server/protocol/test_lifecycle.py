"""The two eras, the capabilities of a client and the identity of the server, as tables."""

from __future__ import annotations

from typing import Any

import pytest
from support.server_process import MODERN
from toolwire.errors import RequestError
from toolwire.protocol.lifecycle import Eras, Identity, can_elicit

AGREED = {"protocolVersion": "2025-06-18"}


@pytest.mark.parametrize(
    ("name", "version", "expected"),
    [
        ("notes", "2", ("notes", "2")),
        ("notes", None, ("notes", "7")),
        (None, "2", ("found", "2")),
        (None, None, ("found", "7")),
    ],
)
def test_only_what_the_author_does_not_give_is_found(
    name: str | None, version: str | None, expected: tuple[str, str]
) -> None:
    searches = []

    def find() -> tuple[str, str]:
        searches.append(1)
        return "found", "7"

    identity = Identity(name, version, find=find)

    info = identity.describe_server()

    assert (info["name"], info["version"]) == expected
    assert identity.describe_server() is info
    is_complete = name is not None and version is not None
    assert len(searches) == (0 if is_complete else 1)


@pytest.mark.parametrize(
    ("name", "version"), [("notes", "2"), ("notes", None), (None, "2"), (None, None)]
)
def test_without_a_search_what_is_not_given_is_empty(name: str | None, version: str | None) -> None:
    info = Identity(name, version, title="Notes").describe_server()

    assert info == {"name": name or "", "version": version or "", "title": "Notes"}


def receive(eras: Eras, kind: str) -> str:
    """Return what *eras* makes of a request: the era, or `refused`."""
    if kind == "initialize":
        eras.record_initialize()
        return "legacy"
    params = {"_meta": MODERN} if kind == "modern" else {}
    method = "notifications/initialized" if kind == "notification" else "tools/list"
    try:
        return "modern" if eras.is_modern(method, params) else "legacy"
    except RequestError:
        return "refused"


@pytest.mark.parametrize(
    ("kinds", "expected"),
    [
        (["legacy"], ["legacy"]),
        (["modern", "modern"], ["modern", "modern"]),
        (["modern", "legacy"], ["modern", "refused"]),
        (["modern", "notification"], ["modern", "legacy"]),
        (["initialize", "modern", "legacy"], ["legacy", "modern", "legacy"]),
        (["modern", "initialize", "legacy"], ["modern", "legacy", "legacy"]),
        (["modern", "initialize", "modern", "legacy"], ["modern", "legacy", "modern", "legacy"]),
    ],
)
def test_requests_must_name_their_version_after_modern_ones_unless_a_client_has_initialized(
    kinds: list[str], expected: list[str]
) -> None:
    eras = Eras()

    assert [receive(eras, kind) for kind in kinds] == expected


@pytest.mark.parametrize(
    ("params", "expected"),
    [
        ({"capabilities": {"elicitation": {}}}, {"elicitation": {}}),
        ({"capabilities": {}}, {}),
        ({"capabilities": None}, {}),
        ({"capabilities": ["elicitation"]}, {}),
        ({}, {}),
    ],
)
def test_capabilities_that_are_no_object_are_ignored(params: Any, expected: Any) -> None:
    eras = Eras()

    eras.record_agreement(params, AGREED)

    assert (eras.version, eras.capabilities) == ("2025-06-18", expected)


@pytest.mark.parametrize(
    ("capabilities", "expected"),
    [
        ({}, False),
        ({"elicitation": None}, False),
        ({"elicitation": ["form"]}, False),
        ({"elicitation": "form"}, False),
        ({"elicitation": {}}, True),
        ({"elicitation": {"form": {}}}, True),
        ({"elicitation": {"url": {}}}, False),
        ({"elicitation": {"url": {}, "form": {}}}, True),
        ({"sampling": {}}, False),
    ],
)
def test_a_client_shows_forms_if_it_declares_elicitation_without_a_mode_or_that_one(
    capabilities: Any, expected: bool
) -> None:
    assert can_elicit(capabilities) is expected


def test_the_error_for_an_unknown_version_repeats_a_hundred_characters_of_it() -> None:
    meta = {**MODERN, "io.modelcontextprotocol/protocolVersion": "x" * 300}

    with pytest.raises(RequestError) as refused:
        Eras().is_modern("tools/list", {"_meta": meta})

    assert refused.value.message == f"Unsupported protocol version: {'x' * 100}"
