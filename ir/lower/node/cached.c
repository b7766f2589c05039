/* cached.c - copies constants to scratch before the loops that read them; see cached.h. */
#include "ir/lower/node/cached.h"

#include "ir/loop/access/traffic.h"
#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"
#include "ir/loop/plane.h"

enum { VECTOR = 16, WORD = 4, MOVED = 32 /* bytes of an iteration */, HELD = 4 /* values, at once */ };

typedef struct cacher {
    const ac_loop_fn *fn;
    const ac_target *target;
    const bool *which; /* by argument */
    int32_t n_args;
    ac_lb b;
    ac_x *map;
    int32_t *kept; /* old buffer -> new one */
    int32_t *used; /* the same, with copies in place of constants */
} cacher;

static int32_t align_of(const ac_buf *b, const ac_target *t)
{
    const int32_t unit = (int32_t)ac_dtype_size(b->dtype, 1);
    const int32_t wanted = !t->firmware ? b->align : t->vec_bytes || t->mve || t->rvv ? VECTOR : WORD;
    return wanted > unit ? wanted : unit;
}

ac_bytes ac_cached_size(const ac_buf *b, const ac_target *t)
{
    return ac_align_up(ac_dtype_size(b->dtype, b->count), align_of(b, t));
}

/* By argument: a constant that is read more than once. */
static bool *read_again(ac_region *r, const ac_lowered *low)
{
    bool *which = AC_NEW_N(r, bool, low->arg.n + 1);
    if (low->chunks || low->rows || low->fn->call)
        return which;
    int64_t *bytes = AC_NEW_N(r, int64_t, low->fn->buf.n + 1);
    ac_loop_traffic(low->fn, bytes);
    for (int32_t a = 0; a < low->arg.n; a++)
        which[a] = low->arg.item[a].kind == AC_ARG_CONST && bytes[a] > ac_const_bytes(low->arg.item[a].konst);
    return which;
}

static void open_buffers(cacher *c)
{
    for (int32_t pass = 0; pass < 2; pass++) { /* parameters, then locals */
        for (int32_t i = 0; i < c->fn->buf.n; i++)
            if ((c->fn->buf.item[i].role == AC_BUF_LOCAL) == (pass == 1))
                c->kept[i] = c->used[i] = ac_lb_buf_like(&c->b, &c->fn->buf.item[i]);
        for (int32_t a = 0; a < c->n_args && pass == 0; a++) {
            const ac_buf *m = &c->fn->buf.item[a];
            if (!c->which[a])
                continue;
            c->used[a] = ac_lb_buf(&c->b, ac_strf(c->b.region, "%s_cached", m->name), m->dtype, m->count,
                                   AC_BUF_SCRATCH, align_of(m, c->target), m->note);
            c->b.fn->buf.item[c->used[a]].copied = true;
        }
    }
}

/* n elements from `from` on, `step` in an iteration, `lanes` at once. */
static void copy_range(cacher *c, int32_t a, int64_t from, int64_t to, int64_t step, int32_t lanes)
{
    ac_lb *b = &c->b;
    ac_x held[HELD];
    if (from >= to)
        return;
    const ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, from), ac_lb_i32(b, to), step, AC_MARK_SERIAL);
    for (int64_t first = 0; first < step; first += HELD * lanes) {
        for (int32_t k = 0; k < HELD && first + k * lanes < step; k++)
            held[k] = ac_lb_load(b, c->kept[a], ac_lb_add(b, i, ac_lb_i32(b, first + k * lanes)), lanes);
        for (int32_t k = 0; k < HELD && first + k * lanes < step; k++)
            ac_lb_store(b, c->used[a], ac_lb_add(b, i, ac_lb_i32(b, first + k * lanes)), held[k]);
    }
    ac_lb_end(b);
}

static void copy_constant(cacher *c, int32_t a)
{
    const ac_buf *m = &c->fn->buf.item[a];
    const int32_t size = (int32_t)ac_dtype_size(m->dtype, 1);
    const int32_t step = MOVED / size > 0 ? MOVED / size : 1;
    const int32_t lanes = ac_target_halves(c->target) && size < WORD ? WORD / size
                          : c->target->vec_bytes >= VECTOR           ? VECTOR / size
                                                                     : 1;
    const int64_t whole = m->count / step * step;
    copy_range(c, a, 0, whole, step, lanes);
    copy_range(c, a, whole, m->count, 1, 1);
}

/* A copy is aligned as its own buffer is. */
static void copy_code(cacher *c)
{
    const ac_loop_fn *fn = c->fn;
    for (ac_x x = 1; x < fn->code.n; x++) {
        ac_ins i = fn->code.item[x];
        ac_ins_move_values(&i, c->map);
        if (i.op == AC_L_LOAD && c->kept[i.aux] != c->used[i.aux] &&
            ac_dtype_size((ac_dtype)i.dtype, i.lanes) > c->b.fn->buf.item[c->used[i.aux]].align)
            i.flags &= (uint8_t)~AC_F_ALIGNED;
        ac_ins_move_buffers(&i, c->used);
        c->map[x] = ac_lb_copy(&c->b, fn, &i);
    }
}

static ac_loop_fn *function_of(cacher *c, ac_region *region, bool apart)
{
    ac_lb *b = &c->b;
    ac_lb_open(b, region, c->fn->name, c->fn->note);
    open_buffers(c);
    for (int32_t a = 0; a < c->n_args; a++)
        if (c->which[a])
            copy_constant(c, a);
    if (apart)
        ac_lb_for(b, "all", ac_lb_i32(b, 0), ac_lb_i32(b, 1), 1, AC_MARK_APART);
    copy_code(c);
    if (apart)
        ac_lb_end(b);
    ac_loop_fn *fn = ac_lb_close(b);
    if (apart && c->fn->plane) {
        ac_plane *p = fn->plane = ac_copy(region, c->fn->plane, sizeof *p);
        p->x = c->used[p->x];
        p->w = c->used[p->w];
        p->m = c->used[p->m];
        p->out = c->used[p->out];
        p->apart = true;
    }
    return fn;
}

/* Arguments for the new parameters, and what the loops move. */
static void add_args(const cacher *c, ac_lowered *low, ac_region *region)
{
    const int64_t *old = low->traffic;
    int64_t *traffic = old ? AC_NEW_N(region, int64_t, low->fn->buf.n + 1) : NULL;
    low->traffic = traffic;
    low->arg.item = ac_copy(region, low->arg.item, (size_t)low->arg.n * sizeof *low->arg.item);
    low->arg.cap = low->arg.n;
    for (int32_t a = 0; a < c->n_args; a++) {
        const ac_bytes bytes = ac_dtype_size(c->fn->buf.item[a].dtype, c->fn->buf.item[a].count);
        if (traffic)
            traffic[a] = c->which[a] ? bytes : old[a];
        if (traffic && c->which[a])
            traffic[c->used[a]] = old[a] + bytes;
        if (!c->which[a])
            continue;
        ac_push(region, &low->arg, ((ac_arg){.kind = AC_ARG_SCRATCH, .bytes = bytes}));
        low->scratch += ac_align_up(bytes, 16);
    }
}

static ac_lowered *lower(ac_ctx *cx, ac_region *region, ac_lowered *low, const ac_target *t, const bool *which,
                         bool apart)
{
    bool any = false;
    for (int32_t a = 0; a < low->arg.n; a++)
        any |= which[a];
    if (!any)
        return low;
    ac_region *tmp = ac_region_open(&cx->heap);
    cacher c = {.fn = low->fn, .target = t, .which = which, .n_args = low->arg.n};
    c.map = AC_NEW_N(tmp, ac_x, low->fn->code.n);
    c.kept = AC_NEW_N(tmp, int32_t, low->fn->buf.n + 1);
    c.used = AC_NEW_N(tmp, int32_t, low->fn->buf.n + 1);
    ac_lowered *out = ac_copy(region, low, sizeof *low);
    out->fn = function_of(&c, region, apart && t->dsp && low->fn->plane);
    add_args(&c, out, region);
    ac_region_close(tmp);
    return ac_loop_verify(cx, out->fn) == AC_OK ? out : NULL;
}

ac_lowered *ac_lower_cached(ac_ctx *cx, ac_region *region, ac_lowered *low, const ac_target *t, ac_bytes most)
{
    if (!low || most <= 0)
        return low;
    ac_region *tmp = ac_region_open(&cx->heap);
    const bool *which = read_again(tmp, low);
    ac_bytes sum = 0;
    for (int32_t a = 0; a < low->arg.n; a++)
        sum += which[a] ? ac_cached_size(&low->fn->buf.item[a], t) : 0;
    ac_lowered *out = sum <= most ? lower(cx, region, low, t, which, true) : low;
    ac_region_close(tmp);
    return out;
}

ac_lowered *ac_lower_cached_args(ac_ctx *cx, ac_region *region, ac_lowered *low, const ac_target *t, const bool *which)
{
    return lower(cx, region, low, t, which, false);
}
