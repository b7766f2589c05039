/* lora.c - a weight that stays as it is, and a product of two thin matrices that is added to it and trains (Hu et al.,
 * LoRA, 2021). A weight is a matrix whose rows are its first dimension of more than one element.
 *
 * before:  const %w: f32[64,3,3,16]                            .. = conv_2d %x %w
 * after:   state %w.lora_B: f32[64,4] (zeros)   state %w.lora_A: f32[4,144] (random)
 *          %p = batch_matmul %w.lora_B %w.lora_A   %r = reshape %p   %s = add %w %r   .. = conv_2d %x %s */
#include "base/random.h"
#include "ir/train/make.h"

#include <math.h>
#include <string.h>

/* Of w as a matrix. */
static int64_t rows_of(const ac_tensor *w)
{
    int32_t d = 0;
    while (d < w->rank && w->dim[d] == 1)
        d++;
    return d < w->rank ? w->dim[d] : 1;
}

int64_t ac_train_rank(const ac_train_spec *o, const ac_tensor *w)
{
    const int64_t rows = rows_of(w), cols = rows ? ac_tensor_count(w) / rows : 0;
    for (int32_t i = 0; i < o->n_lora; i++)
        if (ac_train_named(&o->lora[i].pattern, 1, w->name) && rows > 1 && cols > 1) {
            const int64_t most = rows < cols ? rows : cols;
            return o->lora[i].rank < most ? o->lora[i].rank : most;
        }
    return 0;
}

/* Numbers from -bound to bound, each of its place and the seed alone. */
static const float *spread(ac_ctx *cx, uint64_t seed, int64_t n, double bound)
{
    float *v = AC_NEW_N(cx->region, float, n + 1);
    for (int64_t i = 0; i < n; i++) {
        const double u = (double)(ac_splitmix64(&seed) >> 11) * 0x1p-53;
        v[i] = (float)((2 * u - 1) * bound);
    }
    return v;
}

static ac_tensor *factor(ac_ctx *cx, ac_graph *g, ac_train_step *s, const char *name, const int64_t *dim,
                         const float *first)
{
    ac_tensor *t = ac_tensor_new(g, name, AC_F32, 2, dim);
    ac_train_weight w = {.name = t->name, .state = t, .dtype = AC_F32, .rank = 2, .first = first, .factor = true};
    t->state = true;
    t->data = first;
    w.dim[0] = dim[0];
    w.dim[1] = dim[1];
    ac_push(cx->region, &s->weight, w);
    return t;
}

static int adapt(ac_ctx *cx, ac_graph *g, ac_train_step *s, ac_tensor *w)
{
    const int64_t rank = ac_train_rank(s->spec, w), rows = rows_of(w), cols = ac_tensor_count(w) / rows;
    const ac_maker m = ac_train_maker(g, ac_internf(cx, "%s.lora", w->name), 0);
    const uint64_t seed = s->spec->seed * 0xd1342543de82ef95u + (uint64_t)s->lora.n * 0x2545f4914f6cdd1du;
    ac_train_lora one = {.name = w->name, .rank = w->rank, .first = ac_tensor_force(cx, w), .factors = s->weight.n};
    for (int32_t d = 0; d < w->rank; d++)
        one.dim[d] = w->dim[d];
    ac_tensor *b = factor(cx, g, s, ac_internf(cx, "%s.lora_B", w->name), (int64_t[]){rows, rank},
                          AC_NEW_N(cx->region, float, rows *rank + 1));
    ac_tensor *a = factor(cx, g, s, ac_internf(cx, "%s.lora_A", w->name), (int64_t[]){rank, cols},
                          spread(cx, seed, rank * cols, 1 / sqrt((double)cols)));
    ac_tensor *p = ac_make_reshape(&m, ac_make_2(&m, AC_OP_BATCH_MATMUL, b, a), w->rank, w->dim);
    ac_tensor *sum = ac_make_2(&m, AC_OP_ADD, w, p);
    if (!sum || !one.first)
        return AC_FAIL;
    ac_tensor_replace(g, w, sum);
    sum->def->in[0] = w;
    w->weight = false;
    ac_push(cx->region, &s->lora, one);
    return AC_OK;
}

static int matches_none(ac_ctx *cx, const ac_graph *g, const char *pattern)
{
    ac_error(cx, (ac_place){.file = g->file}, E0110, "--lora: no weight of two dimensions or more matches '%s'",
             pattern);
    return ac_help(cx, "'*' matches any text; --freeze goes before --lora");
}

int ac_train_adapt(ac_ctx *cx, ac_graph *g, ac_train_step *s, const bool *read)
{
    const ac_train_spec *o = s->spec;
    const int32_t n = g->node.n, n_tensors = g->tensor.n;
    if (!o->n_lora)
        return AC_OK;
    ac_node **old = ac_copy(cx->region, g->node.item, (size_t)(n + 1) * sizeof *old);
    for (int32_t i = 0; i < n_tensors; i++) {
        ac_tensor *t = g->tensor.item[i];
        if (read[i] && t->weight && ac_tensor_is_const(t) && t->dtype == AC_F32 && ac_train_rank(o, t) &&
            !ac_train_named(o->freeze, o->n_freeze, t->name))
            AC_TRY(adapt(cx, g, s, t));
    }
    /* New nodes come first: the others read them. */
    const int32_t added = g->node.n - n;
    memmove(g->node.item, g->node.item + n, (size_t)added * sizeof *old);
    memcpy(g->node.item + added, old, (size_t)n * sizeof *old);
    return s->lora.n ? AC_OK : matches_none(cx, g, o->lora[0].pattern);
}

const float *ac_train_merged(ac_ctx *cx, const ac_train_step *s, int32_t i, const float *b, const float *a)
{
    const ac_train_lora *l = &s->lora.item[i];
    const int64_t rank = s->weight.item[l->factors].dim[1], cols = s->weight.item[l->factors + 1].dim[1];
    const int64_t n = ac_dim_product(l->dim, 0, l->rank);
    float *out = AC_NEW_N(cx->region, float, n + 1);
    for (int64_t e = 0; e < n; e++) {
        float sum = 0;
        for (int64_t k = 0; k < rank; k++)
            sum += b[e / cols * rank + k] * a[k * cols + e % cols];
        out[e] = l->first[e] + sum;
    }
    return out;
}
