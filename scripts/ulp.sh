#!/bin/sh
# ulp.sh - the float functions of generated code against double, over all floats: one or two minutes for each function.
# usage: ulp.sh [STEP [FUNCTION...]]      every STEP-th block of 65,536 neighbouring floats (default 1: all)
# The bounds are those of docs/numerics.md.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
step=${1:-1}
[ $# -gt 0 ] && shift
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
grep -q '^flags.* fma' /proc/cpuinfo 2>/dev/null || { echo "this processor has no fma: not checked"; exit 0; }
bad=0
check() { # OPERATOR DOUBLE LIMIT [v: not constant beyond +-200]
    printf 'graph g {\n  input x: f32[65536]\n  y = %s(x)\n  output y\n}\n' "$1" >"$tmp/g.ag"
    "$root/build/arenac" compile -q "$tmp/g.ag" -t x86-64-v2 --name a -o "$tmp/a.c"
    "$root/build/arenac" compile -q "$tmp/g.ag" -t x86-64-v3 --name b -o "$tmp/b.c"
    flags="-std=gnu11 -DWANT=$2 -DLIMIT=$3 -DCLAMP(c,v)=${4:-c} -I$tmp"
    # shellcheck disable=SC2086
    ${CC:-cc} $flags -Ofast -march=native -DFAST -c "$root/scripts/ulp.c" -o "$tmp/fast.o"
    # shellcheck disable=SC2086
    ${CC:-cc} $flags -O2 -ffp-contract=off "$root/scripts/ulp.c" "$tmp/a.c" "$tmp/b.c" "$tmp/fast.o" -lm -o "$tmp/ulp"
    printf '%-9s at most %s: ' "$1" "$3"
    "$tmp/ulp" "$step" || { bad=1; echo "$1: over the bound"; }
}
for f in ${*:-exp tanh logistic erf log elu}; do
    case $f in
    exp) check exp exp 1.05 ;;
    tanh) check tanh tanh 1.34 ;;
    logistic) check logistic sigmoid 2.41 ;;
    erf) check erf erf 2.66 ;;
    log) check log log 0.85 v ;;
    elu) check elu elu 1.04 v ;;
    *) echo "unknown function $f" && exit 2 ;;
    esac
done
exit $bad
