"""`ask` and `chat` with `--language zh`: all that they show of a run is Chinese."""

from __future__ import annotations

import re
import shlex
import signal
from pathlib import Path

import pytest
from support.chinese import english_in
from support.command_line import CommandLine
from support.terminal import Terminal, command

TOOLS = '''
import time

from toolwire import Context, tool_api

@tool_api
def pay(euros: int) -> str:
    """付款。"""
    return "已付款"

@tool_api(read_only=True)
def wait(context: Context) -> None:
    """等待。"""
    context.progress(1, 4)
    while True:
        context.check()
        time.sleep(0.02)
'''

MODELS = """
import anyio
from toolwire_agent.models import ScriptedModel

def acts(tool, **params):
    return {"thought": "试试看。", "type": "ACTION", "tool": tool, "params": params}

DONE = {"thought": "好了。", "type": "FINAL_ANSWER", "ok": True, "result": "完成"}
QUESTION = {"thought": "不清楚。", "type": "ASK", "content": "什么颜色？"}

def pays(): return ScriptedModel([acts("pay", euros=50), DONE, acts("pay", euros=60), DONE])
def asks(): return ScriptedModel([QUESTION, DONE])
def answers(): return ScriptedModel([DONE])
def repeats(): return ScriptedModel(lambda asked: acts("pay", euros=len(asked.messages)))
def rambles(): return ScriptedModel(["不是消息"] * 9)

class WaitsAndThinks:
    async def reply(self, messages, **more):
        if len(messages) > 2:
            await anyio.sleep_forever()
        return await ScriptedModel([acts("wait")]).reply(messages)
"""

APPROVAL = "a 始终允许（此工具）> "
STYLES = re.compile(r"\x1b\[[\d;?]*[A-Za-z]")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "tools.py").write_text(TOOLS)
    (tmp_path / "models.py").write_text(MODELS)
    return tmp_path


def chinese(name: str, model: str, *words: str) -> tuple[str, ...]:
    options = ("--language", "zh", "--tools", "tools.py", "--model", f"models.py:{model}")
    if name == "ask" and "--resume" not in words and "--fork" not in words:
        return (name, "请付款", *options, *words)
    return (name, *options, *words)


def english_shown(text: str) -> list[str]:
    """Return the English among the lines that a command has shown."""
    return english_in(STYLES.sub("", text))


# --- piped ---


@pytest.mark.process
@pytest.mark.parametrize(
    ("model", "words", "shown"),
    [
        ("pays", [], "是否允许 pay(euros=50)？ 它没有说明只读取数据"),
        ("pays", [], "有调用等待批准"),
        ("pays", [], "用 --allow pay 或 --approve all 可预先允许；用 --transcript FILE"),
        ("pays", ["--transcript", "run.jsonl"], "用 --resume run.jsonl 可继续运行"),
        ("pays", ["--approve", "reads"], "未允许"),
        ("pays", ["--approve", "all"], "已回答（2 轮"),
        ("pays", ["--allow", "buy*"], "--allow buy* 没有匹配任何工具；现有的工具：pay, wait"),
        ("asks", [], "有问题等待用户回答"),
        ("asks", [], "可回答问题；用 --transcript FILE"),
        ("asks", ["--answer", "蓝色"], "回答：蓝色"),
        ("repeats", ["--approve", "all", "--max-turns", "1"], "轮数用尽"),
        ("repeats", ["--approve", "all", "--max-turns", "1"], "下一条回复是最后一条"),
        ("repeats", ["--approve", "all", "--max-tokens", "1"], "预算用尽"),
        ("rambles", [], "模型出错"),
    ],
)
def test_status_lines_of_ask_are_chinese(
    command_line: CommandLine, folder: Path, model: str, words: list[str], shown: str
) -> None:
    done = command_line(*chinese("ask", model, *words), cwd=folder)
    assert shown in done.stderr
    assert english_shown(done.stderr) == []


@pytest.mark.process
def test_a_json_run_says_in_chinese_that_it_asks_no_user(
    command_line: CommandLine, folder: Path
) -> None:
    done = command_line(*chinese("ask", "pays", "--json"), cwd=folder)
    assert "--json 不会询问用户" in done.stderr
    assert english_shown(done.stderr) == []


@pytest.mark.process
def test_a_fork_says_in_chinese_where_it_is_written(
    command_line: CommandLine, folder: Path
) -> None:
    command_line(*chinese("ask", "pays", "--transcript", "run.jsonl"), cwd=folder)
    done = command_line(*chinese("ask", "pays", "--fork", "run.jsonl"), cwd=folder)
    assert "run.jsonl 的这个分支写入 run-" in done.stderr
    assert english_shown(done.stderr) == []


@pytest.mark.process
def test_the_commands_of_chat_answer_in_chinese(command_line: CommandLine, folder: Path) -> None:
    typed = "/help\n/continue\n/hepl\n请付款\n/continue\n"
    done = command_line(*chinese("chat", "pays"), cwd=folder, stdin=typed)
    for line in (
        "/quit      结束对话，与 Ctrl-D 相同",
        "上一个问题已经结束",
        "没有名为 '/hepl' 的命令，是否想用 '/help'？可用的有：/help, /tools",
        "有调用等待批准",
    ):
        assert line in done.stderr
    assert english_shown(done.stderr) == []


@pytest.mark.process
def test_chat_without_tools_says_so_in_chinese(command_line: CommandLine, folder: Path) -> None:
    words = ("chat", "--language", "zh", "--model", "models.py:answers")
    done = command_line(*words, cwd=folder, stdin="/tools\n")
    assert done.stderr == "  没有工具\n"


# --- on a terminal ---


@pytest.mark.process
def test_a_user_approves_and_refuses_calls_in_chinese(folder: Path) -> None:
    with Terminal(*chinese("chat", "pays"), cwd=folder) as terminal:
        terminal.types("请付款\r", at="输入 /help 可列出命令")
        terminal.types("?\r", at=APPROVAL)
        terminal.types("e\r", at=APPROVAL)
        terminal.types("\x7f\x7f\x7f\x7f\x7f\x7f\x7f\x7f]\r", at='"euros":50}')
        terminal.until("不是 JSON")
        terminal.types("\x15{}\r", at='参数 > {"eu]')
        terminal.types("n\r", at="修改后的参数不符合要求")
        terminal.types("现在不行\r", at="理由（可选）> ")
        terminal.types("再付一次\r", at="已回答")
        terminal.types("\x04", at=APPROVAL)
        terminal.types("\x03", at="有调用等待批准")
        terminal.types("/quit\r", at="按 Ctrl-D 或输入 /quit 可结束对话")
        assert terminal.ends() == 0
    assert english_shown(terminal.shown) == []


@pytest.mark.process
def test_ctrl_c_cancels_a_call_and_then_the_run_in_chinese(folder: Path) -> None:
    with Terminal(*chinese("ask", "WaitsAndThinks"), cwd=folder) as terminal:
        terminal.types("\x03", at="25%")
        terminal.types("\x03", at="调用已取消；再按一次 Ctrl-C 结束运行")
        assert terminal.ends() == -signal.SIGINT
    assert "已取消：Ctrl-C" in terminal.shown
    assert english_shown(terminal.shown) == []


@pytest.mark.process
def test_the_start_of_servers_is_shown_in_chinese(folder: Path) -> None:
    server = shlex.join(command("serve", "tools.py"))
    with Terminal(*chinese("ask", "answers", "--server", server), cwd=folder) as terminal:
        terminal.until("正在启动服务器")
        terminal.until("思考中")
        assert terminal.ends() == 0
    assert english_shown(terminal.shown) == []
