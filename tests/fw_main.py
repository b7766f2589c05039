#!/usr/bin/env python3
"""Write a bare-metal main.c that runs one generated model on one stored input and checks the output bytes.

  fw_main.py NAME HEADER.h INPUT OUTPUT > main.c      INPUT, OUTPUT: .npy, or raw bytes

The main uses the five calls of a firmware test harness: fw_begin, fw_end, fw_check.
"""
import ast
import sys


def load(path):
    b = open(path, "rb").read()
    if b[:6] != b"\x93NUMPY":
        return b
    start, n = (10, b[8] + 256 * b[9]) if b[6] == 1 else (12, int.from_bytes(b[8:12], "little"))
    ast.literal_eval(b[start:start + n].decode("latin1").strip())  # a header we can read, or an error
    return b[start + n:]


def array(name, data):
    rows = [", ".join("%d" % x for x in data[i:i + 24]) for i in range(0, len(data), 24)]
    return "static const unsigned char %s[] = {\n    %s};\n" % (name, ",\n    ".join(rows))


def main():
    name, header, x, y = sys.argv[1:5]
    up = name.upper()
    print('#include "%s"\n#include "fw.h"\n#include <string.h>\n' % header)
    print(array("input", load(x)))
    print(array("want", load(y)))
    print("""static union {
    unsigned char bytes[%(U)s_ARENA_BYTES];
    long long align;
} arena __attribute__((aligned(64)));
int main(void)
{
    %(n)s_mem m;
    memset(&m, 0, sizeof m);
    m.arena = arena.bytes;
    if (%(n)s_init(&m) != %(U)s_OK)
        return 2;
#ifdef %(U)s_IN0_ROWS
    fw_begin();
    for (unsigned row = 0; row < %(U)s_IN0_ROWS; row++) {
        memcpy((void *)%(n)s_in0_row(&m), input + row * %(U)s_IN0_ROW_BYTES, %(U)s_IN0_ROW_BYTES);
        if (%(n)s_run_row(&m, row) != %(U)s_OK)
            return 3;
    }
#else
    memcpy((void *)%(n)s_in0(&m), input, %(U)s_IN0_BYTES);
    fw_begin();
    if (%(n)s_run(&m) != %(U)s_OK)
        return 3;
#endif
    fw_end("%(n)s");
    return fw_check("%(n)s", (const void *)%(n)s_out0(&m), want, sizeof want) ? 0 : 1;
}""" % {"n": name, "U": up})


if __name__ == "__main__":
    main()
