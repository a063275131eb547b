"""How a model passes arguments to an action, and how it is shown what came of it.

Strategy. A parser makes a dict of arguments from what the model wrote; whether they fit is the API's own judgement,
the same as when it is served. What is wrong is told by `ParseError`, in words from which the model can do better.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from .action_content import item_of
from .api import api_of
from .content import Content
from .errors import ArgumentsError
from .model_text import Unreadable, json_value, literal_value, refuse_unsayable
from .returns import plain_result
from .suggestions import unknown

if TYPE_CHECKING:
    from .actions import BaseAction


class ParseError(Exception):
    """Arguments that an action does not take; *err_msg* tells the model why."""

    def __init__(self, err_msg: str) -> None:
        super().__init__(err_msg)
        self.err_msg = err_msg


class BaseParser:
    """Takes the whole input as the first parameter, as it is; or a dict of arguments by their names.

    A subclass says how it wants arguments in `PARAMETER_DESCRIPTION`, and in Chinese in `PARAMETER_DESCRIPTION_ZH`.
    *lang* ("en" or "zh") chooses the one that is put into every API of the action's description.

    Raises:
        ValueError: for another *lang*.
    """

    PARAMETER_DESCRIPTION: str = ""
    PARAMETER_DESCRIPTION_ZH: str = ""

    def __init__(self, action: BaseAction, lang: str = "en") -> None:
        self.action = action
        texts = {"en": self.PARAMETER_DESCRIPTION, "zh": self.PARAMETER_DESCRIPTION_ZH}
        if lang not in texts:
            raise ValueError(f"lang: {unknown('language', lang, texts)}")
        self._api2param: dict[str, list[dict[str, Any]]] = {}
        self._api2required: dict[str, list[str]] = {}
        description = action.description
        for api in description.get("api_list", [description]):
            name = api["name"] if action.is_toolkit else "run"
            self._api2param[name], self._api2required[name] = api["parameters"], api["required"]
            if texts[lang]:
                api["parameter_description"] = texts[lang]

    def parse_inputs(self, inputs: Any, name: str = "run") -> dict[str, Any]:
        """The arguments for the API called *name*.

        Raises:
            ParseError: if there are none in *inputs*.
        """
        parameters = self._parameters(name)
        if isinstance(inputs, dict) and set(self._api2required[name]) <= inputs.keys() <= set(parameters):
            return inputs
        if inputs is None or (inputs == "" and not parameters):
            return self._checked({}, name)
        if not parameters:
            raise ParseError(f"{name} takes no arguments")
        return {parameters[0]: inputs}

    def parse_outputs(self, outputs: Any) -> list[dict[str, Any]]:
        """What an API returned, as the `result` of an `ActionReturn`.

        A dict becomes JSON, `Image` and other content an item for each; anything else is a text, as `str` has it.

        Raises:
            OutputError: for a dict with something in it that has no form in JSON.
        """
        several = outputs if isinstance(outputs, list | tuple) else [outputs]
        if any(isinstance(output, Content) for output in several):
            return [item_of(output) for output in several]
        if isinstance(outputs, dict):
            outputs = json.dumps(plain_result(outputs), ensure_ascii=False)
        return [{"type": "text", "content": outputs if isinstance(outputs, str) else str(outputs)}]

    def _parameters(self, name: str) -> list[str]:
        return [parameter["name"] for parameter in self._api2param[name]]

    def _by_name(self, arguments: dict[Any, Any], name: str) -> dict[str, Any]:
        if not all(isinstance(key, str) for key in arguments):
            raise ParseError("the name of an argument is no text")
        return self._checked(arguments, name)

    def _checked(self, arguments: dict[str, Any], name: str) -> dict[str, Any]:
        try:
            refuse_unsayable(arguments)
            api_of(self.action, name).check(arguments)
        except (ArgumentsError, Unreadable) as error:
            raise ParseError(str(error)) from None
        except RecursionError:
            raise ParseError("the arguments are nested too deeply") from None
        return arguments


class JsonParser(BaseParser):
    """Takes a JSON object, as text (in a Markdown fence or not) or as a dict."""

    PARAMETER_DESCRIPTION = (
        "If you call this tool, you must pass arguments in the JSON format {key: value}, "
        "where the key is the parameter name."
    )
    PARAMETER_DESCRIPTION_ZH = "如果调用该工具，你必须使用Json格式 {key: value} 传参，其中key为参数名称"

    def parse_inputs(self, inputs: Any, name: str = "run") -> dict[str, Any]:
        """As `BaseParser.parse_inputs`; without any text, there are no arguments."""
        if isinstance(inputs, str):
            inputs = self._read(inputs, name) if inputs.strip() else None
        arguments = {} if inputs is None else inputs
        if not isinstance(arguments, dict):
            raise ParseError(f"invalid json format: this is {_kind(arguments)}; {self._wanted(name)}")
        return self._by_name(arguments, name)

    def _read(self, text: str, name: str) -> Any:
        try:
            return json_value(text)
        except Unreadable as error:
            raise ParseError(f"invalid json format: {error}; {self._wanted(name)}") from None

    def _wanted(self, name: str) -> str:
        example = ", ".join(f'"{parameter}": ...' for parameter in self._parameters(name))
        return f"pass one JSON object like {{{example}}}"


class TupleParser(BaseParser):
    """Takes a Python tuple or list, as text (in a Markdown fence or not) or as an object, in order of the parameters.

    Text is read as a literal and never evaluated as code. From a program (an `Env`, a server) comes a dict as well.
    """

    PARAMETER_DESCRIPTION = (
        "If you call this tool, you must pass arguments in the tuple format like (arg1, arg2, arg3), "
        "and the arguments are ordered."
    )
    PARAMETER_DESCRIPTION_ZH = "如果调用该工具，你必须使用Tuple格式 (arg1, arg2, arg3) 传参，且参数是有序的"

    def parse_inputs(self, inputs: Any, name: str = "run") -> dict[str, Any]:
        """As `BaseParser.parse_inputs`."""
        if isinstance(inputs, dict):
            return self._by_name(inputs, name)
        if isinstance(inputs, str):
            try:
                inputs = literal_value(inputs)
            except Unreadable as error:
                raise ParseError(f"invalid tuple format: {error}; {self._wanted(name)}") from None
        if not isinstance(inputs, tuple | list):
            raise ParseError(f"invalid tuple format: this is {_kind(inputs)}; {self._wanted(name)}")
        return self._checked(self._named(inputs, name), name)

    def _named(self, values: tuple[Any, ...] | list[Any], name: str) -> dict[str, Any]:
        parameters = self._parameters(name)
        required = self._api2required[name]
        # Up to the last required one: a place cannot be left out.
        least = max((index + 1 for index, parameter in enumerate(parameters) if parameter in required), default=0)
        for which, bound, holds in (
            ("required positional", least, len(values) >= least),
            ("positional", len(parameters), len(values) <= len(parameters)),
        ):
            if not holds:
                said = f"API takes {bound} {which} arguments but {len(values)} were given"
                raise ParseError(f"{said}; {self._wanted(name)}")
        return dict(zip(parameters, values, strict=False))

    def _wanted(self, name: str) -> str:
        parameters = self._parameters(name)
        return f"pass one tuple like ({', '.join(parameters)}{',' if len(parameters) == 1 else ''})"


def _kind(value: Any) -> str:
    words = {dict: "an object", list: "an array", tuple: "a tuple", str: "a string", bool: "a boolean"}
    return words.get(type(value), "nothing" if value is None else f"of the type {type(value).__name__}")
