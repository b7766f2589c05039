/* show.c - what is in a model: its operators as a table, its text form, the loops of one node. */
#include "cli/offline.h"

#include "codegen/code_size.h"

#include <stdlib.h>
#include <string.h>

static void operands(ac_sink *s, ac_ctx *cx, ac_tensor *const *list, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        const ac_tensor *t = list[i];
        if (!t)
            ac_putf(s, "%s_", i ? ", " : "");
        else
            ac_putf(s, "%s%s%s %s", i ? ", " : "", ac_tensor_is_const(t) ? "const " : "", t->name,
                    ac_tensor_str(cx, t));
    }
}

static void table(ac_sink *s, ac_ctx *cx, const ac_graph *g)
{
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *n = g->node.item[i];
        ac_putf(s, "%4d  %-24s %s\n      in   ", n->id, ac_ops[n->op].text, n->name);
        operands(s, cx, n->in, n->n_in);
        ac_put(s, "\n      out  ");
        operands(s, cx, n->out, n->n_out);
        ac_putc(s, '\n');
        for (int32_t k = 0; k < n->n_fused; k++)
            ac_putf(s, "      +    %s %s\n", ac_ops[n->fused[k]->op].text, n->fused[k]->name);
    }
    ac_put(s, "inputs   ");
    operands(s, cx, g->input.item, g->input.n);
    ac_put(s, "\noutputs  ");
    operands(s, cx, g->output.item, g->output.n);
    ac_putc(s, '\n');
}

/* The choices that led to the loops, as comments of their text form. */
static void put_schedule(ac_sink *s, arenac_job *job, const ac_lowered *low)
{
    const ac_schedule *c = &low->schedule;
    ac_putf(s, "# step of %s multiply-adds, %s B of scratch", ac_commas(&job->cx, low->macs),
            ac_commas(&job->cx, low->scratch));
    if (low->parts)
        ac_putf(s, ", %d parts", low->parts);
    if (c->winograd)
        ac_putf(s, "\n# winograd F(%dx%d,3x3)", c->winograd, c->winograd);
    if (c->tensor)
        ac_putf(s, "\n# tensor cores: %s", c->tensor == AC_F32 ? "tf32" : ac_dtype_name((ac_dtype)c->tensor));
    if (c->rows)
        ac_putf(s, "\n# register tile: %d rows by %d vector%s of channels", c->rows, c->vecs, c->vecs == 1 ? "" : "s");
    if (c->cost > 0)
        ac_putf(s, "\n# estimated cycles: %s", ac_commas(&job->cx, (int64_t)(c->cost + 0.5)));
    ac_putf(s, "\n# estimated code: %s B\n", ac_commas(&job->cx, ac_code_bytes(low->fn, job->target)));
}

static int show_loops(arenac_job *job, const char *which)
{
    bool found = false;
    char *end;
    long number = strtol(which, &end, 10);
    for (int32_t i = 0; i < job->n_steps; i++) {
        if (*end ? strcmp(job->step[i]->node->name, which) != 0 : number != i)
            continue;
        ac_sink s;
        ac_sink_open(&s, &job->cx);
        put_schedule(&s, job, job->step[i]);
        ac_loop_dump(&s, job->step[i]->fn);
        fwrite(s.text, 1, s.n, stdout);
        found = true;
    }
    if (found)
        return AC_OK;
    const char **names = AC_NEW_N(job->cx.region, const char *, job->n_steps + 1);
    for (int32_t i = 0; i < job->n_steps; i++)
        names[i] = job->step[i]->node->name;
    ac_error(&job->cx, (ac_place){.file = job->path}, E0501, "no step is named '%s' (there are %d steps)", which,
             job->n_steps);
    const char *near = ac_closest(which, names, job->n_steps);
    return near ? ac_help(&job->cx, "did you mean '%s'?", near) : AC_FAIL;
}

static int show_stage(arenac_job *job, void *arg)
{
    ac_cli *cli = arg;
    if (cli->loops)
        return show_loops(job, cli->loops);
    ac_sink *s = AC_NEW(job->cx.region, ac_sink);
    ac_sink_open(s, &job->cx);
    if (cli->emit && !strcmp(cli->emit, "ag"))
        ac_graph_write_text(s, job->graph, ac_job_channels_first(job));
    else if (cli->emit && !strcmp(cli->emit, "loops"))
        for (int32_t i = 0; i < job->n_steps; i++)
            ac_loop_dump(s, job->step[i]->fn);
    else if (cli->emit && !strcmp(cli->emit, "dot"))
        ac_report_dot(s, &job->report);
    else if (cli->emit)
        return ac_error(&job->cx, (ac_place){0}, E0502, "show cannot --emit %s; available: ag, loops, dot", cli->emit);
    else if (job->model.listing && !cli->verbose)
        ac_put(s, job->model.listing);
    else
        table(s, &job->cx, job->graph);
    ac_job_add_output(job, s, cli->output ? cli->output : "-");
    return ac_sink_commit_all(&job->cx, job->output.item, job->output.n);
}

int ac_cli_show(ac_cli *cli)
{
    int status;
    if (!cli->emit && !cli->loops && !cli->quiet)
        ac_cli_offline_show(cli); /* also of models that arenac cannot compile */
    arenac_job *job = ac_cli_open(cli, &status);
    if (!job)
        return status;
    /* The table and the text form show the model as it is in the file; loops and the DOT picture need the passes. */
    bool lowered = cli->loops || (cli->emit && strcmp(cli->emit, "ag")) || cli->opt.stop_after;
    if (!lowered || (cli->emit && !strcmp(cli->emit, "dot") ? arenac_plan(job) : arenac_check(job)) == 0)
        ac_job_guard(job, show_stage, cli);
    return ac_cli_finish(cli, job);
}
