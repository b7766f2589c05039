/* resize.c - lowers RESIZE_BILINEAR and RESIZE_NEAREST_NEIGHBOR, [N,H,W,C] -> [N,OH,OW,C].
 *
 * Which input rows and columns a result pixel reads, and how much of each, does not depend on the data: it is computed
 * here, by TFLite's reference formulas, into tables for each dimension. The loops read the tables for each pixel and
 * run along the channels.
 *
 *     f32      TFLite's float formula. With --exact its order of operations, else four weights for each pixel (fma
 *              where the target has it); they differ by a few units in the last place
 *
 *     i8, i16  TFLite's ResizeBilinearInteger: positions in 1/1024, rounded half away from zero; bit-exact
 *
 *     u8       the float formula, plus 0.5, truncated; bit-exact
 *
 *     nearest  any type of a byte or more; bit-exact
 *
 * Rows past the last one, which TFLite's rounded integer scale can name in very large images, are read as the last. */
#include "ir/lower/entries.h"
#include "ir/lower/move/move.h"
#include "ir/ops/decode/axis.h"

#include <math.h>

enum { ONE = 1 << 10 }; /* of the integer formula's positions */

/* One dimension: result position i interpolates input positions lo[i] and hi[i]; `part` is the weight of hi (f32: 0..1,
 * integers: 0..1024). Negative parts and parts above 1 occur at the borders, where lo and hi are the same. */
typedef struct taps {
    int32_t *lo, *hi, *fixed;
    float *part;
} taps;

static int32_t clamp_to(int64_t at, int64_t extent)
{
    return (int32_t)(at < 0 ? 0 : at >= extent ? extent - 1 : at);
}

static taps taps_new(ac_region *r, int64_t n)
{
    return (taps){AC_NEW_N(r, int32_t, n), AC_NEW_N(r, int32_t, n), AC_NEW_N(r, int32_t, n), AC_NEW_N(r, float, n)};
}

static taps float_taps(ac_region *r, const ac_attrs_resize *a, int64_t in, int64_t out)
{
    taps t = taps_new(r, out);
    float scale = (float)in / (float)out;
    if (a->align_corners && out > 1)
        scale = (float)(in - 1) / (float)(out - 1);
    for (int64_t i = 0; i < out; i++) {
        const float at = a->half_pixel_centers ? ((float)i + 0.5f) * scale - 0.5f : (float)i * scale;
        const int64_t low = (int64_t)floorf(at) > 0 ? (int64_t)floorf(at) : 0;
        t.lo[i] = clamp_to(low, in);
        t.hi[i] = clamp_to((int64_t)ceilf(at), in);
        t.part[i] = at - (float)low;
    }
    return t;
}

static taps fixed_taps(ac_region *r, const ac_attrs_resize *a, int64_t in, int64_t out)
{
    taps t = taps_new(r, out);
    int64_t scale = (ONE * in + out / 2) / out;
    if (a->align_corners && out > 1)
        scale = (ONE * (in - 1) + (out - 1) / 2) / (out - 1);
    for (int64_t i = 0; i < out; i++) {
        const int64_t at = a->half_pixel_centers ? i * scale + scale / 2 - ONE / 2 : i * scale;
        const int64_t low = at / ONE > 0 ? at / ONE : 0;
        t.lo[i] = clamp_to(low, in);
        t.hi[i] = clamp_to((at + ONE - 1) / ONE, in);
        t.fixed[i] = (int32_t)(at - ONE * low);
        if (t.lo[i] == t.hi[i] &&
            (t.fixed[i] < 0 || t.fixed[i] > ONE)) /* the weights of one element add up to 1 anyway */
            t.fixed[i] = 0;
    }
    return t;
}

static int32_t nearest(const ac_attrs_resize *a, int64_t i, int64_t in, int64_t out)
{
    const float scale = a->align_corners && out > 1 ? (float)(in - 1) / (float)(out - 1) : (float)in / (float)out;
    const float at = ((float)i + (a->half_pixel_centers ? 0.5f : 0.0f)) * scale;
    return clamp_to((int64_t)(a->align_corners ? roundf(at) : floorf(at)), in);
}

/* A table of element offsets: list[i] * stride. */
static int32_t offsets(ac_lower *L, const char *name, const int32_t *list, int64_t n, int64_t stride)
{
    int32_t *v = AC_NEW_N(L->region, int32_t, n);
    for (int64_t i = 0; i < n; i++)
        v[i] = (int32_t)(list[i] * stride);
    return ac_lo_table(L, name, AC_I32, n, v);
}

/* The inputs of a run along the channels: positions of the four pixels, and their weights. */
typedef struct blend {
    int32_t src, dst;
    ac_x pixel[4], to;      /* (lo,lo) (hi,lo) (lo,hi) (hi,hi), in the order (row, column) */
    ac_x weight[4];         /* products of a row's and a column's weight, or 0: */
    ac_x row[2], column[2]; /* the weights of lo and hi, if the order of TFLite is kept */
    ac_dtype compute;       /* f32, i32 or i64 */
} blend;

/* Rounds v / 2^20 half away from zero: as TFLite, which adds half and divides towards zero. */
static ac_x round_20(ac_lb *b, ac_x v)
{
    const int64_t half = 1 << 19, mask = (1 << 20) - 1, sign = ac_dtype_bits(ac_lb_dtype(b, v)) - 1;
    v = ac_lb_add(b, v,
                  ac_lb_select(b, ac_lb_gt(b, v, ac_lb_like_int(b, v, 0)), ac_lb_like_int(b, v, half),
                               ac_lb_like_int(b, v, -half)));
    const ac_x bias = ac_lb_and(b, ac_lb_shr(b, v, ac_lb_like_int(b, v, sign)), ac_lb_like_int(b, v, mask));
    return ac_lb_shr(b, ac_lb_add(b, v, bias), ac_lb_like_int(b, v, 20));
}

static void blend_piece(ac_lower *L, ac_x at, int32_t lanes, void *ctx)
{
    const blend *k = ctx;
    ac_lb *b = &L->b;
    const ac_dtype d = L->node->in[0]->dtype;
    const bool real = k->compute == AC_F32;
    ac_x sum = 0;
    for (int32_t i = 0; i < 4; i++) {
        const ac_x v = ac_lb_cast(b, ac_lb_load(b, k->src, ac_lb_add(b, k->pixel[i], at), lanes), k->compute);
        if (k->weight[i] && sum && real) {
            sum = ac_lo_madd(L, v, k->weight[i], sum);
            continue;
        }
        const ac_x term = k->weight[i] ? ac_lb_mul(b, v, k->weight[i])
                                       : ac_lb_mul(b, ac_lb_mul(b, v, k->row[i & 1]), k->column[i >> 1]);
        sum = sum ? ac_lb_add(b, sum, term) : term;
    }
    if (!real)
        sum = ac_lb_cast(b, round_20(b, sum), d);
    else if (d == AC_U8)
        sum = ac_lb_cast(b, ac_lb_cast(b, ac_lb_add(b, sum, ac_lb_like(b, sum, 0.5)), AC_I32), AC_U8);
    ac_lb_store(b, k->dst, ac_lb_add(b, k->to, at), sum);
}

/* The weights of a pixel from the parts of its row and column. */
static void weigh(ac_lower *L, blend *k, ac_x fy, ac_x fx)
{
    ac_lb *b = &L->b;
    const bool real = k->compute == AC_F32;
    const ac_x one = real ? ac_lb_f32(b, 1) : ac_lb_int(b, k->compute, ONE);
    k->row[0] = ac_lb_sub(b, one, fy);
    k->row[1] = fy;
    k->column[0] = ac_lb_sub(b, one, fx);
    k->column[1] = fx;
    if (!real || (!L->exact && L->node->in[0]->dtype == AC_F32))
        for (int32_t i = 0; i < 4; i++)
            k->weight[i] = ac_lb_mul(b, k->row[i & 1], k->column[i >> 1]);
}

int ac_lo_resize_bilinear(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    const ac_attrs_resize *a = &n->attrs.resize;
    const ac_tensor *x = n->in[0], *y = n->out[0];
    const ac_dtype d = x->dtype;
    if (d != AC_F32 && d != AC_I8 && d != AC_I16 && d != AC_U8)
        return ac_lower_refuse(L, "input '%s' is %s; f32, i8, u8 and i16 are supported", x->name, ac_dtype_name(d));
    if (ac_tensor_count(y) == 0)
        return AC_OK;
    blend k = {.compute = d == AC_I8 ? AC_I32 : d == AC_I16 ? AC_I64 : AC_F32};
    const bool real = k.compute == AC_F32;
    const int64_t h = x->dim[1], w = x->dim[2], c = x->dim[3], oh = y->dim[1], ow = y->dim[2];
    const taps ty = (real ? float_taps : fixed_taps)(L->region, a, h, oh);
    const taps tx = (real ? float_taps : fixed_taps)(L->region, a, w, ow);
    k.src = ac_lo_operand(L, n->in[0]);
    k.dst = ac_lo_result_buf(L);
    const int32_t y0 = offsets(L, "y0", ty.lo, oh, w * c), y1 = offsets(L, "y1", ty.hi, oh, w * c);
    const int32_t x0 = offsets(L, "x0", tx.lo, ow, c), x1 = offsets(L, "x1", tx.hi, ow, c);
    const int32_t fy = real ? ac_lo_table(L, "fy", AC_F32, oh, ty.part) : ac_lo_table(L, "fy", AC_I32, oh, ty.fixed);
    const int32_t fx = real ? ac_lo_table(L, "fx", AC_F32, ow, tx.part) : ac_lo_table(L, "fx", AC_I32, ow, tx.fixed);
    const ac_x image = ac_lb_for_each(b, "n", x->dim[0]), oy = ac_lb_for_each(b, "oy", oh);
    const ac_x base = ac_lb_mul(b, image, ac_lb_i32(b, h * w * c)),
               part_y = ac_lb_cast(b, ac_lb_load(b, fy, oy, 1), k.compute);
    const ac_x row[2] = {ac_lb_add(b, base, ac_lb_load(b, y0, oy, 1)), ac_lb_add(b, base, ac_lb_load(b, y1, oy, 1))};
    const ac_x ox = ac_lb_for_n(b, "ox", ow), part_x = ac_lb_cast(b, ac_lb_load(b, fx, ox, 1), k.compute);
    const ac_x column[2] = {ac_lb_load(b, x0, ox, 1), ac_lb_load(b, x1, ox, 1)};
    for (int32_t i = 0; i < 4; i++)
        k.pixel[i] = ac_lb_add(b, row[i & 1], column[i >> 1]);
    const ac_x line = ac_lb_add(b, ac_lb_mul(b, image, ac_lb_i32(b, oh)), oy);
    k.to = ac_lb_mul(b, ac_lb_add(b, ac_lb_mul(b, line, ac_lb_i32(b, ow)), ox), ac_lb_i32(b, c));
    weigh(L, &k, part_y, part_x);
    const int32_t lanes = ac_target_lanes(L->target, k.compute);
    ac_lo_run(L, "c", c, lanes, lanes > 4 ? 4 : lanes, blend_piece, &k);
    for (int32_t i = 0; i < 3; i++)
        ac_lb_end(b);
    return AC_OK;
}

int ac_lo_resize_nearest(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_lb *b = &L->b;
    const ac_attrs_resize *a = &n->attrs.resize;
    const ac_tensor *x = n->in[0], *y = n->out[0];
    AC_TRY(ac_lo_movable(L, x));
    if (ac_tensor_count(y) == 0)
        return AC_OK;
    const int64_t h = x->dim[1], w = x->dim[2], c = x->dim[3], oh = y->dim[1], ow = y->dim[2];
    int32_t *rows = AC_NEW_N(L->region, int32_t, oh), *columns = AC_NEW_N(L->region, int32_t, ow);
    for (int64_t i = 0; i < oh; i++)
        rows[i] = nearest(a, i, h, oh);
    for (int64_t i = 0; i < ow; i++)
        columns[i] = nearest(a, i, w, ow);
    const int32_t src = ac_lo_operand(L, n->in[0]), dst = ac_lo_result_buf(L);
    const int32_t y0 = offsets(L, "y0", rows, oh, w * c), x0 = offsets(L, "x0", columns, ow, c);
    const ac_x image = ac_lb_for_each(b, "n", x->dim[0]), oy = ac_lb_for_each(b, "oy", oh);
    const ac_x row = ac_lb_add(b, ac_lb_mul(b, image, ac_lb_i32(b, h * w * c)), ac_lb_load(b, y0, oy, 1));
    const ac_x ox = ac_lb_for_n(b, "ox", ow);
    const ac_x line = ac_lb_add(b, ac_lb_mul(b, image, ac_lb_i32(b, oh)), oy);
    const ac_x to = ac_lb_mul(b, ac_lb_add(b, ac_lb_mul(b, line, ac_lb_i32(b, ow)), ox), ac_lb_i32(b, c));
    ac_move m = {0};
    ac_move_dim(&m, c, 1, 1);
    ac_lo_move_at(L, src, ac_lb_add(b, row, ac_lb_load(b, x0, ox, 1)), dst, to, &m);
    for (int32_t i = 0; i < 3; i++)
        ac_lb_end(b);
    return AC_OK;
}
