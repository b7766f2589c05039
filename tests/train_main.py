#!/usr/bin/env python3
"""Writes a main.c that runs steps of training in C (`arenac compile --train`) on the rows of two arrays, in their
order, and says the loss of each as the bits of a float.

  train_main.py NAME HEADER.h X.npy Y.npy BATCH STEPS RATE [firmware] > main.c

On a host it reads X.npy.bin and Y.npy.bin, which this writes, prints "k bits", and writes the state to NAME.state
and what NAME_run makes of the first rows to NAME.out. For
firmware the rows are constants, the last step is a region that is counted, and losses are reported (fw.h).
"""
import sys

import numpy as np

from fw_main import array

COMMON = """
static union {
    unsigned char bytes[%(U)s_ARENA_BYTES];
    long long align;
} arena __attribute__((aligned(64)));
static union {
    unsigned char bytes[%(U)s_STATE_BYTES];
    long long align;
} state __attribute__((aligned(64)));
enum { ROWS = %(rows)d, BATCH = %(batch)d, STEPS = %(steps)d };
static void fill(const %(n)s_mem *m, const unsigned char *x, const unsigned char *y, int step)
{
    const size_t nx = %(U)s_IN0_BYTES / BATCH, ny = %(U)s_IN1_BYTES / BATCH;
    for (int i = 0; i < BATCH; i++) {
        const size_t row = (size_t)((step * BATCH + i) %% ROWS);
        memcpy((unsigned char *)%(n)s_in0(m) + (size_t)i * nx, x + row * nx, nx);
        memcpy((unsigned char *)%(n)s_in1(m) + (size_t)i * ny, y + row * ny, ny);
    }
}
static uint32_t bits_of(float loss)
{
    uint32_t bits;
    memcpy(&bits, &loss, sizeof bits);
    return bits;
}
"""
HOST = """
static unsigned char *load(const char *path, size_t n)
{
    FILE *f = fopen(path, "rb");
    unsigned char *p = malloc(n);
    if (!f || !p || fread(p, 1, n, f) != n)
        exit(4);
    fclose(f);
    return p;
}
int main(void)
{
    %(n)s_mem m;
    unsigned char *x = load("%(x)s.bin", %(nx)d), *y = load("%(y)s.bin", %(ny)d);
    memset(&m, 0, sizeof m);
    m.arena = arena.bytes;
    m.state = state.bytes;
    if (%(n)s_init(&m) != %(U)s_OK)
        return 2;
    for (int k = 0; k < STEPS; k++) {
        fill(&m, x, y, k);
        printf("%%d %%08x\\n", k, (unsigned)bits_of(%(n)s_train_step(&m, %(rate)s)));
    }
    FILE *f = fopen("%(n)s.state", "wb");
    if (!f || fwrite(state.bytes, sizeof state.bytes, 1, f) != 1 || fclose(f))
        return 5;
#ifdef %(U)s_IN3_BYTES /* inference by what it has learned, on the first rows */
    memcpy((void *)%(n)s_in3(&m), x, %(U)s_IN3_BYTES);
    if (%(n)s_run(&m) != %(U)s_OK)
        return 6;
    f = fopen("%(n)s.out", "wb");
    if (!f || fwrite(%(n)s_out1(&m), %(U)s_OUT1_BYTES, 1, f) != 1 || fclose(f))
        return 7;
#endif
    free(x), free(y);
    return 0;
}"""
FIRMWARE = """
int main(void)
{
    %(n)s_mem m;
    float loss;
    memset(&m, 0, sizeof m);
    m.arena = arena.bytes;
    m.state = state.bytes;
    if (%(n)s_init(&m) != %(U)s_OK)
        return 2;
    for (int k = 0; k < STEPS; k++) {
        char key[] = "loss00";
        key[4] += (char)(k / 10), key[5] += (char)(k %% 10);
        fill(&m, x, y, k);
        if (k + 1 == STEPS)
            fw_begin();
        loss = %(n)s_train_step(&m, %(rate)s);
        if (k + 1 == STEPS)
            fw_end("step");
        fw_report(key, bits_of(loss));
    }
    return 0;
}"""


def main():
    name, header, x, y, batch, steps, rate = sys.argv[1:8]
    a, b = np.load(x), np.load(y)
    if b.dtype.kind in "iu":
        b = b.astype(np.int32)
    f = {"n": name, "U": name.upper(), "x": x, "y": y, "rows": len(a), "nx": a.nbytes, "ny": b.nbytes,
         "batch": int(batch), "steps": int(steps), "rate": np.format_float_scientific(np.float32(rate)) + "f"}
    print('#include "%s"\n#include <string.h>' % header)
    if sys.argv[8:] == ["firmware"]:
        print('#include "fw.h"\n' + array("x", a.tobytes()) + array("y", b.tobytes()) + (COMMON + FIRMWARE) % f)
        return
    for path, v in ((x, a), (y, b)):
        with open(path + ".bin", "wb") as to:
            to.write(v.tobytes())
    print("#include <stdio.h>\n#include <stdlib.h>" + (COMMON + HOST) % f)


main()
