"""Plants faults and counts those that the quick tests notice.

    python -m mutation                         all modules of targets.py, each fault
    python -m mutation --sample 20 MODULE...   twenty faults of each of these, chosen by --seed

Run it in tests/. The exit status is 1 if fewer than 85 % are noticed.
"""

from __future__ import annotations

import argparse
import os
import random
import subprocess
import sys
import time
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

from .equivalent import EQUIVALENT
from .mutants import Mutant, mutants_of
from .plugin import VARIABLE
from .targets import TARGETS

ROOT = Path(__file__).parents[2]
LEAST_SHARE = 0.85
NO_TESTS_FAILED = 0


class Count(NamedTuple):
    """How many faults were planted in a module, and those that no test noticed.

    Faults of equivalent.py are counted, and not planted.
    """

    planted: int
    survivors: list[Mutant]
    equivalent: int


def main() -> int:
    """Print the faults that survive, and the share of those that do not."""
    options = _read_options()
    counts = []
    for module in options.modules or TARGETS:
        count = _try_module(module, options.sample, options.seed)
        counts.append(count)
        killed = count.planted - len(count.survivors)
        print(
            f"{module}: {killed} of {count.planted} noticed, {count.equivalent} are equivalent",
            flush=True,
        )
    planted = sum(count.planted for count in counts)
    killed = planted - sum(len(count.survivors) for count in counts)
    print(f"all: {killed} of {planted} noticed ({killed / planted:.0%})")
    return 0 if killed / planted >= LEAST_SHARE else 1


def _read_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m mutation", description=__doc__)
    parser.add_argument("modules", nargs="*", metavar="MODULE", help="one of targets.py")
    parser.add_argument("--sample", type=int, default=None, help="faults for each module")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def _try_module(module: str, sample: int | None, seed: int) -> Count:
    spec = find_spec(module)
    assert spec is not None
    assert spec.origin is not None
    mutants = mutants_of(Path(spec.origin).read_text("utf-8"))
    equivalent = EQUIVALENT.get(module, {})
    numbers = [number for number, mutant in enumerate(mutants) if mutant.key not in equivalent]
    equivalent_count = len(mutants) - len(numbers)
    if sample is not None and sample < len(numbers):
        numbers = sorted(random.Random(seed).sample(numbers, sample))
    began = time.monotonic()
    if _run_tests(module, None, None) != NO_TESTS_FAILED:
        raise SystemExit(f"the tests of {module} fail without any fault")
    # A fault may make a loop endless.
    limit_seconds = 10 + 5 * (time.monotonic() - began)
    survivors = []
    for number in numbers:
        if _run_tests(module, number, limit_seconds) == NO_TESTS_FAILED:
            survivors.append(mutants[number])
            print(f"  survives, {module} {mutants[number]}", flush=True)
    return Count(len(numbers), survivors, equivalent_count)


def _run_tests(module: str, number: int | None, limit_seconds: float | None) -> int | None:
    """Return the exit status of the tests about *module*; `None` if they take too long."""
    environment = dict(os.environ, PYTHONPATH=str(ROOT / "tests"))
    if number is not None:
        environment[VARIABLE] = f"{module}:{number}"
    options = ["-x", "-q", "-p", "mutation.plugin", "-p", "no:cacheprovider"]
    options += ["--hypothesis-profile=dev", "-m", "not process and not slow"]
    try:
        return subprocess.run(
            [sys.executable, "-m", "pytest", *options, *TARGETS[module]],
            cwd=ROOT,
            env=environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=limit_seconds,
            check=False,
        ).returncode
    except subprocess.TimeoutExpired:
        return None


if __name__ == "__main__":
    sys.exit(main())
