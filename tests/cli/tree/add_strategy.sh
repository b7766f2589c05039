#!/bin/sh
# docs/add-strategy.md, followed: its two pieces of code go into copies, arenac and the test of all strategies are
# linked anew, and the new strategy plans a model and intervals. usage: add_strategy.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
build=$(dirname "$arenac")
link=CMakeFiles/arenac.dir/link.txt test_link=CMakeFiles/test_planner.dir/link.txt
[ -f "$build/$link" ] && [ -f "$build/tests/$test_link" ] ||
    { echo "skipped: this build has no Makefiles (cmake -G 'Unix Makefiles')"; exit 77; }
require nm binutils
cc=$(cut -d' ' -f1 "$build/$link") # what arenac was built with

mkdir -p "$tmp/planner/pack"
page=$src/docs/add-strategy.md
awk '/^```c$/ { code = 1; next } /^```$/ { code = 0 } code' "$page" >"$tmp/solve_longest.c"
row=$(grep '^STRATEGY("longest"' "$page") || die "the page has no row"
def=planner/pack/strategies.def
awk -v row="$row" '{ print } /^STRATEGY\("valley"/ { print row }' "$src/$def" >"$tmp/$def"
grep -q longest "$tmp/$def" || die "the row is not in"
san=
! nm "$arenac" 2>/dev/null | grep -q __asan_init || san="-fsanitize=address,undefined"
for f in "$src/planner/pack/solve.c" "$tmp/solve_longest.c" "$src/tests/unit/planner/test_planner.c"; do
    # shellcheck disable=SC2086
    $cc -std=gnu11 -O1 -Wall -Wextra -Werror -D_GNU_SOURCE -DSOURCE_DIR="\"$src\"" -DBUILD_DIR="\"$build\"" $san \
        -I"$tmp" -I"$src" -I"$build/made" -c "$f" -o "$tmp/$(basename "$f" .c).o" || die "$f does not compile"
done
# the build's own commands, with our objects before the libraries that have the others
ours="$tmp/solve.o $tmp/solve_longest.o"
(cd "$build" && eval "$(sed "s| -o arenac | $ours -o $tmp/arenac |" "$link")") >"$tmp/log" 2>&1 ||
    { cat "$tmp/log"; die "arenac does not link"; }
(cd "$build/tests" && eval "$(sed "s|CMakeFiles/[^ ]*/test_planner.c.o|$tmp/test_planner.o $ours|
    s| -o test_planner | -o $tmp/test_planner |" "$test_link")") >"$tmp/log" 2>&1 ||
    { cat "$tmp/log"; die "the test does not link"; }

new=$tmp/arenac
# c lives longest and is placed first, then a, then b: 32 + 64 bytes
printf 'id,lower,upper,size\na,0,2,64\nb,2,4,48\nc,0,4,32\n' >"$tmp/p.csv"
"$new" plan "$tmp/p.csv" -q --planner longest --emit csv -o "$tmp/plan.csv"
[ "$(cat "$tmp/plan.csv")" = "$(printf 'id,lower,upper,size,offset\na,0,2,64,32\nb,2,4,48,32\nc,0,4,32,0')" ] ||
    { cat "$tmp/plan.csv"; die "not the plan of the longest lives first"; }
"$new" verify "$tmp/plan.csv" | grep -q safe || die "the plan is not safe"
"$new" plan "$tmp/p.csv" -vv | grep -Eq '^  longest +96 ' || die "no row for it"
"$new" plan "$src/models/branch_int8.tflite" --planner longest | grep -q 'ound by longest\.' ||
    die "it does not plan a model"
"$new" plan "$tmp/p.csv" --planner longset 2>&1 | grep -q "did you mean 'longest'?" || die "its name is not suggested"
"$arenac" plan "$tmp/p.csv" --planner longest >/dev/null 2>&1 && die "arenac has it already"
"$tmp/test_planner" || die "the test of all strategies"
echo "the strategy of docs/add-strategy.md works"
