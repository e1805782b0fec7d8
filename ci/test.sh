#!/usr/bin/env bash
# Builds in a virtual environment of its own, lints, and runs every test: compiled core, reference core, sanitizers.
#   bash ci/test.sh            everything (CI)
#   bash ci/test.sh quick      build, lint and the tests not marked slow, compiled core only
# ZARR_CI_MINUTES, where it is set, bounds the time: no step starts after two thirds of it, and no test of a step after
# five sixths. What is left out is printed at the end. A machine of usual speed needs half an hour.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/install.sh
PYTHON=${PYTHON:-python3}
MODE=${1:-full}
VENV=.venv-test
BIN=$(pwd)/$VENV/bin
LEFT_OUT=()
unset PYTHONDONTWRITEBYTECODE # interpreters that tests start would compile the library anew, each of them
if [ -n "${ZARR_CI_MINUTES:-}" ]; then
    ZARR_TESTS_UNTIL=$(($(date +%s) + ZARR_CI_MINUTES * 50))
    export ZARR_TESTS_UNTIL
fi
step() { printf '\n=== %s (%ds)\n' "$1" "$SECONDS"; }
# Start a step if its time has not passed.
in_time() {
    if [ -n "${ZARR_CI_MINUTES:-}" ] && [ "$SECONDS" -gt $((ZARR_CI_MINUTES * 40)) ]; then
        LEFT_OUT+=("$1")
        return 1
    fi
    step "$1"
}

step "virtual environment"
[ -x "$BIN/python" ] || "$PYTHON" -m venv "$VENV"
install "$BIN/python" "pip>=23" "setuptools>=77" wheel "cython>=3.1" "numpy>=2.0"
step "build"
install "$BIN/python" --no-build-isolation -e ".[test,remote,cli,docs]" xarray "dask[array,distributed]"

step "lint"
"$BIN/python" ci/check_layers.py
"$BIN/python" ci/check_shape.py
"$BIN/python" ci/check_module_state.py
"$BIN/ruff" check .
"$BIN/mypy" --no-error-summary zarr

if [ "$MODE" = quick ]; then
    step "tests, compiled core, quick subset"
    exec "$BIN/python" -m pytest -q -n 2 --dist worksteal -m "not slow" -p no:cacheprovider tests
fi

step "page of the viewer, and what its tests need; without node, or without Chromium, they skip"
command -v npm > /dev/null && bash ci/viewer.sh
command -v chromium > /dev/null && install "$BIN/python" playwright pillow
step "peers, for the tests that exchange files with them"
bash ci/peers.sh
step "tests, compiled core; pages of the viewer are kept in .screenshots"
export ZARR_SCREENSHOTS=$(pwd)/.screenshots
mkdir -p "$ZARR_SCREENSHOTS"
"$BIN/python" -m pytest -q -n 2 --dist worksteal -p no:cacheprovider tests
if in_time "tests, reference core"; then
    ZARR_CORE_IMPL=reference "$BIN/python" -m pytest -q -n 2 --dist worksteal -p no:cacheprovider -m "not slow" tests/unit tests/parity
fi
if in_time "core tests under AddressSanitizer and UndefinedBehaviorSanitizer"; then
    bash ci/sanitize.sh "$BIN/python"
fi
if in_time "documentation site"; then
    bash ci/docs.sh
fi
if in_time "source distribution, wheels of zarr and of zarr-core, used where there is no compiler"; then
    bash ci/wheels.sh "$BIN/python"
fi
step "done"
for left in "${LEFT_OUT[@]}"; do
    echo "left out, since the time (ZARR_CI_MINUTES=$ZARR_CI_MINUTES) was over: $left"
done
