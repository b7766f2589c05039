/* blocks.c - constants whose quantisation has a scale for each block of neighbours along the last dimension: they
 * become f32, number * scale.
 *
 *     BlockwiseQuantization   scales: the number of a tensor of the subgraph, f16 or f32, a scale for each block in
 *                             row-major order; zero_points: such a number too, or -1; block_size
 *
 * TFLite's kernels round what they multiply with such weights to 8 bits as they run; here nothing is rounded. */
#include "import/tflite/tflite.h"

enum { SCALES, ZERO_POINTS, BLOCK_SIZE, BLOCK_SHAPE };

static int broken(ac_tfl *r, ac_place at, const char *name, const char *what)
{
    return ac_error(r->cx, at, E0106, "constant '%s' is quantised in blocks, but %s", name, what);
}

int ac_tfl_blocks(ac_tfl *r, ac_place at, const char *name, ac_fb_table details, ac_fb_vec tensors, int64_t last,
                  int64_t count, ac_dtype type, const void *numbers, const void **out)
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
    const ac_span scale = buffer < r->n_buffer ? r->buffer[buffer].bytes : (ac_span){0};
    if ((real != AC_F16 && real != AC_F32) || scale.n != (uint64_t)(count / size * (ac_dtype_bits(real) / 8)))
        return broken(r, at, name,
                      ac_strf(r->cx->region, "its scales are %llu bytes of %s, expected %lld of f16 or f32",
                              (unsigned long long)scale.n, ac_dtype_name(real), (long long)(count / size)));
    const void *scales = ac_copy(r->cx->region, scale.p, scale.n);
    float *w = ac_alloc_n(r->cx->region, (uint64_t)count + 1, sizeof *w);
    for (int64_t i = 0; i < count; i++)
        w[i] = (float)ac_dtype_get_int(type, numbers, i) * (float)ac_dtype_get_num(real, scales, i / size);
    *out = w;
    return AC_OK;
}
