/* test_pass.c - graph passes over the examples of tests/golden/passes, whose text before and after the runner there
 * compares: a second run changes nothing, and the numbers are those of the model as it is. And what options refuse. */
#include "base/file.h"
#include "import/import.h"
#include "ir/loop/eval/eval.h"
#include "ir/lower/lower.h"
#include "ir/lower/node/node.h"
#include "ir/pass/run/run.h"
#include "tests/unit/support/expect.h"

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST = 200 };
typedef struct example {
    char path[512]; /* of the .ag */
    const char *text;
    size_t n;
    ac_pass_options options; /* as the line "# arenac: ..." has them */
    ac_pin pin;              /* name NULL: none */
} example;

static ac_graph *read_it(ac_ctx *cx, const char *text, size_t n, ac_text_head *head)
{
    ac_graph *g = NULL;
    if (ac_graph_read_text(cx, "t.ag", text, n, head, &g) != AC_OK) {
        ac_diags_print(&cx->diags, stderr, false);
        failures++;
    } else {
        g->promise = ac_lower_promise;
    }
    return g;
}

/* The options of the line that the example runner also reads. */
static void read_options(ac_ctx *cx, example *e, const char *line)
{
    char name[64], pass[64];
    long long value;
    const char *stop = strstr(line, "--stop-after ");
    e->options =
        (ac_pass_options){.views = true, .exact = strstr(line, "--exact"), .reference = strstr(line, "--reference")};
    e->options.quantized_io = strstr(line, "--quantized-io");
    e->options.declared = true;
    e->options.cuts = strstr(line, "--dead on") ? AC_NEW(cx->region, ac_cuts) : NULL;
    if (strstr(line, "--dim ") && sscanf(strstr(line, "--dim "), "--dim %63[^=]=%lld", name, &value) == 2)
        e->pin = (ac_pin){ac_strdup(cx->region, name), value};
    if (stop && sscanf(stop, "--stop-after %63s", pass) == 1)
        e->options.stop_after = ac_strdup(cx->region, pass);
}

static void read_example(ac_ctx *cx, example *e)
{
    static ac_file f;
    f = (ac_file){0};
    MUST(ac_file_open(cx, e->path, &f) == AC_OK);
    char *text = AC_NEW_N(cx->region, char, f.n + 1);
    memcpy(text, f.data, f.n);
    e->text = text;
    e->n = f.n;
    ac_file_close(&f);
    const char *line = strstr(text, "# arenac: ");
    MUST(line);
    read_options(cx, e, ac_strf(cx->region, "%.*s", (int)strcspn(line, "\n"), line));
}

/* The graph of an example after its passes; sets *o from the text. NULL: reported. */
static ac_graph *prepared(ac_ctx *cx, const example *e, ac_pass_options *o)
{
    ac_passes run;
    ac_text_head head;
    ac_imported m = {.graph = read_it(cx, e->text, e->n, &head)};
    if (!m.graph || ac_import_nodes(cx, &m, &e->pin, e->pin.name != NULL) != AC_OK)
        return NULL;
    o->channels_first = head.channels_first;
    return ac_pass_run(&run, cx, m.graph, o) == AC_OK ? m.graph : NULL;
}

/* Run again on its own result, a pass finds nothing to do. */
static void twice(ac_ctx *cx, example *e)
{
    ac_passes run;
    ac_pass_options again = e->options;
    ac_graph *g = prepared(cx, e, &again);
    MUST(g);
    again.channels_first = false;
    CHECK(ac_pass_run(&run, cx, g, &again) == AC_OK);
    for (int32_t i = 0; i < run.n_time; i++)
        if (run.time[i].changed) {
            fprintf(stderr, "%s: %s changes %d things when run again\n", e->path, run.time[i].name,
                    run.time[i].changed);
            failures++;
        }
}

#define X4 "graph g {\n  input x: f32[4]\n"

/* ------------------------------------------------------------------ the same numbers before and after */

static const ac_target PLAIN = {.name = "test", .help = "", .features = "", .align = 16};

/* Where a tensor is while the graph runs: roots have memory of their own. */
static uint8_t *place(uint8_t **mem, const ac_tensor *t)
{
    return t->root ? mem[t->root->id] + t->view_offset : mem[t->id];
}

static void fill(const ac_tensor *t, uint8_t *p)
{
    uint32_t seed = (uint32_t)strlen(t->name) * 77u + 1;
    for (int64_t i = 0; i < ac_tensor_count(t); i++) {
        seed = seed * 1664525u + 1013904223u;
        float f = (float)(seed >> 20) / 512.0f - 4.0f;
        if (t->dtype == AC_F32)
            memcpy(p + 4 * i, &f, 4);
        else
            p[i] = (uint8_t)(seed >> 24);
    }
}

static bool run_node(ac_ctx *cx, const ac_node *n, uint8_t **mem)
{
    ac_lowered *w = ac_lower_node(cx, cx->region, n, &PLAIN, 0, true);
    void *data[64] = {0};
    int status = 0;
    for (int32_t i = 0; w && i < w->arg.n && i < 64; i++) {
        const ac_arg *a = &w->arg.item[i];
        union {
            const void *read;
            void *any;
        } konst = {a->kind == AC_ARG_CONST ? ac_const_data(cx, a->konst) : NULL};
        data[i] = a->kind == AC_ARG_TENSOR    ? place(mem, a->tensor)
                  : a->kind == AC_ARG_SCRATCH ? ac_alloc(cx->region, (size_t)a->bytes + 1)
                                              : konst.any;
    }
    return w && w->arg.n <= 64 && ac_eval(cx, w->fn, data, w->arg.n, &status) == AC_OK && status == 0;
}

/* All outputs, one after the other; NULL (and a failure) when something goes wrong. */
static uint8_t *results(ac_ctx *cx, ac_graph *g, int64_t *n)
{
    uint8_t **mem = AC_NEW_N(cx->region, uint8_t *, g->tensor.n + 1);
    for (int32_t i = 0; i < g->tensor.n; i++)
        mem[i] = ac_alloc(cx->region, (size_t)ac_tensor_bytes(g->tensor.item[i]) + 1);
    for (int32_t i = 0; i < g->input.n; i++)
        fill(g->input.item[i], mem[g->input.item[i]->id]);
    for (int32_t i = 0; i < g->node.n; i++)
        if (!g->node.item[i]->view && !run_node(cx, g->node.item[i], mem))
            return NULL;
    *n = 0;
    for (int32_t i = 0; i < g->output.n; i++)
        *n += ac_tensor_bytes(g->output.item[i]);
    uint8_t *all = ac_alloc(cx->region, (size_t)*n + 1), *at = all;
    for (int32_t i = 0; i < g->output.n; i++) {
        ac_tensor *t = g->output.item[i];
        size_t bytes = (size_t)ac_tensor_bytes(t);
        memcpy(at, ac_tensor_is_const(t) ? ac_tensor_force(cx, t) : place(mem, t), bytes);
        at += bytes;
    }
    return all;
}

/* The model as it is against all passes, bit for bit: with --exact, and without the passes that may round differently
 * by their rows in passes.def. */
static void same_numbers(ac_ctx *cx, const example *e)
{
    const char *skip[AC_N_PASSES];
    ac_pass_options as_is = {.reference = true, .declared = true}, full = as_is;
    full.reference = false;
    full.exact = full.views = true;
    full.cuts = AC_NEW(cx->region, ac_cuts);
    ac_pass_options plain = full;
    plain.exact = false;
    plain.products = AC_NEW(cx->region, ac_products);
    plain.least_taps = 1;
    plain.skip = skip;
    for (int32_t i = 0; i < AC_N_PASSES; i++)
        if (ac_pass_changes((ac_pass_id)i) & AC_CHANGES_ROUNDING)
            skip[plain.n_skip++] = ac_pass_name(i);
    ac_graph *g = prepared(cx, e, &as_is), *h = prepared(cx, e, &full), *k = prepared(cx, e, &plain);
    MUST(g && h && k);
    int64_t n = 0, m = 0, o = 0;
    const uint8_t *a = results(cx, g, &n), *b = results(cx, h, &m), *c = results(cx, k, &o);
    now = e->path;
    CHECK(a && b && n == m && !memcmp(a, b, (size_t)n));
    CHECK(a && c && n == o && !memcmp(a, c, (size_t)n));
    now = "";
}

/* Weights that stay packed against the same ones made into floats: sums have another order, and no more. */
static void packed_numbers(ac_ctx *cx, const example *e)
{
    const char *skip[] = {"pack"};
    ac_pass_options packed = {.views = true, .declared = true}, floats = packed;
    floats.skip = skip;
    floats.n_skip = 1;
    ac_graph *g = prepared(cx, e, &packed), *h = prepared(cx, e, &floats);
    MUST(g && h && g->node.item[0]->op == AC_OP_BLOCKWISE_DENSE && h->node.item[0]->op != AC_OP_BLOCKWISE_DENSE);
    int64_t n = 0, m = 0;
    union {
        const uint8_t *bytes;
        const float *f;
    } a = {results(cx, g, &n)}, b = {results(cx, h, &m)};
    now = e->path;
    CHECK(a.bytes && b.bytes && n == m);
    float largest = 0, off = 0;
    for (int64_t i = 0; a.bytes && b.bytes && i < n / 4; i++) {
        largest = fmaxf(largest, fabsf(b.f[i]));
        off = fmaxf(off, fabsf(a.f[i] - b.f[i]));
    }
    CHECK(largest > 1 && off < 1e-5f * largest);
    now = "";
}

static const char TINY[] = X4 " y = relu(x)\n output y\n}";
static const char WRONG[] =
    X4 " const k: f32[3] = [1, 2, 3]\n a = add(x, k)\n b = relu(a)\n c = add(k, x)\n output b, c\n}";

static void options(ac_ctx *cx)
{
    static const char *const BAD[] = {"epilog"}, *const NEEDED[] = {"infer"}, *const DUMP[] = {"infer", "dead"};
    ac_passes run;
    ac_graph *g = read_it(cx, TINY, strlen(TINY), NULL);
    ac_pass_options o = {.skip = BAD, .n_skip = 1};
    CHECK(ac_pass_run(&run, cx, g, &o) == AC_FAIL && cx->diags.last->code == E0501);
    CHECK(cx->diags.last->line && !strcmp(cx->diags.last->line->text, "did you mean 'epilogue'?"));
    o.skip = NEEDED;
    CHECK(ac_pass_run(&run, cx, g, &o) == AC_FAIL);
    ac_sink out;
    ac_sink_open(&out, cx);
    o = (ac_pass_options){.dump_after = DUMP, .n_dump = 2, .stop_after = "simplify", .dump = &out};
    CHECK(ac_pass_run(&run, cx, g, &o) == AC_OK && run.n_time == 5 && !strcmp(run.time[4].name, "simplify"));
    CHECK(!strcmp(ac_sink_text(&out), "# after infer\n" X4 "  y: f32[4] = relu(x)\n  output y\n}\n"));
}

static void all_errors(ac_ctx *cx)
{
    ac_graph *g = read_it(cx, WRONG, strlen(WRONG), NULL);
    ac_passes run;
    ac_pass_options o = {0};
    CHECK(ac_pass_run(&run, cx, g, &o) == AC_FAIL);
    CHECK(cx->diags.errors == 2); /* a and c; b is not blamed */
}

/* A promise fills the tensors that it was given for, so copies of a subgraph begin with the values. */
static void promises_in_subgraphs(ac_ctx *cx)
{
    static const char TEXT[] =
        "graph g {\n  input x: f32[2]\n  const c: bool[] = [1]\n  y = if(c, x) first=1 second=1\n"
        "  output y\n}\ngraph one {\n  input s: f32[2]\n  const k: f32[2] = [4, 9]\n"
        "  r = sqrt(k)\n  t = add(s, r)\n  output t\n}\n";
    ac_graph *g = read_it(cx, TEXT, strlen(TEXT), NULL);
    ac_passes run;
    ac_pass_options o = {0};
    ac_graph *sub = g->sub.item[0];
    CHECK(ac_graph_verify(g) == AC_OK);
    sub->node.item[0]->out[0]->dtype = AC_F32;
    sub->node.item[0]->out[0]->rank = 1;
    sub->node.item[0]->out[0]->dim[0] = 2;
    CHECK(ac_lower_promise(cx, sub->node.item[0]));
    ac_node_erase(sub->node.item[0]);
    ac_graph_sweep(sub);
    CHECK(ac_graph_verify(g) == AC_OK);
    MUST(ac_pass_run(&run, cx, g, &o) == AC_OK);
    const float *root = NULL;
    for (int32_t i = 0; i < g->tensor.n; i++)
        if (!g->tensor.item[i]->lazy && !strncmp(g->tensor.item[i]->name, "r", 1))
            root = g->tensor.item[i]->data;
    CHECK(root && root[0] == 2 && root[1] == 3);
}

static void all(ac_ctx *cx, example *e, int what)
{
    if (what == 0)
        options(cx);
    else if (what == 1)
        all_errors(cx);
    else if (what == 2)
        promises_in_subgraphs(cx);
    else {
        read_example(cx, e);
        twice(cx, e);
        same_numbers(cx, e);
        if (strstr(e->path, "/pack-") && !strstr(e->path, "/pack-not-"))
            packed_numbers(cx, e);
    }
}

int main(void)
{
    static const char folder[] = SOURCE_DIR "/tests/golden/passes";
    static ac_ctx cx; /* not locals: setjmp */
    static example examples[MOST];
    static int i, n;
    DIR *d = opendir(folder);
    MUST(d);
    for (struct dirent *f; (f = readdir(d)) && n < MOST;)
        if (strstr(f->d_name, ".ag"))
            snprintf(examples[n++].path, sizeof examples->path, "%s/%s", folder, f->d_name);
    closedir(d);
    CHECK(n > 40 && n < MOST);
    for (i = 0; i < n + 3; i++) {
        ac_ctx_open(&cx);
        if (OUT_OF_MEMORY(cx)) {
            fprintf(stderr, "out of memory in test %d\n", i);
            failures++;
        } else {
            ac_ctx_start(&cx);
            all(&cx, &examples[i < 3 ? 0 : i - 3], i);
        }
        ac_ctx_close(&cx);
    }
    return check_done();
}
