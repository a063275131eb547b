"""The contract both ends share: message shapes, error codes, JSON codec and framing. No I/O."""

from __future__ import annotations

__all__ = ["PACKAGES", "is_ours"]

PACKAGES = frozenset(
    (
        "toolwire",
        "toolwire_agent",
        "toolwire_bundled",
        "toolwire_check",
        "toolwire_client",
        "toolwire_compat",
        "toolwire_dialects",
        "toolwire_schemas",
        "toolwire_tools",
    )
)
"""The packages of this distribution."""


def is_ours(module: str) -> bool:
    """Return whether *module*, by its dotted name, belongs to this distribution."""
    return module.partition(".")[0] in PACKAGES
