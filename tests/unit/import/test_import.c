/* test_import.c - reads model files: valid ones give the expected graph, invalid ones are refused without a crash.
 *
 * The files are those of tflite_spec.h: each case breaks one thing and names the diagnostic it expects. */
#include "import/import.h"
#include "ir/lower/node/node.h"

#include "tests/unit/support/expect.h"
#include "tests/unit/support/tflite_spec.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Reading. The bytes are copied to an allocation of exactly their size, `skew` bytes off alignment, for the sanitizers.
 */

static ac_ctx cx;
static ac_graph *g;
static int64_t file_ops;
static uint8_t *held;

static void drop(void)
{
    ac_ctx_close(&cx);
    free(held);
    held = NULL;
    g = NULL;
}

static int read_bytes(const void *bytes, size_t n, const char *from, size_t skew)
{
    ac_ctx_open(&cx);
    cx.heap.limit = 256u << 20;
    if (OUT_OF_MEMORY(cx)) {
        printf("out of memory\n");
        exit(1);
    }
    ac_ctx_start(&cx);
    held = malloc(n + skew ? n + skew : 1);
    if (!held)
        exit(1);
    if (n)
        memcpy(held + skew, bytes, n);
    ac_file f = {.path = "test", .data = held + skew, .n = n};
    ac_imported m;
    int rc = ac_import(&cx, &f, &(ac_import_options){.from = from, .promise = ac_lower_promise}, &m);
    g = m.graph;
    file_ops = m.file_ops;
    CHECK((rc == AC_OK) == (ac_diags_exit(&cx.diags) == AC_EXIT_OK));
    CHECK((rc == AC_OK) == (g != NULL));
    return rc;
}

static bool reported(ac_code code)
{
    for (const ac_diag *d = cx.diags.first; d; d = d->next)
        if (d->code == code)
            return true;
    return false;
}

static void expect(int line, const void *bytes, size_t n, const char *from, ac_code code, ac_exit status)
{
    int rc = read_bytes(bytes, n, from, 0);
    if (rc != AC_FAIL || !reported(code) || ac_diags_exit(&cx.diags) != status) {
        printf("%s:%d: expected %s and exit %d, got exit %d\n", __FILE__, line, ac_code_name(code), (int)status,
               (int)ac_diags_exit(&cx.diags));
        ac_diags_print(&cx.diags, stdout, false);
        failures++;
    }
    drop();
}

#define BROKEN(code, ...)                                             \
    do {                                                              \
        spec s = good();                                              \
        __VA_ARGS__;                                                  \
        build(&s);                                                    \
        expect(__LINE__, out, n_out, NULL, code, ac_code_exit(code)); \
    } while (0)

static void test_good(void)
{
    spec s = good();
    build(&s);
    for (size_t skew = 0; skew < 4; skew++) {
        CHECK(read_bytes(out, n_out, skew ? NULL : "tflite", skew) == AC_OK);
        if (!g)
            return;
        CHECK(g->node.n == 1 && g->input.n == 1 && g->output.n == 1 && g->tensor.n == 3 && file_ops == 1);
        const ac_node *n = g->node.item[0];
        CHECK(n->op == AC_OP_ADD && n->n_in == 2 && n->n_out == 1 && n->attrs.act.act == AC_ACT_RELU && n->id == 0);
        CHECK(!strcmp(n->name, "y") && !strcmp(n->at.op, "ADD") && n->at.op_index == 1);
        CHECK(n->in[0] == g->input.item[0] && n->out[0] == g->output.item[0] && n->out[0]->def == n);
        const ac_tensor *x = n->in[0], *w = n->in[1];
        CHECK(!strcmp(x->name, "x") && x->dtype == AC_F32 && x->rank == 2 && x->dim[1] == 4 && !x->quant &&
              !x->dim_name[0]);
        CHECK(w->data && (uintptr_t)w->data % 4 == 0 && ac_tensor_bytes(w) == 16);
        CHECK(ac_graph_verify(g) == AC_OK);
        drop();
    }
}

static void test_details(void)
{
    spec s = good();
    s.unknown = 1;
    s.x_name = s.y_name = "twice\n";
    build(&s);
    CHECK(read_bytes(out, n_out, NULL, 0) == AC_OK); /* an unknown dimension keeps the file's size and gets a name */
    CHECK(g && g->input.item[0]->dim[0] == 1 && !strcmp(g->input.item[0]->dim_name[0], "dim0"));
    CHECK(g && !g->input.item[0]->dim_name[1] && !g->output.item[0]->dim_name[0]);
    CHECK(g && !strcmp(g->input.item[0]->name, "twice_") && strcmp(g->output.item[0]->name, "twice_"));
    drop();

    s = good(); /* one scale per element, as in weights; bias-like: the dimension number is ignored at rank 1 */
    s.type = s.w_type = 9;
    s.w_bytes = 4;
    s.scales = s.zeros = 4;
    s.scale = 0.5f;
    s.q_axis = 3;
    build(&s);
    CHECK(read_bytes(out, n_out, NULL, 0) == AC_OK);
    CHECK(g && g->node.item[0]->in[1]->quant && g->node.item[0]->in[1]->quant->n == 4);
    drop();

    s = good(); /* scales of 0 on floats mean nothing */
    s.scales = 1;
    build(&s);
    CHECK(read_bytes(out, n_out, NULL, 0) == AC_OK && !g->node.item[0]->in[1]->quant);
    drop();

    s = good();
    s.w_buffer = 0;
    s.variable = 1;
    build(&s);
    CHECK(read_bytes(out, n_out, NULL, 0) == AC_OK && g->node.item[0]->in[1]->state && ac_graph_verify(g) == AC_OK);
    drop();

    s = good(); /* data after the FlatBuffer */
    s.far_buffer = 8;
    build(&s);
    CHECK(read_bytes(out, n_out, NULL, 0) == AC_OK && g->node.item[0]->in[1]->data);
    drop();
}

static void test_operands(void)
{
    spec s = good(); /* the older SELECT chooses rows: its condition is reshaped */
    s.builtin = 64;
    s.w_type = 6;
    s.w_dim = 1;
    s.w_bytes = 1;
    s.n_ins = 3;
    s.ins[0] = 1, s.ins[1] = s.ins[2] = 0;
    build(&s);
    CHECK(read_bytes(out, n_out, NULL, 0) == AC_OK && ac_graph_verify(g) == AC_OK);
    CHECK(g && g->node.n == 2 && g->node.item[0]->op == AC_OP_RESHAPE && g->node.item[1]->op == AC_OP_SELECT);
    CHECK(g && g->node.item[0]->id == 1 && g->node.item[1]->id == 0);
    drop();

    s = good(); /* an operand left out at the end is not there */
    s.builtin = 9;
    s.options_type = 8;
    s.n_ins = 3;
    s.ins[2] = -1;
    build(&s);
    CHECK(read_bytes(out, n_out, NULL, 0) == AC_OK && g->node.item[0]->n_in == 2);
    drop();
}

static void test_malformed(void)
{
    BROKEN(E0012, s.subgraphs = 0);
    BROKEN(E0013, s.code_index = 1);
    BROKEN(E0013, s.ins[0] = 3);
    BROKEN(E0013, s.ins[0] = -2);
    BROKEN(E0013, s.outs[0] = -1);
    BROKEN(E0013, s.graph_in = 99);
    BROKEN(E0013, s.graph_out = -1);
    BROKEN(E0013, s.w_buffer = 2);
    BROKEN(E0015, s.dim[0] = s.dim[1] = 0x7fffffff);
    BROKEN(E0015, s.dim[0] = s.dim[1] = s.dim[2] = s.dim[3] = 0x7fffffff; s.rank = 4);
    BROKEN(E0016, s.w_bytes = 15);
    BROKEN(E0016, s.w_dim = 3);
    BROKEN(E0011, s.far_buffer = 1 << 20);
    BROKEN(E0012, s.w_dim = -1);
    BROKEN(E0201, s.dim[1] = -4);
    BROKEN(E0012, s.options_type = 9);
    BROKEN(E0103, s.options = 77);
    BROKEN(E0101, s.outs[0] = 0);               /* makes an input */
    BROKEN(E0101, s.outs[0] = 1);               /* makes a constant */
    BROKEN(E0101, s.ins[1] = 2);                /* reads its own result */
    BROKEN(E0101, s.w_buffer = 0);              /* reads what nothing makes */
    BROKEN(E0101, s.graph_in = 1);              /* a constant as input */
    BROKEN(E0101, s.n_outs = 2; s.outs[1] = 2); /* makes it twice */
    BROKEN(E0102, s.n_ins = 1);
    BROKEN(E0102, s.n_ins = 3);
    BROKEN(E0102, s.ins[1] = -1);
    BROKEN(E0106, s.w_type = 9; s.w_bytes = 4; s.scales = 1);
    BROKEN(E0106, s.w_type = 9; s.w_bytes = 4; s.scales = 1; s.scale = -1);
    BROKEN(E0106, s.w_type = 9; s.w_bytes = 4; s.scales = 3; s.scale = 1);
    BROKEN(E0106, s.w_type = 9; s.w_bytes = 4; s.scales = 4; s.zeros = 3; s.scale = 1);
    BROKEN(E0106, s.w_type = 9; s.w_bytes = 4; s.scales = s.zeros = 1; s.scale = 1; s.zero = 128);
    BROKEN(E0106, s.w_type = 9; s.w_bytes = 4; s.scales = s.zeros = 1; s.scale = 1; s.zero = INT64_MIN);
    BROKEN(E0012, s.sparse = 1);       /* without levels */
    BROKEN(E0014, s.subgraphs = 1600); /* all the same object */
}

static void test_unsupported(void)
{
    BROKEN(E0017, s.version = 2);
    BROKEN(E0107, s.builtin = 16);
    BROKEN(E0107, s.builtin = 9999);
    BROKEN(E0107, s.old_builtin = 32; s.custom = "Foo");
    BROKEN(E0108, s.options = 5); /* SIGN_BIT */
    BROKEN(E0108, s.type = 5);    /* STRING */
    BROKEN(E0108, s.type = 17);   /* 4-bit activations */
    BROKEN(E0108, s.external = 1);
    BROKEN(E0205, s.rank = 9);
    spec s = good(); /* malformed wins over unsupported */
    s.builtin = 16;
    s.ins[0] = 7;
    build(&s);
    expect(__LINE__, out, n_out, NULL, E0013, AC_EXIT_INVALID);
}

/* Every truncation or change is read or refused, without a crash. */
static void test_damage(void)
{
    spec s = good();
    build(&s);
    size_t n = n_out;
    for (size_t k = 0; k < n; k++) {
        CHECK(read_bytes(out, k, NULL, 0) == AC_FAIL);
        CHECK(k < 8 || reported(E0010) || reported(E0011));
        drop();
        if (k >= 1 && k < 8)
            expect(__LINE__, out, k, "tflite", E0010, AC_EXIT_INVALID);
    }
    for (size_t k = 0; k < n; k++) {
        uint8_t was = out[k];
        for (int bit = 0; bit < 10; bit++) {
            out[k] = (uint8_t)(bit < 8 ? was ^ 1 << bit : bit == 8 ? 0 : 255);
            if (read_bytes(out, n, "tflite", 0) == AC_OK)
                ac_graph_verify(g);
            drop();
        }
        out[k] = was;
    }
    for (int k = 0; k < n_refs; k++) { /* every reference, dangling */
        static const uint32_t BAD[] = {0x7fffffff, 0xffffffff, 0xfffffff0, 0x10000};
        uint8_t was[4];
        memcpy(was, out + refs[k], 4);
        for (size_t i = 0; i < sizeof BAD / sizeof *BAD; i++) {
            patch(refs[k], BAD[i], 4);
            expect(__LINE__, out, n, NULL, E0011, AC_EXIT_INVALID);
        }
        patch(refs[k], 0, 4);
        expect(__LINE__, out, n, NULL, E0012, AC_EXIT_INVALID);
        memcpy(out + refs[k], was, 4);
    }
}

/* Each operator's options name attributes that it has; without options or with them, nothing crashes. */
static void test_table(void)
{
#define OPTIONS(set, number, need, fields) enum { NUMBER_##set = number };
#include "import/tflite/operators.def"
    static const struct {
        int number, options;
        const char *name;
    } ROWS[] = {
#define TFL(number, name, options, rule, why) {number, NUMBER_##options, #name},
#include "import/tflite/operators.def"
    };
    for (size_t i = 0; i < sizeof ROWS / sizeof *ROWS; i++) {
        ac_op op = ac_op_find_tflite(ROWS[i].name);
        for (int with = 0; with < 2 && op; with++) {
            spec s = good();
            s.builtin = ROWS[i].number;
            s.options_type = with ? ROWS[i].options : 0;
            s.options = with ? 0 : -1;
            s.n_ins = ac_ops[op].min_in;
            if (ac_ops[op].n_out > 1) { /* the model has one result to give: E0101 */
                s.n_outs = 2;
                s.outs[1] = 2;
            }
            const ac_node whole = {.op = op, .n_in = ac_ops[op].max_in};
            for (int k = s.n_ins; k < ac_ops[op].max_in; k++) /* axes and sizes are operands in files */
                if (ac_node_is_static(&whole, k))
                    s.n_ins = k + 1;
            for (int k = 0; k < s.n_ins; k++)
                s.ins[k] = k == 1;
            build(&s);
            read_bytes(out, n_out, NULL, 0);
            CHECK(!reported(E0901) && !reported(E0107) && !reported(E0102));
            drop();
        }
    }
    for (int i = 1; i < AC_OP_COUNT; i++) { /* no operator that TFLite has is out of its reach */
        bool found = !*ac_ops[i].tflite;
        for (size_t k = 0; k < sizeof ROWS / sizeof *ROWS; k++)
            found |= !strcmp(ROWS[k].name, ac_ops[i].tflite);
#define CUSTOM_OP(name, rule) found |= !strcmp(#name, ac_ops[i].tflite);
#include "import/tflite/operators.def"
        CHECK(found);
    }
}

#define LOOKS(bytes, code, from) expect(__LINE__, bytes, sizeof(bytes) - 1, from, code, ac_code_exit(code))

static void test_formats(void)
{
    LOOKS("", E0001, NULL);
    LOOKS("", E0001, "tflite");
    LOOKS("<!DOCTYPE html><html>", E0001, NULL);
    LOOKS("version https://git-lfs.github.com/spec/v1\n", E0001, NULL);
    LOOKS("PK\003\004....", E0001, NULL);
    LOOKS("\211HDF\r\n\032\n....", E0001, NULL);
    LOOKS("\211PNG\r\n\032\n", E0001, NULL);
    LOOKS("\211PNG\r\n\032\n....", E0012, "tflite");
    LOOKS("id,lower,upper,size\n0,0,3,16\n", E0001, NULL);
    LOOKS("hello\n", E0001, NULL);
    LOOKS("\377\376\375\374\373\372\371\370\367", E0001, NULL);
    LOOKS("xxxxTFL3", E0011, NULL);
    LOOKS("xxxxTF", E0010, NULL);
    LOOKS("\010\010\022\001x\072\002\012\000", E0101, NULL); /* ONNX without outputs */
    LOOKS("\012\007\012\001a\022\002Op", E0107, NULL);       /* GraphDef */
    LOOKS("\012\003net\242\006\003\012\001a", E0012, NULL);  /* Caffe, a layer without a type */
    LOOKS("name: \"net\"\nlayer {\n", E0010, NULL);
    LOOKS("{\n  \"nodes\": [\n { \"op\": \"null\"", E0010, NULL);
    LOOKS("anything", E0010, "onnx");
    LOOKS("anything", E0501, "tflight");
    int32_t n;
    const char *const *names = ac_import_formats(&n);
    CHECK(n >= 6 && !strcmp(names[0], "tflite"));
}

static int open_file(const char *path, ac_file *f)
{
    ac_ctx_open(&cx);
    if (OUT_OF_MEMORY(cx))
        exit(1);
    ac_ctx_start(&cx);
    return ac_file_open(&cx, path, f);
}

static void test_files(void)
{
    static ac_file f;
    char name[] = "/tmp/test_import_XXXXXX";
    CHECK(open_file("/does/not/exist", &f) == AC_FAIL && reported(E0301));
    drop();
    CHECK(open_file("/", &f) == AC_FAIL && reported(E0301));
    drop();
    CHECK(open_file("/dev/null", &f) == AC_OK && f.n == 0 && f.data);
    drop();
    int fd = mkstemp(name), ends[2];
    CHECK(fd >= 0 && open_file(name, &f) == AC_OK && f.n == 0);
    drop();
    CHECK(write(fd, "0123456789", 10) == 10 && open_file(name, &f) == AC_OK && f.n == 10 &&
          !memcmp(f.data, "0123456789", 10));
    ac_file_close(&f);
    CHECK(f.n == 0);
    ac_file_close(&f); /* twice is fine */
    drop();
    close(fd);
    unlink(name);
    int old = dup(STDIN_FILENO); /* "-" reads a pipe to its end */
    CHECK(pipe(ends) == 0 && write(ends[1], "abc", 3) == 3);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    CHECK(open_file("-", &f) == AC_OK && f.n == 3 && !memcmp(f.data, "abc", 3) && !strcmp(f.path, "<stdin>"));
    drop();
    dup2(old, STDIN_FILENO);
}

int main(void)
{
    test_good();
    test_details();
    test_operands();
    test_malformed();
    test_unsupported();
    test_damage();
    test_table();
    test_formats();
    test_files();
    return check_done();
}
