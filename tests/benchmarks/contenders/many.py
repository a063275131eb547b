"""`add` and then as many like it as the environment variable TOOLS asks for."""

import os
from collections.abc import Callable

from add import add


def like_add(number: int) -> Callable[[int, int], int]:
    def another(a: int, b: int) -> int:
        """Add two whole numbers.

        Args:
            a: The first.
            b: The second.
        """
        return a + b

    another.__name__ = another.__qualname__ = f"add_{number}"
    return another


__tools__ = [add, *(like_add(number) for number in range(1, int(os.environ["TOOLS"])))]
