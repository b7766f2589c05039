/* dense.c - fully_connected: operands, checks, and the plain schedule.
 *
 * x     any shape, read as rows of `in` values f32, i8, u8, i16
 * w     [out, in]                              f32, i8 (also for f32 x: dynamic range), u8; zero point if per tensor
 * bias  [out], may be absent                   f32, i32, i64
 * y     [rows, out]; keep_dims: x's shape with `out` as the last dimension
 *
 * Integers are scaled in double and rounded half away from zero, as TFLite's reference kernel does. Dynamic range: each
 * row has a scale, and with asymmetric_inputs a zero point. Plain schedule: four outputs with an accumulator each. */
#include "ir/lower/conv/gemm.h"
#include "ir/lower/conv/hybrid.h"
#include "ir/lower/conv/panel.h"
#include "ir/lower/conv/wide.h"
#include "ir/lower/entries.h"
#include "ir/lower/gpu/product.h"
#include "ir/lower/gpu/vector.h"
#include "ir/lower/matrix.h"

enum { OUTPUTS = 4 };

typedef struct dense {
    ac_lower *L;
    ac_channel c;
    int64_t rows, depth;
    int32_t x, w; /* buffers */
} dense;

/* n outputs from oc on; x_at: the row's first element. */
static void outputs(const dense *d, ac_x row, ac_x x_at, ac_x oc, int32_t n)
{
    ac_lb *b = &d->L->b;
    ac_x acc[OUTPUTS], idx[AC_MAX_RANK];
    for (int32_t j = 0; j < n; j++)
        acc[j] = ac_lb_var(b, "acc", ac_channel_start(&d->c, ac_lb_add(b, oc, ac_lb_i32(b, j)), 1));
    ac_x k = ac_lb_for_n(b, "ic", d->depth), x = ac_channel_x(&d->c, d->x, ac_lb_add(b, x_at, k), 1);
    ac_x w_at = ac_lb_add(b, ac_lb_mul(b, oc, ac_lb_i32(b, d->depth)), k);
    for (int32_t j = 0; j < n; j++) {
        ac_x w = ac_channel_w(&d->c, d->w, ac_lb_add(b, w_at, ac_lb_i32(b, j * d->depth)), 1);
        ac_lb_set(b, acc[j], ac_channel_mac(&d->c, ac_lb_get(b, acc[j]), x, w));
    }
    ac_lb_end(b);
    ac_row_index(d->L, row, idx);
    for (int32_t j = 0; j < n; j++) {
        ac_x at = idx[d->c.out->rank - 1] = ac_lb_add(b, oc, ac_lb_i32(b, j));
        ac_lo_result(d->L, ac_channel_done(&d->c, ac_lb_get(b, acc[j]), at), idx, 1);
    }
}

static int plain(dense *d)
{
    ac_lower *L = d->L;
    ac_lb *b = &L->b;
    ac_channel *c = &d->c;
    const ac_rows rows = {d->depth, d->depth, 1};
    const bool fold = ac_tensor_is_const(c->w) && (!c->bias || ac_tensor_is_const(c->bias)) && !c->zw;
    ac_channel_tables(c, c->n, fold ? &rows : NULL, c->zx);
    const int32_t x = ac_lo_operand(L, c->x);
    const bool hybrid = c->kind == AC_MACS_HYBRID;
    d->x = hybrid ? ac_lo_scratch(L, "xq", AC_I8, d->depth) : x;
    d->w = ac_lo_operand(L, c->w);
    ac_x row = ac_lb_for_each(b, "n", d->rows), x_at = ac_lb_mul(b, row, ac_lb_i32(b, d->depth));
    if (hybrid) {
        const bool asymmetric = L->node->attrs.dense.asymmetric_inputs;
        ac_hybrid_quantize(c, x, x_at, d->x, ac_lb_i32(b, 0), d->depth, asymmetric);
        x_at = ac_lb_i32(b, 0);
    }
    const int32_t each = L->target->gpu && c->n % OUTPUTS ? 1 : OUTPUTS; /* on GPUs a remainder would be a launch */
    const int64_t whole = c->n / each * each;
    if (whole) {
        ac_x oc = whole == each ? ac_lb_for_n(b, "oc", 1)
                                : ac_lb_for(b, "oc", ac_lb_i32(b, 0), ac_lb_i32(b, whole), each, AC_MARK_PARALLEL);
        outputs(d, row, x_at, oc, each);
        ac_lb_end(b);
    }
    if (c->n > whole)
        outputs(d, row, x_at, ac_lb_i32(b, whole), (int32_t)(c->n - whole));
    ac_lb_end(b);
    return AC_OK;
}

/* A single row with so few products that the code of a faster loop is not worth its bytes. */
static bool is_small(const dense *d)
{
    enum { FEW = 1024 };
    return d->L->target->dsp && d->rows == 1 && d->depth * d->c.n < FEW;
}

int ac_lo_dense(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_tensor *x = n->in[0], *w = n->in[1], *bias = n->n_in > 2 ? n->in[2] : NULL;
    if (w->rank != 2 || n->out[0]->rank < 1)
        return ac_lower_refuse(L, "weights are %s: supported are 2 dimensions [out,in]", ac_shape_str(L->cx, w));
    dense d = {.L = L, .depth = w->dim[1]};
    const int64_t out = ac_tensor_count(n->out[0]);
    d.rows = w->dim[0] ? out / w->dim[0] : 0;
    if (d.rows * d.depth != ac_tensor_count(x) || d.rows * w->dim[0] != out ||
        n->out[0]->dim[n->out[0]->rank - 1] != w->dim[0])
        return ac_lower_refuse(L, "input %s and weights %s do not make %s", ac_shape_str(L->cx, x),
                               ac_shape_str(L->cx, w), ac_shape_str(L->cx, n->out[0]));
    AC_TRY(ac_channel_open(L, &d.c, x, w, bias, w->dim[0], 0, n->attrs.dense.act, AC_ROUND_F64));
    if (out == 0)
        return AC_OK;
    if (ac_gpu_gemm_fits(L, &d.c, 1, d.rows, d.c.n, d.depth))
        return ac_gpu_rows(L, &d.c, NULL, d.rows, d.depth);
    if (ac_gpu_vector_fits(L, &d.c, d.rows, d.depth))
        return ac_gpu_vector(L, &d.c, NULL, d.rows, d.depth);
    if (ac_gemm_fits(L, &d.c) && d.depth > 0)
        return ac_gemm_rows(L, &d.c, d.rows, d.depth);
    if (ac_quad_rows(L, &d.c, d.rows, d.depth) || ac_wide_rows(L, &d.c, d.rows, d.depth))
        return AC_OK;
    if (!is_small(&d) && ac_panel_fits(L, &d.c, d.depth))
        return ac_panel_rows(L, &d.c, d.rows, d.depth);
    return plain(&d);
}
