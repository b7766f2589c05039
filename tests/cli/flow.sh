#!/bin/sh
# Data-dependent loops and branches (docs/control-flow.md): the page's model is bit-identical to the same loop with a
# known end, which is unrolled; every backend, threads and overwritten dead bytes; proofs; refusals. usage: flow.sh
# ARENAC SOURCE_DIR
. "$2/tests/cli/prelude"
set -e
sed -n '/^```ag$/,/^```$/p' "$src/docs/control-flow.md" | sed '/^```/d' >until.ag
# the same body, eight times
sed -e 's/c = less(r, limit)/c = less(i, limit)/' -e 's/limit: f32\[\] = \[50\]/limit: i32[] = [8]/' until.ag >eight.ag
"$arenac" show until.ag >/dev/null
"$arenac" plan until.ag -v >plan.txt
grep -q ' while  *' plan.txt || die "the loop is no step"
"$arenac" plan eight.ag -v >plan.txt
! grep -q ' while  *' plan.txt || die "a loop of eight iterations is not unrolled"
verified until.ag

# x = 1 everywhere: 1, 2.26, .. is above 50 after eight iterations
python3 - <<'P' || die "python3 is missing"
import struct
data = struct.pack("<256f", *([1.0] * 256))
head = "{'descr': '<f4', 'fortran_order': False, 'shape': (4, 64), }"
head += " " * (117 - len(head)) + "\n"
open("x.npy", "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)
P
"$arenac" run -q eight.ag --backend eval --input x=x.npy --output-dir eight
for backend in eval c; do
    "$arenac" run -q until.ag --backend $backend --input x=x.npy --compare turns=eight/0.npy --compare y=eight/1.npy \
        --max-ulp 0 >/dev/null || fail "$backend differs from the unrolled loop"
done
"$arenac" run -q until.ag --threads 3 --poison --input x=x.npy --compare y=eight/1.npy --max-ulp 0 >/dev/null ||
    fail "threads and poison"
! have_llvm || expect 0 '' "$arenac" run -q until.ag --backend llvm --input x=x.npy --compare y=eight/1.npy --max-ulp 0
for target in generic x86-64-v3 cortex-m4 cortex-m55; do
    expect 0 'proven' "$arenac" prove until.ag -t $target
done

# Branches: an operator that may stop the model stops it where its branch is taken, and not elsewhere.
cp "$src/tests/golden/ops/if-may-stop.ag" stop.ag
python3 - <<'P'
import struct
def save(name, descr, shape, data):
    head = "{'descr': '%s', 'fortran_order': False, 'shape': %s, }" % (descr, shape)
    head += " " * (117 - len(head)) + "\n"
    open(name, "wb").write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head)) + head.encode() + data)
save("far.npy", "<i4", "(1,)", struct.pack("<i", 99))
save("near.npy", "<i4", "(1,)", struct.pack("<i", 1))
save("yes.npy", "|b1", "()", b"\1")
save("no.npy", "|b1", "()", b"\0")
save("two.npy", "<f4", "(2,)", struct.pack("<2f", 3, 4))
P
for backend in eval c; do
    expect 0 '' "$arenac" run stop.ag --backend $backend --input x=two.npy --input k=near.npy --input c=yes.npy
    expect 0 '' "$arenac" run stop.ag --backend $backend --input x=two.npy --input k=far.npy --input c=no.npy
    expect 2 '' "$arenac" run stop.ag --backend $backend --input x=two.npy --input k=far.npy --input c=yes.npy
done

# Products with a sequence, before its loop or in it: the default goes by the target, a note offers the other.
ahead="$src/tests/golden/ops/scan-ahead.ag"
expect 0 'ahead on computes those of all steps before it: 512 B' "$arenac" plan -q --json "$ahead" -t cortex-m4
expect 0 'loop: 512 B of results, which --ahead off does' "$arenac" plan -q --json "$ahead" -t cortex-m4 --ahead on
expect 0 'loop: 512 B of results, which --ahead off does' "$arenac" plan -q --json "$ahead" -t x86-64-v3
expect 0 'ahead on computes those of all steps before it' "$arenac" plan -q --json "$ahead" -t x86-64-v3 --ahead off
# the report has both, with bytes and instructions
expect 0 '[-]-ahead on  *648 B .*before their loop: 3,110 instructions, not 3,200' "$arenac" plan "$ahead" -t cortex-m4
expect 0 'with --ahead off the arena is 664 B and a run about 1,890 instructions' "$arenac" plan "$ahead" -t x86-64-v3
for o in on off; do
    "$arenac" run -q "$ahead" --random 1 --exact --ahead $o --output-dir "ahead_$o" >out.txt || fail "run --ahead $o"
done
cmp ahead_on/0.npy ahead_off/0.npy && cmp ahead_on/1.npy ahead_off/1.npy || fail "--ahead changes results"

# Refusals: each is reported, and no file is left.
expect 8 'a GPU gets all of its work at once' "$arenac" plan until.ag -t cuda-sm80
expect 8 'while' "$arenac" convert until.ag until.onnx
[ ! -e until.onnx ] || fail "a file is left"
expect 8 'while' "$arenac" grad until.ag --input x=x.npy --cotangent y=x.npy --output-dir grads
