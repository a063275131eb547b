"""Makes results of SerpApi's answers. No I/O."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NotRequired, TypedDict

from toolwire_schemas.language import say

from ..web.errors import WebError
from .responses import Author

if TYPE_CHECKING:
    from .responses import Answer, AuthorPage, Citations, Papers, Profiles

_MOST = 3
"""The number of papers and articles in a result, as in Lagent."""


class FirstPapers(TypedDict):
    """The first papers, as lists side by side."""

    title: list[str]
    cited_by: list[int | None]
    organic_id: list[str]
    pub_info: list[str]
    snippets: list[str]


class FirstArticle(TypedDict):
    """An article of an author."""

    title: str
    authors: str


class WhoItIs(TypedDict):
    """An author, and what the view that was asked for has besides."""

    name: str
    affiliations: str
    website: str
    articles: list[FirstArticle]
    citation: NotRequired[dict[str, Any]]
    co_authors: NotRequired[list[dict[str, Any]]]


class HowToCite(TypedDict):
    """A citation as text."""

    citation: str


class AuthorId(TypedDict):
    """The name and profile of an author."""

    author_id: str


def list_papers(answer: Papers) -> FirstPapers:
    """The first papers, as parallel lists. `cited_by` is None where Scholar shows no number."""
    first = (answer.organic_results or [])[:_MOST]
    return {
        "title": [paper.title for paper in first],
        "cited_by": [paper.inline_links.cited_by.total for paper in first],
        "organic_id": [paper.result_id for paper in first],
        "pub_info": [paper.publication_info.summary for paper in first],
        "snippets": [paper.snippet for paper in first],
    }


def describe_author(answer: AuthorPage) -> WhoItIs:
    """Who the author is, with a few articles, and what the view that was asked for has besides."""
    if (answer.author, answer.citation, answer.co_authors) == (None, None, None):
        raise _make_not_found_error(answer, say("author"))
    who = answer.author or Author()
    told: WhoItIs = {
        "name": who.name,
        "affiliations": who.affiliations,
        "website": who.website,
        "articles": [
            {"title": article.title, "authors": article.authors}
            for article in answer.articles[:_MOST]
        ],
    }
    if answer.citation is not None:
        told["citation"] = answer.citation
    if answer.co_authors is not None:
        told["co_authors"] = answer.co_authors
    return told


def choose_citation(answer: Citations) -> HowToCite:
    """The citation in MLA's style, or in the first there is."""
    if not answer.citations:
        raise _make_not_found_error(answer, say("citation"))
    by_style = {one.title: one.snippet for one in answer.citations}
    return {"citation": by_style.get("MLA", answer.citations[0].snippet)}


def find_author_id(answer: Profiles) -> AuthorId:
    """The identifier of the first author."""
    if not answer.profiles:
        raise _make_not_found_error(answer, say("author"))
    return {"author_id": answer.profiles[0].author_id}


def _make_not_found_error(answer: Answer, wanted: str) -> WebError:
    return WebError(answer.error or say("Google Scholar has no such {wanted}", wanted=wanted))
