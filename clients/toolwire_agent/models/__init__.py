"""Language models for agents: behind HTTP, offline, and adapters for other objects."""

from __future__ import annotations

from toolwire_schemas.retries import Retries

from .arithmetic import ArithmeticModel
from .by_name import list_names, model_from_name
from .errors import (
    ContextExceeded,
    EndpointRefused,
    ModelError,
    NoReplyLeft,
    NotAModel,
    NotReady,
    ReplyTimedOut,
    Unreachable,
    UnreadableReply,
)
from .http_api.endpoint import TimeLimits
from .http_api.remote_model import AnthropicModel, OpenAIModel
from .http_api.vendors import PRESETS, Preset
from .human import HumanModel
from .lagent import GPTAPI, DoubaoAPI
from .model import Model, ServerFacts, as_model
from .prices import Price
from .testing import AskedFor, RecordingModel, ReplayModel, ScriptedModel

__all__ = [
    "GPTAPI",
    "PRESETS",
    "AnthropicModel",
    "ArithmeticModel",
    "AskedFor",
    "ContextExceeded",
    "DoubaoAPI",
    "EndpointRefused",
    "HumanModel",
    "Model",
    "ModelError",
    "NoReplyLeft",
    "NotAModel",
    "NotReady",
    "OpenAIModel",
    "Preset",
    "Price",
    "RecordingModel",
    "ReplayModel",
    "ReplyTimedOut",
    "Retries",
    "ScriptedModel",
    "ServerFacts",
    "TimeLimits",
    "Unreachable",
    "UnreadableReply",
    "as_model",
    "list_names",
    "model_from_name",
]
