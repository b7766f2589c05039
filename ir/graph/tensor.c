/* tensor.c - properties of one tensor: sizes, constant data, equality, its text in messages. */
#include "base/hash/hash.h"
#include "base/sink.h"
#include "ir/graph/graph.h"

#include <string.h>

int64_t ac_dim_product(const int64_t *dim, int32_t begin, int32_t end)
{
    int64_t n = 1;
    for (int32_t d = begin; d < end; d++)
        n *= dim[d];
    return n;
}

void ac_perm_swapped(int32_t rank, int32_t perm[AC_MAX_RANK])
{
    for (int32_t d = 0; d < rank; d++)
        perm[d] = rank < 2 || d < rank - 2 ? d : 2 * rank - 3 - d;
}

int64_t ac_tensor_count(const ac_tensor *t)
{
    return ac_dim_product(t->dim, 0, t->rank);
}

int64_t ac_tensor_bytes(const ac_tensor *t)
{
    return ac_dtype_size(t->dtype, ac_tensor_count(t));
}

ac_tensor *ac_tensor_root(const ac_tensor *t)
{
    while (t->root)
        t = t->root;
    return (ac_tensor *)(uintptr_t)t;
}

int64_t ac_tensor_root_offset(const ac_tensor *t)
{
    int64_t at = 0;
    for (; t->root; t = t->root)
        at += t->view_offset;
    return at;
}

bool ac_tensor_is_const(const ac_tensor *t)
{
    return !t->state && (t->data || t->lazy || t->raw);
}

bool ac_tensor_same_shape(const ac_tensor *a, const ac_tensor *b)
{
    return a->rank == b->rank && (a->rank == 0 || !memcmp(a->dim, b->dim, (size_t)a->rank * sizeof *a->dim));
}

bool ac_tensor_same_kind(const ac_tensor *a, const ac_tensor *b)
{
    return a->dtype == b->dtype && ac_tensor_same_shape(a, b) && ac_quant_equal(a->quant, b->quant);
}

void ac_tensor_become(ac_tensor *t, const ac_tensor *like)
{
    t->dtype = like->dtype;
    t->quant = like->quant;
    t->rank = like->rank;
    for (int32_t d = 0; d < like->rank; d++) {
        t->dim[d] = like->dim[d];
        t->dim_name[d] = NULL;
    }
}

float ac_quant_scale(const ac_tensor *t)
{
    return t->quant && t->quant->n > 0 ? t->quant->scale[0] : 1.0f;
}

int32_t ac_quant_zero(const ac_tensor *t)
{
    return t->quant && t->quant->n > 0 && t->quant->zero ? t->quant->zero[0] : 0;
}

bool ac_quant_equal(const ac_quant *a, const ac_quant *b)
{
    if (a == b)
        return true;
    if (!a || !b || a->n != b->n || (a->n > 1 && a->axis != b->axis))
        return false;
    return !memcmp(a->scale, b->scale, (size_t)a->n * sizeof *a->scale) &&
           !memcmp(a->zero, b->zero, (size_t)a->n * sizeof *a->zero);
}

const char *ac_shape_str(ac_ctx *cx, const ac_tensor *t)
{
    char *s = ac_strf(cx->region, "[");
    for (int32_t i = 0; i < t->rank; i++) {
        const char *sep = i ? "," : "";
        if (t->dim[i] < 0)
            s = ac_strf(cx->region, "%s%s%s", s, sep, t->dim_name[i] ? t->dim_name[i] : "?");
        else
            s = ac_strf(cx->region, "%s%s%lld", s, sep, (long long)t->dim[i]);
    }
    return ac_strf(cx->region, "%s]", s);
}

const char *ac_tensor_str(ac_ctx *cx, const ac_tensor *t)
{
    const char *kind = !t->words ? "" : t->words->other ? " text" : " word";
    return ac_strf(cx->region, "%s %s%s", ac_dtype_name(t->dtype), ac_shape_str(cx, t), kind);
}

/* ------------------------------------------------------------------ equal constants */

enum { FEW = 4096 }; /* bytes: compared, not their addresses */

/* The stored data, from the file or computed: its own bytes; for a splat one element. */
static const void *own_bytes(const ac_tensor *t, int64_t *n)
{
    *n = t->splat ? ac_dtype_size(t->dtype, 1) : ac_tensor_bytes(t);
    return t->raw ? t->raw : t->data;
}

uint64_t ac_tensor_hash(const ac_tensor *t)
{
    int64_t n;
    if (t->lazy)
        return t->lazy->hash;
    const void *p = own_bytes(t, &n);
    return p && n <= FEW ? ac_bytes_hash(p, (size_t)n) : (uint64_t)(uintptr_t)p;
}

bool ac_tensor_same_bytes(const ac_tensor *a, const ac_tensor *b, int32_t *left)
{
    int64_t n, m;
    if (a == b)
        return true;
    if (--*left < 0 || ac_tensor_bytes(a) != ac_tensor_bytes(b) || !a->lazy != !b->lazy)
        return false;
    if (a->lazy)
        return a->lazy->same == b->lazy->same && a->lazy->same(a->lazy, a, b->lazy, b, left);
    const void *p = own_bytes(a, &n), *q = own_bytes(b, &m);
    return p && q && n == m && (p == q || (n <= FEW && !memcmp(p, q, (size_t)n)));
}

int ac_node_ints(ac_ctx *cx, const ac_node *n, int32_t i, ac_ints attr, ac_ints *out)
{
    ac_tensor *t = i >= 0 && i < n->n_in ? n->in[i] : NULL;
    *out = attr;
    if (!t)
        return AC_OK;
    if (t->dtype != AC_I16 && t->dtype != AC_I32 && t->dtype != AC_I64)
        return ac_error(cx, n->at, E0105, "operand '%s' is %s, expected i16, i32 or i64", t->name,
                        ac_dtype_name(t->dtype));
    if (!ac_tensor_is_const(t)) {
        ac_error(cx, n->at, E0203, "operand '%s' of %s is computed at run time, but a static plan needs its values now",
                 t->name, ac_ops[n->op].text);
        return ac_detail(cx, "input %d  %s  '%s'", i, ac_tensor_str(cx, t), t->name);
    }
    int64_t count = ac_tensor_count(t);
    if (count > 1 << 20)
        return ac_error(cx, n->at, E0015, "operand '%s' has %lld elements, more than a list of axes or sizes may have",
                        t->name, (long long)count);
    const void *data = ac_tensor_force(cx, t);
    if (!data)
        return AC_FAIL;
    int64_t *v = AC_NEW_N(cx->region, int64_t, count + 1);
    for (int64_t k = 0; k < count; k++)
        v[k] = ac_dtype_get_int(t->dtype, data, k);
    *out = (ac_ints){(int32_t)count, v};
    return AC_OK;
}
