"""The text of a page, in a process of its own:
`python -m toolwire_bundled.web.extract_process TYPE URL < PAGE`.

Strategy. A page may be made to keep an HTML parser busy for hours, to fill the memory or to crash
its C code. So this process has limits that the system enforces, and its parent ends it when its
time is over. It writes a line of JSON, `{"title": ..., "text": ...}`, as soon as it has something:
first all the text there is, which takes a moment, and then the article without menus and
advertisements, which may take long. The last line that came is the answer.
"""

from __future__ import annotations

import re
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from toolwire_schemas.wire import codec

from .charsets import decode_body

if TYPE_CHECKING:
    from collections.abc import Iterator

    from lxml.html import HtmlElement

MEMORY_BYTES = 1024**3
CPU_SECONDS = 20
MAX_CHARS = 1_000_000

_REMNANT_CHARS = 200
_LINK = re.compile(r"(?<!!)\[([^\[\]]*)\]\([^()\s]*\)")
_OF_URLS = "%/:?#[]@!$&'*+,;=~"  # without parentheses, which end a link
_UNSEEN = (
    "script",
    "style",
    "noscript",
    "template",
    "head",
    "svg",
    "iframe",
    "object",
    "select",
    "button",
)
_LINES = frozenset(
    ("p", "div", "br", "li", "tr", "td", "th", "table", "ul", "ol", "dl", "dt", "dd", "pre", "form")
)
_LINES |= {"section", "article", "header", "footer", "main", "nav", "aside", "figure", "blockquote"}
_LINES |= {"h1", "h2", "h3", "h4", "h5", "h6"}


def main() -> None:
    """Read the page and write what is to be read in it."""
    _limit()
    content_type, url = sys.argv[1:]
    for title, text in extract_texts(sys.stdin.buffer.read(), content_type, url):
        sys.stdout.buffer.write(codec.encode({"title": title, "text": text[:MAX_CHARS]}) + b"\n")
        sys.stdout.buffer.flush()


def extract_texts(body: bytes, content_type: str, url: str) -> Iterator[tuple[str, str]]:
    """The title and the text of a page: each better than the one before, and more work."""
    text = decode_body(body, content_type)
    if not is_markup(content_type.partition(";")[0].strip().lower(), text):
        yield "", _tidy(text)
        return
    tree = _parse_html(text)
    title = _find_title(tree)
    plain = extract_plain_text(tree, url)
    yield title, plain
    article = _extract_article(text, url) or ""
    if _is_better(article, plain):
        yield title, article


def without_links(text: str) -> str:
    """Markdown with the words of its links alone."""
    return _LINK.sub(r"\1", text)


def is_markup(kind: str, text: str) -> bool:
    """True for HTML; what does not say what it is, is HTML if it begins like that."""
    beginning = text[:1024].lstrip().lower()
    return kind in ("text/html", "application/xhtml+xml") or (
        not kind and beginning.startswith(("<!doctype html", "<html", "<head", "<body"))
    )


def _parse_html(text: str) -> HtmlElement:
    from lxml.etree import ParserError
    from lxml.html import document_fromstring

    try:
        return document_fromstring(
            re.sub(r"^\s*<\?xml[^>]{0,1000}\?>", "", text)
        )  # it is decoded already
    except ParserError:  # there is no element in it
        return document_fromstring("<html></html>")


def extract_plain_text(tree: HtmlElement, url: str) -> str:
    """All that is to be seen, a line for each block, with its links."""
    from urllib.parse import urljoin

    from lxml.etree import iterwalk

    base = urljoin(url, tree.xpath("string(//base/@href)"))
    for element in list(tree.iter(*_UNSEEN)):
        element.drop_tree()
    pieces: list[str] = []
    for event, element in iterwalk(tree, events=("start", "end", "comment", "pi")):
        if event == "start":
            pieces += (
                "\n" if element.tag in _LINES else "[" if element.tag == "a" else "",
                element.text or "",
            )
        else:
            end = (
                _link(base, element)
                if element.tag == "a"
                else "\n"
                if element.tag in _LINES
                else ""
            )
            pieces += (end, element.tail or "")
    return _tidy(re.sub(r"\[\s*\]\([^()\s]*\)", "", "".join(pieces)))


def _link(base: str, element: HtmlElement) -> str:
    """What stands behind the words of a link in Markdown."""
    from urllib.parse import quote, urljoin

    try:
        return f"]({quote(urljoin(base, element.get('href') or ''), safe=_OF_URLS)})"
    except ValueError:  # it leads nowhere
        return "]()"


def _is_better(article: str, plain: str) -> bool:
    """False for what is left of a form, and for all words of a list of links without the links."""
    words = len(without_links(plain))
    is_remnant = len(article) < _REMNANT_CHARS and len(article) * 4 < words
    has_lost_links = "](" in plain and "](" not in article and len(article) > words * 0.8
    return bool(article) and not is_remnant and not has_lost_links


def _extract_article(text: str, url: str) -> str | None:
    import trafilatura

    options: dict[str, Any] = {
        "output_format": "markdown",
        "include_links": True,
        "include_comments": False,
    }
    return trafilatura.extract(text, url=url or None, **options)


def _find_title(tree: HtmlElement) -> str:
    found = tree.findtext(".//title") or tree.findtext(".//h1") or ""
    return " ".join(found.split())[:500]


def _tidy(text: str) -> str:
    lines = (re.sub(r"[^\S\n]+", " ", line).strip() for line in text.split("\n"))
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _limit() -> None:
    if sys.platform == "win32":
        return
    import resource

    with suppress(ValueError, OSError):  # stricter limits already
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))


if __name__ == "__main__":
    main()
