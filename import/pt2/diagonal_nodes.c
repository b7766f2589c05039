/* diagonal_nodes.c - operators of PyTorch on diagonals and triangles, and on blocks of images and channels. */
#include "import/pt2/nodes.h"

#include "ir/make/compose_moves.h"

#include <inttypes.h>
#include <string.h>

/* Elements `at` of x in a row, in that shape. */
static ac_tensor *picked(ac_ep_node *n, ac_tensor *x, const int64_t *at, int32_t rank, const int64_t *dim)
{
    int64_t all = ac_tensor_count(x), count = 1;
    for (int32_t d = 0; d < rank; d++)
        count *= dim[d];
    ac_tensor *flat = ac_make_reshape(&n->b, x, 1, &all);
    return ac_make_reshape(&n->b, ac_make_gather(&n->b, flat, 0, ac_make_ints(&n->b, count, at)), rank, dim);
}

/* Elements at `first` plus steps of each dimension. */
static ac_tensor *strided(ac_ep_node *n, ac_tensor *x, int64_t first, int32_t rank, const int64_t *dim,
                          const int64_t *step)
{
    int64_t count = 1;
    const int64_t all = ac_tensor_count(x);
    for (int32_t d = 0; d < rank; d++)
        if (dim[d] < 0 || !ac_mul_ok(count, dim[d], &count) || count > 1 << 26)
            return (void)ac_cannot(&n->b, "it picks more than 2^26 elements"), NULL;
    int64_t *at = AC_NEW_N(n->r->cx->region, int64_t, count + 1);
    for (int64_t i = 0; i < count; i++) {
        int64_t rest = i;
        at[i] = first;
        for (int32_t d = rank - 1; d >= 0; rest /= dim[d--])
            at[i] += rest % dim[d] * step[d];
        if (at[i] < 0 || at[i] >= all)
            return (void)ac_bad(&n->b, "element %" PRId64 " of '%s' %s", at[i], x->name, ac_shape_str(n->r->cx, x)),
                   NULL;
    }
    return picked(n, x, at, rank, dim);
}

static void strides_of(const ac_tensor *x, int64_t *step)
{
    int64_t s = 1;
    for (int32_t d = x->rank - 1; d >= 0; s *= x->dim[d--])
        step[d] = s;
}

/* The diagonal of dimensions a and c, as the last one. */
static ac_tensor *diagonal(ac_ep_node *n, ac_tensor *x, int32_t a, int32_t c, int64_t offset)
{
    int64_t own[AC_MAX_RANK], dim[AC_MAX_RANK], step[AC_MAX_RANK], first;
    int32_t k = 0;
    strides_of(x, own);
    for (int32_t d = 0; d < x->rank; d++)
        if (d != a && d != c) {
            dim[k] = x->dim[d];
            step[k++] = own[d];
        }
    const int64_t rows = x->dim[a] - (offset < 0 ? -offset : 0), cols = x->dim[c] - (offset > 0 ? offset : 0);
    first = offset < 0 ? -offset * own[a] : offset * own[c];
    dim[k] = rows < cols ? rows : cols;
    dim[k] = dim[k] < 0 ? 0 : dim[k];
    step[k] = own[a] + own[c];
    return strided(n, x, first, k + 1, dim, step);
}

int ac_ep_do_diagonal(ac_ep_node *n)
{
    int32_t a, c;
    if (n->in[0]->rank < 2)
        return ac_bad(&n->b, "'%s' has no diagonal", n->in[0]->name);
    AC_TRY(ac_ep_axis(n, A_diagonal_dim1, n->in[0]->rank, &a));
    AC_TRY(ac_ep_axis(n, A_diagonal_dim2, n->in[0]->rank, &c));
    return ac_ep_result(n, 0, diagonal(n, n->in[0], a, c, ac_attr_int(&n->attrs, A_offset)));
}

int ac_ep_do_trace(ac_ep_node *n)
{
    if (n->in[0]->rank != 2)
        return ac_bad(&n->b, "'%s' is not a matrix", n->in[0]->name);
    ac_tensor *x = diagonal(n, n->in[0], 0, 1, 0);
    const ac_dtype to = ac_ep_declared(n, 0);
    return ac_ep_result(n, 0,
                        ac_make_reduce(&n->b, AC_OP_SUM, to == AC_I64 ? ac_make_cast(&n->b, x, to) : x, 1, false));
}

/* x [..,N] on a diagonal of a matrix of zeros, as dimensions a and c of the result. */
static ac_tensor *embedded(ac_ep_node *n, ac_tensor *x, int32_t a, int32_t c, int64_t offset)
{
    const int32_t rank = x->rank + 1;
    const int64_t size = x->dim[x->rank - 1], far = offset < 0 ? -offset : offset, wide = size + far;
    int64_t dim[AC_MAX_RANK];
    int32_t perm[AC_MAX_RANK], k = 0;
    if (rank > AC_MAX_RANK)
        return (void)ac_cannot(&n->b, "its result has more than 8 dimensions"), NULL;
    int64_t before[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0};
    (offset > 0 ? before : after)[x->rank - 1] = far;
    ac_tensor *y = ac_make_pad(&n->b, x, before, after, NUM(x, 0));
    memcpy(dim, x->dim, sizeof dim);
    dim[x->rank - 1] = 1;
    dim[x->rank] = wide;
    y = ac_make_reshape(&n->b, y, rank, dim);
    ac_tensor *zero = NUM(x, 0);
    y = WHERE(ac_make_band(&n->b, wide, wide, offset, offset), y, zero);
    for (int32_t d = 0; d < rank; d++) /* the last two move to a and c */
        perm[d] = d == a ? rank - 2 : d == c ? rank - 1 : k++;
    return ac_make_transpose(&n->b, y, perm);
}

int ac_ep_do_diag_embed(ac_ep_node *n)
{
    int32_t a, c;
    if (n->in[0]->rank < 1)
        return ac_bad(&n->b, "'%s' is a scalar", n->in[0]->name);
    AC_TRY(ac_ep_axis(n, A_embed_dim1, n->in[0]->rank + 1, &a));
    AC_TRY(ac_ep_axis(n, A_embed_dim2, n->in[0]->rank + 1, &c));
    return ac_ep_result(n, 0, embedded(n, n->in[0], a, c, ac_attr_int(&n->attrs, A_offset)));
}

int ac_ep_do_diag(ac_ep_node *n)
{
    const int64_t offset = ac_attr_int(&n->attrs, A_diagonal);
    if (n->in[0]->rank == 1)
        return ac_ep_result(n, 0, embedded(n, n->in[0], 0, 1, offset));
    return n->in[0]->rank == 2 ? ac_ep_result(n, 0, diagonal(n, n->in[0], 0, 1, offset))
                               : ac_bad(&n->b, "'%s' is not a matrix", n->in[0]->name);
}

/* x where the column minus the row is from..to, else 0. */
static int banded(ac_ep_node *n, int64_t from, int64_t to)
{
    ac_tensor *x = n->in[0];
    if (x->rank < 2)
        return ac_bad(&n->b, "'%s' is not a matrix", x->name);
    ac_tensor *zero = NUM(x, 0);
    return ac_ep_result(n, 0, WHERE(ac_make_band(&n->b, x->dim[x->rank - 2], x->dim[x->rank - 1], from, to), x, zero));
}

int ac_ep_do_tril(ac_ep_node *n)
{
    return banded(n, INT32_MIN, ac_attr_int(&n->attrs, A_diagonal));
}

int ac_ep_do_triu(ac_ep_node *n)
{
    return banded(n, ac_attr_int(&n->attrs, A_diagonal), INT32_MAX);
}

/* ------------------------------------------------------------------ blocks */

/* x seen as dim[], permuted, and seen as `rank` dimensions again: those in front stay. */
static ac_tensor *regrouped(ac_ep_node *n, ac_tensor *x, int32_t front, const int64_t *block, int32_t blocks,
                            const int32_t *order, const int64_t *to, int32_t rank)
{
    int64_t dim[2 * AC_MAX_RANK];
    int32_t perm[2 * AC_MAX_RANK];
    if (front + blocks > AC_MAX_RANK)
        return (void)ac_cannot(&n->b, "its input has %d dimensions", x->rank), NULL;
    for (int32_t d = 0; d < front; d++) {
        dim[d] = x->dim[d];
        perm[d] = d;
    }
    for (int32_t i = 0; i < blocks; i++) {
        dim[front + i] = block[i];
        perm[front + i] = front + order[i];
    }
    ac_tensor *y = ac_make_transpose(&n->b, ac_make_reshape(&n->b, x, front + blocks, dim), perm);
    for (int32_t i = 0; i < rank; i++)
        dim[front + i] = to[i];
    return ac_make_reshape(&n->b, y, front + rank, dim);
}

/* [..,C*r*r,H,W] -> [..,C,H*r,W*r] */
int ac_ep_do_pixel_shuffle(ac_ep_node *n)
{
    static const int32_t ORDER[] = {0, 3, 1, 4, 2};
    ac_tensor *x = n->in[0];
    const int64_t r = ac_attr_int(&n->attrs, A_upscale_factor);
    const int32_t f = x->rank - 3;
    if (f < 0 || x->dim[f] % (r * r))
        return ac_bad(&n->b, "'%s' %s does not divide into blocks of %" PRId64, x->name, ac_shape_str(n->r->cx, x), r);
    const int64_t c = x->dim[f] / (r * r), h = x->dim[f + 1], w = x->dim[f + 2];
    return ac_ep_result(n, 0,
                        regrouped(n, x, f, (int64_t[]){c, r, r, h, w}, 5, ORDER, (int64_t[]){c, h * r, w * r}, 3));
}

/* [..,C,H*r,W*r] -> [..,C*r*r,H,W] */
int ac_ep_do_pixel_unshuffle(ac_ep_node *n)
{
    static const int32_t ORDER[] = {0, 2, 4, 1, 3};
    ac_tensor *x = n->in[0];
    const int64_t r = ac_attr_int(&n->attrs, A_downscale_factor);
    const int32_t f = x->rank - 3;
    if (f < 0 || x->dim[f + 1] % r || x->dim[f + 2] % r)
        return ac_bad(&n->b, "'%s' %s does not divide into blocks of %" PRId64, x->name, ac_shape_str(n->r->cx, x), r);
    const int64_t c = x->dim[f], h = x->dim[f + 1] / r, w = x->dim[f + 2] / r;
    return ac_ep_result(n, 0,
                        regrouped(n, x, f, (int64_t[]){c, h, r, w, r}, 5, ORDER, (int64_t[]){c * r * r, h, w}, 3));
}

int ac_ep_do_channel_shuffle(ac_ep_node *n)
{
    static const int32_t ORDER[] = {1, 0, 2};
    ac_tensor *x = n->in[0];
    const int64_t groups = ac_attr_int(&n->attrs, A_groups);
    if (x->rank < 3 || x->dim[1] % groups)
        return ac_bad(&n->b, "%" PRId64 " groups of '%s' %s", groups, x->name, ac_shape_str(n->r->cx, x));
    const int64_t c = x->dim[1], rest = ac_dim_product(x->dim, 2, x->rank);
    ac_tensor *y = regrouped(n, x, 1, (int64_t[]){groups, c / groups, rest}, 3, ORDER, (int64_t[]){c, rest}, 2);
    return ac_ep_result(n, 0, y ? ac_make_reshape_like(&n->b, y, x) : NULL);
}

/* Windows of `size` elements along a dimension, as a new last dimension. */
int ac_ep_do_unfold(ac_ep_node *n)
{
    ac_tensor *x = n->in[0];
    int64_t dim[AC_MAX_RANK + 1], own[AC_MAX_RANK + 1];
    int32_t d;
    const ac_ints at = ac_attr_list(&n->attrs, "dimension");
    const ac_ints size = ac_attr_list(&n->attrs, "size"), step = ac_attr_list(&n->attrs, "step");
    if (at.n != 1 || size.n != 1 || step.n != 1 || x->rank < 1 || x->rank >= AC_MAX_RANK || step.v[0] < 1)
        return ac_bad(&n->b, "windows of '%s' %s", x->name, ac_shape_str(n->r->cx, x));
    AC_TRY(ac_operand_axis(&n->b, at.v[0], x->rank, &d));
    if (size.v[0] < 1 || size.v[0] > x->dim[d])
        return ac_bad(&n->b, "windows of %" PRId64 " along %" PRId64, size.v[0], x->dim[d]);
    strides_of(x, own);
    memcpy(dim, x->dim, sizeof x->dim);
    dim[d] = (x->dim[d] - size.v[0]) / step.v[0] + 1;
    dim[x->rank] = size.v[0];
    own[x->rank] = own[d];
    own[d] *= step.v[0];
    return ac_ep_result(n, 0, strided(n, x, 0, x->rank + 1, dim, own));
}

/* Elements of the storage of x, which is dense. */
int ac_ep_do_as_strided(ac_ep_node *n)
{
    const ac_ints size = ac_attr_ints(&n->attrs, A_size), stride = ac_attr_list(&n->attrs, "stride"),
                  offset = ac_attr_list(&n->attrs, "storage_offset");
    if (size.n != stride.n || offset.n > 1)
        return ac_bad(&n->b, "%d sizes and %d strides", size.n, stride.n);
    return ac_ep_result(n, 0, strided(n, n->in[0], offset.n ? offset.v[0] : 0, size.n, size.v, stride.v));
}
