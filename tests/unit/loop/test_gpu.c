/* test_gpu.c - tiles of GPUs in the evaluator: the part of a thread in a product of its warp against the product of the
 * matrices; convolutions and products of matrices by tensor cores against the plain schedule, bytes bit for bit and
 * floats within their bound, on tiles of every size; and the verifier's errors for fragments that a GPU cannot
 * multiply. */
#include "codegen/targets.h"
#include "ir/loop/eval/eval.h"
#include "ir/lower/node/node.h"
#include "tests/unit/support/run_node.h"

#include "tests/unit/support/fresh.h" /* after it: its parameters are named cx */

#include <math.h>
#include <stdlib.h>

/* ------------------------------------------------------------------ one product */

enum { ROWS = 16, COLUMNS = 8, WORDS = 8, THREADS = 64 };

/* y += a b by two warps, each with its own matrices; a [warp][row][word], b [warp][column][word]. */
static ac_loop_fn *product(ac_dtype type)
{
    ac_lb b;
    const ac_dtype sum = type == AC_I8 ? AC_I32 : AC_F32;
    ac_lb_open(&b, cx.region, "product", NULL);
    const int32_t x = ac_lb_buf(&b, "a", AC_I32, 2 * ROWS * WORDS, AC_BUF_IN, 64, NULL);
    const int32_t w = ac_lb_buf(&b, "b", AC_I32, 2 * COLUMNS * WORDS, AC_BUF_IN, 64, NULL);
    const int32_t y = ac_lb_buf(&b, "y", sum, 2 * ROWS * COLUMNS, AC_BUF_INOUT, 64, NULL);
    const int32_t words = ac_lb_buf(&b, "words", AC_I32, 6 * THREADS, AC_BUF_LOCAL, 16, NULL);
    const int32_t acc = ac_lb_buf(&b, "acc", sum, 4 * THREADS, AC_BUF_LOCAL, 16, NULL);
    b.fn->buf.item[words].where = b.fn->buf.item[acc].where = AC_WHERE_THREAD;
    ac_lb_for(&b, "g", ac_lb_i32(&b, 0), ac_lb_i32(&b, 1), 1, AC_MARK_GRID);
    for (int32_t phase = 0; phase < 3; phase++) {
        const ac_x t = ac_lb_for(&b, "t", ac_lb_i32(&b, 0), ac_lb_i32(&b, THREADS), 1, AC_MARK_BLOCK);
        const ac_x warp = ac_lb_div(&b, t, ac_lb_i32(&b, 32)), lane = ac_lb_mod(&b, t, ac_lb_i32(&b, 32)),
                   g = ac_lb_div(&b, lane, ac_lb_i32(&b, 4)), q = ac_lb_mod(&b, lane, ac_lb_i32(&b, 4));
#define OWN(k) ac_lb_add(&b, ac_lb_i32(&b, (k)*THREADS), t)
        for (int32_t e = 0; e < 6 && phase == 0; e++) {
            const ac_x half = ac_lb_add(&b, q, ac_lb_i32(&b, e < 4 ? e / 2 * 4 : (e - 4) * 4));
            const ac_x line = e < 4 ? ac_lb_add(&b, ac_lb_add(&b, ac_lb_mul(&b, warp, ac_lb_i32(&b, ROWS)), g),
                                                ac_lb_i32(&b, e % 2 * 8))
                                    : ac_lb_add(&b, ac_lb_mul(&b, warp, ac_lb_i32(&b, COLUMNS)), g);
            ac_lb_store(
                &b, words, OWN(e),
                ac_lb_load(&b, e < 4 ? x : w, ac_lb_add(&b, ac_lb_mul(&b, line, ac_lb_i32(&b, WORDS)), half), 1));
        }
        for (int32_t e = 0; e < 4 && phase != 1; e++) {
            const ac_x row =
                ac_lb_add(&b, ac_lb_add(&b, ac_lb_mul(&b, warp, ac_lb_i32(&b, ROWS)), g), ac_lb_i32(&b, e / 2 * 8));
            const ac_x at = ac_lb_add(&b, ac_lb_mul(&b, row, ac_lb_i32(&b, COLUMNS)),
                                      ac_lb_add(&b, ac_lb_mul(&b, q, ac_lb_i32(&b, 2)), ac_lb_i32(&b, e % 2)));
            if (phase == 0)
                ac_lb_store(&b, acc, OWN(e), ac_lb_load(&b, y, at, 1));
            else
                ac_lb_store(&b, y, at, ac_lb_load(&b, acc, OWN(e), 1));
        }
        if (phase == 1)
            ac_lb_mma(&b, type, acc, OWN(0), words, OWN(0), OWN(4));
        ac_lb_end(&b);
    }
    ac_lb_end(&b);
    return ac_lb_close(&b);
}

/* Element k of a line of words. */
static double element(ac_dtype type, const uint32_t *line, int32_t k)
{
    const int32_t each = 32 / ac_dtype_bits(type);
    const uint32_t word = line[k / each];
    float f;
    if (type == AC_I8)
        return (int8_t)(uint8_t)(word >> 8 * (k % each));
    if (type == AC_F32) {
        memcpy(&f, &word, 4);
        return (double)f;
    }
    const uint16_t half = (uint16_t)(word >> 16 * (k % each));
    return (double)(type == AC_F16 ? ac_f16_to_f32(half) : ac_bf16_to_f32(half));
}

/* A word of small numbers that sums hold exactly, so that their order does not show. */
static uint32_t random_word(ac_dtype type)
{
    uint32_t word = 0;
    const float f = (float)((int32_t)(draw() % 129) - 64) / 8;
    if (type == AC_I8)
        return draw();
    if (type == AC_F32)
        memcpy(&word, &f, 4);
    for (int32_t j = 0; j < 2 && type != AC_F32; j++) {
        const float half = (float)((int32_t)(draw() % 129) - 64) / 8;
        word |= (uint32_t)(type == AC_F16 ? ac_f32_to_f16(half) : ac_f32_to_bf16(half)) << 16 * j;
    }
    return word;
}

static void test_product(ac_dtype type)
{
    fresh();
    uint32_t a[2 * ROWS][WORDS], b[2 * COLUMNS][WORDS], y[2 * ROWS][COLUMNS];
    double want[2 * ROWS][COLUMNS];
    for (int32_t i = 0; i < 2 * ROWS * WORDS; i++)
        (&a[0][0])[i] = random_word(type);
    for (int32_t i = 0; i < 2 * COLUMNS * WORDS; i++)
        (&b[0][0])[i] = random_word(type);
    for (int32_t r = 0; r < 2 * ROWS; r++)
        for (int32_t c = 0; c < COLUMNS; c++) {
            const int32_t first = (int32_t)(draw() % 1000) - 500;
            const float real = (float)first;
            memcpy(&y[r][c], type == AC_I8 ? (const void *)&first : &real, 4);
            want[r][c] = first;
            for (int32_t k = 0; k < WORDS * 32 / ac_dtype_bits(type); k++)
                want[r][c] += element(type, a[r], k) * element(type, b[r / ROWS * COLUMNS + c], k);
        }
    int status = 0;
    const ac_loop_fn *fn = product(type);
    if (ac_eval(&cx, fn, (void *[]){a, b, y}, 3, &status) != AC_OK) {
        ac_diags_print(&cx.diags, stdout, false);
        fail(__LINE__, "mma", ac_dtype_name(type), "cannot be evaluated");
        return;
    }
    for (int32_t r = 0; r < 2 * ROWS; r++)
        for (int32_t c = 0; c < COLUMNS; c++) {
            int32_t sum;
            float real;
            memcpy(&sum, &y[r][c], 4);
            memcpy(&real, &y[r][c], 4);
            if ((type == AC_I8 ? (double)sum : (double)real) < want[r][c] ||
                (type == AC_I8 ? (double)sum : (double)real) > want[r][c])
                fail(__LINE__, "mma", ac_dtype_name(type), "not the product of the matrices");
        }
    ac_sink text, again;
    ac_loop_fn *back = NULL;
    ac_sink_open(&text, &cx);
    ac_sink_open(&again, &cx);
    ac_loop_dump(&text, fn);
    if (ac_loop_read(&cx, "dump", ac_sink_text(&text), text.n, &back) == AC_OK)
        ac_loop_dump(&again, back);
    if (strcmp(ac_sink_text(&text), ac_sink_text(&again)) != 0)
        fail(__LINE__, "mma", ac_dtype_name(type), "read(dump(f)) dumps the same");
}

/* ------------------------------------------------------------------ whole operators */

typedef struct kind {
    const char *operands, *node;
    bool bytes, never; /* integers, exact; not for tensor cores */
} kind;

static const kind KINDS[] = {
    {"input x: i8[1,9,7,32] q(0.05, 3); const w: i8[40,3,3,32] q(0.02, 0) = random 5 (-127, 127); const b: i32[40] = "
     "random 7 (-900, 900)",
     "z: i8[1,9,7,40] q(0.9, -4) = conv_2d(x, w, b) padding=same act=relu", true, false},
    {"input x: i8[1,8,8,32] q(0.05, 3); const w: i8[24,3,3,16] q(0.02, 0) = random 5 (-127, 127)",
     "z: i8[1,4,4,24] q(0.9, -4) = conv_2d(x, w) padding=same stride_h=2 stride_w=2", true, false},
    {"input x: i8[37,96] q(0.05, -8); const w: i8[19,96] q(0.02, 0) = random 5 (-127, 127)",
     "z: i8[37,19] q(0.5, 1) = fully_connected(x, w)", true, false},
    {"input x: i8[2,13,17,40] q(0.05, 3); const w: i8[1,3,3,40] q(0.02, 0) = random 5 (-127, 127); const b: i32[40] = "
     "random 7 (-900, 900)",
     "z: i8[2,7,9,40] q(0.2, -4) = depthwise_conv_2d(x, w, b) padding=same stride_h=2 stride_w=2", true, true},
    {"input x: u8[1,9,9,10] q(0.05, 120); const w: u8[1,5,3,20] q(0.02, 128) = random 5 (0, 255)",
     "z: u8[1,9,9,20] q(0.2, 99) = depthwise_conv_2d(x, w) padding=same", true, true},
    {"input x: i16[1,9,9,16] q(0.05, 0); const w: i8[1,3,3,16] q(0.02, 0) = random 5 (-127, 127)",
     "z: i16[1,9,9,16] q(0.2, 0) = depthwise_conv_2d(x, w) padding=same", true, true},
    {"input x: f32[1,21,30,33]; const w: f32[1,3,3,33] = random 5 (0, 1)",
     "z = depthwise_conv_2d(x, w) padding=same dilation_h=2 dilation_w=2 act=relu6", false, true},
    {"input x: f32[1,15,12,8]; const w: f32[1,7,7,8] = random 5 (0, 1)",
     "z = depthwise_conv_2d(x, w) padding=valid stride_w=2", false, true},
    {"input x: i8[1,24,20,3] q(0.05, 3); const w: i8[16,3,3,3] q(0.02, 0) = random 5 (-127, 127)",
     "z: i8[1,12,10,16] q(0.9, -4) = conv_2d(x, w) padding=same stride_h=2 stride_w=2", true, false},
    {"input x: i8[64,37] q(0.05, -8); const w: i8[20,37] q(0.02, 0) = random 5 (-127, 127)",
     "z: i8[64,20] q(0.5, 1) = fully_connected(x, w)", true, false},
    {"input x: f32[1,12,10,3]; const w: f32[16,3,3,3] = random 5 (0, 1)", "z = conv_2d(x, w) padding=same", false,
     false},
    {"input x: f32[2,40,33]; input y: f32[2,33,21]", "z = batch_matmul(x, y)", false, false},
    {"input x: f32[2,33,40]; input y: f32[2,21,33]", "z = batch_matmul(x, y) adj_x=true adj_y=true", false, false},
    {"input x: f32[1,9,7,16]; const w: f32[40,3,3,16] = random 5 (0, 1)", "z = conv_2d(x, w) padding=same", false,
     false},
    {"input x: f32[33,48]; const w: f32[70,48] = random 5 (0, 1)", "z = fully_connected(x, w)", false, false},
    {"input x: f32[3,34,40]; input y: f32[3,40,22]", "z = batch_matmul(x, y)", false, false},
    {"input x: f32[2,40,36]; input y: f32[1,23,40]", "z = batch_matmul(x, y) adj_x=true adj_y=true", false, false},
};

/* Floats from 0 to 1: a sum of products has no cancellation, so that its relative error is that of its products. */
static void unit_data(const ac_graph *g, void **data)
{
    for (int32_t i = 0; i < g->tensor.n; i++) {
        const ac_tensor *x = g->tensor.item[i];
        for (int64_t k = 0; x->dtype == AC_F32 && !x->def && !ac_tensor_is_const(x) && k < ac_tensor_count(x); k++)
            ((float *)data[x->id])[k] = (float)(draw() % 65536) / 65536;
    }
}

/* Two operands, each off by half a unit of the last of `bits` bits, and a little for the sum. */
static double bound_of(int32_t tensor)
{
    return tensor == AC_TENSOR_BF16 ? 2.1 / 256 : 2.1 / 2048;
}

static void test_kind(const kind *k, int32_t tensor, int32_t tile)
{
    fresh();
    ac_graph *g;
    const ac_target *gpu = ac_target_find("cuda-sm80");
    const ac_node *n = read_node(&cx, k->operands, k->node, &g);
    void **data = n ? make_data(&cx, g, 0) : NULL;
    int status = 0;
    if (!n || !gpu) {
        fail(__LINE__, k->node, "", "is no node");
        return;
    }
    unit_data(g, data);
    const ac_tensor *out = n->out[0];
    run_node(&cx, n, &TARGETS[0], false, data, &status);
    const void *want = ac_copy(cx.region, data[out->id], (size_t)ac_tensor_bytes(out));
    const ac_schedule hint = {.tensor = tensor, .rows = tile > 0, .vecs = tile};
    ac_lowered *w = ac_lower_hinted(&cx, cx.region, n, gpu, 0, false, &hint);
    memset(data[out->id], 0xa5, (size_t)ac_tensor_bytes(out));
    if (run_lowered(&cx, w, data, &status) != AC_OK || status) {
        ac_diags_print(&cx.diags, stdout, false);
        fail(__LINE__, k->node, gpu->name, "cannot be evaluated");
        return;
    }
    const bool used = !k->never && tensor != AC_TENSOR_OFF && (k->bytes || tensor >= AC_TENSOR_TF32);
    if ((w->schedule.tensor != 0) != used)
        fail(__LINE__, k->node, gpu->name, used ? "not by tensor cores" : "by tensor cores");
    const double bound = !k->bytes && used ? bound_of(tensor) : 2e-6;
    double most = 0;
    for (int64_t i = 0; i < ac_tensor_count(out); i++) {
        const double a = ac_dtype_get_num(out->dtype, want, i), b = ac_dtype_get_num(out->dtype, data[out->id], i);
        const double error = fabs(a - b) / (a > 0 ? a : 1);
        most = error > most || isnan(error) ? error : most;
    }
    if (k->bytes ? most > 0 : !(most <= bound))
        fail(__LINE__, k->node, gpu->name,
             ac_strf(cx.region, "tile %d, tensor cores %d: off by %.3g", tile, tensor, most));
    if (!k->bytes && used && most < bound / 100)
        fail(__LINE__, k->node, gpu->name, "nothing was rounded");
}

/* ------------------------------------------------------------------ faults */

/* With the instruction at mma changed by `change`, the verifier reports `what`. */
static void expect_fault(int32_t change, const char *what)
{
    fresh();
    ac_loop_fn *fn = product(AC_F16);
    for (ac_x x = 1; x < fn->code.n; x++) {
        ac_ins *i = &fn->code.item[x];
        if (i->op == AC_L_MMA && change == 1)
            i->k.i = 0; /* words that all threads share */
        if (i->op == AC_L_MMA && change == 2)
            i->dtype = AC_I16;
        if (i->op == AC_L_MMA && change == 3)
            i->dtype = AC_I8; /* sums of floats */
        if (i->op == AC_L_MMA && change == 4)
            i->k.i = 99;
        if (i->op == AC_L_FOR && i->aux == AC_MARK_BLOCK && change == 5)
            i->aux = AC_MARK_SERIAL;
        if (i->op == AC_L_STORE && change >= 6)
            i->flags |= AC_F_LATE;
        if (i->op == AC_L_FOR && i->aux == AC_MARK_BLOCK && change == 7)
            i->groups = 1;
        if (i->op == AC_L_FOR && i->aux == AC_MARK_GRID && change == 8)
            i->groups = 1;
    }
    bool found = false;
    ac_loop_verify(&cx, fn);
    for (const ac_diag *d = cx.diags.first; d; d = d->next)
        found |= strstr(d->text, what) != NULL;
    if (!found) {
        ac_diags_print(&cx.diags, stdout, false);
        fail(__LINE__, what, "", "is not found");
    }
}

/* A function with a cluster loop, with fault number `change`; 0: without. */
static ac_loop_fn *cluster(int32_t change)
{
    enum { RANKS = 4, EACH = 32 };
    ac_lb b;
    ac_lb_open(&b, cx.region, "cluster", NULL);
    const int32_t y = ac_lb_buf(&b, "y", AC_I32, RANKS * EACH, AC_BUF_OUT, 64, NULL);
    const int32_t spread = ac_lb_buf(&b, "s", AC_I32, RANKS * EACH + (change == 1), AC_BUF_LOCAL, 16, NULL);
    const int32_t own = ac_lb_buf(&b, "own", AC_I32, RANKS * EACH, AC_BUF_LOCAL, 16, NULL);
    b.fn->buf.item[spread].where = AC_WHERE_SPREAD;
    b.fn->buf.item[own].where = AC_WHERE_THREAD;
    ac_lb_for(&b, "g", ac_lb_i32(&b, 0), ac_lb_i32(&b, 1), 1, AC_MARK_GRID);
    for (int32_t phase = 0; phase < 2; phase++) {
        const int64_t ranks = change == 2 ? 16 : change == 3 && phase ? 2 : RANKS;
        const ac_x r = change == 4 ? ac_lb_i32(&b, 0)
                                   : ac_lb_for(&b, "r", ac_lb_i32(&b, 0), ac_lb_i32(&b, ranks), 1, AC_MARK_CLUSTER);
        const ac_x t = change == 5 ? ac_lb_i32(&b, 0)
                                   : ac_lb_for(&b, "t", ac_lb_i32(&b, 0), ac_lb_i32(&b, EACH), 1, AC_MARK_BLOCK);
        const ac_x at = ac_lb_add(&b, ac_lb_mul(&b, r, ac_lb_i32(&b, EACH)), t);
        ac_lb_store(&b, own, change == 6 && phase ? t : at, at);
        ac_lb_store(&b, phase ? y : spread, at, phase ? ac_lb_load(&b, spread, at, 1) : at);
        if (change != 5)
            ac_lb_end(&b);
        if (change != 4)
            ac_lb_end(&b);
        if (change == 4 && !phase) { /* a phase outside of the cluster loop */
            ac_lb_for(&b, "r", ac_lb_i32(&b, 0), ac_lb_i32(&b, RANKS), 1, AC_MARK_CLUSTER);
            ac_lb_for(&b, "t", ac_lb_i32(&b, 0), ac_lb_i32(&b, EACH), 1, AC_MARK_BLOCK);
            ac_lb_store(&b, y, ac_lb_i32(&b, 0), ac_lb_i32(&b, 0));
            ac_lb_end(&b);
            ac_lb_end(&b);
        }
    }
    ac_lb_end(&b);
    return ac_lb_close(&b);
}

static void test_cluster(void)
{
    static const char *const WHAT[] = {NULL,
                                       "a spread buffer whose parts differ",
                                       "a cluster loop that is not 0 .. n step 1, n <= 8",
                                       "a cluster loop that is not 0 .. n step 1, n <= 8, the same n",
                                       "a block loop that is not in a grid loop (or cluster loop",
                                       "a cluster loop without block loops",
                                       "elements of the threads of a block, and of all blocks"};
    for (int32_t k = 0; k < (int32_t)(sizeof WHAT / sizeof *WHAT); k++) {
        fresh();
        const int rc = ac_loop_verify(&cx, cluster(k));
        if (k == 0 ? rc != AC_OK : !cx.diags.first || !strstr(cx.diags.first->text, WHAT[k]))
            fail(__LINE__, WHAT[k] ? WHAT[k] : "a cluster", "",
                 cx.diags.first ? cx.diags.first->text : "nothing is found");
    }
}

int main(void)
{
    static const ac_dtype TYPES[] = {AC_I8, AC_F16, AC_BF16, AC_F32};
    for (int32_t i = 0; i < 4; i++)
        test_product(TYPES[i]);
    for (size_t k = 0; k < sizeof KINDS / sizeof *KINDS; k++)
        for (int32_t tensor = AC_TENSOR_BYTES; tensor <= AC_TENSOR_F16; tensor++)
            for (int32_t tile = 0; tile <= 5; tile++)
                test_kind(&KINDS[k], tensor, tile);
    test_cluster();
    expect_fault(1, "fragments that are not in registers");
    expect_fault(2, "does not exist for words of this type");
    expect_fault(3, "sums are i32");
    expect_fault(4, "has no buffer of words");
    expect_fault(5, "fragments of warps that are not whole");
    expect_fault(6, "a late store whose phase makes no group");
    expect_fault(7, "a late store that is not a copy from a parameter to shared memory");
    expect_fault(8, "groups of late stores are of block loops");
    ac_ctx_close(&cx);
    printf("gpu: %s\n", failures ? "FAILED" : "ok");
    return failures != 0;
}
