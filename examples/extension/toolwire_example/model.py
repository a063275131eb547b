"""Models by the name `echo:PREFIX`: `toolwire ask "Hello" --model echo:Hm`."""

from __future__ import annotations

import json
from typing import Any


class EchoModel:
    """Answers with a prefix and the question. Any object with `chat(messages)` is a model."""

    def __init__(self, prefix: str) -> None:
        self.prefix = prefix

    def chat(self, messages: list[dict[str, Any]]) -> str:
        """Return a reply of the structured protocol."""
        question = json.loads(messages[-1]["content"])["content"]
        answer = f"{self.prefix}: {question}"
        reply = {"thought": "An echo.", "type": "FINAL_ANSWER", "ok": True, "result": answer}
        return json.dumps(reply)
