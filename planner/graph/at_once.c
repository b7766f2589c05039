/* at_once.c - checks that the steps of a phase can run concurrently in this plan. Written from the rules of
 * planner/pack/slot.h and the bytes that steps touch, without live ranges: no concurrent step touches a byte that a
 * step writes. */
#include "planner/graph/phased.h"

/* Bytes of a memory that a step reads or writes */
typedef struct touched {
    int32_t step, mem;
    ac_bytes lo, hi;
    const char *name;
    bool writes;
} touched;

static bool clash(const ac_slot *slot, const touched *a, const touched *b)
{
    return (a->writes || b->writes) && a->mem == b->mem && a->lo < b->hi && b->lo < a->hi &&
           ac_slot_beside(slot, a->step, b->step);
}

/* Fills `list` with the bytes that step s touches. */
static int32_t touches_of(const ac_planned *p, int32_t s, touched *list)
{
    const ac_lowered *low = p->step[s];
    const ac_liveness *v = p->live;
    int32_t n = 0;
    for (int32_t a = 0; a < low->arg.n; a++) {
        const ac_arg *x = &low->arg.item[a];
        const int32_t item = x->kind == AC_ARG_TENSOR    ? v->item_of[x->tensor->id]
                             : x->kind == AC_ARG_SCRATCH ? v->scratch_item[s][a]
                                                         : -1;
        if (item < 0)
            continue;
        const ac_buf *b = &low->fn->buf.item[a];
        const ac_bytes at = p->plan.offset[item] + (x->kind == AC_ARG_TENSOR ? v->delta[x->tensor->id] : 0);
        list[n++] = (touched){.step = s,
                              .mem = p->plan.mem[item],
                              .lo = at,
                              .hi = at + ac_dtype_size(b->dtype, b->count),
                              .name = v->problem.item[item].name,
                              .writes = b->role != AC_BUF_IN};
    }
    return n;
}

static int check_phase(ac_ctx *cx, const char *file, const ac_planned *p, int32_t begin, touched *list)
{
    int32_t n = 0;
    for (int32_t s = begin; s < p->slot[begin].end; s++)
        n += touches_of(p, s, list + n);
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = i + 1; k < n; k++)
            if (clash(p->slot, &list[i], &list[k])) {
                const touched *a = &list[i], *b = &list[k];
                ac_error(cx, (ac_place){.file = file, .node = a->name}, E0701,
                         "shares bytes with '%s' while steps %d and %d run at once", b->name, a->step, b->step);
                ac_detail(cx, "'%s' bytes [%s, %s), %s", a->name, ac_commas(cx, a->lo), ac_commas(cx, a->hi),
                          a->writes ? "written" : "read");
                return ac_detail(cx, "'%s' bytes [%s, %s), %s", b->name, ac_commas(cx, b->lo), ac_commas(cx, b->hi),
                                 b->writes ? "written" : "read");
            }
    return AC_OK;
}

/* Are phases runs of the list, and the steps of each in the order of slot.h? */
static int check_form(ac_ctx *cx, const char *file, const ac_planned *p, int32_t s)
{
    const ac_slot *a = &p->slot[s], *before = s > 0 ? &p->slot[s - 1] : NULL;
    bool ok = a->begin <= s && s < a->end && a->end <= p->n_steps && a->thread >= AC_ALL_THREADS;
    if (before && s > a->begin)
        ok = ok && before->begin == a->begin && before->end == a->end && before->thread <= a->thread;
    else
        ok = ok && s == a->begin && (!before || before->end == s);
    ok = ok && (a->thread != AC_ALL_THREADS || p->step[s]->chunks);
    return ok ? AC_OK
              : ac_error(cx, (ac_place){.file = file, .node = p->step[s]->node->name}, E0701,
                         "step %d is not in its place in the phase of steps %d to %d", s, a->begin, a->end - 1);
}

int ac_phases_check(ac_ctx *cx, const char *file, const ac_planned *p)
{
    int32_t room = 0;
    for (int32_t s = 0; s < p->n_steps; s++)
        room += p->step[s]->arg.n;
    ac_region *tmp = ac_region_open(&cx->heap);
    touched *list = AC_NEW_N(tmp, touched, room + 1);
    int status = AC_OK;
    for (int32_t s = 0; s < p->n_steps && status == AC_OK; s++)
        status = check_form(cx, file, p, s);
    for (int32_t s = 0; s < p->n_steps && status == AC_OK; s = p->slot[s].end)
        if (ac_slot_shared(p->slot, s))
            status = check_phase(cx, file, p, s, list);
    ac_region_close(tmp);
    return status;
}
