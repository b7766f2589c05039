/* probe.c - finds the element types that an operator can be lowered for, by trying. */
#include "ir/lower/node/probe.h"

#include "ir/lower/node/node.h"
#include "ir/ops/shape/shape.h"

/* The kinds of an operand: of the type under test, or an index, a list, a condition. */
typedef struct operand {
    ac_dtype dtype; /* AC_NONE: the type that is tried */
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    bool constant;
    int32_t value; /* of all elements */
} operand;

static const operand FIRST[] = {
    {AC_NONE, 4, {1, 1, 1, 1}, false, 0},
    {AC_NONE, 2, {1, 1}, false, 0},
    {AC_NONE, 1, {1}, false, 0},
    {AC_NONE, 0, {0}, true, 0},
    {AC_BOOL, 1, {1}, false, 0},
    {AC_I32, 2, {1, 1}, false, 0},
    {AC_I32, 1, {1}, false, 0},
    {AC_I32, 1, {1}, true, 1},
    {AC_I32, 1, {4}, true, 1},
    {AC_NONE, 5, {1, 1, 1, 1, 1}, false, 0},
    {AC_NONE, 2, {1, 2}, false, 0},
};
static const operand CHOICES[] = {
    {AC_NONE, 4, {1, 1, 1, 1}, false, 0},
    {AC_NONE, 1, {1}, false, 0},
    {AC_NONE, 2, {1, 1}, false, 0},
    {AC_NONE, 0, {0}, true, 0},
    {AC_I32, 0, {0}, true, 0},
    {AC_I32, 1, {1}, true, 0},
    {AC_I32, 1, {1}, true, 1},
    {AC_I32, 1, {2}, true, 1},
    {AC_I32, 1, {4}, true, 1},
    {AC_I32, 2, {4, 2}, true, 0},
    {AC_I32, 1, {1}, false, 0},
    {AC_I32, 2, {1, 1}, false, 0},
    {AC_I32, 4, {1, 1, 1, 1}, false, 0},
    {AC_BOOL, 1, {1}, false, 0},
    {AC_F32, 4, {1, 1, 1, 1}, false, 0},
    {AC_I32, 2, {2, 2}, true, 0},
    {AC_NONE, 4, {1, 1, 1, 2}, false, 0},
    {AC_NONE, 2, {1, 4}, false, 0},
    {AC_NONE, 5, {1, 1, 1, 1, 1}, false, 0},
};
enum { FIRSTS = sizeof FIRST / sizeof *FIRST, CHOICE = sizeof CHOICES / sizeof *CHOICES, OPERANDS = 4 };

/* One trial: an operator with n operands; if in[i] leaves the type open, it is type[i] with scale quant[i]. */
typedef struct trial {
    ac_ctx *cx;
    const ac_target *target;
    ac_op op;
    int32_t n;
    const operand *in[OPERANDS];
    ac_dtype type[OPERANDS];
    const ac_quant *quant[OPERANDS];
} trial;

static ac_tensor *make(ac_graph *g, const trial *p, int32_t i)
{
    static const int32_t ONE[2 * AC_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1}, ZERO[2 * AC_MAX_RANK] = {0};
    const operand *o = p->in[i];
    const ac_dtype type = o->dtype ? o->dtype : p->type[i];
    ac_tensor *t = o->constant ? ac_tensor_const(g, "c", type, o->rank, o->dim, o->value ? ONE : ZERO)
                               : ac_tensor_new(g, "t", type, o->rank, o->dim);
    t->input = !o->constant;
    if (!o->dtype)
        t->quant = p->quant[i];
    return t;
}

/* Is the node with these operands taken? */
static bool taken(const trial *p)
{
    ac_ctx *cx = p->cx;
    ac_tensor *in[OPERANDS], *out[4];
    const ac_op_row *row = &ac_ops[p->op];
    const int32_t n_out = row->n_out > 0 ? row->n_out : 1;
    if (n_out > 4)
        return false;
    const ac_diags before = cx->diags;
    ac_graph *g = ac_graph_new(cx, "probe");
    for (int32_t i = 0; i < p->n; i++)
        in[i] = make(g, p, i);
    for (int32_t i = 0; i < n_out; i++) {
        out[i] = ac_tensor_new(g, "y", AC_NONE, 0, NULL);
        out[i]->quant = p->quant[0];
    }
    ac_node *node = ac_node_new(g, p->op, "probe", in, p->n, out, n_out);
    int status = ac_op_shape(cx, g, node);
    if (status == AC_OK && p->quant[0] && !node->out[0]->quant)
        status = AC_FAIL;
    if (status == AC_OK && !ac_lower_node(cx, cx->region, node, p->target, 0, true))
        status = AC_FAIL;
    return ac_quietly(cx, before, status);
}

/* Operand `except` (-1: none) is of type d with scale q, all others of type rest with scale rest_q. */
static bool taken_as(trial p, int32_t except, ac_dtype d, const ac_quant *q, ac_dtype rest, const ac_quant *rest_q)
{
    for (int32_t i = 0; i < OPERANDS; i++) {
        p.type[i] = i == except ? d : rest;
        p.quant[i] = i == except ? q : rest_q;
    }
    return taken(&p);
}

/* The first accepted combination of operands that includes one of the type under test; false: none. */
static bool find(trial *p, const operand *first, int32_t firsts, const operand *choice, int32_t choices)
{
    int32_t all = firsts;
    for (int32_t i = 1; i < p->n; i++)
        all *= choices;
    for (int32_t k = 0; k < all; k++) {
        p->in[0] = &first[k % firsts];
        bool typed = p->in[0]->dtype == AC_NONE;
        for (int32_t i = 1, rest = k / firsts; i < p->n; i++, rest /= choices) {
            p->in[i] = &choice[rest % choices];
            typed |= p->in[i]->dtype == AC_NONE;
        }
        if (typed && taken(p))
            return true;
    }
    return false;
}

/* The number of operands to try: few, as each multiplies the work. */
static int32_t most_operands(const ac_op_row *row)
{
    const int32_t most = row->min_in > 3 ? row->min_in : 3;
    return row->max_in < most ? row->max_in : most;
}

static bool seek(trial *p)
{
    static const ac_dtype SEED[] = {AC_F32, AC_I32, AC_BOOL, AC_I8};
    const ac_op_row *row = &ac_ops[p->op];
    for (p->n = row->min_in; p->n <= most_operands(row) && p->n <= OPERANDS; p->n++)
        for (size_t k = 0; p->n > 0 && k < sizeof SEED / sizeof *SEED; k++) {
            for (int32_t i = 0; i < OPERANDS; i++)
                p->type[i] = SEED[k];
            if (find(p, FIRST, FIRSTS, CHOICES, CHOICE))
                return true;
        }
    return false;
}

/* True if a first operand of that rank is accepted, with other operands of accepted types and the same rank, or lists
 * of that length.
 */
static bool rank_taken(trial p, int32_t rank)
{
    enum { OWN = 5 };
    const ac_op_row *row = &ac_ops[p.op];
    operand first = *p.in[0], choice[CHOICE + OWN] = {{AC_NONE, rank, {0}, false, 0},
                                                      {AC_I32, rank, {0}, false, 0},
                                                      {AC_I32, 1, {rank}, true, 1},
                                                      {AC_I32, 1, {rank}, true, 0},
                                                      {AC_I32, 2, {rank, 2}, true, 0}};
    first.rank = rank;
    for (int32_t i = 0; i < AC_MAX_RANK; i++)
        first.dim[i] = choice[0].dim[i] = choice[1].dim[i] = 1;
    for (int32_t i = 0; i < CHOICE; i++)
        choice[OWN + i] = CHOICES[i];
    for (p.n = row->min_in; p.n <= most_operands(row); p.n++)
        if (find(&p, &first, 1, choice, CHOICE + OWN))
            return true;
    return false;
}

static void probe(trial *p, ac_op_types *t)
{
    static const float scale = 1;
    static const int32_t zero = 0;
    static const ac_quant Q = {.n = 1, .scale = &scale, .zero = &zero};
    const ac_op_row *row = &ac_ops[p->op];
    if (row->flags & (OF_FLOW | OF_STATE | OF_CALLS) || !seek(p))
        return;
    int32_t first = -1, last = -1; /* of the type that is tried */
    for (int32_t i = 0; i < p->n; i++)
        if (p->in[i]->dtype == AC_NONE) {
            first = first < 0 ? i : first;
            last = i;
        }
    for (int k = AC_NONE + 1; k < AC_DTYPE_COUNT; k++) {
        const ac_dtype d = (ac_dtype)k;
        t->plain |= (uint32_t)taken_as(*p, -1, d, NULL, d, NULL) << k;
        if (!ac_dtype_is_int(d))
            continue;
        bool quantised = taken_as(*p, -1, d, &Q, d, &Q);
        if (last > first) { /* weights of 8 bits; hybrid operators */
            quantised |= taken_as(*p, first, d, &Q, AC_I8, &Q) || taken_as(*p, last, d, &Q, AC_I8, &Q);
            t->weights |= (uint32_t)(first == 0 && taken_as(*p, 0, AC_F32, NULL, d, &Q)) << k;
        }
        t->quantised |= (uint32_t)quantised << k;
    }
    for (int32_t r = 0; r <= AC_MAX_RANK; r++)
        t->ranks |= (uint32_t)rank_taken(*p, r) << r;
    if (t->ranks == 1) /* scalars alone: the rank is that of attributes */
        t->ranks = 0;
}

typedef struct probing {
    trial trial;
    ac_op_types *found;
} probing;

static void probe_guarded(void *arg)
{
    probing *p = arg;
    ac_ctx_start(p->trial.cx);
    probe(&p->trial, p->found);
}

ac_op_types ac_op_probe(ac_heap *heap, ac_op op, const ac_target *target)
{
    ac_ctx cx;
    ac_op_types t = {0};
    probing p = {{.cx = &cx, .target = target, .op = op}, &t};
    ac_ctx_open(&cx);
    const bool done = ac_heap_guard(&cx.heap, probe_guarded, &p);
    ac_ctx_close(&cx);
    if (!done)
        ac_heap_exhausted(heap);
    return t;
}
