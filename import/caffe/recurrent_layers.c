/* recurrent_layers.c - recurrent layers of Caffe, step by step: sequences are [T,N,..], and zeros in a second bottom
 * [T,N] mark where one begins. State that Caffe carries over between runs starts as zero here. */
#include "import/caffe/layers.h"

#include <inttypes.h>
#include <string.h>

#define MAKER (&l->b)
#include "ir/make/formula.h"

enum { MOST_STEPS = 1024 };

typedef struct recurrent {
    int64_t steps, batch, width, hidden;
    bool exposed;                /* the first state is a bottom, the last a top */
    ac_tensor *sequence, *fixed; /* [T,N,I], [N,S] or NULL */
} recurrent;

static int open_recurrent(ac_caf_layer *l, int32_t states, recurrent *r)
{
    ac_attrs_reader *m = ac_caf_message(l, "recurrent_param");
    ac_tensor *x = l->in[0];
    *r = (recurrent){.width = 1};
    r->hidden = ac_attr_int(m, A_num_output);
    r->exposed = ac_attr_bool(m, A_expose_hidden);
    if (x->rank < 2 || l->in[1]->rank != 2 || l->in[1]->dim[0] != x->dim[0] || l->in[1]->dim[1] != x->dim[1])
        return ac_bad(&l->b, "bottoms '%s' %s and '%s' %s are not a sequence [T,N,..] and its beginnings [T,N]",
                      x->name, ac_shape_str(l->r->cx, x), l->in[1]->name, ac_shape_str(l->r->cx, l->in[1]));
    const int32_t extra = l->n_in - 2 - (r->exposed ? states : 0);
    if (extra < 0 || extra > 1 || l->n_out != 1 + (r->exposed ? states : 0))
        return ac_error(l->r->cx, l->at, E0102, "has %d bottoms and %d tops", l->n_in, l->n_out);
    r->steps = x->dim[0];
    r->batch = x->dim[1];
    for (int32_t d = 2; d < x->rank; d++)
        r->width *= x->dim[d];
    if (r->steps > MOST_STEPS)
        return ac_cannot(&l->b, "it has %" PRId64 " steps; supported are up to %d", r->steps, MOST_STEPS);
    r->sequence = ac_make_reshape(&l->b, x, 3, (int64_t[]){r->steps, r->batch, r->width});
    if (extra) {
        const ac_tensor *s = l->in[2];
        if (s->rank < 1 || s->dim[0] != r->batch)
            return ac_bad(&l->b, "bottom '%s' %s does not fit a batch of %" PRId64, s->name, ac_shape_str(l->r->cx, s),
                          r->batch);
        const int64_t dim[2] = {r->batch, r->batch ? ac_tensor_count(s) / r->batch : 0};
        r->fixed = ac_make_reshape(&l->b, l->in[2], 2, dim);
    }
    return AC_OK;
}

/* The common part of all steps: the sequence and the constant operand, times their weights. [T,N,outputs] */
static ac_tensor *from_input(ac_caf_layer *l, recurrent *r, int64_t outputs)
{
    const int64_t dim[2] = {outputs, r->width}, rows = r->steps * r->batch;
    ac_tensor *w = ac_caf_weight(l, "weights_input", 2, dim), *bias = ac_caf_weight(l, "bias", 1, &outputs);
    ac_tensor *y = ac_make_dense(&l->b, ac_make_reshape(&l->b, r->sequence, 2, (int64_t[]){rows, r->width}), w, bias);
    y = ac_make_reshape(&l->b, y, 3, (int64_t[]){r->steps, r->batch, outputs});
    if (!r->fixed)
        return y;
    const int64_t wide[2] = {outputs, r->fixed->dim[1]};
    return ADD(y, ac_make_dense(&l->b, r->fixed, ac_caf_weight(l, "weights_static", 2, wide), NULL));
}

/* Step t of [T,..] without its first dimension. */
static ac_tensor *step(ac_caf_layer *l, ac_tensor *x, int64_t t, int64_t rows, int64_t columns)
{
    return ac_make_reshape(&l->b, ac_make_slice(&l->b, x, 0, t, 1), 2, (int64_t[]){rows, columns});
}

static ac_tensor *first_state(ac_caf_layer *l, const recurrent *r, int32_t i)
{
    const int64_t dim[2] = {r->batch, r->hidden};
    if (r->exposed)
        return ac_make_reshape(&l->b, l->in[l->n_in - i], 2, dim);
    return ac_make_broadcast(&l->b, F32(0), 2, dim);
}

static int finish(ac_caf_layer *l, const recurrent *r, ac_tensor **out)
{
    const int64_t dim[3] = {1, r->batch, r->hidden};
    for (int64_t t = 0; t < r->steps; t++)
        out[t] = ac_make_reshape(&l->b, out[t], 3, dim);
    return ac_caf_result(l, 0, r->steps == 1 ? out[0] : ac_make_concat(&l->b, out, (int32_t)r->steps, 0));
}

/* Gates: input, forget, output, new. */
int ac_caf_do_lstm(ac_caf_layer *l)
{
    recurrent r;
    AC_TRY(open_recurrent(l, 2, &r));
    ac_tensor *x = from_input(l, &r, 4 * r.hidden);
    ac_tensor *w = ac_caf_weight(l, "weights_hidden", 2, (int64_t[]){4 * r.hidden, r.hidden});
    ac_tensor *h = first_state(l, &r, 2), *c = first_state(l, &r, 1);
    ac_tensor **out = AC_NEW_N(l->r->cx->region, ac_tensor *, r.steps + 1);
    if (!x || !w || !h || !c || !r.steps)
        return AC_FAIL;
    for (int64_t t = 0; t < r.steps; t++) {
        ac_tensor *keep = step(l, l->in[1], t, r.batch, 1), *gate[4];
        ac_tensor *from_h = ac_make_dense(&l->b, MUL(h, keep), w, NULL);
        ac_tensor *all = ADD(step(l, x, t, r.batch, 4 * r.hidden), from_h);
        for (int32_t g = 0; g < 4; g++) {
            ac_tensor *part = ac_make_slice(&l->b, all, 1, g * r.hidden, r.hidden);
            gate[g] = g < 3 ? OP1(LOGISTIC, part) : OP1(TANH, part);
        }
        ac_tensor *fresh = MUL(gate[0], gate[3]);
        c = ADD(MUL(MUL(keep, gate[1]), c), fresh);
        h = out[t] = MUL(gate[2], OP1(TANH, c));
    }
    const int64_t dim[3] = {1, r.batch, r.hidden};
    if (r.exposed) {
        AC_TRY(ac_caf_result(l, 1, ac_make_reshape(&l->b, h, 3, dim)));
        AC_TRY(ac_caf_result(l, 2, ac_make_reshape(&l->b, c, 3, dim)));
    }
    return finish(l, &r, out);
}

int ac_caf_do_rnn(ac_caf_layer *l)
{
    recurrent r;
    AC_TRY(open_recurrent(l, 1, &r));
    const int64_t square[2] = {r.hidden, r.hidden};
    ac_tensor *x = from_input(l, &r, r.hidden), *w = ac_caf_weight(l, "weights_hidden", 2, square);
    ac_tensor *to = ac_caf_weight(l, "weights_output", 2, square),
              *bias = ac_caf_weight(l, "bias_output", 1, &r.hidden);
    ac_tensor *h = first_state(l, &r, 1);
    ac_tensor **out = AC_NEW_N(l->r->cx->region, ac_tensor *, r.steps + 1);
    if (!x || !w || !to || !bias || !h || !r.steps)
        return AC_FAIL;
    for (int64_t t = 0; t < r.steps; t++) {
        ac_tensor *keep = step(l, l->in[1], t, r.batch, 1);
        ac_tensor *from_x = step(l, x, t, r.batch, r.hidden);
        h = OP1(TANH, ADD(ac_make_dense(&l->b, MUL(h, keep), w, NULL), from_x));
        out[t] = OP1(TANH, ac_make_dense(&l->b, h, to, bias));
    }
    if (r.exposed)
        AC_TRY(ac_caf_result(l, 1, ac_make_reshape(&l->b, h, 3, (int64_t[]){1, r.batch, r.hidden})));
    return finish(l, &r, out);
}
