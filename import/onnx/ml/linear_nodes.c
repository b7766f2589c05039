/* linear_nodes.c - ai.onnx.ml: linear models and support vector machines. */
#include "import/onnx/ml/labels.h"
#include "import/onnx/proto/arithmetic.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <string.h>

/* Rows of f32 [N,F]; a vector is one row. */
static ac_tensor *rows_of(ac_onx_node *n)
{
    ac_tensor *x = ac_make_cast(&n->b, n->in[0], AC_F32);
    if (x && x->rank == 1)
        x = ac_make_reshape(&n->b, x, 2, (int64_t[]){1, x->dim[0]});
    if (x && (x->rank != 2 || x->dim[1] < 1))
        return (void)ac_bad(&n->b, "'%s' is %s, expected rows of numbers [N,F]", x->name, ac_shape_str(n->r->cx, x)),
               NULL;
    return x;
}

/* The numbers of a list as a constant [rows,columns]; `columns` -1: any number. */
static ac_tensor *matrix(ac_onx_node *n, const char *name, int64_t columns, int64_t *rows)
{
    int64_t count;
    const float *v = ac_onx_floats(n, name, &count);
    if (!v || columns < 1 || count % columns)
        return (void)ac_error(n->r->cx, n->at, E0103, "%s has %" PRId64 " numbers for %" PRId64 " columns", name, count,
                              columns),
               NULL;
    *rows = count / columns;
    return ac_make_floats(&n->b, 2, (int64_t[]){*rows, columns}, v);
}

/* x * w' + b: b of attribute `name`, one number for each row of w, or left out. */
static ac_tensor *linear(ac_onx_node *n, ac_tensor *x, int64_t *targets)
{
    int64_t count;
    ac_tensor *w = matrix(n, "coefficients", x->dim[1], targets);
    const float *b = ac_onx_floats(n, "intercepts", &count);
    if (!w || (b && count != *targets))
        return w ? ((void)ac_error(n->r->cx, n->at, E0103, "intercepts has %" PRId64 " numbers for %" PRId64, count,
                                   *targets),
                    NULL)
                 : NULL;
    return ac_make_dense(&n->b, x, w, b ? ac_make_floats(&n->b, 1, &count, b) : NULL);
}

int ac_onx_do_linear_regressor(ac_onx_node *n)
{
    ac_tensor *x = rows_of(n);
    const int64_t want = ac_attr_int(&n->attrs, A_targets);
    int64_t targets = 0;
    const char *post = ac_attr_text(&n->attrs, A_post_transform);
    ac_tensor *y = x ? linear(n, x, &targets) : NULL;
    if (y && targets != want)
        return ac_error(n->r->cx, n->at, E0103, "it has coefficients for %" PRId64 " targets, not %" PRId64, targets,
                        want);
    return ac_onx_result(n, 0, ac_onx_post_targets(n, post, y));
}

/* One score of two classes: the other is 1 less it, or its opposite. */
static ac_tensor *with_other(ac_onx_node *n, ac_tensor *s, bool opposite)
{
    ac_tensor *part[] = {opposite ? NEG(s) : SUB(F32(1), s), s};
    return part[0] && s ? ac_make_concat(&n->b, part, 2, 1) : NULL;
}

int ac_onx_do_linear_classifier(ac_onx_node *n)
{
    ac_tensor *x = rows_of(n);
    ac_labels labels;
    int64_t targets = 0;
    const char *post = ac_attr_text(&n->attrs, A_post_transform);
    (void)ac_attr_int(&n->attrs, A_multi_class);
    AC_TRY(ac_onx_labels(n, &labels));
    ac_tensor *y = x ? linear(n, x, &targets) : NULL;
    if (!y || (targets != labels.n && !(targets == 1 && labels.n == 2)))
        return y ? ac_error(n->r->cx, n->at, E0103, "it has %" PRId64 " scores for %" PRId64 " classes", targets,
                            labels.n)
                 : AC_FAIL;
    ac_tensor *index = targets == 1 ? ac_onx_second(n, y, 0) : ac_onx_greatest(n, y);
    AC_TRY(ac_onx_result(n, 0, ac_onx_labelled(n, &labels, index)));
    if (targets > 1 || labels.n < 2)
        return ac_onx_result(n, 1, ac_onx_post(n, post, y));
    if (!strcmp(post, "LOGISTIC"))
        return ac_onx_result(n, 1, ac_onx_post(n, post, with_other(n, y, true)));
    return ac_onx_result(n, 1, with_other(n, y, false));
}

/* ------------------------------------------------------------------ support vector machines */

typedef struct machine {
    const char *kernel;
    double gamma, coef0, degree;
    int64_t vectors;        /* 0: linear, coefficients are weights of features */
    ac_tensor *support, *k; /* [V,F]; kernels [N,V] */
    const float *coefficient, *rho;
    int64_t n_coefficients, n_rho;
} machine;

/* How like x [N,F] is to each vector: [N,V]. */
static ac_tensor *kernels(ac_onx_node *n, const machine *m, ac_tensor *x)
{
    if (!strcmp(m->kernel, "RBF")) {
        ac_tensor *a = ac_make_reshape(&n->b, x, 3, (int64_t[]){x->dim[0], 1, x->dim[1]});
        ac_tensor *b = ac_make_reshape(&n->b, m->support, 3, (int64_t[]){1, m->vectors, x->dim[1]});
        ac_tensor *far = ac_make_reduce(&n->b, AC_OP_SUM, OP2(SQUARED_DIFFERENCE, a, b), 4, false);
        far = MUL(far, F32(-m->gamma));
        return far ? EXP(far) : NULL;
    }
    ac_tensor *dot = ac_make_dense(&n->b, x, m->support, NULL);
    if (!strcmp(m->kernel, "LINEAR"))
        return dot;
    ac_tensor *shift = F32(m->coef0);
    dot = ADD(MUL(dot, F32(m->gamma)), shift);
    if (!strcmp(m->kernel, "SIGMOID"))
        return dot ? OP1(TANH, dot) : NULL;
    if (!strcmp(m->kernel, "POLY"))
        return OP2(POW, dot, F32(m->degree));
    return (void)ac_error(n->r->cx, n->at, E0103, "kernel_type is '%s'", m->kernel), NULL;
}

static int read_machine(ac_onx_node *n, machine *m, ac_tensor *x)
{
    int64_t count, vectors = 0;
    m->kernel = ac_attr_text(&n->attrs, A_kernel_type);
    const float *params = ac_onx_floats(n, "kernel_params", &count);
    m->gamma = count > 0 ? (double)params[0] : 0;
    m->coef0 = count > 1 ? (double)params[1] : 0;
    m->degree = count > 2 ? (double)params[2] : 0;
    m->coefficient = ac_onx_floats(n, "coefficients", &m->n_coefficients);
    m->rho = ac_onx_floats(n, "rho", &m->n_rho);
    if (!m->coefficient || !m->rho)
        return ac_error(n->r->cx, n->at, E0103, "it has no coefficients, or no rho");
    const float *v = ac_onx_floats(n, "support_vectors", &vectors);
    if (!v || !vectors)
        return AC_OK;
    m->support = matrix(n, "support_vectors", x->dim[1], &m->vectors);
    m->k = m->support ? kernels(n, m, x) : NULL;
    return m->k ? AC_OK : AC_FAIL;
}

/* `count` weights for kernels or features, plus rho: [N,1]. */
static ac_tensor *weighted(ac_onx_node *n, ac_tensor *k, const float *w, double rho)
{
    ac_tensor *row = ac_make_floats(&n->b, 2, (int64_t[]){1, k->dim[1]}, w), *shift = F32(rho);
    return ADD(ac_make_dense(&n->b, k, row, NULL), shift);
}

int ac_onx_do_svm_regressor(ac_onx_node *n)
{
    machine m = {.vectors = 0};
    ac_tensor *x = rows_of(n);
    const int64_t supports = ac_attr_int(&n->attrs, A_n_supports);
    const bool one_class = ac_attr_bool(&n->attrs, A_one_class);
    const char *post = ac_attr_text(&n->attrs, A_post_transform);
    if (!x || read_machine(n, &m, x) != AC_OK)
        return AC_FAIL;
    ac_tensor *from = m.vectors ? m.k : x;
    if (m.n_coefficients != from->dim[1] || (m.vectors && supports != m.vectors))
        return ac_error(n->r->cx, n->at, E0103, "it has %" PRId64 " coefficients for %" PRId64 " vectors of %" PRId64,
                        m.n_coefficients, m.vectors, supports);
    ac_tensor *y = weighted(n, from, m.coefficient, (double)m.rho[0]);
    if (one_class && y) {
        ac_tensor *above = GREATER(y, F32(0));
        ac_tensor *outside = F32(-1);
        y = WHERE(above, F32(1), outside);
        return ac_onx_result(n, 0, y);
    }
    return ac_onx_result(n, 0, ac_onx_post_targets(n, post, y));
}

typedef struct votes {
    ac_ints each;      /* vectors of each class */
    int64_t first[64]; /* of each class */
    int64_t classes, pairs;
} votes;

/* The decision between classes i and j, positive for i: [N,1]. */
static ac_tensor *decision(ac_onx_node *n, const machine *m, const votes *c, int64_t i, int64_t j, int64_t pair)
{
    float *w = AC_NEW_N(n->r->cx->region, float, m->vectors);
    for (int64_t k = 0; k < c->each.v[i]; k++)
        w[c->first[i] + k] = m->coefficient[(j - 1) * m->vectors + c->first[i] + k];
    for (int64_t k = 0; k < c->each.v[j]; k++)
        w[c->first[j] + k] = m->coefficient[i * m->vectors + c->first[j] + k];
    return weighted(n, m->k, w, (double)m->rho[pair]);
}

/* How many decisions each class has won, [N,classes], and the decisions themselves [N,pairs]. */
static int decide(ac_onx_node *n, const machine *m, const votes *c, ac_tensor **score, ac_tensor **won)
{
    ac_tensor **part = AC_NEW_N(n->r->cx->region, ac_tensor *, c->pairs);
    float *to = AC_NEW_N(n->r->cx->region, float, 2 * c->classes * c->pairs);
    int64_t pair = 0;
    for (int64_t i = 0; i < c->classes; i++)
        for (int64_t j = i + 1; j < c->classes; j++, pair++) {
            part[pair] = decision(n, m, c, i, j, pair);
            if (!part[pair])
                return AC_FAIL;
            to[i * 2 * c->pairs + pair] = 1;
            to[j * 2 * c->pairs + c->pairs + pair] = 1;
        }
    *score = ac_make_concat(&n->b, part, (int32_t)c->pairs, 1);
    ac_tensor *up = GREATER(*score, F32(0));
    ac_tensor *both[] = {ac_make_cast(&n->b, up, AC_F32), ac_make_cast(&n->b, OP1(LOGICAL_NOT, up), AC_F32)};
    if (!both[0] || !both[1])
        return AC_FAIL;
    ac_tensor *w = ac_make_floats(&n->b, 2, (int64_t[]){c->classes, 2 * c->pairs}, to);
    *won = ac_make_dense(&n->b, ac_make_concat(&n->b, both, 2, 1), w, NULL);
    return *won ? AC_OK : AC_FAIL;
}

static int read_votes(ac_onx_node *n, const machine *m, votes *c)
{
    int64_t all = 0;
    c->each = ac_attr_ints(&n->attrs, A_vectors_per_class);
    c->classes = c->each.n;
    if (c->classes > (int64_t)(sizeof c->first / sizeof *c->first))
        return ac_cannot(&n->b, "it has %" PRId64 " classes; supported are up to 64", c->classes);
    for (int32_t i = 0; i < c->each.n; i++) {
        c->first[i] = all;
        if (c->each.v[i] < 0 || c->each.v[i] > m->vectors)
            return ac_error(n->r->cx, n->at, E0103, "vectors_per_class has %" PRId64, c->each.v[i]);
        all += c->each.v[i];
    }
    c->pairs = c->classes * (c->classes - 1) / 2;
    if (c->classes < 2 || all != m->vectors || m->n_coefficients != (c->classes - 1) * m->vectors ||
        m->n_rho != c->pairs)
        return ac_error(n->r->cx, n->at, E0103,
                        "vectors_per_class, coefficients and rho do not fit %" PRId64 " vectors of %" PRId64 " classes",
                        m->vectors, c->classes);
    return AC_OK;
}

/* Probabilities of pairs from decisions, within 1e-7 of 0 and 1: p of the first of each pair, [N,pairs]. */
static ac_tensor *pair_probability(ac_onx_node *n, const votes *c, ac_tensor *score, const float *a, const float *b)
{
    ac_tensor *shift = ac_make_floats(&n->b, 1, &c->pairs, b);
    ac_tensor *v = ADD(MUL(score, ac_make_floats(&n->b, 1, &c->pairs, a)), shift);
    ac_tensor *p = v ? OP1(LOGISTIC, NEG(v)) : NULL;
    p = MAX(p, F32(1e-7));
    return MIN(p, F32(1 - 1e-7));
}

enum { MOST_COUPLED = 8 };

/* Probabilities p of k classes, [N,1] each, that are to agree with those of their pairs: p minimises p' q p. */
typedef struct coupling {
    ac_onx_node *n;
    int64_t k;
    ac_tensor *q[MOST_COUPLED][MOST_COUPLED], *p[MOST_COUPLED];
    ac_tensor *qp[MOST_COUPLED], *whole; /* q p, p' q p */
    ac_tensor *live;                     /* bool: rows that do not agree yet; NULL: all */
} coupling;

static void open_coupling(coupling *c, ac_tensor *pair)
{
    ac_onx_node *n = c->n;
    ac_tensor *r[MOST_COUPLED][MOST_COUPLED];
    for (int64_t i = 0, at = 0; i < c->k; i++)
        for (int64_t j = i + 1; j < c->k; j++, at++) {
            r[i][j] = ac_make_slice(&n->b, pair, 1, at, 1);
            r[j][i] = SUB(F32(1), r[i][j]);
        }
    for (int64_t t = 0; t < c->k; t++) {
        c->q[t][t] = F32(0);
        for (int64_t j = 0; j < c->k; j++) {
            if (j == t)
                continue;
            c->q[t][t] = ADD(c->q[t][t], SQUARE(r[j][t]));
            c->q[t][j] = NEG(MUL(r[j][t], r[t][j]));
        }
        c->p[t] = ac_make_broadcast(&n->b, F32(1 / (double)c->k), 2, (int64_t[]){pair->dim[0], 1});
    }
}

/* q p and p' q p; rows whose numbers are all as near as they need to be live no longer. */
static void weigh(coupling *c)
{
    ac_onx_node *n = c->n;
    ac_tensor *worst = F32(0);
    c->whole = F32(0);
    for (int64_t t = 0; t < c->k; t++) {
        c->qp[t] = F32(0);
        for (int64_t j = 0; j < c->k; j++)
            c->qp[t] = ADD(c->qp[t], MUL(c->q[t][j], c->p[j]));
        c->whole = ADD(c->whole, MUL(c->p[t], c->qp[t]));
    }
    for (int64_t t = 0; t < c->k; t++)
        worst = MAX(worst, ABS(SUB(c->qp[t], c->whole)));
    ac_tensor *goes = OP2(GREATER_EQUAL, worst, F32(0.005 / (double)c->k));
    c->live = c->live ? OP2(LOGICAL_AND, c->live, goes) : goes;
}

/* The probability of class t as it is best while the others stay in proportion. */
static void improve(coupling *c, int64_t t)
{
    ac_onx_node *n = c->n;
    ac_tensor *d = DIV(SUB(c->whole, c->qp[t]), c->q[t][t]);
    ac_tensor *more = ADD(d, F32(1)), *two = MUL(c->qp[t], F32(2));
    ac_tensor *grown = ADD(c->whole, MUL(d, ADD(MUL(d, c->q[t][t]), two)));
    c->p[t] = ADD(c->p[t], d);
    c->whole = DIV(grown, SQUARE(more));
    for (int64_t j = 0; j < c->k; j++) {
        c->qp[j] = DIV(ADD(c->qp[j], MUL(d, c->q[t][j])), more);
        c->p[j] = DIV(c->p[j], more);
    }
}

/* Probabilities of classes from those of pairs, as libsvm and ONNX Runtime find them: coordinates are improved one
 * after the other until all agree within 0.005 / classes; rows that do stay as they are. */
static ac_tensor *class_probability(ac_onx_node *n, int64_t classes, ac_tensor *pair)
{
    enum { ROUNDS = 24 };
    coupling c = {.n = n, .k = classes};
    if (!pair)
        return NULL;
    open_coupling(&c, pair);
    for (int round = 0; round < ROUNDS; round++) {
        ac_tensor *was[MOST_COUPLED];
        memcpy(was, c.p, sizeof was);
        weigh(&c);
        for (int64_t t = 0; t < c.k; t++)
            improve(&c, t);
        for (int64_t t = 0; t < c.k; t++)
            c.p[t] = WHERE(c.live, c.p[t], was[t]);
    }
    return ac_make_concat(&n->b, c.p, (int32_t)c.k, 1);
}

int ac_onx_do_svm_classifier(ac_onx_node *n)
{
    machine m = {.vectors = 0};
    votes c = {.classes = 0};
    ac_tensor *x = rows_of(n), *score, *won;
    ac_labels labels;
    int64_t n_a, n_b;
    const char *post = ac_attr_text(&n->attrs, A_post_transform);
    const float *a = ac_onx_floats(n, "prob_a", &n_a), *b = ac_onx_floats(n, "prob_b", &n_b);
    AC_TRY(ac_onx_labels(n, &labels));
    if (!x || read_machine(n, &m, x) != AC_OK)
        return AC_FAIL;
    if (!m.vectors)
        return ac_cannot(&n->b, "it has no support vectors: it is a linear classifier");
    AC_TRY(read_votes(n, &m, &c));
    if (labels.n != c.classes || (a && (n_a != c.pairs || n_b != c.pairs)))
        return ac_error(n->r->cx, n->at, E0103,
                        "%" PRId64 " labels and %" PRId64 " probabilities for %" PRId64 " classes", labels.n, n_a,
                        c.classes);
    AC_TRY(decide(n, &m, &c, &score, &won));
    if (a && c.classes > MOST_COUPLED)
        return ac_cannot(&n->b, "it has probabilities of %" PRId64 " classes; supported are up to %d", c.classes,
                         MOST_COUPLED);
    AC_TRY(ac_onx_result(n, 0, ac_onx_labelled(n, &labels, ac_onx_greatest(n, won))));
    if (a)
        return ac_onx_result(
            n, 1, ac_onx_post(n, post, class_probability(n, c.classes, pair_probability(n, &c, score, a, b))));
    if (c.classes > 2)
        return ac_onx_result(n, 1, ac_onx_post(n, post, score));
    score = with_other(n, score, !strcmp(post, "NONE") || !strcmp(post, "LOGISTIC"));
    return ac_onx_result(n, 1, strcmp(post, "LOGISTIC") != 0 ? score : ac_onx_post(n, post, score));
}
