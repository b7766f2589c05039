/* run.c - runs the graph passes. */
#include "ir/pass/run/run.h"

#include "base/clock.h"
#include "base/progress.h"
#include "ir/pass/passes.h"

#include <string.h>

typedef bool condition(const ac_pass_options *o, const ac_graph *g);

typedef struct row {
    const char *name;
    ac_pass_fn *fn; /* NULL: the caller changes the graph */
    condition *when;
    bool reference, inside, on_request;
    uint32_t changes;
} row;

enum {
    CHANGES_SHAPES = AC_CHANGES_SHAPES,
    CHANGES_NODES = AC_CHANGES_NODES,
    CHANGES_IO = AC_CHANGES_IO,
    CHANGES_ROUNDING = AC_CHANGES_ROUNDING,
    CHANGES_RESULTS = AC_CHANGES_RESULTS
};

#define PASS(name, also, inside, when, changes, summary)               \
    static bool if_##name(const ac_pass_options *o, const ac_graph *g) \
    {                                                                  \
        return (void)o, (void)g, when;                                 \
    }
#define ON_REQUEST PASS
#define BY_CALLER  PASS
#include "ir/pass/passes.def"
#undef PASS
#undef ON_REQUEST
#undef BY_CALLER

static const row PASSES[AC_N_PASSES] = {
#define PASS(name, also, inside, when, changes, summary) \
    {#name, ac_pass_##name, if_##name, also, inside, false, changes},
#define ON_REQUEST(name, also, inside, when, changes, summary) \
    {#name, ac_pass_##name, if_##name, also, inside, true, changes},
#define BY_CALLER(name, also, inside, when, changes, summary) {#name, NULL, if_##name, also, inside, true, changes},
#include "ir/pass/passes.def"
#undef PASS
#undef ON_REQUEST
#undef BY_CALLER
};

const char *ac_pass_name(int32_t i)
{
    return i >= 0 && i < AC_N_PASSES ? PASSES[i].name : NULL;
}

uint32_t ac_pass_changes(ac_pass_id i)
{
    return PASSES[i].changes;
}

/* ------------------------------------------------------------------ options */

static bool listed(const char *const *list, int32_t n, const char *name)
{
    for (int32_t i = 0; i < n; i++)
        if (!strcmp(list[i], name))
            return true;
    return false;
}

/* *r: the row of this name. */
static int find_row(ac_ctx *cx, const char *option, const char *name, const row **r)
{
    const char *names[AC_N_PASSES];
    for (int32_t i = 0; i < AC_N_PASSES; i++) {
        names[i] = PASSES[i].name;
        *r = &PASSES[i];
        if (!strcmp(names[i], name))
            return AC_OK;
    }
    ac_error(cx, (ac_place){0}, E0501, "%s: unknown pass '%s'", option, name);
    const char *near = ac_closest(name, names, AC_N_PASSES);
    if (near)
        return ac_help(cx, "did you mean '%s'?", near);
    char *all = ac_strdup(cx->region, names[0]);
    for (int32_t i = 1; i < AC_N_PASSES; i++)
        all = ac_strf(cx->region, "%s, %s", all, names[i]);
    return ac_help(cx, "the passes are %s", all);
}

static int check_options(ac_ctx *cx, const ac_pass_options *o)
{
    const row *r;
    int ok = AC_OK;
    for (int32_t i = 0; i < o->n_skip; i++) {
        if (find_row(cx, "--skip", o->skip[i], &r) != AC_OK)
            ok = AC_FAIL;
        else if (r->changes & AC_CHANGES_SHAPES)
            ok = ac_error(cx, (ac_place){0}, E0501, "--skip: pass '%s' cannot be skipped, the others need its shapes",
                          r->name);
    }
    for (int32_t i = 0; i < o->n_dump; i++)
        if (find_row(cx, "--dump-after", o->dump_after[i], &r) != AC_OK)
            ok = AC_FAIL;
    if (o->stop_after && find_row(cx, "--stop-after", o->stop_after, &r) != AC_OK)
        ok = AC_FAIL;
    return ok;
}

/* ------------------------------------------------------------------ checks of the column `changes` */

/* The inputs, then the outputs, as they are now. */
static const ac_tensor *io_of(const ac_graph *g, ac_region *tmp)
{
    ac_tensor *io = AC_NEW_N(tmp, ac_tensor, g->input.n + g->output.n + 1);
    for (int32_t i = 0; i < g->input.n; i++)
        io[i] = *g->input.item[i];
    for (int32_t i = 0; i < g->output.n; i++)
        io[g->input.n + i] = *g->output.item[i];
    return io;
}

static bool same_io(const ac_tensor *a, const ac_tensor *b, int32_t n)
{
    bool same = true;
    for (int32_t i = 0; i < n && same; i++)
        same = a[i].name == b[i].name && a[i].dtype == b[i].dtype && ac_tensor_same_shape(&a[i], &b[i]);
    return same;
}

/* ------------------------------------------------------------------ the list */

static int run_inside(ac_passes *r, const row *x, ac_pass *outer)
{
    ac_graph *g = r->graph;
    for (int32_t i = 0; i < g->sub.n; i++) {
        ac_pass p = {.cx = r->cx, .graph = g->sub.item[i], .opt = r->opt, .channels_first = r->opt->channels_first};
        AC_TRY(x->fn(&p));
        outer->changed += p.changed;
    }
    return AC_OK;
}

static int run_row(ac_passes *r, const row *x)
{
    ac_graph *g = r->graph;
    ac_pass p = {.cx = r->cx, .graph = g, .opt = r->opt, .channels_first = r->channels_first};
    ac_region *tmp = ac_region_open(&r->cx->heap);
    const ac_tensor *io = io_of(g, tmp);
    const int32_t n_in = g->input.n, n_out = g->output.n, nodes = g->node.n;
    int status = x->fn ? x->fn(&p) : AC_OK;
    if (status == AC_OK && x->inside)
        status = run_inside(r, x, &p);
    if (!x->fn)
        p.changed = nodes - r->nodes;
    r->channels_first = p.channels_first;
    r->time[r->n_time++] = (ac_pass_time){x->name, ac_now_ms() - r->since, p.changed};
    const bool good = (x->changes & AC_CHANGES_NODES || g->node.n == nodes) &&
                      (x->changes & AC_CHANGES_IO ||
                       (g->input.n == n_in && g->output.n == n_out && same_io(io, io_of(g, tmp), n_in + n_out)));
    ac_region_close(tmp);
    if (status != AC_OK)
        return status;
    if (ac_graph_verify(g) != AC_OK)
        return ac_error(r->cx, (ac_place){.file = g->file}, E0901, "pass '%s' left a graph that breaks its rules",
                        x->name);
    return good ? AC_OK
                : ac_error(r->cx, (ac_place){.file = g->file}, E0901,
                           "pass '%s' changed the nodes, inputs or outputs, which its row in passes.def excludes",
                           x->name);
}

static bool allowed(const ac_pass_options *o, const row *x)
{
    return !listed(o->skip, o->n_skip, x->name) && (!o->reference || x->reference);
}

int ac_passes_open(ac_passes *r, ac_ctx *cx, ac_graph *g, const ac_pass_options *opt)
{
    *r = (ac_passes){.cx = cx, .graph = g, .opt = opt, .channels_first = opt->channels_first, .nodes = g->node.n};
    r->time = AC_NEW_N(cx->region, ac_pass_time, AC_N_PASSES);
    AC_TRY(check_options(cx, opt));
    AC_TRY(ac_graph_verify(g));
    ac_progress_begin(cx, "graph passes", AC_N_PASSES);
    r->since = ac_now_ms();
    return AC_OK;
}

int ac_passes_run(ac_passes *r, int32_t end)
{
    const ac_pass_options *o = r->opt;
    for (; r->next < end && !r->over; r->next++) {
        const row *x = &PASSES[r->next];
        ac_progress_at(r->cx, r->next);
        if (allowed(o, x) && x->when(o, r->graph))
            AC_TRY(run_row(r, x));
        else if (allowed(o, x) && !x->on_request)
            r->time[r->n_time++] = (ac_pass_time){.name = x->name};
        if (o->dump && listed(o->dump_after, o->n_dump, x->name)) {
            ac_putf(o->dump, "# after %s\n", x->name);
            ac_graph_write_text(o->dump, r->graph, r->channels_first);
        }
        r->over = o->stop_after && !strcmp(o->stop_after, x->name);
        r->since = ac_now_ms();
        r->nodes = r->graph->node.n;
    }
    return AC_OK;
}

bool ac_passes_next(const ac_passes *r, ac_pass_id id)
{
    const row *x = &PASSES[id];
    return r->next == (int32_t)id && !r->over && allowed(r->opt, x) && x->when(r->opt, r->graph);
}

int ac_pass_run(ac_passes *r, ac_ctx *cx, ac_graph *g, const ac_pass_options *opt)
{
    AC_TRY(ac_passes_open(r, cx, g, opt));
    return ac_passes_run(r, AC_N_PASSES);
}
