/* verify_nodes.c - checks the rules that a graph must obey at any time between import and lowering. Written from the
 * rules in graph.h, not from the passes: a pass that breaks one is found here.
 *
 * Shapes may still be unknown (-1) and result types missing: pass infer fills these in and reports errors of its
 * own. */
#include "ir/graph/graph.h"

#include <math.h>

/* Sizes above this are refused: no machine has them, and sums of two never overflow. */
static const int64_t MAX_BYTES = (int64_t)1 << 60;

typedef struct check {
    ac_ctx *cx;
    ac_graph *g;
    int32_t *made; /* by tensor id: 1 + position of the node that produces it */
    int32_t bad;
} check;

#define BAD(c, at, code, ...) ((c)->bad++, (void)ac_error((c)->cx, (at), (code), __VA_ARGS__))

static ac_place file_of(const check *c)
{
    return (ac_place){.file = c->g->file};
}

static bool known(const check *c, const ac_tensor *t)
{
    return t->id >= 0 && ac_graph_has(c->g, t);
}

static void check_quant(check *c, const ac_tensor *t)
{
    const ac_quant *q = t->quant;
    if (q->n < 1 ||
        (q->n > 1 && (q->axis < 0 || q->axis >= t->rank || (t->dim[q->axis] >= 0 && t->dim[q->axis] != q->n)))) {
        BAD(c, file_of(c), E0106, "tensor '%s' %s has %d scales along dimension %d", t->name, ac_shape_str(c->cx, t),
            q->n, q->axis);
        return;
    }
    const bool whole = ac_dtype_is_int(t->dtype);
    const int64_t least = whole ? ac_dtype_min(t->dtype) : INT64_MIN, most = whole ? ac_dtype_max(t->dtype) : INT64_MAX;
    for (int32_t i = 0; i < q->n; i++) {
        if (!isfinite(q->scale[i]) || q->scale[i] <= 0) {
            BAD(c, file_of(c), E0106, "scale %d of tensor '%s' is %g, expected a positive number", i, t->name,
                (double)q->scale[i]);
            return;
        }
        if (q->zero[i] < least || q->zero[i] > most) {
            BAD(c, file_of(c), E0106, "zero point %d of tensor '%s' is %d, outside of %s", i, t->name, q->zero[i],
                ac_dtype_name(t->dtype));
            return;
        }
    }
}

static void check_size(check *c, const ac_tensor *t)
{
    int64_t n = 1;
    bool fits = true;
    for (int32_t i = 0; i < t->rank; i++) {
        if (t->dim[i] < -1) {
            BAD(c, file_of(c), E0201, "dimension %d of tensor '%s' is %lld", i, t->name, (long long)t->dim[i]);
            return;
        }
        fits &= t->dim[i] <= 0 || ac_mul_ok(n, t->dim[i], &n); /* zeros are skipped: the others must still fit */
        fits &= n <= MAX_BYTES / 8;
    }
    if (!fits)
        BAD(c, file_of(c), E0015, "tensor '%s' %s is larger than any machine", t->name, ac_tensor_str(c->cx, t));
}

static bool open_shape(const ac_tensor *t)
{
    bool open = t->dtype == AC_NONE;
    for (int32_t i = 0; i < t->rank; i++)
        open |= t->dim[i] < 0;
    return open;
}

static void check_view(check *c, const ac_tensor *t)
{
    const ac_tensor *r = t->root;
    if (!known(c, r))
        BAD(c, file_of(c), E0101, "tensor '%s' is a view of a tensor of another graph", t->name);
    else if (r->root)
        BAD(c, file_of(c), E0101, "tensor '%s' is a view of '%s', which is a view itself", t->name, r->name);
    else if (t->input || t->state || ac_tensor_is_const(t) || ac_tensor_is_const(r))
        BAD(c, file_of(c), E0101, "'%s' cannot be a view of '%s': inputs, state and constants have bytes of their own",
            t->name, r->name);
    else if (open_shape(t) || open_shape(r) || t->view_offset < 0 ||
             t->view_offset > ac_tensor_bytes(r) - ac_tensor_bytes(t))
        BAD(c, file_of(c), E0101, "view '%s' at byte %lld reaches outside of '%s'", t->name, (long long)t->view_offset,
            r->name);
    else if (t->view_offset % ac_dtype_size(t->dtype, 1))
        BAD(c, file_of(c), E0101, "view '%s' starts between two elements of '%s'", t->name, r->name);
}

static void check_tensor(check *c, int32_t i)
{
    const ac_tensor *t = c->g->tensor.item[i];
    if (!t || t->id != i || !t->name) {
        BAD(c, file_of(c), E0101, "tensor number %d is missing, has a wrong id or no name", i);
        return;
    }
    if (ac_tensor_find(c->g, t->name) != t)
        BAD(c, file_of(c), E0022, "two tensors are named '%s'", t->name);
    if (t->rank < 0 || t->rank > AC_MAX_RANK) {
        BAD(c, file_of(c), E0205, "tensor '%s' has %d dimensions", t->name, t->rank);
        return;
    }
    if ((int)t->dtype < 0 || t->dtype >= AC_DTYPE_COUNT || (t->dtype == AC_NONE && !t->def))
        BAD(c, file_of(c), E0105, "tensor '%s' has no element type", t->name);
    check_size(c, t);
    if (t->quant)
        check_quant(c, t);
    if (t->input + t->state + (ac_tensor_is_const(t) || t->def) > 1)
        BAD(c, file_of(c), E0101, "tensor '%s' is produced twice: as an input, as state, by a node or as a constant",
            t->name);
    if (!t->input && !t->state && !ac_tensor_is_const(t) && !t->def && t->output)
        BAD(c, file_of(c), E0101, "output '%s' is produced by nothing", t->name);
    if ((t->data || t->lazy || t->raw) && open_shape(t))
        BAD(c, file_of(c), E0101, "constant '%s' has an open shape", t->name);
    if (t->root)
        check_view(c, t);
}

/* Results first, to distinguish a read before the definition from a read of an undefined tensor. */
static void collect_results(check *c, const ac_node *n, const ac_node *host, int32_t pos)
{
    for (int32_t i = 0; i < n->n_out; i++) {
        const ac_tensor *t = n->out[i];
        if (!t || !known(c, t))
            BAD(c, n->at, E0101, "result %d of %s is not a tensor of the graph", i, ac_ops[n->op].text);
        else if (c->made[t->id])
            BAD(c, n->at, E0101, "tensor '%s' is produced twice", t->name);
        else if (t->input || t->state || ac_tensor_is_const(t))
            BAD(c, n->at, E0101, "%s produces '%s', which is an input, state or a constant", ac_ops[n->op].text,
                t->name);
        else if (t->def != host)
            BAD(c, n->at, E0101, "result '%s' of %s says it is made by another node", t->name, ac_ops[n->op].text);
        if (t && known(c, t))
            c->made[t->id] = pos + 1;
    }
    for (int32_t f = 0; f < n->n_fused; f++)
        collect_results(c, n->fused[f], host, pos);
}

/* True if the host, or one of its followers before number `before`, produces t. */
static bool made_in_chain(const ac_node *host, int32_t before, const ac_tensor *t)
{
    bool made = before >= 0 && host->n_out && t == host->out[0];
    for (int32_t f = 0; f < before; f++)
        made |= host->fused[f]->n_out && t == host->fused[f]->out[0];
    return made;
}

/* True if a follower after number `follower` reads t. */
static bool read_in_chain(const ac_node *host, int32_t follower, const ac_tensor *t)
{
    bool any = false;
    for (int32_t f = follower + 1; f < host->n_fused; f++)
        for (int32_t i = 0; i < host->fused[f]->n_in; i++)
            any |= host->fused[f]->in[i] == t;
    return any;
}

/* follower: the number of n among the followers of host; -1: n is the host. */
static void check_reads(check *c, const ac_node *n, int32_t pos, const ac_node *host, int32_t follower)
{
    const ac_op_row *row = &ac_ops[n->op];
    bool chained = follower < 0 || (n->n_out && read_in_chain(host, follower, n->out[0]));
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_tensor *t = n->in[i];
        if (!t) {
            if (i < row->min_in)
                BAD(c, n->at, E0102, "operand %d of %s is missing", i, row->text);
            continue;
        }
        const bool inside = made_in_chain(host, follower, t);
        chained |= inside;
        if (!known(c, t))
            BAD(c, n->at, E0101, "operand %d of %s is not a tensor of the graph", i, row->text);
        else if (t->def && !c->made[t->id])
            BAD(c, n->at, E0101, "operand '%s' of %s is made by a node that is not in the graph", t->name, row->text);
        else if (c->made[t->id] > pos && !inside) {
            BAD(c, n->at, E0101, "operand '%s' of %s is read before it is made", t->name, row->text);
            ac_reason(c->cx, "nodes must be in execution order, without cycles");
        } else if (!t->def && !t->input && !t->state && !ac_tensor_is_const(t))
            BAD(c, n->at, E0101, "operand '%s' of %s is produced by nothing", t->name, row->text);
    }
    if (!chained)
        BAD(c, n->at, E0101, "%s is in an epilogue but has no part in it", row->text);
}

static bool check_arity(check *c, const ac_node *n)
{
    int32_t before = c->bad;
    if ((int)n->op <= AC_OP_NONE || n->op >= AC_OP_COUNT || !n->name) {
        BAD(c, n->at, E0101, "node %d has no operator or no name", n->id);
        return false;
    }
    const ac_op_row *row = &ac_ops[n->op];
    if (n->n_in < row->min_in || n->n_in > row->max_in)
        BAD(c, n->at, E0102, "%s has %d operands, expected %d%s%.0d", row->text, n->n_in, row->min_in,
            row->min_in == row->max_in ? "" : " to ", row->min_in == row->max_in ? 0 : row->max_in);
    if (row->n_out >= 0 ? n->n_out != row->n_out : n->n_out < 1)
        BAD(c, n->at, E0102, "%s has %d results, expected %s", row->text, n->n_out,
            row->n_out == 1 ? "1" : "at least 1");
    return c->bad == before;
}

static void check_node(check *c, const ac_node *n, int32_t pos)
{
    check_reads(c, n, pos, n, -1);
    const ac_tensor *running = n->n_out ? n->out[0] : NULL;
    for (int32_t f = 0; f < n->n_fused && running; f++) {
        const ac_node *m = n->fused[f];
        if ((!ac_ops[m->op].map && ac_node_reduction(n) != m) || m->n_fused || m->n_out != 1)
            BAD(c, m->at, E0101, "%s cannot be in an epilogue", ac_ops[m->op].text);
        if (running->output || running->root)
            BAD(c, n->at, E0101, "'%s' is made and used up in an epilogue, but is an output or a view", running->name);
        check_reads(c, m, pos, n, f);
        running = m->out[0];
    }
}

static void check_lists(check *c)
{
    const ac_graph *g = c->g;
    for (int32_t i = 0; i < g->input.n; i++)
        if (!known(c, g->input.item[i]) || !g->input.item[i]->input)
            BAD(c, file_of(c), E0101, "input %d of the graph is not marked as one", i);
    for (int32_t i = 0; i < g->output.n; i++)
        if (!known(c, g->output.item[i]) || !g->output.item[i]->output)
            BAD(c, file_of(c), E0101, "output %d of the graph is not marked as one", i);
}

/* Intermediate results of an epilogue never exist in memory: no other node may read them. */
static void check_internal(check *c)
{
    int32_t *uses = ac_graph_uses(c->g, c->cx->region);
    for (int32_t i = 0; i < c->g->node.n; i++) {
        const ac_node *n = c->g->node.item[i];
        const ac_tensor *t = n->out[0];
        for (int32_t f = 0; f < n->n_fused; t = n->fused[f++]->out[0]) {
            int32_t here = 0;
            for (int32_t later = f; later < n->n_fused; later++)
                for (int32_t k = 0; k < n->fused[later]->n_in; k++)
                    here += n->fused[later]->in[k] == t;
            if (uses[t->id] != here)
                BAD(c, n->at, E0101, "'%s' exists only inside an epilogue, but is read elsewhere", t->name);
        }
    }
}

int ac_graph_verify(ac_graph *g)
{
    check c = {.cx = g->cx, .g = g, .made = AC_NEW_N(g->cx->region, int32_t, g->tensor.n + 1)};
    for (int32_t i = 0; i < g->tensor.n; i++)
        check_tensor(&c, i);
    check_lists(&c);
    bool shaped = c.bad == 0; /* no part of a node is missing, so nodes can be walked */
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *n = g->node.item[i];
        shaped &= check_arity(&c, n);
        for (int32_t f = 0; f < n->n_fused; f++)
            shaped &= check_arity(&c, n->fused[f]);
    }
    if (!shaped)
        return AC_FAIL;
    for (int32_t i = 0; i < g->node.n; i++)
        collect_results(&c, g->node.item[i], g->node.item[i], i);
    for (int32_t i = 0; i < g->node.n; i++)
        check_node(&c, g->node.item[i], i);
    if (!c.bad)
        check_internal(&c);
    for (int32_t i = 0; i < g->sub.n; i++)
        if (ac_graph_verify(g->sub.item[i]) != AC_OK)
            c.bad++;
    return c.bad ? AC_FAIL : AC_OK;
}
