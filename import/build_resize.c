#include "import/build_resize.h"

/* That dimension is moved to the end and back. */
ac_tensor *ac_build_resample(const ac_build *b, ac_tensor *x, int32_t d, int64_t out, const float *matrix)
{
    int32_t perm[AC_MAX_RANK], back[AC_MAX_RANK];
    ac_attrs a;
    if (!x)
        return NULL;
    const int64_t dim[2] = {out, x->dim[d]};
    ac_build_axis_last(x->rank, d, perm, back);
    ac_attrs_init(AC_OP_FULLY_CONNECTED, &a);
    a.dense.keep_dims = true;
    ac_tensor *in[] = {ac_build_transpose(b, x, perm), ac_build_floats(b, 2, dim, matrix)};
    return ac_build_transpose(b, ac_build_op(b, AC_OP_FULLY_CONNECTED, in, 2, &a, AC_NONE), back);
}
