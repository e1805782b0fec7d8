#!/usr/bin/env bash
# Builds the library in a virtual environment of its own and runs the main job on real input.
#   bash ci/demo.sh [FOLDER]     what it writes goes to FOLDER (default: .demo)
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/install.sh
PYTHON=${PYTHON:-python3}
VENV=.venv-demo

[ -x "$VENV/bin/python" ] || "$PYTHON" -m venv "$VENV"
install "$VENV/bin/python" "pip>=23" "setuptools>=77" wheel
install "$VENV/bin/python" ".[cli]" matplotlib scikit-learn
# Run from elsewhere, so that the installed library is used and not the checkout.
target=$(mkdir -p "${1:-.demo}" && cd "${1:-.demo}" && pwd)
script=$(pwd)/ci/demo.py
python_bin=$(pwd)/$VENV/bin/python
cd "$target"
exec "$python_bin" "$script" "$target"
