#!/bin/sh
# `arenac python`: the modules work with NumPy, PyTorch and TensorFlow as far as they are installed, and so does the
# package arenac, with the tool of this build.
# ARENAC_TEST_PYTHON names other interpreters than python3, separated by spaces (virtual environments with one
# framework each). usage: python.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
case $arenac in *asan*) echo "skipped: tests/cli/code/host.sh has the runtime under sanitizers"; exit 77 ;; esac
mkdir "a b"
"$arenac" python -q "$src/tests/host/corners.ag" -o "a b"
"$arenac" python "$src/tests/host/wide.ag" -o "a b" | grep -q 'import wide'
[ "$(ls "a b" | tr '\n' ' ')" = "corners.py libcorners.so libwide.so wide.py " ]
expect 3 'host compiler' env CC=/nonexistent/cc "$arenac" python -q "$src/tests/host/wide.ag" --name none -o "a b"
[ ! -e "a b/none.py" ]
[ -n "${ARENAC_TEST_PYTHON:-}" ] || have_numpy || exit 77
for python in ${ARENAC_TEST_PYTHON:-$py}; do
    "$python" "$src/tests/host/dlpack_test.py" "a b"
    ARENAC=$arenac PYTHONPATH=$src/python "$python" "$src/tests/host/package_test.py" "$src"
done
