/* test_recurrent.c - state, control flow and selection: svdf and the LSTM cell functions, subgraphs put in the place of
 * IF and WHILE, topk, scatter, segments, non-maximum suppression, conv_3d. Against plain C or known values. */
#include "import/wire/flex.h"
#include "ir/loop/eval/eval.h"
#include "ir/lower/nn/fixed_point16.h"
#include "ir/lower/node/node.h"
#include "ir/ops/decode/operand_names.h"
#include "ir/pass/run/run.h"
#include "tests/unit/support/in_context.h"
#include "tests/unit/support/value_case.h"

#include <math.h>

/* ------------------------------------------------------------------ values of single nodes */

#define F    "input x: f32"
#define NONE ((double)NAN)
// clang-format off
static const value_case VALUES[] = {
    {"input x: f32[5]; const k: i32[] = [3]", "y, j = topk_v2(x, k)", {1, 7, 7, -2, 3}, {7, 7, 3}, {0}, 0, 0},
    {"input x: f32[5]; const k: i32[] = [3]", "y, j = topk_v2(x, k)", {1, 7, 7, -2, 3}, {1, 2, 4}, {0}, 1, 0},
    {"input x: f32[2,2]; const k: i32[] = [1]", "y, j = topk_v2(x, k)", {NONE, 2, 5, NONE}, {1, 0}, {0}, 1, 0},
    {"input x: f32[2]; const k: i32[] = [2]", "y, j = topk_v2(x, k)", {NONE, NONE}, {0, 0}, {0}, 1, 0},
    {"input i: i32[3,1]; input x: f32[3]; const s: i32[1] = [4]", "y = scatter_nd(i, x, s)", {1, 2, 4}, {0, 5, 0, 2}, {1, 3, 1}, 0, 0},
    {"input i: i32[2,1]; input x: f32[2,2]; const s: i32[2] = [2, 2]", "y = scatter_nd(i, x, s)", {1, 2, 4, 8}, {4, 8, 1, 2}, {1, 0}, 0, 0},
    {"input i: i32[1,1]; input x: f32[1]; const s: i32[1] = [4]", "y = scatter_nd(i, x, s)", {1}, {0}, {4}, 0, 4},
    {"input i: i32[1,1]; input x: f32[1]; const s: i32[1] = [4]", "y = scatter_nd(i, x, s)", {1}, {0}, {-1}, 0, 4},
    {"input x: f32[3,2]; input i: i32[3]; const k: i32[] = [3]", "y = unsorted_segment_sum(x, i, k)", {1, 2, 3, 4, 5, 6}, {0, 0, 6, 8, 0, 0}, {1, -1, 1}, 0, 0},
    {"input x: f32[3]; input i: i32[3]; const k: i32[] = [2]", "y = unsorted_segment_prod(x, i, k)", {2, 3, 5}, {10, 3}, {0, 1, 0}, 0, 0},
    {"input x: f32[3]; input i: i32[3]; const k: i32[] = [1]", "y = unsorted_segment_max(x, i, k)", {2, 3, 5}, {5}, {0, 0, 0}, 0, 0},
    {"input x: f32[3]; input i: i32[3]; const k: i32[] = [1]", "y = unsorted_segment_min(x, i, k)", {2, 3, 5}, {2}, {0, 0, 0}, 0, 0},
    {"input x: f32[2]; input i: i32[2]; const k: i32[] = [1]", "y = unsorted_segment_sum(x, i, k)", {1, 2}, {0}, {0, 1}, 0, 4},
    {"const b: f32[3,4] = [0, 0, 2, 2, 0, 0, 2, 1.9, 4, 4, 5, 5]; input x: f32[3]; const n: i32[] = [3]; const t: f32[] = [0.5]; const l: f32[] = [0]",
     "y, c = non_max_suppression_v4(b, x, n, t, l)", {1, 3, 2}, {1, 2, 0}, {0}, 0, 0},
    {"const b: f32[3,4] = [0, 0, 2, 2, 0, 0, 2, 1.9, 4, 4, 5, 5]; input x: f32[3]; const n: i32[] = [3]; const t: f32[] = [0.5]; const l: f32[] = [2]",
     "y, c = non_max_suppression_v4(b, x, n, t, l)", {1, 3, 2}, {1}, {0}, 1, 0},
    {"input x: f32[1,2,4]; const s: f32[1,2,2] = [0, 0.5, 0, 0.75]; const a: f32[2,4] = [0.5, 0.5, 1, 1, 0.5, 0.5, 1, 1]",
     "y, c, s2, n = detection_postprocess(x, s, a) max_detections=2 num_classes=1 nms_iou_threshold=0.5", {0, 0, 0, 0, 1, 1, 0, 0}, {1, 1, 2, 2, 0, 0, 1, 1}, {0}, 0, 0},
    {"input x: f32[1,2,4]; const s: f32[1,2,2] = [0, 0.5, 0, 0.75]; const a: f32[2,4] = [0.5, 0.5, 1, 1, 0.5, 0.5, 1, 1]",
     "y, c, s2, n = detection_postprocess(x, s, a) max_detections=2 num_classes=2 nms_iou_threshold=0.5", {0}, {0.75, 0}, {0}, 2, 0},
    {"input x: f32[1,2,1,2,1]; const w: f32[2,1,2,1,1] = [1, 10, 100, 1000]", "y = conv_3d(x, w)", {1, 2, 3, 4}, {4321}, {0}, 0, 0},
    {"input x: f32[1,2,1,1,1]; const w: f32[2,1,1,1,2] = [1, 2, 3, 4]; const b: f32[2] = [0.5, -50]", "y = conv_3d(x, w, b) padding=same act=relu", {1, 10}, {31.5, 0, 10.5, 0}, {0}, 0, 0},
};
// clang-format on

static void test_values(ac_ctx *cx)
{
    run_values(cx, VALUES, sizeof VALUES / sizeof *VALUES);
}

/* ------------------------------------------------------------------ state */

/* Two runs: the second sees the activations of the first. */
static void test_svdf(ac_ctx *cx)
{
    static const char node[] = "y = svdf(x, w, t, b, s) rank=2";
    static const float w[4][2] = {{1, 2}, {-1, 3}, {0.5f, 1}, {2, -2}},
                       t[4][3] = {{1, 2, 3}, {4, 5, 6}, {7, 8, 9}, {1, 0, 1}};
    static const float x[3][2] = {{1, 2}, {3, -4}, {0.25f, 8}};
    ac_graph *g = NULL;
    const ac_node *n =
        read_node(cx,
                  "input x: f32[1,2]; const w: f32[4,2] = [1, 2, -1, 3, 0.5, 1, 2, -2]; const t: f32[4,3] = "
                  "[1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 0, 1]; const b: f32[2] = [10, 20]; state s: f32[1,12]",
                  node, &g);
    if (!n) {
        fail(__LINE__, node, "shape", "refused");
        return;
    }
    void **data = make_data(cx, g, 0);
    memset(data[n->in[4]->id], 0, sizeof(float[12]));
    float memory[4][3] = {{0}};
    for (int run = 0; run < 3; run++) {
        int status = 0;
        memcpy(data[n->in[0]->id], x[run], sizeof x[run]);
        if (run_node(cx, n, &TARGETS[run], true, data, &status) != AC_OK || status)
            fail(__LINE__, node, TARGETS[run].name, "does not run");
        float want[2] = {10, 20};
        for (int f = 0; f < 4; f++) {
            memory[f][0] = memory[f][1];
            memory[f][1] = memory[f][2];
            memory[f][2] = w[f][0] * x[run][0] + w[f][1] * x[run][1];
            want[f / 2] += t[f][0] * memory[f][0] + t[f][1] * memory[f][1] + t[f][2] * memory[f][2];
        }
        const float *y = data[n->out[0]->id];
        if (y[0] != want[0] || y[1] != want[1])
            fail(__LINE__, node, TARGETS[run].name, "differs");
    }
}

/* Integers, three runs with a memory of m activations: every target leaves the results and the memory of the first. */
static void test_svdf_targets(ac_ctx *cx, int m)
{
    enum { RUNS = 3, X = 14, Y = 6, FILTERS = 12, MOST = 6 };
    static const char node[] = "y: i8[2,3] q(0.5, -4) = svdf(x, w, t, b, s) rank=2";
    ac_graph *g = NULL;
    const ac_node *n =
        read_node(cx,
                  ac_strf(cx->region,
                          "input x: i8[2,7] q(0.05, 3); const w: i8[6,7] q(0.02, 0) = random 1 (-99, 99); "
                          "const t: i16[6,%d] q(0.0005, 0) = random 2 (-32767, 32767); "
                          "const b: i32[3] q(0.00001, 0) = random 3 (-9999, 9999); "
                          "state s: i16[2,%d] q(0.02, 0)",
                          m, 6 * m),
                  node, &g);
    int8_t y[N_TARGETS][RUNS][Y];
    int16_t memory[N_TARGETS][FILTERS * MOST] = {{0}};
    for (int k = 0; n && k < N_TARGETS; k++) {
        void **data = make_data(cx, g, 0);
        const size_t bytes = (size_t)(FILTERS * m) * sizeof(int16_t);
        memset(data[n->in[4]->id], 0, bytes);
        for (int run = 0; run < RUNS; run++) {
            int status = 0;
            for (int i = 0; i < X; i++)
                ((int8_t *)data[n->in[0]->id])[i] = (int8_t)(37 * i * (run + 3) % 251 - 125);
            if (run_node(cx, n, &TARGETS[k], false, data, &status) != AC_OK || status)
                fail(__LINE__, node, TARGETS[k].name, "does not run");
            memcpy(y[k][run], data[n->out[0]->id], Y);
        }
        memcpy(memory[k], data[n->in[4]->id], bytes);
        if (memcmp(y[k], y[0], sizeof y[0]) != 0 || memcmp(memory[k], memory[0], sizeof memory[0]) != 0)
            fail(__LINE__, node, TARGETS[k].name, "differs");
    }
    if (!n)
        fail(__LINE__, node, "shape", "refused");
}

/* An LSTM of integers whose gates are open: the cells grow step by step, one up and one down, and stop at the clip. */
static void test_cell_clip(ac_ctx *cx)
{
    enum { STEPS = 5, CLIP = 2048 }; /* 0.5 of 2^-12 */
    static const char node[] = "y: i8[1,5,2] q(0.0078, 0) = unidirectional_sequence_lstm(x, w, w, w, w, r, r, r, r, _, "
                               "_, _, b, b, g, b, _, _, h, c) cell_clip=0.5";
    ac_graph *graph = NULL;
    const ac_node *n = read_node(cx,
                                 "input x: i8[1,5,3] q(0.004, -128); const w: i8[2,3] q(0.01, 0) = splat 0; "
                                 "const r: i8[2,2] q(0.01, 0) = splat 0; const b: i32[2] q(0.00004, 0) = splat 200000; "
                                 "const g: i32[2] q(0.00004, 0) = [5000, -5000]; state h: i8[1,2] q(0.0078, 0); "
                                 "state c: i16[1,2] q(0.000244140625, 0)",
                                 node, &graph);
    if (!n) {
        fail(__LINE__, node, "shape", "refused");
        return;
    }
    for (int32_t k = 0; k < N_TARGETS; k++) {
        void **data = make_data(cx, graph, 0);
        memset(data[n->in[AC_LSTM_HIDDEN]->id], 0, 2);
        memset(data[n->in[AC_LSTM_CELL]->id], 0, 2 * sizeof(int16_t));
        int status = 0;
        if (run_node(cx, n, &TARGETS[k], true, data, &status) != AC_OK || status)
            fail(__LINE__, node, TARGETS[k].name, "does not run");
        const int16_t *c = data[n->in[AC_LSTM_CELL]->id];
        const int8_t *y = data[n->out[0]->id];
        if (c[0] != CLIP || c[1] != -CLIP)
            fail(__LINE__, node, TARGETS[k].name, "cells are not clipped");
        if (y[0] <= 0 || y[2] <= y[0] || y[1] != -y[0] || y[2 * STEPS - 2] != y[2 * STEPS - 4])
            fail(__LINE__, node, TARGETS[k].name, "does not grow and stop");
    }
}

/* All 65,536 values against the reference (gemmlowp): FNV-1a over the 16-bit results. */
static void test_fixed16(ac_ctx *cx)
{
    static const struct {
        int32_t bits;
        uint32_t tanh, logistic;
    } want[] = {
        {0, 0x688303e1u, 0x16926fe9u},
        {2, 0xa8690335u, 0xd5ea0063u},
        {3, 0x33fddf7cu, 0xb44d02c1u},
        {6, 0x212a06acu, 0xda2b4de2u},
    };
    for (size_t c = 0; c < sizeof want / sizeof *want; c++)
        for (int32_t f = 0; f < 2; f++) {
            ac_lower L = {.cx = cx, .region = cx->region, .target = &TARGETS[0], .result_buf = -1};
            ac_lb *b = &L.b;
            const int32_t lanes = f ? 8 : 1;
            ac_lb_open(b, cx->region, "fixed16", NULL);
            const int32_t out = ac_lb_buf(b, "out", AC_I32, 65536, AC_BUF_OUT, 64, NULL),
                          in = ac_lb_buf(b, "in", AC_I32, 65536, AC_BUF_IN, 64, NULL);
            const ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, 0), ac_lb_i32(b, 65536), lanes, AC_MARK_SERIAL);
            const ac_x v = ac_lb_load(b, in, i, lanes);
            ac_lb_store(b, out, i, f ? ac_lo_fx16_tanh(&L, v, want[c].bits) : ac_lo_fx16_logistic(&L, v, want[c].bits));
            ac_lb_end(b);
            int32_t *x = AC_NEW_N(cx->region, int32_t, 65536), *y = AC_NEW_N(cx->region, int32_t, 65536);
            for (int32_t k = 0; k < 65536; k++)
                x[k] = k - 32768;
            int status = 0;
            uint32_t hash = 2166136261u;
            if (ac_eval(cx, ac_lb_close(b), (void *[]){y, x}, 2, &status) != AC_OK)
                fail(__LINE__, f ? "tanh" : "logistic", "eval", "does not run");
            for (int32_t k = 0; k < 65536; k++)
                hash = (hash ^ (uint16_t)y[k]) * 16777619u;
            if (hash != (f ? want[c].tanh : want[c].logistic))
                fail((int)c, f ? "tanh" : "logistic", "eval", "differs");
        }
}

/* ------------------------------------------------------------------ refusals */

// clang-format off
static const bad_case BAD[] = {
    {F "[5]; const k: i32[] = [6]", "y, j = topk_v2(x, k)", "E0103"},
    {F "[5]; input k: i32[]", "y, j = topk_v2(x, k)", "E0203"},
    {F "[2]; input i: i32[2,1]; const s: i32[2] = [4, 4]", "y = scatter_nd(i, x, s)", "E0104"},
    {F "[3]; input i: i32[2]; const k: i32[] = [2]", "y = unsorted_segment_sum(x, i, k)", "E0104"},
    {F "[1,2,2,2,1]; const w: f32[3,1,1,1,1] = splat 1", "y = conv_3d(x, w)", "E0104"},
    {F "[1,2]; const w: f32[3,2] = splat 1; const t: f32[3,3] = splat 1; input b: f32[1]; state s: f32[1,9]", "y = svdf(x, w, t, b, s) rank=2", "E0104"},
    {F "[1,2]; const w: f32[2,2] = splat 1; const t: f32[2,3] = splat 1; input b: f32[2]; input s: f32[1,6]", "y = svdf(x, w, t, b, s)", "E0102"},
    {F "[1,2]", "y = while(x)", "E0107"},
};

// clang-format on

static void test_bad(ac_ctx *cx)
{
    run_bad(cx, BAD, sizeof BAD / sizeof *BAD);
}

/* ------------------------------------------------------------------ control flow */

// clang-format off
static const struct { const char *main, *first, *second, *after; } FLOW[] = {
    /* unrolled three times; without a trace of the counter */
    {"input x: f32[2] const z: i32[] = [0] n, y = while(z, x) first=1 second=2 output y",
     "input i: i32[] input s: f32[2] const k: i32[] = [3] c = less(i, k) output c",
     "input i: i32[] input s: f32[2] const o: i32[] = [1] j = add(i, o) t = tanh(s) output j output t", "tanh tanh tanh reshape"},
    {"input x: f32[2] const z: i32[] = [5] n, y = while(z, x) first=1 second=2 output y",
     "input i: i32[] input s: f32[2] const k: i32[] = [3] c = less(i, k) output c",
     "input i: i32[] input s: f32[2] const o: i32[] = [1] j = add(i, o) t = tanh(s) output j output t", "reshape"},
    {"input x: f32[2] const c: bool[] = [1] y = if(c, x) first=1 second=2 output y", "input a: f32[2] b = exp(a) output b",
     "input a: f32[2] b = tanh(a) output b", "exp reshape"},
    {"input x: f32[2] const c: bool[] = [0] y = if(c, x) first=1 second=2 output y", "input a: f32[2] b = exp(a) output b",
     "input a: f32[2] b = tanh(a) output b", "tanh reshape"},
    {"input x: f32[2] input c: bool[1] y = if(c, x) first=1 second=2 output y", "input a: f32[2] b = exp(a) output b",
     "input a: f32[2] b = tanh(a) output b", "exp tanh reshape select"},
    /* data-dependent loops stay; the copy of the condition is unused */
    {"input x: f32[2] input z: i32[] n, y = while(z, x) first=1 second=2 output y",
     "input i: i32[] input s: f32[2] const k: i32[] = [3] c = less(i, k) output c",
     "input i: i32[] input s: f32[2] const o: i32[] = [1] j = add(i, o) t = tanh(s) output j output t", "less while"},
    /* endless loops, and loops without a size */
    {"input x: f32[2] const z: i32[] = [0] n, y = while(z, x) first=1 second=2 output y",
     "input i: i32[] input s: f32[2] const k: i32[] = [3] c = less(i, k) output c",
     "input i: i32[] input s: f32[2] output i output s", "E0108"},
    {"input x: f32[2] input c: bool[] y = if(c, x) first=1 second=2 output y", "input a: f32[2] const k: i32[1] = [1] b = tile(a, k) output b",
     "input a: f32[2] const k: i32[1] = [2] b = tile(a, k) output b", "E0108"},
    {"input x: f32[2] input c: bool[] y = if(c, x) first=1 second=2 output y", "input a: f32[2] const k: i32[1] = [0] b = gather(a, k) output b",
     "input a: f32[2] b = tanh(a) output b", "E0108"},
    {"input x: f32[2] input c: bool[] y = if(c, x) first=1 second=3 output y", "input a: f32[2] b = exp(a) output b",
     "input a: f32[2] b = tanh(a) output b", "E0013"},
    {"input x: i32[2] input c: bool[] y = if(c, x) first=1 second=2 output y", "input a: f32[2] b = exp(a) output b",
     "input a: f32[2] b = tanh(a) output b", "E0105"},
};

// clang-format on

static ac_graph *read_lines(ac_ctx *cx, const char *statements)
{
    static const char *const word[] = {"input ", "const ", "output ", NULL};
    char text[1024] = "graph g {\n";
    size_t n = strlen(text);
    for (const char *s = statements; *s; s++) { /* a new line before every statement */
        bool starts = false;
        for (int i = 0; word[i]; i++)
            starts |= !strncmp(s, word[i], strlen(word[i]));
        const char *equal = strchr(s, '='), *space = strchr(s, ' ');
        bool result = s > statements && s[-1] == ' ' && equal && space && space + 1 == equal && strchr(equal, '(') &&
                      equal[1] == ' ' && strcspn(equal + 2, "([{ ") == strcspn(equal + 2, "(") && s[-2] != ',';
        bool pair = s > statements && s[-1] == ' ' && !strncmp(s, "n, y", 4);
        if (s > statements && s[-1] == ' ' && (starts || result || pair))
            text[n++] = '\n';
        text[n++] = *s;
    }
    memcpy(text + n, "\n}\n", 4);
    ac_graph *g = NULL;
    if (ac_graph_read_text(cx, "flow.ag", text, n + 3, NULL, &g) != AC_OK)
        printf("%s", text);
    else
        g->promise = ac_lower_promise;
    return g;
}

static void test_flow(ac_ctx *cx)
{
    for (size_t c = 0; c < sizeof FLOW / sizeof *FLOW; c++) {
        ac_graph *g = read_lines(cx, FLOW[c].main), *first = read_lines(cx, FLOW[c].first),
                 *second = read_lines(cx, FLOW[c].second);
        const ac_diags before = cx->diags;
        const char *skip[] = {"simplify", "norm", "pad", "fold", "dead", "epilogue", "view"};
        const ac_pass_options o = {.skip = skip, .n_skip = 7, .stop_after = "infer"};
        ac_passes run;
        char got[256] = "";
        if (!g || !first || !second) {
            fail((int)c, FLOW[c].main, "text", "does not read");
            continue;
        }
        ac_push(cx->region, &g->sub, first);
        ac_push(cx->region, &g->sub, second);
        cx->diags = (ac_diags){.limit = 100};
        if (ac_pass_run(&run, cx, g, &o) != AC_OK)
            snprintf(got, sizeof got, "%s", ac_code_name(cx->diags.first->code));
        else
            for (int32_t i = 0; i < g->node.n; i++)
                snprintf(got + strlen(got), sizeof got - strlen(got), "%s%s", i ? " " : "",
                         ac_ops[g->node.item[i]->op].text);
        cx->diags = before;
        if (strcmp(got, FLOW[c].after) != 0)
            fail((int)c, FLOW[c].after, "instead", got);
    }
}

/* ------------------------------------------------------------------ options of custom operators */

/* {b: true, f: 0.5, i: -3} as a FlexBuffer with values of four bytes. */
static const uint8_t MAP[] = {
    98, 0, 102, 0, 105, 0, 3, 7, 6, 5, 0,  0,   5,   0,   0,   0,   1,  0, 0,  0,  3,
    0,  0, 0,   1, 0,   0, 0, 0, 0, 0, 63, 253, 255, 255, 255, 106, 14, 6, 15, 38, 1,
};

static void test_flex(void)
{
    double b = 0, f = 0, i = 0, x;
    const ac_span whole = {MAP, sizeof MAP};
    if (ac_flex_number(whole, "b", &b) != AC_FLEX_FOUND || ac_flex_number(whole, "f", &f) != AC_FLEX_FOUND ||
        ac_flex_number(whole, "i", &i) != AC_FLEX_FOUND || b != 1 || f != 0.5 || i != -3)
        fail(__LINE__, "flex", "numbers", "differ");
    if (ac_flex_number(whole, "j", &x) != AC_FLEX_ABSENT)
        fail(__LINE__, "flex", "absent key", "found");
    for (size_t n = 0; n < sizeof MAP; n++) { /* cut off or with a byte changed: any answer, no fault */
        ac_flex_number((ac_span){MAP, n}, "i", &x);
        uint8_t bad[sizeof MAP];
        for (int v = 0; v < 256; v++) {
            memcpy(bad, MAP, sizeof MAP);
            bad[n] = (uint8_t)v;
            ac_flex_number((ac_span){bad, sizeof bad}, "i", &x);
        }
    }
}

static void all(ac_ctx *cx)
{
    test_values(cx);
    test_svdf(cx);
    for (int m = 1; m <= 6; m++)
        test_svdf_targets(cx, m);
    test_cell_clip(cx);
    test_fixed16(cx);
    test_bad(cx);
    test_flex();
    test_flow(cx);
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, all);
}
