"""The actions of every executor: for unknown names, for replies that are not a call, and for the final answer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from toolwire_schemas.language import say, speaking

from ..decorator import tool_api
from .action_return import ActionReturn, ActionStatusCode, ActionValidCode
from .base import BaseAction
from .parsers import BaseParser

if TYPE_CHECKING:
    from collections.abc import Callable


class InvalidAction(BaseAction):
    """Tells the model that there is no such action: by *err_msg*, unless a call has a better text."""

    _usual = "The action is invalid, please check the action name."

    def __init__(
        self,
        err_msg: str | None = None,
        description: dict[str, Any] | None = None,
        parser: Callable[..., BaseParser] = BaseParser,
        *,
        lang: str | None = None,
    ) -> None:
        super().__init__(description, parser, enable=False, lang=lang)
        with speaking(self.__toolwire_language__):
            self._err_msg = say(self._usual) if err_msg is None else err_msg

    @tool_api
    def run(self, err_msg: Any = None) -> ActionReturn:
        """Return the error message.

        Args:
            err_msg (str, optional): what to tell instead of the usual
        """
        is_given = err_msg not in (None, "", {}, [])
        return ActionReturn(
            {"text": err_msg},
            type=self.name,
            errmsg=self._parser.parse_outputs(err_msg)[0]["content"] if is_given else self._err_msg,
            state=ActionStatusCode.API_ERROR,
            valid=ActionValidCode.INVALID,
        )


class NoAction(InvalidAction):
    """Tells the model that its reply is not a call: by *err_msg*, unless a call has a better text."""

    _usual = "Please follow the format"


class FinishAction(BaseAction):
    """Takes the final answer; its `valid` ends the conversation."""

    def __init__(
        self,
        description: dict[str, Any] | None = None,
        parser: Callable[..., BaseParser] = BaseParser,
        *,
        lang: str | None = None,
    ) -> None:
        super().__init__(description, parser, lang=lang)

    @tool_api(read_only=True, open_world=False, idempotent=True)
    def run(self, response: Any) -> ActionReturn:
        """Return the final result.

        Args:
            response (str): the final result
        """
        return ActionReturn(
            {"text": response},
            type=self.name,
            result=self._parser.parse_outputs(response),
            valid=ActionValidCode.FINISH,
        )
