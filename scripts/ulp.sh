#!/bin/sh
# ulp.sh - the float functions of generated code against double, over all floats: up to four minutes for each function;
# with f64 over random doubles, against libquadmath.
# usage: ulp.sh [STEP [FUNCTION...]]          every STEP-th block of 65,536 neighbouring floats (default 1: all)
#        ulp.sh f64 [COUNT [FUNCTION...]]     COUNT doubles of all binades (default 10000000)
# The bounds are those of docs/numerics.md.
set -eu
root=$(cd "$(dirname "$0")/.." && pwd)
type=f32
[ "${1:-}" != f64 ] || { type=f64; shift; }
case $type in f32) default=1 ;; *) default=10000000 ;; esac
step=${1:-$default}
[ $# -gt 0 ] && shift
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
grep -q '^flags.* fma' /proc/cpuinfo 2>/dev/null || { echo "this processor has no fma: not checked"; exit 0; }
# name; operator with attributes, or that of a format, if it is not that; function in double, if it has another name;
# limit
table='exp           -                        -        1.05
expm1         -                        -        1.72
log           -                        -        0.85
log1p         -                        -        4
softplus      -                        -        4
tanh          -                        -        1.34
sinh          -                        -        4
cosh          -                        -        4
asinh         -                        -        4
acosh         -                        -        4
atanh         -                        -        4
sin           -                        -        4
cos           -                        -        4
tan           -                        -        4
asin          -                        -        4
acos          -                        -        4
atan          -                        -        4
erf           -                        -        2.66
erfc          -                        -        4
logistic      -                        sigmoid  2.41
elu           -                        -        1.04
mish          -                        -        4
swish         -                        -        4
quick         swish(x)_alpha=1.702     -        4
gelu          -                        -        4
gelu_tanh     gelu(x)_approximate=true -        4
sqrt          -                        -        0.5
rsqrt         -                        -        4
selu          onnx:Selu                -        4
celu          onnx:Celu                -        4
hard_sigmoid  onnx:HardSigmoid         -        4
softsign      onnx:Softsign            -        4
cbrt          mxnet:cbrt               -        4
rcbrt         mxnet:rcbrt              -        4'
names=${*:-$(echo "$table" | cut -d' ' -f1)}
bad=0
for f in $names; do
    # shellcheck disable=SC2046
    set -- $(echo "$table" | grep "^$f ") || true
    [ $# -eq 4 ] || { echo "unknown function $f"; exit 2; }
    call=$(echo "$2" | tr _ ' ')
    [ "$2" != - ] || call="$f(x)"
    limit=$4
    [ $type = f32 ] || limit=4
    want=$3
    [ "$3" != - ] || want=$f
    model=g.ag
    case $2 in
    onnx:*)
        [ $type = f32 ] || { echo "$f: no f64"; continue; }
        model=g.onnx
        (cd "$tmp" && PYTHONPATH=$root/tests/golden:$root/models python3 -c "import onnx_bytes as o, pathlib
x, y = ('x', o.F32, [65536]), ('y', o.F32, [65536])
pathlib.Path('g.onnx').write_bytes(o.model(o.graph([o.node('${2#*:}', ['x'], ['y'])], [x], [y])))")
        ;;
    mxnet:*)
        [ $type = f32 ] || { echo "$f: no f64"; continue; }
        model=g-symbol.json
        printf '{"nodes": [{"op": "null", "name": "x", "attrs": {"__shape__": "(65536,)"}, "inputs": []},
{"op": "%s", "name": "y", "inputs": [[0, 0, 0]]}], "arg_nodes": [0], "heads": [[1, 0, 0]]}' "${2#*:}" >"$tmp/$model"
        ;;
    *) printf 'graph g {\n  input x: %s[65536]\n  y = %s\n  output y\n}\n' "$type" "$call" >"$tmp/$model" ;;
    esac
    "$root/build/arenac" compile -q "$tmp/$model" -t x86-64-v2 --name a -o "$tmp/a.c"
    "$root/build/arenac" compile -q "$tmp/$model" -t x86-64-v3 --name b -o "$tmp/b.c"
    if [ $type = f64 ]; then
        ${CC:-cc} -std=gnu11 -O2 -ffp-contract=off -DWANT="${want}q" "-DLIMIT=$limit" "-I$tmp" "$root/scripts/ulp64.c" \
            "$tmp/a.c" "$tmp/b.c" -lquadmath -lm -o "$tmp/ulp"
    else
        flags="-std=gnu11 -DWANT=$want -DLIMIT=$limit -I$tmp"
        # shellcheck disable=SC2086
        ${CC:-cc} $flags -Ofast -march=native -DFAST -c "$root/scripts/ulp.c" -o "$tmp/fast.o"
        # shellcheck disable=SC2086
        ${CC:-cc} $flags -O2 -ffp-contract=off "$root/scripts/ulp.c" "$tmp/a.c" "$tmp/b.c" "$tmp/fast.o" -lm \
            -o "$tmp/ulp"
    fi
    printf '%-12s at most %s: ' "$f" "$limit"
    "$tmp/ulp" "$step" || { bad=1; echo "$f: over the bound"; }
done
exit $bad
