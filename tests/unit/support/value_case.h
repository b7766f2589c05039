/* value_case.h - tables of single nodes with known results, run for all targets; and of nodes that are refused. */
#ifndef AC_TESTS_UNIT_SUPPORT_VALUE_CASE_H
#define AC_TESTS_UNIT_SUPPORT_VALUE_CASE_H
#include "tests/unit/support/run_node.h"

typedef struct value_case {
    const char *operands, *node;
    double x[8], y[16]; /* every f32 input, and the result; i: inputs of i32 */
    int i[6];
    int32_t output; /* which result is compared */
    int status;
} value_case;

typedef struct bad_case {
    const char *operands, *node, *code;
} bad_case;

static inline double number(const ac_tensor *t, const void *data, int64_t i)
{
    return ac_dtype_is_float(t->dtype) ? ac_dtype_get_num(t->dtype, data, i)
                                       : (double)ac_dtype_get_int(t->dtype, data, i);
}

static inline void run_values(ac_ctx *cx, const value_case *cases, size_t count)
{
    for (size_t c = 0; c < count; c++) {
        const value_case *v = &cases[c];
        ac_graph *g = NULL;
        const ac_node *n = read_node(cx, v->operands, v->node, &g);
        if (!n) {
            fail((int)c, v->node, "shape", "refused");
            continue;
        }
        for (int32_t k = 0; k < N_TARGETS; k++) {
            void **data = make_data(cx, g, 1);
            for (int32_t i = 0; i < g->input.n; i++) {
                const ac_tensor *t = g->input.item[i];
                for (int64_t e = 0; e < ac_tensor_count(t); e++) {
                    if (t->dtype == AC_F32)
                        ((float *)data[t->id])[e] = (float)v->x[e];
                    else
                        ((int32_t *)data[t->id])[e] = v->i[e];
                }
            }
            int status = 0;
            const ac_tensor *y = n->out[v->output];
            if (run_node(cx, n, &TARGETS[k], true, data, &status) != AC_OK || status != v->status)
                fail((int)c, v->node, TARGETS[k].name, "does not run, or with another status");
            for (int64_t e = 0; !v->status && e < ac_tensor_count(y); e++)
                if (number(y, data[y->id], e) != v->y[e])
                    fail((int)c, v->node, TARGETS[k].name, "differs");
        }
    }
}

static inline void run_bad(ac_ctx *cx, const bad_case *cases, size_t count)
{
    for (size_t c = 0; c < count; c++) {
        ac_graph *g = NULL;
        const ac_diags before = cx->diags;
        cx->diags = (ac_diags){.limit = 100};
        const ac_node *n = read_node(cx, cases[c].operands, cases[c].node, &g);
        if (n || !cx->diags.first || strcmp(ac_code_name(cx->diags.first->code), cases[c].code) != 0)
            fail((int)c, cases[c].node, cases[c].code, n ? "accepted" : "another error");
        cx->diags = before;
    }
}

#endif
