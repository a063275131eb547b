"""The actions that every executor has: for names that are none, for replies that are no call, and for the end."""

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
    """Tells the model that there is no such action: by *err_msg*, unless a call brings a better text."""

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
            self._err_msg = say("The action is invalid, please check the action name.") if err_msg is None else err_msg

    @tool_api
    def run(self, err_msg: Any = None) -> ActionReturn:
        """Return the error message.

        Args:
            err_msg (str, optional): what to tell instead of the usual
        """
        return _complaint(self, err_msg)


class NoAction(BaseAction):
    """Tells the model that its reply is no call: by *err_msg*, unless a call brings a better text."""

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
            self._err_msg = say("Please follow the format") if err_msg is None else err_msg

    @tool_api
    def run(self, err_msg: Any = None) -> ActionReturn:
        """Return the error message.

        Args:
            err_msg (str, optional): what to tell instead of the usual
        """
        return _complaint(self, err_msg)


class FinishAction(BaseAction):
    """Takes the final answer, and says by its `valid` that the conversation is over."""

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


def _complaint(action: InvalidAction | NoAction, given: Any) -> ActionReturn:
    """Return the complaint of *action*: what is *given*, as text, or else its own."""
    is_given = given not in (None, "", {}, [])
    return ActionReturn(
        {"text": given},
        type=action.name,
        errmsg=action._parser.parse_outputs(given)[0]["content"] if is_given else action._err_msg,
        state=ActionStatusCode.API_ERROR,
        valid=ActionValidCode.INVALID,
    )
