/* alone.c - the error of the outputs if a single tensor is stored as codes, and everything else is floats.
 *
 * No figure of the tensor itself predicts this, so it is measured: all values of the model of floats are kept for some
 * samples; then, for each stored tensor, it is rounded and the nodes that depend on it run again. Cost: half a run of
 * the model for each stored tensor and sample. */
#include "quantize/net.h"

#include "base/progress.h"

#include <math.h>
#include <string.h>

enum { MOST_SAMPLES = 16 };
/* Multiply-adds of all runs together, and bytes of all values. */
static const double MOST_WORK = 4e9, MOST_BYTES = 5e8;

static double work_of(const ac_qproduct *p)
{
    return p ? (double)p->positions * (double)(p->groups * p->rows * p->depth) : 0;
}

/* As many samples as the limits allow; at least one. */
static int64_t samples_for(const ac_qnet *q)
{
    double work = 0, bytes = 0, roots = 1;
    for (int32_t i = 0; i < q->n; i++)
        work += work_of(q->step[i].product);
    for (int32_t i = 0; i < q->n_tensors; i++) {
        roots += q->root[i] != NULL;
        if (!ac_tensor_is_const(q->g->tensor.item[i]))
            bytes += 2 * (double)ac_tensor_bytes(q->g->tensor.item[i]);
    }
    double n = fmin(MOST_WORK / fmax(work * roots, 1), MOST_BYTES / fmax(bytes, 1));
    n = fmin(n, fmin((double)q->samples, MOST_SAMPLES));
    return n < 1 ? 1 : (int64_t)n;
}

static int run_step(ac_qnet *q, int32_t i, bool coded)
{
    const ac_qproduct *p = q->step[i].product;
    if (!p)
        return ac_q_run_as(q, i, coded);
    const ac_qvalue *x = &q->value[p->x->id], *y = &q->value[p->y->id];
    float *to = (float *)(coded ? y->coded : y->real);
    const float *bias = p->bias ? ac_tensor_force(q->cx, p->bias) : NULL;
    ac_q_multiply(q, p, (const float *)(coded ? x->coded : x->real), p->weight, q->samples, to);
    ac_q_add_bias(p, bias, q->samples, to);
    return AC_OK;
}

static int run_floats(ac_qnet *q, const void *const *sample)
{
    for (int32_t i = 0; i < q->g->input.n; i++) {
        const ac_tensor *t = q->g->input.item[i];
        ac_q_new(q, q->g->input.item[i], false);
        memcpy(q->value[t->id].real, sample[i], (size_t)(q->samples * ac_tensor_bytes(t)));
    }
    for (int32_t i = 0; i < q->n; i++) {
        for (int32_t k = 0; k < q->step[i].node->n_out; k++)
            ac_q_new(q, q->step[i].node->out[k], false);
        AC_TRY(run_step(q, i, false));
    }
    return AC_OK;
}

/* Forgets the second values. */
static void same_again(ac_qnet *q)
{
    for (int32_t i = 0; i < q->n_tensors; i++) {
        ac_qvalue *v = &q->value[i];
        ac_region_close(v->coded_room);
        v->coded_room = NULL;
        v->coded = v->real;
    }
}

static int run_changed(ac_qnet *q)
{
    for (int32_t i = 0; i < q->n; i++) {
        const ac_node *n = q->step[i].node;
        if (!ac_q_differs(q, n))
            continue;
        for (int32_t k = 0; k < n->n_out; k++)
            ac_q_new(q, n->out[k], true);
        AC_TRY(run_step(q, i, true));
    }
    return AC_OK;
}

static int measure(ac_qnet *q, const ac_qroot *r, ac_quantized_row *row)
{
    ac_qvalue *v = &q->value[r->tensor->id];
    ac_q_new(q, r->tensor, true);
    ac_q_round(r, (const float *)v->real, q->samples * ac_tensor_count(r->tensor), (float *)v->coded);
    AC_TRY(run_changed(q));
    row->alone = ac_q_db_of_outputs(q);
    same_again(q);
    return AC_OK;
}

int ac_q_alone(ac_qnet *q, const void *const *sample)
{
    ac_qnet few = *q;
    few.samples = samples_for(q);
    few.value = AC_NEW_N(q->cx->region, ac_qvalue, q->n_tensors + 1);
    int status = run_floats(&few, sample);
    ac_progress_begin(q->cx, "measuring", q->result->n);
    for (int32_t i = 0; i < q->result->n && status == AC_OK; i++) {
        ac_quantized_row *row = &q->result->row[i];
        const ac_tensor *t = row->weights ? NULL : ac_tensor_find(q->g, row->tensor);
        ac_progress_at(q->cx, i);
        if (t && t->id < q->n_tensors && few.root[t->id])
            status = measure(&few, few.root[t->id], row);
    }
    for (int32_t i = 0; i < q->n_tensors; i++)
        ac_q_drop(&few, q->g->tensor.item[i]);
    return status;
}
