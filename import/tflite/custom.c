/* custom.c - builds custom operators of MediaPipe from several of ours. Their options are the memory image of a C
 * structure of 32-bit integers:
 *
 *     transposed convolution   padding, stride_w, stride_h
 *     pools                    padding, stride_w, stride_h, filter_w, filter_h, activation
 *
 * padding: 1 same, 2 valid; activation as in the schema. Sizes of images are those of the file. */
#include "import/tflite/rules.h"

enum { SAME = 1, VALID };

typedef struct pool {
    int64_t padding, stride[2], filter[2]; /* height, width */
    ac_act act;
} pool;

/* The first `count` fields. */
static int read_fields(ac_tfl *r, ac_tfl_node *n, int32_t count, int64_t *field)
{
    ac_fb_vec v = ac_fb_vector(&r->fb, n->table, OP_CUSTOM_OPTIONS, 1);
    if (r->fb.failed)
        return AC_FAIL;
    if (v.n < 4 * (uint32_t)count)
        return ac_error(r->cx, n->at, E0012, "its options are %u bytes, expected %d numbers of 4 bytes", v.n, count);
    for (int32_t i = 0; i < count; i++) {
        uint32_t bits = 0;
        for (uint32_t k = 0; k < 4; k++)
            bits |= (uint32_t)ac_fb_elem_int(&r->fb, v, 4 * (uint32_t)i + k, AC_FB_U8) << 8 * k;
        field[i] = bits <= INT32_MAX ? (int64_t)bits : (int64_t)bits - (INT64_C(1) << 32);
    }
    return r->fb.failed ? AC_FAIL : AC_OK;
}

static int check_window(ac_tfl *r, const ac_tfl_node *n, int64_t padding, const int64_t *sizes, int32_t count)
{
    if (padding != SAME && padding != VALID)
        return ac_error(r->cx, n->at, E0103, "padding is %lld, expected 1 (same) or 2 (valid)", (long long)padding);
    for (int32_t i = 0; i < count; i++)
        if (sizes[i] < 1)
            return ac_error(r->cx, n->at, E0103, "a stride or a size of its window is %lld", (long long)sizes[i]);
    return AC_OK;
}

static int read_pool(ac_tfl *r, ac_tfl_node *n, pool *p)
{
    int64_t f[6];
    AC_TRY(read_fields(r, n, 6, f));
    AC_TRY(check_window(r, n, f[0], f + 1, 4));
    if (f[5] < 0 || f[5] >= AC_ACT_COUNT)
        return ac_error(r->cx, n->at, E0103, "activation is %lld", (long long)f[5]);
    *p = (pool){.padding = f[0], .stride = {f[2], f[1]}, .filter = {f[4], f[3]}, .act = (ac_act)f[5]};
    return AC_OK;
}

/* An image [N,H,W,C] of known size; N may be unknown. */
static int check_image(ac_tfl *r, const ac_tfl_node *n, const ac_tensor *x)
{
    if (x->rank != 4)
        return ac_error(r->cx, n->at, E0104, "'%s' is %s, expected [N,H,W,C]", x->name, ac_shape_str(r->cx, x));
    for (int32_t d = 1; d < 4; d++)
        if (x->dim[d] < 1)
            return ac_error(r->cx, n->at, E0204, "dimension %d of '%s' %s is not known", d, x->name,
                            ac_shape_str(r->cx, x));
    return AC_OK;
}

/* Convolution2DTransposeBias: x [N,H,W,I], weights [O,KH,KW,I], bias [O]. With padding `same` the result ends with the
 * last window that begins inside: stride * (in - 1) + filter - pads. */
int ac_tfl_rule_transpose_bias(ac_tfl *r, ac_tfl_node *n)
{
    ac_tensor *x = n->in[0], *w = n->in[1];
    int64_t f[3], size[2], before[2], after[2];
    AC_TRY(read_fields(r, n, 3, f));
    AC_TRY(check_window(r, n, f[0], f + 1, 2));
    AC_TRY(check_image(r, n, x));
    if (w->rank != 4)
        return ac_error(r->cx, n->at, E0104, "weights '%s' are %s, expected [O,H,W,I]", w->name,
                        ac_shape_str(r->cx, w));
    for (int32_t d = 0; d < 2; d++) {
        const int64_t stride = f[2 - d], in = x->dim[d + 1], filter = w->dim[d + 1];
        int64_t pads = f[0] == SAME ? filter - (in - 1) % stride - 1 : 0;
        pads = pads > 0 ? pads : 0;
        size[d] = stride * (in - 1) + filter - pads;
        before[d] = pads / 2;
        after[d] = pads - before[d];
    }
    const ac_maker b = ac_tfl_maker(r, n);
    ac_attrs a;
    ac_attrs_init(AC_OP_TRANSPOSE_CONV, &a);
    a.conv.padding = AC_PAD_EXPLICIT;
    a.conv.stride_h = (int32_t)f[2];
    a.conv.stride_w = (int32_t)f[1];
    a.conv.pad_t = (int32_t)before[0];
    a.conv.pad_b = (int32_t)after[0];
    a.conv.pad_l = (int32_t)before[1];
    a.conv.pad_r = (int32_t)after[1];
    ac_tensor *shape = ac_make_ints(&b, 4, (int64_t[]){x->dim[0], size[0], size[1], w->dim[0]});
    ac_tensor *in[] = {shape, w, x, n->in[2]};
    return ac_tfl_result(n, 0, ac_make_op(&b, AC_OP_TRANSPOSE_CONV, in, 4, &a, AC_NONE));
}

/* For an index in x in row-major order: the position of its row (d 0) or column (d 1) in the window that found it.
 * [1,OH,1,1] or [1,1,OW,1] holds the starts of the windows. */
static ac_tensor *place_in_window(const ac_maker *b, const ac_tensor *x, ac_tensor *number, int32_t d, int64_t windows,
                                  int64_t stride, int64_t pad)
{
    int64_t dim[4] = {1, 1, 1, 1};
    int64_t *begin = AC_NEW_N(b->cx->region, int64_t, windows);
    for (int64_t i = 0; i < windows; i++)
        begin[i] = i * stride - pad;
    dim[d + 1] = windows;
    ac_tensor *row = ac_make_2(b, AC_OP_FLOOR_DIV, number,
                               ac_make_number(b, AC_I64, (double)(d ? x->dim[3] : x->dim[2] * x->dim[3])));
    ac_tensor *place = ac_make_2(b, AC_OP_FLOOR_MOD, row, ac_make_number(b, AC_I64, (double)x->dim[d + 1]));
    return ac_make_2(b, AC_OP_SUB, place, ac_make_reshape(b, ac_make_ints(b, windows, begin), 4, dim));
}

/* MaxPoolingWithArgmax2D: the maximum of each window, and its position in the window: row * filter_w + column + 0.1, as
 * f32. The first of equal ones. */
int ac_tfl_rule_pool_argmax(ac_tfl *r, ac_tfl_node *n)
{
    ac_tensor *x = n->in[0], *place[2];
    int64_t windows[2], before[2], after[2];
    pool p;
    AC_TRY(read_pool(r, n, &p));
    AC_TRY(check_image(r, n, x));
    for (int32_t d = 0; d < 2; d++) {
        const int64_t in = x->dim[d + 1];
        if (p.padding == VALID && in < p.filter[d])
            return ac_error(r->cx, n->at, E0104, "'%s' %s is smaller than its window", x->name, ac_shape_str(r->cx, x));
        windows[d] = p.padding == SAME ? (in - 1) / p.stride[d] + 1 : (in - p.filter[d]) / p.stride[d] + 1;
        const int64_t pads = (windows[d] - 1) * p.stride[d] + p.filter[d] - in;
        before[d] = pads > 0 ? pads / 2 : 0;
        after[d] = pads > 0 ? pads - before[d] : 0;
    }
    const ac_maker b = ac_tfl_maker(r, n);
    ac_attrs a;
    ac_attrs_init(AC_OP_MAX_POOL_2D, &a);
    a.pool = (ac_attrs_pool){.kernel_h = (int32_t)p.filter[0],
                             .kernel_w = (int32_t)p.filter[1],
                             .stride_h = (int32_t)p.stride[0],
                             .stride_w = (int32_t)p.stride[1],
                             .padding = p.padding == SAME ? AC_PAD_SAME : AC_PAD_VALID,
                             .act = p.act};
    AC_TRY(ac_tfl_result(n, 0, ac_make_op(&b, AC_OP_MAX_POOL_2D, &x, 1, &a, AC_NONE)));
    ac_attrs_init(AC_OP_WINDOW_ARGMAX, &a);
    a.window.kernel = ac_make_list(&b, 4, (int64_t[]){1, p.filter[0], p.filter[1], 1});
    a.window.strides = ac_make_list(&b, 4, (int64_t[]){1, p.stride[0], p.stride[1], 1});
    a.window.pads = ac_make_list(&b, 8, (int64_t[]){0, 0, before[0], after[0], before[1], after[1], 0, 0});
    ac_tensor *number = ac_make_op(&b, AC_OP_WINDOW_ARGMAX, &x, 1, &a, AC_NONE);
    for (int32_t d = 0; d < 2; d++)
        place[d] = place_in_window(&b, x, number, d, windows[d], p.stride[d], before[d]);
    ac_tensor *row = ac_make_2(&b, AC_OP_MUL, place[0], ac_make_number(&b, AC_I64, (double)p.filter[1]));
    ac_tensor *at = ac_make_cast(&b, ac_make_2(&b, AC_OP_ADD, row, place[1]), AC_F32);
    return ac_tfl_result(n, 1, ac_make_2(&b, AC_OP_ADD, at, ac_make_number(&b, AC_F32, 0.1)));
}

static ac_tensor *with_axis(const ac_maker *b, ac_tensor *x, int32_t axis)
{
    ac_attrs a;
    ac_attrs_init(AC_OP_EXPAND_DIMS, &a);
    a.axis.axis = axis;
    return x ? ac_make_op(b, AC_OP_EXPAND_DIMS, &x, 1, &a, AC_NONE) : NULL;
}

/* Places that are i32 are indices of elements in the result [H,W,C] of each image; all other elements are zero. */
static int unpool_by_index(ac_tfl *r, ac_tfl_node *n, const pool *p)
{
    ac_tensor *x = n->in[0], *at = n->in[1];
    const ac_maker b = ac_tfl_maker(r, n);
    int64_t size[2];
    if (at->rank != 4 || x->dim[0] < 0)
        return ac_error(r->cx, n->at, x->dim[0] < 0 ? E0204 : E0104, "'%s' is %s, places '%s' %s", x->name,
                        ac_shape_str(r->cx, x), at->name, ac_shape_str(r->cx, at));
    for (int32_t d = 0; d < 2; d++)
        size[d] = p->padding == SAME ? x->dim[d + 1] * p->stride[d] : (x->dim[d + 1] - 1) * p->stride[d] + p->filter[d];
    const int64_t dim[4] = {x->dim[0], size[0], size[1], x->dim[3]}, rows[2] = {x->dim[0], -1};
    const int64_t whole[2] = {x->dim[0], size[0] * size[1] * x->dim[3]};
    ac_attrs a;
    ac_attrs_init(AC_OP_SCATTER_ELEMENTS, &a);
    a.scatter.axis = 1;
    ac_tensor *in[] = {ac_make_zeros(&b, AC_F32, 2, whole), ac_make_reshape(&b, at, 2, rows),
                       ac_make_reshape(&b, x, 2, rows)};
    ac_tensor *y = in[1] && in[2] ? ac_make_op(&b, AC_OP_SCATTER_ELEMENTS, in, 3, &a, AC_NONE) : NULL;
    return ac_tfl_result(n, 0, ac_make_reshape(&b, y, 4, dim));
}

/* MaxUnpooling2D: each element goes to its place in a window that is zero elsewhere. Windows do not overlap, so the
 * result is x [N,H,1,W,1,C] where the place [.., the same] is that of [1,1,KH,1,KW,1], with its dimensions joined. */
int ac_tfl_rule_unpool(ac_tfl *r, ac_tfl_node *n)
{
    ac_tensor *x = n->in[0];
    pool p;
    AC_TRY(read_pool(r, n, &p));
    AC_TRY(check_image(r, n, x));
    const ac_maker b = ac_tfl_maker(r, n);
    if (n->in[1]->dtype == AC_I32)
        return unpool_by_index(r, n, &p);
    if (p.stride[0] != p.filter[0] || p.stride[1] != p.filter[1])
        return ac_cannot(&b, "its windows overlap, or leave gaps");
    if (n->in[1]->dtype != AC_F32)
        return ac_cannot(&b, "its places are %s; supported are i32, and those of MediaPipe in f32",
                         ac_dtype_name(n->in[1]->dtype));
    const int64_t places = p.filter[0] * p.filter[1], window[6] = {1, 1, p.filter[0], 1, p.filter[1], 1};
    if (p.filter[0] > 64 || p.filter[1] > 64)
        return ac_cannot(&b, "its windows are larger than 64");
    int64_t *count = AC_NEW_N(r->cx->region, int64_t, places);
    for (int64_t i = 0; i < places; i++)
        count[i] = i;
    ac_tensor *part[2];
    for (int32_t i = 0; i < 2; i++)
        part[i] = with_axis(&b, with_axis(&b, n->in[i], 2), 4);
    ac_tensor *place = ac_make_reshape(&b, ac_make_cast(&b, ac_make_ints(&b, places, count), AC_I32), 6, window);
    ac_tensor *here = ac_make_2(&b, AC_OP_EQUAL, ac_make_cast(&b, part[1], AC_I32), place);
    ac_tensor *y = ac_make_select(&b, here, part[0], ac_make_number(&b, AC_F32, 0));
    const int64_t dim[4] = {-1, x->dim[1] * p.filter[0], x->dim[2] * p.filter[1], x->dim[3]};
    return ac_tfl_result(n, 0, ac_make_reshape(&b, y, 4, dim));
}
