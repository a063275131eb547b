"""The protocols between an agent and a language model: messages, prompts, and how replies are read.
No I/O.
"""

from __future__ import annotations

from .conversation import Conversation, Decision, Limits, OutOfTurn, Retry, Stop, Turn
from .messages import (
    Action,
    ActionResult,
    Ask,
    Error,
    FinalAnswer,
    FromModel,
    ModelReply,
    Question,
    ResultKey,
    ToModel,
    ToolCall,
    Usage,
    UserResponse,
    from_json,
    to_json,
)
from .native import NativeProtocol
from .prompt_protocol import InvalidReply, Protocol, ValidReply
from .prompts import Remark, Template, TemplateError, Unreadable
from .replies.reply_schema import build_reply_schema
from .small import SmallProtocol
from .structured import StructuredProtocol
from .tokens import BaseProtocol, DoubaoProtocol
from .tool_lookup import Tools

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
    "InvalidReply",
    "Limits",
    "ModelReply",
    "NativeProtocol",
    "OutOfTurn",
    "Protocol",
    "Question",
    "Remark",
    "ResultKey",
    "Retry",
    "SmallProtocol",
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
    "ValidReply",
    "build_reply_schema",
    "from_json",
    "to_json",
]
