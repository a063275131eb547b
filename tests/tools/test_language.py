"""One language for all that models are told: of the process, or of an action."""

from __future__ import annotations

import ast
import os
import re
import string
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from typing import Any, get_args

import pytest
from support.chinese import CHINESE, TWO_WORDS, english_in
from support.tools_page import MADE_WITH
from toolwire_agent.agent.events import Status
from toolwire_bundled import BUNDLED, chinese, find_class
from toolwire_compat.lagent import (
    ActionExecutor,
    BaseAction,
    InvalidAction,
    JsonParser,
    TupleParser,
    get_tool,
)
from toolwire_schemas.did_you_mean import explain_unknown_name
from toolwire_schemas.json_schema import error_text as faults
from toolwire_schemas.language import get_language, say, set_language
from toolwire_schemas.language import load_chinese as sentences
from toolwire_tools import find_tools
from toolwire_tools.schema import constraints

ROOT = Path(__file__).parents[2]
SENTENCES = sentences()
ZH_TOML = "clients/toolwire_agent/react/prompts/zh.toml"
IN_JSON = "如果调用该工具，你必须使用Json格式 {key: value} 传参，其中key为参数名称"


@pytest.fixture(autouse=True)
def english(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin each test in English, and undo what it sets."""
    monkeypatch.setenv("TOOLWIRE_LANG", "en")


def made(name: str, **settings: Any) -> Any:
    return find_class(name)(**MADE_WITH.get(name, {}), **settings)


def texts(described: Any) -> list[str]:
    """All descriptions within *described*."""
    if isinstance(described, list):
        return [text for inner in described for text in texts(inner)]
    if not isinstance(described, dict):
        return []
    own = [described["description"]] if isinstance(described.get("description"), str) else []
    return own + [text for inner in described.values() for text in texts(inner)]


# --- the tables ---

EXEMPT = {".", "{name}"}
STATUSES = set(get_args(Status))
OF_PYTHONS_DECODER = {
    text
    for text in SENTENCES
    if text.startswith(("Expecting", "Illegal", "Extra", "Untermin", "Invalid"))
}


def constants(node: ast.AST) -> set[str]:
    return {
        each.value
        for each in ast.walk(node)
        if isinstance(each, ast.Constant) and isinstance(each.value, str)
    }


def said_in(tree: ast.Module) -> set[str]:
    """Return the templates that are said within *tree*, also by way of a name that is assigned in
    the same function or in the module.
    """
    found = set()
    in_module = assigned_in(tree.body)
    for scope in ast.walk(tree):
        if not isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | ast.Dict):
            continue
        assigned = in_module | assigned_in(ast.walk(scope))
        for node in ast.walk(scope):
            if not isinstance(node, ast.Call) or ast.unparse(node.func) != "say":
                continue
            template = node.args[0]
            if isinstance(template, ast.Name):
                found |= assigned.get(template.id, set())
            else:
                found |= constants(template)
    return found


def assigned_in(nodes: Iterable[ast.AST]) -> dict[str, set[str]]:
    """Return the texts that the assignments among *nodes* give to each name."""
    assigned = {}
    for node in nodes:
        if not isinstance(node, ast.Assign):
            continue
        for target in node.targets:
            if isinstance(target, ast.Name):
                assigned[target.id] = constants(node.value)
    return assigned


IMPORTS_SAY = re.compile(r"^ *from \S*language import (?:\w+, )*say\b", re.MULTILINE)
MAY_SPEAK = re.compile(r"\b(?:say|say_unknown_name|explain_unknown_name)\b")


def sources() -> list[tuple[str, ast.Module]]:
    """Return the text and the tree of each file that may say something."""
    texts = [
        file.read_text("utf-8")
        for folder in ("schemas", "tools", "server", "clients")
        for file in (ROOT / folder).rglob("*.py")
        if file.name != "chinese.py"
    ]
    return [(text, ast.parse(text)) for text in texts if MAY_SPEAK.search(text)]


def nouns_in(tree: ast.AST) -> set[str]:
    """Return the nouns that `say_unknown_name` is called with: those of names that do not exist."""
    return {
        node.args[0].value
        for node in ast.walk(tree)
        if isinstance(node, ast.Call)
        and ast.unparse(node.func).rpartition(".")[2] == "say_unknown_name"
        and isinstance(node.args[0], ast.Constant)
    }


def test_each_sentence_that_is_said_has_a_translation_and_each_translation_is_said() -> None:
    said = STATUSES | {"{problem}: line {line} column {column} (char {place})"}  # of the language
    written = set()
    for source, tree in sources():
        written |= constants(tree)
        if IMPORTS_SAY.search(source):
            said |= said_in(tree)
        if "say_unknown_name(" in source:
            said |= nouns_in(tree)
    said |= {
        *faults._TEMPLATES.values(),
        *faults._FORMATS.values(),
        *faults._WITH_ARTICLE.values(),
        *(text for _, text in constraints.COMPARISONS.values()),
    }

    assert said - EXEMPT - SENTENCES.keys() == set()
    assert SENTENCES.keys() - written - OF_PYTHONS_DECODER == set()


def test_translations_have_the_values_of_their_sentences_in_them() -> None:
    def values(template: str) -> list[Any]:
        return sorted(
            {(name, form, how) for _, name, form, how in string.Formatter().parse(template) if name}
        )

    other = {
        sentence: translation
        for sentence, translation in SENTENCES.items()
        if values(translation) != values(sentence)
    }
    assert other == {}


@pytest.mark.parametrize("name", BUNDLED)
def test_every_description_of_a_bundled_action_is_chinese(name: str) -> None:
    english, translated = made(name).description, made(name, lang="zh").description

    assert [text for text in texts(translated) if not CHINESE.search(text)] == []
    assert len(texts(translated)) == len(texts(english))
    apis, theirs = (described.get("api_list", [described]) for described in (translated, english))
    for api, other in zip(apis, theirs, strict=True):
        for member in ("parameters", "return_data"):
            assert [entry["name"] for entry in api.get(member, [])] == [
                entry["name"] for entry in other.get(member, [])
            ]
    served = [tool.describe() for tool in find_tools(made(name, lang="zh"))]
    assert [text for text in texts(served) if not CHINESE.search(text)] == []


def test_no_translation_is_of_what_is_no_more() -> None:
    classes = {
        cls.__name__: cls
        for kind in (InvalidAction, *map(find_class, BUNDLED))
        for cls in kind.__mro__
    }
    for key, api in chinese.APIS.items():
        owner, _, method = key.partition(".")
        cls = classes[owner]
        assert method in vars(cls), key
        described = cls.__tool_description__
        name = next(name for name, own in cls.__toolwire_methods__.items() if own == method)
        english = next(
            each for each in described.get("api_list", [described]) if name in (each["name"], "run")
        )
        assert set(api.parameters) == {each["name"] for each in english["parameters"]}, key
        assert set(api.result) == {each["name"] for each in english.get("return_data", [])}, key
    served = [tool.describe() for name in BUNDLED for tool in find_tools(made(name))]
    assert (
        set(chinese.RESULTS)
        == {text for each in served for text in texts(each.get("outputSchema"))} - members()
    )


def members() -> set[str]:
    """What members of results are described by, besides."""
    return {
        entry["description"]
        for name in BUNDLED
        for api in apis(name)
        for entry in api.get("return_data", [])
    }


def apis(name: str) -> list[dict[str, Any]]:
    described = made(name).description
    found: list[dict[str, Any]] = described.get("api_list", [described])
    return found


# --- of an action ---


@pytest.mark.parametrize("name", BUNDLED)
def test_faults_of_arguments_are_in_the_language_of_the_action(name: str) -> None:
    action = made(name, lang="zh", parser=JsonParser)
    api = next(iter(action.__toolwire_apis__))

    unknown = action('{"no such parameter": 1}', api)
    broken = action("{", api)

    assert "未知" in unknown.errmsg
    assert broken.errmsg.startswith("JSON 格式无效：")
    assert made(name, parser=JsonParser)("{", api).errmsg.startswith("invalid json format: ")


def test_each_kind_of_fault_is_reported_in_chinese() -> None:
    class Order(BaseAction):
        def run(self, item: str, count: int, notes: list[str] | None = None) -> str:
            """Order."""
            return item

    order, by_tuple = Order(lang="zh"), Order(lang="zh", parser=TupleParser)

    assert (
        order('{"count": "three", "itm": "tea"}').errmsg == 'arguments.count: "three" 不是整数\n'
        "arguments.item: 缺少该参数\n"
        "arguments.itm: 未知参数；是否想用 item？可用的参数：item, count, notes"
    )
    assert (
        order('{"item": "tea", "count": 1, "notes": 5}').errmsg
        == "arguments.notes: 5 不是数组，也不是 null"
    )
    assert (
        order("[1]").errmsg
        == 'JSON 格式无效：这是数组；请传入一个 JSON 对象，形如 {"item": ..., "count": ...,'
        ' "notes": ...}'
    )
    assert (
        by_tuple("('tea',)").errmsg
        == "API 需要 2 个必需的位置参数，但给出了 1 个；请传入一个元组，形如 (item, count, notes)"
    )
    assert (
        order("{}", "rnu").errmsg
        == "无效的 API：rnu；Order 没有名为 'rnu' 的 API，是否想用 'run'？可用的有：run"
    )


def test_an_unknown_name_is_reported_in_the_language_of_the_invalid_action() -> None:
    executor = ActionExecutor([made("Calculator")], invalid_action=InvalidAction(lang="zh"))

    assert (
        executor("calculator", "{}").errmsg
        == "动作无效，请检查动作名称。 没有名为 'calculator' 的动作，是否想用"
        " 'Calculator'？可用的有：Calculator"
    )


def test_a_description_of_ones_own_is_not_translated() -> None:
    class Sums(find_class("Calculator")):  # type: ignore[misc]
        def run(self, expression: str) -> str:
            """Add up.

            Args:
                expression: what to add
            """
            return expression

    described = Sums(lang="zh").description

    assert (described["description"], described["parameters"][0]["description"]) == (
        "Add up.",
        "what to add",
    )


def test_a_parser_that_says_how_to_pass_arguments_in_one_language_says_it_in_each() -> None:
    class Plain(JsonParser):
        PARAMETER_DESCRIPTION = "As JSON, please."

    assert (
        made("Calculator", parser=Plain, lang="zh").description["parameter_description"]
        == "As JSON, please."
    )


# --- of the process ---


def test_the_language_of_the_process_is_that_of_what_is_made_from_now_on() -> None:
    set_language("zh")

    assert get_tool("Calculator").description["parameter_description"] == IN_JSON
    assert get_tool("Calculator").description["description"].startswith("计算表达式的值。")
    assert get_tool("Calculator", lang="en").description["description"].startswith("Calculate")
    assert (get_language(), os.environ["TOOLWIRE_LANG"]) == ("zh", "zh")


@pytest.mark.parametrize(
    ("said", "spoken"),
    [("zh_CN.UTF-8", "zh"), ("ZH", "zh"), ("en-GB", "en"), ("fr", "en"), ("", "en")],
)
def test_the_environment_says_it_as_locales_do(
    monkeypatch: pytest.MonkeyPatch, said: str, spoken: str
) -> None:
    monkeypatch.setenv("TOOLWIRE_LANG", said)
    assert get_language() == spoken


def test_a_language_that_is_not_spoken_is_refused() -> None:
    with pytest.raises(ValueError, match="no language 'fr'"):
        set_language("fr")


def test_values_may_have_braces_in_them() -> None:
    set_language("zh")
    assert say("{value} is not {wanted}", value='{"a": {x}}', wanted="{y}") == '{"a": {x}} 不是{y}'


def test_agents_speak_the_language_of_the_process() -> None:
    from toolwire_agent.react.structured import StructuredProtocol

    set_language("zh")
    assert StructuredProtocol().language.name == "zh"
    assert StructuredProtocol("en").language.name == "en"


PRINTED = """
import sys
sys.modules["lagent"] = __import__("toolwire_compat.lagent").lagent  # the imports are all that is changed
from lagent import BaseAction, get_tool, list_tools, tool_api
from lagent import ActionExecutor, ArxivSearch, IPythonInterpreter

class Bold(BaseAction):

    def run(self, text: str):
        \"\"\"make text bold

        Args:
            text (str): input text

        Returns:
            str: bold text
        \"\"\"
        return '**' + text + '**'

class PhraseEmphasis(BaseAction):
    \"\"\"a toolkit which provides different styles of text emphasis\"\"\"

    @tool_api
    def bold(self, text):
        \"\"\"make text bold

        Args:
            text (str): input text

        Returns:
            str: bold text
        \"\"\"
        return '**' + text + '**'

    @tool_api
    def italic(self, text):
        \"\"\"make text italic

        Args:
            text (str): input text

        Returns:
            str: italic text
        \"\"\"
        return '*' + text + '*'

action = BaseAction(
    {
        'name': 'bold',
        'description': 'a function used to make text bold',
        'parameters': [
            {
                'name': 'text', 'type': 'STRING', 'description': 'input content'
            }
        ],
        'required': ['text']
    }
)
print(action.description)
action = get_tool('PhraseEmphasis')
print(action.description)
executor = ActionExecutor(actions=[ArxivSearch(), IPythonInterpreter()])
for info in executor.get_actions_info():
    print(info['name'], [(each['name'], each['type']) for each in info['parameters']], info['required'])
    print(info['parameter_description'])
"""  # noqa: E501


@pytest.mark.process
def test_the_examples_of_the_document_print_what_it_shows_with_only_their_imports_changed() -> None:
    """The document has ArxivSearch and IPythonInterpreter described in English; here they are in
    Chinese.
    """
    done = subprocess.run(
        [sys.executable, "-c", PRINTED],
        env={**os.environ, "TOOLWIRE_LANG": "zh", "PYTHONIOENCODING": "utf-8"},
        capture_output=True,
        encoding="utf-8",
        timeout=120,
    )
    text = "[{'name': 'text', 'type': 'STRING', 'description': 'input text'}]"
    how = f"'parameter_description': '{IN_JSON}'"

    assert done.stdout.splitlines() == [
        (
            "{'name': 'bold', 'description': 'a function used to make text bold', 'parameters':"
            " [{'name': 'text', 'type': 'STRING', 'description': 'input content'}], 'required':"
            f" ['text'], {how}}}"
        ),
        (
            "{'name': 'PhraseEmphasis', 'description': 'a toolkit which provides different styles"
            " of text emphasis', 'api_list': [{'name': 'bold', 'description': 'make text bold',"
            f" 'parameters': {text}, 'required': ['text'], {how}}}, {{'name': 'italic',"
            f" 'description': 'make text italic', 'parameters': {text}, 'required': ['text'],"
            f" {how}}}]}}"
        ),
        "ArxivSearch.get_arxiv_article_information [('query', 'STRING')] ['query']",
        IN_JSON,
        # The document has NUMBER: Lagent's types call a float so, which this one may be.
        "IPythonInterpreter [('command', 'STRING'), ('timeout', 'NUMBER')] ['command']",
        IN_JSON,
    ], done.stderr


SERVED = """
import sys
from toolwire import tool_api
from toolwire_schemas.language import load_chinese
@tool_api
def add(a: int) -> list[str]:
    read = ["chinese.json"] * load_chinese.cache_info().currsize
    return read + [name for name in sys.modules if name.endswith("chinese")]
"""


@pytest.mark.process
def test_a_server_of_functions_reads_no_chinese_before_it_speaks_it(tmp_path: Path) -> None:
    from support.server_process import call, served

    with served(tmp_path, SERVED, env={**os.environ, "TOOLWIRE_LANG": "zh"}) as server:
        before = server.ask(call("add", {"a": 1}))["result"]
        fault = server.ask(call("add", {"a": "one"}))["result"]

    assert before["structuredContent"] == {"result": []}
    assert fault["content"][0]["text"] == 'arguments.a: "one" 不是整数'


# --- no English in Chinese ---


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("没有这个文件", []),
        ("没有 such file 这个文件", ["such file"]),
        ("模块 'no such' 不存在", []),
        ("来自 OpenStreetMap 的 JSON Schema", []),
        ("请用 --set Files.roots=FOLDER", []),
    ],
)
def test_english_is_recognized(text: str, found: list[str]) -> None:
    assert english_in(text) == found


def test_no_translation_has_english_in_it() -> None:
    zh = tomllib.loads((ROOT / ZH_TOML).read_text("utf-8"))["sentences"]
    found = {text: english_in(text) for text in (*SENTENCES.values(), *zh.values())}
    assert {text: words for text, words in found.items() if words} == {}


# Classes of errors that reach the model. A ValueError of the calculator does, too; elsewhere it is
# for the author of a program, as are those of settings.
FOR_MODELS = {"ToolError", "Unusable", "WebError", "NotOpened", "Fault", "Unreachable", "TooLarge"}
FOR_MODELS |= {"Skipped", "ZeroDivisionError"}


def raw_errors_in(path: Path) -> list[str]:
    """Return the errors for models in *path* whose English text is not passed to `say`."""
    found = []
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not (isinstance(node, ast.Raise) and isinstance(node.exc, ast.Call) and node.exc.args):
            continue
        name = ast.unparse(node.exc.func).rpartition(".")[2]
        is_for_model = name in FOR_MODELS or (name == "ValueError" and "calculator" in path.parts)
        text = node.exc.args[0]
        parts = text.values if isinstance(text, ast.JoinedStr) else [text]
        words = [str(part.value) for part in parts if isinstance(part, ast.Constant)]
        if is_for_model and TWO_WORDS.search(" ".join(words)):
            found.append(f"{path.name}:{node.lineno}: {' '.join(words)}")
    return found


def test_every_failure_of_a_bundled_tool_has_a_translation() -> None:
    folder = ROOT / "tools" / "toolwire_bundled"
    found = [error for path in folder.rglob("*.py") for error in raw_errors_in(path)]
    assert found == []


FAILURES: list[tuple[str, str, dict[str, Any]]] = [
    *(
        ("Calculator", "run", {"expression": expression})
        for expression in (
            *(
                "",
                "1 +",
                "1/0",
                "x + 1",
                "sqrt(-1)",
                "log(0)",
                "1 2",
                "(1",
                "1)",
                "1,2",
                "2 ** ",
            ),
            *("0^-1", "(-8)^(1/3)", "sin()", "mean()", "gcd(1.5, 2)", "01", "1__2", "5$", "√4"),
            *("[1]", "1 < 2 < 3", "pi(2)", "sine(1)", "7%-3", "mod(1, 0)", "tand(90)", "1e999999"),
            *(
                "stdev(1)",
                "9" * 20_000,
                "(" * 500,
                "factorial(-1)",
                "modinverse(2, 4)",
                "log(2, 1)",
            ),
        )
    ),
    ("Clock", "now", {"zone": "Mars/Base"}),
    ("Clock", "now", {"zone": "+99:00"}),
    ("Clock", "convert", {"time": "yesterday", "to": "UTC"}),
    ("Clock", "convert", {"time": "2026-02-30T10:00", "to": "UTC"}),
    *(
        ("Files", api, arguments)
        for api, arguments in (
            ("read", {"path": "missing.txt"}),
            ("read", {"path": "../outside"}),
            ("read", {"path": "."}),
            ("read", {"path": "text.txt", "first_line": 99}),
            ("list", {"path": "text.txt/x"}),
            ("search", {"text": "(", "is_regex": True}),
            ("write", {"path": "text.txt", "content": "x"}),
            ("write", {"path": ".", "content": "x"}),
            ("edit", {"path": "text.txt", "old": "absent", "new": "x"}),
            ("edit", {"path": "text.txt", "old": "", "new": "x"}),
        )
    ),
]


@pytest.mark.parametrize(("name", "api", "arguments"), FAILURES)
def test_a_failure_of_a_bundled_tool_is_chinese(
    name: str, api: str, arguments: dict[str, Any], tmp_path: Path
) -> None:
    (tmp_path / "text.txt").write_text("one\ntwo\n", encoding="utf-8")
    settings = {"roots": [str(tmp_path)], "writable": True} if name == "Files" else {}
    action = find_class(name)(**settings, lang="zh")

    returned = action(arguments, api)

    assert returned.errmsg is not None, returned
    assert CHINESE.search(returned.errmsg)
    assert english_in(returned.errmsg.replace(str(tmp_path), "")) == []


def test_an_api_that_needs_a_setting_says_so_in_chinese(tmp_path: Path) -> None:
    files = find_class("Files")(roots=[str(tmp_path)], lang="zh")
    assert english_in(files({"path": "x", "content": "y"}, "write").errmsg) == []


def test_errors_for_people_are_english_in_any_language() -> None:
    set_language("zh")
    assert explain_unknown_name("file", "tols.py", ["tools.py"]) == (
        "no file 'tols.py', did you mean 'tools.py'? Known: tools.py"
    )
