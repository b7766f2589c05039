/* bind.c - creates calls, memories, inputs and outputs from a plan; see bind.h. */
#include "codegen/bind.h"

#include "base/radix.h"

#include <stdlib.h>
#include <string.h>

typedef struct span {
    ac_bytes begin, end;
    ac_space space;
} span;

/* Memory m among those of its kind. */
static int32_t ram_of(const ac_problem *p, int32_t m)
{
    int32_t n = 0;
    for (int32_t k = 0; k < m; k++)
        n += p->mem[k].use == AC_MEM_RAM;
    return n;
}

ac_io ac_module_place(const ac_problem *p, const ac_plan *plan, int32_t item, ac_bytes delta)
{
    static const ac_space SPACE[] = {[AC_MEM_RAM] = AC_SPACE_ARENA,
                                     [AC_MEM_STATE] = AC_SPACE_STATE,
                                     [AC_MEM_IN] = AC_SPACE_IN,
                                     [AC_MEM_OUT] = AC_SPACE_OUT};
    const int32_t m = plan->mem[item];
    const ac_memory *mem = &p->mem[m];
    return (ac_io){.space = SPACE[mem->use],
                   .offset = plan->offset[item] + delta,
                   .index = mem->use == AC_MEM_RAM ? ram_of(p, m) : mem->index};
}

static ac_bound_arg place(const ac_binding *b, int32_t item, ac_bytes delta)
{
    const ac_io at = ac_module_place(b->problem, b->plan, item, delta);
    return (ac_bound_arg){.space = at.space, .offset = at.offset, .index = at.index};
}

static ac_bytes arg_bytes(const ac_lowered *low, int32_t a)
{
    return ac_dtype_size(low->fn->buf.item[a].dtype, low->fn->buf.item[a].count);
}

static uint32_t hash_of(const void *key, int32_t cap)
{
    return (uint32_t)(((uint64_t)(uintptr_t)key * 0x9e3779b97f4a7c15u) >> 32) & (uint32_t)(cap - 1);
}

static const void *key_of(const ac_const *k)
{
    return k->source ? (const void *)k->source : k;
}

static int32_t *slot_of(const ac_const_list *list, const void *key)
{
    uint32_t at = hash_of(key, list->cap);
    while (list->slot[at] && key_of(list->konst.item[list->slot[at] - 1]) != key)
        at = (at + 1) & (uint32_t)(list->cap - 1);
    return &list->slot[at];
}

int32_t ac_const_index(ac_region *r, ac_const_list *list, ac_const *k)
{
    if (list->konst.n * 2 >= list->cap) {
        list->cap = list->cap ? list->cap * 2 : 64;
        list->slot = AC_NEW_N(r, int32_t, list->cap);
        for (int32_t i = 0; i < list->konst.n; i++)
            *slot_of(list, key_of(list->konst.item[i])) = i + 1;
    }
    int32_t *slot = slot_of(list, key_of(k));
    if (!*slot) {
        ac_push(r, &list->konst, k);
        *slot = list->konst.n;
    }
    ac_const *first = list->konst.item[*slot - 1];
    if (first->align < k->align)
        first->align = k->align;
    return *slot - 1;
}

static const char *fused_text(ac_ctx *cx, const ac_node *n)
{
    char *s = NULL;
    for (int32_t i = 0; i < n->n_fused; i++) {
        const char *op = n->fused[i]->at.op ? n->fused[i]->at.op : ac_ops[n->fused[i]->op].tflite;
        s = s ? ac_strf(cx->region, "%s, %s", s, op) : ac_strdup(cx->region, op);
    }
    return s;
}

static void bind_call(ac_module *m, ac_const_list *consts, ac_call *c, const ac_lowered *low, int32_t s,
                      const ac_binding *b)
{
    ac_region *r = m->cx->region;
    ac_bound_arg *arg = AC_NEW_N(r, ac_bound_arg, low->arg.n + 1);
    c->low = low;
    c->op = low->node->at.op ? low->node->at.op : ac_ops[low->node->op].tflite;
    c->name = low->node->name;
    c->fused = fused_text(m->cx, low->node);
    c->n_arg = low->arg.n;
    for (int32_t a = 0; a < low->arg.n; a++) {
        const ac_arg *x = &low->arg.item[a];
        switch (x->kind) {
        case AC_ARG_CONST:
            arg[a] = (ac_bound_arg){.space = AC_SPACE_CONST, .offset = ac_const_index(r, consts, x->konst)};
            break;
        case AC_ARG_SCRATCH:
            arg[a] = place(b, b->scratch_item[s][a], 0);
            break;
        case AC_ARG_TENSOR:
            arg[a] = place(b, b->item_of[x->tensor->id], b->delta[x->tensor->id]);
            break;
        case AC_ARG_CHUNK:
            arg[a] = (ac_bound_arg){.space = AC_SPACE_CHUNK};
            break;
        }
    }
    for (int32_t i = 0; i < low->arg.n; i++)
        for (int32_t j = 0; j < low->arg.n; j++) {
            if (i == j || arg[i].space != arg[j].space || arg[i].index != arg[j].index ||
                arg[i].space == AC_SPACE_CONST || arg[i].space == AC_SPACE_CHUNK)
                continue;
            ac_bytes ie = arg[i].offset + arg_bytes(low, i), je = arg[j].offset + arg_bytes(low, j);
            bool written = low->fn->buf.item[i].role != AC_BUF_IN || low->fn->buf.item[j].role != AC_BUF_IN;
            if (written && arg[i].offset < je && arg[j].offset < ie)
                arg[i].shares = true;
        }
    c->arg = arg;
}

static ac_io io_of(const ac_binding *b, const ac_tensor *t)
{
    ac_bound_arg at = place(b, b->item_of[t->id], b->delta[t->id]);
    return (ac_io){.tensor = t, .space = at.space, .offset = at.offset, .bytes = ac_tensor_bytes(t), .index = at.index};
}

/* Facts about all inputs, found in one scan each. */
typedef struct inputs {
    int32_t n; /* items with bytes: by memory, then by offset */
    ac_keyed *by_offset;
    ac_bytes *top[2]; /* of the items of one memory up to that one: the largest end, and the largest of the others */
    int32_t *highest; /* the item with top[0] */
    bool *made;       /* by item: a step stores a tensor there */
    int32_t *part;    /* by tensor: the part of the first step that reads it; -1: none */
} inputs;

static void sort_items(inputs *v, const ac_binding *b, ac_region *tmp)
{
    const ac_problem *p = b->problem;
    v->by_offset = AC_NEW_N(tmp, ac_keyed, p->n + 1);
    v->highest = AC_NEW_N(tmp, int32_t, p->n + 1);
    for (int32_t k = 0; k < 2; k++)
        v->top[k] = AC_NEW_N(tmp, ac_bytes, p->n + 1);
    for (int32_t m = 0; m < p->n_mems; m++) {
        ac_keyed *first = v->by_offset + v->n;
        ac_bytes top[2] = {-1, -1};
        int32_t n = 0, highest = -1;
        for (int32_t i = 0; i < p->n; i++)
            if (b->plan->mem[i] == m && p->item[i].size)
                first[n++] = (ac_keyed){(uint64_t)b->plan->offset[i], i};
        ac_radix_sort(first, n, AC_NEW_N(tmp, ac_keyed, n + 1));
        for (int32_t k = 0; k < n; k++) {
            const ac_bytes end = b->plan->offset[first[k].value] + p->item[first[k].value].size;
            const bool more = end > top[0];
            top[1] = more ? top[0] : end > top[1] ? end : top[1];
            highest = more ? first[k].value : highest;
            top[0] = more ? end : top[0];
            v->top[0][v->n + k] = top[0];
            v->top[1][v->n + k] = top[1];
            v->highest[v->n + k] = highest;
        }
        v->n += n;
    }
}

static inputs inputs_of(const ac_module *m, const ac_graph *g, const ac_binding *b, ac_region *tmp)
{
    inputs v = {.made = AC_NEW_N(tmp, bool, b->problem->n + 1), .part = AC_NEW_N(tmp, int32_t, g->tensor.n + 1)};
    sort_items(&v, b, tmp);
    for (int32_t i = 0; i < g->tensor.n; i++) {
        const ac_tensor *t = g->tensor.item[i];
        v.part[i] = -1;
        if (b->item_of[i] >= 0)
            v.made[b->item_of[i]] |= t->def && !t->root;
    }
    for (int32_t i = 0; i < m->n_calls; i++)
        for (int32_t a = 0; a < m->call[i].n_arg; a++) {
            const ac_arg *arg = &m->call[i].low->arg.item[a];
            int32_t *part = arg->kind == AC_ARG_TENSOR ? &v.part[ac_tensor_root(arg->tensor)->id] : NULL;
            if (part && *part < 0)
                *part = m->call[i].low->node->part;
        }
    return v;
}

/* An input is clobbered when another item takes any of its bytes, later or (overlap) in the step it dies in, or an
 * in-place result does. */
static bool is_clobbered(const inputs *v, const ac_io *io, const ac_binding *b)
{
    const int32_t own = b->item_of[io->tensor->id], mem = b->plan->mem[own];
    if (io->space != AC_SPACE_ARENA)
        return false;
    int32_t low = 0, high = v->n; /* the first that is in a later memory, or begins past the input */
    while (low < high) {
        const int32_t k = low + (high - low) / 2, i = v->by_offset[k].value;
        const bool before =
            b->plan->mem[i] != mem ? b->plan->mem[i] < mem : b->plan->offset[i] < io->offset + io->bytes;
        low = before ? k + 1 : low;
        high = before ? high : k;
    }
    const int32_t k = low - 1;
    return v->made[own] ||
           (k >= 0 && b->plan->mem[v->by_offset[k].value] == mem && v->top[v->highest[k] == own][k] > io->offset);
}

/* An input that call s reads row by row. */
static ac_io streamed_io(const ac_binding *b, const ac_lowered *low, int32_t s)
{
    const ac_bytes window = low->arg.item[low->streamed_arg].bytes;
    const ac_bound_arg at = place(b, b->scratch_item[s][low->streamed_arg], window - low->row_bytes);
    return (ac_io){.tensor = low->streamed,
                   .space = AC_SPACE_IN,
                   .bytes = ac_tensor_bytes(low->streamed),
                   .rows = low->rows,
                   .row_bytes = low->row_bytes,
                   .index = at.index,
                   .row_at = at.offset};
}

static int by_begin(const void *a, const void *b)
{
    const ac_range *x = a, *y = b;
    return x->begin < y->begin ? -1 : x->begin > y->begin;
}

/* By item: the caller fills it before the first step. */
static bool *filled_items(const ac_module *m, const ac_graph *g, const ac_binding *b, ac_region *tmp)
{
    bool *filled = AC_NEW_N(tmp, bool, b->problem->n + 1);
    for (int32_t i = 0; i < g->input.n; i++)
        if (b->item_of[g->input.item[i]->id] >= 0)
            filled[b->item_of[g->input.item[i]->id]] = true;
    if (m->streamed)
        filled[b->scratch_item[m->streamed_call][m->call[m->streamed_call].low->streamed_arg]] = true;
    return filled;
}

/* Adds the bytes of memory `mem` (ram[index]) that hold no value before step s, or before its phase, to `dead`, which
 * has k ranges. */
static int32_t dead_in(ac_module *m, const ac_binding *b, int32_t s, int32_t mem, int32_t index, const bool *filled,
                       ac_range *live, ac_range *dead, int32_t k)
{
    const ac_life phase = b->slot ? (ac_life){b->slot[s].begin, b->slot[s].end} : (ac_life){s, s + 1};
    int32_t n = 0;
    for (int32_t i = 0; i < b->problem->n; i++) {
        const ac_item *it = &b->problem->item[i];
        if (b->plan->mem[i] == mem && it->size && ac_life_overlap(it->life, phase) &&
            (filled[i] || it->life.begin < phase.begin))
            live[n++] = (ac_range){b->plan->offset[i], b->plan->offset[i] + it->size, index};
    }
    qsort(live, (size_t)n, sizeof *live, by_begin);
    ac_bytes at = 0;
    for (int32_t i = 0; i < n; i++) {
        if (live[i].begin > at)
            dead[k++] = (ac_range){at, live[i].begin, index};
        if (live[i].end > at)
            at = live[i].end;
    }
    if (at < m->ram[index].bytes)
        dead[k++] = (ac_range){at, m->ram[index].bytes, index};
    return k;
}

static void put_dead(ac_module *m, const ac_graph *g, int32_t n_steps, const ac_binding *b, ac_region *tmp)
{
    const bool *filled = filled_items(m, g, b, tmp);
    ac_range *live = AC_NEW_N(tmp, ac_range, b->problem->n + 1);
    ac_range *dead = AC_NEW_N(tmp, ac_range, b->problem->n + m->n_ram);
    m->dead = AC_NEW_N(m->cx->region, ac_dead, n_steps + 1);
    for (int32_t s = 0; s < n_steps; s++) {
        int32_t k = 0, index = 0;
        if (b->slot && b->slot[s].begin != s) /* in the middle of a phase: none */
            continue;
        for (int32_t mem = 0; mem < b->problem->n_mems; mem++)
            if (b->problem->mem[mem].use == AC_MEM_RAM)
                k = dead_in(m, b, s, mem, index++, filled, live, dead, k);
        m->dead[s] = (ac_dead){ac_copy(m->cx->region, dead, (uint64_t)k * sizeof *dead), k};
    }
}

/* The memories of tensors: sizes, alignments and offsets in one block. */
static void bind_ram(ac_module *m, const ac_binding *b)
{
    const ac_problem *p = b->problem;
    m->ram = AC_NEW_N(m->cx->region, ac_module_ram, p->n_mems);
    m->n_ram = 0;
    m->arena_align = 1;
    m->arena_bytes = m->state_bytes = 0;
    m->state_address = -1;
    for (int32_t k = 0; k < p->n_mems; k++) {
        const ac_memory *mem = &p->mem[k];
        if (mem->use == AC_MEM_STATE)
            m->state_bytes = b->plan->mem_bytes[k];
        if (mem->use != AC_MEM_RAM)
            continue;
        ac_module_ram *ram = &m->ram[m->n_ram++];
        *ram = (ac_module_ram){
            .name = mem->name, .bytes = b->plan->mem_bytes[k], .align = ac_plan_align(p, b->plan, k), .address = -1};
        ram->base = ac_align_up(m->arena_bytes, ram->align);
        m->arena_bytes = ram->bytes ? ram->base + ram->bytes : m->arena_bytes;
    }
    for (int32_t k = 0; k < m->n_ram; k++)
        m->arena_align = m->ram[k].align > m->arena_align ? m->ram[k].align : m->arena_align;
}

/* The caller may set better names if there are several. */
static void bind_parts(ac_module *m)
{
    const int32_t last = m->n_calls ? m->call[m->n_calls - 1].low->node->part : 0;
    ac_module_whole(m);
    if (!last)
        return;
    m->n_parts = last + 1;
    for (int32_t k = 0, s = 0; k <= last; k++) {
        m->part[k] = (ac_module_part){.name = ac_strf(m->cx->region, "run_part%d", k), .begin = s};
        while (s < m->n_calls && m->call[s].low->node->part == k)
            s++;
        m->part[k].end = s;
    }
}

void ac_module_bind(ac_module *m, const ac_graph *g, ac_lowered *const *step, int32_t n_steps, const ac_binding *b)
{
    ac_region *r = m->cx->region;
    ac_const_list consts = {0};
    bind_ram(m, b);
    m->call = AC_NEW_N(r, ac_call, n_steps + 1);
    m->n_calls = n_steps;
    m->slot = b->slot;
    for (int32_t s = 0; s < n_steps; s++)
        bind_call(m, &consts, &m->call[s], step[s], s, b);
    bind_parts(m);
    m->konst = consts.konst.item;
    m->n_konst = consts.konst.n;
    m->input = AC_NEW_N(r, ac_io, g->input.n + 1);
    m->output = AC_NEW_N(r, ac_io, g->output.n + 1);
    m->state = AC_NEW_N(r, ac_io, g->tensor.n + 1);
    m->n_inputs = g->input.n;
    m->n_outputs = g->output.n;
    m->counted = g->counted.item;
    m->n_counted = g->counted.n;
    ac_region *tmp = ac_region_open(&m->cx->heap);
    const inputs facts = inputs_of(m, g, b, tmp);
    int32_t streamed = -1;
    for (int32_t s = 0; s < n_steps; s++)
        streamed = step[s]->streamed ? s : streamed;
    for (int32_t i = 0; i < g->input.n; i++) {
        if (streamed >= 0 && step[streamed]->streamed == g->input.item[i]) {
            m->input[i] = streamed_io(b, step[streamed], streamed);
            m->streamed = &m->input[i];
            m->streamed_call = streamed;
            m->streamed_input = i;
            continue;
        }
        m->input[i] = io_of(b, g->input.item[i]);
        const int32_t part = facts.part[g->input.item[i]->id];
        m->input[i].clobbered = is_clobbered(&facts, &m->input[i], b);
        m->input[i].part = part < 0 ? 0 : part;
    }
    for (int32_t i = 0; i < g->output.n; i++)
        m->output[i] = io_of(b, g->output.item[i]);
    for (int32_t i = 0; i < g->tensor.n; i++)
        if (g->tensor.item[i]->state && b->item_of[i] >= 0)
            m->state[m->n_states++] = io_of(b, g->tensor.item[i]);
    if (m->poison || b->dead)
        put_dead(m, g, n_steps, b, tmp);
    ac_region_close(tmp);
}

bool *ac_module_restricted(const ac_module *m, int32_t fn)
{
    const int32_t n = m->fn[fn]->buf.n;
    bool *restricted = AC_NEW_N(m->cx->region, bool, n + 1);
    memset(restricted, 1, (size_t)n);
    for (int32_t i = 0; i < m->n_calls; i++)
        for (int32_t a = 0; m->call[i].fn == fn && a < m->call[i].n_arg && a < n; a++)
            restricted[a] &= !m->call[i].arg[a].shares;
    return restricted;
}

static const ac_io *find_io(const ac_io *io, int32_t n, const ac_tensor *t)
{
    for (int32_t i = 0; i < n; i++)
        if (io[i].tensor == t)
            return &io[i];
    return NULL;
}

const ac_io *ac_module_io(const ac_module *m, const ac_tensor *t)
{
    const ac_io *io = find_io(m->state, m->n_states, t);
    io = io ? io : find_io(m->input, m->n_inputs, t);
    return io ? io : find_io(m->output, m->n_outputs, t);
}

const ac_vocabulary *ac_module_words(const ac_module *m)
{
    const ac_vocabulary *w = NULL;
    for (int32_t i = 0; i < m->n_inputs && !w; i++)
        w = m->input[i].tensor->words;
    for (int32_t i = 0; i < m->n_outputs && !w; i++)
        w = m->output[i].tensor->words;
    return w;
}
