"""How a command imports what it needs."""

from __future__ import annotations

import gc
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator


@contextmanager
def importing() -> Iterator[None]:
    """Look for no garbage meanwhile, nor among what was imported later on: it stays.

    Python would look a dozen times while a server starts, which takes a tenth of that time.
    """
    looks = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        gc.freeze()
        if looks:
            gc.enable()
