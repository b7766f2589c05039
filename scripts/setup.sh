# setup.sh - sourced by demo.sh and test.sh: installs missing packages (Debian only) and builds. need COMMAND PACKAGE
# ...: one apt-get for all packages with a missing command. Works as root and with sudo. PACKAGE may be several words; a
# COMMAND with a slash is a file.
need() {
    missing=
    while [ $# -ge 2 ]; do
        case $1 in
        */*) [ -e "$1" ] || missing="$missing $2" ;;
        *) command -v "$1" >/dev/null 2>&1 || missing="$missing $2" ;;
        esac
        shift 2
    done
    [ -n "$missing" ] || return 0
    as_root=
    [ "$(id -u)" = 0 ] || as_root=sudo
    for tool in apt-get $as_root; do
        command -v "$tool" >/dev/null 2>&1 || { echo "there is no $tool; please install by hand:$missing"; return 1; }
    done
    echo "installing:$missing"
    if [ -z "${updated:-}" ]; then
        $as_root apt-get update -q >/dev/null || echo "apt-get update failed; trying with the present lists"
        updated=1
    fi
    # shellcheck disable=SC2086
    $as_root env DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing >/dev/null
}

# wish COMMAND PACKAGE ...: the same for what tests can do without; where all at once fails, one by one.
wish() {
    if need "$@"; then return; fi
    while [ $# -ge 2 ]; do
        need "$1" "$2" || echo "not installed: $2 (tests that need it are skipped)"
        shift 2
    done
}

# build DIR [cmake options]: configures and builds, all cores.
build() {
    dir=$1
    shift
    cmake -S "$root" -B "$dir" "$@" >"$dir.log" 2>&1 || { cat "$dir.log"; return 1; }
    cmake --build "$dir" -j "$(nproc)" >>"$dir.log" 2>&1 || { cat "$dir.log"; return 1; }
    rm -f "$dir.log"
}
