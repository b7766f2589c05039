/* verb.c - the verb quantize: reads the model and the samples, runs the passes that make the model simple and leave it
 * real, quantises, writes. */
#include "driver/quantize/quantizing.h"

#include "base/ascii.h"
#include "driver/stage/passes.h"
#include "export/onnx_write.h"

#include <string.h>

/* Passes that put products or weights in a form that no other tool reads. */
static const char *const SKIPPED[] = {"planes", "repeat", "ahead", "integers", "depthwise", "pack"};
enum { N_SKIPPED = sizeof SKIPPED / sizeof *SKIPPED };

static int wrong_command(ac_work *w, const char *why)
{
    ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501, "%s", why);
    return ac_help(&w->cx, "arenac quantize model.onnx --data samples.npz -o model.int8.onnx");
}

static int read_options(ac_quantizing *z)
{
    const ac_options *o = &z->w->opt;
    z->o = (ac_quantize_options){.weight_bits = o->quantize_weights == AC_OPT_QUANTIZE_WEIGHTS_INT4 ? 4 : 8,
                                 .activation_bits = o->activations == AC_OPT_ACTIVATIONS_INT16 ? 16 : 8,
                                 .keep = o->keep.item,
                                 .n_keep = o->keep.n,
                                 .outputs = o->quantized_io,
                                 .alone = !o->quiet || o->json,
                                 .budget = o->loss_budget > 0 ? o->loss_budget : 0};
    if (!o->quantize_data.n)
        return wrong_command(z->w, "quantize needs samples of the inputs: --data");
    if (!o->output)
        return wrong_command(z->w, "quantize needs the file to write: -o");
    if (!ac_has_ending(o->output, ".onnx") && !ac_has_ending(o->output, ".ag"))
        return wrong_command(z->w, ac_strf(z->w->cx.region, "quantize writes .onnx or .ag, not '%s'", o->output));
    return AC_OK;
}

/* The model after the passes. */
static int read_model(ac_quantizing *z, const char *const *path, int32_t n)
{
    ac_work *w = z->w;
    ac_passed passed;
    w->request.unrolls = true;
    for (int32_t i = 0; i < N_SKIPPED; i++)
        ac_push(w->cx.region, &w->opt.skip, SKIPPED[i]);
    AC_TRY(ac_open(w, path, n));
    AC_TRY(ac_read_opened(w));
    AC_TRY(ac_quantizing_open(z));
    AC_TRY(ac_run_passes(&w->made, "dead", NULL, &passed));
    AC_TRY(ac_check_weights(&w->made));
    return ac_quantizing_bind(z);
}

static int write_model(ac_quantizing *z)
{
    ac_work *w = z->w;
    if (ac_has_ending(w->opt.output, ".ag"))
        return ac_write_text(w, false, w->opt.output);
    return ac_onnx_write(w->made.model->graph, true, ac_pending_add(&w->out, w->opt.output));
}

/* Bytes of all constants. */
static int64_t constant_bytes(const ac_graph *g)
{
    int64_t n = 0;
    for (int32_t i = 0; i < g->tensor.n; i++)
        if (ac_tensor_is_const(g->tensor.item[i]))
            n += ac_tensor_bytes(g->tensor.item[i]);
    return n;
}

int ac_quantize_verb(ac_work *w, const char *const *path, int32_t n)
{
    ac_quantizing *z = AC_NEW(w->cx.region, ac_quantizing);
    z->w = w;
    AC_TRY(read_options(z));
    AC_TRY(read_model(z, path, n));
    z->before = constant_bytes(w->made.model->graph);
    AC_TRY(ac_quantize(w->made.model->graph, &z->o, z->sample, z->samples, &z->result));
    AC_TRY(ac_quantizing_score(z));
    AC_TRY(write_model(z));
    return w->cx.diags.errors ? AC_FAIL : ac_quantizing_report(z);
}
