/* move.c - copies boxes of elements, in as few loops as possible. */
#include "ir/lower/move/move.h"

#include <assert.h>

void ac_move_dim(ac_move *m, int64_t extent, int64_t from, int64_t to)
{
    assert(m->n < AC_MOVE_DIMS && "at most two loops for each dimension");
    m->dim[m->n++] = (struct ac_move_axis){extent, from, to};
}

void ac_move_strides(const ac_tensor *t, int64_t stride[AC_MAX_RANK])
{
    int64_t s = 1;
    for (int32_t d = t->rank - 1; d >= 0; s *= t->dim[d--])
        stride[d] = s;
}

int ac_lo_movable(ac_lower *L, const ac_tensor *t)
{
    if (ac_dtype_bits(t->dtype) >= 8)
        return AC_OK;
    return ac_lower_refuse(L, "elements of '%s' are %s, packed below a byte; types of 8 bits and more can be moved",
                           t->name, ac_dtype_name(t->dtype));
}

/* A box in its shortest form. false: it is empty. */
static bool simplify(ac_move *m, bool fill)
{
    int32_t n = 0;
    for (int32_t i = 0; i < m->n; i++) {
        struct ac_move_axis a = m->dim[i];
        if (fill)
            a.from = 0;
        if (a.extent <= 0)
            return false;
        if (a.extent == 1)
            continue;
        struct ac_move_axis *outer = n ? &m->dim[n - 1] : NULL;
        if (outer && outer->from == a.from * a.extent && outer->to == a.to * a.extent) {
            a.extent *= outer->extent;
            *outer = a;
        } else {
            m->dim[n++] = a;
        }
    }
    m->n = n;
    return true;
}

/* A box writes each of its elements once. A GPU runs one box after the other; threads of a CPU start together.
 */
static ac_mark mark_of(const ac_lower *L, int32_t dst, const ac_move *m)
{
    const bool alone = m->once || L->target->isa == AC_ISA_CUDA;
    return alone && L->b.fn->buf.item[dst].role == AC_BUF_OUT ? AC_MARK_PARALLEL : AC_MARK_SERIAL;
}

static void run(ac_lower *L, const char *name, int64_t n, int32_t max, int32_t min, ac_mark mark, ac_run_body *body,
                void *ctx)
{
    ac_lb *b = &L->b;
    int64_t at = 0;
    for (int32_t lanes = max; lanes >= 1; lanes = lanes > min && lanes / 2 >= min ? lanes / 2 : lanes > 1 ? 1 : 0) {
        const int64_t pieces = (n - at) / lanes;
        if (pieces < 1)
            continue;
        if (pieces == 1 || (lanes == 1 && pieces <= 4)) {
            for (int64_t i = 0; i < pieces; i++)
                body(L, ac_lb_i32(b, at + i), lanes, ctx);
        } else {
            ac_x i = ac_lb_for(b, name, ac_lb_i32(b, at), ac_lb_i32(b, at + pieces * lanes), lanes, mark);
            body(L, i, lanes, ctx);
            ac_lb_end(b);
        }
        at += pieces * lanes;
    }
}

void ac_lo_run(ac_lower *L, const char *name, int64_t n, int32_t max, int32_t min, ac_run_body *body, void *ctx)
{
    run(L, name, n, max, min, AC_MARK_SERIAL, body, ctx);
}

/* Widest and narrowest vectors for plain copies of d: whole registers, then down to 16 bytes. */
static void run_lanes(const ac_lower *L, ac_dtype d, int32_t *max, int32_t *min)
{
    const int32_t lanes = d == AC_BOOL ? 1 : ac_target_lanes(L->target, d), bits = ac_dtype_bits(d);
    *max = lanes > 1 ? lanes : 1;
    *min = *max > 128 / bits ? 128 / bits : *max;
}

/* The positions so far, as values, in the loops around a run. */
typedef struct copy {
    int32_t src, dst;
    ac_x from, to;
    int64_t step;        /* between elements read by a run: 1, 0 or a stride (then one lane) */
    int64_t stride;      /* between elements written */
    ac_x value;          /* fill: the value; else 0 */
    ac_move_value *each; /* NULL: plain copy */
    const void *ctx;
} copy;

static void copy_piece(ac_lower *L, ac_x at, int32_t lanes, void *ctx)
{
    const copy *c = ctx;
    ac_lb *b = &L->b;
    ac_x v = c->value;
    if (!v) {
        const ac_x from = ac_lb_add(b, c->from, ac_lb_mul(b, at, ac_lb_i32(b, c->step)));
        v = ac_lb_load(b, c->src, from, c->step == 1 ? lanes : 1);
    }
    if (c->each)
        v = c->each(L, v, c->ctx);
    if (v) /* 0: refused */
        ac_lb_store(b, c->dst, ac_lb_add(b, c->to, ac_lb_mul(b, at, ac_lb_i32(b, c->stride))),
                    ac_lb_splat(b, v, lanes));
}

/* Loop names of a box, outermost first. */
static const char *const letter[AC_MOVE_DIMS] = {"i", "j", "k", "l", "m", "p",  "q",  "r",  "s",
                                                 "t", "u", "v", "w", "z", "i1", "j1", "k1", "l1"};

/* Positions begin .. end-1 of dimension d. */
static ac_move part(ac_move m, int32_t d, int64_t begin, int64_t end)
{
    m.from += begin * m.dim[d].from;
    m.to += begin * m.dim[d].to;
    m.dim[d].extent = end - begin;
    return m;
}

static void nest(ac_lower *L, copy c, ac_move m, int32_t lanes);

/* A plain copy that transposes the box: whole squares, and the remainders on two sides of them. false: it is not
 * one. */
static bool squares(ac_lower *L, const copy *c, const ac_move *m)
{
    const int32_t axis = c->value || c->each ? -1 : ac_square_axis(m), last = m->n - 1;
    const int64_t edge = axis < 0 ? 1 : ac_square_edge(L, L->b.fn->buf.item[c->dst].dtype);
    if (edge < 2 || m->dim[axis].extent < edge || m->dim[last].extent < edge)
        return false;
    const int64_t far = m->dim[axis].extent / edge * edge, wide = m->dim[last].extent / edge * edge;
    const ac_move whole = part(*m, axis, 0, far), square = part(whole, last, 0, wide);
    ac_lo_squares(L, c->src, c->from, c->dst, c->to, &square, mark_of(L, c->dst, m));
    nest(L, *c, part(whole, last, wide, m->dim[last].extent), 0);
    nest(L, *c, part(*m, axis, far, m->dim[axis].extent), 0);
    return true;
}

static void nest(ac_lower *L, copy c, ac_move m, int32_t lanes)
{
    ac_lb *b = &L->b;
    if (!simplify(&m, c.value != 0) || squares(L, &c, &m))
        return;
    c.from = ac_lb_add(b, c.from, ac_lb_i32(b, m.from));
    c.to = ac_lb_add(b, c.to, ac_lb_i32(b, m.to));
    for (int32_t d = 0; d + 1 < m.n; d++) {
        const ac_x i =
            ac_lb_for(b, letter[d], ac_lb_i32(b, 0), ac_lb_i32(b, m.dim[d].extent), 1, mark_of(L, c.dst, &m));
        c.from = ac_lb_add(b, c.from, ac_lb_mul(b, i, ac_lb_i32(b, m.dim[d].from)));
        c.to = ac_lb_add(b, c.to, ac_lb_mul(b, i, ac_lb_i32(b, m.dim[d].to)));
    }
    const struct ac_move_axis last = m.n ? m.dim[m.n - 1] : (struct ac_move_axis){1, 1, 1};
    int32_t max = 1, min = 1;
    c.step = last.from;
    c.stride = last.to;
    if (last.to == 1 && (last.from == 1 || last.from == 0)) {
        run_lanes(L, L->b.fn->buf.item[c.dst].dtype, &max, &min);
        if (lanes && lanes < max)
            max = min = lanes;
    }
    if (last.from == 0 && !c.value && !c.each)
        c.value = ac_lb_load(b, c.src, c.from, 1); /* one element for the whole run */
    run(L, letter[m.n ? m.n - 1 : 0], last.extent, max, min, mark_of(L, c.dst, &m), copy_piece, &c);
    for (int32_t d = 0; d + 1 < m.n; d++)
        ac_lb_end(b);
}

void ac_lo_move_at(ac_lower *L, int32_t src, ac_x from, int32_t dst, ac_x to, const ac_move *m)
{
    nest(L, (copy){.src = src, .dst = dst, .from = from, .to = to}, *m, 0);
}

void ac_lo_move(ac_lower *L, int32_t src, int32_t dst, const ac_move *m)
{
    const ac_x zero = ac_lb_i32(&L->b, 0);
    ac_lo_move_at(L, src, zero, dst, zero, m);
}

void ac_lo_move_output(ac_lower *L, ac_tensor *x, int32_t i, const ac_move *m)
{
    const int32_t dst = ac_lo_output_buf(L, i);
    ac_move all = *m;
    all.once = true;
    ac_lo_move(L, ac_lo_operand(L, x), dst, &all);
}

int32_t ac_lo_start_as(ac_lower *L, ac_tensor *x)
{
    const ac_tensor *y = L->node->out[0];
    ac_move m = {0};
    if (x->state && y->root == x)
        return ac_lo_state(L, x);
    const int32_t dst = ac_lo_result_buf(L);
    ac_move_dim(&m, ac_tensor_count(x), 1, 1);
    ac_lo_move(L, ac_lo_operand(L, x), dst, &m);
    return dst;
}

void ac_lo_move_each(ac_lower *L, int32_t src, ac_x from, int32_t dst, ac_x to, const ac_move *m, int32_t lanes,
                     ac_move_value *f, const void *ctx)
{
    nest(L, (copy){.src = src, .dst = dst, .from = from, .to = to, .each = f, .ctx = ctx}, *m, lanes > 1 ? lanes : 1);
}

void ac_lo_move_fill(ac_lower *L, ac_x value, int32_t dst, const ac_move *m)
{
    const ac_x zero = ac_lb_i32(&L->b, 0);
    nest(L, (copy){.src = -1, .dst = dst, .from = zero, .to = zero, .value = value}, *m, 0);
}
