/* test_reading.c - the two steps of reading: permitted changes between them, and pins. */
#include "import/import.h"
#include "tests/unit/support/expect.h"

#include <string.h>

static ac_ctx cx;
static ac_imported m;

static int read_as(const char *from, const char *text, const char *outputs)
{
    const ac_file f = {.path = "t", .data = (const uint8_t *)text, .n = strlen(text)};
    const ac_import_options opt = {.from = from, .outputs = outputs};
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    return ac_import(&cx, &f, &opt, &m);
}

static bool said(ac_code code, const char *text)
{
    for (const ac_diag *d = cx.diags.first; d; d = d->next)
        if (d->code == code && strstr(d->text, text))
            return true;
    return false;
}

static void done(void)
{
    ac_ctx_close(&cx);
}

#define NET                                                                                \
    "layer { name: 'd' type: 'Data' top: 'x' }\n"                                          \
    "layer { name: 'i' type: 'Input' top: 'w' input_param { shape { dim: 1 dim: 3 } } }\n" \
    "layer { name: 'f' type: 'Flatten' bottom: 'x' top: 'flat' }\n"                        \
    "layer { name: 'p' type: 'Eltwise' bottom: 'flat' bottom: 'w' top: 'y' }\n"

/* An input that becomes a constant before the nodes are made stays what its reader takes it for. */
static void test_constant(void)
{
    static const float ONES[3] = {1, 2, 3};
    CHECK(read_as("caffe", NET, NULL) == AC_OK && m.waiting && !m.graph->node.n && m.graph->input.n == 2);
    ac_graph *g = m.graph;
    ac_tensor *x = g->input.item[0], *w = g->input.item[1];
    CHECK(x->rank == 4 && x->dim[1] < 0 && w->rank == 2);
    w->data = ONES;
    w->input = false;
    g->input.n = 1;
    x->dim[0] = x->dim[2] = x->dim[3] = 1;
    x->dim[1] = 3;
    CHECK(ac_import_nodes(&cx, &m, NULL, 0) == AC_OK && !m.waiting && m.graph == g);
    CHECK(g->input.n == 1 && g->node.n && ac_graph_verify(g) == AC_OK);
    done();
}

static void test_pins(void)
{
    static const char TEXT[] = "graph g {\n input x: f32[n,?]\n y = relu(x)\n output y\n}\n";
    CHECK(read_as(NULL, TEXT, NULL) == AC_OK && !m.waiting && m.declared);
    CHECK(ac_import_nodes(&cx, &m, (ac_pin[]){{"n", 2}, {"x.1", 5}}, 2) == AC_OK);
    CHECK(m.pinned == 2 && m.graph->input.item[0]->dim[0] == 2 && m.graph->input.item[0]->dim[1] == 5);
    done();
    CHECK(read_as(NULL, TEXT, NULL) == AC_OK);
    CHECK(ac_import_nodes(&cx, &m, &(ac_pin){"n", 2}, 1) == AC_FAIL && said(E0204, "'x'"));
    done();
    CHECK(read_as(NULL, TEXT, NULL) == AC_OK);
    CHECK(ac_import_nodes(&cx, &m, (ac_pin[]){{"k", 2}, {"x.1", 5}}, 2) == AC_FAIL && said(E0501, "'k'"));
    done();
}

#define SYMBOL(shape)                                                            \
    "{\"nodes\": [{\"op\": \"null\", \"name\": \"x\"" shape ", \"inputs\": []}," \
    "{\"op\": \"relu\", \"name\": \"r\", \"inputs\": [[0, 0]]}], \"arg_nodes\": [0], \"heads\": [[1, 0]]}"

/* A symbol waits only where it does not say the shape of an input. */
static void test_rank(void)
{
    CHECK(read_as(NULL, SYMBOL(), NULL) == AC_OK && m.waiting && m.graph->input.item[0]->any_rank);
    CHECK(ac_import_nodes(&cx, &m, &(ac_pin){"x", 0}, 1) == AC_OK && m.graph->output.n == 1);
    CHECK(m.graph->output.item[0]->rank == 0 && !strcmp(m.format, "MXNet") && m.file_ops == 1 && m.listing);
    done();
    CHECK(read_as(NULL, SYMBOL(), NULL) == AC_OK);
    CHECK(ac_import_nodes(&cx, &m, NULL, 0) == AC_FAIL && said(E0204, "'x'"));
    done();
    CHECK(read_as(NULL, SYMBOL(", \"attrs\": {\"__shape__\": \"(2, 3)\"}"), NULL) == AC_OK && !m.waiting);
    CHECK(m.graph->node.n == 1 && m.graph->output.item[0]->dim[1] == 3 && ac_graph_verify(m.graph) == AC_OK);
    done();
}

int main(void)
{
    test_constant();
    test_pins();
    test_rank();
    return check_done();
}
