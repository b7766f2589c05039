/* verify.c - audit a plan in CSV form, also one made by another tool. With a second file, that file's lives, sizes and
 * alignments are the truth, and the first one's offsets are looked up by id (or by row when it has the same number of rows). */
#include "cli/cli.h"

#include "base/json_out.h"

#include <string.h>

typedef struct verify_arg {
    ac_cli *cli;
} verify_arg;

static int read_problem(arenac_job *job, const char *path, ac_problem *p)
{
    ac_file f = {0};
    AC_TRY(ac_file_open(&job->cx, path, &f));
    char *text = ac_copy(job->cx.region, f.data, f.n);
    size_t n = f.n;
    ac_file_close(&f);
    return ac_problem_read_csv(&job->cx, path, text, n, false, p);
}

static int verify_stage(arenac_job *job, void *arg)
{
    ac_cli *cli = ((verify_arg *)arg)->cli;
    ac_ctx *cx = &job->cx;
    ac_problem plan = {0}, truth = {0};
    job->path = cli->file[0];
    AC_TRY(read_problem(job, cli->file[0], &plan));
    truth = plan;
    if (cli->n_files == 2)
        AC_TRY(read_problem(job, cli->file[1], &truth));
    ac_plan p = {.offset = AC_NEW_N(cx->region, ac_bytes, truth.n + 1),
                 .mem = AC_NEW_N(cx->region, int32_t, truth.n + 1),
                 .mem_bytes = AC_NEW_N(cx->region, ac_bytes, truth.n_mems + 1),
                 .strategy = "given"};
    for (int32_t i = 0; i < truth.n; i++) {
        int32_t at = -1;
        if (truth.n == plan.n && !strcmp(plan.item[i].name, truth.item[i].name))
            at = i;
        for (int32_t k = 0; at < 0 && k < plan.n; k++)
            if (!strcmp(plan.item[k].name, truth.item[i].name))
                at = k;
        if (at < 0 || plan.item[at].fixed < 0) {
            ac_error(cx, (ac_place){.file = cli->file[0]}, E0701, "'%s' has no offset", truth.item[i].name);
            if (at >= 0)
                ac_help(cx, "the plan needs a column 'offset' with a value of 0 or more in every row");
            continue;
        }
        p.offset[i] = plan.item[at].fixed;
        if (cli->n_files == 2)
            truth.item[i].fixed = -1;
        if (p.offset[i] + truth.item[i].size > p.arena_bytes)
            p.arena_bytes = p.offset[i] + truth.item[i].size;
    }
    p.mem_bytes[0] = p.arena_bytes;
    if (cx->diags.errors)
        return AC_FAIL;
    AC_TRY(ac_plan_check(cx, cli->file[0], &truth, &p));
    ac_bound b = ac_problem_bound(&truth, cx->region);
    ac_sink s;
    ac_sink_open(&s, cx);
    if (cli->json) {
        ac_json j = ac_json_open(&s);
        ac_json_obj(&j, NULL);
        ac_json_str(&j, "schema", "arenac-verify/1");
        ac_json_bool(&j, "safe", true);
        ac_json_int(&j, "items", truth.n);
        ac_json_int(&j, "arena_bytes", p.arena_bytes);
        ac_json_int(&j, "live_bytes_bound", b.live);
        ac_json_int(&j, "lower_bound_bytes", b.aligned);
        ac_json_end(&j);
    } else {
        ac_putf(&s, "%s: safe; %d items, arena %s B, lower bound %s B", cli->file[0], truth.n,
                ac_commas(cx, p.arena_bytes), ac_commas(cx, b.aligned));
        ac_put(&s, p.arena_bytes == b.aligned ? ": optimal\n" : "\n");
    }
    fwrite(s.text, 1, s.n, stdout);
    return AC_OK;
}

int ac_cli_verify(ac_cli *cli)
{
    if (cli->n_files < 1 || cli->n_files > 2) {
        fputs("arenac: error[E0501]: verify takes a plan, and optionally the problem it solves\n", stderr);
        return AC_EXIT_USAGE;
    }
    arenac_job *job = arenac_open(&cli->opt);
    if (!job)
        return AC_EXIT_INTERNAL;
    verify_arg a = {cli};
    ac_job_guard(job, verify_stage, &a);
    return ac_cli_finish(cli, job);
}
