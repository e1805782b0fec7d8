#!/usr/bin/env bash
# Makes .venv-peers: zarr-python 3.4.2, tensorstore and zarrs, for the tests that exchange files with them.
# They need Python 3.12 or newer; without one this says so and the tests that need them skip.
set -euo pipefail
cd "$(dirname "$0")/.."
. ci/install.sh
[ -x .venv-peers/bin/python ] && .venv-peers/bin/python -P -c "import aiohttp, fsspec, h5py, obstore, tensorstore, zarr, zarrs" 2>/dev/null && exit 0
PYENV="${PYENV_ROOT:-$HOME/.pyenv}"/versions
for candidate in "${ZARR_PEER_BASE:-}" python3.13 python3.12 "$PYENV"/3.13.*/bin/python "$PYENV"/3.12.*/bin/python; do
    if [ -n "$candidate" ] && "$candidate" -c "import sys; sys.exit(sys.version_info < (3, 12))" 2>/dev/null; then
        "$candidate" -m venv .venv-peers
        install .venv-peers/bin/python \
            "zarr==3.4.2" "tensorstore==0.1.86" "zarrs==0.2.3" "fsspec[http]" obstore h5py
        exit 0
    fi
done
echo "no Python 3.12 or newer found: the tests that exchange files with zarr-python 3.4.2 will be skipped"
