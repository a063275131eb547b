"""Uses the generated client `made` in every way, blocking, and prints what came as JSON, one value
a line.
"""

from __future__ import annotations

import json
import sys
import threading

from made import COMMAND, EveryTypeResultItem, EveryTypeTree, EveryTypeValue, Tools
from toolwire_client import (
    Elicitation,
    NoAnswer,
    RequestFailed,
    ServerGone,
    TimedOut,
    ToolFailed,
    connect,
)
from toolwire_client.session.elicitation import Answer


def say(value: object) -> None:
    print(json.dumps(value))


def answer(question: Elicitation) -> Answer:
    return {"size": "large", "pieces": 2} if "soup" in question.message else NoAnswer.DECLINED


def value() -> EveryTypeValue:
    tree: EveryTypeTree = {"name": "root", "branches": [{"name": "leaf", "branches": []}]}
    return {
        "text": "Grüße \U0001f44b \u2028 \"'\\",
        "whole": 2**60,
        "number": 0.1,
        "flag": True,
        "nothing": None,
        "mode": "as usual",
        "colour": "light green",
        "level": 2,
        "one_or_two": 1,
        "words": ["a", ""],
        "pair": [1, "one"],
        "counts": {"x y": 1},
        "matrix": [[1.5, 2.0], []],
        "place": {"x": 1.0},
        "places": {"here": [{"x": 0.0, "y": -1.5}]},
        "shape": {"type": "circle", "centre": {"x": 0.0}, "radius": 2.0},
        "tree": tree,
        "maybe": None,
        "either": [1, 2],
        "options": {"type": "t", "func": None},
        "day": "2026-02-28",
        "anything": {"deep": [None, {}]},
        "kebab-case": "k",
        "später": 3,
    }


def main(era: str) -> None:
    with connect(
        COMMAND, inherit_env=True, on_ask=answer, era="legacy" if era == "legacy" else "auto"
    ) as client:
        tools = Tools(client)
        total: int = tools.add(a=2) + tools.add(a=2, b=40)
        say(total)
        found: list[EveryTypeResultItem] = tools.every_type(value=value(), times=2)
        say(
            [
                found[0] == found[1],
                found[0]["tree"]["branches"][0]["name"],
                found[0]["place"]["y"],
                found[0]["whole"],
            ]
        )
        say(tools.plant(depth=2))
        say(tools.measure(shape={"type": "square", "side": 3.0}))
        say(
            [
                tools.picture().content[0]["type"],
                tools.just_text(words=["a", "b"]).text,
                tools.echo(self_=1).text,
            ]
        )
        tools.nothing()
        say(tools.list_items_v2(max_items=2))
        say([tools.class_().text, tools.get_url_for(page="x").text])
        try:
            tools.fail(reason="out of order")
        except ToolFailed as error:
            say([error.tool, error.text, str(error)])
        seen: list[float] = []
        tools.count(to=3, on_progress=lambda done, total, message: seen.append(done))
        say(seen)
        say(tools.order(dish="soup").text)
        try:
            tools.order(dish="stones")
        except ToolFailed as error:
            say("declined" in error.text.lower())
        started = threading.Event()
        try:
            tools.wait(
                name="slow",
                timeout_seconds=5.0,
                on_progress=lambda done, total, message: started.set(),
            )
        except TimedOut:
            say([started.is_set(), tools.was_cancelled(name="slow")])
        try:
            client.request("no/such/method")
        except RequestFailed as error:
            say(error.code)
        try:
            tools.die(status=7, words="the last words")
        except ServerGone as error:
            say([error.exit_status, "the last words" in error.stderr])


main(sys.argv[1])
