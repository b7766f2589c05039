#!/usr/bin/env python3
"""Random int8 depthwise convolutions, on a firmware target against the evaluator.

  depthwise_models.py ARENAC COUNT SEED [--target cortex-m4] [--fwrun fwrun.py]

Writes models of several convolutions each (shapes, strides, dilations, pads, multipliers, zero points, scales, clamps
drawn at random) into the current folder. `arenac run --backend eval` gives the outputs, on the plain target. The C of
the firmware target, whole and with --stripe auto, is compiled for this machine ($CC, else cc) and has to give the same
bytes; with --fwrun the C and, where arenac can make one, the object run on the target's board in QEMU too.
"""
import argparse
import os
import random
import re
import shlex
import subprocess
import sys

PER_MODEL = 6


def run(words, **more):
    p = subprocess.run(words, capture_output=True, text=True, **more)
    if p.returncode:
        sys.exit("failed (%d): %s\n%s%s" % (p.returncode, shlex.join(words), p.stdout[-2000:], p.stderr[-2000:]))
    return p.stdout


def axis(r, most):
    """in, out, taps, stride, dilation, pad before, pad after"""
    while True:
        size, taps = r.randint(1, most), r.choice((3, 3, 3, 5, r.randint(1, 8)))
        stride, dil = r.choice((1, 1, 2, 3)), r.choice((1, 1, 1, 2))
        reach = (taps - 1) * dil
        before, after = [reach // 2 if r.random() < 0.6 else r.randint(0, reach) for _ in range(2)]
        if size + before + after > reach:
            return size, (size + before + after - reach - 1) // stride + 1, taps, stride, dil, before, after


def convolution(r, i):
    h, oh, kh, sh, dh, top, bottom = axis(r, 14)
    w, ow, kw, sw, dw, left, right = axis(r, r.choice((9, 26)))
    c, m = r.randint(1, 9), r.choice((1, 1, 1, 2, 3))
    o = c * m
    scales = "0.0%02d, 0" % r.randint(1, 40)
    if r.random() < 0.7:
        scales = "axis 3: " + ", ".join("0.0%03d 0" % r.randint(1, 400) for _ in range(o))
    zero = r.choice((-128, r.randint(-128, 127)))
    lines = ["input x%d: i8[1,%d,%d,%d] q(0.%02d, %d)" % (i, h, w, c, r.randint(1, 60), zero),
             "const w%d: i8[1,%d,%d,%d] q(%s) = random %d (-128, 127)" % (i, kh, kw, o, scales, r.randint(1, 10**6))]
    bias = r.random() < 0.8
    if bias:
        lines.append("const b%d: i32[%d] = random %d (-9000, 9000)" % (i, o, r.randint(1, 10**6)))
    zero = r.choice((-128, r.randint(-128, 127)))
    lines.append("y%d: i8[1,%d,%d,%d] q(0.%02d, %d) = depthwise_conv_2d(x%d, w%d%s) stride_h=%d stride_w=%d "
                 "dilation_h=%d dilation_w=%d padding=explicit pad_t=%d pad_b=%d pad_l=%d pad_r=%d act=%s" %
                 (i, oh, ow, o, r.randint(1, 90), zero, i, i, ", b%d" % i if bias else "", sh, sw, dh, dw, top, bottom,
                  left, right, r.choice(("none", "relu", "relu6", "relu_n1_to_1"))))
    lines.append("output y%d" % i)
    return lines, (1, h, w, c)


def npy(name, shape, data):
    head = "{'descr': '|i1', 'fortran_order': False, 'shape': %r, }" % (shape,)
    head += " " * (-(len(head) + 11) % 64) + "\n"
    with open(name, "wb") as f:
        f.write(b"\x93NUMPY\x01\x00" + len(head).to_bytes(2, "little") + head.encode() + data)


def raw(name):
    with open(name, "rb") as f:
        b = f.read()
    return b[10 + b[8] + 256 * b[9]:]


MAIN = """#include "m.h"
#include <string.h>
#ifdef BOARD
#include "fw.h"
#else
#define fw_begin() (void)0
#define fw_end(n) (void)0
#define fw_check(n, a, b, c) (memcmp(a, b, c) == 0)
#endif
%(arrays)sstatic union {
    unsigned char bytes[M_ARENA_BYTES];
    long long align[2];
} arena __attribute__((aligned(64)));
int main(void)
{
    int bad = 0;
    m_mem m;
    memset(&m, 0, sizeof m);
    m.arena = arena.bytes;
    if (m_init(&m) != M_OK)
        return 2;
%(copies)s    fw_begin();
    if (m_run(&m) != M_OK)
        return 3;
    fw_end("m");
%(checks)s    return bad;
}
"""


def main_c(inputs, outputs):
    """For this machine, or with -DBOARD for fwrun.py."""
    arrays = [("in%d" % i, d) for i, d in enumerate(inputs)] + [("want%d" % i, d) for i, d in enumerate(outputs)]
    copy = "    memcpy((void *)m_in%d(&m), in%d, sizeof in%d);\n"
    test = '    bad |= !fw_check("y%d", (const void *)m_out%d(&m), want%d, sizeof want%d);\n'
    return MAIN % {
        "arrays": "".join("static const unsigned char %s[] = {%s};\n" % (n, ",".join(map(str, d))) for n, d in arrays),
        "copies": "".join(copy % (i, i, i) for i in range(len(inputs))),
        "checks": "".join(test % (i, i, i, i) for i in range(len(outputs)))}


def check(a, seed):
    r = random.Random(seed)
    parts = [convolution(r, i) for i in range(PER_MODEL)]
    with open("m.ag", "w") as f:
        f.write("graph g {\n%s\n}\n" % "\n".join(s for lines, _ in parts for s in lines))
    inputs = []
    given = []
    for i, (_, shape) in enumerate(parts):
        inputs.append(bytes(r.choices(range(256), k=shape[1] * shape[2] * shape[3])))
        npy("x%d.npy" % i, shape, inputs[i])
        given += ["-i", "x%d=x%d.npy" % (i, i)]
    run([a.arenac, "run", "m.ag", "-q", "--backend", "eval", "-t", "generic", "--output-dir", "."] + given)
    with open("main.c", "w") as f:
        f.write(main_c(inputs, [raw("%d.npy" % i) for i in range(PER_MODEL)]))
    paired = 0
    for options in ([], ["--stripe", "auto"]):
        run([a.arenac, "compile", "-q", "m.ag", "-t", a.target, "-o", "m.c"] + options)
        with open("m.c") as f:
            paired += len(re.findall(r"^[^#\n]*static void \w+\([^{]*\{[^}]*dot2_i16x2", f.read(), re.M))
        words = shlex.split(os.environ.get("CC", "cc"))
        run(words + "-std=c99 -O1 -Wall -Wextra -Werror m.c main.c -o m".split())
        run(["./m"])
        if a.fwrun:
            board = [sys.executable, a.fwrun, "--target", a.target, "--main", "main.c", "--cflags=-DBOARD -I."]
            run(board + ["--src", "m.c", "-O", r.choice("2s")])
            if a.objects:
                run([a.arenac, "compile", "-q", "m.ag", "-t", a.target, "--emit", "o,h", "-o", "m"] + options)
                run(board + ["--src", "m.o", "-O", "2"])
    return paired


def main():
    p = argparse.ArgumentParser()
    p.add_argument("arenac")
    p.add_argument("count", type=int)
    p.add_argument("seed", type=int)
    p.add_argument("--target", default="cortex-m4")
    p.add_argument("--fwrun")
    p.add_argument("--objects", action="store_true")
    a = p.parse_args()
    paired = 0
    for seed in range(a.seed, a.seed + (a.count + PER_MODEL - 1) // PER_MODEL):
        try:
            paired += check(a, seed)
        except SystemExit as e:
            sys.exit("seed %d: %s" % (seed, e))
    if not paired:
        sys.exit("no kernel multiplies halves: the test tests nothing")
    print("%d convolutions, %d kernels with halves of words" % (a.count, paired))


main()
