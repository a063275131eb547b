"""Uses the generated client `made` with asyncio: calls at once, a cancelled task, ten thousand
calls.
"""

from __future__ import annotations

import asyncio
import json

from made import COMMAND, AsyncTools
from toolwire_client import ToolFailed, connect


async def main() -> None:
    async with connect(COMMAND, inherit_env=True) as client:
        tools = AsyncTools(client)
        sums = await asyncio.gather(*(tools.add(a=number, b=number) for number in range(10_000)))
        print(json.dumps(sums == [2 * number for number in range(10_000)]))
        started = asyncio.Event()
        waiting = asyncio.create_task(
            tools.wait(name="task", on_progress=lambda done, total, said: started.set())
        )
        await started.wait()
        waiting.cancel()
        try:
            await waiting
        except asyncio.CancelledError:
            print(json.dumps(await tools.was_cancelled(name="task")))
        try:
            await tools.fail(reason="no")
        except ToolFailed as error:
            print(json.dumps(error.text))
        print(json.dumps(await tools.nothing()))  # type: ignore[func-returns-value]


asyncio.run(main())
