/* const_tensors.c - tensors of TensorFlow graphs: TensorShapeProto, and TensorProto in all its encodings. */
#include "import/tf/tf.h"
#include "import/build/params.h"

#include <inttypes.h>
#include <string.h>

enum { DT_STRING = 7, DT_RESOURCE = 20, DT_COUNT = 31, REF = 100 };

ac_dtype ac_tf_dtype(int64_t number)
{
    static const ac_dtype MINE[DT_COUNT] = {
        [1] = AC_F32,  [2] = AC_F64,   [3] = AC_I32,  [4] = AC_U8,   [5] = AC_I16,  [6] = AC_I8,
        [9] = AC_I64,  [10] = AC_BOOL, [11] = AC_I8,  [12] = AC_U8,  [13] = AC_I32, [14] = AC_BF16,
        [15] = AC_I16, [16] = AC_U16,  [17] = AC_U16, [19] = AC_F16, [22] = AC_U32, [23] = AC_U64,
    };
    number -= number > REF ? REF : 0; /* a reference to a variable: the same elements */
    return number > 0 && number < DT_COUNT ? MINE[number] : AC_NONE;
}

/* Shapes. */

typedef struct shape {
    ac_pb_list dims;
    int64_t unknown;
} shape;

typedef struct dim {
    int64_t size;
    ac_span name;
} dim;

static const ac_pb_field SHAPE[] = {
    {2, AC_PB_MANY, offsetof(shape, dims)}, {3, AC_PB_INT, offsetof(shape, unknown)}, {0, AC_PB_INT, 0}};
static const ac_pb_field DIM[] = {
    {1, AC_PB_INT, offsetof(dim, size)}, {2, AC_PB_BYTES, offsetof(dim, name)}, {0, AC_PB_INT, 0}};

int ac_tf_shape(ac_pb *pb, ac_span message, int32_t *rank, int64_t size[AC_MAX_RANK], const char **refused)
{
    shape s = {.unknown = 0};
    ac_span one;
    *refused = NULL;
    *rank = -1;
    if (!ac_pb_read(pb, message, SHAPE, &s))
        return AC_FAIL;
    if (s.unknown)
        return AC_OK;
    if (s.dims.n > AC_MAX_RANK) {
        *refused = ac_strf(pb->cx->region, "a value has %u dimensions; arenac handles up to 8", s.dims.n);
        return AC_FAIL;
    }
    int32_t n = 0;
    while (ac_pb_next(pb, &s.dims, &one)) {
        dim d = {.size = 0};
        if (!ac_pb_read(pb, one, DIM, &d))
            return AC_FAIL;
        if (d.size < -1)
            return ac_error(pb->cx, ac_pb_place(pb, one.p), E0201, "dimension %d is %" PRId64, n, d.size);
        if (d.size > INT32_MAX)
            return ac_error(pb->cx, ac_pb_place(pb, one.p), E0015, "dimension %d is %" PRId64, n, d.size);
        size[n++] = d.size;
    }
    *rank = n;
    return pb->failed ? AC_FAIL : AC_OK;
}

/* Elements. */

typedef struct proto {
    int64_t type;
    ac_span shape, content;
    ac_pb_list floats, doubles, ints, int64s, bools, halves, uint32s, uint64s;
} proto;

static const ac_pb_field TENSOR[] = {
    {1, AC_PB_INT, offsetof(proto, type)},         {2, AC_PB_BYTES, offsetof(proto, shape)},
    {4, AC_PB_BYTES, offsetof(proto, content)},    {5, AC_PB_NUMBERS, offsetof(proto, floats)},
    {6, AC_PB_NUMBERS, offsetof(proto, doubles)},  {7, AC_PB_NUMBERS, offsetof(proto, ints)},
    {10, AC_PB_NUMBERS, offsetof(proto, int64s)},  {11, AC_PB_NUMBERS, offsetof(proto, bools)},
    {13, AC_PB_NUMBERS, offsetof(proto, halves)},  {16, AC_PB_NUMBERS, offsetof(proto, uint32s)},
    {17, AC_PB_NUMBERS, offsetof(proto, uint64s)}, {0, AC_PB_INT, 0},
};

/* The numbers of the list that belongs to the type, as dense bytes at any address; NULL: none. */
static const uint8_t *listed(ac_tf *r, const proto *p, ac_dtype d, int64_t *count)
{
    if (d == AC_F32)
        return ac_pb_fixed(&r->pb, p->floats, 4, count);
    if (d == AC_F64)
        return ac_pb_fixed(&r->pb, p->doubles, 8, count);
    const ac_pb_list list = d == AC_I64                   ? p->int64s
                            : d == AC_U64                 ? p->uint64s
                            : d == AC_U32                 ? p->uint32s
                            : d == AC_BOOL                ? p->bools
                            : d == AC_F16 || d == AC_BF16 ? p->halves
                                                          : p->ints;
    const int64_t *v = ac_pb_ints(&r->pb, list, count);
    const size_t size = (size_t)ac_dtype_size(d, 1);
    uint8_t *out = ac_alloc_n(r->cx->region, (uint64_t)*count + 1, size);
    for (int64_t i = 0; v && i < *count; i++)
        ac_dtype_put_int(d, out + (size_t)i * size, v[i]);
    return v ? out : NULL;
}

static int64_t element_count(ac_tf *r, const char *name, ac_place at, int32_t rank, const int64_t *size)
{
    int64_t count;
    for (int32_t d = 0; d < rank; d++)
        if (size[d] < 0)
            return ac_error(r->cx, at, E0201, "the size of dimension %d of constant '%s' is unknown", d, name), -1;
    if (!ac_dims_fit(rank, size, &count))
        return ac_error(r->cx, at, E0015, "constant '%s' has more than %d elements", name, INT32_MAX), -1;
    return count;
}

/* Fewer numbers than elements: the last one stands for all that follow. Nothing of that size is allocated here. */
static ac_tensor *repeated(ac_tf *r, const char *name, ac_place at, ac_dtype d, int32_t rank, const int64_t *size,
                           const uint8_t *v, int64_t have)
{
    const ac_maker b = {.cx = r->cx, .g = r->g, .name = name, .base = name, .at = at};
    const size_t unit = (size_t)ac_dtype_size(d, 1);
    int64_t first = have - 1, count = 1;
    while (first > 0 && !memcmp(v + (size_t)(first - 1) * unit, v + (size_t)first * unit, unit))
        first--;
    for (int32_t k = 0; k < rank; k++)
        count *= size[k];
    const int64_t rest = count - first, ends = first;
    const uint8_t *last = ac_copy(r->cx->region, v + (size_t)first * unit, unit);
    if (!first) {
        ac_tensor *t = ac_tensor_const(r->g, name, d, rank, size, last);
        t->splat = true;
        return t;
    }
    ac_tensor *part[] = {ac_tensor_const(r->g, name, d, 1, &ends, ac_copy(r->cx->region, v, (size_t)first * unit)),
                         ac_tensor_const(r->g, name, d, 1, &rest, last)};
    part[1]->splat = true;
    return ac_make_reshape(&b, ac_make_concat(&b, part, 2, 0), rank, size);
}

ac_tensor *ac_tf_tensor(ac_tf *r, ac_span message, const char *name, ac_place at, const char **refused)
{
    static const uint64_t NOTHING[1] = {0};
    proto p = {.type = 0};
    int32_t rank;
    int64_t size[AC_MAX_RANK], have = 0;
    *refused = NULL;
    at.byte = ac_pb_place(&r->pb, message.p).byte;
    if (!ac_pb_read(&r->pb, message, TENSOR, &p))
        return NULL;
    const ac_dtype d = ac_tf_dtype(p.type);
    if (d == AC_NONE) {
        *refused = ac_strf(r->cx->region, "a constant has elements of type %s", ac_tf_dtype_name(r->cx, p.type));
        if (p.type > 0 && (p.type < DT_COUNT || (p.type > REF && p.type < REF + DT_COUNT)))
            return NULL;
        (void)ac_error(r->cx, at, E0012, "%s", *refused);
        *refused = NULL;
        return NULL;
    }
    if (ac_tf_shape(&r->pb, p.shape, &rank, size, refused) != AC_OK)
        return NULL;
    if (rank < 0)
        return (void)ac_error(r->cx, at, E0012, "constant '%s' does not declare its number of dimensions", name), NULL;
    const int64_t count = element_count(r, name, at, rank, size);
    if (count < 0)
        return NULL;
    const int64_t want = ac_dtype_size(d, count);
    const uint8_t *v = p.content.p;
    if (p.content.n && p.content.n != (size_t)want)
        return (void)ac_error(r->cx, at, E0016, "constant '%s' needs %" PRId64 " bytes, but holds %zu", name, want,
                              p.content.n),
               NULL;
    if (p.content.n)
        have = count;
    else
        v = listed(r, &p, d, &have);
    if (r->pb.failed)
        return NULL;
    for (int64_t i = 0; d == AC_BOOL && i < have; i++)
        if (v[i] > 1)
            return (void)ac_error(r->cx, at, E0012, "constant '%s' has a bool that is neither 0 nor 1", name), NULL;
    if (!count)
        return ac_tensor_const(r->g, name, d, rank, size, NOTHING);
    if (!have) /* nothing is listed: zeros */
        return repeated(r, name, at, d, rank, size, (const uint8_t *)NOTHING, 1);
    if (have < count)
        return repeated(r, name, at, d, rank, size, v, have);
    ac_tensor *t = ac_tensor_const(r->g, name, d, rank, size, NULL);
    ac_param_place(t, v);
    return t;
}
