/* test_channels.c - pass channels on random nets of integers: every value of every tensor is in the interval that the
 * pass found for its channel, the intervals of one convolution are exact, and nets compute the same bits with and
 * without the pass. Biases beyond what products can reach, and columns of zeros among the weights, make channels
 * die. */
#include "import/import.h"
#include "ir/pass/channels.h"
#include "ir/pass/run/run.h"
#include "tests/unit/support/in_context.h"
#include "tests/unit/support/run_node.h"

enum { NETS = 200, INPUTS = 4, MOST_VALUES = 24, TEXT = 1 << 19 };

typedef struct value {
    int32_t h, w, c;
    int32_t rank; /* 4 or 2 */
    char name[8];
    char quant[32];
} value;

typedef struct net {
    char text[TEXT];
    size_t n;
    const char *type; /* of activations */
    value v[MOST_VALUES];
    int32_t n_values, n_consts;
} net;

static void put(net *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void put(net *t, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    t->n += (size_t)vsnprintf(t->text + t->n, TEXT - t->n, fmt, ap);
    va_end(ap);
    MUST(t->n < TEXT);
}

static int32_t upto(int32_t n) /* 0 .. n - 1 */
{
    return (int32_t)(draw() % (uint32_t)n);
}

static bool wide(const net *t)
{
    return t->type[1] == '1';
}

static const char *shape_of(const value *v)
{
    static char s[64];
    if (v->rank == 4)
        snprintf(s, sizeof s, "[1,%d,%d,%d]", v->h, v->w, v->c);
    else
        snprintf(s, sizeof s, "[%d,%d]", v->h, v->c);
    return s;
}

/* A new result; its scale and zero point are `like`'s, or new ones. */
static value *add_value(net *t, int32_t rank, int32_t h, int32_t w, int32_t c, const value *like)
{
    value *v = &t->v[t->n_values];
    *v = (value){.h = h, .w = w, .c = c, .rank = rank};
    snprintf(v->name, sizeof v->name, "t%d", t->n_values++);
    if (like)
        memcpy(v->quant, like->quant, sizeof v->quant);
    else
        snprintf(v->quant, sizeof v->quant, "q(0.%d, %d)", 1 + upto(9),
                 wide(t)   ? 0
                 : upto(3) ? (t->type[0] == 'u' ? 0 : -128)
                           : upto(100));
    return v;
}

static void put_result(net *t, const value *v)
{
    put(t, "  %s: %s%s %s = ", v->name, t->type, shape_of(v), v->quant);
}

/* Weights, a third of whose columns (the last dimension) may be zeros, as a constant; its number. */
static int32_t put_weights(net *t, const char *shape, int32_t outs, int32_t count, int32_t columns, int32_t axis)
{
    const int32_t k = t->n_consts++;
    const bool u8 = t->type[0] == 'u', each = !u8 && upto(2), sparse = upto(2);
    const uint32_t zeros = sparse ? draw() & draw() : 0;
    put(t, "  const w%d: %s%s q(", k, u8 ? "u8" : "i8", shape);
    if (each)
        put(t, "axis %d: ", axis);
    for (int32_t o = 0; o < (each ? outs : 1); o++)
        put(t, "%s0.0%d %d", o ? ", " : "", 1 + upto(9), u8 ? 7 : 0);
    if (!each) { /* one pair has a comma inside */
        t->n -= strlen(strrchr(t->text, ' '));
        put(t, ", %d", u8 ? 7 : 0);
    }
    put(t, ") = [");
    for (int32_t i = 0; i < count; i++)
        put(t, "%s%d", i ? ", " : "",
            zeros >> (i % columns) % 32 & 1 ? (u8 ? 7 : 0)
            : u8                            ? upto(256)
                                            : upto(255) - 127);
    put(t, "]\n");
    return k;
}

/* A bias with which some channels are far below all sums, and some far above. */
static void put_bias(net *t, int32_t k, int32_t outs, int64_t most)
{
    put(t, "  const b%d: %s[%d] = [", k, wide(t) ? "i64" : "i32", outs);
    for (int32_t o = 0; o < outs; o++)
        put(t, "%s%lld", o ? ", " : "", (long long)(upto(3) == 0 ? -most : upto(8) == 0 ? most : upto(20001) - 10000));
    put(t, "]\n");
}

static const char *activation(void)
{
    static const char *const ACT[] = {"", " act=relu", " act=relu", " act=relu6"};
    return ACT[upto(4)];
}

static void add_conv(net *t, const value *x, bool depthwise)
{
    const int32_t k = upto(2) ? 1 : 2 + upto(2), stride = 1 + upto(2), times = x->c == 1 ? 4 : 1 + !upto(4);
    const bool same = upto(2) || k > x->h || k > x->w;
    const int32_t h = same ? (x->h - 1) / stride + 1 : (x->h - k) / stride + 1;
    const int32_t w = same ? (x->w - 1) / stride + 1 : (x->w - k) / stride + 1;
    const int32_t outs = depthwise ? x->c * times : 1 + upto(upto(4) ? 7 : 40), ins = depthwise ? 1 : x->c;
    const value from = *x;
    char shape[64];
    if (depthwise)
        snprintf(shape, sizeof shape, "[1,%d,%d,%d]", k, k, outs);
    else
        snprintf(shape, sizeof shape, "[%d,%d,%d,%d]", outs, k, k, ins);
    const int32_t c = put_weights(t, shape, outs, outs * k * k * ins, depthwise ? outs : ins, depthwise ? 3 : 0);
    const int64_t most = (int64_t)(wide(t) ? 1 << 22 : 1 << 15) * k * k * ins;
    const bool biased = upto(8);
    if (biased)
        put_bias(t, c, outs, most);
    put_result(t, add_value(t, 4, h, w, outs, NULL));
    put(t, "%s(%s, w%d", depthwise ? "depthwise_conv_2d" : "conv_2d", from.name, c);
    if (biased)
        put(t, ", b%d", c);
    put(t, ") stride_h=%d stride_w=%d padding=%s%s\n", stride, stride, same ? "same" : "valid", activation());
}

static void add_dense(net *t, const value *x)
{
    const value from = *x;
    const int32_t depth = x->rank == 4 ? x->h * x->w * x->c : x->c, rows = x->rank == 4 ? 1 : x->h;
    const int32_t outs = 1 + upto(6);
    char shape[64];
    snprintf(shape, sizeof shape, "[%d,%d]", outs, depth);
    const int32_t c = put_weights(t, shape, outs, outs * depth, depth, 0);
    put_bias(t, c, outs, (wide(t) ? 1 << 20 : 1 << 15) * depth);
    put_result(t, add_value(t, 2, rows, 1, outs, NULL));
    put(t, "fully_connected(%s, w%d, b%d)%s\n", from.name, c, c, activation());
}

/* Another value of x's shape; x itself if there is none. */
static const value *beside(const net *t, const value *x)
{
    for (int32_t k = upto(t->n_values), n = 0; n < t->n_values; n++, k = (k + 1) % t->n_values) {
        const value *v = &t->v[k];
        if (v != x && v->rank == x->rank && v->h == x->h && v->w == x->w && v->c == x->c)
            return v;
    }
    return x;
}

static void add_binary(net *t, const value *x)
{
    static const char *const OP[] = {"add", "sub", "mul", "add"};
    const value from = *x, other = *beside(t, x);
    const bool constant = upto(3) == 0;
    const int32_t k = t->n_consts;
    if (constant) {
        t->n_consts++;
        put(t, "  const c%d: %s[%d] %s = random %d (0, 100)\n", k, t->type, upto(4) ? x->c : 1, other.quant, k);
    }
    put_result(t, add_value(t, x->rank, x->h, x->w, x->c, NULL));
    if (constant)
        put(t, "%s(%s, c%d)", OP[upto(4)], from.name, k);
    else
        put(t, "%s(%s, %s)", OP[upto(4)], from.name, other.name);
    put(t, "%s\n", activation());
}

static void add_unary(net *t, const value *x)
{
    static const char *const OP[] = {"relu", "logistic", "quantize", "abs"};
    const value from = *x;
    const int32_t op = upto(wide(t) ? 1 : 4);
    put_result(t, add_value(t, x->rank, x->h, x->w, x->c, op == 3 ? &from : NULL));
    put(t, "%s(%s)\n", OP[op], from.name);
    if (op == 1) { /* its scale is given */
        value *y = &t->v[t->n_values - 1];
        char *line = strstr(t->text, y->name), *q = strstr(line, y->quant);
        memset(q, ' ', strlen(y->quant));
        snprintf(y->quant, sizeof y->quant, "q(0.00390625, %d)", t->type[0] == 'u' ? 0 : -128);
        t->n = (size_t)(strstr(line, y->name) - t->text);
        put_result(t, y);
        put(t, "logistic(%s)\n", from.name);
    }
}

static void add_joined(net *t, const value *x)
{
    const value from = *x, other = *beside(t, x);
    const bool rows = upto(3) == 0;
    put_result(t, add_value(t, x->rank, x->h << rows, x->w, rows ? x->c : 2 * x->c, upto(4) ? &from : NULL));
    put(t, "concatenation(%s, %s) axis=%d\n", from.name, other.name, rows ? (x->rank == 4 ? 1 : 0) : -1);
}

static void add_spatial(net *t, const value *x)
{
    const value from = *x;
    const int32_t what = upto(5);
    if (what == 0) {
        put_result(t, add_value(t, 4, x->h + 1, x->w + 2, x->c, &from));
        put(t, "pad(%s) pads=[0, 0, 1, 0, 1, 1, 0, 0]\n", from.name);
    } else if (what == 1 && !wide(t)) {
        put_result(t, add_value(t, 2, 1, 1, x->c, NULL));
        put(t, "mean(%s) axes=[1, 2]\n", from.name);
    } else if (what == 2) {
        put_result(t, add_value(t, 2, 1, 1, x->h * x->w * x->c, &from));
        put(t, "reshape(%s) shape=[1, %d]\n", from.name, x->h * x->w * x->c);
    } else {
        put_result(t, add_value(t, 4, (x->h + 1) / 2, (x->w + 1) / 2, x->c, &from));
        put(t, "%s_pool_2d(%s) kernel_h=2 kernel_w=2 stride_h=2 stride_w=2 padding=same\n",
            what == 3 ? "max" : "average", from.name);
    }
}

static void add_operator(net *t)
{
    const int32_t last = upto(3) ? t->n_values - 1 : upto(t->n_values);
    const value *x = &t->v[last];
    const int32_t what = upto(12);
    if (x->h * x->w * x->c > 600)
        return;
    if (x->rank == 4 && what < 4)
        add_conv(t, x, false);
    else if (x->rank == 4 && what < 6)
        add_conv(t, x, true);
    else if (x->rank == 4 && what < 8)
        add_spatial(t, x);
    else if (what < 9)
        add_dense(t, x);
    else if (what < 10)
        add_joined(t, x);
    else if (what < 11)
        add_binary(t, x);
    else
        add_unary(t, x);
}

static void make_net(net *t)
{
    static const char *const TYPE[] = {"i8", "i8", "u8", "i16"};
    t->n = 0;
    t->n_values = t->n_consts = 0;
    t->type = TYPE[upto(4)];
    put(t, "graph g {\n");
    const value *x = add_value(t, 4, 1 + upto(4), 1 + upto(4), 1 + upto(4), NULL);
    put(t, "  input %s: %s%s %s\n", x->name, t->type, shape_of(x), x->quant);
    for (int32_t k = 3 + upto(9); k > 0 || t->n_values < 2; k--)
        add_operator(t);
    put(t, "  same = reshape(t0) shape=[-1]\n"); /* some output depends on the input */
    put(t, "  output %s", t->v[t->n_values - 1].name);
    if (t->n_values > 3 && upto(3) == 0)
        put(t, ", %s", t->v[t->n_values - 2].name);
    put(t, ", same\n}\n");
}

/* ------------------------------------------------------------------ the checks */

/* The graph after its passes; cuts NULL: those without --dead. */
static ac_graph *prepared(ac_ctx *cx, const char *text, ac_cuts *cuts)
{
    ac_passes run;
    ac_graph *g = NULL;
    ac_pass_options o = {.stop_after = "channels", .declared = true, .cuts = cuts};
    if (ac_graph_read_text(cx, "net.ag", text, strlen(text), NULL, &g) != AC_OK)
        return NULL;
    g->promise = ac_lower_promise;
    return ac_pass_run(&run, cx, g, &o) == AC_OK ? g : NULL;
}

static bool run_graph(ac_ctx *cx, const ac_graph *g, void **data)
{
    bool ok = true;
    int status = 0;
    for (int32_t i = 0; i < g->node.n && ok; i++)
        ok = run_node(cx, g->node.item[i], &TARGETS[0], true, data, &status) == AC_OK && !status;
    return ok;
}

/* Every computed value is within its span. */
static void inside(const ac_graph *g, void **data, const ac_channels *s)
{
    for (int32_t k = 0; k < g->tensor.n; k++) {
        const ac_tensor *t = g->tensor.item[k];
        for (int64_t i = 0; s->span[k].n && i < ac_tensor_count(t); i++) {
            const int64_t v = ac_dtype_get_int(t->dtype, data[k], i), c = i % s->span[k].n;
            if (v < s->span[k].lo[c] || v > s->span[k].hi[c]) {
                fprintf(stderr, "%s[%lld] = %lld, not in %d..%d\n", t->name, (long long)i, (long long)v,
                        s->span[k].lo[c], s->span[k].hi[c]);
                FAILED("a value is outside of its interval");
                return;
            }
        }
    }
}

/* Random, and all values the least or the greatest. */
static void fill_input(const ac_tensor *t, void *data, int32_t set)
{
    for (int64_t i = 0; i < ac_tensor_count(t) && set; i++)
        put_int(t->dtype, (uint8_t *)data + ac_dtype_size(t->dtype, i),
                set == 1   ? ac_dtype_min(t->dtype)
                : set == 2 ? ac_dtype_max(t->dtype)
                           : (int64_t)draw());
}

static ac_channels spans_of(ac_ctx *cx, ac_graph *g)
{
    ac_channels s = {.cx = cx, .g = g, .tmp = cx->region};
    s.span = AC_NEW_N(cx->region, ac_span, g->tensor.n + 1);
    s.sums = AC_NEW_N(cx->region, ac_sums *, g->node.n + 1);
    ac_channels_values(&s);
    return s;
}

/* How many channels went. */
static int64_t same_bits(ac_ctx *cx, const char *text)
{
    ac_cuts cuts = {0};
    ac_graph *g = prepared(cx, text, NULL), *h = prepared(cx, text, &cuts);
    int64_t gone = 0;
    MUST(g && h);
    const ac_channels s = spans_of(cx, g);
    void **a = make_data(cx, g, 0), **b = make_data(cx, h, 0);
    for (int32_t set = 0; set < INPUTS; set++) {
        fill_input(g->input.item[0], a[g->input.item[0]->id], set);
        b[h->input.item[0]->id] = a[g->input.item[0]->id];
        CHECK(run_graph(cx, g, a) && run_graph(cx, h, b));
        inside(g, a, &s);
        for (int32_t i = 0; i < g->output.n; i++) {
            const ac_tensor *x = g->output.item[i], *y = h->output.item[i];
            const void *was = a[x->id], *is = ac_tensor_is_const(y) ? ac_tensor_force(cx, h->output.item[i]) : b[y->id];
            CHECK(ac_tensor_same_shape(x, y) && !memcmp(was, is, (size_t)ac_tensor_bytes(x)));
        }
    }
    for (int32_t k = 0; k < cuts.n; k++)
        gone += cuts.row[k].gone;
    return gone;
}

static void random_nets(void)
{
    static net t;
    static ac_ctx cx;
    int64_t gone = 0;
    for (int32_t k = 0; k < NETS; k++) {
        ac_ctx_open(&cx);
        ac_ctx_start(&cx);
        make_net(&t);
        const int before = failures;
        gone += same_bits(&cx, t.text);
        if (failures > before) {
            fprintf(stderr, "%s", t.text);
            ac_diags_print(&cx.diags, stderr, false);
        }
        ac_ctx_close(&cx);
    }
    CHECK(gone > 5 * NETS); /* else the nets test little */
}

/* Two bytes, all 65,536 pairs, a pixel for each: the interval of every channel is from the least to the greatest value
 * that there is. */
static void exact_ends(ac_ctx *cx)
{
    static const char text[] = "graph g {\n  input x: i8[1,256,256,2] q(0.1, 5)\n"
                               "  const w: i8[4,1,1,2] q(0.02, 0) = [3, -7, -127, 127, 0, 0, 1, 1]\n"
                               "  const b: i32[4] = [100, -40000, 1234, 0]\n"
                               "  const v: i8[1,1,1,4] q(0.5, 0) = [5, -3, 100, -1]\n"
                               "  y: i8[1,256,256,4] q(0.3, -10) = conv_2d(x, w, b) act=relu\n"
                               "  z: i8[1,256,256,4] q(0.4, 3) = depthwise_conv_2d(y, v, _)\n  output z\n}\n";
    enum { CHANNELS = 4, PAIRS = 1 << 16 };
    ac_graph *g = prepared(cx, text, NULL);
    MUST(g);
    const ac_channels s = spans_of(cx, g);
    void **data = make_data(cx, g, 0);
    int8_t *x = data[g->input.item[0]->id];
    for (int32_t i = 0; i < PAIRS; i++) {
        x[2 * i] = (int8_t)(i / 256 - 128);
        x[2 * i + 1] = (int8_t)(i % 256 - 128);
    }
    MUST(run_graph(cx, g, data));
    for (int32_t n = 0; n < 2; n++) {
        const ac_tensor *t = g->node.item[n]->out[0];
        for (int32_t c = 0; c < CHANNELS; c++) {
            int32_t lo = INT8_MAX, hi = INT8_MIN;
            for (int32_t i = 0; i < PAIRS; i++) {
                const int8_t v = ((const int8_t *)data[t->id])[i * CHANNELS + c];
                lo = v < lo ? v : lo;
                hi = v > hi ? v : hi;
            }
            CHECK(s.span[t->id].lo[c] == lo && s.span[t->id].hi[c] == hi);
        }
    }
    CHECK(s.sums[0]->lo[0] == 100 + 3 * -133 - 7 * 122 && s.sums[0]->hi[0] == 100 + 3 * 122 + 7 * 133);
    CHECK(s.sums[0]->lo[2] == 1234 && s.sums[0]->hi[2] == 1234);
}

static void tests(ac_ctx *cx)
{
    exact_ends(cx);
    random_nets();
}

int main(void)
{
    static ac_ctx cx;
    return in_context(&cx, tests);
}
