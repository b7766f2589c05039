/* plan.c - stage plan: the options of the planner, and the plan of a model. */
#include "driver/stage/stage.h"

#include "base/ascii.h"
#include "codegen/c/identifiers.h"
#include "driver/facts/facts.h"
#include "ir/lower/node/node.h"

#include <string.h>

static const ac_place NOWHERE = {0};

/* ------------------------------------------------------------------ --mem
 *
 * Memories come in order of speed (fast, not given, slow), then as they were given; the planner fills them in this
 * order. One named "state" is for state, one that is read-only for weights, all others are for tensors. */

static int wrong_name(ac_ctx *cx, const char *name)
{
    static const char *const TAKEN[] = {"weights", "in", "out", "pool", "m", "io", "total"};
    bool bad = !ac_is_letter(name[0]) || ac_c_reserved(name);
    for (const char *p = name; *p; p++)
        bad |= !ac_is_alnum(*p) && *p != '_';
    for (size_t i = 0; i < sizeof TAKEN / sizeof *TAKEN; i++)
        bad |= !strcmp(name, TAKEN[i]);
    if (!bad)
        return AC_OK;
    ac_error(cx, NOWHERE, E0503, "memory '%s' cannot have this name: it becomes a field and part of macros in C", name);
    return ac_help(cx, "take a letter, then letters, digits and '_'");
}

static int check_memory(ac_ctx *cx, const ac_opt_memories *mem, int32_t k)
{
    const ac_memory_option *m = &mem->item[k];
    AC_TRY(wrong_name(cx, m->name));
    for (int32_t i = 0; i < k; i++)
        if (ac_same_letters(mem->item[i].name, m->name))
            return ac_error(cx, NOWHERE, E0503, "memory '%s' is given twice", m->name);
    if (m->address >= 0 && m->align && m->address % m->align)
        return ac_error(cx, NOWHERE, E0503, "memory '%s' is at 0x%llx, which is not a multiple of its alignment %lld",
                        m->name, (unsigned long long)m->address, (long long)m->align);
    if (m->read_only && !strcmp(m->name, "state"))
        return ac_error(cx, NOWHERE, E0503, "memory 'state' cannot be read-only");
    for (int32_t i = 0; i < k; i++) {
        const ac_memory_option *o = &mem->item[i];
        if (m->address >= 0 && o->address >= 0 && m->address - o->address < o->bytes &&
            o->address - m->address < m->bytes)
            return ac_error(cx, NOWHERE, E0503, "memories '%s' and '%s' overlap at 0x%llx", o->name, m->name,
                            (unsigned long long)(m->address > o->address ? m->address : o->address));
        if (m->read_only && o->read_only)
            return ac_error(cx, NOWHERE, E0503, "memories '%s' and '%s' are both read-only; weights use one", o->name,
                            m->name);
    }
    return AC_OK;
}

static ac_memory memory_of(const ac_memory_option *m, ac_mem_use use)
{
    return (ac_memory){.name = m->name, .capacity = m->bytes, .align = m->align, .use = use};
}

static int put_memories(const ac_made *a, ac_live_options *live)
{
    ac_ctx *cx = a->cx;
    const ac_opt_memories *mem = &a->opt->mem;
    ac_memory *ram = AC_NEW_N(cx->region, ac_memory, mem->n + 1);
    int32_t n = 0;
    for (int32_t k = 0; k < mem->n; k++) {
        AC_TRY(check_memory(cx, mem, k));
        if (!strcmp(mem->item[k].name, "state"))
            live->state = memory_of(&mem->item[k], AC_MEM_STATE);
    }
    for (int speed = 1; speed >= -1; speed--)
        for (int32_t k = 0; k < mem->n; k++)
            if (mem->item[k].speed == speed && !mem->item[k].read_only && strcmp(mem->item[k].name, "state"))
                ram[n++] = memory_of(&mem->item[k], AC_MEM_RAM);
    if (n + 1 > AC_MAX_MEMS)
        return ac_error(cx, NOWHERE, E0503, "%d memories, at most %d are possible", n, AC_MAX_MEMS - 1);
    if (n > 1 && a->lowering->set.reference)
        return ac_error(cx, NOWHERE, E0503, "--reference tflite supports one memory, %d are given", n);
    live->ram = n ? ram : NULL;
    live->n_ram = n;
    return AC_OK;
}

/* ------------------------------------------------------------------ the plan */

static int put_how(const ac_made *a, ac_plan_how *how)
{
    enum { TFLITE_ALIGN = 64 };
    const ac_options *o = a->opt;
    const ac_lowering *low = a->lowering;
    const ac_settings *s = &low->set;
    int32_t n;
    ac_plan_pin *pin = AC_NEW_N(a->cx->region, ac_plan_pin, o->pin.n + 1);
    for (int32_t k = 0; k < o->pin.n; k++)
        pin[k] = (ac_plan_pin){o->pin.item[k].tensor, o->pin.item[k].memory, o->pin.item[k].offset};
    *how =
        (ac_plan_how){.file = a->source->path,
                      .graph = low->graph,
                      .step = low->step,
                      .n_steps = low->n_steps,
                      .target = s->target,
                      .exact = o->exact,
                      .cache = s->cache,
                      .stripes = o->stripe.groups,
                      .planner = s->reference && o->planner.automatic ? "tflite" : o->planner.name,
                      .effort = (int)o->effort,
                      .budget = o->budget.bytes,
                      .budget_memory = o->budget.memory,
                      .budget_total = o->budget.total,
                      .constants = o->budget.total ? ac_constant_bytes(a->cx->region, low->step, low->n_steps, &n) : 0,
                      .pin = pin,
                      .n_pins = o->pin.n,
                      .threads = s->gpu || s->reference || !o->phases ? 1 : s->threads,
                      .fork_cost = AC_FORK_COST};
    how->live = (ac_live_options){.whole = s->reference,
                                  .preserve_input = o->preserve == AC_OPT_PRESERVE_INPUT,
                                  .preserve_all = o->preserve == AC_OPT_PRESERVE_ALL,
                                  .caller_io = ac_has_caller_io(a->request),
                                  .align = o->align       ? o->align
                                           : s->reference ? TFLITE_ALIGN
                                                          : s->target->align};
    AC_TRY(put_memories(a, &how->live));
    how->reductions = ac_settings_reductions(a->cx, o, s, a->source->path);
    if (ac_trains(a->request) && o->budget.bytes >= 0)
        how->reductions |= AC_REDUCE(CHECKPOINT);
    return AC_OK;
}

static int plan_graph(const ac_made *a, ac_made *out)
{
    ac_region *r = a->cx->region;
    ac_plan_how *how = AC_NEW(r, ac_plan_how);
    ac_packed *packed = AC_NEW(r, ac_packed);
    ac_planned *p;
    AC_TRY(put_how(a, how));
    AC_TRY(ac_plan_graph(a->cx, how, &p));
    *packed = (ac_packed){.problem = &p->live->problem,
                          .plan = &p->plan,
                          .row = p->row,
                          .n_rows = p->n_rows,
                          .search = ac_plan_search(how, p),
                          .budget = ac_plan_budget(how, p)};
    out->how = how;
    out->planned = p;
    out->packed = packed;
    return AC_OK;
}

int ac_plan_graph_of(const ac_made *a, ac_made *out)
{
    AC_TRY(plan_graph(a, out));
    out->report = ac_facts_model(out);
    if (ac_report_over_budget(a->cx, out->report) == AC_OK)
        return AC_OK;
    if (out->how->budget_total)
        ac_help(a->cx, "--budget total: of %s B, weights and state take %s B", ac_commas(a->cx, out->how->budget),
                ac_commas(a->cx, out->report->weight_bytes + out->report->state_bytes));
    return ac_plan_help(a->cx, out->how, out->planned, ac_facts_try(out)) ? AC_FAIL
                                                                          : ac_report_help_smaller(a->cx, out->report);
}
