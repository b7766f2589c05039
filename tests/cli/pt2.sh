#!/bin/sh
# Programs of torch.export: results of small archives that Python writes, states from run to run, sizes; the public
# archives if available. Listings, malformed archives and unsupported operators: tests/golden/pt2.
# usage: pt2.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
PYTHONPATH=$src/tests/golden:$src/tests
export PYTHONPATH
for p in linear state cond sizes while; do
    "$py" "$src/tests/golden/pt2/$p.py" || die "$p.py"
done
npy() { "$py" -c "import numpy, sys; numpy.save(sys.argv[1], numpy.array(eval(sys.argv[2]), dtype=sys.argv[3]))" "$@"; }
is() { # FILE VALUES
    "$py" -c "
import numpy, sys
got = numpy.load(sys.argv[1])
assert got.tolist() == eval(sys.argv[2]), got" "$@" || fail "$*"
}
npy x.npy '[[1, 2, 3], [-1, 0, 1]]' f4
expect 0 '' "$arenac" run linear.pt2 --input x=x.npy --output-dir o --backend eval
is o/0.npy '[[10, 3], [6, 3.5]]'
expect 0 'fc/linear' "$arenac" plan linear.pt2 -v
npy x.npy '[1, 2, -1, 3]' f4
npy y.npy '[1, -2, -1, 1]' f4
expect 0 '' "$arenac" run cond.pt2 --input 0=x.npy --output-dir o --backend eval
is o/0.npy '[1, 2, 0, 3]'
expect 0 '' "$arenac" run cond.pt2 --input 0=y.npy --output-dir o --backend eval
is o/0.npy '[-1, 2, 1, -1]'
npy x.npy '[[1, 2], [3, 4]]' f4
npy z.npy '[[9, 10, 20], [9, 30, 40]]' f4
expect 0 '' "$arenac" run sizes.pt2 --input x=x.npy --input z=z.npy --output-dir o --backend eval
is o/0.npy '[[21, 42], [63, 84]]'
expect 1 's0' "$arenac" run sizes.pt2 --input x=x.npy --input z=x.npy --backend eval
npy x.npy '[1, 0, 2]' f4
expect 0 '' "$arenac" run while.pt2 --input x=x.npy --output-dir o --backend eval
is o/0.npy 7
is o/2.npy '[20.78125, 13.1875, 28.375]'

# the state after several calls of the generated code
expect 0 '' "$arenac" compile -q state.pt2 -o state.c
cat >main.c <<'E2'
#include "state.h"
#include <stdio.h>
static _Alignas(64) unsigned char arena[STATE_ARENA_BYTES], state[STATE_STATE_BYTES];
int main(void)
{
    state_mem m = {.arena = arena, .state = state};
    if (state_init(&m))
        return 1;
    for (int i = 1; i <= 5; i++) {
        state_in0(&m)[0] = (float)i;
        if (state_run(&m))
            return 2;
        printf("%g ", (double)state_out0(&m)[0]);
    }
    return 0;
}
E2
cc -std=c11 -O1 -o main main.c state.c -lm || die "state.c"
# [0,0,0,1]+.5 .. : the first element of the ring gets 0.5 in each call
rings=$(./main)
[ "$rings" = "1.5 3.5 6.5 10.5 14.5 " ] || fail "the ring says $rings"

have_shared pytorch || exit 0
ln -s "$arenac" arenac
echo "backend = eval" >arenac.conf
expect 0 '13 of 13' "$py" "$shared/pytorch/check_pt2.py" --cmd "$tmp/arenac" --timeout 300
