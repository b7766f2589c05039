/* computed.c - constants that loops compute instead of loading them; see computed.h. */
#include "ir/lower/node/computed.h"

#include "ir/loop/access/traffic.h"
#include "ir/loop/loads.h"
#include "ir/lower/recipe/origin.h"
#include "ir/lower/recipe/recipe.h"

enum { READS = 4 }; /* of an element: with vectors, one that is read more often is loaded */

static const char NOT_HERE[] = "a vector would need elements of several rows, or its index would have to be divided",
                  NOT_LOADS[] = "its step does not read it element by element",
                  TOO_OFTEN[] = "loops with vectors read each element several times";

typedef struct job {
    ac_lower *L;
    const ac_loop_fn *fn;
    ac_tensor **pick; /* by buffer: the constant to compute; else NULL */
    bool failed;      /* one of them cannot be computed, and was taken out of pick */
} job;

static ac_x value_of(void *with, ac_x x, const ac_ins *load, const ac_x *map)
{
    job *j = with;
    ac_lb *b = &j->L->b;
    ac_tensor *t = j->pick[load->aux];
    if (!t)
        return 0;
    if (load->op == AC_L_PREFETCH)
        return load->a;
    const ac_spot at = ac_spot_of(b, j->fn, map, j->fn->code.item[x].a, load->lanes);
    const ac_x v = ac_recipe_value(j->L, t, &at);
    if (v && ac_lb_dtype(b, v) == (ac_dtype)load->dtype && ac_lb_lane_count(b, v) == load->lanes)
        return v;
    j->L->out->arg.item[load->aux].konst->why = NOT_HERE;
    j->pick[load->aux] = NULL;
    j->failed = true;
    return 0;
}

/* How often elements of the buffer are read. */
static double reads_of(const ac_loop_fn *fn, int32_t buf)
{
    double times[64] = {1}, sum = 0;
    int32_t depth = 0;
    for (int32_t x = 1; x < fn->code.n && depth < 63; x++) {
        const ac_ins *i = &fn->code.item[x];
        bool known = false;
        const int64_t n = i->op == AC_L_FOR ? ac_loop_trips(fn, x, &known) : 1;
        if (i->op == AC_L_FOR || i->op == AC_L_IF)
            times[depth + 1] = times[depth] * (known ? (double)n : 1), depth++;
        else if (i->op == AC_L_END)
            depth--;
        else if (i->op == AC_L_LOAD && i->aux == buf)
            sum += times[depth] * i->lanes;
    }
    return sum;
}

/* Loops with vectors are for speed: a constant that is read again and again is stored as it is read. */
static bool pays(const ac_lower *L, const ac_loop_fn *fn, int32_t buf, const ac_tensor *t)
{
    const int64_t size = ac_tensor_count(t), results = ac_tensor_count(ac_node_result(L->node));
    return !L->target->vec_bytes || t->splat ||
           reads_of(fn, buf) <= (double)READS * (double)(size > results ? size : results);
}

static bool may_compute(const ac_lower *L, const ac_loop_fn *fn, int32_t i)
{
    const ac_arg *a = &L->out->arg.item[i];
    const ac_tensor *t = a->kind == AC_ARG_CONST ? a->konst->source : NULL;
    const bool saves = t && ac_recipe_saves(t);
    if (t)
        a->konst->why = !saves                       ? ac_origin_why_stored(L->region, t)
                        : !ac_loop_only_loads(fn, i) ? NOT_LOADS
                        : !pays(L, fn, i, t)         ? TOO_OFTEN
                                                     : NULL;
    return saves && !a->konst->why;
}

void ac_lo_computed(ac_lower *L)
{
    ac_loop_fn *const fn = L->out->fn;
    const int32_t args = L->out->arg.n;
    job j = {.L = L, .fn = fn, .failed = true};
    for (int32_t i = 0; i < args && !fn->call; i++) {
        if (!may_compute(L, fn, i))
            continue;
        if (!j.pick)
            j.pick = AC_NEW_N(L->region, ac_tensor *, fn->buf.n);
        j.pick[i] = L->out->arg.item[i].konst->source;
    }
    while (j.pick && j.failed) {
        j.failed = false;
        L->out->arg.n = args;
        ac_loop_reload(L->cx, &L->b, fn, value_of, &j);
        L->out->fn = ac_lb_close(&L->b);
    }
}
