/* time_cuda.c - times a model compiled with `--name net --emit cu,h` on the GPU of this machine: as launches, and as a
 * graph.
 *
 *     time_net IMAGE SECONDS [OUTPUT [INPUT...]]      prints open_ms=... launches_ms=... graph_ms=... runs=...
 *
 * Memory stays on the device; runs are queued and awaited together, a tenth of SECONDS at a time; the result is the
 * minimum of the means. Inputs are raw bytes in the order of the model, by default zeros; the first output is written
 * to OUTPUT. Exit 77: no driver or no GPU. */
#include "net.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* The file with a zero after it; NULL: it cannot be read. */
static char *whole(const char *path, size_t *n)
{
    FILE *f = fopen(path, "rb");
    char *text = NULL;
    *n = 0;
    for (size_t got = 1, cap = 1 << 16; f && got; cap *= 2) {
        text = realloc(text, cap + 1);
        if (!text)
            exit(3);
        *n += got = fread(text + *n, 1, cap - *n, f);
        text[*n] = 0;
    }
    if (f)
        fclose(f);
    return text;
}

/* Least mean of a run, milliseconds. */
static double measure(net_gpu *g, double seconds, long *runs)
{
    const double end = now_ms() + seconds * 1e3;
    double best = 1e30;
    long n = 1;
    *runs = 0;
    do {
        const double start = now_ms();
        for (long i = 0; i < n; i++)
            if (net_run(g, NULL))
                return -1;
        if (net_wait(g))
            return -1;
        const double took = now_ms() - start;
        *runs += n;
        best = took / (double)n < best ? took / (double)n : best;
        if (took < seconds * 100)
            n *= 2;
    } while (now_ms() < end);
    return best;
}

static int write_inputs(net_gpu *g, int argc, char **argv)
{
    int bad = 0, k = 4;
#define INPUT(i)                                                                                            \
    {                                                                                                       \
        size_t n = 0;                                                                                       \
        char *x = k < argc ? whole(argv[k++], &n) : NULL;                                                   \
        if (x && n != NET_IN##i##_BYTES)                                                                    \
            fprintf(stderr, "%s has %zu bytes, expected %zu\n", argv[k - 1], n, (size_t)NET_IN##i##_BYTES); \
        if (!x)                                                                                             \
            x = calloc(1, NET_IN##i##_BYTES + 1);                                                           \
        else if (n != NET_IN##i##_BYTES)                                                                    \
            return 2;                                                                                       \
        bad |= net_write_in##i(g, (const void *)x);                                                         \
        free(x);                                                                                            \
    }
#ifdef NET_IN0_BYTES
    INPUT(0)
#endif
#ifdef NET_IN1_BYTES
    INPUT(1)
#endif
#ifdef NET_IN2_BYTES
    INPUT(2)
#endif
#ifdef NET_IN3_BYTES
    INPUT(3)
#endif
    return bad;
}

int main(int argc, char **argv)
{
    const char *why = "";
    size_t n;
    if (argc < 3)
        return 2;
    char *image = whole(argv[1], &n);
    if (!image) {
        perror(argv[1]);
        return 3;
    }
    const double start = now_ms();
    net_gpu *g = net_open(image, NULL, &why);
    if (!g) {
        fprintf(stderr, "%s\n", why);
        return 77;
    }
    const double opened = now_ms() - start, seconds = atof(argv[2]);
    int bad = write_inputs(g, argc, argv) || net_run(g, NULL) || net_wait(g);
    if (!bad && argc > 3) {
        FILE *f = fopen(argv[3], "wb");
        char *y = malloc(NET_OUT0_BYTES + 1);
        bad = !f || !y || net_read_out0(g, (void *)y) || fwrite(y, 1, NET_OUT0_BYTES, f) != NET_OUT0_BYTES || fclose(f);
        free(y);
    }
    long runs = 0, more = 0;
    const double launches = bad ? -1 : measure(g, seconds / 2, &runs);
    bad |= launches < 0 || net_capture(g);
    const double graph = bad ? -1 : measure(g, seconds / 2, &more);
    if (bad || graph < 0)
        fprintf(stderr, "status %d: %s\n", bad, arn_cuda_why(g));
    else
        printf("open_ms=%.3f launches_ms=%.5f graph_ms=%.5f runs=%ld\n", opened, launches, graph, runs + more);
    net_close(g);
    free(image);
    return bad || graph < 0;
}
