"""Tools of all kinds that every server for Python can serve: each returns its argument, of one
type.
"""

import asyncio
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Literal

import pydantic


class Colour(Enum):
    RED = "red"
    BLUE = "blue"


@dataclass
class Point:
    x: int
    y: float
    label: str


class Model(pydantic.BaseModel):
    x: int
    y: float
    label: str


def integer(value: int) -> int:
    return value


def decimal(value: float) -> float:
    return value


def union(value: int | float) -> int | float:
    return value


def text(value: str) -> str:
    return value


def numbers(value: list[int]) -> list[int]:
    return value


def mapping(value: dict[str, int]) -> dict[str, int]:
    return value


def optional(value: int | None = None) -> int | None:
    return value


def literal(value: Literal["red", "blue"]) -> Literal["red", "blue"]:
    return value


def enum(value: Colour) -> Colour:
    return value


def record(value: Point) -> Point:
    return value


def model(value: Model) -> Model:
    return value


def moment(value: datetime) -> datetime:
    return value


def data(value: bytes) -> bytes:
    return value


def nothing(value: int) -> None:
    return


async def without_wait(value: int) -> int:
    return value


async def with_wait(value: int) -> int:
    await asyncio.sleep(0)
    return value


__tools__ = [
    integer,
    decimal,
    union,
    text,
    numbers,
    mapping,
    optional,
    literal,
    enum,
    record,
    model,
    moment,
    data,
    nothing,
    without_wait,
    with_wait,
]
