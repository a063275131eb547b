"""One page: a document that needs no other file, no script and no network."""

from __future__ import annotations

from base64 import b64encode
from functools import cache
from hashlib import sha256
from importlib.resources import files

from toolwire_schemas import project_links

from .markup import Child, Html, element, join_html


@cache
def read_style() -> str:
    """Return the style of all pages."""
    return (files(__package__) / "style.css").read_text("utf-8")


def section(heading: str, *content: Child) -> Html:
    """Return a part of a page; nothing without *content*."""
    inner = join_html(*content)
    return element("section", element("h2", heading), inner, aria_label=heading) if inner else inner


def write_page(title: str, *content: Child) -> str:
    """Return a document with this *content*, whose policy lets it load nothing and run nothing."""
    digest = b64encode(sha256(read_style().encode()).digest()).decode()
    policy = (
        f"default-src 'none'; style-src 'sha256-{digest}'; img-src data:; media-src data:;"
        " form-action 'none'"
    )
    head = element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=f"{policy}; base-uri 'none'"),
        element("meta", name="referrer", content="no-referrer"),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("title", title),
        element("style", Html(read_style())),
    )
    footer = element("footer", "Made by ", _link_to_project(), ".")
    body = element("body", element("main", *content), footer, class_="page")
    return "<!doctype html>\n" + element("html", head, body, lang="en") + "\n"


def _link_to_project() -> Child:
    address = project_links.find_repository_url()
    return element("a", "Toolwire", href=address) if address else "Toolwire"
