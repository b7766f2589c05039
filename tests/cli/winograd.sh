#!/bin/sh
# --winograd: off unless asked for; the same bits from the evaluator, C and LLVM and for any number of threads; the answer stays within the
# tolerance of floats; what does not take it is named.
# usage: winograd.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
quick="-O1" # of the host compiler: the bits do not depend on it
CC=${CC:-cc}
printf '#!/bin/sh\nexec %s "$@" %s\n' "$CC" "$quick" >"$tmp/cc" && chmod +x "$tmp/cc"
CC=$tmp/cc
export CC

cat >"$tmp/m.ag" <<'M'
graph m {
  input  x: f32[1,15,18,16]
  const  w1: f32[24,3,3,16] = random 1 (-0.2, 0.2)
  const  b1: f32[24] = random 2 (-1, 1)
  const  w2: f32[24,3,3,24] = random 3 (-0.2, 0.2)
  const  w3: f32[8,3,3,24] = random 4 (-0.2, 0.2)
  a = conv_2d(x, w1, b1) padding=same act=relu "first"
  b = conv_2d(a, w2, _) padding=same "second"
  c = add(a, b) "sum"
  d = conv_2d(c, w3, _) padding=valid stride_h=2 stride_w=2 "third"
  output d
}
M
"$arenac" run -q "$tmp/m.ag" -t native --random 7 --backend eval --output-dir "$tmp/plain"
for w in 2 4; do
    "$arenac" run -q "$tmp/m.ag" -t native --winograd=$w --random 7 --backend eval --output-dir "$tmp/eval$w"
    "$arenac" run -q "$tmp/m.ag" -t native --winograd=$w --random 7 --output-dir "$tmp/c$w"
    cmp "$tmp/eval$w/0.npy" "$tmp/c$w/0.npy" || fail "F($w x $w): the evaluator and C differ"
    "$arenac" run -q "$tmp/m.ag" -t native --winograd=$w --random 7 --threads 3 --backend eval --output-dir "$tmp/t$w"
    cmp "$tmp/eval$w/0.npy" "$tmp/t$w/0.npy" || fail "F($w x $w): threads change the result"
    if "$arenac" run -q "$tmp/m.ag" -t native --winograd=$w --random 7 --backend llvm --output-dir "$tmp/l$w" 2>"$tmp/err"; then
        cmp "$tmp/eval$w/0.npy" "$tmp/l$w/0.npy" || fail "F($w x $w): the evaluator and LLVM differ"
    else
        grep -q 'E0502\|LLVM' "$tmp/err" || fail "LLVM: $(cat "$tmp/err")"
        have_llvm || :
    fi
    ! cmp -s "$tmp/eval$w/0.npy" "$tmp/plain/0.npy" || fail "--winograd=$w changes nothing"
    "$arenac" run -q "$tmp/m.ag" -t native --winograd=$w --random 7 --compare 0="$tmp/plain/0.npy" || fail "F($w x $w) is too far from the direct sum"
done
"$arenac" plan "$tmp/m.ag" -t native --winograd=4 >"$tmp/out" 2>&1
grep -q "note.*2 convolutions take it, 1 do" "$tmp/out" || fail "no note of what is left: $(cat "$tmp/out")"
grep -q "'third': it is for stride 1" "$tmp/out" || fail "no reason"
"$arenac" plan "$src/models/dsnet_int8.tflite" -t native --winograd >"$tmp/out" 2>&1
grep -q 'warning\[W0002\]: --winograd: no convolution' "$tmp/out" || fail "int8: no warning"
"$arenac" plan "$tmp/m.ag" --winograd >"$tmp/out" 2>&1
grep -q "'first': the target has no vectors" "$tmp/out" || fail "generic: no reason"
"$arenac" compile -q "$tmp/m.ag" -t x86-64-v3 --winograd=2 --name m -o "$tmp/m.c"
grep -q -- '--winograd=2' "$tmp/m.h" || fail "the header does not name the option"
status=0
"$arenac" compile -q "$tmp/m.ag" --winograd=3 -o "$tmp/x.c" 2>/dev/null || status=$?
[ $status = 2 ] || fail "--winograd=3 gives $status"
"$arenac" compile --help-all >"$tmp/out"
grep -q -- '--winograd\[=2|4\]' "$tmp/out" || fail "help does not show the option's value"
echo "winograd: one result"
