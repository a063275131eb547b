"""The contract both ends share: message shapes, error codes, JSON codec and framing. No I/O."""

from __future__ import annotations

import sys

# Where typing_extensions is installed (anyio and jsonschema bring it), msgspec takes from it what Python 3.11's own
# typing has as well, and importing it takes longer than importing msgspec. So it is out of sight for that moment.
if "msgspec" not in sys.modules and "typing_extensions" not in sys.modules:
    sys.modules["typing_extensions"] = None  # type: ignore[assignment]
    try:
        import msgspec  # noqa: F401
    finally:
        del sys.modules["typing_extensions"]
