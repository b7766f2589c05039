#!/bin/sh
# docs/add-target.md, followed: the row of its example goes into targets.def, arenac is linked anew, and the page's
# promises are checked. usage: add_target.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
build=$(dirname "$arenac")
link=CMakeFiles/arenac.dir/link.txt
[ -f "$build/$link" ] || { echo "skipped: this build has no Makefiles (cmake -G 'Unix Makefiles')"; exit 77; }
require nm binutils
built_with=$(cut -d' ' -f1 "$build/$link") # what arenac was built with
row=$(grep -A1 '^TARGET( "toy-x86"' "$src/docs/add-target.md") || die "the page has no example"
mkdir codegen
echo "$row" >row
awk '/^TARGET\( "cortex-m0plus"/ { while ((getline line <"row") > 0) print line } { print }' \
    "$src/codegen/targets.def" >codegen/targets.def
grep -q toy-x86 codegen/targets.def || die "the row is not in"
cp "$src/codegen/targets.c" targets.c
san=
! nm "$arenac" 2>/dev/null | grep -q __asan_init || san="-fsanitize=address,undefined"
# shellcheck disable=SC2086
$built_with -std=gnu11 -O1 $san -I. -I"$src" -I"$build/made" -c targets.c -o targets.o ||
    die "targets.c does not compile"
# the build's own command, with our targets.o in front of the library that has the other
(cd "$build" && eval "$(sed "s| -o arenac | $tmp/targets.o -o $tmp/arenac |" "$link")") >log 2>&1 ||
    { cat log; die "arenac does not link"; }
new=$tmp/arenac
"$new" targets | grep -q 'toy-x86' || die "arenac targets does not list it"
"$new" show "$models/dsnet_f32.tflite" -t toy-x86 --loops 2 >loops
grep -q 'f32x8' loops || die "no vectors of 32 bytes"
! grep -q 'f32x16' loops || die "vectors of 64 bytes"
"$new" compile -q "$models/dsnet_f32.tflite" -t toy-x86 --name m -o m.c
grep -q 'buf x in f32 .* align 32 ' loops || die "tensors are not aligned to 32 bytes"
compilers
for c in $cc; do
    $c -std=c99 -O1 -Wall -Wextra -Wpedantic -Wconversion -Werror -c m.c -o m.o || die "$c"
done
for m in dsnet_f32 digits_int8; do
    "$new" run -q "$models/$m.tflite" -t toy-x86 --random 3 --backend eval --output-dir eval
    if "$arenac" run -q "$models/$m.tflite" -t x86-64-v3 --random 3 2>/dev/null; then
        "$new" run -q "$models/$m.tflite" -t toy-x86 --random 3 --output-dir c
        cmp eval/0.npy c/0.npy || die "$m: C and the evaluator differ"
    else
        echo "skipped: this machine does not run x86-64-v3: the evaluator only"
    fi
done
"$arenac" run -q "$models/digits_int8.tflite" -t generic --random 3 --backend eval --output-dir generic
cmp eval/0.npy generic/0.npy || die "integers differ from those of another target"
echo "the target of docs/add-target.md works"
