#!/usr/bin/env python3
"""Writes a main.c for the host that runs one generated model on one stored input (its last one, when there are several:
the others stay zero) and compares the output bytes. The arena has exactly the size in the header, on the heap, so that
a sanitizer sees every byte outside of it.

  host_main.py NAME HEADER.h INPUT.npy OUTPUT.npy > main.c
"""
import re
import sys

from fw_main import array, load

name, header, x, y = sys.argv[1:5]
up = name.upper()
which = re.search(r"input(\d+)_", x)
print('#define _POSIX_C_SOURCE 200112L\n#include "%s"' % header)
print("#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n")
print(array("input", load(x)))
print(array("want", load(y)))
print("""int main(void)
{
    %(n)s_mem m;
    void *arena;
    int bad;
    memset(&m, 0, sizeof m);
    if (posix_memalign(&arena, %(U)s_ARENA_ALIGN < sizeof(void *) ? sizeof(void *) : %(U)s_ARENA_ALIGN,
                       %(U)s_ARENA_BYTES))
        return 2;
    m.arena = arena;
    if (%(n)s_init(&m) != %(U)s_OK)
        return 2;
    memset(arena, 0, %(U)s_ARENA_BYTES);
    memcpy((void *)%(n)s_in%(i)s(&m), input, sizeof input);
    if (%(n)s_run(&m) != %(U)s_OK)
        return 3;
    bad = memcmp((const void *)%(n)s_out0(&m), want, sizeof want) != 0;
    free(arena);
    if (bad)
        puts("the output differs from the reference");
    return bad;
}""" % {"n": name, "U": up, "i": which.group(1) if which else "0"})
