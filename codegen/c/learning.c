/* learning.c - the API of a step of training, for the header: steps, gradients and updates, weights in and out. */
#include "codegen/learning.h"
#include "codegen/c/emit.h"

static const char NOT_A_NUMBER[] = "    const float zero = 0.0f;\n";

/* Inputs but the learning rate are filled by the caller. */
static void put_step(const ac_module *m, ac_sink *to, const char *call)
{
    const char *p = m->name;
    const ac_learning *l = m->learning;
    ac_put(to,
           "/* A step: weights and optimizer, which are the state, are changed. The loss before that; NaN where run "
           "says that\n * the step stopped. */\n");
    ac_putf(to, "static inline float %s_train_step(const %s_mem *m, float lr)\n{\n%s", p, p, NOT_A_NUMBER);
    ac_putf(to, "    *%s_in%d(m) = lr;\n", p, (int)(l->rate - m->input));
    ac_putf(to, "    return %s_%s(m) == 0 ? *%s_out%d(m) : zero / zero;\n}\n", p, call, p, (int)(l->loss - m->output));
}

static void put_late_step(const ac_module *m, ac_sink *to)
{
    const char *p = m->name, *U = ac_emit_upper(m);
    const ac_learning *l = m->learning;
    const long long floats = (long long)ac_tensor_count(l->sums->tensor);
    ac_putf(to,
            "/* A step in two parts: gradients, then updates. What %s_backward leaves is one block of floats in the "
            "state:\n * gradients in the order of the weights below, statistics of the batch in the places of running "
            "ones, and at the\n * end the loss; all of them shares of means over %d micro-batch%s. Blocks of several "
            "micro-batches or machines\n * are added up, element by element, and the sum is put here before %s_update. "
            "*/\n",
            p, l->micro_batches, l->micro_batches > 1 ? "es" : "", p);
    ac_putf(to,
            "#define %s_MICRO_BATCHES %d\n#define %s_GRADIENTS_OFFSET 0x%04llxu /* in state */\n"
            "#define %s_GRADIENTS_COUNT %lldu\n",
            U, l->micro_batches, U, (unsigned long long)l->sums->offset, U, floats);
    ac_putf(to,
            "static inline float *%s_gradients(const %s_mem *m)\n{\n"
            "    return (float *)(void *)((uint8_t *)m->state + %s_GRADIENTS_OFFSET);\n}\n",
            p, p, U);
    ac_putf(to,
            "/* The loss (its share) of the micro-batch in the inputs; NaN where run_backward says that it stopped. "
            "*/\n"
            "static inline float %s_backward(const %s_mem *m)\n{\n%s"
            "    return %s_run_backward(m) == 0 ? *%s_out%d(m) : zero / zero;\n}\n",
            p, p, NOT_A_NUMBER, p, p, (int)(l->loss - m->output));
    ac_putf(to,
            "/* Weights and optimizer change as the block says; 0: done. */\n"
            "static inline int %s_update(const %s_mem *m, float lr)\n{\n    *%s_in%d(m) = lr;\n"
            "    return %s_run_update(m);\n}\n",
            p, p, p, (int)(l->rate - m->input), p);
    if (l->micro_batches == 1)
        ac_putf(to,
                "/* Both: a whole step. */\n"
                "static inline float %s_train_step(const %s_mem *m, float lr)\n{\n%s"
                "    const float loss = %s_backward(m);\n"
                "    return %s_update(m, lr) == 0 ? loss : zero / zero;\n}\n",
                p, p, NOT_A_NUMBER, p, p);
}

void ac_emit_learning(const ac_module *m, ac_sink *to)
{
    if (m->learning->sums)
        put_late_step(m, to);
    else
        put_step(m, to, m->part[0].name);
}
