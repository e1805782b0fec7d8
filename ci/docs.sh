#!/usr/bin/env bash
# Checks the docstrings of public names, builds the documentation site into .docs, and walks its pages in a browser.
# Any warning, dead link or error in the browser's console fails. The pictures are drawn by the programs of the pages.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/install.sh
PYTHON=${PYTHON:-python3}
BIN=$(pwd)/.venv-test/bin
if ! "$BIN/python" -c "import zarr, mkdocs, material, mkdocstrings, numpydoc, skimage, sklearn, statsmodels, vega_datasets, global_land_mask" 2>/dev/null; then
    [ -x "$BIN/python" ] || "$PYTHON" -m venv .venv-test
    install "$BIN/python" "pip>=23" "setuptools>=77" wheel "cython>=3.1" "numpy>=2.0"
    install "$BIN/python" --no-build-isolation -e ".[remote,cli,docs]"
fi
"$BIN/python" ci/check_docstrings.py
NO_MKDOCS_2_WARNING=1 "$BIN/python" -m mkdocs build --strict --clean --quiet
exec "$BIN/python" ci/walk_site.py
