#!/bin/sh
# bench --tune and --tuned: the file is written and read back; a told tile changes the loops and not one bit of the result; a file of another
# model, target or version is ignored with a warning that says which; lines that fit no step are counted; broken files are E0020.
# usage: tune.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
cat >"$tmp/m.ag" <<'M'
graph m {
  input  x: f32[1,9,17,16]
  const  w1: f32[48,3,3,16] = random 1 (-0.2, 0.2)
  const  w2: f32[1,3,3,48] = random 3 (-0.2, 0.2)
  const  w3: f32[40,1,1,48] = random 4 (-0.2, 0.2)
  const  y: f32[40,30] = random 5 (-0.2, 0.2)
  a = conv_2d(x, w1, _) padding=same act=relu "first one"
  b = depthwise_conv_2d(a, w2, _) padding=same "second"
  c = conv_2d(b, w3, _) padding=same "third"
  d = batch_matmul(c, y) "fourth"
  output d
}
M
m=$tmp/m.ag t=x86-64-v3 v=$("$arenac" --version | sed 's/arenac //')
cd "$tmp"

# measured here
"$arenac" bench m.ag --tune --runs 3 >out 2>&1 || fail "bench --tune: $(cat out)"
grep -q '^median_ms=' out || fail "no times"
[ "$(head -1 m.tune)" = "arenac-tune 1" ] || fail "m.tune: $(cat m.tune)"
"$arenac" run m.ag --random 7 --output-dir plain >log 2>&1
"$arenac" run m.ag --random 7 --tuned m.tune --output-dir tuned >log 2>&1
! grep -q W0002 log || fail "the file just written: $(cat log)"
cmp plain/0.npy tuned/0.npy || fail "a measured schedule changes the result"

# written by hand
head_of() { printf 'arenac-tune 1\nversion %s\ntarget %s\nmodel %s\n\n' "$1" "$2" "$3"; }
sha=$(sha256sum m.ag | cut -d' ' -f1)
{ head_of "$v" $t "$sha"; printf '# tiles\n0 5 2 0 conv_2d first%%20one\n1 3 1 0 depthwise_conv_2d second  # why\n2 2 3 0 conv_2d third\n3 3 2 0 batch_matmul fourth\n'; } >hand.tune
for k in 0 1 2 3; do
    "$arenac" show m.ag -t $t --loops $k >a.txt 2>&1
    "$arenac" show m.ag -t $t --loops $k --tuned hand.tune >b.txt 2>&1
    ! cmp -s a.txt b.txt || fail "step $k: the loops are the same"
    ! grep -q W0002 b.txt || fail "warning: $(head -3 b.txt)"
done
"$arenac" run -q m.ag -t $t --backend eval --random 7 --output-dir plain
"$arenac" run -q m.ag -t $t --backend eval --random 7 --tuned hand.tune --output-dir tuned
cmp plain/0.npy tuned/0.npy || fail "a told schedule changes the result"
"$arenac" compile -q m.ag -t $t --tuned hand.tune -o m.c
grep -q -- '--tuned hand.tune' m.h || fail "the header does not name the file"
{ head_of "$v" $t "$sha"; printf '0 99 9 0 conv_2d first%%20one\n'; } >odd.tune # fits no register file: the cost model chooses
"$arenac" show m.ag -t $t --loops 0 >a.txt
"$arenac" show m.ag -t $t --loops 0 --tuned odd.tune >b.txt
cmp a.txt b.txt || fail "a tile that does not fit is used"

# of something else
ignored() { # FILE WORD
    "$arenac" compile m.ag -t $t --tuned "$1" --name m -o other.c >log 2>&1 || fail "$1: exit $?"
    grep -q "warning\[W0002\].* $2" log || fail "$1: $(cat log)"
    "$arenac" compile -q m.ag -t $t --name m -o same.c 2>/dev/null
    sed 's/ --tuned [a-z.]*//; s/other\./same./' other.c | cmp - same.c || fail "$1 is not ignored"
}
{ head_of "$v" x86-64-v4 "$sha"; sed 1,5d hand.tune; } >target.tune && ignored target.tune target
{ head_of 9.9.9 $t "$sha"; sed 1,5d hand.tune; } >version.tune && ignored version.tune version
{ head_of "$v" $t 0123; sed 1,5d hand.tune; } >model.tune && ignored model.tune model
{ head_of "$v" $t "$sha"; printf '0 5 2 0 conv_2d other\n77 5 2 0 conv_2d first%%20one\n0 5 2 0 add first%%20one\n'; } >names.tune
ignored names.tune "3 lines of the tune file name no step"
{ head_of "$v" $t "$sha"; printf '0 5 2 4 conv_2d first%%20one\n'; } >winograd.tune && ignored winograd.tune "for --winograd"

# broken
refused() { # WANT FILE
    status=0
    "$arenac" plan m.ag -t $t --tuned "$2" >log 2>&1 || status=$?
    [ $status = "$1" ] || fail "$2: exit $status: $(cat log)"
}
: >empty.tune && refused 1 empty.tune
printf 'hello\n' >text.tune && refused 1 text.tune
printf 'arenac-tune 1\nversion\n' >short.tune && refused 1 short.tune
{ head_of "$v" $t "$sha"; printf '0 5 2\n'; } >row.tune && refused 1 row.tune
grep -q 'row.tune:6:.*E0020' log || fail "no place: $(cat log)"
refused 3 missing.tune
status=0; "$arenac" bench - --tune <m.ag >log 2>&1 || status=$?
[ $status = 2 ] || fail "standard input: exit $status"
echo "tune: results stay equal"
