/* common.c - finds the code of a step that every chunk runs; see common.h.
 *
 * Starts with the split loops, and adds operands, the blocks around them, stores to scratch and to variables that are
 * read later, until nothing changes. Then numbers the runs of the other code. A value that is used in another run than
 * its own is computed by every chunk as well. Cost: a few scans of the code. */
#include "ir/lower/node/common.h"

#include "ir/loop/ins_fields.h"

#include <string.h>

typedef struct finder {
    const ac_cut *cut;
    int32_t *run, n_runs;
    bool *all;            /* every chunk runs it */
    ac_x *block;          /* the FOR or IF around an instruction, also of ELSE and END; 0: none */
    ac_x *reach;          /* the last store that an instruction may read: END of the outermost loop, or itself */
    ac_x *read_until;     /* by VAR: the last SET that code of every chunk may read */
    ac_x *buf_read_until; /* by scratch or local buffer: the last store */
    bool changed;
} finder;

static void find_blocks(finder *f)
{
    ac_x open = 0, outermost_end = 0;
    for (ac_x x = 1; x < f->cut->fn->code.n; x++) {
        const ac_lop op = (ac_lop)ac_cut_ins(f->cut, x)->op;
        f->block[x] = open;
        if (ac_cut_is_block(f->cut, x))
            open = x;
        if (op == AC_L_END)
            open = f->block[open];
        if (op == AC_L_FOR && x > outermost_end)
            outermost_end = f->cut->end[x];
        f->reach[x] = x > outermost_end ? x : outermost_end;
    }
}

static ac_x loop_around(const finder *f, ac_x x)
{
    do
        x = f->block[x];
    while (x && ac_cut_ins(f->cut, x)->op != AC_L_FOR);
    return x;
}

static bool is_private(const finder *f, int32_t buf)
{
    const ac_role role = f->cut->fn->buf.item[buf].role;
    return role == AC_BUF_SCRATCH || role == AC_BUF_LOCAL;
}

/* True if every chunk runs x because of code that every chunk runs. */
static bool is_needed(const finder *f, ac_x x)
{
    const ac_ins *i = ac_cut_ins(f->cut, x);
    int32_t buf[AC_INS_BUFFERS];
    switch (i->op) {
    case AC_L_FOR:
        return f->cut->split[x];
    case AC_L_ELSE:
    case AC_L_END:
        return f->all[f->block[x]];
    case AC_L_BREAK_IF:
        return f->all[loop_around(f, x)];
    case AC_L_SET:
        return x < f->read_until[i->aux];
    case AC_L_STORE:
        return is_private(f, i->aux) && x < f->buf_read_until[i->aux];
    case AC_L_MMA:
    case AC_L_TILE:
        for (int32_t n = ac_ins_buffers(i, buf) - 1; n >= 0; n--)
            if (is_private(f, buf[n]) && x < f->buf_read_until[buf[n]])
                return true;
        return false;
    default:
        return false;
    }
}

static void need(finder *f, ac_x x)
{
    f->changed |= x && !f->all[x];
    f->all[x] |= x > 0;
}

static void need_until(finder *f, ac_x *until, ac_x x)
{
    f->changed |= *until < f->reach[x];
    *until = *until > f->reach[x] ? *until : f->reach[x];
}

/* Adds the code that x needs. */
static void add_needs(finder *f, ac_x x)
{
    const ac_ins *i = ac_cut_ins(f->cut, x);
    int32_t buf[AC_INS_BUFFERS];
    need(f, i->a);
    need(f, i->b);
    need(f, i->c);
    need(f, f->block[x]);
    if (i->op == AC_L_GET || i->op == AC_L_SET)
        need(f, i->aux);
    if (i->op == AC_L_GET)
        need_until(f, &f->read_until[i->aux], x);
    for (int32_t n = i->op == AC_L_STORE ? 0 : ac_ins_buffers(i, buf); n > 0; n--)
        need_until(f, &f->buf_read_until[buf[n - 1]], x);
    if (i->op == AC_L_FOR && f->cut->split[x])
        for (ac_x y = x + 1; y <= f->cut->end[x]; y++)
            need(f, y);
}

static void add_all_needs(finder *f)
{
    do {
        f->changed = false;
        for (ac_x x = f->cut->fn->code.n - 1; x > 0; x--) {
            if (!f->all[x] && is_needed(f, x))
                need(f, x);
            if (f->all[x])
                add_needs(f, x);
        }
    } while (f->changed);
}

/* Code of chunk 0 may run after values, but not after a change of memory or of a variable that it could see. */
bool ac_common_ends_run(const ac_cut *cut, ac_x x)
{
    const ac_ins *i = ac_cut_ins(cut, x);
    switch (i->op) {
    case AC_L_FOR:
    case AC_L_IF:
    case AC_L_ELSE:
    case AC_L_SET:
    case AC_L_STORE:
    case AC_L_TILE:
    case AC_L_MMA:
        return true;
    case AC_L_LOAD:
        return cut->fn->buf.item[i->aux].role == AC_BUF_OUT;
    default:
        return false;
    }
}

static void number_runs(finder *f, ac_x begin, ac_x end)
{
    f->n_runs++;
    for (ac_x x = begin; x < end; x++) {
        const ac_x last = ac_cut_is_block(f->cut, x) ? f->cut->end[x] : x;
        const bool ends = f->all[x] && ac_common_ends_run(f->cut, x);
        if (ends && last > x)
            number_runs(f, x + 1, last);
        f->n_runs += ends;
        for (ac_x y = x; y <= last && !f->all[x]; y++)
            f->run[y] = f->n_runs;
        x = last;
    }
}

static bool share(finder *f, ac_x user, ac_x value)
{
    const bool other = value && !f->all[value] && f->run[value] != f->run[user];
    f->all[value] |= other;
    return other;
}

/* Values that are used in two runs become common code. */
static bool share_values(finder *f)
{
    bool any = false;
    for (ac_x x = 1; x < f->cut->fn->code.n; x++) {
        const ac_ins *i = ac_cut_ins(f->cut, x);
        any |= share(f, x, i->a);
        any |= share(f, x, i->b);
        any |= share(f, x, i->c);
        if (i->op == AC_L_GET || i->op == AC_L_SET)
            any |= share(f, x, i->aux);
    }
    return any;
}

const int32_t *ac_common_runs(ac_region *tmp, const ac_cut *cut)
{
    const int32_t n = cut->fn->code.n;
    finder f = {.cut = cut};
    f.run = AC_NEW_N(tmp, int32_t, n);
    f.all = AC_NEW_N(tmp, bool, n);
    f.block = AC_NEW_N(tmp, ac_x, n);
    f.reach = AC_NEW_N(tmp, ac_x, n);
    f.read_until = AC_NEW_N(tmp, ac_x, n);
    f.buf_read_until = AC_NEW_N(tmp, ac_x, cut->fn->buf.n + 1);
    find_blocks(&f);
    do {
        add_all_needs(&f);
        memset(f.run, 0, (size_t)n * sizeof *f.run);
        f.n_runs = 0;
        number_runs(&f, 1, n);
    } while (share_values(&f));
    return f.run;
}
