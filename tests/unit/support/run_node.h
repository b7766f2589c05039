/* run_node.h - shared by tests of lowerings: one node in the text form, lowered for plain, firmware and vector targets
 * and run by the evaluator.
 *
 *     ac_graph *g;
 *     const ac_node *n = read_node(cx, "input x: f32[2,3]", "y = relu(x)", &g);
 *     void **data = make_data(cx, g, 0);              by tensor id; operands are random, results rubbish
 *     run_node(cx, n, &TARGETS[1], false, data, &status);
 *
 *     uint8_t *want = result_of(cx, low, data, z);    ends the test if a lowering has no result
 *
 * Memory: the context's region. fail() prints a place and counts. */
#ifndef AC_TESTS_UNIT_SUPPORT_RUN_NODE_H
#define AC_TESTS_UNIT_SUPPORT_RUN_NODE_H
#include "ir/lower/lower.h"
#include "ir/loop/eval/eval.h"
#include "ir/lower/node/node.h"
#include "ir/ops/shape/shape.h"
#include "tests/unit/support/expect.h"

#include <string.h>

#define fail(line, node, target, what) fail_at(__FILE__, line, node, target, what)
static inline void fail_at(const char *file, int line, const char *node, const char *target, const char *what)
{
    failures++;
    fprintf(stderr, "%s:%d: %s on %s: %s\n", file, line, node, target, what);
}

/* Element number of t at these coordinates. */
static inline int64_t flat(const ac_tensor *t, const int64_t *at)
{
    int64_t k = 0;
    for (int32_t d = 0; d < t->rank; d++)
        k = k * t->dim[d] + at[d];
    return k;
}

// clang-format off
static const ac_target TARGETS[] = {
    {.name = "plain", .align = 16, .l1_bytes = 32768, .l2_bytes = 262144},
    {.name = "vec16", .vec_bytes = 16, .registers = 16, .align = 16, .l1_bytes = 32768, .l2_bytes = 262144},
    {.name = "vec32", .vec_bytes = 32, .registers = 16, .fma = true, .align = 16,
     .l1_bytes = 32768, .l2_bytes = 262144},
    {.name = "vec64", .vec_bytes = 64, .registers = 32, .fma = true, .align = 16,
     .l1_bytes = 32768, .l2_bytes = 262144},
    {.name = "m4", .align = 16, .firmware = true, .mul = AC_MUL_LONG},
    {.name = "m0", .align = 16, .firmware = true, .mul = AC_MUL_LOW},
};
// clang-format on
enum { N_TARGETS = sizeof TARGETS / sizeof *TARGETS };

static uint64_t seed = 0x9e3779b97f4a7c15u;
static uint32_t draw(void) /* xorshift64: the same data everywhere */
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (uint32_t)(seed >> 32);
}

static void put_int(ac_dtype d, uint8_t *p, int64_t v)
{
    for (int64_t k = 0; k < ac_dtype_size(d, 1); k++)
        p[k] = (uint8_t)((uint64_t)v >> (8 * k));
}

/* Values a type can hold exactly and any operator may carry; with `below`, indices. */
static void *random_data(ac_ctx *cx, const ac_tensor *t, int64_t below)
{
    const int64_t n = ac_tensor_count(t), size = ac_dtype_size(t->dtype, 1);
    uint8_t *p = ac_alloc(cx->region, (size_t)(n * size) + 1);
    for (int64_t i = 0; i < n; i++) {
        uint8_t *e = p + i * size;
        const float f = (float)((int32_t)(draw() % 20001) - 10000) / 512.0f;
        const double wide = (double)f;
        const uint16_t half = ac_f32_to_f16(f);
        if (t->dtype == AC_F32)
            memcpy(e, &f, 4);
        else if (t->dtype == AC_F64)
            memcpy(e, &wide, 8);
        else if (t->dtype == AC_F16)
            memcpy(e, &half, 2);
        else
            put_int(t->dtype, e,
                    below                 ? (int64_t)(draw() % (uint32_t)below)
                    : t->dtype == AC_BOOL ? draw() & 1
                                          : (int64_t)((uint64_t)draw() << 32 | draw()));
    }
    return p;
}

/* Reads the graph and infers its only node. */
static inline ac_node *read_node(ac_ctx *cx, const char *operands, const char *node, ac_graph **g)
{
    char text[2048], *p = text;
    p += snprintf(p, sizeof text, "graph g {\n%s\n", operands);
    for (char *s = text; *s; s++)
        if (*s == ';')
            *s = '\n';
    snprintf(p, sizeof text - (size_t)(p - text), "%s\n}\n", node);
    if (ac_graph_read_text(cx, "test.ag", text, strlen(text), NULL, g) != AC_OK)
        return NULL;
    ac_node *n = (*g)->node.item[0];
    return ac_op_shape(cx, *g, n) == AC_OK ? n : NULL;
}

/* Data of every operand, by tensor id; results are filled with rubbish. */
static void **make_data(ac_ctx *cx, const ac_graph *g, int64_t below)
{
    void **data = AC_NEW_N(cx->region, void *, g->tensor.n);
    for (int32_t i = 0; i < g->tensor.n; i++) {
        ac_tensor *x = g->tensor.item[i];
        union {
            const void *read;
            void *any;
        } k = {ac_tensor_force(cx, x)};
        const bool index = below && !strcmp(x->name, "i");
        data[i] = k.any ? k.any : random_data(cx, x, index ? below : 0);
        if (x->def)
            memset(data[i], 0xa5, (size_t)ac_tensor_bytes(x));
    }
    return data;
}

/* The arguments of a lowered node, in order; scratch is NaN, *part the part to run. */
static inline void **bind_data(ac_ctx *cx, const ac_lowered *w, void **data, int32_t *part)
{
    void **arg = AC_NEW_N(cx->region, void *, w->arg.n + 1);
    for (int32_t i = 0; i < w->arg.n; i++) {
        const ac_arg *a = &w->arg.item[i];
        union {
            const void *read;
            void *any;
        } k = {a->konst ? ac_const_data(cx, a->konst) : NULL};
        arg[i] = a->kind == AC_ARG_TENSOR  ? data[a->tensor->id]
                 : a->kind == AC_ARG_CONST ? k.any
                 : a->kind == AC_ARG_CHUNK ? (void *)part
                                           : ac_alloc(cx->region, (size_t)a->bytes + 1);
        if (a->kind == AC_ARG_SCRATCH)
            memset(arg[i], 0xff, (size_t)a->bytes);
    }
    return arg;
}

static inline int run_lowered(ac_ctx *cx, const ac_lowered *w, void **data, int *status)
{
    int32_t part = 0;
    return w ? ac_eval(cx, w->fn, bind_data(cx, w, data, &part), w->arg.n, status) : AC_FAIL;
}

/* A copy of the result z of a lowering, which must verify, succeed, and overwrite all of z. */
static inline uint8_t *result_of(ac_ctx *cx, const ac_lowered *low, void **data, const ac_tensor *z)
{
    const size_t bytes = (size_t)ac_tensor_bytes(z);
    int status = 0;
    MUST(low && ac_loop_verify(cx, low->fn) == AC_OK);
    memset(data[z->id], 0x5a, bytes);
    MUST(run_lowered(cx, low, data, &status) == AC_OK && !status);
    return ac_copy(cx->region, data[z->id], bytes);
}

static inline int run_node(ac_ctx *cx, const ac_node *n, const ac_target *target, bool exact, void **data, int *status)
{
    return run_lowered(cx, ac_lower_node(cx, cx->region, n, target, 0, exact), data, status);
}

#endif
