/* python.c - the verb python: NAME.py and libNAME.so of a model. The module is runtime/arn_module.py with the model's
 * names and types filled in; the library is the generated C with the host API, the runtime and the weights. */
#include "cli/cli.h"
#include "cli/host.h"
#include "cli/rt_files.h"

#include <string.h>
#include <unistd.h>

static void put_str(ac_sink *to, const char *s)
{
    bool ascii = true;
    for (const char *p = s; *p; p++)
        ascii = ascii && (unsigned char)*p < 0x80;
    ac_put(to, ascii ? "\"" : "b\"");
    for (const char *p = s; *p; p++) {
        const unsigned char c = (unsigned char)*p;
        if (c == '"' || c == '\\' || c < ' ' || c >= 0x7f)
            ac_putf(to, "\\x%02x", c);
        else
            ac_putc(to, *p);
    }
    ac_put(to, ascii ? "\"" : "\".decode(\"utf-8\", \"replace\")");
}

/* ("image", "i8", (1, 16, 16, 1), 0.00392156886, -128) */
static void put_io(ac_sink *to, const ac_io *io, int32_t n)
{
    ac_put(to, "[");
    for (int32_t i = 0; i < n; i++) {
        const ac_tensor *t = io[i].tensor;
        ac_put(to, i ? ",\n    (" : "\n    (");
        put_str(to, t->name);
        ac_putf(to, ", \"%s\", (", ac_dtype_name(t->dtype));
        for (int32_t d = 0; d < t->rank; d++)
            ac_putf(to, "%lld,%s", (long long)t->dim[d], d + 1 < t->rank ? " " : "");
        ac_put(to, "), ");
        if (t->quant && t->quant->n == 1)
            ac_putf(to, "%.9g, %d)", (double)t->quant->scale[0], t->quant->zero[0]);
        else
            ac_put(to, "None, None)");
    }
    ac_put(to, n ? "\n]" : "]");
}

/* The table of inputs and outputs in the docstring. */
static void put_table(ac_sink *to, ac_ctx *cx, const char *kind, const ac_io *io, int32_t n)
{
    for (int32_t i = 0; i < n; i++) {
        ac_putf(to, "%s %d: ", kind, i);
        for (const char *p = io[i].tensor->name; *p; p++)
            ac_putc(to, *p == '"' || *p == '\\' || (unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f ? '?' : *p);
        ac_putf(to, " %s\n", ac_tensor_str(cx, io[i].tensor));
    }
}

static void fill_in(ac_sink *to, ac_ctx *cx, const ac_module *m, const char *what, size_t n)
{
#define IS(word) (n == sizeof word - 1 && !memcmp(what, word, n))
    if (IS("NAME"))
        ac_put(to, m->name);
    else if (IS("VERSION"))
        ac_put(to, m->version);
    else if (IS("SOURCE"))
        for (const char *p = m->source; *p; p++)
            ac_putc(to, *p == '"' || *p == '\\' || (unsigned char)*p < ' ' || (unsigned char)*p >= 0x7f ? '?' : *p);
    else if (IS("INPUTS"))
        put_io(to, m->input, m->n_inputs);
    else if (IS("OUTPUTS"))
        put_io(to, m->output, m->n_outputs);
    else if (IS("IO")) {
        put_table(to, cx, "input", m->input, m->n_inputs);
        put_table(to, cx, "output", m->output, m->n_outputs);
    }
#undef IS
}

static const ac_rt_file *runtime_file(const char *name)
{
    for (int i = 0; i < ac_rt_count; i++)
        if (!strcmp(ac_rt_files[i].name, name))
            return &ac_rt_files[i];
    return NULL;
}

/* The template with every @WORD@ replaced. */
static ac_sink *module_text(arenac_job *job)
{
    const ac_rt_file *f = runtime_file("arn_module.py");
    const char *p = (const char *)f->data, *end = p + f->n;
    ac_sink *to = AC_NEW(job->cx.region, ac_sink);
    ac_sink_open(to, &job->cx);
    while (p < end) {
        const char *at = memchr(p, '@', (size_t)(end - p)), *close = NULL;
        if (at)
            for (close = at + 1; close < end && *close >= 'A' && *close <= 'Z';)
                close++;
        if (!at || close == end || *close != '@' || close == at + 1) { /* a decorator, or nothing more */
            const size_t n = at ? (size_t)(at + 1 - p) : (size_t)(end - p);
            ac_put_n(to, p, n);
            p += n;
            continue;
        }
        ac_put_n(to, p, (size_t)(at - p));
        fill_in(to, &job->cx, job->module, at + 1, (size_t)(close - at - 1));
        p = close + 1;
    }
    return to;
}

static int python_stage(arenac_job *job, void *arg)
{
    const ac_cli *cli = arg;
    ac_ctx *cx = &job->cx;
    const char *dir = ac_host_folder(cx), *more[8], *out = cli->output ? cli->output : ".", *name = job->module->name;
    if (!dir)
        return AC_FAIL;
    int32_t n = 0;
    ac_host_add_runtime(job, dir);
    static const char *const SOURCES[] = {"arn_host.c", "arn_rt.c", "arn_capsule.c"};
    for (size_t i = 0; i < sizeof SOURCES / sizeof *SOURCES; i++)
        more[n++] = ac_strf(cx->region, "%s/%s", dir, SOURCES[i]);
    more[n++] = ac_strf(cx->region, "-I%s", dir);
    more[n++] = ac_strf(cx->region, "-Wa,-I%s", dir); /* where .incbin finds the weights */
    int status = ac_host_compile(job, dir, more, n);
    ac_file so = {0};
    if (status == AC_OK)
        status = ac_file_open(cx, ac_strf(cx->region, "%s/m.so", dir), &so);
    if (status == AC_OK) {
        ac_sink *lib = AC_NEW(cx->region, ac_sink);
        ac_sink_open(lib, cx);
        ac_put_n(lib, so.data, so.n);
        ac_file_close(&so);
        ac_job_add_output(job, lib, ac_strf(cx->region, "%s/lib%s.so", out, name));
        ac_job_add_output(job, module_text(job), ac_strf(cx->region, "%s/%s.py", out, name));
        status = arenac_commit(job);
    }
    ac_host_folder_remove(cx, dir);
    return status;
}

int ac_cli_python(ac_cli *cli)
{
    int status;
    if (!cli->target_given)
        cli->opt.target = "native";
    cli->opt.caller_io = true;
    cli->opt.weights = "asm";
    arenac_job *job = ac_cli_open(cli, &status);
    if (!job)
        return status;
    if (arenac_compile(job) == 0 && ac_job_guard(job, python_stage, cli) == AC_OK && !cli->quiet)
        printf("%s/%s.py and lib%s.so: import %s; %s.run(...)\n", cli->output ? cli->output : ".", job->module->name,
               job->module->name, job->module->name, job->module->name);
    return ac_cli_finish(cli, job);
}
