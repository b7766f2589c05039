/* calls.c - subgraphs in a model where data decides sizes: they are read where an operator runs them, on its operands,
 * so that each node is resolved for what it really gets (sized.c).
 *
 *     STABLEHLO_COMPOSITE   its nodes take its place
 *     IF                    a known condition chooses its branch, which takes its place; of any other both become
 *                           subgraphs (import/build/flow). Results that are longer in one branch are counted
 *     WHILE                 unrolled as long as its condition is known before the iteration; once it is not, or when
 *                           the copies become many, a loop that carries what an iteration changes
 *
 * A model in which data decides no size needs none of this: pass infer does it (ir/pass/flow/inline.c). */
#include "import/build/bounds.h"
#include "import/build/counted.h"
#include "import/build/flow/sub_graphs.h"
#include "import/tflite/rules.h"

#include <string.h>

enum { DEPTH = 16, MAX_CALLS = 1 << 14, MAX_NODES = 1 << 17, MAX_CALLED = 1 << 25, MANY = 1 << 11 };

/* ------------------------------------------------------------------ calls */

static int too_much(ac_tfl *r, const ac_tfl_node *n)
{
    const ac_build b = {.cx = r->cx, .at = n->at, .reading = r->reading};
    if (r->depth > DEPTH)
        return ac_error(r->cx, n->at, E0014, "subgraphs run each other more than %d deep: perhaps in a cycle", DEPTH);
    if (r->calls > MAX_CALLS || r->g->node.n > MAX_NODES || r->called > MAX_CALLED)
        return ac_build_cannot(&b, "unrolled, its subgraphs are more than %d calls or %d operators", MAX_CALLS,
                               MAX_NODES);
    return AC_OK;
}

int ac_tfl_call(ac_tfl *r, const ac_tfl_node *n, int32_t subgraph, ac_tensor *const *arg, int32_t n_arg,
                ac_tensor **result, int32_t n_result)
{
    if (subgraph < 1 || (uint32_t)subgraph >= r->sub.n)
        return ac_error(r->cx, n->at, E0013, "runs subgraph %d, but the model has subgraphs 1 to %u to run", subgraph,
                        r->sub.n ? r->sub.n - 1 : 0);
    ac_tfl_sub sub = {.index = subgraph, .g = r->g, .sized = true, .arg = arg, .result = result};
    const int64_t work = r->fb.work;
    r->depth++;
    r->calls++;
    int rc = too_much(r, n);
    if (rc == AC_OK)
        rc = ac_tfl_subgraph(r, &sub, n, n_arg, n_result);
    r->depth--;
    if (!r->fb.failed) { /* a loop reads its body again and again; the limits above bound it */
        r->called += work - r->fb.work;
        r->fb.work = work - 1;
    }
    return rc;
}

static int check_operands(ac_tfl *r, const ac_tfl_node *n)
{
    for (int32_t i = 0; i < n->n_in; i++)
        if (!n->in[i])
            return ac_error(r->cx, n->at, E0102, "operand %d of %s is left out", i, n->code->name);
    return AC_OK;
}

/* One boolean, as a scalar; NULL: it is none. */
static ac_tensor *condition(const ac_build *b, ac_tensor *c)
{
    if (c->dtype == AC_BOOL && ac_tensor_count(c) == 1)
        return ac_build_reshape(b, c, 0, NULL);
    (void)ac_error(b->cx, b->at, E0104, "the condition '%s' is %s, expected one bool", c->name,
                   ac_tensor_str(b->cx, c));
    return NULL;
}

/* ------------------------------------------------------------------ IF */

static int both_branches(ac_tfl *r, ac_tfl_node *n, ac_tensor **out)
{
    ac_build b = ac_tfl_build(r, n);
    ac_sub branch[2] = {{0}, {0}};
    const int32_t subgraph[2] = {n->attrs.flow.first, n->attrs.flow.second};
    const char **name = AC_NEW_N(r->cx->region, const char *, n->n_out + 1);
    ac_tensor *cond = condition(&b, n->in[0]);
    if (!cond)
        return AC_FAIL;
    for (int32_t k = 0; k < 2; k++) {
        ac_sub_enter(&b, &r->g, &branch[k]);
        const int rc = ac_tfl_call(r, n, subgraph[k], n->in + 1, n->n_in - 1, out, n->n_out);
        ac_sub_leave(&b, &r->g, &branch[k]);
        AC_TRY(rc);
        for (int32_t i = 0; i < n->n_out; i++)
            ac_push(r->cx->region, &branch[k].g->output, out[i]);
    }
    for (int32_t i = 0; i < n->n_out; i++)
        name[i] = n->out[i]->name;
    return ac_sub_branches(&b, &r->g, cond, &branch[0], &branch[1], n->n_out, name, out);
}

int ac_tfl_if(ac_tfl *r, ac_tfl_node *n)
{
    const ac_build b = ac_tfl_build(r, n);
    const ac_attrs_flow *a = &n->attrs.flow;
    ac_tensor **out = AC_NEW_N(r->cx->region, ac_tensor *, n->n_out + 1);
    double holds;
    AC_TRY(check_operands(r, n));
    if (ac_operand_known(&b, &n->in[0])) {
        AC_TRY(condition(&b, n->in[0]) ? AC_OK : AC_FAIL);
        AC_TRY(ac_operand_scalar(&b, &n->in[0], &holds));
        AC_TRY(ac_tfl_call(r, n, holds != 0 ? a->first : a->second, n->in + 1, n->n_in - 1, out, n->n_out));
    } else {
        AC_TRY(both_branches(r, n, out));
    }
    for (int32_t i = 0; i < n->n_out; i++)
        AC_TRY(ac_tfl_result(n, i, out[i]));
    return AC_OK;
}

/* ------------------------------------------------------------------ WHILE */

typedef struct loop {
    ac_tfl *r;
    ac_tfl_node *n;
    int32_t count;  /* of what is carried round */
    ac_tensor **in; /* before the next iteration */
} loop;

static bool same_shapes(const loop *l, ac_tensor *const *a, ac_tensor *const *b)
{
    bool same = true;
    for (int32_t k = 0; k < l->count; k++)
        same &= a[k] == b[k] || (ac_tensor_same_kind(a[k], b[k]) && !a[k]->count && !b[k]->count);
    return same;
}

/* Nodes first .. last-1 go. */
static void erase(loop *l, int32_t first, int32_t last)
{
    const ac_build b = ac_tfl_build(l->r, l->n);
    ac_graph *g = l->r->g;
    for (int32_t i = first; i < last; i++)
        if (g->node.item[i]->op != AC_OP_NONE)
            ac_node_erase(g->node.item[i]);
    ac_counted_erased(&b);
}

/* A subgraph of the loop on inputs of s for what it changes; the rest is read as it is. */
static int call_on(loop *l, ac_build *b, ac_sub *s, int32_t subgraph, const ac_carried *c, const bool *changes,
                   ac_tensor **result, int32_t n_result)
{
    ac_tfl *r = l->r;
    ac_tensor **own = AC_NEW_N(r->cx->region, ac_tensor *, l->count + 1);
    ac_tensor **in = AC_NEW_N(r->cx->region, ac_tensor *, c->n + 1);
    ac_sub_enter(b, &r->g, s);
    ac_carried_inputs(c, s, in);
    for (int32_t k = 0, i = 0; k < l->count; k++)
        own[k] = changes[k] ? in[i++] : l->in[k];
    const int rc = ac_tfl_call(r, l->n, subgraph, own, l->count, result, n_result);
    ac_sub_leave(b, &r->g, s);
    return rc;
}

static int read_condition(loop *l, ac_build *b, ac_sub *s, const ac_carried *c, const bool *changes)
{
    ac_tensor *again = NULL;
    AC_TRY(call_on(l, b, s, l->n->attrs.flow.first, c, changes, &again, 1));
    ac_sub_enter(b, &l->r->g, s);
    again = condition(b, again);
    ac_sub_leave(b, &l->r->g, s);
    if (!again)
        return AC_FAIL;
    ac_push(s->g->region, &s->g->output, again);
    return AC_OK;
}

static int read_body(loop *l, ac_build *b, ac_sub *cond, ac_sub *s, ac_carried *c, const bool *changes)
{
    ac_tfl *r = l->r;
    ac_tensor **next = AC_NEW_N(r->cx->region, ac_tensor *, l->count + 1);
    int32_t wrong;
    bool again;
    do {
        int32_t count = 0;
        *cond = *s = (ac_sub){0};
        AC_TRY(read_condition(l, b, cond, c, changes));
        AC_TRY(call_on(l, b, s, l->n->attrs.flow.second, c, changes, next, l->count));
        for (int32_t k = 0; k < l->count; k++)
            if (changes[k])
                next[count++] = next[k];
        if (ac_carried_outputs(b, &r->g, c, cond, s, next, &again, &wrong) == AC_OK)
            continue;
        if (wrong < 0)
            return AC_FAIL;
        const ac_tensor *x = c->first[wrong], *y = next[wrong];
        return ac_refuse(r->reading, l->n->at, E0203, l->n->code->name,
                         ac_strf(r->cx->region, "'%s' is %s, but may be %s after an iteration", x->name,
                                 ac_tensor_str(r->cx, x), ac_tensor_str(r->cx, y)),
                         "how often the loop runs depends on data, so its values must not become longer");
    } while (again);
    return AC_OK;
}

/* All iterations from here on, as a loop; results in l->in. */
static int stay(loop *l)
{
    ac_build b = ac_tfl_build(l->r, l->n);
    ac_sub cond = {0}, body = {0};
    ac_sub_tensors captured = {0};
    ac_carried c;
    int32_t sub[2], count = 0;
    bool *changes = AC_NEW_N(l->r->cx->region, bool, l->count + 1);
    ac_tensor **first = AC_NEW_N(l->r->cx->region, ac_tensor *, l->count + 1);
    const char **name = AC_NEW_N(l->r->cx->region, const char *, l->count + 1);
    AC_TRY(ac_tfl_changed(l->r, l->n, changes));
    for (int32_t k = 0; k < l->count; k++)
        if (changes[k]) {
            name[count] = l->n->out[k] ? l->n->out[k]->name : NULL;
            first[count++] = l->in[k];
        }
    if (!count)
        return ac_error(l->r->cx, l->n->at, E0104, "an iteration changes nothing, so a loop that begins never ends");
    AC_TRY(ac_carried_begin(&b, &c, count, first));
    c.result = name;
    AC_TRY(read_body(l, &b, &cond, &body, &c, changes));
    AC_TRY(ac_sub_captured(&b, &cond, &captured));
    AC_TRY(ac_sub_captured(&b, &body, &captured));
    sub[0] = ac_sub_add(&b, &cond, &captured);
    sub[1] = ac_sub_add(&b, &body, &captured);
    const ac_node *made = ac_sub_run(&b, AC_OP_WHILE, c.first, c.all, &captured, sub, &body);
    if (!made)
        return AC_FAIL;
    ac_carried_results(&c, made, first);
    for (int32_t k = 0, i = 0; k < l->count; k++)
        if (changes[k])
            l->in[k] = first[i++];
    return AC_OK;
}

/* Can it stay a loop from the beginning? Then the nodes of the iterations so far, from `nodes` on, go. */
static bool roll_up(loop *l, int32_t nodes)
{
    ac_tfl *r = l->r;
    const ac_diags before = r->cx->diags;
    const int32_t refused = r->reading->refused.n, made = r->g->node.n;
    loop whole = *l;
    whole.in = ac_copy(r->cx->region, l->n->in, (size_t)l->count * sizeof *l->in);
    if (!same_shapes(l, l->n->in, l->in))
        return false;
    const bool stays = ac_quietly(r->cx, before, stay(&whole));
    r->reading->refused.n = stays ? r->reading->refused.n : refused;
    if (!stays)
        return false;
    erase(l, nodes, made);
    l->in = whole.in;
    return true;
}

/* Iterations whose condition is known; then the rest. */
static int iterate(loop *l)
{
    ac_tfl *r = l->r;
    const ac_build b = ac_tfl_build(r, l->n);
    const ac_attrs_flow *a = &l->n->attrs.flow;
    const int32_t nodes = r->g->node.n;
    bool tried = false;
    for (int32_t turns = 0;; turns++) {
        ac_tensor *again, **next = AC_NEW_N(r->cx->region, ac_tensor *, l->count + 1);
        double holds;
        AC_TRY(ac_tfl_call(r, l->n, a->first, l->in, l->count, &again, 1));
        if (!(again = condition(&b, again)))
            return AC_FAIL;
        if (!ac_operand_known(&b, &again)) {
            if (turns && same_shapes(l, l->n->in, l->in)) {
                erase(l, nodes, r->g->node.n);
                memcpy(l->in, l->n->in, (size_t)l->count * sizeof *l->in);
            }
            return stay(l);
        }
        AC_TRY(ac_operand_scalar(&b, &again, &holds));
        if (holds == 0)
            return AC_OK;
        if (r->g->node.n - nodes > MANY && !tried) {
            if (roll_up(l, nodes))
                return AC_OK;
            tried = true;
        }
        AC_TRY(ac_tfl_call(r, l->n, a->second, l->in, l->count, next, l->count));
        l->in = next;
    }
}

int ac_tfl_while(ac_tfl *r, ac_tfl_node *n)
{
    AC_TRY(check_operands(r, n));
    if (n->n_in != n->n_out)
        return ac_error(r->cx, n->at, E0102, "takes %d values and makes %d: a loop carries all of them round", n->n_in,
                        n->n_out);
    const ac_build b = ac_tfl_build(r, n);
    for (int32_t i = 0; i < n->n_out; i++) /* it is one of --bound, even where this is unrolled */
        if (n->out[i])
            (void)ac_bound_of(&b, n->out[i]->name);
    loop l = {
        .r = r, .n = n, .count = n->n_in, .in = ac_copy(r->cx->region, n->in, (size_t)n->n_in * sizeof(ac_tensor *))};
    AC_TRY(iterate(&l));
    for (int32_t k = 0; k < n->n_out; k++)
        AC_TRY(ac_tfl_result(n, k, l.in[k]));
    return AC_OK;
}
