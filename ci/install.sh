# Defines `install PYTHON PACKAGES...`, for the scripts of this folder: packages go into the environment of an
# interpreter by uv, which takes a tenth of pip's time, or by pip where uv cannot be had or finds no registry.
install() {
    local python=$1 log
    shift
    log=$(mktemp)
    "$python" -m uv --version > /dev/null 2>&1 || "$python" -m pip install --quiet --disable-pip-version-check uv > "$log" 2>&1 || true
    "$python" -m uv pip install --quiet --python "$python" "$@" > "$log" 2>&1 ||
        "$python" -m pip install --quiet --disable-pip-version-check "$@" || { cat "$log"; return 1; }
    rm -f "$log"
}
