/* test_matmul.c - the lowered loops of batch_matmul against plain C written from TFLite's formulas: random shapes,
 * adjoints, broadcasts and number systems, on all targets of sum_cases.h. Integers must be equal, floats within 1e-4 of
 * the sum of magnitudes. */
#include "tests/unit/support/sum_cases.h"

static void random_matmul(kind k)
{
    const bool ax = k != HYBT && pick(0, 1), ay = pick(0, 1), constant = k == HYBT || pick(0, 1);
    const int64_t m = pick(1, 9), n = channels(), depth = channels(), b0 = pick(1, 3), b1 = pick(1, 2);
    const int64_t xd[4] = {b0, b1, ax ? depth : m, ax ? m : depth},
                  yd3[3] = {pick(0, 1) ? b1 : 1, ay ? n : depth, ay ? depth : n};
    const int64_t od[4] = {b0, b1, m, n};
    const ac_dtype d = k == F32 || k == HYBT ? AC_F32
                       : k == I16L           ? AC_I16
                                             : AC_I8,
                   dy = k == HYBT || (k == I16L && pick(0, 1)) ? AC_I8 : d;
    const double hi = d == AC_F32 ? 2 : (double)ac_dtype_max(d), hy = dy == AC_F32 ? 2 : (double)ac_dtype_max(dy);
    now = ac_strf(cx.region, "batch_matmul %s by %s adj %d,%d %d,%d %dx%dx%d", kind_name[k], ac_dtype_name(dy), ax, ay,
                  (int)b0, (int)b1, (int)m, (int)depth, (int)n);
    tensor x = make("x", d, 4, xd, -hi, hi, false), y = make("y", dy, 3, yd3, -hy, hy, constant);
    ac_tensor *out = ac_tensor_new(g, "out", d, 4, od);
    if (d != AC_F32) {
        set_quant(x.t, 1, 0, 0.013, d == AC_I16 ? 0 : -7);
        set_quant(out, 1, 0, 0.013 * 0.021 * hy * 0.4 * sqrt((double)depth), d == AC_I16 ? 0 : 9);
    }
    if (dy != AC_F32)
        set_quant(y.t, 1, 0, 0.021, d == AC_I16 || k == HYBT ? 0 : 3);
    ac_node *node = ac_node_new(g, AC_OP_BATCH_MATMUL, "mm", (ac_tensor *[]){x.t, y.t}, 2, &out, 1);
    node->attrs.matmul.adj_x = ax, node->attrs.matmul.adj_y = ay;
    double *want = AC_NEW_N(cx.region, double, b0 *b1 *m *n), *slack = AC_NEW_N(cx.region, double, b0 *b1 *m *n);
    double *q = AC_NEW_N(cx.region, double, depth + 1);
    int64_t o = 0;
    for (int64_t b = 0; b < b0 * b1; b++)
        for (int64_t i = 0; i < m; i++)
            for (int64_t j = 0; j < n; j++, o++) {
                const double *px = x.v + b * m * depth, *py = y.v + (yd3[0] == 1 ? 0 : b % b1) * n * depth;
                float sx = 1;
                int32_t z = 0;
                if (k == HYBT)
                    dynamic(px + i * depth, depth, false, q, &sx, &z);
                double acc = 0;
                for (int64_t c = 0; c < depth; c++) {
                    double xv = k == HYBT ? q[c] : px[ax ? c * m + i : i * depth + c],
                           yv = py[ay ? j * depth + c : c * n + j];
                    if (d != AC_F32)
                        xv -= x.t->quant->zero[0], yv -= y.t->quant->zero[0];
                    acc += xv * yv;
                    slack[o] += fabs(xv * yv);
                }
                want[o] = acc;
                if (k == HYBT)
                    want[o] = acc * (double)sx * (double)y.t->quant->scale[0];
                if (d != AC_F32) {
                    const double s =
                        (double)(x.t->quant->scale[0] * y.t->quant->scale[0]) / (double)out->quant->scale[0];
                    want[o] = act_stored(AC_ACT_NONE, out, requant((int64_t)acc, s, d == AC_I16) + out->quant->zero[0]);
                }
            }
    const tensor all[] = {x, y};
    compare(node, all, 2, want, d == AC_F32 ? slack : NULL);
}

static void one(int what)
{
    static const kind TYPES[] = {F32, I8T, I16L, HYBT};
    random_matmul(TYPES[what]);
}

int main(int argc, char **argv)
{
    return sum_cases(argc, argv, "matmul", 4, one);
}
