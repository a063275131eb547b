"""Runs `toolwire` such that judging by a schema never ends, and prints a line once it has started.

python endless_judging.py ask go --model …
"""

from __future__ import annotations

import os
import sys

from toolwire.cli.main import main
from toolwire_schemas.json_schema.linear_regex import Budget


def spend(self: Budget, steps: int = 1) -> None:
    """Take forever, in Python code as the real steps are."""
    os.write(1, b"it judges without end\n")
    while True:
        pass


Budget.spend = spend  # type: ignore[method-assign]
sys.exit(main())
