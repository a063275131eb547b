"""Reads a page as a browser does: elements, attributes and text. And has texts that try to be more
than text.
"""

from __future__ import annotations

import re
from html.parser import HTMLParser

from hypothesis import strategies as st

ATTACKS = (
    "</script><script>alert(1)</script>",
    "\"><img src=x onerror='alert(1)'>",
    "<style>*{display:none}</style>",
    "</pre></code></details></td></table></main><h1>",
    "javascript:alert(1)",
    "[x](javascript:alert(1)) ![x](https://example.com/x.png) **b** `c`",
    "a|b\n|---|---|\n| ``` | <b>`x`</b> \\| @team #1 |",
    "<!-- --><![CDATA[ ]]>&lt;&#60;&nbsp",
    "\u202etxet\u202c \x1b[2J \x00 \ud800 \r\n\t",
)
texts = st.one_of(st.sampled_from(ATTACKS), st.text(min_size=1, max_size=200))

_VOID = {"br", "hr", "img", "input", "meta"}
_ATTRIBUTES = re.compile(
    "alt|aria-(hidden|label)|charset|checked|class|content|controls|data-(at|uri)|datetime|disabled|height"
    "|href|http-equiv|lang|name|open|preserveaspectratio|rel|role|scope|src|start|tabindex|title|type|viewbox|width|x"
)
_ADDRESS = re.compile(r"https?://\S+|#\S*|data:(?:image|audio)/[\w.+-]+;base64,[\w+/=]*", re.ASCII)


class Parsed(HTMLParser):
    """The elements with their attributes, and the text of a document or a part of one. It must be
    well-formed.
    """

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    @property
    def tags(self) -> list[str]:
        return [tag for tag, _ in self.elements]

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in _VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.text += data

    def handle_comment(self, data: str) -> None:
        raise AssertionError(f"a comment: {data!r}")


def assert_inert(page: Parsed) -> None:
    """Assert that a browser runs and fetches nothing for *page*, and that its links lead to the
    web.
    """
    assert {"script", "iframe", "object", "embed", "link", "base", "form"}.isdisjoint(page.tags)
    for _, attributes in page.elements:
        assert all(map(_ATTRIBUTES.fullmatch, attributes)), attributes
        for name in {"src", "href"} & attributes.keys():
            assert _ADDRESS.fullmatch(attributes[name] or ""), attributes
        assert "src" not in attributes or str(attributes["src"]).startswith("data:")
