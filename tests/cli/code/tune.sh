#!/bin/sh
# bench --tune and --tuned: the file is written and read back; a hint changes the loops but not the result; a file of
# another model, target or version is ignored with a warning that names it; lines that fit no step are counted; broken
# files are E0020. usage: tune.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
cat >m.ag <<'M'
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
t=x86-64-v3 v=$("$arenac" --version | sed 's/arenac //')

# measured here
"$arenac" bench m.ag --tune --runs 3 >out 2>&1 || die "bench --tune: $(cat out)"
grep -q '^median_ms=' out || die "no times"
[ "$(head -1 m.tune)" = "arenac-tune 1" ] || die "m.tune: $(cat m.tune)"
"$arenac" run m.ag --random 7 --output-dir plain >log 2>&1
"$arenac" run m.ag --random 7 --tuned m.tune --output-dir tuned >log 2>&1
! grep -q W0002 log || die "the file just written: $(cat log)"
cmp plain/0.npy tuned/0.npy || die "a measured schedule changes the result"

# written by hand: version, target, model, lines
tune() {
    printf 'arenac-tune 1\nversion %s\ntarget %s\nmodel %s\n\n' "$1" "$2" "$3"
    shift 3
    printf '%s\n' "$@"
}
sha=$(sha256sum m.ag | cut -d' ' -f1)
first="0 5 2 0 conv_2d first%20one"
tune "$v" $t "$sha" '# tiles' "$first" '1 3 1 0 depthwise_conv_2d second  # why' '2 2 3 0 conv_2d third' \
    '3 3 2 0 batch_matmul fourth' >hand.tune
for k in 0 1 2 3; do
    "$arenac" show m.ag -t $t --loops $k >a.txt 2>&1
    "$arenac" show m.ag -t $t --loops $k --tuned hand.tune >b.txt 2>&1
    ! cmp -s a.txt b.txt || die "step $k: the loops are the same"
    ! grep -q W0002 b.txt || die "warning: $(head -3 b.txt)"
done
"$arenac" run -q m.ag -t $t --backend eval --random 7 --output-dir plain
"$arenac" run -q m.ag -t $t --backend eval --random 7 --tuned hand.tune --output-dir tuned
cmp plain/0.npy tuned/0.npy || die "a hint changes the result"
"$arenac" compile -q m.ag -t $t --tuned hand.tune -o m.c
grep -q -- '--tuned hand.tune' m.h || die "the header does not name the file"
tune "$v" $t "$sha" '0 99 9 0 conv_2d first%20one' >odd.tune # fits no register file: the cost model chooses
"$arenac" show m.ag -t $t --loops 0 >a.txt
"$arenac" show m.ag -t $t --loops 0 --tuned odd.tune >b.txt
cmp a.txt b.txt || die "a tile that does not fit is used"

# of something else
ignored() { # FILE WORD
    expect 0 "warning\[W0002\].* $2" "$arenac" compile m.ag -t $t --tuned "$1" --name m -o other.c
    "$arenac" compile -q m.ag -t $t --name m -o same.c 2>/dev/null
    sed 's/ --tuned [a-z.]*//; s/other\./same./' other.c | cmp - same.c || die "$1 is not ignored"
}
tune "$v" x86-64-v4 "$sha" "$first" >target.tune
ignored target.tune target
tune 9.9.9 $t "$sha" "$first" >version.tune
ignored version.tune version
tune "$v" $t 0123 "$first" >model.tune
ignored model.tune model
tune "$v" $t "$sha" '0 5 2 0 conv_2d other' '77 5 2 0 conv_2d first%20one' '0 5 2 0 add first%20one' >names.tune
ignored names.tune "3 lines of the tune file name no step"
tune "$v" $t "$sha" '0 5 2 4 conv_2d first%20one' >winograd.tune
ignored winograd.tune "for --winograd"

# broken
refused() { # STATUS TEXT FILE
    expect "$1" "$2" "$arenac" plan m.ag -t $t --tuned "$3"
}
: >empty.tune
refused 1 E0020 empty.tune
echo hello >text.tune
refused 1 E0020 text.tune
printf 'arenac-tune 1\nversion\n' >short.tune
refused 1 E0020 short.tune
tune "$v" $t "$sha" '0 5 2' >row.tune
refused 1 'row.tune:6:.*E0020' row.tune
refused 3 E0301 missing.tune
expect 2 '' "$arenac" bench - --tune <m.ag
echo "tune: results stay equal"
