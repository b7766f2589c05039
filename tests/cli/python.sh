#!/bin/sh
# `arenac python`: the modules work with NumPy, PyTorch and TensorFlow as far as they are installed. ARENAC_TEST_PYTHON names other
# interpreters than python3, separated by spaces (virtual environments with one framework each).
# usage: python.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
case $arenac in *asan*) echo "skipped: tests/cli/host.sh has the runtime under sanitizers"; exit 77 ;; esac
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
mkdir "$tmp/a b"
"$arenac" python -q "$src/tests/host/corners.ag" -o "$tmp/a b"
"$arenac" python "$src/tests/host/wide.ag" -o "$tmp/a b" | grep -q 'import wide'
[ "$(ls "$tmp/a b" | tr '\n' ' ')" = "corners.py libcorners.so libwide.so wide.py " ]
if CC=/nonexistent/cc "$arenac" python -q "$src/tests/host/wide.ag" --name none -o "$tmp/a b" 2>"$tmp/err"; then exit 1; fi
grep -q 'host compiler' "$tmp/err"
[ ! -e "$tmp/a b/none.py" ]
cd "$tmp"
[ -n "${ARENAC_TEST_PYTHON:-}" ] || have_numpy || exit 77
for python in ${ARENAC_TEST_PYTHON:-$py}; do
    "$python" "$src/tests/host/dlpack_test.py" "$tmp/a b"
done
