#!/usr/bin/env bash
# Builds the core with every Cython check, AddressSanitizer and UBSan into a folder of its own and runs tests/core on it.
#   bash ci/sanitize.sh PYTHON
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=$1
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
mkdir "$SCRATCH/source"
cp -r setup.py pyproject.toml README.md LICENSE zarr_core zarr tests "$SCRATCH/source/"
cd "$SCRATCH/source"
find . -name '*.so' -delete
ZARR_CORE_DEBUG=1 "$PYTHON" setup.py -q build_ext --inplace
ASAN=$(gcc -print-file-name=libasan.so)
UBSAN=$(gcc -print-file-name=libubsan.so)
# Run from the copy, so that its modules are the ones imported. Leaks are not looked for: the interpreter itself keeps
# memory until exit.
LD_PRELOAD="$ASAN $UBSAN" ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc \
    "$PYTHON" -m pytest -q -p no:cacheprovider -m "not slow" tests/core
