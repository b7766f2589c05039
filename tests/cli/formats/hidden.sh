#!/bin/sh
# Names with direction marks, terminal controls and invalid UTF-8: generated code, messages and reports never contain
# them unescaped. usage: hidden.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
cat >t.ag <<'G'
graph g {
  input "x\xe2\x80\xae1": f32[1,4]
  "y\x1b[31m\xe2\x81\xa6": f32[1,4] = add("x\xe2\x80\xae1", "x\xe2\x80\xae1")
  "z\xff\xc2\x9b": f32[1,4] = relu("y\x1b[31m\xe2\x81\xa6")
  "w\xe2\x80\xa8": f32[1,4] = relu("z\xff\xc2\x9b")
  output "w\xe2\x80\xa8"
}
G
sed 's/= relu.*/= relu("none\\xe2\\x80\\xae")/' t.ag >wrong.ag
sed '/  "w/d; s/"w.*"$/"z\\xff\\xc2\\x9b"/' t.ag >good.ag
hidden=$(printf '\342\200\256\\|\342\201\246\\|\033\\|\377\\|\302\233\\|\342\200\250')
clean() { # FILE: nothing of it is hidden
    [ -s "$1" ] || fail "$1 is empty"
    ! LC_ALL=C grep -n "$hidden" "$1" | cat -v | grep . || fail "$1 has hidden characters"
}
"$arenac" compile good.ag -q --random 1 --emit c,h,selftest -o g || fail 'no code'
clean g.c
clean g.h
clean g.selftest.c
grep -q 'x<U+202E>1' g.c && grep -q 'z<FF><U+009B>' g.h || fail 'names are not shown'
"$arenac" compile good.ag -q --emit cu -t cuda-sm80 -o g.cu && clean g.cu
"$arenac" plan good.ag -vv >plan.txt || fail 'no report'
clean plan.txt
"$arenac" show good.ag >show.txt || fail 'no listing'
clean show.txt
"$arenac" run good.ag --random 1 --backend eval >run.txt || fail 'no run'
clean run.txt
expect 1 'none<U+202E>' "$arenac" check wrong.ag
clean err.txt
expect 2 '' "$arenac" check good.ag --dim "$(printf 'a\342\200\256\033b=1')"
clean err.txt
bidi=$(printf 'no\342\200\256.ag')
expect 3 'no<U+202E>.ag: error' "$arenac" check "$bidi"
clean err.txt
exit $bad
