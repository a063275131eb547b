"""`api_description`: what `tool_api` says of a function in Lagent's words."""

from __future__ import annotations

from toolwire_tools import tool_api


def test_a_decorated_function_carries_its_description() -> None:
    @tool_api
    def bold(text: str) -> str:
        """make text bold

        Args:
            text (str): input text

        Returns:
            str: bold text
        """
        return "**" + text + "**"

    assert bold.api_description == {  # type: ignore[attr-defined]
        "name": "bold",
        "description": "make text bold",
        "parameters": [{"name": "text", "type": "STRING", "description": "input text"}],
        "required": ["text"],
    }
