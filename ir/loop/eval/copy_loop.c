/* copy_loop.c - recognises loops that only move elements; see copy_loop.h. */
#include "ir/loop/eval/copy_loop.h"

#include "ir/loop/builder.h"

/* The known steps of the values of a loop's body. */
typedef struct body {
    const ac_ins *code;
    const ac_selected *s;
    ac_x loop;
    int64_t *step; /* by position - loop: how much a value grows from one iteration to the next */
} body;

static int64_t step_of(const body *b, ac_x x)
{
    return x == b->loop ? b->code[x].k.i : x < b->loop ? 0 : b->step[x - b->loop];
}

static bool small(int64_t v)
{
    return v >= -INT32_MAX && v <= INT32_MAX;
}

/* How much a * c grows per iteration; false: not by a constant. */
static bool product(const body *b, ac_x x, ac_x y, int64_t *step)
{
    const int64_t p = step_of(b, x), q = step_of(b, y);
    if (p && q)
        return false;
    const ac_ins *k = &b->code[p ? y : x];
    if ((p || q) && (k->op != AC_L_CONST || !small(k->k.i) || !small(p + q)))
        return false;
    *step = p || q ? (p + q) * k->k.i : 0;
    return true;
}

/* The same for any value of the body. */
static bool grows(body *b, ac_x x)
{
    const ac_ins *i = &b->code[x];
    int64_t *step = &b->step[x - b->loop];
    if (b->s[x].how == AC_HOW_MULADD) {
        if (!product(b, i->a, i->b, step))
            return false;
        *step += step_of(b, i->c);
    } else if (i->op == AC_L_ADD) {
        *step = step_of(b, i->a) + step_of(b, i->b);
    } else if (i->op == AC_L_SUB) {
        *step = step_of(b, i->a) - step_of(b, i->b);
    } else if (i->op == AC_L_MUL) {
        return product(b, i->a, i->b, step);
    } else {
        *step = 0;
        return ac_lop_class((ac_lop)i->op) == 'V' && i->op != AC_L_LOAD && i->op != AC_L_VAR && i->op != AC_L_GET &&
               !step_of(b, i->a) && !step_of(b, i->b) && !step_of(b, i->c);
    }
    return i->dtype == AC_I32 && i->lanes == 1 && small(*step);
}

/* A load, or the store of the value that was loaded last. */
static bool access(const body *b, ac_x x, ac_copy_loop *c, bool *open)
{
    const ac_ins *i = &b->code[x];
    const int64_t step = step_of(b, i->a) + step_of(b, i->c);
    if (b->s[x].how != AC_HOW_PLAIN || !small(step))
        return false;
    if (i->op == AC_L_LOAD) {
        if (*open || c->n == AC_COPY_PAIRS)
            return false;
        c->load[c->n] = x;
        c->from[c->n] = step;
        *open = true;
        return true;
    }
    const ac_ins *load = &b->code[c->load[c->n]], *first = &b->code[c->load[0]];
    if (!*open || i->b != c->load[c->n] || i->dtype != load->dtype || load->dtype != first->dtype ||
        i->lanes != load->lanes || load->lanes != first->lanes)
        return false;
    c->store[c->n] = x;
    c->to[c->n++] = step;
    *open = false;
    return true;
}

static void keep(const ac_ins *code, ac_selected *s, ac_x x, ac_x end)
{
    const ac_x of[] = {code[x].a, code[x].c};
    for (int32_t k = 0; k < 2; k++)
        if (of[k] && s[s[of[k]].root].last < end)
            s[s[of[k]].root].last = end;
    s[x].how = AC_HOW_NOTHING;
}

bool ac_copy_loop_of(ac_region *r, const ac_ins *code, ac_selected *s, ac_x x, ac_copy_loop *out)
{
    enum { MOST = 64 }; /* instructions of a body */
    const ac_x end = s[x].end;
    bool open = false;
    if (code[x].k.i < 1 || end - x > MOST)
        return false;
    body b = {code, s, x, AC_NEW_N(r, int64_t, MOST + 1)};
    *out = (ac_copy_loop){.n = 0};
    for (ac_x k = x + 1; k < end; k++) {
        const bool moves = code[k].op == AC_L_LOAD || code[k].op == AC_L_STORE;
        const bool fused = s[k].how == AC_HOW_NOTHING && (code[k].op == AC_L_MUL || code[k].op == AC_L_ADD);
        if (fused || ac_ins_const(&code[k]))
            continue;
        if (s[k].how == AC_HOW_NOTHING || !(moves ? access(&b, k, out, &open) : grows(&b, k)))
            return false;
    }
    if (!out->n || open)
        return false;
    for (int32_t p = 0; p < out->n; p++) {
        for (ac_x k = x + 1; k < end; k++) /* is the value read otherwise? */
            if (k != out->store[p] && s[k].how != AC_HOW_NOTHING &&
                (code[k].a == out->load[p] || code[k].b == out->load[p] || code[k].c == out->load[p]))
                return false;
        if (s[out->load[p]].last > end)
            return false;
    }
    for (int32_t p = 0; p < out->n; p++) {
        keep(code, s, out->load[p], end);
        keep(code, s, out->store[p], end);
    }
    return true;
}
