/* node_cases.h - random operators in the text form: one node each, of a random type and shape, as a model could hold
 * it.
 *
 *     const ac_node *n = node_case(&text);       NULL: this draw is not a valid node, draw again
 *     ac_lower_node(&cx, cx.region, n, target, 0, false)
 *
 * Shapes are small and odd, so that vectors have tails. Uses cx and rnd of case_table.h; memory is the context's. */
#ifndef AC_TESTS_UNIT_SUPPORT_NODE_CASES_H
#define AC_TESTS_UNIT_SUPPORT_NODE_CASES_H
#include "ir/lower/lower.h"
#include "ir/lower/node/node.h"
#include "ir/ops/shape/shape.h"
#include "tests/unit/support/case_table.h"

static int32_t draw(int32_t lo, int32_t hi)
{
    return lo + (int32_t)(rnd() % (uint32_t)(hi - lo + 1));
}

static const char *draw_word(const char *list) /* "add sub mul" */
{
    int32_t n = 1, k;
    for (const char *p = list; *p; p++)
        n += *p == ' ';
    k = draw(0, n - 1);
    while (k--)
        list = strchr(list, ' ') + 1;
    return ac_strf(cx.region, "%.*s", (int)strcspn(list, " "), list);
}

static const char *draw_act(void)
{
    return rnd() % 3 ? "" : ac_strf(cx.region, " act=%s", draw_word("relu relu6 relu_n1_to_1"));
}

static const char *draw_quant(void)
{
    return ac_strf(cx.region, "q(0.%03d, %d)", draw(1, 400), draw(-40, 40));
}

/* "i8[2,3] q(0.05, 3)", quantised types; others without */
static const char *typed(const char *type, const char *shape, bool quantised)
{
    return ac_strf(cx.region, "%s[%s]%s%s", type, shape, quantised ? " " : "", quantised ? draw_quant() : "");
}

typedef struct node_text {
    const char *operands, *node;
} node_text;

static node_text unary_text(const char *shape)
{
    if (rnd() % 3) {
        const char *op =
            draw_word("abs neg exp log sqrt rsqrt floor ceil round sin cos tanh logistic relu relu6 elu gelu "
                      "hard_swish leaky_relu sign square erf");
        return (node_text){ac_strf(cx.region, "input x: f32[%s]", shape), ac_strf(cx.region, "z = %s(x)", op)};
    }
    const char *op = draw_word("tanh logistic relu relu6 hard_swish leaky_relu"), *type = draw_word("i8 i8 u8");
    bool fixed = !strcmp(op, "tanh") || !strcmp(op, "logistic");
    const char *out = !fixed
                          ? typed(type, shape, true)
                          : ac_strf(cx.region, "%s[%s] q(%s, %d)", type, shape, *op == 't' ? "0.0078125" : "0.00390625",
                                    *op == 't' ? (*type == 'u' ? 128 : 0) : (*type == 'u' ? 0 : -128));
    return (node_text){ac_strf(cx.region, "input x: %s", typed(type, shape, true)),
                       ac_strf(cx.region, "z: %s = %s(x)", out, op)};
}

static node_text binary_text(const char *shape, const char *last)
{
    const char *other = rnd() % 2 ? shape : rnd() % 2 ? last : "1";
    if (rnd() % 2) {
        const char *op = draw_word("add sub mul div minimum maximum squared_difference less greater_equal equal pow");
        bool act = strstr("add sub mul div", op) != NULL;
        return (node_text){ac_strf(cx.region, "input x: f32[%s]; input y: f32[%s]", shape, other),
                           ac_strf(cx.region, "z = %s(x, y)%s", op, act ? draw_act() : "")};
    }
    if (rnd() % 2) {
        const char *op = draw_word("add sub mul minimum maximum pow"), *type = draw_word("i32 i64 i16");
        return (node_text){ac_strf(cx.region, "input x: %s[%s]; input y: %s[%s]", type, shape, type, other),
                           ac_strf(cx.region, "z = %s(x, y)", op)};
    }
    const char *type = draw_word("i8 i8 u8"), *op = draw_word("add sub mul");
    return (node_text){
        ac_strf(cx.region, "input x: %s; input y: %s", typed(type, shape, true), typed(type, other, true)),
        ac_strf(cx.region, "z: %s = %s(x, y)%s", typed(type, shape, true), op, draw_act())};
}

/* Convolutions and pools over [1,h,w,c]; quantised results need their shape. */
static node_text window_text(void)
{
    int32_t h = draw(1, 11), w = draw(1, 11), c = draw(1, 19), o = draw(1, 35), kh = draw(1, 3), kw = draw(1, 3),
            s = draw(1, 2);
    bool same = rnd() % 2, real = rnd() % 2, depth = rnd() % 3 == 0, pool = rnd() % 4 == 0;
    if (rnd() % 12 == 0)
        return (node_text){
            ac_strf(cx.region,
                    "input x: f32[1,%d,%d,%d,%d]; const w: f32[%d,%d,%d,%d,%d] = random %d; "
                    "const b: f32[%d] = random 7",
                    draw(3, 5), 3 + h % 5, 3 + w % 5, c, draw(1, 3), kh, kw, c, o, draw(1, 999), o),
            ac_strf(cx.region, "z = conv_nd(x, w, b) strides=[%d, %d, 1] pads=[0, 1, 1, 0, 1, 1]", draw(1, 2), s)};
    if (rnd() % 3 == 0) { /* the window that has schedules of its own */
        kh = kw = 3;
        s = 1;
    }
    kh = kh > h ? h : kh;
    kw = kw > w ? w : kw;
    int32_t oh = same ? (h + s - 1) / s : (h - kh) / s + 1, ow = same ? (w + s - 1) / s : (w - kw) / s + 1;
    int32_t times = draw(1, 2), groups = rnd() % 4 ? 1 : draw(2, 3);
    c *= groups;
    const char *how =
        ac_strf(cx.region, "stride_h=%d stride_w=%d padding=%s%s", s, s, same ? "same" : "valid", draw_act());
    const char *x = ac_strf(cx.region, "1,%d,%d,%d", h, w, c);
    if (pool) {
        const char *op = draw_word("max_pool_2d average_pool_2d"), *q = draw_quant();
        return (node_text){ac_strf(cx.region, "input x: %s[%s] %s", real ? "f32" : "i8", x, real ? "" : q),
                           ac_strf(cx.region, "z%s = %s(x) kernel_h=%d kernel_w=%d %s",
                                   real ? "" : ac_strf(cx.region, ": i8[1,%d,%d,%d] %s", oh, ow, c, q), op, kh, kw,
                                   how)};
    }
    o = depth ? c * times : o * groups;
    const char *shape =
        depth ? ac_strf(cx.region, "1,%d,%d,%d", kh, kw, o) : ac_strf(cx.region, "%d,%d,%d,%d", o, kh, kw, c / groups);
    const char *op = depth ? "depthwise_conv_2d" : "conv_2d";
    if (rnd() % 4 == 0) { /* sums of bytes */
        const bool u8 = rnd() % 2;
        return (node_text){ac_strf(cx.region,
                                   "input x: %s[%s]; const w: %s[%s] = random %d (-127, 127); "
                                   "const b: i32[%d] = random 7 (-900, 900)",
                                   u8 ? "u8" : "i8", x, rnd() % 4 ? "i8" : "i16", shape, draw(1, 999), o),
                           ac_strf(cx.region, "z = %s(x, w, b) stride_h=%d stride_w=%d padding=%s zero=%d", op, s, s,
                                   same ? "same" : "valid", u8 ? draw(0, 255) : draw(-128, 127))};
    }
    if (real)
        return (node_text){ac_strf(cx.region,
                                   "input x: f32[%s]; const w: f32[%s] = random %d; const b: f32[%d] = random 7", x,
                                   shape, draw(1, 999), o),
                           ac_strf(cx.region, "z = %s(x, w, b) %s", op, how)};
    return (node_text){ac_strf(cx.region,
                               "input x: i8[%s] %s; const w: i8[%s] q(0.02, 0) = random %d (-127, 127); "
                               "const b: i32[%d] = random 7 (-900, 900)",
                               x, draw_quant(), shape, draw(1, 999), o),
                       ac_strf(cx.region, "z: i8[1,%d,%d,%d] q(0.%d, %d) = %s(x, w, b) %s", oh, ow, o, draw(1, 9),
                               draw(-20, 20), op, how)};
}

static node_text matrix_text(void)
{
    int32_t n = draw(1, 9), k = draw(1, 70), m = draw(1, 40);
    if (rnd() % 3 == 0) {
        const bool tx = rnd() % 2, ty = rnd() % 2;
        return (node_text){ac_strf(cx.region, "input x: f32[2,%d,%d]; input y: f32[%d,%d,%d]", tx ? k : n, tx ? n : k,
                                   draw(1, 2), ty ? m : k, ty ? k : m),
                           ac_strf(cx.region, "z = batch_matmul(x, y) adj_x=%s adj_y=%s", tx ? "true" : "false",
                                   ty ? "true" : "false")};
    }
    if (rnd() % 4 == 0)
        return (node_text){ac_strf(cx.region, "input x: %s[%d,%d]; const w: %s[%d,%d] = random 3 (-127, 127)",
                                   draw_word("i8 u8"), n, k, draw_word("i8 i8 i16"), m, k),
                           "z = fully_connected(x, w)"};
    if (rnd() % 2)
        return (node_text){ac_strf(cx.region,
                                   "input x: f32[%d,%d]; const w: f32[%d,%d] = random 3; const b: f32[%d] = random 4",
                                   n, k, m, k, m),
                           ac_strf(cx.region, "z = fully_connected(x, w, b)%s", draw_act())};
    return (node_text){
        ac_strf(
            cx.region,
            "input x: i8[%d,%d] %s; const w: i8[%d,%d] q(0.03, 0) = random 3 (-127, 127); const b: i32[%d] = random 4",
            n, k, draw_quant(), m, k, m),
        ac_strf(cx.region, "z: i8[%d,%d] q(0.%d, %d) = fully_connected(x, w, b)%s", n, m, draw(1, 9), draw(-9, 9),
                draw_act())};
}

static node_text row_text(const char *shape, int32_t rank, const int32_t *dim)
{
    int32_t axis = draw(0, rank - 1);
    const char *type = draw_word("f32 f32 i8 i32 u8 i64");
    switch (rnd() % 8) {
    case 7:
        return (node_text){
            ac_strf(cx.region, "input x: %s[%s]; const a: i32[1] = [%d]", draw_word("f32 i32 i64 f64"), shape, axis),
            ac_strf(cx.region, "z = cumsum(x, a) exclusive=%s reverse=%s", draw_word("true false"),
                    draw_word("true false"))};
    case 0:
        return (node_text){ac_strf(cx.region, "input x: f32[%s]", shape),
                           rnd() % 2 ? "z = softmax(x) beta=1" : "z = log_softmax(x)"};
    case 1:
        return (node_text){ac_strf(cx.region, "input x: i8[%s] q(0.1, 3)", shape),
                           ac_strf(cx.region, "z: i8[%s] q(0.00390625, -128) = softmax(x) beta=1", shape)};
    case 2:
        if (rnd() % 2) /* several vectors at a time, and the rest */
            return (node_text){ac_strf(cx.region, "input x: %s[%d,%d,%d]", draw_word("f32 f32 i32"), draw(1, 4),
                                       draw(1, 3), draw(1, 300)),
                               ac_strf(cx.region, "z = %s(x, _) axes=%s keep_dims=%s",
                                       draw_word("sum reduce_max reduce_min"), draw_word("[1,2] [0,1,2] [2] [0,2]"),
                                       draw_word("true false"))};
        return (node_text){ac_strf(cx.region, "input x: %s[%s]", draw_word("f32 i32"), shape),
                           ac_strf(cx.region, "z = %s(x, _) axes=[%d] keep_dims=%s",
                                   draw_word("sum reduce_max reduce_min reduce_prod"), axis,
                                   rnd() % 2 ? "true" : "false")};
    case 3:
        return (node_text){ac_strf(cx.region, "input x: f32[%s]", shape),
                           ac_strf(cx.region, "z = mean(x, _) axes=[%d]", axis)};
    case 4:
        return (node_text){ac_strf(cx.region, "input x: %s[%s]; input y: %s[%s]", type, shape, type, shape),
                           ac_strf(cx.region, "z = concatenation(x, y) axis=%d", axis)};
    case 5:
        if (rnd() % 2)
            return (node_text){ac_strf(cx.region, "input x: %s[2,%d,%d]", type, draw(1, 40), draw(1, 40)),
                               "z = transpose(x, _) perm=[0,2,1]"};
        return (node_text){ac_strf(cx.region, "input x: %s[%s]", type, shape),
                           ac_strf(cx.region, "z = transpose(x, _) perm=%s",
                                   rank == 1   ? "[0]"
                                   : rank == 2 ? "[1,0]"
                                               : "[2,0,1]")};
    default:
        return (node_text){ac_strf(cx.region, "input x: %s[%s]; const i: i32[3] = [0, %d, %d]", type, shape,
                                   dim[axis] - 1, dim[axis] / 2),
                           ac_strf(cx.region, "z = gather(x, i) axis=%d", axis)};
    }
}

static node_text cast_text(const char *shape)
{
    const char *from = draw_word("f32 f64 f16 i8 i16 i32 i64 u8 bool"),
               *to = draw_word("f32 f64 f16 i8 i16 i32 i64 u8 bool");
    if (*from == 'f' && *to != 'f' && *to != 'b') /* the value has to fit */
        from = "i8";
    return (node_text){ac_strf(cx.region, "input x: %s[%s]", from, shape),
                       ac_strf(cx.region, "z: %s[%s] = cast(x) to=%s", to, shape, to)};
}

/* A node with inferred shapes; *text: its text. */
static const ac_node *node_case(const char **text)
{
    int32_t rank = draw(1, 3), dim[3];
    const char *shape = "", *last = "";
    for (int32_t i = 0; i < rank; i++) {
        dim[i] = draw(1, i == rank - 1 ? 45 : 7);
        last = ac_strf(cx.region, "%d", dim[i]);
        shape = ac_strf(cx.region, "%s%s%d", shape, i ? "," : "", dim[i]);
    }
    uint32_t kind = rnd() % 8;
    node_text t = kind < 1   ? unary_text(shape)
                  : kind < 2 ? binary_text(shape, last)
                  : kind < 4 ? window_text()
                  : kind < 5 ? matrix_text()
                  : kind < 7 ? row_text(shape, rank, dim)
                             : cast_text(shape);
    char *all = ac_strf(cx.region, "graph g {\n%s\n%s\n}\n", t.operands, t.node);
    for (char *s = all; *s; s++)
        if (*s == ';')
            *s = '\n';
    *text = all;
    ac_graph *g = NULL;
    if (ac_graph_read_text(&cx, "case.ag", all, strlen(all), NULL, &g) != AC_OK)
        return NULL;
    ac_node *n = g->node.item[0];
    return ac_op_shape(&cx, g, n) == AC_OK ? n : NULL;
}

#endif
