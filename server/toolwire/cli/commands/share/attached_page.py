"""The page of `toolwire inspect --attach`, which looks at a shared process."""

from __future__ import annotations

import shlex
import sys
from typing import TYPE_CHECKING

from ....errors import UsageError
from ...local_page import OPTIONS, local_page

if TYPE_CHECKING:
    from ...options import Words


def serve_attached_page(words: Words) -> int:
    """Serve the page of the shared process with the key of `--attach` until Ctrl-C."""
    options = dict(words.options)
    key = options.pop("attach")
    page_options = {option.key for option in OPTIONS}
    if words.words or words.command is not None or options.keys() - page_options:
        raise UsageError("--attach KEY looks at a process that runs: name nothing else")
    if sys.platform == "win32":
        raise UsageError("shared processes need Unix sockets, which this system lacks")
    import anyio
    from toolwire_client.waiting.main_thread import MainThread

    from ....inspect.traffic import Feed
    from .processes import find_process

    process = find_process(key)
    feed = Feed(max_events=20)  # each has all that there is to see
    title = shlex.join(["toolwire", *process.facts.get("words", ["share"])])
    ended = anyio.Event()

    async def serve() -> int:
        async with (
            local_page(feed, options, title=title, views=["process"], status="ready") as page,
            anyio.create_task_group() as tasks,
        ):
            from ....inspect.attached_process import AttachedProcess

            tasks.start_soon(AttachedProcess(feed, page.state, process.pid).run)
            await ended.wait()
            tasks.cancel_scope.cancel()
        return 130

    return MainThread(ended.set, ended.set).run(serve)
