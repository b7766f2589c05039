/* epilogue.c - element-wise operators join the loops of the operator before. */
#include "ir/ops/decode/axis.h"
#include "ir/pass/passes.h"

enum { MAX_FOLLOWERS = 32 }; /* keeps the number of parameters of one loop function small */
enum { WINDOW = 32 };        /* nodes after a value among which its readers are looked for */

typedef struct state {
    ac_graph *g;
    int32_t *uses; /* by tensor id */
    int32_t *made; /* by tensor id: 1 + position of the node whose loops make it; 0: before all */
    bool has_state;
} state;

/* Maps by table work lane by lane; a convolution would lose its vectors to them. */
static bool keeps_lanes(const ac_node *host, const ac_node *f)
{
    return !(ac_ops[f->op].flags & OF_TABLE) || ac_dtype_is_float(f->in[0]->dtype) || ac_ops[host->op].map;
}

static int32_t reads_of(const ac_node *n, const ac_tensor *x)
{
    int32_t reads = 0;
    for (int32_t i = 0; i < n->n_in; i++)
        reads += n->in[i] == x;
    return reads;
}

/* True if f writes state that m reads otherwise than element by element: the loops would read new elements. */
static bool changes_operand(const ac_node *m, const ac_node *f)
{
    for (int32_t i = 0; i < m->n_in; i++) {
        const ac_tensor *t = m->in[i], *root = t ? ac_tensor_root(t) : NULL;
        const bool same = t && ac_ops[m->op].map && ac_tensor_same_shape(t, f->out[0]);
        if (root && root->state && !same && ac_node_writes(f, root))
            return true;
    }
    return false;
}

/* True if f can be computed in the loops of host, whose result x it reads, provided x has no other reader. */
static bool may_follow(const ac_node *host, const ac_node *f, const ac_tensor *x)
{
    for (int32_t k = -1; k < host->n_fused; k++)
        if (changes_operand(k < 0 ? host : host->fused[k], f))
            return false;
    return (ac_ops[host->op].map || ac_ops[host->op].flags & OF_EPILOGUE) && !host->view && !ac_node_reduction(host) &&
           host->n_fused < MAX_FOLLOWERS && ac_node_result(host) == x && !x->root && keeps_lanes(host, f) &&
           ac_tensor_same_shape(host->out[0], f->out[0]);
}

static bool may_join(const state *s, const ac_node *host, const ac_node *f, const ac_tensor *x)
{
    return s->uses[x->id] == reads_of(f, x) && may_follow(host, f, x);
}

/* ------------------------------------------------------------------ state
 *
 * An assign changes the value of a state: a node that reads or writes the same state does not move past it. */

/* True if m must not move past b. */
static bool clash(const ac_node *m, const ac_node *b)
{
    bool any = false;
    for (int32_t i = 0; i < m->n_in + m->n_out; i++) {
        const ac_tensor *t = i < m->n_in ? m->in[i] : m->out[i - m->n_in], *r = t ? ac_tensor_root(t) : NULL;
        any |= r && r->state && (ac_node_writes(m, r) ? ac_node_touches : ac_node_writes)(b, r);
    }
    for (int32_t f = 0; f < m->n_fused; f++)
        any |= clash(m->fused[f], b);
    return any;
}

/* May m move past all nodes between positions lo and hi? */
static bool may_pass(const state *s, const ac_node *m, int32_t lo, int32_t hi)
{
    if (!s->has_state || !ac_node_touches(m, NULL))
        return true;
    for (int32_t i = lo + 1; i < hi; i++)
        if (s->g->node.item[i] && clash(m, s->g->node.item[i]))
            return false;
    return true;
}

/* ------------------------------------------------------------------ one reader */

/* The latest position at which an operand of f other than x is made. */
static int32_t others_made(const state *s, const ac_node *f, const ac_tensor *x)
{
    int32_t last = 0;
    for (int32_t i = 0; i < f->n_in; i++)
        if (f->in[i] && f->in[i] != x && s->made[f->in[i]->id] > last)
            last = s->made[f->in[i]->id];
    return last;
}

/* Moving host later extends the live ranges of its operands, instead of its result's, which must not be smaller. */
static bool cheap_to_move(const ac_node *host)
{
    ac_tensor *read[64];
    int64_t bytes = 0;
    int32_t n = ac_node_reads(host, read, 64);
    for (int32_t i = 0; i < n && i < 64; i++)
        bytes += ac_tensor_bytes(read[i]);
    return n <= 64 && bytes <= ac_tensor_bytes(ac_node_result(host));
}

/* f, about to follow host, is the only reader of another chain of maps: the chain moves with it, unless that extends
 * the live ranges of more bytes than it saves. */
static void absorb(state *s, ac_node *host, int32_t at, const ac_node *f)
{
    for (int32_t i = 0; i < f->n_in && ac_ops[host->op].map; i++) {
        const ac_tensor *t = f->in[i];
        ac_node *m = t ? t->def : NULL;
        if (!m || m == host || !ac_ops[m->op].map || !may_join(s, m, f, t) || s->made[t->id] > at ||
            !ac_tensor_same_shape(m->out[0], host->out[0]) || !cheap_to_move(m) ||
            host->n_fused + m->n_fused + 2 > MAX_FOLLOWERS || !may_pass(s, m, s->made[t->id] - 1, at))
            continue;
        ac_node **own = m->fused;
        const int32_t n = m->n_fused;
        s->g->node.item[s->made[t->id] - 1] = NULL;
        m->fused = NULL;
        m->n_fused = 0;
        ac_node_fuse(s->g, host, m);
        for (int32_t k = 0; k < n; k++)
            ac_node_fuse(s->g, host, own[k]);
    }
}

/* Joins node f (at `pos`) to the latest possible maker of an operand. */
static bool join_follower(state *s, int32_t pos)
{
    ac_node *f = s->g->node.item[pos], *host = NULL;
    ac_tensor *through = NULL;
    for (int32_t i = 0; i < f->n_in; i++) {
        ac_tensor *x = f->in[i];
        if (x && x->def && may_join(s, x->def, f, x) && (!host || s->made[x->id] > s->made[through->id])) {
            host = x->def;
            through = x;
        }
    }
    if (!host)
        return false;
    int32_t at = s->made[through->id] - 1;
    if (others_made(s, f, through) > at + 1 || !may_pass(s, f, at, pos)) {
        if (host->n_out > 1 || !cheap_to_move(host) || !may_pass(s, host, at, pos))
            return false;
        s->g->node.item[at] = NULL;
        s->g->node.item[pos] = host;
        at = pos;
    } else {
        s->g->node.item[pos] = NULL;
    }
    absorb(s, host, at, f);
    ac_node_fuse(s->g, host, f);
    s->made[host->out[0]->id] = at + 1;
    for (int32_t i = 0; i < host->n_fused; i++)
        s->made[host->fused[i]->out[0]->id] = at + 1;
    return true;
}

/* ------------------------------------------------------------------ several readers */

/* Several readers of one value, x: followers that read it or each other, until a single result remains, as in
 * x * sigmoid(x). Makers of their other operands that come after the host, but depend only on earlier values, move
 * as well. */
typedef struct group {
    const state *s;
    const ac_node *host;
    const ac_tensor *x;
    const ac_tensor *value[MAX_FOLLOWERS + 1]; /* x, and the results of members */
    int32_t left[MAX_FOLLOWERS + 1];           /* readers of these that are not members yet */
    int32_t member[MAX_FOLLOWERS], n, most;    /* positions */
} group;

static bool is_inside(const group *q, const ac_tensor *t)
{
    bool inside = false;
    for (int32_t v = 0; v <= q->n; v++)
        inside |= t == q->value[v];
    return inside;
}

/* Node i becomes a member, after the makers of its operands; false: it cannot. */
static bool admit(group *q, int32_t i)
{
    const state *s = q->s;
    const ac_node *f = s->g->node.item[i];
    const int32_t made = s->made[q->x->id];
    if (!f || !ac_ops[f->op].map || f->n_fused || f->n_out != 1 || !may_follow(q->host, f, q->x) ||
        !may_pass(s, f, made - 1, i))
        return false;
    for (int32_t k = 0; k < f->n_in; k++) /* the others must be available when host runs */
        if (f->in[k] && !is_inside(q, f->in[k]) && s->made[f->in[k]->id] > made && !admit(q, s->made[f->in[k]->id] - 1))
            return false;
    if (q->n >= q->most)
        return false;
    for (int32_t v = 0; v <= q->n; v++)
        q->left[v] -= reads_of(f, q->value[v]);
    q->member[q->n++] = i;
    q->value[q->n] = f->out[0];
    q->left[q->n] = s->uses[f->out[0]->id];
    return true;
}

/* The number of followers found, in order, from node `pos` on; 0: not a group. */
static int32_t find_group(group *q, int32_t pos)
{
    const ac_graph *g = q->s->g;
    for (int32_t i = pos; i < g->node.n && i < pos + WINDOW && q->n < q->most; i++) {
        const ac_node *f = g->node.item[i];
        bool reads = false;
        int32_t open = 0;
        for (int32_t k = 0; f && k < f->n_in; k++)
            reads |= f->in[k] && is_inside(q, f->in[k]);
        if (!reads)
            continue;
        if (!admit(q, i))
            return 0;
        for (int32_t v = 0; v < q->n; v++) /* a state that a member writes exists in memory */
            open += q->left[v] != 0 || (v && q->value[v]->root);
        if (!open)
            return q->n;
    }
    return 0;
}

static bool join_group(state *s, int32_t pos)
{
    const ac_node *f = s->g->node.item[pos];
    for (int32_t i = 0; i < f->n_in; i++) {
        const ac_tensor *x = f->in[i];
        if (!x || !x->def)
            continue;
        ac_node *host = x->def;
        group q = {.s = s, .host = host, .x = x, .value = {x}, .left = {s->uses[x->id]}};
        q.most = MAX_FOLLOWERS - host->n_fused;
        const int32_t n = find_group(&q, pos);
        for (int32_t k = 0; k < n; k++) {
            ac_node *m = s->g->node.item[q.member[k]];
            ac_node_fuse(s->g, host, m);
            s->made[m->out[0]->id] = s->made[host->out[0]->id];
            s->g->node.item[q.member[k]] = NULL;
        }
        if (n)
            return true;
    }
    return false;
}

/* ------------------------------------------------------------------ reductions */

static bool is_of(const ac_tensor *t, ac_dtype d)
{
    return t->dtype == d || t->dtype == AC_BOOL;
}

/* Are all values of host and its followers, which are maps, of type d, or of truth? */
static bool all_of(const ac_node *host, ac_dtype d)
{
    bool all = true;
    for (int32_t f = -1; f < host->n_fused; f++) {
        const ac_node *m = f < 0 ? host : host->fused[f];
        all &= ac_ops[m->op].map && !(ac_ops[m->op].flags & OF_STATE) && is_of(m->out[0], d);
        for (int32_t i = 0; i < m->n_in; i++)
            all &= !m->in[i] || is_of(m->in[i], d);
    }
    return all;
}

/* Is the last dimension of x kept, along which its makers' loops have their vectors? */
static bool keeps_last(const ac_graph *g, const ac_node *r, const ac_tensor *x)
{
    uint32_t reduced;
    return x->rank && x->dim[x->rank - 1] > 1 && ac_reduce_axes(g->cx, r, &reduced) == AC_OK &&
           !(reduced >> (x->rank - 1) & 1);
}

/* A reduction takes the place of the store of the loops that make its operand. */
static bool join_reduction(state *s, int32_t pos)
{
    ac_node *r = s->g->node.item[pos];
    const ac_tensor *x = r->in[0];
    ac_node *host = x->def;
    if (!host || host->n_out != 1 || host->view || ac_node_result(host) != x || x->root || s->uses[x->id] != 1 ||
        host->n_fused >= MAX_FOLLOWERS || (x->dtype != AC_F32 && x->dtype != AC_F64) || r->out[0]->dtype != x->dtype ||
        ac_tensor_count(r->out[0]) >= ac_tensor_count(x) || !ac_tensor_same_shape(host->out[0], x) ||
        !all_of(host, x->dtype) || !keeps_last(s->g, r, x))
        return false;
    s->g->node.item[pos] = NULL;
    ac_node_fuse(s->g, host, r);
    s->made[r->out[0]->id] = s->made[x->id];
    return true;
}

/* ac_pass_epilogue: an element-wise operator that is the only reader of its operand is computed in the loops that make
 * the operand, on the value before it is stored: the operand never exists in memory.
 *   before:  %a = conv_2d %x %w    %b = add %a %r    %c = relu %b
 *   after:   %c = conv_2d %x %w then add(., %r) then relu(.)
 * needs: shapes known, views not yet made.  keeps: a valid execution order; values bit for bit (the chain is computed
 * in the types of the operators, as before).
 * The maker of the operand that is computed last is preferred, so that the others exist already; else the maker moves
 * down to the follower, if its operands are no larger than its result. Other chains that end in the follower move with
 * it. An operand with several readers is joined with all of them at once if they lead to one result: x * sigmoid(x). A
 * reduction of floats may come last if it keeps the dimension along which loops are vectorised. */
int ac_pass_epilogue(ac_pass *p)
{
    ac_graph *g = p->graph;
    ac_region *tmp = ac_region_open(&p->cx->heap);
    state s = {g, ac_graph_uses(g, tmp), AC_NEW_N(tmp, int32_t, g->tensor.n + 1), false};
    for (int32_t i = 0; i < g->tensor.n; i++)
        s.has_state |= g->tensor.item[i]->state;
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *n = g->node.item[i];
        for (int32_t k = 0; k < n->n_out; k++)
            s.made[n->out[k]->id] = i + 1;
        for (int32_t f = 0; f < n->n_fused; f++)
            s.made[n->fused[f]->out[0]->id] = i + 1;
    }
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *n = g->node.item[i];
        if (n && ac_ops[n->op].map && !n->n_fused)
            p->changed += join_follower(&s, i) || join_group(&s, i);
        else if (n && ac_ops[n->op].flags & OF_REDUCES)
            p->changed += join_reduction(&s, i);
    }
    int32_t n = 0;
    for (int32_t i = 0; i < g->node.n; i++)
        if (g->node.item[i])
            g->node.item[n++] = g->node.item[i];
    g->node.n = n;
    ac_region_close(tmp);
    return AC_OK;
}
