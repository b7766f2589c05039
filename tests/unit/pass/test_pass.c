/* test_pass.c - what each graph pass does, before and after, on small texts; and that a second run changes nothing. */
#include "ir/lower/lower.h"
#include "ir/pass/pass.h"
#include "tests/unit/support/expect.h"

#include <stdio.h>
#include <string.h>

typedef struct change {
    const char *only; /* passes that run, besides infer */
    const char *before;
    const char *after; /* the text that is written, or the code of the first error */
    ac_pin pin;        /* name NULL: none */
    bool exact, reference;
} change;

static ac_graph *read_it(ac_ctx *cx, const char *text)
{
    ac_graph *g = NULL;
    if (ac_graph_read_text(cx, "t.ag", text, strlen(text), &g) != AC_OK) {
        ac_diags_print(&cx->diags, stderr, false);
        failures++;
    }
    return g;
}

/* Every pass but infer and those in `only`. */
static int32_t skip_list(const char *only, const char **skip)
{
    int32_t n = 0;
    for (int32_t i = 1; i < ac_pass_count; i++)
        if (!strstr(only, ac_passes[i].name))
            skip[n++] = ac_passes[i].name;
    return n;
}

static const char *run(ac_ctx *cx, ac_graph *g, const change *c)
{
    const char *skip[32];
    const ac_pass_time *time;
    int32_t n_time;
    ac_pass_options o = {.views = true, .exact = c->exact, .reference = c->reference, .skip = skip};
    o.quantized_io = strstr(c->only, "io ") != NULL;
    o.n_skip = skip_list(c->only, skip);
    o.pin = &c->pin;
    o.n_pins = c->pin.name != NULL;
    if (ac_pass_run(cx, g, &o, &time, &n_time) != AC_OK) {
        const ac_diag *d = cx->diags.first;
        while (d && d->severity != AC_ERROR)
            d = d->next;
        return d ? ac_code_name(d->code) : "no diagnostic";
    }
    ac_sink out;
    ac_sink_open(&out, cx);
    ac_graph_write_text(&out, g);
    o.n_pins = 0;
    CHECK(ac_pass_run(cx, g, &o, &time, &n_time) == AC_OK);
    for (int32_t i = 0; i < n_time; i++)
        if (time[i].changed) {
            fprintf(stderr, "%s changed %d things when run again on\n%s\n", time[i].name, time[i].changed,
                    ac_sink_text(&out));
            failures++;
        }
    return ac_sink_text(&out);
}

static void check_change(ac_ctx *cx, const change *c)
{
    ac_graph *g = read_it(cx, c->before);
    const char *got = g ? run(cx, g, c) : "";
    if (strcmp(got, c->after) != 0) {
        fprintf(stderr, "%s: expected\n%s\ngot\n%s\n", c->only, c->after, got);
        ac_diags_print(&cx->diags, stderr, false);
        failures++;
    }
}

#define X4  "graph g {\n  input x: f32[4]\n"
#define IMG "graph g {\n  input x: f32[1,4,4,2]\n"
#define W2  "  const w: f32[2,1,1,2] = [1, 2, 3, 4]\n"

// clang-format off
static const change CHANGES[] = {
    /* infer: dimensions, results, paddings, values that shapes are computed from */
    {.only = "", .pin = {"n", 3}, .before = "graph g {\n input x: f32[n,2]\n y = relu(x)\n output y\n}",
     .after = "graph g {\n  input x: f32[n=3,2]\n  y: f32[3,2] = relu(x)\n  output y\n}\n"},
    {.only = "", .pin = {"x.0", 3}, .before = "graph g {\n input x: f32[?,2]\n y = relu(x)\n output y\n}",
     .after = "graph g {\n  input x: f32[3,2]\n  y: f32[3,2] = relu(x)\n  output y\n}\n"},
    {.only = "", .before = "graph g {\n input x: f32[n,2]\n y = relu(x)\n output y\n}", .after = "E0204"},
    {.only = "", .pin = {"m", 3}, .before = "graph g {\n input x: f32[n,2]\n y = relu(x)\n output y\n}", .after = "E0501"},
    {.only = "", .pin = {"n", 0}, .before = "graph g {\n input x: f32[n,2]\n y = relu(x)\n output y\n}", .after = "E0501"},
    {.only = "", .before = X4 " y: f32[5] = relu(x)\n output y\n}", .after = "E0104"},
    {.only = "", .before = "graph g {\n input x: f32[60000,60000]\n y = relu(x)\n output y\n}", .after = "E0015"},
    {.only = "", .before = IMG W2 " y = conv_2d(x, w) stride_h=3 padding=same\n output y\n}",
     .after = IMG W2 "  y: f32[1,2,4,2] = conv_2d(x, w) stride_h=3 padding=explicit\n  output y\n}\n"},
    {.only = "", .before = "graph g {\n input x: f32[2,6]\n const k: i32[2] = [3, 4]\n s = shape(x) out_type=i32\n m = mul(k, k)\n"
                           " p = reduce_prod(s) axes=[0]\n y = reshape(x, m) shape=[]\n output p\n}",
     .after = "E0104"},
    {.only = "dead", .before = "graph g {\n input x: f32[2,6]\n const k: i32[2] = [2, 1]\n s = shape(x) out_type=i32\n"
                           " m = mul(s, k)\n d = floor_div(m, s)\n c = maximum(m, d)\n h = minimum(c, s)\n y = reshape(x, h)\n output y\n}",
     .after = "graph g {\n  input x: f32[2,6]\n  const h: i32[2] = [2, 6]\n  y: f32[2,6] = reshape(x, h)\n  output y\n}\n"},

    /* io: conversions at the border go, but not where somebody else reads the float form, or where the border is one tensor */
    {.only = "io dead",
     .before = "graph g {\n input x: f32[4]\n q: i8[4] q(0.5, 3) = quantize(x)\n a: i8[4] q(0.5, 3) = relu(q)\n y: f32[4] = dequantize(a)\n"
               " output y\n}",
     .after = "graph g {\n  input q: i8[4] q(0.5, 3)\n  a: i8[4] q(0.5, 3) = relu(q)\n  output a\n}\n"},
    {.only = "io dead",
     .before = "graph g {\n input x: f32[4]\n q: i8[4] q(0.5, 3) = quantize(x)\n a: i8[4] q(0.5, 3) = relu(q)\n y: f32[4] = dequantize(a)\n"
               " z = add(x, y)\n output y, z\n}",
     .after = "graph g {\n  input x: f32[4]\n  q: i8[4] q(0.5, 3) = quantize(x)\n  a: i8[4] q(0.5, 3) = relu(q)\n  y: f32[4] = dequantize(a)\n"
              "  z: f32[4] = add(x, y)\n  output y, z\n}\n"},
    {.only = "io dead",
     .before = "graph g {\n input x: f32[4]\n q: i8[4] q(0.5, 3) = quantize(x)\n y: f32[4] = dequantize(q)\n output y\n}",
     .after = "graph g {\n  input q: i8[4] q(0.5, 3)\n  y: f32[4] = dequantize(q)\n  output y\n}\n"},

    /* simplify */
    {.only = "simplify dead",
     .before = "graph g {\n input x: i8[4] q(0.5, 3)\n d: f32[4] = dequantize(x)\n q: i8[4] q(0.5, 3) = quantize(d)\n"
               " y: i8[4] q(0.5, 3) = abs(q)\n output y\n}",
     .after = "graph g {\n  input x: i8[4] q(0.5, 3)\n  y: i8[4] q(0.5, 3) = abs(x)\n  output y\n}\n"},
    {.only = "simplify dead",
     .before = "graph g {\n input x: f32[2,1,3]\n a = transpose(x) perm=[1,0,2]\n b = reshape(a) shape=[3,2]\n c = transpose(b) perm=[1,0]\n"
               " d = transpose(c) perm=[1,0]\n e = slice(d) begin=[0,0] size=[-1,2]\n f = cast(e) to=f32\n y = relu(f)\n output y\n}",
     .after = "graph g {\n  input x: f32[2,1,3]\n  b: f32[3,2] = reshape(x) shape=[3,2]\n  y: f32[3,2] = relu(b)\n  output y\n}\n"},
    /* an output keeps its name; an output made of an input stays a copy */
    {.only = "simplify dead", .before = X4 " a = relu(x)\n y = reshape(a) shape=[4]\n z = reshape(x) shape=[4]\n b = abs(a)\n output y, z, b\n}",
     .after = X4 "  y: f32[4] = relu(x) \"a\"\n  z: f32[4] = reshape(x) shape=[4]\n  b: f32[4] = abs(y)\n  output y, z, b\n}\n"},
    {.only = "simplify dead", .before = X4 " a = concatenation(x)\n b = split(a)\n c = pad(b) pads=[0,0]\n y = relu(c)\n output y\n}",
     .after = X4 "  y: f32[4] = relu(x)\n  output y\n}\n"},

    /* pad */
    {.only = "pad dead",
     .before = IMG W2 " p = pad(x) pads=[0,0,1,0,0,2,0,0]\n y = conv_2d(p, w) padding=same\n output y\n}",
     .after = IMG W2 "  y: f32[1,5,6,2] = conv_2d(x, w) padding=explicit pad_t=1 pad_r=2\n  output y\n}\n"},
    {.only = "pad dead", .before = IMG " p = pad(x) pads=[0,0,1,0,0,2,0,0]\n y = max_pool_2d(p)\n output y\n}",
     .after = IMG "  p: f32[1,5,6,2] = pad(x) pads=[0,0,1,0,0,2,0,0]\n  y: f32[1,5,6,2] = max_pool_2d(p) padding=explicit\n  output y\n}\n"},
    {.only = "pad dead",
     .before = IMG W2 " const v: f32[] = [1]\n const n: i32[4,2] = [0,0,1,1,0,0,0,0]\n p = padv2(x, n, v)\n y = conv_2d(p, w)\n output y\n}",
     .after = IMG W2 "  const v: f32[] = [1]\n  const n: i32[4,2] = [0, 0, 1, 1, 0, 0, 0, 0]\n  p: f32[1,6,4,2] = padv2(x, n, v)\n"
              "  y: f32[1,6,4,2] = conv_2d(p, w) padding=explicit\n  output y\n}\n"},

    /* fold */
    {.only = "fold dead",
     .before = "graph g {\n input x: f32[2]\n const h: f16[2] = [0.5, 2]\n w = dequantize(h)\n r = reshape(w) shape=[1,2]\n s = mul(r, r)\n"
               " y = add(x, s)\n output y\n}",
     .after = "graph g {\n  input x: f32[2]\n  const s: f32[1,2] = [0.25, 4]\n  y: f32[1,2] = add(x, s)\n  output y\n}\n"},
    {.only = "fold dead",
     .before = "graph g {\n const s: f32[1000,1000] = splat 3\n t = transpose(s)\n y = slice(t) begin=[5,5] size=[1,2]\n output y\n}",
     .after = "graph g {\n  const y: f32[1,2] = splat 3\n  output y\n}\n"},

    /* norm */
    {.only = "norm dead",
     .before = IMG W2 " const b: f32[2] = [1, -1]\n const m: f32[2] = [2, 10]\n const a: f32[1,1,1,2] = [0.5, 1]\n"
               " t = conv_2d(x, w, b)\n u = mul(m, t)\n y = add(u, a) act=relu\n output y\n}",
     .after = IMG "  const w_n: f32[2,1,1,2] = [2, 4, 30, 40]\n  const b_n_n: f32[2] = [2.5, -9]\n"
              "  y: f32[1,4,4,2] = conv_2d(x, w_n, b_n_n) padding=explicit act=relu \"t\"\n  output y\n}\n"},
    {.only = "norm dead", .before = IMG W2 " const a: f32[] = [0.5]\n t = conv_2d(x, w)\n y = sub(t, a)\n output y\n}",
     .after = IMG W2 "  const t_bias_n: f32[2] = [-0.5, -0.5]\n  y: f32[1,4,4,2] = conv_2d(x, w, t_bias_n) padding=explicit \"t\"\n  output y\n}\n"},
    {.only = "norm dead", .exact = true, .before = IMG W2 " const a: f32[] = [0.5]\n t = conv_2d(x, w)\n y = sub(t, a)\n output y\n}",
     .after = IMG W2 "  const a: f32[] = [0.5]\n  t: f32[1,4,4,2] = conv_2d(x, w) padding=explicit\n  y: f32[1,4,4,2] = sub(t, a)\n  output y\n}\n"},

    /* dead */
    {.only = "dead", .before = X4 " input z: f32[1]\n state s: f32[2]\n const c: f32[1] = [1]\n a = relu(x)\n b = tanh(a)\n c2 = add(b, c)\n output a\n}",
     .after = X4 "  input z: f32[1]\n  state s: f32[2]\n  a: f32[4] = relu(x)\n  output a\n}\n"},

    /* epilogue: a chain; an operand with two readers; a residual; a move */
    {.only = "epilogue", .before = IMG W2 " t = conv_2d(x, w)\n u = relu(t)\n v = add(u, x)\n y = mul(v, v)\n output y\n}",
     .after = IMG W2 "  t: f32[1,4,4,2] = conv_2d(x, w) padding=explicit\n  then u: f32[1,4,4,2] = relu(t)\n"
              "  then v: f32[1,4,4,2] = add(u, x)\n  then y: f32[1,4,4,2] = mul(v, v)\n  output y\n}\n"},
    {.only = "epilogue", .before = X4 " a = relu(x)\n b = abs(a)\n c = neg(a)\n y = add(b, c)\n output y\n}",
     .after = X4 "  a: f32[4] = relu(x)\n  then b: f32[4] = abs(a)\n  then c: f32[4] = neg(a)\n  then y: f32[4] = add(b, c)\n  output y\n}\n"},
    {.only = "epilogue", .before = X4 " a = relu(x)\n b = abs(a)\n c = neg(a)\n y = add(b, c)\n z = sum(a) axes=[0]\n output y, z\n}",
     .after = X4 "  a: f32[4] = relu(x)\n  b: f32[4] = abs(a)\n  c: f32[4] = neg(a)\n  then y: f32[4] = add(b, c)\n  z: f32[] = sum(a) axes=[0]\n  output y, z\n}\n"},
    {.only = "epilogue", .before = IMG W2 " t = conv_2d(x, w)\n s = logistic(t)\n y = mul(t, s)\n output y\n}",
     .after = IMG W2 "  t: f32[1,4,4,2] = conv_2d(x, w) padding=explicit\n  then s: f32[1,4,4,2] = logistic(t)\n"
              "  then y: f32[1,4,4,2] = mul(t, s)\n  output y\n}\n"},
    {.only = "epilogue", .before = IMG W2 " t = conv_2d(x, w)\n s = softmax(x) beta=1\n y = add(t, s)\n output y\n}",
     .after = IMG W2 "  s: f32[1,4,4,2] = softmax(x)\n  t: f32[1,4,4,2] = conv_2d(x, w) padding=explicit\n"
              "  then y: f32[1,4,4,2] = add(t, s)\n  output y\n}\n"},
    {.only = "epilogue", .before = X4 " a = relu(x)\n const k: f32[3,1] = [1, 2, 3]\n y = add(a, k)\n output a, y\n}",
     .after = X4 "  const k: f32[3,1] = [1, 2, 3]\n  a: f32[4] = relu(x)\n  y: f32[3,4] = add(a, k)\n  output a, y\n}\n"},

    /* view */
    {.only = "view", .before = X4 " a = relu(x)\n b = reshape(a) shape=[2,2]\n c = slice(b) begin=[1,0] size=[1,2]\n d = squeeze(c)\n y = neg(d)\n output y\n}",
     .after = X4 "  a: f32[4] = relu(x)\n  view b: f32[2,2] at a+0 = reshape(a) shape=[2,2]\n"
              "  view c: f32[1,2] at a+8 = slice(b) begin=[1,0] size=[1,2]\n  view d: f32[2] at a+8 = squeeze(c)\n  y: f32[2] = neg(d)\n  output y\n}\n"},
    {.only = "view", .before = X4 " y = reshape(x) shape=[2,2]\n output y\n}",
     .after = X4 "  y: f32[2,2] = reshape(x) shape=[2,2]\n  output y\n}\n"},
    {.only = "view", .before = X4 " a = relu(x)\n b = neg(x)\n r = reshape(b) shape=[4]\n y = concatenation(a, r)\n z = abs(y)\n output z\n}",
     .after = X4 "  a: f32[4] at y+0 = relu(x)\n  b: f32[4] at y+16 = neg(x)\n  view r: f32[4] at y+16 = reshape(b) shape=[4]\n"
              "  view y: f32[8] = concatenation(a, r)\n  z: f32[8] = abs(y)\n  output z\n}\n"},
    {.only = "view", .before = X4 " a = relu(x)\n y = concatenation(a, x)\n z = concatenation(a, a)\n output y, z\n}",
     .after = X4 "  a: f32[4] = relu(x)\n  y: f32[8] = concatenation(a, x)\n  z: f32[8] = concatenation(a, a)\n  output y, z\n}\n"},
    {.only = "view", .before = "graph g {\n input x: f32[2,4]\n a = relu(x)\n p, q = split(a) axis=0\n r, s = split(a) axis=1\n"
                               " y = add(p, q)\n z = add(r, s)\n output y, z\n}",
     .after = "graph g {\n  input x: f32[2,4]\n  a: f32[2,4] = relu(x)\n  view p: f32[1,4] at a+0, q: f32[1,4] at a+16 = split_v(a)\n"
              "  r: f32[2,2], s: f32[2,2] = split_v(a) axis=1\n  y: f32[1,4] = add(p, q)\n  z: f32[2,2] = add(r, s)\n  output y, z\n}\n"},
    {.only = "view", .before = "graph g {\n input x: f32[1,8]\n a = relu(x)\n p, q = split(a) axis=1\n y = add(p, q)\n output y\n}",
     .after = "graph g {\n  input x: f32[1,8]\n  a: f32[1,8] = relu(x)\n  view p: f32[1,4] at a+0, q: f32[1,4] at a+16 = split_v(a) axis=1\n"
              "  y: f32[1,4] = add(p, q)\n  output y\n}\n"},

    /* a view that would keep a large tensor alive beside two others is not made; one whose root dies with it is */
    {.only = "view", .before = "graph g {\n input x: f32[64]\n a = relu(x)\n s = slice(a) begin=[8] size=[4]\n c = neg(a)\n d = abs(c)\n"
                               " e = slice(d) begin=[0] size=[4]\n y = add(s, e)\n output y\n}",
     .after = "graph g {\n  input x: f32[64]\n  a: f32[64] = relu(x)\n  s: f32[4] = slice(a) begin=[8] size=[4]\n  c: f32[64] = neg(a)\n"
              "  d: f32[64] = abs(c)\n  view e: f32[4] at d+0 = slice(d) begin=[0] size=[4]\n  y: f32[4] = add(s, e)\n  output y\n}\n"},

    /* reference mode: nothing but shapes, integers and what is dead */
    {.only = "simplify norm pad fold dead epilogue view", .reference = true,
     .before = X4 " a = reshape(x) shape=[4]\n b = relu(a)\n c = abs(a)\n output b\n}",
     .after = X4 "  a: f32[4] = reshape(x) shape=[4]\n  b: f32[4] = relu(a)\n  output b\n}\n"},
};
// clang-format on

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

/* All outputs, one behind the other; NULL (and a failure) when something goes wrong. */
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

static ac_graph *prepared(ac_ctx *cx, const char *text, const ac_pass_options *o)
{
    const ac_pass_time *time;
    int32_t n;
    ac_graph *g = read_it(cx, text);
    return g && ac_pass_run(cx, g, o, &time, &n) == AC_OK ? g : NULL;
}

/* The file as it stands against all passes, bit for bit (--exact: norm may round differently). */
static void same_numbers(ac_ctx *cx, const change *c)
{
    ac_pass_options as_is = {.reference = true, .pin = &c->pin, .n_pins = c->pin.name != NULL}, full = as_is;
    full.reference = false;
    full.exact = full.views = true;
    ac_graph *g = prepared(cx, c->before, &as_is), *h = prepared(cx, c->before, &full);
    if (!g || !h)
        return; /* one of the malformed texts */
    int64_t n = 0, m = 0;
    const uint8_t *a = results(cx, g, &n), *b = results(cx, h, &m);
    CHECK(a && b && n == m && !memcmp(a, b, (size_t)n));
    if (!a || !b || memcmp(a, b, (size_t)n) != 0)
        fprintf(stderr, "in\n%s\n", c->before);
}

static void options(ac_ctx *cx)
{
    static const char *const BAD[] = {"epilog"}, *const NEEDED[] = {"infer"}, *const DUMP[] = {"infer", "dead"};
    const ac_pass_time *time;
    int32_t n;
    ac_graph *g = read_it(cx, X4 " y = relu(x)\n output y\n}");
    ac_pass_options o = {.skip = BAD, .n_skip = 1};
    CHECK(ac_pass_run(cx, g, &o, &time, &n) == AC_FAIL && cx->diags.last->code == E0501);
    CHECK(cx->diags.last->line && !strcmp(cx->diags.last->line->text, "did you mean 'epilogue'?"));
    o.skip = NEEDED;
    CHECK(ac_pass_run(cx, g, &o, &time, &n) == AC_FAIL);
    ac_sink out;
    ac_sink_open(&out, cx);
    o = (ac_pass_options){.dump_after = DUMP, .n_dump = 2, .stop_after = "simplify", .dump = &out};
    CHECK(ac_pass_run(cx, g, &o, &time, &n) == AC_OK && n == 3 && !strcmp(time[n - 1].name, "simplify"));
    CHECK(!strcmp(ac_sink_text(&out), "# after infer\n" X4 "  y: f32[4] = relu(x)\n  output y\n}\n"));
}

static void all_errors(ac_ctx *cx)
{
    ac_graph *g =
        read_it(cx, X4 " const k: f32[3] = [1, 2, 3]\n a = add(x, k)\n b = relu(a)\n c = add(k, x)\n output b, c\n}");
    const ac_pass_time *time;
    int32_t n;
    ac_pass_options o = {0};
    CHECK(ac_pass_run(cx, g, &o, &time, &n) == AC_FAIL);
    CHECK(cx->diags.errors == 2); /* a and c; b is not blamed */
}

static void all(ac_ctx *cx, int what)
{
    const int changes = (int)(sizeof CHANGES / sizeof *CHANGES);
    if (what < changes) {
        check_change(cx, &CHANGES[what]);
        cx->diags = (ac_diags){0};
        same_numbers(cx, &CHANGES[what]);
    } else if (what == changes)
        options(cx);
    else
        all_errors(cx);
}

int main(void)
{
    static ac_ctx cx; /* not locals: setjmp */
    static int i;
    for (i = 0; i < (int)(sizeof CHANGES / sizeof *CHANGES) + 2; i++) {
        ac_ctx_open(&cx);
        if (OUT_OF_MEMORY(cx)) {
            fprintf(stderr, "out of memory in test %d\n", i);
            failures++;
        } else {
            ac_ctx_start(&cx);
            all(&cx, i);
        }
        ac_ctx_close(&cx);
    }
    return check_done();
}
