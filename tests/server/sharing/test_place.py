"""Which sessions share a process, and where they meet."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from toolwire.sharing import place as places
from toolwire.sharing.place import CannotShare, find_place, make_environment, make_key

ENVIRONMENT = {b"PATH": b"/bin", b"TOKEN": b"1"}
WORDS = ["--share", "tools.py"]


@pytest.mark.parametrize(
    ("words", "folder", "environment"),
    [
        pytest.param([*WORDS, "--isolate"], b"/a", ENVIRONMENT, id="an option"),
        pytest.param(["--share", "other.py"], b"/a", ENVIRONMENT, id="a target"),
        pytest.param(WORDS, b"/b", ENVIRONMENT, id="a folder"),
        pytest.param(WORDS, b"/a", {**ENVIRONMENT, b"TOKEN": b"2"}, id="a secret"),
        pytest.param(WORDS, b"/a", {**ENVIRONMENT, b"NEW": b""}, id="a variable more"),
        pytest.param(
            WORDS, b"/a", {b"PATH": b"/bin", b"TOKE": b"N1"}, id="the same bytes in other places"
        ),
        pytest.param(["--sharetools.py"], b"/a", ENVIRONMENT, id="words that look alike"),
    ],
)
def test_any_difference_that_counts_gives_another_process(
    words: list[str], folder: bytes, environment: dict[bytes, bytes]
) -> None:
    assert make_key(words, folder, environment) != make_key(WORDS, b"/a", ENVIRONMENT)


def test_order_of_the_variables_does_not_count() -> None:
    turned = dict(reversed(ENVIRONMENT.items()))
    assert make_key(WORDS, b"/a", turned) == make_key(WORDS, b"/a", ENVIRONMENT)


def test_variables_of_a_terminal_or_session_neither_count_nor_reach_the_process() -> None:
    for name in places.VOLATILE:
        assert make_environment(WORDS, {**ENVIRONMENT, name: b"7"}) == ENVIRONMENT, name


@pytest.mark.parametrize(
    "words",
    [
        ["--share-env", "WINDOWID"],
        ["--share-env=WINDOWID"],
        ["--share-env", "A", "--share-env=WINDOWID"],
    ],
)
def test_share_env_makes_a_variable_count(words: list[str]) -> None:
    environment = {**ENVIRONMENT, b"WINDOWID": b"7"}
    assert make_environment(words, environment) == environment


def test_folder_is_made_for_this_user_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "list_folders", lambda: [str(tmp_path / "own")])
    monkeypatch.setattr(places, "_MAX_ADDRESS_BYTES", 1000)
    assert find_place([]).folder == str(tmp_path / "own")
    assert (tmp_path / "own").stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("mode", [0o710, 0o701, 0o777])
def test_folder_that_others_can_enter_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, mode: int
) -> None:
    folder = tmp_path / "open"
    folder.mkdir()
    folder.chmod(mode)
    monkeypatch.setattr(places, "list_folders", lambda: [str(folder)])
    with pytest.raises(CannotShare):
        find_place([])


def test_folder_of_another_user_and_a_link_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = tmp_path / "own"
    own.mkdir(0o700)
    link = tmp_path / "link"
    link.symlink_to(own)
    with pytest.raises(CannotShare):
        places.check_private(str(link))
    other = os.geteuid() + 1
    monkeypatch.setattr(os, "geteuid", lambda: other)
    with pytest.raises(CannotShare):
        places.check_private(str(own))


def test_path_too_long_for_a_socket_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(places, "list_folders", lambda: [str(tmp_path / ("long" * 20))])
    with pytest.raises(CannotShare, match="XDG_RUNTIME_DIR"):
        find_place([])
