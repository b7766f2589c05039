/* stripe_swap.c - followers of steps change places, so that more steps can be in a group. */
#include "planner/graph/stripe_swap.h"
#include "ir/lower/node/cached.h"
#include "ir/lower/node/node.h"

enum { MAX_READS = 64 };

static bool is_conv(const ac_node *n)
{
    return ac_ops[n->op].attrs == AC_ATTRS_conv;
}

static bool reads(const ac_node *n, const ac_tensor *t)
{
    ac_tensor *list[MAX_READS];
    const int32_t k = ac_node_reads(n, list, MAX_READS);
    for (int32_t i = 0; i < k && i < MAX_READS; i++)
        if (list[i] == t)
            return true;
    return k > MAX_READS; /* perhaps */
}

/* The step whose result n's first follower adds, if the two can be exchanged: no other step reads it, n needs nothing
 * computed after that step, and the followers need nothing else at run time. -1: no such step. */
static int32_t partner(ac_lowered *const *step, int32_t n_steps, int32_t at)
{
    const ac_node *n = step[at]->node;
    ac_tensor *list[MAX_READS];
    if (!is_conv(n) || !n->n_fused || n->n_out != 1)
        return -1;
    const ac_tensor *t = NULL;
    const int32_t k = ac_node_reads(n, list, MAX_READS);
    for (int32_t i = 0; i < k && i < MAX_READS; i++) {
        bool head = false;
        for (int32_t a = 0; a < n->n_in; a++)
            head |= n->in[a] == list[i];
        if (head)
            continue;
        if (t)
            return -1;
        t = list[i];
    }
    int32_t m = at - 1;
    while (m >= 0 && t && ac_node_result(step[m]->node) != t)
        m--;
    if (!t || m < 0 || k > MAX_READS || t->output || t->root || !is_conv(step[m]->node) || step[m]->node->n_out != 1 ||
        step[m]->node->out[0]->root || !ac_tensor_same_shape(t, n->out[0]) || t->dtype != n->out[0]->dtype ||
        n->out[0]->root)
        return -1;
    for (int32_t s = 0; s < n_steps; s++) {
        if (s != at && reads(step[s]->node, t))
            return -1;
        for (int32_t i = 0; i < k && s >= m && s < at; i++)
            for (int32_t o = 0; o < step[s]->node->n_out; o++)
                if (list[i] != t && (list[i] == ac_node_result(step[s]->node) || list[i] == step[s]->node->out[o]))
                    return -1;
    }
    return m;
}

static ac_lowered *with(ac_ctx *cx, const ac_plan_how *how, ac_region *region, const ac_node *n, ac_node **fused,
                        int32_t n_fused)
{
    ac_node *copy = AC_NEW(region, ac_node);
    *copy = *n;
    copy->fused = fused;
    copy->n_fused = n_fused;
    const ac_diags before = cx->diags;
    ac_lowered *low = ac_lower_node(cx, region, copy, how->target, 0, how->exact);
    low = ac_lower_cached(cx, region, low, how->target, how->cache);
    return ac_quietly(cx, before, low ? AC_OK : AC_FAIL) ? low : NULL;
}

int32_t ac_stripe_swap(ac_ctx *cx, const ac_plan_how *how, ac_region *region, const ac_planned *from, ac_lowered **out)
{
    const int32_t n_steps = from->n_steps;
    int32_t swaps = 0;
    for (int32_t s = 0; s < n_steps; s++)
        out[s] = from->step[s];
    for (int32_t at = 0; at < n_steps; at++) {
        const int32_t m = partner(out, n_steps, at);
        if (m < 0)
            continue;
        const ac_node *host = out[m]->node, *n = out[at]->node;
        const int32_t n_fused = host->n_fused + n->n_fused;
        ac_node **fused = AC_NEW_N(region, ac_node *, n_fused + 1);
        for (int32_t i = 0; i < n_fused; i++)
            fused[i] = i < host->n_fused ? host->fused[i] : n->fused[i - host->n_fused];
        ac_lowered *alone = with(cx, how, region, n, NULL, 0);
        ac_lowered *both = with(cx, how, region, host, fused, n_fused);
        if (!alone || !both)
            continue;
        for (int32_t s = at; s > m; s--) /* n goes in front of m */
            out[s] = out[s - 1];
        out[m] = alone;
        out[m + 1] = both;
        swaps++;
    }
    return swaps;
}
