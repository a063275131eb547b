"""The server that the official conformance suite asks for, written as users of Toolwire write
theirs.
"""

from __future__ import annotations

import base64
import struct
import sys
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import anyio
from toolwire import (
    AsyncContext,
    Context,
    Server,
    ToolError,
    complete,
    prompt,
    resource,
    tool_api,
)
from toolwire.errors import UpstreamError
from toolwire_schemas.wire.messages import INTERNAL_ERROR
from toolwire_tools import Audio, File, Image, Message, Text

TASK_AFTER_SECONDS = 0.2

PIXEL = Image(
    base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
    )
)
SILENCE = Audio(
    b"RIFF"
    + struct.pack(
        "<I4s4sIHHIIHH4sI", 38, b"WAVE", b"fmt ", 16, 1, 1, 8000, 16000, 2, 16, b"data", 2
    )
    + b"\0\0"
)


@tool_api
def test_simple_text() -> str:
    """Return text."""
    return "This is a simple text response for testing."


@tool_api
def test_image_content() -> Image:
    """Return a picture."""
    return PIXEL


@tool_api
def test_audio_content() -> Audio:
    """Return a sound."""
    return SILENCE


@tool_api
def test_embedded_resource() -> File:
    """Return a file within the result."""
    text = "This is an embedded resource content."
    return File(text, uri="test://embedded-resource", media_type="text/plain")


@tool_api
def test_multiple_content_types() -> list[Text | Image | File]:
    """Return text, a picture and a file."""
    file = File(
        '{"test":"data","value":123}',
        uri="test://mixed-content-resource",
        media_type="application/json",
    )
    return [Text(text="Multiple content types test:"), PIXEL, file]


@tool_api
def test_tool_with_logging(context: Context) -> str:
    """Log three messages."""
    context.log("Tool execution started")
    context.log("Tool processing data")
    context.log("Tool execution completed")
    return "logged"


@tool_api
def test_logging_tool(context: Context) -> str:
    """Log one message."""
    context.log("This is for clients that ask for it")
    return "logged"


@tool_api
def test_error_handling() -> str:
    """Fail."""
    raise ToolError("This tool intentionally returns an error for testing")


@tool_api
def test_tool_with_progress(context: Context) -> str:
    """Report progress three times."""
    for done in (0, 50, 100):
        context.progress(done, 100)
    return "done"


@dataclass
class Account:
    """The user's account."""

    username: Annotated[str, "User's response"]
    email: Annotated[str, "User's email address"]


@tool_api
def test_elicitation(message: str, context: Context) -> str:
    """Ask the user for a name and an address."""
    return f"User response: {context.ask(message, Account)}"


@dataclass
class Defaults:
    """A form that is filled in."""

    name: str = "John Doe"
    age: int = 30
    score: float = 95.5
    status: Literal["active", "inactive", "pending"] = "active"
    verified: bool = True


@tool_api
def test_elicitation_sep1034_defaults(context: Context) -> str:
    """Ask with a default for each field."""
    return f"Elicitation completed: {context.ask('Please check this', Defaults)}"


TITLED = [
    {"const": "value1", "title": "First Option"},
    {"const": "value2", "title": "Second Option"},
    {"const": "value3", "title": "Third Option"},
]
OPTIONS = ["option1", "option2", "option3"]
CHOICES = {
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": OPTIONS},
        "titledSingle": {"type": "string", "oneOf": TITLED},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": OPTIONS}},
        "titledMulti": {"type": "array", "items": {"anyOf": TITLED}},
    },
}
"""Every kind of choice, the deprecated one included, which no type has."""


@tool_api
def test_elicitation_sep1330_enums(context: Context) -> str:
    """Ask for choices."""
    return f"Elicitation completed: {context.ask('Please choose', CHOICES)}"


@dataclass
class Person:
    """A person."""

    name: str


@dataclass
class Confirmation:
    """A confirmation."""

    ok: bool


@dataclass
class Confirmed:
    """Another confirmation."""

    confirm: bool


@dataclass
class Named:
    """A confirmation with a name."""

    name: str
    confirm: bool


@dataclass
class Color:
    """A color."""

    color: str


@tool_api
def test_input_required_result_elicitation(context: Context) -> str:
    """Greet the user."""
    return f"Hello, {context.ask('What is your name?', Person, key='user_name').name}!"


@tool_api
def test_streaming_elicitation(context: Context) -> str:
    """Greet the user."""
    return test_input_required_result_elicitation(context)


@tool_api
def test_input_required_result_request_state(context: Context) -> str:
    """Continue after a question."""
    return f"state-ok: {context.ask('Please confirm', Confirmation).ok}"


@tool_api
def test_input_required_result_tampered_state(context: Context) -> str:
    """Continue after a question."""
    return test_input_required_result_request_state(context)


@tool_api
def test_input_required_result_multi_round(context: Context) -> str:
    """Ask one question after the other."""
    person = context.ask("Step 1: What is your name?", Person)
    color = context.ask("Step 2: What is your favorite color?", Color)
    return f"{person.name}: {color.color}"


@tool_api(
    input_schema={
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
            }
        },
        "properties": {
            "name": {"type": "string"},
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": {"type": "string"},
            "email": {"type": "string"},
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    }
)
def json_schema_2020_12_tool(**details: Any) -> str:
    """Take what a schema with many keywords allows."""
    return f"{len(details)} details"


@tool_api
def test_trigger_tool_change() -> str:
    """Offer one more tool, or take it away."""
    return change("passing_tool", passing_tool)


@tool_api
def test_trigger_prompt_change() -> str:
    """Offer one more prompt, or take it away."""
    return change("passing_prompt", passing_prompt)


@tool_api
def passing_tool() -> None:
    """Do nothing: this is added and removed by others."""


@prompt
def passing_prompt() -> str:
    """Do nothing: this is added and removed by others."""
    return "here"


shown: set[str] = set()


def change(name: str, thing: Any) -> str:
    """Add or remove a tool or prompt."""
    if name in shown:
        server.remove(name)
    else:
        server.add(thing)
    shown.symmetric_difference_update([name])
    return "changed"


@resource("test://static-text", media_type="text/plain")
def static_text() -> str:
    """Return text."""
    return "This is the content of the static text resource."


@resource("test://static-binary", media_type="image/png")
def static_binary() -> Image:
    """Return a picture."""
    return PIXEL


@resource("test://template/{id}/data", media_type="application/json")
def template(id: str) -> dict[str, Any]:
    """Return data about an id."""
    return {"id": id, "templateTest": True, "data": f"Data for ID: {id}"}


@resource("test://watched-resource")
def watched() -> str:
    """Return text that may change."""
    return "This is the content of the watched resource."


@prompt
def test_simple_prompt() -> str:
    """Return one message."""
    return "This is a simple prompt for testing."


def starting(text: str) -> list[str]:
    """Return the words that begin with *text*."""
    return [word for word in ("paris", "park", "party") if word.startswith(text)]


@prompt
def test_prompt_with_arguments(
    arg1: Annotated[str, "First test argument", complete(starting)], arg2: str
) -> str:
    """Return a message with the arguments."""
    return f"Prompt with arguments: arg1='{arg1}', arg2='{arg2}'"


@prompt
def test_prompt_with_embedded_resource(resourceUri: str) -> list[Any]:  # noqa: N803
    """Return a file and a text."""
    file = File("Embedded resource content for testing.", uri=resourceUri, media_type="text/plain")
    return [file, "Please process the embedded resource above."]


@prompt
def test_prompt_with_image() -> list[Message]:
    """Return a picture and a text."""
    return [Message(PIXEL), Message("Please analyze the image above.")]


@dataclass
class UserContext:
    """What the prompt is about."""

    context: str


@prompt
def test_input_required_result_prompt(context: Context) -> str:
    """Ask the user what to say."""
    return context.ask("What context should the prompt use?", UserContext).context


# Tasks


@tool_api
def greet(name: str) -> str:
    """Greet."""
    return f"Hello, {name}!"


@tool_api(task="always")
async def slow_compute(seconds: float, label: str = "") -> str:
    """Take a while."""
    await anyio.sleep(seconds)
    return f"computed {label}"


@tool_api(task="required")
async def failing_job() -> str:
    """Fail after a while."""
    await anyio.sleep(0.2)
    raise ToolError("The job failed")


@tool_api(task="always")
def protocol_error_job() -> str:
    """Fail as a call of a mounted server that answers with a JSON-RPC error."""
    raise UpstreamError(INTERNAL_ERROR, "The job failed")


@tool_api(task="always")
def confirm_delete(filename: str, context: Context) -> str:
    """Delete a file, if the user agrees."""
    return f"{filename}: {context.ask(f'Delete {filename}?', Confirmed).confirm}"


@tool_api(task="always")
async def multi_input(context: AsyncContext) -> str:
    """Ask two questions at once."""
    async with anyio.create_task_group() as group:
        group.start_soon(ask, context, "What is your name?")
        group.start_soon(ask, context, "And your other name?")
    return "answered"


async def ask(context: AsyncContext, message: str) -> None:
    """Ask one question."""
    await context.ask(message, Named)


@tool_api
async def test_tool_with_task(context: AsyncContext) -> str:
    """Ask the user, and take a while for the answer."""
    person = await context.ask("What is your name?", Person)
    await anyio.sleep(5 * TASK_AFTER_SECONDS)
    return f"Hello, {person.name}!"


SHOW = "all"
if __name__ == "__main__" and len(sys.argv) > 1:
    SHOW = sys.argv[1]

server = Server(
    [
        test_simple_text,
        test_image_content,
        test_audio_content,
        test_embedded_resource,
        test_multiple_content_types,
        test_tool_with_logging,
        test_logging_tool,
        test_error_handling,
        test_tool_with_progress,
        test_elicitation,
        test_elicitation_sep1034_defaults,
        test_elicitation_sep1330_enums,
        test_input_required_result_elicitation,
        test_streaming_elicitation,
        test_input_required_result_request_state,
        test_input_required_result_tampered_state,
        test_input_required_result_multi_round,
        json_schema_2020_12_tool,
        test_trigger_tool_change,
        test_trigger_prompt_change,
        static_text,
        static_binary,
        template,
        watched,
        test_simple_prompt,
        test_prompt_with_arguments,
        test_prompt_with_embedded_resource,
        test_prompt_with_image,
        test_input_required_result_prompt,
        greet,
        slow_compute,
        failing_job,
        protocol_error_job,
        confirm_delete,
        multi_input,
        test_tool_with_task,
    ],
    name="conformance",
    show=SHOW,
    pin=["json_schema_2020_12_tool", "passing_tool"],  # those that the suite looks for in the list
    task_after_seconds=TASK_AFTER_SECONDS,
)

if __name__ == "__main__":
    server.serve()
