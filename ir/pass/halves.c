/* halves.c - pass halves: values of 16 bits in the file are floats whose memory has 16 bits. */
#include "ir/make/maker.h"
#include "ir/pass/passes.h"

typedef struct state {
    ac_pass *p;
    ac_graph *g;
    AC_VEC(ac_node *) node; /* in order */
    /* By id of a tensor of the graph as it was: of 16 bits: its values as f32; of f32: the tensor that replaces it */
    ac_tensor **wide;
    int32_t tensors; /* entries of it */
} state;

static bool is_half(const ac_tensor *t)
{
    return t && ac_dtype_is_half(t->dtype);
}

bool ac_moves_values(const ac_node *n)
{
    static const ac_op OPS[] = {AC_OP_CONCATENATION, AC_OP_SPLIT,      AC_OP_SPLIT_V,   AC_OP_PACK,
                                AC_OP_UNPACK,        AC_OP_GATHER,     AC_OP_GATHER_ND, AC_OP_PAD,
                                AC_OP_PADV2,         AC_OP_MIRROR_PAD, AC_OP_ASSIGN,    AC_OP_DYNAMIC_UPDATE_SLICE};
    bool any = ac_ops[n->op].flags & (OF_VIEW | OF_MOVES);
    for (size_t i = 0; i < sizeof OPS / sizeof *OPS; i++)
        any |= n->op == OPS[i];
    return any;
}

/* t holds values of 16 bits as f32. */
static void become_wide(state *s, ac_tensor *t)
{
    t->half = t->dtype;
    if (t->data) { /* the first value of a state */
        const int64_t n = t->splat ? 1 : ac_tensor_count(t);
        float *to = AC_NEW_N(s->p->cx->region, float, n + 1);
        for (int64_t i = 0; i < n; i++)
            to[i] = (float)ac_dtype_get_num(t->dtype, t->data, i);
        t->data = to;
    }
    t->dtype = AC_F32;
    t->view_offset *= 2;
    s->p->changed++;
}

/* A new node `y = cast x`, not placed yet. */
static ac_node *cast(const state *s, ac_tensor *x, ac_tensor *y)
{
    ac_node *n = ac_node_new(s->g, AC_OP_CAST, x->def ? x->def->name : x->name, &x, 1, &y, 1);
    n->attrs.cast.to = y->dtype;
    if (x->def)
        n->at = x->def->at;
    s->g->node.n--; /* it comes to its place in s->node */
    return n;
}

/* The values of t, a tensor of 16 bits, as f32. A constant stays one. */
static ac_tensor *wide_of(state *s, ac_tensor *t)
{
    if (t->id < s->tensors && s->wide[t->id])
        return s->wide[t->id];
    ac_tensor *y = ac_tensor_new(s->g, t->name, AC_F32, t->rank, t->dim);
    y->half = t->dtype;
    ac_node *n = cast(s, t, y);
    if (!ac_tensor_is_const(t) || !ac_fold_node(s->g, n))
        ac_push(s->p->cx->region, &s->node, n);
    if (t->id < s->tensors)
        s->wide[t->id] = y;
    s->p->changed++;
    return y;
}

/* A result of 16 bits of an operator that computes it: readers get it as f32, also the graph's. */
static void hand_on(state *s, ac_tensor *t)
{
    ac_tensor *y = wide_of(s, t);
    for (int32_t i = 0; i < s->g->output.n && t->output; i++)
        if (s->g->output.item[i] == t)
            s->g->output.item[i] = y;
    if (t->output) {
        const char *name = t->name;
        t->name = y->name;
        y->name = name;
        y->output = true;
        t->output = false;
    }
}

/* Operand t of n, which is f32 now if it had 16 bits and n moves values. */
static ac_tensor *operand(state *s, const ac_node *n, ac_tensor *t)
{
    if (!t || t->id >= s->tensors)
        return t;
    if (t->dtype == AC_F32 && s->wide[t->id])
        return s->wide[t->id];
    if (is_half(t) && ac_moves_values(n))
        return wide_of(s, t);
    if (t->half == AC_NONE || ac_moves_values(n))
        return t;
    ac_tensor *y = ac_tensor_new(s->g, t->name, t->half, t->rank, t->dim);
    ac_push(s->p->cx->region, &s->node, cast(s, t, y));
    return y;
}

static void visit(state *s, ac_node *n)
{
    ac_tensor *x = n->n_in ? n->in[0] : NULL, *y = n->n_out ? n->out[0] : NULL;
    const bool in_place = ac_moves_values(n);
    if (n->op == AC_OP_CAST && y->dtype == AC_F32 && !y->output && (is_half(x) || x->half != AC_NONE)) {
        s->wide[y->id] = is_half(x) ? wide_of(s, x) : x;
        ac_node_erase(n);
        return;
    }
    for (int32_t i = 0; i < n->n_in; i++)
        n->in[i] = operand(s, n, n->in[i]);
    ac_push(s->p->cx->region, &s->node, n);
    for (int32_t i = 0; i < n->n_out; i++) {
        if (!is_half(n->out[i]))
            continue;
        if (in_place)
            become_wide(s, n->out[i]);
        else
            hand_on(s, n->out[i]);
    }
}

/* x * y with a constant matrix y is a dense layer. */
static int make_dense(state *s, ac_node *n)
{
    ac_tensor *y = n->n_in > 1 ? n->in[1] : NULL;
    if (n->op != AC_OP_BATCH_MATMUL || n->attrs.matmul.adj_x || !y || y->rank != 2 || !y->half ||
        !ac_tensor_is_const(y) || n->in[0]->dtype != AC_F32)
        return AC_OK;
    if (!n->attrs.matmul.adj_y) {
        static const int32_t TURN[] = {1, 0};
        ac_maker b = ac_maker_at(s->g, n);
        const int32_t nodes = s->g->node.n;
        const ac_dtype half = y->half;
        y = ac_make_transpose(&b, y, TURN);
        if (!y || (!ac_tensor_is_const(y) && !ac_fold_new(s->g, y)))
            return y ? AC_OK : AC_FAIL;
        ac_graph_sweep_end(s->g, nodes);
        y->half = half;
    }
    n->op = AC_OP_FULLY_CONNECTED;
    ac_attrs_init(n->op, &n->attrs);
    n->attrs.dense.keep_dims = true;
    n->in[1] = y;
    s->p->changed++;
    return AC_OK;
}

/* ac_pass_halves: tensors of f16 and bf16 are f32 to operators, and keep their type as a fact (ac_tensor.half): pass
 * storage stores them in it. So models of 16 bits are computed by the operators of f32, with the same roundings: where
 * the file rounds a value to 16 bits, the cast stays, and the cast back is a tensor of that fact.
 *   before:  %a: f32 = cast %x    %b: f32 = cast %w    %c: f32 = batch_matmul %a %b    %y: f16 = cast %c
 *   after:   %c: f32 = fully_connected %x %w           %t: f16 = cast %c               %y: f32 = cast %t
 * needs: shapes known, no subgraphs.  keeps: values bit for bit; inputs and outputs have their type back after pass
 * storage. */
int ac_pass_halves(ac_pass *p)
{
    ac_graph *g = p->graph;
    ac_region *tmp = ac_region_open(&p->cx->heap);
    state s = {.p = p, .g = g, .tensors = g->tensor.n};
    s.wide = AC_NEW_N(tmp, ac_tensor *, g->tensor.n + 1);
    for (int32_t i = 0; i < s.tensors; i++) {
        ac_tensor *t = g->tensor.item[i];
        if (is_half(t) && (t->input || t->state))
            become_wide(&s, t);
    }
    for (int32_t i = 0; i < g->node.n; i++)
        visit(&s, g->node.item[i]);
    g->node.n = 0;
    for (int32_t i = 0; i < s.node.n; i++)
        ac_push(p->cx->region, &g->node, s.node.item[i]);
    ac_graph_sweep(g);
    ac_graph_renumber(g); /* outputs gave their names away */
    int status = AC_OK;
    for (int32_t i = 0; i < g->node.n && status == AC_OK; i++)
        status = make_dense(&s, g->node.item[i]);
    ac_region_close(tmp);
    return status;
}
