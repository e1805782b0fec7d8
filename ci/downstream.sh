#!/usr/bin/env bash
# Runs the zarr tests of the libraries above us, with zarr-python 3.4.2 and with this project, and compares.
#   bash ci/downstream.sh [xarray] [icechunk] ...   (downstream_libraries.py names them; without names: all)
#   bash ci/downstream.sh --beside [xarray] ...     zarr-core beside zarr-python, chosen by ZARR_CORE=1
#   bash ci/downstream.sh --second [anemoi] ...     programs for zarr 2, with zarr 2.18.7 (downstream_second.py)
# Needs Python 3.13 (where the newest releases are), with --second 3.11. Reports go to .downstream/REPORT.txt or
# REPORT-second.txt. Long: two hours for all libraries, half an hour for all programs.
set -euo pipefail
cd "$(dirname "$0")/.."
version=3.13
for word in "$@"; do [ "$word" = --second ] && version=3.11; done
# A python3.13 on the path may be a shim that finds nothing behind it: it must run.
if [ -z "${PYTHON:-}" ]; then
    if "python$version" -c '' 2> /dev/null; then
        PYTHON=python$version
    else
        PYTHON=$(ls "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$version".*/bin/python | tail -1)
    fi
fi
exec "$PYTHON" ci/downstream.py "$@"
