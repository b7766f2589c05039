/* optimizer.c - updates of weights, in PyTorch's meaning. Each writes its state in place, element by element. Sums are
 * written as chains: each operator reads the result before and memory. So a sum is one loop, or the end of the loops
 * that compute a gradient, and only state is in memory. */
#include "ir/train/make.h"

#include <string.h>

static const char *const NAMES[] = {"sgd", "momentum", "nesterov", "adam", "adamw", "rmsprop", "adagrad"};
enum { N_NAMES = sizeof NAMES / sizeof *NAMES };

bool ac_optimizer_find(const char *name, ac_optimizer *out)
{
    for (int i = 0; i < N_NAMES; i++)
        if (!strcmp(name, NAMES[i])) {
            *out = (ac_optimizer)i;
            return true;
        }
    return false;
}

typedef struct work {
    ac_maker m;
    ac_train_step *s;
    const ac_train_spec *o;
    ac_tensor *w;  /* the weight */
    int32_t index; /* ... of the step */
    /* Of Adam, of all weights: lr / (1 - beta1^t), 1 / sqrt(1 - beta2^t); of adamw 1 - lr * weight_decay, the divisor
     * of step */
    ac_tensor *step, *level, *keep;
} work;

#define MAKER (&k->m)
#include "ir/make/formula.h"

/* A state of the optimizer like the weight. */
static ac_tensor *slot(work *k, const char *what)
{
    ac_tensor *t = ac_train_state(&k->m, ac_internf(k->m.cx, "%s.%s", k->w->name, what), k->w->rank, k->w->dim);
    ac_push(k->m.cx->region, &k->s->slot, ((ac_train_slot){t, k->index}));
    return t;
}

static ac_tensor *set(work *k, ac_tensor *state, ac_tensor *x)
{
    return ac_make_assign(&k->m, state, 0, x);
}

/* beta * state + (1 - beta) * x, written back. */
static ac_tensor *mix(work *k, ac_tensor *state, double beta, ac_tensor *x)
{
    return set(k, state, ADD(TIMES(SUB(x, state), 1 - beta), state));
}

/* x + f * t */
static ac_tensor *plus(work *k, ac_tensor *x, double f, ac_tensor *t)
{
    return TIMES(ADD(TIMES(x, 1 / f), t), f);
}

/* w - rate * x */
static ac_tensor *descend(work *k, ac_tensor *rate, ac_tensor *x)
{
    return set(k, k->w, SUB(k->w, MUL(x, rate)));
}

static ac_tensor *sgd(work *k, ac_tensor *g)
{
    const bool nesterov = k->o->optimizer == AC_NESTEROV;
    if (k->o->momentum > 0) {
        ac_tensor *v = slot(k, "momentum");
        v = set(k, v, plus(k, g, k->o->momentum, v));
        g = nesterov ? plus(k, g, k->o->momentum, v) : v;
    }
    return descend(k, k->s->rate, g);
}

/* adamw: w * keep - rate * x as (w - rate / keep * x) * keep, keep = 1 - lr * weight_decay */
static ac_tensor *adam(work *k, ac_tensor *g)
{
    ac_tensor *m = mix(k, slot(k, "mean"), k->o->beta1, g), *square = SQUARE(g);
    ac_tensor *v = mix(k, slot(k, "square"), k->o->beta2, square);
    ac_tensor *size = ac_make_add_number(&k->m, MUL(SQRT(v), k->level), k->o->eps), *x = DIV(m, size);
    if (!k->keep)
        return descend(k, k->step, x);
    return set(k, k->w, MUL(SUB(k->w, MUL(x, k->step)), k->keep));
}

static ac_tensor *rmsprop(work *k, ac_tensor *g)
{
    ac_tensor *square = SQUARE(g), *v = mix(k, slot(k, "square"), k->o->beta2, square);
    ac_tensor *d = DIV(g, ac_make_add_number(&k->m, SQRT(v), k->o->eps));
    if (k->o->momentum > 0) {
        ac_tensor *b = slot(k, "momentum");
        d = set(k, b, plus(k, d, k->o->momentum, b));
    }
    return descend(k, k->s->rate, d);
}

static ac_tensor *adagrad(work *k, ac_tensor *g)
{
    ac_tensor *sum = slot(k, "sum");
    sum = set(k, sum, ADD(sum, SQUARE(g)));
    return descend(k, k->s->rate, DIV(g, ac_make_add_number(&k->m, SQRT(sum), k->o->eps)));
}

static ac_tensor *update(work *k, ac_tensor *g)
{
    if (k->o->weight_decay > 0 && k->o->optimizer != AC_ADAMW)
        g = plus(k, g, k->o->weight_decay, k->w);
    switch (k->o->optimizer) {
    case AC_SGD:
    case AC_MOMENTUM:
    case AC_NESTEROV:
        return sgd(k, g);
    case AC_ADAM:
    case AC_ADAMW:
        return adam(k, g);
    case AC_RMSPROP:
        return rmsprop(k, g);
    case AC_ADAGRAD:
        return adagrad(k, g);
    }
    return NULL;
}

/* 1 - beta^t, a state of one number: the running mean of ones. */
static ac_tensor *share_of_mean(work *k, const char *name, double beta)
{
    ac_tensor *t = ac_train_state(&k->m, name, 0, NULL);
    ac_push(k->m.cx->region, &k->s->slot, ((ac_train_slot){t, -1}));
    return set(k, t, ac_make_add_number(&k->m, TIMES(t, beta), 1 - beta));
}

static int open_adam(work *k)
{
    if (k->o->optimizer != AC_ADAM && k->o->optimizer != AC_ADAMW)
        return AC_OK;
    k->step = DIV(k->s->rate, share_of_mean(k, "adam.beta1", k->o->beta1));
    k->level = OP1(RSQRT, share_of_mean(k, "adam.beta2", k->o->beta2));
    if (k->o->optimizer == AC_ADAMW && k->o->weight_decay > 0) {
        ac_tensor *decay = TIMES(k->s->rate, k->o->weight_decay);
        k->keep = SUB(ac_make_number(&k->m, AC_F32, 1), decay);
        k->step = DIV(k->step, k->keep);
    }
    return k->step && k->level ? AC_OK : AC_FAIL;
}

/* All gradients by one number, so that together they are at most clip_norm long. */
static int clip(work *k, ac_tensor **grad)
{
    ac_tensor *sum = NULL;
    if (k->o->clip_norm <= 0)
        return AC_OK;
    for (int32_t i = 0; i < k->s->weight.n; i++)
        if (grad[i]) {
            ac_tensor *one = ac_train_sum(&k->m, SQUARE(grad[i]));
            sum = sum ? ADD(sum, one) : one;
        }
    ac_tensor *most = ac_make_number(&k->m, AC_F32, k->o->clip_norm),
              *length = ac_make_add_number(&k->m, SQRT(sum), 1e-6);
    ac_tensor *one = ac_make_number(&k->m, AC_F32, 1), *by = OP2(MINIMUM, DIV(most, length), one);
    for (int32_t i = 0; i < k->s->weight.n; i++)
        grad[i] = grad[i] ? MUL(grad[i], by) : NULL;
    return by ? AC_OK : AC_FAIL;
}

int ac_train_update(ac_ctx *cx, ac_graph *g, ac_train_step *s, ac_tensor **grad)
{
    work k = {.m = ac_train_maker(g, "update", s->spec->late), .s = s, .o = s->spec};
    AC_TRY(open_adam(&k));
    AC_TRY(clip(&k, grad));
    for (int32_t i = 0; i < s->weight.n; i++) {
        if (!grad[i])
            continue;
        k.index = i;
        k.w = s->weight.item[i].state;
        k.m.name = ac_internf(cx, "update of %s", k.w->name);
        if (!update(&k, grad[i]))
            return AC_FAIL;
    }
    return AC_OK;
}
