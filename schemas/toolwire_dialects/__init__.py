"""Writes a tool in the formats that models, frameworks and people read, and reads some of them.

All start from the *entry* of a tool, as MCP's `tools/list` has it. Each module is a dialect:
`from_entry` writes one tool and `from_entries` several, `to_entry` and `to_entries` read them, and
`arguments` turns those of a model's call into what the tool takes. `name_mapping.Names` does that
for names.

All are pure functions on JSON values, and do not change their arguments. They ignore malformed
parts of an entry, which may be a foreign server's. Descriptions written by hand are read strictly:
`Malformed` has the path to the fault.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import toolwire_schemas

if TYPE_CHECKING:
    from .tool_entry import Malformed as Malformed

_MODULES = toolwire_schemas.map_names_to_modules({".tool_entry": "Malformed"})
__all__ = sorted(_MODULES)
__getattr__ = toolwire_schemas.make_importer(__name__, _MODULES)


def __dir__() -> list[str]:
    return __all__
