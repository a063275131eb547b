"""`toolwire list`: prints the tools of a server as a table, JSON or another format, or lints
them.
"""

from __future__ import annotations

from collections import Counter
from importlib import import_module
from typing import TYPE_CHECKING, Any

from toolwire_schemas.tool_table import summarize

from ...errors import UsageError
from ..open_client import make_client, make_limit
from ..options import EXCLUDE, INCLUDE, JSON, LOADING, Option
from ..printing.layout import format_count, format_table, format_tools
from ..printing.terminal import format_json, print_data, print_remark, print_report
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
        "TARGET and COMMAND may be the URL of a remote server."
        " Types of arguments and results are in the notation of Python; arguments with `?` or a"
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
        Option("--why", "list the names of a module that are no tools, and why"),
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
        "toolwire list my_package.module --why",
    ),
)


_NAMING_TYPES = {"TOOLWIRE_NAME_TYPES": "1"}
"""Makes a Toolwire server name the types of Python that clients see as texts, such as `Path`."""


def run(words: Words) -> int:
    """Print the tools, and return 1 if some client or model's API is known to refuse one."""
    _check_forms(words.options)
    if "bundled" in words.options:
        return _list_bundled(words)
    if "why" in words.options:
        return _explain_names(words)
    if "lint" in words.options:
        return _lint(words)
    if "resources" in words.options:
        return _list_others(words, "resources")
    if "prompts" in words.options:
        return _list_others(words, "prompts")
    if "tokens" in words.options:
        return _count_tokens(words)
    return _list_tools(words)


_FORMS = ("bundled", "resources", "prompts", "why", "as", "lint", "tokens", "json")
"""The options of which only one can be given; JSON is a form of all but --as, too."""


def _check_forms(options: dict[str, Any]) -> None:
    forms = [form for form in _FORMS if form in options]
    if forms[-1:] == ["json"] and "as" not in forms:
        forms.remove("json")
    if len(forms) > 1:
        raise UsageError(f"--{forms[0]} and --{forms[1]} contradict each other: leave one out")
    if "notes" in options and "lint" not in options:
        raise UsageError("--notes goes with --lint")
    if "strict" in options and options.get("as") != "openai":
        raise UsageError("--strict goes with --as openai")
    if "as" in options and options["as"] not in DIALECTS:
        _find_announced_dialect(options["as"])  # before a server is started


# --- tools ---


def _list_tools(words: Words) -> int:
    limit = make_limit(words)
    is_table = words.options.keys().isdisjoint({"json", "as"})
    env = _NAMING_TYPES if is_table else None
    others = {}
    with make_client(words, words.words, limit=limit, env=env, own_era="legacy") as client:
        tools = [tool.raw for tool in client.list_tools(timeout_seconds=limit.seconds_left)]
        if is_table:
            others = _try_others(client, limit)
    if is_table:
        _print_all(tools, others)
    elif "json" in words.options:
        print_data(format_json(tools))
    else:
        _print_in_dialect(tools, words.options["as"], is_strict="strict" in words.options)
    return 0


def _print_in_dialect(tools: list[Entry], dialect: str, *, is_strict: bool) -> None:
    translated, notes = translate_tools(tools, dialect, strict=is_strict)
    print_data(translated if isinstance(translated, str) else format_json(translated))
    for note in notes:
        print_remark(note)


def _print_all(tools: list[Entry], others: dict[str, list[Entry]]) -> None:
    """Print the tools, and how many resources and prompts there are; without tools, print those."""
    tables = []
    counts = []
    for what, entries in others.items():
        if entries:
            tables.append(_format_others(what, entries))
            counts.append(f"{format_count(len(entries), what[:-1])} (--{what})")
    if tools:
        print_report(format_tools(tools))
        if counts:
            print_report("\n" + ", ".join(counts))
    elif tables:
        print_report("\n\n".join(tables))
    else:
        print_report("The server has no tools.")


# --- resources and prompts ---

_HEADINGS = {
    "resources": ("URI", "type", "what it is"),
    "prompts": ("prompt", "arguments", "what it is for"),
}


def _list_others(words: Words, what: str) -> int:
    """Print the resources or the prompts."""
    limit = make_limit(words)
    with make_client(words, words.words, limit=limit) as client:
        entries = _fetch_others(client, what, limit)
    if "json" in words.options:
        print_data(format_json(entries))
    elif entries:
        print_report(_format_others(what, entries))
    elif words.options.keys() & {"include", "exclude"}:
        print_report(f"The server has no {what} that --include and --exclude leave.")
    else:
        print_report(f"The server has no {what}.")
    return 0


def _try_others(client: Client, limit: Deadline) -> dict[str, list[Entry]]:
    """Return the resources and the prompts; print a remark if the server refuses to list what it
    declares.
    """
    from toolwire_client import RequestFailed

    others = {}
    for what in _HEADINGS:
        try:
            others[what] = _fetch_others(client, what, limit)
        except RequestFailed as error:
            print_remark(f"the {what} cannot be listed: {error}")
    return others


def _fetch_others(client: Client, what: str, limit: Deadline) -> list[Entry]:
    if what == "prompts":
        return [prompt.raw for prompt in client.list_prompts(timeout_seconds=limit.seconds_left)]
    entries = [each.raw for each in client.list_resources(timeout_seconds=limit.seconds_left)]
    entries += [
        each.raw for each in client.list_resource_templates(timeout_seconds=limit.seconds_left)
    ]
    return entries


def _format_others(what: str, entries: Sequence[Entry]) -> str:
    rows = [(*_format_name(entry), summarize(entry)) for entry in entries]
    return format_table(_HEADINGS[what], rows)


def _format_name(entry: Entry) -> tuple[str, str]:
    """Return the URI and the type of a resource, or the name and the arguments of a prompt."""
    uri = entry.get("uri") or entry.get("uriTemplate")
    if uri is not None:
        return uri, entry.get("mimeType") or ""
    arguments = []
    for argument in entry.get("arguments") or ():
        mark = "" if argument.get("required") else "?"
        arguments.append(argument["name"] + mark)
    return entry["name"], ", ".join(arguments)


# --- names that are no tools ---


def _explain_names(words: Words) -> int:
    """Import the targets in this process, and print which of their names are no tools."""
    from ...loading.diagnostics.not_offered import explain

    if words.command is not None or not words.words:
        raise UsageError("--why goes with files and modules, as in `toolwire list math --why`")
    found = []
    for target in words.words:
        found += explain(target)
    if "json" in words.options:
        print_data(format_json([{"name": name, "reason": reason} for name, reason in found]))
    elif found:
        print_report(format_table(("name", "why it is no tool"), found))
    else:
        print_report("Each name that can be called is a tool.")
    return 0


# --- tokens ---


def _count_tokens(words: Words) -> int:
    from ..mounting import list_prefixes
    from ..token_counts import as_data, count_tokens, format_counts

    limit = make_limit(words)
    with make_client(words, words.words, limit=limit) as client:
        tools = [tool.raw for tool in client.list_tools(timeout_seconds=limit.seconds_left)]
    counts = count_tokens(tools, list_prefixes(words.options))
    if "json" in words.options:
        print_data(format_json(as_data(counts)))
    else:
        print_report(format_counts(counts))
    return 0


# --- other formats ---

DIALECTS = ("lagent", "openai", "anthropic", "python", "typescript", "markdown")

_TEXTS = {"python": "python_stub", "typescript": "typescript", "markdown": "markdown"}
"""The dialects that are texts, and their modules. They show a tool's own name next to a changed
one.
"""


def translate_tools(
    entries: Sequence[Entry], dialect: str, *, strict: bool = False
) -> tuple[Any, list[str]]:
    """Return *entries* in a dialect, as a text or a list of JSON values, and notes for its reader.

    With *strict*, OpenAI functions are strict where they can be.
    """
    from toolwire_dialects.name_mapping import RULES, Names

    if dialect not in DIALECTS:
        return _find_announced_dialect(dialect).from_entries(list(entries)), []
    if dialect in _TEXTS:
        module = import_module(f"toolwire_dialects.{_TEXTS[dialect]}")
        return module.from_entries(list(entries)), []
    names = [entry["name"] for entry in entries]
    names_there = dict(zip(names, names, strict=True))
    if dialect in RULES:
        names_there = Names(names, dialect).theirs
    notes = _note_renames(names_there.items())
    tools = []
    for entry in entries:
        name = entry["name"]
        renamed = {**entry, "name": names_there[name]}
        tool, notes_of_tool = _translate(renamed, dialect, strict=strict)
        tools.append(tool)
        notes += [f"{name}: {note}" for note in notes_of_tool]
    return tools, notes


def _find_announced_dialect(name: str) -> Any:
    """Return the module of a dialect that an installed distribution announces."""
    from toolwire_schemas.extensions import ExtensionFailed, find_extension, list_extensions

    try:
        dialect = find_extension("dialects", name)
    except ExtensionFailed as error:
        raise UsageError(f"--as: the dialect {error}") from None
    if dialect is None:
        known = ", ".join([*DIALECTS, *list_extensions("dialects")])
        raise UsageError(f"--as takes one of {known}, not {name!r}")
    return dialect


def _translate(entry: Entry, dialect: str, *, strict: bool) -> tuple[Entry, list[str]]:
    """Return a tool in a dialect of JSON, and notes on it."""
    from toolwire_dialects import anthropic, lagent, openai
    from toolwire_dialects.openai_strict import NotStrict

    match dialect:
        case "lagent":
            return lagent.from_entry(entry), []
        case "anthropic":
            tool = anthropic.from_entry(entry)
            parameters = entry["inputSchema"].get("properties", ())
            parameters_there = tool["input_schema"].get("properties", ())
            return tool, _note_renames(zip(parameters, parameters_there, strict=True))
    try:
        return openai.from_entry(entry, strict=strict), []
    except NotStrict as error:
        return openai.from_entry(entry), [f"it cannot be strict: {error}"]


def _note_renames(names: Iterable[tuple[str, str]]) -> list[str]:
    """Return a note for each name that is another one there."""
    return [f"{ours!r} is called {theirs!r} there" for ours, theirs in names if ours != theirs]


# --- lint ---


def _lint(words: Words) -> int:
    from toolwire_dialects.lint.audit import audit

    limit = make_limit(words)
    with make_client(words, words.words, limit=limit) as client:
        entries = client.list_entries(timeout_seconds=limit.seconds_left)
    findings = audit(entries)
    if "json" in words.options:
        print_data(format_json(findings))
    else:
        _print_findings(findings, len(entries), shows_notes="notes" in words.options)
    return 1 if any(finding.severity == "error" for finding in findings) else 0


def _print_findings(findings: Sequence[Finding], tools: int, *, shows_notes: bool) -> None:
    shown = [finding for finding in findings if shows_notes or finding.severity != "note"]
    if shown:
        head = ("", "where", "what is wrong; what to do", "whom it concerns")
        print_report(format_table(head, list(map(_format_finding, shown))) + "\n")
    counts = Counter(finding.severity for finding in findings)
    parts = []
    for severity in ("error", "warning", "note"):
        parts.append(format_count(counts[severity], severity))
    hint = "; --notes shows the notes" if len(shown) < len(findings) else ""
    print_report(f"{format_count(tools, 'tool')}: {', '.join(parts)}{hint}.")


def _format_finding(finding: Finding) -> tuple[str, str, str, str]:
    where = f"{finding.tool or ''} {finding.where or ''}".strip() or "all"
    return finding.severity, where, f"{finding.problem}; {finding.remedy}", finding.concerns


# --- bundled tools ---


def _list_bundled(words: Words) -> int:
    from toolwire_bundled.availability import check_readiness

    if words.words or words.command or "set" in words.options:
        raise UsageError("--bundled lists all of the tools that come with Toolwire: name no target")
    tools = check_readiness()
    if "json" in words.options:
        print_data(format_json(tools))
        return 0
    rows = []
    for tool in tools:
        state = [*(tool.missing or ["ready"]), *tool.advice]
        rows.append((tool.name, tool.summary, ", ".join(tool.needs), "; ".join(state)))
    print_report(format_table(("tool", "what it does", "needs", "here"), rows))
    return 0
