"""The rooms of each package stand in one order: a file imports only from its own room and from
rooms below it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import NamedTuple

from support.source_imports import SourceImport, read_imports

ROOT = Path(__file__).parents[1]
SHELVES = {
    "toolwire_schemas": "schemas",
    "toolwire_dialects": "schemas",
    "toolwire_tools": "tools",
    "toolwire_compat": "tools",
    "toolwire_bundled": "tools",
    "toolwire": "server",
    "toolwire_client": "clients",
    "toolwire_agent": "clients",
    "toolwire_check": "clients",
}
MAX_FILES = 18
COMMANDS = ROOT / "server/toolwire/cli/commands"  # a file for each command, as many as there are

# The rooms of each package, the lowest first. A room is a folder or a file; the longest name that
# fits decides. What stands on one line are rooms of equal height, none of which imports another.
ROOMS: dict[str, list[str]] = {
    "toolwire_schemas": [
        "misplaced_names",
        "toolwire_schemas",
        "extensions language meta_tools output install_command project_links signatures threads",
        "tool_table",
        "did_you_mean exact_tokens tracing deadline retries",
        "wire cases",
        "json_schema tokens",
        "published portability",
    ],
    "toolwire_dialects": [
        "lint",
        "name_mapping tool_entry circles",
        "strict_arguments shapes",
        "openai_strict",
        "type_names definition_meanings",
        "type_shapes",
        "python_stub typescript openai anthropic lagent markdown",
        "typed_clients compare search",
        "toolwire_dialects",
    ],
    "toolwire_tools": [
        "errors byte_sizes processes",
        "failures",
        "construction content",
        "schema",
        "options",
        "signature",
        "context",
        "api_description results confirmation resources.uri_template",
        "entry handler",
        "outer_handler",
        "tool",
        "resources toolkits",
        "discovery",
        "decorator",
        "toolwire_tools",
    ],
    "toolwire_compat": ["lagent fastmcp", "yaml", "mas", "groot", "toolwire_compat"],
    "toolwire_bundled": [
        "requirements settings temp_folders",
        "web files python_interpreter",
        "programs",
        "google_search",
        "arxiv calculator clock ipython maps ppt scholar web_browser",
        "chinese",
        "toolwire_bundled",
        "availability",
    ],
    "toolwire": [
        "errors log quick_msgspec timers setting_mistakes",
        "settings identity tool_patterns version idle_end",
        "protocol",
        "list_cache",
        "tracing tasks",
        "guarded_process",
        "workers.worker_spec",
        "workers.cluster",
        "tasks.store",
        "tasks.session_tasks",
        "watchdog.board",
        "transport.descriptors",
        "runtime",
        "watchdog transport.busy_poll",
        "polled_outputs",
        "forwarding",
        "workers mounting",
        "showing",
        "transport",
        "server",
        "wrapping",
        "loading",
        "sharing",
        "inspect notebook",
        "worker",
        "toolwire",
        "cli.printing",
        "cli",
        "hosts bundles cli.migration",
        "cli.commands",
        "cli.help cli.other_tools",
        "cli.main",
        "__main__",
    ],
    "toolwire_client": [
        "errors validation file_lock",
        "pages.markup",
        "pages.tree",
        "pages.records",
        "pages.result_html",
        "pages.notebook",
        "protocol",
        "waiting",
        "transport",
        "session remote",
        "settings redaction bridge",
        "host_config async_client",
        "client",
        "connecting typed",
        "servers",
        "pages",
        "toolwire_client",
    ],
    "toolwire_agent": [
        "react.prompts",
        "react",
        "models.errors",
        "models.model",
        "models.http_api models.testing models.arithmetic",
        "models",
        "toolbox",
        "agent",
        "instructions groot servers",
        "presentation",
        "terminal run_page run_times run_text",
        "toolwire_agent",
    ],
    "toolwire_check": [
        "report",
        "values",
        "judging",
        "facts",
        "bench playing",
        "fuzz",
        "baseline junit",
        "check",
        "pytest_support",
        "pages",
        "toolwire_check",
    ],
}


class Import(NamedTuple):
    importer: str
    line: int
    imported: str

    def __str__(self) -> str:
        return f"{self.importer}:{self.line} imports {self.imported}"


def modules() -> dict[str, Path]:
    """Every module of ours by its dotted name."""
    found = {}
    for package, shelf in SHELVES.items():
        for path in (ROOT / shelf / package).rglob("*.py"):
            parts = path.relative_to(ROOT / shelf).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


MODULES = modules()


@cache
def imports_of(module: str) -> tuple[Import, ...]:
    """Return the project's modules that *module* imports: at the top, in functions, for type
    checkers.
    """
    return tuple(_imports_of(module))


def _imports_of(module: str) -> Iterator[Import]:
    path = MODULES[module]
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    for each in read_imports(path):
        base = _resolve(each, package)
        imported = [f"{base}.{name}" for name in each.names]
        names = [name if name in MODULES else base for name in imported] or [base]
        for name in dict.fromkeys(names):
            if name in MODULES and name != module:
                yield Import(module, each.line, name)


def _resolve(each: SourceImport, package: str) -> str:
    """Return the dotted name of the module that a file of *package* imports, or imports from."""
    if not each.level:
        return each.module
    above = package.split(".")
    above = above[: len(above) - each.level + 1]
    return ".".join([*above, *([each.module] if each.module else [])])


def height(module: str) -> tuple[int, str]:
    """The floor of a module's room, and the room."""
    package, _, rest = module.partition(".")
    floors = {room: floor for floor, line in enumerate(ROOMS[package]) for room in line.split()}
    place = rest.split(".") if rest else [package]
    while place:
        room = ".".join(place)
        if room in floors:
            return floors[room], room
        place.pop()
    raise AssertionError(f"{module} is in no room of tests/test_rooms.py")


def upward() -> list[Import]:
    """Every import from a room to one that is not below it."""
    found = []
    for module in sorted(MODULES):
        for each in imports_of(module):
            if each.imported.partition(".")[0] == module.partition(".")[0]:
                own, other = height(module), height(each.imported)
                if own[1] != other[1] and other[0] >= own[0]:
                    found.append(each)
    return found


def test_no_file_imports_from_a_higher_room() -> None:
    found = upward()
    assert not found, "\n".join(map(str, found))


def test_no_two_files_import_each_other_however_far_apart() -> None:
    needs = {module: {each.imported for each in imports_of(module)} for module in MODULES}
    while free := [module for module, others in needs.items() if not others & needs.keys()]:
        for module in free:
            del needs[module]
    assert not needs, f"in a circle, or above one: {sorted(needs)}"


def test_a_folder_holds_few_files() -> None:
    files = Counter(path.parent for path in MODULES.values() if path.name != "__init__.py")
    assert files.pop(COMMANDS)
    assert [f"{path}: {number} files" for path, number in files.items() if number > MAX_FILES] == []
