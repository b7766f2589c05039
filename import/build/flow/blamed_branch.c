/* blamed_branch.c - finds the branch that decides the size of an operand, for the message of a node that needs a fixed
 * size; see file_flow.h. */
#include "import/build/flow/file_flow.h"

enum { DEEPEST = 32, VISITS = 512 };

/* The IF whose results t is computed from; NULL: not found. */
static const ac_node *branch_above(const ac_tensor *t, int32_t *visits, int32_t depth)
{
    const ac_node *n = t->def, *found = NULL;
    if (!n || depth > DEEPEST || --*visits < 0)
        return NULL;
    if (n->op == AC_OP_IF)
        return n;
    for (int32_t i = 0; i < n->n_in && !found; i++)
        found = n->in[i] ? branch_above(n->in[i], visits, depth + 1) : NULL;
    return found;
}

int ac_flow_blamed(const ac_maker *b, ac_said before, ac_tensor *const *in, int32_t n_in, int rc)
{
    ac_reading *r = b->reading;
    for (int32_t i = 0; i < n_in && rc != AC_OK && !b->bad; i++) {
        int32_t visits = VISITS;
        const ac_node *branch = in[i] && in[i]->count ? branch_above(in[i]->count, &visits, 0) : NULL;
        if (!branch)
            continue;
        (void)ac_said_quietly(b, before, AC_FAIL);
        r->late = true;
        return ac_refuse(
            r, b->at, E0203, b->at.op,
            ac_strf(b->cx->region,
                    "operand '%s' has another size in each branch of %s '%s', and the condition '%s' is computed at "
                    "run time",
                    in[i]->name, branch->at.op ? branch->at.op : "if", branch->name, branch->in[0]->name),
            ac_strf(b->cx->region, "choose the branch: %s", ac_const_options(b, branch->in[0])));
    }
    return rc;
}
