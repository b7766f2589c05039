/* run.c - single operators on samples: their loops, run by the evaluator. */
#include "quantize/net.h"

#include "ir/loop/eval/eval.h"
#include "ir/lower/node/node.h"

#include <string.h>

/* A step as a program. */
typedef struct ac_qcode {
    const ac_lowered *low;
    ac_program *program;
    void **data;
} ac_qcode;

/* The evaluator runs the loops, so that every machine chooses the same ones. */
static const ac_target VECTORS = {.name = "samples",
                                  .help = "",
                                  .features = "",
                                  .vec_bytes = 512, /* fewer steps of the evaluator */
                                  .registers = 16,
                                  .align = 32,
                                  .l1_bytes = 32768,
                                  .l2_bytes = 1 << 20};

int ac_q_open(ac_qnet *q)
{
    ac_region *r = q->cx->region;
    const ac_graph *g = q->g;
    q->n = g->node.n;
    q->n_tensors = g->tensor.n;
    q->step = AC_NEW_N(r, ac_qstep, q->n + 1);
    q->value = AC_NEW_N(r, ac_qvalue, q->n_tensors + 1);
    q->root = AC_NEW_N(r, ac_qroot *, q->n_tensors + 1);
    q->made_by = AC_NEW_N(r, int32_t, q->n_tensors + 1);
    memset(q->made_by, -1, (size_t)q->n_tensors * sizeof *q->made_by);
    for (int32_t i = 0; i < q->n; i++) {
        ac_node *n = g->node.item[i];
        q->step[i] = (ac_qstep){.node = n, .product = ac_q_product(q, n)};
        for (int32_t k = 0; k < n->n_out; k++)
            q->made_by[n->out[k]->id] = i;
    }
    return q->cx->diags.errors ? AC_FAIL : AC_OK;
}

static int compile(ac_qnet *q, ac_qstep *s)
{
    ac_region *r = q->cx->region;
    ac_qcode *c = s->code = AC_NEW(r, ac_qcode);
    c->low = ac_lower_node(q->cx, r, s->node, &VECTORS, 0, true);
    if (!c->low)
        return AC_FAIL;
    c->data = AC_NEW_N(r, void *, c->low->arg.n + 1);
    for (int32_t i = 0; i < c->low->arg.n; i++) {
        const ac_arg *a = &c->low->arg.item[i];
        if (a->kind == AC_ARG_CONST)
            c->data[i] = ac_const_operand(q->cx, NULL, a->konst);
        else if (a->kind != AC_ARG_TENSOR)
            c->data[i] = ac_alloc(r, (uint64_t)(a->bytes < 8 ? 8 : a->bytes));
        if (a->kind == AC_ARG_CONST && !c->data[i])
            return AC_FAIL;
    }
    c->program = ac_eval_compile(q->cx, r, c->low->fn);
    return c->program ? AC_OK : AC_FAIL;
}

int ac_q_call(ac_qnet *q, int32_t i, void *const *at)
{
    ac_qstep *s = &q->step[i];
    int status = 0;
    if (!s->code)
        AC_TRY(compile(q, s));
    ac_qcode *c = s->code;
    for (int32_t k = 0; k < c->low->arg.n; k++)
        if (c->low->arg.item[k].kind == AC_ARG_TENSOR)
            c->data[k] = at[c->low->arg.item[k].tensor->id];
    AC_TRY(ac_eval_run(q->cx, c->program, c->data, c->low->arg.n, &status));
    return status ? ac_error(q->cx, s->node->at, E0304, "a sample has an index that is out of range") : AC_OK;
}

void ac_q_new(ac_qnet *q, ac_tensor *t, bool coded)
{
    ac_qvalue *v = &q->value[t->id];
    const uint64_t bytes = (uint64_t)(q->samples * ac_tensor_bytes(t)) + 64;
    ac_region *room = ac_region_open(&q->cx->heap);
    uint8_t *p = ac_alloc(room, bytes);
    if (coded) {
        v->coded_room = room;
        v->coded = p;
    } else {
        v->real_room = room;
        v->real = v->coded = p;
    }
}

void ac_q_drop(ac_qnet *q, const ac_tensor *t)
{
    ac_qvalue *v = &q->value[t->id];
    ac_region_close(v->real_room);
    ac_region_close(v->coded_room);
    v->real_room = v->coded_room = NULL;
    v->real = v->coded = NULL;
}

int ac_q_run_as(ac_qnet *q, int32_t i, bool coded)
{
    const ac_node *n = q->step[i].node;
    void **at = AC_NEW_N(q->cx->region, void *, q->n_tensors + 1);
    for (int64_t s = 0; s < q->samples; s++) {
        for (int32_t k = 0; k < n->n_in + n->n_out; k++) {
            const ac_tensor *t = k < n->n_in ? n->in[k] : n->out[k - n->n_in];
            if (!t || ac_tensor_is_const(t))
                continue;
            const ac_qvalue *v = &q->value[t->id];
            at[t->id] = (coded ? v->coded : v->real) + s * ac_tensor_bytes(t);
        }
        AC_TRY(ac_q_call(q, i, at));
    }
    return AC_OK;
}

bool ac_q_differs(const ac_qnet *q, const ac_node *n)
{
    for (int32_t k = 0; k < n->n_in; k++)
        if (n->in[k] && !ac_tensor_is_const(n->in[k]) && q->value[n->in[k]->id].coded != q->value[n->in[k]->id].real)
            return true;
    return false;
}

int ac_q_run(ac_qnet *q, int32_t i)
{
    const ac_node *n = q->step[i].node;
    for (int32_t k = 0; k < n->n_out; k++)
        if (!q->value[n->out[k]->id].real)
            ac_q_new(q, n->out[k], false);
    AC_TRY(ac_q_run_as(q, i, false));
    if (!ac_q_differs(q, n))
        return AC_OK;
    for (int32_t k = 0; k < n->n_out; k++)
        ac_q_new(q, n->out[k], true);
    return ac_q_run_as(q, i, true);
}
