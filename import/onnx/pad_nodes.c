/* pad_nodes.c - Pad of ONNX, in all modes, and CenterCropPad. */
#include "import/build/bounds.h"
#include "import/build/compose_pads.h"
#include "import/build/operands.h"
#include "import/onnx/proto/nodes.h"

#include <inttypes.h>
#include <string.h>

static ac_tensor *mirror(ac_onx_node *n, ac_tensor *x, const int64_t *before, const int64_t *after)
{
    ac_attrs a;
    int64_t *list = AC_NEW_N(n->r->cx->region, int64_t, 2 * AC_MAX_RANK);
    for (int32_t d = 0; d < x->rank; d++) {
        list[2 * d] = before[d];
        list[2 * d + 1] = after[d];
        if (before[d] > x->dim[d] - 1 || after[d] > x->dim[d] - 1)
            return (void)ac_cannot(&n->b, "it reflects more than once"), NULL;
    }
    ac_attrs_init(AC_OP_MIRROR_PAD, &a);
    a.mirror.pads = (ac_ints){2 * x->rank, list};
    return ac_make_op(&n->b, AC_OP_MIRROR_PAD, &x, 1, &a, AC_NONE);
}

/* Computed pads, or pads of a counted tensor: begins, then ends, of all dimensions or of those in axes. */
static int late_pad(ac_onx_node *n, ac_tensor *x, ac_tensor *value)
{
    ac_late_number before[AC_MAX_RANK], after[AC_MAX_RANK];
    ac_ints axes = {0};
    ac_tensor *list = n->in[1], *y;
    if (ac_onx_in(n, 3))
        AC_TRY(ac_operand_values(&n->b, &n->in[3], &axes));
    const int32_t count = ac_onx_in(n, 3) ? axes.n : x->rank;
    if (!ac_dtype_is_int(list->dtype) || ac_tensor_count(list) != 2 * count)
        return ac_error(n->r->cx, n->at, E0104, "'%s' is %s, expected pads for %d dimensions", list->name,
                        ac_tensor_str(n->r->cx, list), count);
    for (int32_t d = 0; d < x->rank; d++)
        before[d] = after[d] = (ac_late_number){.known = true};
    for (int32_t i = 0; i < count; i++) {
        int32_t d;
        AC_TRY(ac_operand_axis(&n->b, ac_onx_in(n, 3) ? axes.v[i] : i, x->rank, &d));
        before[d] = ac_late_number_at(&n->b, list, i);
        after[d] = ac_late_number_at(&n->b, list, i + count);
        if (before[d].value < 0 || after[d].value < 0)
            return ac_cannot(&n->b, "a pad is below 0, and others are computed");
        if ((!before[d].known && !before[d].t) || (!after[d].known && !after[d].t))
            return AC_FAIL;
    }
    AC_TRY(ac_make_pad_of(&n->b, x, before, after, value, list, ac_onx_result_name(n, 0), &y));
    return ac_onx_result(n, 0, y);
}

int ac_onx_do_pad(ac_onx_node *n)
{
    ac_tensor *x = n->in[0], *value = ac_onx_in(n, 2);
    const char *mode = ac_attr_text(&n->attrs, A_pad_mode);
    ac_ints pads, axes = {0};
    bool given;
    int64_t before[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0};
    (void)ac_bound_of(&n->b, ac_onx_result_name(n, 0));
    if (n->version >= 11)
        AC_TRY(ac_onx_need(n, 1));
    if (n->version >= 11 && !strcmp(mode, "constant") && (x->count || !ac_operand_known(&n->b, &n->in[1])))
        return late_pad(n, x, value);
    AC_TRY(ac_onx_list_or(n, n->version < 2 ? A_paddings : A_pads, 1, &pads, &given));
    if (ac_onx_in(n, 3))
        AC_TRY(ac_operand_values(&n->b, &n->in[3], &axes));
    const int32_t count = ac_onx_in(n, 3) ? axes.n : x->rank;
    if (pads.n != 2 * count)
        return ac_error(n->r->cx, n->at, E0104, "%d pads for %d dimensions", pads.n, count);
    if (n->version < 11)
        value = ac_make_number(&n->b, x->dtype, ac_attr_float(&n->attrs, A_value));
    for (int32_t i = 0; i < count; i++) {
        int32_t d;
        AC_TRY(ac_operand_axis(&n->b, ac_onx_in(n, 3) ? axes.v[i] : i, x->rank, &d));
        before[d] = pads.v[i];
        after[d] = pads.v[i + count];
        if (before[d] > INT32_MAX || after[d] > INT32_MAX || before[d] < -x->dim[d] || after[d] < -x->dim[d] ||
            x->dim[d] + before[d] + after[d] < 0)
            return ac_error(n->r->cx, n->at, E0103, "pads %" PRId64 ", %" PRId64 " of dimension %d", before[d],
                            after[d], d);
    }
    for (int32_t d = 0; d < x->rank; d++) { /* negative pads cut */
        const int64_t cut = before[d] < 0 ? -before[d] : 0, tail = after[d] < 0 ? -after[d] : 0;
        if (cut || tail) {
            if (cut + tail > x->dim[d])
                return ac_cannot(&n->b, "negative pads cut more than there is");
            x = ac_make_slice(&n->b, x, d, cut, x->dim[d] - cut - tail);
            if (!x)
                return AC_FAIL;
        }
        before[d] = before[d] < 0 ? 0 : before[d];
        after[d] = after[d] < 0 ? 0 : after[d];
    }
    if (!strcmp(mode, "constant")) {
        if (!value && x->dtype != AC_F32)
            value = ac_make_number(&n->b, x->dtype, 0);
        return ac_onx_result(n, 0, ac_make_pad(&n->b, x, before, after, value));
    }
    if (!strcmp(mode, "reflect"))
        return ac_onx_result(n, 0, mirror(n, x, before, after));
    if (strcmp(mode, "edge") != 0 && strcmp(mode, "wrap") != 0)
        return ac_error(n->r->cx, n->at, E0103, "mode is '%s'", mode);
    for (int32_t d = 0; x && d < x->rank; d++)
        x = ac_make_extend(&n->b, x, d, before[d], after[d], !strcmp(mode, "wrap"));
    return ac_onx_result(n, 0, x);
}

/* Each axis is cut or padded with zeros on both sides to its new size; of an odd number more at the end. */
int ac_onx_do_center_crop_pad(ac_onx_node *n)
{
    ac_tensor *x = n->in[0];
    ac_ints size, axes;
    int64_t before[AC_MAX_RANK] = {0}, after[AC_MAX_RANK] = {0};
    AC_TRY(ac_operand_values(&n->b, &n->in[1], &size));
    axes = ac_attr_ints(&n->attrs, A_axes);
    if (size.n != (axes.n ? axes.n : x->rank))
        return ac_error(n->r->cx, n->at, E0104, "%d sizes for %d axes", size.n, axes.n ? axes.n : x->rank);
    for (int32_t i = 0; x && i < size.n; i++) {
        int32_t d;
        AC_TRY(ac_operand_axis(&n->b, axes.n ? axes.v[i] : i, x->rank, &d));
        if (size.v[i] < 0 || size.v[i] > INT32_MAX)
            return ac_error(n->r->cx, n->at, E0201, "a size is %" PRId64, size.v[i]);
        const int64_t more = size.v[i] - x->dim[d];
        if (more < 0)
            x = ac_make_slice(&n->b, x, d, -more / 2, size.v[i]);
        before[d] = more > 0 ? more / 2 : 0;
        after[d] = more > 0 ? more - more / 2 : 0;
    }
    return ac_onx_result(n, 0, ac_make_pad(&n->b, x, before, after, x ? ac_make_number(&n->b, x->dtype, 0) : NULL));
}
