#!/usr/bin/env bash
# Mixed operations by threads and processes on every kind of store, for SECONDS (60 by default):
# no wrong read, no memory, descriptor or thread more at the end.
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHONPATH=. exec "${PYTHON:-python3}" -m tests.trust.soak "${1:-60}"
