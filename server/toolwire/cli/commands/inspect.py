"""`toolwire inspect`: opens a local page to try a server, watch its traffic, check it, or look at a
recorded run.
"""

from __future__ import annotations

import math
import os
import shlex
import shutil
from importlib import import_module
from typing import TYPE_CHECKING, Any

from ...errors import UsageError
from ..local_page import OPTIONS, local_page
from ..open_client import choose_command, format_loading_options
from ..options import LOADING, Option
from ..printing.output_files import check_folders, write_pages
from . import Command

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ...inspect.traffic import Feed
    from ..options import Words

COMMAND = Command(
    usage=(
        "toolwire inspect TARGET... [OPTIONS]",
        "toolwire inspect [OPTIONS] -- COMMAND",
        "toolwire inspect FILE.jsonl [OPTIONS]",
        "toolwire inspect --attach KEY",
    ),
    details=(
        "Opens a page in the browser, served to this machine only, at an address that is printed:"
        " call tools with a form, read all messages, check the server. FILE.jsonl is a recording of"
        " `wrap --record`, or a transcript of `ask --transcript`. The page loads nothing from"
        " elsewhere. Ctrl-C ends it, and the server."
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
    ),
)


def run(words: Words) -> int:
    """Serve the page until Ctrl-C."""
    if "attach" in words.options:
        from .share.attached_page import serve_attached_page

        return serve_attached_page(words)
    import anyio
    from toolwire_client.remote import is_address
    from toolwire_client.waiting.main_thread import MainThread

    from ...inspect.traffic import Feed

    names = words.words
    is_ours = words.command is None
    # Then the name says it all.
    is_plain = is_ours and len(names) == 1 and not format_loading_options(words.options)
    state: dict[str, Any]
    if is_plain and names[0].endswith(".jsonl"):
        feed = Feed(math.inf, math.inf)  # all of it is in memory already
        view, replay = _read_recording(names[0], feed)
        state = {"title": names[0], "views": [view, "time"], "status": "ended", "replay": replay}
        if "html" in words.options:
            return _write_page(words, feed, state)
    else:
        if "html" in words.options:
            raise UsageError("--html goes with FILE.jsonl; a live page has `Save this session`")
        feed = Feed()
        command = choose_command(words, names)
        is_remote = is_address(command[0])
        is_ours = is_ours and not is_remote
        if is_ours:
            _check_files(names)
        elif not is_remote:
            _check_program(command[0])
        state = {
            "title": " ".join(names or command),
            "views": ["tools", "history", "traffic", "time", "check"],
            "command": command,
            "target": names[0] if is_plain and is_ours else None,
            "reloads": _choose_reloads(names, words.options) if is_ours else [],
        }
    ended = anyio.Event()

    async def serve() -> int:
        async with (
            local_page(feed, words.options, **state) as page,
            anyio.create_task_group() as tasks,
        ):
            if page.state["command"]:
                # In a thread, since its imports would delay the page.
                module = await anyio.to_thread.run_sync(
                    import_module, "toolwire.inspect.inspected_server"
                )
                era = "modern" if is_ours else "auto"
                page.server = module.InspectedServer(feed, page.state, era)
                tasks.start_soon(page.server.run)
            await ended.wait()
            tasks.cancel_scope.cancel()
        return 130

    return MainThread(ended.set, ended.set).run(serve)


def _write_page(words: Words, feed: Feed, state: dict[str, Any]) -> int:
    """Write the page of a file as a file that needs no server."""
    from ...inspect.one_file import SAVED_EVENTS, write_one_file
    from ...inspect.page_state import make_state

    check_folders(words.options, "html")
    events = feed.events(SAVED_EVENTS)
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


def _read_recording(name: str, feed: Feed) -> tuple[str, str]:
    """Add the events in the file *name* to *feed*, and return the view that shows them, and the
    command that replays them.
    """
    from toolwire_agent.agent.events import QuestionAsked
    from toolwire_agent.agent.transcripts.transcript import BrokenTranscript, load
    from toolwire_agent.run_page import event_html
    from toolwire_agent.run_times import RunTimes

    from ...wrapping.recording import BadRecording, read

    try:
        for _, entry in read(name):
            feed.add("message", entry=entry)
    except BadRecording as problem:
        try:
            events = load(name)
        except BrokenTranscript as error:
            raise UsageError(
                f"{name} is no recording ({problem}) and no transcript ({error})"
            ) from None
        before = None
        times = RunTimes()
        questions = []
        for event in events:
            if isinstance(event, QuestionAsked):
                questions.append(shlex.quote(event.content))
            feed.add("run", html=event_html(event, before), span=times.add(event))
            before = event
        question = questions[0] if questions else "QUESTION"
        model = shlex.quote(f"replay:{name}")
        return "run", f"toolwire ask {question} --model {model} --tools TARGET"
    return "traffic", f"toolwire replay {shlex.quote(name)}"
