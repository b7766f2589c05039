/* values.c - reads an operand at a position, applies the epilogue and stores the result. */
#include "ir/lower/lower.h"

#include <assert.h>

/* v when hi is v / n and lo is v % n, else 0. */
static ac_x undivided(const ac_lb *b, ac_x hi, ac_x lo, int64_t n)
{
    const ac_ins *div = &b->fn->code.item[hi], *mod = &b->fn->code.item[lo];
    if (div->op != AC_L_DIV || mod->op != AC_L_MOD || div->a != mod->a || div->b != mod->b)
        return 0;
    const ac_ins *by = &b->fn->code.item[div->b];
    return by->op == AC_L_CONST && by->k.i == n ? div->a : 0;
}

ac_x ac_lo_flat(ac_lower *L, const ac_tensor *t, const ac_x *idx)
{
    ac_lb *b = &L->b;
    ac_x own[AC_MAX_RANK], at = ac_lb_i32(b, 0), joined;
    for (int32_t i = 0; i < t->rank; i++) {
        own[i] = t->dim[i] == 1 ? 0 : idx[i];
        joined = i && own[i - 1] && own[i] ? undivided(b, own[i - 1], own[i], t->dim[i]) : 0;
        if (joined) { /* (v / n) * n + v % n */
            own[i - 1] = 0;
            own[i] = joined;
        }
    }
    int64_t stride = 1;
    for (int32_t i = t->rank - 1; i >= 0; stride *= t->dim[i--])
        if (own[i])
            at = ac_lb_add(b, ac_lb_mul(b, own[i], ac_lb_i32(b, stride)), at);
    return at;
}

/* The value of a constant whose elements are all equal, as an immediate; 0: it has to be loaded. */
static ac_x immediate(ac_lower *L, ac_tensor *t)
{
    const ac_dtype d = ac_dtype_loops(t->dtype);
    if (!ac_tensor_is_const(t) || ac_dtype_is_half(d))
        return 0;
    const bool one = ac_tensor_count(t) == 1;
    if (!one && !(t->splat && t->data))
        return 0;
    const void *data = one ? ac_tensor_force(L->cx, t) : t->data;
    if (!data)
        return 0;
    if (ac_dtype_is_float(d))
        return ac_lb_num(&L->b, d, ac_dtype_get_num(d, data, 0));
    return ac_lb_int(&L->b, d, ac_dtype_get_int(d, data, 0));
}

ac_x ac_lo_load_at(ac_lower *L, ac_tensor *t, ac_x flat, bool along, int32_t lanes)
{
    ac_x v = immediate(L, t);
    if (!v)
        v = ac_lb_load(&L->b, ac_lo_operand(L, t), flat, along ? lanes : 1);
    return ac_lb_splat(&L->b, v, lanes);
}

ac_x ac_lo_load(ac_lower *L, ac_tensor *t, const ac_x *idx, int32_t lanes)
{
    return ac_lo_load_at(L, t, ac_lo_flat(L, t, idx), t->rank > 0 && t->dim[t->rank - 1] != 1, lanes);
}

/* Maps by table work lane by lane; on floats the same operators are arithmetic. */
static bool needs_table(const ac_node *n)
{
    return ac_ops[n->op].flags & OF_TABLE && !ac_dtype_is_float(n->in[0]->dtype);
}

bool ac_lo_has_long_chain(const ac_lower *L)
{
    bool found = false;
    for (int32_t f = -1; f < L->node->n_fused; f++) {
        const ac_node *m = f < 0 ? L->node : L->node->fused[f];
        const bool curve = (ac_ops[m->op].flags & (OF_TABLE | OF_CURVE)) != 0;
        if (!ac_dtype_is_float(m->out[0]->dtype) || !m->in[0] || !ac_dtype_is_float(m->in[0]->dtype))
            return false;
        found |= curve && ac_ops[m->op].map;
    }
    return found && ac_target_lanes(L->target, AC_F32) > 1;
}

int32_t ac_lo_long_chain_vectors(const ac_lower *L)
{
    return L->target->registers >= 32 ? 4 : 2;
}

bool ac_lo_by_table(const ac_lower *L)
{
    bool any = needs_table(L->node);
    for (int32_t f = 0; f < L->node->n_fused; f++)
        any |= needs_table(L->node->fused[f]);
    return any;
}

int32_t ac_lo_max_lanes(const ac_lower *L, ac_dtype d)
{
    if (ac_lo_by_table(L))
        return 1;
    const int32_t lanes = ac_target_lanes(L->target, d);
    return lanes > 1 ? lanes : 1;
}

/* The value of stage s of n's chain (0: its own, k: that of follower k - 1) if t is one of the first `stages`; else 0.
 */
static ac_x made_so_far(const ac_node *n, const ac_x *stage, int32_t stages, const ac_tensor *t)
{
    for (int32_t s = stages - 1; s >= 0; s--)
        if (t == (s ? n->fused[s - 1]->out[0] : n->out[0]))
            return stage[s];
    return 0;
}

/* A constant [1,..,n,..,1] along axis `axis` of t. Equal data is one buffer (ac_lo_operand), so creating it twice is
 * harmless. */
static ac_tensor *along_axis(ac_lower *L, const ac_tensor *t, ac_dtype d, const void *data)
{
    ac_tensor *c = AC_NEW(L->region, ac_tensor);
    c->name = d == AC_F32 ? "scale" : "zero";
    c->dtype = d;
    c->rank = t->rank;
    for (int32_t i = 0; i < t->rank; i++)
        c->dim[i] = i == t->quant->axis ? t->dim[i] : 1;
    c->data = data;
    return c;
}

int32_t ac_lo_map_operands(ac_lower *L, const ac_node *n, ac_tensor *list[4])
{
    int32_t count = n->n_in < 4 ? n->n_in : 4;
    for (int32_t i = 0; i < count; i++)
        list[i] = n->in[i];
    if (n->op != AC_OP_QUANTIZE && n->op != AC_OP_DEQUANTIZE)
        return count;
    const ac_tensor *t = n->op == AC_OP_QUANTIZE ? n->out[0] : n->in[0];
    if (!t->quant || t->quant->n <= 1)
        return count;
    list[1] = along_axis(L, t, AC_F32, t->quant->scale);
    list[2] = along_axis(L, t, AC_I32, t->quant->zero);
    return 3;
}

ac_x ac_lo_epilogue(ac_lower *L, ac_x value, ac_lo_loader *load, const void *at, int32_t lanes)
{
    const ac_node *n = L->node;
    const int32_t maps = n->n_fused - (ac_node_reduction(n) != NULL);
    ac_x *stage = AC_NEW_N(L->region, ac_x, n->n_fused + 1);
    stage[0] = value;
    for (int32_t f = 0; f < maps && value; f++) {
        const ac_node *m = n->fused[f];
        ac_tensor *list[4];
        ac_x arg[4] = {0};
        assert(ac_ops[m->op].map && "pass epilogue joins maps only");
        const int32_t count = ac_lo_map_operands(L, m, list);
        for (int32_t i = 0; i < count; i++)
            if (list[i] && !(arg[i] = made_so_far(n, stage, f + 1, list[i])))
                arg[i] = load(L, list[i], at, lanes);
        value = stage[f + 1] = L->rows[m->op].map(L, m, arg);
    }
    return value;
}

/* A follower's operand: its dimensions align with the last ones of the result. */
static ac_x load_broadcast(ac_lower *L, ac_tensor *t, const void *at, int32_t lanes)
{
    const ac_x *idx = at;
    ac_x own[AC_MAX_RANK];
    for (int32_t i = 0; i < t->rank; i++) {
        const int32_t k = i + L->node->out[0]->rank - t->rank;
        own[i] = k < 0 ? ac_lb_i32(&L->b, 0) : idx[k];
    }
    return ac_lo_load(L, t, own, lanes);
}

ac_x ac_lo_mapped(ac_lower *L, const ac_x *idx, int32_t lanes)
{
    const ac_node *n = L->node;
    ac_tensor *list[4];
    ac_x arg[4] = {0};
    const int32_t count = ac_lo_map_operands(L, n, list);
    for (int32_t i = 0; i < count; i++)
        if (list[i])
            arg[i] = load_broadcast(L, list[i], idx, lanes);
    const ac_x value = L->rows[n->op].map(L, n, arg);
    return value ? ac_lo_epilogue(L, value, load_broadcast, idx, lanes) : 0;
}

ac_x ac_lo_followed(ac_lower *L, ac_x value, const ac_x *idx, int32_t lanes)
{
    return ac_lo_epilogue(L, value, load_broadcast, idx, lanes);
}

void ac_lo_put(ac_lower *L, ac_x value, const ac_x *idx)
{
    const int32_t out = ac_lo_result_buf(L);
    if (value)
        ac_lb_store(&L->b, out, ac_lo_flat(L, L->node->out[0], idx), value);
}

void ac_lo_result(ac_lower *L, ac_x value, const ac_x *idx, int32_t lanes)
{
    ac_lo_result_buf(L); /* before what followers read */
    ac_lo_put(L, ac_lo_followed(L, value, idx, lanes), idx);
}

ac_x ac_lo_madd(ac_lower *L, ac_x x, ac_x y, ac_x acc)
{
    ac_lb *b = &L->b;
    if (L->exact || !L->target->fma || !ac_dtype_is_float(ac_lb_dtype(b, acc)))
        return ac_lb_add(b, ac_lb_mul(b, x, y), acc);
    int32_t lanes = ac_lb_lane_count(b, acc);
    lanes = ac_lb_lane_count(b, x) > lanes ? ac_lb_lane_count(b, x) : lanes;
    lanes = ac_lb_lane_count(b, y) > lanes ? ac_lb_lane_count(b, y) : lanes;
    return ac_lb_fma(b, ac_lb_splat(b, x, lanes), ac_lb_splat(b, y, lanes), ac_lb_splat(b, acc, lanes));
}

void ac_lo_lead(const ac_lower *L, const ac_tensor *t, int32_t before, int64_t lead[2])
{
    lead[0] = lead[1] = 1;
    for (int32_t d = 0, n = 0; L->variant & AC_VARIANT_ROWS && d < before && n < 2; d++)
        if (t->dim[d] > 1)
            lead[n++] = t->dim[d];
}

static void strip(ac_lower *L, const char *name, int64_t n, int32_t lanes, ac_mark mark, ac_lo_step *f, void *with)
{
    ac_lb *b = &L->b;
    int64_t at = 0;
    while (lanes > 1 && lanes > n)
        lanes /= 2;
    if (lanes > 1) {
        at = n - n % lanes;
        const bool once = at == lanes;
        f(L, with, once ? ac_lb_i32(b, 0) : ac_lb_for(b, name, ac_lb_i32(b, 0), ac_lb_i32(b, at), lanes, mark), lanes);
        if (!once)
            ac_lb_end(b);
    }
    for (int32_t part = lanes / 2; part >= 4; part /= 2) {
        if (n - at < part)
            continue;
        f(L, with, ac_lb_i32(b, at), part);
        at += part;
    }
    if (n - at == 1) {
        f(L, with, ac_lb_i32(b, at), 1);
    } else if (at < n) {
        f(L, with, ac_lb_for(b, name, ac_lb_i32(b, at), ac_lb_i32(b, n), 1, mark), 1);
        ac_lb_end(b);
    }
}

void ac_lo_strip(ac_lower *L, const char *name, int64_t n, int32_t lanes, ac_lo_step *f, void *with)
{
    strip(L, name, n, lanes, AC_MARK_SERIAL, f, with);
}

void ac_lo_strip_each(ac_lower *L, const char *name, int64_t n, int32_t lanes, ac_lo_step *f, void *with)
{
    strip(L, name, n, lanes, AC_MARK_PARALLEL, f, with);
}
