/* test_phases.c - steps that run in parallel: random graphs are planned for several threads, with times that make
 * phases common; every phase obeys the rules of slot.h, and the steps, run by the evaluator in many orders that threads
 * could take, a chunk at a time, give the bits of the steps one after another with bytes of their own. Then faults are
 * planted in good plans, which the checker has to find. A failed CHECK prints its place; the exit status is 1 when any
 * failed. */
#include "codegen/targets.h"
#include "ir/loop/eval/eval.h"
#include "planner/graph/phased.h"
#include "tests/unit/support/expect.h"
#include "tests/unit/support/random_vectors.h"

static int32_t shared, steps_beside, planted, in_place;

/* The bytes of a tensor or a scratch argument of step s in an arena. */
static void *place_of(const ac_planned *p, int32_t s, int32_t a, uint8_t *arena)
{
    const ac_arg *x = &p->step[s]->arg.item[a];
    const int32_t item = x->kind == AC_ARG_TENSOR ? p->live->item_of[x->tensor->id] : p->live->scratch_item[s][a];
    return arena + p->plan.offset[item] + (x->kind == AC_ARG_TENSOR ? p->live->delta[x->tensor->id] : 0);
}

static void *as_any(const void *p)
{
    union {
        const void *read;
        void *any;
    } u = {p};
    return u.any;
}

/* Chunk `chunk` of step s, or all of the step. */
static void run_task(ac_ctx *cx, const ac_planned *p, int32_t s, int32_t chunk, uint8_t *arena)
{
    const ac_lowered *low = p->step[s];
    void **arg = AC_NEW_N(cx->region, void *, low->arg.n + 1);
    int status = 0;
    for (int32_t a = 0; a < low->arg.n; a++)
        arg[a] = low->arg.item[a].kind == AC_ARG_CONST   ? as_any(ac_const_data(cx, low->arg.item[a].konst))
                 : low->arg.item[a].kind == AC_ARG_CHUNK ? (void *)&chunk
                                                         : place_of(p, s, a, arena);
    CHECK(ac_eval(cx, low->fn, arg, low->arg.n, &status) == AC_OK && !status);
}

/* The steps of a phase, by threads that are stopped anywhere between two tasks. */
static void run_phase(ac_ctx *cx, const ac_planned *p, int32_t begin, int32_t threads, uint8_t *arena)
{
    int32_t at[8];
    const int32_t end = p->slot[begin].end;
    for (int32_t t = 0; t < threads; t++)
        at[t] = begin;
    for (int32_t left = threads; left;) {
        const int32_t t = draw(threads);
        while (at[t] < end && p->slot[at[t]].thread != t && p->slot[at[t]].thread != AC_ALL_THREADS)
            at[t]++;
        if (at[t] == end) {
            at[t]++;
            left--;
        } else if (at[t] < end) {
            run_task(cx, p, at[t]++, t, arena);
        }
    }
}

static void fill_inputs(const ac_planned *p, uint8_t *arena)
{
    for (int32_t i = 0; i < p->graph->input.n; i++) {
        const ac_tensor *t = p->graph->input.item[i];
        const int32_t item = p->live->item_of[t->id];
        for (int64_t k = 0; k < ac_tensor_count(t) && item >= 0; k++) {
            const float x = (float)((k * 7 + i) % 13) * 0.25f - 1.5f;
            memcpy(arena + p->plan.offset[item] + 4 * k, &x, 4);
        }
    }
}

/* Runs p; the bytes of all outputs, one after the other. */
static uint8_t *results(ac_ctx *cx, const ac_planned *p, int32_t threads, size_t *n)
{
    uint8_t *arena = ac_alloc(cx->region, (size_t)p->plan.arena_bytes + 64);
    memset(arena, 0x7f, (size_t)p->plan.arena_bytes);
    fill_inputs(p, arena);
    for (int32_t s = 0; s < p->n_steps; s = p->slot ? p->slot[s].end : s + 1)
        if (p->slot && (ac_slot_shared(p->slot, s) || p->slot[s].thread == AC_ALL_THREADS))
            run_phase(cx, p, s, threads, arena);
        else
            for (int32_t k = 0; k == 0 || k < p->step[s]->chunks; k++)
                run_task(cx, p, s, k, arena);
    *n = 0;
    for (int32_t i = 0; i < p->graph->output.n; i++)
        *n += (size_t)ac_tensor_bytes(p->graph->output.item[i]);
    uint8_t *to = ac_alloc(cx->region, *n + 1), *at = to;
    for (int32_t i = 0; i < p->graph->output.n; i++) {
        const ac_tensor *t = p->graph->output.item[i];
        memcpy(at, arena + p->plan.offset[p->live->item_of[t->id]] + p->live->delta[t->id], (size_t)ac_tensor_bytes(t));
        at += ac_tensor_bytes(t);
    }
    return to;
}

/* Every operand of a step is available: from an earlier phase, or from an earlier step of the same thread. */
static void check_order(ac_ctx *cx, const ac_planned *p, ac_live_options opt)
{
    const ac_order_problem *q = ac_order_graph(cx->region, p->graph, p->step, p->n_steps, opt);
    for (int32_t s = 0; s < p->n_steps; s++)
        for (int32_t k = 0; k < q->step[s].n_preds; k++) {
            const int32_t before = q->step[s].pred[k];
            CHECK(before < s && !ac_slot_beside(p->slot, before, s));
        }
}

/* An item that one step writes moves onto one that a parallel step touches: at_once.c has to see it. */
static void plant(ac_ctx *cx, ac_planned *p)
{
    for (int32_t s = 0; s < p->n_steps; s++)
        for (int32_t k = s + 1; ac_slot_shared(p->slot, s) && k < p->slot[s].end; k++) {
            const int32_t a = p->live->item_of[ac_node_result(p->step[s]->node)->id];
            const int32_t b = p->live->item_of[ac_node_result(p->step[k]->node)->id];
            if (!ac_slot_beside(p->slot, s, k) || a == b)
                continue;
            const ac_bytes was = p->plan.offset[a];
            p->plan.offset[a] = p->plan.offset[b] + p->live->delta[ac_node_result(p->step[k]->node)->id] -
                                p->live->delta[ac_node_result(p->step[s]->node)->id];
            CHECK(ac_phases_check(cx, "planted", p) == AC_FAIL);
            p->plan.offset[a] = was;
            ac_slot *slot = ac_copy(cx->region, p->slot, sizeof *slot * (size_t)p->n_steps);
            const ac_slot *good = p->slot;
            slot[s].end--;
            p->slot = slot;
            CHECK(ac_phases_check(cx, "planted", p) == AC_FAIL);
            p->slot = good;
            planted++;
            return;
        }
}

static void test_random(ac_ctx *cx, int round)
{
    ac_graph *g = random_graph(cx, 4 + draw(14));
    MUST(g);
    ac_node *node[MAX_VALUES];
    ac_lowered *whole[MAX_VALUES], *cut[MAX_VALUES];
    const int32_t n = ac_order_keep(g, node), threads = 2 + draw(4);
    for (int32_t i = 0; i < n; i++) {
        const ac_target *generic = ac_target_find("generic");
        MUST((whole[i] = ac_lower_node(cx, cx->region, node[i], generic, 0, false)) != NULL);
        MUST((cut[i] = ac_lower_node(cx, cx->region, node[i], generic, 0, false)) != NULL);
        MUST(ac_lower_chunks(cx, cx->region, cut[i], threads, draw(2) ? 20 : 1e9) == AC_OK);
    }
    ac_plan_how how = {.file = "random",
                       .graph = g,
                       .step = whole,
                       .n_steps = n,
                       .target = ac_target_find("generic"),
                       .live = {.align = 4, .preserve_input = round % 5 == 0},
                       .reductions = AC_REDUCE(INPLACE) | (round % 3 ? AC_REDUCE(OVERLAP) : 0) |
                                     (round % 2 ? AC_REDUCE(ORDER) : 0),
                       .planner = "auto",
                       .effort = 0,
                       .budget = round % 4 ? 1 << 20 : -1};
    ac_planned *one, *many;
    size_t bytes, same;
    MUST(ac_plan_graph(cx, &how, &one) == AC_OK);
    how.step = cut;
    how.threads = threads;
    how.fork_cost = 20;
    MUST(ac_plan_graph(cx, &how, &many) == AC_OK);
    const uint8_t *want = results(cx, one, 1, &bytes);
    for (int k = 0; k < 5 && many->slot; k++)
        CHECK(!memcmp(want, results(cx, many, threads, &same), bytes) && same == bytes);
    if (many->slot) {
        shared++;
        CHECK(many->found.phases.after < many->found.phases.before);
        check_order(cx, many, how.live);
        for (int32_t s = 0; s < many->n_steps; s++) {
            steps_beside += ac_slot_shared(many->slot, s);
            in_place += ac_slot_shared(many->slot, s) && many->live->alias_how[ac_node_result(many->step[s]->node)->id];
        }
        if (how.budget < 0) {
            ac_planned *alone;
            how.threads = 1;
            MUST(ac_plan_graph(cx, &how, &alone) == AC_OK);
            CHECK(!alone->slot && many->plan.arena_bytes * 100 <= alone->plan.arena_bytes * (100 + AC_PHASE_GROWTH));
            ac_planned_free(alone);
        }
        plant(cx, many);
    }
    ac_planned_free(one);
    ac_planned_free(many);
}

int main(void)
{
    static ac_ctx cx;
    for (int round = 0; round < 400; round++) {
        ac_ctx_open(&cx);
        ac_ctx_start(&cx);
        test_random(&cx, round);
        ac_ctx_close(&cx);
    }
    CHECK(shared > 150 && planted > 100 && in_place > 20);
    printf("%d of 400 plans have phases, with %d steps, %d of them in place; %d faults planted\n", shared, steps_beside,
           in_place, planted);
    return check_done();
}
