/* blockwise.c - checks the operands of BLOCKWISE_DENSE, and converts constant weights to floats. */
#include "ir/ops/decode/blockwise.h"

#include <inttypes.h>

enum { MOST = 1 << 30, WORD = 32 };

static int check_types(ac_ctx *cx, const ac_node *n)
{
    static const struct {
        const char *what;
        ac_dtype type;
    } OF[] = {{"input", AC_F32}, {"codes", AC_U8}, {"scales", AC_F32}, {"zero points", AC_U8}, {"bias", AC_F32}};
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && n->in[i]->dtype != OF[i].type)
            return ac_error(cx, n->at, E0105, "%s '%s' are %s, expected %s", OF[i].what, n->in[i]->name,
                            ac_dtype_name(n->in[i]->dtype), ac_dtype_name(OF[i].type));
    return AC_OK;
}

static int expect(ac_ctx *cx, const ac_node *n, int32_t i, int64_t rows, int64_t columns)
{
    const ac_tensor *t = ac_node_in(n, i);
    if (!t || (t->rank == 2 && t->dim[0] == rows && t->dim[1] == columns))
        return AC_OK;
    return ac_error(cx, n->at, E0104, "'%s' is %s, expected [%" PRId64 ",%" PRId64 "]", t->name, ac_shape_str(cx, t),
                    rows, columns);
}

int ac_blockwise_of(ac_ctx *cx, const ac_node *n, ac_blockwise *out)
{
    const int32_t bits = n->attrs.blocks.bits, size = n->attrs.blocks.size, zero = n->attrs.blocks.zero;
    const ac_tensor *x = n->in[AC_BLOCKWISE_X], *codes = n->in[AC_BLOCKWISE_CODES];
    if (bits != 2 && bits != 4 && bits != 8)
        return ac_error(cx, n->at, E0103, "bits is %d, expected 2, 4 or 8", bits);
    if (size < 1 || size > MOST || (int64_t)size * bits % WORD || zero < 0 || zero >= 1 << bits)
        return ac_error(cx, n->at, E0103,
                        "blocks have %d weights of %d bits and zero point %d, expected whole words of %d bits, and a "
                        "zero point that is a code",
                        size, bits, zero, WORD);
    AC_TRY(check_types(cx, n));
    if (x->rank < 1 || x->dim[x->rank - 1] < 1 || codes->rank != 2)
        return ac_error(cx, n->at, E0104, "input '%s' is %s, codes '%s' are %s, expected [..,K] and [N,bytes]", x->name,
                        ac_shape_str(cx, x), codes->name, ac_shape_str(cx, codes));
    *out = (ac_blockwise){bits, zero, codes->dim[0], x->dim[x->rank - 1], size, 0};
    out->count = (out->depth - 1) / size + 1;
    AC_TRY(expect(cx, n, AC_BLOCKWISE_CODES, out->rows, out->count * (size * (int64_t)bits / 8)));
    AC_TRY(expect(cx, n, AC_BLOCKWISE_SCALE, out->rows, out->count));
    return expect(cx, n, AC_BLOCKWISE_ZERO, out->rows, out->count);
}

const float *ac_blockwise_floats(ac_ctx *cx, const ac_node *n, const ac_blockwise *w, int64_t columns, bool scaled)
{
    ac_tensor *zero = ac_node_in(n, AC_BLOCKWISE_ZERO);
    const uint8_t *codes = ac_tensor_force(cx, n->in[AC_BLOCKWISE_CODES]), *z = zero ? ac_tensor_force(cx, zero) : NULL;
    const float *scale = scaled ? ac_tensor_force(cx, n->in[AC_BLOCKWISE_SCALE]) : NULL;
    const int64_t bytes = w->count * (w->size * w->bits / 8);
    if (!codes || (zero && !z) || (scaled && !scale))
        return NULL;
    float *out = AC_NEW_N(cx->region, float, w->rows *columns + 1);
    for (int64_t r = 0; r < w->rows; r++)
        for (int64_t k = 0; k < columns; k++) {
            const int64_t block = r * w->count + k / w->size, bit = k * w->bits;
            const int32_t code = codes[r * bytes + bit / 8] >> bit % 8 & ((1 << w->bits) - 1);
            const float v = (float)(code - (z ? z[block] : w->zero));
            out[r * columns + k] = scaled ? v * scale[block] : v;
        }
    return out;
}
