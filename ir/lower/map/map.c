/* map.c - the loop nest of element-wise operators: over the result, with dimensions merged that every operand walks in
 * the same way.
 *
 *     out [8,14,14,24] = x [8,14,14,24] + bias [24]      ->  for i0 < 1568: for i < 24 step 8: ...
 *     out [8,14,14,24] = relu x                          ->  for i < 37632 step 8: ...
 *
 * The last merged dimension is walked in vectors, its rest in narrower vectors and then one by one. Element i of the
 * result is written after element i of every operand was read and before any later one is read: operands of the same
 * shape and element size may be overwritten. */
#include "ir/lower/map/map.h"
#include "ir/lower/recipe/recipe.h"

#include <assert.h>

enum { MAX_OPERANDS = 64 };

typedef struct nest {
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    int32_t n; /* operands */
    ac_tensor *operand[MAX_OPERANDS];
    int64_t stride[MAX_OPERANDS][AC_MAX_RANK]; /* elements; 0: broadcast along this dimension */
    ac_x idx[AC_MAX_RANK];
    uint32_t apart; /* bit d: dimension d of the result and the next one are not merged (ac_recipe_breaks) */
} nest;

/* The index of t among the operands, or w->n. Two constants are one operand if their data is the same. */
static int32_t find_operand(const nest *w, const ac_tensor *t)
{
    for (int32_t i = 0; i < w->n; i++)
        if (w->operand[i] == t || (t->data && w->operand[i]->data == t->data && w->operand[i]->dtype == t->dtype &&
                                   ac_tensor_same_shape(w->operand[i], t)))
            return i;
    return w->n;
}

static void add_operand(nest *w, ac_tensor *t)
{
    if (find_operand(w, t) < w->n)
        return;
    assert(w->n < MAX_OPERANDS && "an epilogue has few followers");
    w->operand[w->n++] = t;
}

static void collect(ac_lower *L, nest *w)
{
    const ac_node *n = L->node;
    ac_tensor *list[4];
    for (int32_t f = -1; f < n->n_fused; f++) {
        const ac_node *m = f < 0 ? n : n->fused[f];
        const int32_t count = ac_lo_map_operands(L, m, list);
        for (int32_t i = 0; i < count; i++)
            if (list[i] && !ac_node_internal(n, list[i]))
                add_operand(w, list[i]);
    }
}

/* Row-major strides of operand t under the dimensions of `out`. */
static void set_strides(int64_t *stride, const ac_tensor *t, const ac_tensor *out)
{
    int64_t step = 1;
    for (int32_t d = out->rank - 1; d >= 0; d--) {
        const int32_t k = d - (out->rank - t->rank);
        stride[d] = k < 0 || t->dim[k] == 1 ? 0 : step;
        step *= k < 0 ? 1 : t->dim[k];
    }
}

static void set_apart(nest *w, const ac_tensor *out)
{
    for (int32_t i = 0; i < w->n; i++) {
        const int32_t off = out->rank - w->operand[i]->rank;
        const uint32_t own = ac_recipe_breaks(w->operand[i]);
        w->apart |= off < 0 ? 0 : own << off;
    }
}

/* Drops dimensions of one element and joins neighbours that every operand walks as one, but the first `keep`. */
static void merge(nest *w, const ac_tensor *out, int32_t keep)
{
    w->rank = 0;
    for (int32_t d = 0, before = 0; d < out->rank; d++) {
        if (out->dim[d] == 1)
            continue;
        const int32_t last = w->rank - 1;
        bool join = last >= keep && !(w->apart >> before & 1);
        for (int32_t i = 0; i < w->n && join; i++)
            join = w->stride[i][last] == w->stride[i][d] * out->dim[d];
        const int32_t to = join ? last : w->rank++;
        w->dim[to] = join ? w->dim[last] * out->dim[d] : out->dim[d];
        for (int32_t i = 0; i < w->n; i++)
            w->stride[i][to] = w->stride[i][d];
        before = d;
    }
    if (w->rank == 0) {
        w->rank = 1;
        w->dim[0] = 1;
        for (int32_t i = 0; i < w->n; i++)
            w->stride[i][0] = 0;
    }
}

static ac_x load_merged(ac_lower *L, ac_tensor *t, const void *at, int32_t lanes)
{
    const nest *w = at;
    const int32_t i = find_operand(w, t);
    ac_x flat = ac_lb_i32(&L->b, 0);
    for (int32_t d = 0; d < w->rank; d++)
        if (w->stride[i][d])
            flat = ac_lb_add(&L->b, flat, ac_lb_mul(&L->b, w->idx[d], ac_lb_i32(&L->b, w->stride[i][d])));
    return ac_lo_load_at(L, t, flat, w->stride[i][w->rank - 1] == 1, lanes);
}

/* `lanes` elements from idx on. */
static void body(ac_lower *L, nest *w, int32_t lanes)
{
    const ac_node *n = L->node;
    ac_tensor *list[4];
    ac_x arg[4] = {0};
    const int32_t count = ac_lo_map_operands(L, n, list);
    if (L->refused)
        return; /* once is enough */
    for (int32_t i = 0; i < count; i++)
        if (list[i])
            arg[i] = load_merged(L, list[i], w, lanes);
    ac_x v = L->rows[n->op].map(L, n, arg);
    if (v)
        v = ac_lo_epilogue(L, v, load_merged, w, lanes);
    if (!v)
        return;
    ac_x flat = ac_lb_i32(&L->b, 0);
    for (int32_t d = 0; d < w->rank; d++) {
        flat = ac_lb_mul(&L->b, flat, ac_lb_i32(&L->b, w->dim[d]));
        flat = ac_lb_add(&L->b, flat, w->idx[d]);
    }
    ac_lb_store(&L->b, ac_lo_result_buf(L), flat, v);
}

/* Lanes that suit every value involved: quantised arithmetic happens in i32 (products in i64), f16 in f32. */
static int32_t lanes_of(const ac_lower *L, const nest *w)
{
    const ac_node *n = L->node;
    int32_t lanes = ac_lo_max_lanes(L, AC_I8);
    for (int32_t i = -1 - n->n_fused; i < w->n; i++) {
        const ac_tensor *t = i >= 0 ? w->operand[i] : i == -1 ? n->out[0] : n->fused[-i - 2]->out[0];
        int32_t most = ac_lo_max_lanes(L, t->dtype);
        if (ac_mp_quantised(t) || ac_dtype_is_half(t->dtype) || ac_dtype_loops(t->dtype) != t->dtype)
            most = ac_lo_max_lanes(L, AC_F32);
        lanes = most < lanes ? most : lanes;
    }
    return ac_lo_has_long_chain(L) ? lanes * ac_lo_long_chain_vectors(L) : lanes;
}

static void step(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    nest *w = with;
    w->idx[w->rank - 1] = i;
    body(L, w, lanes);
}

int ac_lo_map(ac_lower *L)
{
    static const char *const name[AC_MAX_RANK] = {"i0", "i1", "i2", "i3", "i4", "i5", "i6", "i7"};
    const ac_tensor *out = L->node->out[0];
    nest w = {0};
    ac_lo_result_buf(L);
    if (ac_tensor_count(out) == 0)
        return AC_OK;
    if (ac_mp_byte_table(L))
        return L->refused ? AC_FAIL : AC_OK;
    collect(L, &w);
    for (int32_t i = 0; i < w.n; i++)
        set_strides(w.stride[i], w.operand[i], out);
    set_apart(&w, out);
    merge(&w, out, L->variant & AC_VARIANT_ROWS ? 2 : 0);
    for (int32_t d = 0; d + 1 < w.rank; d++)
        w.idx[d] = ac_lb_for_each(&L->b, name[d], w.dim[d]);
    ac_lo_strip_each(L, "i", w.dim[w.rank - 1], lanes_of(L, &w), step, &w);
    for (int32_t d = 0; d + 1 < w.rank; d++)
        ac_lb_end(&L->b);
    return L->refused ? AC_FAIL : AC_OK;
}
