"""GoogleSearch: short answers from Google."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_compat.lagent.action_return import ActionReturn
from toolwire_compat.lagent.base import BaseAction
from toolwire_compat.lagent.parsers import BaseParser, JsonParser
from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_schemas.language import say
from toolwire_tools.decorator import tool_api
from toolwire_tools.errors import ArgumentsError

from ..settings import check_positive
from ..web.call import Call
from ..web.errors import WebError, make_failed_return
from .format import PLACES, find_snippets
from .serper import SERPER, Serper

if TYPE_CHECKING:
    from collections.abc import Callable

    from toolwire_tools.context.context import Context

_SECONDS = 30.0


class GoogleSearch(BaseAction):
    """Searches Google by way of Serper, with a key from https://serper.dev in SERPER_API_KEY.

    The answer is the text of a list: what Google itself answers, if it does; else what it knows of
    the subject, and a snippet of each page. What may pass is asked again, up to three times; a call
    has 30 seconds.
    """

    def __init__(
        self,
        api_key: str | None = None,
        timeout: float = 5,
        search_type: str = "search",
        description: dict[str, Any] | None = None,
        parser: Callable[..., BaseParser] = JsonParser,
        enable: bool = True,
        *,
        lang: str | None = None,
        base_url: str = SERPER,
    ) -> None:
        """Prepare to search.

        Args:
            api_key: the key, if it is not in the environment
            timeout: seconds of silence after which Serper is asked again, or given up on
            search_type: what is searched: search, news, places or images
            base_url: where Serper is

        Raises:
            ValueError: if there is no such type of search, or the timeout is not positive.
        """
        super().__init__(description, parser, enable, lang=lang)
        if search_type not in PLACES:
            raise ValueError(
                f"GoogleSearch: {explain_unknown_name('search_type', search_type, PLACES)}"
            )
        self.search_type = search_type
        self._serper = Serper(api_key, base_url, check_positive("timeout", timeout))

    @tool_api(read_only=True, open_world=True)
    def run(self, query: str, k: int = 10, context: Context | None = None) -> ActionReturn:
        """一个可以从谷歌搜索结果的API。当你需要对于一个特定问题找到简短明了的回答时，可以使用它。输入应该是一个搜索查询。

        Search Google for a short answer to a question, or for snippets of the pages it finds.

        Args:
            query (str): the search content
            k (int): select first k results in the search results as response
        """
        if not query.strip():
            raise ArgumentsError([("arguments.query", say("there is nothing in it to search for"))])
        if not 1 <= k <= 100:
            raise ArgumentsError([("arguments.k", say("from 1 to 100, not {value}", value=k))])
        try:
            found = self._serper.search(
                query, Call(context, seconds=_SECONDS), kind=self.search_type, num=k
            )
        except WebError as error:
            return make_failed_return(error)
        text = str(find_snippets(found, self.search_type, k))
        return ActionReturn(result=[{"type": "text", "content": text}])
