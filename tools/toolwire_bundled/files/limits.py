"""Limits of one call, in addition to those of its caller."""

from __future__ import annotations

DEFAULT_MAX_BYTES = 16 * 1024 * 1024
"""Of a file that is read, searched or written."""

MAX_DATA_BYTES = 5 * 1024 * 1024
"""Of a file that travels in Base64, a third longer: hosts take messages of 10 MiB."""

MAX_TEXT = 200_000
"""Characters of text in one answer: about 50,000 of a model's tokens."""

MAX_LINE = 500
"""Characters of a line that a search shows."""

MAX_LISTED = 20_000
"""Entries of one list: as JSON, with names of the usual length, half of a message of 10 MiB."""

MAX_MATCHES = 5_000
"""Of one search, with a line each: likewise."""

MAX_EDITS_SHOWN = 1000
"""Lines of one edit that are reported."""

MAX_DEPTH = 64
"""Folders within each other; each that is walked keeps a descriptor open."""

MAX_LINKS = 40
"""On one path, as on Linux (path_resolution(7))."""

MAX_ENTRIES = 100_000
"""That are looked at in one call."""

MAX_SECONDS = 20.0
"""That a search may take."""

MAX_PATTERN_SECONDS = 5.0
"""Of a processor, that a regular expression may take for all files together: some would take for
ever.
"""
