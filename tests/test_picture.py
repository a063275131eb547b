"""The README's picture of a run is drawn from a real one: `python tests/test_picture.py` draws it
anew.
"""

from __future__ import annotations

import io
import sys
from pathlib import Path

import pytest
from rich.console import Console
from rich.text import Text
from toolwire.cli.commands.demo import EXAMPLE
from toolwire_agent.agent import Agent, Approvals
from toolwire_agent.models import ArithmeticModel
from toolwire_agent.terminal.rich_renderer import RichRenderer
from toolwire_client import connect

PICTURE = Path(__file__).parents[1] / "docs" / "ask.svg"
QUESTION = "How much is 12 * (3 + 4)?"
COMMAND = f'$ toolwire ask "{QUESTION}" --tools example_tools.py --model arithmetic'

# As rich's own, without fonts that would have to be fetched from somewhere.
SVG = """\
<svg viewBox="0 0 {width} {height}" xmlns="http://www.w3.org/2000/svg">
<style>
.{unique_id}-matrix {{ font: {char_height}px/{line_height}px ui-monospace, Menlo, Consolas, monospace; }}
.{unique_id}-title {{ font: bold 18px sans-serif; }}
{styles}
</style>
<defs>
<clipPath id="{unique_id}-clip-terminal">
<rect x="0" y="0" width="{terminal_width}" height="{terminal_height}"/>
</clipPath>
{lines}
</defs>
{chrome}
<g transform="translate({terminal_x}, {terminal_y})" clip-path="url(#{unique_id}-clip-terminal)">
{backgrounds}
<g class="{unique_id}-matrix">
{matrix}
</g>
</g>
</svg>
"""  # noqa: E501


def drawn() -> str:
    console = Console(
        file=io.StringIO(),
        record=True,
        width=88,
        force_terminal=True,
        color_system="truecolor",
        no_color=False,
    )
    face = RichRenderer(console, moves=False)
    console.print(Text(COMMAND, style="bold"))
    with connect([sys.executable, "-m", "toolwire", "serve", EXAMPLE]) as client:
        for event in Agent(
            ArithmeticModel(), client, approval=Approvals(trust_hints=True)
        ).run_sync(QUESTION):
            face.show(event)
    return console.export_svg(title="toolwire ask", code_format=SVG, unique_id="ask")


@pytest.mark.process
def test_the_picture_shows_what_a_run_looks_like_now() -> None:
    assert drawn() == PICTURE.read_text("utf-8"), "run: python tests/test_picture.py"


if __name__ == "__main__":
    PICTURE.write_text(drawn(), "utf-8")
