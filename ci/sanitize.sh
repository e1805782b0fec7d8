#!/usr/bin/env bash
# Builds the core with a sanitizer into a folder of its own and runs tests on it.
#   bash ci/sanitize.sh PYTHON            every Cython check, AddressSanitizer and UBSan; tests/core
#   bash ci/sanitize.sh PYTHON thread     ThreadSanitizer; jobs, programs and caches that several threads share
set -euo pipefail
cd "$(dirname "$0")/.."
PYTHON=$(realpath -s "$1")
MODE=${2:-address}
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
mkdir "$SCRATCH/source"
cp -r setup.py pyproject.toml README.md LICENSE zarr_core zarr tests ci "$SCRATCH/source/"
cd "$SCRATCH/source"
find . -name '*.so' -delete
# Run from the copy, so that its modules are the ones imported.
if [ "$MODE" = thread ]; then
    ZARR_CORE_DEBUG=thread "$PYTHON" setup.py -q build_ext --inplace
    # setarch: without it, the sanitizer may find its memory taken.
    LD_PRELOAD=$(gcc -print-file-name=libtsan.so) PYTHONPATH=. TSAN_OPTIONS="exitcode=66 halt_on_error=0" \
        setarch -R "$PYTHON" ci/shared_jobs.py
    exit
fi
ZARR_CORE_DEBUG=1 "$PYTHON" setup.py -q build_ext --inplace
ASAN=$(gcc -print-file-name=libasan.so)
UBSAN=$(gcc -print-file-name=libubsan.so)
# Leaks are not looked for: the interpreter itself keeps memory until exit.
LD_PRELOAD="$ASAN $UBSAN" ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 \
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 PYTHONMALLOC=malloc \
    "$PYTHON" -m pytest -q -p no:cacheprovider -m "not slow" tests/core
