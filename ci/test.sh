#!/usr/bin/env bash
# Builds in a virtual environment of its own, lints, and runs every test: compiled core, reference core, sanitizers.
#   bash ci/test.sh            everything (CI)
#   bash ci/test.sh quick      build, lint and the tests not marked slow, compiled core only
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=${PYTHON:-python3}
MODE=${1:-full}
VENV=.venv-test
BIN=$(pwd)/$VENV/bin
export PYTHONDONTWRITEBYTECODE=1 PIP_DISABLE_PIP_VERSION_CHECK=1
step() { printf '\n=== %s (%ds)\n' "$1" "$SECONDS"; }

step "virtual environment"
[ -x "$BIN/python" ] || "$PYTHON" -m venv "$VENV"
"$BIN/python" -m pip install --quiet --upgrade "pip>=23" "setuptools>=77" wheel "cython>=3.1" "numpy>=2.0"
step "build"
"$BIN/python" -m pip install --quiet --no-build-isolation -e ".[test,remote,cli,docs]" xarray "dask[array,distributed]"

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
command -v chromium > /dev/null && "$BIN/python" -m pip install --quiet playwright pillow
step "peers, for the tests that exchange files with them"
bash ci/peers.sh
step "tests, compiled core; pages of the viewer are kept in .screenshots"
export ZARR_SCREENSHOTS=$(pwd)/.screenshots
mkdir -p "$ZARR_SCREENSHOTS"
"$BIN/python" -m pytest -q -n 2 --dist worksteal -p no:cacheprovider tests
step "tests, reference core"
ZARR_CORE_IMPL=reference "$BIN/python" -m pytest -q -n 2 --dist worksteal -p no:cacheprovider -m "not slow" tests/unit tests/parity
step "core tests under AddressSanitizer and UndefinedBehaviorSanitizer"
bash ci/sanitize.sh "$BIN/python"
step "documentation site"
bash ci/docs.sh
step "source distribution, wheels of zarr and of zarr-core, used where there is no compiler"
bash ci/wheels.sh "$BIN/python"
step "done"
