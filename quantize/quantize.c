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
    }
    out->output = of[0];
    out->reference = of[1];
    out->db = ac_q_db_of_outputs(q);
}

static int check_products(const ac_qnet *q)
{
    for (int32_t i = 0; i < q->n; i++)
        if (q->step[i].weights)
            return AC_OK;
    return ac_error(q->cx, (ac_place){.file = q->g->file}, E0108,
                    "the model has no product with constant weights of floats that can be quantised");
}

/* One walk. */
static int attempt(ac_qnet *q, const void *const *sample)
{
    *q->result = (ac_quantized){0};
    AC_TRY(ac_q_open(q));
    q->result->row = AC_NEW_N(q->cx->region, ac_quantized_row, q->n_tensors + q->n + 1);
    AC_TRY(ac_q_place(q));
    AC_TRY(put_samples(q, sample));
    AC_TRY(ac_q_walk(q));
    AC_TRY(check_products(q));
    sum_up(q);
    return AC_OK;
}

/* The stored tensor of 8 bits that costs the outputs most; NULL: none is left. */
static const ac_quantized_row *worst_of(const ac_quantized *all, const ac_quantize_options *o)
{
    const ac_quantized_row *worst = NULL;
    for (int32_t i = 0; i < all->n; i++) {
        const ac_quantized_row *r = &all->row[i];
        bool wide = r->weights || r->bits > 8 || r->alone == HUGE_VAL;
        for (int32_t k = 0; k < o->n_wide; k++)
            wide |= !strcmp(o->wide[k], r->tensor);
        if (!wide && (!worst || r->alone < worst->alone))
            worst = r;
    }
    return worst;
}

/* Adds the worst tensors to the wide ones: as many as are expected to do, as their errors nearly add up. */
static bool widen(const ac_quantized *all, double db, ac_quantize_options *o, const char **list)
{
    double lack = pow(10, -db / 10) - o->budget * o->budget;
    const ac_quantized_row *r;
    bool any = false;
    while ((lack > 0 || !any) && (r = worst_of(all, o))) {
        list[o->n_wide++] = r->tensor;
        lack -= pow(10, -r->alone / 10);
        any = true;
    }
    return any;
}

/* Walks again with wider tensors until the outputs' error is within the budget. */
static int keep_budget(ac_qnet *q, const void *const *sample)
{
    const ac_quantized measured = *q->result;
    const double budget = q->o->budget;
    ac_quantize_options *o = AC_NEW(q->cx->region, ac_quantize_options);
    const char **list = AC_NEW_N(q->cx->region, const char *, measured.n + 1);
    *o = *q->o;
    o->wide = list;
    o->n_wide = 0;
    while (pow(10, -q->result->db / 20) > budget && widen(&measured, q->result->db, o, list)) {
        for (int32_t i = 0; i < q->n_tensors; i++)
            ac_q_drop(q, q->g->tensor.item[i]);
        q->o = o;
        AC_TRY(attempt(q, sample));
    }
    for (int32_t i = 0; i < q->result->n; i++)
        for (int32_t k = 0; k < measured.n; k++)
            if (measured.row[k].tensor == q->result->row[i].tensor && !q->result->row[i].weights &&
                !measured.row[k].weights)
                q->result->row[i].alone = measured.row[k].alone;
    if (pow(10, -q->result->db / 20) > budget)
        ac_note(q->cx, (ac_place){.file = q->g->file}, W0001,
                "the relative error of the outputs is %.3g with all tensors in 16 bits: above the budget of %.3g",
                pow(10, -q->result->db / 20), budget);
    return AC_OK;
}

int ac_quantize(ac_graph *g, const ac_quantize_options *o, const void *const *sample, int64_t samples,
                ac_quantized *out)
{
    ac_qnet q = {.cx = g->cx, .g = g, .o = o, .samples = samples, .result = out};
    if (samples < AC_QUANTIZE_LEAST)
        return ac_error(q.cx, (ac_place){.file = g->file}, E0304,
                        "%lld samples are too few: the range of a tensor is judged on samples that did not set it, so "
                        "at least %d are needed, better 100",
                        (long long)samples, AC_QUANTIZE_LEAST);
    AC_TRY(ac_q_check(g));
    AC_TRY(ac_q_prepare(g));
    AC_TRY(attempt(&q, sample));
    if (o->alone || o->budget > 0)
        AC_TRY(ac_q_alone(&q, sample));
    if (o->budget > 0)
        AC_TRY(keep_budget(&q, sample));
    return ac_q_rewrite(&q);
}
