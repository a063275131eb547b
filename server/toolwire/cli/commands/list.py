"""`toolwire list`: prints the tools of a server as a table, JSON or another format, or lints
them.
"""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ..open_client import client_of, limit_of
from ..options import EXCLUDE, INCLUDE, JSON, LOADING, Option
from ..printing.layout import format_count, format_table, format_tools, summarize
from ..printing.output import format_json, print_data, print_remark, print_report
from . import Command

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from toolwire_client import Client
    from toolwire_schemas.deadline import Deadline
    from toolwire_schemas.portability import Finding

    from ..options import Words

    Entry = dict[str, Any]

COMMAND = Command(
    usage=(
        "toolwire list TARGET... [OPTIONS]",
        "toolwire list [OPTIONS] -- COMMAND",
        "toolwire list --bundled [--json]",
    ),
    details=(
        "Types of arguments and results are in the notation of Python; arguments with `?` or a"
        " default are optional. With --lint, the exit status is 1 if some client or model's API"
        " refuses a tool."
    ),
    options=(
        Option("--resources", "list the resources and their templates instead"),
        Option("--prompts", "list the prompts instead"),
        Option("--bundled", "list the bundled tools, and what each needs to run here"),
        INCLUDE,
        EXCLUDE,
        *LOADING,
        Option("--lint", "list what clients and model APIs refuse, with remedies"),
        Option("--notes", "with --lint: also list minor findings"),
        Option(
            "--as DIALECT",
            "print the tools in another format: lagent, openai, anthropic, python, typescript,"
            " markdown, or that of an installed extension",
        ),
        Option("--strict", "with --as openai: make functions strict where they can be"),
        Option("--tokens", "show how many tokens of a model's context each tool takes"),
        JSON,
        Option("--timeout SECONDS", "time limit, including the start of the server"),
    ),
    examples=(
        "toolwire list tools.py",
        "toolwire list --json -- npx -y some-mcp-server",
        "toolwire list --lint -- npx -y some-mcp-server",
        "toolwire list tools.py --as openai --strict",
        "toolwire list --tokens --mount-config .mcp.json",
    ),
)


_NAMING_TYPES = {"TOOLWIRE_NAME_TYPES": "1"}
"""Makes a Toolwire server name the types of Python that clients see as texts, such as `Path`."""


def run(words: Words) -> int:
    """Print the tools, and return 1 if some client or model's API is known to refuse one."""
    _check_forms(words.options)
    if words.options.get("bundled"):
        return _bundled(words)
    return _lint(words) if words.options.get("lint") else _list(words)


def _check_forms(options: dict[str, Any]) -> None:
    forms = [
        form
        for form in ("bundled", "resources", "prompts", "as", "lint", "tokens", "json")
        if form in options
    ]
    # JSON is a form of all but --as, too.
    if len(forms) > 1 and (len(forms) > 2 or forms[1] != "json" or forms[0] == "as"):
        raise UsageError(f"--{forms[0]} and --{forms[1]} contradict each other: leave one out")
    if "notes" in options and "lint" not in options:
        raise UsageError("--notes goes with --lint")
    if "strict" in options and options.get("as") != "openai":
        raise UsageError("--strict goes with --as openai")
    if options.get("as", "lagent") not in _DIALECTS:
        _announced_dialect(options["as"])  # before a server is started


def _list(words: Words) -> int:
    limit = limit_of(words)
    if "resources" in words.options or "prompts" in words.options:
        return _others(words, limit)
    is_table = words.options.keys().isdisjoint({"json", "as", "tokens"})
    others: dict[str, list[Entry]] = {}
    env = _NAMING_TYPES if is_table else None
    with client_of(words, words.words, limit=limit, env=env) as client:
        entries = [tool.raw for tool in client.list_tools(timeout_seconds=limit.left())]
        if is_table:
            others = {what: _others_or_none(client, what, limit) for what in _HEADINGS}
    if words.options.get("tokens"):
        _print_tokens(entries, words.options)
    elif words.options.get("json"):
        print_data(format_json(entries))
    elif words.options.get("as"):
        tools, notes = in_dialect(entries, words.options["as"], strict="strict" in words.options)
        print_data(tools if isinstance(tools, str) else format_json(tools))
        for note in notes:
            print_remark(note)
    else:
        _show_all(entries, others)
    return 0


def _print_tokens(entries: list[Entry], options: dict[str, Any]) -> None:
    from ..mounting import prefixes_of
    from ..token_counts import as_data, count_tokens, format_counts

    counts = count_tokens(entries, prefixes_of(options))
    if options.get("json"):
        print_data(format_json(as_data(counts)))
    else:
        print_report(format_counts(counts))


def _show_all(tools: list[Entry], others: dict[str, list[Entry]]) -> None:
    """Show the tools, and how many resources and prompts there are; without tools, show those."""
    found = {what: entries for what, entries in others.items() if entries}
    if tools:
        print_report(format_tools(tools))
        counts = [
            f"{format_count(len(entries), what[:-1])} (--{what})" for what, entries in found.items()
        ]
        if counts:
            print_report("\n" + ", ".join(counts))
    elif found:
        tables = [_table_of(what, entries) for what, entries in found.items()]
        print_report("\n\n".join(tables))
    else:
        print_report("The server has no tools.")


def _table_of(what: str, entries: Sequence[Entry]) -> str:
    return format_table(_HEADINGS[what], [(*_keys(entry), summarize(entry)) for entry in entries])


def _others_or_none(client: Client, what: str, limit: Deadline) -> list[Entry]:
    """Return the resources or the prompts; none, with a remark, if the server refuses to list what
    it declares.
    """
    from toolwire_client import RequestFailed

    try:
        return _entries_of(client, what, limit)
    except RequestFailed as error:
        print_remark(f"the {what} cannot be listed: {error}")
        return []


def _entries_of(client: Client, what: str, limit: Deadline) -> list[Entry]:
    if what == "prompts":
        return [prompt.raw for prompt in client.list_prompts(timeout_seconds=limit.left())]
    fixed = client.list_resources(timeout_seconds=limit.left())
    templates = client.list_resource_templates(timeout_seconds=limit.left())
    return [*(resource.raw for resource in fixed), *(template.raw for template in templates)]


def _others(words: Words, limit: Deadline) -> int:
    """Print the resources or the prompts."""
    what = "resources" if "resources" in words.options else "prompts"
    with client_of(words, words.words, limit=limit) as client:
        entries = _entries_of(client, what, limit)
    if words.options.get("json"):
        print_data(format_json(entries))
    elif entries:
        print_report(_table_of(what, entries))
    else:
        is_chosen = words.options.keys() & {"include", "exclude"}
        print_report(
            f"The server has no {what}{' that --include and --exclude leave' if is_chosen else ''}."
        )
    return 0


_HEADINGS = {
    "resources": ("URI", "type", "what it is"),
    "prompts": ("prompt", "arguments", "what it is for"),
}


def _keys(entry: Entry) -> tuple[str, str]:
    uri = entry.get("uri") or entry.get("uriTemplate")
    if uri is not None:
        return uri, entry.get("mimeType") or ""
    arguments = entry.get("arguments") or ()
    return entry["name"], ", ".join(
        f"{each['name']}{'' if each.get('required') else '?'}" for each in arguments
    )


def in_dialect(
    entries: Sequence[Entry], dialect: str, *, strict: bool = False
) -> tuple[Any, list[str]]:
    """Return *entries* in a dialect, as a text or a list of JSON values, and notes for its reader.

    With *strict*, OpenAI functions are strict where they can be.
    """
    from toolwire_dialects.name_mapping import RULES, Names

    if dialect not in _DIALECTS:
        return _announced_dialect(dialect).from_entries(list(entries)), []
    if dialect in ("python", "typescript", "markdown"):
        # These texts show a tool's own name next to a changed one.
        module = "python_stub" if dialect == "python" else dialect
        return import_module(f"toolwire_dialects.{module}").from_entries(list(entries)), []
    names = [entry["name"] for entry in entries]
    theirs = Names(names, dialect).theirs if dialect in RULES else {name: name for name in names}
    notes = _differences(theirs.items())
    tools = []
    for entry in entries:
        tool, remarks = _tool({**entry, "name": theirs[entry["name"]]}, dialect, strict)
        tools.append(tool)
        notes += [f"{entry['name']}: {note}" for note in remarks]
    return tools, notes


_DIALECTS = ("lagent", "openai", "anthropic", "python", "typescript", "markdown")


def _announced_dialect(name: str) -> Any:
    """Return the module of a dialect that an installed distribution announces."""
    from toolwire_schemas.extensions import ExtensionFailed, find_extension, list_extensions

    try:
        dialect = find_extension("dialects", name)
    except ExtensionFailed as error:
        raise UsageError(f"--as: the dialect {error}") from None
    if dialect is None:
        known = ", ".join([*_DIALECTS, *list_extensions("dialects")])
        raise UsageError(f"--as takes one of {known}, not {name!r}")
    return dialect


def _tool(entry: Entry, dialect: str, strict: bool) -> tuple[Entry, list[str]]:
    from toolwire_dialects import anthropic, lagent, openai

    match dialect:
        case "lagent":
            return lagent.from_entry(entry), []
        case "anthropic":
            tool = anthropic.from_entry(entry)
            called = (
                schema.get("properties", ())
                for schema in (entry["inputSchema"], tool["input_schema"])
            )
            return tool, _differences(zip(*called, strict=True))
    if strict:
        from toolwire_dialects.openai_strict import NotStrict

        try:
            return openai.from_entry(entry, strict=True), []
        except NotStrict as error:
            return openai.from_entry(entry), [f"it cannot be strict: {error}"]
    return openai.from_entry(entry), []


def _differences(called: Iterable[tuple[str, str]]) -> list[str]:
    return [f"{ours!r} is called {theirs!r} there" for ours, theirs in called if ours != theirs]


def _lint(words: Words) -> int:
    from toolwire_dialects.lint.audit import audit

    limit = limit_of(words)
    with client_of(words, words.words, limit=limit) as client:
        entries = client.list_entries(timeout_seconds=limit.left())
    findings = audit(entries)
    if words.options.get("json"):
        print_data(format_json(findings))
    else:
        _show_findings(findings, len(entries), notes=words.options.get("notes", False))
    return 1 if any(finding.severity == "error" for finding in findings) else 0


def _show_findings(findings: Sequence[Finding], tools: int, *, notes: bool) -> None:
    rows = [
        (
            finding.severity,
            " ".join(filter(None, (finding.tool, finding.where))) or "all",
            f"{finding.problem}; {finding.remedy}",
            finding.concerns,
        )
        for finding in findings
        if notes or finding.severity != "note"
    ]
    if rows:
        print_report(
            format_table(("", "where", "what is wrong; what to do", "whom it concerns"), rows)
            + "\n"
        )
    counts = Counter(finding.severity for finding in findings)
    summary = ", ".join(
        format_count(counts[severity], severity) for severity in ("error", "warning", "note")
    )
    hint = "; --notes shows the notes" if len(rows) < len(findings) else ""
    print_report(f"{format_count(tools, 'tool')}: {summary}{hint}.")


def _bundled(words: Words) -> int:
    from toolwire_bundled.availability import readiness

    if words.words or words.command or "set" in words.options:
        raise UsageError("--bundled lists all of the tools that come with Toolwire: name no target")
    found = readiness()
    rows = [
        (
            tool.name,
            tool.summary,
            ", ".join(tool.needs),
            "; ".join([*(tool.missing or ["ready"]), *tool.advice]),
        )
        for tool in found
    ]
    if words.options.get("json"):
        print_data(format_json(found))
    else:
        print_report(format_table(("tool", "what it does", "needs", "here"), rows))
    return 0
