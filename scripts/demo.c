/* demo.c - a firmware main for digits.c, except that it reads its digits from .npy files: classifies each and counts
 * the correct ones. Shows that the generated code needs only one static arena. */
#include "digits.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX = 1 << 20 };
static unsigned char images[MAX], labels[MAX];
static union {
    unsigned char bytes[DIGITS_ARENA_BYTES + DIGITS_ARENA_ALIGN];
    double aligned;
} arena;

/* The data of a version 1 .npy file of bytes; returns how many there are. */
static size_t load(const char *path, unsigned char *to)
{
    FILE *f = fopen(path, "rb");
    unsigned char head[10];
    size_t n = 0;
    if (f && fread(head, 1, 10, f) == 10 && !memcmp(head, "\x93NUMPY\1", 7) &&
        !fseek(f, 10L + head[8] + 256L * head[9], SEEK_SET))
        n = fread(to, 1, MAX, f);
    if (f)
        fclose(f);
    if (!n) {
        fprintf(stderr, "cannot read %s\n", path);
        exit(1);
    }
    return n;
}

static void draw(const unsigned char *x)
{
    int r, c;
    for (r = 0; r < 8; r++) {
        for (c = 0; c < 8; c++)
            printf("%c%c", " .:+*#@@"[((signed char)x[8 * r + c] + 128) / 33],
                   " .:+*#@@"[((signed char)x[8 * r + c] + 128) / 33]);
        putchar('\n');
    }
}

int main(int argc, char **argv)
{
    size_t i, n, right = 0;
    digits_mem m = {0};
    if (argc != 3)
        return 2;
    load(argv[1], images);
    n = load(argv[2], labels);
    m.arena = arena.bytes + (DIGITS_ARENA_ALIGN - (size_t)arena.bytes % DIGITS_ARENA_ALIGN) % DIGITS_ARENA_ALIGN;
    if (digits_init(&m) != DIGITS_OK)
        return 1;
    for (i = 0; i < n; i++) {
        const signed char *y;
        int k, best = 0;
        memcpy(digits_in0(&m), images + i * DIGITS_IN0_BYTES, DIGITS_IN0_BYTES);
        if (digits_run(&m) != DIGITS_OK)
            return 1;
        y = (const signed char *)digits_out0(&m);
        for (k = 1; k < (int)DIGITS_OUT0_BYTES; k++)
            if (y[k] > y[best])
                best = k;
        right += best == labels[i];
        if (i == 0) {
            draw(images);
            printf("classified as %d, label %d\n", best, labels[0]);
        }
    }
    printf("%lu of %lu digits right: %.2f %%; arena %u B\n", (unsigned long)right, (unsigned long)n,
           100.0 * (double)right / (double)n, (unsigned)DIGITS_ARENA_BYTES);
    return right * 100 < n * 95;
}
