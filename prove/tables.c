/* tables.c - integers that a load can give: the contents of constants, read for what they are; what the call itself has
 * stored in its scratch and locals; for everything else, the type. */
#include "prove/prover.h"

#include <math.h>

/* Elements of a constant, for one load; of bytes, which are weights where there are many. */
enum { LOOKED_AT = 1 << 22, FLOATS_LOOKED_AT = 1 << 16, BYTES_LOOKED_AT = 1 << 12 };

/* Elements that `index` may be: offset + any multiple of *step, within lo .. hi. */
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

static ac_interval contents(ac_prover *p, const ac_const *k, const void *data, const ac_pvalue *index, int32_t lanes)
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
    if (hi < lo || (hi - lo) / step * lanes > LOOKED_AT)
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
    const ac_bound_arg *arg = buf < p->call->n_arg ? &p->call->arg[buf] : NULL;
    return arg && arg->space == AC_SPACE_CONST ? p->m->konst[arg->offset] : NULL;
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
            if (p->chunk >= 0)
                return (ac_interval){p->chunk, p->chunk};
            return (ac_interval){0, n > 0 ? n - 1 : 0};
        }
        ac_const *k = ac_p_constant(p, buf);
        if (k && k->dtype == d && (ac_dtype_bits(d) > 8 || k->count <= BYTES_LOOKED_AT)) {
            const void *data = ac_const_data(p->cx, k);
            return data ? contents(p, k, data, index, lanes) : range;
        }
    }
    return ac_interval_meet(range, p->content[buf]);
}

/* The element itself, where its place is a number; of NaN both ends are. */
static bool is_one(ac_prover *p, ac_const *k, ac_interval at, ac_pvalue *v)
{
    const void *data = at.lo == at.hi && at.lo >= 0 && at.lo < k->count ? ac_const_data(p->cx, k) : NULL;
    if (!data)
        return false;
    const double x = ac_dtype_get_num(k->dtype, data, at.lo);
    *v = (ac_pvalue){.least = x, .most = x, .maybe_nan = isnan(x), .form = {.lost = true}};
    return true;
}

void ac_p_loaded_float(ac_prover *p, const ac_ins *i, ac_pvalue *v)
{
    const int32_t buf = i->aux;
    const ac_dtype d = p->fn->buf.item[buf].dtype;
    ac_const *k = ac_p_constant(p, buf);
    if (!k || (d != AC_F32 && d != AC_F64) || (k->dtype == d && i->lanes == 1 && is_one(p, k, p->value[i->a].in, v)))
        return;
    ac_ptable *t = &p->table[buf];
    if (!t->known && k->dtype == d && k->count <= FLOATS_LOOKED_AT) {
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
        *v = (ac_pvalue){.least = t->least, .most = t->most, .form = {.lost = true}};
}

/* ------------------------------------------------------------------ what the call stores */

static void join(ac_interval *to, bool *any, ac_interval in)
{
    *to = *any ? ac_interval_join(*to, in) : in;
    *any = true;
}

void ac_p_put(ac_prover *p, int32_t buf, ac_interval in)
{
    ac_pstored *s = &p->stored[buf];
    if (p->dry)
        return;
    join(&s->all, &s->any, in);
    join(&s->put, &s->any_put, in);
}

static bool loads_from(const ac_prover *p, ac_x x, int32_t buf)
{
    return ac_p_ins(p, x)->op == AC_L_LOAD && ac_p_ins(p, x)->aux == buf;
}

/* The operand of the sum x that is added to what was loaded from the buffer; 0: it is no such sum. */
static ac_x added_to(const ac_prover *p, ac_x x, int32_t buf)
{
    const ac_ins *i = ac_p_ins(p, x);
    if (i->op != AC_L_ADD)
        return 0;
    return loads_from(p, i->a, buf) ? i->b : loads_from(p, i->b, buf) ? i->a : 0;
}

void ac_p_stored(ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_interval in = ac_p_by_facts(p, &p->value[i->b].form, p->value[i->b].in), times = {p->times, p->times};
    const ac_x by = added_to(p, i->b, i->aux);
    ac_pstored *s = &p->stored[i->aux];
    if (!by) {
        ac_p_put(p, i->aux, in);
    } else if (!p->dry) {
        const ac_interval once = ac_interval_join(p->value[by].in, (ac_interval){0, 0});
        join(&s->all, &s->any, in);
        s->added = ac_interval_add(s->added, ac_interval_mul(once, times));
        s->any_added = true;
    }
}

/* However often something is added, to whatever was there at an earlier time: no element is further from what was put
 * there than all of it together. Where that leaves the type, sums may wrap, and this says nothing. */
ac_interval ac_p_contents(ac_prover *p, int32_t buf)
{
    const ac_pstored *s = &p->stored[buf];
    const ac_interval sums = ac_interval_add(s->put, s->added);
    const bool fits = s->any_added && s->any_put && ac_interval_inside(sums, ac_p_range(p->fn->buf.item[buf].dtype));
    return fits ? ac_interval_meet(s->all, sums) : s->all;
}
