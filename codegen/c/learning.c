/* learning.c - prints the API of a training step for the header: steps, gradients and updates, weights in and out. */
#include "codegen/learning.h"
#include "codegen/c/emit.h"

#include <string.h>

static const char NOT_A_NUMBER[] = "    const float zero = 0.0f;\n";

/* The caller fills all inputs except the learning rate. */
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

static void put_random(const ac_module *m, ac_sink *to)
{
    const ac_learning *l = m->learning;
    if (!l->n_random)
        return;
    ac_putf(
        to,
        "/* Random numbers are those of a step and a micro-batch. Steps count on by themselves; this says which comes "
        "next,\n * for programs that do not begin with the first, or not with all micro-batches. */\n"
        "static inline void %s_count(const %s_mem *m, int32_t step, int32_t micro_batch)\n{\n    int32_t *r;\n",
        m->name, m->name);
    for (int32_t i = 0; i < l->n_random; i++)
        ac_putf(to,
                "    r = (int32_t *)(void *)((uint8_t *)m->state + 0x%04llxu);\n    r[2] = step;\n"
                "    r[3] = micro_batch;\n",
                (unsigned long long)l->random[i]->offset);
    ac_put(to, "}\n");
}

/* Inference has the inputs and outputs after those of the step. */
static void put_run(const ac_module *m, ac_sink *to)
{
    const ac_learning *l = m->learning;
    const char *word = "";
    if (strcmp(m->part[m->n_parts - 1].name, "run") != 0 || m->n_parts == 1)
        return;
    ac_putf(to, "/* %s_run is inference by the weights as they are:", m->name);
    for (int32_t i = (int32_t)(l->rate - m->input) + 1; i < m->n_inputs; i++, word = ",")
        ac_putf(to, "%s in%d", word, i);
    word = " ->";
    for (int32_t i = (int32_t)(l->loss - m->output) + 1; i < m->n_outputs; i++, word = ",")
        ac_putf(to, "%s out%d", word, i);
    ac_put(to,
           ". It shares the memory with steps:\n * fill its inputs after the last step, and take its outputs before "
           "the next. */\n");
}

static void put_ints(ac_sink *to, const char *before, int32_t n, const int64_t *v)
{
    ac_putf(to, "%s{", before);
    for (int32_t i = 0; i < n; i++)
        ac_putf(to, "%s%lld", i ? ", " : "", (long long)v[i]);
    ac_put(to, n ? "}" : "0}");
}

/* The most moves of a weight. */
static int32_t most_moves(const ac_learning *l)
{
    int32_t n = 0;
    for (int32_t i = 0; i < l->n_weights; i++)
        n = l->weight[i].n_moves > n ? l->weight[i].n_moves : n;
    return n;
}

static void put_table(const ac_module *m, ac_sink *to)
{
    const ac_learning *l = m->learning;
    ac_region *r = m->cx->region;
    for (int32_t i = 0; i < l->n_weights; i++) {
        const ac_weight_place *w = &l->weight[i];
        ac_putf(to, "        {\"%s\", 0x%04llxu, %lldu, %d, ", ac_c_string_text(r, w->name),
                (unsigned long long)w->state->offset, (long long)ac_tensor_count(w->state->tensor), w->rank);
        put_ints(to, "", w->rank, w->dim);
        for (int32_t k = 0; k < w->n_moves; k++) {
            int64_t perm[AC_MAX_RANK];
            for (int32_t d = 0; d < w->move[k].rank; d++)
                perm[d] = w->move[k].perm[d];
            ac_putf(to, "%s{%d, ", k ? ", " : ", {", w->move[k].rank);
            put_ints(to, "", w->move[k].rank, w->move[k].dim);
            put_ints(to, ", ", w->move[k].rank, perm);
            ac_putf(to, "}%s", k + 1 == w->n_moves ? "}" : "");
        }
        if (!w->n_moves && most_moves(l))
            ac_put(to, ", {{0, {0}, {0}}}");
        ac_put(to, "},\n");
    }
}

/* Weights by number: descriptions, and their elements in the file's order. */
static void put_weights(const ac_module *m, ac_sink *to)
{
    const char *p = m->name, *U = ac_emit_upper(m);
    const ac_learning *l = m->learning;
    const int32_t moves = most_moves(l);
    ac_putf(
        to,
        "/* What changes, by number: weights that train, and running statistics. Their elements lie in the state as "
        "the steps\n * read them; get_weight and put_weight have the file's shape and order, which dim is of. */\n"
        "#define %s_WEIGHTS %d\n",
        U, l->n_weights);
    if (moves)
        ac_putf(to,
                "typedef struct %s_move { /* a transposition: perm of dim */\n    int32_t rank;\n    int64_t dim[%d], "
                "perm[%d];\n} %s_move;\n",
                p, AC_MAX_RANK, AC_MAX_RANK, p);
    ac_putf(to,
            "typedef struct %s_weight {\n    const char *name;\n    size_t offset, count; /* offset: bytes in state */"
            "\n    int32_t rank;\n    int64_t dim[%d];\n",
            p, AC_MAX_RANK);
    if (moves)
        ac_putf(to, "    %s_move move[%d]; /* from the file's order, one after the other; rank 0: none */\n", p, moves);
    ac_putf(to,
            "} %s_weight;\n"
            "static inline const %s_weight *%s_weights(int32_t i)\n{\n    static const %s_weight WEIGHT[%s_WEIGHTS] = "
            "{\n",
            p, p, p, p, U);
    put_table(m, to);
    ac_putf(to, "    };\n    return &WEIGHT[i];\n}\n");
    ac_putf(to,
            "static inline float *%s_weight_at(const %s_mem *m, int32_t i)\n{\n"
            "    return (float *)(void *)((uint8_t *)m->state + %s_weights(i)->offset);\n}\n",
            p, p, p);
    ac_putf(to,
            "/* Where element `at` of the file's order lies. */\n"
            "static inline size_t %s_weight_place(const %s_weight *w, size_t at)\n{\n",
            p, p);
    if (moves)
        ac_putf(to,
                "    int32_t k, d;\n"
                "    for (k = 0; k < %d && w->move[k].rank; k++) {\n"
                "        const %s_move *v = &w->move[k];\n"
                "        size_t digit[%d], to = 0;\n"
                "        for (d = v->rank - 1; d >= 0; d--) {\n"
                "            digit[d] = at %% (size_t)v->dim[d];\n            at /= (size_t)v->dim[d];\n        }\n"
                "        for (d = 0; d < v->rank; d++)\n"
                "            to = to * (size_t)v->dim[v->perm[d]] + digit[v->perm[d]];\n"
                "        at = to;\n    }\n",
                moves, p, AC_MAX_RANK);
    else
        ac_put(to, "    (void)w;\n");
    ac_put(to, "    return at;\n}\n");
    ac_putf(to,
            "static inline void %s_get_weight(const %s_mem *m, int32_t i, float *to)\n{\n"
            "    const %s_weight *w = %s_weights(i);\n    size_t k;\n"
            "    for (k = 0; k < w->count; k++)\n        to[k] = %s_weight_at(m, i)[%s_weight_place(w, k)];\n}\n"
            "static inline void %s_put_weight(const %s_mem *m, int32_t i, const float *from)\n{\n"
            "    const %s_weight *w = %s_weights(i);\n    size_t k;\n"
            "    for (k = 0; k < w->count; k++)\n        %s_weight_at(m, i)[%s_weight_place(w, k)] = from[k];\n}\n",
            p, p, p, p, p, p, p, p, p, p, p, p);
}

void ac_emit_learning(const ac_module *m, ac_sink *to)
{
    if (m->learning->sums)
        put_late_step(m, to);
    else
        put_step(m, to, m->part[0].name);
    put_random(m, to);
    put_run(m, to);
    put_weights(m, to);
}
