"""How well a model solves tasks with Toolwire's protocols, and with other frameworks, as a table:

    tests/peers/install agents                                             once: the frameworks
    python -m tests.live.evaluate --small-model --protocol small           the tasks for tuning
    python -m tests.live.evaluate --small-model --tasks kept-aside --all --jobs 2   everything, on those kept aside
    … --transcripts FOLDER                                                          continued where it was ended
    … --tools 50 --show search                                             a search in place of a long list
    python -m tests.live.evaluate --model openai:gpt-5-mini --protocol structured --protocol native

`--small-model` installs a small model (see small_model.py) and starts it. A transcript of each run
goes to the folder of `--transcripts`; what that folder already has results of is not run again. At
temperature 0 the same command gives the same answers on the same machine, whatever else that does:
no time limit ends a run.
"""  # noqa: E501

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import msgspec
from toolwire_agent import Agent, Approvals
from toolwire_agent.agent import Budgets
from toolwire_agent.agent.events import ReplyRefused
from toolwire_agent.agent.tool_search import SHOWS, Show
from toolwire_agent.models import ModelError, OpenAIModel, TimeLimits, model_from_name
from toolwire_agent.models.http_api.vendors import PRESETS
from toolwire_agent.react import (
    DoubaoProtocol,
    NativeProtocol,
    Protocol,
    SmallProtocol,
    StructuredProtocol,
)

from . import task_tools
from .documented import FORMS, Form, document
from .other_tools import list_other_tools
from .small_model import INSTALLED, install, serving
from .tasks import SETS, Task, tasks

MAX_TURNS = 6
MAX_TOKENS = 128
"""Of one reply: small models repeat themselves until they are stopped."""
PATIENCE = TimeLimits(silence=3600.0, total=7200.0)
SMALL_MODEL = "llamacpp:smollm2-135m"

PROTOCOLS: dict[str, Callable[[str], Protocol]] = {
    "small": SmallProtocol,
    "native": NativeProtocol,
    "structured": StructuredProtocol,
    "structured-none": partial(StructuredProtocol, thought="none"),
    "structured-optional": partial(StructuredProtocol, thought="optional"),
    "small-required": partial(SmallProtocol, thought="required"),
    "small-optional": partial(SmallProtocol, thought="optional"),
    "tokens": lambda language: DoubaoProtocol(language=language),
    "json_object": StructuredProtocol,
    "plain": StructuredProtocol,
}
PLAINER = {"json_object": ("json_object", "text"), "plain": ("text",)}
"""The formats of replies that these configurations ask for, instead of the strictest one."""
FRAMEWORKS = ("pydantic-ai", "openai-agents")
_VALID = ("answered", "unsolvable")


@dataclass(frozen=True, kw_only=True)
class Run:
    """What one configuration made of one task."""

    task: str
    status: str
    result: str | None
    is_right: bool = False
    replies: int = 0
    reasks: int = 0
    tokens: int = 0
    seconds: float = 0.0


def ours(
    task: Task,
    protocol: str,
    model: Any,
    transcript: Path | None,
    *,
    show: Show = "all",
    tool_count: int = 0,
    docstrings: Form | None = None,
) -> Run:
    """Let our agent solve *task*, with a list of at least *tool_count* tools, which it gets as
    *show* says. With *docstrings*, those of the task have several sections, described in that form.
    """
    answers = list(task.answers)
    tools: list[Any] = list(task_tools.OF_KIND[task.kind])
    if docstrings is not None:
        tools = [document(tool, docstrings) for tool in tools]
    tools += list_other_tools(max(0, tool_count - len(tools)))
    agent = Agent(
        model,
        tools,
        protocol=PROTOCOLS[protocol](task.language),
        budgets=Budgets(turns=MAX_TURNS),
        approval=Approvals(allow=("*",)),
        on_ask=lambda question: answers.pop(0) if answers else "I do not know.",
        transcript=transcript,
        show=show,
    )
    started = time.monotonic()
    outcome = agent.answer_sync(task.question)
    return Run(
        task=task.name,
        status=outcome.status,
        result=outcome.result,
        is_right=task.is_right(outcome.status, outcome.result),
        replies=outcome.turns,
        reasks=sum(isinstance(event, ReplyRefused) for event in outcome.transcript),
        tokens=outcome.usage.total_tokens,
        seconds=time.monotonic() - started,
    )


def theirs(chosen: list[Task], framework: str, url: str, seed: int, folder: Path) -> Iterator[Run]:
    """Let another framework, in its own environment, solve the tasks."""
    python = INSTALLED / "agents" / "bin" / "python"
    given = {
        "url": url,
        "seed": seed,
        "turns": MAX_TURNS,
        "max_tokens": MAX_TOKENS,
        "tasks": list(map(asdict, chosen)),
    }
    program = [str(python), str(Path(__file__).with_name("frameworks.py")), framework, str(folder)]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps(given))
        process.stdin.close()
        for task, line in zip(chosen, process.stdout, strict=True):
            run = json.loads(line)
            yield Run(**run, is_right=task.is_right(run["status"], run["result"]))


def table(runs: dict[str, list[Run]]) -> str:
    """Return the results as a table of Markdown."""
    lines = [
        "| configuration | right | valid | replies | re-asks | tokens | seconds |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, of in runs.items():
        right, valid = sum(run.is_right for run in of), sum(run.status in _VALID for run in of)
        sums = (
            sum(getattr(run, each) for run in of)
            for each in ("replies", "reasks", "tokens", "seconds")
        )
        lines.append(
            f"| {name} | {right}/{len(of)} | {valid} |"
            f" {' | '.join(f'{each:.0f}' for each in sums)} |"
        )
    return "\n".join(lines)


def by_kind(runs: dict[str, list[Run]]) -> str:
    """Return the right answers of each kind and language, as a table of Markdown."""
    columns = list(dict.fromkeys(run.task.rpartition("-")[0] for of in runs.values() for run in of))
    lines = [f"| configuration | {' | '.join(columns)} |", "|---" * (len(columns) + 1) + "|"]
    for name, of in runs.items():
        own = ([run for run in of if run.task.rpartition("-")[0] == column] for column in columns)
        cells = (f"{sum(run.is_right for run in each)}/{len(each)}" for each in own)
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines)


def main(arguments: list[str]) -> int:
    """Run what the command line names, and print the tables."""
    options = _parsed(arguments)
    names = [*FRAMEWORKS, *PROTOCOLS] if options.all else [*options.framework, *options.protocol]
    folder = Path(options.transcripts or tempfile.mkdtemp(prefix="toolwire-evaluation-"))
    folder.mkdir(parents=True, exist_ok=True)
    chosen = [task for task in tasks(options.tasks) if options.only in task.name]
    if options.small_model:
        install()
    with ThreadPoolExecutor(options.jobs) as jobs:
        runs = dict(
            zip(
                names,
                jobs.map(lambda name: _runs(name, chosen, options, folder / name), names),
                strict=True,
            )
        )
    print(table(runs), by_kind(runs), f"Transcripts: {folder}", sep="\n\n")
    return 0


def _runs(name: str, chosen: list[Task], options: argparse.Namespace, folder: Path) -> list[Run]:
    """Return the runs of the configuration called *name*, made now or before; each has a server of
    its own.

    Each result is written when it is there, so that an evaluation that was ended can be continued.
    """
    folder.mkdir(exist_ok=True)
    results = folder / "runs.json"
    runs = (
        [Run(**run) for run in json.loads(results.read_text("utf-8"))] if results.exists() else []
    )
    chosen = [task for task in chosen if task.name not in {run.task for run in runs}]
    if not chosen:
        return runs
    with serving() if options.small_model else nullcontext(options.base_url) as url:
        if name in FRAMEWORKS:
            made = theirs(chosen, name, str(url), options.seed, folder)
        else:
            model = model_of(
                options.model or SMALL_MODEL, name, url, options.temperature, options.seed
            )
            made = (
                ours(
                    task,
                    name,
                    model,
                    folder / f"{task.name}.jsonl",
                    show=options.show,
                    tool_count=options.tools,
                    docstrings=options.docstrings,
                )
                for task in chosen
            )
        for run in made:
            runs.append(run)
            results.write_text(json.dumps(list(map(asdict, runs))), "utf-8")
            _progress(name, run)
    print(table({name: runs}), file=sys.stderr)
    return runs


def model_of(
    name: str, configuration: str, url: str | None, temperature: float = 0.0, seed: int = 1
) -> Any:
    """Return the model of this name, with replies in the format of the *configuration*."""
    settings: dict[str, Any] = {
        "temperature": temperature,
        "max_tokens": MAX_TOKENS,
        "extra_body": {"seed": seed},
    }
    settings |= {"time_limits": PATIENCE, **({"base_url": url} if url else {})}
    try:
        if formats := PLAINER.get(configuration):
            vendor, _, of = name.partition(":")
            return OpenAIModel(
                of, msgspec.structs.replace(PRESETS[vendor], formats=formats), **settings
            )
        return model_from_name(name, **settings)
    except ModelError as error:
        raise SystemExit(f"evaluate: {error}") from None


def _progress(name: str, run: Run) -> None:
    mark = "right" if run.is_right else "wrong" if run.status in _VALID else run.status
    print(
        f"{name} {run.task} {mark}: {str(run.result)[:100]!r} ({run.seconds:.1f} s)",
        file=sys.stderr,
        flush=True,
    )


def _parsed(arguments: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    which = parser.add_mutually_exclusive_group(required=True)
    which.add_argument("--model", help="as `toolwire ask --model` takes it")
    which.add_argument("--small-model", action="store_true", help="install and start SmolLM2-135M")
    parser.add_argument("--base-url", help="the address of the model's API")
    parser.add_argument(
        "--protocol", action="append", default=[], choices=PROTOCOLS, help="repeatable"
    )
    parser.add_argument(
        "--framework", action="append", default=[], choices=FRAMEWORKS, help="repeatable"
    )
    parser.add_argument("--all", action="store_true", help="every protocol and framework")
    parser.add_argument("--tasks", default="tuning", choices=SETS)
    parser.add_argument(
        "--only", default="", help="only tasks with this in their name: sums, zh, files-en-3"
    )
    parser.add_argument(
        "--tools", type=int, default=0, help="add tools that no task needs, up to this number"
    )
    parser.add_argument("--show", choices=SHOWS, default="all", help="what our agent's list has")
    parser.add_argument(
        "--docstrings", choices=FORMS, help="docstrings of several sections, in this form"
    )
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--temperature", type=float, default=0.0)
    parser.add_argument("--transcripts", help="a folder for the transcripts")
    parser.add_argument("--jobs", type=int, default=1, help="configurations side by side")
    options = parser.parse_args(arguments)
    if not (options.all or options.protocol or options.framework):
        parser.error("name what to evaluate: --protocol, --framework or --all")
    if (options.all or options.framework) and not (options.small_model or options.base_url):
        parser.error(
            "the frameworks need the address of the model's API: --base-url, or --small-model"
        )
    return options


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
