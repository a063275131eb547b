"""What tests share: servers to start, strategies for any input, endpoints that stand in for services."""

from pathlib import Path

SUPPORT = Path(__file__).parent
