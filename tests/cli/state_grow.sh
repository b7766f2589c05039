#!/bin/sh
# --state of a cache that grows by a row with each run: it is stored with capacity for all of them, an input has the
# current number, and the results are those of the model with a cache of exactly that length. Other models are refused.
# usage: state_grow.sh ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
require cc gcc
have_numpy || exit 77
# two heads of attention with one key and value for both, as exporters write it; head: where the scores come from
attention() { # FILE LINES_OF_MASK SCORES
    cat >"$1" <<E2
graph decode {
  input x: f32[1,1,4]
  input mask: f32[1,"n + 1"]
  input keys: f32[1,1,n,4]
  input values: f32[1,1,n,4]
  const wq: f32[8,4] = random 1 (-0.9, 0.9)
  const wk: f32[4,4] = random 2 (-0.9, 0.9)
  const wv: f32[4,4] = random 3 (-0.9, 0.9)
  const heads: i32[4] = [1, 1, 2, 4]
  const one: i32[4] = [1, 1, 1, 4]
  const order: i32[4] = [0, 2, 1, 3]
  const last: i32[1] = [2]
  q0 = fully_connected(x, wq, _) keep_dims=true
  q1 = reshape(q0, heads)
  q = transpose(q1, order)
  k0 = fully_connected(x, wk, _) keep_dims=true
  k = reshape(k0, one)
  v0 = fully_connected(x, wv, _) keep_dims=true
  v = reshape(v0, one)
  new_keys = concatenation(keys, k) axis=2
  new_values = concatenation(values, v) axis=2
  s = batch_matmul(q, new_keys) adj_y=true
$2
  p = softmax($3)
  y = batch_matmul(p, new_values)
$4
}
E2
}
attention plain.ag '' s '  output y, new_keys, new_values'
attention masked.ag '  m = add(s, mask)' m '  output y, new_keys, new_values'
# as torch.nn.functional.scaled_dot_product_attention is exported: rows of weights that are NaN are 0
attention nan.ag '  m = add(s, mask)' m '  output y, new_keys, new_values'
no='const no: f32[] = splat 0' not='not = not_equal(p0, p0)'
sed "s/p = softmax(m)/p0 = softmax(m)\n  $no\n  $not\n  p = select(not, no, p0)/" nan.ag >t && mv t nan.ag
cat >compare.py <<'E2'
import importlib
import subprocess
import sys
import numpy as np
sys.path.insert(0, ".")
arenac, name, rows = sys.argv[1], sys.argv[2], int(sys.argv[3])
m = importlib.import_module(name + "_kept")
model, rng = m.Model(), np.random.default_rng(1)
for again in range(2):
    model.reset()
    past = {"keys": np.zeros((1, 1, 1, 4), np.float32), "values": np.zeros((1, 1, 1, 4), np.float32)}
    for t in range(1, rows + 1):  # a row of zeros is there at first
        feed = {"x": rng.standard_normal((1, 1, 4)).astype(np.float32),
                "mask": rng.standard_normal((1, t + 1)).astype(np.float32)}
        args = []
        for key, a in {**feed, **past}.items():
            np.save(key + ".npy", a)
            args += ["--input", key + "=" + key + ".npy"]
        subprocess.check_call([arenac, "run", name + ".ag", "-q", "--backend", "eval", "--dim", "n=%d" % t,
                               "--output-dir", "out"] + args, stdout=subprocess.DEVNULL)
        want, past["keys"], past["values"] = (np.load("out/%d.npy" % i) for i in range(3))
        whole = np.full((1, rows + 1), 1e30, np.float32)  # what is not there does not matter
        whole[:, :t + 1] = feed["mask"]
        feed.update(mask=whole, position=np.array([t], np.int32))
        got = np.from_dlpack(model.run(*[feed[i[0]] for i in m.INPUTS])[0])
        assert np.abs(got - want).max() <= 2e-6, (name, t, got, want)
feed["position"][0] += 1
for bad in rows + 1, -1:
    feed["position"][0] = bad
    try:
        model.run(*[feed[i[0]] for i in m.INPUTS])
    except ValueError:
        continue
    sys.exit("position %d is no error" % bad)
E2
for name in plain masked nan; do
    set -- --dim n=7 --state 'new_*=*'
    "$arenac" plan $name.ag "$@" | grep -q 'of 2 only what changes is written' || fail "$name is not kept in place"
    "$arenac" plan $name.ag "$@" | grep -q 'state  *256 B' || fail "$name: the state is not 256 B"
    verified $name.ag "$@"
    "$arenac" prove $name.ag "$@" -q >prove.txt 2>&1 || fail "$name: $(cat prove.txt)"
    "$arenac" python $name.ag "$@" --name ${name}_kept -o . -q || die "$name"
    "$py" compare.py "$arenac" $name 7 || fail "$name: other results than with a cache that grows"
done
# run: state is not an input, but `position` is; without a value it is 0
"$py" -c 'import numpy as np
np.save("x.npy", np.ones((1, 1, 4), np.float32))
np.save("one.npy", np.array([1], np.int32))
np.save("eight.npy", np.array([8], np.int32))
np.save("keys.npy", np.zeros((1, 1, 7, 4), np.float32))'
for at in '--random 1' '--random 2' '--random 1 --input position=one.npy'; do
    # shellcheck disable=SC2086
    expect 0 "output 0 'y'" "$arenac" run plain.ag --dim n=7 --state 'new_*=*' --backend eval --input x=x.npy $at
done
expect 2 'index was out of range' "$arenac" run plain.ag --dim n=7 --state 'new_*=*' --backend eval --random 1 \
    --input position=eight.npy
expect 2 "'keys': it is state" "$arenac" run plain.ag --dim n=7 --state 'new_*=*' --backend eval --input keys=keys.npy
expect 2 "'nobody' names none of the model's" "$arenac" run plain.ag --dim n=7 --state 'new_*=*' --backend eval \
    --input nobody=x.npy
# operators that would read missing rows
attention mean.ag '  m = mean(new_keys, last)
  z = mean(m, last)' s '  output y, z, new_keys, new_values'
expect 8 "a result of 'm' would depend on rows that the cache does not have yet" "$arenac" plan mean.ag --dim n=7 \
    --state 'new_*=*'
sed 's/no: f32\[\] = splat 0/no: f32[] = splat 1/' nan.ag >one.ag
expect 8 "a result of 'y' would depend on rows that the cache does not have yet" "$arenac" plan one.ag --dim n=7 \
    --state 'new_*=*'
attention scores.ag '' s '  output y, p, new_keys, new_values'
expect 8 "output 'p' f32 \[1,2,1,8\] has a row for each row of the cache" "$arenac" \
    plan scores.ag --dim n=7 --state 'new_*=*'
attention other.ag '  z = reduce_max(keys, last)' s '  output y, z, new_keys, new_values'
expect 8 "output 'new_keys' is f32 \[1,1,8,4\] and input 'keys' is f32 \[1,1,7,4\]" "$arenac" plan other.ag --dim n=7 \
    --state 'new_*=*'
# operators that depend on the capacity of the cache
attention length.ag '  const which: i32[1] = [2]
  size = shape(keys)
  rows = gather(size, which)
  length = cast(rows) to=f32
  m = add(s, length)' m '  output y, new_keys, new_values'
expect 0 'of 2 only what changes is written' "$arenac" plan length.ag --dim n=7 \
    --state 'new_*=*'
attention newest.ag '  l = strided_slice(mask) begin=[0, -1] end=[1, 99] strides=[1, 1]
  const all: i32[2] = [1, 1]
  m = add(s, l)' m '  output y, new_keys, new_values'
expect 0 'of 2 only what changes is written' "$arenac" plan newest.ag --dim n=7 --state 'new_*=*'
sed 's/begin=\[0, -1\]/begin=[0, 0]/; s/end=\[1, 99\]/end=[1, 1]/' newest.ag >first.ag
expect 0 'of 2 only what changes is written' "$arenac" plan first.ag --dim n=7 --state 'new_*=*'
# a constant that has a value for each row is of another length, and the same for the rows that are there
attention causal.ag '  const seen: f32[20] = random 7 (-1, 1)
  const from: i32[1] = [0]
  size = shape(new_keys)
  const which: i32[1] = [2]
  rows = gather(size, which)
  part = slice(seen, from, rows)
  m = add(s, part)' m '  output y, new_keys, new_values'
expect 0 'of 2 only what changes is written' "$arenac" plan causal.ag --dim n=7 --state 'new_*=*'
sed 's/slice(seen, from, rows)/slice(seen, rows, rows)/' causal.ag >back.ag
expect 0 'of 2 only what changes is written' "$arenac" plan back.ag --dim n=7 --state 'new_*=*'
# the page's example, with a model of the inputs that exporters write
cat >gpt2.ag <<'E2'
graph gpt2 {
  input input_ids: i32[1,1]
  input attention_mask: i32[1,"past + 1"]
  input position_ids: i32[1,1]
  input keys: f32[1,past,4]
  const tokens: f32[9,4] = random 1 (-2, 2)
  const places: f32[8,4] = random 2 (-2, 2)
  const seen: f32[1] = [1]
  const least: f32[1] = [1e30]
  a = gather(tokens, input_ids)
  b = gather(places, position_ids)
  x = add(a, b)
  new_keys = concatenation(keys, x) axis=1
  m0 = cast(attention_mask) to=f32
  m1 = sub(m0, seen)
  m2 = mul(m1, least)
  s0 = batch_matmul(x, new_keys) adj_y=true
  s = add(s0, m2)
  p = softmax(s)
  y = batch_matmul(p, new_keys)
  logits = fully_connected(y, tokens, _)
  output logits, new_keys
}
E2
cat >tokens.c <<'E2'
#include <stdint.h>
#include <stdio.h>
int next_token(int token, int n);
int main(void)
{
    for (int again = 0; again < 2; again++)
        for (int n = 0, token = 3; n < 9; n++) {
            token = next_token(n % 9, n);
            printf("%d ", token);
        }
    return 0;
}
E2
sed -n '/^```c$/,/^```$/{ /^```/!p; }' "$src/docs/state.md" >page.c
"$arenac" compile gpt2.ag --dim past=7 --state 'new_*=*' -o gpt2.c -q &&
    cc -std=c11 -O1 -o tokens page.c tokens.c gpt2.c -lm || die "the page's example does not compile"
tokens=$(./tokens)
set -- $tokens
[ $# = 18 ] && [ "$9" = -1 ] && [ "$8" -ge 0 ] || fail "the page's example: $tokens"
once="$1 $2 $3 $4 $5 $6 $7 $8 $9"
[ "$tokens" = "$once $once " ] ||
    fail "the page's example: $tokens"
[ "$bad" = 0 ] && echo "state that grows: as if it did"
