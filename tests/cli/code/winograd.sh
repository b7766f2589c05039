#!/bin/sh
# --winograd: off by default; the same bits from the evaluator, C and LLVM and for any number of threads; results stay
# within the tolerance of floats. Refusals: tests/golden/cli/W0002-*winograd*. usage: winograd.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
quick="-O1" # of the host compiler: the bits do not depend on it
CC=${CC:-cc}
printf '#!/bin/sh\nexec %s "$@" %s\n' "$CC" "$quick" >cc && chmod +x cc
CC=$tmp/cc
export CC

cat >m.ag <<'M'
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
"$arenac" run -q m.ag -t native --random 7 --backend eval --output-dir plain
for w in 2 4; do
    "$arenac" run -q m.ag -t native --winograd=$w --random 7 --backend eval --output-dir "eval$w"
    "$arenac" run -q m.ag -t native --winograd=$w --random 7 --output-dir "c$w"
    cmp "eval$w/0.npy" "c$w/0.npy" || die "F($w x $w): the evaluator and C differ"
    "$arenac" run -q m.ag -t native --winograd=$w --random 7 --threads 3 --backend eval --output-dir "t$w"
    cmp "eval$w/0.npy" "t$w/0.npy" || die "F($w x $w): threads change the result"
    if "$arenac" run -q m.ag -t native --winograd=$w --random 7 --backend llvm --output-dir l$w 2>err; then
        cmp "eval$w/0.npy" "l$w/0.npy" || die "F($w x $w): the evaluator and LLVM differ"
    else
        grep -q 'E0502\|LLVM' err && ! have_llvm || die "LLVM: $(cat err)"
    fi
    ! cmp -s "eval$w/0.npy" plain/0.npy || die "--winograd=$w changes nothing"
    "$arenac" run -q m.ag -t native --winograd=$w --random 7 --compare 0=plain/0.npy ||
        die "F($w x $w) is too far from the direct sum"
done
"$arenac" compile -q m.ag -t x86-64-v3 --winograd=2 --name m -o m.c
grep -q -- '--winograd=2' m.h || die "the header does not name the option"
echo "winograd: one result"
