"""Models by name, endpoints by preset, and the classes that users of Lagent and Groot know."""

from __future__ import annotations

import inspect
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import pytest
from support import model_endpoint as stand_in
from support.model_endpoint import StandIn, refused
from toolwire_agent.models import (
    GPTAPI,
    PRESETS,
    AnthropicModel,
    ArithmeticModel,
    DoubaoAPI,
    EndpointRefused,
    HumanModel,
    NotAModel,
    NotReady,
    OpenAIModel,
    Preset,
    RecordingModel,
    ReplayModel,
    Retries,
    ScriptedModel,
    Unreachable,
    list_names,
    model_from_name,
)
from toolwire_agent.models.by_name import is_small
from toolwire_agent.models.http_api.endpoint import make_url
from toolwire_agent.models.lagent import ModelStatusCode

ASK = [{"role": "user", "content": "Hello?"}]
KEY = "sk-0123456789"


# --- names ----------------------------------------------------------------------------------------


def test_offline_models_have_names() -> None:
    assert isinstance(model_from_name("arithmetic"), ArithmeticModel)
    assert isinstance(model_from_name("human"), HumanModel)


def test_a_record_is_named_by_its_file(tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    anyio.run(RecordingModel(ScriptedModel(["x"]), path).reply, ASK)
    assert isinstance(model_from_name(f"replay:{path}"), ReplayModel)


def test_a_model_behind_an_endpoint_is_named_after_it() -> None:
    made = model_from_name("openai:gpt-5", key=KEY, temperature=0.1)
    assert repr(made) == "<OpenAIModel 'gpt-5' at https://api.openai.com/v1/chat/completions>"
    made = model_from_name("anthropic:claude-sonnet", key=KEY)
    assert repr(made) == "<AnthropicModel 'claude-sonnet' at https://api.anthropic.com/v1/messages>"
    assert repr(model_from_name("ollama:llama3.2:3b")).startswith(
        "<OpenAIModel 'llama3.2:3b' at http://localhost:11434"
    )


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        *(
            ("smollm2:135m", True),
            ("Qwen2.5-0.5B-Instruct", True),
            ("gemma3:270m-it-q8_0", True),
            ("500m", True),
        ),
        *(
            ("llama3.2:1b", False),
            ("qwen3-30b-a0.5b", False),
            ("gpt-5-mini", False),
            ("v2.135m", False),
            ("", False),
        ),
    ],
)
def test_a_small_model_says_its_size_in_its_name(name: str, expected: bool) -> None:
    assert is_small(name) == expected


def test_unused_settings_are_refused() -> None:
    with pytest.raises(NotReady, match="'arithmetic' has no endpoint, so it takes no temperature"):
        model_from_name("arithmetic", temperature=0.5)


MINE = """
class Chats:
    def chat(self, messages):
        return "mine"

class inner:
    model = Chats()

def make():
    return Chats()

nothing = object()
"""


@pytest.mark.parametrize("path", ["Chats", "inner.model", "make"])
@pytest.mark.parametrize("kind", ["module", "file"])
def test_an_object_of_ones_own_is_named_by_where_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, path: str
) -> None:
    (tmp_path / "my_models.py").write_text(MINE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    monkeypatch.delitem(sys.modules, "my_models", raising=False)
    where = "my_models" if kind == "module" else str(tmp_path / "my_models.py")
    assert anyio.run(model_from_name(f"{where}:{path}").reply, ASK).text == "mine"


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("arithmetics", "no model 'arithmetics', did you mean 'arithmetic'"),
        ("opena:gpt-5", "did you mean 'openai'"),
        ("gpt-5", "PROVIDER:MODEL, as in openai:gpt-5"),
        ("openai", "which model of openai"),
        ("openai:", "which model of openai"),
        ("", "no model ''"),
        ("json:lods", "json: no object 'lods', did you mean 'loads'"),
        ("no_such_module_at_all:x", "no module or model 'no_such_module_at_all'"),
        ("no/such/file.py:x", "there is no file no/such/file.py"),
        ("replay", "no model 'replay'"),
    ],
)
def test_unknown_name_raises_an_error_with_the_known_names(name: str, complaint: str) -> None:
    with pytest.raises(NotReady, match=complaint.replace("?", r"\?")):
        model_from_name(name)


def test_an_object_that_is_no_model_is_reported_with_its_name(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(MINE, encoding="utf-8")
    with pytest.raises(
        NotAModel, match=r"mine\.py:nothing: an object of type object is not a model"
    ):
        model_from_name(f"{path}:nothing")


def test_a_model_file_may_import_its_neighbours(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.path", list(sys.path))
    (tmp_path / "beside_the_model.py").write_text(MINE, encoding="utf-8")
    (tmp_path / "mine.py").write_text("from beside_the_model import *", encoding="utf-8")
    with pytest.raises(NotAModel, match="nothing"):
        model_from_name(f"{tmp_path / 'mine.py'}:nothing")


def test_exception_of_a_model_file_is_raised(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text("import no_such_module_at_all", encoding="utf-8")
    with pytest.raises(ModuleNotFoundError):
        model_from_name(f"{path}:x")


def test_known_names_are_listed() -> None:
    assert {"arithmetic", "human", "openai:MODEL", "anthropic:MODEL", "ollama:MODEL"} <= set(
        list_names()
    )


@pytest.mark.process
def test_the_example_of_the_page_about_models_runs() -> None:
    page = (Path(__file__).parents[3] / "docs" / "models.md").read_text("utf-8")
    example = page.partition("<!-- models -->\n```python\n")[2].partition("```")[0]
    done = subprocess.run(
        [sys.executable, "-c", example], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "add {'a': 2, 'b': 3}\n"


def test_the_page_about_models_names_every_preset() -> None:
    page = (Path(__file__).parents[3] / "docs" / "models.md").read_text("utf-8")
    assert [name for name in PRESETS if f"`{name}:" not in page] == []


# --- presets --------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", PRESETS)
def test_a_preset_is_complete(name: str) -> None:
    preset = PRESETS[name]
    assert make_url(preset.base_url, "/x").startswith(
        "https://" if preset.needs_key else "http://localhost"
    )
    assert bool(preset.key_variables) or not preset.needs_key
    assert preset.source.startswith("https://")
    assert preset.formats[-1] == "text"


def test_custom_preset_is_accepted() -> None:
    own = Preset(base_url="http://localhost:9999/v1", source="ours", needs_key=False)
    assert (
        repr(OpenAIModel("m", own))
        == "<OpenAIModel 'm' at http://localhost:9999/v1/chat/completions>"
    )


def test_unknown_preset_raises_an_error_with_the_closest_name() -> None:
    with pytest.raises(NotReady, match="no endpoint 'deepseak', did you mean 'deepseek'"):
        OpenAIModel("m", "deepseak", key=KEY)


def test_anthropic_model_reaches_other_servers_of_that_api() -> None:
    with StandIn() as server:
        assert (
            anyio.run(AnthropicModel("m", base_url=server.url, key=KEY).reply, ASK).text == "Hello."
        )


# --- Groot's and Lagent's -------------------------------------------------------------------------

PSM = {
    "model_name": "Seed-32B",
    "psm": "data.seed.rl_human_eval",
    "idc": "lq",
    "llm_cluster": "Seed-32B",
}


def test_internal_service_of_bytedance_is_refused_with_advice() -> None:
    with pytest.raises(
        NotReady, match=r"data\.seed\.rl_human_eval.*only works inside ByteDance.*base_url"
    ):
        DoubaoAPI(mode="psm", psm_cfg=PSM)


def test_with_a_base_url_its_configuration_names_the_model() -> None:
    with StandIn(lambda body: f"{body['model']}: {body['messages'][-1]['content']}") as server:
        llm = DoubaoAPI(mode="psm", psm_cfg=PSM, base_url=server.url)
        assert llm.chat(ASK) == "Seed-32B: Hello?"
        assert llm.generate("Go on") == "Seed-32B: Go on"
        assert anyio.run(llm.reply, ASK).text == "Seed-32B: Hello?"


def test_doubao_at_ark_needs_a_model_and_a_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARK_API_KEY", raising=False)
    with pytest.raises(NotReady, match="ARK_API_KEY"):
        DoubaoAPI(model="doubao-seed")
    with pytest.raises(NotReady, match="which model"):
        DoubaoAPI(key=KEY)
    assert "https://ark.cn-beijing.volces.com/api/v3" in repr(
        DoubaoAPI(model="doubao-seed", key=KEY)
    )


def test_history_of_groot_is_accepted_unchanged() -> None:
    history = [
        {"role": "user", "content": "2+3?"},
        {"role": "assistant", "content": '<|FunctionCallBegin|>{"name": "add"}<|FunctionCallEnd|>'},
        {"role": "tool", "content": {"result": 5}},
    ]
    with StandIn() as server:
        DoubaoAPI("psm", PSM, base_url=server.url).chat(history)
    assert server.requests[0].body["messages"][2] == {"role": "user", "content": '{"result":5}'}


def test_the_arguments_are_those_of_the_originals() -> None:
    assert list(inspect.signature(DoubaoAPI).parameters)[:2] == ["mode", "psm_cfg"]
    theirs = (
        "model_type query_per_second retry json_mode key org meta_template openai_api_base api_base"
        " proxies gen_params"
    )
    assert list(inspect.signature(GPTAPI).parameters) == theirs.split(" ")


def gpt(server: StandIn, **settings: Any) -> GPTAPI:
    return GPTAPI(
        "gpt-4o", **{"openai_api_base": f"{server.url}/chat/completions", "key": KEY, **settings}
    )


def test_lagents_settings_are_sent_under_the_names_of_the_api() -> None:
    with StandIn(" yes\n") as server:
        llm = gpt(
            server,
            json_mode=True,
            temperature=0.3,
            max_new_tokens=9000,
            top_k=40,
            stop_words=["END"],
        )
        assert llm.chat(ASK, top_p=0.5, skip_special_tokens=True) == "yes"
    assert server.requests[0].body == {
        "model": "gpt-4o",
        "messages": ASK,
        "temperature": 0.3,
        "max_completion_tokens": 9000,
        "top_p": 0.5,
        "stop": ["END"],
        "response_format": {"type": "json_object"},
        "stream": True,
        "stream_options": {"include_usage": True},
    }


def test_only_given_settings_are_sent() -> None:
    with StandIn() as server:
        gpt(server).chat(ASK)
    assert set(server.requests[0].body) == {"model", "messages", "stream", "stream_options"}


def test_several_conversations_are_answered_in_their_order() -> None:
    with StandIn(lambda body: body["messages"][-1]["content"]) as server:
        llm = gpt(server)
        assert llm.chat([[{"role": "user", "content": str(number)}] for number in range(30)]) == [
            *map(str, range(30))
        ]
        assert llm.generate(["a", "b"]) == ["a", "b"]


def test_an_error_in_one_of_several_conversations_is_raised_as_for_one() -> None:
    with StandIn(rule=lambda body: refused(400)) as server, pytest.raises(EndpointRefused):
        gpt(server).generate(["a", "b"])


def test_roles_are_mapped_by_the_template() -> None:
    with StandIn() as server:
        gpt(server).chat([{"role": "environment", "content": "x"}])
        template = [{"role": "user", "api_role": "user", "begin": "<", "end": ">"}]
        gpt(server, meta_template=template).chat(ASK)
    assert [request.body["messages"] for request in server.requests] == [
        [{"role": "system", "content": "x"}],
        [{"role": "user", "content": "<Hello?>"}],
    ]


def test_keys_take_turns_and_one_without_quota_is_dropped() -> None:
    quota = refused(
        429,
        body={
            "error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}
        },
    )
    with StandIn() as server:
        llm = gpt(server, key=["sk-first-key", "sk-second-key"], org=["one", "two"])
        llm.chat(ASK)
        server.then(quota)
        for _ in range(3):
            llm.chat(ASK)
    used = [
        (request.headers["authorization"][10:], request.headers["openai-organization"])
        for request in server.requests
    ]
    first, second = ("first-key", "one"), ("second-key", "two")
    assert used == [second, first, second, second, second]


def test_the_last_key_without_quota_is_an_error() -> None:
    quota = refused(429, body={"error": {"code": "insufficient_quota"}})
    with StandIn(rule=lambda body: quota) as server, pytest.raises(EndpointRefused):
        gpt(server, key=["sk-first-key", "sk-second-key"]).chat(ASK)
    assert len(server.requests) == 2


def test_lost_connection_is_retried_a_limited_number_of_times(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async def now(seconds: float) -> None:
        await anyio.lowlevel.checkpoint()

    monkeypatch.setattr("toolwire_agent.models.lagent.Retries", partial(Retries, sleep=now))
    with StandIn(rule=lambda body: stand_in.reset) as server, pytest.raises(Unreachable):
        gpt(server, retry=2).chat(ASK)
    assert len(server.requests) == 2


def test_a_stream_grows_and_ends() -> None:
    with StandIn("one two three") as server:
        pieces = list(gpt(server).stream_chat(ASK))
    assert pieces[0] == (ModelStatusCode.STREAM_ING, "one", None)
    assert pieces[-1] == (ModelStatusCode.END, "one two three", None)
    assert [text for _, text, _ in pieces] == sorted((text for _, text, _ in pieces), key=len)


def test_a_stream_that_fails_raises() -> None:
    with StandIn(rule=lambda body: refused(401)) as server, pytest.raises(EndpointRefused):
        list(gpt(server).stream_chat(ASK))


def test_queries_per_second_are_limited(monkeypatch: pytest.MonkeyPatch) -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    monkeypatch.setattr("time.monotonic", lambda: 100.0)
    monkeypatch.setattr("toolwire_agent.models.lagent.anyio.sleep", sleep)
    with StandIn() as server:
        llm = gpt(server, query_per_second=4)
        for _ in range(3):
            llm.chat(ASK)
    assert waits == [0.0, 0.25, 0.5]


def test_blocking_within_an_event_loop_is_refused_with_advice() -> None:
    async def main() -> None:
        GPTAPI(key=KEY).chat(ASK)

    with pytest.raises(RuntimeError, match=r"await model\.reply"):
        anyio.run(main)
