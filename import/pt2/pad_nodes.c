/* pad_nodes.c - pads of PyTorch: pairs of numbers, the last dimension first. */
#include "import/pt2/nodes.h"

#include "import/build/compose_pads.h"

#include <inttypes.h>
#include <string.h>

typedef struct pads {
    int64_t before[AC_MAX_RANK], after[AC_MAX_RANK];
} pads;

/* Negative pads cut x. */
static int read_pads(ac_ep_node *n, int id, ac_tensor **x, pads *p)
{
    const ac_ints v = ac_attr_ints(&n->attrs, id);
    const int32_t rank = (*x)->rank;
    *p = (pads){.before = {0}};
    if (v.n % 2 || v.n / 2 > rank)
        return ac_bad(&n->b, "%d pads for '%s' %s", v.n, (*x)->name, ac_shape_str(n->r->cx, *x));
    for (int32_t i = 0; i < v.n / 2; i++) {
        const int32_t d = rank - 1 - i;
        const int64_t size = (*x)->dim[d], front = v.v[2 * i], back = v.v[2 * i + 1];
        const int64_t cut = front < 0 ? -front : 0, tail = back < 0 ? -back : 0;
        if (front > INT32_MAX || back > INT32_MAX || cut > size || tail > size - cut)
            return ac_bad(&n->b, "pads %" PRId64 " and %" PRId64 " of dimension %d", front, back, d);
        p->before[d] = front < 0 ? 0 : front;
        p->after[d] = back < 0 ? 0 : back;
        if (cut || tail)
            *x = ac_make_slice(&n->b, *x, d, cut, size - cut - tail);
        if (!*x)
            return AC_FAIL;
    }
    return AC_OK;
}

static ac_tensor *mirrored(ac_ep_node *n, ac_tensor *x, const pads *p)
{
    ac_attrs a;
    int64_t *list = AC_NEW_N(n->r->cx->region, int64_t, 2 * AC_MAX_RANK);
    for (int32_t d = 0; d < x->rank; d++) {
        list[2 * d] = p->before[d];
        list[2 * d + 1] = p->after[d];
        if (p->before[d] > x->dim[d] - 1 || p->after[d] > x->dim[d] - 1)
            return (void)ac_bad(&n->b, "it reflects more elements than dimension %d has", d), NULL;
    }
    ac_attrs_init(AC_OP_MIRROR_PAD, &a);
    a.mirror.pads = (ac_ints){2 * x->rank, list};
    return ac_make_op(&n->b, AC_OP_MIRROR_PAD, &x, 1, &a, AC_NONE);
}

static ac_tensor *extended(ac_ep_node *n, ac_tensor *x, const pads *p, bool wrap)
{
    for (int32_t d = 0; x && d < x->rank; d++)
        x = ac_make_extend(&n->b, x, d, p->before[d], p->after[d], wrap);
    return x;
}

int ac_ep_do_pad(ac_ep_node *n)
{
    const char *mode = ac_attr_text(&n->attrs, A_pad_mode);
    const double value = ac_attr_float(&n->attrs, A_value);
    ac_tensor *x = n->in[0];
    pads p;
    AC_TRY(read_pads(n, A_pad, &x, &p));
    if (!strcmp(mode, "reflect"))
        return ac_ep_result(n, 0, mirrored(n, x, &p));
    if (strcmp(mode, "constant") != 0)
        return ac_ep_result(n, 0, extended(n, x, &p, !strcmp(mode, "circular")));
    ac_tensor *fill = value == 0 && x->dtype == AC_F32 ? NULL : ac_make_number(&n->b, x->dtype, value);
    return ac_ep_result(n, 0, ac_make_pad(&n->b, x, p.before, p.after, fill));
}

int ac_ep_do_pad_edge(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    pads p;
    AC_TRY(read_pads(n, A_edges, &x, &p));
    return ac_ep_result(n, 0, n->row->op == AC_OP_MIRROR_PAD ? mirrored(n, x, &p) : extended(n, x, &p, false));
}
