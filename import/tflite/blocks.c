/* blocks.c - reads constants with a scale for each block of neighbours along the last dimension: emits nodes that
 * compute f32 = number * scale, which pass pack recognises (ir/pass/pack.c), or else pass fold evaluates.
 *
 *     BlockwiseQuantization   scales: the number of a tensor of the subgraph, f16 or f32, a scale for each block in
 *                             row-major order; zero_points: such a number too, or -1; block_size
 *
 * TFLite's kernels round the other operand to 8 bits at run time; here nothing is rounded. */
#include "ir/make/maker.h"
#include "import/tflite/tflite.h"

enum { SCALES, ZERO_POINTS, BLOCK_SIZE, BLOCK_SHAPE };

static int broken(ac_tfl *r, ac_place at, const char *name, const char *what)
{
    return ac_error(r->cx, at, E0106, "constant '%s' is quantised in blocks, but %s", name, what);
}

int ac_tfl_blocks(ac_tfl *r, ac_place at, const char *name, ac_fb_table details, ac_fb_vec tensors, int64_t last,
                  int64_t count, const float **scale, int64_t *block)
{
    ac_fb *fb = &r->fb;
    const int64_t index = ac_fb_int(fb, details, SCALES, AC_FB_I32, 0);
    const int64_t size = ac_fb_int(fb, details, BLOCK_SIZE, AC_FB_I32, 0);
    if (fb->failed)
        return AC_FAIL;
    if (ac_fb_int(fb, details, ZERO_POINTS, AC_FB_I32, -1) >= 0)
        return broken(r, at, name, "has zero points, which TFLite does not run either");
    if (size < 1 || last < 1 || last % size)
        return broken(r, at, name,
                      ac_strf(r->cx->region, "%lld elements of a row are not made of blocks of %lld", (long long)last,
                              (long long)size));
    if (index < 0 || index >= tensors.n)
        return broken(r, at, name, "its scales are no tensor");
    const ac_fb_table t = ac_fb_elem_table(fb, tensors, (uint32_t)index, "Tensor");
    const ac_dtype real = ac_dtype_from_tflite((int32_t)ac_fb_int(fb, t, AC_TFL_T_TYPE, AC_FB_I8, 0));
    const int64_t buffer = ac_fb_int(fb, t, AC_TFL_T_BUFFER, AC_FB_U32, 0);
    if (fb->failed)
        return AC_FAIL;
    const ac_span bytes = buffer < r->n_buffer ? r->buffer[buffer].bytes : (ac_span){0};
    if ((real != AC_F16 && real != AC_F32) || bytes.n != (uint64_t)(count / size * (ac_dtype_bits(real) / 8)))
        return broken(r, at, name,
                      ac_strf(r->cx->region, "its scales are %llu bytes of %s, expected %lld of f16 or f32",
                              (unsigned long long)bytes.n, ac_dtype_name(real), (long long)(count / size)));
    const void *given = ac_copy(r->cx->region, bytes.p, bytes.n);
    float *f = ac_alloc_n(r->cx->region, (uint64_t)(count / size) + 1, sizeof *f);
    for (int64_t i = 0; i < count / size; i++)
        f[i] = (float)ac_dtype_get_num(real, given, i);
    *scale = f;
    *block = size;
    return AC_OK;
}

ac_tensor *ac_tfl_unblocked(ac_graph *g, ac_place at, const char *name, ac_dtype type, int32_t rank, const int64_t *dim,
                            const void *numbers, const float *scale, int64_t block)
{
    const ac_maker b = {.cx = g->cx, .g = g, .name = name, .base = name, .at = at};
    int64_t split[AC_MAX_RANK];
    for (int32_t d = 0; d < rank; d++)
        split[d] = dim[d];
    split[rank - 1] /= block;
    split[rank] = block;
    ac_tensor *x = ac_tensor_const(g, name, type, rank + 1, split, numbers);
    split[rank] = 1;
    ac_tensor *s = ac_tensor_const(g, ac_strf(g->region, "%s_scale", name), AC_F32, rank + 1, split, scale);
    ac_tensor *y = ac_make_reshape(&b, ac_make_2(&b, AC_OP_MUL, ac_make_cast(&b, x, AC_F32), s), rank, dim);
    ac_graph_sweep(g); /* for small constants the result is already a constant */
    return y;
}
