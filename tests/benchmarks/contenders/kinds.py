"""Tools of all kinds: each returns its argument, of one type, or one number in one way."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Literal

import pydantic
from toolwire_tools import Context, Text


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


def block(value: str) -> Text:
    return Text(value)


def with_context(value: int, context: Context) -> int:
    return value


def with_progress(value: int) -> Iterator[int]:
    yield value
    yield value


async def without_wait(value: int) -> int:
    return value


async def with_wait(value: int) -> int:
    await asyncio.sleep(0)
    return value


async def async_progress(value: int) -> AsyncIterator[int]:
    yield value
    yield value
