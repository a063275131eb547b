"""Solves tasks with another framework: `python frameworks.py pydantic-ai FOLDER`, in the peers'
environment `agents`.

The tasks and settings come as JSON on standard input. Each line of output is the run of one task;
its messages go to a file in FOLDER. Each framework gets the same tools, one more that asks the
user, and the instructions of its documentation's first page; everything else is its default.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import task_tools
from openai import AsyncOpenAI

MODEL = "smollm2-135m"
INSTRUCTIONS = "You are a helpful assistant. Use the tools to answer the question."

Solved = tuple[str, str, int, int, Any]
"""The status, the answer, the replies, the tokens and the messages."""


async def pydantic_ai(
    task: dict[str, Any], tools: list[Any], given: dict[str, Any], client: AsyncOpenAI
) -> Solved:
    from pydantic_ai import Agent
    from pydantic_ai.exceptions import AgentRunError
    from pydantic_ai.messages import ModelMessagesTypeAdapter
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.usage import RunUsage, UsageLimits

    settings: Any = {"temperature": 0.0, "max_tokens": given["max_tokens"], "seed": given["seed"]}
    model = OpenAIChatModel(MODEL, provider=OpenAIProvider(openai_client=client))
    agent = Agent(model, instructions=INSTRUCTIONS, tools=tools, model_settings=settings)
    usage = RunUsage()
    limits = UsageLimits(request_limit=given["turns"])
    try:
        result = await agent.run(task["question"], usage=usage, usage_limits=limits)
    except AgentRunError as error:
        return (
            type(error).__name__,
            str(error),
            usage.requests,
            usage.input_tokens + usage.output_tokens,
            [],
        )
    messages = ModelMessagesTypeAdapter.dump_python(result.all_messages(), mode="json")
    return (
        "answered",
        result.output,
        usage.requests,
        usage.input_tokens + usage.output_tokens,
        messages,
    )


async def openai_agents(
    task: dict[str, Any], tools: list[Any], given: dict[str, Any], client: AsyncOpenAI
) -> Solved:
    from agents import (
        Agent,
        ModelSettings,
        OpenAIChatCompletionsModel,
        Runner,
        function_tool,
        set_tracing_disabled,
    )
    from agents.exceptions import AgentsException

    set_tracing_disabled(True)
    settings = ModelSettings(
        temperature=0.0, max_tokens=given["max_tokens"], extra_body={"seed": given["seed"]}
    )
    agent = Agent(
        name="agent",
        instructions=INSTRUCTIONS,
        tools=[function_tool(tool) for tool in tools],
        model=OpenAIChatCompletionsModel(MODEL, client),
        model_settings=settings,
    )
    try:
        result = await Runner.run(agent, task["question"], max_turns=given["turns"])
    except AgentsException as error:
        data = error.run_data
        usage = data.context_wrapper.usage if data else None
        counts = (usage.requests, usage.total_tokens) if usage else (0, 0)
        return type(error).__name__, str(error), *counts, []
    usage = result.context_wrapper.usage
    return (
        "answered",
        str(result.final_output),
        usage.requests,
        usage.total_tokens,
        result.to_input_list(),
    )


FRAMEWORKS: dict[str, Callable[..., Awaitable[Solved]]] = {
    "pydantic-ai": pydantic_ai,
    "openai-agents": openai_agents,
}


async def main(framework: str, folder: Path) -> None:
    """Solve the tasks of standard input, one after the other."""
    given = json.load(sys.stdin)
    client = AsyncOpenAI(base_url=given["url"], api_key="none", max_retries=0, timeout=7200)
    for task in given["tasks"]:
        task_tools.answers[:] = task["answers"]
        tools = [*task_tools.OF_KIND[task["kind"]], task_tools.ask_user]
        started = time.monotonic()
        try:
            status, result, replies, tokens, messages = await FRAMEWORKS[framework](
                task, tools, given, client
            )
        except Exception as error:  # what a framework does not catch is its outcome too
            status, result, replies, tokens, messages = type(error).__name__, str(error), 0, 0, []
        run = {
            "task": task["name"],
            "status": status,
            "result": result,
            "replies": replies,
            "tokens": tokens,
        }
        run["seconds"] = time.monotonic() - started
        (folder / f"{task['name']}.json").write_text(
            json.dumps({**run, "messages": messages}, ensure_ascii=False)
        )
        print(json.dumps(run), flush=True)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1], Path(sys.argv[2])))
