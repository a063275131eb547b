"""ArxivSearch: articles on arXiv.org."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypedDict

from toolwire_compat.lagent.base import BaseAction
from toolwire_compat.lagent.parsers import BaseParser, JsonParser
from toolwire_schemas.language import say
from toolwire_tools.decorator import tool_api
from toolwire_tools.errors import ArgumentsError

from ..settings import check_positive
from ..web.call import Call
from ..web.http import Limits
from ..web.service import Service
from . import feed

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_tools.context.context import Context

_ARXIV = "https://export.arxiv.org/api"
_HOST = "arxiv.org"
_INTERVAL_SECONDS = 3.0
"""Between requests, one at a time: https://info.arxiv.org/help/api/tou.html."""
_SILENCE_SECONDS = 30.0
"""Its searches take long when many search."""


class Articles(TypedDict):
    """Articles as text, an empty line between them."""

    content: str


class ArxivSearch(BaseAction):
    """Search information from Arxiv.org. Useful for when you need to answer questions about Physics, Mathematics, \
Computer Science, Quantitative Biology, Quantitative Finance, Statistics, Electrical Engineering, and Economics from \
scientific articles on arxiv.org.

    A query may use arXiv's language (`au:brewer AND ti:kettle`), or be identifiers such as
    2310.06825. arXiv is asked one question in three seconds, and a refusal is reported with its
    text. A call takes a minute at most.
    """  # noqa: E501

    def __init__(
        self,
        top_k_results: int = 3,
        max_query_len: int = 300,
        doc_content_chars_max: int = 1500,
        description: dict[str, Any] | None = None,
        parser: Callable[..., BaseParser] = JsonParser,
        enable: bool = True,
        *,
        lang: str | None = None,
        base_url: str = _ARXIV,
    ) -> None:
        """Prepare to search.

        Args:
            top_k_results: maximum number of articles of a call
            max_query_len: characters of a query that are used; the rest is cut off
            doc_content_chars_max: characters of each summary that are returned
            base_url: where the API is

        Raises:
            ValueError: for an invalid limit.
        """
        super().__init__(description, parser, enable, lang=lang)
        self.top_k_results = check_positive("top_k_results", top_k_results)
        self.max_query_len = check_positive("max_query_len", max_query_len)
        self.doc_content_chars_max = check_positive("doc_content_chars_max", doc_content_chars_max)
        pace = _INTERVAL_SECONDS if _HOST in base_url else 0.0
        limits = Limits(silence_seconds=_SILENCE_SECONDS)
        self._service = Service("arXiv", base_url, limits=limits, interval_seconds=pace, at_once=1)

    @tool_api(explode_return=True, read_only=True, open_world=True, idempotent=True)
    def get_arxiv_article_information(self, query: str, context: Context | None = None) -> Articles:
        """Run Arxiv search and get the article meta information.

        Args:
            query (str): the content of search query

        Returns:
            dict: article information
                * content (str): a list of 3 arxiv search papers
        """
        wanted = query[: self.max_query_len].strip()
        if not wanted:
            raise ArgumentsError([("arguments.query", say("there is nothing in it to search for"))])
        asked = feed.make_query(wanted, self.top_k_results)
        answer = self._service.get("query", params=asked, call=Call(context))
        told = [self._describe(article) for article in feed.read_articles(answer.body)]
        return {"content": "\n\n".join(told) or "No good Arxiv Result was found"}

    def _describe(self, article: feed.Article) -> str:
        return (
            f"Published: {article.published}\nTitle: {article.title}\nAuthors: {', '.join(article.authors)}\n"  # noqa: E501
            f"Summary: {article.summary[: self.doc_content_chars_max]}"
        )
