/* test_tf.c - reads TensorFlow graphs: valid ones give the expected graph, invalid ones are refused without a crash.
 *
 * Graphs are written in text form. Those without inputs are computed while they are read, so their results are numbers.
 */
#include "import/import.h"
#include "ir/lower/node/node.h"
#include "tests/unit/support/expect.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static ac_ctx cx;

typedef struct outcome {
    int rc, exit;
    ac_code code;
    int32_t line;
    const char *text, *node;
    ac_graph *g;
} outcome;

static outcome read_bytes(const void *p, size_t n, const char *outputs)
{
    const ac_file f = {.path = "t.pbtxt", .data = p, .n = n};
    const ac_import_options opt = {.outputs = outputs, .promise = ac_lower_promise};
    outcome o = {.rc = AC_FAIL};
    ac_ctx_open(&cx);
    ac_ctx_start(&cx);
    ac_imported m;
    o.rc = ac_import(&cx, &f, &opt, &m);
    if (o.rc == AC_OK)
        o.rc = ac_import_nodes(&cx, &m, NULL, 0);
    o.g = m.graph;
    if (o.rc == AC_OK)
        o.rc = ac_graph_verify(o.g);
    o.exit = (int)ac_diags_exit(&cx.diags);
    for (const ac_diag *d = cx.diags.first; d && !o.text; d = d->next)
        if (d->severity == AC_ERROR) {
            o.code = d->code;
            o.line = d->at.line;
            o.text = d->text;
            o.node = d->at.node;
        }
    return o;
}

static outcome read_text(const char *text, const char *outputs)
{
    return read_bytes(text, strlen(text), outputs);
}

static void done(void)
{
    ac_ctx_close(&cx);
}

/* ------------------------------------------------------------------ text of graphs */

#define NODE(name, op, in, attrs)   "node { name: '" name "' op: '" op "' " in attrs "}\n"
#define IN(x)                       "input: '" x "' "
#define ATTR(key, value)            "attr { key: '" key "' value { " value " } } "
#define TENSOR(type, shape, value)  ATTR("value", "tensor { dtype: " type " tensor_shape { " shape " } " value " }")
#define DIM(n)                      "dim { size: " #n " } "
#define CONST(name, type, shape, v) NODE(name, "Const", , ATTR("dtype", "type: " type) TENSOR(type, shape, v))
#define FLOATS(name, n, v)          CONST(name, "DT_FLOAT", DIM(n), v)
#define INT(name, v)                CONST(name, "DT_INT32", , "int_val: " #v)
#define INPUT(name, shape) \
    NODE(name, "Placeholder", , ATTR("dtype", "type: DT_FLOAT") ATTR("shape", "shape { " shape " }"))

/* The result `name` of a graph without inputs has these values. */
static void values(int line, const char *text, const char *name, const double *want, int32_t n)
{
    outcome o = read_text(text, name);
    const ac_node *copy = o.rc == AC_OK && o.g->output.n == 1 ? o.g->output.item[0]->def : NULL;
    ac_tensor *t = copy && copy->op == AC_OP_RESHAPE ? copy->in[0] : NULL;
    const void *data = t ? ac_tensor_force(&cx, t) : NULL;
    bool same = data && ac_tensor_count(t) == n;
    for (int32_t i = 0; same && i < n; i++)
        same = fabs(ac_dtype_get_num(t->dtype, data, i) - want[i]) < 1e-5;
    if (!same) {
        printf("%s:%d: failed: %s\n", __FILE__, line, o.text ? o.text : "other values");
        for (int32_t i = 0; data && i < ac_tensor_count(t) && i < 8; i++)
            printf("  %g\n", ac_dtype_get_num(t->dtype, data, i));
        failures++;
    }
    done();
}

#define VALUES(text, name, ...) \
    values(__LINE__, text, name, (const double[]){__VA_ARGS__}, sizeof((const double[]){__VA_ARGS__}) / sizeof(double))

static void test_encodings(void)
{
    VALUES(FLOATS("c", 3, "float_val: 0.5 float_val: -2 float_val: 1e3"), "c", 0.5, -2, 1000);
    VALUES(FLOATS("c", 3, "float_val: 0.5 float_val: 7"), "c", 0.5, 7, 7); /* the last one again */
    VALUES(FLOATS("c", 3, "float_val: 4"), "c", 4, 4, 4);
    VALUES(FLOATS("c", 3, ""), "c", 0, 0, 0);
    VALUES(FLOATS("c", 1, "tensor_content: '\\000\\000\\200?'"), "c", 1);
    VALUES(CONST("c", "DT_HALF", DIM(2), "half_val: 15360 half_val: 49152"), "c", 1, -2);
    VALUES(CONST("c", "DT_BFLOAT16", DIM(1), "half_val: 16256"), "c", 1);
    VALUES(CONST("c", "DT_DOUBLE", DIM(1), "double_val: 0.25"), "c", 0.25);
    VALUES(CONST("c", "DT_INT64", DIM(2), "int64_val: [-5, 6]"), "c", -5, 6);
    VALUES(CONST("c", "DT_UINT8", DIM(1), "int_val: 200"), "c", 200);
    VALUES(CONST("c", "DT_INT8", DIM(1), "int_val: -3"), "c", -3);
    VALUES(CONST("c", "DT_BOOL", DIM(2), "bool_val: true bool_val: false"), "c", 1, 0);
    VALUES(CONST("c", "DT_UINT64", DIM(1), "uint64_val: 9"), "c", 9);
}

/* ------------------------------------------------------------------ control flow */

/* s = 1; for (i = 0; i < 4; i++) s = s * 3 */
static const char LOOP[] = INT("zero", 0) INT("four", 4) FLOATS("one", 1, "float_val: 1")
    FLOATS("three", 1, "float_val: 3") NODE("ei", "Enter", IN("zero"), ATTR("frame_name", "s: 'w'"))
        NODE("es", "Enter", IN("one"), ATTR("frame_name", "s: 'w'"))
            NODE("n", "Enter", IN("four"), ATTR("frame_name", "s: 'w'") ATTR("is_constant", "b: true"))
                NODE("k", "Enter", IN("three"), ATTR("frame_name", "s: 'w'") ATTR("is_constant", "b: true"))
                    NODE("mi", "Merge", IN("ei") IN("ni"), ) NODE("ms", "Merge", IN("es") IN("ns"), )
                        NODE("less", "Less", IN("mi") IN("n"), ) NODE("cond", "LoopCond", IN("less"), )
                            NODE("si", "Switch", IN("mi") IN("cond"), ) NODE("ss", "Switch", IN("ms") IN("cond"), )
                                NODE("ii", "Identity", IN("si:1"), ) NODE("is", "Identity", IN("ss:1"), )
                                    NODE("c1", "Const", IN("^ii"),
                                         ATTR("dtype", "type: DT_INT32") TENSOR("DT_INT32", , "int_val: 1"))
                                        NODE("next", "AddV2", IN("ii") IN("c1"), )
                                            NODE("ni", "NextIteration", IN("next"), )
                                                NODE("times", "Mul", IN("is") IN("k"), )
                                                    NODE("ns", "NextIteration", IN("times"), )
                                                        NODE("xi", "Exit", IN("si"), ) NODE("xs", "Exit", IN("ss"), );

static const char BRANCH[] = FLOATS("a", 2, "float_val: [1, 2]") NODE("sw", "Switch", IN("a") IN("p"), )
    NODE("yes", "Neg", IN("sw:1"), ) NODE("no", "Square", IN("sw:0"), ) NODE("m", "Merge", IN("no") IN("yes"), );

static const char CALL[] = FLOATS("a", 2, "float_val: [1, 2]") NODE(
    "y", "StatefulPartitionedCall", IN("a") IN("a"),
    ATTR(
        "f",
        "func { name: 'both' }")) "library { function { signature { name: 'both' input_arg { name: 'u' type: DT_FLOAT "
                                  "} input_arg { name: 'v' type: DT_FLOAT }"
                                  "  output_arg { name: 'sum' type: DT_FLOAT } output_arg { name: 'max' type: DT_FLOAT "
                                  "} }"
                                  "  node_def { name: 'add' op: 'AddV2' input: 'u' input: 'v' }"
                                  "  node_def { name: 'top' op: 'TopKV2' input: 'add:z:0' input: 'k:output:0' }"
                                  "  node_def { name: 'k' op: 'Const' attr { key: 'value' value { tensor { dtype: "
                                  "DT_INT32 int_val: 1 tensor_shape { } } } }"
                                  "    attr { key: 'dtype' value { type: DT_INT32 } } }"
                                  "  ret { key: 'sum' value: 'add:z:0' } ret { key: 'max' value: 'top:indices:0' } } }";

/* i, x = 0, x; while (i < 3) i, x = i + 1, x + x: TensorFlow 2's form, with the elements kept in a list */
static const char WHILE[] = INT("zero", 0) FLOATS("x", 1, "float_val: 5") INT("three", 3) INT("shape", -1) NODE(
    "list", "TensorListReserve", IN("shape") IN("three"),
    ATTR("element_dtype", "type: DT_FLOAT")) NODE("w", "StatelessWhile", IN("zero") IN("x") IN("list"),
                                                  ATTR("cond", "func { name: 'c' }") ATTR("body", "func { name: 'b' }"))
    NODE(
        "all", "TensorListStack", IN("w:2") IN("shape"),
        ATTR(
            "element_dtype",
            "type: DT_FLOAT")) "library { function { signature { name: 'c' input_arg { name: 'i' } input_arg { name: "
                               "'x' } input_arg { name: 'l' } output_arg { name: 'r' } }"
                               "  node_def { name: 'n' op: 'Const' attr { key: 'value' value { tensor { dtype: "
                               "DT_INT32 int_val: 3 tensor_shape { } } } } }"
                               "  node_def { name: 'less' op: 'Less' input: 'i' input: 'n:output:0' } ret { key: 'r' "
                               "value: 'less:z:0' } }"
                               "function { signature { name: 'b' input_arg { name: 'i' } input_arg { name: 'x' } "
                               "input_arg { name: 'l' }"
                               "    output_arg { name: 'oi' } output_arg { name: 'ox' } output_arg { name: 'ol' } }"
                               "  node_def { name: 'one' op: 'Const' attr { key: 'value' value { tensor { dtype: "
                               "DT_INT32 int_val: 1 tensor_shape { } } } } }"
                               "  node_def { name: 'ni' op: 'AddV2' input: 'i' input: 'one:output:0' }"
                               "  node_def { name: 'nx' op: 'AddV2' input: 'x' input: 'x' }"
                               "  node_def { name: 'nl' op: 'TensorListSetItem' input: 'l' input: 'i' input: 'nx:z:0' }"
                               "  ret { key: 'oi' value: 'ni:z:0' } ret { key: 'ox' value: 'nx:z:0' } ret { key: 'ol' "
                               "value: 'nl:output_handle:0' } } }";

static const char ARRAY[] = INT("n", 3) CONST("i", "DT_INT32", DIM(3), "int_val: [0, 1, 2]")
    FLOATS("x", 3, "float_val: [4, 5, 6]") NODE("t", "TensorArrayV3", IN("n"), ATTR("dtype", "type: DT_FLOAT"))
        NODE("s", "TensorArrayScatterV3", IN("t") IN("i") IN("x") IN("t:1"), ) INT("two", 2)
            NODE("r", "TensorArrayReadV3", IN("t") IN("two") IN("s"), ATTR("dtype", "type: DT_FLOAT")) INT("zero", 0)
                NODE("w", "TensorArrayWriteV3", IN("t") IN("zero") IN("r") IN("s"), )
                    NODE("g", "TensorArrayGatherV3", IN("t") IN("i") IN("w"), ATTR("dtype", "type: DT_FLOAT"));

static void test_flow(void)
{
    char branch[sizeof BRANCH + 400];
    VALUES(LOOP, "xs", 81);
    VALUES(LOOP, "xi", 4);
    snprintf(branch, sizeof branch, "%s%s", CONST("p", "DT_BOOL", , "bool_val: true"), BRANCH);
    VALUES(branch, "m", -1, -2);
    VALUES(branch, "m:1", 1);
    snprintf(branch, sizeof branch, "%s%s", CONST("p", "DT_BOOL", , "bool_val: false"), BRANCH);
    VALUES(branch, "m", 1, 4);
    VALUES(CALL, "y", 2, 4);
    VALUES(CALL, "y:1", 1);
    VALUES(WHILE, "w:1", 40);
    VALUES(WHILE, "all", 10, 20, 40);
    VALUES(ARRAY, "r", 6);
    VALUES(ARRAY, "g", 6, 5, 6);
}

/* A condition known only at run time: nodes after a Switch form a branch, and run only in it. */
static void test_run_time_branch(void)
{
    char text[sizeof BRANCH + 600];
    snprintf(text, sizeof text, "%s%s%s", INPUT("x", ), FLOATS("limit", 1, "float_val: 0"),
             NODE("p", "Greater", IN("x") IN("limit"), ));
    strcat(text, BRANCH);
    outcome o = read_text(text, "m");
    int32_t branches = 0, others = 0;
    for (int32_t i = 0; o.rc == AC_OK && i < o.g->node.n; i++)
        *(o.g->node.item[i]->op == AC_OP_IF ? &branches : &others) += 1;
    CHECK(o.rc == AC_OK && branches == 1 && o.g->sub.n == 2 && o.g->output.item[0]->dim[0] == 2);
    CHECK(o.rc == AC_OK && others == 2); /* the condition, as a scalar */
    done();
}

/* ------------------------------------------------------------------ inputs and outputs */

static void test_ends(void)
{
    static const char GRAPH[] = INPUT("x", DIM(2)) NODE("a", "Relu", IN("x"), ) NODE("b", "Neg", IN("a"), )
        NODE("c", "Abs", IN("a:0"), ) NODE("init", "NoOp", IN("^b"), );
    outcome o = read_text(GRAPH, NULL);
    CHECK(o.rc == AC_OK && o.g->output.n == 1 && !strcmp(o.g->output.item[0]->name, "c")); /* b is waited for */
    done();
    o = read_text(GRAPH, "b, a");
    CHECK(o.rc == AC_OK && o.g->output.n == 2 && !strcmp(o.g->output.item[1]->name, "a") && o.g->node.n == 2);
    done();
    o = read_text(GRAPH, "bb");
    CHECK(o.rc == AC_FAIL && o.exit == 2 && o.code == E0501);
    done();
}

/* Unknown sizes: the graph has its inputs, and its nodes come once they are pinned. */
static void test_unread_input(void)
{
    outcome o = read_text(INPUT("left", "unknown_rank: true") INPUT("x", DIM(2)) NODE("y", "Relu", IN("x"), ), NULL);
    CHECK(o.rc == AC_OK && o.g->input.n == 1 && !strcmp(o.g->input.item[0]->name, "x"));
    done();
}

static void test_open(void)
{
    static const char GRAPH[] = INPUT("x", DIM(-1) DIM(4)) NODE("y", "Relu", IN("x"), );
    static const char RANK[] = INPUT("x", "unknown_rank: true") NODE("y", "Relu", IN("x"), );
    const char *text[] = {GRAPH, RANK};
    for (int k = 0; k < 2; k++) {
        const ac_file f = {.path = "t.pbtxt", .data = (const uint8_t *)text[k], .n = strlen(text[k])};
        ac_imported m;
        ac_ctx_open(&cx);
        ac_ctx_start(&cx);
        CHECK(ac_import(&cx, &f, NULL, &m) == AC_OK && m.waiting && !m.graph->node.n && m.graph->input.n == 1);
        ac_tensor *x = m.graph->input.item[0];
        CHECK(x->any_rank == (k == 1));
        x->any_rank = false;
        x->rank = 2;
        x->dim[0] = 3;
        x->dim[1] = 4;
        CHECK(ac_import_nodes(&cx, &m, NULL, 0) == AC_OK && !m.waiting);
        CHECK(m.graph->node.n == 1 && m.graph->output.item[0]->dim[0] == 3);
        done();
    }
}

/* ------------------------------------------------------------------ errors and refusals */

static void fails(int line, const char *text, int exit, ac_code code, const char *node)
{
    outcome o = read_text(text, NULL);
    if (o.rc != AC_FAIL || o.exit != exit || o.code != code || (node && (!o.node || strcmp(o.node, node) != 0))) {
        printf("%s:%d: failed: exit %d, code %d at '%s', %s\n", __FILE__, line, o.exit, (int)o.code,
               o.node ? o.node : "", o.text ? o.text : "nothing");
        failures++;
    }
    done();
}

#define FAILS(text, exit, code, node) fails(__LINE__, text, exit, code, node)

static void test_refused(void)
{
    FAILS(INPUT("x", DIM(2)) NODE("y", "NoSuchOp", IN("x"), ), 8, E0107, "y");
    FAILS(INPUT("x", DIM(2)) NODE("y", "Relu", IN("x"), ATTR("fancy", "i: 1")), 8, E0108, "y");
    FAILS(CONST("c", "DT_COMPLEX64", DIM(1), "scomplex_val: 1 scomplex_val: 2") NODE("y", "Relu", IN("c"), ), 8, E0108,
          "c");
    FAILS(NODE("v", "VariableV2", , ) NODE("y", "Relu", IN("v"), ), 8, E0107, "v");
    FAILS(INPUT("x", DIM(2)) NODE("y", "DynamicPartition", IN("x") IN("x"), ), 8, E0107, "y");
    /* all of them at once */
    outcome o =
        read_text(INPUT("x", DIM(2)) NODE("y", "NoSuchOp", IN("x"), ) NODE("z", "ListDiff", IN("x") IN("x"), ), NULL);
    CHECK(o.exit == 8 && cx.diags.errors == 2);
    done();
    o = read_text("# a comment\n" INPUT("x", DIM(2)) NODE("y", "Relu", IN("nothing"), ), NULL);
    CHECK(o.exit == 1 && o.code == E0101 && o.line == 3);
    done();
}

static void test_malformed(void)
{
    FAILS(NODE("y", "Relu", IN("z"), ) NODE("z", "Relu", IN("y"), ), 1, E0101, NULL); /* a cycle without a loop */
    FAILS(INPUT("x", DIM(2)) NODE("x", "Relu", IN("x"), ), 1, E0022, NULL);
    FAILS(INPUT("x", DIM(2)) NODE("y", "Add", IN("x"), ), 1, E0102, "y");
    FAILS(INPUT("x", DIM(-7)) NODE("y", "Relu", IN("x"), ), 1, E0201, NULL);
    FAILS(FLOATS("c", 2, "tensor_content: 'abc'") NODE("y", "Relu", IN("c"), ), 1, E0016, "c");
    FAILS(CONST("c", "DT_FLOAT", DIM(99999999) DIM(99999999), "float_val: 1") NODE("y", "Relu", IN("c"), ), 1, E0015,
          "c");
    FAILS("node { name: 'x' colour: 1 }", 1, E0012, NULL);
    FAILS("node { name: 'x'", 1, E0010, NULL);
    FAILS(INPUT("x", DIM(2)) NODE("y", "Exit", IN("x"), ), 1, E0012, "y");
    FAILS(INPUT("x", DIM(2)) NODE(
              "y", "F",
              IN("x"), ) "library { function { signature { name: 'F' input_arg { name: 'a' } output_arg { name: 'r' } }"
                         "node_def { name: 'n' op: 'F' input: 'a' } ret { key: 'r' value: 'n:r:0' } } }",
          1, E0014, NULL); /* a function that calls itself */
}

/* A loop without an end stops at the number of operators a model may have. */
static void test_endless(void)
{
    char text[sizeof LOOP + 10];
    memcpy(text, LOOP, sizeof LOOP);
    char *one = strstr(text, "int_val: 1 }");
    CHECK(one != NULL);
    if (one)
        one[9] = '0';
    outcome o = read_text(text, "xs");
    CHECK(o.rc == AC_FAIL && (o.code == E0108 || o.code == E0014));
    done();
}

/* Cut off anywhere, or with any byte changed, a file gives a graph or a message. */
static void test_damage(void)
{
    static const uint8_t NODES[] = {10,  20,  10,  1,   'x', 18,  11,  'P', 'l', 'a', 'c', 'e', 'h',
                                    'o', 'l', 'd', 'e', 'r', 42,  0,   42,  0,   10,  14,  10,  1,
                                    'y', 18,  4,   'R', 'e', 'l', 'u', 26,  1,   'x', 42,  0};
    uint8_t bytes[sizeof NODES];
    for (size_t n = 0; n <= sizeof NODES; n++) {
        outcome o = read_bytes(NODES, n, NULL);
        CHECK(o.rc == AC_OK || o.text);
        done();
    }
    for (size_t i = 0; i < sizeof NODES; i++)
        for (int v = 0; v < 256; v += 5) {
            memcpy(bytes, NODES, sizeof NODES);
            bytes[i] = (uint8_t)v;
            outcome o = read_bytes(bytes, sizeof bytes, NULL);
            CHECK(o.rc == AC_OK || o.text);
            done();
        }
}

int main(void)
{
    test_encodings();
    test_flow();
    test_run_time_branch();
    test_ends();
    test_unread_input();
    test_open();
    test_refused();
    test_malformed();
    test_endless();
    test_damage();
    return check_done();
}
