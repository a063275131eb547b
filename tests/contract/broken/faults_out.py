"""What a server may do wrong with what it says."""

from __future__ import annotations

from typing import Any

from .proxy import Fault, all_of, fails


@fails("lifecycle/answers")
class NeverAnswers(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        return None


@fails("jsonrpc/envelopes")
class SaysMore(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        return {**message, "took": 0.1} if self.method_of(message) == "ping" else message


@fails("jsonrpc/answered-once")
class AnswersTwice(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        return [message, message] if self.method_of(message) == "tools/list" else message


@fails("jsonrpc/answers-asked")
class SendsUnrequestedResponses(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        extra = {"jsonrpc": "2.0", "id": "unrequested", "result": {}}
        return [message, extra] if self.method_of(message) == "tools/list" else message


@fails("concurrency/many", "concurrency/calls")
class LosesSomeOfMany(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        return None if message.get("id") == 19 else message


@fails("stdout/only-messages")
class Prints(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        if self.method_of(message) == "tools/list":
            self.say(b"listing the tools ...\n")
        return message


# The handshake


@fails("lifecycle/initialize")
class HasNoName(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        message.get("result", {}).pop("serverInfo", None)
        return message


@fails("lifecycle/tools-capability")
class SaysNothingOfItsTools(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        if "capabilities" in message.get("result", {}):
            message["result"]["capabilities"] = {}
        return message


@fails("modern/discover")
class SaysNothingOfItsCapabilities(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        if self.method_of(message) == "server/discover":
            message.get("result", {}).pop("capabilities", None)
        return message


@fails("modern/server-info")
class DoesNotSayWhoItIs(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        message.get("result", {}).pop("_meta", None)
        return message


@fails("modern/result-type")
class DoesNotSayOfWhichType(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        message.get("result", {}).pop("resultType", None)
        return message


@fails("modern/no-requests")
class AsksBack(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        request = {"jsonrpc": "2.0", "id": "roots", "method": "roots/list"}
        return [request, message] if self.method_of(message) == "tools/call" else message


@fails("modern/no-logs-unasked", "logging/declared")
class TellsWhatItDoes(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        message.get("result", {}).get("capabilities", {}).pop("logging", None)
        params = {"level": "info", "data": "listing"}
        log = {"jsonrpc": "2.0", "method": "notifications/message", "params": params}
        return (
            [log, message] if self.method_of(message) in ("tools/list", "tools/call") else message
        )


@fails("logging/set-level")
class TakesNoLevel(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        if self.method_of(message) == "logging/setLevel":
            return {
                "jsonrpc": "2.0",
                "id": message["id"],
                "error": {"code": -32601, "message": "Method not found"},
            }
        return message


@fails("logging/unknown-level")
class TakesAnyLevel(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        if self.method_of(message) == "logging/setLevel":
            return {"jsonrpc": "2.0", "id": message["id"], "result": {}}
        return message


@fails("completion/unknown-prompt", "completion/unknown-reference")
class CompletesAnything(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        if self.method_of(message) == "completion/complete":
            return {"jsonrpc": "2.0", "id": message["id"], "result": {"completion": {"values": []}}}
        return message


@fails("modern/error-codes")
class HasACodeThatWasWithdrawn(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        if message.get("error", {}).get("code") == -32602:
            message["error"]["code"] = -32002
        return message


# Tools


class Lists(Fault):
    """Spoils the list of tools."""

    def tools(self, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
        raise NotImplementedError

    def answer(self, message: dict[str, Any]) -> Any:
        if "tools" in message.get("result", {}):
            message["result"]["tools"] = self.tools(message["result"]["tools"])
        return message


@fails("tools/list")
class ListsToolsWithoutSchemas(Lists):
    def tools(self, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [*tools, {"name": "undescribed"}]


@fails("tools/list-modern")
class DoesNotSayHowLongAListHolds(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        message.get("result", {}).pop("ttlMs", None)
        return message


@fails("tools/unique-names")
class ListsAToolTwice(Lists):
    def tools(self, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [*tools, tools[0]]


@fails("tools/same-order")
class ListsToolsAsTheyCome(Lists):
    turn = 0

    def tools(self, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
        self.turn += 1
        return tools[self.turn % len(tools) :] + tools[: self.turn % len(tools)]


@fails("tools/portable")
class ListsAToolThatClientsRefuse(Lists):
    def tools(self, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
        return [
            *tools,
            {**tools[0], "name": "a name / with everything!", "inputSchema": {"type": "string"}},
        ]


@fails("tools/portable-everywhere")
class HasATypeThatSomeHostsMisread(Lists):
    def tools(self, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
        schema = {"type": "object", "properties": {"a": {"type": ["integer", "string"]}}}
        return [*tools, {"name": "dotted.name", "description": "Does it.", "inputSchema": schema}]


@fails("tools/destructive-asks")
class RemovesWithoutAQuestion(Lists):
    def tools(self, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
        schema = {"type": "object", "properties": {"path": {"type": "string"}}}
        removes = {"name": "remove", "description": "Remove a file.", "inputSchema": schema}
        return [*tools, {**removes, "annotations": {"destructiveHint": True}}]


@fails("tools/parameter-headers")
class WantsAFractionInAHeader(Lists):
    def tools(self, tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
        ratio = {"type": "number", "x-mcp-header": "Ratio"}
        schema = {"type": "object", "properties": {"ratio": ratio}}
        return [*tools, {"name": "scale", "description": "Scale it.", "inputSchema": schema}]


# Calls


@fails("calls/result", "calls/result-modern")
class AnswersCallsWithText(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        if "content" in message.get("result", {}):
            message["result"]["content"] = "3"
        return message


@fails("calls/output-schema")
class AnswersWhatItsSchemaExcludes(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        if "structuredContent" in message.get("result", {}):
            message["result"]["structuredContent"] = {"result": "three", "greeting": 3}
        return message


# Progress


class Progress(Fault):
    """Spoils what is told of progress."""

    def told(self, message: dict[str, Any]) -> Any:
        return message

    def answer(self, message: dict[str, Any]) -> Any:
        return self.told(message) if message.get("method") == "notifications/progress" else message


@fails("progress/reported")
class KeepsProgressToItself(Progress):
    def answer(self, message: dict[str, Any]) -> Any:
        # Where it is found out whether a tool reports at all, it does.
        played = any(
            "progress/" in str(value) for asked in self.asked.values() for value in all_of(asked)
        )
        return None if played and message.get("method") == "notifications/progress" else message


@fails("progress/token-zero")
class TakesTheTokenZeroForNone(Progress):
    def told(self, message: dict[str, Any]) -> Any:
        return message if message["params"]["progressToken"] else None


@fails("progress/no-token")
class ReportsToThoseWhoDidNotAsk(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        asked = self.asked.get(message.get("id"), {})
        meta = (asked.get("params") or {}).get("_meta") or {}
        if self.method_of(message) == "tools/call" and "progressToken" not in meta:
            params = {"progressToken": message["id"], "progress": 1}
            return [
                {"jsonrpc": "2.0", "method": "notifications/progress", "params": params},
                message,
            ]
        return message


@fails("progress/asked")
class ReportsWithATokenOfItsOwn(Progress):
    def told(self, message: dict[str, Any]) -> Any:
        params = {**message["params"], "progressToken": "mine"}
        return [message, {**message, "params": params}]


@fails("progress/increases")
class ReportsTheSameAgain(Progress):
    def told(self, message: dict[str, Any]) -> Any:
        return [message, message]


@fails("progress/before-answer")
class ReportsLate(Progress):
    late: Any = None

    def answer(self, message: dict[str, Any]) -> Any:
        if message.get("method") == "notifications/progress":
            self.late = message
            return message
        if self.late is not None and self.method_of(message) == "tools/call":
            late = {**self.late, "params": {**self.late["params"], "progress": 99}}
            return [message, late]
        return message


# Resources and prompts


@fails(
    "resources/list", "resources/list-modern", "resources/templates", "resources/templates-modern"
)
class DescribesResourcesWithoutNames(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        result = message.get("result", {})
        for entry in (*result.get("resources", ()), *result.get("resourceTemplates", ())):
            del entry["name"]
        return message


@fails("prompts/list", "prompts/list-modern")
class DescribesPromptsWithoutNames(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        for entry in message.get("result", {}).get("prompts", ()):
            del entry["name"]
        return message


@fails("resources/unknown", "resources/unknown-modern", "prompts/unknown")
class FailsWithACodeOfItsOwn(Fault):
    def answer(self, message: dict[str, Any]) -> Any:
        if self.method_of(message) in ("resources/read", "prompts/get") and "error" in message:
            message["error"]["code"] = 404
        return message
