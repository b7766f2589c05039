#!/bin/sh
# docs/add-option.md, add-output.md and add-reduction.md, followed: their rows and functions go into copies, driver/ and
# the planner of graphs are compiled anew, and what the pages promise is checked. usage: add_rows.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
build=$(dirname "$arenac")
link=CMakeFiles/arenac.dir/link.txt
[ -f "$build/$link" ] || { echo "skipped: this build has no Makefiles (cmake -G 'Unix Makefiles')"; exit 77; }
require nm binutils
built_with=$(cut -d' ' -f1 "$build/$link")
san=
! nm "$arenac" 2>/dev/null | grep -q __asan_init || san="-fsanitize=address,undefined"
mkdir -p driver/request driver/emit planner/graph cli objects

code() { # PAGE: its lines of C
    awk '/^```c$/ { code = 1; next } /^```$/ { code = 0 } code' "$src/docs/$1"
}
rows() { # START FILE AFTER: rows of the pages go into a copy, after the row that begins with AFTER
    cat "$src"/docs/add-option.md "$src"/docs/add-output.md "$src"/docs/add-reduction.md |
        awk -v start="$1" 'index($0, start) == 1 { row = 1 } row { print } /\)$/ { row = 0 }' >row
    [ -s row ] || die "the pages have no row $1"
    awk -v after="$3" '{ print } index($0, after) == 1 { row = 1 }
        row && /\)$/ { row = 0; while ((getline line <"row") > 0) print line }' "$src/$2" >"$2"
    ! cmp -s "$src/$2" "$2" || die "the row is not in $2"
}
rows 'OPT(' driver/request/options.def 'OPT(emit,'
rows 'OUTPUT(' driver/emit/outputs.def 'OUTPUT("lock"'
rows 'REDUCTION(' planner/graph/reductions.def 'REDUCTION(RECOMPUTE,'
sed -n 's/^columns(\(.*\))$/\1/p' "$src/CMakeLists.txt" >parts
while read -r table part which; do # of our tables, as CMake makes them
    [ ! -f "$table.def" ] || cmake -D DEF="$table.def" -D OUT="${table}_$part.def" -D COLUMNS="$which" \
        -P "$src/cmake/columns.cmake"
done <parts
cmake -D DEF=driver/request/options.def -D FIELDS=driver/request/options_fields.def \
    -D WORDS=driver/request/options_words.def -P "$src/cmake/words.cmake"
code add-reduction.md >planner/graph/late.c
code add-output.md >function
awk '/^\/\* The files of runtime/ { while ((getline line <"function") > 0) print line; print "" } { print }' \
    "$src/driver/emit/outputs.c" | sed 's|#include "host/.*|&\n#include "planner/pack/place.h"|' >driver/emit/outputs.c
grep -q put_sizes driver/emit/outputs.c || die "the function is not in outputs.c"

# Compiles the files that include the tables, and links with the build's command, with ours before the libraries with
# the original ones.
for f in "$src"/driver/*/*.c "$src"/planner/graph/*.c planner/graph/late.c "$src/cli/args.c"; do
    own=${f#"$src"/}
    [ -f "$own" ] || own=$f
    echo "$own"
done >files
# shellcheck disable=SC2086
xargs -P 2 -I{} sh -c "$built_with -std=gnu11 -O0 -Wall -Wextra -Werror -D_GNU_SOURCE -DARENAC_VERSION='\"0\"' $san \
    -I. -I'$src' -I'$build/made' -I'$src/runtime' -c {} -o objects/\$(echo {} | tr '/' '_').o" <files >log 2>&1 ||
    { cat log; die "the pages do not compile"; }
with_ours=$(sed "s| [^ ]*cli/args.c.o | |; s| -o arenac | $tmp/objects/*.o -o $tmp/arenac |" "$build/$link")
(cd "$build" && eval "$with_ours") >log 2>&1 ||
    { cat log; die "arenac does not link"; }
new=$tmp/arenac

cat >late.ag <<'E2'
graph late {
  input x: f32[64]
  const few: i32[1] = [16]
  const many: i32[1] = [32]
  const axis: i32[1] = [0]
  a = tile(x, few)
  b = tile(x, many)
  c = sum(b, axis)
  d = sum(a, axis)
  y = add(c, d)
  output y
}
E2
# the option: help, a bad value, the verbs that take it
"$new" plan --help-all | grep -q -e '--largest 1\.\. .*limit --emit sizes' || die "--largest is not in the help"
expect 2 "bad argument '0' of --largest, expected 1\.\." "$new" plan late.ag --largest 0
expect 2 "did you mean '--largest'" "$new" plan late.ag --largets 1
expect 2 '' "$new" show late.ag --largest 1
"$new" completion bash | grep -q -e '--largest' || die "completion does not know --largest"
# the output
"$new" plan -q late.ag --emit sizes --largest 2 -o late.sizes
[ "$(cat late.sizes)" = "$(printf 'b 8192\na 4096')" ] || { cat late.sizes; die "not the largest items"; }
expect 2 "did you mean 'sizes'?" "$new" plan late.ag --emit size
"$new" help plan | grep -q '^  sizes .*names and bytes' || die "--emit sizes is not in the help"
# the reduction: smaller if requested, suggested if not, and in the line of options
arenac=$new
[ "$(arena_bytes late.ag)" -gt "$(arena_bytes late.ag --late)" ] || die "--late takes as much"
verified late.ag --late
sed 's/x: f32\[64\]/x: f32[65536]/' late.ag >large.ag # so large that it is named only
expect 4 'may take less with .*--late' "$new" plan large.ag --budget 10000
"$new" compile -q late.ag --late --emit c -o late.c
grep -q 'options: .*--late' late.c || die "--late is not among the options of the file"
echo "the option, the output and the reduction of the pages work"
