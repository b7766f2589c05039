/* step_main.c - a program that trains by generated code, net.h: five steps of a batch of 8 samples from x.bin and y.bin
 * (24 rows), by whole steps or by MICRO samples at a time, also over the processes of mpirun (MPI). Then inference on
 * the first rows. Writes losses, every weight in the file's order, and outputs to OUT. usage: step_main OUT */
#include "net.h"
#ifdef MICRO
#include "arn_tree.h"
#endif
#ifdef MPI
#include "arn_mpi.h"
#endif
#include <stdio.h>
#include <string.h>

enum { ROWS = 24, BATCH = 8, STEPS = 5 };
static uint8_t arena[NET_ARENA_BYTES] __attribute__((aligned(NET_ARENA_ALIGN)));
static uint8_t state[NET_STATE_BYTES] __attribute__((aligned(NET_ARENA_ALIGN)));
static float x[ROWS][3 * 6 * 6], weight[NET_STATE_BYTES / 4], before[NET_STATE_BYTES / 4];
static int32_t y[ROWS];

static int read_all(const char *path, void *to, size_t n)
{
    FILE *f = fopen(path, "rb");
    const int ok = f && fread(to, n, 1, f) == 1;
    return f ? fclose(f), ok : 0;
}

/* Rows from number `first` on, as many as the code takes. */
static void fill(const net_mem *m, int first)
{
    const size_t n = NET_IN1_COUNT;
    size_t i;
    for (i = 0; i < n; i++) {
        memcpy(net_in0(m) + i * sizeof x[0] / sizeof x[0][0], x[(first + (int)i) % ROWS], sizeof x[0]);
        net_in1(m)[i] = y[(first + (int)i) % ROWS];
    }
}

#ifdef MICRO
typedef struct learner {
    const net_mem *m;
    int step;
} learner;

static int gradients(void *with, int32_t k)
{
    const learner *l = (const learner *)with;
    fill(l->m, l->step * BATCH + k * MICRO);
#ifdef DROPOUT
    net_count(l->m, l->step, k);
#endif
    net_backward(l->m);
    return 0;
}
#endif

static float one_step(const net_mem *m, int step, void *ranks)
{
#ifdef MICRO
    static float room[2 * NET_GRADIENTS_COUNT];
    learner l = {m, step};
    struct arn_tree t = {net_gradients(m), NET_GRADIENTS_COUNT, room, NET_MICRO_BATCHES, gradients, &l, NULL};
    t.ranks = (const struct arn_ranks *)ranks;
    float loss;
    if (arn_tree_levels(NET_MICRO_BATCHES) > 2 || arn_tree_sum(&t))
        return -1;
    loss = net_gradients(m)[NET_GRADIENTS_COUNT - 1];
    return net_update(m, 0.01f) == 0 ? loss : -1;
#else
    (void)ranks;
    fill(m, step * BATCH);
    return net_train_step(m, 0.01f);
#endif
}

static void put(FILE *to, const char *name, const float *v, size_t n)
{
    size_t i;
    fprintf(to, "%s", name);
    for (i = 0; i < n; i++)
        fprintf(to, " %.9g", (double)v[i]);
    fprintf(to, "\n");
}

int main(int argc, char **argv)
{
    const net_mem m = {.arena = arena, .state = state};
    void *ranks = NULL;
    FILE *to;
    int k;
    if (argc != 2 || !read_all("x.bin", x, sizeof x) || !read_all("y.bin", y, sizeof y) || net_init(&m))
        return 1;
#ifdef MPI
    struct arn_ranks r;
    if (arn_mpi_open(&r))
        return 1;
    ranks = &r;
    to = fopen(r.rank ? "/dev/null" : argv[1], "w");
#else
    to = fopen(argv[1], "w");
#endif
    if (!to)
        return 1;
    for (k = 0; k < NET_WEIGHTS; k++) { /* in and out again */
        net_get_weight(&m, k, before);
        memset(net_weight_at(&m, k), 0xff, net_weights(k)->count * sizeof(float));
        net_put_weight(&m, k, before);
    }
    for (k = 0; k < STEPS; k++) {
        const float loss = one_step(&m, k, ranks);
        put(to, "loss", &loss, 1);
    }
    for (k = 0; k < NET_WEIGHTS; k++) {
        net_get_weight(&m, k, weight);
        put(to, net_weights(k)->name, weight, net_weights(k)->count);
    }
    memcpy(net_in3(&m), x, NET_IN3_BYTES);
    if (net_run(&m))
        return 1;
    put(to, "logits", net_out1(&m), NET_OUT1_COUNT);
#ifdef MPI
    r.close(r.with);
#endif
    return fclose(to) != 0;
}
