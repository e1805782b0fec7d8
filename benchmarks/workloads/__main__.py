"""Run one workload with one peer and print its figures as JSON; ``null`` where the peer does not offer it."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from peers import make_peer

from workloads import WORKLOADS
from workloads.registry import measure


def main() -> None:
    """Parse three arguments: peer, workload, folder."""
    peer, name, folder = sys.argv[1:4]
    workload = WORKLOADS[name]
    if peer not in workload.peers:
        print("null")
        return
    chosen = peer if workload.cold else make_peer(peer)
    print(json.dumps(measure(workload, chosen, Path(folder))))


if __name__ == "__main__":
    main()
