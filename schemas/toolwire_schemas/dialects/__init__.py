"""One description of a tool in every dialect that models, frameworks and people read.

What stands in between is always the *entry* of a tool, as MCP's `tools/list` has it: `name`, `description`,
`inputSchema` and perhaps `outputSchema`. Each module is one dialect: `lagent`, `openai`, `anthropic`, `python`,
`typescript`, `markdown`. Its `from_entry` writes it (where a text is about several tools, `from_entries`), its
`to_entry` or `to_entries` reads it, and `arguments`, where there is one, leads from what a model called to what the
tool takes. `names.Names` does that for names.

All of them are pure functions on JSON values and change nothing that they are given. Entries may be anybody's: what is
not as it should be in them is passed over. What people write by hand is read strictly: `Malformed` says which part of
it is wrong.
"""

from __future__ import annotations

from .tool_entry import Malformed

__all__ = ["Malformed"]
