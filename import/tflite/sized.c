/* sized.c - operators of TFLite with results of data-dependent size or position in an operand: WHERE, UNIQUE, and
 * RANGE, FILL, BROADCAST_TO, RESHAPE, SLICE, STRIDED_SLICE, TOPK_V2 and NON_MAX_SUPPRESSION whose sizes are computed.
 * Results have their maximum size, with a valid length (import/build/counted.h, bounds.h). Later operators are created
 * as usual, and resolved at once. */
#include "import/build/bounds.h"
#include "import/build/compose_bounded.h"
#include "import/build/compose_counted.h"
#include "import/build/compose_pads.h"
#include "import/build/compose_slices.h"
#include "import/build/counted.h"
#include "import/build/flow/file_flow.h"
#include "import/tflite/rules.h"

#include <string.h>

/* Operands of n that are sizes or positions. */
static uint32_t size_operands(const ac_tfl_node *n)
{
    switch ((int)n->op) {
    case AC_OP_FILL:
        return 1u;
    case AC_OP_BROADCAST_TO:
    case AC_OP_PAD:
    case AC_OP_PADV2:
    case AC_OP_RESHAPE:
    case AC_OP_TILE:
    case AC_OP_TOPK_V2:
        return 1u << 1;
    case AC_OP_NON_MAX_SUPPRESSION_V4:
    case AC_OP_NON_MAX_SUPPRESSION_V5:
        return 1u << 2;
    case AC_OP_SLICE:
        return 3u << 1;
    case AC_OP_RANGE:
        return 7u;
    case AC_OP_STRIDED_SLICE:
        return 7u << 1;
    default:
        return 0;
    }
}

static bool is(const ac_tfl_node *n, const char *name)
{
    return !strcmp(n->code->name, name);
}

/* True if a loop carries values that may change their size. */
static bool carries_open(const ac_tfl_node *n)
{
    bool open = false;
    for (int32_t i = 0; n->op == AC_OP_WHILE && i < n->n_out; i++)
        open |= n->result[i] && n->result[i]->open;
    return open;
}

bool ac_tfl_size_is_late(const ac_tfl_node *n)
{
    return carries_open(n) || is(n, "WHERE") || is(n, "UNIQUE") || n->late & size_operands(n);
}

/* ------------------------------------------------------------------ results of any size */

/* One row of indices for each element that is not 0: i64 [elements, rank]. */
int ac_tfl_rule_where(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    ac_tensor *x = n->in[0], *column[AC_MAX_RANK];
    if (x->rank < 1)
        return ac_cannot(&b, "its input '%s' is a scalar", x->name);
    AC_TRY(ac_make_non_zero(&b, x, column));
    const int64_t line[] = {ac_tensor_count(column[0]), 1};
    for (int32_t d = 0; d < x->rank; d++) {
        column[d] = ac_make_reshape(&b, column[d], 2, line);
        if (!column[d])
            return AC_FAIL;
    }
    return ac_tfl_result(n, 0, ac_make_concat(&b, column, x->rank, 1));
}

/* Values in the order of their first places, and where each element went. */
int ac_tfl_rule_unique(ac_tfl *r, ac_tfl_node *n)
{
    const ac_maker b = ac_tfl_maker(r, n);
    ac_tensor *out[4];
    if (n->in[0]->rank != 1)
        return ac_bad(&b, "its input is %s, expected a list", ac_tensor_str(r->cx, n->in[0]));
    AC_TRY(ac_make_unique(&b, n->in[0], false, out));
    AC_TRY(ac_tfl_result(n, 0, out[0]));
    return ac_tfl_result(n, 1, ac_make_cast(&b, out[2], n->out[1]->dtype));
}

/* ------------------------------------------------------------------ sizes that are computed */

static int late_range(const ac_maker *b, ac_tfl_node *n)
{
    ac_tensor *y;
    AC_TRY(ac_make_range(b, n->in, n->out[0]->name, &y));
    return ac_tfl_result(n, 0, y);
}

static int late_fill(const ac_maker *b, ac_tfl_node *n)
{
    ac_late_sizes s;
    AC_TRY(ac_late_sizes_of(b, &n->in[0], n->out[0]->name, &s));
    ac_tensor *in[] = {ac_make_ints(b, s.n, s.dim), n->in[1]};
    return ac_tfl_result(n, 0, ac_bounded(b, ac_make_op(b, AC_OP_FILL, in, 2, NULL, AC_NONE), s.count, s.at));
}

static int late_broadcast(const ac_maker *b, ac_tfl_node *n)
{
    ac_tensor *y;
    AC_TRY(ac_make_late_broadcast(b, n->in[0], &n->in[1], n->out[0]->name, &y));
    return ac_tfl_result(n, 0, y);
}

static int late_reshape(const ac_maker *b, ac_tfl_node *n)
{
    ac_tensor *y;
    AC_TRY(ac_make_late_reshape(b, n->in[0], &n->in[1], false, &y));
    return ac_tfl_result(n, 0, y);
}

static int pad(const ac_maker *b, ac_tfl_node *n)
{
    ac_tensor *y;
    AC_TRY(ac_make_pad_pairs(b, n->in[0], n->in[1], n->n_in > 2 ? n->in[2] : NULL, n->out[0]->name, &y));
    return ac_tfl_result(n, 0, y);
}

static int tile(const ac_maker *b, ac_tfl_node *n)
{
    ac_tensor *y;
    AC_TRY(ac_make_tile_of(b, n->in[0], &n->in[1], n->out[0]->name, &y));
    return ac_tfl_result(n, 0, y);
}

static int slice(const ac_maker *b, ac_tfl_node *n)
{
    ac_tensor *y;
    AC_TRY(ac_make_slice_of(b, n->in, n->out[0]->name, &y));
    return ac_tfl_result(n, 0, y);
}

static int strided(const ac_maker *b, ac_tfl_node *n)
{
    const ac_attrs_strided *a = &n->attrs.strided;
    const ac_strided_masks masks = {.begin = a->begin_mask,
                                    .end = a->end_mask,
                                    .ellipsis = a->ellipsis_mask,
                                    .new_axis = a->new_axis_mask,
                                    .shrink = a->shrink_axis_mask};
    ac_tensor *y;
    AC_TRY(ac_make_strided_of(b, n->in, masks, n->out[0]->name, &y));
    return ac_tfl_result(n, 0, y);
}

static int late_topk(const ac_maker *b, ac_tfl_node *n)
{
    ac_tensor *out[2];
    AC_TRY(ac_make_top_k(b, n->in[0], &n->in[1], out));
    ac_tensor *where = out[1], *own = where->count;
    AC_TRY(ac_tfl_result(n, 0, out[0]));
    return ac_tfl_result(n, 1, ac_counted_as(ac_make_cast(b, where, n->out[1]->dtype), own, where->count_dim));
}

/* As many boxes as --bound allows, or all; only `max_output_size` of them are valid. TFLite pads with zeros. */
static int late_nms(const ac_maker *b, ac_tfl_node *n)
{
    const int64_t said = ac_bound_of(b, n->out[0]->name), last = n->n_out - 1;
    ac_tensor *box = n->in[0], *score = n->in[1];
    if (box->rank != 2 || score->rank != 1)
        return ac_bad(b, "boxes '%s' are %s, scores '%s' %s; expected [N,4] and [N]", box->name,
                      ac_shape_str(b->cx, box), score->name, ac_shape_str(b->cx, score));
    const int64_t most = said >= 0 && said < box->dim[0] ? said : box->dim[0];
    ac_tensor *count = ac_operand_known(b, &n->in[2]) ? NULL : ac_bounded_count(b, n->in[2], most);
    ac_tensor *in[6];
    for (int32_t i = 0; i < n->n_in; i++)
        in[i] = n->in[i];
    if (count)
        in[2] = ac_make_reshape(b, ac_make_cast(b, ac_make_ints(b, 1, &most), AC_I32), 0, NULL);
    if (score->count)
        in[1] = ac_make_counted_neutral(b, score, AC_OP_REDUCE_MAX); /* not above any score */
    if (box->count)
        in[0] = ac_make_counted_fill(b, box, 0);
    if (!in[0] || !in[1] || !in[2])
        return AC_FAIL;
    ac_node *made = ac_make_node(b, n->op, in, n->n_in, NULL, n->n_out);
    AC_TRY(ac_make_resolve(b, made));
    ac_tensor *found = made->out[last];
    if (count)
        found = ac_make_2(b, AC_OP_MINIMUM, found, ac_make_cast(b, count, found->dtype));
    for (int32_t i = 0; i < last; i++) {
        ac_tensor *y = made->out[i];
        if (count) { /* those found after the last requested one */
            ac_tensor *end = ac_make_cast(b, found, AC_I64);
            ac_tensor *there = ac_make_2(b, AC_OP_LESS, ac_make_iota(b, most), end);
            y = there ? ac_make_select(b, there, y, ac_make_number(b, y->dtype, 0)) : NULL;
        }
        AC_TRY(ac_tfl_result(n, i, ac_counted_as(y, count, 0)));
    }
    return ac_tfl_result(n, (int32_t)last, found);
}

/* ------------------------------------------------------------------ operators that accept operands of any size */

static int gather_counted(const ac_maker *b, ac_tfl_node *n)
{
    return ac_tfl_result(n, 0, ac_make_counted_gather(b, n->in[0], n->in[1]));
}

static int concat_counted(const ac_maker *b, ac_tfl_node *n, int32_t axis)
{
    if (n->attrs.axis.act != AC_ACT_NONE)
        return ac_cannot(b, "it has a fused activation, and only data decides how large its operands are");
    return ac_tfl_result(n, 0, ac_make_counted_concat(b, n->in, n->n_in, axis));
}

static int as_always(const ac_maker *b, ac_tfl *r, ac_tfl_node *n)
{
    ac_tensor *own[3];
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && ac_node_is_static(&(ac_node){.op = n->op, .n_in = n->n_in}, i))
            (void)ac_operand_known(b, &n->in[i]);
    AC_TRY(((ac_tfl_rule *)n->code->row->run)(r, n));
    if (ac_tfl_is_composed(n->code))
        return AC_OK;
    if (ac_counted_operands(b, n->op, n->in, n->n_in, &n->attrs, own))
        memcpy(n->in, own, (size_t)n->n_in * sizeof *own);
    return ac_make_resolve(b, ac_tfl_node_make(n, n->op, n->in, n->n_in, &n->attrs));
}

static int mean(const ac_maker *b, ac_tfl *r, ac_tfl_node *n)
{
    uint32_t axes;
    (void)ac_operand_known(b, &n->in[1]);
    if (!ac_counted_mean(b, n->in, n->n_in, &n->attrs, &axes))
        return as_always(b, r, n);
    return ac_tfl_result(n, 0, ac_make_reduce(b, AC_OP_MEAN, n->in[0], axes, n->attrs.reduce.keep_dims));
}

static bool size_is_late(const ac_maker *b, ac_tfl_node *n)
{
    bool late = false;
    if (size_operands(n))
        (void)ac_bound_of(b, n->out[0]->name); /* a valid name for --bound, even if the size is known */
    for (int32_t i = 0; i < n->n_in; i++)
        late |= n->in[i] && size_operands(n) >> i & 1 && (ac_is_count(b, n->in[i]) || !ac_operand_known(b, &n->in[i]));
    return late;
}

static int add(const ac_maker *b, ac_tfl *r, ac_tfl_node *n)
{
    const bool late = size_is_late(b, n);
    const ac_tensor *x = n->n_in ? n->in[0] : NULL;
    const bool counted = x && x->count;
    bool any = false, along = false;
    int32_t axis = 0;
    for (int32_t i = 0; i < n->n_in; i++)
        any |= n->in[i] && n->in[i]->count;
    switch ((int)n->op) {
    case AC_OP_IF:
        return ac_tfl_is_composed(n->code) ? as_always(b, r, n) : ac_tfl_if(r, n);
    case AC_OP_WHILE:
        return ac_tfl_while(r, n);
    case AC_OP_RANGE:
        return late ? late_range(b, n) : as_always(b, r, n);
    case AC_OP_FILL:
        return late ? late_fill(b, n) : as_always(b, r, n);
    case AC_OP_BROADCAST_TO:
        return late ? late_broadcast(b, n) : as_always(b, r, n);
    case AC_OP_RESHAPE:
        return (late || (counted && n->n_in > 1)) && !n->complex ? late_reshape(b, n) : as_always(b, r, n);
    case AC_OP_PAD:
    case AC_OP_PADV2:
        return (late || counted) && n->n_in > 1 ? pad(b, n) : as_always(b, r, n);
    case AC_OP_TILE:
        return late || counted ? tile(b, n) : as_always(b, r, n);
    case AC_OP_SLICE:
        return late || counted ? slice(b, n) : as_always(b, r, n);
    case AC_OP_STRIDED_SLICE:
        return late || counted ? strided(b, n) : as_always(b, r, n);
    case AC_OP_TOPK_V2:
        return late || counted ? late_topk(b, n) : as_always(b, r, n);
    case AC_OP_NON_MAX_SUPPRESSION_V4:
    case AC_OP_NON_MAX_SUPPRESSION_V5:
        return late || any ? late_nms(b, n) : as_always(b, r, n);
    case AC_OP_MEAN:
        return mean(b, r, n);
    case AC_OP_SHAPE:
        return counted
                   ? ac_tfl_result(n, 0, ac_make_cast(b, ac_make_extents(b, n->in[0], 0, x->rank), n->out[0]->dtype))
                   : as_always(b, r, n);
    case AC_OP_GATHER:
        if (counted)
            AC_TRY(ac_operand_axis(b, n->attrs.gather.axis, x->rank, &axis));
        along = counted && axis == x->count_dim && !n->attrs.gather.batch_dims;
        return along ? gather_counted(b, n) : as_always(b, r, n);
    case AC_OP_CONCATENATION:
        AC_TRY(ac_operand_axis(b, n->attrs.axis.axis, x->rank, &axis));
        for (int32_t i = 0; i < n->n_in; i++)
            along |= n->in[i]->count && n->in[i]->count_dim == axis;
        return along && n->n_in > 1 ? concat_counted(b, n, axis) : as_always(b, r, n);
    default:
        return as_always(b, r, n);
    }
}

int ac_tfl_sized_add(ac_tfl *r, ac_tfl_node *n)
{
    if (!n->n_out || !n->out[0]) /* a handle is not a tensor */
        return ((ac_tfl_rule *)n->code->row->run)(r, n);
    const ac_maker b = ac_tfl_maker(r, n);
    const ac_said before = ac_said_now(&b);
    return ac_flow_blamed(&b, before, n->in, n->n_in, ac_said_outcome(&b, before, add(&b, r, n)));
}
