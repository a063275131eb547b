"""The bare loop on asyncio, with a task for each call. `with_wait` waits once."""

from __future__ import annotations

import asyncio
import sys
from typing import Any

import orjson
from bare_kinds import answer, handshake, progress, run


async def respond(request: dict[str, Any], output: asyncio.WriteTransport) -> None:
    params = request["params"]
    if params["name"] == "with_wait":
        await asyncio.sleep(0)
    output.write(progress(params) + answer(request["id"], run(params)))


async def main() -> None:
    loop = asyncio.get_running_loop()
    stream = asyncio.StreamReader()
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(stream), sys.stdin)
    output, _ = await loop.connect_write_pipe(asyncio.Protocol, sys.stdout)
    tasks = set()  # the loop itself keeps only weak references
    while line := await stream.readline():
        request = orjson.loads(line)
        if request["method"] == "tools/call":
            task = asyncio.create_task(respond(request, output))
            tasks.add(task)
            task.add_done_callback(tasks.discard)
        elif "id" in request:
            output.write(answer(request["id"], handshake(request["method"])))


asyncio.run(main())
