"""The tools that come with Toolwire: a table of what there is, and the classes, imported when they
are asked for.
"""

from __future__ import annotations

from typing import Any

import msgspec

__all__ = ["BUNDLED", "Entry", "class_of"]


class Entry(msgspec.Struct, frozen=True):
    """Facts about a bundled tool that need no import of it.

    `module` is within this distribution's tools. `extra` is what `pip install 'toolwire[EXTRA]'`
    adds for it. Of the environment's variables it cannot do without its `keys`, and reads
    `variables` if they are set; of what it is made with, it cannot do without `settings`;
    `programs` make it better where they are installed.
    """

    module: str
    summary: str
    extra: str = ""
    keys: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


BUNDLED: dict[str, Entry] = {
    "FinishAction": Entry("actions.executor", "Takes the final answer of a conversation."),
    "ArxivSearch": Entry("bundled.arxiv", "Finds articles on arXiv.", extra="web"),
    "BINGMap": Entry(
        "bundled.maps",
        "Distances, routes and places, from OpenStreetMap.",
        extra="web",
        variables=("NOMINATIM_URL", "OSRM_URL", "OVERPASS_URL"),
    ),
    "BingBrowser": Entry(
        "bundled.web_browser",
        "WebBrowser, by the name that it has in Lagent 0.2.4.",
        extra="web",
        variables=("BRAVE_API_KEY", "SEARXNG_URL", "SERPER_API_KEY"),
    ),
    "Calculator": Entry("bundled.calculator", "Calculates, exactly where that is possible."),
    "Clock": Entry("bundled.clock", "Tells the time in any time zone, and calculates with times."),
    "CodeExecutor": Entry(
        "bundled.python_interpreter",
        "PythonInterpreter, by the name that Groot has for it, and for its parameter.",
        programs=("bwrap",),
    ),
    "Files": Entry(
        "bundled.files",
        "Lists, reads, searches, writes and edits files inside of folders that you name.",
        settings=("roots",),
    ),
    "GoogleScholar": Entry(
        "bundled.scholar",
        "Finds papers, authors and citations on Google Scholar, by way of SerpApi.",
        extra="web",
        keys=("SERPAPI_API_KEY",),
    ),
    "GoogleSearch": Entry(
        "bundled.google_search",
        "Short answers from Google, by way of Serper.",
        extra="web",
        keys=("SERPER_API_KEY",),
    ),
    "IPythonInterpreter": Entry(
        "bundled.ipython",
        "Runs Python code in a Jupyter session that keeps its variables; without a sandbox.",
        extra="ipython",
        variables=("USER_DATA_DIR",),
        programs=("bwrap",),
    ),
    "PPT": Entry(
        "bundled.ppt",
        "Makes presentations: text, lists and pictures, in a few styles.",
        extra="ppt",
    ),
    "PythonInterpreter": Entry(
        "bundled.python_interpreter",
        "Runs Python code, each call in a process of its own, in a sandbox where there is one.",
        programs=("bwrap",),
    ),
    "WebBrowser": Entry(
        "bundled.web_browser",
        "Searches the web and reads its pages.",
        extra="web",
        variables=("BRAVE_API_KEY", "SEARXNG_URL", "SERPER_API_KEY"),
    ),
    "WebSearch": Entry(
        "bundled.web_browser",
        "WebBrowser, by the name that Groot has for it.",
        extra="web",
        variables=("BRAVE_API_KEY", "SEARXNG_URL", "SERPER_API_KEY"),
    ),
}
"""All of them by name."""


def class_of(name: str) -> Any:
    """The action class called *name*, which has to be in the table."""
    from importlib import import_module

    return getattr(import_module(f"toolwire_tools.{BUNDLED[name].module}"), name)


def __dir__() -> list[str]:
    return [*__all__, *BUNDLED]


def __getattr__(name: str) -> Any:
    if name not in BUNDLED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return class_of(name)
