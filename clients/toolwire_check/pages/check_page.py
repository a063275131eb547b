"""The report of a check as HTML, a page, and Markdown for a pull request."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

import msgspec
from toolwire_client.pages.markdown import (
    as_code,
    as_html,
    fence,
    fold_part,
    join_within_limit,
    write_table,
)
from toolwire_client.pages.markup import (
    Html,
    code,
    cut,
    element,
    fold,
    format_count,
    format_duration,
    format_size,
    join_html,
    pairs,
    table,
)
from toolwire_client.pages.page import section, write_page
from toolwire_schemas.cases.rules import find_rule, find_rule_url
from toolwire_schemas.exact_tokens import ENCODING

from ..report import OUTCOMES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from ..report import Outcome, Report, ToolCost, Verdict

    Again = Callable[[Verdict], str]
    """Returns the command that plays the case of a verdict again."""

_COLOURS: dict[Outcome, str] = {"pass": "good", "fail": "bad", "warn": "warn"}
_SPEAKERS = {"-> ": "sent", "<- ": "received"}
# A server may have any number of tools and findings; the page stays one that browsers open.
_MAX_ROWS = 200
_MAX_WITH_EXCHANGES = 50
_MAX_LINES = 40
_MAX_LINES_OPEN = 10
_MAX_CASES = 1000
_MAX_CHARS = 2000
_MAX_NAME_CHARS = 300
_MAX_PLACES = 20


def write_verdict_html(verdict: Verdict, *, where: str = "", again: str = "") -> Html:
    """Return one verdict; *where* are the revisions and framings it is for, *again* a command that
    repeats it.
    """
    source = element(
        "a", verdict.source.removeprefix("https://"), href=verdict.source, rel="noreferrer"
    )
    came = element("span", cut(verdict.came, _MAX_CHARS), class_="text") if verdict.came else ""
    is_open = verdict.outcome == "fail" and len(verdict.exchange) < _MAX_LINES_OPEN
    return element(
        "article",
        element(
            "h3",
            _make_badge(verdict.outcome),
            " ",
            _link_case(verdict.case),
            element("span", where or verdict.where, class_="where"),
        ),
        element("p", cut(verdict.behaviour, _MAX_CHARS)),
        pairs(
            ("expected", cut(verdict.expected, _MAX_CHARS)),
            ("came", came),
            ("because", cut(verdict.reason, _MAX_CHARS)),
            ("source", [verdict.severity, ", ", verdict.before_source, source]),
            ("again", code(again, _MAX_CHARS) if again else ""),
        ),
        write_exchange_html(verdict.exchange, open_=is_open),
        write_rule_html(verdict.case),
        class_="verdict",
    )


def _make_badge(outcome: Outcome) -> Html:
    return element("span", outcome, class_=f"badge {_COLOURS.get(outcome, '')}")


def _link_case(case: str) -> Html:
    """Return the id of a case, as a link to its rule if it has one."""
    name = element("code", cut(case, _MAX_NAME_CHARS))
    address = find_rule_url(case)
    if not address:
        return name
    return element("a", name, href=address, rel="noreferrer")


def write_rule_html(case: str) -> Html | None:
    """Return why the rule of a case matters, exchanges that pass and fail, and how to fix a
    server.
    """
    found = find_rule(case)
    if found is None:
        return None
    titles = ("with Toolwire", "mcp, Python", "TypeScript SDK", "without an SDK")
    texts = msgspec.structs.astuple(found.fix)
    fixes = [(title, _mark_code(text)) for title, text in zip(titles, texts, strict=True)]
    return fold(
        "Why it matters, and how to fix it",
        element("p", _mark_code(found.why)),
        pairs(*fixes),
        write_exchange_html(found.passing, "An exchange that passes"),
        write_exchange_html(found.failing.exchange, "An exchange that fails"),
    )


def _mark_code(text: str) -> list[str]:
    """Return the parts of *text*; those in backticks as code."""
    parts: list[str] = []
    is_code = False
    for part in text.split("`"):
        if is_code:
            parts.append(element("code", part))
        else:
            parts.append(part)
        is_code = not is_code
    return parts


def write_exchange_html(
    lines: Sequence[str], title: str = "", *, open_: bool = False
) -> Html | None:
    """Return an exchange, as `Verdict.exchange` has it."""
    if not lines:
        return None
    items = []
    for line in lines[:_MAX_LINES]:
        speaker, text = line[:3], line[3:]
        items.append(element("li", cut(text, _MAX_CHARS), class_=_SPEAKERS.get(speaker, "event")))
    if len(lines) > _MAX_LINES:
        items.append(element("li", f"{len(lines) - _MAX_LINES:,} more", class_="event"))
    title = title or f"{format_count(len(lines), 'line')} of the exchange"
    return fold(title, element("ol", items, class_="exchange"), open_=open_)


def summarize(report: Report) -> str:
    """Return the verdict in one sentence."""
    if not report.revisions:
        return "It cannot be talked to, so nothing else was tested."
    rules = {one.case for one in report.list_failures("must")}
    recommendations = {one.case for one in report.list_failures("advice")} - rules
    failures = []
    if rules:
        failures.append(format_count(len(rules), "rule"))
    if recommendations:
        failures.append(format_count(len(recommendations), "recommendation"))
    text = "It keeps every rule that applies to it."
    if failures:
        text = f"It breaks {' and '.join(failures)}."
    gaps = {one.case for one in report.verdicts if one.outcome == "known gap"}
    if gaps:
        text += f" {format_count(len(gaps), 'known gap')} not counted."
    return text


# --- HTML ---


def write_report_html(report: Report, *, again: Again | None = None) -> Html:
    """Return *report*: the summary, findings in detail, the cost of each tool, counts by area, and
    reasons.
    """
    areas = table(
        ("area", *OUTCOMES), _make_area_rows(report), caption="Verdicts by area", class_="numbers"
    )
    return join_html(
        _write_head(report),
        section("Findings", list(_write_findings(report, again))),
        section("Tools", _write_tools(report) if report.costs else None),
        section("Areas", element("div", areas, class_="wide", tabindex=0)),
        section("Known gaps", _write_reasons(report, "known gap")),
        section(
            "Other cases",
            _list_passed_cases(report),
            fold(
                "Not applicable, and notes",
                _write_reasons(report, "not applicable"),
                _write_reasons(report, "pass"),
            ),
        ),
    )


def _write_findings(report: Report, again: Again | None) -> Iterator[Html]:
    """Yield the findings in detail; verdicts that differ only in their place are one."""
    findings = report.list_findings()
    for number, verdicts in enumerate(findings[:_MAX_ROWS]):
        first = verdicts[0]
        command = again(first) if again else ""
        if number >= _MAX_WITH_EXCHANGES:
            first = msgspec.structs.replace(first, exchange=[])
        places = "; ".join(one.where for one in verdicts[:_MAX_PLACES])
        yield write_verdict_html(first, where=places, again=command)
    if len(findings) > _MAX_ROWS:
        yield element("p", f"… {len(findings) - _MAX_ROWS:,} more findings", class_="cut")


def _list_passed_cases(report: Report) -> Html:
    cases: dict[str, None] = {}
    for verdict in report.verdicts:
        if verdict.outcome == "pass":
            cases[verdict.case] = None
    items = []
    for case in list(cases)[:_MAX_CASES]:
        items.append(element("li", _link_case(case)))
    title = f"{format_count(len(cases), 'case')} passed"
    return fold(title, element("ul", items, class_="cases"))


def write_report_page(report: Report, *, again: Again | None = None) -> str:
    """Return `write_report_html` as a page."""
    title = f"Contract report: {report.server or shlex.join(report.command)}"
    return write_page(title, write_report_html(report, again=again))


def _write_head(report: Report) -> Html:
    facts: list[tuple[str, str]] = []
    for name, value in _list_facts(report):
        if name == "command":
            facts.append((name, code(value, _MAX_CHARS)))
        else:
            facts.append((name, value))
    bar, numbers = _write_counts(report)
    return element(
        "header",
        element("p", "Contract report", class_="eyebrow"),
        element("h1", cut(report.server or "A server without a name", _MAX_NAME_CHARS)),
        element("p", summarize(report), class_="lead"),
        bar,
        numbers,
        pairs(*facts),
    )


def _write_counts(report: Report) -> tuple[Html, Html]:
    """Return a bar with the share of each outcome, and the list of numbers below it."""
    rectangles, items = [], []
    total = max(len(report.verdicts), 1)
    left = 0.0
    for outcome, number in report.count_outcomes().items():
        colour = _COLOURS.get(outcome, "muted")
        width = 100 * number / total
        rectangles.append(
            element("rect", x=f"{left:.3f}", width=f"{width:.3f}", height=1, class_=colour)
        )
        left += width
        number_colour = colour if number else "muted"
        digits = element("span", f"{number:,}", class_=f"number {number_colour}")
        items.append(element("li", digits, f" {outcome}"))
    bar = element(
        "svg",
        rectangles,
        viewBox="0 0 100 1",
        preserveAspectRatio="none",
        class_="bar",
        aria_hidden="true",
    )
    return bar, element("ul", items, class_="counts")


def _list_facts(report: Report) -> list[tuple[str, str]]:
    speaks = ""
    if report.revisions:
        speaks = f"MCP {', '.join(report.revisions)}; {' and '.join(report.framings)}"
    tools = format_count(report.tools, "tool")
    tokens = report.describe_tokens()
    if tokens:
        tools += f", {tokens}"
    seed = ""
    if report.seed is not None:
        seed = str(report.seed)
    closed = [f"The gap {gap} is closed: remove it from the baseline." for gap in report.outdated]
    return [
        ("speaks", speaks),
        ("made with", report.sdk),
        ("tools", tools),
        ("took", format_duration(report.seconds)),
        ("command", shlex.join(report.command)),
        ("seed", seed),
        ("closed", " ".join(closed)),
    ]


def _make_area_rows(report: Report) -> list[list[str]]:
    rows = []
    for area, numbers in list(report.count_by_area().items())[:_MAX_ROWS]:
        cells = [str(numbers[outcome] or "") for outcome in OUTCOMES]
        rows.append([area, *cells])
    return rows


_COST = (
    *("tool", "tokens", "tiktoken", "description"),
    *("calls", "median", "slowest", "result", "largest"),
)
_COST_NOTE = (
    "Tokens are estimated, of the name, the description and the input schema, and counted by"
    f" tiktoken ({ENCODING}) if that is installed. Times and sizes of"
    " results are of calls that succeeded and ran alone during the check."
)


def _make_cost_rows(report: Report) -> Iterator[list[str]]:
    for cost in report.costs[:_MAX_ROWS]:
        yield _pad(_make_cost_row(cost))
    if len(report.costs) > _MAX_ROWS:
        yield _pad([f"{len(report.costs) - _MAX_ROWS:,} more"])


def _make_cost_row(cost: ToolCost) -> list[str]:
    exact = ""
    if cost.exact_tokens:
        exact = f"{cost.exact_tokens:,}"
    row = [cost.name[:_MAX_NAME_CHARS], f"{cost.tokens:,}", exact, format_size(cost.bytes)]
    if cost.calls:
        row.append(str(cost.calls))
        row.append(format_duration(cost.seconds))
        row.append(format_duration(cost.slowest_seconds))
        row.append(format_size(cost.result_bytes))
        row.append(format_size(cost.largest_result_bytes))
    return row


def _pad(row: list[str]) -> list[str]:
    return row + [""] * (len(_COST) - len(row))


def _write_tools(report: Report) -> Html:
    rows: list[list[Html | str]] = []
    for number, (name, *others) in enumerate(_make_cost_rows(report)):
        rows.append([join_html((name, _draw_token_bar(report, number))), *others])
    heads, rows = _drop_empty_columns(_COST, rows)
    costs = table(heads, rows, caption="The cost of each tool", class_="numbers")
    return join_html(
        element("div", costs, class_="wide", tabindex=0), element("p", _COST_NOTE, class_="caption")
    )


def _drop_empty_columns(
    heads: Sequence[str], rows: list[list[Html | str]]
) -> tuple[list[str], list[list[Html | str]]]:
    """Return *heads* and *rows* without the columns in which no row has a text."""
    used = [number for number in range(len(heads)) if any(row[number] for row in rows)]
    return [heads[number] for number in used], [[row[number] for number in used] for row in rows]


def _draw_token_bar(report: Report, number: int) -> Html | str:
    """Return a bar as long as the tokens of a tool, as a share of those of the most expensive."""
    if number >= min(len(report.costs), _MAX_ROWS):
        return ""  # the row that counts the others
    most = max(report.costs[0].tokens, 1)
    width = 100 * report.costs[number].tokens / most
    return element(
        "svg",
        element("rect", width=f"{width:.1f}", height=1, class_="accent"),
        viewBox="0 0 100 1",
        preserveAspectRatio="none",
        class_="bar",
        aria_hidden="true",
    )


def _write_reasons(report: Report, outcome: Outcome) -> Iterator[Html]:
    """Yield the reasons for an outcome, each with its cases."""
    reasons = []
    for (reason_outcome, why), cases in report.collect_reasons().items():
        if reason_outcome == outcome:
            reasons.append((why, ", ".join(cases)))
    if outcome == "known gap":
        for why, number in report.count_sdk_findings().items():
            reasons.append((why, format_count(number, "finding")))
    for why, cases_text in reasons[:_MAX_ROWS]:
        cases_html = element("span", cut(cases_text, _MAX_CHARS), class_="muted")
        yield element("p", cut(why, _MAX_CHARS), ": ", cases_html)


# --- Markdown ---


def write_report_markdown(report: Report, *, again: Again | None = None) -> str:
    """Return *report* in short, for a pull request: at most what GitHub takes as a comment."""
    findings = report.list_findings()
    shown = [verdicts[0] for verdicts in findings[:_MAX_ROWS]]
    rows = []
    for one in shown:
        rows.append([one.outcome, _link_markdown(one), as_code(one.expected), as_code(one.came)])
    counts = []
    for outcome, number in report.count_outcomes().items():
        if number:
            counts.append(f"{number} {outcome}")
    facts = []
    for name, value in _list_facts(report):
        if value and name != "seed":
            facts.append(f"{name} {as_code(value)}")
    areas = write_table(("area", *OUTCOMES), _with_code(_make_area_rows(report)))
    costs = write_table(_COST, _with_code(_make_cost_rows(report)))
    parts = [
        f"### Contract of {as_code(report.server or 'a server')}",
        f"**{summarize(report)}** {', '.join(counts)}.",
        "; ".join(facts),
        *write_table(("", "case", "expected", "came"), rows, len(findings)),
        fold_part("Verdicts by area", *areas),
        fold_part("The cost of each tool", *costs),
    ]
    for one in shown:
        lines = [one.behaviour]
        if again:
            lines.append(f"again: {again(one)}")
        parts.append(fold_part(f"{one.outcome}: {as_html(one.case)}", fence(lines + one.exchange)))
    return join_within_limit(parts, len(findings[_MAX_ROWS:]))


def _with_code(rows: Iterable[Sequence[str]]) -> list[list[str]]:
    """Return *rows* with their first cell as code: it is a name."""
    return [[as_code(name), *cells] for name, *cells in rows]


def _link_markdown(verdict: Verdict) -> str:
    name = as_code(verdict.case)
    if not find_rule(verdict.case):
        return name
    address = find_rule_url(verdict.case)
    if not address:
        return name
    return f"[{name}]({address})"
