/* quantize.c - the order of the work: check, place, walk, rewrite. */
#include "quantize/quantize.h"
#include "quantize/net.h"

#include <math.h>
#include <string.h>

/* The samples become the values of the inputs. */
static int put_samples(ac_qnet *q, const void *const *sample)
{
    for (int32_t i = 0; i < q->g->input.n; i++) {
        ac_tensor *t = q->g->input.item[i];
        const int64_t bytes = ac_tensor_bytes(t), n = ac_tensor_count(t);
        ac_q_new(q, t, false);
        memcpy(q->value[t->id].real, sample[i], (size_t)(bytes * q->samples));
        const float *v = (const float *)q->value[t->id].real;
        for (int64_t k = 0; k < n * q->samples && t->dtype == AC_F32; k++)
            if (!isfinite(v[k]))
                return ac_error(q->cx, (ac_place){.file = q->g->file}, E0304,
                                "sample %lld of input '%s' has a value that is not finite", (long long)(k / n),
                                t->name);
    }
    return AC_OK;
}

/* The values of the outputs, and how far they are apart, all together. */
static void sum_up(ac_qnet *q)
{
    const ac_graph *g = q->g;
    ac_quantized *out = q->result;
    double signal = 0, noise = 0;
    const float **of[2];
    for (int32_t k = 0; k < 2; k++)
        of[k] = AC_NEW_N(q->cx->region, const float *, g->output.n + 1);
    for (int32_t i = 0; i < g->output.n; i++) {
        const ac_tensor *t = g->output.item[i];
        const ac_qvalue *v = &q->value[t->id];
        if (t->dtype != AC_F32 || !v->real)
            continue;
        of[0][i] = (const float *)v->coded;
        of[1][i] = (const float *)v->real;
        for (int64_t k = 0; k < q->samples * ac_tensor_count(t); k++) {
            const double e = (double)of[0][i][k] - (double)of[1][i][k];
            signal += (double)of[1][i][k] * (double)of[1][i][k];
            noise += e * e;
        }
    }
    out->output = of[0];
    out->reference = of[1];
    out->db = 10 * log10(fmax(signal, 1e-30) / fmax(noise, 1e-30));
}

static int check_products(const ac_qnet *q)
{
    for (int32_t i = 0; i < q->n; i++)
        if (q->step[i].weights)
            return AC_OK;
    return ac_error(q->cx, (ac_place){.file = q->g->file}, E0108,
                    "the model has no product with constant weights of floats that can be quantised");
}

int ac_quantize(ac_graph *g, const ac_quantize_options *o, const void *const *sample, int64_t samples,
                ac_quantized *out)
{
    ac_qnet q = {.cx = g->cx, .g = g, .o = o, .samples = samples, .result = out};
    *out = (ac_quantized){0};
    if (samples < AC_QUANTIZE_LEAST)
        return ac_error(q.cx, (ac_place){.file = g->file}, E0304,
                        "%lld samples are too few: the range of a tensor is judged on samples that did not set it, so "
                        "at least %d are needed, better 100",
                        (long long)samples, AC_QUANTIZE_LEAST);
    AC_TRY(ac_q_check(g));
    AC_TRY(ac_q_prepare(g));
    AC_TRY(ac_q_open(&q));
    out->row = AC_NEW_N(q.cx->region, ac_quantized_row, q.n_tensors + q.n + 1);
    AC_TRY(ac_q_place(&q));
    AC_TRY(put_samples(&q, sample));
    AC_TRY(ac_q_walk(&q));
    AC_TRY(check_products(&q));
    sum_up(&q);
    return ac_q_rewrite(&q);
}
