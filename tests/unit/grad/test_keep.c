/* test_keep.c - ac_grad_keep: on random graphs, what gradients read of the model afterwards is as few bytes as any
 * choice of tensors to keep, found by trying all of them. That values stay is checked by training (tests/cli/train). */
#include "base/random.h"
#include "ir/grad/grad.h"
#include "tests/unit/support/expect.h"

#include <string.h>

enum { TENSORS = 12, READERS = 4, WIDTH = 64, TRIALS = 400 };

typedef struct made {
    ac_tensor *t;
    int32_t from[2]; /* operands, by number; -1: none */
    bool cheap;
} made;

static uint64_t state = 5;

static int32_t roll(int32_t n)
{
    return (int32_t)(ac_splitmix64(&state) % (uint64_t)n);
}

static ac_tensor *node(ac_graph *g, ac_op op, ac_tensor *x, ac_tensor *y, int64_t rows)
{
    ac_tensor *t = ac_tensor_new(g, "t", AC_F32, 2, (int64_t[]){rows, WIDTH});
    ac_node_new(g, op, "n", (ac_tensor *[]){x, y}, y ? 2 : 1, &t, 1);
    return t;
}

/* relu and add are cheap, softmax and sum are not; broadcast_to, which moves, makes more of less. */
static made next(ac_graph *g, const made *m, int32_t n)
{
    const int32_t i = roll(n), k = roll(n), what = roll(5);
    ac_tensor *x = m[i].t, *y = m[k].t;
    const int64_t shape[] = {2 + roll(6), WIDTH}, two = 2, first = 0;
    if (what == 0)
        return (made){node(g, AC_OP_SOFTMAX, x, NULL, x->dim[0]), {i, -1}, false};
    if (what == 1 && x->dim[0] > 1) {
        ac_tensor *axis =
            ac_tensor_const(g, "axis", AC_I64, 1, (int64_t[]){1}, ac_copy(g->region, &first, sizeof first));
        return (made){node(g, AC_OP_SUM, x, axis, 1), {i, -1}, false};
    }
    if (what == 2 && x->dim[0] == 1) {
        ac_tensor *to = ac_tensor_const(g, "to", AC_I64, 1, &two, ac_copy(g->region, shape, sizeof shape));
        return (made){node(g, AC_OP_BROADCAST_TO, x, to, shape[0]), {i, -1}, true};
    }
    if (what == 3 && ac_tensor_same_shape(x, y))
        return (made){node(g, AC_OP_ADD, x, y, x->dim[0]), {i, k}, true};
    return (made){node(g, AC_OP_RELU, x, NULL, x->dim[0]), {i, -1}, true};
}

/* The least bytes of tensors from which all that is read can be had. */
static int64_t least(const made *m, const int32_t *read)
{
    int64_t best = INT64_MAX;
    for (uint32_t kept = 0; kept < 1u << TENSORS; kept++) {
        bool there[TENSORS], all = true;
        int64_t bytes = 0;
        for (int32_t i = 0; i < TENSORS; i++) {
            there[i] = kept >> i & 1;
            bytes += there[i] ? ac_tensor_bytes(m[i].t) : 0;
            there[i] |= m[i].cheap && there[m[i].from[0]] && (m[i].from[1] < 0 || there[m[i].from[1]]);
        }
        for (int32_t r = 0; r < READERS; r++)
            all &= there[read[r]];
        best = all && bytes < best ? bytes : best;
    }
    return best;
}

static int64_t read_of_model(const ac_graph *g, int32_t n_model, int32_t n_tensors)
{
    bool *seen = AC_NEW_N(g->region, bool, n_tensors + 1);
    int64_t bytes = 0;
    for (int32_t k = n_model; k < g->node.n; k++)
        for (int32_t i = 0; i < g->node.item[k]->n_in; i++) {
            const ac_tensor *t = g->node.item[k]->in[i];
            if (t->id >= n_tensors || ac_tensor_is_const(t) || seen[t->id])
                continue;
            seen[t->id] = true;
            bytes += ac_tensor_bytes(t);
        }
    return bytes;
}

static void random_graphs(ac_ctx *cx)
{
    int32_t again = 0;
    for (int32_t trial = 0; trial < TRIALS; trial++) {
        ac_graph *g = ac_graph_new(cx, "g");
        made m[TENSORS];
        int32_t read[READERS];
        ac_tensor *grad[READERS];
        m[0] = (made){ac_tensor_new(g, "x", AC_F32, 2, (int64_t[]){1 + roll(6), WIDTH}), {-1, -1}, false};
        m[0].t->input = true;
        ac_push(cx->region, &g->input, m[0].t);
        for (int32_t i = 1; i < TENSORS; i++)
            m[i] = next(g, m, i);
        const int32_t n_model = g->node.n, n_tensors = g->tensor.n;
        for (int32_t r = 0; r < READERS; r++) {
            read[r] = roll(TENSORS);
            grad[r] = node(g, AC_OP_NEG, m[read[r]].t, NULL, m[read[r]].t->dim[0]);
        }
        ac_grad_keep(g, n_model, grad, READERS);
        CHECK(ac_graph_verify(g) == AC_OK);
        CHECK(read_of_model(g, n_model, n_tensors) == least(m, read));
        again += g->node.n - n_model - READERS;
    }
    CHECK(again > TRIALS / 4); /* or nothing was tried */
}

int main(void)
{
    ac_ctx cx;
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    random_graphs(&cx);
    ac_ctx_close(&cx);
    return check_done();
}
