#!/usr/bin/env bash
# Times small workloads with pytest-benchmark and compares with the last saved run; saves this one beside it.
#   bash ci/bench.sh                 all themes
#   bash ci/bench.sh shards strings  some of them
# PYTHON names the interpreter (default: .venv-test, else python3); it needs this library and pytest-benchmark.
# FAIL_AT (such as 50%) makes it fail where the least time of a workload has grown by more than that.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ -z "${PYTHON:-}" ]; then
    PYTHON=.venv-test/bin/python
    [ -x "$PYTHON" ] || PYTHON=python3
fi
themes=("$@")
[ ${#themes[@]} -gt 0 ] || themes=(element bulk shards metadata strings indexing)
files=()
for theme in "${themes[@]}"; do files+=("benchmarks/bench_$theme.py"); done
options=(--benchmark-autosave --benchmark-storage=file://.benchmarks --benchmark-sort=name)
options+=(--benchmark-columns=min,median,rounds --benchmark-timer=time.process_time)
if compgen -G ".benchmarks/*/*.json" >/dev/null; then
    options+=(--benchmark-compare)
    [ -z "${FAIL_AT:-}" ] || options+=("--benchmark-compare-fail=min:$FAIL_AT")
fi
PYTHONPATH=. exec "$PYTHON" -m pytest -q -p no:cacheprovider -o "python_files=bench_*.py" "${files[@]}" "${options[@]}"
