/* convert.c - the verb convert: the same model in another format, chosen by the output's ending or --emit: the graph as
 * it is after pass `infer`, when every shape is known and nothing has been changed for speed. */
#include "driver/verb/verbs.h"

#include "base/ascii.h"
#include "export/onnx_write.h"
#include "ir/graph/weights_file.h"

#include <string.h>

typedef int write_fn(ac_work *w, const char *path);
static write_fn write_text, write_onnx, write_planned;

typedef struct kind {
    const char *ending, *name, *what;
    write_fn *write;
} kind;

static const kind KINDS[] = {
    {".ag", "ag", "text form, large constants in OUT.weights", write_text},
    {".onnx", "onnx", "ONNX", write_onnx},
    {".tflite", "tflite", "the TFLite model with our plan inside, for TFLite Micro", write_planned},
    {".csv", "problem", "lifetimes of its tensors", write_planned},
};
enum { N_KINDS = sizeof KINDS / sizeof *KINDS };

static const kind *kind_of(const char *emit, const char *output)
{
    for (int i = 0; i < N_KINDS; i++)
        if (emit ? !strcmp(emit, KINDS[i].name) : output && ac_has_ending(output, KINDS[i].ending))
            return &KINDS[i];
    return NULL;
}

static int infer(ac_work *w)
{
    AC_TRY(ac_infer(w));
    return ac_check_weights(&w->made);
}

/* m.ag, and m.weights in the same folder, which it names; a text on standard output or a device has its constants
 * inside. */
int ac_write_text(ac_work *w, bool channels_first, const char *path)
{
    ac_region *r = w->cx.region;
    ac_graph *g = w->made.model->graph;
    ac_sink *to = AC_NEW(r, ac_sink), *weights = AC_NEW(r, ac_sink);
    ac_sink_open(to, &w->cx);
    ac_sink_open(weights, &w->cx);
    const char *base = ac_path_name(path), *dot = strrchr(base, '.');
    const char *name = ac_strf(r, "%.*s.weights", (int)(dot && dot != base ? dot - base : (long)strlen(base)), base);
    if (strcmp(path, "-") != 0 && !ac_file_is_special(path))
        ac_graph_write_pair(to, g, channels_first, name, weights);
    if (weights->n > AC_WEIGHTS_HEADER) {
        ac_pending_put(&w->out, weights, ac_strf(r, "%.*s%s", (int)(base - path), path, name));
    } else { /* nothing is large enough for a file of its own */
        to->n = 0;
        ac_graph_write_text(to, g, channels_first);
    }
    ac_pending_put(&w->out, to, path);
    return w->cx.diags.errors ? AC_FAIL : AC_OK;
}

static int write_text(ac_work *w, const char *path)
{
    AC_TRY(infer(w));
    return ac_write_text(w, ac_text_channels_first(&w->made), path);
}

static int write_onnx(ac_work *w, const char *path)
{
    w->request.unrolls = true;
    AC_TRY(infer(w));
    if (ac_graph_words(w->made.model->graph))
        ac_note(&w->cx, (ac_place){.file = w->source.path}, W0001,
                "texts become their codes, i32: the ONNX file has no texts");
    AC_TRY(ac_onnx_write(w->made.model->graph, false, ac_pending_add(&w->out, path)));
    return w->cx.diags.errors ? AC_FAIL : AC_OK;
}

/* By an output of the verb plan. */
static int write_planned(ac_work *w, const char *path)
{
    const kind *k = kind_of(w->opt.emit, path);
    AC_TRY(ac_plan_any(w));
    return ac_emit(&w->made, k->name, path);
}

int ac_convert(ac_work *w, const char *const *path, int32_t n)
{
    const char *output = w->opt.output ? w->opt.output : n > 1 ? path[--n] : NULL;
    const kind *k = output ? kind_of(w->opt.emit, output) : NULL;
    if (k) {
        AC_TRY(ac_open(w, path, n));
        if (!strcmp(k->name, "tflite"))
            w->request.tflm = true;
        AC_TRY(ac_read_opened(w));
        return k->write(w, output);
    }
    if (!output)
        ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501,
                 "convert takes a model and the file to write; arenac help convert");
    else
        ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501, "convert cannot write '%s'",
                 w->opt.emit ? w->opt.emit : output);
    for (int i = 0; i < N_KINDS; i++)
        ac_detail(&w->cx, "OUT%-8s or --emit %-8s %s", KINDS[i].ending, KINDS[i].name, KINDS[i].what);
    return AC_FAIL;
}
