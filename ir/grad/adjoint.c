/* adjoint.c - adds the shares of a tensor's adjoint, one from each reader. */
#include "ir/grad/reverse.h"
#include "base/format.h"
#include "ir/make/compose_math.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ sums */

void ac_sum_add(const ac_adjoint *a, const ac_tensor *t, ac_tensor *dx)
{
    ac_sum *s = &a->all->sum[t->id];
    if (!dx)
        a->all->failed = true; /* reported where it was made */
    else
        s->whole = s->whole ? ac_make_2(&a->b, AC_OP_ADD, s->whole, dx) : dx;
}

static int by_place(const void *x, const void *y)
{
    const ac_share *p = x, *q = y;
    if (p->axis != q->axis)
        return p->axis < q->axis ? -1 : 1;
    if (p->begin != q->begin)
        return p->begin < q->begin ? -1 : 1;
    return (p->order > q->order) - (p->order < q->order);
}

typedef struct joint {
    const ac_adjoint *a;
    const ac_tensor *t;
    ac_tensor **piece;
    int32_t n, axis;
    int64_t end; /* of the pieces so far */
} joint;

static void gap(joint *j, int64_t until)
{
    int64_t dim[AC_MAX_RANK];
    if (until <= j->end)
        return;
    memcpy(dim, j->t->dim, sizeof dim);
    dim[j->axis] = until - j->end;
    j->piece[j->n++] = ac_make_zeros(&j->a->b, j->t->dtype, j->t->rank, dim);
    j->end = until;
}

/* Parts that adjoin along an axis become one tensor, with zeros between; those that overlap them stay
 * for another round. part: n of them, sorted; how many stay is returned. */
static int32_t join(const ac_adjoint *a, const ac_tensor *t, ac_share *part, int32_t n)
{
    joint j = {.a = a, .t = t, .axis = part[0].axis, .piece = AC_NEW_N(a->b.cx->region, ac_tensor *, 2 * n + 1)};
    int32_t stay = 0;
    for (int32_t k = 0; k < n; k++) {
        if (part[k].axis != j.axis || part[k].begin < j.end) {
            part[stay++] = part[k];
            continue;
        }
        gap(&j, part[k].begin);
        j.piece[j.n++] = part[k].dx;
        j.end += part[k].dx->dim[j.axis];
    }
    gap(&j, t->dim[j.axis]);
    ac_sum_add(a, t, j.n == 1 ? j.piece[0] : ac_make_concat(&a->b, j.piece, j.n, j.axis));
    return stay;
}

ac_tensor *ac_sum_complete(const ac_adjoint *a, const ac_tensor *t)
{
    ac_sum *s = &a->all->sum[t->id];
    if (s->done)
        return s->done;
    if (s->part.n)
        qsort(s->part.item, (size_t)s->part.n, sizeof *s->part.item, by_place);
    while (s->part.n)
        s->part.n = join(a, t, s->part.item, s->part.n);
    return s->done = s->whole;
}

/* ------------------------------------------------------------------ adjoint.h */

bool ac_wants(const ac_adjoint *a, int32_t i)
{
    const ac_tensor *x = ac_node_in(a->node, i);
    return x && (i >= 32 || a->now >> i & 1) && a->all->sum[x->id].counts;
}

static ac_tensor *dy_thin(const ac_adjoint *a, int32_t i)
{
    const ac_sum *s = &a->all->sum[a->node->out[i]->id];
    return s->before ? s->before : s->done;
}

bool ac_has_dy(const ac_adjoint *a, int32_t i)
{
    return dy_thin(a, i) != NULL;
}

ac_tensor *ac_dy_of(const ac_adjoint *a, int32_t i)
{
    const ac_tensor *y = a->node->out[i];
    ac_tensor *t = dy_thin(a, i);
    if (!t && a->all->failed)
        return NULL;
    return t ? ac_make_broadcast(&a->b, t, y->rank, y->dim) : ac_make_zeros(&a->b, y->dtype, y->rank, y->dim);
}

ac_tensor *ac_dy(const ac_adjoint *a)
{
    return ac_dy_of(a, 0);
}

ac_tensor *ac_dy_thin(const ac_adjoint *a)
{
    return dy_thin(a, 0);
}

/* Inside its bounds, the result of a clamp is its operand; elsewhere the gradient is 0. */
ac_tensor *ac_y(const ac_adjoint *a)
{
    if (ac_node_act(a->node) != AC_ACT_TANH)
        return a->node->out[0];
    ac_no_gradient(a, "its activation is tanh");
    return NULL;
}

void ac_give(ac_adjoint *a, int32_t i, ac_tensor *dx)
{
    if (ac_wants(a, i))
        ac_sum_add(a, a->node->in[i], dx);
}

void ac_give_each(ac_adjoint *a, int32_t i, ac_tensor *dx)
{
    if (!ac_wants(a, i))
        return;
    const ac_tensor *x = a->node->in[i], *y = a->node->out[0];
    uint32_t mask = 0;
    double times = 1;
    int64_t dim[AC_MAX_RANK];
    for (int32_t k = 1; dx && k <= y->rank; k++) { /* dimensions from the last one */
        const int64_t here = k <= x->rank ? x->dim[x->rank - k] : 1, all = y->dim[y->rank - k];
        const int64_t has = k <= dx->rank ? dx->dim[dx->rank - k] : 1;
        if (k <= x->rank)
            dim[x->rank - k] = here == all ? has : 1;
        if (here == all)
            continue;
        if (has != 1)
            mask |= 1u << (dx->rank - k);
        else
            times *= (double)all;
    }
    dx = ac_make_reduce(&a->b, AC_OP_SUM, dx, mask, true);
    dx = ac_make_reshape(&a->b, dx, x->rank, dim);
    ac_sum_add(a, x, times > 1 || times < 1 ? ac_make_mul_number(&a->b, dx, times) : dx);
}

void ac_give_slice(ac_adjoint *a, int32_t i, int32_t axis, int64_t begin, ac_tensor *dx)
{
    if (!ac_wants(a, i))
        return;
    const ac_tensor *x = a->node->in[i];
    ac_sum *s = &a->all->sum[x->id];
    int64_t dim[AC_MAX_RANK];
    if (!dx || (begin == 0 && dx->dim[axis] == x->dim[axis])) {
        ac_sum_add(a, x, dx);
        return;
    }
    memcpy(dim, x->dim, sizeof dim);
    dim[axis] = dx->dim[axis];
    dx = ac_make_broadcast(&a->b, dx, x->rank, dim);
    if (!dx)
        a->all->failed = true;
    else
        ac_push(a->b.cx->region, &s->part, ((ac_share){dx, axis, s->part.n, begin}));
}

int ac_no_gradient(const ac_adjoint *a, const char *fmt, ...)
{
    char why[200];
    va_list v;
    va_start(v, fmt);
    ac_vprint(why, sizeof why, fmt, v);
    va_end(v);
    a->all->failed = true;
    return ac_error(a->b.cx, a->node->at, E0109, "'%s' (%s) has no gradient here: %s", a->node->name,
                    ac_ops[a->node->op].text, why);
}

/* ------------------------------------------------------------------ activations among the attributes */

static ac_tensor *between(const ac_adjoint *a, ac_tensor *y, double lo, double hi)
{
    ac_tensor *below = ac_make_2(&a->b, AC_OP_LESS, y, ac_make_number_like(&a->b, y, hi));
    return ac_make_2(&a->b, AC_OP_LOGICAL_AND, ac_make_2(&a->b, AC_OP_GREATER, y, ac_make_number_like(&a->b, y, lo)),
                     below);
}

ac_tensor *ac_before_act(const ac_adjoint *a, ac_act act, ac_tensor *y, ac_tensor *dy)
{
    ac_tensor *zero = ac_make_number_like(&a->b, y, 0), *square;
    switch (act) {
    case AC_ACT_NONE:
    case AC_ACT_COUNT:
        break;
    case AC_ACT_RELU:
        return ac_make_select(&a->b, ac_make_2(&a->b, AC_OP_GREATER, y, zero), dy, zero);
    case AC_ACT_RELU_N1_TO_1:
        return ac_make_select(&a->b, between(a, y, -1, 1), dy, zero);
    case AC_ACT_RELU6:
        return ac_make_select(&a->b, between(a, y, 0, 6), dy, zero);
    case AC_ACT_TANH:
        square = ac_make_1(&a->b, AC_OP_SQUARE, y);
        return ac_make_2(&a->b, AC_OP_MUL, dy, ac_make_2(&a->b, AC_OP_SUB, ac_make_number_like(&a->b, y, 1), square));
    }
    return dy;
}
