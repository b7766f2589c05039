/* promise.c - computes results of nodes with constant operands when they are first needed; fills ac_tensor.lazy. */
#include "ir/loop/eval/eval.h"
#include "ir/lower/node/node.h"

/* The results of a node, as its loops. */
typedef struct loops_promise {
    ac_promise head; /* first: a tensor holds a pointer to it */
    const ac_lowered *low;
} loops_promise;

/* The type that the loops write; the tensor's type may have changed since. */
static ac_bytes bytes_of(const ac_lowered *w, int32_t i)
{
    return ac_dtype_size(w->fn->buf.item[i].dtype, w->fn->buf.item[i].count);
}

/* Every TENSOR argument is a result. */
static int run_loops(ac_ctx *cx, ac_making *making, const ac_promise *p, ac_tensor *t)
{
    const ac_lowered *w = ((const loops_promise *)p)->low;
    ac_region *tmp = ac_region_open(&cx->heap);
    void **data = AC_NEW_N(tmp, void *, w->arg.n + 1);
    int status = 0, rc = AC_OK;
    for (int32_t i = 0; i < w->arg.n && rc == AC_OK; i++) {
        const ac_arg *a = &w->arg.item[i];
        if (a->kind == AC_ARG_CONST)
            data[i] = ac_const_operand(cx, making, a->konst);
        else if (a->kind == AC_ARG_TENSOR)
            data[i] = ac_making_tensor(cx, making, a->tensor, bytes_of(w, i));
        else /* PART: constants are made in one part */
            data[i] = ac_alloc(tmp, (uint64_t)a->bytes + 1);
        rc = data[i] ? AC_OK : AC_FAIL;
    }
    if (rc == AC_OK)
        rc = ac_eval(cx, w->fn, data, w->arg.n, &status);
    if (rc == AC_OK && status)
        rc = ac_error(cx, w->node->at, E0104, "constant '%s' cannot be computed: a check inside '%s' fails", t->name,
                      w->fn->name);
    for (int32_t i = 0; i < w->arg.n && rc == AC_OK; i++)
        if (w->arg.item[i].kind == AC_ARG_TENSOR && w->arg.item[i].tensor->lazy == p)
            w->arg.item[i].tensor->data = data[i];
    ac_region_close(tmp);
    return rc;
}

/* The argument of w that holds a result; results of equal loops may share one. */
static int32_t place_of(const ac_lowered *w, const ac_tensor *t)
{
    int32_t i = 0;
    while (i < w->arg.n && !(w->arg.item[i].kind == AC_ARG_TENSOR && w->arg.item[i].tensor == t))
        i++;
    return i < w->arg.n ? i : -1;
}

static bool same_loops(const ac_promise *p, const ac_tensor *s, const ac_promise *q, const ac_tensor *t, int32_t *left)
{
    const ac_lowered *v = ((const loops_promise *)p)->low, *w = ((const loops_promise *)q)->low;
    const int32_t at = place_of(v, s);
    return at >= 0 && at == place_of(w, t) && ac_const_args_same(v, w, left);
}

static uint64_t hash_of(const ac_lowered *w)
{
    uint64_t h = ac_fn_hash(w->fn);
    for (int32_t i = 0; i < w->arg.n; i++)
        if (w->arg.item[i].kind == AC_ARG_CONST)
            h = (h ^ ac_const_hash(w->arg.item[i].konst)) * UINT64_C(0x9e3779b97f4a7c15);
    return h;
}

bool ac_lower_promise(ac_ctx *cx, const ac_node *n)
{
    /* the evaluator runs them, so the target does not matter; this one gives the simplest loops */
    static const ac_target PLAIN = {.name = "constant", .help = "", .features = "", .align = 16};
    if (ac_ops[n->op].flags & OF_CALLS)
        return false;
    ac_node *own = AC_NEW(cx->region, ac_node); /* a lowering keeps its node; the graph's own may be erased */
    *own = *n;
    const ac_diags before = cx->diags;
    const ac_lowered *w = ac_lower_node(cx, cx->region, own, &PLAIN, 0, true);
    ac_quietly(cx, before, w ? AC_OK : AC_FAIL);
    if (!w)
        return false;
    loops_promise *p = AC_NEW(cx->region, loops_promise);
    *p = (loops_promise){{run_loops, same_loops, hash_of(w)}, w};
    for (int32_t i = 0; i < own->n_out; i++)
        own->out[i]->lazy = &p->head;
    return true;
}
