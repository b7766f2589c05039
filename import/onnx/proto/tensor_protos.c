/* tensor_protos.c - tensors of ONNX files: TensorProto in all its encodings, external data, declared types and
 * shapes. */
#include "import/onnx/proto/texts.h"
#include "base/beside.h"
#include "import/build/params.h"

#include <inttypes.h>
#include <string.h>

enum { DT_STRING = 8, DT_COUNT = 27, LOCATION_EXTERNAL = 1 };

static const char *const TYPE_NAME[] = {
    "UNDEFINED", "FLOAT",      "UINT8",      "INT8",         "UINT16",         "INT16",      "INT32",
    "INT64",     "STRING",     "BOOL",       "FLOAT16",      "DOUBLE",         "UINT32",     "UINT64",
    "COMPLEX64", "COMPLEX128", "BFLOAT16",   "FLOAT8E4M3FN", "FLOAT8E4M3FNUZ", "FLOAT8E5M2", "FLOAT8E5M2FNUZ",
    "UINT4",     "INT4",       "FLOAT4E2M1", "FLOAT8E8M0",   "UINT2",          "INT2",
};

ac_dtype ac_onx_dtype(int64_t number)
{
    static const int8_t ONNX[AC_DTYPE_COUNT] = {
        -1,
#define DTYPE(id, text, bits, kind, c, npy, tfl, onnx, loops, file_bits) onnx,
#include "ir/dtype/dtype.def"
#undef DTYPE
    };
    for (int32_t d = 1; d < AC_DTYPE_COUNT; d++)
        if (ONNX[d] == number)
            return (ac_dtype)d;
    return AC_NONE;
}

const char *ac_onx_dtype_name(ac_ctx *cx, int64_t number)
{
    if (number >= 0 && number < DT_COUNT)
        return TYPE_NAME[number];
    return ac_strf(cx->region, "number %" PRId64 ", unknown in the supported ONNX releases", number);
}

typedef struct proto {
    ac_pb_list dims, floats, int32s, strings, int64s, doubles, uint64s, external;
    ac_span name, raw;
    int64_t type, location;
} proto;

static const ac_pb_field TENSOR[] = {
    {1, AC_PB_NUMBERS, offsetof(proto, dims)},
    {2, AC_PB_INT, offsetof(proto, type)},
    {4, AC_PB_NUMBERS, offsetof(proto, floats)},
    {5, AC_PB_NUMBERS, offsetof(proto, int32s)},
    {6, AC_PB_MANY, offsetof(proto, strings)},
    {7, AC_PB_NUMBERS, offsetof(proto, int64s)},
    {8, AC_PB_BYTES, offsetof(proto, name)},
    {9, AC_PB_BYTES, offsetof(proto, raw)},
    {10, AC_PB_NUMBERS, offsetof(proto, doubles)},
    {11, AC_PB_NUMBERS, offsetof(proto, uint64s)},
    {13, AC_PB_MANY, offsetof(proto, external)},
    {14, AC_PB_INT, offsetof(proto, location)},
    {0, AC_PB_INT, 0},
};

typedef struct entry {
    ac_span key, value;
} entry;

static const ac_pb_field ENTRY[] = {
    {1, AC_PB_BYTES, offsetof(entry, key)}, {2, AC_PB_BYTES, offsetof(entry, value)}, {0, AC_PB_INT, 0}};

static bool is(ac_span s, const char *word)
{
    return s.n == strlen(word) && !memcmp(s.p, word, s.n);
}

/* A decimal number of at most 18 digits. */
static bool decimal(ac_span s, int64_t *v)
{
    *v = 0;
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] < '0' || s.p[i] > '9' || i >= 18)
            return false;
        *v = *v * 10 + (s.p[i] - '0');
    }
    return s.n > 0;
}

/* A file in the folder of the model, opened once and mapped as long as the compilation. NULL: reported. */
static const ac_file *open_external(ac_onx *r, ac_place at, const char *name, const char *path)
{
    for (int32_t i = 0; i < r->external.n; i++)
        if (r->external.item[i].name == path)
            return &r->external.item[i].file;
    ac_file f = {0};
    const ac_beside found = ac_file_beside(r->cx, r->reading->file.path, path, &f);
    if (found != AC_BESIDE_OK) {
        const ac_code code = found == AC_BESIDE_OUTSIDE ? E0012 : found == AC_BESIDE_MISSING ? E0016 : E0301;
        ac_error(r->cx, at, code, "constant '%s' takes its data from '%s', which %s", name,
                 found == AC_BESIDE_OUTSIDE ? path : f.path, ac_beside_why(found));
        ac_help(r->cx, found == AC_BESIDE_OUTSIDE
                           ? "external data must be in the folder of the model, with a relative path"
                           : "external data is in a separate file: keep it in the folder of the model");
        return NULL;
    }
    ac_file_keep(r->cx, &f);
    ac_push(r->cx->region, &r->external, ((ac_onx_external){path, f}));
    return &r->external.item[r->external.n - 1].file;
}

/* The bytes of a tensor that are in another file, mapped there. */
static int read_external(ac_onx *r, ac_place at, const char *name, ac_pb_list list, int64_t want, ac_span *out)
{
    ac_span message, location = {0};
    int64_t offset = 0, length = -1;
    while (ac_pb_next(&r->pb, &list, &message)) {
        entry e = {{0}, {0}};
        if (!ac_pb_read(&r->pb, message, ENTRY, &e))
            return AC_FAIL;
        if (is(e.key, "location"))
            location = e.value;
        else if ((is(e.key, "offset") && !decimal(e.value, &offset)) ||
                 (is(e.key, "length") && !decimal(e.value, &length)))
            return ac_error(r->cx, at, E0012, "constant '%s': offset or length of its external data is not a number",
                            name);
    }
    const char *path = r->pb.failed ? NULL : ac_pb_name(&r->pb, location);
    if (!path)
        return AC_FAIL;
    const ac_file *f = open_external(r, at, name, path);
    if (!f)
        return AC_FAIL;
    const ac_span all = {f->data, f->n};
    if (ac_span_sub(all, (uint64_t)offset, (uint64_t)(length < 0 ? want : length), out))
        return AC_OK;
    return ac_error(r->cx, at, E0016, "constant '%s' takes %" PRId64 " bytes at %" PRId64 " of '%s', which has %llu",
                    name, length < 0 ? want : length, offset, path, (unsigned long long)all.n);
}

/* Elements given as numbers of a wider field: int32_data, and int64_data and uint64_data of narrower types. */
static const void *narrow(ac_onx *r, ac_dtype d, const int64_t *v, int64_t count)
{
    const size_t size = (size_t)ac_dtype_size(d, 1);
    uint8_t *out = ac_alloc_n(r->cx->region, (uint64_t)count + 1, size);
    for (int64_t i = 0; i < count; i++)
        ac_dtype_put_int(d, out + (size_t)i * size, v[i]);
    return out;
}

/* The list that belongs to the type, as dense bytes; NULL: empty. */
static const void *typed(ac_onx *r, const proto *t, ac_dtype d, int64_t *count)
{
    if (d == AC_F32)
        return ac_pb_fixed(&r->pb, t->floats, 4, count);
    if (d == AC_F64)
        return ac_pb_fixed(&r->pb, t->doubles, 8, count);
    const ac_pb_list list = d == AC_I64 ? t->int64s : d == AC_U64 || d == AC_U32 ? t->uint64s : t->int32s;
    const int64_t *v = ac_pb_ints(&r->pb, list, count);
    if (!v || d == AC_I64 || d == AC_U64)
        return v;
    return narrow(r, d, v, *count);
}

int ac_onx_dims(ac_onx *r, ac_place at, ac_pb_list dims, ac_onx_const *out, int64_t *count, const char **refused)
{
    int64_t rank;
    const int64_t *dim = ac_pb_ints(&r->pb, dims, &rank);
    if (r->pb.failed)
        return AC_FAIL;
    if (rank > AC_MAX_RANK) {
        *refused = ac_strf(r->cx->region, "an operand has %" PRId64 " dimensions; arenac handles up to 8", rank);
        return AC_FAIL;
    }
    out->rank = (int32_t)rank;
    for (int64_t d = 0; d < rank; d++) {
        out->dim[d] = dim[d];
        if (dim[d] < 0)
            return ac_error(r->cx, at, E0201, "dimension %" PRId64 " of constant '%s' is %" PRId64, d, out->name,
                            dim[d]);
    }
    if (ac_dims_fit(out->rank, out->dim, count))
        return AC_OK;
    return ac_error(r->cx, at, E0015, "constant '%s' has more than %d elements", out->name, INT32_MAX);
}

/* The codes of strings, i32. */
static int read_texts(ac_onx *r, ac_place at, const proto *t, ac_onx_const *out, const char **refused)
{
    int64_t count;
    AC_TRY(ac_onx_dims(r, at, t->dims, out, &count, refused));
    if (t->strings.n != count)
        return ac_error(r->cx, at, E0016, "constant '%s' needs %" PRId64 " texts, but has %u", out->name, count,
                        t->strings.n);
    int64_t *code = AC_NEW_N(r->cx->region, int64_t, count + 1);
    AC_TRY(ac_onx_text_codes(r, at, t->strings, code));
    out->bytes = narrow(r, out->dtype, code, count);
    return AC_OK;
}

int ac_onx_tensor(ac_onx *r, ac_span message, ac_onx_const *out, const char **refused)
{
    static const uint64_t NO_ELEMENTS[1] = {0};
    proto t = {.type = 0};
    int64_t count, have = 0;
    ac_place at = ac_pb_place(&r->pb, message.p);
    *refused = NULL;
    *out = (ac_onx_const){.dtype = AC_NONE};
    if (!ac_pb_read(&r->pb, message, TENSOR, &t) || !(out->name = ac_pb_name(&r->pb, t.name)))
        return AC_FAIL;
    out->text = t.type == DT_STRING;
    out->dtype = out->text ? AC_I32 : ac_onx_dtype(t.type);
    if (out->text)
        return read_texts(r, at, &t, out, refused);
    if (out->dtype == AC_NONE) {
        if (t.type <= 0 || t.type >= DT_COUNT)
            return ac_error(r->cx, at, E0012, "constant '%s' has elements of type %s", out->name,
                            ac_onx_dtype_name(r->cx, t.type));
        *refused = ac_strf(r->cx->region, "an operand has elements of type %s", ac_onx_dtype_name(r->cx, t.type));
        return AC_FAIL;
    }
    AC_TRY(ac_onx_dims(r, at, t.dims, out, &count, refused));
    const size_t unit = (size_t)ac_dtype_size(out->dtype, 1);
    const size_t want = ((size_t)count * (size_t)ac_dtype_file_bits(out->dtype) + 7) / 8;
    ac_span bytes = t.raw;
    if (t.location == LOCATION_EXTERNAL) {
        AC_TRY(read_external(r, at, out->name, t.external, (int64_t)want, &bytes));
    } else if (!t.raw.p) {
        bytes.p = typed(r, &t, out->dtype, &have);
        bytes.n = (size_t)have * unit;
        if (r->pb.failed)
            return AC_FAIL;
    }
    if (bytes.n != want)
        return ac_error(r->cx, at, E0016, "constant '%s' needs %llu bytes, but has %llu", out->name,
                        (unsigned long long)want, (unsigned long long)bytes.n);
    if (ac_dtype_file_bits(out->dtype) < 8) {
        uint8_t *own = ac_alloc(r->cx->region, (uint64_t)count + 1);
        ac_dtype_unpack(out->dtype, bytes.p, count, own);
        bytes = (ac_span){own, (size_t)count};
    }
    out->bytes = want ? (const void *)bytes.p : NO_ELEMENTS;
    if (out->dtype == AC_BOOL)
        for (size_t i = 0; i < want; i++)
            if (bytes.p[i] > 1)
                return ac_error(r->cx, at, E0012, "constant '%s' has a bool that is neither 0 nor 1", out->name);
    return AC_OK;
}

ac_tensor *ac_onx_constant(ac_onx *r, const char *name, const ac_onx_const *c)
{
    ac_tensor *t = ac_tensor_new(r->g, name, c->dtype, c->rank, c->dim);
    ac_param_place(t, c->bytes);
    t->in_file = c->in_file;
    return c->text ? ac_onx_text(r, t, false) : t;
}

/* Declared types. */

typedef struct dimension {
    int64_t value;
    ac_span param;
} dimension;

typedef struct tensor_type {
    int64_t elem;
    ac_span shape;
    ac_pb_list dims;
} tensor_type;

typedef struct type_of {
    ac_span tensor, sequence, map, sparse, optional;
} type_of;

static const ac_pb_field TYPE[] = {
    {1, AC_PB_BYTES, offsetof(type_of, tensor)},   {4, AC_PB_BYTES, offsetof(type_of, sequence)},
    {5, AC_PB_BYTES, offsetof(type_of, map)},      {8, AC_PB_BYTES, offsetof(type_of, sparse)},
    {9, AC_PB_BYTES, offsetof(type_of, optional)}, {0, AC_PB_INT, 0}};
static const ac_pb_field TENSOR_TYPE[] = {
    {1, AC_PB_INT, offsetof(tensor_type, elem)}, {2, AC_PB_BYTES, offsetof(tensor_type, shape)}, {0, AC_PB_INT, 0}};
static const ac_pb_field SHAPE[] = {{1, AC_PB_MANY, offsetof(tensor_type, dims)}, {0, AC_PB_INT, 0}};
static const ac_pb_field DIMENSION[] = {
    {1, AC_PB_INT, offsetof(dimension, value)}, {2, AC_PB_BYTES, offsetof(dimension, param)}, {0, AC_PB_INT, 0}};

static int read_shape(ac_onx *r, tensor_type *t, ac_onx_value *v, const char **refused)
{
    ac_span message;
    if (!ac_pb_read(&r->pb, t->shape, SHAPE, t))
        return AC_FAIL;
    if (t->dims.n > AC_MAX_RANK) {
        *refused = ac_strf(r->cx->region, "an operand has %u dimensions; arenac handles up to 8", t->dims.n);
        return AC_FAIL;
    }
    v->rank = 0;
    while (ac_pb_next(&r->pb, &t->dims, &message)) {
        dimension d = {.value = -1};
        if (!ac_pb_read(&r->pb, message, DIMENSION, &d))
            return AC_FAIL;
        const char *param = ac_pb_name(&r->pb, d.param);
        if (!param)
            return AC_FAIL;
        if (d.value < -1 || d.value > INT32_MAX)
            return ac_error(r->cx, ac_pb_place(&r->pb, message.p), E0201, "dimension %d of '%s' is %" PRId64, v->rank,
                            v->name, d.value);
        v->dim[v->rank] = d.value;
        v->dim_name[v->rank] = d.value < 0 && *param ? param : NULL;
        v->rank++;
    }
    return r->pb.failed ? AC_FAIL : AC_OK;
}

/* The type of the value that an optional one holds. */
static bool unwrap(ac_onx *r, type_of *t)
{
    enum { MOST = 8 }; /* levels */
    static const ac_pb_field OPTIONAL[] = {{1, AC_PB_BYTES, 0}, {0, AC_PB_INT, 0}};
    for (int level = 0; t->optional.p; level++) {
        ac_span inner = {0};
        const ac_span message = t->optional;
        *t = (type_of){{0}, {0}, {0}, {0}, {0}};
        if (level == MOST || !ac_pb_read(&r->pb, message, OPTIONAL, &inner) ||
            (inner.p && !ac_pb_read(&r->pb, inner, TYPE, t)))
            return false;
    }
    return true;
}

int ac_onx_type(ac_onx *r, ac_span message, ac_onx_value *v, const char **refused)
{
    type_of t = {{0}, {0}, {0}, {0}, {0}};
    tensor_type x = {.elem = 0};
    *refused = NULL;
    if (!ac_pb_read(&r->pb, message, TYPE, &t))
        return AC_FAIL;
    v->optional = t.optional.p != NULL;
    if (!unwrap(r, &t)) {
        *refused = r->pb.failed ? NULL : "a value is optional many times";
        return AC_FAIL;
    }
    if (t.sequence.p || t.map.p || t.sparse.p) {
        *refused = t.sequence.p ? "a value is a sequence of tensors"
                   : t.map.p    ? "a value is a map"
                                : "a value is a sparse tensor";
        return AC_FAIL;
    }
    if (!t.tensor.p)
        return AC_OK; /* nothing is declared */
    if (!ac_pb_read(&r->pb, t.tensor, TENSOR_TYPE, &x))
        return AC_FAIL;
    v->text = x.elem == DT_STRING;
    v->dtype = v->text ? AC_I32 : ac_onx_dtype(x.elem);
    if (v->dtype == AC_NONE && x.elem > 0 && x.elem < DT_COUNT) {
        *refused = ac_strf(r->cx->region, "a value has elements of type %s", ac_onx_dtype_name(r->cx, x.elem));
        return AC_FAIL;
    }
    if (v->dtype == AC_NONE && x.elem)
        return ac_error(r->cx, ac_pb_place(&r->pb, message.p), E0012, "'%s' has elements of type %s", v->name,
                        ac_onx_dtype_name(r->cx, x.elem));
    v->declared = v->dtype != AC_NONE;
    return x.shape.p ? read_shape(r, &x, v, refused) : AC_OK;
}
