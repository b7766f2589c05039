/* blobs.c - blobs of Caffe layers: parameters, found in the .caffemodel by the layer's name, and results. */
#include "import/caffe/caffe.h"
#include "import/build/params.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

typedef struct net {
    ac_pb_list v1, v2;
} net;

typedef struct layer {
    ac_span name, inner;
    ac_pb_list blobs;
} layer;

typedef struct blob {
    int64_t num, channels, height, width;
    ac_pb_list floats, doubles;
    ac_span shape;
    bool old;
} blob;

typedef struct shape {
    ac_pb_list dims;
} shape;

#define ROW(number, kind, type, field)              \
    {                                               \
        number, AC_PB_##kind, offsetof(type, field) \
    }
static const ac_pb_field NET[] = {ROW(2, MANY, net, v1), ROW(100, MANY, net, v2), {0, AC_PB_INT, 0}};
static const ac_pb_field V0[] = {ROW(1, BYTES, layer, name), ROW(50, MANY, layer, blobs), {0, AC_PB_INT, 0}};
static const ac_pb_field V1[] = {
    ROW(1, BYTES, layer, inner), ROW(4, BYTES, layer, name), ROW(6, MANY, layer, blobs), {0, AC_PB_INT, 0}};
static const ac_pb_field V2[] = {ROW(1, BYTES, layer, name), ROW(7, MANY, layer, blobs), {0, AC_PB_INT, 0}};
static const ac_pb_field BLOB[] = {ROW(1, INT, blob, num),         ROW(2, INT, blob, channels),
                                   ROW(3, INT, blob, height),      ROW(4, INT, blob, width),
                                   ROW(5, NUMBERS, blob, floats),  ROW(7, BYTES, blob, shape),
                                   ROW(8, NUMBERS, blob, doubles), {0, AC_PB_INT, 0}};
static const ac_pb_field SHAPE[] = {ROW(1, NUMBERS, shape, dims), {0, AC_PB_INT, 0}};
#undef ROW

/* Names are bytes of the file; NULL: control bytes (reported). */
static const char *name_of(ac_caf *r, ac_span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] < 0x20 || s.p[i] == 0x7f) {
            (void)ac_error(r->cx, ac_pb_place(&r->pb, s.p + i), E0012,
                           "the name of a layer holds the control byte 0x%02x", s.p[i]);
            return NULL;
        }
    return ac_intern_n(r->cx, s.n ? (const char *)s.p : "", s.n);
}

static int read_source(ac_caf *r, ac_span message, bool v1)
{
    layer l = {.name = {0}};
    if (!ac_pb_read(&r->pb, message, v1 ? V1 : V2, &l))
        return AC_FAIL;
    if (l.inner.p) {
        const ac_span inner = l.inner;
        l = (layer){.name = {0}};
        if (!ac_pb_read(&r->pb, inner, V0, &l))
            return AC_FAIL;
    }
    const char *name = l.blobs.n ? name_of(r, l.name) : "";
    if (!name)
        return AC_FAIL;
    const ac_caf_source s = {name, l.blobs, r->source.n};
    if (l.blobs.n)
        ac_push(r->cx->region, &r->source, s);
    return AC_OK;
}

static int by_name(const void *pa, const void *pb)
{
    const ac_caf_source *a = pa, *b = pb;
    const int c = strcmp(a->name, b->name);
    return c ? c : (a->order > b->order) - (a->order < b->order);
}

int ac_caf_weights_open(ac_caf *r, const ac_file *f)
{
    net n = {.v1 = {{0}, 0, 0}};
    ac_span message;
    r->weights = f->path;
    r->source.n = 0;
    ac_pb_open(&r->pb, r->cx, f->path, (ac_span){f->data, f->n});
    if (!ac_pb_read(&r->pb, (ac_span){f->data, f->n}, NET, &n))
        return AC_FAIL;
    while (ac_pb_next(&r->pb, &n.v1, &message))
        AC_TRY(read_source(r, message, true));
    while (ac_pb_next(&r->pb, &n.v2, &message))
        AC_TRY(read_source(r, message, false));
    if (r->source.n)
        qsort(r->source.item, (size_t)r->source.n, sizeof *r->source.item, by_name);
    return r->pb.failed ? AC_FAIL : AC_OK;
}

/* The last of several layers with the same name counts, as each overwrites the one before. */
bool ac_caf_weights_find(ac_caf *r, const char *name, ac_pb_list *blobs)
{
    int32_t low = 0, high = r->source.n;
    while (low < high) {
        const int32_t mid = low + (high - low) / 2;
        if (strcmp(r->source.item[mid].name, name) <= 0)
            low = mid + 1;
        else
            high = mid;
    }
    if (!low || strcmp(r->source.item[low - 1].name, name) != 0)
        return false;
    *blobs = r->source.item[low - 1].blobs;
    return true;
}

static int read_blob(ac_caf_layer *l, ac_span message, ac_caf_values *v)
{
    ac_caf *r = l->r;
    blob b = {.num = -1, .channels = -1, .height = -1, .width = -1};
    shape s = {{{0}, 0, 0}};
    int64_t count = 1, have = 0, rank = 4;
    if (!ac_pb_read(&r->pb, message, BLOB, &b))
        return AC_FAIL;
    *v = (ac_caf_values){.at = message.p};
    v->old = b.num >= 0 || b.channels >= 0 || b.height >= 0 || b.width >= 0;
    const int64_t old[4] = {b.num, b.channels, b.height, b.width}, *dim = old;
    if (!v->old) {
        if (b.shape.p && !ac_pb_read(&r->pb, b.shape, SHAPE, &s))
            return AC_FAIL;
        dim = ac_pb_ints(&r->pb, s.dims, &rank);
        if (r->pb.failed)
            return AC_FAIL;
    }
    const ac_place at = ac_pb_place(&r->pb, message.p);
    if (rank > AC_MAX_RANK)
        return ac_cannot(&l->b, "a parameter has %" PRId64 " dimensions; arenac handles up to %d", rank, AC_MAX_RANK);
    v->rank = (int32_t)rank;
    for (int32_t d = 0; d < v->rank; d++) {
        v->dim[d] = v->old && dim[d] < 0 ? 0 : dim[d];
        if (v->dim[d] < 0 || !ac_mul_ok(count, v->dim[d], &count) || count > INT32_MAX)
            return ac_error(r->cx, at, E0015,
                            "a blob of layer '%s' has a dimension of %" PRId64 ", or more than %d elements", l->name,
                            v->dim[d], INT32_MAX);
    }
    v->dtype = b.floats.n || !b.doubles.n ? AC_F32 : AC_F64;
    v->data = ac_pb_fixed(&r->pb, v->dtype == AC_F64 ? b.doubles : b.floats, v->dtype == AC_F64 ? 8 : 4, &have);
    if (r->pb.failed)
        return AC_FAIL;
    if (have != count)
        return ac_error(r->cx, at, E0016, "a blob of layer '%s' has %" PRId64 " values, but its shape needs %" PRId64,
                        l->name, have, count);
    return AC_OK;
}

/* Old blobs have four dimensions, single numbers sometimes one; ones in front do not count. */
static bool same_shape(const ac_caf_values *v, int32_t rank, const int64_t *dim)
{
    const int32_t skip = v->rank - rank;
    if (skip < 0 || (skip && !v->old && rank))
        return false;
    for (int32_t d = 0; d < v->rank; d++)
        if (v->dim[d] != (d < skip ? 1 : dim[d - skip]))
            return false;
    return true;
}

/* t with the values; doubles are cast. */
static ac_tensor *placed(ac_caf_layer *l, const char *what, const ac_caf_values *v, ac_tensor *t)
{
    ac_caf *r = l->r;
    if (v->dtype == AC_F32) {
        ac_param_place(t, v->data);
        return t;
    }
    ac_tensor *wide =
        ac_tensor_new(r->g, ac_strf(r->cx->region, "%s/%s_double", l->name, what), AC_F64, t->rank, t->dim);
    ac_param_place(wide, v->data);
    return ac_make_cast(&l->b, wide, AC_F32);
}

ac_tensor *ac_caf_weight(ac_caf_layer *l, const char *what, int32_t rank, const int64_t *dim)
{
    ac_caf *r = l->r;
    ac_caf_values v;
    ac_span message;
    int64_t count;
    if (l->b.bad)
        return NULL; /* its shape may follow from that */
    if (!ac_dims_fit(rank, dim, &count)) {
        (void)ac_error(r->cx, l->at, E0015, "its %s have more than %d elements", what, INT32_MAX);
        return NULL;
    }
    ac_tensor *t = ac_tensor_new(r->g, ac_strf(r->cx->region, "%s/%s", l->name, what), AC_F32, rank, dim);
    const int32_t index = l->param.n;
    ac_push(r->cx->region, &l->param, t);
    if (!r->weights) {
        ac_param_invent(r->reading, t, !strcmp(what, "variance"));
        return t;
    }
    const ac_place at = {.file = r->weights, .node = l->name, .op = l->type};
    if (!l->has_source) {
        if (index == 0) {
            (void)ac_error(r->cx, at, E0019, "the weights have no layer of this name that holds parameters");
            (void)ac_detail(r->cx, "parameter 0  %s  %s", what, ac_dims_str(r->cx, rank, dim));
        }
        return NULL;
    }
    if (!ac_pb_next(&r->pb, &l->blobs, &message)) {
        if (!r->pb.failed)
            (void)ac_error(r->cx, at, E0019,
                           "the weights hold %d parameters of this layer; parameter %d (%s, %s) is missing", index,
                           index, what, ac_dims_str(r->cx, rank, dim));
        return NULL;
    }
    if (read_blob(l, message, &v) != AC_OK)
        return NULL;
    if (!same_shape(&v, rank, dim)) {
        (void)ac_error(r->cx, at, E0104, "parameter %d (%s) is %s in the weights, but the net needs %s", index, what,
                       ac_dims_str(r->cx, v.rank, v.dim), ac_dims_str(r->cx, rank, dim));
        return NULL;
    }
    return placed(l, what, &v, t);
}

int ac_caf_weight_next(ac_caf_layer *l, const char *what, ac_tensor **t)
{
    ac_caf *r = l->r;
    ac_caf_values v;
    ac_span message;
    *t = NULL;
    if (!l->has_source || !ac_pb_next(&r->pb, &l->blobs, &message))
        return r->pb.failed ? AC_FAIL : AC_OK;
    AC_TRY(read_blob(l, message, &v));
    *t = ac_tensor_new(r->g, ac_strf(r->cx->region, "%s/%s", l->name, what), AC_F32, v.rank, v.dim);
    ac_push(r->cx->region, &l->param, *t);
    *t = placed(l, what, &v, *t);
    return *t ? AC_OK : AC_FAIL;
}

int ac_caf_result(ac_caf_layer *l, int32_t i, ac_tensor *t)
{
    if (!t)
        return AC_FAIL;
    l->out[i] = t;
    return AC_OK;
}
