/* storage.c - pass storage: floats are stored in 16 bits, and computed in 32. */
#include "ir/pass/passes.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ constants */

/* A constant of f32, rounded when its bytes are needed. */
typedef struct rounded {
    ac_promise head;       /* first: tensors point to it */
    const ac_tensor *self; /* the tensor that points to it */
    ac_tensor was;         /* the tensor before the pass */
    ac_dtype type;
} rounded;

static uint16_t round_to(ac_dtype d, float f)
{
    return d == AC_F16 ? ac_f32_to_f16(f) : ac_f32_to_bf16(f);
}

/* The largest finite number. */
static float largest(ac_dtype d)
{
    return d == AC_F16 ? 65504.0F : 0x1.FEp127F;
}

/* Rounds n floats; finite ones that would become infinite become the largest number, and are counted. */
static int64_t round_all(ac_dtype d, const float *from, int64_t n, uint16_t *to)
{
    const float most = largest(d);
    const uint16_t infinite = round_to(d, INFINITY);
    int64_t beyond = 0;
    for (int64_t i = 0; i < n; i++) {
        to[i] = round_to(d, from[i]);
        if ((to[i] & 0x7fff) == infinite && isfinite(from[i])) {
            to[i] = round_to(d, copysignf(most, from[i]));
            beyond++;
        }
    }
    return beyond;
}

/* The tensor gets its old type and data while its bytes are computed. */
static const float *floats_of(ac_ctx *cx, ac_making *w, rounded *r, ac_tensor *t)
{
    if (!r->was.lazy)
        return ac_tensor_force_for(cx, w, &r->was);
    const ac_tensor now = *t, *wanted = w ? w->wanted : NULL;
    if (w)
        w->wanted = NULL;
    *t = r->was;
    const float *data = ac_tensor_force_for(cx, w, t);
    *t = now;
    if (w && wanted)
        w->wanted = t;
    return data;
}

static int make_rounded(ac_ctx *cx, ac_making *w, const ac_promise *p, ac_tensor *t)
{
    rounded *r = (rounded *)(uintptr_t)p;
    const float *from = floats_of(cx, w, r, t);
    if (!from)
        return AC_FAIL;
    const int64_t n = ac_tensor_count(t);
    uint16_t *to = ac_making_tensor(cx, w, t, ac_tensor_bytes(t));
    const int64_t beyond = round_all(r->type, from, n, to);
    if (beyond)
        ac_warn(cx, (ac_place){0}, W0001,
                "constant '%s': %lld of %lld values exceed the maximum of %s and become it, %g", t->name,
                (long long)beyond, (long long)n, ac_dtype_name(r->type), (double)largest(r->type));
    t->data = to;
    return AC_OK;
}

static bool same_rounded(const ac_promise *p, const ac_tensor *s, const ac_promise *q, const ac_tensor *t,
                         int32_t *left)
{
    const rounded *a = (const rounded *)p, *b = (const rounded *)q;
    (void)s;
    (void)t;
    if (a->type != b->type || !a->was.lazy != !b->was.lazy)
        return false;
    if (!a->was.lazy)
        return ac_tensor_same_bytes(&a->was, &b->was, left);
    return a->was.lazy->same == b->was.lazy->same &&
           a->was.lazy->same(a->was.lazy, a->self, b->was.lazy, b->self, left);
}

static void round_constant(ac_ctx *cx, ac_tensor *t, ac_dtype d)
{
    rounded *r = AC_NEW(cx->region, rounded);
    *r = (rounded){{make_rounded, same_rounded, ac_tensor_hash(t) * 3 + (uint64_t)d}, t, *t, d};
    t->data = t->raw = NULL;
    t->lazy = &r->head;
}

/* ------------------------------------------------------------------ which */

typedef struct work {
    ac_pass *p;
    ac_graph *g;
    ac_storage *s;
    bool *stays; /* by root: it remains f32 */
} work;

static bool is_matrix(const ac_tensor *t)
{
    int32_t dims = 0;
    for (int32_t d = 0; d < t->rank; d++)
        dims += t->dim[d] > 1;
    return dims > 1;
}

/* 0 weight, 1 activation, 2 state. */
static int32_t kind_of(const ac_tensor *root)
{
    return ac_tensor_is_const(root) ? 0 : root->state ? 2 : 1;
}

static bool may_round(const work *w, const ac_tensor *t)
{
    const ac_tensor *root = ac_tensor_root(t);
    const int32_t kind = kind_of(root), what = w->s->what;
    if (t->dtype != AC_F32 || t->quant || t->any_rank || t->weight || (t->lazy && t->output))
        return false;
    if ((t->input || t->output) && !(what & AC_STORE_IO))
        return false;
    if (kind == 0)
        return what & AC_STORE_WEIGHTS && !t->output && !t->splat && is_matrix(t);
    return (t->input || t->output) || (what & (kind == 2 ? AC_STORE_STATE : AC_STORE_ACTIVATIONS)) != 0;
}

/* Operands of subgraphs and of functions of the user are passed as they are; sums that accumulate in place would be
 * rounded each time. */
static void keep_operands(const work *w, const ac_node *n)
{
    const bool plain = ac_ops[n->op].attrs == AC_ATTRS_scatter && n->attrs.scatter.reduction == AC_W_NONE;
    const uint32_t flags = ac_ops[n->op].flags & ~(uint32_t)(plain ? OF_REREADS : 0);
    for (int32_t i = 0; i < n->n_in && flags & (OF_FLOW | OF_CALLS); i++)
        if (n->in[i])
            w->stays[ac_tensor_root(n->in[i])->id] = true;
    for (int32_t i = 0; i < n->n_out && flags & (OF_FLOW | OF_CALLS | OF_REREADS); i++)
        w->stays[ac_tensor_root(n->out[i])->id] = true;
}

static void name_one(bool *named, const ac_node *n, const ac_tensor *t)
{
    if (!t || ac_node_internal(n, t))
        return;
    named[t->id] = true;
    named[ac_tensor_root(t)->id] = true;
}

/* Tensors with memory: those between followers have none. */
static void name_all(const ac_node *n, bool *named)
{
    for (int32_t f = -1; f < n->n_fused; f++) {
        const ac_node *m = f < 0 ? n : n->fused[f];
        for (int32_t k = 0; k < m->n_in; k++)
            name_one(named, n, m->in[k]);
        for (int32_t k = 0; k < m->n_out; k++)
            name_one(named, n, m->out[k]);
    }
}

static void round_tensor(ac_ctx *cx, ac_tensor *t, ac_dtype d)
{
    if (ac_tensor_is_const(t)) {
        round_constant(cx, t, d);
    } else if (t->data) { /* the first value of a state */
        const int64_t n = t->splat ? 1 : ac_tensor_count(t);
        uint16_t *to = AC_NEW_N(cx->region, uint16_t, n + 1);
        round_all(d, t->data, n, to);
        t->data = to;
    }
    t->view_offset /= 2;
    t->dtype = d;
    t->narrowed = true;
}

/* The type of 16 bits that holds all values of t: of a conversion of such a constant, and of its elements, moved. */
static ac_dtype half_of(const ac_tensor *t)
{
    const ac_node *n = t->half == AC_NONE && ac_tensor_is_const(t) ? t->made_of : NULL;
    const uint32_t moves = OF_MOVES | OF_VIEW;
    if (!n || t->quant || t->weight)
        return t->half;
    if (n->op == AC_OP_CAST || n->op == AC_OP_DEQUANTIZE)
        return ac_dtype_is_half(n->in[0]->dtype) ? n->in[0]->dtype : AC_NONE;
    return ac_ops[n->op].flags & moves && n->in[0] ? half_of(n->in[0]) : AC_NONE;
}

/* Results of conversions from 16 bits, and of moves of such values. */
static void find_half(ac_node *n)
{
    ac_dtype half = n->op == AC_OP_CAST && ac_dtype_is_half(n->in[0]->dtype) ? n->in[0]->dtype : AC_NONE;
    for (int32_t i = 0; i < n->n_in && ac_moves_values(n); i++) {
        const ac_dtype d = n->in[i] && n->in[i]->dtype == AC_F32 ? half_of(n->in[i]) : half;
        if (i && d != half)
            return;
        half = d;
    }
    for (int32_t i = 0; i < n->n_out; i++)
        if (n->out[i]->dtype == AC_F32 && n->out[i]->half == AC_NONE)
            n->out[i]->half = half;
}

/* Tensors with values of 16 bits, if all that share their bytes have them: no rounding. */
static void store_halves(ac_pass *p, const bool *named, ac_dtype *type)
{
    ac_graph *g = p->graph;
    for (int32_t i = 0; i < g->node.n; i++)
        for (int32_t f = -1; f < g->node.item[i]->n_fused; f++)
            find_half(f < 0 ? g->node.item[i] : g->node.item[i]->fused[f]);
    for (int32_t i = 0; i < g->tensor.n; i++)
        type[ac_tensor_root(g->tensor.item[i])->id] = half_of(ac_tensor_root(g->tensor.item[i]));
    for (int32_t i = 0; i < g->tensor.n; i++) {
        const ac_tensor *t = g->tensor.item[i], *root = ac_tensor_root(t);
        if (root != t && (t->dtype != AC_F32 || half_of(t) != type[root->id]))
            type[root->id] = AC_NONE;
    }
    for (int32_t i = 0; i < g->tensor.n; i++) {
        ac_tensor *t = g->tensor.item[i];
        const ac_dtype half = type[ac_tensor_root(t)->id];
        const bool memory = !ac_tensor_is_const(t) || (is_matrix(t) && !t->splat);
        if (half == AC_NONE || t->dtype != AC_F32 || !memory || !(named[i] || t->root || t->input || t->output))
            continue;
        round_tensor(p->cx, t, half);
        p->changed++;
    }
}

/* ac_pass_storage: tensors of f32 are stored as f16 or bf16 (opt->storage). Operators still compute in f32: loops
 * convert each value on reading, and round it once on writing, to nearest even (ir/lower/node/narrowed.h).
 *   before:  %y f32 = conv_2d %x f32, %w f32, %b f32
 *   after:   %y bf16 = conv_2d %x bf16, %w bf16, %b f32
 * Tensors whose values have 16 bits in the file (pass halves) are stored in them on GPUs.
 * Tensors that share bytes change together. These stay f32: inputs and outputs unless AC_STORE_IO, constants of one
 * dimension (biases, scales) or of one value, and the operands and results of loops and branches that stay, and of
 * custom operators.
 * needs: views made.  guarantees: a tensor that is narrowed has no views or root that are not. */
int ac_pass_storage(ac_pass *p)
{
    ac_graph *g = p->graph;
    ac_region *tmp = ac_region_open(&p->cx->heap);
    ac_storage none = {0};
    work w = {.p = p, .g = g, .s = p->opt->storage ? p->opt->storage : &none};
    w.stays = AC_NEW_N(tmp, bool, g->tensor.n + 1);
    bool *named = AC_NEW_N(tmp, bool, g->tensor.n + 1);
    for (int32_t i = 0; i < g->node.n; i++) {
        name_all(g->node.item[i], named);
        keep_operands(&w, g->node.item[i]);
    }
    if (p->opt->halves)
        store_halves(p, named, AC_NEW_N(tmp, ac_dtype, g->tensor.n + 1));
    for (int32_t i = 0; i < g->tensor.n; i++)
        if (named[i] && !may_round(&w, g->tensor.item[i]))
            w.stays[ac_tensor_root(g->tensor.item[i])->id] = true;
    for (int32_t i = 0; i < g->tensor.n; i++) {
        ac_tensor *t = g->tensor.item[i];
        const ac_tensor *root = ac_tensor_root(t);
        if (t->dtype != AC_F32 || !named[i])
            continue;
        const int32_t kind = kind_of(root);
        const bool counts = root == t && (kind || is_matrix(t));
        w.s->all[kind] += counts;
        if (w.stays[root->id])
            continue;
        p->changed++;
        w.s->tensors[kind] += counts;
        round_tensor(p->cx, t, w.s->type);
        w.s->bytes[kind] += counts ? ac_tensor_bytes(t) : 0;
    }
    ac_region_close(tmp);
    return AC_OK;
}
