/* job_memory.c - --mem, --pin and --budget NAME=: which memories there are, and what must lie in which.
 *
 * Memories come in order of speed (fast, not said, slow), then as they were given; the planner fills them in this
 * order. One named "state" is for state, one that is read-only for weights, all others are for tensors. */
#include "driver/job.h"

#include "codegen/c/identifiers.h"

#include <ctype.h>
#include <string.h>

static const ac_place NOWHERE = {0};

ac_bytes ac_job_budget(const arenac_job *job)
{
    const char *of = job->opt.budget_memory;
    return !of || !job->live || !strcmp(of, job->live->problem.mem[0].name) ? job->opt.budget : -1;
}

static int wrong_name(arenac_job *job, const char *name)
{
    static const char *const TAKEN[] = {"weights", "in", "out", "pool", "m", "io"};
    bool bad = !isalpha((unsigned char)name[0]) || ac_c_reserved(name);
    for (const char *p = name; *p; p++)
        bad |= !(isalnum((unsigned char)*p) || *p == '_') || (unsigned char)*p > 127;
    for (size_t i = 0; i < sizeof TAKEN / sizeof *TAKEN; i++)
        bad |= !strcmp(name, TAKEN[i]);
    if (!bad)
        return AC_OK;
    ac_error(&job->cx, NOWHERE, E0503, "memory '%s' cannot have this name: it becomes a field and part of macros in C",
             name);
    return ac_help(&job->cx, "take a letter, then letters, digits and '_'");
}

static int check_memory(arenac_job *job, int32_t k)
{
    const arenac_memory *m = &job->opt.mem[k];
    AC_TRY(wrong_name(job, m->name));
    for (int32_t i = 0; i < k; i++)
        if (!strcasecmp(job->opt.mem[i].name, m->name))
            return ac_error(&job->cx, NOWHERE, E0503, "memory '%s' is given twice", m->name);
    if (m->address >= 0 && m->align && m->address % m->align)
        return ac_error(&job->cx, NOWHERE, E0503,
                        "memory '%s' lies at 0x%llx, which is no multiple of its alignment %lld", m->name,
                        (unsigned long long)m->address, (long long)m->align);
    if (m->read_only && !strcmp(m->name, "state"))
        return ac_error(&job->cx, NOWHERE, E0503, "memory 'state' cannot be read-only");
    for (int32_t i = 0; i < k; i++) {
        const arenac_memory *o = &job->opt.mem[i];
        if (m->address >= 0 && o->address >= 0 && m->address - o->address < o->bytes &&
            o->address - m->address < m->bytes)
            return ac_error(&job->cx, NOWHERE, E0503, "memories '%s' and '%s' overlap at 0x%llx", o->name, m->name,
                            (unsigned long long)(m->address > o->address ? m->address : o->address));
        if (m->read_only && o->read_only)
            return ac_error(&job->cx, NOWHERE, E0503, "memories '%s' and '%s' are both read-only; weights lie in one",
                            o->name, m->name);
    }
    return AC_OK;
}

static ac_memory memory_of(const arenac_memory *m, ac_mem_use use)
{
    return (ac_memory){.name = m->name, .capacity = m->bytes, .align = m->align, .use = use};
}

int ac_job_memories(arenac_job *job, ac_live_options *live)
{
    const ac_options *o = &job->opt;
    ac_memory *ram = AC_NEW_N(job->cx.region, ac_memory, o->n_mems + 1);
    int32_t n = 0;
    for (int32_t k = 0; k < o->n_mems; k++) {
        AC_TRY(check_memory(job, k));
        if (!strcmp(o->mem[k].name, "state"))
            live->state = memory_of(&o->mem[k], AC_MEM_STATE);
    }
    for (int speed = 1; speed >= -1; speed--)
        for (int32_t k = 0; k < o->n_mems; k++)
            if (o->mem[k].speed == speed && !o->mem[k].read_only && strcmp(o->mem[k].name, "state"))
                ram[n++] = memory_of(&o->mem[k], AC_MEM_RAM);
    if (n + 1 > AC_MAX_MEMS)
        return ac_error(&job->cx, NOWHERE, E0503, "%d memories, at most %d are possible", n, AC_MAX_MEMS - 1);
    if (n > 1 && o->reference_tflite)
        return ac_error(&job->cx, NOWHERE, E0503, "--reference tflite knows one memory, %d are given", n);
    live->ram = n ? ram : NULL;
    live->n_ram = n;
    return AC_OK;
}

/* ------------------------------------------------------------------ pins */

static int no_such(arenac_job *job, const char *what, const char *name, const char *const *list, int32_t n)
{
    ac_error(&job->cx, NOWHERE, E0503, "there is no %s '%s'", what, name);
    const char *near = ac_closest(name, list, n);
    return near ? ac_help(&job->cx, "did you mean '%s'?", near) : AC_FAIL;
}

static int find_memory(arenac_job *job, const char *name, int32_t *m)
{
    const ac_problem *p = &job->live->problem;
    const char **list = AC_NEW_N(job->cx.region, const char *, p->n_mems);
    for (*m = 0; *m < p->n_mems; ++*m) {
        if (!strcmp(p->mem[*m].name, name) && p->mem[*m].use <= AC_MEM_STATE)
            return AC_OK;
        list[*m] = p->mem[*m].name;
    }
    return no_such(job, "memory", name, list, p->n_mems);
}

static int find_tensor(arenac_job *job, const char *name, const ac_tensor **out)
{
    const ac_graph *g = job->graph;
    const char **list = AC_NEW_N(job->cx.region, const char *, g->tensor.n + 1);
    int32_t n = 0;
    for (int32_t i = 0; i < g->tensor.n; i++) {
        const ac_tensor *t = g->tensor.item[i];
        if (job->live->item_of[i] < 0)
            continue;
        list[n++] = t->name;
        *out = t;
        if (!strcmp(t->name, name))
            return AC_OK;
    }
    for (int32_t i = 0; i < g->tensor.n; i++)
        if (!strcmp(g->tensor.item[i]->name, name))
            return ac_error(&job->cx, NOWHERE, E0503, "'%s' cannot be pinned: it is %s", name,
                            ac_tensor_is_const(g->tensor.item[i]) ? "a constant" : "computed inside of another step");
    return no_such(job, "tensor", name, list, n);
}

static int pin(arenac_job *job, const arenac_pin *pin, const char **by)
{
    ac_problem *p = &job->live->problem;
    const ac_tensor *t = NULL;
    int32_t m;
    AC_TRY(find_memory(job, pin->memory, &m));
    AC_TRY(find_tensor(job, pin->tensor, &t));
    const int32_t i = job->live->item_of[t->id];
    const ac_bytes delta = job->live->delta[t->id], at = pin->offset - delta;
    ac_item *it = &p->item[i];
    if (it->mem >= 0 && p->mem[it->mem].use > AC_MEM_STATE)
        return ac_error(&job->cx, NOWHERE, E0503, "'%s' cannot be pinned: with --host it is the caller's memory",
                        t->name);
    if ((it->kind == AC_ITEM_STATE) != (p->mem[m].use == AC_MEM_STATE))
        return ac_error(&job->cx, NOWHERE, E0503, "'%s' cannot lie in memory '%s': %s", t->name, p->mem[m].name,
                        it->kind == AC_ITEM_STATE ? "it is state" : "that is for state");
    if (by[i] && it->mem != m) {
        ac_error(&job->cx, NOWHERE, E0503,
                 "'%s' is pinned to memory '%s', and '%s' to '%s', but they are the same bytes", by[i],
                 p->mem[it->mem].name, t->name, p->mem[m].name);
        return ac_help(&job->cx, "--inplace off and --views off give every tensor bytes of its own");
    }
    it->mem = m;
    if (pin->offset < 0) {
        by[i] = by[i] ? by[i] : t->name;
        return AC_OK;
    }
    if (by[i] && it->fixed >= 0 && it->fixed != at)
        return ac_error(&job->cx, NOWHERE, E0503,
                        "'%s' is pinned to another offset than '%s', but they are the same bytes", t->name, by[i]);
    if (at < 0 || at % it->align)
        return ac_error(&job->cx, NOWHERE, E0503,
                        "'%s' cannot lie at offset %lld: its bytes begin %lld before, and %lld is no multiple of "
                        "the alignment %lld",
                        t->name, (long long)pin->offset, (long long)delta, (long long)at, (long long)it->align);
    if (p->mem[m].capacity >= 0 && at + it->size > p->mem[m].capacity)
        return ac_error(&job->cx, NOWHERE, E0503, "'%s' is pinned to bytes %s to %s of memory '%s', which has %s",
                        t->name, ac_commas(&job->cx, at), ac_commas(&job->cx, at + it->size), p->mem[m].name,
                        ac_commas(&job->cx, p->mem[m].capacity));
    it->fixed = at;
    by[i] = t->name;
    return AC_OK;
}

/* Two pinned tensors that take the same bytes while both are alive, with no rule that lets them. */
static int check_clashes(arenac_job *job, const char *const *by)
{
    const ac_problem *p = &job->live->problem;
    for (int32_t a = 0; a < p->n; a++)
        for (int32_t b = 0; b < a && by[a]; b++) {
            const ac_item *x = &p->item[a], *y = &p->item[b];
            bool ruled = false;
            for (int32_t k = 0; k < p->n_pairs; k++)
                ruled |= (p->pair[k].a == a && p->pair[k].b == b) || (p->pair[k].a == b && p->pair[k].b == a);
            if (!by[b] || ruled || x->fixed < 0 || y->fixed < 0 || x->mem != y->mem ||
                !ac_life_overlap(x->life, y->life) || x->fixed >= y->fixed + y->size || y->fixed >= x->fixed + x->size)
                continue;
            ac_error(&job->cx, NOWHERE, E0503,
                     "'%s' and '%s' are pinned to the same bytes of memory '%s' while both are alive", by[b], by[a],
                     p->mem[x->mem].name);
            ac_detail(&job->cx, "'%s' bytes [%lld, %lld), steps %d to %d", by[b], (long long)y->fixed,
                      (long long)(y->fixed + y->size), y->life.begin, y->life.end - 1);
            return ac_detail(&job->cx, "'%s' bytes [%lld, %lld), steps %d to %d", by[a], (long long)x->fixed,
                             (long long)(x->fixed + x->size), x->life.begin, x->life.end - 1);
        }
    return AC_OK;
}

int ac_job_pin(arenac_job *job)
{
    const ac_options *o = &job->opt;
    ac_problem *p = &job->live->problem;
    const char **by = AC_NEW_N(job->cx.region, const char *, p->n + 1); /* by item: the tensor whose pin it has */
    int32_t m = 0;
    if (o->budget_memory)
        AC_TRY(find_memory(job, o->budget_memory, &m));
    if (m &&
        (p->mem[m].capacity < 0 || p->mem[m].capacity > o->budget)) /* of the first it is the report that says so */
        p->mem[m].capacity = o->budget;
    for (int32_t k = 0; k < o->n_pins; k++)
        AC_TRY(pin(job, &o->pin[k], by));
    return o->n_pins ? check_clashes(job, by) : AC_OK;
}
