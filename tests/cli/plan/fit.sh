#!/bin/sh
# fit: each board of the list, with what plan says of it alone; boards of one target; a model for none; JSON. usage:
# fit.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
boards=$("$arenac" targets --boards | grep -c '^[a-z]')
expect 0 "fits on $boards of $boards boards" "$arenac" fit "$models/digits_int8.tflite"
cat >wide.ag <<'M'
graph wide {
  input  x: i8[1,128,128,8] q(0.05, -3)
  const  w1: i8[24,3,3,8] q(0.01, 0) = random 1 (-127, 127)
  const  w2: i8[8,3,3,24] q(0.01, 0) = random 2 (-127, 127)
  a: i8[1,128,128,24] q(0.3, 5) = conv_2d(x, w1, _) padding=same stride_h=1 stride_w=1 act=relu
  b: i8[1,64,64,8] q(0.3, 5) = conv_2d(a, w2, _) padding=same stride_h=2 stride_w=2 act=relu
  output b
}
M
expect 0 'wide.ag fits on [1-9]' "$arenac" fit wide.ag
cp out.txt wide.txt
awk '/^  [a-z]/ && $1 != "board"' wide.txt >rows.txt
[ "$(wc -l <rows.txt)" = "$boards" ] || fail "not a row for each board"
plan() { # BOARD OPTION...: its status
    b=$1
    shift
    "$arenac" plan -q wide.ag --board "$b" "$@" >/dev/null 2>&1
    echo $?
}
while read -r board _ _ flash of answer; do
    case $answer in
    'yes, with --stripe auto') [ "$(plan "$board")" = 4 ] && [ "$(plan "$board" --stripe auto)" = 0 ] ;;
    yes) [ "$(plan "$board")" = 0 ] ;;
    'no: RAM'*) [ "$(plan "$board")" = 4 ] && [ "$(plan "$board" --stripe auto)" = 4 ] ;;
    'no: flash'*) [ "$(echo "$flash" | tr -d ,)" -gt "$(echo "$of" | tr -d ,)" ] ;;
    *) false ;;
    esac || fail "$board: $answer, but plan says $(plan "$board"), with stripes $(plan "$board" --stripe auto)"
done <rows.txt
for answer in 'yes$' 'yes, with --stripe auto' 'no: RAM'; do
    grep -q "$answer" rows.txt || fail "no board has the answer $answer"
done

expect 0 'fits on 1 of 1 boards' "$arenac" fit "$models/digits_int8.tflite" -t cortex-m0
expect 2 "no board has target 'x86-64-v3'" "$arenac" fit "$models/digits_int8.tflite" -t x86-64-v3
sed 's/128,128/4096,4096/g; s/64,64/2048,2048/' wide.ag >large.ag
expect 4 'fits on none of' "$arenac" fit large.ag -t cortex-m4
expect 4 'is the nearest: no: RAM' "$arenac" fit large.ag -t cortex-m4
expect 1 'E0' "$arenac" fit "$src/README.md"
"$arenac" fit wide.ag --json >fit.json || fail "no JSON"
! have python3 python3 || python3 "$src/tests/docs/schema.py" "$src/docs/arenac.schema.json" fit.json ||
    fail "the JSON is not that of the schema"
exit $bad
