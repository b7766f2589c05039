/* test_grad.c - ac_grad: the nodes it adds and omits, how it is called; derivatives of derivatives; errors.
 * tests/random_grads.py and tests/cli/train/grad_cases.sh check the values of gradients. */
#include "ir/grad/grad.h"
#include "ir/lower/node/node.h"
#include "ir/pass/run/run.h"
#include "tests/unit/support/expect.h"

#include <string.h>

static ac_graph *read_it(ac_ctx *cx, const char *text)
{
    static const ac_pass_options OPTIONS = {.stop_after = "infer"};
    ac_passes run;
    ac_graph *g = NULL;
    if (ac_graph_read_text(cx, "t.ag", text, strlen(text), NULL, &g) == AC_OK) {
        g->promise = ac_lower_promise;
        if (ac_pass_run(&run, cx, g, &OPTIONS) == AC_OK)
            return g;
    }
    ac_diags_print(&cx->diags, stderr, false);
    failures++;
    return NULL;
}

static int32_t count(const ac_graph *g, int32_t from, ac_op op)
{
    int32_t n = 0;
    for (int32_t i = from; i < g->node.n; i++)
        n += op == AC_OP_NONE || g->node.item[i]->op == op;
    return n;
}

/* The gradient of `of`, with a cotangent of its shape that is an input, by the tensors named. */
static int grad_of(ac_ctx *cx, ac_graph *g, const char *of, const char *const *by, int32_t n, ac_tensor **dx)
{
    ac_tensor *wrt[4], *y = ac_tensor_find(g, of);
    ac_tensor *c = ac_tensor_new(g, "c", y->dtype, y->rank, y->dim);
    c->input = true;
    ac_push(cx->region, &g->input, c);
    for (int32_t i = 0; i < n; i++)
        wrt[i] = ac_tensor_find(g, by[i]);
    return ac_grad(cx, g, &y, &c, 1, wrt, n, dx);
}

static void what_is_made(ac_ctx *cx)
{
    const char *by[] = {"w", "k", "u", "s"};
    ac_tensor *dx[4];
    ac_graph *g = read_it(cx, "graph g {\n input x: f32[8,4]\n input k: i32[8,4]\n input u: f32[3]\n"
                              " const w: f32[4,4] = random 1\n state s: f32[4]\n"
                              " p = batch_matmul(x, w)\n q = add(p, s)\n y = tanh(q)\n output y\n}\n");
    MUST(g);
    const int32_t before = g->node.n;
    CHECK(grad_of(cx, g, "y", by, 4, dx) == AC_OK);
    CHECK(dx[0] && ac_tensor_same_shape(dx[0], ac_tensor_find(g, "w")));
    CHECK(!dx[1] && !dx[2]); /* integers; unused results */
    CHECK(dx[3] && dx[3]->rank == 1 && dx[3]->dim[0] == 4);
    CHECK(count(g, before, AC_OP_BATCH_MATMUL) == 1); /* that of w; x is not wanted */
    CHECK(count(g, before, AC_OP_SUM) == 1);
    CHECK(ac_graph_verify(g) == AC_OK);
    for (int32_t i = before; i < g->node.n; i++) {
        const ac_node *n = g->node.item[i];
        CHECK(!strncmp(n->name, "grad of ", 8) && n->at.file && n->at.line > 0 && !strcmp(n->at.node, n->name));
    }
}

/* Steps of a sequence: one concatenation, no padding and adding. */
static void slices_are_joined(ac_ctx *cx)
{
    const char *by[] = {"x"};
    ac_tensor *dx[1];
    ac_graph *g = read_it(cx, "graph g {\n input x: f32[3,4]\n a = slice(x) begin=[0,0] size=[1,4]\n"
                              " b = slice(x) begin=[1,0] size=[1,4]\n y = mul(a, b)\n output y\n}\n");
    MUST(g);
    const int32_t before = g->node.n;
    CHECK(grad_of(cx, g, "y", by, 1, dx) == AC_OK && dx[0]);
    CHECK(count(g, before, AC_OP_CONCATENATION) == 1 && count(g, before, AC_OP_NONE) == 3);
}

/* The second derivative of x^3 at 2 */
static void twice(ac_ctx *cx)
{
    static const ac_pass_options OPTIONS = {.views = true};
    const char *by[] = {"x"};
    static const double two = 2, one = 1;
    ac_passes run;
    ac_tensor *dx[1], *ddx[1], *c = NULL;
    ac_graph *g = read_it(cx, "graph g {\n input x: f64[]\n const k: f64[] = [3]\n y = pow(x, k)\n output y\n}\n");
    MUST(g);
    MUST(grad_of(cx, g, "y", by, 1, dx) == AC_OK && dx[0]);
    c = ac_tensor_find(g, "c");
    ac_tensor *x = ac_tensor_find(g, "x");
    MUST(ac_grad(cx, g, dx, &c, 1, &x, 1, ddx) == AC_OK && ddx[0]);
    x->input = c->input = false;
    x->data = &two;
    c->data = &one;
    g->input.n = 0;
    g->output.item[0]->output = false;
    g->output.item[0] = ddx[0];
    ddx[0]->output = true;
    MUST(ac_pass_run(&run, cx, g, &OPTIONS) == AC_OK);
    const double *v = ac_tensor_force(cx, g->output.item[0]);
    CHECK(v && *v > 12 - 1e-9 && *v < 12 + 1e-9);
}

static void every_error(ac_ctx *cx)
{
    const char *by[] = {"x"};
    ac_tensor *dx[1];
    ac_graph *g = read_it(cx, "graph g {\n input x: f32[4,4]\n const i: i32[4] = [0, 0, 0, 0]\n const n: i32[] = [1]\n"
                              " a = matrix_diag(x)\n b = unsorted_segment_prod(x, i, n)\n s = sign(x)\n"
                              " e = unsorted_segment_prod(s, i, n)\n y = add(a, b)\n z = add(y, e)\n output z\n}\n");
    MUST(g);
    const int32_t before = g->node.n, errors = cx->diags.errors;
    CHECK(grad_of(cx, g, "z", by, 1, dx) == AC_FAIL);
    CHECK(cx->diags.errors == errors + 2); /* not the product of signs: nothing flows back through them */
    CHECK(g->node.n == before);
}

int main(void)
{
    static void (*const CASES[])(ac_ctx *) = {what_is_made, slices_are_joined, twice, every_error};
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        ac_ctx cx;
        ac_ctx_open(&cx);
        ac_ctx_start(&cx);
        CASES[i](&cx);
        ac_ctx_close(&cx);
    }
    return check_done();
}
