/* weights.c - parameters, buffers and constants of an archive as tensors: raw bytes, which several of them may share,
 * with strides and an offset. */
#include "import/build/params.h"
#include "import/pt2/pt2.h"

#include <string.h>

typedef struct strided {
    ac_ep_meta meta;
    int64_t stride[AC_MAX_RANK], offset, count; /* in elements */
    bool dense;
} strided;

static int number(ac_ep *r, const ac_js_node *x, int64_t *v)
{
    const ac_js_node *n = ac_ep_tagged(x);
    if (!n || !ac_js_int(n, v))
        return ac_ep_bad(r, x, "expected {\"as_int\": number}");
    return AC_OK;
}

/* The layout of a stored tensor of `have` bytes. */
static int read_layout(ac_ep *r, const ac_js_node *meta, int64_t have, strided *s, const char **refused)
{
    const ac_js_node *strides = ac_js_get(meta, "strides");
    int64_t last, size = 0, step = 1;
    AC_TRY(ac_ep_meta_read(r, meta, &s->meta, refused));
    if (*refused)
        return AC_OK;
    AC_TRY(number(r, ac_js_get(meta, "storage_offset"), &s->offset));
    if (!strides || strides->kind != AC_JS_ARRAY || strides->n != s->meta.rank || s->offset < 0)
        return ac_ep_bad(r, meta, "strides or storage_offset do not fit the sizes");
    const ac_js_node *x = strides->first;
    for (int32_t d = 0; d < s->meta.rank; d++, x = x->next)
        AC_TRY(number(r, x, &s->stride[d]));
    s->count = 1;
    s->dense = true;
    last = s->offset;
    for (int32_t d = s->meta.rank - 1; d >= 0; d--) {
        int64_t far;
        const int64_t n = s->meta.dim[d];
        if (n < 0 || s->stride[d] < 0 || !ac_mul_ok(s->count, n, &s->count) || s->count > INT32_MAX ||
            !ac_mul_ok(n ? n - 1 : 0, s->stride[d], &far) || !ac_add_ok(last, far, &last))
            return ac_error(r->cx, ac_js_place(&r->js, meta), E0015, "its sizes or strides are too large");
        s->dense &= n == 1 || s->stride[d] == step;
        step *= n;
    }
    if (!ac_add_ok(last, 1, &last) || !ac_mul_ok(last, ac_dtype_size(s->meta.type, 1), &size) ||
        (s->count && size > have))
        return ac_error(r->cx, ac_js_place(&r->js, meta), E0016, "it needs %lld bytes of its storage, which has %lld",
                        (long long)size, (long long)have);
    return AC_OK;
}

/* The elements in row-major order. */
static const void *gather(ac_ep *r, const strided *s, const uint8_t *bytes)
{
    const size_t size = (size_t)ac_dtype_size(s->meta.type, 1);
    uint8_t *to = ac_alloc_n(r->cx->region, (uint64_t)s->count + 1, size);
    for (int64_t i = 0; i < s->count; i++) {
        int64_t rest = i, at = s->offset;
        for (int32_t d = s->meta.rank - 1; d >= 0; rest /= s->meta.dim[d--])
            at += rest % s->meta.dim[d] * s->stride[d];
        memcpy(to + (size_t)i * size, bytes + (size_t)at * size, size);
    }
    return to;
}

/* A tensor that repeats elements of a small storage may need far more memory than the file. */
static bool is_costly(const strided *s, int64_t have)
{
    enum { FREE = 1 << 20, TIMES = 16 };
    return s->count > FREE && s->count / TIMES > have;
}

static const ac_js_node *find_payload(const ac_ep *r, const char *name, const char **folder)
{
    static const char *const FOLDER[] = {"weights", "constants"};
    const ac_js_node *x = NULL;
    for (int32_t i = 0; i < 2 && !x; i++) {
        x = ac_ep_dict_get(&r->memo->weights[i], name);
        *folder = FOLDER[i];
    }
    return x;
}

ac_tensor *ac_ep_weight(ac_ep *r, const char *name, ac_place at)
{
    const char *folder, *refused = NULL;
    const ac_js_node *x = find_payload(r, name, &folder), *path = ac_js_get(x, "path_name"),
                     *pickle = ac_js_get(x, "use_pickle"), *meta = ac_js_get(x, "tensor_meta");
    strided s = {.offset = 0};
    ac_span bytes;
    if (!x)
        return (void)ac_error(r->cx, at, E0019, "the archive has no weight '%s'", name), NULL;
    if ((pickle && pickle->kind == AC_JS_TRUE) || !meta || meta->kind != AC_JS_OBJECT)
        return (void)ac_refuse(
                   r->reading, at, E0108, "a weight",
                   ac_strf(r->cx->region, "'%s' is stored as a Python pickle: it is not a plain tensor", name),
                   "unwrap tensor subclasses before exporting: "
                   "torchao.utils.unwrap_tensor_subclass(model)"),
               NULL;
    if (!path || path->kind != AC_JS_STRING)
        return (void)ac_ep_bad(r, x, "a weight needs 'path_name'"), NULL;
    ac_zip_member *m = ac_ep_member(r, ac_strf(r->cx->region, "data/%s/%s", folder, path->text));
    if (!m)
        return (void)ac_error(r->cx, at, E0019, "weight '%s' is in member '%s', which the archive does not have", name,
                              path->text),
               NULL;
    if (ac_ep_member_read(r, m, &bytes) != AC_OK || read_layout(r, meta, (int64_t)bytes.n, &s, &refused) != AC_OK)
        return NULL;
    if (!refused && !s.dense && is_costly(&s, (int64_t)bytes.n))
        refused = "it repeats the elements of a small storage very often";
    if (refused)
        return (void)ac_refuse(r->reading, at, E0108, "a weight", ac_strf(r->cx->region, "'%s': %s", name, refused),
                               NULL),
               NULL;
    ac_tensor *t = ac_tensor_new(r->reading->g, name, s.meta.type, s.meta.rank, s.meta.dim);
    t->named = true;
    if (s.dense)
        ac_param_place(t, s.count ? bytes.p + s.offset * ac_dtype_size(s.meta.type, 1) : NULL);
    else
        t->data = gather(r, &s, bytes.p);
    t->weight = r->reading->opt.train && ac_dtype_is_float(t->dtype);
    return t;
}
