/* test_onnx.c - reads ONNX files: valid ones give the expected graph, invalid ones are refused without a crash.
 *
 * The files are built here, in memory, by a small protobuf writer. `spec` holds what the tests vary; each case breaks
 * one thing and names the diagnostic it expects. Values of operators are tested by the conformance suite. */
#include "import/import.h"
#include "ir/lower/node/node.h"
#include "tests/unit/support/expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The writer: a message is bytes; a message inside another is copied into it. */

typedef struct msg {
    uint8_t p[8192];
    size_t n;
} msg;

static void put(msg *m, uint8_t v)
{
    if (m->n < sizeof m->p)
        m->p[m->n++] = v;
}

static void varint(msg *m, uint64_t v)
{
    for (; v > 127; v >>= 7)
        put(m, (uint8_t)(v | 128));
    put(m, (uint8_t)v);
}

static void num(msg *m, uint32_t field, int64_t v)
{
    varint(m, field << 3);
    varint(m, (uint64_t)v);
}

static void bytes(msg *m, uint32_t field, const void *p, size_t n)
{
    varint(m, field << 3 | 2);
    varint(m, n);
    for (size_t i = 0; i < n; i++)
        put(m, ((const uint8_t *)p)[i]);
}

static void text(msg *m, uint32_t field, const char *s)
{
    bytes(m, field, s, strlen(s));
}

static void sub(msg *m, uint32_t field, const msg *in)
{
    bytes(m, field, in->p, in->n);
}

static void words(msg *m, uint32_t field, const char *list) /* "a,b" */
{
    while (*list) {
        size_t n = strcspn(list, ",");
        bytes(m, field, list, n);
        list += n + (list[n] == ',');
    }
}

/* The variable parts of a model. */

typedef enum encoding { RAW, PACKED, UNPACKED, EXTERNAL } encoding;

typedef struct spec {
    const char *op, *domain, *inputs, *outputs; /* the one node */
    int opset, nodes;                           /* how often the node is there, with results y0, y1 .. */
    int64_t dim[9];                             /* of input x */
    int rank;
    const char *param; /* name of dimension 0, when it is unknown */
    encoding encoding; /* of the constant c, f32 [2] */
    int64_t c_count;
    int c_type;
    const char *location; /* EXTERNAL */
    const char *attr;     /* an attribute of type int */
    int64_t attr_value;
    const char *result; /* the graph's output */
    bool twice, sparse, no_graph, calls_itself, function;
} spec;

static const spec GOOD = {.op = "Add",
                          .domain = "",
                          .inputs = "x,c",
                          .outputs = "y",
                          .opset = 17,
                          .nodes = 1,
                          .dim = {1, 2},
                          .rank = 2,
                          .c_count = 2,
                          .c_type = 1,
                          .result = "y"};

static void value(msg *to, uint32_t field, const char *name, const spec *s)
{
    static msg shape, tensor, type, info;
    shape.n = tensor.n = type.n = info.n = 0;
    for (int i = 0; i < s->rank; i++) {
        msg d = {.n = 0};
        if (i == 0 && s->param)
            text(&d, 2, s->param);
        else
            num(&d, 1, s->dim[i]);
        sub(&shape, 1, &d);
    }
    num(&tensor, 1, 1);
    sub(&tensor, 2, &shape);
    sub(&type, 1, &tensor);
    text(&info, 1, name);
    sub(&info, 2, &type);
    sub(to, field, &info);
}

static void constant(msg *graph, const spec *s)
{
    static const float V[2] = {0.5f, -2};
    static msg t;
    t.n = 0;
    num(&t, 1, s->c_count);
    num(&t, 2, s->c_type);
    text(&t, 8, "c");
    if (s->encoding == RAW)
        bytes(&t, 9, V, sizeof V);
    if (s->encoding == PACKED)
        bytes(&t, 4, V, sizeof V);
    for (int i = 0; i < 2 && s->encoding == UNPACKED; i++) {
        varint(&t, 4 << 3 | 5);
        for (size_t k = 0; k < 4; k++)
            put(&t, ((const uint8_t *)&V[i])[k]);
    }
    if (s->encoding == EXTERNAL) {
        msg e = {.n = 0};
        text(&e, 1, "location");
        text(&e, 2, s->location);
        sub(&t, 13, &e);
        num(&t, 14, 1);
    }
    sub(graph, 5, &t);
}

static void node(msg *to, uint32_t field, const spec *s, int i)
{
    static msg n;
    n.n = 0;
    words(&n, 1, s->inputs);
    if (i)
        text(&n, 2, i == 1 ? "y1" : "y2");
    else
        words(&n, 2, s->outputs);
    text(&n, 4, s->op);
    text(&n, 7, s->domain);
    if (s->attr) {
        msg a = {.n = 0};
        text(&a, 1, s->attr);
        num(&a, 3, s->attr_value);
        num(&a, 20, 2);
        sub(&n, 5, &a);
    }
    sub(to, field, &n);
}

static void opset(msg *to, uint32_t field, const char *domain, int version)
{
    msg o = {.n = 0};
    text(&o, 1, domain);
    num(&o, 2, version);
    sub(to, field, &o);
}

static const msg *build(const spec *s)
{
    static msg model, graph, f;
    model.n = graph.n = f.n = 0;
    for (int i = 0; i < s->nodes; i++)
        node(&graph, 1, s, i);
    text(&graph, 2, "g");
    constant(&graph, s);
    if (s->twice)
        constant(&graph, s);
    value(&graph, 11, "x", s);
    if (s->sparse)
        bytes(&graph, 15, "", 0);
    msg out = {.n = 0};
    text(&out, 1, s->result);
    sub(&graph, 12, &out);
    num(&model, 1, 8);
    opset(&model, 8, "", s->opset);
    opset(&model, 8, "own", 1);
    if (!s->no_graph)
        sub(&model, 7, &graph);
    if (s->function) { /* own.Twice(a) = a + a, or itself again */
        spec inner = GOOD;
        inner.op = s->calls_itself ? "Twice" : "Add";
        inner.domain = s->calls_itself ? "own" : "";
        inner.inputs = s->calls_itself ? "a" : "a,a";
        inner.outputs = "b";
        text(&f, 1, "Twice");
        text(&f, 4, "a");
        text(&f, 5, "b");
        node(&f, 7, &inner, 0);
        opset(&f, 9, "", 17);
        opset(&f, 9, "own", 1);
        text(&f, 10, "own");
        sub(&model, 25, &f);
    }
    return &model;
}

/* Reading. */

typedef struct outcome {
    int rc, exit, errors;
    ac_code code;
    ac_imported m;
    ac_graph *g; /* of m */
} outcome;

static ac_ctx cx;

static outcome read_bytes(const uint8_t *p, size_t n, bool nodes, const char *outputs)
{
    static uint8_t copy[sizeof(((msg *)0)->p) + 1];
    memcpy(copy + 1, p, n); /* an odd address: constants are misaligned */
    ac_file f = {.path = "t.onnx", .data = copy + 1, .n = n};
    outcome o = {.rc = AC_FAIL};
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    o.rc = ac_import(
        &cx, &f, &(ac_import_options){.from = "onnx", .strict = true, .outputs = outputs, .promise = ac_lower_promise},
        &o.m);
    if (o.rc == AC_OK && nodes)
        o.rc = ac_import_nodes(&cx, &o.m, NULL, 0);
    if (o.rc == AC_OK)
        o.rc = ac_graph_verify(o.m.graph);
    o.g = o.m.graph;
    o.exit = (int)ac_diags_exit(&cx.diags);
    o.errors = cx.diags.errors;
    for (const ac_diag *d = cx.diags.first; d && !o.code; d = d->next)
        if (d->severity == AC_ERROR)
            o.code = d->code;
    return o;
}

static outcome read_spec(const spec *s)
{
    const msg *m = build(s);
    return read_bytes(m->p, m->n, true, NULL);
}

static void done(void)
{
    ac_ctx_close(&cx);
}

static void test_good(void)
{
    for (int e = RAW; e <= UNPACKED; e++) {
        spec s = GOOD;
        s.encoding = (encoding)e;
        outcome o = read_spec(&s);
        CHECK(o.rc == AC_OK && o.g->node.n == 1 && o.g->input.n == 1 && o.g->output.n == 1);
        if (o.rc == AC_OK) {
            const ac_tensor *c = o.g->node.item[0]->in[1];
            CHECK(o.g->node.item[0]->op == AC_OP_ADD && !strcmp(o.g->output.item[0]->name, "y"));
            CHECK(c->data && ac_dtype_get_num(c->dtype, c->data, 1) < -1.9 &&
                  ac_dtype_get_num(c->dtype, c->data, 0) > 0.4);
        }
        done();
    }
}

/* A result that is an input gets a name and bytes of its own. */
static void test_identity(void)
{
    spec s = GOOD;
    s.op = "Identity";
    s.inputs = "x";
    outcome o = read_spec(&s);
    CHECK(o.rc == AC_OK && o.g->node.n == 1 && o.g->node.item[0]->op == AC_OP_RESHAPE);
    CHECK(o.rc == AC_OK && !strcmp(o.g->output.item[0]->name, "y"));
    done();
}

static void test_function(void)
{
    spec s = GOOD;
    s.op = "Twice";
    s.domain = "own";
    s.inputs = "x";
    s.function = true;
    outcome o = read_spec(&s);
    CHECK(o.rc == AC_OK && o.g->node.n == 1 && o.g->node.item[0]->op == AC_OP_ADD);
    CHECK(o.rc == AC_OK && o.g->node.item[0]->in[0] == o.g->node.item[0]->in[1]);
    done();
}

/* The nodes wait until the unknown dimension is pinned. */
static void test_open_dimension(void)
{
    spec s = GOOD;
    s.param = "batch";
    const msg *m = build(&s);
    outcome o = read_bytes(m->p, m->n, false, NULL);
    CHECK(o.rc == AC_OK && o.m.waiting && o.g->node.n == 0 && o.g->input.item[0]->dim[0] == -1);
    if (o.rc == AC_OK && o.m.waiting) {
        CHECK(!strcmp(o.g->input.item[0]->dim_name[0], "batch"));
        CHECK(ac_import_nodes(&cx, &o.m, &(ac_pin){"batch", 3}, 1) == AC_OK && !o.m.waiting && o.m.graph == o.g);
        CHECK(o.g->node.n == 1 && o.g->output.item[0]->dim[0] == 3 && o.g->output.item[0]->dim[1] == 2);
    }
    done();
}

/* --outputs names tensors, also where they are not made yet. */
static void test_open_outputs(void)
{
    spec s = GOOD;
    s.param = "batch";
    s.nodes = 2;
    const msg *m = build(&s);
    outcome o = read_bytes(m->p, m->n, false, "y1");
    CHECK(o.rc == AC_OK && o.m.waiting && ac_import_nodes(&cx, &o.m, &(ac_pin){"batch", 3}, 1) == AC_OK);
    CHECK(o.m.graph->output.n == 1 && !strcmp(o.m.graph->output.item[0]->name, "y1"));
    done();
    o = read_bytes(m->p, m->n, false, "y7");
    CHECK(o.rc == AC_OK && o.m.waiting && ac_import_nodes(&cx, &o.m, &(ac_pin){"batch", 3}, 1) == AC_FAIL);
    CHECK(ac_diags_exit(&cx.diags) == AC_EXIT_USAGE);
    done();
}

/* A shape that is an operand at run time: refused, unless the caller supplies the value. */
static void test_given_value(void)
{
    spec s = GOOD;
    s.op = "Expand";
    s.inputs = "c,x";
    s.rank = 1;
    const msg *m = build(&s);
    outcome o = read_bytes(m->p, m->n, false, NULL);
    CHECK(o.rc == AC_OK && o.m.waiting);
    CHECK(o.rc == AC_OK && ac_import_nodes(&cx, &o.m, NULL, 0) == AC_FAIL);
    CHECK(ac_diags_exit(&cx.diags) == AC_EXIT_UNSUPPORTED);
    done();
}

static void bad(const char *what, spec s, ac_code code, int exit)
{
    outcome o = read_spec(&s);
    if (o.rc == AC_OK || o.code != code || o.exit != exit) {
        printf("%s: rc %d, %s, exit %d; expected %s, exit %d\n", what, o.rc,
               o.errors ? ac_code_name(o.code) : "no error", o.exit, ac_code_name(code), exit);
        failures++;
    }
    done();
}

#define BAD(what, change, code, exit) \
    do {                              \
        spec s = GOOD;                \
        change;                       \
        bad(what, s, code, exit);     \
    } while (0)

static void test_bad(void)
{
    BAD("unknown operand", s.inputs = "x,nobody", E0101, 1);
    BAD("result exists already", s.outputs = "x", E0101, 1);
    BAD("output that nothing makes", s.result = "z", E0101, 1);
    BAD("two constants of one name", s.twice = true, E0022, 1);
    BAD("constant too short", s.c_count = 3, E0016, 1);
    BAD("constant of a negative size", s.c_count = -1, E0201, 1);
    BAD("constant of an unknown type", s.c_type = 99, E0012, 1);
    BAD("constant of strings without its strings", s.c_type = 8, E0016, 1);
    BAD("constant of complex numbers", s.c_type = 14, E0108, 8);
    BAD("sparse constant without values", s.sparse = true, E0012, 1);
    BAD("no graph", s.no_graph = true, E0012, 1);
    BAD("operator set of the future", s.opset = 99, E0017, 8);
    BAD("operator set 0", s.opset = 0, E0012, 1);
    BAD("unknown operator", s.op = "Frobnicate", E0107, 8);
    BAD("unknown domain", s.domain = "com.example", E0107, 8);
    BAD("operator not in this operator set", (s.op = "Mish", s.inputs = "x"), E0107, 8);
    BAD("unknown attribute", (s.attr = "mood", s.attr_value = 1), E0108, 8);
    BAD("axis out of range", (s.op = "Concat", s.attr = "axis", s.attr_value = 5), E0103, 1);
    BAD("too many operands", s.op = "Relu", E0102, 1);
    BAD("operand left out", (s.op = "Sub", s.inputs = ",x"), E0102, 1);
    BAD("shapes that do not go together", s.dim[1] = 3, E0104, 1);
    BAD("nine dimensions", s.rank = 9, E0108, 8);
    BAD("a dimension below zero", s.dim[0] = -7, E0201, 1);
    BAD("a function that calls itself",
        (s.op = "Twice", s.domain = "own", s.inputs = "x", s.function = s.calls_itself = true), E0014, 1);
    BAD("external data that is missing", (s.encoding = EXTERNAL, s.location = "no-such-file.bin"), E0016, 1);
    BAD("external data by an absolute path", (s.encoding = EXTERNAL, s.location = "/etc/hostname"), E0012, 1);
    BAD("external data above the folder", (s.encoding = EXTERNAL, s.location = "a/../../b"), E0012, 1);
    BAD("external data without a place", (s.encoding = EXTERNAL, s.location = ""), E0012, 1);
}

/* All unsupported operators are listed, each once. */
static void test_all_listed(void)
{
    spec s = GOOD;
    s.op = "Frobnicate";
    s.nodes = 3;
    outcome o = read_spec(&s);
    CHECK(o.rc == AC_FAIL && o.errors == 1 && o.exit == AC_EXIT_UNSUPPORTED);
    done();
}

/* Wherever a file is cut off, there is a message. */
static void test_cut_off(void)
{
    static msg whole;
    whole = *build(&GOOD);
    for (size_t n = 0; n < whole.n; n++) {
        outcome o = read_bytes(whole.p, n, true, NULL);
        CHECK(o.rc == AC_OK || o.errors > 0);
        done();
    }
}

/* Every byte changed to a few others: a graph or a message, never both, never a crash. */
static void test_changed_bytes(void)
{
    static const uint8_t VALUES[] = {0, 1, 0x7f, 0x80, 0xff};
    static msg m;
    m = *build(&GOOD);
    for (size_t i = 0; i < m.n; i++)
        for (size_t k = 0; k < sizeof VALUES; k++) {
            const uint8_t was = m.p[i];
            m.p[i] = VALUES[k];
            outcome o = read_bytes(m.p, m.n, true, NULL);
            CHECK((o.rc == AC_OK) == (o.errors == 0));
            m.p[i] = was;
            done();
        }
}

/* Messages inside messages inside ...: lengths are believed only as far as they fit. */
static void test_nesting(void)
{
    static msg in, out;
    in.n = 0;
    for (int i = 0; i < 1000; i++) {
        out.n = 0;
        sub(&out, 7, &in);
        in = out;
    }
    outcome o = read_bytes(in.p, in.n, true, NULL);
    CHECK(o.rc == AC_FAIL && o.errors > 0);
    done();
}

int main(void)
{
    test_good();
    test_identity();
    test_function();
    test_open_dimension();
    test_open_outputs();
    test_given_value();
    test_bad();
    test_all_listed();
    test_cut_off();
    test_changed_bytes();
    test_nesting();
    return check_done();
}
