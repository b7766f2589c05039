/* recurrent_nodes.c - LSTM, GRU and RNN of ONNX: a SCAN, whose steps carry the states of all directions.
 *
 *     X [T,B,I], W [D,G*H,I], R [D,G*H,H], B [D,2*G*H]  ->  Y [T,D,B,H], Y_h [D,B,H], Y_c [D,B,H]
 *
 * T steps, batch B, D directions, G gates (LSTM 4: i o f c; GRU 3: z r h; RNN 1), H units. layout=1 puts the batch
 * first. */
#include "import/build/flow/sub_graphs.h"
#include "import/build/counted.h"
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"
#include "import/onnx/quant_nodes.h"

#include <inttypes.h>
#include <string.h>

typedef struct cell {
    ac_onx_node *n;
    int32_t gates;
    int64_t t, b, i, h;
    int32_t dirs;
    bool reverse;       /* the only direction is the backward one */
    const char *act[6]; /* three for each direction */
    double alpha[6], beta[6];
    double clip;        /* of what enters a gate; 0: none */
    bool coupled;       /* LSTM: the forget gate is 1 - the input gate */
    ac_tensor *lengths; /* i32 [B,1]: of the sequences, if they differ; else NULL */
    ac_tensor *any;     /* bool [B,1]: a sequence has steps; NULL: each has */
    ac_tensor *count;   /* the valid number of steps; NULL: all are */
    ac_tensor *x;       /* [T,B,I]; of a dynamic one as u8, with scale and zero point */
    ac_dtype type;      /* of states and arithmetic: f32, f64 */
    ac_tensor *x_scale, *x_zero;
    bool after;   /* GRU: linear_before_reset */
    bool dynamic; /* DynamicQuantizeLSTM: weights are integers [D,I,4H] and [D,H,4H], with scales and zero points */
} cell;

/* Activations that have parameters, and what these are when the file leaves them out. */
static const struct {
    const char *name;
    bool alpha, beta;
    double a, b;
} PARAMETRIC[] = {{"Affine", true, true, 1, 0},           {"LeakyRelu", true, false, 0.01, 0},
                  {"ThresholdedRelu", true, false, 1, 0}, {"ScaledTanh", true, true, 1, 1},
                  {"HardSigmoid", true, true, 0.2, 0.5},  {"Elu", true, false, 1, 0}};

static ac_tensor *number(cell *c, double v)
{
    return ac_make_number(&c->n->b, c->type, v);
}

static ac_tensor *positive_part(cell *c, ac_tensor *x, ac_tensor *over, double from)
{
    ac_tensor *in[] = {ac_make_2(&c->n->b, AC_OP_GREATER, x, number(c, from)), x, over};
    return in[0] && over ? ac_make_op(&c->n->b, AC_OP_SELECT, in, 3, NULL, AC_NONE) : NULL;
}

/* Activation k of the list. */
static ac_tensor *squash(cell *c, const char *const *act, ac_tensor *x)
{
    ac_onx_node *n = c->n;
    const char *name = *act;
    const double a = c->alpha[act - c->act], b = c->beta[act - c->act];
    if (!x)
        return NULL;
    if (!strcmp(name, "Sigmoid"))
        return OP1(LOGISTIC, x);
    if (!strcmp(name, "Tanh"))
        return OP1(TANH, x);
    if (!strcmp(name, "Relu"))
        return OP1(RELU, x);
    if (!strcmp(name, "Affine")) {
        ac_tensor *shift = number(c, b);
        return ADD(MUL(x, number(c, a)), shift);
    }
    if (!strcmp(name, "LeakyRelu"))
        return positive_part(c, x, MUL(x, number(c, a)), 0);
    if (!strcmp(name, "ThresholdedRelu"))
        return positive_part(c, x, number(c, 0), a);
    if (!strcmp(name, "ScaledTanh")) {
        ac_tensor *scale = number(c, a);
        return MUL(OP1(TANH, MUL(x, number(c, b))), scale);
    }
    if (!strcmp(name, "HardSigmoid"))
        return ac_make_hard_sigmoid(&n->b, x, a, b);
    if (!strcmp(name, "Elu")) {
        ac_tensor *alpha = number(c, a);
        return positive_part(c, x, MUL(OP1(ELU, MIN(x, number(c, 0))), alpha), 0);
    }
    if (!strcmp(name, "Softsign")) {
        ac_tensor *one = number(c, 1);
        return DIV(x, ADD(ABS(x), one));
    }
    if (!strcmp(name, "Softplus"))
        return OP1(SOFTPLUS, x);
    return (void)ac_cannot(&n->b, "its activation is %s", name), NULL;
}

/* Rows d of a parameter [D,..] without the first dimension. */
static ac_tensor *of_direction(cell *c, ac_tensor *p, int32_t d)
{
    if (!p)
        return NULL;
    ac_tensor *row = c->dirs == 1 ? p : ac_make_slice(&c->n->b, p, 0, d, 1);
    return row ? ac_make_reshape(&c->n->b, row, p->rank - 1, p->dim + 1) : NULL;
}

/* Weights of one direction; scale and zero point of integers. */
typedef struct weights {
    ac_tensor *w, *scale, *zero;
} weights;

/* Those of operand i, whose scale and zero point are operands j and j + 1. */
static weights weights_of(cell *c, int32_t i, int32_t j, int32_t d)
{
    weights y = {of_direction(c, c->n->in[i], d), NULL, NULL};
    if (c->dynamic) {
        y.scale = of_direction(c, c->n->in[j], d);
        y.zero = of_direction(c, c->n->in[j + 1], d);
    }
    return y;
}

/* x [rows,K], u8, times w [K,units]. */
static ac_tensor *integer_product(cell *c, ac_tensor *x, ac_tensor *scale, ac_tensor *zero, const weights *m)
{
    ac_onx_node *n = c->n;
    ac_tensor *in[] = {x, m->w, zero, m->zero};
    ac_tensor *y = x && m->w ? ac_make_cast(&n->b, ac_onx_inner(n, "MatMulInteger", 10, in, 4), AC_F32) : NULL;
    return MUL(y, MUL(scale, m->scale));
}

/* x [rows,K] * w' with w [units,K], or, of integers, x as u8 * w with w [K,units]. */
static ac_tensor *product(cell *c, ac_tensor *x, const weights *m)
{
    ac_onx_node *n = c->n;
    if (c->dynamic) {
        ac_tensor *scale = NULL, *zero = NULL, *q = ac_onx_dynamic_quantized(n, x, &scale, &zero);
        return integer_product(c, q, scale, zero, m);
    }
    ac_tensor *base = m->w;
    while (base && !ac_tensor_is_const(base))
        base = base->def && base->def->n_in ? base->def->in[0] : NULL;
    return base && c->type == AC_F32 ? ac_make_dense(&n->b, x, m->w, NULL)
                                     : ac_make_matmul(&n->b, x, m->w, false, true);
}

/* Columns of gate g of a tensor [..,G*H]. */
static ac_tensor *gate(cell *c, ac_tensor *x, int32_t g, int32_t count)
{
    if (!x || count == c->gates)
        return x;
    return ac_make_slice(&c->n->b, x, x->rank - 1, g * c->h, count * c->h);
}

typedef struct direction {
    weights r;       /* recurrent [G*H,H] */
    ac_tensor *rb;   /* their bias, if it cannot be added before the step */
    ac_tensor *peep; /* LSTM: [3H] i o f */
    const char *const *act;
} direction;

/* The same, of x within the bounds of `clip`. */
static ac_tensor *activate(cell *c, const char *const *act, ac_tensor *x)
{
    ac_onx_node *n = c->n;
    ac_tensor *most = c->clip > 0 ? number(c, c->clip) : NULL;
    return squash(c, act, x && most ? MIN(MAX(x, number(c, -c->clip)), most) : x);
}

/* `clip` bounds what enters gates, and not the cell, as in ONNX Runtime. */
static void lstm_step(cell *c, const direction *d, ac_tensor *x, ac_tensor **h, ac_tensor **s)
{
    ac_onx_node *n = c->n;
    ac_tensor *g = ADD(x, product(c, *h, &d->r));
    ac_tensor *i = gate(c, g, 0, 1), *o = gate(c, g, 1, 1), *f = gate(c, g, 2, 1), *k = gate(c, g, 3, 1);
    if (d->peep) {
        i = ADD(i, MUL(ac_make_slice(&n->b, d->peep, 0, 0, c->h), *s));
        f = ADD(f, MUL(ac_make_slice(&n->b, d->peep, 0, 2 * c->h, c->h), *s));
    }
    i = activate(c, &d->act[0], i);
    f = c->coupled ? SUB(number(c, 1), i) : activate(c, &d->act[0], f);
    k = activate(c, &d->act[1], k);
    ac_tensor *fresh = MUL(i, k);
    *s = ADD(MUL(f, *s), fresh);
    if (d->peep)
        o = ADD(o, MUL(ac_make_slice(&n->b, d->peep, 0, c->h, c->h), *s));
    o = activate(c, &d->act[0], o);
    *h = MUL(o, squash(c, &d->act[2], *s));
}

static void gru_step(cell *c, const direction *d, ac_tensor *x, ac_tensor **h)
{
    ac_onx_node *n = c->n;
    const weights rz = {ac_make_slice(&n->b, d->r.w, 0, 0, 2 * c->h), NULL, NULL},
                  rh = {ac_make_slice(&n->b, d->r.w, 0, 2 * c->h, c->h), NULL, NULL};
    ac_tensor *from_h = product(c, *h, &rz), *zr = activate(c, &d->act[0], ADD(gate(c, x, 0, 2), from_h));
    ac_tensor *z = zr ? ac_make_slice(&n->b, zr, 1, 0, c->h) : NULL,
              *r = zr ? ac_make_slice(&n->b, zr, 1, c->h, c->h) : NULL;
    ac_tensor *k;
    if (c->after) {
        k = product(c, *h, &rh);
        k = MUL(r, d->rb ? ADD(k, d->rb) : k);
    } else {
        k = product(c, MUL(r, *h), &rh);
    }
    k = activate(c, &d->act[1], ADD(gate(c, x, 2, 1), k));
    ac_tensor *keep = MUL(z, *h);
    *h = z ? ADD(MUL(SUB(number(c, 1), z), k), keep) : NULL;
}

/* The bias of inputs and recurrence together; of a GRU with linear_before_reset the last third of the latter stays
 * apart. */
static ac_tensor *bias_of(cell *c, ac_tensor *b, direction *d)
{
    ac_onx_node *n = c->n;
    const int64_t all = c->gates * c->h;
    if (!b)
        return NULL;
    ac_tensor *wb = ac_make_slice(&n->b, b, 0, 0, all), *rb = ac_make_slice(&n->b, b, 0, all, all);
    if (!c->after)
        return ADD(wb, rb);
    d->rb = rb ? ac_make_slice(&n->b, rb, 0, 2 * c->h, c->h) : NULL;
    ac_tensor *rzr = wb && rb ? ac_make_slice(&n->b, rb, 0, 0, 2 * c->h) : NULL;
    ac_tensor *part[] = {rzr ? ADD(ac_make_slice(&n->b, wb, 0, 0, 2 * c->h), rzr) : NULL,
                         wb ? ac_make_slice(&n->b, wb, 0, 2 * c->h, c->h) : NULL};
    return ac_make_concat(&n->b, part, 2, 0);
}

static ac_tensor *zeros(cell *c)
{
    const int64_t dim[2] = {c->b, c->h};
    return ac_make_broadcast(&c->n->b, number(c, 0), 2, dim);
}

/* States of one direction; the number of the step is one if sequences have lengths. */
enum { HIDDEN, CELL, STEP, STATES };

/* A step of a sequence that is shorter: the states stay, and the output is 0. */
static int rest(cell *c, ac_tensor *const *was, ac_tensor **now, ac_tensor **y)
{
    ac_onx_node *n = c->n;
    ac_tensor *runs = GREATER(c->lengths, was[STEP]);
    *y = WHERE(runs, now[HIDDEN], number(c, 0));
    now[HIDDEN] = WHERE(runs, now[HIDDEN], was[HIDDEN]);
    if (now[CELL])
        now[CELL] = WHERE(runs, now[CELL], was[CELL]);
    return *y && now[HIDDEN] && !now[CELL] == !was[CELL] ? AC_OK : AC_FAIL;
}

static bool goes_back(const cell *c, int32_t dir)
{
    return dir == 1 || c->reverse;
}

/* Operand i, the states before the first step. Of a sequence without steps the last states are 0, whatever the first
 * ones are, as in ONNX Runtime; so these are 0 too. */
static ac_tensor *first_state(cell *c, int32_t i, int32_t dir)
{
    ac_onx_node *n = c->n;
    ac_tensor *x = ac_onx_in(n, i) ? of_direction(c, n->in[i], dir) : NULL;
    if (!x)
        return ac_onx_in(n, i) ? NULL : zeros(c);
    return c->any ? WHERE(c->any, x, number(c, 0)) : x;
}

static int first_states(cell *c, int32_t dir, ac_tensor **state)
{
    ac_onx_node *n = c->n;
    state[HIDDEN] = first_state(c, 5, dir);
    state[CELL] = c->gates == 4 ? first_state(c, 6, dir) : NULL;
    state[STEP] = !c->lengths ? NULL : ac_make_number(&n->b, AC_I32, goes_back(c, dir) ? (double)(c->t - 1) : 0);
    return state[HIDDEN] && (c->gates != 4 || state[CELL]) && (!c->lengths || state[STEP]) ? AC_OK : AC_FAIL;
}

/* One step of a direction: x [B,I], the states before and after, y [B,H]. */
static int step(cell *c, int32_t dir, ac_tensor *x, ac_tensor *const *was, ac_tensor **now, ac_tensor **y)
{
    ac_onx_node *n = c->n;
    direction d = {.act = c->act + 3 * dir};
    const weights w = weights_of(c, 1, 8, dir);
    ac_tensor *b = of_direction(c, ac_onx_in(n, 3), dir);
    d.r = weights_of(c, 2, 10, dir);
    d.peep = c->gates == 4 ? of_direction(c, ac_onx_in(n, 7), dir) : NULL;
    x = c->dynamic ? integer_product(c, x, c->x_scale, c->x_zero, &w) : product(c, x, &w);
    if (b)
        x = ADD(x, bias_of(c, b, &d));
    memcpy(now, was, STATES * sizeof *now);
    if (c->gates == 4)
        lstm_step(c, &d, x, &now[HIDDEN], &now[CELL]);
    else if (c->gates == 3)
        gru_step(c, &d, x, &now[HIDDEN]);
    else
        now[HIDDEN] = activate(c, &d.act[0], ADD(x, product(c, now[HIDDEN], &d.r)));
    *y = now[HIDDEN];
    if (!*y || !c->lengths)
        return *y ? AC_OK : AC_FAIL;
    ac_tensor *one = ac_make_number(&n->b, AC_I32, goes_back(c, dir) ? -1 : 1);
    now[STEP] = ADD(was[STEP], one);
    return rest(c, was, now, y);
}

/* Makes the subgraph of all directions: state[d][STATES] before the first step; *in: the operands of the SCAN.
 * collects: Y is a result. */
static int make_steps(cell *c, ac_sub *sub, ac_tensor *state[2][STATES], bool collects, ac_tensor **in,
                      ac_attrs_scan *a)
{
    ac_onx_node *n = c->n;
    ac_tensor *was[2][STATES] = {{NULL}}, *now[2][STATES], *x[2], *y[2];
    for (int32_t d = 0; d < c->dirs; d++)
        for (int32_t i = 0; i < STATES; i++)
            if (state[d][i]) {
                in[a->states++] = state[d][i];
                was[d][i] = ac_sub_input(sub, state[d][i]);
            }
    for (int32_t d = 0; d < c->dirs; d++) {
        in[a->states + a->sequences++] = c->x;
        x[d] = ac_sub_element(sub, c->x);
    }
    for (int32_t d = 0; d < c->dirs; d++)
        AC_TRY(step(c, d, x[d], was[d], now[d], &y[d]));
    for (int32_t d = 0; d < c->dirs; d++)
        for (int32_t i = 0; i < STATES; i++)
            if (state[d][i])
                ac_push(sub->g->region, &sub->g->output, now[d][i]);
    for (int32_t d = 0; d < c->dirs && collects; d++) {
        y[d] = ac_make_reshape(&n->b, y[d], 3, (int64_t[]){1, c->b, c->h});
        if (!y[d])
            return AC_FAIL;
        ac_push(sub->g->region, &sub->g->output, y[d]);
    }
    return AC_OK;
}

/* The SCAN of all directions. state[d]: before the first step, then after the last; *y: Y [T,D,B,H], or NULL. */
static int scan(cell *c, ac_tensor *state[2][STATES], bool collects, ac_tensor **y)
{
    ac_onx_node *n = c->n;
    ac_sub sub = {0};
    ac_attrs attrs;
    ac_tensor *in[2 * STATES + 2];
    ac_attrs_init(AC_OP_SCAN, &attrs);
    ac_attrs_scan *a = &attrs.scan;
    a->sequences = 0;
    a->parts = collects ? c->dirs : 1;
    const int64_t back[4] = {goes_back(c, 0), goes_back(c, c->dirs - 1), goes_back(c, 0), goes_back(c, 1)};
    a->back = c->dirs == 2 ? ac_make_list(&n->b, 4, back) : c->reverse ? ac_make_list(&n->b, 2, back) : a->back;
    ac_sub_enter(&n->b, &n->r->g, &sub);
    const int rc = make_steps(c, &sub, state, collects, in, a);
    ac_sub_leave(&n->b, &n->r->g, &sub);
    ac_node *made = rc == AC_OK ? ac_sub_scan(&n->b, &sub, in, a) : NULL;
    for (int32_t d = 0, i = 0; d < c->dirs && made; d++)
        for (int32_t k = 0; k < STATES; k++)
            if (state[d][k])
                state[d][k] = made->out[i++];
    *y = made && collects ? ac_counted_as(made->out[a->states], c->count, 0) : NULL;
    return made ? AC_OK : AC_FAIL;
}

/* State k of all directions: [D,B,H], or [B,D,H] with layout 1. */
static ac_tensor *states(cell *c, ac_tensor *state[2][STATES], int32_t k, bool batch_first)
{
    ac_tensor *part[2];
    for (int32_t d = 0; d < c->dirs; d++)
        part[d] = ac_make_reshape(&c->n->b, state[d][k], 3,
                                  batch_first ? (int64_t[]){c->b, 1, c->h} : (int64_t[]){1, c->b, c->h});
    return c->dirs == 1 ? part[0] : ac_make_concat(&c->n->b, part, c->dirs, batch_first);
}

/* activation_alpha and activation_beta are consumed in the order of the activations that have such a parameter. */
static int read_parameters(cell *c, int32_t each)
{
    int64_t n_alpha, n_beta, at_alpha = 0, at_beta = 0;
    const float *alpha = ac_onx_floats(c->n, "activation_alpha", &n_alpha),
                *beta = ac_onx_floats(c->n, "activation_beta", &n_beta);
    for (int32_t i = 0; i < each * c->dirs; i++) {
        const int32_t k = i / each * 3 + i % each;
        for (size_t p = 0; p < sizeof PARAMETRIC / sizeof *PARAMETRIC; p++) {
            if (strcmp(PARAMETRIC[p].name, c->act[k]) != 0)
                continue;
            c->alpha[k] = PARAMETRIC[p].a;
            c->beta[k] = PARAMETRIC[p].b;
            if (PARAMETRIC[p].alpha && alpha && at_alpha < n_alpha)
                c->alpha[k] = (double)alpha[at_alpha++];
            if (PARAMETRIC[p].beta && beta && at_beta < n_beta)
                c->beta[k] = (double)beta[at_beta++];
        }
    }
    return c->n->r->pb.failed ? AC_FAIL : AC_OK;
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
        return read_parameters(c, each);
    ac_pb_list list = a->strings;
    for (int32_t i = 0; ac_pb_next(&n->r->pb, &list, &word); i++) {
        const char *name = ac_pb_name(&n->r->pb, word);
        if (!name || i >= each * c->dirs)
            return name ? ac_error(n->r->cx, n->at, E0103, "it names more than %d activations", each * c->dirs)
                        : AC_FAIL;
        c->act[i / each * 3 + i % each] = name;
    }
    return n->r->pb.failed ? AC_FAIL : read_parameters(c, each);
}

/* Steps past the valid number are those of shorter sequences. */
static int count_steps(cell *c)
{
    ac_onx_node *n = c->n;
    if (c->x->count_dim != 0)
        return ac_cannot(&n->b, "dimension %d of '%s' %s has a length that depends on data", c->x->count_dim,
                         c->x->name, ac_shape_str(n->r->cx, c->x));
    c->count = c->x->count;
    c->lengths = ac_make_cast(&n->b, ac_make_reshape(&n->b, c->count, 2, (int64_t[]){1, 1}), AC_I32);
    c->lengths = ac_make_broadcast(&n->b, c->lengths, 2, (int64_t[]){c->b, 1});
    return c->lengths ? AC_OK : AC_FAIL;
}

/* Lengths that are all T change nothing. */
static int read_lengths(cell *c)
{
    ac_onx_node *n = c->n;
    ac_tensor *len = ac_onx_in(n, 4);
    bool same = true, empty = false;
    if (c->x->count)
        AC_TRY(count_steps(c));
    if (!len)
        return AC_OK;
    if (len->rank != 1 || len->dim[0] != c->b || !ac_dtype_is_int(len->dtype))
        return ac_error(n->r->cx, n->at, E0104, "lengths '%s' are %s, expected %" PRId64 " integers", len->name,
                        ac_tensor_str(n->r->cx, len), c->b);
    if (ac_tensor_is_const(len)) {
        ac_ints v;
        AC_TRY(ac_operand_values(&n->b, &n->in[4], &v));
        for (int32_t i = 0; i < v.n; i++) {
            same &= v.v[i] >= c->t;
            empty |= v.v[i] < 1;
        }
        if (same)
            return AC_OK;
    }
    c->lengths = ac_make_reshape(&n->b, ac_make_cast(&n->b, len, AC_I32), 2, (int64_t[]){c->b, 1});
    if (c->lengths && (empty || !ac_tensor_is_const(len)))
        c->any = GREATER(c->lengths, ac_make_number(&n->b, AC_I32, 0));
    return c->lengths ? AC_OK : AC_FAIL;
}

static int check(cell *c)
{
    ac_onx_node *n = c->n;
    const ac_tensor *w = n->in[1], *r = n->in[2], *b = ac_onx_in(n, 3);
    if (c->h < 1 || c->h > 1 << 20 || c->t < 1)
        return ac_error(n->r->cx, n->at, E0103, "%" PRId64 " units, %" PRId64 " steps", c->h, c->t);
    const int64_t all = c->gates * c->h;
    const int32_t units = c->dynamic ? 2 : 1, other = 3 - units;
    if ((c->type != AC_F32 && (c->type != AC_F64 || c->dynamic)) ||
        (c->dynamic ? ac_dtype_is_float(w->dtype) : w->dtype != c->type) || w->dtype != r->dtype)
        return ac_cannot(&n->b, "its input is %s", ac_dtype_name(c->type));
    if (w->rank != 3 || r->rank != 3 || w->dim[0] != c->dirs || r->dim[0] != c->dirs || w->dim[units] != all ||
        r->dim[units] != all || w->dim[other] != c->i || r->dim[other] != c->h)
        return ac_error(n->r->cx, n->at, E0104, "weights %s and %s do not fit input %s and %" PRId64 " units",
                        ac_shape_str(n->r->cx, w), ac_shape_str(n->r->cx, r), ac_shape_str(n->r->cx, c->x), c->h);
    if (b && (b->rank != 2 || b->dim[0] != c->dirs || b->dim[1] != 2 * all))
        return ac_error(n->r->cx, n->at, E0104, "bias '%s' is %s, expected [%d,%" PRId64 "]", b->name,
                        ac_shape_str(n->r->cx, b), c->dirs, 2 * all);
    for (int32_t i = 7; i < n->n_in && i < 12; i++) /* weights of peepholes, scales and zero points */
        if (n->in[i] && (n->in[i]->rank < 1 || n->in[i]->dim[0] != c->dirs))
            return ac_error(n->r->cx, n->at, E0104, "operand %d '%s' is %s, expected %d directions first", i,
                            n->in[i]->name, ac_shape_str(n->r->cx, n->in[i]), c->dirs);
    for (int32_t i = 5; i < n->n_in && i < 7; i++)
        if (n->in[i] && (n->in[i]->rank != 3 || ac_tensor_count(n->in[i]) != c->dirs * c->b * c->h))
            return ac_error(n->r->cx, n->at, E0104, "initial state '%s' is %s", n->in[i]->name,
                            ac_shape_str(n->r->cx, n->in[i]));
    if (c->t > INT32_MAX)
        return ac_cannot(&n->b, "it has %" PRId64 " steps", c->t);
    return read_lengths(c);
}

int ac_onx_do_recurrent(ac_onx_node *n)
{
    static const int32_t SWAP[AC_MAX_RANK] = {1, 0, 2}, FIRST[AC_MAX_RANK] = {2, 0, 1, 3};
    cell c = {.n = n, .gates = strstr(n->type, "LSTM") ? 4 : !strcmp(n->type, "GRU") ? 3 : 1};
    ac_tensor *state[2][STATES], *y;
    const char *dir = ac_attr_text(&n->attrs, A_recurrent_direction);
    const bool batch_first = ac_attr_bool(&n->attrs, A_layout);
    c.after = c.gates == 3 && ac_attr_bool(&n->attrs, A_linear_before_reset);
    c.dynamic = !strcmp(n->type, "DynamicQuantizeLSTM");
    for (int32_t i = 8; c.dynamic && i < 12; i++)
        AC_TRY(ac_onx_need(n, i));
    (void)ac_attr_int(&n->attrs, A_output_sequence);
    c.clip = ac_attr_float(&n->attrs, A_clip);
    c.coupled = c.gates == 4 && ac_attr_bool(&n->attrs, A_input_forget);
    if (n->in[0]->rank != 3 || n->in[1]->rank != 3 || n->in[2]->rank != 3)
        return ac_error(n->r->cx, n->at, E0104, "input, weights and recurrent weights must have 3 dimensions");
    c.dirs = !strcmp(dir, "bidirectional") ? 2 : 1;
    c.reverse = !strcmp(dir, "reverse");
    c.x = batch_first ? ac_make_transpose(&n->b, n->in[0], SWAP) : n->in[0];
    if (!c.x)
        return AC_FAIL;
    for (int32_t i = 5; batch_first && i < n->n_in && i < 7; i++)
        if (n->in[i] && n->in[i]->rank == 3)
            n->in[i] = ac_make_transpose(&n->b, n->in[i], SWAP);
    c.type = c.x->dtype;
    c.t = c.x->dim[0];
    c.b = c.x->dim[1];
    c.i = c.x->dim[2];
    c.h = ac_attr_int_or(&n->attrs, A_hidden_size, n->in[2]->dim[c.dynamic ? 1 : 2]);
    AC_TRY(check(&c));
    AC_TRY(read_activations(&c));
    if (c.dynamic && !(c.x = ac_onx_dynamic_quantized(n, c.x, &c.x_scale, &c.x_zero)))
        return AC_FAIL;
    for (int32_t d = 0; d < c.dirs; d++)
        AC_TRY(first_states(&c, d, state[d]));
    AC_TRY(scan(&c, state, n->n_out > 0 && n->out[0], &y));
    if (y)
        AC_TRY(ac_onx_result(n, 0, batch_first ? ac_make_transpose(&n->b, y, FIRST) : y));
    if (n->n_out > 1 && n->out[1])
        AC_TRY(ac_onx_result(n, 1, states(&c, state, HIDDEN, batch_first)));
    return n->n_out > 2 && n->out[2] ? ac_onx_result(n, 2, states(&c, state, CELL, batch_first)) : AC_OK;
}
