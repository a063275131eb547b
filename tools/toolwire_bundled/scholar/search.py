"""GoogleScholar: papers, authors and citations on Google Scholar, by way of SerpApi."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

from toolwire_compat.lagent.base import BaseAction
from toolwire_compat.lagent.parsers import BaseParser, JsonParser
from toolwire_schemas.language import say
from toolwire_tools.decorator import tool_api
from toolwire_tools.errors import ToolError

from ..requirements import read_key
from ..web.call import Call
from ..web.http import Limits
from ..web.service import Service
from . import format as results
from . import responses as answers

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_tools.context.context import Context

T = TypeVar("T", bound=answers.Answer)

_SERPAPI = "https://serpapi.com"
_SECONDS = 120.0
_SILENCE_SECONDS = 60.0
"""SerpApi is silent until Google has answered it."""
_LOOK_AGAIN_SECONDS = 1.0
"""Between questions for a search that goes on over there."""


class GoogleScholar(BaseAction):
    """Searches Google Scholar for papers, authors and citations, by way of SerpApi, which wants the
    key of an account.

    A refusal of SerpApi, and a search without results, are reported with its text. A call takes two
    minutes at most.
    """

    def __init__(
        self,
        api_key: str | None = None,
        description: dict[str, Any] | None = None,
        parser: Callable[..., BaseParser] = JsonParser,
        enable: bool = True,
        *,
        lang: str | None = None,
        base_url: str = _SERPAPI,
    ) -> None:
        """Prepare to search.

        Args:
            api_key: the key of an account at https://serpapi.com; by default that in
                SERPAPI_API_KEY
            base_url: where the service is
        """
        super().__init__(description, parser, enable, lang=lang)
        self._key = api_key
        self._service = Service(
            "SerpApi", base_url, limits=Limits(silence_seconds=_SILENCE_SECONDS)
        )

    @tool_api(explode_return=True, read_only=True, open_world=True)
    def search_google_scholar(
        self,
        query: str,
        cites: str | None = None,
        as_ylo: int | None = None,
        as_yhi: int | None = None,
        scisbd: int | None = None,
        cluster: str | None = None,
        hl: str | None = None,
        lr: str | None = None,
        start: int | None = None,
        num: int | None = None,
        as_sdt: str | None = None,
        safe: str | None = None,
        filter: str | None = None,  # noqa: A002  # Lagent's and SerpApi's name
        as_vis: str | None = None,
        context: Context | None = None,
    ) -> results.FirstPapers:
        """Search Google Scholar for papers, and tell of the first three.

        Args:
            query (str): what to search for; `author:` and `source:` narrow it. With a cluster, it
                is left out
            cites (str): the ID of an article: only papers that cite it
            as_ylo (int): the first year
            as_yhi (int): the last year
            scisbd (int): only papers added within a year, the newest first: 1 with abstract, 2 all
            cluster (str): the ID of an article: all its versions
            hl (str): the language of the page, by two letters
            lr (str): languages of the papers, as lang_fr|lang_de
            start (int): how many results to pass over
            num (int): how many results are looked for, at most 20
            as_sdt (str): what kind: 7 with patents, 4 case law
            safe (str): active or off: whether adult content is left out
            filter (str): 1 or 0: whether similar and omitted results are left out
            as_vis (str): 1 or 0: whether mere citations are left out

        Returns:
            dict: the papers, as lists of equal length
                - title (list): the titles
                - cited_by (list): how often each is cited; null if that is not shown
                - organic_id (list): the IDs, which get_citation_format takes
                - pub_info (list): authors, where and when each was published
                - snippets (list): a few words of each
        """
        asked = {
            "q": None if cluster else query,  # the service refuses both
            "cites": cites,
            "as_ylo": as_ylo,
            "as_yhi": as_yhi,
            "scisbd": scisbd,
            "cluster": cluster,
            "hl": hl,
            "lr": lr,
            "start": start,
            "num": num,
            "as_sdt": as_sdt,
            "safe": safe,
            "filter": filter,
            "as_vis": as_vis,
        }
        return results.list_papers(self._ask("google_scholar", asked, answers.Papers, context))

    @tool_api(explode_return=True, read_only=True, open_world=True)
    def get_author_information(
        self,
        author_id: str,
        hl: str | None = None,
        view_op: str | None = None,
        sort: str | None = None,
        citation_id: str | None = None,
        start: int | None = None,
        num: int | None = None,
        no_cache: bool | None = None,
        async_req: bool | None = None,
        output: str | None = None,
        context: Context | None = None,
    ) -> results.WhoItIs:
        """Tell of an author, by the ID that get_author_id gives.

        Args:
            author_id (str): the ID of the author
            hl (str): the language of the page, by two letters
            view_op (str): view_citation for one article (with citation_id), list_colleagues for the
                co-authors
            sort (str): title or pubdate: how the articles are sorted, instead of by citations
            citation_id (str): the ID of an article of the author, for view_citation
            start (int): how many articles to pass over
            num (int): how many articles are looked for, at most 100
            no_cache (bool): search anew, whatever was found within the last hour
            async_req (bool): have SerpApi search on its own, and look for the result until it is
                there
            output (str): without effect; the result is always the same

        Returns:
            dict: the author
                - name (str): the name
                - affiliations (str): where the author works
                - website (str): the address of the author's own page
                - articles (list): at most three articles, with title and authors
        """
        asked = {
            "author_id": author_id,
            "hl": hl,
            "view_op": view_op,
            "sort": sort,
            "citation_id": citation_id,
            "start": start,
            "num": num,
            "no_cache": no_cache,
            "async": async_req,
        }
        return results.describe_author(
            self._ask("google_scholar_author", asked, answers.AuthorPage, context)
        )

    @tool_api(explode_return=True, read_only=True, open_world=True)
    def get_citation_format(
        self,
        q: str,
        no_cache: bool | None = None,
        async_: bool | None = None,
        output: str | None = "json",
        context: Context | None = None,
    ) -> results.HowToCite:
        """Tell how a paper is cited in MLA's style, by the organic_id that search_google_scholar
        gives.

        Args:
            q (str): the organic_id of the paper
            no_cache (bool): search anew, whatever was found within the last hour
            async_ (bool): have SerpApi search on its own, and look for the result until it is there
            output (str): without effect; the result is always the same

        Returns:
            dict: the citation
                - citation (str): the citation
        """
        asked = {"q": q, "no_cache": no_cache, "async": async_}
        return results.choose_citation(
            self._ask("google_scholar_cite", asked, answers.Citations, context)
        )

    @tool_api(explode_return=True, read_only=True, open_world=True)
    def get_author_id(
        self,
        mauthors: str,
        hl: str | None = "en",
        after_author: str | None = None,
        before_author: str | None = None,
        no_cache: bool | None = False,
        _async: bool | None = False,
        output: str | None = "json",
        context: Context | None = None,
    ) -> results.AuthorId:
        """Find the ID of an author by name, for get_author_information.

        Args:
            mauthors (str): the name; `label:` searches for a field of work
            hl (str): the language of the page, by two letters
            after_author (str): the token of the next page
            before_author (str): the token of the previous page; after_author wins over it
            no_cache (bool): search anew, whatever was found within the last hour
            _async (bool): have SerpApi search on its own, and look for the result until it is there
            output (str): without effect; the result is always the same

        Returns:
            dict: the author found first
                - author_id (str): the ID
        """
        asked = {
            "mauthors": mauthors,
            "hl": hl,
            "after_author": after_author,
            "before_author": before_author,
            "no_cache": no_cache,
            "async": _async,
        }
        return results.find_author_id(
            self._ask("google_scholar_profiles", asked, answers.Profiles, context)
        )

    def _ask(
        self, engine: str, asked: dict[str, Any], shape: type[T], context: Context | None
    ) -> T:
        """What *engine* answers. A search that goes on is looked at again until it is over."""
        secret = {"api_key": _read_key(self._key)}
        call = Call(context, seconds=_SECONDS)
        params = {"engine": engine, **asked, "output": "json"}
        found = answers.read(
            self._service.get("search", params=params, secret_params=secret, call=call).body, shape
        )
        while found.is_under_way:
            if call.seconds_left <= _LOOK_AGAIN_SECONDS:
                raise call.make_too_late_error(say("SerpApi's search"))
            call.wait(_LOOK_AGAIN_SECONDS)
            archived = f"searches/{_quote_in_path(found.search_metadata.id)}.json"
            found = answers.read(
                self._service.get(archived, secret_params=secret, call=call).body, shape
            )
        return found


def _read_key(given: str | None) -> str:
    """The key, which Lagent took from SERPER_API_KEY. That is Serper's: to send it to SerpApi would
    give it away.
    """
    try:
        return read_key("SERPAPI_API_KEY", given)
    except ToolError as error:
        if not os.environ.get("SERPER_API_KEY"):
            raise
        raise ToolError(
            say(
                "{error} (SERPER_API_KEY is for GoogleSearch: its service, Serper, is another one)",
                error=error,
            )
        ) from None


def _quote_in_path(text: str) -> str:
    from urllib.parse import quote

    return quote(text, safe="")
