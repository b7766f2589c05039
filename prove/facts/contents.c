/* contents.c - finds the values that a load can give; see contents.h. */
#include "prove/facts/contents.h"

#include "prove/facts/evaluate.h"

#include <math.h>

/* Elements of a constant that are read for one load; of bytes fewer, as large constants of bytes are weights. */
enum { MOST_READ = 1 << 22, MOST_FLOATS_READ = 1 << 16, MOST_BYTES_READ = 1 << 12 };

/* Floats of a constant. */
typedef struct float_table {
    double least, most;
    bool known, maybe_nan;
} float_table;

/* Integers that a pass has stored to a buffer: all of them; those that replace an element; and the sum of those that
 * are added to an element that was loaded from there. */
typedef struct stored {
    ac_interval all, put, added;
    bool any, any_put, any_added;
} stored;

/* By buffer. */
typedef struct ac_contents {
    ac_interval *content; /* integers that a load can give */
    stored *stored;       /* in the pass at work */
    float_table *table;
    ac_interval *left; /* integers that all calls of the step have stored */
    bool *left_any;
    ac_copied *copied;
} ac_contents;

/* True if a load of this buffer sees the call's own stores alone, and their numbers matter. */
static bool is_own(const ac_prover *p, int32_t b)
{
    const ac_buf *buf = &p->fn->buf.item[b];
    if (ac_dtype_is_float(buf->dtype) || ac_dtype_bits(buf->dtype) <= 8)
        return false;
    if (p->call->low->rows > 0 && b == p->call->low->streamed_arg) /* the caller writes rows there */
        return false;
    if (buf->role == AC_BUF_LOCAL)
        return true;
    return b < p->call->n_arg && (buf->role == AC_BUF_SCRATCH || buf->role == AC_BUF_OUT) && !p->call->arg[b].shares;
}

void ac_p_contents_open(ac_prover *p, const ac_step_ranges *earlier)
{
    const int32_t n = p->fn->buf.n;
    if (!p->contents) {
        p->contents = AC_NEW(p->keep, ac_contents);
        p->contents->table = AC_NEW_N(p->keep, float_table, n + 1);
        p->contents->left = AC_NEW_N(p->keep, ac_interval, n + 1);
        p->contents->left_any = AC_NEW_N(p->keep, bool, n + 1);
        p->contents->stored = AC_NEW_N(p->keep, stored, n + 1);
        p->contents->content = AC_NEW_N(p->keep, ac_interval, n + 1);
        p->contents->copied = AC_NEW_N(p->keep, ac_copied, n + 1);
    }
    ac_p_find_copied(p, p->contents->copied);
    for (int32_t b = 0; b < n; b++) {
        const ac_dtype d = p->fn->buf.item[b].dtype;
        p->contents->content[b] = ac_dtype_is_float(d) ? (ac_interval){0}
                                  : b < p->call->n_arg ? ac_step_ranges_given(earlier, p, b)
                                                       : ac_p_range(d);
    }
}

bool ac_p_contents_own(const ac_prover *p)
{
    bool any = false;
    for (int32_t b = 0; b < p->fn->buf.n; b++)
        any |= is_own(p, b);
    return any;
}

void ac_p_contents_begin(ac_prover *p)
{
    memset(p->contents->stored, 0, ((size_t)p->fn->buf.n + 1) * sizeof *p->contents->stored);
}

/* However often a value is added, to any earlier value: no element is further from the values that were put there than
 * the sum of all that is added. If that leaves the type, sums may wrap, and `all` is left. */
static ac_interval stored_range(const ac_prover *p, int32_t buf)
{
    const stored *s = &p->contents->stored[buf];
    const ac_interval sums = ac_interval_add(s->put, s->added);
    const bool fits = s->any_added && s->any_put && ac_interval_inside(sums, ac_p_range(p->fn->buf.item[buf].dtype));
    return fits ? ac_interval_meet(s->all, sums) : s->all;
}

void ac_p_contents_settle(ac_prover *p)
{
    for (int32_t b = 0; b < p->fn->buf.n; b++)
        if (is_own(p, b) && p->contents->stored[b].any)
            p->contents->content[b] = stored_range(p, b);
}

void ac_p_contents_join(ac_prover *p, bool first)
{
    ac_contents *c = p->contents;
    for (int32_t b = 0; b < p->fn->buf.n; b++) {
        const stored *s = &c->stored[b];
        c->left_any[b] &= !first;
        if (!s->any)
            continue;
        c->left[b] = c->left_any[b] ? ac_interval_join(c->left[b], s->all) : s->all;
        c->left_any[b] = true;
    }
}

bool ac_p_contents_left(const ac_prover *p, int32_t buf, ac_interval *in)
{
    *in = p->contents->left[buf];
    return p->contents->left_any[buf];
}

ac_interval ac_p_content(const ac_prover *p, int32_t buf)
{
    return p->contents->content[buf];
}

/* ------------------------------------------------------------------ loads */

/* Values of `index`: *offset + any multiple of the step that is returned. */
static int64_t stride_of(const ac_prover *p, const ac_affine *index, int64_t *offset)
{
    int64_t step = 0;
    *offset = index->c;
    for (int32_t i = 0; i < index->n; i++) {
        const ac_term t = index->term[i];
        const ac_unknown *u = &p->know.unknown.item[t.unknown];
        const bool known = u->of_loop && !u->first.lost && !u->first.n;
        const int64_t by = known ? ac_sat_mul(t.k, u->step) : t.k;
        *offset = ac_sat_add(*offset, known ? ac_sat_mul(t.k, u->first.c) : 0);
        step = ac_gcd(by < 0 ? -by : by, step);
    }
    return step ? step : 1;
}

static ac_interval read_constant(ac_prover *p, const ac_const *k, const void *data, const ac_pvalue *index,
                                 int32_t lanes)
{
    const ac_dtype d = k->dtype;
    int64_t offset = 0, step = index->form.lost ? 1 : stride_of(p, &index->form, &offset);
    int64_t lo = index->in.lo < 0 ? 0 : index->in.lo,
            hi = index->in.hi > k->count - lanes ? k->count - lanes : index->in.hi;
    if (offset == INT64_MAX || offset == INT64_MIN)
        offset = 0, step = 1;
    offset = (offset % step + step) % step;
    lo += (offset - lo % step + step) % step;
    ac_interval in = {INT64_MAX, INT64_MIN};
    if (hi < lo || (hi - lo) / step * lanes > MOST_READ)
        return ac_p_range(d);
    for (int64_t at = lo; at <= hi; at += step)
        for (int32_t l = 0; l < lanes; l++) {
            const int64_t v = ac_dtype_get_int(d, data, at + l);
            in.lo = v < in.lo ? v : in.lo;
            in.hi = v > in.hi ? v : in.hi;
        }
    return d == AC_U64 && in.lo < 0 ? ac_p_range(d) : in;
}

ac_const *ac_p_constant(const ac_prover *p, int32_t buf)
{
    ac_const *k = ac_p_argument_constant(p, buf);
    return k ? k : p->contents->copied[buf].base ? NULL : p->contents->copied[buf].konst;
}

ac_copied ac_p_copied(const ac_prover *p, int32_t buf)
{
    return p->contents->copied[buf];
}

ac_interval ac_p_loaded(ac_prover *p, int32_t buf, const ac_pvalue *index, int32_t lanes)
{
    const ac_dtype d = p->fn->buf.item[buf].dtype;
    const ac_interval range = ac_p_range(d);
    if (buf < p->call->n_arg) {
        const ac_bound_arg *arg = &p->call->arg[buf];
        const ac_lowered *low = p->call->low;
        if (arg->space == AC_SPACE_CHUNK) {
            const int32_t n = low->rows > low->chunks ? low->rows : low->chunks;
            if (p->at->chunk >= 0)
                return (ac_interval){p->at->chunk, p->at->chunk};
            return (ac_interval){0, n > 0 ? n - 1 : 0};
        }
        ac_const *k = ac_p_constant(p, buf);
        if (k && k->dtype == d && (ac_dtype_bits(d) > 8 || k->count <= MOST_BYTES_READ)) {
            const void *data = ac_const_data(p->cx, k);
            return data ? read_constant(p, k, data, index, lanes) : range;
        }
    }
    const ac_copied c = p->contents->copied[buf];
    if (c.base && (ac_dtype_bits(d) > 8 || c.konst->count <= MOST_BYTES_READ)) { /* any of its elements */
        const ac_pvalue any = {.in = {0, c.konst->count - 1}, .form.lost = true};
        const void *data = ac_const_data(p->cx, c.konst);
        return data ? read_constant(p, c.konst, data, &any, 1) : range;
    }
    return ac_interval_meet(range, p->contents->content[buf]);
}

/* The element itself if its place is a number; if it is NaN, both ends are. */
static bool read_float(ac_prover *p, ac_const *k, ac_interval at, ac_pvalue *v)
{
    const void *data = at.lo == at.hi && at.lo >= 0 && at.lo < k->count ? ac_const_data(p->cx, k) : NULL;
    if (!data)
        return false;
    const double x = ac_dtype_get_num(k->dtype, data, at.lo);
    *v = ac_p_float_within(x, x, isnan(x));
    return true;
}

void ac_p_loaded_float(ac_prover *p, const ac_ins *i, ac_pvalue *v)
{
    const int32_t buf = i->aux;
    const ac_dtype d = p->fn->buf.item[buf].dtype;
    ac_const *k = ac_p_constant(p, buf);
    if (!k || (d != AC_F32 && d != AC_F64) ||
        (k->dtype == d && i->lanes == 1 && read_float(p, k, p->value[i->a].in, v)))
        return;
    float_table *t = &p->contents->table[buf];
    if (!t->known && k->dtype == d && k->count <= MOST_FLOATS_READ) {
        const void *data = ac_const_data(p->cx, k);
        t->known = true;
        t->maybe_nan = !data;
        t->least = t->most = data && k->count ? ac_dtype_get_num(d, data, 0) : 0;
        for (int64_t at = 0; data && at < k->count; at++) {
            const double x = ac_dtype_get_num(d, data, at);
            t->least = fmin(t->least, x);
            t->most = fmax(t->most, x);
            t->maybe_nan |= isnan(x);
        }
    }
    if (t->known && !t->maybe_nan)
        *v = ac_p_float_within(t->least, t->most, false);
}

/* ------------------------------------------------------------------ stores */

static void join_into(ac_interval *to, bool *any, ac_interval in)
{
    *to = *any ? ac_interval_join(*to, in) : in;
    *any = true;
}

void ac_p_put(ac_prover *p, int32_t buf, ac_interval in)
{
    stored *s = &p->contents->stored[buf];
    if (p->at->dry)
        return;
    join_into(&s->all, &s->any, in);
    join_into(&s->put, &s->any_put, in);
}

static bool loads_from(const ac_prover *p, ac_x x, int32_t buf)
{
    return ac_p_ins(p, x)->op == AC_L_LOAD && ac_p_ins(p, x)->aux == buf;
}

/* The operand of the sum x that is added to a load from the buffer; 0: x is not such a sum. */
static ac_x addend(const ac_prover *p, ac_x x, int32_t buf)
{
    const ac_ins *i = ac_p_ins(p, x);
    if (i->op != AC_L_ADD)
        return 0;
    return loads_from(p, i->a, buf) ? i->b : loads_from(p, i->b, buf) ? i->a : 0;
}

void ac_p_stored(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_interval in = ac_p_by_facts(p, &p->value[i->b].form, p->value[i->b].in),
                      times = {p->at->times, p->at->times};
    const ac_x by = addend(p, i->b, i->aux);
    stored *s = &p->contents->stored[i->aux];
    if (!by) {
        ac_p_put(p, i->aux, in);
    } else if (!p->at->dry) {
        const ac_interval once = ac_interval_join(p->value[by].in, (ac_interval){0, 0});
        join_into(&s->all, &s->any, in);
        s->added = ac_interval_add(s->added, ac_interval_mul(once, times));
        s->any_added = true;
    }
}
