"""Which calls of a program need approval, and for how many calls an answer holds."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from support.recording_caller import RecordingCaller
from toolwire.protocol.connection_handler import ConnectionHandler
from toolwire.showing.program_approvals import (
    ALL,
    COUNTED,
    NO,
    ONCE,
    SAME_VALUES,
    Permission,
    ProgramApprovals,
    describe_call,
    find_remedy,
    may_change,
)
from toolwire_tools import (
    CannotAsk,
    Declined,
    Dismissed,
    Entry,
    NotAnswered,
    Options,
    Tool,
    ToolError,
    make_tool,
)


def touch(path: str = "") -> None:
    """Change a file."""


def own(**options: Any) -> Tool:
    return make_tool(touch, options=Options(**options))


def mounted(prefix: str, **hints: bool) -> Tool:
    async def send(arguments: Any, call: Any) -> dict[str, Any]:
        return {}

    parts = (prefix, "touch") if prefix else ("touch",)
    entry = Entry(
        kind="tools",
        name="_".join(parts),
        parts=parts,
        shown={"name": "_".join(parts), "annotations": hints},
    )
    return Tool(entry, ConnectionHandler(send=send, complete=send))


READS = {"readOnlyHint": True}


@pytest.mark.parametrize(
    ("tool", "trusted", "expected"),
    [
        (own(), [], True),
        (own(destructive=False), [], True),
        (own(read_only=False), [], True),
        (own(read_only=True), [], False),
        (own(read_only=True, open_world=True), [], False),
        (own(confirm="Touch it?"), [], False),  # it asks before each call itself
        (mounted("there", **READS), [], True),
        (mounted("there", **READS), ["there"], False),
        (mounted("there", **READS), ["other"], True),
        (mounted("there", **READS), ["yes"], False),
        (mounted("there", **READS, openWorldHint=True), ["yes"], True),
        (mounted("there"), ["yes"], True),
        (mounted("", **READS), ["touch"], True),
        (mounted("", **READS), ["yes"], False),
    ],
)
def test_call_needs_approval_unless_its_tool_reads_and_is_trusted(
    tool: Tool, trusted: list[str], expected: bool
) -> None:
    assert may_change(tool, trusted) is expected


@pytest.mark.parametrize(
    ("tool", "remedy"),
    [
        (own(), "@tool_api(read_only=True)"),
        (mounted("there", **READS), "`--trust-hints there`"),
        (mounted("", **READS), "`--trust-hints yes`"),
    ],
)
def test_remedy_of_a_host_that_cannot_ask_is_named(tool: Tool, remedy: str) -> None:
    approvals, _ = approvals_of(CannotAsk("no"))
    with pytest.raises(ToolError) as caught:
        approvals.check(tool.name, SAME, 1, remedy=find_remedy(tool))
    assert remedy in str(caught.value)


@pytest.mark.parametrize("tool", [mounted("there"), mounted("there", **READS, openWorldHint=True)])
def test_a_mounted_tool_that_changes_something_has_no_remedy(tool: Tool) -> None:
    assert find_remedy(tool) == ""


def approvals_of(*answers: Any) -> tuple[ProgramApprovals, RecordingCaller]:
    """Return approvals that get these *answers*, and the caller that is asked."""
    caller = RecordingCaller()
    for answer in answers:
        is_error = isinstance(answer, Exception)
        caller.answers.append(answer if is_error else {"action": "accept", "content": answer})

    def ask(ask: Callable[[Any], Permission]) -> Permission:
        return ask(caller)

    return ProgramApprovals(lambda line: f"> {line}  touch()", ask), caller


SAME: dict[str, Any] = {"path": "a"}
OTHER: dict[str, Any] = {"path": "b"}
MANY = {"allow": COUNTED, "calls": 3}


@pytest.mark.parametrize(
    ("answer", "calls", "questions"),
    [
        ({"allow": ONCE}, [("touch", SAME)] * 3, 3),
        ({"allow": SAME_VALUES}, [("touch", SAME)] * 3, 1),
        ({"allow": SAME_VALUES}, [("touch", SAME), ("touch", OTHER), ("wipe", SAME)], 3),
        (MANY, [("touch", SAME), ("touch", OTHER), ("touch", SAME)], 1),
        (MANY, [("touch", SAME)] * 4, 2),
        (MANY, [("touch", SAME), ("wipe", SAME)], 2),
        ({"allow": COUNTED}, [("touch", SAME)] * 2, 2),
        ({"allow": ALL}, [("touch", SAME), ("wipe", OTHER)], 1),
    ],
)
def test_answer_holds_for_the_calls_that_it_names(
    answer: dict[str, Any], calls: list[tuple[str, Any]], questions: int
) -> None:
    approvals, caller = approvals_of(*[answer] * len(calls))

    for tool, arguments in calls:
        approvals.check(tool, arguments, 1)

    assert len(caller.asked) == questions


@pytest.mark.parametrize(
    "answer",
    [
        {"allow": NO},
        {"allow": "perhaps"},
        {"allow": COUNTED, "calls": 0},
        {"allow": COUNTED, "calls": 1001},
        {},
        Declined("The user said no."),
        Dismissed("The user closed it."),
        NotAnswered("The user did not answer within 600 seconds."),
    ],
)
def test_anything_but_a_permission_refuses_the_whole_program(answer: Any) -> None:
    approvals, caller = approvals_of(answer)

    for tool in ("touch", "wipe"):
        with pytest.raises(ToolError, match=f"^{tool} did not run: "):
            approvals.check(tool, SAME, 1)

    assert len(caller.asked) == 1


def test_host_that_cannot_ask_is_named() -> None:
    approvals, _ = approvals_of(CannotAsk("No elicitation."))

    with pytest.raises(ToolError) as caught:
        approvals.check("touch", SAME, 1)

    assert str(caught.value) == (
        "touch did not run: it may change something, and this host cannot ask its user whether it"
        " may."
    )


def test_question_shows_the_tool_its_arguments_and_the_lines() -> None:
    approvals, caller = approvals_of({"allow": ONCE})

    approvals.check("touch", {"path": "a\nb"}, 7)

    ((question, form),) = caller.asked
    assert question == (
        "A program calls touch, which may change something.\n"
        '  path = "a\\nb"\n'
        "It is here in the program:\n"
        "> 7  touch()\n"
        "What is allowed?"
    )
    assert form["properties"]["allow"]["enum"] == [ONCE, SAME_VALUES, COUNTED, ALL, NO]
    assert form["required"] == ["allow"]


def test_question_shows_few_of_many_arguments() -> None:
    question = describe_call("touch", {f"a{number}": number for number in range(25)}, "")

    assert "  a19 = 19\n  and 5 more arguments\n" in question
