/* live.c - when everything that needs bytes is needed, as items of a packing problem. */
#include "planner/graph/live.h"

#include "ir/loop/access/traffic.h"

#include <string.h>

enum { ARENA, STATE }; /* memories that every model has */

typedef struct live {
    ac_ctx *cx;
    ac_region *region; /* of the result */
    const ac_graph *g;
    ac_lowered *const *step;
    int32_t n_steps;
    ac_live_options opt;
    ac_liveness *out;
    int32_t *group; /* by tensor id: the tensor whose bytes it uses, followed until it names itself */
    ac_step *group_first, *group_last;
    ac_tensor **list; /* room for what any one step reads */
    bool *pinned;     /* by group: must not be overwritten */
    bool *fed;        /* by tensor id: handed over by rows; only a window of it is in the arena, as scratch of a step */
    ac_step *until;   /* by tensor id, then by group: the last step that may use its bytes */
    ac_step *user;    /* by tensor id of a root: the last step that uses it, or a view of it */
    ac_step *beside;  /* the same: begin of the last phase whose concurrent steps use it; -1: none */
} live;

static int32_t find(live *v, int32_t id)
{
    while (v->group[id] != id)
        id = v->group[id] = v->group[v->group[id]];
    return id;
}

static void touch(live *v, const ac_tensor *t, ac_step at)
{
    ac_step *first = &v->out->first[t->id], *last = &v->out->last[t->id];
    if (*first < 0 || at < *first)
        *first = at;
    if (at > *last)
        *last = at;
    const ac_step until = ac_slot_until(v->opt.slot, at);
    if (until > v->until[t->id])
        v->until[t->id] = until;
}

/* Step s, which comes after all that were seen, reads or makes t. */
static void use(live *v, const ac_tensor *t, ac_step s)
{
    touch(v, t, s);
    if (!v->opt.slot)
        return;
    const int32_t root = ac_tensor_root(t)->id;
    if (v->user[root] >= 0 && ac_slot_beside(v->opt.slot, v->user[root], s))
        v->beside[root] = v->opt.slot[s].begin;
    v->user[root] = s;
}

int32_t ac_live_part(const ac_tensor *input, ac_lowered *const *step, int32_t n_steps)
{
    enum { MANY = 64 };
    ac_tensor *read[MANY];
    if (!n_steps || !step[n_steps - 1]->node->part) /* there is only one */
        return 0;
    for (int32_t s = 0; s < n_steps; s++)
        for (int32_t i = 0, n = ac_node_reads(step[s]->node, read, MANY); i < n && i < MANY; i++)
            if (ac_tensor_root(read[i]) == input)
                return step[s]->node->part;
    return 0;
}

/* The first step of the part that reads the graph input first. */
static ac_step arrives(const live *v, const ac_tensor *input)
{
    const int32_t part = ac_live_part(input, v->step, v->n_steps);
    ac_step s = 0;
    while (s < v->n_steps && v->step[s]->node->part < part)
        s++;
    return s;
}

/* Fills v->list with what step s reads. */
static int32_t reads_of(live *v, int32_t s)
{
    return ac_node_reads(v->step[s]->node, v->list, INT32_MAX);
}

static void open_list(live *v, ac_region *tmp)
{
    int32_t most = 0;
    for (int32_t s = 0; s < v->n_steps; s++) {
        const int32_t n = ac_node_reads(v->step[s]->node, NULL, 0);
        most = n > most ? n : most;
    }
    v->list = AC_NEW_N(tmp, ac_tensor *, most);
}

/* First and last step of every tensor, and of every root over all its views. */
static void lives(live *v)
{
    const ac_graph *g = v->g;
    const ac_step end = v->n_steps > 0 ? v->n_steps - 1 : 0;
    for (int32_t s = 0; s < v->n_steps; s++) {
        const ac_node *n = v->step[s]->node;
        for (int32_t i = 0, k = reads_of(v, s); i < k; i++)
            use(v, v->list[i], s);
        use(v, ac_node_result(n), s);
        for (int32_t i = n->n_fused ? 1 : 0; i < n->n_out; i++)
            use(v, n->out[i], s);
        if (v->step[s]->streamed)
            v->fed[v->step[s]->streamed->id] = true;
    }
    for (int32_t i = 0; i < g->input.n; i++) {
        if (v->fed[g->input.item[i]->id])
            continue;
        touch(v, g->input.item[i], arrives(v, g->input.item[i]));
        if (v->opt.whole || v->opt.preserve_input || v->opt.preserve_all || v->opt.caller_io)
            touch(v, g->input.item[i], end);
    }
    for (int32_t i = 0; i < g->output.n; i++) {
        touch(v, g->output.item[i], end);
        if (v->opt.whole)
            touch(v, g->output.item[i], 0);
    }
    for (int32_t i = 0; i < g->tensor.n; i++) {
        ac_tensor *t = g->tensor.item[i];
        if (t->state) {
            touch(v, t, 0);
            touch(v, t, end);
        }
        if (v->out->first[i] >= 0 && v->opt.preserve_all)
            touch(v, t, end);
    }
    for (int32_t i = 0; i < g->tensor.n; i++) { /* a view extends its root's life */
        ac_tensor *t = g->tensor.item[i];
        if (t->root && v->out->first[i] >= 0) {
            ac_step *until = &v->until[ac_tensor_root(t)->id];
            touch(v, ac_tensor_root(t), v->out->first[i]);
            touch(v, ac_tensor_root(t), v->out->last[i]);
            *until = v->until[i] > *until ? v->until[i] : *until;
        }
    }
}

/* May the result of step s take the place of operand c? c dies here, fills its item, and no other operand of the step
 * uses the same bytes. */
static bool can_merge(live *v, int32_t s, ac_tensor *c, const ac_tensor *result)
{
    const ac_tensor *r = ac_tensor_root(c);
    int32_t group = find(v, r->id);
    if (v->pinned[group] || v->group_last[group] != s || result->root || result->state || r->state)
        return false;
    if (find(v, result->id) == group || v->out->first[result->id] != s)
        return false;
    if (v->opt.slot && v->beside[r->id] == v->opt.slot[s].begin)
        return false;
    if (v->opt.where && v->opt.where[r->id] != v->opt.where[result->id])
        return false;
    if (ac_tensor_bytes(c) != ac_tensor_bytes(r) || ac_tensor_bytes(r) != ac_tensor_bytes(result))
        return false;
    for (int32_t i = 0, k = reads_of(v, s); i < k; i++)
        if (v->list[i] != c && find(v, ac_tensor_root(v->list[i])->id) == group)
            return false;
    return true;
}

static void merge_in_place(live *v)
{
    const ac_graph *g = v->g;
    for (int32_t i = 0; i < g->tensor.n; i++)
        v->group_last[i] = v->out->last[i];
    for (int32_t i = 0; i < g->output.n; i++)
        v->pinned[ac_tensor_root(g->output.item[i])->id] = true;
    for (int32_t i = 0; i < g->input.n; i++)
        if (v->opt.whole || v->opt.preserve_input || v->opt.caller_io)
            v->pinned[g->input.item[i]->id] = true;
    for (int32_t s = 0; v->opt.inplace && !v->opt.preserve_all && s < v->n_steps; s++) {
        const ac_lowered *low = v->step[s];
        ac_tensor *result = ac_node_result(low->node);
        for (int32_t i = 0; i < low->n_overwrite; i++) {
            if (!can_merge(v, s, low->overwrite[i], result))
                continue;
            int32_t group = find(v, ac_tensor_root(low->overwrite[i])->id);
            v->group[result->id] = group;
            v->group_last[group] = v->group_last[result->id];
            v->pinned[group] = v->pinned[group] || v->pinned[result->id];
            v->out->alias_how[result->id] = "in-place";
            break;
        }
    }
    for (int32_t i = 0; i < g->tensor.n; i++)
        v->group_first[i] = v->out->first[i];
    for (int32_t i = 0; i < g->tensor.n; i++) {
        ac_step *first = &v->group_first[find(v, i)], *until = &v->until[find(v, i)];
        if (v->out->first[i] >= 0 && v->out->first[i] < *first)
            *first = v->out->first[i];
        *until = v->until[i] > *until ? v->until[i] : *until;
    }
}

/* One item for each group of roots, then one for each scratch buffer of a step. */
static void items(live *v)
{
    const ac_graph *g = v->g;
    ac_liveness *o = v->out;
    ac_region *r = v->region;
    int32_t room = g->tensor.n;
    for (int32_t s = 0; s < v->n_steps; s++)
        room += v->step[s]->arg.n;
    o->problem.item = AC_NEW_N(r, ac_item, room);
    o->owner = AC_NEW_N(r, ac_tensor *, room);
    int32_t n = 0;
    const int32_t home = o->problem.n_mems > 2 ? -1 : ARENA; /* -1: any of `homes` */
    const uint32_t homes = home < 0 ? ~(1u << STATE) & ((1u << (o->problem.n_mems - 1)) * 2u - 1u) : 0;
    for (int32_t i = 0; i < g->tensor.n; i++) {
        ac_tensor *t = g->tensor.item[i];
        if (t->root || o->first[i] < 0 || ac_tensor_is_const(t) || find(v, i) != i)
            continue;
        ac_item *it = &o->problem.item[n];
        o->owner[n] = t;
        o->item_of[i] = n++;
        it->name = t->name;
        it->size = ac_tensor_bytes(t);
        it->align = v->opt.align;
        it->life = (ac_life){v->group_first[i], v->until[i] + 1};
        it->fixed = -1;
        const ac_live_where where = v->opt.where ? v->opt.where[i] : AC_LIVE_ANYWHERE;
        it->mem = t->state ? STATE : where == AC_LIVE_FIRST ? ARENA : home;
        it->mems = t->state ? 0 : where == AC_LIVE_REST ? homes & ~(1u << ARENA) : homes;
        it->kind = t->state ? AC_ITEM_STATE : t->input ? AC_ITEM_INPUT : t->output ? AC_ITEM_OUTPUT : AC_ITEM_TENSOR;
    }
    for (int32_t i = 0; i < g->tensor.n; i++) {
        ac_tensor *t = g->tensor.item[i];
        if (o->first[i] < 0 || ac_tensor_is_const(t))
            continue;
        o->item_of[i] = o->item_of[find(v, ac_tensor_root(t)->id)];
        ac_item *it = &o->problem.item[o->item_of[i]];
        const ac_bytes unit = ac_dtype_size(t->dtype, 1); /* C needs that for any --align */
        it->align = it->align < unit ? unit : it->align;
        o->delta[i] = ac_tensor_root_offset(t);
        if (t->root)
            o->alias_how[i] = "view";
    }
    o->scratch_item = AC_NEW_N(r, int32_t *, v->n_steps ? v->n_steps : 1);
    for (int32_t s = 0; s < v->n_steps; s++) {
        const ac_lowered *low = v->step[s];
        o->scratch_item[s] = AC_NEW_N(r, int32_t, low->arg.n ? low->arg.n : 1);
        for (int32_t a = 0; a < low->arg.n; a++) {
            o->scratch_item[s][a] = -1;
            if (low->arg.item[a].kind != AC_ARG_SCRATCH)
                continue;
            ac_item *it = &o->problem.item[n];
            o->scratch_item[s][a] = n++;
            const ac_tensor *of = low->arg.item[a].tensor; /* some rows of it */
            it->name = of ? ac_internf(v->cx, "rows of %s", of->name) : ac_internf(v->cx, "scratch%d.%d", s, a);
            it->size = low->arg.item[a].bytes;
            it->align = low->fn->buf.item[a].align > v->opt.align ? low->fn->buf.item[a].align : v->opt.align;
            it->life = (ac_life){low->streamed && a == low->streamed_arg ? 0 : s,
                                 ac_slot_until(v->opt.slot, s) + 1}; /* the first row comes before step 0 */
            it->fixed = -1;
            const bool rest = v->opt.where && low->arg.item[a].rest;
            it->mem = v->opt.where && !rest ? ARENA : home;
            it->mems = rest ? homes & ~(1u << ARENA) : homes;
            it->kind = AC_ITEM_SCRATCH;
        }
    }
    o->problem.n = n;
}

/* State is always the second, so that a plan without --mem and one with it look alike. */
static void memories(live *v)
{
    static const ac_memory ONE = {.name = "arena", .capacity = -1};
    ac_problem *p = &v->out->problem;
    const ac_memory *ram = v->opt.ram ? v->opt.ram : &ONE;
    p->n_mems = v->opt.ram ? v->opt.n_ram + 1 : 2;
    p->mem = AC_NEW_N(v->region, ac_memory, p->n_mems);
    for (int32_t m = 0, k = 0; m < p->n_mems; m++) {
        if (m == STATE && v->opt.state.name)
            p->mem[m] = v->opt.state;
        else
            p->mem[m] = m == STATE ? (ac_memory){.name = "state", .capacity = -1, .use = AC_MEM_STATE} : ram[k++];
        if (p->mem[m].align < v->opt.align)
            p->mem[m].align = v->opt.align;
    }
}

void ac_live_traffic(const ac_lowered *low, int64_t *bytes)
{
    const int32_t calls = low->rows ? low->rows : low->chunks ? low->chunks : 1;
    if (!low->traffic)
        ac_loop_traffic(low->fn, bytes);
    for (int32_t a = 0; a < low->arg.n; a++)
        bytes[a] = low->traffic ? low->traffic[a] : bytes[a] * calls;
}

/* Counts the bytes that the loops of each step move. */
static void traffic(live *v, ac_region *tmp)
{
    ac_liveness *o = v->out;
    for (int32_t s = 0; s < v->n_steps; s++) {
        const ac_lowered *low = v->step[s];
        int64_t *bytes = AC_NEW_N(tmp, int64_t, low->fn->buf.n + 1);
        ac_live_traffic(low, bytes);
        for (int32_t a = 0; a < low->arg.n; a++) {
            const ac_arg *x = &low->arg.item[a];
            const int32_t i = x->kind == AC_ARG_SCRATCH  ? o->scratch_item[s][a]
                              : x->kind == AC_ARG_TENSOR ? o->item_of[x->tensor->id]
                                                         : -1;
            if (i >= 0)
                o->problem.item[i].traffic += bytes[a];
        }
    }
}

/* Inputs and outputs in memories of their own; the caller's addresses are aligned for their type and no more. */
static void io_memories(live *v)
{
    const ac_graph *g = v->g;
    ac_problem *p = &v->out->problem;
    const int32_t n_io = g->input.n + g->output.n, n = p->n_mems;
    ac_memory *mem = AC_NEW_N(v->region, ac_memory, n + n_io);
    memcpy(mem, p->mem, (size_t)n * sizeof *mem);
    for (int32_t k = 0; k < n_io; k++) {
        const bool in = k < g->input.n;
        const ac_tensor *t = in ? g->input.item[k] : g->output.item[k - g->input.n];
        const int32_t at = v->out->item_of[t->id];
        const int32_t index = in ? k : k - g->input.n;
        mem[n + k] = (ac_memory){.name = ac_internf(v->cx, in ? "in%d" : "out%d", index),
                                 .capacity = -1,
                                 .align = 1,
                                 .use = in ? AC_MEM_IN : AC_MEM_OUT,
                                 .index = index};
        if (at < 0)
            continue;
        ac_item *it = &p->item[at];
        it->mem = n + k;
        it->align = ac_dtype_size(t->dtype, 1);
    }
    p->mem = mem;
    p->n_mems = n + n_io;
}

ac_liveness *ac_live(ac_ctx *cx, ac_region *r, const ac_graph *g, ac_lowered *const *step, int32_t n_steps,
                     ac_live_options opt)
{
    size_t n = (size_t)g->tensor.n + 1;
    ac_region *tmp = ac_region_open(&cx->heap);
    live v = {
        .cx = cx, .region = r, .g = g, .step = step, .n_steps = n_steps, .opt = opt, .out = AC_NEW(r, ac_liveness)};
    v.group = AC_NEW_N(tmp, int32_t, n);
    v.group_first = AC_NEW_N(tmp, ac_step, n);
    v.group_last = AC_NEW_N(tmp, ac_step, n);
    v.until = AC_NEW_N(tmp, ac_step, n);
    v.user = AC_NEW_N(tmp, ac_step, n);
    v.beside = AC_NEW_N(tmp, ac_step, n);
    open_list(&v, tmp);
    v.pinned = AC_NEW_N(tmp, bool, n);
    v.fed = AC_NEW_N(tmp, bool, n);
    ac_liveness *o = v.out;
    o->item_of = AC_NEW_N(r, int32_t, n);
    o->delta = AC_NEW_N(r, ac_bytes, n);
    o->alias_how = AC_NEW_N(r, const char *, n);
    o->first = AC_NEW_N(r, ac_step, n);
    o->last = AC_NEW_N(r, ac_step, n);
    for (int32_t i = 0; i < g->tensor.n; i++) {
        v.group[i] = i;
        o->item_of[i] = o->first[i] = o->last[i] = -1;
        v.until[i] = v.user[i] = v.beside[i] = -1;
    }
    o->problem.steps = n_steps > 0 ? n_steps : 1;
    memories(&v);
    lives(&v);
    merge_in_place(&v);
    items(&v);
    if (o->problem.n_mems > 2)
        traffic(&v, tmp);
    if (opt.caller_io)
        io_memories(&v);
    ac_region_close(tmp);
    return o;
}
