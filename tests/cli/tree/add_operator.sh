#!/bin/sh
# docs/add-operator.md, followed: the rows and functions of its two operators go into a copy of the sources, which is
# built without optimisation, and the page's promises are checked. An operator changes the enum that most sources
# include, so all of arenac is compiled: some 40 seconds of processor time. usage: add_operator.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
require cmake cmake
page=$src/docs/add-operator.md cache=$(dirname "$arenac")/CMakeCache.txt tree=$tmp/tree
[ -f "$cache" ] || { echo "skipped: $arenac does not lie in a build folder: build it with cmake"; exit 77; }
mkdir -p "$tree/tests"
# shellcheck disable=SC2086
for f in CMakeLists.txt LICENSE CHANGELOG.md arenac.h cmake $folders; do
    cp -r "$src/$f" "$tree"
done
cp -r "$src/tests/golden" "$tree/tests"
ln -s "$src"/tests/[!g]* "$tree/tests"

# a row in the page's tables goes to the end of its table, in place of one of that name
awk -F'`' '/^\| `[a-z_/]*\.def` \|/ { print $2 " " $4 }' "$page" >rows
while read -r def row; do
    [ -f "$tree/$def" ] || die "the page names $def, which does not exist"
    name=${row%%,*} name=${name#*(}
    grep -v -E "^[A-Z]+\( *${name# }," "$tree/$def" >def || die "$def had only that row"
    echo "$row" >>def
    cp def "$tree/$def"
done <rows
for row in 'ops.def OP( SOFTSIGN,' 'nodes.def ONXB(Softsign,' 'onnx_ops.def ROW( SOFTSIGN,' \
    'attrs.def ATTRS(repeat,' 'ops.def OP( REPEAT,'; do
    grep -q -F "/$row" rows || die "the page has no row $row"
done
# a function that the page deletes
sed -n 's/^| `\([a-z_/]*\.c\)` | delete `\([a-z_]*\)`.*/\1 \2/p' "$page" >deleted
while read -r file name; do
    grep -q "^int $name(" "$tree/$file" || die "$file has no $name to delete"
    sed "/^int $name(/,/^}/d" "$tree/$file" >left
    cp left "$tree/$file"
done <deleted
[ -s deleted ] || die "the page deletes no adapter"
# a block after "In `FILE`:", or "In `FOLDER`, the file `NAME`:", goes to the end of that file
awk -v tree="$tree/" '/^In `.*`:$/ { split($0, w, "`"); file = w[2] w[4] }
    /^```$/ { file = "" }
    file && on[file] { print >>(tree file) }
    file && /^```/ { on[file] = 1; print w[2], file }' "$page" >files
while read -r change f; do
    grep -q "^| .$change. |" "$page" || die "the page's tables do not name $change"
    [ -f "$tree/$f" ] || die "the page has a block for $f, which was not written"
done <files
[ "$(grep -c '\.c$' files)" = 3 ] || die "the page has other blocks of C than an expression, a shape rule and loops"

value() { sed -n "s/^$1:[A-Z]*=//p" "$cache"; }
cmake -S "$tree" -B built -G "$(value CMAKE_GENERATOR)" -DCMAKE_C_COMPILER="$(value CMAKE_C_COMPILER)" \
    -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O0 -DNDEBUG" -DBUILD_TESTING=OFF -DARENAC_LLVM=OFF \
    -DARENAC_WERROR=ON >log 2>&1 &&
    cmake --build built --parallel 2 --target arenac >log 2>&1 || { tail -40 log; die "arenac does not build"; }
new=$tmp/built/arenac
while read -r change f; do
    ! grep "$f:.*warning" log || die "$f compiles with warnings"
done <files

# both are in every list
"$new" ops softsign repeat >ops
grep -q '^softsign  *operands 1$' ops && grep -q '^repeat  *operands 1  axis=0 times=1$' ops ||
    { cat ops; die "arenac ops does not list them"; }
grep -q '^    types  *f32 f64$' ops && grep -q 'may overwrite operand 0' ops ||
    { cat ops; die "softsign is another one"; }
grep -q '^    onnx  *Softsign$' ops || die "ONNX's operator does not become it"
"$new" ops --emit md >md
grep -q '^| `softsign` | 1 |' md || die "it is not in the tables of docs/operators.md"
if have python3 python3; then
    golden=$tree/tests/golden
    python3 "$golden/run.py" "$new" --accept ops/softsign-f32.loops >out.txt || { cat out.txt; die "its example"; }
    ! python3 "$golden/missing.py" "$tree" >out.txt || die "nothing asks for an example of repeat"
    [ "$(cat out.txt)" = 'operator repeat: no ops/repeat-RULE.ag uses it' ] || { cat out.txt; die "golden_missing"; }
fi

# npy SHAPE BYTES: f32
npy() {
    printf '\223NUMPY\001\000v\000%-117s\n' "{'descr': '<f4', 'fortran_order': False, 'shape': $1, }"
    # shellcheck disable=SC2059
    printf "$2"
}
m3='\000\000\100\300' mq='\000\000\100\277' nil='\000\000\000\000' half='\000\000\000\077' one='\000\000\200\077'
q='\000\000\100\077' three='\000\000\100\100'
npy '(2, 3)' "$m3$nil$one$three$one$m3" >x.npy
npy '(2, 3)' "$mq$nil$half$q$half$mq" >softsign.npy
npy '(2, 6)' "$m3$nil$one$m3$nil$one$three$one$m3$three$one$m3" >repeat.npy
echo 'graph g {
  input x: f32[2,3]
  y = repeat(x) axis=-1 times=2
  output y
}' >repeat.ag
cp "$tree/tests/golden/ops/softsign-f32.ag" softsign.ag
# both against their definitions, with tails of vectors
echo 'graph g {
  input x: f32[2,19]
  s = softsign(x)
  const one: f32[] = [1]
  a = abs(x)
  b = add(a, one)
  t = div(x, b)
  r = repeat(x) axis=1 times=3
  c = concatenation(x, x, x) axis=1
  output s, t, r, c
}' >meant.ag
echo 'graph g {
  input x: f32[1,4,4,2]
  const w: f32[3,1,1,2] = random 1
  const v: f32[5,48] = random 2
  c = conv_2d(x, w)
  d = softsign(c)
  e = reshape(d) shape=[1,48]
  f = fully_connected(e, v, _)
  g = softsign(f)
  h = repeat(g) axis=0 times=2
  output h
}' >joined.ag
for m in softsign repeat; do
    "$new" plan "$m.ag" >out.txt 2>&1 || { cat out.txt; die "$m cannot be planned"; }
    "$new" show "$m.ag" --loops y >loops || die "$m has no loops"
    grep -q "= for " loops && grep -q "store out" loops || { cat loops; die "$m has no loops"; }
    for backend in eval c; do
        expect 0 '' "$new" run "$m.ag" -t generic --backend $backend --input x=x.npy --compare "0=$m.npy" --max-ulp 0
    done
done
for t in generic x86-64-v3; do
    "$new" run -q meant.ag -t $t --random 3 --backend eval --output-dir "meant-$t"
    cmp "meant-$t/0.npy" "meant-$t/1.npy" || fail "$t: softsign(x) is not x / (1 + |x|)"
    cmp "meant-$t/2.npy" "meant-$t/3.npy" || fail "$t: repeat(x) is not x three times"
done
for m in meant joined; do
    for backend in eval c; do
        "$new" run -q "$m.ag" -t generic --random 3 --backend $backend --poison --output-dir $backend
    done
    for f in eval/*.npy; do cmp "$f" "c/${f#*/}" || fail "$m: C and the evaluator differ in $f"; done
    rm -r eval c
done

"$new" check joined.ag --stop-after epilogue --dump-after epilogue >out.txt
[ "$(grep -c '^  then [dg]: f32.* = softsign([cf])$' out.txt)" = 2 ] ||
    { cat out.txt; fail "softsign does not join the loops before it"; }
"$new" convert -q softsign.ag softsign.onnx && "$new" convert -q softsign.onnx back.ag || fail "not by way of ONNX"
grep -q '= softsign(x)' back.ag || { cat back.ag; fail "ONNX gives back something else"; }

# errors are reported
wrong() { # TEXT LINE
    sed "s/^  y = .*/  y = $2/" repeat.ag >wrong.ag
    expect 1 "$1" "$new" plan wrong.ag
}
wrong 'E0103.*times is 0, expected 1 or more' 'repeat(x) times=0'
wrong 'E0103.*axis' 'repeat(x) axis=2'
wrong "E0103.*repeat has no attribute 'time'" 'repeat(x) time=2'
wrong 'E0015' 'repeat(x) times=2147483647'
sed 's/f32/i32/' softsign.ag >integers.ag
expect 8 'E0108.*softsign' "$new" plan integers.ag
expect 1 "softsign" "$arenac" check softsign.ag # arenac has it already?
[ $bad != 0 ] || echo "the operators of docs/add-operator.md work"
