"""What arXiv's query interface answers, with articles that nobody wrote. Not verified live.

The shapes are those of https://info.arxiv.org/help/api/user-manual.html: 3.3 (feed and entries),
3.4 (errors), and the example in 4.1.
"""

from __future__ import annotations

from html import escape

from .server import Answer, text_answer

SUMMARY = "  We measure how long a kettle sings\n  before it boils, for water < 1 litre.\n  "


def feed(*entries: str) -> Answer:
    """A feed of *entries*, as it is answered."""
    return text_answer(document(*entries), "application/atom+xml; charset=utf-8")


def document(*entries: str) -> str:
    """A feed of *entries*."""
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<feed xmlns="http://www.w3.org/2005/Atom"'
        ' xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"'
        ' xmlns:arxiv="http://arxiv.org/schemas/atom">\n'
        "  <id>https://arxiv.org/api/cHxbiOdZaP56ODnBPIenZhzg5f8</id>\n"
        "  <title>arXiv Query:"
        " search_query=kettle&amp;id_list=&amp;start=0&amp;max_results=3</title>\n"
        "  <updated>2026-01-01T00:00:00Z</updated>\n"
        f"  <opensearch:totalResults>{len(entries)}</opensearch:totalResults>\n"
        f"  {''.join(entries)}\n</feed>"
    )


def entry(
    title: str, *authors: str, summary: str = SUMMARY, published: str = "2024-02-29T18:00:00Z"
) -> str:
    """An article, whose second version came a year after the first."""
    names = "".join(
        f"<author><name>{escape(name)}</name><arxiv:affiliation>Kettle"
        " Lab</arxiv:affiliation></author>"
        for name in authors
    )
    return (
        f"<entry><id>http://arxiv.org/abs/2402.12345v2</id><updated>2025-03-01T09:30:00Z</updated><published>{published}</published><title>{escape(title)}</title><summary>{escape(summary)}</summary>{names}<arxiv:comment>23"
        ' pages, 8 figures</arxiv:comment><link href="http://arxiv.org/abs/2402.12345v2"'
        ' rel="alternate" type="text/html"/><category term="physics.pop-ph"'
        ' scheme="http://arxiv.org/schemas/atom"/></entry>'
    )


def told(error: str) -> str:
    """The only entry of a feed that tells an *error*."""
    return (
        f"<entry><id>http://arxiv.org/api/errors#some_error</id><title>Error</title><summary>{escape(error)}</summary><updated>2026-01-01T00:00:00Z</updated><author><name>arXiv"
        " api core</name></author></entry>"
    )


NO_SUCH_ARTICLE = "<entry><id>http://arxiv.org/abs/2402.99999</id></entry>"
"""In the place of an article whose identifier nobody has."""
