#!/bin/sh
# Constants that loops compute take no ROM, with the same bits as the steps that would make them; and folding may not
# touch more memory than the files allow. usage: constants.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have python3 python3 || exit 77
require gcc gcc
python3 "$src/tests/cli/plan/constants.py" "$arenac" || fail "constants.py"

# 20 sums of 256 MiB: once 5 GB and 47 s.
{
    echo 'graph g {'
    echo '  input x: f32[1,4]'
    echo '  const r: f32[8192,1] = random 1 (-1, 1)'
    echo '  const c: f32[1,8192] = random 2 (-1, 1)'
    echo '  s0 = add(r, c)'
    for i in 1 2 3 4 5 6 7 8 9 10; do echo "  s$i = tanh(s$((i - 1)))"; done
    echo '  const a: i32[2] = [0, 1]'
    echo '  m = reduce_max(s10, a) keep_dims=true'
    echo '  y = add(x, m)'
    echo '  output y'
    echo '}'
} >big.ag
sanitized || (ulimit -v 600000 && "$arenac" compile -q big.ag -o big) || fail "a few KiB take more than 600 MB"

# Vectors of 400 million elements, each a channel: once 1.4 GB and 23 s for a target whose channels are cut.
cat >long.ag <<'E'
graph long {
  input i: i64[2]
  const n: i32[1] = [400000000]
  const one: f32[] = [1]
  const axis: i32[] = [0]
  filled = fill(n, one)
  sums = cumsum(filled, axis)
  y = gather(sums, i) axis=0
  output y
}
E
sanitized || (ulimit -v 400000 && "$arenac" compile -q long.ag -t cortex-m4 -o long) || fail "a vector takes 400 MB"
[ "$bad" = 0 ] && echo "constants: small"
