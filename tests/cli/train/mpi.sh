#!/bin/sh
# `mpirun arenac train --mpi`: 1, 2, 3 and 4 processes, and 1 and 2 threads, have the bits of one process with the same
# micro-batches; rank 0 alone writes; a process that dies ends all, and the last checkpoint is whole.
# usage: mpi.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
have_numpy || exit 77
cat >m.ag <<'E'
graph m {
  input x: f32[4,6]
  const w1: f32[50,6] = random 1 (-0.6, 0.6)
  const b1: f32[50] = random 2 (-0.2, 0.2)
  const w2: f32[3,50] = random 3 (-0.6, 0.6)
  const b2: f32[3] = random 4 (-0.2, 0.2)
  h = fully_connected(x, w1, b1)
  a = tanh(h)
  y = fully_connected(a, w2, b2)
  output y
}
E
"$py" - <<'E'
import numpy as np
r = np.random.RandomState(1)
np.save("x.npy", r.rand(100, 6).astype(np.float32))
np.save("y.npy", r.randint(0, 3, 100))
E
t="--data x=x.npy --target y.npy --loss cross_entropy --optimizer adam --lr 0.05 --batch 24 --shuffle 3"

# a build without MPI reports it
cp "$arenac" plain
# shellcheck disable=SC2086
expect 8 'mpi needs arenac-mpi.so, which is not part of this build' ./plain train m.ag $t --steps 1 --mpi -o no.npz
[ ! -e no.npz ] || fail "no.npz is there"
have_mpi || exit $((bad ? bad : 77))

shared() { # PROCESSES THREADS OPTION...
    n=$1 threads=$2
    shift 2
    rm -f got.npz got.csv
    # shellcheck disable=SC2086
    $ranks "$n" "$arenac" train m.ag $t --steps 9 "$@" --mpi --threads "$threads" -o got.npz --log got.csv \
        --validate x.npy,y.npy >out 2>err || fail "$n processes: $(cat err)"
    cmp want.npz got.npz && cmp want.csv got.csv || fail "other bits: $n processes, $threads threads $*"
    [ "$(grep -c '^steps=9 ' out)" = 1 ] || fail "$n processes say $(cat out)"
}
# shellcheck disable=SC2086
"$arenac" train m.ag $t --steps 9 --micro-batch 4 -o want.npz --log want.csv >out || fail "one process"
shared 3 2 --micro-batch 4
# shellcheck disable=SC2086
"$arenac" train m.ag $t --steps 9 --micro-batch 3 -o want.npz --log want.csv >out || fail "one process"
shared 1 2
shared 2 1
shared 4 1
shared 4 2
# shellcheck disable=SC2086
$ranks 2 "$arenac" train m.ag $t --steps 4 --checkpoint-every 4 --mpi -o part.npz >out 2>err || fail "part: $(cat err)"
# shellcheck disable=SC2086
$ranks 4 "$arenac" train m.ag $t --steps 9 --resume part.checkpoint.npz --mpi -o got.npz >out 2>err ||
    fail "resume: $(cat err)"
cmp want.npz got.npz || fail "other bits after a checkpoint"

# an error is reported once, and nothing is written shellcheck disable=SC2086
expect 2 'cannot be cut into micro-batches of 5' $ranks 2 "$arenac" train m.ag $t --steps 1 --mpi -o no.npz \
    --micro-batch 5
[ "$(cat out.txt err.txt | grep -c 'cannot be cut')" = 1 ] || fail "it is said by all: $(cat err.txt)"
[ ! -e no.npz ] || fail "no.npz is there"

# a process that dies
# shellcheck disable=SC2086
$ranks 2 "$arenac" train m.ag $t --steps 2000000000 --checkpoint-every 5 --mpi -o long.npz >out 2>err &
all=$!
tries=0
while [ ! -e long.checkpoint.npz ] && [ $tries -lt 120 ]; do
    tries=$((tries + 1))
    sleep 1
done
one=
for p in /proc/[0-9]*; do # the last of mpirun's children
    ppid=$(sed -n 's/^PPid:[^0-9]*//p' "$p/status" 2>/dev/null) || ppid=
    [ "$ppid" != "$all" ] || one=${p#/proc/}
done
[ -n "$one" ] || die "no process of mpirun is found"
kill -KILL "$one"
wait "$all" && fail "mpirun ended well without one of its processes"
[ ! -e long.npz ] || fail "long.npz is there"
"$py" - <<'E' || fail "the checkpoint is broken"
import numpy as np
c = np.load("long.checkpoint.npz")
assert int(c["training/step"]) % 5 == 0 and c["w1"].shape == (50, 6) and np.isfinite(c["w1"]).all()
E
exit $bad
