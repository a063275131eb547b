"""Limits of a calculation. A larger one is refused before it starts, so that no call takes long."""

from __future__ import annotations

MAX_CHARACTERS = 10_000
MAX_DEPTH = 100
"""Brackets, signs and powers within each other."""

MAX_BITS = 100_000
"""Of an integer, or of either part of a fraction, on the way: about 30,000 digits. A product takes
milliseconds.
"""

MAX_DIGITS = 4_000
"""Of an integer that is shown exactly. Python itself refuses to write more than 4,300."""

MAX_FRACTION_DIGITS = 300
"""Of either part of a fraction that is shown exactly."""

MAX_SECONDS = 5.0
"""For all steps together; each alone is far quicker, by MAX_BITS."""
