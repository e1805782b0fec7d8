"""A web server that answers after a delay and notes what it was asked for, and a proxy that fails."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "benchmarks"))
try:
    from failing_server import FAULTS, FailingServer
    from slow_server import SlowServer as WebServer
finally:
    del sys.path[0]

__all__ = ["FAULTS", "FailingServer", "WebServer"]
