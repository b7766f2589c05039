/* audit.c - verdicts of independent checkers: the verbs verify and prove. verify takes a plan in CSV form, also one
 * that another tool made, or a lock. With a second file, that file's lives, sizes and alignments are the truth: another
 * CSV file, or a model, under the options. The first one's offsets are looked up by id (or by row when it has the same
 * number of rows). */
#include "driver/verb/verbs.h"

#include "base/json_out.h"
#include "base/shell.h"
#include "import/import.h"
#include "planner/report/lock.h"
#include "prove/prove.h"
#include "prove/strategies.h"

#include <string.h>

/* Offsets and memories by the names of owners; a lock has no sizes and no live ranges. */
static void problem_of_lock(ac_work *w, const ac_lock *lock, ac_problem *p)
{
    ac_region *r = w->cx.region;
    *p = (ac_problem){.item = AC_NEW_N(r, ac_item, lock->n + 1),
                      .n = lock->n,
                      .mem = AC_NEW_N(r, ac_memory, lock->n_mems + 1),
                      .n_mems = lock->n_mems};
    for (int32_t m = 0; m < lock->n_mems; m++)
        p->mem[m].name = lock->mem[m].name;
    for (int32_t i = 0; i < lock->n; i++) {
        p->item[i] = (ac_item){.name = lock->row[i].name, .fixed = lock->row[i].offset};
        while (p->item[i].mem < lock->n_mems && strcmp(lock->mem[p->item[i].mem].name, lock->row[i].mem) != 0)
            p->item[i].mem++;
    }
}

/* *locked: it is a lock. */
static int read_plan(ac_work *w, const char *path, ac_problem *p, bool *locked)
{
    ac_file f = {0};
    ac_lock *lock = NULL;
    AC_TRY(ac_file_open(&w->cx, path, &f));
    ac_file_count(&w->cx, &f);
    *locked = ac_lock_looks_like((const char *)f.data, f.n);
    const int status = *locked ? ac_lock_read(&w->cx, path, (const char *)f.data, f.n, &lock)
                               : ac_problem_read_csv(&w->cx, path, (const char *)f.data, f.n, false, p);
    const bool model = status != AC_OK && ac_import_recognises(&f);
    ac_file_close(&f);
    if (model)
        return ac_help(&w->cx, "this is a model; verify takes a plan first: arenac verify PLAN.lock %s, or PLAN.csv",
                       ac_shell_word(&w->cx, path));
    if (lock)
        problem_of_lock(w, lock, p);
    return status;
}

/* The problem of a CSV file, or of a model under the options. */
static int read_truth(ac_work *w, const char *path, bool locked, ac_problem *truth)
{
    AC_TRY(ac_open(w, &path, 1));
    AC_TRY(ac_read_any(w));
    if (w->made.intervals) {
        *truth = *w->made.intervals;
        for (int32_t i = 0; i < truth->n; i++)
            truth->item[i].fixed = -1; /* the other file has the offsets */
        return AC_OK;
    }
    AC_TRY(ac_plan_any(w));
    if (!w->made.planned)
        return ac_error(&w->cx, (ac_place){.file = path}, E0502, "verify supports models that arenac plans by itself");
    *truth = w->made.planned->live->problem;
    truth->item = ac_copy(w->cx.region, truth->item, (size_t)truth->n * sizeof *truth->item);
    return locked ? AC_OK : ac_csv_possible(&w->made);
}

/* The row of `plan` that is about item i; -1: none is. */
static int32_t row_of(const ac_problem *plan, const ac_problem *truth, int32_t i)
{
    const char *name = truth->item[i].name;
    if (truth->n == plan->n && !strcmp(plan->item[i].name, name))
        return i;
    for (int32_t k = 0; k < plan->n; k++)
        if (!strcmp(plan->item[k].name, name))
            return k;
    return -1;
}

/* The memory of row `at` of the plan, as an index into those of the truth; -1: the truth has none of that name. */
static int32_t memory_of(const ac_problem *plan, const ac_problem *truth, int32_t at)
{
    if (plan->item[at].mem < 0) /* CSV */
        return 0;
    for (int32_t m = 0; m < truth->n_mems && plan->item[at].mem < plan->n_mems; m++)
        if (!strcmp(truth->mem[m].name, plan->mem[plan->item[at].mem].name))
            return m;
    return -1;
}

static void grow(ac_bytes *bytes, ac_bytes end)
{
    *bytes = end > *bytes ? end : *bytes;
}

/* Offsets and memories of the truth's items, from the plan's rows. */
static int put_offsets(ac_work *w, const ac_problem *plan, ac_problem *truth, bool locked, const char *file, ac_plan *p)
{
    const ac_place at_file = {.file = file};
    for (int32_t i = 0; i < truth->n; i++) {
        const int32_t at = row_of(plan, truth, i);
        const char *name = truth->item[i].name;
        if (at < 0 && !locked && truth->item[i].mem > 0) { /* it is in no CSV file: as this plan has it */
            p->offset[i] = w->made.packed->plan->offset[i];
            p->mem[i] = truth->item[i].mem;
            grow(&p->mem_bytes[p->mem[i]], p->offset[i] + truth->item[i].size);
            continue;
        }
        if (at < 0 || plan->item[at].fixed < 0) {
            ac_error(&w->cx, at_file, E0701, "'%s' has no offset", name);
            if (at >= 0)
                ac_help(&w->cx, "the plan needs a column 'offset' with a value of 0 or more in every row");
            continue;
        }
        p->mem[i] = memory_of(plan, truth, at);
        if (p->mem[i] < 0) {
            ac_error(&w->cx, at_file, E0701, "'%s' is in a memory that the model does not have", name);
            continue;
        }
        p->offset[i] = plan->item[at].fixed;
        grow(&p->mem_bytes[p->mem[i]], p->offset[i] + truth->item[i].size);
    }
    p->arena_bytes = p->mem_bytes[0];
    return w->cx.diags.errors ? AC_FAIL : AC_OK;
}

/* "arena 16,000 B", or what each memory of tensors has: "a 490 B + b 16,000 B = 16,490 B". */
static const char *bytes_text(ac_ctx *cx, const ac_report *r)
{
    const char *text = NULL;
    if (!r->n_memories)
        return ac_strf(cx->region, "arena %s B", ac_commas(cx, r->plan->arena_bytes));
    for (int32_t k = 0; k < r->n_memories; k++) {
        const int32_t m = r->memory[k].mem;
        text = ac_strf(cx->region, "%s%s%s %s B", text ? text : "", text ? " + " : "", r->problem->mem[m].name,
                       ac_commas(cx, r->plan->mem_bytes[m]));
    }
    return r->n_memories > 1 ? ac_strf(cx->region, "%s = %s B", text, ac_commas(cx, ac_report_bytes(r))) : text;
}

static void put_json(ac_sink *to, const ac_report *r)
{
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-verify/1");
    ac_json_bool(&j, "safe", true);
    ac_json_int(&j, "items", r->problem->n);
    ac_json_int(&j, "arena_bytes", ac_report_bytes(r));
    ac_json_int(&j, "live_bytes_bound", r->live_bound);
    ac_json_int(&j, "lower_bound_bytes", ac_report_lower_bound(r));
    ac_json_end(&j);
}

int ac_audit(ac_work *w, const char *const *path, int32_t n)
{
    ac_region *r = w->cx.region;
    ac_problem plan = {0}, truth;
    bool locked = false;
    if (n < 1 || n > 2)
        return ac_error(&w->cx, (ac_place){.file = "arenac"}, E0501,
                        "verify takes a plan, and optionally the problem or the model that it is for");
    w->source.path = ac_strdup(r, path[0]);
    AC_TRY(read_plan(w, path[0], &plan, &locked));
    if (locked && n == 1) {
        ac_error(&w->cx, (ac_place){.file = path[0]}, E0501, "a lock file has no live ranges: pass the model as well");
        return ac_help(&w->cx, "arenac verify %s MODEL", path[0]);
    }
    truth = plan;
    if (n == 2)
        AC_TRY(read_truth(w, path[1], locked, &truth));
    ac_plan p = {.offset = AC_NEW_N(r, ac_bytes, truth.n + 1),
                 .mem = AC_NEW_N(r, int32_t, truth.n + 1),
                 .mem_bytes = AC_NEW_N(r, ac_bytes, truth.n_mems + 1),
                 .strategy = "given"};
    AC_TRY(put_offsets(w, &plan, &truth, locked, path[0], &p));
    AC_TRY(ac_plan_check(&w->cx, path[0], &truth, &p));
    const ac_bound b = ac_problem_bound(&truth, r);
    ac_report said = {.problem = &truth, .plan = &p, .live_bound = b.live, .aligned_bound = b.aligned};
    ac_report_memories(&w->cx, &said);
    const ac_bytes bound = ac_report_lower_bound(&said);
    ac_sink *to = ac_pending_add(&w->out, "-");
    if (w->opt.json)
        put_json(to, &said);
    else
        ac_putf(to, "%s: safe; %d items, %s, lower bound %s B%s\n", path[0], truth.n, bytes_text(&w->cx, &said),
                ac_commas(&w->cx, bound), ac_report_bytes(&said) == bound ? ": optimal" : "");
    return AC_OK;
}

/* ------------------------------------------------------------------ prove */

static int time_of_run(ac_work *w)
{
    ac_timed t;
    AC_TRY(ac_time_of_run(&w->made, &t));
    (w->opt.json ? ac_timed_json : ac_timed_text)(w->made.module, &t, ac_pending_add(&w->out, "-"));
    return AC_OK;
}

int ac_prove_verb(ac_work *w, const char *const *path, int32_t n)
{
    ac_verdict v;
    const bool *without;
    AC_TRY(ac_proof_without(&w->cx, w->opt.without.item, w->opt.without.n, &without));
    w->request.wants_inference = true;
    AC_TRY(ac_read(w, path, n));
    AC_TRY(ac_compile(w));
    if (w->opt.time)
        return time_of_run(w);
    AC_TRY(ac_prove(&w->cx, w->made.module, without, &v));
    const ac_module *steps = ac_module_steps(w->made.module);
    if (w->opt.output)
        AC_TRY(ac_code_certificate(ac_pending_add(&w->out, w->opt.output), steps, &v, NULL, 0));
    if (ac_is(w->opt.output, "-"))
        return ac_proof_judge(&w->made, &v);
    ac_sink *to = ac_pending_add(&w->out, "-");
    if (w->opt.json)
        ac_verdict_json(to, steps, &v);
    else
        ac_verdict_put(to, steps, &v, w->opt.verbose > 0);
    return ac_proof_judge(&w->made, &v);
}
