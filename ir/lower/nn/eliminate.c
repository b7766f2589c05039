/* eliminate.c - lowers DET and INVERSE of square matrices [..,M,M] by Gauss and Gauss-Jordan elimination with column
 * pivoting, in a copy of the matrix; f32, f64.
 *
 * The determinant [..] is the product of the diagonal, with the sign of the exchanges; a column of zeros gives 0. The
 * inverse [..,M,M] results from applying the same steps, also above the diagonal, to the identity matrix; if a column
 * is zero it contains infinities and NaNs, as in ONNX Runtime. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/lower/move/move.h"

typedef struct matrix {
    int32_t buf;
    int64_t m;
    ac_x base; /* of its elements in the buffer; 0: they begin there */
} matrix;

static ac_x at(ac_lb *b, const matrix *a, ac_x row, ac_x column)
{
    const ac_x i = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, a->m)), column);
    return a->base ? ac_lb_add(b, a->base, i) : i;
}

static ac_x item(ac_lb *b, const matrix *a, ac_x row, ac_x column)
{
    return ac_lb_load(b, a->buf, at(b, a, row, column), 1);
}

/* The row from k on with the largest magnitude in column k. */
static ac_x find_pivot(ac_lb *b, const matrix *a, ac_x k)
{
    const ac_x best = ac_lb_var(b, "best", ac_lb_abs(b, item(b, a, k, k))), where = ac_lb_var(b, "where", k);
    const ac_x i = ac_lb_for(b, "i", k, ac_lb_i32(b, a->m), 1, AC_MARK_SERIAL);
    const ac_x v = ac_lb_abs(b, item(b, a, i, k)), wins = ac_lb_gt(b, v, ac_lb_get(b, best));
    ac_lb_set(b, where, ac_lb_select(b, wins, i, ac_lb_get(b, where)));
    ac_lb_set(b, best, ac_lb_select(b, wins, v, ac_lb_get(b, best)));
    ac_lb_end(b);
    return ac_lb_get(b, where);
}

static void exchange(ac_lb *b, const matrix *a, ac_x k, ac_x p)
{
    const ac_x j = ac_lb_for_n(b, "j", a->m);
    const ac_x upper = item(b, a, k, j), lower = item(b, a, p, j);
    ac_lb_store(b, a->buf, at(b, a, k, j), lower);
    ac_lb_store(b, a->buf, at(b, a, p, j), upper);
    ac_lb_end(b);
}

/* Subtracts a multiple of row k from row i, from column `from` on. */
static void take(ac_lb *b, const matrix *a, ac_x i, ac_x k, ac_x factor, ac_x from)
{
    const ac_x j = ac_lb_for(b, "j", from, ac_lb_i32(b, a->m), 1, AC_MARK_SERIAL);
    ac_lb_store(b, a->buf, at(b, a, i, j), ac_lb_sub(b, item(b, a, i, j), ac_lb_mul(b, factor, item(b, a, k, j))));
    ac_lb_end(b);
}

/* ... from the rows below, so that column k becomes 0 there. */
static void eliminate(ac_lb *b, const matrix *a, ac_x k, ac_x pivot)
{
    const ac_x next = ac_lb_add(b, k, ac_lb_i32(b, 1));
    const ac_x i = ac_lb_for(b, "i", next, ac_lb_i32(b, a->m), 1, AC_MARK_SERIAL);
    take(b, a, i, k, ac_lb_div(b, item(b, a, i, k), pivot), next);
    ac_lb_end(b);
}

static int check(ac_lower *L)
{
    const ac_tensor *x = L->node->in[0];
    if (!ac_mp_real(x) || L->node->out[0]->dtype != x->dtype)
        return ac_lower_refuse(L, "%s of %s: f32 and f64 are supported", ac_ops[L->node->op].text,
                               ac_dtype_name(x->dtype));
    return AC_OK;
}

/* Matrix i of the operand, in scratch. */
static matrix copied(ac_lower *L, int64_t m, ac_x i)
{
    ac_lb *b = &L->b;
    ac_tensor *x = L->node->in[0];
    const int32_t src = ac_lo_operand(L, x);
    const matrix a = {.buf = ac_lo_scratch(L, "a", x->dtype, m * m), .m = m};
    ac_move copy = {0};
    ac_move_dim(&copy, m * m, 1, 1);
    ac_lo_move_at(L, src, ac_lb_mul(b, i, ac_lb_i32(b, m * m)), a.buf, ac_lb_i32(b, 0), &copy);
    return a;
}

int ac_lo_det(ac_lower *L)
{
    ac_lb *b = &L->b;
    const ac_tensor *x = L->node->in[0], *y = L->node->out[0];
    AC_TRY(check(L));
    const int64_t m = x->dim[x->rank - 1], count = ac_tensor_count(y);
    const int32_t dst = ac_lo_result_buf(L);
    if (count == 0)
        return AC_OK;
    const ac_x one = ac_lb_num(b, x->dtype, 1), zero = ac_lb_num(b, x->dtype, 0);
    if (m == 0) {
        ac_move all = {0};
        ac_move_dim(&all, count, 0, 1);
        ac_lo_move_fill(L, one, dst, &all);
        return AC_OK;
    }
    const ac_x i = ac_lb_for_n(b, "n", count);
    const matrix a = copied(L, m, i);
    const ac_x det = ac_lb_var(b, "det", one);
    const ac_x k = ac_lb_for_n(b, "k", m);
    const ac_x p = find_pivot(b, &a, k);
    ac_lb_if(b, ac_lb_ne(b, p, k));
    exchange(b, &a, k, p);
    ac_lb_set(b, det, ac_lb_neg(b, ac_lb_get(b, det)));
    ac_lb_end(b);
    const ac_x pivot = item(b, &a, k, k);
    ac_lb_set(b, det, ac_lb_mul(b, ac_lb_get(b, det), pivot));
    ac_lb_break_if(b, ac_lb_eq(b, pivot, zero));
    eliminate(b, &a, k, pivot);
    ac_lb_end(b);
    ac_lb_store(b, dst, i, ac_lb_get(b, det));
    ac_lb_end(b);
    return AC_OK;
}

/* Divides row k by its pivot, from column `from` on. */
static void divide(ac_lb *b, const matrix *a, ac_x k, ac_x pivot, ac_x from)
{
    const ac_x j = ac_lb_for(b, "j", from, ac_lb_i32(b, a->m), 1, AC_MARK_SERIAL);
    ac_lb_store(b, a->buf, at(b, a, k, j), ac_lb_div(b, item(b, a, k, j), pivot));
    ac_lb_end(b);
}

static void fill_unit(ac_lower *L, const matrix *a)
{
    ac_lb *b = &L->b;
    const ac_dtype type = L->node->out[0]->dtype;
    const ac_x i = ac_lb_for_n(b, "i", a->m), j = ac_lb_for_n(b, "j", a->m);
    ac_lb_store(b, a->buf, at(b, a, i, j),
                ac_lb_select(b, ac_lb_eq(b, i, j), ac_lb_num(b, type, 1), ac_lb_num(b, type, 0)));
    ac_lb_end(b);
    ac_lb_end(b);
}

int ac_lo_inverse(ac_lower *L)
{
    ac_lb *b = &L->b;
    const ac_tensor *x = L->node->in[0];
    AC_TRY(check(L));
    const int64_t m = x->dim[x->rank - 1];
    const int32_t dst = ac_lo_result_buf(L);
    if (!ac_tensor_count(x))
        return AC_OK;
    const ac_x i = ac_lb_for_n(b, "n", ac_tensor_count(x) / (m * m)), zero = ac_lb_i32(b, 0);
    const matrix a = copied(L, m, i), y = {dst, m, ac_lb_mul(b, i, ac_lb_i32(b, m * m))};
    fill_unit(L, &y);
    const ac_x k = ac_lb_for_n(b, "k", m), next = ac_lb_add(b, k, ac_lb_i32(b, 1));
    const ac_x p = find_pivot(b, &a, k);
    ac_lb_if(b, ac_lb_ne(b, p, k));
    exchange(b, &a, k, p);
    exchange(b, &y, k, p);
    ac_lb_end(b);
    const ac_x pivot = item(b, &a, k, k);
    divide(b, &a, k, pivot, next);
    divide(b, &y, k, pivot, zero);
    const ac_x row = ac_lb_for_n(b, "row", m);
    ac_lb_if(b, ac_lb_ne(b, row, k));
    const ac_x factor = item(b, &a, row, k);
    take(b, &a, row, k, factor, next);
    take(b, &y, row, k, factor, zero);
    ac_lb_end(b);
    ac_lb_end(b);
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}
