"""Be a broken server: `python -m broken NAME`."""

import sys

from . import FAULTS
from .faults_in import Older
from .proxy import Fault

if len(sys.argv) < 2:
    print("\n".join(FAULTS))
else:
    ({"Faultless": Fault, "Older": Older, **FAULTS}[sys.argv[1]])().run()
