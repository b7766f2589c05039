/* what_if.c - reruns the loop of plan.c with one more reduction enabled, and reports the size. */
#include "planner/graph/planned.h"

#include "base/sink.h"
#include "base/vec.h"

typedef struct fix {
    const char *option, *what;
    ac_reductions own, all; /* its own, and with those it enables */
} fix;

#define WITH(id) AC_REDUCE(id)
static const fix FIXES[] = {
#define REDUCTION(id, option, what, with, fn) {option, what, AC_REDUCE(id), AC_REDUCE(id) | (with)},
#include "planner/graph/reductions.def"
#undef REDUCTION
};
#undef WITH
/* Worth a line only where neither of them alone does it. */
static const fix BOTH = {"--schedule search --stripe auto", "both", AC_REDUCE(ORDER) | AC_REDUCE(STRIPE),
                         AC_REDUCE(ORDER) | AC_REDUCE(STRIPE) | AC_REDUCE(OVERLAP)};

enum { N_FIXES = AC_REDUCTION_COUNT + 1 };

/* Row by row, but BOTH after the two that it is made of, and ROWS last, since there the caller has to do something. */
static const fix *fix_at(int k)
{
    if (k < AC_REDUCTION_COUNT - 1)
        return &FIXES[k + (k >= AC_REDUCE_ROWS)];
    return k < N_FIXES - 1 ? &BOTH : &FIXES[AC_REDUCE_ROWS];
}

/* True if it is compatible with the enabled reductions and adds one. */
static bool is_new(const ac_plan_how *how, const fix *f)
{
    const ac_reductions rows = AC_REDUCE(STRIPE) | AC_REDUCE(ROWS), asked = how->reductions;
    if (f->own & asked || f->own == AC_REDUCE(CHECKPOINT)) /* a budget enables it, for training */
        return false;
    if (f->own == AC_REDUCE(RECOMPUTE))
        return !(asked & rows);
    return f->own != AC_REDUCE(ROWS) || !how->stripes;
}

/* The arena with the fix, or -1 if there is no such plan. Discards all diagnostics, warnings as well. */
static ac_bytes try_fix(ac_ctx *cx, const ac_plan_how *how, const fix *f)
{
    ac_plan_how other = *how;
    const ac_diags before = cx->diags;
    ac_planned *p;
    other.reductions |= f->all;
    const int status = ac_plan_graph(cx, &other, &p);
    const ac_bytes bytes = status == AC_OK ? p->plan.arena_bytes : -1;
    ac_quietly(cx, before, AC_FAIL);
    ac_planned_free(p);
    return bytes;
}

/* True if a trial takes long, or its plan is for another budget than the requested one. */
static bool searches(const ac_plan_how *how)
{
    return how->reductions & AC_REDUCE(CHECKPOINT);
}

/* Can anything be tried at all? */
static bool may_try(const ac_plan_how *how, const ac_planned *now)
{
    return !how->live.whole && !how->live.preserve_all && now->live->problem.n_mems <= 2 &&
           how->target->isa != AC_ISA_CUDA;
}

int32_t ac_plan_what_if(ac_ctx *cx, const ac_plan_how *how, const ac_planned *now, bool try, ac_region *region,
                        const ac_what_if **list)
{
    AC_VEC(ac_what_if) found = {0};
    ac_bytes best = now->plan.arena_bytes;
    try = try && !searches(how);
    for (int k = 0; k < N_FIXES && may_try(how, now); k++) {
        const fix *f = fix_at(k);
        if (!is_new(how, f))
            continue;
        const ac_bytes bytes = try ? try_fix(cx, how, f) : -1;
        if (try && (bytes < 0 || bytes >= best))
            continue;
        if (try || f != &BOTH)
            ac_push(region, &found, ((ac_what_if){f->option, f->what, bytes}));
        best = try ? bytes : best;
    }
    *list = found.item;
    return found.n;
}

/* The names alone. Are there any? */
static bool help_untried(ac_ctx *cx, const ac_plan_how *how, const ac_planned *now)
{
    const char *names = "";
    for (int k = 0; k < N_FIXES && !searches(how) && may_try(how, now); k++)
        if (is_new(how, fix_at(k)) && fix_at(k) != &BOTH)
            names = ac_strf(cx->region, "%s%s%s", names, *names ? ", " : "", fix_at(k)->option);
    if (*names)
        ac_help(cx, "it may take less with %s; -v tries them, which takes a while for a model of this size", names);
    return *names;
}

/* A reduction stops where the budget is kept, so a stronger one may take no less than one before it: that one does. */
bool ac_plan_help(ac_ctx *cx, const ac_plan_how *how, const ac_planned *now, bool try)
{
    const ac_bytes budget = ac_plan_budget(how, now);
    if (!try)
        return help_untried(cx, how, now);
    ac_bytes best = now->plan.arena_bytes;
    for (int k = 0; k < N_FIXES && budget >= 0 && !searches(how) && may_try(how, now); k++) {
        const fix *f = fix_at(k);
        const bool rows = f->own == AC_REDUCE(ROWS);
        if (!is_new(how, f) || (rows && best <= budget))
            continue;
        const ac_bytes bytes = try_fix(cx, how, f);
        if (bytes < 0 || bytes >= best)
            continue;
        ac_help(cx, "%s takes %s B%s%s", f->option, ac_commas(cx, bytes), bytes <= budget ? "" : ", still too much",
                rows ? ac_strf(cx->region, "; %s", f->what) : "");
        best = bytes;
    }
    return best <= budget;
}
