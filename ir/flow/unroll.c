/* unroll.c - iterations that become nodes of their own, and when a loop stays one; see unroll.h. */
#include "ir/flow/unroll.h"

enum { MOST_STEPS = 1 << 19, MOST_CALLS = 1 << 14, MOST_BYTES = 1 << 27 };

bool ac_flow_is_spent(const ac_flow_budget *b)
{
    return b->steps > MOST_STEPS || b->calls > MOST_CALLS || b->bytes > MOST_BYTES;
}

static int check_budget(ac_ctx *cx, const ac_flow_budget *b, ac_place at)
{
    if (!ac_flow_is_spent(b))
        return AC_OK;
    ac_error(cx, at, E0108,
             "unrolled, its loops, branches and functions are more than %d operators, %d calls or %d bytes to read",
             MOST_STEPS, MOST_CALLS, MOST_BYTES);
    return ac_help(cx, "split the model, or make the loop shorter");
}

int ac_flow_spend(ac_ctx *cx, ac_flow_budget *b, ac_place at, int64_t steps, int64_t bytes)
{
    b->steps += steps;
    b->bytes += bytes;
    return check_budget(cx, b, at);
}

int ac_flow_spend_call(ac_ctx *cx, ac_flow_budget *b, ac_place at, const ac_graph *g, int64_t bytes)
{
    b->calls++;
    b->steps = g->node.n;
    b->bytes += bytes;
    return check_budget(cx, b, at);
}

int ac_flow_is_condition(ac_ctx *cx, ac_place at, const ac_tensor *c)
{
    if (c->dtype == AC_BOOL && ac_tensor_count(c) == 1)
        return AC_OK;
    return ac_error(cx, at, E0104, "the condition '%s' is %s, expected one bool", c->name, ac_tensor_str(cx, c));
}

int ac_flow_choose(ac_ctx *cx, ac_place at, ac_tensor *c, int32_t n, int32_t *which)
{
    *which = n == 1 ? 0 : -1;
    if (n == 1 || !ac_tensor_is_const(c))
        return AC_OK;
    if (ac_tensor_count(c) != 1)
        return ac_error(cx, at, E0104, "the condition '%s' is %s, expected one element", c->name, ac_tensor_str(cx, c));
    const void *data = ac_tensor_force(cx, c);
    const double v = data ? ac_dtype_get_num(c->dtype, data, 0) : 0;
    if (n == 2)
        *which = v != 0;
    else
        *which = v >= 0 && v < n ? (int32_t)v : n - 1;
    return data ? AC_OK : AC_FAIL;
}

static bool is_alike(const ac_unroll *u, const void *first, const void *now)
{
    return !u->alike || u->alike(u->own, first, now);
}

/* Nodes from .. to-1 of iterations are not needed: the loop was rolled up from its first values. */
static void erase_copies(const ac_unroll *u, int32_t from, int32_t to)
{
    for (int32_t i = from; i < to; i++)
        if (u->g->node.item[i]->op != AC_OP_NONE)
            ac_node_erase(u->g->node.item[i]);
    if (u->erased)
        u->erased(u->own);
}

/* Rolls up all iterations in place of the copies from node `node` on. NULL: it cannot be; nothing is reported. */
static const void *try_to_roll(const ac_unroll *u, const void *first, const void *now, int32_t node)
{
    const ac_diags before = u->cx->diags;
    const int32_t copied = u->g->node.n;
    if (!is_alike(u, first, now))
        return NULL;
    const void *last = u->roll(u->own, first, 0, true);
    if (!ac_quietly(u->cx, before, last ? AC_OK : AC_FAIL))
        return NULL;
    erase_copies(u, node, copied);
    return last;
}

const void *ac_unroll_loop(const ac_unroll *u, const void *first, int64_t *turns)
{
    const ac_unroll_rules *rules = u->rules;
    const int32_t node = u->g->node.n;
    const int64_t copied = u->copied ? *u->copied : node;
    const void *now = first;
    bool tried = false;
    for (int64_t i = 0; now; i++) {
        ac_tensor *again = NULL;
        *turns = i;
        if (u->condition && u->condition(u->own, now, &again) != AC_OK)
            return NULL;
        const bool known = !again || ac_tensor_is_const(again);
        const bool anew = i && i <= rules->restart && (!known || u->trips > rules->trips) && is_alike(u, first, now);
        if (!anew && u->trips >= 0 && i >= u->trips)
            return now;
        if (anew || !known) {
            *turns = -1;
            if (anew)
                erase_copies(u, node, u->g->node.n);
            return u->roll(u->own, anew ? first : now, anew ? 0 : i, false);
        }
        int32_t goes_on = 1;
        if (again && ac_flow_choose(u->cx, u->at, again, 2, &goes_on) != AC_OK)
            return NULL;
        if (!goes_on)
            return now;
        if (!tried && (u->copied ? *u->copied : u->g->node.n) - copied > rules->copied) {
            tried = true;
            const void *last = try_to_roll(u, first, now, node);
            if (last) {
                *turns = -1;
                return last;
            }
        }
        if (i >= rules->most) {
            ac_error(u->cx, u->at, E0108, "it has more than %lld iterations, and each is unrolled",
                     (long long)rules->most);
            return NULL;
        }
        now = u->body(u->own, now);
    }
    return NULL;
}
