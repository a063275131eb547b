"""The structured exchange with a language model: what is said to it, and what its replies mean. No I/O."""

from __future__ import annotations

from .conversation import Conversation
from .messages import (
    Action,
    ActionResult,
    Ask,
    Error,
    FinalAnswer,
    FromModel,
    Question,
    ResultKey,
    ToModel,
    UserResponse,
    from_json,
    to_json,
)
from .native import NativeProtocol
from .protocol import Invalid, Protocol, Reading
from .remarks import Remark, Unreadable
from .replies import ModelReply, ToolCall, Usage
from .reply_schema import reply_schema
from .state import Decision, Limits, OutOfTurn, Retry, Stop, Turn
from .structured import StructuredProtocol
from .template import Template, TemplateError
from .tokens import BaseProtocol, DoubaoProtocol
from .tools import Tools

__all__ = [
    "Action",
    "ActionResult",
    "Ask",
    "BaseProtocol",
    "Conversation",
    "Decision",
    "DoubaoProtocol",
    "Error",
    "FinalAnswer",
    "FromModel",
    "Invalid",
    "Limits",
    "ModelReply",
    "NativeProtocol",
    "OutOfTurn",
    "Protocol",
    "Question",
    "Reading",
    "Remark",
    "ResultKey",
    "Retry",
    "Stop",
    "StructuredProtocol",
    "Template",
    "TemplateError",
    "ToModel",
    "ToolCall",
    "Tools",
    "Turn",
    "Unreadable",
    "Usage",
    "UserResponse",
    "from_json",
    "reply_schema",
    "to_json",
]
