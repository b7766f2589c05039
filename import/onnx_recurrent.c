/* LSTM, GRU and RNN of ONNX, unrolled: the products of all inputs with the weights are one product; then come the
 * steps.
 *
 *     X [T,B,I], W [D,G*H,I], R [D,G*H,H], B [D,2*G*H]  ->  Y [T,D,B,H], Y_h [D,B,H], Y_c [D,B,H]
 *
 * T steps, batch B, D directions, G gates (LSTM 4: i o f c; GRU 3: z r h; RNN 1), H units. layout=1 puts the batch
 * first. */
#include "import/onnx_ops.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_STEPS = 512 };

typedef struct cell {
    ac_onx_node *n;
    int32_t gates;
    int64_t t, b, i, h;
    int32_t dirs;
    bool reverse;       /* the only direction is the backward one */
    const char *act[6]; /* three for each direction */
    ac_tensor *x;       /* [T,B,I] */
    bool after;         /* GRU: linear_before_reset */
} cell;

static ac_tensor *activate(cell *c, const char *name, ac_tensor *x)
{
    ac_onx_node *n = c->n;
    if (!strcmp(name, "Sigmoid"))
        return ac_onx_1(n, AC_OP_LOGISTIC, x);
    if (!strcmp(name, "Tanh"))
        return ac_onx_1(n, AC_OP_TANH, x);
    if (!strcmp(name, "Relu"))
        return ac_onx_1(n, AC_OP_RELU, x);
    return (void)ac_onx_cannot(n, "its activation is %s", name), NULL;
}

#define ADD(x, y) ac_onx_2(n, AC_OP_ADD, x, y)
#define SUB(x, y) ac_onx_2(n, AC_OP_SUB, x, y)
#define MUL(x, y) ac_onx_2(n, AC_OP_MUL, x, y)

/* Rows d of a parameter [D,..] without the first dimension. */
static ac_tensor *of_direction(cell *c, ac_tensor *p, int32_t d)
{
    if (!p)
        return NULL;
    ac_tensor *row = c->dirs == 1 ? p : ac_onx_slice(c->n, p, 0, d, 1);
    return row ? ac_onx_reshape(c->n, row, p->rank - 1, p->dim + 1) : NULL;
}

/* x [rows,K] * w' with w [units,K] */
static ac_tensor *product(cell *c, ac_tensor *x, ac_tensor *w)
{
    ac_attrs a;
    ac_tensor *in[] = {x, w}, *base = w;
    if (!x || !w)
        return NULL;
    while (base && !ac_tensor_is_const(base))
        base = base->def && base->def->n_in ? base->def->in[0] : NULL;
    if (base) {
        ac_attrs_init(AC_OP_FULLY_CONNECTED, &a);
        a.dense.keep_dims = true;
        return ac_onx_make(c->n, AC_OP_FULLY_CONNECTED, in, 2, &a, AC_NONE);
    }
    ac_attrs_init(AC_OP_BATCH_MATMUL, &a);
    a.matmul.adj_y = true;
    return ac_onx_make(c->n, AC_OP_BATCH_MATMUL, in, 2, &a, AC_NONE);
}

/* Columns of gate g of a tensor [..,G*H]. */
static ac_tensor *gate(cell *c, ac_tensor *x, int32_t g, int32_t count)
{
    if (!x || count == c->gates)
        return x;
    return ac_onx_slice(c->n, x, x->rank - 1, g * c->h, count * c->h);
}

typedef struct direction {
    ac_tensor *r, *rb; /* recurrent weights [G*H,H]; their bias, where it cannot be added before */
    ac_tensor *peep;   /* LSTM: [3H] i o f */
    const char *const *act;
} direction;

static void lstm_step(cell *c, const direction *d, ac_tensor *x, ac_tensor **h, ac_tensor **s)
{
    ac_onx_node *n = c->n;
    ac_tensor *g = ADD(x, product(c, *h, d->r));
    ac_tensor *i = gate(c, g, 0, 1), *o = gate(c, g, 1, 1), *f = gate(c, g, 2, 1), *k = gate(c, g, 3, 1);
    if (d->peep) {
        i = ADD(i, MUL(ac_onx_slice(n, d->peep, 0, 0, c->h), *s));
        f = ADD(f, MUL(ac_onx_slice(n, d->peep, 0, 2 * c->h, c->h), *s));
    }
    i = activate(c, d->act[0], i);
    f = activate(c, d->act[0], f);
    k = activate(c, d->act[1], k);
    *s = ADD(MUL(f, *s), MUL(i, k));
    if (d->peep)
        o = ADD(o, MUL(ac_onx_slice(n, d->peep, 0, c->h, c->h), *s));
    o = activate(c, d->act[0], o);
    *h = MUL(o, activate(c, d->act[2], *s));
}

static void gru_step(cell *c, const direction *d, ac_tensor *x, ac_tensor **h)
{
    ac_onx_node *n = c->n;
    ac_tensor *rz = ac_onx_slice(n, d->r, 0, 0, 2 * c->h), *rh = ac_onx_slice(n, d->r, 0, 2 * c->h, c->h);
    ac_tensor *zr = activate(c, d->act[0], ADD(gate(c, x, 0, 2), product(c, *h, rz)));
    ac_tensor *z = zr ? ac_onx_slice(n, zr, 1, 0, c->h) : NULL, *r = zr ? ac_onx_slice(n, zr, 1, c->h, c->h) : NULL;
    ac_tensor *k;
    if (c->after) {
        k = product(c, *h, rh);
        k = MUL(r, d->rb ? ADD(k, d->rb) : k);
    } else {
        k = product(c, MUL(r, *h), rh);
    }
    k = activate(c, d->act[1], ADD(gate(c, x, 2, 1), k));
    ac_tensor *keep = MUL(z, *h);
    *h = z ? ADD(MUL(SUB(ac_onx_number(n, AC_F32, 1), z), k), keep) : NULL;
}

/* The bias of inputs and recurrence together; of a GRU with linear_before_reset the last third of the latter stays
 * apart. */
static ac_tensor *bias_of(cell *c, ac_tensor *b, direction *d)
{
    ac_onx_node *n = c->n;
    const int64_t all = c->gates * c->h;
    if (!b)
        return NULL;
    ac_tensor *wb = ac_onx_slice(n, b, 0, 0, all), *rb = ac_onx_slice(n, b, 0, all, all);
    if (!c->after)
        return ADD(wb, rb);
    d->rb = rb ? ac_onx_slice(n, rb, 0, 2 * c->h, c->h) : NULL;
    ac_tensor *part[] = {wb && rb ? ADD(ac_onx_slice(n, wb, 0, 0, 2 * c->h), ac_onx_slice(n, rb, 0, 0, 2 * c->h))
                                  : NULL,
                         wb ? ac_onx_slice(n, wb, 0, 2 * c->h, c->h) : NULL};
    return ac_onx_concat(n, part, 2, 0);
}

static ac_tensor *zeros(cell *c)
{
    const int64_t dim[2] = {c->b, c->h};
    return ac_onx_broadcast(c->n, ac_onx_number(c->n, AC_F32, 0), 2, dim);
}

/* One direction: y[t] are [B,H]; *h and *s the last state. */
static int run(cell *c, int32_t dir, ac_tensor **y, ac_tensor **h, ac_tensor **s)
{
    ac_onx_node *n = c->n;
    const int32_t h0 = 5;
    direction d = {.act = c->act + 3 * dir};
    ac_tensor *w = of_direction(c, n->in[1], dir), *b = of_direction(c, ac_onx_in(n, 3), dir);
    d.r = of_direction(c, n->in[2], dir);
    d.peep = c->gates == 4 ? of_direction(c, ac_onx_in(n, 7), dir) : NULL;
    *h = ac_onx_in(n, h0) ? of_direction(c, n->in[h0], dir) : zeros(c);
    *s = c->gates != 4 ? NULL : ac_onx_in(n, 6) ? of_direction(c, n->in[6], dir) : zeros(c);
    ac_tensor *x = product(c, ac_onx_reshape(n, c->x, 2, (int64_t[]){c->t * c->b, c->i}), w);
    ac_tensor *bias = b ? bias_of(c, b, &d) : NULL;
    if (b)
        x = ADD(x, bias);
    for (int64_t k = 0; k < c->t; k++) {
        const int64_t t = dir == 1 || c->reverse ? c->t - 1 - k : k;
        ac_tensor *now = x ? ac_onx_slice(n, x, 0, t * c->b, c->b) : NULL;
        if (c->gates == 4)
            lstm_step(c, &d, now, h, s);
        else if (c->gates == 3)
            gru_step(c, &d, now, h);
        else
            *h = activate(c, d.act[0], ADD(now, product(c, *h, d.r)));
        if (!*h)
            return AC_FAIL;
        y[t] = *h;
    }
    return AC_OK;
}

/* [D] tensors [B,H] -> [D,B,H], or [B,D,H] with layout 1. */
static ac_tensor *states(cell *c, ac_tensor *const *v, bool batch_first)
{
    ac_tensor *part[2];
    for (int32_t d = 0; d < c->dirs; d++)
        part[d] = ac_onx_reshape(c->n, v[d], 3, batch_first ? (int64_t[]){c->b, 1, c->h} : (int64_t[]){1, c->b, c->h});
    return c->dirs == 1 ? part[0] : ac_onx_concat(c->n, part, c->dirs, batch_first);
}

/* y[d][t] [B,H] -> [T,D,B,H], or [B,T,D,H] with layout 1. */
static ac_tensor *sequence(cell *c, ac_tensor **const *y, bool batch_first)
{
    ac_tensor *part[2], **step = AC_NEW_N(c->n->r->cx->region, ac_tensor *, c->t + 1);
    for (int32_t d = 0; d < c->dirs; d++) {
        for (int64_t t = 0; t < c->t; t++)
            step[t] = ac_onx_reshape(c->n, y[d][t], 4,
                                     batch_first ? (int64_t[]){c->b, 1, 1, c->h} : (int64_t[]){1, 1, c->b, c->h});
        part[d] = c->t == 1 ? step[0] : ac_onx_concat(c->n, step, (int32_t)c->t, batch_first);
    }
    return c->dirs == 1 ? part[0] : ac_onx_concat(c->n, part, c->dirs, batch_first ? 2 : 1);
}

static int read_activations(cell *c)
{
    static const char *const INIT[3][3] = {
        {"Tanh", "Tanh", "Tanh"}, {"Sigmoid", "Tanh", "Tanh"}, {"Sigmoid", "Tanh", "Tanh"}};
    ac_onx_node *n = c->n;
    ac_onx_attr *a = ac_onx_attr_of(n, "activations");
    const int32_t each = c->gates == 4 ? 3 : c->gates == 3 ? 2 : 1;
    ac_span word;
    for (int32_t i = 0; i < 6; i++)
        c->act[i] = INIT[each - 1][i % 3];
    if (!a)
        return AC_OK;
    ac_pb_list list = a->strings;
    for (int32_t i = 0; ac_pb_next(&n->r->pb, &list, &word); i++) {
        const char *name = ac_onx_name(n->r, word);
        if (!name || i >= each * c->dirs)
            return name ? ac_error(n->r->cx, n->at, E0103, "it names more than %d activations", each * c->dirs)
                        : AC_FAIL;
        c->act[i / each * 3 + i % each] = name;
    }
    return n->r->pb.failed ? AC_FAIL : AC_OK;
}

static int check(cell *c)
{
    ac_onx_node *n = c->n;
    const ac_tensor *w = n->in[1], *r = n->in[2], *b = ac_onx_in(n, 3);
    if (c->h < 1 || c->h > 1 << 20 || c->t < 1)
        return ac_error(n->r->cx, n->at, E0103, "%" PRId64 " units, %" PRId64 " steps", c->h, c->t);
    const int64_t all = c->gates * c->h;
    if (c->x->dtype != AC_F32 || w->dtype != AC_F32 || r->dtype != AC_F32)
        return ac_onx_cannot(n, "its input is %s", ac_dtype_name(c->x->dtype));
    if (w->rank != 3 || r->rank != 3 || w->dim[0] != c->dirs || r->dim[0] != c->dirs || w->dim[1] != all ||
        r->dim[1] != all || w->dim[2] != c->i || r->dim[2] != c->h ||
        (b && (b->rank != 2 || b->dim[0] != c->dirs || b->dim[1] != 2 * all)))
        return ac_error(n->r->cx, n->at, E0104, "weights %s and %s do not fit input %s and %" PRId64 " units",
                        ac_shape_str(n->r->cx, w), ac_shape_str(n->r->cx, r), ac_shape_str(n->r->cx, c->x), c->h);
    for (int32_t i = 5; i < n->n_in && i < 7; i++)
        if (n->in[i] && (n->in[i]->rank != 3 || ac_tensor_count(n->in[i]) != c->dirs * c->b * c->h))
            return ac_error(n->r->cx, n->at, E0104, "initial state '%s' is %s", n->in[i]->name,
                            ac_shape_str(n->r->cx, n->in[i]));
    if (c->t > MOST_STEPS)
        return ac_onx_cannot(n, "it has %" PRId64 " steps; up to %d are unrolled", c->t, MOST_STEPS);
    if (ac_onx_in(n, 4)) {
        ac_ints len;
        AC_TRY(ac_onx_values(n, 4, &len));
        for (int32_t i = 0; i < len.n; i++)
            if (len.v[i] != c->t)
                return ac_onx_cannot(n, "its sequences differ in length");
    }
    return AC_OK;
}

int ac_onx_do_recurrent(ac_onx_node *n)
{
    static const int32_t SWAP[AC_MAX_RANK] = {1, 0, 2};
    cell c = {.n = n, .gates = !strcmp(n->type, "LSTM") ? 4 : !strcmp(n->type, "GRU") ? 3 : 1};
    ac_tensor *h[2], *s[2], **y[2];
    const char *dir = ac_onx_str(n, "direction", "forward");
    const bool batch_first = ac_onx_int(n, "layout", 0) != 0;
    c.after = c.gates == 3 && ac_onx_int(n, "linear_before_reset", 0) != 0;
    (void)ac_onx_int(n, "output_sequence", 0);
    if (ac_onx_float(n, "clip", 0) != 0.0f || ac_onx_int(n, "input_forget", 0) ||
        ac_onx_attr_of(n, "activation_alpha") || ac_onx_attr_of(n, "activation_beta"))
        return ac_onx_cannot(n, "it sets clip, input_forget or parameters of its activations");
    if (n->in[0]->rank != 3 || n->in[1]->rank != 3 || n->in[2]->rank != 3)
        return ac_error(n->r->cx, n->at, E0104, "input, weights and recurrent weights must have 3 dimensions");
    c.dirs = !strcmp(dir, "bidirectional") ? 2 : 1;
    c.reverse = !strcmp(dir, "reverse");
    c.x = batch_first ? ac_onx_transpose(n, n->in[0], SWAP) : n->in[0];
    if (!c.x)
        return AC_FAIL;
    for (int32_t i = 5; batch_first && i < n->n_in && i < 7; i++)
        if (n->in[i] && n->in[i]->rank == 3)
            n->in[i] = ac_onx_transpose(n, n->in[i], SWAP);
    c.t = c.x->dim[0];
    c.b = c.x->dim[1];
    c.i = c.x->dim[2];
    c.h = ac_onx_int(n, "hidden_size", n->in[2]->dim[2]);
    AC_TRY(check(&c));
    AC_TRY(read_activations(&c));
    for (int32_t d = 0; d < c.dirs; d++) {
        y[d] = AC_NEW_N(n->r->cx->region, ac_tensor *, c.t);
        AC_TRY(run(&c, d, y[d], &h[d], &s[d]));
    }
    if (n->n_out > 0 && n->out[0])
        AC_TRY(ac_onx_result(n, 0, sequence(&c, y, batch_first)));
    if (n->n_out > 1 && n->out[1])
        AC_TRY(ac_onx_result(n, 1, states(&c, h, batch_first)));
    return n->n_out > 2 && n->out[2] ? ac_onx_result(n, 2, states(&c, s, batch_first)) : AC_OK;
}
