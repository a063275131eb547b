"""The command line; the only place that may import `toolwire_client`."""

from __future__ import annotations

COMMANDS = {  # their summaries, in the order of `toolwire --help`
    "serve": "serve Python functions as tools over standard input and output",
    "list": "list the tools of a target or of any MCP server",
    "call": "call one tool and print its result",
    "tasks": "list, wait for or cancel calls that go on at their servers",
    "ask": "let a language model answer a question with tools",
    "chat": "chat with a language model that uses tools",
    "transcript": "show a recorded run of an agent, at the terminal or as a page",
    "config": "configure a host to start the tools: print or --write the entry",
    "hub": "put the servers of a host behind one entry with a search",
    "pack": "make a bundle (.mcpb) that hosts install with a click",
    "client": "write a typed client of a server's tools in your language",
    "schema": "print the published schemas, for hosts in any language",
    "inspect": "open a page to call a server's tools, and to watch its traffic",
    "check": "test whether an MCP server keeps the contract",
    "bench": "measure a server: start, time of a call, throughput, memory",
    "diff": "compare two lists of tools, and say whom the changes break",
    "lock": "keep what the tools of a server mean, to refuse changed ones later",
    "wrap": "serve another MCP server so that strict hosts accept it",
    "share": "list, end or look at the processes of serve --share",
    "replay": "answer from a recording of a server, for tests and bug reports",
    "migrate": "change imports of Lagent, Groot or a tool library to Toolwire's",
    "completion": "print the script with which a shell completes toolwire",
    "demo": "show a server at work: list, call, stream, fail, cancel, solve",
}
