/* job_convert.c - a model in another file format: the graph as it stands after pass `infer`, when every shape is known
 * and nothing has been changed for speed. */
#include "driver/job.h"

#include "export/onnx_write.h"
#include "ir/graph/weights_file.h"

#include <string.h>

typedef struct convert_arg {
    const char *kind, *path;
} convert_arg;

/* m.ag and beside it m.weights, which it names; a text on standard output has its constants inside. */
static void write_text(arenac_job *job, const char *path, ac_sink *to)
{
    ac_ctx *cx = &job->cx;
    if (!strcmp(path, "-")) {
        ac_graph_write_text(to, job->graph, ac_job_channels_first(job));
        return;
    }
    const char *base = ac_path_name(path), *dot = strrchr(base, '.');
    const char *stem = ac_strf(cx->region, "%.*s", (int)(dot && dot != base ? dot - base : (long)strlen(base)), base);
    const char *name = ac_strf(cx->region, "%s.weights", stem);
    ac_sink *weights = AC_NEW(cx->region, ac_sink);
    ac_sink_open(weights, cx);
    ac_graph_write_pair(to, job->graph, ac_job_channels_first(job), name, weights);
    if (weights->n > AC_WEIGHTS_HEADER) {
        ac_job_add_output(job, weights, ac_strf(cx->region, "%.*s%s", (int)(base - path), path, name));
        return;
    }
    to->n = 0; /* nothing is large enough for a file of its own */
    ac_graph_write_text(to, job->graph, ac_job_channels_first(job));
}

static int convert_stage(arenac_job *job, void *arg)
{
    const convert_arg *a = arg;
    ac_sink *to = AC_NEW(job->cx.region, ac_sink);
    ac_sink_open(to, &job->cx);
    AC_TRY(ac_job_infer(job));
    if (!strcmp(a->kind, "onnx"))
        AC_TRY(ac_onnx_write(job->graph, to));
    else
        write_text(job, a->path, to);
    if (job->cx.diags.errors)
        return AC_FAIL;
    ac_job_add_output(job, to, a->path);
    return AC_OK;
}

int arenac_convert(arenac_job *job, const char *kind, const char *path)
{
    convert_arg a = {kind, path};
    return ac_job_guard(job, convert_stage, &a);
}
