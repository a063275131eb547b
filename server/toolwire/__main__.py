"""`python -m toolwire`: the same as the command `toolwire`."""

from __future__ import annotations

import os
import sys

# `-m` puts the working folder first on the path. The user's files are found there all the same (see imports.py),
# but after the standard library: a `random.py` among them is no reason for ours to fail.
if not sys.flags.safe_path and sys.path and sys.path[0] in ("", os.getcwd()):
    del sys.path[0]

from .cli import main

if __name__ == "__main__":
    sys.exit(main())
