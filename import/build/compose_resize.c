/* compose_resize.c - resizing along one dimension as a product with a constant matrix. */
#include "import/build/compose_resize.h"

/* That dimension is moved to the end and back. */
ac_tensor *ac_build_resample(const ac_build *b, ac_tensor *x, int32_t d, int64_t out, const float *matrix)
{
    int32_t perm[AC_MAX_RANK], back[AC_MAX_RANK];
    if (!x)
        return NULL;
    const int64_t dim[2] = {out, x->dim[d]};
    ac_build_axis_last(x->rank, d, perm, back);
    ac_tensor *weights = ac_build_floats(b, 2, dim, matrix);
    ac_tensor *y = ac_build_dense(b, ac_build_transpose(b, x, perm), weights, NULL);
    return ac_build_transpose(b, y, back);
}
