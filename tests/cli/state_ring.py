"""Windows that slide (--state): caches of a fixed length that lose their oldest rows and get new ones. Compares runs of
the compiled program with ONNX Runtime, which gets the caches as inputs. usage: state_ring.py ARENAC"""
import os
import subprocess
import sys

import numpy as np
import onnx
import onnxruntime
from onnx import TensorProto as T, helper as h, numpy_helper as nh

HEADS, ROWS, WIDTH, RUNS = 2, 6, 8, 15
MAIN = """#include "net.h"
#include <stdio.h>
static _Alignas(64) unsigned char arena[NET_ARENA_BYTES], state[NET_STATE_BYTES];
int main(void)
{
    net_mem m = {.arena = arena, .state = state};
    if (net_init(&m))
        return 1;
    while (fread(net_in0(&m), 1, NET_IN0_BYTES, stdin) == NET_IN0_BYTES) {
        if (net_run(&m))
            return 2;
        fwrite(net_out0(&m), 1, NET_OUT0_BYTES, stdout);
    }
    return 0;
}
"""


class Net:
    """One step of attention over a window: x [1, heads, new rows, width], caches k and v."""

    def __init__(self, added=1, before=False, v_before=None, bias=None, conv=False):
        self.added = added
        self.nodes, self.consts = [], []
        r = np.random.default_rng(1)
        x = [1, HEADS, added, WIDTH]
        cache = [1, HEADS, ROWS, WIDTH]
        new = [self.node("MatMul", "x", self.const(r.normal(size=(WIDTH, WIDTH)).astype("f"))) for _ in range(3)]
        self.slide("k", new[1], before)
        self.slide("v", new[2], before if v_before is None else v_before)
        s = self.node("MatMul", new[0], self.node("Transpose", "k_next", perm=[0, 1, 3, 2]))
        s = self.node("Mul", s, self.const(np.float32(WIDTH ** -0.5)))
        if bias is not None:
            s = self.node("Add", s, self.const(np.asarray(bias, "f")))
        y = self.node("MatMul", self.node("Softmax", s, axis=-1), "v_next")
        y = self.node("Add", y, self.node("ReduceMax", "v_next", self.const(np.array([2], "q")), keepdims=1))
        if conv:
            flat = self.node("Reshape", "k_next", self.const(np.array([HEADS, ROWS, WIDTH], "q")))
            c = self.node("Conv", flat, self.const(r.normal(size=(ROWS, ROWS, 3)).astype("f")), pads=[1, 1])
            c = self.node("ReduceMean", c, self.const(np.array([1], "q")), keepdims=1)
            y = self.node("Add", y, self.node("Reshape", c, self.const(np.array([1, HEADS, 1, WIDTH], "q"))))
        self.nodes[-1].output[0] = "y"
        info = h.make_tensor_value_info
        graph = h.make_graph(self.nodes, "net", [info("x", T.FLOAT, x)] + [info(n, T.FLOAT, cache) for n in "kv"],
                             [info("y", T.FLOAT, x)] + [info(n + "_next", T.FLOAT, cache) for n in "kv"], self.consts)
        self.model = h.make_model(graph, opset_imports=[h.make_opsetid("", 18)], ir_version=9)
        onnx.checker.check_model(self.model, full_check=True)

    def const(self, v):
        self.consts.append(nh.from_array(v, "c%d" % len(self.consts)))
        return self.consts[-1].name

    def node(self, op, *ins, out=None, **attrs):
        out = out or "t%d" % len(self.nodes)
        self.nodes.append(h.make_node(op, ins, [out], name=op.lower() + "_" + out, **attrs))
        return out

    def slide(self, past, new, before):
        ends = (0, ROWS - self.added) if before else (self.added, ROWS)
        rest = self.node("Slice", past, *[self.const(np.array([v], "q")) for v in (*ends, 2)])
        self.node("Concat", *((new, rest) if before else (rest, new)), out=past + "_next", axis=2)


def check(arenac, name, net, says, options=()):
    onnx.save(net.model, "net.onnx")
    keep = [arenac, "plan", "net.onnx", "-v", "--state", "*_next=*", *options]
    text = " ".join(subprocess.run(keep, check=True, capture_output=True, text=True).stdout.split())
    for s in says:
        assert s in text, "%s: no '%s' in\n%s" % (name, s, text)
    session = onnxruntime.InferenceSession("net.onnx", providers=["CPUExecutionProvider"])
    x = np.random.default_rng(2).normal(size=(RUNS, 1, HEADS, net.added, WIDTH)).astype("f")
    k = v = np.zeros((1, HEADS, ROWS, WIDTH), "f")
    want = []
    for i in range(RUNS):
        y, k, v = session.run(None, {"x": x[i], "k": k, "v": v})
        want.append(y)
    for target in ("generic", "native"):
        subprocess.run([arenac, "compile", "-q", "net.onnx", "--state", "*_next=*", "-t", target, "--name", "net",
                        "--weights", "rodata", "-o", "net.c", *options], check=True)
        subprocess.run(["gcc", "-std=c11", "-O1", "-march=native", "-ffp-contract=off", "main.c", "net.c", "-o", "net",
                        "-lm"], check=True)
        run = subprocess.run(["./net"], input=x.tobytes(), capture_output=True, check=True)
        got = np.frombuffer(run.stdout, "f").reshape(np.shape(want))
        assert np.allclose(got, want, rtol=1e-4, atol=1e-5), "%s, %s: %g" % (name, target, np.abs(got - want).max())


def main():
    arenac = os.path.abspath(sys.argv[1])
    with open("main.c", "w") as f:
        f.write(MAIN)
    ring = ["a ring: 'concat_k_next' writes only the new rows", "a ring: 'concat_v_next' writes only the new rows"]
    check(arenac, "a row", Net(), ring)
    check(arenac, "two rows", Net(added=2), ring)
    check(arenac, "rows before", Net(before=True), ring)
    check(arenac, "a bias for all rows", Net(bias=[0.5]), ring)
    check(arenac, "a bias for each row", Net(bias=np.arange(ROWS) / 4), ["'concat_k_next' writes all of it: 'add_"])
    check(arenac, "a convolution", Net(conv=True),
          ["'concat_k_next' writes all of it: 'conv_", "needs the rows in order"])
    check(arenac, "two directions", Net(v_before=True), ["writes all of it: 'matmul_", "needs the rows in order"])
    check(arenac, "rows that do not divide the window", Net(added=4), ["'concat_k_next' writes all of it"])
    check(arenac, "exact", Net(), ["'concat_k_next' writes all of it"], ["--exact"])
    print("state_ring: windows slide as ONNX Runtime's")


main()
