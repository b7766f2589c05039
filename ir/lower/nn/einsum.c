/* einsum.c - lowers EINSUM: sums of products over labelled dimensions.
 *
 *     z = einsum(x, y) labels=[0,1, 1,2, 0,2]        z[i,k] = sum over j of x[i,j] * y[j,k]
 *
 * The labels of all dimensions of all operands come first, in order, then those of the result, which are distinct and
 * occur in operands. A label has one extent; operands may have 1 instead (broadcast). A label that occurs twice in an
 * operand takes the diagonal. f32, f64 and plain integers (wrapping). Floats: the sum runs in order of the first
 * appearance of the labels that are summed, outermost first, products from left to right. If the last dimension of the
 * result allows it, neighbouring results are computed at once. Importers map matrix products to batch_matmul, which is
 * faster. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/ops/decode/einsum_labels.h"

typedef struct einsum {
    ac_einsum_labels l;
    int32_t buf[AC_EINSUM_OPERANDS];
    ac_x at[AC_EINSUM_LABELS]; /* position along each label */
    ac_x idx[AC_MAX_RANK];
    int32_t order[AC_EINSUM_LABELS], n_order; /* labels that are summed */
} einsum;

/* True if operand i uses the last label of the result only in its own last dimension. *uses: if it uses the label at
 * all. */
static bool along(const ac_node *n, const ac_einsum_labels *l, int32_t i, int64_t label, bool *uses)
{
    const int32_t last = n->in[i]->rank - 1;
    *uses = false;
    for (int32_t d = 0; d < last; d++)
        if (l->of[i][d] == label && n->in[i]->dim[d] != 1)
            return *uses = true, false;
    *uses = last >= 0 && l->of[i][last] == label && n->in[i]->dim[last] != 1;
    return true;
}

/* One result, or `lanes` of them along the last dimension. */
static void one(ac_lower *L, einsum *e, int32_t lanes)
{
    static const char *const name[8] = {"k0", "k1", "k2", "k3", "k4", "k5", "k6", "k7"};
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    const ac_dtype d = n->in[0]->dtype;
    const ac_x zero = ac_dtype_is_float(d) ? ac_lb_num(b, d, 0) : ac_lb_int(b, d, 0);
    const ac_x acc = ac_lb_var(b, "acc", ac_lb_splat(b, zero, lanes));
    for (int32_t k = 0; k < e->n_order; k++)
        e->at[e->order[k]] = ac_lb_for_n(b, name[k % 8], e->l.extent[e->order[k]]);
    ac_x product = 0;
    for (int32_t i = 0; i < n->n_in; i++) {
        ac_x at[AC_MAX_RANK];
        bool uses = false;
        for (int32_t k = 0; k < n->in[i]->rank; k++)
            at[k] = e->at[e->l.of[i][k]];
        if (e->l.rank)
            along(n, &e->l, i, e->l.of[n->n_in][e->l.rank - 1], &uses);
        const ac_x flat = ac_lo_flat(L, n->in[i], at);
        const ac_x v = ac_lb_splat(b, ac_lb_load(b, e->buf[i], flat, uses ? lanes : 1), lanes);
        product = product ? ac_lb_mul_wrap(b, product, v) : v;
    }
    ac_lb_set(b, acc, ac_lb_add_wrap(b, ac_lb_get(b, acc), product));
    for (int32_t k = 0; k < e->n_order; k++)
        ac_lb_end(b);
    ac_lo_result(L, ac_lb_get(b, acc), e->idx, lanes);
}

static void strip(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    einsum *e = with;
    e->idx[e->l.rank - 1] = e->at[e->l.of[L->node->n_in][e->l.rank - 1]] = i;
    one(L, e, lanes);
}

int ac_lo_einsum(ac_lower *L)
{
    static const char *const name[AC_MAX_RANK] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    einsum e = {0};
    AC_TRY(ac_einsum_labels_of(L->cx, n, &e.l));
    const ac_tensor *y = n->out[0];
    if ((!ac_mp_real(n->in[0]) && !ac_mp_plain_int(n->in[0])) || y->dtype != n->in[0]->dtype)
        return ac_lower_refuse(L, "einsum of %s: f32, f64 and plain integers are supported",
                               ac_dtype_name(n->in[0]->dtype));
    ac_lo_result_buf(L);
    if (ac_tensor_count(y) == 0)
        return AC_OK;
    for (int32_t i = 0; i < n->n_in; i++) {
        e.buf[i] = ac_lo_operand(L, n->in[i]);
        for (int32_t d = 0; d < n->in[i]->rank; d++) {
            const int64_t k = e.l.of[i][d];
            bool listed = e.l.kept[k];
            for (int32_t j = 0; j < e.n_order; j++)
                listed |= e.order[j] == k;
            if (!listed)
                e.order[e.n_order++] = (int32_t)k;
        }
    }
    bool wide = e.l.rank > 0;
    for (int32_t i = 0; wide && i < n->n_in; i++) {
        bool uses;
        wide = along(n, &e.l, i, e.l.of[n->n_in][e.l.rank - 1], &uses);
    }
    for (int32_t d = 0; d < e.l.rank - wide; d++)
        e.idx[d] = e.at[e.l.of[n->n_in][d]] = ac_lb_for_n(b, name[d], y->dim[d]);
    if (wide)
        ac_lo_strip(L, "c", y->dim[e.l.rank - 1], ac_lo_max_lanes(L, y->dtype), strip, &e);
    else
        one(L, &e, 1);
    for (int32_t d = 0; d < e.l.rank - wide; d++)
        ac_lb_end(b);
    return AC_OK;
}
