"""The tools of the tasks, as plain functions: every framework gets the same ones. Imports the
standard library only.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

PRICES = {
    "apple": 0.45, "bread": 2.85, "butter": 3.15, "cheese": 7.4, "coffee": 8.95, "egg": 0.35, "honey": 6.2,  # noqa: E501
    "lamp": 39, "milk": 1.25, "notebook": 4, "pen": 2, "rice": 3.6, "soap": 1.75, "tea": 5.3, "umbrella": 18,  # noqa: E501
    "苹果": 3, "咖啡": 28, "牛奶": 6, "雨伞": 45, "茶": 32, "面包": 9,
}  # fmt: skip
PHONES = {
    "ada": "555-0142", "ben": "555-0187", "carla": "555-0119", "david": "555-0163", "emma": "555-0128",  # noqa: E501
    "frank": "555-0174", "grace": "555-0135", "henry": "555-0191", "王芳": "555-0156", "李明": "555-0104",  # noqa: E501
}  # fmt: skip
TEMPERATURES = {
    "berlin": 7, "cairo": 29, "lima": 19, "london": 11, "madrid": 23, "oslo": -4, "paris": 13, "rome": 21,  # noqa: E501
    "sydney": 26, "tokyo": 16, "北京": 9, "上海": 17, "广州": 24,
}  # fmt: skip
FILES = {
    "notes.txt": "The meeting is on Tuesday at 14:30 in room 305.",
    "todo.txt": "1. Call the bank.\n2. Water the plants.\n3. Buy a train ticket to Vienna.",
    "wifi.txt": "Network: Guest\nPassword: bluebird77",
    "recipe.txt": "Pancakes: 250 g of flour, 3 eggs, half a litre of milk. Fry for 4 minutes.",
    "invoice.txt": "Invoice 8841 of Miller Ltd. The total is 219 euros, due on 30 June.",
    "address.txt": "Anna Berg\n12 Garden Street\nBristol",
    "log.txt": "09:00 started\n09:05 error: the disk is full\n09:06 stopped",
    "version.txt": "4.17.2",
    "team.txt": "The manager is Olivia. The designer is Noah. The tester is Mia.",
    "flight.txt": "Flight KX409 leaves from gate 22 at 18:40.",
    "数据.txt": "项目编号是 7352，负责人是张伟。",
    "会议.txt": "会议在星期四上午十点，地点是 208 室。",
    "密码.txt": "门的密码是 4926。",
}


def add(a: int, b: int) -> int:
    """Add two numbers: a + b."""
    return a + b


def subtract(a: int, b: int) -> int:
    """Subtract two numbers: a - b."""
    return a - b


def multiply(a: int, b: int) -> int:
    """Multiply two numbers: a * b."""
    return a * b


def divide(a: int, b: int) -> float:
    """Divide two numbers: a / b."""
    if b == 0:
        raise ValueError("division by zero")
    return a // b if a % b == 0 else a / b


def get_price(item: str) -> float:
    """Get the price of one item in the shop."""
    return found(PRICES, item)


def get_phone(name: str) -> str:
    """Get the phone number of a person."""
    return found(PHONES, name)


def get_temperature(city: str) -> int:
    """Get the temperature in a city now."""
    return found(TEMPERATURES, city)


def list_files() -> list[str]:
    """List the names of all files."""
    return list(FILES)


def read_file(name: str) -> str:
    """Read a file and return its text."""
    return found(FILES, name)


def ask_user(question: str) -> str:
    """Ask the user for what is missing."""
    return answers.pop(0) if answers else "The user does not answer."


answers: list[str] = []
"""The user's next answers, for frameworks without a question to the user of their own."""


def found(table: dict[str, Any], name: str) -> Any:
    """Return what *table* has for *name*, in any case and in the plural too."""
    key = name.strip().casefold()
    for each in (key, Path(key).name, key.removesuffix("s")):
        if each in table:
            return table[each]
    raise ValueError(f"there is no {name!r}; there are {', '.join(table)}")


OF_KIND: dict[str, tuple[Callable[..., Any], ...]] = {
    "sums": (add, subtract, multiply, divide),
    "lookups": (get_price, get_phone, get_temperature),
    "files": (list_files, read_file),
    "several": (get_price, get_temperature, read_file, add, multiply),
    "ask": (get_phone, get_temperature),
    "unsolvable": (add, get_price),
}
"""The tools that each kind of task comes with."""
