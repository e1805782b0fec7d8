#!/usr/bin/env bash
# Runs zarr 2.18.7's own tests with zarr 2.18.7 and with this project, and compares.
#   bash ci/zarr2_tests.sh [--reuse] [pytest arguments]   (zarr2_tests.py tells what they do)
#   bash ci/zarr2_tests.sh --examples                     the examples of its documentation (zarr2_examples.py)
# Needs Python 3.11 and .venv-test (ci/test.sh makes it). Reports go to .zarr2. About ten minutes on two cores.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = --examples ]; then
    exec "${PYTHON:-.venv-test/bin/python}" ci/zarr2_examples.py
fi
exec "${PYTHON:-.venv-test/bin/python}" ci/zarr2_tests.py "$@"
