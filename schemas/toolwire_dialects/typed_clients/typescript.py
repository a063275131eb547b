"""Writes the client of a server's tools in TypeScript: `await client.tools.add({ a: 2, b: 3 })`.

Strategy. The tools are functions of an object of their own, so that no tool hides what a client can
do (`close`). Types are those of `dialects/typescript.py`; names of arguments and members stay as
they are on the wire. The text needs no step but the removal of types: Node, Deno and Bun run it as
it is.
"""

from __future__ import annotations

from textwrap import indent
from typing import TYPE_CHECKING

from ..name_mapping import RULES, NameRule, split_words, to_camel_case
from ..tool_entry import as_json
from ..typescript import comment, write_definition, write_key, write_members, write_type
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
        convention=lambda name: to_camel_case(name) if split_words(name) else name,
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
    head = "".join(f"// {line}".rstrip() + "\n" for line in plan.head).rstrip()
    if runtime is None:
        runtime = _write_imports(plan)
    blocks = [head, runtime.strip(), *map(write_definition, plan.types)]
    blocks += [_write_tools_interface(plan), _write_tools_function(plan), _connect_function(plan)]
    return "\n\n".join(filter(None, blocks)) + "\n"


def _write_tools_interface(plan: Plan) -> str:
    body = _write_block(map(_write_declaration, plan.functions))
    return f"/** The tools of the server. */\nexport interface Tools {body}"


def _write_tools_function(plan: Plan) -> str:
    parameter = "_client"  # which says that it is not used
    if plan.functions:
        parameter = "client"
    body = _write_block([f"return {_write_block(map(_call, plan.functions))};\n"])
    return (
        "/** Returns the tools of a running server as functions. */\n"
        f"export function toolsOf({parameter}: Client): Tools {body}"
    )


def _connect_function(plan: Plan) -> str:
    command = "command: readonly string[]"
    if plan.command:
        command += f" = {as_json(plan.command)}"
    body = _write_block(
        [
            "const client = await Client.connect(command, options);\n",
            "return Object.assign(client, { tools: toolsOf(client) });\n",
        ]
    )
    return (
        f"{comment(_ABOUT_CONNECT)}export async function connect(\n"
        f"  {command},\n"
        "  options: ConnectOptions = {},\n"
        f"): Promise<Client & {{ readonly tools: Tools }}> {body}"
    )


_ABOUT_CONNECT = (
    "Starts the server and returns its client: `await client.tools.NAME(args)` calls a tool, `await"
    " client.close()`\nends the server."
)


def _write_imports(plan: Plan) -> str:
    used = []
    if plan.functions:
        used.append("type CallOptions")
    if any(function.result is None for function in plan.functions):
        used.append("type CallResult")
    used += ["Client", "type ConnectOptions"]
    module = "./toolwire.ts" if plan.has_runtime_file else PACKAGE
    return f'import {{ {", ".join(used)} }} from "{module}";\n\nexport * from "{module}";'


def _write_declaration(function: Function) -> str:
    arguments = function.arguments
    kind = "Record<string, never>"
    if arguments.members or arguments.rest is not None:
        kind = write_members(arguments)
    mark = "?"
    if any(member.is_required for member in arguments.members):
        mark = ""
    result = "CallResult"
    if function.result is not None:
        result = write_type(function.result)
    called = f"(args{mark}: {kind}, options?: CallOptions) => Promise<{result}>"
    return f"{comment(chr(10).join(function.docs))}readonly {write_key(function.name)}: {called};\n"


def _call(function: Function) -> str:
    arguments = f"{as_json(function.wire_name)}, args, options"
    if function.result is None:
        called = f"client.call({arguments})"
    elif function.is_wrapped:
        called = f"client.value({arguments}, true)"
    else:
        called = f"client.value({arguments})"
    return f"{write_key(function.name)}: (args, options) => {called},\n"


def _write_block(lines: Iterable[str]) -> str:
    """*lines*, each with its newline, in braces."""
    body = "".join(lines)
    if body:
        return f"{{\n{indent(body, '  ')}}}"
    return "{}"
