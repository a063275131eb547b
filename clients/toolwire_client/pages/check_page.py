"""The report of a check as HTML, a page, and Markdown for a pull request."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..contract.report import OUTCOMES
from .markup import Child, Html, code, element, folded, pairs, table, together
from .page import page

if TYPE_CHECKING:
    from collections.abc import Callable

    from ..contract.report import Report, Verdict

RULES = "https://github.com/OWNER/toolwire/blob/main/docs/contract/"


def verdict_html(verdict: Verdict, *, where: str = "", again: str = "") -> Html:
    """Return one verdict; *where* are the revisions and framings it is for, *again* a command that repeats it."""
    head = element(
        "h3",
        element("span", verdict.outcome, class_=f"outcome {verdict.outcome.replace(' ', '-')}"),
        " ",
        element("a", verdict.case, href=f"{RULES}{verdict.case}.md"),
    )
    exchange = [element("li", line[3:], class_=_SPEAKERS.get(line[:3], "event")) for line in verdict.exchange]
    return element(
        "article",
        head,
        element("p", verdict.behaviour),
        pairs(
            ("where", where or verdict.where),
            ("severity", verdict.severity),
            ("source", element("a", verdict.source, href=verdict.source)),
            ("expected", verdict.expected),
            ("came", verdict.came),
            ("reason", verdict.reason),
            ("again", code(again) if again else None),
        ),
        element("ol", exchange, class_="exchange") if exchange else None,
        class_="verdict",
    )


_SPEAKERS = {"-> ": "sent", "<- ": "received"}


def check_html(report: Report, *, again: Callable[[Verdict], str] | None = None) -> Html:
    """Return *report*: the summary, failures in detail, counts by area, known gaps, and what does not apply."""
    counts = report.counts()
    areas: dict[str, list[str]] = {}
    for verdict in report.verdicts:
        areas.setdefault(verdict.case.partition("/")[0], []).append(verdict.outcome)
    rows: list[list[Child]] = [
        [area, *(str(found.count(outcome) or "") for outcome in OUTCOMES)] for area, found in areas.items()
    ]
    failed = [verdict_html(one, again=again(one) if again else "") for one in report.failed("advice")]
    return together(
        element("h1", report.server or "A server"),
        element("p", ", ".join(f"{number} {outcome}" for outcome, number in counts.items() if number)),
        failed,
        element("h2", "Areas"),
        table(("area", *OUTCOMES), rows, caption="verdicts by area"),
        folded(
            "Not applicable",
            element("ul", [element("li", f"{one.case}: {one.reason}") for one in report.verdicts if one.reason]),
        ),
    )


def check_page(report: Report, *, again: Callable[[Verdict], str] | None = None) -> str:
    """Return `check_html` as a page."""
    return page(f"Contract report: {report.server}", check_html(report, again=again))


def check_markdown(report: Report) -> str:
    """Return *report* in short, for a pull request."""
    return "\n".join(f"- {counted}: {number}" for counted, number in report.counts().items() if number)
