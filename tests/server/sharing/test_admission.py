"""`Admission`: which new sessions may open in a shared process."""

from __future__ import annotations

from typing import cast

import pytest
from toolwire.sharing.open_place import MAX_SESSIONS, Admission, LoadedFiles, OpenPlace


class Place:
    """A place with the pipe 7, which notes where the process is found."""

    def __init__(self) -> None:
        self.found = "by all"

    def is_own_pipe(self, number: str) -> bool:
        return number == "7"

    def is_registered(self) -> bool:
        return self.found == "by all"

    def step_aside(self) -> None:
        self.found = "by share"

    def unregister(self) -> None:
        self.found = "by none"


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
    assert entrance.place.is_registered()
    assert not entrance.admission.is_old


def test_changed_file_refuses_all_later_sessions(entrance: Entrance) -> None:
    entrance.files.has_changed = True
    assert entrance.answer() == "changed"

    entrance.files.has_changed = False
    assert entrance.answer() == "changed"
    assert entrance.changes == 1
    assert entrance.place.found == "by share"
    assert entrance.admission.is_old


def test_process_whose_place_another_one_has_taken_is_old(entrance: Entrance) -> None:
    entrance.place.step_aside()

    assert entrance.admission.is_old


def test_process_of_one_session_is_not_old(entrance: Entrance) -> None:
    entrance.admission.step_aside("alone a module is not shared")

    assert entrance.answer() == "alone"
    assert entrance.place.found == "by share"
    assert not entrance.admission.is_old


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
    entrance.admission.close("failed a file is missing")
    assert entrance.answer("8", 1, is_loading=True) == "failed"
    assert entrance.place.found == "by none"

    entrance.admission.end()
    assert entrance.answer() == "ending"
