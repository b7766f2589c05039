/* nests.c - recognises loops marked nest; see nests.h. */
#include "codegen/nests.h"

#include "ir/loop/builder.h"

enum { NOT_FOUND = -1, MOST_REQUANTS = 2 };

typedef struct finder {
    const ac_loop_fn *fn;
    ac_x outer, inner;
} finder;

static const ac_ins *ins(const finder *f, ac_x x)
{
    return &f->fn->code.item[x];
}

static bool depends(const finder *f, ac_x x, ac_x var)
{
    const ac_ins *i = ins(f, x);
    return x == var || (x > f->outer && i->op != AC_L_CONST && i->op != AC_L_FOR &&
                        ((i->a && depends(f, i->a, var)) || (i->b && depends(f, i->b, var))));
}

/* Appends the value of x in the first iteration of both loops, which begin at 0, times `sign`. */
static bool collect(const finder *f, ac_x x, int32_t sign, ac_nest_value *v)
{
    const ac_ins *i = ins(f, x);
    int32_t n = 0;
    while (v->term[n])
        n++;
    if (x == f->outer || x == f->inner || (i->op == AC_L_CONST && i->k.i == 0))
        return true;
    if (x < f->outer || i->op == AC_L_CONST) {
        v->term[n] = n < AC_NEST_TERMS ? sign * x : 0;
        return n < AC_NEST_TERMS;
    }
    if (i->op == AC_L_ADD || i->op == AC_L_SUB)
        return collect(f, i->a, sign, v) && collect(f, i->b, i->op == AC_L_ADD ? sign : -sign, v);
    ac_nest_value a = {{0}}, b = {{0}};
    return i->op == AC_L_MUL && ((collect(f, i->a, 1, &a) && !a.term[0]) || (collect(f, i->b, 1, &b) && !b.term[0]));
}

/* The value of x in the first iteration. */
static bool first_of(const finder *f, ac_x x, ac_nest_value *v)
{
    *v = (ac_nest_value){{0}};
    return collect(f, x, 1, v);
}

/* The growth of x with each iteration of a loop. 0: by 1 */
static ac_x growth_of(const finder *f, ac_x x, ac_x var)
{
    const ac_ins *i = ins(f, x);
    if (x == var)
        return 0;
    if (!depends(f, x, var))
        return NOT_FOUND;
    if (i->op == AC_L_ADD || (i->op == AC_L_SUB && depends(f, i->a, var)))
        return depends(f, i->a, var) ? growth_of(f, i->a, var) : growth_of(f, i->b, var);
    if (i->op != AC_L_MUL)
        return NOT_FOUND;
    if (i->a != var && i->b != var)
        return NOT_FOUND;
    const ac_x by = i->a == var ? i->b : i->a;
    return by < f->outer || ins(f, by)->op == AC_L_CONST ? by : NOT_FOUND;
}

static bool take_growth(const finder *f, ac_x x, ac_x var, ac_nest_value *v)
{
    const ac_x by = growth_of(f, x, var);
    v->term[0] = by > 0 ? by : 0;
    return by != NOT_FOUND;
}

/* The instructions of a body that are not values: TILE, REQUANTs, END, END. */
static bool find_parts(const finder *f, ac_x *tile, ac_x *requant, int32_t *n, ac_x *end)
{
    ac_x x = f->inner + 1;
    *tile = 0;
    *n = 0;
    for (; ins(f, x)->op != AC_L_END; x++) {
        const ac_ins *i = ins(f, x);
        if (i->op == AC_L_TILE && !*tile)
            *tile = x;
        else if (i->op == AC_L_REQUANT && *tile && *n < MOST_REQUANTS)
            requant[(*n)++] = x;
        else if (ac_lop_class((ac_lop)i->op) != 'V')
            return false;
    }
    while (ac_lop_class((ac_lop)ins(f, ++x)->op) == 'V')
        ;
    *end = x;
    return *tile && *n && ins(f, x)->op == AC_L_END;
}

static bool is_rows(const finder *f, const ac_nest *n, const ac_x *requant, int32_t count)
{
    bool same = n->tile.form == AC_TILE_BYTES && n->tile.channels == 8 && n->tile.rows == count;
    for (int32_t r = 0; r < count; r++) {
        const ac_requants q = ac_ins_requant(ins(f, requant[r]));
        same &= q.row == r && q.lanes == 8 && q.y == n->q.y && q.table == n->q.table && q.acc == n->tile.acc;
    }
    return same && ins(f, f->inner)->k.i == 8 && (ins(f, f->outer)->k.i == count || ins(f, f->outer)->k.i == 1);
}

static bool is_spots(const finder *f, const ac_nest *n)
{
    return n->tile.form == AC_TILE_EACH && n->tile.rows == 1 && n->tile.channels == 4 && n->tile.depth == 16 &&
           n->q.lanes == 4 && n->q.row == 0 && n->q.acc == n->tile.acc && ins(f, f->inner)->k.i == 1 &&
           ins(f, f->outer)->k.i == 1;
}

/* ------------------------------------------------------------------ sums */

static bool is_number(const finder *f, ac_x x)
{
    const ac_ins *i = ins(f, x);
    return i->op == AC_L_CONST && i->lanes == 1;
}

/* A term of a sum: a number, or a byte times a number. */
static bool take_term(const finder *f, ac_x x, ac_nest *n, int32_t *bytes)
{
    const ac_ins *i = ins(f, x);
    if (is_number(f, x)) {
        n->sum.c += i->k.i;
        return true;
    }
    if (i->op == AC_L_ADD)
        return take_term(f, i->a, n, bytes) && take_term(f, i->b, n, bytes);
    int64_t by = 1;
    if (i->op == AC_L_MUL && (is_number(f, i->a) || is_number(f, i->b))) {
        const bool first = is_number(f, i->a);
        by = ins(f, first ? i->a : i->b)->k.i;
        i = ins(f, first ? i->b : i->a);
    }
    const ac_ins *load = i->op == AC_L_CAST && i->dtype == AC_I32 ? ins(f, i->a) : i;
    if (load->op != AC_L_LOAD || load->dtype != AC_I8 || load->lanes != 1 || *bytes == 2)
        return false;
    const bool second = (*bytes)++;
    *(second ? &n->sum.b : &n->sum.a) = load->aux;
    *(second ? &n->sum.mb : &n->sum.ma) = by;
    return first_of(f, load->a, &n->arg[second ? AC_NEST_W : AC_NEST_X]) && growth_of(f, load->a, f->outer) == 0;
}

/* Every sum, and what narrowing takes off before it rounds, must fit a word. */
static bool fits_word(const ac_nest_sum *s)
{
    const int64_t a = s->ma < 0 ? -s->ma : s->ma, b = s->mb < 0 ? -s->mb : s->mb, most = 128 * (a + b);
    return most + s->c <= INT32_MAX && -most + s->c - ((int64_t)2 << s->post) >= INT32_MIN;
}

static bool find_sum(finder *f, ac_nest *n)
{
    enum { LEAST = 2, MOST = 24 }; /* two narrowing shifts */
    ac_x x = f->outer + 1, store = 0;
    int32_t bytes = 0;
    for (; ins(f, x)->op != AC_L_END; x++) {
        const ac_ins *i = ins(f, x);
        if (i->op == AC_L_STORE && !store)
            store = x;
        else if (ac_lop_class((ac_lop)i->op) != 'V')
            return false;
    }
    const ac_ins *s = ins(f, store), *sat = ins(f, s->b), *shr = ins(f, sat->a);
    *n = (ac_nest){.form = AC_NEST_SUMS, .sum.y = s->aux};
    if (!store || s->dtype != AC_I8 || sat->op != AC_L_SATCAST || sat->lanes != 1 || shr->op != AC_L_SHR ||
        shr->dtype != AC_I32 || !is_number(f, shr->b) || !is_number(f, ins(f, f->outer)->b) ||
        ins(f, ins(f, f->outer)->b)->k.i % 8 || ins(f, f->outer)->k.i != 1)
        return false;
    n->sum.post = ins(f, shr->b)->k.i;
    if (!take_term(f, shr->a, n, &bytes) || bytes != 2 || growth_of(f, s->a, f->outer) != 0 || n->sum.post < LEAST ||
        n->sum.post > MOST || !fits_word(&n->sum))
        return false;
    const bool found =
        first_of(f, s->a, &n->arg[AC_NEST_Y]) && first_of(f, ins(f, f->outer)->b, &n->arg[AC_NEST_INNER]);
    n->end = found ? x : 0;
    return found;
}

/* ------------------------------------------------------------------ tiles */

static bool find_tile(const ac_loop_fn *fn, ac_x x, ac_nest *n)
{
    finder f = {fn, x, x + 1};
    *n = (ac_nest){0};
    while (ac_lop_class((ac_lop)ins(&f, f.inner)->op) == 'V')
        f.inner++;
    ac_x tile, requant[MOST_REQUANTS];
    int32_t count;
    ac_x end;
    if (!ac_is_nest(fn, f.inner) || !find_parts(&f, &tile, requant, &count, &end))
        return false;
    const ac_ins *t = ins(&f, tile), *q = ins(&f, requant[0]);
    n->tile = ac_ins_tile(t);
    n->q = ac_ins_requant(q);
    n->shared = !depends(&f, q->b, f.inner);
    const bool whole = n->q.lo == INT8_MIN && n->q.hi == INT8_MAX;
    const bool rows = is_rows(&f, n, requant, count), spots = count == 1 && is_spots(&f, n);
    if (!whole || (!rows && !spots))
        return false;
    const ac_x first[] = {[AC_NEST_X] = t->a,
                          [AC_NEST_W] = t->b,
                          [AC_NEST_M] = q->b,
                          [AC_NEST_BIAS] = q->c,
                          [AC_NEST_Y] = q->a,
                          [AC_NEST_Y_NEXT] = ins(&f, requant[count - 1])->a,
                          [AC_NEST_OUTER] = ins(&f, x)->b,
                          [AC_NEST_INNER] = ins(&f, f.inner)->b,
                          [AC_NEST_STEPS] = t->c};
    bool found = true;
    n->form = rows ? AC_NEST_ROWS : AC_NEST_SPOTS;
    n->turns = rows && ins(&f, x)->k.i == 1;
    for (int32_t k = 0; k < (int32_t)(sizeof first / sizeof *first); k++)
        found &= first_of(&f, first[k], &n->arg[k]);
    if (spots)
        found &= take_growth(&f, t->a, f.outer, &n->arg[AC_NEST_X_OUTER]) &&
                 take_growth(&f, q->a, f.outer, &n->arg[AC_NEST_Y_OUTER]) &&
                 take_growth(&f, q->a, f.inner, &n->arg[AC_NEST_Y_INNER]);
    n->end = found ? end : 0;
    return found;
}

bool ac_nest_find(const ac_loop_fn *fn, ac_x x, ac_nest *n)
{
    finder f = {fn, x, 0};
    if (fn->code.item[x].op != AC_L_FOR)
        return false;
    return (ac_is_nest(fn, x) && find_sum(&f, n)) || find_tile(fn, x, n);
}
