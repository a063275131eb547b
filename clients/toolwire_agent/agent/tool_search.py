"""Replaces an agent's list of many tools by a search, and a tool that calls the others.

Strategy. The model gets a short list, and the conversation knows all tools: it turns a call of
`call_tool` into the call of the tool that it names (see `Tools.open_call`), so that the checks of
parameters, approvals, time limits and transcripts are those of that tool. A search is answered
here, and reaches no server. With `show="code"` the other tool runs programs (programs.py).

A small model takes the hits of a search for its answer. So for `SmallProtocol` the search is made
here, with the words of the user's questions, and the list has what it finds.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any, Literal

import msgspec
from toolwire_dialects.search.found_tools import write_program_stubs, write_stubs
from toolwire_dialects.search.program_names import NamedTool, ProgramName, name_functions
from toolwire_dialects.search.search_index import NoSearch, SearchableTool, SearchIndex
from toolwire_schemas import meta_tools
from toolwire_schemas.tokens import estimate_list_tokens

from ..react.evidence import find_named_tools
from ..react.small import MAX_SAMPLES
from ..toolbox.local_tools import LOCAL
from . import events

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

Entry = dict[str, Any]
Show = Literal["all", "search", "code", "auto"]
SHOWS: tuple[Show, ...] = ("all", "search", "code", "auto")

DEFAULT_TOKENS = 10_000
"""How many tokens a list may take if the size of the context is unknown: a twentieth of 200,000."""

LEAST_TOKENS = 1_500
"""About what a search and its result take: a shorter list is never replaced by `auto`."""

_PARTS_OF_CONTEXT = 20

_MAX_QUESTIONS = 3
"""How many questions of a session choose tools: "and in Rome?" needs those of the one before."""


class Listing(msgspec.Struct, frozen=True):
    """The entries of all tools, and the names of those *shown* to the model; none if all are.

    *call_tool* is the name of the tool that calls the others.
    """

    entries: list[Entry]
    shown: list[str] = []
    call_tool: str = ""


class ToolSearch:
    """Decides what a model gets of a list of tools, and answers its searches.

    *max_tokens* is how many tokens a list may take with `show="auto"`; `None` for a twentieth of
    the model's context. *pin* are patterns of the names of tools that stay in the list. If the
    model is not to search itself, the list has what the user's questions find (*by_question*).
    """

    def __init__(
        self,
        show: Show = "auto",
        max_tokens: int | None = None,
        pin: Sequence[str] = (),
        *,
        by_question: bool = False,
    ) -> None:
        self._show = show
        self._max_tokens = max_tokens
        self._pin = tuple(pin)
        self._by_question = by_question
        self._index = SearchIndex(())
        self._search_tool = ""
        self._call_tool = ""
        self.program_tool = ""
        """The name of the tool that runs programs; empty without it."""
        self.own_names: dict[str, str] = {}
        """The names that tools have on their servers, by ours."""
        self.program_names: dict[str, ProgramName] = {}
        """The names of its functions, by tool."""

    def choose(
        self,
        entries: list[Entry],
        sources: Mapping[str, str],
        context_tokens: int | None,
        questions: Sequence[str] = (),
    ) -> Listing:
        """Return what the model gets of *entries*; *sources* are the names of their servers, by
        tool, and *questions* the user's, the last one first.
        """
        self._search_tool = self._call_tool = self.program_tool = ""
        if self._shows_all(entries, context_tokens):
            return Listing(entries)
        names = [entry["name"] for entry in entries]
        self._index = SearchIndex(
            SearchableTool(entry, (), (sources.get(entry["name"], ""),)) for entry in entries
        )
        if self._by_question and self._show != "code":
            return Listing(entries, self._choose_by_question(entries, questions))
        self._search_tool = meta_tools.find_free_name("search_tools", names)
        groups = list(dict.fromkeys(sources.values()))
        pinned = [name for name in names if self._is_pinned(name)]
        if self._show == "code":
            program = self._make_program_entry(entries, sources)
            use = f"call them in {self.program_tool}"
            search = meta_tools.search_entry(
                self._search_tool, meta_tools.describe_search(groups, use)
            )
            shown = [self._search_tool, self.program_tool, *pinned]
            return Listing([search, program, *entries], shown)
        self._call_tool = meta_tools.find_free_name("call_tool", names)
        about = meta_tools.describe_search(groups, f"call them with {self._call_tool}")
        search = meta_tools.search_entry(self._search_tool, about)
        call = meta_tools.call_entry(self._call_tool, meta_tools.describe_call(self._search_tool))
        shown = [self._search_tool, self._call_tool, *pinned]
        return Listing([search, call, *entries], shown, self._call_tool)

    def _choose_by_question(self, entries: Sequence[Entry], questions: Sequence[str]) -> list[str]:
        """Return the tools for *questions*: those pinned, those that a question names or finds, and
        then the first ones of the list, until there are as many as a small model gets examples of.
        """
        names = [entry["name"] for entry in entries]
        chosen = dict.fromkeys(name for name in names if self._is_pinned(name))
        size = max(MAX_SAMPLES, len(chosen) + meta_tools.DEFAULT_HITS)
        for question in questions[:_MAX_QUESTIONS]:
            named = find_named_tools(question, entries)
            chosen |= dict.fromkeys(name for name in names if name in named)
            try:
                hits = self._index.search(question, meta_tools.DEFAULT_HITS)
            except NoSearch:
                return []  # which shows all
            chosen |= dict.fromkeys(hit.name for hit in hits)
        return list(dict.fromkeys([*chosen, *names]))[:size]

    def _make_program_entry(self, entries: Sequence[Entry], sources: Mapping[str, str]) -> Entry:
        """Return the entry of the tool that runs programs, and name their functions."""
        names = [entry["name"] for entry in entries]
        self.program_tool = meta_tools.find_free_name("run_program", names)
        has_servers = len(set(sources.values())) > 1
        tools = []
        for entry in entries:
            name: str = entry["name"]
            group = sources.get(name, "")
            if not has_servers or group == LOCAL:
                group = ""
            tools.append(NamedTool(entry, group, self.own_names.get(name, name)))
        self.program_names = name_functions(tools)
        about = meta_tools.describe_program(self._search_tool, _find_sandbox())
        return meta_tools.make_program_entry(self.program_tool, about)

    def _shows_all(self, entries: Sequence[Entry], context_tokens: int | None) -> bool:
        if self._show != "auto":
            return self._show == "all"
        limit = self._max_tokens
        if limit is None and context_tokens is not None:
            limit = max(context_tokens // _PARTS_OF_CONTEXT, LEAST_TOKENS)
        return estimate_list_tokens(entries) <= (limit or DEFAULT_TOKENS)

    def _is_pinned(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self._pin)

    def is_own(self, tool: str) -> bool:
        """Whether *tool* is the search, or the tool that calls others."""
        return tool != "" and tool in (self._search_tool, self._call_tool, self.program_tool)

    def answer(self, tool: str, params: dict[str, Any]) -> events.CallFinished:
        """Return the result of a search, or of a call that names no tool to call."""
        if tool == self._call_tool:
            problem = f"{tool} cannot call itself: name a tool that {self._search_tool} has found"
            return events.CallFinished(success=False, result=problem)
        try:
            hits = self._index.search(params["query"], params.get("limit", meta_tools.DEFAULT_HITS))
        except NoSearch as error:
            return events.CallFinished(success=False, result=str(error))
        if not hits:
            names = [each.name for each in self._index.tools]
            return events.CallFinished(success=True, result=meta_tools.describe_miss(names))
        found = [hit.entry for hit in hits]
        if self.program_tool:
            stubs = write_program_stubs(found, self.program_names)
        else:
            stubs = write_stubs(found)
        return events.CallFinished(success=True, result=stubs)


def _find_sandbox() -> str:
    from toolwire_bundled.programs.program import find_sandbox

    return find_sandbox("auto")
