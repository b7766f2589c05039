/* stripe_strips.c - a group as strips of columns: each is built as a group of its own, then all get the buffers of the
 * first one. */
#include "planner/graph/stripe_work.h"

#include <string.h>

/* Buffers of all strips: parameters, then locals */
typedef struct merged {
    AC_VEC(ac_buf) buf, local;
    AC_VEC(ac_arg) arg;
    AC_VEC(int32_t) used; /* by parameter: the last strip that uses it */
    ac_region *region;
} merged;

/* Can parameter k serve as x in this strip? */
static bool fits(const merged *m, int32_t k, int32_t strip, const ac_buf *b, const ac_arg *x)
{
    const ac_buf *c = &m->buf.item[k];
    const ac_arg *y = &m->arg.item[k];
    int32_t left = 1 << 12;
    if (x->kind != y->kind || b->dtype != c->dtype)
        return false;
    if (x->kind == AC_ARG_TENSOR)
        return x->tensor == y->tensor;
    if (x->kind == AC_ARG_CONST)
        return b->align <= c->align && (x->konst == y->konst || ac_const_same(x->konst, y->konst, &left) ||
                                        (x->konst->source && x->konst->source == y->konst->source));
    return x->kind == AC_ARG_SCRATCH && m->used.item[k] < strip && x->rest == y->rest && x->fresh == y->fresh &&
           (!x->rest || x->tensor == y->tensor);
}

static int32_t merge_param(merged *m, int32_t strip, const ac_buf *b, const ac_arg *x)
{
    for (int32_t k = 0; k < m->arg.n; k++) {
        ac_buf *c = &m->buf.item[k];
        ac_arg *y = &m->arg.item[k];
        if (!fits(m, k, strip, b, x))
            continue;
        if (x->kind == AC_ARG_TENSOR && b->role != c->role)
            c->role = AC_BUF_INOUT;
        if (x->kind == AC_ARG_SCRATCH) {
            c->count = b->count > c->count ? b->count : c->count;
            c->align = b->align > c->align ? b->align : c->align;
            y->bytes = ac_dtype_size(c->dtype, c->count);
            y->over &= x->over;
        }
        m->used.item[k] = strip;
        return k;
    }
    ac_push(m->region, &m->buf, *b);
    ac_push(m->region, &m->arg, *x);
    ac_push(m->region, &m->used, strip);
    return m->arg.n - 1;
}

static void use_buffers(ac_stripe *s, const int32_t *to)
{
    for (int32_t k = 0; k < s->n_members; k++)
        for (int32_t a = 0; a < s->member[k].part.fn->buf.n; a++)
            s->member[k].buf[a] = to[s->member[k].buf[a]];
    for (int32_t t = 0; t < s->n_tensors; t++) {
        if (s->tensor[t].buf >= 0)
            s->tensor[t].buf = to[s->tensor[t].buf];
        if (s->tensor[t].column.buf >= 0)
            s->tensor[t].column.buf = to[s->tensor[t].column.buf];
    }
    for (int32_t u = 0; u < s->n_units; u++)
        if (s->unit[u].does != AC_STRIPE_COMPUTES)
            s->unit[u].outside = to[s->unit[u].outside];
}

/* One list of buffers for all strips. A scratch buffer serves one purpose in each of them. */
static bool merge(ac_stripe_group *first, ac_bytes align, ac_region *region)
{
    merged m = {.region = region};
    int32_t strip = 0;
    for (ac_stripe_group *q = first; q; q = q->next, strip++)
        for (int32_t k = 0; k < q->n_args; k++)
            merge_param(&m, strip, &q->s.buf[k], &q->arg[k]);
    for (int32_t k = 0; k < m.used.n; k++)
        m.used.item[k] = -1;
    strip = 0;
    for (ac_stripe_group *q = first; q; q = q->next, strip++) { /* nothing grows any more */
        int32_t *to = AC_NEW_N(region, int32_t, q->s.n_bufs + 1);
        for (int32_t k = 0; k < q->s.n_bufs; k++) {
            if (k < q->n_args) {
                to[k] = merge_param(&m, strip, &q->s.buf[k], &q->arg[k]);
                continue;
            }
            to[k] = m.arg.n + m.local.n;
            ac_push(region, &m.local, q->s.buf[k]);
        }
        use_buffers(&q->s, to);
    }
    const int32_t n = m.arg.n;
    for (int32_t k = 0; k < m.local.n; k++)
        ac_push(region, &m.buf, m.local.item[k]);
    ac_bytes scratch = 0;
    for (int32_t k = 0; k < n; k++)
        if (m.arg.item[k].kind == AC_ARG_SCRATCH && !m.arg.item[k].rest)
            scratch += ac_align_up(m.arg.item[k].bytes, m.buf.item[k].align > align ? m.buf.item[k].align : align);
    for (ac_stripe_group *q = first; q; q = q->next) {
        q->s.buf = m.buf.item;
        q->s.n_bufs = m.buf.n;
        q->arg = m.arg.item;
        q->n_args = n;
        q->scratch = scratch;
    }
    return n <= AC_STRIPE_PARAMS;
}

bool ac_stripe_strips_of(ac_stripes *v, int32_t begin, int32_t end, int32_t n, ac_stripe_how how, ac_region *region,
                         ac_stripe_group *out)
{
    ac_stripe_strip *strip = ac_stripe_strips_new(region, v->g, n);
    int64_t stored;
    if (v->streamed.tensor || !ac_stripe_split(v, begin, end, n, strip, &stored))
        return false;
    bool *all = AC_NEW_N(region, bool, v->g->tensor.n + 1);
    memset(all, true, (size_t)v->g->tensor.n);
    ac_stripe_group *to = out;
    for (int32_t k = 0; k < n; k++) {
        ac_stripes narrow = *v;
        narrow.region = region;
        narrow.strip = &strip[k];
        narrow.copied = all;
        for (int32_t way = 0; way < AC_STRIPE_WAYS; way++)
            narrow.form[way] = AC_NEW_N(region, ac_stripe_form, way ? 1 : v->n_steps + 1);
        narrow.way = AC_NEW_N(region, uint8_t, v->n_steps + 1); /* lean */
        if (!ac_stripe_group_of(&narrow, begin, end, how, region, to))
            return false;
        if (k + 1 < n)
            to = to->next = AC_NEW(region, ac_stripe_group);
    }
    return merge(out, how.align, region) && ac_stripe_cache(v, out, how.align, region);
}
