/* step.c - a model becomes a step of training; see train.h. */
#include "base/text/named.h"
#include "ir/grad/grad.h"
#include "ir/train/make.h"

/* ------------------------------------------------------------------ constants that train */

typedef AC_VEC(const char *) ac_train_names;

static bool could_train(const ac_tensor *t)
{
    return ac_tensor_is_const(t) && (t->weight || (t->quant && ac_dtype_is_int(t->dtype)));
}

static bool is_running(const ac_train_step *s, const ac_tensor *t)
{
    for (int32_t i = 0; i < s->n_running; i++)
        if (s->running[i].running == t)
            return true;
    return false;
}

/* names: of weights that could train. */
static int no_weights(ac_ctx *cx, const ac_graph *g, int32_t frozen, const ac_train_names *names)
{
    enum { SHOWN = 16 };
    if (frozen)
        ac_error(cx, (ac_place){.file = g->file}, E0110, "all %d weights are frozen: there is nothing to train",
                 frozen);
    else if (names->n)
        ac_error(cx, (ac_place){.file = g->file}, E0110,
                 "the %d weights are quantised and none of them is named: there is nothing to train", names->n);
    else
        ac_error(cx, (ac_place){.file = g->file}, E0110, "the model has no float weights: there is nothing to train");
    for (int32_t i = 0; i < names->n; i++)
        if (names->n - i <= SHOWN)
            ac_detail(cx, "%s", names->item[i]);
    return ac_help(
        cx, names->n
                ? "name weights with --train-only or --lora (* matches any text); quantised weights train in floats"
                : "integer weights without a scale do not train; convert the model from its floats");
}

/* running = momentum * running + (1 - momentum) * batch */
static int follow(ac_ctx *cx, ac_graph *g, const ac_running *r, ac_tensor *batch, int32_t part)
{
    const ac_maker m = ac_train_maker(g, ac_internf(cx, "update of %s", r->running->name), part);
    ac_tensor *now = ac_make_mul_number(&m, batch, 1 - r->momentum),
              *before = ac_make_mul_number(&m, r->running, r->momentum);
    return ac_make_assign(&m, r->running, 0, ac_make_2(&m, AC_OP_ADD, before, now)) ? AC_OK : AC_FAIL;
}

static ac_train_weight *weight_of(const ac_train_step *s, const ac_tensor *state)
{
    for (int32_t i = 0; i < s->weight.n; i++)
        if (s->weight.item[i].state == state)
            return &s->weight.item[i];
    return NULL;
}

/* Made before the passes, which may put other nodes in the place of those that compute the statistics. */
static int follow_statistics(ac_ctx *cx, ac_graph *g, const ac_train_step *s)
{
    for (int32_t i = 0; i < s->n_running; i++) {
        const ac_running *r = &s->running[i];
        const ac_maker m = ac_train_maker(g, ac_internf(cx, "statistic of %s", r->running->name), 0);
        if (!r->running->state)
            continue;
        if (!s->spec->late)
            AC_TRY(follow(cx, g, r, r->batch, 0));
        else
            AC_TRY(ac_train_put_sum(cx, g, s, weight_of(s, r->running), ac_train_share(&m, s->spec, r->batch)));
    }
    return AC_OK;
}

/* By the sums of all micro-batches. */
static int follow_sums(ac_ctx *cx, ac_graph *g, const ac_train_step *s)
{
    for (int32_t i = 0; i < s->n_running && s->spec->late; i++) {
        const ac_running *r = &s->running[i];
        if (r->running->state)
            AC_TRY(follow(cx, g, r, weight_of(s, r->running)->sum, 1));
    }
    return AC_OK;
}

static bool is_frozen(const ac_train_spec *o, const char *name)
{
    return ac_train_named(o->freeze, o->n_freeze, name) ||
           ((o->n_only || o->n_lora) && !ac_train_named(o->only, o->n_only, name));
}

static int choose(ac_ctx *cx, ac_graph *g, const bool *read, ac_train_step *s)
{
    const int32_t n = g->tensor.n;
    int32_t frozen = 0, trained;
    ac_train_names names = {0};
    ac_train_mark(g);
    for (int32_t i = 0; i < n; i++)
        if (read[i] && could_train(g->tensor.item[i]))
            ac_push(cx->region, &names, g->tensor.item[i]->name);
    AC_TRY(ac_train_floats(cx, g, s->spec, read));
    AC_TRY(ac_train_adapt(cx, g, s, read));
    trained = s->weight.n;
    for (int32_t i = 0; i < n; i++) {
        ac_tensor *t = g->tensor.item[i];
        if (!t->weight || !ac_tensor_is_const(t))
            continue;
        const bool kept = is_running(s, t);
        t->weight = false;
        if (!kept && (!read[i] || t->dtype != AC_F32))
            continue;
        if (!kept && is_frozen(s->spec, t->name)) {
            frozen++;
            continue;
        }
        trained += !kept;
        AC_TRY(ac_train_to_state(cx, t, kept, s));
    }
    return trained ? AC_OK : no_weights(cx, g, frozen, &names);
}

int ac_train_weights(ac_ctx *cx, ac_graph *g, const ac_running *running, int32_t n_running, ac_train_step *s)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    const bool *read = ac_train_read(g, tmp);
    s->running = running;
    s->n_running = n_running;
    const int status = choose(cx, g, read, s);
    ac_region_close(tmp);
    AC_TRY(status);
    ac_train_open_sums(g, s);
    return follow_statistics(cx, g, s);
}

/* ------------------------------------------------------------------ the step */

static int find_output(ac_ctx *cx, const ac_graph *g, ac_train_step *s)
{
    enum { SHOWN = 16 };
    const char *name = s->spec->loss == AC_LOSS_NAMED ? s->spec->loss_name : s->spec->output;
    const char **names = AC_NEW_N(cx->region, const char *, g->output.n + 1);
    for (int32_t i = 0; i < g->output.n; i++)
        names[i] = g->output.item[i]->name;
    const int32_t at = name ? ac_named(name, names, g->output.n) : g->output.n == 1 ? 0 : -1;
    s->output = at < 0 ? NULL : g->output.item[at];
    s->output_name = s->output ? s->output->name : NULL;
    if (s->output)
        return AC_OK;
    const char *near = s->spec->loss == AC_LOSS_NAMED ? ac_loss_near(name) : NULL;
    if (name) {
        ac_error(cx, (ac_place){.file = g->file}, E0110, "'%s' is neither a loss nor an output of the model", name);
        if (near)
            ac_help(cx, "did you mean '%s'?", near);
    } else
        ac_error(cx, (ac_place){.file = g->file}, E0110,
                 "the model has %d outputs: choose one with train --output NAME, or with --outputs NAME of plan, "
                 "compile and bench",
                 g->output.n);
    for (int32_t i = 0; i < g->output.n && i < SHOWN; i++)
        ac_detail(cx, "%s  %s", g->output.item[i]->name, ac_tensor_str(cx, g->output.item[i]));
    return AC_FAIL;
}

/* Weights that the output depends on get their gradients; the others stay as they are. */
static int add_gradients(ac_ctx *cx, ac_graph *g, ac_train_step *s, ac_tensor *cotangent, ac_tensor **grad)
{
    const int32_t n = s->weight.n;
    ac_tensor **wrt = AC_NEW_N(cx->region, ac_tensor *, n + 1), **found = AC_NEW_N(cx->region, ac_tensor *, n + 1);
    int32_t n_wrt = 0, some = 0;
    for (int32_t i = 0; i < n; i++)
        if (!s->weight.item[i].running)
            wrt[n_wrt++] = s->weight.item[i].state;
    AC_TRY(ac_grad(cx, g, &s->output, &cotangent, 1, wrt, n_wrt, found));
    for (int32_t i = 0, k = 0; i < n; i++) {
        grad[i] = s->weight.item[i].running ? NULL : found[k++];
        some += grad[i] != NULL;
    }
    return some ? AC_OK
                : ac_error(cx, (ac_place){.file = g->file}, E0110,
                           "output '%s' does not depend on any weight that trains", s->output->name);
}

int ac_train_grow(ac_ctx *cx, ac_graph *g, ac_train_step *s)
{
    const ac_train_spec *o = s->spec;
    ac_tensor *cotangent = NULL, **grad = AC_NEW_N(cx->region, ac_tensor *, s->weight.n + 1);
    AC_TRY(find_output(cx, g, s));
    ac_train_find_random(cx, g, s);
    AC_TRY(ac_train_branches(cx, g, s));
    AC_TRY(ac_train_products(cx, g));
    ac_train_layouts(cx, g, s);
    AC_TRY(ac_train_loss(cx, g, s, &cotangent));
    s->rate = ac_tensor_new(g, "lr", AC_F32, 0, NULL);
    s->rate->input = true;
    ac_push(cx->region, &g->input, s->rate);
    const int32_t n_model = g->node.n;
    AC_TRY(add_gradients(cx, g, s, cotangent, grad));
    ac_grad_keep(g, n_model, grad, s->weight.n);
    for (int32_t i = 0; i < s->weight.n && o->late; i++)
        if (grad[i]) {
            AC_TRY(ac_train_put_sum(cx, g, s, &s->weight.item[i], grad[i]));
            grad[i] = s->weight.item[i].sum;
        }
    if (o->late) {
        AC_TRY(ac_train_put_loss(g, s));
        AC_TRY(ac_train_count(g, s, true));
    }
    const int32_t first = g->node.n;
    AC_TRY(ac_train_update(cx, g, s, grad));
    AC_TRY(follow_sums(cx, g, s));
    AC_TRY(ac_train_count(g, s, false));
    if (!o->late)
        ac_train_early(g, first);
    ac_train_sort(g);
    for (int32_t i = 0; i < g->output.n; i++)
        g->output.item[i]->output = false;
    g->output.n = 0;
    s->loss->output = true;
    ac_push(cx->region, &g->output, s->loss);
    return AC_OK;
}
