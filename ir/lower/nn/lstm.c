/* lstm.c - lowers UNIDIRECTIONAL_SEQUENCE_LSTM: a layer of LSTM cells over a sequence, with hidden and cell state that
 * persist between runs.
 *
 *     x [N,T,I] (time_major: [T,N,I])    weights [S,I] and [S,S], bias [S], for each of input, forget, cell, output
 * gate hidden, cell  [N,S]  state         y [N,T,S] or [T,N,S]
 *
 *     i, f, o = sigmoid(W x + R h + bias)    g = tanh(W x + R h + bias)    c = f * c + i * g    h = y = o * tanh(c)
 *
 * f32; or i8 with i8 weights, i32 bias and i16 cell, bit for bit as TFLite's EvalInteger8x8_16: gates in Q3.12, clamped
 * to 16 bits after either product, tanh and sigmoid in 16-bit fixed point (fixed_point16.h). The reference takes the
 * scale of h from an intermediate tensor of the file; here it is that of the hidden state. Not supported: coupled
 * gates, peepholes, projection, layer normalisation, f32 with i8 weights.
 *
 * On a GPU each sequence of the batch is a block and each unit a thread, for all steps; weights are turned, so that
 * neighbours load neighbouring elements. */
#include "ir/lower/entries.h"
#include "ir/lower/fixed_point.h"
#include "ir/lower/nn/fixed_point16.h"
#include "ir/lower/map/map.h"
#include "ir/ops/decode/operand_names.h"

#include <math.h>

enum { I, F, G, O };
enum {
    HIDDEN_BITS = 15,
    GATE_BITS = 12
}; /* fraction bits of the results of tanh and sigmoid, and of their
                                            * arguments */

typedef struct lstm {
    bool real;
    int64_t inputs, size;
    int32_t x, h, c, w[AC_LSTM_GATES], r[AC_LSTM_GATES], bias[AC_LSTM_GATES];
    ac_multiplier from_x[AC_LSTM_GATES], from_h[AC_LSTM_GATES], to_h;
    int32_t cell_bits; /* integer bits of the cell */
    int32_t clip;      /* of the cell, stored units; 0: none */
    bool threads;      /* of a GPU: units */
} lstm;

static bool all_of(const ac_node *n, int32_t first, ac_dtype d)
{
    for (int32_t k = 0; k < AC_LSTM_GATES; k++)
        if (n->in[first + k]->dtype != d)
            return false;
    return true;
}

static int prepare(ac_lower *L, lstm *m)
{
    const ac_node *n = L->node;
    const ac_tensor *x = n->in[AC_LSTM_X], *h = n->in[AC_LSTM_HIDDEN], *c = n->in[AC_LSTM_CELL], *y = n->out[0];
    if (n->attrs.lstm.act != AC_ACT_TANH)
        return ac_lower_refuse(L, "the activation is %s; supported is tanh", ac_act_name[n->attrs.lstm.act]);
    if (x->dtype != h->dtype || x->dtype != y->dtype)
        return ac_lower_refuse(L, "input, hidden state and result are not of one type");
    m->real = x->dtype == AC_F32;
    if (m->real && c->dtype == AC_F32 && all_of(n, AC_LSTM_W, AC_F32) && all_of(n, AC_LSTM_R, AC_F32) &&
        all_of(n, AC_LSTM_BIAS, AC_F32))
        return AC_OK;
    if (x->dtype != AC_I8 || c->dtype != AC_I16 || !all_of(n, AC_LSTM_W, AC_I8) || !all_of(n, AC_LSTM_R, AC_I8) ||
        !all_of(n, AC_LSTM_BIAS, AC_I32))
        return ac_lower_refuse(
            L, "an lstm of %s with weights of %s: supported are f32, and i8 with i8 weights and an i16 cell",
            ac_dtype_name(x->dtype), ac_dtype_name(n->in[AC_LSTM_W]->dtype));
    for (int32_t i = 0; i <= AC_LSTM_CELL; i++) {
        const ac_tensor *t = n->in[i];
        const bool scaled = t && (i < AC_LSTM_PEEPHOLE || i >= AC_LSTM_HIDDEN);
        if (scaled && (!t->quant || t->quant->n != 1 || (i != AC_LSTM_X && i != AC_LSTM_HIDDEN && ac_quant_zero(t))))
            return ac_lower_refuse(L, "'%s' needs one scale%s", t->name,
                                   i == AC_LSTM_X || i == AC_LSTM_HIDDEN ? "" : " and zero point 0");
    }
    const float log = (float)log2((double)ac_quant_scale(c));
    const float whole = roundf(log);
    m->cell_bits = 15 + (int32_t)whole;
    if (fabsf(log - whole) >= 1e-3f || m->cell_bits < 0 || m->cell_bits > 6)
        return ac_lower_refuse(L, "the scale of cell '%s' is %g, expected a power of two from 2^-15 to 2^-9", c->name,
                               (double)ac_quant_scale(c));
    if (ac_quant_scale(h) != ac_quant_scale(y) || ac_quant_zero(h) != ac_quant_zero(y))
        return ac_lower_refuse(L, "hidden state and result are quantised differently");
    for (int32_t k = 0; k < AC_LSTM_GATES; k++) {
        const float unit = 1.0f / (1 << GATE_BITS);
        m->from_x[k] =
            ac_quantize_multiplier((double)(ac_quant_scale(n->in[AC_LSTM_W + k]) * ac_quant_scale(x) / unit));
        m->from_h[k] =
            ac_quantize_multiplier((double)(ac_quant_scale(n->in[AC_LSTM_R + k]) * ac_quant_scale(h) / unit));
    }
    m->to_h = ac_quantize_multiplier(
        (double)(float)(ldexp(1, -HIDDEN_BITS) / (double)ac_quant_scale(h) * ldexp(1, -HIDDEN_BITS)));
    const double clip = (double)n->attrs.lstm.cell_clip / (double)ac_quant_scale(c);
    m->clip = clip > 0 ? (int32_t)(clip < 32767 ? clip : 32767) : 0;
    return AC_OK;
}

/* Weights [S, count]; for threads [count, S], if they are constants. */
static int32_t weights(ac_lower *L, const lstm *m, ac_tensor *w)
{
    if (!m->threads || !ac_tensor_is_const(w))
        return ac_lo_operand(L, w);
    ac_lower P;
    const int64_t count = w->dim[1];
    const int32_t to = ac_lo_pack_open(L, &P, "w", w->dtype, m->size * count), from = ac_lo_operand(&P, w);
    ac_lb *b = &P.b;
    const ac_x i = ac_lb_for_n(b, "i", count), u = ac_lb_for_n(b, "u", m->size);
    ac_lb_store(b, to, ac_lb_add(b, ac_lo_scaled(b, i, m->size), u),
                ac_lb_load(b, from, ac_lb_add(b, ac_lo_scaled(b, u, count), i), 1));
    ac_lb_end(b);
    ac_lb_end(b);
    return ac_lo_pack_close(L, &P);
}

static ac_x clamp_16(ac_lb *b, ac_x v)
{
    return ac_lb_clamp(b, v, ac_lb_i32(b, -32768), ac_lb_i32(b, 32767));
}

/* acc[k] += sum of (v[at + i] - zero) * weight i of unit u, for the four gates at once, whose weights are from `first`
 * on among the operands. */
static void products(ac_lower *L, const lstm *m, int32_t v_buf, ac_x at, int32_t zero, int32_t first,
                     const int32_t *weight, ac_x u, const ac_x *acc)
{
    ac_lb *b = &L->b;
    const int64_t count = L->node->in[first]->dim[1];
    const ac_x row = ac_lo_scaled(b, u, count), i = ac_lb_for_n(b, "i", count);
    ac_x v = ac_lb_load(b, v_buf, ac_lb_add(b, at, i), 1);
    if (!m->real)
        v = ac_lb_sub(b, ac_lb_cast(b, v, AC_I32), ac_lb_i32(b, zero));
    for (int32_t k = 0; k < AC_LSTM_GATES; k++) {
        const bool turned = m->threads && ac_tensor_is_const(L->node->in[first + k]);
        const ac_x at_w = turned ? ac_lb_add(b, ac_lo_scaled(b, i, m->size), u) : ac_lb_add(b, row, i);
        ac_x w = ac_lb_load(b, weight[k], at_w, 1);
        if (m->real)
            ac_lb_set(b, acc[k], ac_lb_add(b, ac_lb_get(b, acc[k]), ac_lb_mul(b, v, w)));
        else
            ac_lb_set(b, acc[k],
                      ac_lb_add_wrap(b, ac_lb_get(b, acc[k]), ac_lb_mul_wrap(b, v, ac_lb_cast(b, w, AC_I32))));
    }
    ac_lb_end(b);
}

/* Unit u: its gates, before tanh and sigmoid. */
static void gates(ac_lower *L, const lstm *m, ac_x x_at, ac_x h_at, ac_x u, ac_x *gate)
{
    static const char *const name[AC_LSTM_GATES] = {"in", "forget", "cell", "out"};
    ac_lb *b = &L->b;
    ac_x acc[AC_LSTM_GATES];
    const ac_node *n = L->node;
    for (int32_t k = 0; k < AC_LSTM_GATES; k++)
        acc[k] = ac_lb_var(b, name[k], ac_lb_load(b, m->bias[k], u, 1));
    products(L, m, m->x, x_at, ac_quant_zero(n->in[AC_LSTM_X]), AC_LSTM_W, m->w, u, acc);
    ac_x part[AC_LSTM_GATES];
    for (int32_t k = 0; k < AC_LSTM_GATES && !m->real; k++) {
        part[k] = clamp_16(b, ac_lo_requant(L, ac_lb_get(b, acc[k]), m->from_x[k]));
        ac_lb_set(b, acc[k], ac_lb_i32(b, 0));
    }
    products(L, m, m->h, h_at, ac_quant_zero(n->in[AC_LSTM_HIDDEN]), AC_LSTM_R, m->r, u, acc);
    for (int32_t k = 0; k < AC_LSTM_GATES; k++) {
        gate[k] = ac_lb_get(b, acc[k]);
        if (!m->real)
            gate[k] = clamp_16(b, ac_lb_add(b, ac_lo_requant(L, gate[k], m->from_h[k]), part[k]));
    }
}

/* Updates the cell at `at` and returns the new h. */
static ac_x step_real(ac_lower *L, const lstm *m, ac_x at, const ac_x *gate)
{
    ac_lb *b = &L->b;
    const float clip = L->node->attrs.lstm.cell_clip;
    const ac_x old = ac_lb_mul(b, ac_lo_sigmoid(L, gate[F]), ac_lb_load(b, m->c, at, 1));
    ac_x c = ac_lb_add(b, old, ac_lb_mul(b, ac_lo_sigmoid(L, gate[I]), ac_lo_tanh(L, gate[G])));
    if (clip > 0)
        c = ac_lb_clamp(b, c, ac_lb_f32(b, (double)-clip), ac_lb_f32(b, (double)clip));
    ac_lb_store(b, m->c, at, c);
    return ac_lb_mul(b, ac_lo_sigmoid(L, gate[O]), ac_lo_tanh(L, c));
}

static ac_x step_int(ac_lower *L, const lstm *m, ac_x at, const ac_x *gate)
{
    ac_lb *b = &L->b;
    const int32_t gate_bits = 15 - GATE_BITS;
    const ac_x forget = ac_lo_fx16_logistic(L, gate[F], gate_bits), in = ac_lo_fx16_logistic(L, gate[I], gate_bits);
    const ac_x kept =
        ac_lo_fx_round_shift(L, ac_lb_mul(b, forget, ac_lb_cast(b, ac_lb_load(b, m->c, at, 1), AC_I32)), 15);
    const ac_x fresh =
        ac_lo_fx_round_shift(L, ac_lb_mul(b, in, ac_lo_fx16_tanh(L, gate[G], gate_bits)), 15 + m->cell_bits);
    ac_x c = clamp_16(b, ac_lb_add(b, kept, fresh));
    if (m->clip > 0)
        c = ac_lb_clamp(b, c, ac_lb_i32(b, -m->clip), ac_lb_i32(b, m->clip));
    ac_lb_store(b, m->c, at, ac_lb_cast(b, c, AC_I16));
    const ac_x h = ac_lb_mul(b, ac_lo_fx16_logistic(L, gate[O], gate_bits), ac_lo_fx16_tanh(L, c, m->cell_bits));
    return ac_mp_stored_full(L, ac_lo_requant(L, h, m->to_h), L->node->in[AC_LSTM_HIDDEN]);
}

/* Units of a sequence: threads of a GPU, which wait for each other at the end. */
static ac_x each_unit(ac_lower *L, const lstm *m)
{
    ac_lb *b = &L->b;
    return m->threads ? ac_lb_for(b, "u", ac_lb_i32(b, 0), ac_lb_i32(b, m->size), 1, AC_MARK_BLOCK)
                      : ac_lb_for_n(b, "u", m->size);
}

int ac_lo_lstm(ac_lower *L)
{
    enum { MOST_THREADS = 1024 };
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    lstm m = {.size = n->in[AC_LSTM_W]->dim[0]};
    int64_t batch, steps;
    AC_TRY(prepare(L, &m));
    ac_lstm_sizes(n, &batch, &steps, &m.inputs);
    m.threads = L->target->isa == AC_ISA_CUDA && m.size <= MOST_THREADS;
    const int32_t y = ac_lo_result_buf(L);
    if (ac_tensor_count(n->out[0]) == 0)
        return AC_OK;
    m.x = ac_lo_operand(L, n->in[AC_LSTM_X]);
    m.h = ac_lo_state(L, n->in[AC_LSTM_HIDDEN]);
    m.c = ac_lo_state(L, n->in[AC_LSTM_CELL]);
    for (int32_t k = 0; k < AC_LSTM_GATES; k++) {
        m.w[k] = weights(L, &m, n->in[AC_LSTM_W + k]);
        m.r[k] = weights(L, &m, n->in[AC_LSTM_R + k]);
        m.bias[k] = ac_lo_operand(L, n->in[AC_LSTM_BIAS + k]);
    }
    const ac_x size = ac_lb_i32(b, m.size);
    const ac_x i = m.threads ? ac_lb_for(b, "n", ac_lb_i32(b, 0), ac_lb_i32(b, batch), 1, AC_MARK_GRID)
                             : ac_lb_for_n(b, "n", batch);
    const ac_x t = ac_lb_for_n(b, "t", steps);
    const ac_x row = n->attrs.lstm.time_major ? ac_lb_add(b, ac_lb_mul(b, t, ac_lb_i32(b, batch)), i)
                                              : ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, steps)), t);
    const ac_x x_at = ac_lb_mul(b, row, ac_lb_i32(b, m.inputs)), h_at = ac_lb_mul(b, i, size),
               y_at = ac_lb_mul(b, row, size);
    ac_x u = each_unit(L, &m);
    ac_x gate[AC_LSTM_GATES];
    gates(L, &m, x_at, h_at, u, gate);
    const ac_x at = ac_lb_add(b, h_at, u);
    const ac_x h = m.real ? step_real(L, &m, at, gate) : step_int(L, &m, at, gate);
    ac_lb_store(b, y, ac_lb_add(b, y_at, u), h);
    ac_lb_end(b);
    u = each_unit(L, &m); /* all gates have read the old h: the new one is the row just written */
    ac_lb_store(b, m.h, ac_lb_add(b, h_at, u), ac_lb_load(b, y, ac_lb_add(b, y_at, u), 1));
    ac_lb_end(b);
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}
