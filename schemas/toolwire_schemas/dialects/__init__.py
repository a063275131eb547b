"""One description of a tool in every dialect that models, frameworks and people read.

What stands in between is always the *entry* of a tool, as MCP's `tools/list` has it: `name`, `description`,
`inputSchema` and perhaps `outputSchema`. Each module is one dialect. Its `from_entry` writes it; its `to_entry`, where
there is one, reads it. All of them are pure functions on JSON values, keep what they are given unchanged, and take
entries from anybody's server: what is not as it should be there is passed over, never a crash. What people wrote by
hand is read strictly: `Malformed` says which part of it is wrong.
"""

from __future__ import annotations

from .entries import Malformed

__all__ = ["Malformed"]
