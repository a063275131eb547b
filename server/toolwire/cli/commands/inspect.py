"""`toolwire inspect`: opens a local page to try a server, watch its traffic, check it, or look at a
recorded run.
"""

from __future__ import annotations

import math
import os
import shlex
import shutil
from contextlib import suppress
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ..local_page import OPTIONS, local_page
from ..mounting import list_prefixes
from ..open_client import choose_command, format_loading_options, is_own_server
from ..options import LOADING, Option
from ..printing.output_files import check_folders, write_pages
from . import Command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from toolwire_agent.agent.transcripts.transcript import Loaded

    from ...inspect.traffic import Feed
    from ..options import Words

COMMAND = Command(
    usage=(
        "toolwire inspect TARGET... [OPTIONS]",
        "toolwire inspect [OPTIONS] -- COMMAND",
        "toolwire inspect FILE.jsonl [OTHER.jsonl] [OPTIONS]",
        "toolwire inspect --attach KEY",
    ),
    details=(
        "Opens a page in the browser, served to this machine only, at an address that is printed:"
        " call tools with a form, read all messages, check the server. FILE.jsonl is a recording of"
        " `wrap --record`, or a transcript of `ask --transcript`; two transcripts are"
        " compared. The page loads nothing from elsewhere. Ctrl-C ends it, and the server."
    ),
    options=(
        *LOADING,
        Option(
            "--no-reload",
            "keep the tools as they were at the start (default: load them again when their source"
            " changes)",
        ),
        Option(
            "--html FILE",
            "with FILE.jsonl: write the page to FILE, which needs no server and no network, and"
            " serve none",
        ),
        Option(
            "--attach KEY",
            "look at a running process of `serve --share` or `wrap --share`: its sessions, calls,"
            " memory and log; `toolwire share ls` lists the keys",
        ),
        *OPTIONS,
    ),
    examples=(
        "toolwire inspect tools.py",
        "toolwire inspect -- npx -y some-mcp-server",
        "toolwire inspect recording.jsonl",
        "toolwire inspect --mount-config .mcp.json",
    ),
)


def run(words: Words) -> int:
    """Serve the page until Ctrl-C."""
    if "attach" in words.options:
        from .share.attached_page import serve_attached_page

        return serve_attached_page(words)
    from toolwire_client.remote import is_address

    from ...inspect.traffic import Feed

    names = words.words
    era = "auto"
    state: dict[str, Any]
    if names and _is_plain(words) and all(name.endswith(".jsonl") for name in names):
        feed = Feed(math.inf, math.inf)  # all of it is in memory already
        state = _read_files(names, feed)
        if "html" in words.options:
            return _write_page(words, feed, state)
    else:
        if "html" in words.options:
            raise UsageError("--html goes with FILE.jsonl; a live page has `Save this session`")
        feed = Feed()
        command = choose_command(words, names)
        state = {
            "title": " ".join(_name_place(words) or command),
            "views": ["tools", "history", "traffic", "time", "check"],
            "command": command,
            "target": None,
            "servers": list_prefixes(words.options),
            "reloads": [],
        }
        if is_own_server(words, command):
            era = "modern"
            _check_files(names)
            state["reloads"] = _choose_reloads(names, words.options)
            if len(names) == 1 and _is_plain(words):
                state["target"] = names[0]
        elif not is_address(command[0]):
            _check_program(command[0])
    return _serve_page(feed, words.options, state, era)


def _is_plain(words: Words) -> bool:
    """Return whether the targets say it all, without options that say how to load them."""
    return words.command is None and not format_loading_options(words.options)


def _serve_page(feed: Feed, options: dict[str, Any], state: dict[str, Any], era: str) -> int:
    """Serve the page until Ctrl-C, with the server that `command` in *state* starts, if any."""
    import anyio
    from toolwire_client.waiting.main_thread import MainThread

    ended = anyio.Event()

    async def serve() -> int:
        async with (
            local_page(feed, options, **state) as page,
            anyio.create_task_group() as tasks,
        ):
            if page.state["command"]:
                # In a thread, since its imports would delay the page.
                module = await anyio.to_thread.run_sync(
                    import_module, "toolwire.inspect.inspected_server"
                )
                page.server = module.InspectedServer(feed, page.state, era)
                tasks.start_soon(page.server.run)
            await ended.wait()
            tasks.cancel_scope.cancel()
        return 130

    return MainThread(ended.set, ended.set).run(serve)


def _name_place(words: Words) -> list[str]:
    """Return the words for what is looked at, until the server names itself; none for a command."""
    return [*words.words, *words.options.get("mount_config", ())]


def _read_files(names: list[str], feed: Feed) -> dict[str, Any]:
    """Add what the files hold to *feed*, and return the state of a page for them."""
    if len(names) == 1:
        return _read_file(names[0], feed)
    if len(names) == 2:
        return _compare_files(names, feed)
    raise UsageError("one recording or transcript is shown, or two transcripts are compared")


def _write_page(words: Words, feed: Feed, state: dict[str, Any]) -> int:
    """Write the page of a file as a file that needs no server."""
    from ...inspect.one_file import SAVED_EVENTS, write_one_file
    from ...inspect.page_state import make_state

    check_folders(words.options, "html")
    events = feed.list_events(SAVED_EVENTS)
    write_pages(words.options, html=lambda: write_one_file(make_state(state), events))
    return 0


def _choose_reloads(targets: list[str], options: Mapping[str, Any]) -> list[str]:
    """Return those *targets* whose files are loaded again; a program (`--adopt`) starts once."""
    if "no_reload" in options or "adopt" in options:
        return []
    return targets


def _check_files(targets: Sequence[str]) -> None:
    """Refuse files that do not exist, before a page opens that has nothing to show."""
    from ...loading.diagnostics.not_found import explain_missing_file
    from ...loading.targets import parse

    for target in map(parse, targets):
        if target.is_path and not os.path.exists(target.place):
            raise UsageError(explain_missing_file(target.place))


def _check_program(name: str) -> None:
    if shutil.which(name) is None:
        raise UsageError(f"cannot start {name!r}: no such program, or it may not be run")


def _read_file(name: str, feed: Feed) -> dict[str, Any]:
    """Add the events in the file *name* to *feed*, and return the state of a page for them.

    Raises:
        UsageError: if it is neither a recording nor a transcript.
    """
    from ...wrapping.recording import BadRecording, read

    state = {"title": name, "status": "ended"}
    try:
        for _, entry in read(name):
            feed.add("message", entry=entry)
    except BadRecording as problem:
        replay = _add_run(name, _load(name, problem), feed)
        return {**state, "views": ["run", "time"], "replay": replay}
    return {**state, "views": ["traffic", "time"], "replay": f"toolwire replay {shlex.quote(name)}"}


def _compare_files(names: list[str], feed: Feed) -> dict[str, Any]:
    """Add the comparison of two transcripts to *feed*, and return the state of a page for it.

    Raises:
        UsageError: if one is not a transcript.
    """
    from toolwire_agent.run_text import run_text

    from ...wrapping.recording import BadRecording, read

    for name in names:
        with suppress(BadRecording):
            read(name)
            raise UsageError(f"{name} is a recording: two transcripts are compared")
    texts = [run_text(_load(name).events) for name in names]
    feed.add("comparison", names=names, texts=texts)
    title = " and ".join(names)
    return {"title": title, "status": "ended", "views": ["compare"], "replay": ""}


def _load(name: str, problem: ValueError | None = None) -> Loaded:
    from toolwire_agent.agent.transcripts.transcript import BrokenTranscript, load_session

    try:
        return load_session(name)
    except BrokenTranscript as error:
        reason = f"no transcript ({error})"
        if problem is not None:
            reason = f"no recording ({problem}) and {reason}"
        raise UsageError(f"{name} is {reason}") from None


def _add_run(name: str, session: Loaded, feed: Feed) -> str:
    """Add the events of a run, and return the command that repeats it."""
    from toolwire_agent.agent.events import QuestionAsked
    from toolwire_agent.run_page import write_event_html
    from toolwire_agent.run_times import RunTimes

    lines = Path(name).read_bytes().split(b"\n")
    before = None
    times = RunTimes()
    questions = []
    for event, line in zip(session.events, session.lines, strict=True):
        if isinstance(event, QuestionAsked):
            questions.append(shlex.quote(event.content))
        record = {"line": line, "text": lines[line - 1].decode(errors="replace")}
        html = write_event_html(event, before)
        feed.add("run", html=html, span=times.add(event), record=record)
        before = event
    question = questions[0] if questions else "QUESTION"
    return f"toolwire ask {question} --model {shlex.quote(f'replay:{name}')} --tools TARGET"
