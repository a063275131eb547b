"""The commands of Slurm, as far as submitit uses them: `sbatch` runs a job at once on this machine,
and `scancel` ends it.
"""

from __future__ import annotations

import sys
from pathlib import Path

_SBATCH = """#!{python}
import os, subprocess, sys
from pathlib import Path

jobs = Path(__file__).parent / "jobs"
id = str(1000 + len(list(jobs.iterdir())))
environment = {{**os.environ, "SLURM_JOB_ID": id, "SLURM_NODELIST": "localhost"}}
environment |= {{"SLURM_JOB_NODELIST": "localhost", "SLURM_JOB_NUM_NODES": "1"}}
environment |= {{"SLURM_NTASKS": "1", "SLURM_NODEID": "0"}}
environment |= {{"SLURM_PROCID": "0", "SLURM_LOCALID": "0"}}
silent = subprocess.DEVNULL
command = ["bash", sys.argv[-1]]
job = subprocess.Popen(
    command, env=environment, start_new_session=True, stdin=silent, stdout=silent, stderr=silent
)
(jobs / id).write_text(str(job.pid))
print("Submitted batch job", id)
"""

_SCANCEL = """#!{python}
import os, signal, sys
from contextlib import suppress
from pathlib import Path

for id in sys.argv[1:]:
    with suppress(OSError):
        os.killpg(int((Path(__file__).parent / "jobs" / id).read_text()), signal.SIGTERM)
"""

_SRUN = """#!{python}
import os, sys

command = sys.argv[1:]
while command[0].startswith("-"):
    takes_value = command[0] in ("--output", "--error")
    del command[: 2 if takes_value else 1]
os.execvp(command[0], command)
"""

_SACCT = """#!{python}
print("JobID|State|NodeList")
"""


def write_commands(folder: Path) -> None:
    """Write the commands into the new *folder*, which is to be on the path."""
    (folder / "jobs").mkdir(parents=True)
    commands = {"sbatch": _SBATCH, "scancel": _SCANCEL, "srun": _SRUN, "sacct": _SACCT}
    for name, text in commands.items():
        (folder / name).write_text(text.format(python=sys.executable))
        (folder / name).chmod(0o755)
