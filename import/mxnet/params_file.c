/* params_file.c - reads .params files of MXNet: a list of arrays and a list of their names.
 *
 *     u64 0x112, u64 0, u64 count, arrays, u64 count, names: u64 length and bytes
 *     array: u32 dimensions, u32 sizes, place, type, data                                      V0, before 2017
 *            u32 0xF993FAC8, u32 dimensions, i64 sizes, place, type, data                      V1
 *            u32 0xF993FAC9 (V2) or 0xF993FACA (V3), i32 storage, (i32 dims, i64 sizes: of what is stored,) i32 dims,
 *            i64 sizes, place, type, (i32 type, i32 dims, i64 sizes: of each list of indices,) data (, indices)
 *
 * place: i32 kind and number of the device, which do not matter. Everything is little-endian, nothing is aligned. */
#include "import/mxnet/mxnet.h"
#include "import/build/params.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { V1 = (int32_t)0xF993FAC8, V2 = (int32_t)0xF993FAC9, V3 = (int32_t)0xF993FACA, LIST = 0x112 };
enum { DENSE, ROWS, CSR };

typedef struct reader {
    ac_mx *r;
    const char *file;
    ac_span s;
    uint64_t at;
} reader;

ac_dtype ac_mx_flag(int64_t flag)
{
    static const ac_dtype TYPES[] = {AC_F32,  AC_F64, AC_F16, AC_U8,  AC_I32, AC_I8,  AC_I64,
                                     AC_BOOL, AC_I16, AC_U16, AC_U32, AC_U64, AC_BF16};
    return flag >= 0 && flag < (int64_t)(sizeof TYPES / sizeof *TYPES) ? TYPES[flag] : AC_NONE;
}

static int fail(reader *x, uint64_t at, ac_code code, const char *what)
{
    const ac_place place = {.file = x->file, .byte = (int64_t)at + 1};
    return ac_error(x->r->cx, place, code, "%s", what);
}

static int u64(reader *x, uint64_t *v)
{
    if (!ac_span_u64(x->s, x->at, v))
        return fail(x, x->at, E0010, "the file ends inside a number");
    x->at += 8;
    return AC_OK;
}

static int i32(reader *x, int32_t *v)
{
    if (!ac_span_i32(x->s, x->at, v))
        return fail(x, x->at, E0010, "the file ends inside a number");
    x->at += 4;
    return AC_OK;
}

/* Dimensions, as 32 or 64 bits each. If there are more than arenac supports, they are read and *rank is their
 * number. */
static int shape(reader *x, int32_t rank, int32_t width, int64_t dim[AC_MAX_RANK], int64_t *count)
{
    const uint64_t start = x->at;
    *count = 1;
    if (rank < 0 || rank > 32)
        return fail(x, start - 4, E0012, "an array has an unknown number of dimensions");
    for (int32_t d = 0; d < rank; d++) {
        uint64_t v = 0;
        int32_t narrow;
        if (width == 4) {
            AC_TRY(i32(x, &narrow));
            v = (uint32_t)narrow;
        } else {
            AC_TRY(u64(x, &v));
        }
        if (v > INT32_MAX || !ac_mul_ok(*count, (int64_t)v, count) || *count > INT32_MAX)
            return fail(x, x->at - (uint64_t)width, E0015,
                        "an array has a negative dimension or more than 2^31 - 1 elements");
        if (d < AC_MAX_RANK)
            dim[d] = (int64_t)v;
    }
    return AC_OK;
}

static int bytes(reader *x, int64_t n, const uint8_t **out)
{
    ac_span s;
    if (!ac_span_sub(x->s, x->at, (uint64_t)n, &s))
        return fail(x, x->at, E0010, "an array needs more bytes than the file has left");
    *out = s.p;
    x->at += (uint64_t)n;
    return AC_OK;
}

static int type(reader *x, ac_dtype *out)
{
    int32_t flag;
    AC_TRY(i32(x, &flag));
    *out = ac_mx_flag(flag);
    return *out == AC_NONE ? fail(x, x->at - 4, E0012, "an array has an unknown element type") : AC_OK;
}

static int read_array(reader *x, ac_mx_array *a)
{
    int32_t magic, rank, place;
    int64_t count, kept[AC_MAX_RANK] = {0}, n_kept = 0, n_index[2] = {0, 0}, unused[AC_MAX_RANK];
    a->byte = (int64_t)x->at + 1;
    AC_TRY(i32(x, &magic));
    const bool new = magic == V2 || magic == V3;
    if (new) {
        AC_TRY(i32(x, &a->storage));
        if (a->storage < DENSE || a->storage > CSR)
            return fail(x, x->at - 4, E0012, "an array has an unknown kind of storage");
        if (a->storage != DENSE) {
            AC_TRY(i32(x, &rank));
            AC_TRY(shape(x, rank, 8, kept, &n_kept));
        }
    }
    rank = magic;
    if (new || magic == V1)
        AC_TRY(i32(x, &rank));
    if (magic == V3 && rank == -1)
        return AC_OK; /* no array */
    AC_TRY(shape(x, rank, new || magic == V1 ? 8 : 4, a->dim, &count));
    if (rank > AC_MAX_RANK)
        a->refused = "it has more than 8 dimensions";
    a->rank = rank > AC_MAX_RANK ? AC_MAX_RANK : rank;
    if (!rank && magic != V3)
        return AC_OK; /* no array; of V3 a scalar */
    AC_TRY(i32(x, &place));
    AC_TRY(i32(x, &place));
    AC_TRY(type(x, &a->dtype));
    const int64_t size = ac_dtype_size(a->dtype, 1);
    for (int32_t k = 0; k < a->storage; k++) {
        AC_TRY(type(x, &a->index_type[k]));
        AC_TRY(i32(x, &rank));
        AC_TRY(shape(x, rank, 8, unused, &n_index[k]));
    }
    AC_TRY(bytes(x, (a->storage ? n_kept : count) * size, &a->data));
    for (int32_t k = 0; k < a->storage; k++)
        AC_TRY(bytes(x, n_index[k] * ac_dtype_size(a->index_type[k], 1), &a->index[k]));
    a->stored = a->storage == ROWS ? n_index[0] : n_index[1];
    if (a->storage && !a->rank)
        return fail(x, (uint64_t)a->byte - 1, E0012, "a sparse array has no dimensions");
    const int64_t row = a->rank && a->dim[0] ? count / a->dim[0] : 0;
    if ((a->storage == ROWS && n_kept != a->stored * row) ||
        (a->storage == CSR && (a->rank != 2 || n_index[0] != a->dim[0] + 1 || n_kept != a->stored)))
        return fail(x, (uint64_t)a->byte - 1, E0016, "a sparse array does not hold as many values as it has indices");
    return AC_OK;
}

static int by_name(const void *pa, const void *pb)
{
    const ac_mx_array *a = pa, *b = pb;
    const int c = a->name && b->name ? strcmp(a->name, b->name) : 0;
    return c ? c : (a->order > b->order) - (a->order < b->order);
}

static int read_names(reader *x, uint64_t n)
{
    for (uint64_t i = 0; i < n; i++) {
        uint64_t length;
        ac_span s;
        AC_TRY(u64(x, &length));
        if (!ac_span_sub(x->s, x->at, length, &s))
            return fail(x, x->at, E0010, "a name is longer than the file");
        for (size_t k = 0; k < s.n; k++)
            if (s.p[k] < 0x20 || s.p[k] == 0x7f)
                return fail(x, x->at + k, E0012, "a name holds a control byte");
        const size_t skip = s.n >= 4 && (!memcmp(s.p, "arg:", 4) || !memcmp(s.p, "aux:", 4)) ? 4 : 0;
        x->r->array.item[i].name = ac_intern_n(x->r->cx, s.n > skip ? (const char *)s.p + skip : "", s.n - skip);
        x->at += length;
    }
    return AC_OK;
}

int ac_mx_params_open(ac_mx *r, const ac_file *f)
{
    reader x = {.r = r, .file = f->path, .s = {f->data, f->n}};
    uint64_t magic, reserved, n, names;
    AC_TRY(u64(&x, &magic));
    if (magic != LIST)
        return fail(&x, 0, E0012, "not an MXNet .params file: its first 8 bytes must be 0x112");
    AC_TRY(u64(&x, &reserved));
    AC_TRY(u64(&x, &n));
    if (n > x.s.n / 8) /* an array takes 8 bytes at least */
        return fail(&x, x.at - 8, E0010, "the file declares more arrays than it can hold");
    for (uint64_t i = 0; i < n; i++) {
        ac_mx_array a = {.order = (int32_t)i};
        AC_TRY(read_array(&x, &a));
        ac_push(r->cx->region, &r->array, a);
    }
    AC_TRY(u64(&x, &names));
    if (names != n && names)
        return fail(&x, x.at - 8, E0012, "the file has different numbers of names and arrays");
    AC_TRY(read_names(&x, names));
    r->has_params = true;
    if (names && n) {
        qsort(r->array.item, (size_t)n, sizeof *r->array.item, by_name);
        for (uint64_t i = 1; i < n; i++)
            if (r->array.item[i].name == r->array.item[i - 1].name)
                return fail(&x, (uint64_t)r->array.item[i].byte - 1, E0022,
                            ac_strf(r->cx->region, "two arrays are named '%s'", r->array.item[i].name));
    }
    return AC_OK;
}

const ac_mx_array *ac_mx_params_find(const ac_mx *r, const char *name)
{
    int32_t low = 0, high = r->array.n;
    while (low < high) {
        const int32_t mid = low + (high - low) / 2;
        if (!r->array.item[mid].name)
            return NULL;
        const int c = strcmp(r->array.item[mid].name, name);
        if (!c)
            return &r->array.item[mid];
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

static int64_t index_at(const ac_mx_array *a, int32_t k, int64_t i)
{
    return ac_dtype_is_int(a->index_type[k]) ? ac_dtype_get_int(a->index_type[k], a->index[k], i) : -1;
}

/* Scatters stored values into zeros: [n] rows, or [n] elements of a matrix. */
static ac_tensor *densify(ac_mx_node *n, const ac_mx_array *a, const char *name)
{
    ac_mx *r = n->r;
    const int32_t width = a->storage == ROWS ? 1 : 2;
    int32_t *where = AC_NEW_N(r->cx->region, int32_t, a->stored * width + 1);
    int64_t row = 0, dim[AC_MAX_RANK], shape64[AC_MAX_RANK];
    const ac_place at = {.file = r->reading->opt.second->path, .byte = a->byte, .node = name};
    for (int64_t i = 0; i < a->stored; i++) {
        int64_t v[2] = {index_at(a, width - 1, i), 0};
        if (width == 2) {
            while (row < a->dim[0] && index_at(a, 0, row + 1) <= i)
                row++;
            v[1] = v[0];
            v[0] = row;
        }
        for (int32_t k = 0; k < width; k++) {
            if (v[k] < 0 || v[k] >= a->dim[k]) {
                (void)ac_error(r->cx, at, E0013, "value %" PRId64 " of this sparse array is at %" PRId64 " of %" PRId64,
                               i, v[k], a->dim[k]);
                return NULL;
            }
            where[i * width + k] = (int32_t)v[k];
        }
    }
    memcpy(shape64, a->dim, sizeof shape64);
    dim[0] = a->stored;
    for (int32_t d = 1; d < a->rank; d++)
        dim[d] = a->dim[d];
    ac_tensor *values =
        ac_tensor_new(r->g, ac_strf(r->cx->region, "%s_values", name), a->dtype, width == 1 ? a->rank : 1, dim);
    ac_param_place(values, a->data);
    dim[1] = width;
    ac_tensor *in[] = {ac_tensor_const(r->g, ac_strf(r->cx->region, "%s_at", name), AC_I32, 2, dim, where), values,
                       ac_make_ints(&n->b, a->rank, shape64)};
    return ac_make_op(&n->b, AC_OP_SCATTER_ND, in, 3, NULL, AC_NONE);
}

ac_tensor *ac_mx_params_tensor(ac_mx_node *n, const ac_mx_array *a, const char *name)
{
    if (a->refused || a->dtype == AC_NONE) {
        (void)ac_cannot(&n->b, "array '%s': %s", name, a->refused ? a->refused : "it is empty");
        return NULL;
    }
    if (a->storage != DENSE)
        return densify(n, a, name);
    ac_tensor *t = ac_tensor_new(n->r->g, name, a->dtype, a->rank, a->dim);
    ac_param_place(t, a->data);
    return t;
}
