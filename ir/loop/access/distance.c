/* distance.c - computes how far a result may overlap an operand.
 *
 * Finds the distances of distance.h in one walk through the loops, with addresses only (walk.h).
 *
 * Both are maxima over pairs (write, later read), so it is enough to remember the highest end and the lowest begin of
 * all writes so far and to check each read against them. In an affine loop a pair's distance is linear in its two
 * iteration numbers, so its maximum is at a corner of 0 <= i <= j < n. Intervals contain all addresses, so the result
 * is never too small; it is exact when the addresses below a loop without stores fill a box, as sliding windows do. */
#include "ir/loop/access/distance.h"

#include "ir/loop/access/walk.h"

typedef struct distances {
    const ac_loop_fn *fn;
    int32_t written;
    bool any;            /* something was written */
    int64_t top, bottom; /* highest end and lowest begin of the writes so far */
    ac_distance *of;
    uint8_t *mark; /* by element of `written`: stored already */
    bool once;
} distances;

static int64_t later(int64_t by, int64_t n)
{
    return by * (n - 1);
}

/* The maximum of c + cw * i - cr * j over 0 <= i, j < n with i <= j, or i < j. */
static int64_t corner(int64_t c, int64_t cw, int64_t cr, int64_t n, bool same)
{
    int64_t last = n - 1, one = same ? 0 : 1;
    int64_t v[3] = {c - cr * one, c - cr * last, c + cw * (last - one) - cr * last};
    int64_t best = v[0] > v[1] ? v[0] : v[1];
    return best > v[2] ? best : v[2];
}

static void raise_to(int64_t *d, int64_t v)
{
    if (v > *d)
        *d = v;
}

static void read_bytes(distances *w, const ac_access *r, int64_t n)
{
    w->once = w->once && r->buf != w->written;
    if (!w->any)
        return;
    int64_t far = later(r->by, n);
    raise_to(&w->of[r->buf].below, w->top - (r->begin + (far < 0 ? far : 0)));
    raise_to(&w->of[r->buf].above, r->end + (far > 0 ? far : 0) - w->bottom);
}

static void write_bytes(distances *w, const ac_access *x, int64_t n)
{
    int64_t far = later(x->by, n), end = x->end + (far > 0 ? far : 0), begin = x->begin + (far < 0 ? far : 0);
    w->top = w->any && w->top > end ? w->top : end;
    w->bottom = w->any && w->bottom < begin ? w->bottom : begin;
    w->any = true;
    const ac_buf *b = &w->fn->buf.item[w->written];
    int64_t size = ac_dtype_size(b->dtype, 1);
    w->once = w->once && x->exact;
    for (int64_t i = 0; i < n && w->once; i++)
        for (int64_t e = (x->begin + x->by * i) / size; e < (x->end + x->by * i) / size && w->once; e++) {
            w->once = e >= 0 && e < b->count && !w->mark[e];
            if (w->once)
                w->mark[e] = 1;
        }
}

static void many(void *user, const ac_access *list, int32_t n_list, int64_t n)
{
    distances *w = user;
    for (int32_t k = 0; k < n_list; k++)
        if (!list[k].write)
            read_bytes(w, &list[k], n);
    for (int32_t k = 0; k < n_list; k++) {
        const ac_access *x = &list[k];
        for (int32_t m = 0; x->write && m < n_list; m++) {
            const ac_access *r = &list[m];
            if (r->write || (m < k && n < 2))
                continue;
            raise_to(&w->of[r->buf].below, corner(x->end - r->begin, x->by, r->by, n, m > k));
            raise_to(&w->of[r->buf].above, corner(r->end - x->begin, -x->by, -r->by, n, m > k));
        }
    }
    for (int32_t k = 0; k < n_list; k++)
        if (list[k].write)
            write_bytes(w, &list[k], n);
}

static void one(void *user, const ac_access *a)
{
    if (a->write)
        write_bytes(user, a, 1);
    else
        read_bytes(user, a, 1);
}

bool ac_loop_distances(ac_ctx *cx, const ac_loop_fn *fn, int32_t written, ac_distance *of, bool *once)
{
    if (fn->call)
        return false;
    ac_region *tmp = ac_region_open(&cx->heap);
    const ac_buf *out = &fn->buf.item[written];
    uint8_t *watch = AC_NEW_N(tmp, uint8_t, fn->buf.n + 1);
    distances w = {.fn = fn, .written = written, .of = of, .once = true};
    w.mark = AC_NEW_N(tmp, uint8_t, out->count + 1);
    for (int32_t i = 0; i < fn->buf.n; i++) {
        watch[i] = fn->buf.item[i].role == AC_BUF_IN ? AC_WATCH_READS : 0;
        of[i] = (ac_distance){INT64_MIN, INT64_MIN};
    }
    watch[written] = AC_WATCH_READS | AC_WATCH_WRITES;
    const ac_walk walk = {.fn = fn, .watch = watch, .one = one, .many = many, .user = &w};
    bool ok = ac_loop_walk(cx, &walk);
    int64_t size = ac_dtype_size(out->dtype, out->count);
    for (int32_t i = 0; i < fn->buf.n; i++) {
        int64_t other = ac_dtype_size(fn->buf.item[i].dtype, fn->buf.item[i].count);
        if (of[i].below > size) /* only the buffer of the address is known */
            of[i].below = size;
        if (of[i].above > other)
            of[i].above = other;
        if (of[i].below < -other)
            of[i].below = -other;
        if (of[i].above < -size)
            of[i].above = -size;
    }
    *once = w.once;
    ac_region_close(tmp);
    return ok;
}
