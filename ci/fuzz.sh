#!/usr/bin/env bash
# Damaged documents and chunks, in the numbers that docs/reference/guarantees.md states, and then for some minutes more.
#   bash ci/fuzz.sh MINUTES [PYTHON]
#   bash ci/fuzz.sh programs MINUTES [PYTHON]   random programs against a model, zarr-python and tensorstore, nothing else
# 1. 20,000 documents, 240,000 payloads (each ends at an unreadable page) and 20,000 hierarchies of other layouts on the
#    core as it is built.
# 2. The same payloads with freed and new memory filled with two patterns: equal outcomes mean that no byte was read
#    that nobody wrote; and with the allocator's own checks.
# 3. A tenth of them on a build with every Cython check, AddressSanitizer and UBSan.
# 4. 400 failed allocations, bombs, files that are no chunks.
# 5. MINUTES of documents and payloads with seeds that were never used.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = programs ]; then
    shift
    export PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1
    exec "${2:-python}" -m tests.stateful.programs --minutes "${1:-1}" --seed "$(date +%s)"
fi
MINUTES=${1:-1}
PYTHON=${2:-python}
DOCUMENTS=${FUZZ_DOCUMENTS:-20000}
PAYLOADS=${FUZZ_PAYLOADS:-240000}
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
export PYTHONPATH=. PYTHONDONTWRITEBYTECODE=1
run() { "$PYTHON" -m tests.trust.fuzzing "$@"; }

echo "== as built"
run documents --count "$DOCUMENTS" --seed 1
run payloads --count "$PAYLOADS" --seed 1
run layouts --count "$DOCUMENTS" --seed 1

echo "== two patterns of unwritten memory, and the debug allocator"
PYTHONMALLOC=malloc MALLOC_PERTURB_=85 run payloads --count $((PAYLOADS / 4)) --seed 1 --log "$SCRATCH/one"
PYTHONMALLOC=malloc MALLOC_PERTURB_=170 run payloads --count $((PAYLOADS / 4)) --seed 1 --log "$SCRATCH/other"
cmp "$SCRATCH/one" "$SCRATCH/other"
PYTHONMALLOC=debug run payloads --count $((PAYLOADS / 10)) --seed 2
PYTHONMALLOC=debug run documents --count $((DOCUMENTS / 4)) --seed 2

echo "== AddressSanitizer and UBSan"
mkdir "$SCRATCH/source"
cp -r setup.py pyproject.toml README.md LICENSE zarr_core zarr tests "$SCRATCH/source/"
find "$SCRATCH/source" -name '*.so' -delete
(
    cd "$SCRATCH/source"
    ZARR_CORE_DEBUG=1 "$PYTHON" setup.py -q build_ext --inplace
    export LD_PRELOAD="$(gcc -print-file-name=libasan.so) $(gcc -print-file-name=libubsan.so)"
    export ASAN_OPTIONS=detect_leaks=0:allocator_may_return_null=1 UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1
    export PYTHONMALLOC=malloc ZARR_FUZZ_SLOW=60
    run payloads --count $((PAYLOADS / 10)) --seed 3
    run documents --count $((DOCUMENTS / 10)) --seed 3
    run layouts --count $((DOCUMENTS / 10)) --seed 3
)

echo "== failed allocations, bombs, wrong things in a chunk's place"
"$PYTHON" -m pytest -q -p no:cacheprovider tests/trust/test_memory.py tests/trust/test_places.py \
    tests/trust/test_bombs.py tests/trust/test_containers.py tests/trust/test_zip_entries.py

echo "== $MINUTES minutes of new cases"
SEED=$(date +%s)
run documents --minutes "$(awk "BEGIN {print $MINUTES / 4}")" --seed "$SEED"
run payloads --minutes "$(awk "BEGIN {print $MINUTES / 2}")" --seed "$SEED"
run layouts --minutes "$(awk "BEGIN {print $MINUTES / 4}")" --seed "$SEED"
