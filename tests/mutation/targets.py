"""The modules that get faults, and the quick tests that have to notice."""

from __future__ import annotations

PROTOCOL = ("tests/server/protocol", "tests/server/tasks/test_tasks.py")
CALLS = ("tests/server/protocol/test_call.py", "tests/server/protocol/test_in_flight.py")
RESULT_SIZES = (
    "tests/server/protocol/test_large_results.py",
    "tests/server/protocol/test_sizes_of_large_results.py",
    "tests/server/protocol/test_result_limit.py",
)
FRAMING = ("tests/schemas/wire/test_framing.py",)
LOSSLESS = ("tests/schemas/json_schema/test_lossless.py",)
COMPARE = ("tests/schemas/compare",)
GRAPH = ("tests/schemas/json_schema/test_graph.py",)
READING = ("tests/tools/signature",)

TARGETS: dict[str, tuple[str, ...]] = {
    "toolwire.protocol.in_flight": (*CALLS, "tests/server/protocol/test_result_limit.py"),
    "toolwire.protocol.server_protocol": PROTOCOL,
    "toolwire.protocol.call": CALLS,
    "toolwire.protocol.lifecycle": PROTOCOL,
    "toolwire.protocol.result_size.result_limit": RESULT_SIZES,
    "toolwire.protocol.result_size.large_results": RESULT_SIZES,
    "toolwire.protocol.result_size.kept_results": RESULT_SIZES,
    "toolwire.protocol.result_size.cut_text": RESULT_SIZES,
    "toolwire_agent.agent.approvals": ("tests/clients/agent/test_approval_decisions.py",),
    "toolwire_dialects.compare.value_cases": COMPARE,
    "toolwire_dialects.compare.proof": COMPARE,
    "toolwire_dialects.compare.subset": COMPARE,
    "toolwire_schemas.json_schema.all_of": GRAPH,
    "toolwire_schemas.json_schema.graph": GRAPH,
    "toolwire_schemas.wire.framing": FRAMING,
    "toolwire_schemas.wire.content_length": FRAMING,
    "toolwire_schemas.json_schema.lossless": LOSSLESS,
    "toolwire_schemas.wire.codec": ("tests/schemas/wire/test_codec.py",),
    "toolwire_schemas.wire.messages": ("tests/schemas/wire/test_messages.py",),
    "toolwire_tools.signature.arguments": READING,
    "toolwire_tools.signature.second_reading": ("tests/tools/signature/test_reading_again.py",),
}
