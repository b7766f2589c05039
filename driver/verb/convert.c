/* convert.c - the verb convert: the same model in another format, chosen by the output's ending or --emit: the graph as
 * it is after pass `infer`, when every shape is known and nothing has been changed for speed. */
#include "driver/verb/verbs.h"

#include "export/onnx_write.h"
#include "ir/graph/weights_file.h"

#include <string.h>

typedef int write_fn(arenac *a, const char *path);
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
    const size_t n = output ? strlen(output) : 0;
    for (int i = 0; i < N_KINDS; i++) {
        const size_t k = strlen(KINDS[i].ending);
        if (emit ? !strcmp(emit, KINDS[i].name) : n > k && !strcmp(output + n - k, KINDS[i].ending))
            return &KINDS[i];
    }
    return NULL;
}

static int infer(arenac *a)
{
    AC_TRY(ac_infer(a));
    return ac_check_weights(a);
}

/* m.ag and beside it m.weights, which it names; a text on standard output or a device has its constants inside. */
static int write_text(arenac *a, const char *path)
{
    ac_region *r = a->cx.region;
    AC_TRY(infer(a));
    ac_graph *g = a->model->graph;
    const bool channels_first = ac_text_channels_first(a);
    ac_sink *to = AC_NEW(r, ac_sink), *weights = AC_NEW(r, ac_sink);
    ac_sink_open(to, &a->cx);
    ac_sink_open(weights, &a->cx);
    const char *base = ac_path_name(path), *dot = strrchr(base, '.');
    const char *name = ac_strf(r, "%.*s.weights", (int)(dot && dot != base ? dot - base : (long)strlen(base)), base);
    if (strcmp(path, "-") != 0 && !ac_file_is_special(path))
        ac_graph_write_pair(to, g, channels_first, name, weights);
    if (weights->n > AC_WEIGHTS_HEADER) {
        ac_push(r, &a->output, ((ac_output){weights, ac_strf(r, "%.*s%s", (int)(base - path), path, name)}));
    } else { /* nothing is large enough for a file of its own */
        to->n = 0;
        ac_graph_write_text(to, g, channels_first);
    }
    ac_push(r, &a->output, ((ac_output){to, ac_strdup(r, path)}));
    return a->cx.diags.errors ? AC_FAIL : AC_OK;
}

static int write_onnx(arenac *a, const char *path)
{
    AC_TRY(infer(a));
    AC_TRY(ac_onnx_write(a->model->graph, ac_output_new(a, path)));
    return a->cx.diags.errors ? AC_FAIL : AC_OK;
}

/* What `plan` writes, too. */
static int write_planned(arenac *a, const char *path)
{
    const kind *k = kind_of(a->opt.emit, path);
    AC_TRY(ac_plan_any(a));
    return ac_emit(a, k->name, path);
}

int ac_convert(arenac *a, const char *const *path, int32_t n)
{
    const char *output = a->opt.output ? a->opt.output : n > 1 ? path[--n] : NULL;
    const kind *k = output ? kind_of(a->opt.emit, output) : NULL;
    if (k) {
        AC_TRY(ac_source_open(a, path, n));
        if (!strcmp(k->name, "tflite"))
            a->for_tflm = true;
        AC_TRY(ac_read_opened(a));
        return k->write(a, output);
    }
    if (!output)
        ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501,
                 "convert takes a model and the file to write; arenac help convert");
    else
        ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501, "convert cannot write '%s'",
                 a->opt.emit ? a->opt.emit : output);
    for (int i = 0; i < N_KINDS; i++)
        ac_detail(&a->cx, "OUT%-8s or --emit %-8s %s", KINDS[i].ending, KINDS[i].name, KINDS[i].what);
    return AC_FAIL;
}
