/* rejoin.c - where all ways from a branch meet again: its immediate postdominator in the graph of instructions that are
 * reachable within the call. Calls count as returning; jumps through registers and memory count as the end of the call.
 *
 * Source of the method: Cooper, Harvey and Kennedy, "A Simple, Fast Dominance Algorithm", on the reversed graph. */
#include "timing/walk.h"

enum { EXIT, MOST_NODES = 1 << 20, UNREACHED = -1 };

typedef struct node {
    uint32_t pc;
    int32_t next[2], n_next;
    int32_t order, dominator; /* order: position in the walk from the exit; UNREACHED */
    int32_t first_before;     /* index in graph.before; those of node i end where those of i + 1 begin */
    uint8_t in_it;            /* instructions of an IT block that are left, with this one */
} node;

typedef struct graph {
    ac_walk *w;
    ac_region *r;
    const ac_mem_block *code;
    int32_t *at; /* node by halfword; 0: none yet */
    AC_VEC(node) node;
    int32_t *before, *sequence, n_sequence;
} graph;

static int32_t node_at(graph *g, uint32_t pc, uint8_t in_it)
{
    if (pc - g->code->at >= g->code->bytes || pc & 1 || g->node.n == MOST_NODES)
        return EXIT;
    int32_t *at = &g->at[(pc - g->code->at) >> 1];
    if (!*at) {
        *at = g->node.n;
        ac_push(g->r, &g->node, ((node){.pc = pc, .in_it = in_it, .order = UNREACHED, .dominator = UNREACHED}));
    }
    return *at;
}

static void link_to(graph *g, int32_t i, int32_t to)
{
    node *n = &g->node.item[i];
    n->next[n->n_next++] = to;
}

static void expand(graph *g, int32_t i)
{
    const uint32_t pc = g->node.item[i].pc;
    const uint8_t in_it = g->node.item[i].in_it;
    const ac_insn *in = ac_walk_decode(g->w, pc);
    if (!in) {
        link_to(g, i, EXIT);
        return;
    }
    const bool ends = g->w->elf.riscv ? ac_op_kind_of[in->op] == AC_K_JUMP : ac_insn_jumps(in);
    const bool always = in->op == AC_T_B && in->cond == AC_ALWAYS;
    const uint8_t rest = in->op == AC_T_IT ? (uint8_t)(4 - __builtin_ctz(in->imm)) : in_it ? (uint8_t)(in_it - 1) : 0;
    if (ends)
        link_to(g, i, EXIT);
    if (ac_op_kind_of[in->op] == AC_K_BRANCH)
        link_to(g, i, node_at(g, in->imm, 0));
    if ((!ends && !always) || in_it)
        link_to(g, i, node_at(g, pc + in->bytes, rest));
}

static void list_before(graph *g)
{
    int32_t total = 0;
    for (int32_t i = 0; i < g->node.n; i++)
        for (int32_t k = 0; k < g->node.item[i].n_next; k++)
            g->node.item[g->node.item[i].next[k]].first_before++;
    for (int32_t i = 0; i < g->node.n; i++) { /* ends first, then filled downwards */
        total += g->node.item[i].first_before;
        g->node.item[i].first_before = total;
    }
    g->before = AC_NEW_N(g->r, int32_t, total + 1);
    for (int32_t i = 0; i < g->node.n; i++)
        for (int32_t k = 0; k < g->node.item[i].n_next; k++)
            g->before[--g->node.item[g->node.item[i].next[k]].first_before] = i;
    ac_push(g->r, &g->node, ((node){.first_before = total}));
    g->node.n--;
}

/* Postorder of the nodes, against the edges, from the root, which is the last. */
static void put_in_order(graph *g, int32_t root)
{
    int32_t *stack = AC_NEW_N(g->r, int32_t, g->node.n + 1), n = 0;
    int32_t *next = AC_NEW_N(g->r, int32_t, g->node.n + 1);
    bool *seen = AC_NEW_N(g->r, bool, g->node.n + 1);
    g->sequence = AC_NEW_N(g->r, int32_t, g->node.n + 1);
    g->n_sequence = 0;
    for (int32_t i = 0; i < g->node.n; i++)
        g->node.item[i].order = g->node.item[i].dominator = UNREACHED;
    stack[n++] = root;
    seen[root] = true;
    while (n) {
        const int32_t i = stack[n - 1], from = g->node.item[i].first_before;
        if (from + next[i] == g->node.item[i + 1].first_before) {
            g->node.item[i].order = g->n_sequence;
            g->sequence[g->n_sequence++] = i;
            n--;
        } else {
            const int32_t b = g->before[from + next[i]++];
            if (!seen[b])
                stack[n++] = b;
            seen[b] = true;
        }
    }
}

static int32_t common(const graph *g, int32_t a, int32_t b)
{
    while (a != b) {
        while (g->node.item[a].order < g->node.item[b].order)
            a = g->node.item[a].dominator;
        while (g->node.item[b].order < g->node.item[a].order)
            b = g->node.item[b].dominator;
    }
    return a;
}

static bool update(graph *g, int32_t i)
{
    node *n = &g->node.item[i];
    int32_t d = UNREACHED;
    for (int32_t k = 0; k < n->n_next; k++)
        if (g->node.item[n->next[k]].dominator != UNREACHED)
            d = d == UNREACHED ? n->next[k] : common(g, d, n->next[k]);
    const bool changed = d != n->dominator;
    n->dominator = d;
    return changed;
}

/* Where the ways from node i to the root meet; the root itself if they do not, or if only one leads there. */
static int32_t meeting(graph *g, int32_t i, int32_t root)
{
    const node *n = &g->node.item[i];
    int32_t d = UNREACHED;
    put_in_order(g, root);
    g->node.item[root].dominator = root;
    for (bool changed = true; changed;) {
        changed = false;
        for (int32_t k = g->n_sequence - 2; k >= 0; k--)
            changed |= update(g, g->sequence[k]);
    }
    for (int32_t k = 0; k < n->n_next; k++) {
        if (g->node.item[n->next[k]].order == UNREACHED)
            return root;
        d = d == UNREACHED ? n->next[k] : common(g, d, n->next[k]);
    }
    return d == UNREACHED ? root : d;
}

static ac_meet find(ac_walk *w, uint32_t pc)
{
    graph g = {.w = w, .r = ac_region_open(&w->cx->heap)};
    g.code = ac_mem_find(&w->mem, pc, 2);
    g.at = AC_NEW_N(g.r, int32_t, g.code->bytes / 2 + 1);
    ac_push(g.r, &g.node, ((node){.order = UNREACHED, .dominator = UNREACHED}));
    const int32_t branch = node_at(&g, pc, w->s.it ? 1 : 0);
    for (int32_t i = branch; i < g.node.n; i++)
        expand(&g, i);
    if (g.node.item[branch].n_next == 1) { /* the last of an IT block */
        const ac_insn *in = ac_walk_decode(w, pc);
        link_to(&g, branch, node_at(&g, pc + in->bytes, 0));
        for (int32_t i = branch + 1; i < g.node.n; i++)
            if (!g.node.item[i].n_next)
                expand(&g, i);
    }
    list_before(&g);
    const int32_t d = meeting(&g, branch, EXIT), again = meeting(&g, branch, branch);
    const ac_meet meet = {pc, d == EXIT ? AC_NO_PLACE : g.node.item[d].pc,
                          again == branch ? AC_NO_PLACE : g.node.item[again].pc};
    ac_region_close(g.r);
    return meet;
}

ac_stop ac_walk_rejoin(ac_walk *w, uint32_t pc)
{
    int32_t i = 0;
    while (i < w->meets.n && w->meets.item[i].branch != pc)
        i++;
    if (i == w->meets.n)
        ac_push(w->cx->region, &w->meets, find(w, pc));
    const ac_meet *m = &w->meets.item[i];
    return (ac_stop){.pc = m->at, .early = m->loop, .sp = w->s.v[ac_walk_sp(w)], .depth = w->s.depth};
}
