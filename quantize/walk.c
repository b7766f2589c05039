/* walk.c - one pass over the nodes, with two values of every tensor: of the model of floats, and of the model that is
 * quantised so far. */
#include "quantize/net.h"

#include "base/progress.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { FEW_SAMPLES = 8 }; /* for figures that only the report has */

typedef struct squares {
    double signal, noise;
} squares;

static void add_squares(squares *s, const float *real, const float *coded, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const double e = (double)real[i] - (double)coded[i];
        s->signal += (double)real[i] * (double)real[i];
        s->noise += e * e;
    }
}

static double decibels(squares s)
{
    return 10 * log10(fmax(s.signal, 1e-30) / fmax(s.noise, 1e-30));
}

static double db_of(const float *real, const float *coded, int64_t n)
{
    squares s = {0};
    add_squares(&s, real, coded, n);
    return decibels(s);
}

double ac_q_db_of_outputs(const ac_qnet *q)
{
    squares s = {0};
    for (int32_t i = 0; i < q->g->output.n; i++) {
        const ac_tensor *t = q->g->output.item[i];
        const ac_qvalue *v = &q->value[t->id];
        if (t->dtype == AC_F32 && v->real)
            add_squares(&s, (const float *)v->real, (const float *)v->coded, q->samples * ac_tensor_count(t));
    }
    return decibels(s);
}

static ac_quantized_row *new_row(ac_qnet *q, ac_quantized_row row)
{
    ac_quantized *out = q->result;
    out->row[out->n] = row;
    return &out->row[out->n++];
}

static const char *op_of(const ac_qnet *q, const ac_tensor *t)
{
    const int32_t i = q->made_by[t->id];
    return i < 0 ? "input" : ac_ops[q->step[i].node->op].text;
}

/* t has its values: chooses its steps, and rounds the second value. */
static void store(ac_qnet *q, ac_tensor *t)
{
    ac_qroot *r = q->root[t->id];
    if (!r)
        return;
    ac_qvalue *v = &q->value[t->id];
    const int64_t n = q->samples * ac_tensor_count(t);
    ac_region *room = NULL;
    const float *real = (const float *)v->real, *raw = (const float *)v->coded;
    ac_q_choose(q, r, raw);
    if (raw == real) {
        ac_q_new(q, t, true);
    } else {
        room = ac_region_open(&q->cx->heap);
        raw = ac_copy(room, raw, (size_t)n * sizeof *raw);
    }
    ac_q_round(r, raw, n, (float *)v->coded);
    ac_quantized_row row = {
        .tensor = t->name, .op = op_of(q, t), .bits = r->bits, .alone = HUGE_VAL, .clipped = r->clipped};
    row.own = db_of(raw, (const float *)v->coded, n);
    row.against = raw == real ? row.own : db_of(real, (const float *)v->coded, n);
    ac_region_close(room);
    float least = FLT_MAX;
    for (int32_t i = 0; i < r->labels; i++)
        least = r->step[i] < least ? r->step[i] : least;
    row.spread = (double)r->largest / (double)least;
    new_row(q, row);
}

static const ac_qleaf *leaf_of(const ac_qroot *r, const ac_qproduct *p)
{
    for (int32_t i = 0; i < r->leaf.n; i++)
        if (r->leaf.item[i].product == p)
            return &r->leaf.item[i];
    return NULL;
}

void ac_q_add_bias(const ac_qproduct *p, const float *bias, int64_t samples, float *y)
{
    const int64_t n = ac_q_results(p), rows = samples * ac_tensor_count(p->y) / n;
    for (int64_t i = 0; i < rows && bias; i++)
        for (int64_t c = 0; c < n; c++)
            y[i * n + c] += bias[c];
}

/* The mean of y1 - y2 by channel. */
static double *mean_error(ac_region *r, const ac_qproduct *p, int64_t samples, const float *y1, const float *y2)
{
    const int64_t n = ac_q_results(p), rows = samples * ac_tensor_count(p->y) / n;
    double *mean = AC_NEW_N(r, double, n + 1);
    for (int64_t i = 0; i < rows; i++)
        for (int64_t c = 0; c < n; c++)
            mean[c] += (double)y1[i * n + c] - (double)y2[i * n + c];
    for (int64_t c = 0; c < n; c++)
        mean[c] /= (double)rows;
    return mean;
}

/* The bias in steps of the sums, with the mean error taken off. */
static float *code_bias(ac_qnet *q, ac_region *tmp, ac_qweights *w, const float *bias, const double *off)
{
    float *real = AC_NEW_N(tmp, float, w->n + 1);
    w->bias = AC_NEW_N(q->cx->region, int32_t, w->n + 1);
    for (int64_t c = 0; c < w->n; c++) {
        const double step = (double)w->x_step * (double)w->scale[c];
        const double want = (bias ? (double)bias[c] : 0) + off[c];
        const double code = fmin(fmax(rint(want / step), -INT32_MAX), INT32_MAX);
        w->bias[c] = (int32_t)code;
        real[c] = (float)(code * step);
    }
    return real;
}

static void quantise_product(ac_qnet *q, ac_qstep *s, const ac_qroot *r, const float *bias)
{
    const ac_qproduct *p = s->product;
    ac_qvalue *x = &q->value[p->x->id], *y = &q->value[p->y->id];
    ac_region *tmp = ac_region_open(&q->cx->heap);
    const ac_qleaf *leaf = leaf_of(r, p);
    const int64_t n = ac_tensor_count(p->y);
    float *d = AC_NEW_N(tmp, float, p->channels + 1);
    for (int64_t c = 0; c < p->channels; c++)
        d[c] = r->step[leaf->label[c]] / r->largest;
    ac_qweights *w = s->weights = ac_q_weights(q, p, (const float *)x->coded, (const float *)y->real, d);
    w->x_step = r->largest;
    ac_q_new(q, p->y, true);
    const float *by = ac_q_effective(tmp, p, w, d);
    ac_q_multiply(q, p, (const float *)x->coded, by, q->samples, (float *)y->coded);
    const double *off = mean_error(tmp, p, q->samples, (const float *)y->real, (const float *)y->coded);
    const float *coded_bias = code_bias(q, tmp, w, bias, off);
    /* its own error: these weights on the same inputs, against those of the file; a few samples do */
    const int64_t few = q->samples < FEW_SAMPLES ? q->samples : FEW_SAMPLES;
    float *own = AC_NEW_N(tmp, float, few *n + 1);
    ac_q_multiply(q, p, (const float *)x->coded, p->weight, few, own);
    const double own_db = db_of(own, (const float *)y->coded, few * n);
    ac_q_add_bias(p, bias, q->samples, (float *)y->real);
    ac_q_add_bias(p, coded_bias, q->samples, (float *)y->coded);
    new_row(q, (ac_quantized_row){.tensor = p->y->name,
                                  .op = ac_ops[s->node->op].text,
                                  .weights = true,
                                  .bits = q->o->weight_bits,
                                  .own = own_db,
                                  .alone = HUGE_VAL,
                                  .spread = 1,
                                  .against = db_of((const float *)y->real, (const float *)y->coded, q->samples * n)});
    q->result->integers += r->bits == 8;
    ac_region_close(tmp);
}

static int run_product(ac_qnet *q, ac_qstep *s)
{
    const ac_qproduct *p = s->product;
    ac_qvalue *x = &q->value[p->x->id], *y = &q->value[p->y->id];
    const float *bias = p->bias ? ac_tensor_force(q->cx, p->bias) : NULL;
    ac_qroot *r = ac_q_root_of(q, p->x);
    if (p->bias && !bias)
        return AC_FAIL;
    q->result->products++;
    ac_q_new(q, p->y, false);
    ac_q_multiply(q, p, (const float *)x->real, p->weight, q->samples, (float *)y->real);
    if (r && !ac_q_kept(q, s->node->name) && !ac_q_kept(q, p->y->name)) {
        quantise_product(q, s, r, bias);
        return AC_OK;
    }
    if (x->coded != x->real) {
        ac_q_new(q, p->y, true);
        ac_q_multiply(q, p, (const float *)x->coded, p->weight, q->samples, (float *)y->coded);
        ac_q_add_bias(p, bias, q->samples, (float *)y->coded);
    }
    ac_q_add_bias(p, bias, q->samples, (float *)y->real);
    return AC_OK;
}

/* Values that no node reads any more are freed; those of outputs stay. */
static void release(ac_qnet *q, const ac_node *n)
{
    for (int32_t k = 0; k < n->n_in; k++) {
        const ac_tensor *t = n->in[k];
        if (t && !ac_tensor_is_const(t) && --q->value[t->id].uses == 0 && !t->output)
            ac_q_drop(q, t);
    }
}

int ac_q_walk(ac_qnet *q)
{
    const ac_graph *g = q->g;
    for (int32_t i = 0; i < q->n; i++)
        for (int32_t k = 0; k < q->step[i].node->n_in; k++)
            if (q->step[i].node->in[k])
                q->value[q->step[i].node->in[k]->id].uses++;
    for (int32_t i = 0; i < g->input.n; i++)
        store(q, g->input.item[i]);
    ac_progress_begin(q->cx, "quantizing", q->n);
    for (int32_t i = 0; i < q->n; i++) {
        ac_node *n = q->step[i].node;
        ac_progress_at(q->cx, i);
        AC_TRY(q->step[i].product ? run_product(q, &q->step[i]) : ac_q_run(q, i));
        if (!q->step[i].product && n->op == AC_OP_BATCH_MATMUL && !ac_tensor_is_const(n->in[0]) &&
            !ac_tensor_is_const(n->in[1])) {
            q->result->products++;
            const ac_qroot *x = ac_q_root_of(q, n->in[0]), *y = ac_q_root_of(q, n->in[1]);
            q->result->integers += x && y && x->bits == 8 && y->bits == 8;
        }
        for (int32_t k = 0; k < n->n_out; k++)
            store(q, n->out[k]);
        release(q, n);
    }
    return AC_OK;
}
