/* inline_values.c - selects the values that need no name. A value with one use is printed there if that does not change
 * the result: both positions must be in the same loop (else it would be recomputed in each iteration); a LOAD must not
 * move across a STORE or the border of a block, nor a GET across a SET of its variable.
 *
 *     %4 = load f32 x[%3]        const float x0 = x[i];         used twice: named
 *     %5 = mul f32 %4 %4
 *     store y[%3] %5             y[i] = x0 * x0;                used once: printed in place */
#include "codegen/c/printer.h"
#include "codegen/dsp/rows.h"
#include "ir/loop/builder.h"
#include "ir/loop/halves.h"
#include "codegen/nests.h"

/* An operand that uses a value */
typedef struct ref {
    int32_t next; /* the next user of the same value; 0: none */
    ac_x user;
    int32_t copies; /* how often the text of the operand appears in the text of the user */
} ref;

typedef struct plan {
    const ac_loop_fn *fn;
    ac_cuse *use;
    int32_t *first;   /* value -> first ref */
    AC_VEC(ref) refs; /* from 1 on */
    ac_rows **row;    /* ac_c_find_rows */
    ac_region *region;
    int32_t *barrier; /* blocks and stores before instruction i */
    int32_t *blocks;  /* only blocks: for constants, which stores cannot change */
    int32_t *end;     /* of FOR */
    int32_t *set;     /* variable -> its last SET; instruction SET -> the SET before it */
} plan;

static int32_t copies_of(const ac_loop_fn *fn, const ac_target *t, const ac_ins *user, int operand)
{
    const ac_lop op = (ac_lop)user->op;
    const bool one = user->lanes <= 1;
    if (op == AC_L_MIN || op == AC_L_MAX)
        return one ? 2 : 1;
    if (op == AC_L_ABS)
        return one && !ac_dtype_is_float((ac_dtype)user->dtype) ? 2 : 1;
    if (op == AC_L_SATCAST && ac_c_sat_is_call(fn, t, user))
        return 1;
    if (op == AC_L_SATCAST)
        return one && !ac_dtype_is_float((ac_dtype)fn->code.item[user->a].dtype) ? 2 : 1;
    if (op == AC_L_FOR) /* the end is tested again each time */
        return operand == 1 ? 2 : 1;
    if (op == AC_L_SHUFFLE)
        return user->b ? 1 : 2;
    return op == AC_L_LANE ? 2 : 1;
}

static bool is_value(const ac_ins *in)
{
    return ac_lop_class((ac_lop)in->op) == 'V';
}

/* The operand of two instructions that are printed as one; 0: x is printed separately. */
static ac_x read_through(const ac_loop_fn *fn, const ac_target *t, ac_x x)
{
    bool odd;
    int32_t bits;
    if (!ac_target_halves(t))
        return ac_c_rounded(fn, t, x);
    const ac_x word = ac_halves_widened(fn, x, &odd);
    return word ? word : ac_halves_clamped(fn, x, &bits);
}

/* In a loop that is one call, and not needed before it. */
static bool is_dropped(const plan *p, ac_x x)
{
    return p->row && p->row[x] && !ac_c_rows_at(p->row, x) && !p->row[x]->needed[x];
}

static void add_user(plan *p, ac_x value, ac_x user, int32_t copies)
{
    const ref one = {p->first[value], user, copies};
    if (!value)
        return;
    p->first[value] = p->refs.n;
    ac_push(p->region, &p->refs, one);
}

static void add_users(plan *p, const ac_target *t, ac_x i)
{
    const ac_ins *in = &p->fn->code.item[i];
    const ac_x whole = read_through(p->fn, t, i);
    const ac_x operand[3] = {whole ? whole : in->a, whole ? 0 : in->b, in->c};
    for (int k = 0; k < 3; k++)
        add_user(p, operand[k], i, whole ? 1 : copies_of(p->fn, t, in, k));
}

static void add_nest_users(plan *p, const ac_nest *n)
{
    for (int32_t k = 0; k < AC_NEST_ARGS; k++)
        for (const ac_x *x = n->arg[k].term; *x; x++)
            add_user(p, *x > 0 ? *x : -*x, n->end, 1);
}

/* Loops, barriers, SETs of each variable, users of each value. */
static void survey(plan *p, const ac_target *t)
{
    const ac_loop_fn *fn = p->fn;
    int32_t n = fn->code.n, loop = 0;
    AC_VEC(int32_t) open = {0};
    ac_nest nest = {0};
    for (ac_x i = 1; i < n; i++) {
        const ac_ins *in = &fn->code.item[i];
        const ac_rows *call = ac_c_rows_at(p->row, i);
        p->barrier[i + 1] = p->barrier[i] + (call != NULL);
        p->blocks[i + 1] = p->blocks[i];
        p->use[i].loop = loop;
        if (call) {
            ac_x value[AC_ROWS_VALUES];
            for (int32_t k = ac_rows_values(call, value) - 1; k >= 0; k--)
                add_user(p, value[k], i, 2);
        }
        if (call || is_dropped(p, i))
            continue;
        bool block = in->op == AC_L_FOR || in->op == AC_L_IF || in->op == AC_L_ELSE || in->op == AC_L_END;
        if (in->op == AC_L_END) {
            ac_x head = open.item[--open.n];
            if (fn->code.item[head].op == AC_L_FOR) {
                p->end[head] = i;
                loop = p->use[head].loop;
            }
        }
        p->use[i].loop = loop;
        p->barrier[i + 1] =
            p->barrier[i] + (block || ac_lop_stores((ac_lop)in->op) || in->op == AC_L_MMA || in->op == AC_L_TILE);
        p->blocks[i + 1] = p->blocks[i] + block;
        if (in->op == AC_L_FOR || in->op == AC_L_IF)
            ac_push(p->region, &open, i);
        if (in->op == AC_L_FOR)
            loop = i;
        if (in->op == AC_L_SET) {
            p->set[i] = p->set[in->aux];
            p->set[in->aux] = i;
        }
        if (i < nest.end) /* only its arguments are used */
            continue;
        if (ac_nest_find(fn, i, &nest))
            add_nest_users(p, &nest);
        else
            add_users(p, t, i);
    }
}

static bool inside(const plan *p, ac_x loop, ac_x x)
{
    return loop < x && x < p->end[loop];
}

/* True if variable `var` has the same value at `at` as at `x` (x <= at). */
static bool same_reading(const plan *p, ac_x x, int32_t var, ac_x at)
{
    for (int32_t s = p->set[var]; s; s = p->set[s])
        if (x < s && s < at)
            return false;
    for (ac_x loop = p->use[at].loop; loop && !inside(p, loop, x); loop = p->use[loop].loop)
        for (int32_t s = p->set[var]; s; s = p->set[s])
            if (inside(p, loop, s))
                return false;
    return true;
}

static bool may_join(const plan *p, ac_x x)
{
    const ac_ins *in = &p->fn->code.item[x];
    if (in->op == AC_L_CONST)
        return true;
    int32_t copies = 0;
    for (int32_t k = p->first[x]; k; k = p->refs.item[k].next) {
        const ref *u = &p->refs.item[k];
        if (!p->use[u->user].live)
            continue;
        ac_x at = p->use[u->user].at;
        copies += u->copies;
        if (in->op == AC_L_GET) {
            if (!same_reading(p, x, in->aux, at) || p->fn->code.item[u->user].op == AC_L_FOR)
                return false;
            continue;
        }
        if (copies > 1 || p->use[x].loop != p->use[at].loop)
            return false;
        if (in->op == AC_L_LOAD) {
            const int32_t *passed = p->fn->buf.item[in->aux].role == AC_BUF_CONST ? p->blocks : p->barrier;
            if (passed[at] != passed[x + 1])
                return false;
        }
    }
    return true;
}

ac_cuse *ac_c_inline_plan(const ac_loop_fn *fn, const ac_target *t, ac_rows **row, ac_region *r)
{
    int32_t n = fn->code.n;
    plan p = {.fn = fn, .use = AC_NEW_N(r, ac_cuse, n), .row = row, .region = r};
    p.first = AC_NEW_N(r, int32_t, n);
    ac_push(r, &p.refs, (ref){0});
    p.barrier = AC_NEW_N(r, int32_t, n + 1);
    p.blocks = AC_NEW_N(r, int32_t, n + 1);
    p.end = AC_NEW_N(r, int32_t, n);
    p.set = AC_NEW_N(r, int32_t, n);
    survey(&p, t);
    bool *read = AC_NEW_N(r, bool, n); /* variables that are read */
    for (ac_x i = 1; i < n; i++)
        if (fn->code.item[i].op == AC_L_GET)
            read[fn->code.item[i].aux] = true;
    for (ac_x i = n - 1; i > 0; i--) {
        const ac_ins *in = &fn->code.item[i];
        ac_cuse *u = &p.use[i];
        u->at = i;
        if (is_dropped(&p, i))
            continue;
        if (!is_value(in)) {
            u->live = in->op == AC_L_VAR ? read[i] : in->op == AC_L_SET ? read[in->aux] : true;
            continue;
        }
        ac_x at = 0;
        for (int32_t k = p.first[i]; k; k = p.refs.item[k].next) {
            u->live |= p.use[p.refs.item[k].user].live;
            if (p.use[p.refs.item[k].user].live)
                at = p.use[p.refs.item[k].user].at;
        }
        u->join = u->live && may_join(&p, i);
        if (u->join && at)
            u->at = at;
    }
    return p.use;
}
