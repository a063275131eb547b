"""`Admission`: which new sessions may open in a shared process."""

from __future__ import annotations

from typing import cast

import pytest
from toolwire.sharing.open_place import MAX_SESSIONS, Admission, LoadedFiles, OpenPlace


class Place:
    """A place with the pipe 7, which notes whether its files were removed."""

    def __init__(self) -> None:
        self.is_registered = True

    def is_own_pipe(self, number: str) -> bool:
        return number == "7"

    def unregister(self) -> None:
        self.is_registered = False


class Files:
    """Files that have changed if a test says so."""

    has_changed = False
    notes = 0

    def have_changed(self) -> bool:
        return self.has_changed

    def note(self) -> None:
        self.notes += 1


class Entrance:
    """An admission with its place, its files, and the changes that it has reported."""

    def __init__(self) -> None:
        self.place, self.files, self.changes = Place(), Files(), 0
        self.admission = Admission(
            cast("OpenPlace", self.place), cast("LoadedFiles", self.files), self.note_change
        )

    def note_change(self) -> None:
        self.changes += 1

    def answer(self, pipe: str = "", sessions: int = 0, *, is_loading: bool = False) -> str:
        answer = self.admission.choose_answer(pipe, sessions, is_loading=is_loading)
        return answer.partition(" ")[0]


@pytest.fixture
def entrance() -> Entrance:
    return Entrance()


@pytest.mark.parametrize(
    ("pipe", "sessions", "is_loading", "answer"),
    [
        ("", 0, False, "ok"),
        ("7", 0, False, "ok"),
        ("8", 0, False, "changed"),  # of a process that was here before
        ("", 0, True, "ok"),
        ("", 1, True, "wait"),
        ("8", 1, True, "changed"),
        ("", MAX_SESSIONS - 1, False, "ok"),
        ("", MAX_SESSIONS, False, "full"),
    ],
)
def test_answer_depends_on_the_pipe_and_the_sessions(
    entrance: Entrance, pipe: str, sessions: int, is_loading: bool, answer: str
) -> None:
    assert entrance.answer(pipe, sessions, is_loading=is_loading) == answer
    assert entrance.place.is_registered


def test_changed_file_refuses_all_later_sessions(entrance: Entrance) -> None:
    entrance.files.has_changed = True
    assert entrance.answer() == "changed"

    entrance.files.has_changed = False
    assert entrance.answer() == "changed"
    assert entrance.changes == 1
    assert not entrance.place.is_registered


def test_files_are_not_compared_while_they_are_loaded(entrance: Entrance) -> None:
    entrance.files.has_changed = True

    assert entrance.answer(is_loading=True) == "ok"
    assert entrance.files.notes == 0


def test_files_that_a_session_has_loaded_are_noted_when_the_next_one_comes(
    entrance: Entrance,
) -> None:
    entrance.answer(sessions=1)

    assert entrance.files.notes == 1


def test_closed_place_answers_with_the_reason_until_the_process_ends(entrance: Entrance) -> None:
    entrance.admission.close("alone a module is not shared")
    assert entrance.answer("8", 1, is_loading=True) == "alone"
    assert not entrance.place.is_registered

    entrance.admission.end()
    assert entrance.answer() == "ending"
