/* sparse_protos.c - SparseTensorProto of ONNX files, made dense: each value has a position, other elements are 0. */
#include "import/onnx/proto/onnx.h"

#include <inttypes.h>
#include <string.h>

typedef struct proto {
    ac_span values, indices;
    ac_pb_list dims;
} proto;

static const ac_pb_field SPARSE[] = {{1, AC_PB_BYTES, offsetof(proto, values)},
                                     {2, AC_PB_BYTES, offsetof(proto, indices)},
                                     {3, AC_PB_NUMBERS, offsetof(proto, dims)},
                                     {0, AC_PB_INT, 0}};

/* The element that value i is: its index is one number, or one for each dimension. -1: outside. */
static int64_t place_of(const ac_onx_const *out, const ac_onx_const *indices, int64_t count, int64_t i)
{
    int64_t at = 0;
    if (indices->rank == 1) {
        at = ac_dtype_get_int(AC_I64, indices->bytes, i);
        return at < 0 || at >= count ? -1 : at;
    }
    for (int32_t d = 0; d < out->rank; d++) {
        const int64_t k = ac_dtype_get_int(AC_I64, indices->bytes, i * out->rank + d);
        if (k < 0 || k >= out->dim[d])
            return -1;
        at = at * out->dim[d] + k;
    }
    return at;
}

int ac_onx_sparse_tensor(ac_onx *r, ac_span message, ac_onx_const *out, const char **refused)
{
    proto s = {.values = {0}};
    ac_onx_const values, indices;
    int64_t count;
    const ac_place at = ac_pb_place(&r->pb, message.p);
    *refused = NULL;
    *out = (ac_onx_const){.dtype = AC_NONE};
    if (!ac_pb_read(&r->pb, message, SPARSE, &s))
        return AC_FAIL;
    const int rc = ac_onx_tensor(r, s.values, &values, refused);
    out->name = values.name;
    out->dtype = values.dtype;
    AC_TRY(rc);
    if (values.text) {
        *refused = "a sparse tensor holds texts";
        return AC_FAIL;
    }
    AC_TRY(ac_onx_tensor(r, s.indices, &indices, refused));
    AC_TRY(ac_onx_dims(r, at, s.dims, out, &count, refused));
    const int64_t n = values.rank == 1 ? values.dim[0] : -1;
    if (n < 0 || indices.dtype != AC_I64 || indices.rank < 1 || indices.rank > 2 || indices.dim[0] != n ||
        (indices.rank == 2 && indices.dim[1] != out->rank))
        return ac_error(r->cx, at, E0012,
                        "sparse constant '%s': expected values [N] and i64 indices [N] or [N,%d], found %d and %d "
                        "dimensions, %s",
                        out->name, (int)out->rank, (int)values.rank, (int)indices.rank, ac_dtype_name(indices.dtype));
    const size_t unit = (size_t)ac_dtype_size(out->dtype, 1);
    uint8_t *dense = ac_alloc_n(r->cx->region, (uint64_t)count + 1, unit);
    memset(dense, 0, (size_t)count * unit);
    for (int64_t i = 0; i < n; i++) {
        const int64_t to = place_of(out, &indices, count, i);
        if (to < 0)
            return ac_error(r->cx, at, E0012, "sparse constant '%s': index %" PRId64 " is out of range", out->name, i);
        memcpy(dense + (size_t)to * unit, (const uint8_t *)values.bytes + (size_t)i * unit, unit);
    }
    out->bytes = dense;
    out->in_file = n * ((ac_bytes)unit + 8 * (indices.rank == 1 ? 1 : out->rank));
    return AC_OK;
}
