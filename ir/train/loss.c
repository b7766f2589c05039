/* loss.c - losses and their gradients by the model's output, in closed form. */
#include "ir/train/make.h"

#include <string.h>

static const char *const NAMES[] = {"cross_entropy", "mse", "l1", "huber", "bce_with_logits"};
enum { N_NAMES = sizeof NAMES / sizeof *NAMES };

const char *ac_loss_name(ac_loss l)
{
    return (int)l < N_NAMES ? NAMES[l] : "an output";
}

bool ac_loss_find(const char *name, ac_loss *out)
{
    for (int i = 0; i < N_NAMES; i++)
        if (!strcmp(name, NAMES[i])) {
            *out = (ac_loss)i;
            return true;
        }
    return false;
}

const char *ac_loss_near(const char *name)
{
    return ac_closest(name, NAMES, N_NAMES);
}

/* The operands of a loss. */
typedef struct work {
    const ac_maker *m;
    ac_tensor *x, *y; /* output and target, of one type and shape (cross_entropy: y are probabilities) */
    double n;         /* number of terms of the mean */
    ac_tensor *loss, *dx;
} work;

#define MAKER w->m
#include "ir/make/formula.h"

static void squares(work *w)
{
    ac_tensor *d = SUB(w->x, w->y);
    w->loss = TIMES(ac_train_sum(w->m, SQUARE(d)), 1 / w->n);
    w->dx = TIMES(d, 2 / w->n);
}

static void distances(work *w)
{
    ac_tensor *d = SUB(w->x, w->y);
    w->loss = TIMES(ac_train_sum(w->m, ABS(d)), 1 / w->n);
    w->dx = TIMES(SIGN(d), 1 / w->n);
}

/* d^2 / 2 below 1, |d| - 1/2 above: c * (d - c / 2) with c = d within -1..1 */
static void huber(work *w)
{
    ac_tensor *d = SUB(w->x, w->y), *c = OP1(RELU_N1_TO_1, d);
    w->loss = TIMES(ac_train_sum(w->m, MUL(c, SUB(d, TIMES(c, 0.5)))), 1 / w->n);
    w->dx = TIMES(c, 1 / w->n);
}

/* max(x, 0) - x * y + log(1 + exp(-|x|)) */
static void binary(work *w)
{
    ac_tensor *far = OP1(SOFTPLUS, NEG(ABS(w->x)));
    ac_tensor *both = MUL(w->x, w->y), *near = SUB(OP1(RELU, w->x), both);
    w->loss = TIMES(ac_train_sum(w->m, ADD(near, far)), 1 / w->n);
    w->dx = TIMES(SUB(OP1(LOGISTIC, w->x), w->y), 1 / w->n);
}

/* - y * log_softmax(x); probabilities y add up to 1. */
static void entropy(work *w)
{
    ac_tensor *p = OP1(LOG_SOFTMAX, w->x);
    w->loss = TIMES(ac_train_sum(w->m, MUL(p, w->y)), -1 / w->n);
    w->dx = TIMES(SUB(EXP(p), w->y), 1 / w->n);
}

/* Class ids as probabilities: 1 where the number along the last dimension is the id. */
static ac_tensor *one_hot(const ac_maker *m, const ac_tensor *x, ac_tensor *y)
{
    const int64_t n = x->dim[x->rank - 1];
    int64_t dim[AC_MAX_RANK];
    int32_t *id = AC_NEW_N(m->cx->region, int32_t, n + 1);
    for (int64_t i = 0; i < n; i++)
        id[i] = (int32_t)i;
    for (int32_t d = 0; d + 1 < x->rank; d++)
        dim[d] = x->dim[d];
    dim[x->rank - 1] = 1;
    y = ac_make_reshape(m, ac_make_cast(m, y, AC_I32), x->rank, dim);
    ac_tensor *all = ac_tensor_const(m->g, "classes", AC_I32, 1, &n, id);
    return ac_make_cast(m, ac_make_2(m, AC_OP_EQUAL, y, all), x->dtype);
}

/* The target as an input of the step. */
static void open_target(const ac_maker *m, ac_train_step *s)
{
    const ac_tensor *x = s->output;
    const bool classes = s->spec->loss == AC_LOSS_CROSS_ENTROPY;
    ac_dtype type = s->spec->target;
    if (type == AC_NONE)
        type = classes ? AC_I64 : x->dtype;
    const int32_t rank = classes && ac_dtype_is_int(type) ? x->rank - 1 : x->rank;
    s->target = ac_tensor_new(m->g, "target", type, rank, x->dim);
    s->target->input = true;
    ac_push(m->cx->region, &m->g->input, s->target);
}

static int named_loss(const ac_maker *m, ac_train_step *s, ac_tensor **cotangent)
{
    s->loss = s->output;
    if (ac_tensor_count(s->loss) != 1)
        return ac_error(m->cx, (ac_place){.file = m->g->file}, E0110,
                        "output '%s' %s cannot be the loss: it is not a single number", s->loss->name,
                        ac_tensor_str(m->cx, s->loss));
    s->loss = ac_train_share(m, s->spec, s->loss);
    *cotangent = ac_train_share(m, s->spec, ac_make_number(m, AC_F32, 1));
    return AC_OK;
}

/* Of an output that is a softmax the entropy is that of its operand. */
static void before_softmax(ac_train_step *s)
{
    const ac_node *n = s->output->def;
    if (s->spec->loss != AC_LOSS_CROSS_ENTROPY || !n || n->op != AC_OP_SOFTMAX || n->attrs.softmax.beta != 1)
        return;
    s->probabilities = true;
    s->output = n->in[0];
}

int ac_train_loss(ac_ctx *cx, ac_graph *g, ac_train_step *s, ac_tensor **cotangent)
{
    const ac_maker m = ac_train_maker(g, "loss", 0);
    before_softmax(s);
    ac_tensor *x = s->output;
    const ac_loss kind = s->spec->loss;
    if (x->dtype != AC_F32)
        return ac_error(cx, (ac_place){.file = g->file}, E0110, "output '%s' %s has no loss: it is not f32", x->name,
                        ac_tensor_str(cx, x));
    if (kind == AC_LOSS_NAMED)
        return named_loss(&m, s, cotangent);
    if (kind == AC_LOSS_CROSS_ENTROPY && x->rank < 1)
        return ac_error(cx, (ac_place){.file = g->file}, E0110, "output '%s' has no dimension of classes", x->name);
    open_target(&m, s);
    work w = {.m = &m, .x = x, .y = s->target, .n = (double)ac_tensor_count(x)};
    w.n *= s->spec->micro_batches > 1 ? s->spec->micro_batches : 1;
    switch (kind) {
    case AC_LOSS_CROSS_ENTROPY:
        w.n /= (double)x->dim[x->rank - 1];
        s->classes = ac_dtype_is_int(s->target->dtype) ? x->dim[x->rank - 1] : 0;
        w.y = s->classes ? one_hot(&m, x, w.y) : w.y;
        entropy(&w);
        break;
    case AC_LOSS_MSE:
        squares(&w);
        break;
    case AC_LOSS_L1:
        distances(&w);
        break;
    case AC_LOSS_HUBER:
        huber(&w);
        break;
    case AC_LOSS_BCE:
        binary(&w);
        break;
    case AC_LOSS_NAMED:
        break;
    }
    s->loss = w.loss;
    *cotangent = w.dx;
    return w.loss && w.dx ? AC_OK : AC_FAIL;
}
