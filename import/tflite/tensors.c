/* tensors.c - reads tensors of a TFLite file: shape, type, quantisation, constant bytes. */
#include "import/tflite/tflite.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum {
    T_SHAPE,
    T_TYPE = AC_TFL_T_TYPE,
    T_BUFFER = AC_TFL_T_BUFFER,
    T_NAME,
    T_QUANT,
    T_VARIABLE,
    T_SPARSITY,
    T_SIGNATURE,
    T_HAS_RANK,
    T_VARIANT,
    T_EXTERNAL
};
enum { BLOCKWISE = 2 }; /* of the kinds of details */
enum { Q_MIN, Q_MAX, Q_SCALE, Q_ZERO, Q_DETAILS_TYPE, Q_DETAILS, Q_AXIS };

/* More bytes than any machine has: 256 TiB. */
static const int64_t MAX_BYTES = INT64_C(1) << 48;

/* Element types that ac_dtype has no row for, by their number in the file. */
enum { COMPLEX64 = 8, RESOURCE = 13 };
static const char *const OTHER_TYPE[] = {
    [5] = "STRING",   [8] = "COMPLEX64", [11] = "COMPLEX128",    [13] = "RESOURCE",
    [14] = "VARIANT", [19] = "INT2",     [21] = "FLOAT8_E4M3FN", [22] = "FLOAT8_E5M2",
};

/* A tensor on its way into the graph. */
typedef struct reading {
    ac_tfl *r;
    ac_tfl_tensor *x;
    ac_fb_table table;
    ac_place at;
    ac_dtype dtype;
    int32_t rank;
    int64_t dim[AC_MAX_RANK];
    const char *dim_name[AC_MAX_RANK];
    const ac_quant *quant;
    const void *data;
    ac_fb_table sparse; /* storage format of a constant that is not dense */
    ac_fb_table blocks; /* its quantisation in blocks */
    const float *scale; /* of the blocks; NULL: no blocks */
    int64_t block;
    bool variable;
    ac_bytes in_file; /* of a sparse constant */
} reading;

/* Only the first reason counts. */
static int refuse(reading *t, ac_code code, const char *reason)
{
    if (!t->x->refuse) {
        t->x->refuse = reason;
        t->x->code = code;
    }
    return AC_OK;
}

static int read_type(reading *t)
{
    int64_t type = ac_fb_int(&t->r->fb, t->table, T_TYPE, AC_FB_I8, 0);
    t->dtype = ac_dtype_from_tflite((int32_t)type);
    if (t->dtype != AC_NONE)
        return AC_OK;
    t->x->complex = type == COMPLEX64;
    t->x->resource = type == RESOURCE;
    if (t->x->complex) /* refused, except by operators that support it */
        t->dtype = AC_F32;
    if (type < 0 || type >= (int64_t)(sizeof OTHER_TYPE / sizeof *OTHER_TYPE) || !OTHER_TYPE[type])
        return refuse(t, E0108,
                      ac_strf(t->r->cx->region, "an operand has the unknown element type number %d", (int)type));
    return refuse(t, E0108, ac_strf(t->r->cx->region, "an operand has elements of type %s", OTHER_TYPE[type]));
}

/* `shape` gives the sizes to plan with; `shape_signature` marks with -1 those that the caller may choose (--dim); these
 * get a name in graph inputs. A size that is unknown in the file is also -1 in `shape`, or 1 if a converter wrote it:
 * 1 is the size only of dimension 0, the batch. */
static int read_shape(reading *t)
{
    ac_fb *fb = &t->r->fb;
    ac_fb_vec shape = ac_fb_vector(fb, t->table, T_SHAPE, 4), sign = ac_fb_vector(fb, t->table, T_SIGNATURE, 4);
    if (shape.n + t->x->complex > AC_MAX_RANK) {
        t->x->complex = false;
        return refuse(t, E0205,
                      ac_strf(t->r->cx->region, "an operand has %u dimensions; arenac handles up to 8", shape.n));
    }
    t->rank = (int32_t)shape.n;
    for (uint32_t i = 0; i < shape.n; i++) {
        int64_t d = ac_fb_elem_int(fb, shape, i, AC_FB_I32);
        if (d < -1)
            return ac_error(t->r->cx, t->at, E0201, "dimension %u of tensor '%s' is %" PRId64, i, t->x->name, d);
        bool unknown = d == -1 || (sign.n == shape.n && ac_fb_elem_int(fb, sign, i, AC_FB_I32) == -1);
        t->dim[i] = unknown && t->x->input && d == 1 && i > 0 ? -1 : d;
        t->x->open |= unknown;
        t->dim_name[i] = unknown && t->x->input ? ac_internf(t->r->cx, "dim%u", i) : NULL;
    }
    if (t->x->complex)
        t->dim[t->rank++] = 2;
    return fb->failed ? AC_FAIL : AC_OK;
}

/* Bytes of the dense tensor, unknown dimensions taken as 1. */
static int size_of(reading *t, int64_t *bytes)
{
    int64_t count = 1;
    bool empty = false, fits = true;
    for (int32_t i = 0; i < t->rank; i++) {
        empty |= t->dim[i] == 0;
        if (t->dim[i] > 0)
            fits = fits && ac_mul_ok(count, t->dim[i], &count) && count <= MAX_BYTES;
    }
    if (fits)
        *bytes = empty ? 0 : (count * ac_dtype_file_bits(t->dtype) + 7) / 8;
    if (!fits || *bytes > MAX_BYTES)
        return ac_error(t->r->cx, t->at, E0015, "the shape of tensor '%s' needs more than 2^48 bytes", t->x->name);
    return AC_OK;
}

static int bad_quant(reading *t, const char *what)
{
    return ac_error(t->r->cx, t->at, E0106, "tensor '%s' (%s): %s", t->x->name, ac_dtype_name(t->dtype), what);
}

/* One scale for the tensor or one for each index of a dimension. */
static int check_quant(reading *t, const ac_quant *q)
{
    ac_ctx *cx = t->r->cx;
    int64_t lo = ac_dtype_min(t->dtype), hi = ac_dtype_max(t->dtype);
    if (q->n > 1 && (q->axis < 0 || q->axis >= t->rank))
        return bad_quant(t, ac_strf(cx->region, "has %d scales along dimension %d of %d", q->n, q->axis, t->rank));
    if (q->n > 1 && t->dim[q->axis] >= 0 && t->dim[q->axis] != q->n)
        return bad_quant(t, ac_strf(cx->region, "has %d scales along dimension %d, whose size is %" PRId64, q->n,
                                    q->axis, t->dim[q->axis]));
    for (int32_t i = 0; i < q->n; i++) {
        if (!isfinite(q->scale[i]) || q->scale[i] <= 0)
            return bad_quant(t,
                             ac_strf(cx->region, "scale %d is %g, expected a positive number", i, (double)q->scale[i]));
        if (q->zero[i] < lo || q->zero[i] > hi)
            return bad_quant(
                t, ac_strf(cx->region, "zero point %d is %d, outside of %" PRId64 "..%" PRId64, i, q->zero[i], lo, hi));
    }
    return AC_OK;
}

static int read_quant(reading *t)
{
    ac_fb *fb = &t->r->fb;
    ac_region *region = t->r->cx->region;
    ac_fb_table q = ac_fb_child(fb, t->table, T_QUANT, "QuantizationParameters");
    ac_fb_vec scale = ac_fb_vector(fb, q, Q_SCALE, 4), zero = ac_fb_vector(fb, q, Q_ZERO, 8);
    int64_t axis = ac_fb_int(fb, q, Q_AXIS, AC_FB_I32, 0);
    if (fb->failed)
        return AC_FAIL;
    if (!ac_dtype_is_int(t->dtype)) /* writers leave scales of 0 on floats */
        return AC_OK;
    const int64_t details = ac_fb_int(fb, q, Q_DETAILS_TYPE, AC_FB_U8, 0);
    if (details == BLOCKWISE) {
        t->blocks = ac_fb_child(fb, q, Q_DETAILS, "BlockwiseQuantization");
        return fb->failed ? AC_FAIL : AC_OK;
    }
    if (details)
        return refuse(t, E0108, "an operand is quantised by custom parameters");
    if (!scale.n)
        return AC_OK;
    if (zero.n > 1 && zero.n != scale.n)
        return bad_quant(t, ac_strf(region, "has %u scales but %u zero points", scale.n, zero.n));
    if (scale.n > 1 && scale.n > INT32_MAX / 4)
        return bad_quant(t, "has too many scales");
    float *scales = AC_NEW_N(region, float, scale.n);
    int32_t *zeros = AC_NEW_N(region, int32_t, scale.n);
    for (uint32_t i = 0; i < scale.n && !fb->failed; i++) {
        int64_t z = zero.n ? ac_fb_elem_int(fb, zero, zero.n == 1 ? 0 : i, AC_FB_I64) : 0;
        if (z < INT32_MIN || z > INT32_MAX)
            return bad_quant(t, ac_strf(region, "zero point %u is %" PRId64, i, z));
        scales[i] = ac_fb_elem_f32(fb, scale, i);
        zeros[i] = (int32_t)z;
    }
    ac_quant *made = AC_NEW(region, ac_quant);
    if (scale.n == 1 || t->rank == 1) /* writers give a bias the number of its weights' dimension */
        axis = 0;
    *made = (ac_quant){.axis = (int32_t)axis, .n = (int32_t)scale.n, .scale = scales, .zero = zeros};
    t->quant = made;
    return fb->failed ? AC_FAIL : check_quant(t, made);
}

/* Elements are read through pointers of their type, so their address must be aligned; in a file it need not be. */
static const void *aligned(ac_tfl *r, ac_tfl_buffer *b, ac_dtype dtype)
{
    uintptr_t unit = (uintptr_t)ac_dtype_bits(dtype) / 8;
    if (b->aligned)
        return b->aligned;
    if ((uintptr_t)b->bytes.p % unit == 0)
        return b->bytes.p;
    return b->aligned = ac_copy(r->cx->region, b->bytes.p, b->bytes.n);
}

/* Elements below a byte, one to a byte. */
static const void *unpacked(reading *t, ac_span bytes)
{
    int64_t count = 1;
    for (int32_t i = 0; i < t->rank; i++)
        count *= t->dim[i];
    void *to = ac_alloc(t->r->cx->region, (uint64_t)count + 1);
    ac_dtype_unpack(t->dtype, bytes.p, count, to);
    return to;
}

static int read_data(reading *t)
{
    static const uint64_t NO_ELEMENTS[1] = {0};
    ac_tfl *r = t->r;
    int64_t index = ac_fb_int(&r->fb, t->table, T_BUFFER, AC_FB_U32, 0), want = 0;
    if (index && index >= r->n_buffer)
        return ac_error(r->cx, t->at, E0013,
                        "tensor '%s' takes its data from buffer %" PRId64 ", but the model has %u buffers", t->x->name,
                        index, r->n_buffer);
    ac_tfl_buffer *b = index ? &r->buffer[index] : NULL;
    if (ac_fb_int(&r->fb, t->table, T_EXTERNAL, AC_FB_U32, 0))
        return refuse(t, E0108, "the data of an operand is in another file");
    if (t->x->refuse && !t->x->complex) /* type or rank unknown: no size to check */
        return AC_OK;
    AC_TRY(size_of(t, &want));
    if (b && b->bytes.n) {
        for (int32_t i = 0; i < t->rank; i++)
            if (t->dim[i] < 0)
                return ac_error(r->cx, t->at, E0012, "constant '%s' does not say the size of dimension %d", t->x->name,
                                i);
        if (t->sparse.at && ac_dtype_file_bits(t->dtype) < 8)
            return refuse(t, E0108, "an operand of elements below a byte is stored as a sparse matrix");
        t->in_file = t->sparse.at ? (ac_bytes)b->bytes.n : 0;
        if (t->sparse.at)
            return ac_tfl_densify(r, t->at, t->x->name, t->sparse, t->rank, t->dim, ac_dtype_bits(t->dtype), b->bytes,
                                  &t->data);
        if ((uint64_t)want != b->bytes.n)
            return ac_error(r->cx, t->at, E0016, "constant '%s' needs %" PRId64 " bytes, buffer %" PRId64 " holds %llu",
                            t->x->name, want, index, (unsigned long long)b->bytes.n);
        t->data = ac_dtype_file_bits(t->dtype) < 8 ? unpacked(t, b->bytes) : aligned(r, b, t->dtype);
    } else if (!want && t->x->maker < 0 && !t->variable) {
        t->data = NO_ELEMENTS; /* an empty list, such as the shape of a scalar; graph inputs drop it again */
    } else if (ac_dtype_file_bits(t->dtype) < 8) {
        return refuse(t, E0108, "an operand of 4-bit elements is not a constant");
    }
    return AC_OK;
}

/* Scales of constants quantised in blocks. */
static int read_blocks(reading *t, ac_fb_vec tensors)
{
    int64_t count = 1;
    if (t->x->refuse || !t->blocks.at)
        return AC_OK;
    if (!t->data)
        return refuse(t, E0108, "an operand that is quantised in blocks is not a constant");
    for (int32_t d = 0; d < t->rank; d++)
        count *= t->dim[d];
    if (t->rank >= AC_MAX_RANK)
        return refuse(t, E0108, "an operand that is quantised in blocks has 8 dimensions");
    return ac_tfl_blocks(t->r, t->at, t->x->name, t->blocks, tensors, t->rank ? t->dim[t->rank - 1] : 1, count,
                         &t->scale, &t->block);
}

static int read_tensor(reading *t, ac_fb_vec tensors)
{
    ac_fb *fb = &t->r->fb;
    t->variable = ac_fb_int(fb, t->table, T_VARIABLE, AC_FB_U8, 0) != 0;
    AC_TRY(read_type(t));
    AC_TRY(read_shape(t));
    t->sparse = ac_fb_child(fb, t->table, T_SPARSITY, "SparsityParameters");
    if (!t->x->refuse)
        AC_TRY(read_quant(t));
    AC_TRY(read_data(t));
    AC_TRY(read_blocks(t, tensors));
    return fb->failed ? AC_FAIL : AC_OK;
}

static int make_tensor(reading *t, ac_graph *g)
{
    if (t->scale) {
        t->x->t = ac_tfl_unblocked(g, t->at, t->x->name, t->dtype, t->rank, t->dim, t->data, t->scale, t->block);
        return t->x->t ? AC_OK : AC_FAIL;
    }
    ac_tensor *made = ac_tensor_new(g, t->x->name, t->dtype, t->rank, t->dim);
    memcpy(made->dim_name, t->dim_name, sizeof made->dim_name);
    made->quant = t->quant;
    made->data = t->data;
    made->in_file = t->in_file;
    made->state = t->variable;
    t->x->t = made;
    return AC_OK;
}

/* Constants of a call, by tensor, if earlier calls in the same graph have created them; NULL: not a call. */
static ac_tensor **constants_of(ac_tfl *r, const ac_tfl_sub *sub, uint32_t count)
{
    ac_tfl_constants *c = &r->constant[sub->index];
    if (sub->result && (!c->t || c->g != sub->g))
        *c = (ac_tfl_constants){sub->g, AC_NEW_N(r->cx->region, ac_tensor *, count + 1)};
    return sub->result ? c->t : NULL;
}

int ac_tfl_tensors(ac_tfl *r, ac_tfl_sub *sub, ac_fb_vec tensors)
{
    int rc = AC_OK;
    ac_tensor **constant = constants_of(r, sub, tensors.n);
    for (uint32_t i = 0; i < tensors.n && !r->fb.failed; i++) {
        ac_tfl_tensor *x = &sub->tensor[i];
        reading t = {.r = r, .x = x, .table = ac_fb_elem_table(&r->fb, tensors, i, "Tensor")};
        t.at = ac_fb_place(&r->fb, t.table.at);
        const char *name = ac_fb_string(&r->fb, t.table, T_NAME);
        x->name = name && *name ? name : ac_internf(r->cx, "t%u", i);
        if (r->fb.failed)
            break;
        x->broken = read_tensor(&t, tensors) != AC_OK;
        if (t.variable && sub->result)
            (void)refuse(&t, E0108, "an operand is a state of a subgraph, in a model with sizes that depend on data");
        x->made = t.data || t.variable || (x->refuse && x->maker < 0);
        const bool kept = constant && t.data && !t.scale && !x->broken;
        if (kept && constant[i])
            x->t = constant[i];
        else if (x->broken || (x->used && (!x->refuse || x->complex) && make_tensor(&t, sub->g) != AC_OK))
            rc = AC_FAIL;
        else if (kept)
            constant[i] = x->t;
    }
    return r->fb.failed ? AC_FAIL : rc;
}
