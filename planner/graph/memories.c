/* memories.c - applies --pin and --budget NAME= to the items of a plan: memory, offset, size. */
#include "planner/graph/memories.h"

#include "base/text/named.h"
#include "base/sink.h"

#include <string.h>

static const ac_place NOWHERE = {0};

static int no_such(ac_ctx *cx, const char *what, const char *name, const char *const *list, int32_t n)
{
    ac_error(cx, NOWHERE, E0503, "unknown %s '%s'", what, name);
    return ac_named_list(cx, name, list, n);
}

static int find_memory(ac_ctx *cx, const ac_problem *p, const char *name, int32_t *m)
{
    const char **list = AC_NEW_N(cx->region, const char *, p->n_mems);
    for (*m = 0; *m < p->n_mems; ++*m) {
        if (!strcmp(p->mem[*m].name, name) && p->mem[*m].use <= AC_MEM_STATE)
            return AC_OK;
        list[*m] = p->mem[*m].name;
    }
    return no_such(cx, "memory", name, list, p->n_mems);
}

/* By its name, or by parts of it that no other tensor has. */
static int find_tensor(ac_ctx *cx, const ac_planned *plan, const char *name, const ac_tensor **out)
{
    const ac_graph *g = plan->graph;
    const char **list = AC_NEW_N(cx->region, const char *, g->tensor.n + 1);
    const ac_tensor **placed = AC_NEW_N(cx->region, const ac_tensor *, g->tensor.n + 1);
    int32_t n = 0;
    for (int32_t i = 0; i < g->tensor.n; i++) {
        const ac_tensor *t = g->tensor.item[i];
        if (plan->live->item_of[i] < 0)
            continue;
        placed[n] = t;
        list[n++] = t->name;
    }
    const int32_t found = ac_named(name, list, n);
    *out = found < 0 ? NULL : placed[found];
    if (found >= 0 && !strcmp(list[found], name))
        return AC_OK;
    for (int32_t i = 0; i < g->tensor.n; i++)
        if (!strcmp(g->tensor.item[i]->name, name))
            return ac_error(cx, NOWHERE, E0503, "'%s' cannot be pinned: it is %s", name,
                            ac_tensor_is_const(g->tensor.item[i]) ? "a constant" : "computed inside of another step");
    return found < 0 ? no_such(cx, "tensor", name, list, n) : AC_OK;
}

static int pin_one(ac_ctx *cx, const ac_plan_pin *pin, ac_planned *plan, const char **by)
{
    ac_problem *p = &plan->live->problem;
    const ac_tensor *t = NULL;
    int32_t m;
    AC_TRY(find_memory(cx, p, pin->memory, &m));
    AC_TRY(find_tensor(cx, plan, pin->tensor, &t));
    const int32_t i = plan->live->item_of[t->id];
    const ac_bytes delta = plan->live->delta[t->id], at = pin->offset - delta;
    ac_item *it = &p->item[i];
    if (it->mem >= 0 && p->mem[it->mem].use > AC_MEM_STATE)
        return ac_error(cx, NOWHERE, E0503, "'%s' cannot be pinned: with --host it is the caller's memory", t->name);
    if ((it->kind == AC_ITEM_STATE) != (p->mem[m].use == AC_MEM_STATE))
        return ac_error(cx, NOWHERE, E0503, "'%s' cannot be in memory '%s': %s", t->name, p->mem[m].name,
                        it->kind == AC_ITEM_STATE ? "it is state" : "the memory is for state");
    if (by[i] && it->mem != m) {
        ac_error(cx, NOWHERE, E0503, "'%s' is pinned to memory '%s', and '%s' to '%s', but they are the same bytes",
                 by[i], p->mem[it->mem].name, t->name, p->mem[m].name);
        return ac_help(cx, "--inplace off and --views off give every tensor bytes of its own");
    }
    it->mem = m;
    if (pin->offset < 0) {
        by[i] = by[i] ? by[i] : t->name;
        return AC_OK;
    }
    if (by[i] && it->fixed >= 0 && it->fixed != at)
        return ac_error(cx, NOWHERE, E0503, "'%s' is pinned to another offset than '%s', but they are the same bytes",
                        t->name, by[i]);
    if (at < 0 || at % it->align)
        return ac_error(cx, NOWHERE, E0503,
                        "'%s' cannot be at offset %lld: its storage begins %lld bytes before, and %lld is not a "
                        "multiple of the alignment %lld",
                        t->name, (long long)pin->offset, (long long)delta, (long long)at, (long long)it->align);
    if (p->mem[m].capacity >= 0 && at + it->size > p->mem[m].capacity)
        return ac_error(cx, NOWHERE, E0503, "'%s' is pinned to bytes %s to %s of memory '%s', which has %s", t->name,
                        ac_commas(cx, at), ac_commas(cx, at + it->size), p->mem[m].name,
                        ac_commas(cx, p->mem[m].capacity));
    it->fixed = at;
    by[i] = t->name;
    return AC_OK;
}

/* Two pinned tensors that take the same bytes while both are alive, with no rule that lets them. */
static int check_clashes(ac_ctx *cx, const ac_problem *p, const char *const *by)
{
    for (int32_t a = 0; a < p->n; a++)
        for (int32_t b = 0; b < a && by[a]; b++) {
            const ac_item *x = &p->item[a], *y = &p->item[b];
            bool ruled = false;
            for (int32_t k = 0; k < p->n_pairs; k++)
                ruled |= (p->pair[k].a == a && p->pair[k].b == b) || (p->pair[k].a == b && p->pair[k].b == a);
            if (!by[b] || ruled || x->fixed < 0 || y->fixed < 0 || x->mem != y->mem ||
                !ac_life_overlap(x->life, y->life) || x->fixed >= y->fixed + y->size || y->fixed >= x->fixed + x->size)
                continue;
            ac_error(cx, NOWHERE, E0503,
                     "'%s' and '%s' are pinned to the same bytes of memory '%s' while both are alive", by[b], by[a],
                     p->mem[x->mem].name);
            ac_detail(cx, "'%s' bytes [%lld, %lld), steps %d to %d", by[b], (long long)y->fixed,
                      (long long)(y->fixed + y->size), y->life.begin, y->life.end - 1);
            return ac_detail(cx, "'%s' bytes [%lld, %lld), steps %d to %d", by[a], (long long)x->fixed,
                             (long long)(x->fixed + x->size), x->life.begin, x->life.end - 1);
        }
    return AC_OK;
}

int ac_plan_pin_items(ac_ctx *cx, const ac_plan_how *how, ac_planned *plan)
{
    ac_problem *p = &plan->live->problem;
    const char **by = AC_NEW_N(cx->region, const char *, p->n + 1); /* by item: the tensor whose pin it has */
    int32_t m = 0;
    if (how->budget_memory)
        AC_TRY(find_memory(cx, p, how->budget_memory, &m));
    if (m && (p->mem[m].capacity < 0 || p->mem[m].capacity > how->budget)) /* the report handles the first memory */
        p->mem[m].capacity = how->budget;
    for (int32_t k = 0; k < how->n_pins; k++)
        AC_TRY(pin_one(cx, &how->pin[k], plan, by));
    return how->n_pins ? check_clashes(cx, p, by) : AC_OK;
}
