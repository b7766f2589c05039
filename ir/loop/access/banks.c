/* banks.c - passes over shared memory: the indices of a warp's lanes, by the arithmetic of constants. */
#include "ir/loop/access/banks.h"

#include "ir/loop/access/traffic.h"
#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"

#include <string.h>

enum { WARP = 32, BANKS = 32, WORD = 4 };

typedef struct lanes {
    bool known;
    int64_t v[WARP];
} lanes;

typedef struct counter {
    const ac_loop_fn *fn;
    lanes *value;  /* by instruction */
    double *times; /* of the blocks that are open, by depth */
    ac_banks sum;
} counter;

static void fill(lanes *to, int64_t first, int64_t step)
{
    to->known = true;
    for (int32_t k = 0; k < WARP; k++)
        to->v[k] = first + k * step;
}

static void evaluate(counter *c, ac_x x)
{
    const ac_ins *i = &c->fn->code.item[x];
    lanes *to = &c->value[x];
    if (i->op == AC_L_CONST && !ac_dtype_is_float((ac_dtype)i->dtype))
        fill(to, i->k.i, 0);
    else if (i->op == AC_L_FOR && i->aux == AC_MARK_BLOCK)
        fill(to, 0, 1);
    else if (i->op == AC_L_FOR)
        *to = c->value[i->a];
    if (!ac_lop_arity((ac_lop)i->op) || i->lanes != 1 || ac_dtype_is_float((ac_dtype)i->dtype) || i->op == AC_L_FOR)
        return;
    const int32_t n = ac_lop_arity((ac_lop)i->op);
    const lanes *a = &c->value[i->a], *b = n > 1 ? &c->value[i->b] : a, *d = n > 2 ? &c->value[i->c] : a;
    to->known = a->known && b->known && d->known;
    for (int32_t k = 0; k < WARP && to->known; k++)
        to->known = ac_ins_integer(i, a->v[k], b->v[k], d->v[k], &to->v[k]);
}

/* Passes of the lanes from `first` on that go together: of one bank, most different words. */
static int32_t passes(const lanes *at, const bool *takes, int32_t first, int32_t count, int64_t bytes)
{
    int64_t word[BANKS][WARP * 4];
    int32_t n[BANKS] = {0}, most = 0;
    for (int32_t k = first; k < first + count; k++) {
        if (!takes[k])
            continue;
        const int64_t from = at->v[k] / WORD, to = (at->v[k] + bytes - 1) / WORD;
        for (int64_t w = from; w <= to; w++) {
            const int32_t bank = (int32_t)(((w % BANKS) + BANKS) % BANKS);
            int32_t old = 0;
            while (old < n[bank] && word[bank][old] != w)
                old++;
            if (old == n[bank])
                word[bank][n[bank]++] = w;
            most = n[bank] > most ? n[bank] : most;
        }
    }
    return most;
}

/* The byte of the buffer's first element, after the shared buffers before it. */
static int64_t base_of(const ac_loop_fn *fn, int32_t buf)
{
    int64_t at = 0;
    for (int32_t i = 0; i < buf; i++)
        if (fn->buf.item[i].where == AC_WHERE_SHARED)
            at += ac_align_up(ac_dtype_size(fn->buf.item[i].dtype, fn->buf.item[i].count), 16);
    return at;
}

static void add_access(counter *c, const ac_ins *i, const bool *takes, double times)
{
    const ac_ins *v = i->op == AC_L_STORE ? &c->fn->code.item[i->b] : i;
    const ac_buf *buf = &c->fn->buf.item[i->aux];
    const int64_t bytes = ac_dtype_size(buf->dtype, v->lanes), each = ac_dtype_size(buf->dtype, 1);
    const int32_t together = bytes <= 4 ? WARP : bytes <= 8 ? WARP / 2 : WARP / 4;
    lanes at = c->value[i->a];
    int32_t all = 0, least = 0;
    for (int32_t k = 0; k < WARP; k++)
        at.v[k] = base_of(c->fn, i->aux) + at.v[k] * each;
    for (int32_t first = 0; first < WARP; first += together) {
        bool some = false;
        for (int32_t k = first; k < first + together; k++)
            some |= takes[k];
        least += some;
        all += !some ? 0 : at.known ? passes(&at, takes, first, together, bytes) : 1;
    }
    c->sum.passes += times * all;
    c->sum.least += times * least;
}

/* From x to the END of its block. */
static ac_x count(counter *c, ac_x x, const bool *takes, double times, bool in_block)
{
    const ac_loop_fn *fn = c->fn;
    while (x < fn->code.n) {
        const ac_ins *i = &fn->code.item[x];
        evaluate(c, x);
        if (i->op == AC_L_END || i->op == AC_L_ELSE)
            return x;
        bool some[WARP];
        memcpy(some, takes, sizeof some);
        if (i->op == AC_L_FOR) {
            bool known;
            int64_t n = ac_loop_trips(fn, x, &known);
            const bool block = i->aux == AC_MARK_BLOCK;
            for (int32_t k = 0; block && k < WARP; k++)
                some[k] = k < n;
            n = block ? (n + WARP - 1) / WARP : n;
            x = count(c, x + 1, some, times * (double)(n > 0 ? n : 0), in_block || block) + 1;
            continue;
        }
        if (i->op == AC_L_IF) {
            const lanes *if_ = &c->value[i->a];
            for (int32_t k = 0; k < WARP; k++)
                some[k] = takes[k] && (!if_->known || if_->v[k]);
            x = count(c, x + 1, some, times, in_block);
            for (int32_t k = 0; k < WARP; k++)
                some[k] = takes[k] && (!if_->known || !if_->v[k]);
            x = fn->code.item[x].op == AC_L_ELSE ? count(c, x + 1, some, times, in_block) + 1 : x + 1;
            continue;
        }
        if (in_block && (i->op == AC_L_LOAD || i->op == AC_L_STORE) && fn->buf.item[i->aux].where == AC_WHERE_SHARED)
            add_access(c, i, takes, times);
        x++;
    }
    return x;
}

ac_banks ac_loop_banks(ac_region *region, const ac_loop_fn *fn)
{
    bool takes[WARP];
    counter c = {.fn = fn, .value = AC_NEW_N(region, lanes, fn->code.n + 1)};
    for (int32_t k = 0; k < WARP; k++)
        takes[k] = true;
    count(&c, 1, takes, 1, false);
    return c.sum;
}
