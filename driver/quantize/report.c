/* report.c - the cost of quantisation, as text and JSON. */
#include "driver/quantize/quantizing.h"

#include "base/json_out.h"
#include "base/visible.h"

#include <math.h>
#include <string.h>

/* ------------------------------------------------------------------ accuracy */

/* The share of positions of output t whose largest value, along its dimension `axis`, is at the label. */
static double accuracy(const ac_tensor *t, int32_t axis, const float *v, const ac_npy *label, ac_dtype type)
{
    const int64_t classes = t->dim[axis], inner = ac_dim_product(t->dim, axis + 1, t->rank);
    const int64_t n = label->bytes / label->unit;
    int64_t right = 0;
    for (int64_t i = 0; i < n; i++) {
        const float *at = v + i / inner * classes * inner + i % inner;
        int64_t best = 0;
        for (int64_t c = 1; c < classes; c++)
            if (at[c * inner] > at[best * inner])
                best = c;
        right += best == ac_dtype_get_int(type, label->data, i);
    }
    return n ? 100 * (double)right / (double)n : 0;
}

static ac_dtype type_of(const ac_npy *a)
{
    static const ac_dtype INTEGERS[] = {AC_I8, AC_U8, AC_I16, AC_U16, AC_I32, AC_U32, AC_I64, AC_U64};
    for (size_t i = 0; i < sizeof INTEGERS / sizeof *INTEGERS; i++)
        if (!strcmp(ac_dtype_npy(INTEGERS[i]) + 1, a->descr + 1))
            return INTEGERS[i];
    return AC_NONE;
}

/* Labels are one for each sample, or one for each position of the first output; classes are its last dimension, or
 * dimension 1. */
int ac_quantizing_score(ac_quantizing *z)
{
    ac_ctx *cx = &z->w->cx;
    ac_npy label;
    z->accuracy[0] = z->accuracy[1] = -1;
    if (!z->w->opt.labels)
        return AC_OK;
    AC_TRY(ac_npy_read(cx, z->w->opt.labels, &label));
    const ac_tensor *t = z->w->made.model->graph->output.item[0];
    const ac_dtype type = type_of(&label);
    const int64_t n = label.bytes / label.unit, all = z->samples * ac_tensor_count(t);
    int32_t axis = -1;
    for (int32_t d = t->rank - 1; d >= 1; d--)
        if (type != AC_NONE && z->result.output[0] && (d == 1 || d == t->rank - 1) && n == all / t->dim[d])
            axis = d == 1 || axis < 0 ? d : axis;
    if (axis < 0) {
        ac_error(cx, (ac_place){.file = label.path}, E0304,
                 "--labels is %s [%lld labels], but output '%s' is %s for each of %lld samples", label.descr,
                 (long long)n, t->name, ac_tensor_str(cx, t), (long long)z->samples);
        ac_npy_close(&label);
        return ac_help(cx, "give an integer for each sample of --data, the number of its class");
    }
    z->accuracy[0] = accuracy(t, axis, z->result.reference[0], &label, type);
    z->accuracy[1] = accuracy(t, axis, z->result.output[0], &label, type);
    ac_npy_close(&label);
    return AC_OK;
}

/* ------------------------------------------------------------------ text */

static int64_t file_bytes(const ac_quantizing *z)
{
    int64_t n = 0;
    for (int32_t i = 0; i < z->w->out.list.n; i++)
        n += (int64_t)z->w->out.list.item[i].sink->n;
    return n;
}

static const char *short_name(ac_quantizing *z, const char *name)
{
    ac_ctx *cx = &z->w->cx;
    const char *text = ac_visible(cx->region, name);
    const size_t n = strlen(text);
    enum { MOST = 30 };
    return n > MOST ? ac_strf(cx->region, "..%s", text + n - MOST + 2) : text;
}

static void put_row(ac_quantizing *z, ac_sink *to, const ac_quantized_row *r)
{
    ac_putf(to, "  %-30s %-18s %4d %7.1f %7.1f", short_name(z, r->tensor), r->op, r->bits, r->own, r->against);
    if (!r->weights && r->alone < HUGE_VAL)
        ac_putf(to, " %7.1f %8.3f %7.1f", r->alone, 100 * r->clipped, r->spread);
    ac_put(to, "\n");
}

/* The worst tensors, by the outputs' error when they alone are stored as codes. */
static void put_worst(ac_quantizing *z, ac_sink *to)
{
    enum { WORST = 3 };
    const ac_quantized *q = &z->result;
    double below = -HUGE_VAL;
    ac_put(to, "\nWorst for the outputs:");
    for (int32_t k = 0; k < WORST; k++) {
        const ac_quantized_row *worst = NULL;
        for (int32_t i = 0; i < q->n; i++)
            if (!q->row[i].weights && q->row[i].alone > below && (!worst || q->row[i].alone < worst->alone))
                worst = &q->row[i];
        if (!worst || worst->alone == HUGE_VAL)
            break;
        ac_putf(to, "%s %s (%.1f dB alone)", k ? "," : "", short_name(z, worst->tensor), worst->alone);
        below = worst->alone;
    }
    ac_put(to, "\n");
}

static void put_text(ac_quantizing *z, ac_sink *to)
{
    const ac_quantized *q = &z->result;
    ac_putf(to, "%d of %d products by integers; outputs %.1f dB on %lld samples\n", q->integers, q->products, q->db,
            (long long)z->samples);
    ac_putf(to, "constants %s B, file %s B\n", ac_commas(&z->w->cx, z->before), ac_commas(&z->w->cx, file_bytes(z)));
    if (z->accuracy[0] >= 0)
        ac_putf(to, "accuracy %.2f %%, of the model of floats %.2f %%\n", z->accuracy[1], z->accuracy[0]);
    ac_putf(to, "\n  %-30s %-18s %4s %7s %7s %7s %8s %7s\n", "tensor", "operator", "bits", "own dB", "all dB", "alone",
            "clip %", "ratio");
    for (int32_t i = 0; i < q->n; i++)
        put_row(z, to, &q->row[i]);
    put_worst(z, to);
}

/* ------------------------------------------------------------------ JSON */

static void put_json(ac_quantizing *z, ac_sink *to)
{
    const ac_quantized *q = &z->result;
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-quantize/1");
    ac_json_str(&j, "model", z->w->source.base);
    ac_json_int(&j, "samples", z->samples);
    ac_json_int(&j, "products", q->products);
    ac_json_int(&j, "integer_products", q->integers);
    ac_json_num(&j, "output_db", q->db);
    ac_json_int(&j, "float_constant_bytes", z->before);
    ac_json_int(&j, "file_bytes", file_bytes(z));
    if (z->accuracy[0] >= 0) {
        ac_json_num(&j, "float_accuracy_percent", z->accuracy[0]);
        ac_json_num(&j, "accuracy_percent", z->accuracy[1]);
    }
    ac_json_arr(&j, "rows");
    for (int32_t i = 0; i < q->n; i++) {
        const ac_quantized_row *r = &q->row[i];
        ac_json_obj(&j, NULL);
        ac_json_str(&j, "tensor", r->tensor);
        ac_json_str(&j, "operator", r->op);
        ac_json_str(&j, "kind", r->weights ? "weights" : "stored");
        ac_json_int(&j, "bits", r->bits);
        ac_json_num(&j, "own_db", r->own);
        ac_json_num(&j, "model_db", r->against);
        if (!r->weights) {
            if (r->alone < HUGE_VAL)
                ac_json_num(&j, "alone_db", r->alone);
            ac_json_num(&j, "clipped_percent", 100 * r->clipped);
            ac_json_num(&j, "step_ratio", r->spread);
        }
        ac_json_end(&j);
    }
    ac_json_end(&j);
    ac_json_end(&j);
    ac_put(to, "\n");
}

int ac_quantizing_report(ac_quantizing *z)
{
    ac_work *w = z->w;
    ac_sink *to = AC_NEW(w->cx.region, ac_sink);
    ac_sink_open(to, &w->cx);
    if (w->opt.json)
        put_json(z, to);
    else if (!w->opt.quiet)
        put_text(z, to);
    ac_pending_put(&w->out, to, "-");
    return AC_OK;
}
