/* work.c - opening, guarding and closing compilations, and variants of them; see work.h. */
#include "driver/request/work.h"
#include "driver/request/memory.h"

#include <stdlib.h>

/* ------------------------------------------------------------------ guards */

typedef struct guarded {
    ac_work *w;
    ac_work_fn *f;
    void *arg;
    int status;
} guarded;

static void run_guarded(void *arg)
{
    guarded *g = arg;
    g->status = g->f(g->w, g->arg);
}

int ac_guard(ac_work *w, ac_work_fn *f, void *arg)
{
    guarded g = {w, f, arg, AC_FAIL};
    const ac_made before = w->made;
    if (!ac_heap_guard(&w->cx.heap, run_guarded, &g)) {
        w->made = before;                      /* values of the stage may be in regions that are closed now */
        if (w->parent && w->cx.heap.exhausted) /* the parent would lack the memory as well */
            ac_heap_exhausted(&w->parent->cx.heap);
        return ac_no_memory(&w->cx, w->source.path);
    }
    if (g.status != AC_OK && !w->cx.diags.errors) /* every failure has a message */
        ac_error(&w->cx, (ac_place){.file = w->source.path}, E0901, "a stage failed and did not say why");
    return g.status;
}

/* ------------------------------------------------------------------ opening and closing */

/* Without --max-memory: four fifths of the memory that this process may use. */
static size_t memory_limit(const ac_work *w)
{
    const ac_options *o = &w->opt;
    if (w->memory_here && !o->given[AC_OPT_max_memory].n)
        return w->memory_here / 5 * 4;
    return (uint64_t)o->max_memory < SIZE_MAX ? (size_t)o->max_memory : SIZE_MAX;
}

void ac_work_limits(ac_work *w)
{
    w->cx.heap.limit = memory_limit(w);
    w->cx.diags.werror = w->opt.werror;
    w->cx.diags.limit = w->opt.max_errors > 0 ? (int32_t)w->opt.max_errors : 0;
}

static int start_stage(ac_work *w, void *arg)
{
    (void)arg;
    ac_ctx_start(&w->cx);
    ac_options_open(&w->opt, &w->cx);
    w->memory_here = w->parent ? w->parent->memory_here : ac_memory_here("");
    w->cx.heap.limit = memory_limit(w);
    w->request = (ac_request){.opt = &w->opt, .stated = &w->opt};
    w->made = (ac_made){.cx = &w->cx,
                        .opt = &w->opt,
                        .request = &w->request,
                        .source = &w->source,
                        .inputs = &w->inputs,
                        .out = &w->out,
                        .owner = w,
                        .evaluator = &w->evaluator};
    w->out.cx = &w->cx;
    return AC_OK;
}

int ac_work_start(ac_work *w)
{
    ac_ctx_open(&w->cx);
    w->cx.progress = &w->progress;
    return ac_guard(w, start_stage, NULL);
}

static void close_inputs(ac_inputs *in)
{
    for (int32_t i = 0; i < in->n; i++)
        if (in->given[i])
            ac_npy_close(&in->array[i]);
    *in = (ac_inputs){0};
}

void ac_work_end(ac_work *w)
{
    while (w->child)
        ac_work_close(w->child);
    ac_session_close(&w->session);
    ac_session_close(&w->evaluator);
    close_inputs(&w->inputs);
    ac_file_close(&w->source.file);
    ac_file_close(&w->source.weights);
    ac_ctx_close(&w->cx);
}

int ac_work_exit(const ac_work *w)
{
    const int status = (int)ac_diags_exit(&w->cx.diags);
    return status || !w->changed ? status : AC_EXIT_CHANGED;
}

/* ------------------------------------------------------------------ variants */

static int inherit_stage(ac_work *one, void *arg)
{
    const ac_variant *as = arg;
    ac_options_inherit(&one->opt, &one->parent->opt, *as);
    ac_work_limits(one);
    return AC_OK;
}

ac_work *ac_work_like(ac_work *w, ac_variant as)
{
    ac_work *one = calloc(1, sizeof *one);
    if (!one)
        ac_heap_exhausted(&w->cx.heap);
    one->parent = w;
    one->sibling = w->child;
    w->child = one;
    if (ac_work_start(one) != AC_OK || ac_guard(one, inherit_stage, &as) != AC_OK)
        ac_heap_exhausted(&w->cx.heap);
    one->cx.progress = w->cx.progress;
    one->cx.lender = &w->cx;
    return one;
}

void ac_work_close(ac_work *variant)
{
    if (!variant)
        return;
    for (ac_work **p = &variant->parent->child; *p; p = &(*p)->sibling)
        if (*p == variant) {
            *p = variant->sibling;
            break;
        }
    ac_work_end(variant);
    free(variant);
}

void ac_work_diags(ac_work *w, const ac_work *variant)
{
    ac_diags_copy(&w->cx, &variant->cx.diags);
}

void ac_work_take_diags(ac_work *w, ac_work *variant)
{
    ac_work_diags(w, variant);
    variant->cx.diags = (ac_diags){.werror = w->cx.diags.werror, .limit = w->cx.diags.limit};
}
