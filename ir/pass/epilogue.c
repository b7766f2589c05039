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

/* Could f be computed in the loops of host, whose result x it reads, if nobody else read that? */
static bool may_follow(const ac_node *host, const ac_node *f, const ac_tensor *x)
{
    return (ac_ops[host->op].map || ac_ops[host->op].flags & OF_EPILOGUE) && host->n_out == 1 && !host->view &&
           !ac_node_reduction(host) && host->n_fused < MAX_FOLLOWERS && ac_node_result(host) == x && !x->root &&
           keeps_lanes(host, f) && ac_tensor_same_shape(host->out[0], f->out[0]);
}

static bool may_join(const state *s, const ac_node *host, const ac_node *f, const ac_tensor *x)
{
    return s->uses[x->id] == reads_of(f, x) && may_follow(host, f, x);
}

/* ------------------------------------------------------------------ state
 *
 * What lies in state changes its value when an assign runs: nodes move past that neither with a read nor with a write
 * of their own. */

/* Is m after the move on the wrong side of b? */
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

/* Moving host later keeps what it reads alive for longer, instead of its result: worth it when that is no more. */
static bool cheap_to_move(const ac_node *host)
{
    ac_tensor *read[64];
    int64_t bytes = 0;
    int32_t n = ac_node_reads(host, read, 64);
    for (int32_t i = 0; i < n && i < 64; i++)
        bytes += ac_tensor_bytes(read[i]);
    return n <= 64 && bytes <= ac_tensor_bytes(ac_node_result(host));
}

/* f, about to follow host, reads the end of another chain of maps, and nobody else does: that goes with it, unless this
 * keeps more alive for longer than it saves. */
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
        if (!cheap_to_move(host) || !may_pass(s, host, at, pos))
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

/* Several readers of one value, x: followers that read it or each other, until one result is all that is left, as in
 * x * sigmoid(x). With them go those that make their other operands after the host, of what is there before it. */
typedef struct group {
    const state *s;
    const ac_node *host;
    const ac_tensor *x;
    const ac_tensor *value[MAX_FOLLOWERS + 1]; /* x, and what the members make */
    int32_t left[MAX_FOLLOWERS + 1];           /* readers of these that are no members yet */
    int32_t member[MAX_FOLLOWERS], n, most;    /* positions */
} group;

static bool is_inside(const group *q, const ac_tensor *t)
{
    bool inside = false;
    for (int32_t v = 0; v <= q->n; v++)
        inside |= t == q->value[v];
    return inside;
}

/* Node i becomes a member, after those that make what it reads; false: it cannot. */
static bool admit(group *q, int32_t i)
{
    const state *s = q->s;
    const ac_node *f = s->g->node.item[i];
    const int32_t made = s->made[q->x->id];
    if (!f || !ac_ops[f->op].map || f->n_fused || f->n_out != 1 || !may_follow(q->host, f, q->x) ||
        !may_pass(s, f, made - 1, i))
        return false;
    for (int32_t k = 0; k < f->n_in; k++) /* the others have to be there when host runs */
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

/* The followers found, in order, from node `pos` on; 0: no such group. */
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
        for (int32_t v = 0; v < q->n; v++)
            open += q->left[v] != 0;
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

/* ac_pass_epilogue: an element-wise operator whose operand is read by nobody else is computed in the loops that make
 * the operand, on the value before it is stored: the operand never exists in memory.
 *   before:  %a = conv_2d %x %w    %b = add %a %r    %c = relu %b
 *   after:   %c = conv_2d %x %w then add(., %r) then relu(.)
 * needs: shapes known, views not yet made.  keeps: a valid execution order; values bit for bit (the chain is computed
 * in the types of the operators, as before).
 * The maker of the last-made operand is preferred, so that the others are there already; else the maker moves down to
 * the follower, if what it reads is no larger than what it makes. Other chains that end in the follower go with it. An
 * operand with several readers is joined with all of them at once, when they end in one result: x * sigmoid(x). A
 * reduction of floats may come last, where it keeps the dimension along which vectors lie. */
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
