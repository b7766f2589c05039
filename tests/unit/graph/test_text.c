/* test_text.c - the .ag text form: read(write(g)) == g, texts that would cost much, files of values, the examples of
 * the manual. Messages for malformed texts: tests/golden/text. */
#include "base/sink.h"
#include "ir/graph/graph.h"
#include "tests/unit/support/expect.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef SOURCE_DIR
#define SOURCE_DIR "."
#endif

static ac_graph *read_with(ac_ctx *cx, const char *text, ac_text_head *head)
{
    ac_graph *g = NULL;
    int status = ac_graph_read_text(cx, "t.ag", text, strlen(text), head, &g);
    CHECK((status == AC_OK) == (g != NULL));
    return g;
}

static ac_graph *read_it(ac_ctx *cx, const char *text)
{
    return read_with(cx, text, NULL);
}

static bool same_after_writing(ac_ctx *cx, const char *name, const char *text)
{
    ac_text_head head;
    ac_graph *g = read_with(cx, text, &head);
    if (!g) {
        fprintf(stderr, "in %s:\n", name);
        ac_diags_print(&cx->diags, stderr, false);
        return false;
    }
    ac_sink out, again;
    ac_sink_open(&out, cx);
    ac_graph_write_text(&out, g, head.channels_first);
    ac_graph *h = read_with(cx, ac_sink_text(&out), &head);
    if (!h || !ac_graph_equal(g, h)) {
        fprintf(stderr, "%s does not come back:\n%s\n", name, ac_sink_text(&out));
        ac_diags_print(&cx->diags, stderr, false);
        return false;
    }
    ac_sink_open(&again, cx);
    ac_graph_write_text(&again, h, head.channels_first);
    return !strcmp(ac_sink_text(&out), ac_sink_text(&again));
}

static void with_ctx(void (*f)(ac_ctx *cx, const void *arg), const void *arg, size_t limit)
{
    static ac_ctx cx; /* not a local: setjmp */
    ac_ctx_open(&cx);
    cx.heap.limit = limit;
    if (OUT_OF_MEMORY(cx)) {
        fprintf(stderr, "out of memory\n");
        failures++;
        ac_ctx_close(&cx);
        return;
    }
    ac_ctx_start(&cx);
    f(&cx, arg);
    ac_ctx_close(&cx);
}

/* ------------------------------------------------------------------ round trips */

// clang-format off
static const char *const GOOD[] = {
    /* the sample of the manual, by and large */
    "graph kws {\n"
    "  input  x: i8[1,49,10,1] q(0.584, 83)\n"
    "  const  w: i8[2,10,4,1] q(axis 0: 0.01 0, 0.02 0) = random 7 (-128, 127)   # comment\n"
    "  const  b: i32[2] = [1, -2]\n"
    "  state  h: f32[1,16]\n"
    "  y: i8[1,25,5,2] q(0.1, -128) = conv_2d(x, w, b) stride_h=2 stride_w=2 padding=same act=relu \"node name\"\n"
    "  z = conv_2d(y, w, _)\n"
    "  output y, z\n"
    "}\n",
    /* names */
    "graph \"a b\" { input \"input\": f32[]\n \"_\" = relu(\"input\")\n"
    " \"\\\"\\\\\\n\\t\\x01 \xc3\xa4\" = relu(\"_\")\n"
    " model/conv1.out = relu(\"_\") \"model/Relu:0\"\n \"1x\" = relu(\"_\") \"\"\n output \"1x\" }",
    /* constants of all types */
    "graph c {\n"
    " const a: f32[3] = [1.5, -0.1, 1e-30]\n const b: f16[2] = [0.333, 65504]\n const c: bf16[2] = [3.14, -inf]\n"
    " const d: f64[1] = [0.1]\n const e: i8[2] = [-128, 127]\n const f: i16[1] = [-32768]\n"
    " const g: i64[2] = [-9223372036854775808, 9223372036854775807]\n const h: u64[2] = [0, 18446744073709551615]\n"
    " const i: u32[1] = [4294967295]\n const j: bool[3] = [true, false, 1]\n const k: i4[3] = [-8, 7, 1]\n"
    " const l: u4[4] = [15, 0, 1, 2]\n const m: f32[2] = [nan, inf]\n const n: f32[1000000,1000] = splat 0.1\n"
    " const o: u64[9] = splat 18446744073709551615\n const p: i4[5] = splat -3\n const q: f32[4] = splat nan\n"
    " const r: f32[0,3] = []\n const s: f32[] = [7]\n const t: i8[3] = hex \"00fF80\"\n const u: f32[99] = random 42\n"
    " const v: bool[20] = random 1\n const w: u4[21] = random 2\n const x: f16[33] = random 3 (0, 10)\n"
    " const y: bf16[2] = splat 1e-40\n state z: f32[2,2] = [1, 2, 3, 4]\n state zz: f32[20] = splat 3\n}\n",
    /* attributes of every type; open and named dimensions; several results */
    "graph at {\n input x: f32[n,?,\"a b\"=3,4]\n const k: i32[1] = splat 2\n"
    " a = leaky_relu(x) alpha=0.30000001\n b = reduce_max(a, _) axes=[0,-1] keep_dims=true\n c = cast(b) to=i16\n"
    " d, \"d 2\", e: f32[?,2] = split_v(x, k, k) axis=3\n f = softmax(a) beta=inf\n"
    " g = max_pool_2d(x) kernel_h=2 padding=explicit pad_t=1 act=relu_n1_to_1\n output c, e, e\n}\n",
    /* a dump after pass view: epilogues and views */
    "graph v {\n input x: f32[1,4]\n const c: f32[4] = [1, 2, 3, 4]\n"
    " t = add(x, c)\n then u = relu(t) \"r\"\n then p: f32[1,4] at y+16 = mul(u, c)\n q: f32[1,4] at y+0 = tanh(x)\n"
    " view y: f32[2,4] = concatenation(q, p)\n view r: f32[8] at y+0 = reshape(y) shape=[8]\n output r\n}\n",
    /* texts as codes */
    "graph t channels_first words [\"\", \"a\\\"\\n\", \"red\", \"\xc3\xa4\"] {\n input text: i32[1,2] text\n"
    " const c: i32[2] word = [2, 0]\n y: i32[1,2] word = maximum(text, c)\n output y, text\n}\n",
    "graph none words [] {\n input x: i32[] text\n output x\n}\n",
    /* subgraphs, blank lines, statements over several lines inside brackets, no newline at the end */
    "\n\n# first\ngraph a {\n\n input x: f32[\n 1,\n 2 ]\n output x }\ngraph b {}\ngraph b {\n}",
    "graph empty{}",
};
// clang-format on

static void round_trips(ac_ctx *cx, const void *arg)
{
    const char *text = arg;
    CHECK(same_after_writing(cx, text, text));
}

/* ------------------------------------------------------------------ hostile texts */

static void too_many(ac_ctx *cx, const void *arg)
{
    (void)arg;
    char *text = calloc(1, 400100);
    strcpy(text, "graph g {\n");
    for (size_t i = 0; i < 200000; i++)
        memcpy(text + 10 + 2 * i, "(\n", 2);
    CHECK(!read_it(cx, text)); /* brackets never closed: still linear */
    CHECK(cx->diags.dropped >= 1);
    free(text);
}

static void no_such_bytes(ac_ctx *cx, const void *arg)
{
    ac_graph *g = NULL;
    CHECK(ac_graph_read_text(cx, "t.ag", arg, 12, NULL, &g) != AC_OK && !g);
}

/* ------------------------------------------------------------------ files and the manual */

static void file_constant(ac_ctx *cx, const void *arg)
{
    (void)arg;
    const char *text = "graph f { const c: i16[2] = file \"test_text.tmp\" @1\n output c }";
    FILE *f = fopen("test_text.tmp", "wb");
    CHECK(f && fwrite("\x09\x01\x02\x03\x04", 1, 5, f) == 5);
    if (f)
        fclose(f);
    ac_graph *g = read_it(cx, text);
    CHECK(g && !memcmp(g->tensor.item[0]->data, "\x01\x02\x03\x04", 4));
    g = read_it(cx, "graph f { const c: i16[2] = file \"test_text.tmp\" @2\n output c }");
    CHECK(!g && cx->diags.last && cx->diags.last->code == E0010);
    remove("test_text.tmp");
}

static void different(ac_ctx *cx, const void *arg)
{
    (void)arg;
    static const char *const PAIR[][2] = {
        {"graph g { input x: f32[1]\n y = relu(x)\n output y }",
         "graph g { input x: f32[1]\n y = relu6(x)\n output y }"},
        {"graph g { input x: f32[1]\n output x }", "graph g { input x: f32[2]\n output x }"},
        {"graph g { input x: f32[n]\n output x }", "graph g { input x: f32[m]\n output x }"},
        {"graph g { input x: i8[1] q(1, 0)\n output x }", "graph g { input x: i8[1] q(1, 1)\n output x }"},
        {"graph g { const x: i8[1] = [1]\n output x }", "graph g { const x: i8[1] = [2]\n output x }"},
        {"graph g { input x: f32[1]\n y = relu(x) \"a\"\n output y }",
         "graph g { input x: f32[1]\n y = relu(x) \"b\"\n output y }"},
    };
    for (size_t i = 0; i < sizeof PAIR / sizeof *PAIR; i++) {
        ac_graph *a = read_it(cx, PAIR[i][0]), *b = read_it(cx, PAIR[i][1]);
        CHECK(a && b && ac_graph_equal(a, a) && !ac_graph_equal(a, b) && !ac_graph_equal(b, a));
    }
}

/* Every block of the manual fenced by ```ag must be a valid file. */
static void manual(ac_ctx *cx, const void *arg)
{
    const char *path = arg;
    char line[1000], *block = calloc(1, 1 << 20);
    FILE *f = fopen(path, "r");
    int32_t blocks = 0;
    bool inside = false;
    CHECK(f);
    while (f && fgets(line, sizeof line, f)) {
        if (!strncmp(line, "```", 3)) {
            if (inside) {
                CHECK(same_after_writing(cx, path, block));
                blocks++;
            }
            inside = !inside && !strcmp(line, "```ag\n");
            block[0] = 0;
        } else if (inside) {
            strcat(block, line);
        }
    }
    CHECK(blocks >= 3);
    if (f)
        fclose(f);
    free(block);
}

int main(int argc, char **argv)
{
    const size_t limit = (size_t)1 << 28;
    for (size_t i = 0; i < sizeof GOOD / sizeof *GOOD; i++)
        with_ctx(round_trips, GOOD[i], limit);
    with_ctx(too_many, NULL, limit);
    with_ctx(no_such_bytes, "graph\0g { }\n", limit);
    with_ctx(file_constant, NULL, limit);
    with_ctx(different, NULL, limit);
    with_ctx(manual, argc > 1 ? argv[1] : SOURCE_DIR "/docs/text-format.md", limit);
    return check_done();
}
