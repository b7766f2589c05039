/* params.c - sets the data of constants, and replaces parameters that no file contains; see params.h. */
#include "import/build/params.h"

#include "base/random.h"

#include <math.h>
#include <string.h>

bool ac_dims_fit(int32_t rank, const int64_t *dim, int64_t *count)
{
    int64_t all = 1;
    bool empty = false;
    for (int32_t d = 0; d < rank; d++) {
        empty |= dim[d] == 0;
        if (dim[d] < 0 || (dim[d] && (!ac_mul_ok(all, dim[d], &all) || all > INT32_MAX)))
            return false;
    }
    *count = empty ? 0 : all;
    return true;
}

const char *ac_dims_str(ac_ctx *cx, int32_t rank, const int64_t *dim)
{
    ac_tensor t = {.rank = rank};
    memcpy(t.dim, dim, (size_t)rank * sizeof *dim);
    return ac_shape_str(cx, &t);
}

void ac_param_place(ac_tensor *t, const void *bytes)
{
    static const uint64_t NO_ELEMENTS[1] = {0};
    const uintptr_t size = (uintptr_t)ac_dtype_size(t->dtype, 1);
    if (!bytes || !ac_tensor_count(t))
        t->data = NO_ELEMENTS;
    else if ((uintptr_t)bytes % size)
        t->raw = bytes;
    else
        t->data = bytes;
}

static uint64_t hash_of(const char *name, uint64_t seed)
{
    uint64_t h = seed + 0x9e3779b97f4a7c15u;
    for (; *name; name++)
        h = (h ^ (uint8_t)*name) * 0x100000001b3u;
    return h ^ h >> 29;
}

static double uniform(uint64_t *state)
{
    return (double)(ac_splitmix64(state) >> 11) * 0x1p-53;
}

/* Weights that are not known count as stored ones: not as a value that is the same everywhere. */
static int make_unknown(ac_ctx *cx, ac_making *w, const ac_promise *p, ac_tensor *t)
{
    (void)p;
    const int64_t n = ac_tensor_count(t);
    float *v = ac_making_tensor(cx, w, t, ac_tensor_bytes(t));
    for (int64_t i = 0; i < n; i++)
        v[i] = 0.5f;
    t->data = v;
    return AC_OK;
}

static bool same_unknown(const ac_promise *p, const ac_tensor *s, const ac_promise *q, const ac_tensor *t,
                         int32_t *left)
{
    (void)left;
    return p == q && ac_tensor_bytes(s) == ac_tensor_bytes(t);
}

static const ac_promise UNKNOWN = {make_unknown, same_unknown, 1};

void ac_param_invent(ac_reading *r, ac_tensor *t, bool positive)
{
    const int64_t n = ac_tensor_count(t);
    if (!r->opt.random) {
        t->lazy = &UNKNOWN;
        r->out.missing_file = r->format->weights;
        ac_push(r->cx->region, &r->out.missing, t);
        return;
    }
    const int64_t row = t->rank > 1 && t->dim[0] ? n / t->dim[0] : 1;
    const double size = positive ? 0.5 : t->rank > 1 ? sqrt(3 / (double)(row ? row : 1)) : 0.1, mid = positive;
    float *v = ac_alloc_n(r->cx->region, (uint64_t)n + 1, sizeof *v);
    uint64_t state = hash_of(t->name, r->opt.seed);
    for (int64_t i = 0; i < n; i++)
        v[i] = (float)(mid + size * (2 * uniform(&state) - 1));
    t->data = v;
}
