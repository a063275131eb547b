"""The tools that come with Toolwire: a table of what there is, and the classes, imported when they
are asked for.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

if TYPE_CHECKING:
    from .arxiv import ArxivSearch as ArxivSearch
    from .calculator import Calculator as Calculator
    from .clock import Clock as Clock
    from .files import Files as Files
    from .google_search import GoogleSearch as GoogleSearch
    from .ipython import IPythonInterpreter as IPythonInterpreter
    from .maps import BINGMap as BINGMap
    from .ppt import PPT as PPT
    from .python_interpreter import CodeExecutor as CodeExecutor
    from .python_interpreter import PythonInterpreter as PythonInterpreter
    from .scholar import GoogleScholar as GoogleScholar
    from .web_browser import BingBrowser as BingBrowser
    from .web_browser import WebBrowser as WebBrowser
    from .web_browser import WebSearch as WebSearch


class BundledTool(msgspec.Struct, frozen=True):
    """Facts about a bundled tool that need no import of it.

    `module` has the class; it may be relative to this package. `pip install 'toolwire[EXTRA]'`
    adds what it needs, with `extra` as EXTRA. Of the environment's variables it cannot do without
    its `keys`, and reads `variables` if they are set; of what it is made with, it cannot do without
    `settings`; `programs` make it better where they are installed.
    """

    module: str
    summary: str
    extra: str = ""
    keys: tuple[str, ...] = ()
    variables: tuple[str, ...] = ()
    programs: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()


BUNDLED: dict[str, BundledTool] = {
    "FinishAction": BundledTool(
        "toolwire_compat.lagent.executor", "Takes the final answer of a conversation."
    ),
    "ArxivSearch": BundledTool(".arxiv", "Finds articles on arXiv.", extra="web"),
    "BINGMap": BundledTool(
        ".maps",
        "Distances, routes and places, from OpenStreetMap.",
        extra="web",
        variables=("NOMINATIM_URL", "OSRM_URL", "OVERPASS_URL"),
    ),
    "BingBrowser": BundledTool(
        ".web_browser",
        "WebBrowser, by the name that it has in Lagent 0.2.4.",
        extra="web",
        variables=("BRAVE_API_KEY", "SEARXNG_URL", "SERPER_API_KEY"),
    ),
    "Calculator": BundledTool(".calculator", "Calculates, exactly where that is possible."),
    "Clock": BundledTool(".clock", "Tells the time in any time zone, and calculates with times."),
    "CodeExecutor": BundledTool(
        ".python_interpreter",
        "PythonInterpreter, by the name that Groot has for it, and for its parameter.",
        programs=("bwrap",),
    ),
    "Files": BundledTool(
        ".files",
        "Lists, reads, searches, writes and edits files inside of folders that you name.",
        settings=("roots",),
    ),
    "GoogleScholar": BundledTool(
        ".scholar",
        "Finds papers, authors and citations on Google Scholar, by way of SerpApi.",
        extra="web",
        keys=("SERPAPI_API_KEY",),
    ),
    "GoogleSearch": BundledTool(
        ".google_search",
        "Short answers from Google, by way of Serper.",
        extra="web",
        keys=("SERPER_API_KEY",),
    ),
    "IPythonInterpreter": BundledTool(
        ".ipython",
        "Runs Python code in a Jupyter session that keeps its variables; without a sandbox.",
        extra="ipython",
        variables=("USER_DATA_DIR",),
        programs=("bwrap",),
    ),
    "PPT": BundledTool(
        ".ppt",
        "Makes presentations: text, lists and pictures, in a few styles.",
        extra="ppt",
    ),
    "PythonInterpreter": BundledTool(
        ".python_interpreter",
        "Runs Python code, each call in a process of its own, in a sandbox where there is one.",
        programs=("bwrap",),
    ),
    "WebBrowser": BundledTool(
        ".web_browser",
        "Searches the web and reads its pages.",
        extra="web",
        variables=("BRAVE_API_KEY", "SEARXNG_URL", "SERPER_API_KEY"),
    ),
    "WebSearch": BundledTool(
        ".web_browser",
        "WebBrowser, by the name that Groot has for it.",
        extra="web",
        variables=("BRAVE_API_KEY", "SEARXNG_URL", "SERPER_API_KEY"),
    ),
}
"""All of them by name."""

__all__ = sorted([*BUNDLED, "BUNDLED", "BundledTool", "find_class"])


def find_class(name: str) -> Any:
    """The action class called *name*, which has to be in the table."""
    from importlib import import_module

    return getattr(import_module(BUNDLED[name].module, __name__), name)


def __dir__() -> list[str]:
    return __all__


def __getattr__(name: str) -> Any:
    if name not in BUNDLED:
        from toolwire_schemas.misplaced_names import make_missing_error

        raise make_missing_error(__name__, name)
    return find_class(name)
