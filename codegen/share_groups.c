/* share_groups.c - finds groups of functions that differ only in integers; see share_groups.h. */
#include "codegen/share_groups.h"

#include "codegen/code_size.h"
#include "ir/loop/access/traffic.h"
#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"

#include <string.h>

enum {
    BYTES_PER_HOLE = 4, /* of code that reads a number */
    MAX_SLOTS = 256,
    LARGE = 1 << 18, /* bytes of code of a model */
    FAIR = 6,        /* shares of code for a share of instructions */
    PER_READ = 2,    /* instructions that a number costs in an innermost loop: for its use, and for one register less */
    PER_REQUANT = 4  /* instructions of a lane of REQUANT */
};

/* True if a vector of fn shifts or divides by constant x, which is slow unless it is an immediate. */
static bool shifts_by(const ac_loop_fn *fn, ac_x x)
{
    for (ac_x k = x + 1; k < fn->code.n; k++) {
        const ac_ins *i = &fn->code.item[k];
        if (i->b == x && (i->op == AC_L_SHL || i->op == AC_L_SHR || i->op == AC_L_DIV || i->op == AC_L_MOD))
            return true;
    }
    return false;
}

/* True if constant x of fn may be a number in the table. Floats are compared by all bits. */
static bool may_differ(const ac_loop_fn *fn, ac_x x)
{
    const ac_ins *i = &fn->code.item[x];
    if (i->op != AC_L_CONST)
        return false;
    switch ((int)i->dtype) {
    case AC_I32:
    case AC_I64:
        return i->lanes == 1 || !shifts_by(fn, x);
    case AC_I8:
    case AC_U8:
    case AC_I16:
    case AC_U16:
    case AC_U32:
        return !shifts_by(fn, x);
    case AC_F32:
        return true;
    default:
        return false;
    }
}

bool ac_share_unrolls(const ac_loop_fn *fn)
{
    for (ac_x x = 1; x < fn->code.n; x++)
        if (fn->code.item[x].op == AC_L_FOR && fn->code.item[x].aux == AC_MARK_UNROLL)
            return true;
    return false;
}

bool ac_share_alike(const ac_loop_fn *a, const ac_loop_fn *b)
{
    if (a->call || b->call || a->plane || b->plane || a->buf.n != b->buf.n || a->code.n != b->code.n ||
        a->pool.n != b->pool.n || a->fails != b->fails)
        return false;
    for (int32_t i = 0; i < a->buf.n; i++) {
        const ac_buf *x = &a->buf.item[i], *y = &b->buf.item[i];
        if (x->dtype != y->dtype || x->role != y->role || (x->role == AC_BUF_LOCAL && x->count != y->count))
            return false;
    }
    for (ac_x k = 1; k < a->code.n; k++) {
        const ac_ins *x = &a->code.item[k], *y = &b->code.item[k];
        if (x->op != y->op || x->dtype != y->dtype || x->flags != y->flags || x->lanes != y->lanes || x->a != y->a ||
            x->b != y->b || x->c != y->c || x->aux != y->aux || (x->k.i != y->k.i && !may_differ(a, k)))
            return false;
    }
    return !a->pool.n || !memcmp(a->pool.item, b->pool.item, (size_t)a->pool.n * sizeof *a->pool.item);
}

/* Constant x of a member. */
static const ac_ins *constant(const ac_share_group *g, int32_t member, ac_x x)
{
    return &g->form[g->member[member]]->code.item[x];
}

int64_t ac_share_number(const ac_share_group *g, int32_t member, int32_t hole)
{
    const ac_ins *i = constant(g, member, g->hole[hole]);
    if (i->dtype == AC_F32) {
        const float v = (float)i->k.f;
        int32_t bits;
        memcpy(&bits, &v, sizeof bits);
        return bits;
    }
    return i->dtype == AC_U32 ? (int32_t)(uint32_t)i->k.i : i->k.i;
}

/* Words of the table that a number takes: those of 64 bits mostly fit 32 bits, and are stored as such. */
static int32_t words(const ac_share_group *g, int32_t hole)
{
    bool wide = false;
    for (int32_t k = 0; k < g->n; k++)
        wide |= ac_share_number(g, k, hole) != (int32_t)ac_share_number(g, k, hole);
    return wide ? 2 : 1;
}

static bool same_numbers(const ac_share_group *g, int32_t a, int32_t b)
{
    for (int32_t k = 0; k < g->n; k++)
        if (ac_share_number(g, k, a) != ac_share_number(g, k, b))
            return false;
    const ac_ins *x = constant(g, 0, g->hole[a]), *y = constant(g, 0, g->hole[b]);
    return x->dtype == y->dtype && x->lanes == y->lanes;
}

void ac_share_find_holes(ac_region *r, ac_share_group *g)
{
    const ac_loop_fn *first = g->form[g->member[0]];
    g->hole = AC_NEW_N(r, int32_t, first->code.n);
    g->holes = g->slots = 0;
    for (ac_x x = 1; x < first->code.n; x++) {
        bool differs = false;
        for (int32_t k = 1; k < g->n && first->code.item[x].op == AC_L_CONST; k++)
            differs |= constant(g, k, x)->k.i != constant(g, 0, x)->k.i;
        if (differs)
            g->hole[g->holes++] = x;
    }
    g->slot = AC_NEW_N(r, int32_t, g->holes + 1);
    g->words = AC_NEW_N(r, int32_t, g->holes + 1);
    for (int32_t h = 0; h < g->holes; h++) {
        int32_t like = 0;
        while (like < h && !same_numbers(g, like, h))
            like++;
        g->slot[h] = like < h ? g->slot[like] : g->slots;
        g->words[h] = words(g, h);
        g->slots += like < h ? 0 : g->words[h];
    }
}

/* Instructions that one call runs, counted by loops: all of them, and those that numbers of a table cost. */
typedef struct counter {
    const ac_loop_fn *fn;
    const ac_target *target;
    const bool *is_hole; /* by instruction; NULL: none */
    double work, loss;
} counter;

/* The approximate number of products of bytes per instruction of the target. */
static double products(const ac_target *t)
{
    return t->vec_bytes ? t->vec_bytes / 2.0 : t->dsp ? 4 / 3.0 : 1 / 3.5;
}

static double work_of(const counter *c, const ac_ins *i)
{
    if (i->op == AC_L_CONST || i->op == AC_L_CONSTV || i->op == AC_L_VAR || i->op == AC_L_GET || i->op == AC_L_SET)
        return 0;
    if (i->op == AC_L_REQUANT)
        return PER_REQUANT * ac_ins_requant(i).lanes;
    if (i->op != AC_L_TILE)
        return 1;
    const ac_tile t = ac_ins_tile(i);
    const ac_ins *steps = &c->fn->code.item[i->c];
    const double n = steps->op == AC_L_CONST ? (double)steps->k.i : AC_UNKNOWN_TRIPS;
    return n * t.rows * t.channels * ac_tile_depth(&t) * (ac_tile_is_wide(&t) ? t.shift : 1) / products(c->target);
}

static bool reads_hole(const counter *c, const ac_ins *i)
{
    return c->is_hole &&
           ((i->a > 0 && c->is_hole[i->a]) || (i->b > 0 && c->is_hole[i->b]) || (i->c > 0 && c->is_hole[i->c]));
}

/* From `at` to the END that closes its block, run `times`, in the loop that begins at `loop`. Returns the position
 * after the END. */
static ac_x count(counter *c, ac_x at, double times, ac_x loop)
{
    for (; at < c->fn->code.n && c->fn->code.item[at].op != AC_L_END; at++) {
        const ac_ins *i = &c->fn->code.item[at];
        const bool varies = i->a >= loop || i->b >= loop || i->c >= loop; /* else it is computed before the loop */
        bool known;
        c->work += times * work_of(c, i);
        c->loss += varies && reads_hole(c, i) ? times * PER_READ : 0;
        if (i->op == AC_L_FOR) {
            const int64_t n = ac_loop_trips(c->fn, at, &known);
            at = count(c, at + 1, times * (double)(n > 0 ? n : 0), at) - 1;
        } else if (i->op == AC_L_IF) {
            at = count(c, at + 1, times, loop) - 1;
        }
    }
    return at + 1;
}

/* All calls of function f of the set, whose code is fn's. */
static counter count_all(const ac_share_set *set, int32_t f, const ac_loop_fn *fn, const bool *is_hole)
{
    counter c = {.fn = fn, .target = set->target, .is_hole = is_hole};
    count(&c, 1, set->calls[f], 1);
    return c;
}

/* Bytes that the group saves. */
static ac_bytes gain(const ac_share_set *set, const ac_share_group *g)
{
    return (g->n - 1) * ac_code_bytes(g->fn, set->target) - (ac_bytes)g->slots * (BYTES_PER_HOLE + 4 * (ac_bytes)g->n);
}

/* Of all functions, without sharing. */
typedef struct whole {
    double work;
    ac_bytes bytes;
} whole;

/* The member with the highest cost; *loss: of all of them together. */
static int32_t dearest(ac_region *r, const ac_share_set *set, const ac_share_group *g, double *loss)
{
    bool *is_hole = AC_NEW_N(r, bool, g->form[g->member[0]]->code.n);
    int32_t at = 0;
    double most = -1;
    for (int32_t h = 0; h < g->holes; h++)
        is_hole[g->hole[h]] = true;
    *loss = 0;
    for (int32_t k = 0; k < g->n; k++) {
        const double own = count_all(set, g->member[k], g->form[g->member[k]], is_hole).loss;
        *loss += own;
        at = own > most ? k : at;
        most = own > most ? own : most;
    }
    return at;
}

/* Removes members, the most expensive first, until the rest pays, or is a single one. */
static void bargain(ac_region *r, const ac_share_set *set, const whole *all, ac_share_group *g)
{
    for (;;) {
        ac_share_find_holes(r, g);
        g->saved = gain(set, g);
        if (g->n < 2 || g->slots > MAX_SLOTS || g->saved <= 0)
            break;
        double loss;
        const int32_t out = dearest(r, set, g, &loss);
        if (set->price == AC_SHARE_BYTES || FAIR * loss / all->work <= (double)g->saved / (double)all->bytes)
            return;
        g->n--;
        memmove(&g->member[out], &g->member[out + 1], (size_t)(g->n - out) * sizeof *g->member);
        g->fn = set->fn[g->member[0]];
    }
    g->n = 0;
}

/* Functions from f on that are similar to f and not in a group yet; f itself may be removed. n 0: no group. */
static ac_share_group group_of(ac_region *r, const ac_share_set *set, const ac_loop_fn *const *form, const whole *all,
                               int32_t f, const bool *taken)
{
    ac_share_group g = {.fn = set->fn[f], .form = form, .member = AC_NEW_N(r, int32_t, set->n)};
    if (ac_share_unrolls(g.fn))
        return g;
    for (int32_t k = f; k < set->n; k++)
        if (k == f ||
            (!taken[k] && ac_share_alike(form[f], form[k]) && (!set->may_share || set->may_share(set->with, f, k))))
            g.member[g.n++] = k;
    bargain(r, set, all, &g);
    return g;
}

ac_share_group *ac_share_groups(ac_region *r, const ac_share_set *set)
{
    whole all = {0};
    for (int32_t f = 0; f < set->n; f++) {
        all.work += count_all(set, f, set->fn[f], NULL).work;
        all.bytes += ac_code_bytes(set->fn[f], set->target);
    }
    const bool stay = set->price == AC_SHARE_NEVER || (set->price == AC_SHARE_LARGE && all.bytes <= LARGE);
    const ac_loop_fn **form = AC_NEW_N(r, const ac_loop_fn *, set->n + 1);
    for (int32_t f = 0; f < set->n && !stay; f++)
        form[f] = ac_share_form(r, set->fn[f]);
    bool *taken = AC_NEW_N(r, bool, set->n + 1);
    ac_share_group *group = AC_NEW_N(r, ac_share_group, set->n + 1);
    for (int32_t f = 0; f < set->n; f++) {
        if (taken[f])
            continue;
        const ac_share_group g = stay ? (ac_share_group){0} : group_of(r, set, form, &all, f, taken);
        if (g.n)
            group[g.member[0]] = g;
        for (int32_t k = 0; k < g.n; k++)
            taken[g.member[k]] = true;
        if (!taken[f])
            group[f] = (ac_share_group){.fn = set->fn[f], .n = 1};
    }
    return group;
}
