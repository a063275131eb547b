"""How a model passes arguments to an action, and how it sees results.

Strategy. A parser makes a dict of arguments from what the model wrote; the API checks them, as it
does when it is served. A `ParseError` says what is wrong, so that the model can correct it.
"""

from __future__ import annotations

import json
from typing import Any

from toolwire_schemas.language import check_language, get_language, say
from toolwire_tools.content import Content
from toolwire_tools.errors import ArgumentsError
from toolwire_tools.schema.to_json import make_plain_result
from toolwire_tools.tool import make_function_handler

from .action_return import to_item
from .api import find_api
from .model_literals import NotALiteral, read_json, read_literal, refuse_unsayable


class ParseError(Exception):
    """Arguments that an action does not take; *err_msg* tells the model why."""

    def __init__(self, err_msg: str) -> None:
        super().__init__(err_msg)
        self.err_msg = err_msg


class BaseParser:
    """Takes the whole input as the first parameter, as it is; or a dict of arguments by their
    names.

    `PARAMETER_DESCRIPTION` describes the format that a subclass wants. Every API of the action's
    description gets it; in Chinese, if there is a translation and *lang* is "zh" (by default, that
    of the process).

    Raises:
        ValueError: for another *lang*.
    """

    PARAMETER_DESCRIPTION: str = ""

    def __init__(self, action: Any, lang: str | None = None) -> None:
        self.action = action
        spoken = get_language() if lang is None else check_language(lang)
        text = self.PARAMETER_DESCRIPTION
        if spoken == "zh":
            text = _IN_CHINESE.get(text, text)
        if not text:
            return
        for api in action.description.get("api_list", [action.description]):
            api["parameter_description"] = text

    def parse_inputs(self, inputs: Any, name: str = "run") -> dict[str, Any]:
        """Return the arguments for the API called *name*.

        Raises:
            ParseError: if *inputs* has no arguments.
        """
        parameters = self._list_parameters(name)
        if isinstance(inputs, dict) and self._are_arguments(inputs, name):
            return inputs
        if inputs is None or (inputs == "" and not parameters):
            return self._check({}, name)
        if not parameters:
            raise ParseError(say("{name} takes no arguments", name=name))
        return {parameters[0]: inputs}

    def _are_arguments(self, inputs: dict[Any, Any], name: str) -> bool:
        """Whether *inputs* are arguments by their names, and not the value of the first one."""
        required = set(self._describe(name)["required"])
        return required <= inputs.keys() <= set(self._list_parameters(name))

    def parse_outputs(self, outputs: Any) -> list[dict[str, Any]]:
        """Return the value of an API as the `result` of an `ActionReturn`.

        A dict becomes JSON, `Image` and other content an item for each; anything else is a text, as
        `str` has it.

        Raises:
            OutputError: for a dict with something in it that has no form in JSON.
        """
        several = outputs if isinstance(outputs, list | tuple) else [outputs]
        if any(isinstance(output, Content) for output in several):
            return [to_item(output) for output in several]
        if isinstance(outputs, dict):
            outputs = json.dumps(make_plain_result(outputs), ensure_ascii=False)
        text = outputs if isinstance(outputs, str) else str(outputs)
        return [{"type": "text", "content": text}]

    def _list_parameters(self, name: str) -> list[str]:
        return [parameter["name"] for parameter in self._describe(name)["parameters"]]

    def _describe(self, name: str) -> dict[str, Any]:
        return find_api(self.action, name).description

    def _check_by_name(self, arguments: dict[Any, Any], name: str) -> dict[str, Any]:
        if not all(isinstance(key, str) for key in arguments):
            raise ParseError(say("the name of an argument is not text"))
        return self._check(arguments, name)

    def _check(self, arguments: dict[str, Any], name: str) -> dict[str, Any]:
        try:
            refuse_unsayable(arguments)
            make_function_handler(find_api(self.action, name).tool).check(arguments)
        except (ArgumentsError, NotALiteral) as error:
            raise ParseError(str(error)) from None
        except RecursionError:
            raise ParseError(say("the arguments are nested too deeply")) from None
        return arguments


class JsonParser(BaseParser):
    """Takes a JSON object, as text (in a Markdown fence or not) or as a dict."""

    PARAMETER_DESCRIPTION = (
        "If you call this tool, you must pass arguments in the JSON format {key: value}, "
        "where the key is the parameter name."
    )

    def parse_inputs(self, inputs: Any, name: str = "run") -> dict[str, Any]:
        """As `BaseParser.parse_inputs`; without any text, there are no arguments."""
        if isinstance(inputs, str):
            inputs = self._read(inputs, name) if inputs.strip() else None
        if inputs is None:
            inputs = {}
        if not isinstance(inputs, dict):
            raise self._make_error(_describe_kind(inputs), name)
        return self._check_by_name(inputs, name)

    def _read(self, text: str, name: str) -> Any:
        try:
            return read_json(text)
        except NotALiteral as error:
            raise self._make_error(str(error), name) from None

    def _make_error(self, problem: str, name: str) -> ParseError:
        members = ", ".join(f'"{parameter}": ...' for parameter in self._list_parameters(name))
        wanted = say("pass one JSON object like {example}", example=f"{{{members}}}")
        return ParseError(
            say("invalid json format: {problem}; {wanted}", problem=problem, wanted=wanted)
        )


class TupleParser(BaseParser):
    """Takes a Python tuple or list, as text (in a Markdown fence or not) or as an object, in order
    of the parameters.

    Text is read as a literal and never evaluated as code. From a program (an `Env`, a server) comes
    a dict as well.
    """

    PARAMETER_DESCRIPTION = (
        "If you call this tool, you must pass arguments in the tuple format like (arg1, arg2,"
        " arg3), and the arguments are ordered."
    )

    def parse_inputs(self, inputs: Any, name: str = "run") -> dict[str, Any]:
        """As `BaseParser.parse_inputs`."""
        if isinstance(inputs, dict):
            return self._check_by_name(inputs, name)
        if isinstance(inputs, str):
            try:
                inputs = read_literal(inputs)
            except NotALiteral as error:
                raise self._make_error(str(error), name) from None
        if not isinstance(inputs, tuple | list):
            raise self._make_error(_describe_kind(inputs), name)
        return self._check(self._name_values(inputs, name), name)

    def _name_values(self, values: tuple[Any, ...] | list[Any], name: str) -> dict[str, Any]:
        parameters = self._list_parameters(name)
        required = self._describe(name)["required"]
        least = 0
        for number, parameter in enumerate(parameters, 1):
            if parameter in required:  # a place before it cannot be left out
                least = number
        given = {"count": len(values), "wanted": self._describe_tuple(name)}
        if len(values) < least:
            few = "API takes {bound} required positional arguments but {count} were given; {wanted}"
            raise ParseError(say(few, bound=least, **given))
        if len(values) > len(parameters):
            many = "API takes {bound} positional arguments but {count} were given; {wanted}"
            raise ParseError(say(many, bound=len(parameters), **given))
        return dict(zip(parameters, values, strict=False))

    def _make_error(self, problem: str, name: str) -> ParseError:
        wanted = self._describe_tuple(name)
        return ParseError(
            say("invalid tuple format: {problem}; {wanted}", problem=problem, wanted=wanted)
        )

    def _describe_tuple(self, name: str) -> str:
        members = ", ".join(self._list_parameters(name))
        if len(self._list_parameters(name)) == 1:
            members += ","
        return say("pass one tuple like {example}", example=f"({members})")


_KINDS = {
    type(None): "nothing",
    dict: "an object",
    list: "an array",
    tuple: "a tuple",
    str: "a string",
    bool: "a boolean",
}


def _describe_kind(value: Any) -> str:
    kind = _KINDS.get(type(value), "of the type {name}")
    return say("this is {kind}", kind=say(kind, name=type(value).__name__))


_IN_CHINESE = {
    JsonParser.PARAMETER_DESCRIPTION: (
        "如果调用该工具，你必须使用Json格式 {key: value} 传参，其中key为参数名称"
    ),
    TupleParser.PARAMETER_DESCRIPTION: (
        "如果调用该工具，你必须使用Tuple格式 (arg1, arg2, arg3) 传参，且参数是有序的"
    ),
}
