"""The example of an HTTP API with a key: each failure is an error that helps, and the key is never
shown.
"""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from examples.conftest import Serve
from support.issue_tracker import KEY, Tracker, issue_tracker
from support.server_process import call, request, wait_until

pytestmark = pytest.mark.process


@pytest.fixture
def tracker() -> Iterator[Tracker]:
    with issue_tracker() as made:
        yield made


def test_issues_are_found_and_read(serve: Serve, tracker: Tracker) -> None:
    server = serve("github_issues.py", GITHUB_API_URL=tracker.url, GITHUB_TOKEN=KEY)

    lid = {
        "repository": "tea/pot",
        "number": 7,
        "title": "Lid falls off",
        "state": "open",
        "url": "https://github.com/tea/pot/issues/7",
    }
    assert server.call("search_issues", text="lid") == [lid]
    assert server.call("search_issues", text="", limit=1) == [lid]
    assert server.call("search_issues", text="a&per_page=0#") == []
    assert (
        server.call("read_issue", repository="tea/pot", number=8)
        == "Handle is hot (open)\n\nHandle is hot, every time."
    )


@pytest.mark.parametrize(
    ("status", "told"),
    [
        (401, "does not accept the key"),
        (403, "Wait 60 s"),
        (429, "Wait 30 s"),
        (404, "no such issue"),
        (422, "does not understand this search"),
        (502, "status 502"),
    ],
)
def test_a_failure_tells_the_model_what_to_do(
    serve: Serve, tracker: Tracker, status: int, told: str
) -> None:
    tracker.status = status
    (text,) = serve("github_issues.py", GITHUB_API_URL=tracker.url, GITHUB_TOKEN=KEY).call(
        "search_issues", text="x"
    )

    assert told in text
    assert KEY not in text


def test_a_key_that_is_missing_or_wrong_is_named_and_not_shown(
    serve: Serve, tracker: Tracker
) -> None:
    (told,) = serve("github_issues.py", GITHUB_API_URL=tracker.url).call("search_issues", text="x")
    assert told == "GITHUB_TOKEN is not set in the environment of this server."
    assert tracker.paths == []

    server = serve("github_issues.py", GITHUB_API_URL=tracker.url, GITHUB_TOKEN="ghp_wrong")
    (told,) = server.call("search_issues", text="x")
    assert told == "GitHub does not accept the key in GITHUB_TOKEN; it may have expired."
    server.process.hang_up()
    assert "ghp_wrong" not in server.process.stderr()


def test_a_host_that_cannot_be_reached_is_an_error(serve: Serve) -> None:
    with issue_tracker() as gone:
        url = gone.url
    (told,) = serve("github_issues.py", GITHUB_API_URL=url, GITHUB_TOKEN=KEY).call(
        "search_issues", text="x"
    )
    assert told.startswith("GitHub cannot be reached: ")


@pytest.mark.parametrize(
    "repository", ["../pot", "tea/..", "tea/pot/../x", "tea", "tea/pot?x=", "tea/pot#", "/tea/pot"]
)
def test_a_repository_is_a_name_and_never_a_path(
    serve: Serve, tracker: Tracker, repository: str
) -> None:
    server = serve("github_issues.py", GITHUB_API_URL=tracker.url, GITHUB_TOKEN=KEY)

    (told,) = server.call("read_issue", repository=repository, number=7)

    assert told.startswith("arguments.repository: ")
    assert tracker.paths == []


def test_a_cancelled_request_is_given_up(serve: Serve, tracker: Tracker) -> None:
    tracker.status = 0
    process = serve("github_issues.py", GITHUB_API_URL=tracker.url, GITHUB_TOKEN=KEY).process
    process.send(call("search_issues", {"text": "x"}, id="slow"))
    wait_until(lambda: tracker.paths != [])
    process.send(request("notifications/cancelled", {"requestId": "slow"}, id=...))

    assert process.hang_up() == []
    assert process.wait() == 0
