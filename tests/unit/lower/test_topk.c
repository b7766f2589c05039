/* test_topk.c - topk against a selection written out, on every target: random rows of all types with ties, NaN, both
 * zeros, infinities and denormals, from the largest and from the smallest, with NaN above all numbers or never taken.
 */
#include "tests/unit/support/run_node.h"

#include <math.h>

enum { DRAWS = 1200, MOST = 70 };

static ac_ctx one; /* of the node at hand */

static const ac_dtype TYPES[] = {AC_F32, AC_F32, AC_F32, AC_F64, AC_I8, AC_U8, AC_I16, AC_U16, AC_I32, AC_I64};

static int32_t between(int32_t lo, int32_t hi)
{
    return lo + (int32_t)(draw() % (uint32_t)(hi - lo + 1));
}

static double element(const ac_tensor *t, const void *data, int64_t i)
{
    switch ((int)t->dtype) {
    case AC_F32:
        return (double)((const float *)data)[i];
    case AC_F64:
        return ((const double *)data)[i];
    case AC_I8:
        return ((const int8_t *)data)[i];
    case AC_U8:
        return ((const uint8_t *)data)[i];
    case AC_I16:
        return ((const int16_t *)data)[i];
    case AC_U16:
        return ((const uint16_t *)data)[i];
    case AC_I32:
        return ((const int32_t *)data)[i];
    default:
        return (double)((const int64_t *)data)[i];
    }
}

static void fill(const ac_tensor *t, void *data)
{
    static const double SOME[] = {0, -0.0, 1, 1, 2, -3, 1e-40, -1e-40, INFINITY, -INFINITY, NAN, 3.5};
    const bool few = draw() % 2, nan = draw() % 3 == 0;
    for (int64_t i = 0; i < ac_tensor_count(t); i++) {
        const double v = nan && draw() % 3 ? (double)NAN : few ? SOME[draw() % 12] : between(-1000, 1000) / 8.0;
        const int64_t k = few ? between(-3, 3) : (int64_t)draw() << 8 | between(0, 255);
        switch ((int)t->dtype) {
        case AC_F32:
            ((float *)data)[i] = (float)v;
            break;
        case AC_F64:
            ((double *)data)[i] = v;
            break;
        case AC_I8:
        case AC_U8:
            ((uint8_t *)data)[i] = (uint8_t)k;
            break;
        case AC_I16:
        case AC_U16:
            ((uint16_t *)data)[i] = (uint16_t)k;
            break;
        case AC_I32:
            ((uint32_t *)data)[i] = (uint32_t)k;
            break;
        default:
            ((int64_t *)data)[i] = k;
        }
    }
}

/* True if a comes before b, which has a larger index. NaN, if it counts, is equal to NaN. */
static bool leads(double a, double b, bool smallest)
{
    if (isnan(a) || isnan(b))
        return isnan(a) == isnan(b) || isnan(a) != smallest;
    return smallest ? a <= b : a >= b;
}

/* The j-th index of a row of n elements; 0 if fewer count. */
static int64_t place(const ac_tensor *t, const void *data, int64_t row, int64_t n, int64_t j, bool smallest, bool keep)
{
    for (int64_t i = 0; i < n; i++) {
        const double v = element(t, data, row * n + i);
        int64_t before = 0;
        for (int64_t k = 0; k < n; k++) {
            const double u = element(t, data, row * n + k);
            if (k != i && (keep || !isnan(u)))
                before += k < i ? leads(u, v, smallest) : !leads(v, u, smallest);
        }
        if ((keep || !isnan(v)) && before == j)
            return i;
    }
    return 0;
}

static void draw_rows(int32_t t)
{
    const ac_dtype d = TYPES[draw() % (sizeof TYPES / sizeof *TYPES)];
    const int32_t rows = between(1, 3), n = draw() % 3 ? between(1, MOST) : 16 * between(1, 4), k = between(1, n);
    const bool smallest = draw() % 2, keep = ac_dtype_is_float(d) && draw() % 2;
    const char *operands =
        ac_strf(one.region, "input x: %s[%d,%d]; const k: i32[] = [%d]", ac_dtype_name(d), rows, n, k);
    const char *node = ac_strf(one.region, "v, i = topk_v2(x, k) smallest=%s keep_nan=%s", smallest ? "true" : "false",
                               keep ? "true" : "false");
    ac_graph *g = NULL;
    now = ac_strf(one.region, "%s; %s for %s", operands, node, TARGETS[t].name);
    const ac_node *m = read_node(&one, operands, node, &g);
    MUST(m);
    const ac_tensor *x = m->in[0], *values = m->out[0], *indices = m->out[1];
    void **data = make_data(&one, g, 0);
    fill(x, data[x->id]);
    for (int32_t o = 0; o < 2; o++)
        data[m->out[o]->id] = ac_alloc(one.region, (size_t)ac_tensor_bytes(m->out[o]) + 1);
    int status = 0;
    MUST(run_node(&one, m, &TARGETS[t], false, data, &status) == AC_OK && !status);
    const size_t size = (size_t)ac_dtype_size(d, 1);
    for (int64_t r = 0; r < rows; r++)
        for (int64_t j = 0; j < k; j++) {
            const int64_t want = place(x, data[x->id], r, n, j, smallest, keep), at = r * k + j;
            CHECK(((const int32_t *)data[indices->id])[at] == want);
            CHECK(!memcmp((const char *)data[values->id] + (size_t)at * size,
                          (const char *)data[x->id] + (size_t)(r * n + want) * size, size));
        }
}

int main(void)
{
    for (int32_t i = 0; i < DRAWS; i++) {
        ac_ctx_open(&one);
        ac_ctx_start(&one);
        draw_rows(i % N_TARGETS);
        ac_ctx_close(&one);
    }
    return check_done();
}
