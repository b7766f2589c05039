#include "ir/pass/pass.h"

#include "ir/pass/passes.h"

#include <string.h>
#include <time.h>

// clang-format off
const ac_pass_row ac_passes[] = {
    {"infer",    "fills types and shapes, evaluates what shapes are computed from", ac_pass_infer},
    {"io",       "drops the quantisation of inputs and the dequantisation of outputs (--quantized-io)",   ac_pass_io},
    {"layout",   "moves the transposes of formats that have channels first behind each other, where they cancel", ac_pass_layout},
    {"simplify", "removes operators that change nothing: identity reshapes, quantize of dequantize, ...", ac_pass_simplify},
    {"norm",     "folds multiplication and addition by channel constants into the convolution before",    ac_pass_norm},
    {"pad",      "turns a padding operator before a convolution into the convolution's own padding",      ac_pass_pad},
    {"fold",     "makes constants of everything that depends on constants only",                          ac_pass_fold},
    {"dead",     "removes operators and tensors that nobody reads",                                       ac_pass_dead},
    {"epilogue", "computes element-wise operators in the loops of the operator before",                   ac_pass_epilogue},
    {"view",     "places reshaped, sliced and concatenated tensors inside each other: no copies",         ac_pass_view},
};
// clang-format on
const int32_t ac_pass_count = (int32_t)(sizeof ac_passes / sizeof *ac_passes);

static bool listed(const char *const *list, int32_t n, const char *name)
{
    for (int32_t i = 0; i < n; i++)
        if (!strcmp(list[i], name))
            return true;
    return false;
}

static int check_name(ac_ctx *cx, const char *option, const char *name)
{
    const char *names[sizeof ac_passes / sizeof *ac_passes];
    for (int32_t i = 0; i < ac_pass_count; i++) {
        names[i] = ac_passes[i].name;
        if (!strcmp(names[i], name))
            return AC_OK;
    }
    ac_error(cx, (ac_place){0}, E0501, "%s: there is no pass '%s'", option, name);
    const char *near = ac_closest(name, names, ac_pass_count);
    return near ? ac_help(cx, "did you mean '%s'?", near)
                : ac_help(cx, "the passes are infer, io, layout, simplify, norm, pad, fold, dead, epilogue, view");
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

/* Passes that change how the model computes; `--reference tflite` plans the file as it stands. */
static bool wanted(const ac_pass_row *row, const ac_pass_options *o)
{
    if (listed(o->skip, o->n_skip, row->name))
        return false;
    if ((row->fn == ac_pass_view && !o->views) || (row->fn == ac_pass_io && !o->quantized_io))
        return false;
    return !o->reference || row->fn == ac_pass_infer || row->fn == ac_pass_io || row->fn == ac_pass_fold ||
           row->fn == ac_pass_dead;
}

static double now_ms(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

int ac_pass_run(ac_ctx *cx, ac_graph *g, const ac_pass_options *opt, const ac_pass_time **time, int32_t *n_time)
{
    ac_pass_time *rows = AC_NEW_N(cx->region, ac_pass_time, ac_pass_count);
    *time = rows;
    *n_time = 0;
    bool channels_first = opt->channels_first;
    AC_TRY(check_options(cx, opt));
    AC_TRY(ac_graph_verify(g));
    for (int32_t i = 0; i < ac_pass_count; i++) {
        const ac_pass_row *row = &ac_passes[i];
        if (wanted(row, opt)) {
            ac_pass p = {.cx = cx, .graph = g, .opt = opt, .channels_first = channels_first};
            double start = now_ms();
            AC_TRY(row->fn(&p));
            channels_first = p.channels_first;
            rows[(*n_time)++] = (ac_pass_time){row->name, now_ms() - start, p.changed};
            if (ac_graph_verify(g) != AC_OK)
                return ac_error(cx, (ac_place){.file = g->file}, E0901, "pass '%s' left a graph that breaks its rules",
                                row->name);
        }
        if (opt->dump && listed(opt->dump_after, opt->n_dump, row->name)) {
            ac_putf(opt->dump, "# after %s\n", row->name);
            ac_graph_write_text(opt->dump, g, channels_first);
        }
        if (opt->stop_after && !strcmp(opt->stop_after, row->name))
            break;
    }
    return AC_OK;
}
