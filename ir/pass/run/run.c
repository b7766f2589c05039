/* run.c - runs the passes. */
#include "ir/pass/run/run.h"

#include "base/progress.h"
#include "ir/pass/passes.h"

#include <string.h>
#include <time.h>

typedef struct row {
    const char *name;
    ac_pass_fn *fn;
    bool reference, inside;
} row;

static const row PASSES[] = {
#define PASS(name, reference, inside, what) {#name, ac_pass_##name, reference, inside},
#include "ir/pass/passes.def"
#undef PASS
};
enum { N_PASSES = sizeof PASSES / sizeof *PASSES };

const char *ac_pass_name(int32_t i)
{
    return i >= 0 && i < N_PASSES ? PASSES[i].name : NULL;
}

static bool listed(const char *const *list, int32_t n, const char *name)
{
    for (int32_t i = 0; i < n; i++)
        if (!strcmp(list[i], name))
            return true;
    return false;
}

static int check_name(ac_ctx *cx, const char *option, const char *name)
{
    const char *names[N_PASSES];
    for (int32_t i = 0; i < N_PASSES; i++) {
        names[i] = PASSES[i].name;
        if (!strcmp(names[i], name))
            return AC_OK;
    }
    ac_error(cx, (ac_place){0}, E0501, "%s: there is no pass '%s'", option, name);
    const char *near = ac_closest(name, names, N_PASSES);
    if (near)
        return ac_help(cx, "did you mean '%s'?", near);
    char *all = ac_strdup(cx->region, names[0]);
    for (int32_t i = 1; i < N_PASSES; i++)
        all = ac_strf(cx->region, "%s, %s", all, names[i]);
    return ac_help(cx, "the passes are %s", all);
}

static int check_options(ac_ctx *cx, const ac_pass_options *o)
{
    int ok = AC_OK;
    for (int32_t i = 0; i < o->n_skip; i++) {
        if (check_name(cx, "--skip", o->skip[i]) != AC_OK)
            ok = AC_FAIL;
        else if (!strcmp(o->skip[i], "infer"))
            ok = ac_error(cx, (ac_place){0}, E0501,
                          "--skip: pass 'infer' cannot be skipped, the others need its shapes");
    }
    for (int32_t i = 0; i < o->n_dump; i++)
        if (check_name(cx, "--dump-after", o->dump_after[i]) != AC_OK)
            ok = AC_FAIL;
    if (o->stop_after && check_name(cx, "--stop-after", o->stop_after) != AC_OK)
        ok = AC_FAIL;
    return ok;
}

static bool wanted(const row *r, const ac_graph *g, const ac_pass_options *o)
{
    return !listed(o->skip, o->n_skip, r->name) && (r->fn != ac_pass_view || o->views) &&
           (r->fn != ac_pass_io || o->quantized_io) && (r->fn != ac_pass_grow || o->grow) &&
           (r->fn != ac_pass_state || o->n_kept || g->sub.n) && (r->fn != ac_pass_channels || o->cuts) &&
           (r->fn != ac_pass_storage || o->storage) && (!o->reference || r->reference);
}

/* What the body of a loop carries round is kept in the same bytes from iteration to iteration, as state is from run to
 * run. */
static int keep_carried(ac_ctx *cx, ac_graph *body, const ac_pass_options *opt)
{
    const int32_t n = body->carried;
    ac_state_pair *kept = AC_NEW_N(cx->region, ac_state_pair, n + 1);
    body->carry = AC_NEW_N(body->region, ac_tensor *, n + 1);
    for (int32_t i = 0; i < n; i++) {
        body->carry[i] = body->input.item[i];
        kept[i] = (ac_state_pair){.output = i, .input = i, .axis = -1};
        kept[i].input_name = body->input.item[i]->name;
        kept[i].output_name = body->output.item[i]->name;
    }
    ac_pass_options own = *opt;
    own.kept = kept;
    own.n_kept = n;
    ac_pass p = {.cx = cx, .graph = body, .opt = &own};
    return ac_pass_state(&p);
}

static int run_inside(ac_ctx *cx, ac_graph *g, const row *r, ac_pass *outer)
{
    for (int32_t i = 0; i < g->sub.n && r->inside; i++) {
        ac_graph *sub = g->sub.item[i];
        if (r->fn == ac_pass_state) {
            AC_TRY(keep_carried(cx, sub, outer->opt));
        } else {
            ac_pass p = {.cx = cx, .graph = sub, .opt = outer->opt, .channels_first = outer->opt->channels_first};
            AC_TRY(r->fn(&p));
            outer->changed += p.changed;
        }
    }
    return AC_OK;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int ac_pass_run(ac_ctx *cx, ac_graph *g, const ac_pass_options *opt, const ac_pass_time **time, int32_t *n_time)
{
    ac_pass_time *rows = AC_NEW_N(cx->region, ac_pass_time, N_PASSES);
    *time = rows;
    *n_time = 0;
    bool channels_first = opt->channels_first;
    AC_TRY(check_options(cx, opt));
    AC_TRY(ac_graph_verify(g));
    ac_progress_begin(cx, "graph passes", N_PASSES);
    for (int32_t i = 0; i < N_PASSES; i++) {
        const row *r = &PASSES[i];
        ac_progress_at(cx, i);
        if (wanted(r, g, opt)) {
            ac_pass p = {.cx = cx, .graph = g, .opt = opt, .channels_first = channels_first};
            double start = now_ms();
            AC_TRY(r->fn(&p));
            AC_TRY(run_inside(cx, g, r, &p));
            channels_first = p.channels_first;
            rows[(*n_time)++] = (ac_pass_time){r->name, now_ms() - start, p.changed};
            if (ac_graph_verify(g) != AC_OK)
                return ac_error(cx, (ac_place){.file = g->file}, E0901, "pass '%s' left a graph that breaks its rules",
                                r->name);
        }
        if (opt->dump && listed(opt->dump_after, opt->n_dump, r->name)) {
            ac_putf(opt->dump, "# after %s\n", r->name);
            ac_graph_write_text(opt->dump, g, channels_first);
        }
        if (opt->stop_after && !strcmp(opt->stop_after, r->name))
            break;
    }
    return AC_OK;
}
