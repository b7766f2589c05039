#!/bin/sh
# The wheel: built by scikit-build-core, installed into an environment of its own, it has the tool and `import arenac`,
# whose types mypy accepts where it is there. ARENAC_TEST_PYTHON names the Python that has scikit-build-core.
# usage: wheel.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
build=$(dirname "$arenac")
case $build in *asan*) echo "skipped: the release build is what people install"; exit 77 ;; esac
require cmake cmake "${CC:-cc}" gcc unzip unzip
python=
for p in ${ARENAC_TEST_PYTHON:-} python3; do
    [ "$python" ] || ! "$p" -c 'import scikit_build_core, pip, venv' 2>/dev/null || python=$p
done
[ "$python" ] || { echo "skipped: scikit-build-core is missing: install scikit-build-core from PyPI"; exit 77; }
launcher=
! command -v ccache >/dev/null || launcher=--config-settings=cmake.define.CMAKE_C_COMPILER_LAUNCHER=ccache
"$python" -m pip wheel -q --no-build-isolation --no-deps --no-index -w dist $launcher "$src" >log.txt 2>&1 ||
    { tail -50 log.txt; die "the wheel is not built"; }
ls dist/arenac-*-py3-none-*.whl >/dev/null || { ls dist; die "another name"; }
"$python" -m venv --system-site-packages env
env/bin/python -m pip install -q --no-index --no-deps dist/*.whl
version=$("$arenac" plan --version | sed 's/arenac //')
unzip -p dist/arenac-*.whl '*/METADATA' | grep -q "^Requires-Dist: arenac-llvm==$version *; *extra == .llvm.$" ||
    fail "arenac[llvm] is of another version"
m=$models/digits_int8
env/bin/arenac plan "$m.tflite" | grep -q 'RAM  arena' || fail "the tool does not run"
[ "$(env/bin/arenac plan --version)" = "$("$arenac" plan --version)" ] || fail "another version"
cat >use.py <<'X'
import sys
from typing import List
import arenac

model = sys.argv[1] + ".tflite"
p: arenac.Plan = arenac.plan(model, target="cortex-m4", exact=True)
assert p.arena_bytes >= p.lower_bound_bytes > 0 and p.report["schema"] == "arenac-report/1"
names: List[str] = [t.name for t in p.tensors]
first: arenac.Tensor = p.tensors[0]
assert first.name == "image" and first.shape == (1, 8, 8, 1) and first.last_step >= first.first_step
assert arenac.plan(model, planner="none").arena_bytes > p.arena_bytes
for options, status in ({"budget": 100}, 4), ({"planner": "nosuch"}, 2), ({"nosuch": 1}, 2):
    try:
        arenac.plan(model, **options)
    except arenac.Error as e:
        assert e.status == status and str(e), (options, e.status, str(e))
        assert status == 2 or e.diagnostics[0]["code"] == "E0401"
    else:
        raise AssertionError(options)
try:
    arenac.plan("nosuch.tflite")
except arenac.Error as e:
    assert e.status == 3 and "cannot read" in str(e)
try:
    import numpy as np
except ImportError:
    print("skipped: NumPy is missing: install numpy from PyPI")
    sys.exit(0)
x, want = np.load(sys.argv[1] + ".in0.0.npy"), np.load(sys.argv[1] + ".out0.0.npy")
one, two = arenac.compile(model), arenac.compile(model, exact=True)
for module in one, two, one:
    y, = module.run(x)
    assert (np.asarray(y) == want).all()
assert one.inputs[0][0] == "image" and one.path != two.path
kept = arenac.compile(model, folder="kept", name="kws")
assert kept.path.endswith("kept/kws.py") and (np.asarray(kept.run(x)[0]) == want).all()
X
# the new environment does not see the packages of one that it was made from
numpy=$("$python" -c 'import numpy, os; print(os.path.dirname(os.path.dirname(numpy.__file__)))' 2>/dev/null || true)
PYTHONPATH=$numpy env/bin/python use.py "$m" || fail "import arenac"
cp -r "$src/python/arenac" . && if env/bin/python -m mypy --version >/dev/null 2>&1; then
    env/bin/python -m mypy --strict arenac use.py --allow-untyped-calls || fail "types"
fi
# The LLVM backend, with LLVM inside: found from the tool's place, and it needs no library of LLVM's.
if [ -e /usr/lib/llvm-19/lib/libLLVMCore.a ] && [ -e /usr/include/zstd.h ] && command -v g++ >/dev/null; then
    "$python" -m pip wheel -q --no-build-isolation --no-deps --no-index -w llvm $launcher "$src/python/llvm" \
        >log.txt 2>&1 ||
        { tail -50 log.txt; die "the wheel of the LLVM backend is not built"; }
    expect 8 "needs the backend llvm" env/bin/arenac compile "$m.tflite" --emit o -o none
    env/bin/python -m pip install -q --no-index --no-deps llvm/arenac_llvm-"$version"-py3-none-*.whl
    env/bin/arenac run -q --backend llvm "$m.tflite" --input 0="$m.in0.0.npy" --compare 0="$m.out0.0.npy" ||
        fail "--backend llvm"
    ! ldd env/lib/arenac/arenac-llvm.so | grep -q -i -e llvm -e stdc++ || fail "LLVM is not inside"
else
    echo "skipped: LLVM's static libraries are missing: install llvm-19-dev g++ libzstd-dev zlib1g-dev libxml2-dev"
fi
ls env/lib/python*/site-packages/arenac/py.typed >/dev/null || fail "no py.typed"
exit $bad
