"""Tools that take and give large texts."""


def measure(text: str) -> int:
    """The length of a text."""
    return len(text)


def produce(size: int) -> str:
    """A text of that length."""
    return "x" * size
