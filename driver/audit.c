/* audit.c - what independent checkers say: the verbs verify and prove. verify takes a plan in CSV form, also one that
 * another tool made. With a second file, that file's lives, sizes and alignments are the truth, and the first one's
 * offsets are looked up by id (or by row when it has the same number of rows). */
#include "driver/verbs.h"

#include "base/json_out.h"
#include "prove/prove.h"

#include <string.h>

static int read_problem(arenac *a, const char *path, ac_problem *p)
{
    ac_file f = {0};
    AC_TRY(ac_file_open(&a->cx, path, &f));
    ac_file_count(&a->cx, &f);
    const int status = ac_problem_read_csv(&a->cx, path, (const char *)f.data, f.n, false, p);
    ac_file_close(&f);
    return status;
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

/* Offsets of the truth's items, from the plan's rows. */
static int put_offsets(arenac *a, const ac_problem *plan, ac_problem *truth, bool apart, const char *file, ac_plan *p)
{
    for (int32_t i = 0; i < truth->n; i++) {
        const int32_t at = row_of(plan, truth, i);
        if (at < 0 || plan->item[at].fixed < 0) {
            ac_error(&a->cx, (ac_place){.file = file}, E0701, "'%s' has no offset", truth->item[i].name);
            if (at >= 0)
                ac_help(&a->cx, "the plan needs a column 'offset' with a value of 0 or more in every row");
            continue;
        }
        p->offset[i] = plan->item[at].fixed;
        if (apart)
            truth->item[i].fixed = -1;
        if (p->offset[i] + truth->item[i].size > p->arena_bytes)
            p->arena_bytes = p->offset[i] + truth->item[i].size;
    }
    p->mem_bytes[0] = p->arena_bytes;
    return a->cx.diags.errors ? AC_FAIL : AC_OK;
}

static void put_json(ac_sink *to, const ac_problem *truth, const ac_plan *p, ac_bound b)
{
    ac_json j = ac_json_open(to);
    ac_json_obj(&j, NULL);
    ac_json_str(&j, "schema", "arenac-verify/1");
    ac_json_bool(&j, "safe", true);
    ac_json_int(&j, "items", truth->n);
    ac_json_int(&j, "arena_bytes", p->arena_bytes);
    ac_json_int(&j, "live_bytes_bound", b.live);
    ac_json_int(&j, "lower_bound_bytes", b.aligned);
    ac_json_end(&j);
}

int ac_audit(arenac *a, const char *const *path, int32_t n)
{
    ac_region *r = a->cx.region;
    ac_problem plan = {0}, truth;
    if (n < 1 || n > 2)
        return ac_error(&a->cx, (ac_place){.file = "arenac"}, E0501,
                        "verify takes a plan, and optionally the problem it solves");
    a->source.path = ac_strdup(r, path[0]);
    AC_TRY(read_problem(a, path[0], &plan));
    truth = plan;
    if (n == 2)
        AC_TRY(read_problem(a, path[1], &truth));
    ac_plan p = {.offset = AC_NEW_N(r, ac_bytes, truth.n + 1),
                 .mem = AC_NEW_N(r, int32_t, truth.n + 1),
                 .mem_bytes = AC_NEW_N(r, ac_bytes, truth.n_mems + 1),
                 .strategy = "given"};
    AC_TRY(put_offsets(a, &plan, &truth, n == 2, path[0], &p));
    AC_TRY(ac_plan_check(&a->cx, path[0], &truth, &p));
    const ac_bound b = ac_problem_bound(&truth, r);
    ac_sink *to = ac_output_new(a, "-");
    if (a->opt.json)
        put_json(to, &truth, &p, b);
    else
        ac_putf(to, "%s: safe; %d items, arena %s B, lower bound %s B%s\n", path[0], truth.n,
                ac_commas(&a->cx, p.arena_bytes), ac_commas(&a->cx, b.aligned),
                p.arena_bytes == b.aligned ? ": optimal" : "");
    return AC_OK;
}

/* ------------------------------------------------------------------ prove */

static int judge(arenac *a, const ac_verdict *v)
{
    const ac_place at = {.file = a->source.path};
    const int32_t open = v->doubt.n - v->wrong;
    if (open)
        ac_error(&a->cx, at, E0703, "%d claims about the code are not proven", open);
    if (v->wrong) /* last, since the exit status is that of the last */
        ac_error(&a->cx, at, E0702, "%d claims about the code are wrong", v->wrong);
    return v->doubt.n ? AC_FAIL : AC_OK;
}

int ac_prove_code(arenac *a)
{
    ac_verdict v;
    AC_TRY(ac_prove(&a->cx, a->module, &v));
    if (v.doubt.n) {
        ac_sink *to = ac_output_new(a, "-");
        ac_verdict_put(to, a->module, &v, false);
    }
    return judge(a, &v);
}

int ac_prove_verb(arenac *a, const char *const *path, int32_t n)
{
    ac_verdict v;
    AC_TRY(ac_read(a, path, n));
    AC_TRY(ac_compile(a));
    AC_TRY(ac_prove(&a->cx, a->module, &v));
    if (a->opt.output)
        AC_TRY(ac_code_certificate(ac_output_new(a, a->opt.output), a->module, &v));
    if (ac_is(a->opt.output, "-"))
        return judge(a, &v);
    ac_sink *to = ac_output_new(a, "-");
    if (a->opt.json)
        ac_verdict_json(to, a->module, &v);
    else
        ac_verdict_put(to, a->module, &v, a->opt.verbose > 0);
    return judge(a, &v);
}
