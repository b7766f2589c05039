/* onnx_out.c - nodes, attributes and constants of the ONNX file that is made. */
#include "export/onnx_out.h"
#include "export/pb_write.h"
#include "ir/ops/decode/axis.h"

#include <string.h>

int ac_onw_cannot(ac_onw *w, const ac_node *n, const char *fmt, ...)
{
    va_list ap;
    va_start(ap, fmt);
    const char *why = ac_vstrf(w->cx->region, fmt, ap);
    va_end(ap);
    return ac_error(w->cx, n->at, E0108, "ONNX cannot express %s: %s", ac_ops[n->op].text, why);
}

ac_tensor *ac_onw_value(ac_onw *w, const ac_tensor *like, ac_dtype d, int32_t rank, const int64_t *dim)
{
    return ac_tensor_new(w->g, ac_internf(w->cx, "%s/onnx", like->name), d, rank, dim);
}

void ac_onw_node_to(ac_onw *w, const char *type, ac_tensor *const *in, int32_t n_in, ac_tensor *const *out,
                    int32_t n_out)
{
    ac_onw_node n = {.type = type, .n_in = n_in, .n_out = n_out};
    while (n.n_in && !in[n.n_in - 1])
        n.n_in--;
    n.in = ac_copy(w->cx->region, in, (size_t)n_in * sizeof *in);
    n.out = ac_copy(w->cx->region, out, (size_t)n_out * sizeof *out);
    ac_sink_open(&n.attrs, w->cx);
    ac_push(w->cx->region, &w->node, n);
}

ac_tensor *ac_onw_op(ac_onw *w, const char *type, ac_tensor *const *in, int32_t n_in, ac_dtype d, int32_t rank,
                     const int64_t *dim)
{
    ac_tensor *y = ac_onw_value(w, in[0], d, rank, dim);
    ac_onw_node_to(w, type, in, n_in, &y, 1);
    return y;
}

/* ------------------------------------------------------------------ attributes: AttributeProto */

enum { ATTR_FLOAT = 1, ATTR_INT = 2, ATTR_STRING = 3, ATTR_INTS = 7 };

static void begin_attr(ac_onw *w, ac_sink *a, const char *name, int type)
{
    ac_sink_open(a, w->cx);
    ac_pbw_string(a, 1, name);
    ac_pbw_int(a, 20, type);
}

static void end_attr(ac_onw *w, const ac_sink *a)
{
    ac_pbw_message(&w->node.item[w->node.n - 1].attrs, 5, a);
}

void ac_onw_int(ac_onw *w, const char *name, int64_t v)
{
    ac_sink a;
    begin_attr(w, &a, name, ATTR_INT);
    ac_pbw_int(&a, 3, v);
    end_attr(w, &a);
}

void ac_onw_float(ac_onw *w, const char *name, float v)
{
    ac_sink a;
    begin_attr(w, &a, name, ATTR_FLOAT);
    ac_pbw_float(&a, 2, v);
    end_attr(w, &a);
}

void ac_onw_string(ac_onw *w, const char *name, const char *s)
{
    ac_sink a;
    begin_attr(w, &a, name, ATTR_STRING);
    ac_pbw_string(&a, 4, s);
    end_attr(w, &a);
}

void ac_onw_ints(ac_onw *w, const char *name, int32_t n, const int64_t *v)
{
    ac_sink a;
    begin_attr(w, &a, name, ATTR_INTS);
    for (int32_t i = 0; i < n; i++)
        ac_pbw_int(&a, 8, v[i]);
    end_attr(w, &a);
}

/* ------------------------------------------------------------------ constants */

ac_tensor *ac_onw_const_ints(ac_onw *w, int32_t n, const int64_t *v)
{
    const int64_t dim = n;
    const void *data = ac_copy(w->cx->region, v, (size_t)n * sizeof *v);
    return ac_tensor_const(w->g, "onnx/ints", AC_I64, 1, &dim, data);
}

ac_tensor *ac_onw_const(ac_onw *w, ac_dtype d, double v)
{
    void *data = ac_alloc(w->cx->region, 8);
    ac_dtype_put_num(d, data, v);
    return ac_tensor_const(w->g, "onnx/scalar", d, 0, NULL, data);
}

/* ------------------------------------------------------------------ transposes */

static ac_onw_source *source_of(ac_onw *w, const ac_tensor *t)
{
    while (w->source.n <= t->id)
        ac_push(w->cx->region, &w->source, (ac_onw_source){0});
    return &w->source.item[t->id];
}

static bool is_identity(const int32_t *perm, int32_t rank)
{
    bool same = true;
    for (int32_t d = 0; d < rank; d++)
        same &= perm[d] == d;
    return same;
}

static void permuted(const ac_tensor *x, const int32_t *perm, int64_t *dim)
{
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = x->dim[perm[d]];
}

/* Constants are transposed here and now. */
static ac_tensor *transpose_const(ac_onw *w, ac_tensor *x, const int32_t *perm)
{
    int64_t dim[AC_MAX_RANK], stride[AC_MAX_RANK], at[AC_MAX_RANK] = {0}, step = 1;
    const int64_t n = ac_tensor_count(x), size = ac_dtype_size(x->dtype, 1);
    permuted(x, perm, dim);
    if (x->splat) {
        ac_tensor *y = ac_tensor_const(w->g, x->name, x->dtype, x->rank, dim, x->data);
        y->splat = true;
        return y;
    }
    const uint8_t *from = ac_tensor_force(w->cx, x);
    if (!from)
        return x; /* its diagnostic remains */
    for (int32_t d = x->rank - 1; d >= 0; d--) {
        stride[d] = step;
        step *= x->dim[d];
    }
    uint8_t *to = ac_alloc(w->cx->region, (uint64_t)(n * size) + 1);
    for (int64_t i = 0; i < n; i++) {
        int64_t k = 0;
        for (int32_t d = 0; d < x->rank; d++)
            k += at[d] * stride[perm[d]];
        memcpy(to + i * size, from + k * size, (size_t)size);
        for (int32_t d = x->rank - 1; d >= 0 && ++at[d] == dim[d]; d--)
            at[d] = 0;
    }
    ac_tensor *y = ac_tensor_const(w->g, x->name, x->dtype, x->rank, dim, to);
    return y;
}

static void quant_follows(ac_onw *w, ac_tensor *y, const ac_quant *q, const int32_t *perm)
{
    if (!q || q->n == 1) {
        y->quant = q;
        return;
    }
    ac_quant *own = AC_NEW(w->cx->region, ac_quant);
    *own = *q;
    for (int32_t d = 0; d < y->rank; d++)
        if (perm[d] == q->axis)
            own->axis = d;
    y->quant = own;
}

void ac_onw_transpose_to(ac_onw *w, ac_tensor *x, const int32_t *perm, ac_tensor *y)
{
    int32_t all[AC_MAX_RANK];
    int64_t list[AC_MAX_RANK];
    const ac_onw_source *s = source_of(w, x);
    const bool onward = s->of && !s->dequantized;
    for (int32_t d = 0; d < x->rank; d++)
        list[d] = all[d] = onward ? s->perm[perm[d]] : perm[d];
    ac_tensor *from = onward ? s->of : x;
    if (is_identity(all, from->rank)) {
        ac_onw_same(w, from, y);
        return;
    }
    ac_onw_node_to(w, "Transpose", &from, 1, &y, 1);
    ac_onw_ints(w, "perm", from->rank, list);
    ac_onw_source *to = source_of(w, y);
    *to = (ac_onw_source){.of = from};
    memcpy(to->perm, all, sizeof all);
}

ac_tensor *ac_onw_transpose(ac_onw *w, ac_tensor *x, const int32_t *perm)
{
    int32_t all[AC_MAX_RANK];
    int64_t dim[AC_MAX_RANK];
    const ac_onw_source s = *source_of(w, x);
    if (is_identity(perm, x->rank))
        return x;
    if (s.of && s.dequantized) /* the integers are transposed, and then made real */
        return ac_onw_dequantize(w, ac_onw_transpose(w, s.of, perm));
    if (ac_tensor_is_const(x)) {
        ac_tensor *y = transpose_const(w, x, perm);
        quant_follows(w, y, x->quant, perm);
        return y;
    }
    for (int32_t d = 0; s.of && d < x->rank; d++)
        all[d] = s.perm[perm[d]];
    if (s.of && (is_identity(all, x->rank) || ac_tensor_is_const(s.of)))
        return ac_onw_transpose(w, s.of, all);
    permuted(x, perm, dim);
    ac_tensor *y = ac_onw_value(w, x, x->dtype, x->rank, dim);
    quant_follows(w, y, x->quant, perm);
    ac_onw_transpose_to(w, x, perm, y);
    return y;
}

bool ac_onw_turned(ac_onw *w, const ac_tensor *x, ac_tensor **of, int32_t perm[AC_MAX_RANK])
{
    const ac_onw_source *s = source_of(w, x);
    if (!s->of || s->dequantized || is_identity(s->perm, x->rank))
        return false;
    *of = s->of;
    memcpy(perm, s->perm, sizeof s->perm);
    return true;
}

ac_tensor *ac_onw_first(ac_onw *w, ac_tensor *x)
{
    int32_t perm[AC_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++)
        perm[d] = d < 2 ? d * (x->rank - 1) : d - 1;
    return ac_onw_transpose(w, x, perm);
}

void ac_onw_last(ac_onw *w, ac_tensor *x, ac_tensor *y)
{
    int32_t perm[AC_MAX_RANK];
    for (int32_t d = 0; d < x->rank; d++)
        perm[d] = d == 0 ? 0 : d == x->rank - 1 ? 1 : d + 1;
    ac_onw_transpose_to(w, x, perm, y);
}

/* ------------------------------------------------------------------ small operators */

void ac_onw_same(ac_onw *w, ac_tensor *x, ac_tensor *y)
{
    ac_onw_source *s = source_of(w, y);
    *s = (ac_onw_source){.of = x};
    for (int32_t d = 0; d < x->rank; d++)
        s->perm[d] = d;
    ac_onw_node_to(w, "Identity", &x, 1, &y, 1);
}

void ac_onw_reshape_to(ac_onw *w, ac_tensor *x, ac_tensor *y)
{
    bool empty = false;
    int64_t dim[AC_MAX_RANK];
    const ac_onw_source *s = source_of(w, x);
    if (s->of && !s->dequantized && ac_perm_moves_nothing(s->of, s->perm))
        x = s->of;
    for (int32_t d = 0; d < y->rank; d++) {
        dim[d] = y->dim[d];
        empty |= !y->dim[d];
    }
    if (w->open && !empty && y->rank && !ac_tensor_is_const(x)) /* as x has it, or what the others leave */
        dim[0] = x->rank && x->dim[0] == y->dim[0] ? 0 : -1;
    ac_onw_node_to(w, "Reshape", (ac_tensor *[]){x, ac_onw_const_ints(w, y->rank, dim)}, 2, &y, 1);
    if (empty)
        ac_onw_int(w, "allowzero", 1);
}

ac_tensor *ac_onw_reshape(ac_onw *w, ac_tensor *x, int32_t rank, const int64_t *dim)
{
    ac_tensor *y = ac_onw_value(w, x, x->dtype, rank, dim);
    y->quant = x->quant;
    ac_onw_reshape_to(w, x, y);
    return y;
}

ac_tensor *ac_onw_cast(ac_onw *w, ac_tensor *x, ac_dtype d)
{
    static const int8_t ONNX[AC_DTYPE_COUNT] = {
        -1,
#define DTYPE(id, text, bits, kind, c, npy, tfl, onnx, loops, file_bits) onnx,
#include "ir/dtype/dtype.def"
#undef DTYPE
    };
    if (x->dtype == d)
        return x;
    ac_tensor *y = ac_onw_op(w, "Cast", &x, 1, d, x->rank, x->dim);
    ac_onw_int(w, "to", ONNX[d]);
    return y;
}

ac_tensor *ac_onw_act(ac_onw *w, ac_tensor *x, ac_act act)
{
    const char *type = act == AC_ACT_RELU ? "Relu" : act == AC_ACT_TANH ? "Tanh" : "Clip";
    ac_tensor *in[] = {x, NULL, NULL};
    if (act == AC_ACT_NONE)
        return x;
    if (type[0] == 'C') {
        in[1] = ac_onw_const(w, x->dtype, act == AC_ACT_RELU6 ? 0 : -1);
        in[2] = ac_onw_const(w, x->dtype, act == AC_ACT_RELU6 ? 6 : 1);
    }
    return ac_onw_op(w, type, in, 3, x->dtype, x->rank, x->dim);
}

/* ------------------------------------------------------------------ scales */

static void scales(ac_onw *w, const ac_tensor *t, ac_tensor *in[3])
{
    const ac_quant *q = t->quant;
    const int64_t n = q->n, size = ac_dtype_size(t->dtype, 1);
    uint8_t *zero = ac_alloc(w->cx->region, (uint64_t)(n * size) + 1);
    for (int64_t i = 0; i < n; i++)
        ac_dtype_put_int(t->dtype, zero + i * size, q->zero[i]);
    in[1] = ac_tensor_const(w->g, ac_internf(w->cx, "%s/scale", t->name), AC_F32, n > 1, &n, q->scale);
    in[2] = ac_tensor_const(w->g, ac_internf(w->cx, "%s/zero", t->name), t->dtype, n > 1, &n, zero);
}

void ac_onw_dequantize_to(ac_onw *w, ac_tensor *x, ac_tensor *y)
{
    ac_tensor *in[3] = {x, NULL, NULL};
    scales(w, x, in);
    ac_onw_node_to(w, "DequantizeLinear", in, 3, &y, 1);
    if (x->quant->n > 1)
        ac_onw_int(w, "axis", x->quant->axis);
    if (ac_tensor_is_const(x))
        *source_of(w, y) = (ac_onw_source){.of = x, .dequantized = true};
}

ac_tensor *ac_onw_dequantize(ac_onw *w, ac_tensor *x)
{
    ac_tensor *y = ac_onw_value(w, x, AC_F32, x->rank, x->dim);
    ac_onw_dequantize_to(w, x, y);
    return y;
}

void ac_onw_quantize_to(ac_onw *w, ac_tensor *x, ac_tensor *y)
{
    ac_tensor *in[3] = {x, NULL, NULL};
    scales(w, y, in);
    ac_onw_node_to(w, "QuantizeLinear", in, 3, &y, 1);
    if (y->quant->n > 1)
        ac_onw_int(w, "axis", y->quant->axis);
}
