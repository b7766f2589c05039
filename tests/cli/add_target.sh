#!/bin/sh
# docs/add-target.md, followed: the row of its example goes into targets.def, arenac is linked anew, and the page's promises are checked.
# usage: add_target.sh ARENAC SOURCE_DIR
set -eu
arenac=$1 src=$2
. "$2/tests/cli/require"
build=$(dirname "$arenac")
link=CMakeFiles/arenac.dir/link.txt
[ -f "$build/$link" ] || { echo "skipped: this build has no Makefiles (cmake -G 'Unix Makefiles')"; exit 77; }
require nm binutils
built_with=$(cut -d' ' -f1 "$build/$link") # what arenac was built with
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
fail() { echo "FAILED: $*"; exit 1; }
row=$(grep '^TARGET( "toy-x86"' "$src/docs/add-target.md") || fail "the page has no example"
mkdir "$tmp/codegen"
awk -v row="$row" '/^TARGET\( "cortex-m0plus"/ { print row } { print }' "$src/codegen/targets.def" >"$tmp/codegen/targets.def"
grep -q toy-x86 "$tmp/codegen/targets.def" || fail "the row is not in"
cp "$src/codegen/targets.c" "$tmp/targets.c"
san=
nm "$arenac" 2>/dev/null | grep -q __asan_init && san="-fsanitize=address,undefined"
# shellcheck disable=SC2086
$built_with -std=gnu11 -O1 $san -I"$tmp" -I"$src" -c "$tmp/targets.c" -o "$tmp/targets.o" || fail "targets.c does not compile"
# the build's own command, with our targets.o in front of the library that has the other
(cd "$build" && eval "$(sed "s| -o arenac | $tmp/targets.o -o $tmp/arenac |" "$link")") >"$tmp/log" 2>&1 || { cat "$tmp/log"; fail "arenac does not link"; }
new=$tmp/arenac
"$new" targets | grep -q 'toy-x86' || fail "arenac targets does not list it"
"$new" show "$src/models/dsnet_f32.tflite" -t toy-x86 --loops 2 >"$tmp/loops"
grep -q 'f32x8' "$tmp/loops" || fail "no vectors of 32 bytes"
! grep -q 'f32x16' "$tmp/loops" || fail "vectors of 64 bytes"
"$new" compile -q "$src/models/dsnet_f32.tflite" -t toy-x86 --name m -o "$tmp/m.c"
grep -q 'buf x in f32 .* align 32 ' "$tmp/loops" || fail "tensors are not aligned to 32 bytes"
compilers
for c in $cc; do
    $c -std=c99 -O1 -Wall -Wextra -Wpedantic -Wconversion -Werror -c "$tmp/m.c" -o "$tmp/m.o" || fail "$c"
done
for m in dsnet_f32 digits_int8; do
    "$new" run -q "$src/models/$m.tflite" -t toy-x86 --random 3 --backend eval --output-dir "$tmp/eval"
    if "$arenac" run -q "$src/models/$m.tflite" -t x86-64-v3 --random 3 2>/dev/null; then
        "$new" run -q "$src/models/$m.tflite" -t toy-x86 --random 3 --output-dir "$tmp/c"
        cmp "$tmp/eval/0.npy" "$tmp/c/0.npy" || fail "$m: C and the evaluator differ"
    else
        echo "skipped: this machine does not run x86-64-v3: the evaluator only"
    fi
done
"$arenac" run -q "$src/models/digits_int8.tflite" -t generic --random 3 --backend eval --output-dir "$tmp/generic"
cmp "$tmp/eval/0.npy" "$tmp/generic/0.npy" || fail "integers differ from those of another target"
echo "the target of docs/add-target.md works"
