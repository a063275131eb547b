"""What SerpApi's four engines for Google Scholar answer. No I/O.

Sources: https://serpapi.com/google-scholar-api, /google-scholar-organic-results,
/google-scholar-author-api, /google-scholar-cite-api, /google-scholar-profiles-api; and
/search-errors for `search_metadata.status` and `error`.
"""

from __future__ import annotations

from typing import Any, TypeVar

import msgspec

from ..web.errors import WebError
from ..web.http import decode_typed

T = TypeVar("T", bound="Answer")


class Metadata(msgspec.Struct, frozen=True):
    """How far a search is: `status` goes from Queued or Processing to Success or Error."""

    id: str = ""
    status: str = ""


class Answer(msgspec.Struct, frozen=True):
    """What all answers have in common. `error` is also how a search that found nothing says so."""

    search_metadata: Metadata = Metadata()
    error: str = ""

    @property
    def is_under_way(self) -> bool:
        """True for a search that was submitted with `async`, and is looked for under its ID until
        it is over.
        """
        return self.search_metadata.status in ("Queued", "Processing")


class Publication(msgspec.Struct, frozen=True):
    summary: str = ""


class CitedBy(msgspec.Struct, frozen=True):
    total: int | None = None


class Links(msgspec.Struct, frozen=True):
    cited_by: CitedBy = CitedBy()


class Paper(msgspec.Struct, frozen=True):
    title: str = ""
    result_id: str = ""
    snippet: str = ""
    publication_info: Publication = Publication()
    inline_links: Links = Links()


class Papers(Answer, frozen=True):
    organic_results: list[Paper] | None = None


class Author(msgspec.Struct, frozen=True):
    name: str = ""
    affiliations: str = ""
    website: str = ""


class ArticleOfAuthor(msgspec.Struct, frozen=True):
    title: str = ""
    authors: str = ""


class AuthorPage(Answer, frozen=True):
    """`citation` is what `view_op=view_citation` asks for, `co_authors` what `list_colleagues`
    does.
    """

    author: Author | None = None
    articles: list[ArticleOfAuthor] = []
    citation: dict[str, Any] | None = None
    co_authors: list[dict[str, Any]] | None = None


class Citation(msgspec.Struct, frozen=True):
    title: str = ""
    snippet: str = ""


class Citations(Answer, frozen=True):
    citations: list[Citation] = []


class Profile(msgspec.Struct, frozen=True):
    author_id: str = ""


class Profiles(Answer, frozen=True):
    profiles: list[Profile] = []


def read(answer: bytes, shape: type[T]) -> T:
    """The *answer* as an object of *shape*.

    Raises:
        Unusable: if it is malformed.
        WebError: in SerpApi's words, if it says that the search failed.
    """
    found = decode_typed(answer, shape, "SerpApi")
    if found.search_metadata.status == "Error":
        raise WebError(found.error or "SerpApi says that the search failed, and not why")
    return found
