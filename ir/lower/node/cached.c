/* cached.c - copies constants to scratch before the loops that read them; see cached.h. */
#include "ir/lower/node/cached.h"

#include "ir/loop/access/traffic.h"
#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"
#include "ir/loop/plane.h"
#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"
#include "ir/lower/node/channel_blocks.h"

enum { VECTOR = 16, WORD = 4, MOVED = 32 /* bytes of an iteration */, HELD = 4 /* values, at once */ };

/* A block of channels reads `size` elements of a constant. The first block begins with element `from`, each further one
 * `by` elements later. size 0: blocks read all of it. */
typedef struct part {
    int64_t from, by, size;
} part;

typedef struct plan {
    bool *which; /* by argument: it is copied */
    part *part;  /* by argument */
    int32_t n;   /* blocks; 1: none */
    ac_channel_blocks blocks;
} plan;

typedef struct cacher {
    const ac_loop_fn *fn;
    const ac_target *target;
    const plan *plan;
    int32_t n_args;
    ac_lb b;
    ac_x *map;
    int32_t *kept; /* old buffer -> new one */
    int32_t *used; /* the same, with copies in place of constants */
    ac_x block;    /* its number, 0: there is one */
    ac_x *base;    /* by old buffer: the constant's element that is the copy's first one; 0: element 0 */
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

/* Elements of the copy of argument a. */
static int64_t count_of(const cacher *c, int32_t a)
{
    return c->plan->part[a].size ? c->plan->part[a].size : c->fn->buf.item[a].count;
}

static void open_buffers(cacher *c)
{
    for (int32_t pass = 0; pass < 2; pass++) { /* parameters, then locals */
        for (int32_t i = 0; i < c->fn->buf.n; i++)
            if ((c->fn->buf.item[i].role == AC_BUF_LOCAL) == (pass == 1))
                c->kept[i] = c->used[i] = ac_lb_buf_like(&c->b, &c->fn->buf.item[i]);
        for (int32_t a = 0; a < c->n_args && pass == 0; a++) {
            const ac_buf *m = &c->fn->buf.item[a];
            if (!c->plan->which[a])
                continue;
            c->used[a] = ac_lb_buf(&c->b, ac_strf(c->b.region, "%s_cached", m->name), m->dtype, count_of(c, a),
                                   AC_BUF_SCRATCH, align_of(m, c->target), m->note);
            c->b.fn->buf.item[c->used[a]].copied = true;
        }
    }
}

/* The constant's element that is element `at` of the copy. */
static ac_x constant_at(cacher *c, int32_t a, ac_x at)
{
    return c->base[a] ? ac_lb_add(&c->b, at, c->base[a]) : at;
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
            held[k] =
                ac_lb_load(b, c->kept[a], constant_at(c, a, ac_lb_add(b, i, ac_lb_i32(b, first + k * lanes))), lanes);
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
    const int64_t count = count_of(c, a), whole = count / step * step;
    if (c->plan->part[a].size)
        c->base[a] = ac_lb_add(&c->b, ac_lb_mul(&c->b, c->block, ac_lb_i32(&c->b, c->plan->part[a].by)),
                               ac_lb_i32(&c->b, c->plan->part[a].from));
    copy_range(c, a, 0, whole, step, lanes);
    copy_range(c, a, whole, count, 1, 1);
}

/* The element of the copy, for a value that is one of the constant. */
static void move_down(cacher *c, int32_t buf, ac_x *at)
{
    if (c->base[buf])
        *at = ac_lb_sub(&c->b, *at, c->base[buf]);
}

/* i: values are those of the new function, buffers those of the old one. */
static void move_places(cacher *c, ac_ins *i)
{
    if (i->op == AC_L_LOAD) {
        move_down(c, i->aux, &i->a);
        const int32_t align = c->b.fn->buf.item[c->used[i->aux]].align;
        if (c->kept[i->aux] != c->used[i->aux] &&
            (c->base[i->aux] || ac_dtype_size((ac_dtype)i->dtype, i->lanes) > align))
            i->flags &= (uint8_t)~AC_F_ALIGNED; /* a copy is aligned as its own buffer is */
    }
    if (i->op == AC_L_TILE && ac_ins_tile(i).form != AC_TILE_SPREAD)
        move_down(c, ac_ins_tile(i).w, &i->b);
    if (i->op == AC_L_REQUANT) {
        move_down(c, ac_ins_requant(i).table, &i->b);
        move_down(c, ac_ins_requant(i).table, &i->c);
    }
}

static void copy_code(cacher *c)
{
    const ac_loop_fn *fn = c->fn;
    ac_lb *b = &c->b;
    const int64_t channels = c->plan->blocks.channels / c->plan->n;
    const ac_x from = c->block ? ac_lb_mul(b, c->block, ac_lb_i32(b, channels)) : 0;
    for (ac_x x = 1; x < fn->code.n; x++) {
        ac_ins i = fn->code.item[x];
        ac_ins_move_values(&i, c->map);
        move_places(c, &i);
        ac_ins_move_buffers(&i, c->used);
        if (c->block && c->plan->blocks.split[x]) {
            i.a = from;
            i.b = ac_lb_add(b, from, ac_lb_i32(b, channels));
        }
        c->map[x] = ac_lb_copy(b, fn, &i);
    }
}

/* Copies of whole constants, or of those parts that a block needs. */
static void copy_constants(cacher *c, bool parts)
{
    for (int32_t a = 0; a < c->n_args; a++)
        if (c->plan->which[a] && (c->plan->part[a].size > 0) == parts)
            copy_constant(c, a);
}

static ac_loop_fn *function_of(cacher *c, ac_region *region, bool apart)
{
    ac_lb *b = &c->b;
    ac_lb_open(b, region, c->fn->name, c->fn->note);
    open_buffers(c);
    copy_constants(c, false);
    if (c->plan->n > 1)
        c->block = ac_lb_for_n(b, "block", c->plan->n);
    copy_constants(c, true);
    if (apart)
        ac_lb_for(b, "all", ac_lb_i32(b, 0), ac_lb_i32(b, 1), 1, AC_MARK_APART);
    copy_code(c);
    if (apart)
        ac_lb_end(b);
    if (c->plan->n > 1)
        ac_lb_end(b);
    ac_loop_fn *fn = ac_lb_close(b);
    if (apart) {
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
        const ac_bytes bytes = ac_dtype_size(c->fn->buf.item[a].dtype, count_of(c, a));
        const bool copied = c->plan->which[a];
        if (traffic)
            traffic[a] = copied ? bytes : old[a];
        if (traffic && copied)
            traffic[c->used[a]] = old[a] + bytes;
        if (!copied)
            continue;
        ac_push(region, &low->arg, ((ac_arg){.kind = AC_ARG_SCRATCH, .bytes = bytes}));
        low->scratch += ac_align_up(bytes, 16);
    }
}

static ac_lowered *lower(ac_ctx *cx, ac_region *region, ac_lowered *low, const ac_target *t, const plan *how,
                         bool apart)
{
    bool any = false;
    for (int32_t a = 0; a < low->arg.n; a++)
        any |= how->which[a];
    if (!any)
        return low;
    ac_region *tmp = ac_region_open(&cx->heap);
    cacher c = {.fn = low->fn, .target = t, .plan = how, .n_args = low->arg.n};
    c.map = AC_NEW_N(tmp, ac_x, low->fn->code.n);
    c.kept = AC_NEW_N(tmp, int32_t, low->fn->buf.n + 1);
    c.used = AC_NEW_N(tmp, int32_t, low->fn->buf.n + 1);
    c.base = AC_NEW_N(tmp, ac_x, low->fn->buf.n + 1);
    ac_lowered *out = ac_copy(region, low, sizeof *low);
    out->fn = function_of(&c, region, apart && t->dsp && low->fn->plane && how->n == 1);
    add_args(&c, out, region);
    if (how->n > 1)
        out->n_overwrite = 0; /* a block reads operands after the one before has stored results */
    ac_region_close(tmp);
    return ac_loop_verify(cx, out->fn) == AC_OK ? out : NULL;
}

/* ------------------------------------------------------------------ which constants, in how many blocks */

static ac_bytes bytes_of(const plan *p, const ac_lowered *low, const ac_target *t)
{
    ac_bytes sum = 0;
    for (int32_t a = 0; a < low->arg.n; a++) {
        ac_buf b = low->fn->buf.item[a];
        b.count = p->part[a].size ? p->part[a].size : b.count;
        sum += p->which[a] ? ac_cached_size(&b, t) : 0;
    }
    return sum;
}

/* The fewest blocks whose copies take at most `most`. Constants that each block reads as a whole are copied before. */
static bool in_blocks(ac_region *tmp, const ac_lowered *low, const ac_target *t, const bool *again, ac_bytes most,
                      plan *p)
{
    if (low->chunks || low->rows || !ac_channel_blocks_of(tmp, low->fn, &p->blocks))
        return false;
    for (p->n = 2; p->n <= p->blocks.n; p->n++) {
        if (p->blocks.n % p->n)
            continue;
        for (int32_t a = 0; a < low->arg.n; a++) {
            part *x = &p->part[a];
            *x = (part){0};
            if (low->arg.item[a].kind != AC_ARG_CONST)
                continue;
            if (p->blocks.whole[a] || !ac_channel_blocks_even(&p->blocks, a, p->n, &x->from, &x->by, &x->size))
                *x = (part){0};
            p->which[a] = again[a] || !x->size;
        }
        if (bytes_of(p, low, t) <= most)
            return true;
    }
    return false;
}

ac_lowered *ac_lower_cached(ac_ctx *cx, ac_region *region, ac_lowered *low, const ac_target *t, ac_bytes most)
{
    if (!low || most <= 0)
        return low;
    ac_region *tmp = ac_region_open(&cx->heap);
    const bool *again = read_again(tmp, low);
    plan p = {.which = AC_NEW_N(tmp, bool, low->arg.n + 1), .part = AC_NEW_N(tmp, part, low->arg.n + 1), .n = 1};
    for (int32_t a = 0; a < low->arg.n; a++)
        p.which[a] = again[a];
    const bool fits = bytes_of(&p, low, t) <= most || in_blocks(tmp, low, t, again, most, &p);
    ac_lowered *out = fits ? lower(cx, region, low, t, &p, true) : low;
    ac_region_close(tmp);
    return out;
}

ac_lowered *ac_lower_cached_args(ac_ctx *cx, ac_region *region, ac_lowered *low, const ac_target *t, bool *which)
{
    const plan p = {.which = which, .part = AC_NEW_N(region, part, low->arg.n + 1), .n = 1};
    return lower(cx, region, low, t, &p, false);
}
