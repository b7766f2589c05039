/* random.c - random numbers of a step are counted (ir/lower/nn/random.c): by the seed, the step and the micro-batch,
 * which are state. */
#include "ir/make/compose_random.h"
#include "ir/train/make.h"

enum { WORDS = 4 };

void ac_train_find_random(ac_ctx *cx, ac_graph *g, ac_train_step *s)
{
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_tensor *numbers = ac_node_numbers(g->node.item[i]);
        bool known = !numbers || !numbers->state;
        for (int32_t k = 0; k < s->random.n && !known; k++)
            known = s->random.item[k] == numbers;
        if (known)
            continue;
        ac_numbers_begin(cx, numbers, s->spec->seed);
        ac_push(cx->region, &s->random, numbers);
    }
}

static ac_tensor *words(const ac_maker *m, int32_t others, int32_t step, int32_t micro_batch)
{
    static const int64_t DIM = WORDS;
    const int32_t v[WORDS] = {others, others, step, micro_batch};
    return ac_tensor_const(m->g, "count", AC_I32, 1, &DIM, ac_copy(m->cx->region, v, sizeof v));
}

int ac_train_count(ac_graph *g, const ac_train_step *s, bool micro_batch)
{
    const ac_maker m = ac_train_maker(g, "count", s->spec->late && !micro_batch);
    for (int32_t i = 0; i < s->random.n; i++) {
        ac_tensor *r = s->random.item[i], *x = r;
        if (!micro_batch && s->spec->late)
            x = ac_make_2(&m, AC_OP_MUL, x, words(&m, 1, 1, 0));
        x = ac_make_2(&m, AC_OP_ADD, x, words(&m, 0, !micro_batch, micro_batch));
        if (!ac_make_assign(&m, r, 0, x))
            return AC_FAIL;
    }
    return AC_OK;
}

void ac_train_no_dropout(ac_graph *g)
{
    for (int32_t i = 0; i < g->node.n; i++)
        if (g->node.item[i]->op == AC_OP_DROPOUT)
            g->node.item[i]->attrs.dropout.ratio = 0; /* pass simplify takes it out */
}
