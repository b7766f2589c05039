/* copied.c - finds scratch that holds elements of a constant; see copied.h. */
#include "prove/facts/copied.h"

#include "ir/loop/ins_fields.h"
#include "ir/loop/tiles.h"

#include <string.h>

enum { DEPTH = 64 };

typedef struct finder {
    const ac_prover *p;
    ac_copied *out;
    bool *other;        /* by buffer: something else is stored there */
    ac_x *last, *first; /* by buffer: the end of its last copy; its first reading */
    ac_x *within;       /* by buffer: the loop that its base is computed in */
    ac_x loop[DEPTH];   /* open blocks */
    const int32_t *end; /* FOR, IF: its END */
    int32_t n;
} finder;

ac_const *ac_p_argument_constant(const ac_prover *p, int32_t buf)
{
    const ac_bound_arg *arg = buf < p->call->n_arg ? &p->call->arg[buf] : NULL;
    return arg && arg->space == AC_SPACE_CONST ? p->m->konst[arg->offset] : NULL;
}

/* x is the same in all iterations of `loop`, for the same values of the loops inside. */
static bool repeats(const ac_prover *p, ac_x x, ac_x loop)
{
    const ac_ins *i = ac_p_ins(p, x);
    if (x < loop || i->op == AC_L_CONST)
        return true;
    if (i->op == AC_L_FOR)
        return x > loop && repeats(p, i->a, loop) && repeats(p, i->b, loop);
    return (i->op == AC_L_ADD || i->op == AC_L_SUB || i->op == AC_L_MUL) && repeats(p, i->a, loop) &&
           repeats(p, i->b, loop);
}

static bool ends_early(const finder *f, ac_x loop)
{
    for (ac_x x = loop + 1; x < f->end[loop]; x++)
        if (ac_p_ins(f->p, x)->op == AC_L_BREAK_IF)
            return true;
    return false;
}

/* The store at x, in the open blocks, is a copy with an offset: every iteration of the loop of the offset makes it. */
static bool in_each_block(finder *f, ac_x x, ac_x base, int32_t buf)
{
    const ac_prover *p = f->p;
    int32_t k = f->n - 1;
    while (k >= 0 && f->loop[k] > base)
        k--;
    if (k < 0 || k == f->n - 1 || ac_p_ins(p, f->loop[k])->op != AC_L_FOR)
        return false;
    const ac_x loop = f->loop[k];
    for (int32_t inner = k + 1; inner < f->n; inner++)
        if (ac_p_ins(p, f->loop[inner])->op != AC_L_FOR || !repeats(p, f->loop[inner], loop) ||
            ends_early(f, f->loop[inner]))
            return false;
    if (f->within[buf] && f->within[buf] != loop)
        return false;
    f->within[buf] = loop;
    f->last[buf] = f->end[f->loop[k + 1]];
    return repeats(p, ac_p_ins(p, x)->a, loop);
}

/* The constant whose elements instruction x stores, and the offset of their numbers. */
static ac_copied copied_by(finder *f, ac_x x)
{
    const ac_prover *p = f->p;
    const ac_ins *i = ac_p_ins(p, x), *v = ac_p_ins(p, i->b);
    ac_copied none = {0}, c = {0};
    if (i->op != AC_L_STORE || v->op != AC_L_LOAD || v->lanes != i->lanes)
        return none;
    const ac_ins *at = ac_p_ins(p, v->a);
    if (v->a != i->a && (at->op != AC_L_ADD || (at->a != i->a && at->b != i->a)))
        return none;
    c.konst = ac_p_argument_constant(p, v->aux);
    c.base = v->a == i->a ? 0 : at->a == i->a ? at->b : at->a;
    if (!c.konst || c.konst->dtype != p->fn->buf.item[i->aux].dtype)
        return none;
    return !c.base || in_each_block(f, x, c.base, i->aux) ? c : none;
}

static void store(finder *f, ac_x x, int32_t buf, ac_copied c)
{
    ac_copied *now = &f->out[buf];
    f->other[buf] |= !c.konst || (now->konst && (now->konst != c.konst || now->base != c.base));
    *now = c;
    f->other[buf] |= f->first[buf] && f->first[buf] < x && c.base;
}

static void accesses(finder *f, ac_x x)
{
    const ac_ins *i = ac_p_ins(f->p, x);
    const bool tile = i->op == AC_L_TILE, spread = tile && ac_ins_tile(i).form == AC_TILE_SPREAD;
    int32_t buf[AC_INS_BUFFERS];
    for (int32_t n = i->op == AC_L_PREFETCH ? 0 : ac_ins_buffers(i, buf); n > 0; n--) {
        const int32_t b = buf[n - 1];
        const bool writes = i->op == AC_L_MMA || (i->op == AC_L_REQUANT && b == i->aux) || i->op == AC_L_STORE ||
                            (spread && b == ac_ins_tile(i).acc);
        if (writes)
            store(f, x, b, copied_by(f, x));
        if (i->op != AC_L_STORE) {
            f->first[b] = f->first[b] ? f->first[b] : x;
            f->other[b] |= f->within[b] && x > f->end[f->within[b]];
        }
    }
}

void ac_p_find_copied(const ac_prover *p, ac_copied *out)
{
    const int32_t n = p->fn->buf.n;
    const ac_lowered *low = p->call->low;
    finder f = {.p = p, .out = out, .other = AC_NEW_N(p->keep, bool, n + 1), .end = ac_loop_ends(p->keep, p->fn)};
    f.last = AC_NEW_N(p->keep, ac_x, n + 1);
    f.first = AC_NEW_N(p->keep, ac_x, n + 1);
    f.within = AC_NEW_N(p->keep, ac_x, n + 1);
    memset(out, 0, ((size_t)n + 1) * sizeof *out);
    for (int32_t b = 0; b < n; b++)
        f.other[b] = b >= p->call->n_arg || p->fn->buf.item[b].role != AC_BUF_SCRATCH || p->call->arg[b].shares ||
                     low->rows || low->chunks;
    ac_x x = 1;
    for (; x < p->fn->code.n; x++) {
        const ac_lop op = (ac_lop)ac_p_ins(p, x)->op;
        f.n -= op == AC_L_END && f.n > 0;
        if ((op == AC_L_FOR || op == AC_L_IF) && f.n == DEPTH)
            break;
        if (op == AC_L_FOR || op == AC_L_IF)
            f.loop[f.n++] = x;
        accesses(&f, x);
    }
    for (int32_t b = 0; b < n; b++)
        if (x < p->fn->code.n || f.other[b] || (out[b].base && f.first[b] && f.first[b] < f.last[b]))
            out[b] = (ac_copied){0};
}
