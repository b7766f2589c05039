/* norm_dense.c - lowers norm_connected: fully_connected of normalised rows.
 *
 *     d = x - mean(x), or x without `center`
 *     r = d / sqrt(mean(d * d) + epsilon) * gain + shift, rounded to the type `rows`
 *     y = r w' + bias; r is another result, if there is one
 *
 * x, w [out, depth], bias [out], gain and shift [depth]: f32; bias, gain and shift may be absent. GPUs: each block
 * normalises the rows that it multiplies. Plain: one row after another; scratch: a row. */
#include "ir/lower/entries.h"
#include "ir/lower/gpu/product.h"
#include "ir/lower/gpu/vector.h"
#include "ir/lower/map/map.h"
#include "ir/lower/matrix.h"

typedef struct norm_dense {
    ac_lower *L;
    ac_channel c;
    ac_gpu_norm norm;
    int64_t rows;
    int32_t x, w, line, gain, shift; /* buffers */
} norm_dense;

/* A sum over the row: of elements from `from` on in buffer `buf`, less `mean` if it is given; of squares then. */
static ac_x sum_of(norm_dense *d, int32_t buf, ac_x from, ac_x mean)
{
    ac_lb *b = &d->L->b;
    const ac_x sum = ac_lb_var(b, "sum", ac_lb_f32(b, 0)), k = ac_lb_for_n(b, "k", d->norm.depth);
    const ac_x x = ac_lb_load(b, buf, ac_lb_add(b, from, k), 1), less = mean ? ac_lb_sub(b, x, mean) : x;
    ac_lb_set(b, sum, ac_lb_add(b, ac_lb_get(b, sum), mean ? ac_lb_mul(b, less, less) : less));
    ac_lb_end(b);
    return ac_lb_get(b, sum);
}

/* The row into the scratch buffer. */
static void normalise(norm_dense *d, ac_x from)
{
    ac_lb *b = &d->L->b;
    const ac_gpu_norm *n = &d->norm;
    const ac_x depth = ac_lb_f32(b, (double)n->depth),
               mean = n->center ? ac_lb_div(b, sum_of(d, d->x, from, 0), depth) : ac_lb_f32(b, 0);
    const ac_x spread = ac_lb_add(b, ac_lb_div(b, sum_of(d, d->x, from, mean), depth), ac_lb_f32(b, n->epsilon));
    const ac_x root = ac_lb_sqrt(b, spread), k = ac_lb_for_n(b, "k", n->depth);
    ac_x v = ac_lb_div(b, ac_lb_sub(b, ac_lb_load(b, d->x, ac_lb_add(b, from, k), 1), mean), root);
    v = n->gain ? ac_lb_mul(b, v, ac_lb_load(b, d->gain, k, 1)) : v;
    v = n->shift ? ac_lb_add(b, v, ac_lb_load(b, d->shift, k, 1)) : v;
    v = ac_lb_cast(b, ac_lb_cast(b, v, n->type), AC_F32);
    ac_lb_store(b, d->line, k, v);
    if (n->kept >= 0)
        ac_lb_store(b, n->kept, ac_lb_add(b, from, k), v);
    ac_lb_end(b);
}

static int plain(norm_dense *d)
{
    ac_lower *L = d->L;
    ac_lb *b = &L->b;
    const ac_gpu_norm *n = &d->norm;
    ac_x idx[AC_MAX_RANK];
    ac_channel_tables(&d->c, d->c.n, NULL, 0);
    d->x = ac_lo_operand(L, d->c.x);
    d->w = ac_lo_operand(L, d->c.w);
    d->gain = n->gain ? ac_lo_operand(L, n->gain) : -1;
    d->shift = n->shift ? ac_lo_operand(L, n->shift) : -1;
    d->line = ac_lo_scratch(L, "row", AC_F32, n->depth);
    const ac_x row = ac_lb_for_n(b, "n", d->rows);
    normalise(d, ac_lo_scaled(b, row, n->depth));
    const ac_x oc = ac_lb_for_n(b, "oc", d->c.n), sum = ac_lb_var(b, "acc", ac_channel_start(&d->c, oc, 1));
    const ac_x k = ac_lb_for_n(b, "k", n->depth),
               w = ac_lb_load(b, d->w, ac_lb_add(b, ac_lo_scaled(b, oc, n->depth), k), 1);
    ac_lb_set(b, sum, ac_lo_madd(L, ac_lb_load(b, d->line, k, 1), w, ac_lb_get(b, sum)));
    ac_lb_end(b);
    ac_row_index(L, row, idx);
    idx[d->c.out->rank - 1] = oc;
    ac_lo_result(L, ac_channel_done(&d->c, ac_lb_get(b, sum), oc), idx, 1);
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}

int ac_lo_norm_dense(ac_lower *L)
{
    const ac_node *n = L->node;
    ac_tensor *x = n->in[0], *w = n->in[1];
    const ac_attrs_norm_dense *a = &n->attrs.norm_dense;
    norm_dense d = {.L = L, .rows = ac_tensor_count(x) / w->dim[1]};
    d.norm = (ac_gpu_norm){.L = L,
                           .x = x,
                           .gain = ac_node_in(n, 3),
                           .shift = ac_node_in(n, 4),
                           .epsilon = (double)a->epsilon,
                           .center = a->center,
                           .type = a->rows,
                           .depth = w->dim[1],
                           .kept = n->n_out == 2 ? ac_lo_output_buf(L, 1) : -1,
                           .all = d.rows};
    AC_TRY(ac_channel_open(L, &d.c, x, w, ac_node_in(n, 2), w->dim[0], 0, AC_ACT_NONE, AC_ROUND_F64));
    if (ac_tensor_count(n->out[0]) == 0)
        return AC_OK;
    if (ac_gpu_norm_rows_fits(L, &d.c, d.rows, d.norm.depth))
        return ac_gpu_rows(L, &d.c, &d.norm, d.rows, d.norm.depth);
    if (ac_gpu_vector_fits(L, &d.c, d.rows, d.norm.depth) && d.norm.depth <= AC_GPU_NORM_MOST)
        return ac_gpu_vector(L, &d.c, &d.norm, d.rows, d.norm.depth);
    return plain(&d);
}
