/* run_cu.c - the program of docs/cuda.md: MODEL's API, with a driver that need not be real. Runs as launches, then as a
 * graph, then on a stream of its own. usage: main IMAGE INPUT.npy OUTPUT.npy */
#include HEADER

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PASTE(a, b) a##b
#define NAME(a, b)  PASTE(a, b)
#define F(suffix)   NAME(MODEL, suffix)

static void *npy(const char *path)
{
    static char bytes[2][1 << 16];
    static int n;
    FILE *f = fopen(path, "rb");
    if (!f || fread(bytes[n], 1, sizeof bytes[n], f) < 10)
        exit(2);
    fclose(f);
    char *at = bytes[n++];
    return at + 10 + (unsigned char)at[8] + 256 * (unsigned char)at[9];
}

int main(int argc, char **argv)
{
    const char *why = "";
    static union {
        char bytes[1 << 16];
        double align;
    } got;
    if (argc != 4)
        return 2;
    const void *in = npy(argv[2]), *want = npy(argv[3]);
    F(_gpu) *g = F(_open)(argv[1], NULL, &why);
    if (!g) {
        fprintf(stderr, "%s\n", why);
        return 3;
    }
    int bad = 0;
    for (int round = 0; round < 4; round++) {
        memset(got.bytes, 0, sizeof got.bytes);
        if (round == 2)
            bad |= F(_capture)(g);
        bad |= F(_write_in0)(g, in);
        bad |= F(_run)(g, round == 1 ? (void *)&bad : NULL);
        bad |= F(_read_out0)(g, (void *)got.bytes);
        bad |= F(_wait)(g);
        bad |= memcmp(got.bytes, want, OUT_BYTES) ? 100 : 0;
    }
    if (bad)
        fprintf(stderr, "status %d: %s\n", bad, arn_cuda_why(g));
    F(_close)(g);
    return bad != 0;
}
