#!/bin/sh
# A step of training as a plan and as code: the report describes the state; the compiled code learns the same weights as
# `arenac train`, also for firmware. usage: step.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
cat >m.ag <<'E'
graph m {
  input x: f32[1,6]
  const w1: f32[5,6] = random 1 (-0.6, 0.6)
  const b1: f32[5] = random 2 (-0.2, 0.2)
  const w2: f32[3,5] = random 3 (-0.6, 0.6)
  const b2: f32[3] = random 4 (-0.2, 0.2)
  h = fully_connected(x, w1, b1) act=tanh
  y = fully_connected(h, w2, b2)
  output y
}
E
t="--train adam --loss cross_entropy --batch 4"
# shellcheck disable=SC2086
expect 0 'a step of training: state is 4 weights that train, 212 B, running statistics, 0 B, and' "$arenac" plan m.ag $t
grep -q "optimizer's, 432 B" out.txt || fail "the optimizer's bytes: $(cat out.txt)"
# shellcheck disable=SC2086
verified m.ag $t
expect 2 'train needs --loss' "$arenac" plan m.ag --train sgd
expect 2 'train needs --batch' "$arenac" plan m.ag --train sgd --loss mse
expect 2 "did you mean 'adamw'" "$arenac" plan m.ag --train adanw
for target in generic cortex-m7 cortex-m55; do
    # shellcheck disable=SC2086
    "$arenac" compile -q m.ag $t -t $target -o $target.c || fail "$target"
done

# steps in C: init begins anew
have_numpy || exit $bad
"$py" "$src/tests/cli/train/train_reference.py" data
"$py" - <<'E'
import numpy as n
x, y = n.load("x.npy")[:4], n.load("ids32.npy")[:4]
n.save("x4.npy", x), n.save("y4.npy", y), x.tofile("x.bin"), y.tofile("y.bin")
E
cat >main.c <<'E'
#include "generic.h"
#include <stdio.h>
static uint8_t arena[M_ARENA_BYTES] __attribute__((aligned(M_ARENA_ALIGN)));
static uint8_t state[M_STATE_BYTES] __attribute__((aligned(M_ARENA_ALIGN)));
static int fill(const char *path, void *to, size_t n)
{
    FILE *f = fopen(path, "rb");
    const int ok = f && fread(to, n, 1, f) == 1;
    return f ? fclose(f), ok : 0;
}
int main(void)
{
    const m_mem m = {.arena = arena, .state = state};
    for (int again = 0; again < 2; again++) {
        if (m_init(&m))
            return 1;
        for (int k = 0; k < 5; k++) {
            if (!fill("x.bin", m_in0(&m), M_IN0_BYTES) || !fill("y.bin", m_in1(&m), M_IN1_BYTES))
                return 1;
            printf("%d,%.9g\n", k, (double)m_train_step(&m, 0.05f));
        }
    }
    return 0;
}
E
"${CC:-cc}" -std=c99 -Wall -Wextra -Werror -O1 -ffp-contract=off generic.c main.c -o main -lm &&
    ./main >c.csv || fail "the step in C"
"$arenac" train m.ag --data x=x4.npy --target y4.npy --loss cross_entropy --optimizer adam --lr 0.05 --batch 4 \
    --steps 5 -o t.npz --log log.csv >/dev/null || fail train
"$py" - <<'E' || fail "the losses in C are others"
import csv, numpy as n
c = [float(r[1]) for r in csv.reader(open("c.csv"))]
want = [float(r["loss"]) for r in csv.DictReader(open("log.csv"))]
assert c[:5] == c[5:] and n.allclose(c[:5], want, rtol=1e-5) and want[4] < want[0], (c, want)
E
