#!/usr/bin/env bash
# Runs the tests of threads while threads change places at almost every step: sys.setswitchinterval(1e-6). Under a
# free-threaded interpreter they run without the GIL (PYTHON_GIL=0).
#   bash ci/threads.sh PYTHON [ROUNDS]     an interpreter with this checkout and its test extra; default 1 round
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=$1
ROUNDS=${2:-1}
FOLDER=$(mktemp -d)
trap 'rm -rf "$FOLDER"' EXIT
echo 'import sys; sys.setswitchinterval(1e-6)' > "$FOLDER/sitecustomize.py"
export PYTHONPATH=$FOLDER:. PYTHONDONTWRITEBYTECODE=1 PYTHON_GIL=0
"$PYTHON" -c 'import sys; print("GIL:", getattr(sys, "_is_gil_enabled", lambda: True)(), "switch interval:", sys.getswitchinterval())'
for round in $(seq "$ROUNDS"); do
    "$PYTHON" -m pytest -q -p no:cacheprovider -m "not slow" tests/core tests/runners \
        tests/parity/test_{batch,chunk_cache,shard_parts}.py tests/unit/storage/test_{databases,local,zip}.py \
        tests/trust/test_{batches,copies_of_documents,last_calls,look_and_store,nested_calls,readers}.py \
        tests/trust/test_{removing,replacing,shard_indexes,threads,whole_writes,zip_writers}.py
done
