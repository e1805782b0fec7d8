#!/usr/bin/env bash
# Builds the source distribution, from it a wheel, installs that in a fresh virtual environment and uses it.
#   bash ci/package.sh PYTHON
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=$1
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$SCRATCH" 2>/dev/null || cp -r . "$SCRATCH"
cd "$SCRATCH"
"$PYTHON" setup.py -q sdist --dist-dir dist
"$PYTHON" -m pip wheel --quiet --no-deps --no-build-isolation --wheel-dir dist dist/zarr-*.tar.gz
"$PYTHON" -m venv fresh
fresh/bin/python -m pip install --quiet --disable-pip-version-check dist/zarr-*.whl
cd fresh
bin/python - <<'CHECK'
import importlib.metadata

import numpy as np
import zarr

assert importlib.metadata.version("zarr") == zarr.__version__, zarr.__version__
array = zarr.create_array("packaged.zarr", data=np.arange(100).reshape(10, 10), chunks=(5, 5), shards=(10, 10))
assert (zarr.open_array("packaged.zarr", mode="r")[2:7, ::3] == np.arange(100).reshape(10, 10)[2:7, ::3]).all()
print("wheel installed and used:", zarr.__version__)
CHECK
