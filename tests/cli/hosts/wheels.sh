#!/bin/sh
# Wheels for this machine and others: names and tags, the files inside, and the tool of each runs, in an emulator. They
# are whole builds with packages from PyPI, so only if asked for: ARENAC_WHEELS="windows aarch64 musl", or "none" for
# this machine alone. usage: wheels.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
[ -n "${ARENAC_WHEELS-}" ] || { echo 'skipped: set ARENAC_WHEELS="windows aarch64 musl", or some, or none'; exit 77; }
require git git python3 python3 unzip unzip
git clone -q "$src" clone || die "no clone"
hosts=
for host in $ARENAC_WHEELS; do [ "$host" = none ] || hosts="$hosts --$host"; done
# shellcheck disable=SC2086
sh clone/scripts/wheel.sh $hosts "$tmp/dist" >log.txt 2>&1 || die "wheel.sh: $(tail -40 log.txt)"
version=$("$arenac" plan --version)
of() { # TAG: the one wheel with it
    ls dist/arenac-"${version#arenac }"-py3-none-"$1".whl
}
tool() { # TAG [EMULATOR]: the tool of a wheel plans as this one does
    wheel=$(of "$1") || { fail "no wheel of $1: $(ls dist)"; return; }
    shift
    rm -rf tree
    unzip -q "$wheel" -d tree
    for f in __init__.py pytorch.py quantizing.py py.typed; do [ -e tree/arenac/$f ] || fail "$wheel: no $f"; done
    grep -q torch_dynamo_backends tree/*.dist-info/entry_points.txt || fail "$wheel: no backend of torch.compile"
    exe=$(ls tree/*/scripts/arenac*)
    chmod +x "$exe"
    "$@" "$exe" plan -q --json "$models/digits_int8.tflite" | tr -d '\r' >plan.json
    cmp -s plan.json here.json || fail "$wheel: another plan"
}
"$arenac" plan -q --json "$models/digits_int8.tflite" >here.json
tool 'manylinux_2_*x86_64'
for host in $ARENAC_WHEELS; do
    case $host in
    windows) tool win_amd64 env WINEDEBUG=-all /usr/lib/wine/wine64 ;;
    aarch64) tool 'manylinux_2_*_aarch64' qemu-aarch64 -L /usr/aarch64-linux-gnu ;;
    musl) tool musllinux_1_1_x86_64 ;;
    esac
done
python3 -m venv fresh
fresh/bin/pip install -q --no-index "$(of 'manylinux_2_*x86_64')" || fail "pip install"
fresh/bin/python -c '
import arenac, sys
p = arenac.plan(sys.argv[1], target="cortex-m4")
assert p.arena_bytes > 0 and "torch" not in sys.modules
arenac.emit(sys.argv[1], "net.c", target="cortex-m4")
' "$models/digits_int8.tflite" && [ -s net.c ] || fail "import arenac"
