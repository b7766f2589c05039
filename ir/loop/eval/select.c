/* select.c - selects the instructions of a function that become one instruction of bytecode. */
#include "ir/loop/builder.h"
#include "ir/loop/kernel.h"
#include "ir/loop/eval/select.h"

/* Positions of the GETs or SETs of one variable, ascending */
typedef struct var_list {
    int32_t *at, n;
    int32_t *until; /* GETs: the latest `last` of those up to here that stand for the variable */
} var_list;

typedef struct selector {
    ac_region *r;
    ac_ins *code;
    int32_t n;
    ac_selected *s;
    int32_t *uses;
    int32_t *broke;        /* position of the newest BREAK_IF before each position */
    var_list *gets, *sets; /* by variable */
} selector;

static void structure(selector *t)
{
    AC_VEC(int32_t) open = {0};
    ac_push(t->r, &open, 0);
    int32_t broke = 0;
    for (int32_t x = 1; x < t->n; x++) {
        ac_lop op = (ac_lop)t->code[x].op;
        if (op == AC_L_ELSE || op == AC_L_END) {
            int32_t o = open.item[--open.n];
            t->s[o].end = x;
            if (op == AC_L_ELSE)
                t->s[o].middle = x;
        }
        int32_t here = open.item[open.n - 1];
        t->s[x] = (ac_selected){.root = x, .block = here, .last = x};
        t->s[x].loop = t->code[here].op == AC_L_FOR ? here : t->s[here].loop;
        t->broke[x] = broke;
        if (op == AC_L_BREAK_IF)
            broke = x;
        if (ac_lop_class(op) == 'O' || op == AC_L_ELSE)
            ac_push(t->r, &open, x);
    }
    for (int32_t x = 1; x < t->n; x++) /* an IF with ELSE ends where the ELSE does */
        if (t->s[x].middle)
            t->s[x].end = t->s[t->s[x].middle].end;
}

static void alias(selector *t, ac_x x, ac_x to, uint32_t offset)
{
    t->s[x].how = AC_HOW_NOTHING;
    t->s[x].root = t->s[to].root;
    t->s[x].offset = t->s[to].offset + offset;
}

static void names(selector *t)
{
    for (int32_t x = 1; x < t->n; x++) {
        const ac_ins *i = &t->code[x], *a = &t->code[i->a];
        if (i->op == AC_L_LANE) {
            alias(t, x, i->a, (uint32_t)i->aux * (uint32_t)ac_lane_size((ac_dtype)i->dtype));
        } else if (i->op == AC_L_BITCAST) {
            alias(t, x, i->a, 0);
        } else if (i->op == AC_L_CAST && a->op == AC_L_LOAD && t->uses[i->a] == 1) {
            t->s[i->a].how = AC_HOW_LOADCAST;
            t->s[i->a].to = (ac_dtype)i->dtype;
            alias(t, x, i->a, 0);
        }
    }
}

/* a * b + c from ADD; the product is in the same block and has no other use. */
static void multiply_add(selector *t, ac_x x)
{
    ac_ins *i = &t->code[x];
    if (!ac_kernel_muladd((ac_dtype)i->dtype))
        return;
    for (int k = 0; k < 2; k++) {
        ac_x product = k ? i->a : i->b, rest = k ? i->b : i->a;
        const ac_ins *p = &t->code[product];
        if (p->op != AC_L_MUL || t->uses[product] != 1 || t->s[product].block != t->s[x].block ||
            t->s[product].how != AC_HOW_PLAIN)
            continue;
        t->s[product].how = AC_HOW_NOTHING;
        t->s[x].how = AC_HOW_MULADD;
        i->a = p->a;
        i->b = p->b;
        i->c = rest;
        return;
    }
}

/* Sums that are used as indices only, by accesses of their own block. */
static void indices(selector *t)
{
    int32_t *fits = AC_NEW_N(t->r, int32_t, t->n);
    for (int32_t x = 1; x < t->n; x++) {
        const ac_ins *i = &t->code[x];
        if ((i->op == AC_L_LOAD || i->op == AC_L_STORE) && t->s[i->a].block == t->s[x].block)
            fits[i->a]++;
    }
    for (int32_t x = 1; x < t->n; x++) {
        ac_ins *i = &t->code[x];
        if (i->op != AC_L_LOAD && i->op != AC_L_STORE)
            continue;
        ac_x sum = i->a;
        const ac_ins *p = &t->code[sum];
        if (p->op != AC_L_ADD || t->uses[sum] != fits[sum] || (t->s[sum].how != AC_HOW_PLAIN && fits[sum] > 0))
            continue;
        i->a = p->a;
        i->c = p->b;
    }
    for (int32_t x = 1; x < t->n; x++)
        if (t->code[x].op == AC_L_ADD && fits[x] && t->uses[x] == fits[x] && t->s[x].how == AC_HOW_PLAIN)
            t->s[x].how = AC_HOW_NOTHING;
}

/* A value from outside of a loop is needed until the loop ends. */
static int32_t needed_until(const selector *t, ac_x root, int32_t at)
{
    int32_t until = at;
    for (int32_t l = t->s[at].loop; l > root; l = t->s[l].loop)
        until = t->s[l].end;
    return until;
}

static void lifetimes(selector *t)
{
    for (int32_t x = 1; x < t->n; x++) {
        const ac_ins *i = &t->code[x];
        if (t->s[x].how == AC_HOW_NOTHING)
            continue;
        const ac_x use[3] = {i->a, i->b, i->c};
        for (int k = 0; k < 3; k++) {
            ac_x root = t->s[use[k]].root;
            int32_t until = use[k] ? needed_until(t, root, x) : 0;
            if (until > t->s[root].last)
                t->s[root].last = until;
        }
        if (i->op == AC_L_FOR) { /* NEXT reads the variable and the upper bound */
            ac_x hi = t->s[i->b].root;
            t->s[x].last = t->s[x].end;
            if (t->s[hi].last < t->s[x].end)
                t->s[hi].last = t->s[x].end;
        } else if (i->op == AC_L_VAR) {
            t->s[x].last = t->s[x].block ? t->s[t->s[x].block].end : t->n - 1;
        }
    }
}

/* First item of the list after position `at`, or n. */
static int32_t first_after(const var_list *l, int32_t at)
{
    int32_t lo = 0, hi = l->n;
    while (lo < hi) {
        int32_t mid = lo + (hi - lo) / 2;
        if (l->at[mid] > at)
            hi = mid;
        else
            lo = mid + 1;
    }
    return lo;
}

static void list_accesses(selector *t)
{
    t->gets = AC_NEW_N(t->r, var_list, t->n);
    t->sets = AC_NEW_N(t->r, var_list, t->n);
    for (int pass = 0; pass < 2; pass++)
        for (int32_t x = 1; x < t->n; x++) {
            const ac_ins *i = &t->code[x];
            if (i->op != AC_L_GET && i->op != AC_L_SET)
                continue;
            var_list *l = i->op == AC_L_GET ? &t->gets[i->aux] : &t->sets[i->aux];
            if (pass && !l->at) {
                l->at = AC_NEW_N(t->r, int32_t, l->n);
                l->until = AC_NEW_N(t->r, int32_t, l->n);
                l->n = 0;
            }
            if (pass)
                l->at[l->n] = x;
            l->n++;
        }
}

/* A GET whose last use comes before the next SET is the variable. */
static void name_variables(selector *t)
{
    for (int32_t x = 1; x < t->n; x++) {
        const ac_ins *i = &t->code[x];
        if (i->op != AC_L_GET)
            continue;
        var_list *gets = &t->gets[i->aux];
        const var_list *sets = &t->sets[i->aux];
        int32_t here = first_after(gets, x) - 1, next = first_after(sets, x);
        int32_t before = here ? gets->until[here - 1] : 0;
        bool same = next == sets->n || sets->at[next] >= t->s[x].last;
        gets->until[here] = same && t->s[x].last > before ? t->s[x].last : before;
        if (same) {
            t->s[x].how = AC_HOW_NOTHING;
            t->s[x].root = i->aux;
        }
    }
    for (int32_t x = 1; x < t->n; x++) /* names of such GETs */
        if (t->s[x].root != x)
            t->s[x].root = t->s[t->s[x].root].root;
}

/* True if the instruction may overwrite an operand in the variable with its result: lane by lane, with equal sizes. */
static bool writes_in_place(const selector *t, ac_x x, ac_x var)
{
    const ac_ins *i = &t->code[x];
    ac_lop op = (ac_lop)i->op;
    bool moves = op == AC_L_CAST || op == AC_L_SATCAST || op == AC_L_SHUFFLE || op == AC_L_SPLAT ||
                 op == AC_L_SUMLANES || op == AC_L_MAXLANES || op == AC_L_DOT4 || op == AC_L_DOT2;
    const ac_x use[3] = {i->a, i->b, op == AC_L_DOT4 || op == AC_L_DOT2 ? 0 : i->c};
    for (int k = 0; k < 3; k++)
        if (moves && use[k] && t->s[use[k]].root == var && t->code[var].lanes > 1)
            return false;
    return true;
}

static void compute_into_variables(selector *t)
{
    for (int32_t x = 1; x < t->n; x++) {
        const ac_ins *i = &t->code[x];
        if (i->op != AC_L_SET)
            continue;
        ac_x v = i->a, var = i->aux;
        ac_lop op = (ac_lop)t->code[v].op;
        if (ac_lop_class(op) != 'V' || op == AC_L_GET || ac_ins_const(&t->code[v]) || t->s[v].root != v ||
            t->uses[v] != 1 || t->s[v].block != t->s[x].block || var > v || t->broke[x] > v)
            continue;
        const var_list *gets = &t->gets[var], *sets = &t->sets[var];
        int32_t g = first_after(gets, v);
        if ((g < gets->n && gets->at[g] < x) || (g && gets->until[g - 1] > v) || sets->at[first_after(sets, v)] != x ||
            !writes_in_place(t, v, var))
            continue;
        t->s[v].root = var;
        t->s[x].how = AC_HOW_NOTHING;
    }
}

ac_selected *ac_select(ac_region *r, ac_ins *code, int32_t n)
{
    selector t = {.r = r,
                  .code = code,
                  .n = n,
                  .s = AC_NEW_N(r, ac_selected, n),
                  .uses = AC_NEW_N(r, int32_t, n),
                  .broke = AC_NEW_N(r, int32_t, n)};
    structure(&t);
    for (int32_t x = 1; x < n; x++) {
        t.uses[code[x].a]++;
        t.uses[code[x].b]++;
        t.uses[code[x].c]++;
    }
    names(&t);
    for (int32_t x = 1; x < n; x++)
        if (code[x].op == AC_L_ADD)
            multiply_add(&t, x);
    indices(&t);
    lifetimes(&t);
    list_accesses(&t);
    name_variables(&t);
    compute_into_variables(&t);
    return t.s;
}
