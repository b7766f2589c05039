/* replay_memory.c - checks accesses to a call's arguments and arrays: each must be inside its buffer, and read elements
 * that were written and not overwritten by another argument. */
#include "prove/replay/replay_now.h"
#include "prove/replay/replay_ranges.h"

const argument *argument_of(int32_t buf)
{
    return buf < now.call->n_args ? &now.call->arg[buf] : NULL;
}

void overwrite(int32_t buf, int64_t i, bool surely)
{
    const argument *a = argument_of(buf);
    const int64_t size = type_bytes(now.fn->buf[buf].type), from = a ? a->offset + i * size : 0, to = from + size;
    for (int32_t k = 0; k < now.n_sharing[buf]; k++) {
        const int32_t other = now.sharing[buf][k];
        const int64_t begin = argument_of(other)->offset, its = type_bytes(now.fn->buf[other].type);
        for (int64_t e = from < begin ? 0 : (from - begin) / its; e < now.limit[other] && begin + e * its < to; e++) {
            range gone = now.cell[other][e];
            if (now.reader[other] && now.reader[other][e] && now.reader[other][e] != now.task + 1)
                not_shown(false, "element %lld of %s is overwritten, and another task has read it", (long long)e,
                          now.fn->buf[other].name);
            if (!gone.written && gone.lost >= 0)
                continue;
            gone.lost = (int16_t)(surely ? buf + 1 : -buf - 1);
            gone.written = false;
            change(&now.cell[other][e], gone);
        }
    }
}

/* `aligned`: of an address that is a multiple of all lanes' bytes. */
static void check_aligned(const instruction *x, int32_t lanes, int64_t first, int64_t last)
{
    const buffer *b = &now.fn->buf[x->aux];
    if (b->align % (lanes * type_bytes(b->type)) != 0)
        not_shown(all_certain(), "%s is not aligned for %d lanes", b->name, lanes);
    if (first != last && lanes > 1)
        not_shown(false, "the alignment of the element of %s depends on data", b->name);
    if (first % lanes != 0)
        not_shown(all_certain(), "element %lld of %s is not aligned for %d lanes", (long long)first, b->name, lanes);
}

/* Elements first .. last that the access may begin at, all inside. */
static void check_index(const instruction *x, int32_t lanes, int64_t *first, int64_t *last)
{
    const range *i = &now.fn->code[x->a].value[0];
    const int64_t n = now.limit[x->aux];
    if (i->lo < 0 || i->hi + lanes > n)
        not_shown(all_certain() && (i->hi < 0 || i->lo + lanes > n), "elements %lld .. %lld of %s[%lld]",
                  (long long)i->lo, (long long)(i->hi + lanes - 1), now.fn->buf[x->aux].name, (long long)n);
    shown.accesses++;
    *first = (int64_t)i->lo;
    *last = (int64_t)i->hi;
    if (x->aligned)
        check_aligned(x, lanes, *first, *last);
    spend((*last - *first) * lanes / 4);
}

static range element(int32_t buf, int64_t i)
{
    const argument *a = argument_of(buf);
    const constant *k = a && a->place == AT_CONSTANT ? &now.program->constant[a->index] : NULL;
    if (k)
        return k->value[k->all_alike ? 0 : i];
    range *e = &now.cell[buf][i];
    if (e->lost && !e->written)
        not_shown(all_certain() && e->lost > 0, "element %lld of %s has been overwritten by %s", (long long)i,
                  now.fn->buf[buf].name, now.fn->buf[(e->lost < 0 ? -e->lost : e->lost) - 1].name);
    if (!e->written) /* of scratch and locals: for the prover as well, this is undecided */
        not_shown(false, "element %lld of %s has not been written", (long long)i, now.fn->buf[buf].name);
    if (now.fn->buf[buf].type == BOOL && e->hi > 1)
        not_shown(false, "element %lld of %s is a byte that may not be a bool", (long long)i, now.fn->buf[buf].name);
    shown.written++;
    if (a && now.reader[buf])
        now.reader[buf][i] = now.reader[buf][i] && now.reader[buf][i] != now.task + 1 ? MANY : now.task + 1;
    if (!e->name && !is_known(e) && !is_real(now.fn->buf[buf].type) && now.names < INT32_MAX - 1)
        e->name = ++now.names;
    return *e;
}

/* The join of elements first .. last. */
static range any_of(int32_t buf, int64_t first, int64_t last)
{
    range r = element(buf, first);
    for (int64_t i = first + 1; i <= last; i++) {
        const range e = element(buf, i);
        r = joined(r, &e);
    }
    return r;
}

/* The same, cached for tables, which are read repeatedly with the same bounds. */
static range window(int32_t buf, int64_t first, int64_t last)
{
    enum { REMEMBERED = 256 };
    static struct {
        const constant *k;
        int64_t first, last;
        range r;
    } seen[REMEMBERED];
    const argument *a = argument_of(buf);
    if (first == last || !a || a->place != AT_CONSTANT)
        return any_of(buf, first, last);
    const constant *k = &now.program->constant[a->index];
    const uint64_t at = ((uint64_t)first * 31 + (uint64_t)last) % REMEMBERED;
    if (seen[at].k != k || seen[at].first != first || seen[at].last != last) {
        seen[at].r = any_of(buf, first, last);
        seen[at].k = k, seen[at].first = first, seen[at].last = last;
    }
    return seen[at].r;
}

void load(const instruction *x)
{
    enum { NARROW = 64 };
    int64_t first, last;
    check_index(x, x->lanes, &first, &last);
    for (int32_t l = 0; l < x->lanes; l++) {
        x->value[l] = window(x->aux, first + l, last + l);
        if (x->narrow && (x->value[l].lo < -NARROW || x->value[l].hi > NARROW))
            not_shown(true, "%s is not within -64 .. 64", now.fn->buf[x->aux].name);
    }
}

static void put(int32_t buf, int64_t i, range r, bool surely)
{
    r.written = true;
    r.lost = 0;
    if (!surely) {
        r = joined(r, &now.cell[buf][i]);
        r.name = 0, r.over = 0, r.one_of = false;
    }
    change(&now.cell[buf][i], r);
    overwrite(buf, i, surely);
}

void store(const instruction *x)
{
    const instruction *v = &now.fn->code[x->b];
    int64_t first, last;
    check_index(x, v->lanes, &first, &last);
    for (int64_t i = first; i <= last; i++)
        for (int32_t l = 0; l < v->lanes; l++)
            put(x->aux, i + l, v->value[l], first == last);
}

/* ------------------------------------------------------------------ elements of tiles */

static void check_inside(int32_t buf, int64_t i)
{
    if (i < 0 || i >= now.limit[buf])
        not_shown(all_certain(), "element %lld of %s[%lld]", (long long)i, now.fn->buf[buf].name,
                  (long long)now.limit[buf]);
}

range element_of(int32_t buf, int64_t i)
{
    check_inside(buf, i);
    return element(buf, i);
}

void put_element(int32_t buf, int64_t i, range to)
{
    check_inside(buf, i);
    put(buf, i, to, true);
}
