/* recurrent_nodes.c - LSTM, GRU and RNN of PyTorch: a SCAN for each layer, whose steps carry the states of both
 * directions; and their cells, which are one step.
 *
 *     input [T,B,I], hx [L*D,B,H], params of layer and direction: w_ih [G*H,I], w_hh [G*H,H], b_ih, b_hh [G*H], and
 *     w_hr [P,H] of an LSTM with projections
 *
 * T steps, batch B, L layers, D directions, H units, G gates (LSTM 4: i f g o; GRU 3: r z n; RNN 1). */
#include "import/pt2/nodes.h"

#include "import/build/flow/sub_graphs.h"
#include "ir/make/compose_moves.h"

#include <inttypes.h>
#include <string.h>

typedef struct net {
    ac_ep_node *n;
    int32_t gates, dirs;
    ac_op act; /* of an RNN */
    bool biases, projects;
    int64_t t, b, h, p; /* p: elements of the hidden state */
} net;

typedef struct weights {
    ac_tensor *w, *r, *wb, *rb, *project;
} weights;

enum { HIDDEN, CELL, STATES };

static int open_net(ac_ep_node *n, net *c)
{
    const char *name = n->row->name;
    *c = (net){.n = n, .gates = strstr(name, "lstm") ? 4 : strstr(name, "gru") ? 3 : 1, .dirs = 1};
    c->act = strstr(name, "relu") ? AC_OP_RELU : AC_OP_TANH;
    return AC_OK;
}

/* x [rows,K] times w' of w [units,K], plus bias */
static ac_tensor *product(const net *c, ac_tensor *x, ac_tensor *w, ac_tensor *bias)
{
    ac_ep_node *n = c->n;
    const ac_tensor *base = w;
    while (base && !ac_tensor_is_const(base))
        base = base->def && base->def->n_in ? base->def->in[0] : NULL;
    if (base)
        return ac_make_dense(&n->b, x, w, bias);
    ac_tensor *y = ac_make_matmul(&n->b, x, w, false, true);
    return bias ? ADD(y, bias) : y;
}

static ac_tensor *gate(const net *c, ac_tensor *x, int32_t g, int32_t count)
{
    return x ? ac_make_slice(&c->n->b, x, x->rank - 1, g * c->h, count * c->h) : NULL;
}

static void lstm_step(const net *c, const weights *w, ac_tensor *x, ac_tensor **h, ac_tensor **s)
{
    ac_ep_node *n = c->n;
    ac_tensor *own = product(c, x, w->w, w->wb ? ADD(w->wb, w->rb) : NULL);
    ac_tensor *g = ADD(own, product(c, *h, w->r, NULL));
    ac_tensor *i = OP1(LOGISTIC, gate(c, g, 0, 1)), *f = OP1(LOGISTIC, gate(c, g, 1, 1)),
              *k = OP1(TANH, gate(c, g, 2, 1)), *o = OP1(LOGISTIC, gate(c, g, 3, 1)), *fresh = MUL(i, k);
    *s = ADD(MUL(f, *s), fresh);
    *h = MUL(o, OP1(TANH, *s));
    if (w->project)
        *h = product(c, *h, w->project, NULL);
}

/* n = tanh(x_n + r * h_n), h = (1 - z) * n + z * h */
static void gru_step(const net *c, const weights *w, ac_tensor *x, ac_tensor **h)
{
    ac_ep_node *n = c->n;
    ac_tensor *own = product(c, x, w->w, w->wb), *old = product(c, *h, w->r, w->rb);
    ac_tensor *from_old = gate(c, old, 0, 2), *rz = OP1(LOGISTIC, ADD(gate(c, own, 0, 2), from_old));
    ac_tensor *r = gate(c, rz, 0, 1), *z = gate(c, rz, 1, 1), *kept = MUL(r, gate(c, old, 2, 1));
    ac_tensor *k = OP1(TANH, ADD(gate(c, own, 2, 1), kept)), *keep = MUL(z, *h);
    ac_tensor *rest = SUB(F32(1), z);
    *h = ADD(MUL(rest, k), keep);
}

/* One step: x [B,I], states before and after. */
static int step(const net *c, const weights *w, ac_tensor *x, ac_tensor *const *was, ac_tensor **now)
{
    ac_ep_node *n = c->n;
    memcpy(now, was, STATES * sizeof *now);
    if (c->gates == 4) {
        lstm_step(c, w, x, &now[HIDDEN], &now[CELL]);
    } else if (c->gates == 3) {
        gru_step(c, w, x, &now[HIDDEN]);
    } else {
        ac_tensor *own = product(c, x, w->w, w->wb ? ADD(w->wb, w->rb) : NULL);
        own = ADD(own, product(c, now[HIDDEN], w->r, NULL));
        now[HIDDEN] = ac_make_1(&n->b, c->act, own);
    }
    return now[HIDDEN] && (c->gates != 4 || now[CELL]) ? AC_OK : AC_FAIL;
}

static int check_weights(const net *c, const weights *w, int64_t in)
{
    ac_ep_node *n = c->n;
    const int64_t all = c->gates * c->h;
    if (w->w->rank != 2 || w->r->rank != 2 || w->w->dim[0] != all || w->r->dim[0] != all || w->w->dim[1] != in ||
        w->r->dim[1] != c->p || (w->wb && (ac_tensor_count(w->wb) != all || !w->rb || ac_tensor_count(w->rb) != all)) ||
        (w->project && (w->project->rank != 2 || w->project->dim[0] != c->p || w->project->dim[1] != c->h)))
        return ac_bad(&n->b, "weights %s and %s do not fit %" PRId64 " inputs and %" PRId64 " units",
                      ac_shape_str(n->r->cx, w->w), ac_shape_str(n->r->cx, w->r), in, c->h);
    return w->w->dtype == AC_F32 ? AC_OK : ac_cannot(&n->b, "its weights are %s", ac_dtype_name(w->w->dtype));
}

/* ------------------------------------------------------------------ layers */

/* Makes the subgraph of both directions; in: the operands of the SCAN. */
static int make_steps(const net *c, const weights *w, ac_sub *sub, ac_tensor *x, ac_tensor *state[2][STATES],
                      ac_tensor **in, ac_attrs_scan *a)
{
    ac_ep_node *n = c->n;
    ac_tensor *was[2][STATES] = {{NULL}}, *now[2][STATES] = {{NULL}}, *element[2];
    for (int32_t d = 0; d < c->dirs; d++)
        for (int32_t i = 0; i < STATES; i++)
            if (state[d][i]) {
                in[a->states++] = state[d][i];
                was[d][i] = ac_sub_input(sub, state[d][i]);
            }
    for (int32_t d = 0; d < c->dirs; d++) {
        in[a->states + a->sequences++] = x;
        element[d] = ac_sub_element(sub, x);
    }
    for (int32_t d = 0; d < c->dirs; d++)
        AC_TRY(step(c, &w[d], element[d], was[d], now[d]));
    for (int32_t d = 0; d < c->dirs; d++)
        for (int32_t i = 0; i < STATES; i++)
            if (state[d][i])
                ac_push(sub->g->region, &sub->g->output, now[d][i]);
    for (int32_t d = 0; d < c->dirs; d++) {
        ac_tensor *y = ac_make_reshape(&n->b, now[d][HIDDEN], 3, (int64_t[]){1, c->b, c->p});
        if (!y)
            return AC_FAIL;
        ac_push(sub->g->region, &sub->g->output, y);
    }
    return AC_OK;
}

/* One layer over x [T,B,I]: *y [T,B,D*P]; state: before the first step, then after the last. */
static int layer(const net *c, const weights *w, ac_tensor *x, ac_tensor *state[2][STATES], ac_tensor **y)
{
    static const int32_t SWAP[AC_MAX_RANK] = {0, 2, 1, 3};
    ac_ep_node *n = c->n;
    ac_sub sub = {0};
    ac_attrs attrs;
    ac_tensor *in[2 * STATES + 2];
    ac_attrs_init(AC_OP_SCAN, &attrs);
    ac_attrs_scan *a = &attrs.scan;
    a->sequences = 0;
    a->parts = c->dirs;
    if (c->dirs == 2)
        a->back = ac_make_list(&n->b, 4, (int64_t[]){0, 1, 0, 1});
    ac_sub_enter(&n->b, &n->r->g, &sub);
    const int rc = make_steps(c, w, &sub, x, state, in, a);
    ac_sub_leave(&n->b, &n->r->g, &sub);
    ac_node *made = rc == AC_OK ? ac_sub_scan(&n->b, &sub, in, a) : NULL;
    for (int32_t d = 0, i = 0; d < c->dirs && made; d++)
        for (int32_t k = 0; k < STATES; k++)
            if (state[d][k])
                state[d][k] = made->out[i++];
    ac_tensor *all = made ? ac_make_transpose(&n->b, made->out[a->states], SWAP) : NULL;
    *y = ac_make_reshape(&n->b, all, 3, (int64_t[]){c->t, c->b, c->dirs * c->p});
    return *y ? AC_OK : AC_FAIL;
}

static ac_tensor *row(const net *c, ac_tensor *x, int64_t i)
{
    ac_tensor *y = x ? ac_make_part(&c->n->b, x, 0, i, 1) : NULL;
    return y ? ac_make_reshape(&c->n->b, y, y->rank - 1, y->dim + 1) : NULL;
}

/* The weights of layer l, direction d, from params; *at moves. */
static int read_weights(const net *c, ac_tensor *const *params, int32_t count, int32_t *at, weights *w)
{
    const int32_t each = 2 + (c->biases ? 2 : 0) + c->projects;
    *w = (weights){.w = NULL};
    if (*at + each > count)
        return ac_bad(&c->n->b, "it has %d parameters", count);
    w->w = params[(*at)++];
    w->r = params[(*at)++];
    if (c->biases) {
        w->wb = params[(*at)++];
        w->rb = params[(*at)++];
    }
    if (c->projects)
        w->project = params[(*at)++];
    return AC_OK;
}

/* The last states of all layers as [L*D,B,H]. */
static ac_tensor *joined(const net *c, ac_tensor *const *part, int32_t count)
{
    ac_ep_node *n = c->n;
    ac_tensor **row_of = AC_NEW_N(n->r->cx->region, ac_tensor *, count + 1);
    for (int32_t i = 0; i < count; i++)
        row_of[i] = part[i] ? ac_make_reshape(&n->b, part[i], 3, (int64_t[]){1, c->b, part[i]->dim[1]}) : NULL;
    return count == 1 ? row_of[0] : ac_make_concat(&n->b, row_of, count, 0);
}

/* The sequence as [T,B,I], and the states as [L*D,B,H]. */
static int read_sequence(net *c, ac_tensor **x, ac_tensor **first, bool *batch_first, bool *single)
{
    static const int32_t SWAP[AC_MAX_RANK] = {1, 0, 2};
    ac_ep_node *n = c->n;
    *x = n->in[0];
    *batch_first = ac_attr_bool(&n->attrs, A_batch_first);
    *single = (*x)->rank == 2;
    if (*single)
        *x = ac_make_reshape(&n->b, *x, 3, (int64_t[]){(*x)->dim[0], 1, (*x)->dim[1]});
    else if (*batch_first && (*x)->rank == 3)
        *x = ac_make_transpose(&n->b, *x, SWAP);
    if (!*x || (*x)->rank != 3 || (*x)->dim[0] < 1)
        return *x ? ac_bad(&n->b, "the sequence is %s", ac_shape_str(n->r->cx, *x)) : AC_FAIL;
    c->t = (*x)->dim[0];
    c->b = (*x)->dim[1];
    for (int32_t k = 0; k < (c->gates == 4 ? 2 : 1); k++) {
        first[k] = n->in[1 + k];
        if (first[k]->rank == 2 && *single)
            first[k] = ac_make_reshape(&n->b, first[k], 3, (int64_t[]){first[k]->dim[0], 1, first[k]->dim[1]});
        if (!first[k] || first[k]->rank != 3 || first[k]->dim[1] != c->b)
            return ac_bad(&n->b, "the first states do not fit the sequence");
    }
    return AC_OK;
}

int ac_ep_do_recurrent(ac_ep_node *n)
{
    static const int32_t SWAP[AC_MAX_RANK] = {1, 0, 2};
    net c;
    ac_tensor *x, *first[STATES] = {NULL}, *state[2][STATES];
    bool batch_first, single;
    AC_TRY(open_net(n, &c));
    const int32_t layers = (int32_t)ac_attr_int(&n->attrs, A_num_layers), states = c.gates == 4 ? 2 : 1;
    const bool train = ac_attr_bool(&n->attrs, A_train);
    c.biases = ac_attr_bool(&n->attrs, A_has_biases);
    c.dirs = ac_attr_bool(&n->attrs, A_bidirectional) ? 2 : 1;
    if (train && ac_attr_float(&n->attrs, A_dropout) > 0 && layers > 1)
        return ac_ep_refuse_training(n, "draws random numbers");
    (void)ac_attr_float(&n->attrs, A_dropout);
    if (n->n_in < 1 + states)
        return ac_error(n->r->cx, n->at, E0102, "it has no first states");
    AC_TRY(read_sequence(&c, &x, first, &batch_first, &single));
    const int32_t total = layers * c.dirs;
    c.p = first[0]->dim[2];
    c.h = first[states - 1]->dim[2];
    c.projects = c.p != c.h;
    ac_tensor **last[STATES];
    for (int32_t k = 0; k < states; k++) {
        last[k] = AC_NEW_N(n->r->cx->region, ac_tensor *, total + 1);
        if (first[k]->dim[0] != total)
            return ac_bad(&n->b, "the first states are %s, expected %d", ac_shape_str(n->r->cx, first[k]), total);
    }
    for (int32_t l = 0, at = 1 + states; l < layers; l++) {
        weights w[2];
        for (int32_t d = 0; d < c.dirs; d++) {
            AC_TRY(read_weights(&c, n->in, n->n_in, &at, &w[d]));
            AC_TRY(check_weights(&c, &w[d], x->dim[2]));
            for (int32_t k = 0; k < STATES; k++)
                state[d][k] = k < states ? row(&c, first[k], l * c.dirs + d) : NULL;
            if (!state[d][HIDDEN])
                return AC_FAIL;
        }
        AC_TRY(layer(&c, w, x, state, &x));
        for (int32_t d = 0; d < c.dirs; d++)
            for (int32_t k = 0; k < states; k++)
                last[k][l * c.dirs + d] = state[d][k];
    }
    if (single)
        x = ac_make_reshape(&n->b, x, 2, (int64_t[]){c.t, c.dirs * c.p});
    AC_TRY(ac_ep_result(n, 0, batch_first && !single ? ac_make_transpose(&n->b, x, SWAP) : x));
    for (int32_t k = 0; k < states; k++) {
        ac_tensor *y = joined(&c, last[k], total);
        y = single && y ? ac_make_reshape(&n->b, y, 2, (int64_t[]){total, y->dim[2]}) : y;
        AC_TRY(ac_ep_result(n, 1 + k, y));
    }
    return AC_OK;
}

/* ------------------------------------------------------------------ cells */

int ac_ep_do_cell(ac_ep_node *n)
{
    net c;
    AC_TRY(open_net(n, &c));
    const int32_t states = c.gates == 4 ? 2 : 1;
    ac_tensor *x = n->in[0], *was[STATES] = {n->in[1], states == 2 ? n->in[2] : NULL}, *now[STATES] = {NULL};
    const weights w = {.w = ac_ep_in(n, 1 + states),
                       .r = ac_ep_in(n, 2 + states),
                       .wb = ac_ep_in(n, 3 + states),
                       .rb = ac_ep_in(n, 4 + states)};
    if (!w.w || !w.r || x->rank != 2 || !was[0] || was[0]->rank != 2 || (states == 2 && !was[1]))
        return ac_bad(&n->b, "its input '%s' is %s", x->name, ac_shape_str(n->r->cx, x));
    c.h = c.p = was[0]->dim[1];
    AC_TRY(check_weights(&c, &w, x->dim[1]));
    AC_TRY(step(&c, &w, x, was, now));
    for (int32_t k = 0; k < states; k++)
        AC_TRY(ac_ep_result(n, k, now[k]));
    return AC_OK;
}
