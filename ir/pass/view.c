/* view.c - pass view: places results inside another tensor. */
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/slice.h"
#include "ir/pass/passes.h"
#include "ir/pass/width.h"

/* While the pass runs, roots may be views themselves (a chain); resolved at its end. */
typedef struct state {
    ac_ctx *cx;
    ac_graph *g;
    ac_region *tmp;
    ac_width *width;
    AC_VEC(ac_tensor *) entered; /* since begin(), to undo */
    int32_t mark;
    int64_t peak;  /* at begin() */
    int32_t *held; /* by tensor that is a root: the number of outputs that live in it */
    bool *whole;   /* by tensor: a subgraph reads or makes it, so it has the alignment of a whole tensor */
} state;

/* r, which is a root, and with it all that lives in r, goes into y. */
static void enter(state *s, ac_tensor *r, ac_tensor *y, int64_t offset)
{
    ac_width_enter(s->width, r, ac_tensor_root(y));
    s->held[ac_tensor_root(y)->id] += s->held[r->id];
    r->root = y;
    r->view_offset = offset;
    ac_push(s->tmp, &s->entered, r);
}

static void begin(state *s)
{
    s->entered.n = 0;
    s->mark = ac_width_mark(s->width);
    s->peak = ac_width_peak(s->width);
}

/* Keeps what entered since begin() unless the widest step has grown by it. */
static bool resolve(state *s)
{
    if (ac_width_peak(s->width) <= s->peak)
        return true;
    ac_width_undo(s->width, s->mark);
    for (int32_t i = s->entered.n - 1; i >= 0; i--) {
        ac_tensor *r = s->entered.item[i];
        s->held[ac_tensor_root(r)->id] -= s->held[r->id];
        r->root = NULL;
        r->view_offset = 0;
    }
    return false;
}

static void flatten(const state *s)
{
    for (int32_t i = 0; i < s->g->tensor.n; i++) {
        ac_tensor *t = s->g->tensor.item[i];
        if (t->root && t->root->root) {
            int64_t at = ac_tensor_root_offset(t);
            t->root = ac_tensor_root(t);
            t->view_offset = at;
        }
    }
}

/* ------------------------------------------------------------------ results inside their operand */

/* True if a graph output lives in r, which is a root. */
static bool holds_output(const state *s, const ac_tensor *r)
{
    return s->held[r->id] > 0;
}

/* True if y, made of x, is read after another value was written to state r. */
static bool is_read_too_late(const state *s, const ac_tensor *y, const ac_tensor *x, const ac_tensor *r)
{
    bool there = !x->def, written = false, late = false;
    for (int32_t i = 0; r->state && i < s->g->node.n && !late; i++) {
        const ac_node *n = s->g->node.item[i];
        for (int32_t f = -1; f < n->n_fused; f++) {
            const ac_node *m = f < 0 ? n : n->fused[f];
            for (int32_t k = 0; k < m->n_in; k++)
                late |= written && m->in[k] == y;
        }
        written = written || (there && ac_node_writes(n, r));
        there = there || n == x->def; /* x's own step writes x */
    }
    return late;
}

/* True if y may live in x. A graph output needs bytes of its own, apart from inputs, state and constants. */
static bool may_view(const state *s, const ac_tensor *y, ac_tensor *x)
{
    const ac_tensor *r = ac_tensor_root(x); /* r == y: a view that came with the graph */
    return r != y && !y->root && !y->state && !ac_tensor_is_const(x) && !ac_tensor_is_const(r) &&
           x->dtype == y->dtype && !((r->input || r->state) && holds_output(s, y)) && !is_read_too_late(s, y, x, r);
}

static bool view_reshape(state *s, ac_node *n)
{
    if (!may_view(s, n->out[0], n->in[0]))
        return false;
    enter(s, n->out[0], n->in[0], 0);
    return true;
}

/* First element of a slice without gaps; -1 when there are gaps: after the first dimension with more than one index
 * taken, all must be taken whole. */
static int64_t contiguous(const ac_tensor *x, const ac_slice *s)
{
    int64_t at = 0;
    bool many = false;
    for (int32_t d = 0; d < x->rank; d++) {
        if (s->extent[d] == 0 || (s->extent[d] > 1 && s->step[d] != 1) || (many && s->extent[d] != x->dim[d]))
            return -1;
        at = at * x->dim[d] + s->begin[d];
        many |= s->extent[d] > 1;
    }
    return at;
}

static bool view_slice(state *s, ac_node *n)
{
    ac_slice sl = {0};
    ac_tensor *x = n->in[0];
    if (!may_view(s, n->out[0], x))
        return false;
    int status = n->op == AC_OP_SLICE ? ac_slice_of(s->cx, n, &sl) : ac_strided_slice_of(s->cx, n, &sl);
    int64_t at = status == AC_OK ? contiguous(x, &sl) : -1;
    if (at < 0)
        return false;
    begin(s);
    enter(s, n->out[0], x, ac_dtype_size(x->dtype, at));
    return resolve(s);
}

/* SPLIT, UNPACK: the parts are contiguous when all dimensions before the axis are 1. */
static bool view_parts(state *s, ac_node *n)
{
    const int64_t *sizes;
    int32_t axis;
    ac_tensor *x = n->op == AC_OP_UNPACK ? n->in[0] : ac_split_value(n);
    int status = n->op == AC_OP_UNPACK ? ac_axis_norm(s->cx, n, n->attrs.axis.axis, x->rank, &axis)
                                       : ac_split_of(s->cx, n, &axis, &sizes);
    if (status != AC_OK || ac_dim_product(x->dim, 0, axis) != 1)
        return false;
    for (int32_t i = 0; i < n->n_out; i++)
        if (!may_view(s, n->out[i], x))
            return false;
    begin(s);
    for (int64_t at = 0, i = 0; i < n->n_out; i++) {
        enter(s, n->out[i], x, at);
        at += ac_tensor_bytes(n->out[i]);
    }
    return resolve(s);
}

/* ------------------------------------------------------------------ operands inside the result */

static int32_t join_axis(const ac_node *n)
{
    int32_t rank = n->out[0]->rank, axis = n->attrs.axis.axis;
    return axis < 0 ? axis + rank : axis;
}

/* True if all memory of operand t may be a part of y: the maker of t then writes its bytes there. */
static bool may_enter(ac_tensor *t, const ac_tensor *y)
{
    const ac_tensor *r = ac_tensor_root(t);
    if (t->dtype != y->dtype || !ac_quant_equal(t->quant, y->quant) || ac_tensor_is_const(t))
        return false;
    return r != y && r->def && !r->input && !r->state && !t->output && ac_tensor_root_offset(t) == 0 &&
           ac_tensor_bytes(r) == ac_tensor_bytes(t);
}

/* CONCATENATION, PACK */
static bool view_join(state *s, ac_node *n)
{
    ac_tensor *y = n->out[0];
    if (y->root || y->state || n->attrs.axis.act != AC_ACT_NONE || ac_dim_product(y->dim, 0, join_axis(n)) != 1)
        return false;
    for (int32_t i = 0; i < n->n_in; i++) {
        if (!n->in[i] || !may_enter(n->in[i], y) || holds_output(s, ac_tensor_root(n->in[i])))
            return false;
        for (int32_t k = 0; k < i; k++)
            if (ac_tensor_root(n->in[k]) == ac_tensor_root(n->in[i]))
                return false;
    }
    begin(s);
    for (int64_t at = 0, i = 0; i < n->n_in; i++) {
        int64_t bytes = ac_tensor_bytes(n->in[i]);
        enter(s, ac_tensor_root(n->in[i]), y, at);
        at += bytes;
    }
    return resolve(s);
}

/* Operands and results of nodes that run subgraphs, under all of their shapes. */
static void mark_whole(state *s)
{
    ac_node *const *node = s->g->node.item;
    for (int32_t i = 0; i < s->g->node.n; i++) {
        const ac_node *n = node[i];
        for (int32_t k = 0; k < n->n_in && ac_ops[n->op].flags & OF_FLOW; k++)
            s->whole[n->in[k]->id] = true;
        for (int32_t k = 0; k < n->n_out && ac_ops[n->op].flags & OF_FLOW; k++)
            s->whole[n->out[k]->id] = true;
        if (ac_ops[n->op].flags & OF_VIEW && s->whole[n->in[0]->id])
            s->whole[n->out[0]->id] = true;
    }
    for (int32_t i = s->g->node.n - 1; i >= 0; i--)
        if (ac_ops[node[i]->op].flags & OF_VIEW && s->whole[node[i]->out[0]->id])
            s->whole[node[i]->in[0]->id] = true;
}

static bool parts_allowed(const state *s, const ac_node *n, bool joins)
{
    bool ok = true;
    for (int32_t i = 0; i < (joins ? n->n_in : n->n_out); i++) {
        const ac_tensor *t = joins ? n->in[i] : n->out[i];
        ok &= !t || !s->whole[t->id];
    }
    return ok;
}

static bool view_node(state *s, ac_node *n)
{
    const bool joins = n->op == AC_OP_CONCATENATION || n->op == AC_OP_PACK;
    ac_diags before = s->cx->diags;
    bool done = false;
    if (ac_ops[n->op].flags & OF_VIEW)
        done = view_reshape(s, n);
    else if (!parts_allowed(s, n, joins))
        return false;
    else if (n->op == AC_OP_SLICE || n->op == AC_OP_STRIDED_SLICE)
        done = view_slice(s, n);
    else if (n->op == AC_OP_SPLIT || n->op == AC_OP_SPLIT_V || n->op == AC_OP_UNPACK)
        done = view_parts(s, n);
    else if (joins)
        done = view_join(s, n);
    if (!done && s->cx->diags.errors != before.errors) { /* an invalid operand: the lowering reports it */
        s->cx->diags = before;
        if (before.tail)
            *before.tail = NULL;
    }
    return done;
}

/* ac_pass_view: tensors that are parts, wholes or other shapes of each other share bytes, and the nodes between them
 * need no code.
 *   before:  %b = reshape %a    %s = slice %b        %c = concatenation %p %q
 *   after:   view %b at %a+0    view %s at %a+64     %p at %c+0, %q at %c+128, view %c
 * Always for reshapes (except an output made from an input, state or constant, which needs a copy). For slices, splits
 * and joins if the parts are contiguous and the peak does not grow: a view keeps the whole alive as long as any part.
 * needs: shapes known, epilogues made.  guarantees: a root is never a view itself; offsets are multiples of the element
 * size. */
int ac_pass_view(ac_pass *p)
{
    ac_graph *g = p->graph;
    state s = {.cx = p->cx, .g = g, .tmp = ac_region_open(&p->cx->heap)};
    s.width = ac_width_open(s.tmp, g);
    s.whole = AC_NEW_N(s.tmp, bool, g->tensor.n + 1);
    s.held = AC_NEW_N(s.tmp, int32_t, g->tensor.n + 1);
    for (int32_t i = 0; i < g->output.n; i++)
        s.held[ac_tensor_root(g->output.item[i])->id]++;
    mark_whole(&s);
    for (int32_t i = 0; i < g->node.n;
         i++) { /* first, since they are certain: the others are decided with these in place */
        ac_node *n = g->node.item[i];
        if (!n->view && !n->n_fused && ac_ops[n->op].flags & OF_VIEW)
            p->changed += n->view = view_node(&s, n);
    }
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_node *n = g->node.item[i];
        if (!n->view && !n->n_fused && !(ac_ops[n->op].flags & OF_VIEW))
            p->changed += n->view = view_node(&s, n);
    }
    flatten(&s);
    ac_region_close(s.tmp);
    return AC_OK;
}
