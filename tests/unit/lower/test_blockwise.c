/* test_blockwise.c - the lowered loops of blockwise_dense against its formula in double precision: random shapes, bits,
 * block sizes, zero points and activations, on all targets of sum_cases.h, within 1e-4 of the sum of magnitudes. */
#include "tests/unit/support/sum_cases.h"

static int64_t code_of(const double *row, int64_t k, int32_t bits)
{
    return (int64_t)row[k * bits / 8] >> (k * bits % 8) & ((1 << bits) - 1);
}

static void one(int what)
{
    const int32_t bits = 2 << what, size = (int32_t)(32 / bits * pick(1, 5));
    const bool zeros = pick(0, 1), biased = pick(0, 1);
    const int64_t m = pick(1, 20), n = channels(), depth = pick(0, 1) ? channels() : size * pick(1, 3);
    const int64_t blocks = (depth + size - 1) / size, bytes = blocks * size * bits / 8;
    const ac_act act = pick(0, 1) ? AC_ACT_RELU : AC_ACT_NONE;
    now = ac_strf(cx.region, "blockwise_dense %d bits, blocks of %d, zero points %d, bias %d, %dx%dx%d", bits, size,
                  zeros, biased, (int)m, (int)depth, (int)n);
    tensor x = make("x", AC_F32, 2, (int64_t[]){m, depth}, -2, 2, false);
    tensor w = make("w", AC_U8, 2, (int64_t[]){n, bytes}, 0, 255, true);
    tensor scale = make("scale", AC_F32, 2, (int64_t[]){n, blocks}, 0.01, 0.02, true);
    tensor zero = make("zero", AC_U8, 2, (int64_t[]){n, blocks}, 0, (1 << bits) - 1, true);
    tensor bias = make("bias", AC_F32, 1, &n, -1, 1, true);
    ac_tensor *out = ac_tensor_new(g, "out", AC_F32, 2, (int64_t[]){m, n});
    ac_tensor *in[] = {x.t, w.t, scale.t, zeros ? zero.t : NULL, biased ? bias.t : NULL};
    ac_node *node = ac_node_new(g, AC_OP_BLOCKWISE_DENSE, "bd", in, 5, &out, 1);
    node->attrs.blocks.bits = bits;
    node->attrs.blocks.size = size;
    node->attrs.blocks.zero = 1 << (bits - 1);
    node->attrs.blocks.act = act;
    double *want = AC_NEW_N(cx.region, double, m *n), *slack = AC_NEW_N(cx.region, double, m *n);
    for (int64_t i = 0; i < m; i++)
        for (int64_t j = 0; j < n; j++) {
            const int64_t o = i * n + j;
            double sum = biased ? bias.v[j] : 0;
            slack[o] = fabs(sum);
            for (int64_t k = 0; k < depth; k++) {
                const double z = zeros ? zero.v[j * blocks + k / size] : 1 << (bits - 1);
                const double p = x.v[i * depth + k] * ((double)code_of(w.v + j * bytes, k, bits) - z) *
                                 scale.v[j * blocks + k / size];
                sum += p;
                slack[o] += fabs(p);
            }
            want[o] = act == AC_ACT_RELU && sum < 0 ? 0 : sum;
        }
    const tensor all[] = {x, w, scale, zero, bias};
    compare(node, all, 5, want, slack);
}

int main(int argc, char **argv)
{
    return sum_cases(argc, argv, "blockwise", 3, one);
}
