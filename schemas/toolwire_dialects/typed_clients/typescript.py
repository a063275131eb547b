"""Writes the client of a server's tools in TypeScript: `await client.tools.add({ a: 2, b: 3 })`.

Strategy. The tools are functions of an object of their own, so that no tool hides what a client can
do (`close`). Types are those of `dialects/typescript.py`; names of arguments and members stay as
they are on the wire. The text needs no step but the removal of types: Node, Deno and Bun run it as
it is.
"""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING

from ..name_mapping import RULES, NameRule, camel, words
from ..tool_entry import as_json
from ..typescript import comment, definition_text, key, members_text, type_text
from .plan import Naming

if TYPE_CHECKING:
    from collections.abc import Iterable

    from .plan import Function, Plan

RUNTIME = "typescript/src/toolwire.ts"
PACKAGE = "@toolwire/client"

_TAKEN = (
    # By the runtime.
    "About Answer BrokenRules CallOptions CallResult Client ClientError Closed ConnectOptions"
    " ContentBlock Members NoTasks NotStarted OpenRequest Progress Question Receiver RequestFailed"
    " ServerGone ServerProcess Task TaskRequests TaskStatus TimeLeft TimedOut"
    " ToolDescription ToolFailed "
    # By this file.
    "Tools "
    # By the language.
    "AbortController AbortSignal Array AsyncGenerator Buffer ChildProcessWithoutNullStreams Date"
    " Error Infinity JSON Map Math NodeJS Number Object Promise RangeError Record Set String Symbol"
    " TypeError"
)

NAMING = Naming(
    # A member `then` would make a promise of the object with all tools.
    functions=NameRule(
        lambda letter: f"_{letter}".isidentifier(),
        may_begin=str.isidentifier,
        is_reserved=frozenset(("then", "constructor")).__contains__,
        convention=lambda name: camel(name) if words(name) else name,
    ),
    types=RULES["typescript"],
    members=NameRule(lambda letter: True),
    taken_types=frozenset(_TAKEN.split()),
    names_objects=True,
)


def write(plan: Plan, runtime: str | None) -> str:
    """Return the generated module. *runtime* is the text of the runtime, to embed, or None to
    import it.
    """
    blocks = [
        "".join(f"// {line}".rstrip() + "\n" for line in plan.head).rstrip(),
        _imports(plan) if runtime is None else runtime.strip(),
        *map(definition_text, plan.types),
        "/** The tools of the server. */\nexport interface Tools "
        + _block(map(_declaration, plan.functions)),
        "/** Returns the tools of a running server as functions. */\n"
        f"export function toolsOf({'client' if plan.functions else '_client'}: Client): Tools "
        + _block([f"return {_block(map(_call, plan.functions))};\n"]),
        f"{comment(_ABOUT_CONNECT)}export async function connect(\n"
        f"  command: readonly string[]{f' = {as_json(plan.command)}' if plan.command else ''},\n"
        "  options: ConnectOptions = {},\n"
        "): Promise<Client & { readonly tools: Tools }> "
        + _block(
            [
                "const client = await Client.connect(command, options);\n",
                "return Object.assign(client, { tools: toolsOf(client) });\n",
            ]
        ),
    ]
    return "\n\n".join(block for block in blocks if block) + "\n"


_ABOUT_CONNECT = (
    "Starts the server and returns its client: `await client.tools.NAME(args)` calls a tool, `await"
    " client.close()`\nends the server."
)


def _imports(plan: Plan) -> str:
    without_result = any(function.result is None for function in plan.functions)
    used = [
        *(["type CallOptions"] if plan.functions else []),
        *(["type CallResult"] if without_result else []),
        "Client",
        "type ConnectOptions",
    ]
    return f'import {{ {", ".join(used)} }} from "{PACKAGE}";\n\nexport * from "{PACKAGE}";'


def _declaration(function: Function) -> str:
    arguments = function.arguments
    kind = "Record<string, never>"
    if arguments.members or arguments.rest is not None:
        kind = members_text(arguments)
    mark = "?"
    if any(member.is_required for member in arguments.members):
        mark = ""
    result = "CallResult"
    if function.result is not None:
        result = type_text(function.result)
    called = f"(args{mark}: {kind}, options?: CallOptions) => Promise<{result}>"
    return f"{comment(chr(10).join(function.docs))}readonly {key(function.name)}: {called};\n"


def _call(function: Function) -> str:
    wire_name = as_json(function.wire_name)
    if function.result is None:
        called = f"client.call({wire_name}, args, options)"
    else:
        called = (
            f"client.value({wire_name}, args, options{', true' if function.is_wrapped else ''})"
        )
    return f"{key(function.name)}: (args, options) => {called},\n"


def _block(lines: Iterable[str]) -> str:
    """*lines*, each with its newline, in braces."""
    body = "".join(lines)
    if body:
        return f"{{\n{indent(body, '  ')}}}"
    return "{}"
