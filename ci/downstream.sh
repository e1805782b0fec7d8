#!/usr/bin/env bash
# Runs the zarr tests of the libraries above us, with zarr-python 3.4.2 and with this project, and compares.
#   bash ci/downstream.sh [xarray] [icechunk] ...   (downstream_libraries.py names them; without names: all)
# Needs Python 3.13 (where the newest releases are). Reports go to .downstream/REPORT.txt. Long: two hours for all.
set -euo pipefail
cd "$(dirname "$0")/.."
# A python3.13 on the path may be a shim that finds nothing behind it: it must run.
if [ -z "${PYTHON:-}" ]; then
    if python3.13 -c '' 2> /dev/null; then
        PYTHON=python3.13
    else
        PYTHON=$(ls "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.13.*/bin/python | tail -1)
    fi
fi
exec "$PYTHON" ci/downstream.py "$@"
