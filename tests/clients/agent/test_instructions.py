"""Instructions for tools, written by a model."""

from __future__ import annotations

from typing import Any

import pytest
from support.agent_scripts import BACKENDS, play
from toolwire_agent.instructions import NoInstruction, generate_instruction, use_tool
from toolwire_agent.models import ScriptedModel
from toolwire_agent.react import ModelReply
from toolwire_compat.mas import instructions
from toolwire_compat.yaml import load_tool_config

pytestmark = pytest.mark.parametrize("backend", BACKENDS)

MODULE = """
from toolwire_compat.mas import Executor

@Executor.register(executor_type="tool", executor_name="rag")
class Rag(Executor):
    def execute(self, step_id, agent_state):
        step = agent_state["agent_step"].get_step(step_id)
        return {"found": step.instruction_content}
"""
YAML = """
use_guide:
  tool_name: rag
  description: Finds documents.
use_prompt:
  tool_name: rag
  tool_prompt: Write a query about {subject}.
  return_format: '<RAG>{"query": "..."}</RAG>'
"""


@pytest.fixture(scope="module")
def config(tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("tools")
    (folder / "rag.py").write_text(MODULE)
    (folder / "rag_config.yaml").write_text(YAML)
    return load_tool_config(folder / "rag_config.yaml")


def test_a_model_receives_the_prompt_and_the_format_and_its_answer_is_read(
    backend: str, config: Any
) -> None:
    model = ScriptedModel(['Let me see. <RAG>{"query": "cats"}</RAG>'])
    wanted = generate_instruction(
        model, config, "Cats!", parts=instructions, values={"subject": "animals"}
    )
    assert play(backend, lambda: wanted) == {"query": "cats"}
    system, user = model.asked[0].messages
    assert "Write a query about animals." in system["content"]
    assert '<RAG>{"query": "..."}</RAG>' in system["content"]
    assert user == {"role": "user", "content": "Cats!"}


def test_faults_of_an_instruction_are_reported_to_the_model(backend: str, config: Any) -> None:
    cut = ModelReply(text='<RAG>{"query": "ca"}</RAG>', finish_reason="length")
    model = ScriptedModel(["no block", "<RAG>{bad}</RAG>", cut, "<RAG>cats</RAG>"])
    assert (
        play(backend, lambda: generate_instruction(model, config, "Cats!", parts=instructions))
        == "cats"
    )
    assert "<RAG>" in model.asked[1].messages[-1]["content"]
    assert "JSON" in model.asked[2].messages[-1]["content"]
    assert "cut off" in model.asked[3].messages[-1]["content"]


def test_too_many_errors_raise_no_instruction(backend: str, config: Any) -> None:
    model = ScriptedModel(lambda asked: "no block")
    with pytest.raises(NoInstruction, match="no complete block for rag"):
        play(backend, lambda: generate_instruction(model, config, "Cats!", parts=instructions))
    assert len(model.asked) == 4


def test_the_executor_carries_the_instruction_out(backend: str, config: Any) -> None:
    model = ScriptedModel(['<RAG>{"query": "cats"}</RAG>'])
    result = play(backend, lambda: use_tool(model, config, "Cats!", parts=instructions))
    assert (result.is_error, result.structured) == (False, {"found": {"query": "cats"}})
