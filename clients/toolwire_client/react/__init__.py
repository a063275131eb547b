"""The structured exchange with a language model: what is said to it, and what its replies mean. No I/O."""

from __future__ import annotations

from .replies import ModelReply, ToolCall, Usage

__all__ = ["ModelReply", "ToolCall", "Usage"]
