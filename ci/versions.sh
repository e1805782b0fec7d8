#!/usr/bin/env bash
# Tests the lowest declared versions of everything on the oldest Python, the newest on the newest, and each extra alone.
#   bash ci/versions.sh [OLDEST NEWEST] [--only=lowest|newest|extras]     see ci/versions.py
set -euo pipefail
cd "$(dirname "$0")/.."
find_python() { # a name on the path may be a shim with nothing behind it: it must run
    for python in "python$1" "${PYENV_ROOT:-$HOME/.pyenv}"/versions/"$1".*/bin/python; do
        if "$python" -c '' 2> /dev/null; then echo "$python"; return; fi
    done
}
case ${1:-} in
    "" | --*) set -- "$(find_python 3.11)" "$(find_python 3.14 || true)" "$@" ;;
esac
[ -n "$2" ] || set -- "$1" "$(find_python 3.13)" "${@:3}"
exec "$1" ci/versions.py "$@"
