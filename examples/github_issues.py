"""Issues of GitHub, over its HTTP API with a key.

    GITHUB_TOKEN=ghp_... toolwire serve github_issues.py
    toolwire config cursor github_issues.py --env GITHUB_TOKEN=ghp_... --write

Needs httpx2: python -m pip install 'toolwire[web]'. The key is read from the environment, sent to
one host only, and part of no result and no error. GITHUB_API_URL names another host, such as that
of GitHub Enterprise.
"""

import os
from dataclasses import dataclass
from typing import Annotated, Any

import httpx2
from msgspec import Meta
from toolwire import ToolError, tool_api

TIMEOUT = httpx2.Timeout(10, connect=5)

Repository = Annotated[
    str, Meta(pattern=r"^[A-Za-z0-9-]+/[\w.-]*\w$", description="as in python/cpython")
]


@dataclass
class Issue:
    repository: str
    number: int
    title: str
    state: str
    url: str


@tool_api(read_only=True)
async def search_issues(
    text: Annotated[str, "words and qualifiers, as in: crash repo:python/cpython is:open"],
    limit: Annotated[int, Meta(ge=1, le=50, description="return at most this many")] = 10,
) -> list[Issue]:
    """Find issues and pull requests."""
    found = await get("/search/issues", q=text, per_page=limit)
    return [issue(item) for item in found["items"]]


@tool_api(read_only=True)
async def read_issue(
    repository: Repository,
    number: Annotated[int, Meta(ge=1, description="the number of the issue")],
) -> str:
    """Return title and text of an issue."""
    found = await get(f"/repos/{repository}/issues/{number}")
    return f"{found['title']} ({found['state']})\n\n{found['body'] or ''}"


def issue(item: dict[str, Any]) -> Issue:
    repository = item["repository_url"].partition("/repos/")[2]
    return Issue(repository, item["number"], item["title"], item["state"], item["html_url"])


async def get(path: str, **query: str | int) -> Any:
    """Return what GitHub answers; every failure is an error that says what to do next."""
    token = os.environ.get("GITHUB_TOKEN")
    if not token:
        raise ToolError("GITHUB_TOKEN is not set in the environment of this server.")
    url = os.environ.get("GITHUB_API_URL", "https://api.github.com")
    headers = {"Authorization": f"Bearer {token}", "Accept": "application/vnd.github+json"}
    try:
        async with httpx2.AsyncClient(
            base_url=url, headers=headers, timeout=TIMEOUT, follow_redirects=True
        ) as client:
            response = await client.get(path, params=query)
    except httpx2.TimeoutException:
        raise ToolError("GitHub did not answer in time. Try again later.") from None
    except httpx2.TransportError as error:
        raise ToolError(f"GitHub cannot be reached: {error}") from None
    match response.status_code:
        case 200:
            return response.json()
        case 401:
            raise ToolError("GitHub does not accept the key in GITHUB_TOKEN; it may have expired.")
        case 403 | 429:
            seconds = response.headers.get("retry-after", "60")
            raise ToolError(
                f"GitHub refuses: too many requests, or no permission. Wait {seconds} s before the"
                " next try."
            )
        case 404:
            raise ToolError("There is no such issue, or the key may not see it.")
        case 422:
            raise ToolError("GitHub does not understand this search.")
        case status:
            raise ToolError(f"GitHub answered with status {status}. Try again later.")
