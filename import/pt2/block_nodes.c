/* block_nodes.c - im2col and col2im of PyTorch: windows of an image as columns, and columns added up to an image. */
#include "import/pt2/nodes.h"

#include "ir/make/compose_moves.h"

#include <inttypes.h>
#include <string.h>

typedef struct blocks {
    int64_t image[2], kernel[2], dil[2], pad[2], step[2], along[2];
    int64_t taps, count; /* elements of a block; blocks */
} blocks;

static int read_pair(ac_ep_node *n, const char *name, int64_t init, int64_t *v)
{
    const ac_ints list = ac_attr_list(&n->attrs, name);
    if (list.n > 2)
        return ac_bad(&n->b, "'%s' has %d numbers", name, list.n);
    for (int32_t i = 0; i < 2; i++) {
        v[i] = !list.n ? init : list.v[list.n == 1 ? 0 : i];
        if (v[i] < init || v[i] > 1 << 24)
            return ac_bad(&n->b, "'%s' has %" PRId64, name, v[i]);
    }
    return AC_OK;
}

static int read_blocks(ac_ep_node *n, blocks *b)
{
    AC_TRY(read_pair(n, "kernel_size", 1, b->kernel));
    AC_TRY(read_pair(n, "dilation", 1, b->dil));
    AC_TRY(read_pair(n, "padding", 0, b->pad));
    AC_TRY(read_pair(n, "stride", 1, b->step));
    for (int32_t d = 0; d < 2; d++) {
        const int64_t travel = b->image[d] + 2 * b->pad[d] - (b->kernel[d] - 1) * b->dil[d] - 1;
        if (travel < 0)
            return ac_bad(&n->b, "blocks of %" PRId64 " in an image of %" PRId64, b->kernel[d], b->image[d]);
        b->along[d] = travel / b->step[d] + 1;
    }
    int64_t all;
    if (!ac_mul_ok(b->kernel[0], b->kernel[1], &b->taps) || !ac_mul_ok(b->along[0], b->along[1], &b->count) ||
        !ac_mul_ok(b->taps, b->count, &all) || all > 1 << 24)
        return ac_cannot(&n->b, "its blocks have more than 2^24 elements");
    return AC_OK;
}

/* Where tap k of block l is in the image; -1: in its pads. */
static int64_t place(const blocks *b, int64_t k, int64_t l)
{
    const int64_t y = l / b->along[1] * b->step[0] - b->pad[0] + k / b->kernel[1] * b->dil[0],
                  x = l % b->along[1] * b->step[1] - b->pad[1] + k % b->kernel[1] * b->dil[1];
    return y < 0 || x < 0 || y >= b->image[0] || x >= b->image[1] ? -1 : y * b->image[1] + x;
}

/* Places of all taps; those in pads are `outside`. */
static int64_t *places(ac_ep_node *n, const blocks *b, int64_t outside)
{
    int64_t *v = AC_NEW_N(n->r->cx->region, int64_t, b->taps * b->count + 1);
    for (int64_t k = 0; k < b->taps; k++)
        for (int64_t l = 0; l < b->count; l++) {
            const int64_t at = place(b, k, l);
            v[k * b->count + l] = at < 0 ? outside : at;
        }
    return v;
}

/* [N,C,H,W] -> [N,C*taps,blocks] */
int ac_ep_do_im2col(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    blocks b = {.taps = 1};
    const int32_t f = x->rank - 3;
    if (f != 0 && f != 1)
        return ac_bad(&n->b, "input '%s' is %s", x->name, ac_shape_str(n->r->cx, x));
    b.image[0] = x->dim[f + 1];
    b.image[1] = x->dim[f + 2];
    AC_TRY(read_blocks(n, &b));
    const int64_t pixels = b.image[0] * b.image[1], rows = (f ? x->dim[0] : 1) * x->dim[f];
    int64_t after[AC_MAX_RANK] = {0, 1}, none[AC_MAX_RANK] = {0}; /* element `pixels` is 0 */
    ac_tensor *flat = ac_make_reshape(&n->b, x, 2, (int64_t[]){rows, pixels});
    flat = ac_make_pad(&n->b, flat, none, after, NUM(x, 0));
    ac_tensor *at = ac_make_ints(&n->b, b.taps * b.count, places(n, &b, pixels)),
              *y = ac_make_gather(&n->b, flat, 1, at);
    const int64_t dim[3] = {x->dim[0], x->dim[f] * b.taps, b.count};
    return ac_ep_result(n, 0, ac_make_reshape(&n->b, y, 2 + f, f ? dim : dim + 1));
}

/* [N,C*taps,blocks] -> [N,C,H,W] */
int ac_ep_do_col2im(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    blocks b = {.taps = 1};
    const int32_t f = x->rank - 2;
    AC_TRY(read_pair(n, "output_size", 1, b.image));
    AC_TRY(read_blocks(n, &b));
    if ((f != 0 && f != 1) || x->dim[f] % b.taps || x->dim[f + 1] != b.count)
        return ac_bad(&n->b, "input '%s' is %s", x->name, ac_shape_str(n->r->cx, x));
    const int64_t pixels = b.image[0] * b.image[1], all = b.taps * b.count, c = x->dim[f] / b.taps,
                  rows = (f ? x->dim[0] : 1) * c;
    static const int32_t SWAP[AC_MAX_RANK] = {1, 0};
    ac_tensor *in[] = {ac_make_reshape(&n->b, ac_make_ints(&n->b, all, places(n, &b, pixels)), 2, (int64_t[]){all, 1}),
                       ac_make_transpose(&n->b, ac_make_reshape(&n->b, x, 2, (int64_t[]){rows, all}), SWAP),
                       ac_make_ints(&n->b, 2, (int64_t[]){pixels + 1, rows})};
    ac_tensor *y = in[1] ? ac_make_op(&n->b, AC_OP_SCATTER_ND, in, 3, NULL, AC_NONE) : NULL;
    y = ac_make_transpose(&n->b, ac_make_slice(&n->b, y, 0, 0, pixels), SWAP);
    const int64_t dim[4] = {x->dim[0], c, b.image[0], b.image[1]};
    return ac_ep_result(n, 0, ac_make_reshape(&n->b, y, 3 + f, f ? dim : dim + 1));
}
