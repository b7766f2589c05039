/* scan.c - decodes SCAN. */
#include "ir/ops/decode/scan.h"

#include <inttypes.h>

int ac_scan_of(ac_ctx *cx, const ac_node *n, ac_scan *s)
{
    const ac_attrs_scan *a = &n->attrs.scan;
    *s = (ac_scan){.states = a->states, .sequences = a->sequences, .parts = a->parts};
    if (s->states < 0 || s->sequences < 1 || s->parts < 1)
        return ac_error(cx, n->at, E0103, "has states=%d sequences=%d parts=%d, expected at least 0, 1 and 1",
                        s->states, s->sequences, s->parts);
    if (s->states > n->n_in || s->sequences > n->n_in - s->states || s->states > n->n_out)
        return ac_error(cx, n->at, E0102, "has %d operands and %d results, expected %d states and %d sequences",
                        n->n_in, n->n_out, s->states, s->sequences);
    if (n->n_out - s->states > AC_SCAN_MOST / s->parts)
        return ac_error(cx, n->at, E0103, "has %d results of %d parts, expected at most %d parts in all",
                        n->n_out - s->states, s->parts, AC_SCAN_MOST);
    s->elements = (n->n_out - s->states) * s->parts;
    for (int32_t i = 0; i < s->sequences; i++) {
        const ac_tensor *x = n->in[s->states + i], *first = n->in[s->states];
        if (x->rank < 1 || x->dim[0] < 1 || x->dim[0] != first->dim[0])
            return ac_error(cx, n->at, E0104,
                            "sequence '%s' is %s, expected as many steps as others have, and at least one", x->name,
                            ac_tensor_str(cx, x));
        s->steps = x->dim[0];
    }
    return s->steps <= INT32_MAX
               ? AC_OK
               : ac_error(cx, n->at, E0104, "has %" PRId64 " steps, expected less than 2^31", s->steps);
}

bool ac_scan_goes_back(const ac_node *n, int32_t i)
{
    const ac_ints *back = &n->attrs.scan.back;
    return i < back->n && back->v[i] != 0;
}

void ac_scan_splice_back(ac_ctx *cx, ac_node *n, int32_t count, int32_t at, int32_t gone, int32_t come, bool back)
{
    const int32_t most = count - gone + come;
    int64_t *list = AC_NEW_N(cx->region, int64_t, most + 1);
    for (int32_t i = 0; i < most; i++)
        list[i] = i >= at && i < at + come ? back : ac_scan_goes_back(n, i < at ? i : i - come + gone);
    n->attrs.scan.back = (ac_ints){most, list};
}
