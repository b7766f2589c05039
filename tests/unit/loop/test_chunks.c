/* test_chunks.c - steps cut into chunks: for every family of lowerings the chunks, run last to first and each after its
 * scratch was filled with rubbish, give results bit-identical to the whole step; steps that must not be cut are not.
 * Then the pool that runs them. */
#include "tests/unit/support/run_node.h"
#include "ir/loop/eval/eval.h"
#include "ir/lower/node/node.h"

#include "runtime/arn_pool.h"

#include <time.h>

/* Operands, node; '-': stays whole. Sizes are odd so that borders, tails and rests of tiles occur. */
static const struct {
    char cut;
    const char *operands, *node;
} CASES[] = {
    {'+', "input x: f32[1,17,19,24]; const w: f32[40,3,3,24] = random 1", "y = conv_2d(x, w) padding=same"},
    {'+', "input x: f32[1,7,7,32]; const w: f32[200,3,3,32] = random 1", "y = conv_2d(x, w) padding=same act=relu"},
    {'+', "input x: f32[2,9,9,20]; const w: f32[24,1,1,20] = random 1; const b: f32[24] = random 2",
     "y = conv_2d(x, w, b)"},
    {'+', "input x: f32[1,9,9,16]; const w: f32[24,3,3,4] = random 1", "y = conv_2d(x, w) padding=same"},
    {'+', "input x: f32[1,15,15,20]; const w: f32[1,3,3,20] = random 1", "y = depthwise_conv_2d(x, w) padding=same"},
    {'+', "input x: i8[1,15,15,20] q(0.1, 3); const w: i8[1,3,3,20] q(0.02, 0) = random 1; const b: i32[20] = random 2",
     "y: i8[1,15,15,20] q(0.3, -2) = depthwise_conv_2d(x, w, b) padding=same"},
    {'+',
     "input x: i8[1,11,12,20] q(0.1, 3); const w: i8[33,3,3,20] q(0.02, 0) = random 1; const b: i32[33] = random 2",
     "y: i8[1,11,12,33] q(0.3, -2) = conv_2d(x, w, b) padding=same"},
    {'+', "input x: f32[1,9,9,20]; const w: i8[24,3,3,20] q(0.02, 0) = random 1", "y = conv_2d(x, w) padding=same"},
    {'+', "const s: i32[4] = [1, 12, 14, 20]; const w: f32[20,3,3,24] = random 1; input x: f32[1,6,7,24]",
     "y = transpose_conv(s, w, x) stride_h=2 stride_w=2 padding=same"},
    {'+', "input x: f32[1,300]; const w: f32[131,300] = random 1", "y = fully_connected(x, w)"},
    {'+', "input x: f32[13,70]; const w: f32[50,70] = random 1", "y = fully_connected(x, w)"},
    {'+', "input x: f32[5,70]; const w: i8[50,70] q(0.02, 0) = random 1", "y = fully_connected(x, w)"},
    {'+', "input x: f32[3,17,30]; input z: f32[3,30,21]", "y = batch_matmul(x, z)"},
    {'+', "input x: f32[1,17,30]; input z: f32[1,51,30]", "y = batch_matmul(x, z) adj_y=true"},
    {'+', "input x: f32[1,13,13,20]", "y = max_pool_2d(x) kernel_h=3 kernel_w=3 stride_h=2 stride_w=2"},
    {'+', "input x: i8[1,13,13,20] q(0.1, 3)",
     "y: i8[1,11,11,20] q(0.1, 3) = average_pool_2d(x) kernel_h=3 kernel_w=3"},
    {'+', "input x: f32[37,53]", "y = softmax(x)"},
    {'+', "input x: f32[37,53]", "y = log_softmax(x)"},
    {'+', "input x: f32[1001]", "y = tanh(x)"},
    {'+', "input x: f32[7,1,53]; input z: f32[11,53]", "y = add(x, z)"},
    {'+', "input x: i8[1003] q(0.1, 3)", "y: i8[1003] q(0.05, 0) = logistic(x)"},
    {'+', "input x: f32[11,9,23]; const a: i32[1] = [1]", "y = sum(x, a)"},
    {'+', "input x: f32[11,9,23]; const a: i32[1] = [2]", "y = mean(x, a)"},
    {'+', "input x: f32[1,9,9,20]; const s: i32[2] = [15, 17]", "y = resize_bilinear(x, s)"},
    {'+', "input x: f32[6,9,11,21]", "y = transpose(x) perm=[0,3,1,2]"},
    {'+', "input x: f32[1,9,11,5]; input z: f32[1,9,11,13]", "y = concatenation(x, z) axis=3"},
    {'+', "input x: f32[1,9,11,5]", "y = pad(x) pads=[0,0,1,2,2,1,0,0]"},
    {'+', "input x: f32[13,37]", "y = slice(x) begin=[2,5] size=[9,30]"},
    {'-', "input x: f32[5,3]; const i: i32[2,1] = [1, 3]; const s: i32[2] = [5, 3]; input v: f32[2,3]",
     "y = scatter_nd(i, v, s)"},
    {'-', "input x: f32[1,9,9,8]; const k: i32[2] = [2, 2]; const p: i32[2,2] = [0, 1, 0, 1]",
     "y = space_to_batch_nd(x, k, p)"},
    {'-', "input x: f32[1,900]; const a: i32[] = [1]", "y = cumsum(x, a)"},
    {'-', "input x: f32[9,8]; input u: f32[3,8]; const at: i32[2] = [2, 0]", "y = dynamic_update_slice(x, u, at)"},
};
enum { N_CASES = sizeof CASES / sizeof *CASES };

static void *as_any(const void *p)
{
    union {
        const void *read;
        void *any;
    } u = {p};
    return u.any;
}

static void **arguments(ac_ctx *cx, const ac_lowered *w, void *const *data, int32_t *chunk)
{
    void **arg = AC_NEW_N(cx->region, void *, w->arg.n + 1);
    for (int32_t i = 0; i < w->arg.n; i++) {
        const ac_arg *a = &w->arg.item[i];
        arg[i] = a->kind == AC_ARG_TENSOR    ? data[a->tensor->id]
                 : a->kind == AC_ARG_CONST   ? as_any(ac_const_data(cx, a->konst))
                 : a->kind == AC_ARG_SCRATCH ? ac_alloc(cx->region, (size_t)a->bytes + 1)
                                             : chunk;
    }
    return arg;
}

/* Runs `w` whole, or its chunks from the last to the first; every chunk begins with rubbish in all scratch. */
static int run_parts(ac_ctx *cx, const ac_lowered *w, void *const *data)
{
    int32_t chunk = 0;
    int status = 0;
    void **arg = arguments(cx, w, data, &chunk);
    for (chunk = w->chunks ? w->chunks - 1 : 0; chunk >= 0; chunk--) {
        for (int32_t i = 0; i < w->arg.n; i++)
            if (w->arg.item[i].kind == AC_ARG_SCRATCH)
                memset(arg[i], 0x7d + chunk, (size_t)w->arg.item[i].bytes);
        if (ac_eval(cx, w->fn, arg, w->arg.n, &status) != AC_OK || status)
            return AC_FAIL;
    }
    return AC_OK;
}

static const ac_target VNNI = {.name = "vnni",
                               .vec_bytes = 64,
                               .registers = 32,
                               .fma = true,
                               .dot_u8s8 = true,
                               .align = 16,
                               .l1_bytes = 32768,
                               .l2_bytes = 262144};

static void check_case(int c, const ac_target *t)
{
    ac_ctx cx;
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    ac_graph *g;
    const ac_node *n = read_node(&cx, CASES[c].operands, CASES[c].node, &g);
    if (!n) {
        fail(__LINE__, CASES[c].node, t->name, "cannot be read");
        ac_diags_print(&cx.diags, stdout, false);
        ac_ctx_close(&cx);
        return;
    }
    void **data = make_data(&cx, g, 0);
    ac_tensor *y = n->out[0];
    const size_t bytes = (size_t)ac_tensor_bytes(y);
    ac_lowered *whole = ac_lower_node(&cx, cx.region, n, t, 0, false);
    if (!whole || run_parts(&cx, whole, data) != AC_OK) {
        fail(__LINE__, CASES[c].node, t->name, "the whole step fails");
        ac_ctx_close(&cx);
        return;
    }
    void *want = ac_copy(cx.region, data[y->id], bytes);
    for (int32_t chunks = 2; chunks <= 5; chunks++) {
        ac_lowered *w = ac_lower_node(&cx, cx.region, n, t, 0, false);
        memset(data[y->id], 0x5a, bytes);
        if (!w || ac_lower_chunks(&cx, cx.region, w, chunks, 0) != AC_OK)
            fail(__LINE__, CASES[c].node, t->name, "cannot be cut");
        else if ((w->chunks == chunks) != (CASES[c].cut == '+'))
            fail(__LINE__, CASES[c].node, t->name, w->chunks ? "is cut" : "is not cut");
        else if (run_parts(&cx, w, data) != AC_OK || memcmp(want, data[y->id], bytes))
            fail(__LINE__, CASES[c].node, t->name, "chunks give another result");
    }
    ac_ctx_close(&cx);
}

/* Small steps are not worth a fork. */
static void check_small(void)
{
    ac_ctx cx;
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    ac_graph *g;
    const ac_node *n = read_node(&cx, "input x: f32[8,8]", "y = relu(x)", &g);
    ac_lowered *w = ac_lower_node(&cx, cx.region, n, &TARGETS[0], 0, false);
    if (ac_lower_chunks(&cx, cx.region, w, 2, AC_FORK_COST) != AC_OK || w->chunks)
        fail(__LINE__, "relu of 64", "plain", "is cut");
    ac_ctx_close(&cx);
}

/* Threads keep rows of an image, from step to step: also where columns of a product would be as many for each. */
static void check_rows(const char *operands, const char *node, bool rows)
{
    ac_ctx cx;
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    ac_graph *g;
    const ac_node *n = read_node(&cx, operands, node, &g);
    ac_lowered *w = ac_lower_node(&cx, cx.region, n, &VNNI, 0, false);
    void **data = make_data(&cx, g, 0);
    int32_t chunk = 0;
    int status = 0;
    const int64_t count = ac_tensor_count(n->out[0]);
    float *y = data[n->out[0]->id];
    for (int64_t i = 0; i < count; i++)
        y[i] = -1000;
    if (ac_lower_chunks(&cx, cx.region, w, 2, AC_FORK_COST) != AC_OK || w->chunks != 2)
        fail(__LINE__, node, "vnni", "is not cut");
    if (ac_eval(&cx, w->fn, arguments(&cx, w, data, &chunk), w->arg.n, &status) != AC_OK)
        fail(__LINE__, node, "vnni", "does not run");
    int64_t first = 0, more = 0; /* elements of chunk 0: from the first on, and others */
    while (first < count && y[first] > -1000)
        first++;
    for (int64_t i = first; i < count; i++)
        more += y[i] > -1000;
    if (rows ? more != 0 || first < count / 3 || first > count / 3 * 2 : more == 0)
        fail(__LINE__, operands, "vnni", rows ? "is not cut by rows" : "is cut by rows");
    ac_ctx_close(&cx);
}

/* Tiles are of processors with one core: a copy by way of scratch that one packs stays whole. */
static void check_packed(void)
{
    static const char BODY[] =
        "fn f\nbuf x in i8 64 align 1\nbuf y out i8 64 align 1\nbuf s scratch i8 64 align 1\n"
        "%1 = const i32 0\n%2 = const i32 64\n%3 = const i32 1\n"
        "%4 = for i32 %1 .. %3 step 1\ntile spread 1 s[%1] 0 1 x[%1] 1 %2\n"
        "%6 = load i8 x[%1]\nstore y[%1] %6\nend\n"
        "%9 = for i32 %3 .. %2 step 1 as i parallel\n%10 = load i8 s[%9]\nstore y[%9] %10\nend\n";
    ac_ctx cx;
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    ac_graph *g;
    const ac_node *n = read_node(&cx, "input x: i8[64] q(1, 0)", "y: i8[64] q(1, 0) = relu(x)", &g);
    void **data = make_data(&cx, g, 0);
    ac_lowered *w = ac_lower_node(&cx, cx.region, n, &TARGETS[0], 0, false);
    w->arg.n = 0;
    ac_push(cx.region, &w->arg, ((ac_arg){.kind = AC_ARG_TENSOR, .tensor = n->in[0]}));
    ac_push(cx.region, &w->arg, ((ac_arg){.kind = AC_ARG_TENSOR, .tensor = n->out[0]}));
    ac_push(cx.region, &w->arg, ((ac_arg){.kind = AC_ARG_SCRATCH, .bytes = 64}));
    if (ac_loop_read(&cx, "packed", BODY, strlen(BODY), &w->fn) != AC_OK ||
        ac_lower_chunks(&cx, cx.region, w, 3, 0) != AC_OK || w->chunks)
        fail(__LINE__, "packed by a tile", "plain", "is cut");
    else if (run_parts(&cx, w, data) != AC_OK || memcmp(data[n->in[0]->id], data[n->out[0]->id], 64))
        fail(__LINE__, "packed by a tile", "plain", "is no copy");
    ac_ctx_close(&cx);
}

/* ------------------------------------------------------------------ the pool */

typedef struct tally {
    int32_t *seen; /* by chunk: how often */
} tally;

static void count_part(const void *with, int32_t chunk)
{
    const tally *t = with;
    t->seen[chunk]++;
}

static void check_pool(int32_t threads)
{
    static struct arn_threads pool;
    int32_t seen[8] = {0}, jobs = 0;
    const tally t = {seen};
    if (arn_threads_open(&pool, threads)) {
        fail(__LINE__, "pool", "threads", "cannot be opened");
        return;
    }
    for (int i = 0; i < 300; i++, jobs++) { /* up to twice as many chunks as threads, and fewer */
        if (i % 50 == 0)
            nanosleep(&(struct timespec){.tv_nsec = 2000000}, NULL); /* so that threads sleep */
        pool.pool.run(&pool.pool, 1 + i % 8, count_part, &t);
    }
    const int32_t first[8] = {0}, none[8] = {-1};
    if (arn_threads_pin(&pool, none) == 0)
        fail(__LINE__, "pool", "threads", "are pinned to no processor");
    if (threads == 5) /* the last pool: all of its threads have one processor, and none waits for the others */
        (void)arn_threads_pin(&pool, first);
    pool.pool.run(&pool.pool, 8, count_part, &t);
    arn_threads_close(&pool);
    int32_t want = 1;
    for (int32_t k = 7; k >= 0; k--) {
        for (int i = 0; i < 300; i++)
            want += i % 8 == k;
        if (seen[k] != want)
            fail(__LINE__, "pool", "threads", "a chunk is lost or done twice");
    }
}

int main(void)
{
    for (int c = 0; c < N_CASES; c++) {
        for (int t = 0; t < (int)N_TARGETS; t++)
            check_case(c, &TARGETS[t]);
        check_case(c, &VNNI);
    }
    check_small();
    check_rows("input x: f32[1,32,32,24]; const w: f32[32,1,1,24] = random 1", "y = conv_2d(x, w)", true);
    check_rows("input x: f32[1,32,32,24]; input z: f32[1,32,32,24]", "y = concatenation(x, z) axis=3", true);
    check_rows("input x: f32[1,4,4,256]; const w: f32[512,1,1,256] = random 1", "y = conv_2d(x, w)", false);
    check_packed();
    for (int32_t n = 1; n <= 5; n++)
        check_pool(n);
    static struct arn_threads none;
    if (arn_threads_open(&none, 0) == 0 || arn_threads_open(&none, ARN_MOST_THREADS + 1) == 0)
        fail(__LINE__, "pool", "threads", "opens with a wrong number");
    return failures != 0;
}
