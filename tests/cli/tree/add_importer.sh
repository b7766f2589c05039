#!/bin/sh
# docs/add-importer.md, followed: the format of its example is built into arenac and a fuzz target, and the page's
# promises are checked. usage: add_importer.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
build=$(dirname "$arenac")
page=$src/docs/add-importer.md
link=$build/CMakeFiles/arenac.dir/link.txt fuzz=$build/tests/CMakeFiles/fuzz_text.dir/link.txt
[ -f "$link" ] && [ -f "$fuzz" ] ||
    { echo "skipped: this build has no Makefiles (cmake -G 'Unix Makefiles')"; exit 77; }
require nm binutils
cc=$(cut -d' ' -f1 "$link") # what arenac was built with

# each block of C in the page is a file, named by its first line
mkdir -p "$tmp/import/toy"
awk -v to="$tmp/import/toy/" '/^```c$/ { getline; name = $2; on = 1 }
    /^```$/ { on = 0 }
    on { print > (to name) }' "$page"
grep -q '`FORMAT(toy, "toy")`' "$page" || die "the page has no row for formats.def"
sed 's#^FORMAT(onnx,.*#&\nFORMAT(toy, "toy")#' "$src/import/formats.def" >"$tmp/import/formats.def"
grep -q 'FORMAT(toy' "$tmp/import/formats.def" || die "the row is not in"
row=$(sed -n 's/.*`import\/<format>: \([a-z/ ]*\)`.*/\1/p' "$page")
for inc in $(sed -n 's/^#include "\(.*\)\/[^/]*"/\1/p' "$tmp/import/toy/toy.c"); do
    case " $row import/toy " in *" $inc "*) ;; *) die "toy.c includes $inc/, which the row does not allow" ;; esac
done

# compiled, and linked by the build's own commands, our objects in front of the libraries
san=
! nm "$arenac" 2>/dev/null | grep -q __asan_init || san="-fsanitize=address,undefined"
warn="-Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror"
compile() {
    # shellcheck disable=SC2086
    $cc -std=gnu11 -O1 $warn $san -D_GNU_SOURCE -I"$tmp" -I"$src" -I"$build/made" -c "$1" \
        -o "$tmp/$2.o" || die "$1 does not compile"
}
cp "$src/import/import.c" "$tmp/import.c"
compile "$tmp/import.c" import
compile "$tmp/import/toy/toy.c" toy
compile "$tmp/import/toy/fuzz_toy.c" fuzz_toy
new=$tmp/arenac toy="$tmp/import.o $tmp/toy.o"
(cd "$build" && eval "$(sed "s| -o arenac | $toy -o $new |" "$link")") >"$tmp/log" 2>&1 ||
    { cat "$tmp/log"; die "arenac does not link"; }
own=CMakeFiles/fuzz_text.dir/fuzz/fuzz_text.c.o
(cd "$build/tests" && eval "$(sed "s|$own|$tmp/fuzz_toy.o $toy|; s| -o fuzz_text | -o $tmp/fuzz_toy |" "$fuzz")") \
    >"$tmp/log" 2>&1 || { cat "$tmp/log"; die "the fuzz target does not link"; }

"$new" ops >"$tmp/ops"
grep -q '^toy$' "$tmp/ops" || die "arenac ops does not list the format"
printf 'toynet\nin x 4\nRelu y x\nScale z y by=0.25\nReciprocal w y\nout y\nout z\nout w\n' >"$tmp/closed.toy"
"$new" check -q "$tmp/closed.toy" || die "a good net is refused"
"$new" show --emit ag "$tmp/closed.toy" >"$tmp/ag"
grep -q 'y: f32\[4\] = relu(x)' "$tmp/ag" || die "the graph is another one"
"$new" plan -q "$tmp/closed.toy" --outputs y || die "--outputs does not work"
"$new" run -q "$tmp/closed.toy" --random 3 --backend eval --output-dir "$tmp/out" || die "it cannot be run"
[ -s "$tmp/out/1.npy" ] || die "an output is missing"

printf 'toynet\nin x ?\nRelu y x\nScale z y\nout z\n' >"$tmp/open.toy"
"$new" plan -q "$tmp/open.toy" --dim x.0=8 || die "a net with an unknown size is refused"
"$new" plan "$tmp/open.toy" >"$tmp/said" 2>&1 && die "a size is missing, and nobody minds"
grep -q -- '--dim x.0=N' "$tmp/said" || die "the way out is not named"

# status WANT FILE: the output is in $tmp/said
status() {
    got=0
    "$new" check "$2" >"$tmp/said" 2>&1 || got=$?
    [ "$got" = "$1" ] || { cat "$tmp/said"; die "$2: exit $got, expected $1"; }
}
printf 'toynet\nin x 4\nNoise y x\nFoo z x\nout x\n' >"$tmp/beyond.toy"
status 8 "$tmp/beyond.toy"
grep -q 'it draws random numbers' "$tmp/said" && grep -q 'operator Foo is not supported' "$tmp/said" ||
    die "not all that is beyond arenac is listed"
printf 'toynet\nin x 4\nRelu y w\nout y\n' >"$tmp/bad.toy"
status 1 "$tmp/bad.toy"
grep -q 'bad.toy:3' "$tmp/said" || die "the line is not named"
printf 'toynet\nin x 4\nScale y x by=-1\nout y\n' >"$tmp/range.toy"
status 1 "$tmp/range.toy"
grep -q "attribute 'by' is -1, expected a float from 0 to 1024" "$tmp/said" ||
    die "a value out of range is not reported"
printf 'toynet\nin x 4\nRelu y x by=1\nout y\n' >"$tmp/unread.toy"
status 8 "$tmp/unread.toy"
printf 'toynet\nin x 0\n' >"$tmp/size.toy"
status 1 "$tmp/size.toy"
"$tmp/fuzz_toy" "$tmp"/*.toy "$src"/models/*.* || die "the fuzz target found something"
echo "the format of docs/add-importer.md works"
