/* svdf.c - lowers SVDF: a rank-r filter bank with a memory of its past activations.
 *
 *     x      [N,I]           f32   i8
 *     w      [F,I]           f32   i8         one activation of every filter from the input ..
 *     time   [F,M]           f32   i16, i8    .. and a sum over the last M activations
 *     bias   [U], optional
 *     state  [N,F*M]         f32   i16, i8    the activations; moved up by one, the newest one last
 *     y      [N,U], U = F / rank
 *
 * Integer: bit for bit as reference/svdf.h (effective scales are formed in float; sums wrap; the activation is the
 * range of i8). Float: sums in the reference's order. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/ops/decode/operand_names.h"

typedef struct svdf {
    bool real;
    ac_multiplier feature, out; /* rescaling of the dot products with w, and of the sum over time */
    int32_t x, w, time, state;
    int64_t inputs, memory;
} svdf;

/* Stored value at `at`, without its zero point: f32, or i32. */
static ac_x value(ac_lower *L, int32_t buf, ac_x at, const ac_tensor *t)
{
    const ac_x v = ac_lb_load(&L->b, buf, at, 1);
    if (t->dtype == AC_F32)
        return v;
    return ac_lb_sub(&L->b, ac_lb_cast(&L->b, v, AC_I32), ac_lb_i32(&L->b, ac_quant_zero(t)));
}

/* acc + u * v, of variable acc. */
static void add_product(ac_lower *L, const svdf *s, ac_x acc, ac_x u, ac_x v)
{
    ac_lb *b = &L->b;
    const ac_x sum = ac_lb_get(b, acc);
    ac_lb_set(b, acc,
              s->real ? ac_lb_add(b, sum, ac_lb_mul(b, u, v)) : ac_lb_add_wrap(b, sum, ac_lb_mul_wrap(b, u, v)));
}

/* Sum of p[p_at + i] * q[q_at + i] */
static ac_x dot(ac_lower *L, const svdf *s, const ac_tensor *p, int32_t p_buf, ac_x p_at, const ac_tensor *q,
                int32_t q_buf, ac_x q_at, int64_t count)
{
    ac_lb *b = &L->b;
    const ac_x acc = ac_lb_var(b, "acc", s->real ? ac_lb_f32(b, 0) : ac_lb_i32(b, 0));
    const ac_x i = ac_lb_for_n(b, "i", count);
    add_product(L, s, acc, value(L, p_buf, ac_lb_add(b, p_at, i), p), value(L, q_buf, ac_lb_add(b, q_at, i), q));
    ac_lb_end(b);
    return ac_lb_get(b, acc);
}

/* Moves elements `at` .. of the memory up by one, from the second on. */
static void move(ac_lower *L, const svdf *s, ac_x at)
{
    ac_lb *b = &L->b;
    const ac_x j = ac_lb_for_n(b, "j", s->memory - 1);
    ac_lb_store(b, s->state, ac_lb_add(b, at, j),
                ac_lb_load(b, s->state, ac_lb_add(b, ac_lb_add(b, at, j), ac_lb_i32(b, 1)), 1));
    ac_lb_end(b);
}

/* The same, and returns a variable with their sum, weighted from t_at on: each is loaded once, two at a time if the
 * target multiplies halves of words. */
static ac_x move_and_sum(ac_lower *L, const svdf *s, ac_x at, ac_x t_at)
{
    ac_lb *b = &L->b;
    const ac_tensor *state = L->node->in[AC_SVDF_STATE];
    const bool pairs = ac_target_halves(L->target) && state->dtype == AC_I16 && !ac_quant_zero(state);
    const int32_t last = (int32_t)s->memory - 1, paired = pairs ? last / 2 * 2 : 0;
    const ac_x one = ac_lb_i32(b, 1), acc = ac_lb_var(b, "acc", s->real ? ac_lb_f32(b, 0) : ac_lb_i32(b, 0));
    if (paired) {
        const ac_x j = ac_lb_for(b, "j", ac_lb_i32(b, 0), ac_lb_i32(b, paired), 2, AC_MARK_SERIAL);
        const ac_x to = ac_lb_add(b, at, j), two = ac_lb_load(b, s->state, ac_lb_add(b, to, one), 2);
        ac_lb_store(b, s->state, to, two);
        ac_lb_set(b, acc, ac_lb_dot2(b, two, ac_lb_load(b, s->time, ac_lb_add(b, t_at, j), 2), ac_lb_get(b, acc)));
        ac_lb_end(b);
    }
    if (paired < last) {
        const ac_x j = ac_lb_for(b, "j", ac_lb_i32(b, paired), ac_lb_i32(b, last), 1, AC_MARK_SERIAL);
        const ac_x to = ac_lb_add(b, at, j), from = ac_lb_add(b, to, one);
        ac_lb_store(b, s->state, to, ac_lb_load(b, s->state, from, 1));
        add_product(L, s, acc, value(L, s->time, ac_lb_add(b, t_at, j), L->node->in[AC_SVDF_TIME]),
                    value(L, s->state, to, state));
        ac_lb_end(b);
    }
    return acc;
}

/* The newest activation of filter f of batch n. */
static ac_x activation(ac_lower *L, const svdf *s, ac_x n, ac_x f)
{
    ac_lb *b = &L->b;
    const ac_node *node = L->node;
    const ac_tensor *state = node->in[AC_SVDF_STATE];
    const ac_x inputs = ac_lb_i32(b, s->inputs);
    ac_x v = dot(L, s, node->in[AC_SVDF_W], s->w, ac_lb_mul(b, f, inputs), node->in[AC_SVDF_X], s->x,
                 ac_lb_mul(b, n, inputs), s->inputs);
    if (!s->real) {
        v = ac_lo_requant(L, v, s->feature);
        v = ac_lb_clamp(b, v, ac_lb_i32(b, ac_dtype_min(state->dtype)), ac_lb_i32(b, ac_dtype_max(state->dtype)));
        v = ac_lb_cast(b, ac_lb_add(b, v, ac_lb_i32(b, ac_quant_zero(state))), state->dtype);
    }
    return v;
}

/* Moves the memory of filter f of batch n up, appends its newest activation and returns the sum over it. */
static ac_x filter(ac_lower *L, const svdf *s, ac_x n, ac_x f, ac_x row)
{
    ac_lb *b = &L->b;
    const ac_tensor *state = L->node->in[AC_SVDF_STATE], *time = L->node->in[AC_SVDF_TIME];
    const int64_t last = s->memory - 1;
    const ac_x memory = ac_lb_i32(b, s->memory), at = ac_lb_mul(b, row, memory);
    if (!L->target->firmware || L->target->mve) { /* compilers make vectors of whole loops */
        move(L, s, at);
        const ac_x newest = activation(L, s, n, f);
        ac_lb_store(b, s->state, ac_lb_add(b, at, ac_lb_i32(b, last)), newest);
        return dot(L, s, time, s->time, ac_lb_mul(b, f, memory), state, s->state, at, s->memory);
    }
    const ac_x t_at = ac_lb_mul(b, f, memory), acc = move_and_sum(L, s, at, t_at);
    const ac_x newest = activation(L, s, n, f), to = ac_lb_add(b, at, ac_lb_i32(b, last));
    ac_lb_store(b, s->state, to, newest);
    add_product(L, s, acc, value(L, s->time, ac_lb_add(b, t_at, ac_lb_i32(b, last)), time),
                value(L, s->state, to, state));
    return ac_lb_get(b, acc);
}

/* Types; scales become multipliers. */
static int prepare(ac_lower *L, svdf *s)
{
    const ac_node *n = L->node;
    const ac_tensor *x = n->in[AC_SVDF_X], *w = n->in[AC_SVDF_W], *time = n->in[AC_SVDF_TIME],
                    *state = n->in[AC_SVDF_STATE], *y = n->out[0];
    const ac_tensor *bias = ac_node_in(n, AC_SVDF_BIAS);
    s->real = x->dtype == AC_F32;
    if (s->real && w->dtype == AC_F32 && time->dtype == AC_F32 && state->dtype == AC_F32 && y->dtype == AC_F32 &&
        (!bias || bias->dtype == AC_F32))
        return AC_OK;
    const ac_tensor *quantised[] = {x, w, time, state, y};
    for (size_t i = 0; i < 5; i++)
        if (!quantised[i]->quant || quantised[i]->quant->n != 1)
            return ac_lower_refuse(L, "'%s' has no scale, or one for each channel", quantised[i]->name);
    if (x->dtype != AC_I8 || w->dtype != AC_I8 || y->dtype != AC_I8 || (bias && bias->dtype != AC_I32) ||
        time->dtype != state->dtype || (time->dtype != AC_I16 && time->dtype != AC_I8) || ac_quant_zero(w) ||
        ac_quant_zero(time))
        return ac_lower_refuse(
            L, "svdf of %s by %s and %s: supported are f32, and i8 with i16 or i8 memory and symmetric weights",
            ac_dtype_name(x->dtype), ac_dtype_name(w->dtype), ac_dtype_name(time->dtype));
    s->feature = ac_quantize_multiplier((double)(ac_quant_scale(x) * ac_quant_scale(w) / ac_quant_scale(state)));
    s->out = ac_quantize_multiplier((double)(ac_quant_scale(state) * ac_quant_scale(time) / ac_quant_scale(y)));
    return AC_OK;
}

int ac_lo_svdf(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    svdf s = {.inputs = n->in[AC_SVDF_X]->dim[1], .memory = n->in[AC_SVDF_TIME]->dim[1]};
    AC_TRY(prepare(L, &s));
    const ac_tensor *y = n->out[0];
    const int64_t units = y->dim[1], rank = n->attrs.svdf.rank;
    ac_lo_result_buf(L);
    if (ac_tensor_count(y) == 0)
        return AC_OK;
    s.x = ac_lo_operand(L, n->in[AC_SVDF_X]);
    s.w = ac_lo_operand(L, n->in[AC_SVDF_W]);
    s.time = ac_lo_operand(L, n->in[AC_SVDF_TIME]);
    s.state = ac_lo_state(L, n->in[AC_SVDF_STATE]);
    ac_tensor *bias = ac_node_in(n, AC_SVDF_BIAS);
    const ac_x batch = ac_lb_for_n(b, "n", y->dim[0]), u = ac_lb_for_n(b, "u", units);
    const ac_x zero = s.real ? ac_lb_f32(b, 0) : ac_lb_i32(b, 0);
    const ac_x sum = ac_lb_var(b, "sum", bias ? ac_lb_load(b, ac_lo_operand(L, bias), u, 1) : zero);
    const ac_x r = ac_lb_for_n(b, "r", rank);
    const ac_x f = ac_lb_add(b, ac_lb_mul(b, u, ac_lb_i32(b, rank)), r);
    const ac_x v = filter(L, &s, batch, f, ac_lb_add(b, ac_lb_mul(b, batch, ac_lb_i32(b, units * rank)), f));
    ac_lb_set(b, sum, s.real ? ac_lb_add(b, ac_lb_get(b, sum), v) : ac_lb_add_wrap(b, ac_lb_get(b, sum), v));
    ac_lb_end(b);
    ac_x out = ac_lb_get(b, sum);
    if (s.real)
        out = ac_lo_act(L, out, n->attrs.svdf.act);
    else
        out = ac_mp_stored_full(L, ac_lo_requant(L, out, s.out), y);
    ac_lo_result(L, out, (ac_x[]){batch, u}, 1);
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}
