/* sample_rules.c - shape rules of operators that read images at positions that come from data: grid_sample, roi_align,
 * roi_pool. */
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

enum { MOST_DIMS = 3 }; /* spatial */

int ac_sh_grid_sample(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0], *grid = n->in[1];
    const ac_attrs_sample *a = &n->attrs.sample;
    const int32_t m = x->rank - 2;
    if (a->mode < AC_W_NEAREST || a->mode > AC_W_CUBIC || a->padding < AC_W_ZEROS || a->padding > AC_W_REFLECTION)
        return ac_error(cx, n->at, E0103,
                        "mode is one of nearest, linear, cubic, padding one of zeros, border, reflection");
    if (m < 1 || m > MOST_DIMS || grid->rank != x->rank || grid->dtype != AC_F32 || grid->dim[m + 1] != m ||
        grid->dim[0] != x->dim[0]) {
        ac_error(cx, n->at, E0104, "expected x [N,S..,C] with 1 to 3 spatial dimensions S and an f32 grid [N,O..,%d]",
                 m);
        return ac_shape_show(cx, n);
    }
    int64_t dim[AC_MAX_RANK];
    for (int32_t d = 0; d < m + 2; d++)
        dim[d] = d <= m ? grid->dim[d] : x->dim[d];
    for (int32_t d = 1; d <= m; d++)
        if (x->dim[d] == 0 || x->dim[d] > 1 << 24)
            return ac_error(cx, n->at, E0104, "'%s' is %s: expected 1 to 2^24 positions to sample along each dimension",
                            x->name, ac_shape_str(cx, x));
    return ac_shape_set_like(cx, n, 0, x, x->rank, dim);
}

int ac_sh_roi(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, 0, 4, "[N,H,W,C]"));
    AC_TRY(ac_shape_rank(cx, n, 1, 2, "[R,4]"));
    AC_TRY(ac_shape_rank(cx, n, 2, 1, "[R]"));
    AC_TRY(ac_shape_index(cx, n, 2));
    const ac_tensor *x = n->in[0], *roi = n->in[1], *image = n->in[2];
    const ac_attrs_roi *a = &n->attrs.roi;
    if (x->dtype != AC_F32 || roi->dtype != AC_F32 || roi->dim[1] != 4 || image->dim[0] != roi->dim[0] ||
        x->dim[1] < 1 || x->dim[2] < 1 || x->dim[1] > 1 << 24 || x->dim[2] > 1 << 24) {
        ac_error(cx, n->at, E0104, "expected f32 images [N,H,W,C], f32 regions [R,4] and image numbers [R]");
        return ac_shape_show(cx, n);
    }
    if (a->height < 1 || a->width < 1 || a->ratio < 0 || (a->mode != AC_W_AVERAGE && a->mode != AC_W_MAX))
        return ac_error(cx, n->at, E0103, "height and width must be 1 or more, ratio 0 or more, mode average or max");
    const int64_t dim[4] = {roi->dim[0], a->height, a->width, x->dim[3]};
    return ac_shape_set(cx, n, 0, AC_F32, 4, dim);
}
