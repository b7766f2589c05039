/* create_nodes.c - operators of PyTorch that make tensors of numbers, and conversions of types. */
#include "import/pt2/nodes.h"

#include "import/build/compose_bounded.h"
#include "import/build/counted.h"
#include "ir/make/compose_moves.h"
#include "ir/make/compose_random.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

/* The type that the file declares for the result; dtype is the same. */
static ac_dtype type_of(ac_ep_node *n)
{
    const ac_dtype to = ac_ep_declared(n, 0);
    (void)ac_attr_has(&n->attrs, A_dtype);
    return to == AC_NONE ? AC_F32 : to;
}

/* v, one element, in the shape of the list. */
static int fill(ac_ep_node *n, ac_tensor *v, int32_t rank, const int64_t *dim)
{
    for (int32_t d = 0; d < rank; d++)
        if (dim[d] < 0)
            return ac_bad(&n->b, "size %d is %" PRId64, d, dim[d]);
    v = ac_make_reshape(&n->b, ac_make_cast(&n->b, v, type_of(n)), 0, NULL);
    return ac_ep_result(n, 0, ac_make_broadcast(&n->b, v, rank, dim));
}

static int fill_size(ac_ep_node *n, ac_tensor *v)
{
    const ac_ints size = ac_attr_ints(&n->attrs, A_size);
    return fill(n, v, size.n, size.v);
}

/* Memory that is not set is 0 as well. */
int ac_ep_do_full(ac_ep_node *n)
{
    return fill_size(n, F32(0));
}

int ac_ep_do_ones(ac_ep_node *n)
{
    return fill_size(n, F32(1));
}

int ac_ep_do_full_of(ac_ep_node *n)
{
    return fill_size(n, n->in[0]);
}

int ac_ep_do_full_like(ac_ep_node *n)
{
    return fill(n, ac_ep_in(n, 1) ? n->in[1] : F32(0), n->in[0]->rank, n->in[0]->dim);
}

int ac_ep_do_ones_like(ac_ep_node *n)
{
    return fill(n, F32(1), n->in[0]->rank, n->in[0]->dim);
}

int ac_ep_do_new_full(ac_ep_node *n)
{
    return fill_size(n, ac_ep_in(n, 1) ? n->in[1] : F32(0));
}

int ac_ep_do_scalar(ac_ep_node *n)
{
    return fill(n, n->in[0], 0, NULL);
}

int ac_ep_do_copy(ac_ep_node *n)
{
    const ac_tensor *like = n->in[0];
    ac_tensor *x = ac_make_cast(&n->b, n->in[1], like->dtype);
    return ac_ep_result(n, 0, ac_make_broadcast(&n->b, x, like->rank, like->dim));
}

/* ------------------------------------------------------------------ the same tensor, or another type */

int ac_ep_do_same(ac_ep_node *n)
{
    return ac_ep_result(n, 0, n->in[0]);
}

/* The type is declared: ac_ep_result converts. */
int ac_ep_do_to(ac_ep_node *n)
{
    return ac_ep_result(n, 0, ac_make_cast(&n->b, n->in[0], type_of(n)));
}

/* ------------------------------------------------------------------ lists of numbers */

/* begin, begin + step .. before end, in the declared type. */
int ac_ep_do_arange(ac_ep_node *n)
{
    const ac_dtype to = type_of(n);
    ac_tensor *end = n->in[0], *begin = ac_ep_in(n, 1), *step = ac_ep_in(n, 2);
    const ac_dtype own = ac_dtype_is_float(to) ? to == AC_F64 ? AC_F64 : AC_F32 : AC_I64;
    ac_tensor *v[] = {ac_make_cast(&n->b, begin ? begin : F32(0), own), ac_make_cast(&n->b, end, own),
                      ac_make_cast(&n->b, step ? step : F32(1), own)};
    ac_tensor *y;
    if (!v[0] || !v[1] || !v[2])
        return AC_FAIL;
    AC_TRY(ac_make_range(&n->b, v, n->n_out && n->out[0] ? n->out[0]->name : n->name, &y));
    return ac_ep_result(n, 0, ac_make_cast(&n->b, y, to));
}

int ac_ep_do_linspace(ac_ep_node *n)
{
    const double from = ac_attr_float(&n->attrs, A_float_start), to = ac_attr_float(&n->attrs, A_float_end);
    const int64_t count = ac_attr_int(&n->attrs, A_steps);
    if (count > 1 << 24)
        return ac_cannot(&n->b, "it makes %" PRId64 " numbers", count);
    float *v = AC_NEW_N(n->r->cx->region, float, count + 1);
    const float first = (float)from, last = (float)to, step = count > 1 ? (last - first) / (float)(count - 1) : 0;
    for (int64_t i = 0; i < count; i++)
        v[i] = i < count / 2 ? first + step * (float)i : last - step * (float)(count - 1 - i);
    if (count == 1)
        v[0] = first;
    return ac_ep_result(n, 0, ac_make_cast(&n->b, ac_make_floats(&n->b, 1, &count, v), type_of(n)));
}

int ac_ep_do_eye(ac_ep_node *n)
{
    const int64_t rows = ac_attr_int(&n->attrs, A_rows), columns = ac_attr_int_or(&n->attrs, A_columns, rows);
    return ac_ep_result(n, 0, ac_make_cast(&n->b, ac_make_band(&n->b, rows, columns, 0, 0), type_of(n)));
}

int ac_ep_do_tri_indices(ac_ep_node *n)
{
    const int64_t rows = ac_attr_int(&n->attrs, A_row), columns = ac_attr_int(&n->attrs, A_col);
    const ac_ints given = ac_attr_list(&n->attrs, "offset");
    const int64_t offset = given.n ? given.v[0] : 0;
    const bool lower = strstr(n->row->name, "tril") != NULL;
    int64_t all, k = 0;
    if (!ac_mul_ok(rows, columns, &all) || all > 1 << 24)
        return ac_cannot(&n->b, "it makes more than 2^24 numbers");
    int64_t *v = AC_NEW_N(n->r->cx->region, int64_t, 2 * all + 1);
    for (int32_t pass = 0; pass < 2; pass++)
        for (int64_t i = 0; i < all; i++) {
            const int64_t r = i / columns, c = i % columns;
            if (lower ? c - r <= offset : c - r >= offset)
                v[k++] = pass ? c : r;
        }
    return ac_ep_result(n, 0, ac_make_cast(&n->b, ac_make_ints_shaped(&n->b, 2, (int64_t[]){2, k / 2}, v), type_of(n)));
}

/* Hann, Hamming and Blackman windows; periodic by default. */
int ac_ep_do_window(ac_ep_node *n)
{
    const ac_ints length = ac_attr_list(&n->attrs, "window_length"), periodic = ac_attr_list(&n->attrs, "periodic");
    const int64_t count = length.n ? length.v[0] : 0;
    const bool hann = strstr(n->row->name, "hann") != NULL, blackman = strstr(n->row->name, "blackman") != NULL;
    const double pi = 3.14159265358979323846, span = (double)(periodic.n && !periodic.v[0] ? count - 1 : count);
    if (count < 1 || count > 1 << 24)
        return ac_bad(&n->b, "a window of %" PRId64 " elements", count);
    float *v = AC_NEW_N(n->r->cx->region, float, count);
    for (int64_t i = 0; i < count; i++) {
        const double a = span > 0 ? 2 * pi * (double)i / span : 0;
        v[i] = count == 1 ? 1
               : blackman ? (float)(0.42 - 0.5 * cos(a) + 0.08 * cos(2 * a))
               : hann     ? (float)(0.5 - 0.5 * cos(a))
                          : (float)(0.54 - 0.46 * cos(a));
    }
    return ac_ep_result(n, 0, ac_make_floats(&n->b, 1, &count, v));
}

/* ------------------------------------------------------------------ random numbers */

static int shape_of(ac_ep_node *n, ac_draw *d)
{
    const ac_ints size = ac_attr_ints(&n->attrs, A_size);
    if (n->n_in) {
        d->rank = n->in[0]->rank;
        memcpy(d->dim, n->in[0]->dim, sizeof d->dim);
        return AC_OK;
    }
    return ac_draw_shape(d, size) ? AC_OK : ac_cannot(&n->b, "its result has %d dimensions", size.n);
}

int ac_ep_do_rand(ac_ep_node *n)
{
    ac_draw d = ac_draw_like(NULL);
    AC_TRY(shape_of(n, &d));
    if (strstr(n->row->name, "randn")) {
        d.kind = AC_W_NORMAL;
        d.mean = 0;
        d.deviation = 1;
    }
    return ac_ep_result(n, 0, ac_make_cast(&n->b, ac_make_random(&n->b, &d), type_of(n)));
}

int ac_ep_do_randint(ac_ep_node *n)
{
    ac_draw d = ac_draw_like(NULL);
    AC_TRY(shape_of(n, &d));
    ac_tensor *low = I64(ac_attr_int(&n->attrs, A_low)), *high = I64(ac_attr_int(&n->attrs, A_high));
    return ac_ep_result(n, 0, ac_make_cast(&n->b, ac_make_random_ints(&n->b, &d, low, high), type_of(n)));
}

int ac_ep_do_bernoulli(ac_ep_node *n)
{
    ac_tensor *p = n->in[0];
    if (ac_attr_has(&n->attrs, A_p))
        p = ac_make_broadcast(&n->b, F32(ac_attr_float(&n->attrs, A_p)), p->rank, p->dim);
    return ac_ep_result(n, 0, ac_make_cast(&n->b, ac_make_bernoulli(&n->b, p, 0), type_of(n)));
}
