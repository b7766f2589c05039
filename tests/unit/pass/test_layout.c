/* test_layout.c - pass layout: transposes that meet their inverse vanish, others end where nothing can pass them on. */
#include "ir/lower/lower.h"
#include "ir/pass/pass.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

typedef struct change {
    const char *what;
    const char *before; /* statements between the input x: f32[1,4,6,8] and the output y */
    int transposes;     /* that are left */
    const char *has;    /* a piece of the text afterwards; NULL: nothing more to check */
} change;

#define LAST  " perm=[0,2,3,1]\n"
#define FIRST " perm=[0,3,1,2]\n"

static const change CHANGES[] = {
    {"inverse", "  a = transpose(x)" LAST "  b = transpose(a)" FIRST "  y = relu(b)\n", 0, "relu(x)"},
    {"unary", "  a = transpose(x)" LAST "  b = relu(a)\n  c = transpose(b)" FIRST "  y = tanh(c)\n", 0, "relu(x)"},
    {"constant for each channel",
     "  const s: f32[4,1,1] = [1, 2, 3, 4]\n  a = transpose(x)" LAST "  b = relu(a)\n"
     "  c = transpose(b)" FIRST "  d = mul(c, s)\n  e = transpose(d)" LAST "  f = tanh(e)\n  y = transpose(f)" FIRST,
     0, NULL},
    {"both operands", "  a = transpose(x)" LAST "  b = relu(a)\n  c = tanh(a)\n  y = add(b, c)\n", 1, "add("},
    {"joined along channels",
     "  a = transpose(x)" FIRST "  b = relu(a)\n  c = concatenation(a, b) axis=3\n"
     "  y = transpose(c)" LAST,
     0, "axis=2"},
    {"mean over the image", "  a = transpose(x)" LAST "  y = mean(a) axes=[1,2]\n", 0, "axes=[2,3]"},
    {"mean that keeps its dimensions",
     "  a = transpose(x)" LAST "  b = mean(a) axes=[1,2] keep_dims=true\n"
     "  y = transpose(b)" FIRST,
     0, "axes=[2,3]"},
    {"padded", "  a = transpose(x)" LAST "  b = pad(a) pads=[0,0,1,2,0,0,3,4]\n  y = transpose(b)" FIRST, 0,
     "pads=[0,0,3,4,1,2,0,0]"},
    {"cut", "  a = transpose(x)" LAST "  b = slice(a) begin=[0,1,2,0] size=[1,2,3,4]\n  y = transpose(b)" FIRST, 0,
     "begin=[0,0,1,2]"},
    {"split channels in two dimensions",
     "  a = transpose(x)" FIRST "  b = reshape(a) shape=[1,2,4,4,6]\n  y = relu(b)\n", 1, "shape=[1,4,6,2,4]"},
    {"softmax along what stays last",
     "  a = transpose(x) perm=[0,2,1,3]\n  b = softmax(a)\n"
     "  y = transpose(b) perm=[0,2,1,3]\n",
     0, "softmax(x)"},
    {"softmax along what moves", "  a = transpose(x)" LAST "  b = softmax(a)\n  y = transpose(b)" FIRST, 2, NULL},
    {"product with a swap", "  a = transpose(x) perm=[0,1,3,2]\n  y = batch_matmul(x, a)\n", 0, "adj_y=true"},
    {"one of two large operands",
     "  a = transpose(x) perm=[0,1,3,2]\n  b = transpose(a) perm=[0,1,3,2]\n"
     "  c = tanh(x)\n  d = transpose(c) perm=[0,1,3,2]\n  e = reshape(x) shape=[1,4,8,6]\n  y = add(d, e)\n",
     1, NULL},
};

static ac_ctx cx;

static const char *run(const change *c)
{
    const char *skip[] = {"simplify", "view"};
    const ac_pass_time *time;
    int32_t n_time;
    ac_graph *g;
    char *text = ac_strf(cx.region, "graph t {\n  input x: f32[1,4,6,8]\n%s  output y\n}\n", c->before);
    if (ac_graph_read_text(&cx, "t.ag", text, strlen(text), &g) != AC_OK)
        return NULL;
    g->channels_first = true;
    ac_pass_options o = {.skip = skip, .n_skip = 2, .stop_after = "layout"};
    if (ac_pass_run(&cx, g, &o, &time, &n_time) != AC_OK)
        return NULL;
    o.stop_after = "dead"; /* what nobody reads any more goes */
    if (g->channels_first || ac_pass_run(&cx, g, &o, &time, &n_time) != AC_OK)
        return NULL;
    ac_sink s;
    ac_sink_open(&s, &cx);
    ac_graph_write_text(&s, g);
    return s.text;
}

static int count(const char *text, const char *word)
{
    int n = 0;
    for (; (text = strstr(text, word)); text++)
        n++;
    return n;
}

static void check(const change *c)
{
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    const char *after = run(c);
    if (!after) {
        printf("%s:\n", c->what);
        ac_diags_print(&cx.diags, stdout, false);
        failures++;
    } else {
        const int left = count(after, " transpose(") - count(after, "perm=[0,1,2,3]\n"); /* simplify removes those */
        if (left != c->transposes || (c->has && !strstr(after, c->has))) {
            printf("%s: %d transposes left, expected %d, and '%s' in\n%s", c->what, left, c->transposes,
                   c->has ? c->has : "", after);
            failures++;
        }
    }
    ac_ctx_close(&cx);
}

int main(void)
{
    for (size_t i = 0; i < sizeof CHANGES / sizeof *CHANGES; i++)
        check(&CHANGES[i]);
    printf("%s\n", failures ? "FAILED" : "ok");
    return failures != 0;
}
