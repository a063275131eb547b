"""A Dask cluster on this machine, in processes of its own: prints the address of its scheduler."""

from __future__ import annotations

import sys

from distributed import LocalCluster

if __name__ == "__main__":
    with LocalCluster(
        n_workers=int(sys.argv[1]),
        threads_per_worker=int(sys.argv[2]),
        processes=True,
        dashboard_address=None,
        host="127.0.0.1",
        silence_logs="ERROR",
    ) as cluster:
        print(cluster.scheduler_address, flush=True)
        sys.stdin.read()
