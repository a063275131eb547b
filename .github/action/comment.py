"""A step of action.yml: writes the report into one comment of the pull request, and updates that
from then on.

Only the standard library is imported, since the server that was checked ran in the same job.
"""

from __future__ import annotations

import json
import os
from http.client import HTTPException
from pathlib import Path
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

MAX_PAGES = 30
SECONDS = 30


def main() -> None:
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text("utf-8"))
    issues = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    comments = f"{issues}/{int(event['pull_request']['number'])}/comments"
    text = Path(os.environ["TOOLWIRE_REPORT"], "comment.md").read_text("utf-8")
    marker, body = text.partition("\n")[0], {"body": text}
    try:
        earlier = _earlier(comments, marker)
        if earlier is None:
            _ask("POST", comments, body)
        else:
            _ask("PATCH", f"{issues}/comments/{earlier}", body)
    except HTTPError as error:
        if error.code in (401, 403, 404):  # of a fork, or without `pull-requests: write`
            print(
                "::notice::Toolwire: the token may not comment, so the report is only in the"
                " summary of this job."
            )
        else:
            print(
                f"::warning::Toolwire: the comment could not be written: HTTP status {error.code}"
            )
    except (
        OSError,
        HTTPException,
        ValueError,
        TypeError,
        LookupError,
    ) as error:  # no connection, or no such response
        print(f"::warning::Toolwire: the comment could not be written: {type(error).__name__}")


def _earlier(comments: str, marker: str) -> int | None:
    """Return the id of this action's comment. Comments of others do not count, whatever they start
    with.
    """
    # REST has this for tokens of users alone; GraphQL names the bot of a job or of an App, too.
    login = _ask("POST", os.environ["GITHUB_GRAPHQL_URL"], {"query": "{viewer{login}}"})["data"][
        "viewer"
    ]["login"]
    for page in range(1, MAX_PAGES + 1):
        found = _ask("GET", f"{comments}?per_page=100&page={page}")
        for comment in found:
            author, body = comment.get("user") or {}, comment.get("body") or ""  # both may be null
            if author.get("login") == login and body.startswith(marker):
                return int(comment["id"])
        if len(found) < 100:
            return None
    return None


def _ask(method: str, url: str, body: Any = None) -> Any:
    headers = {
        "Accept": "application/vnd.github+json",
        "Authorization": f"Bearer {os.environ['TOOLWIRE_TOKEN']}",
        "X-GitHub-Api-Version": "2022-11-28",
        "User-Agent": "toolwire-action",
    }
    data = None if body is None else json.dumps(body).encode()
    request = Request(url, data, headers, method=method)
    with urlopen(request, timeout=SECONDS) as answer:
        return json.load(answer)


if __name__ == "__main__":
    main()
