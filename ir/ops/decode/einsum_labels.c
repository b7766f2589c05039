/* einsum_labels.c - EINSUM decoded; see einsum_labels.h. */
#include "ir/ops/decode/einsum_labels.h"

int ac_einsum_labels_of(ac_ctx *cx, const ac_node *n, ac_einsum_labels *l)
{
    const ac_ints list = n->attrs.einsum.labels;
    int32_t at = 0;
    *l = (ac_einsum_labels){.n_in = n->n_in};
    for (int32_t i = 0; i < n->n_in; i++) {
        l->of[i] = list.v + at;
        at += n->in[i]->rank;
    }
    l->rank = list.n - at;
    if (l->rank < 0 || l->rank > AC_MAX_RANK)
        return ac_error(cx, n->at, E0103, "%d labels for operands of %d dimensions in all", list.n, at);
    l->of[n->n_in] = list.v + at;
    for (int32_t k = 0; k < list.n; k++)
        if (list.v[k] < 0 || list.v[k] >= AC_EINSUM_LABELS)
            return ac_error(cx, n->at, E0103, "label %lld, expected 0 to %d", (long long)list.v[k],
                            AC_EINSUM_LABELS - 1);
    for (int32_t i = 0; i < n->n_in; i++)
        for (int32_t d = 0; d < n->in[i]->rank; d++) {
            const int64_t k = l->of[i][d], size = n->in[i]->dim[d];
            if (l->used[k] && size != l->extent[k] && size != 1 && l->extent[k] != 1)
                return ac_error(cx, n->at, E0104, "label %lld is %lld long in '%s', elsewhere %lld", (long long)k,
                                (long long)size, n->in[i]->name, (long long)l->extent[k]);
            if (!l->used[k] || l->extent[k] == 1)
                l->extent[k] = size;
            l->used[k] = true;
        }
    for (int32_t d = 0; d < l->rank; d++) {
        const int64_t k = l->of[n->n_in][d];
        if (!l->used[k] || l->kept[k])
            return ac_error(cx, n->at, E0103, "label %lld of the result occurs %s", (long long)k,
                            l->used[k] ? "twice" : "in no operand");
        l->kept[k] = true;
    }
    return AC_OK;
}
