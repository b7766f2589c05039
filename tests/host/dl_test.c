/* dl_test.c - the host API of a generated model (tests/host/corners.ag, compiled with --host): results in the caller's
 * tensors, every reason to refuse one, views that outlive their context. Exits 0 when all checks hold; a leak is found
 * by the sanitizer it is built with. */
#include "corners.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern const struct arn_model corners_model;
static int failed;
#define CHECK(x) ((x) ? (void)0 : (void)(failed = 1, printf("%s:%d: %s\n", __FILE__, __LINE__, #x)))

static const float X[6] = {1, -2, 3.5f, 0, 8, -0.25f};
static const int8_t K[4] = {-128, 0, 3, 127};

static DLTensor tensor(void *data, uint8_t code, uint8_t bits, int32_t ndim, int64_t *shape)
{
    DLTensor t;
    memset(&t, 0, sizeof t);
    t.data = data;
    t.device.device_type = kDLCPU;
    t.ndim = ndim;
    t.dtype.code = code;
    t.dtype.bits = bits;
    t.dtype.lanes = 1;
    t.shape = shape;
    return t;
}

static int64_t shape_x[2] = {2, 3}, shape_k[1] = {4};

/* A run whose first input was changed must be refused, and the reason holds `word`. */
static void refused(arn_ctx *ctx, const DLTensor *x, const char *word)
{
    int8_t k[4] = {0};
    const DLTensor tk = tensor(k, kDLInt, 8, 1, shape_k);
    const DLTensor *in[2];
    in[0] = x;
    in[1] = &tk;
    CHECK(corners_run_dl(ctx, in, 2, NULL, 0) == -1);
    if (!strstr(arn_why(ctx), word))
        printf("'%s' does not hold '%s'\n", arn_why(ctx), word), failed = 1;
}

static void check_refusals(arn_ctx *ctx)
{
    float x[16];
    int64_t strides[2] = {3, 1}, wrong[2] = {2, 4}, transposed[2] = {1, 2};
    memset(x, 0, sizeof x);
    DLTensor t = tensor(x, kDLFloat, 32, 2, shape_x);
    t.device.device_type = kDLCUDA;
    refused(ctx, &t, "device type is 2");
    t = tensor(x, kDLInt, 32, 2, shape_x);
    refused(ctx, &t, "expected f32");
    t = tensor(x, kDLFloat, 32, 2, shape_x);
    t.dtype.lanes = 2;
    refused(ctx, &t, "2 lanes");
    t = tensor(x, kDLFloat, 32, 1, shape_x);
    refused(ctx, &t, "has 1 dimensions, expected 2");
    t = tensor(x, kDLFloat, 32, 2, wrong);
    refused(ctx, &t, "shape[1] is 4, expected 3");
    t = tensor(x, kDLFloat, 32, 2, shape_x);
    t.strides = transposed;
    refused(ctx, &t, "strides[1] is 2, expected 1");
    t = tensor(NULL, kDLFloat, 32, 2, shape_x);
    refused(ctx, &t, "data is NULL");
    t = tensor(x, kDLFloat, 32, 2, shape_x);
    t.byte_offset = 2;
    refused(ctx, &t, "not aligned to 4");
    refused(ctx, NULL, "is missing");
    const DLTensor *one[1];
    one[0] = &t;
    CHECK(corners_run_dl(ctx, one, 1, NULL, 0) == -1 && strstr(arn_why(ctx), "1 inputs and 0 outputs"));

    /* an output on top of an input, and of another output */
    int8_t k[4] = {0};
    t = tensor(x, kDLFloat, 32, 2, shape_x);
    t.strides = strides;
    const DLTensor tk = tensor(k, kDLInt, 8, 1, shape_k);
    DLTensor o = tensor(x + 5, kDLFloat, 32, 2, shape_x), free_of = tensor(x + 6, kDLFloat, 32, 2, shape_x);
    const DLTensor *in[2];
    DLTensor *out[8] = {NULL};
    in[0] = &t;
    in[1] = &tk;
    out[2] = &o;
    CHECK(corners_run_dl(ctx, in, 2, out, 8) == -1 && strstr(arn_why(ctx), "shares bytes with input 0"));
    out[2] = &free_of;
    CHECK(corners_run_dl(ctx, in, 2, out, 8) == 0);
    out[0] = &free_of;
    CHECK(corners_run_dl(ctx, in, 2, out, 8) == -1 && strstr(arn_why(ctx), "shares bytes with output 0"));
}

static void check_values(float *const *f, const float *c, const int8_t *k)
{
    for (int i = 0; i < 6; i++) {
        CHECK(f[0][i] == X[i]);
        CHECK(f[1][i] == X[i]);
        CHECK(f[2][i] == 2 * X[i]);
        CHECK(f[3][i] == 2 * X[i]);
        CHECK(f[6][i] == -2 * X[i]);
    }
    for (int i = 0; i < 3; i++)
        CHECK(f[5][i] == 2 * X[i + 3]);
    for (int i = 0; i < 4; i++)
        CHECK(c[i] == (float)(i + 1) && k[i] == K[i]);
}

/* Files that hold no weights of this model. */
static void check_open(const char *program)
{
    const char *why = NULL;
    CHECK(corners_open(NULL, &why) == NULL && why && strstr(why, "path is missing"));
    CHECK(corners_open("no/such/file", &why) == NULL && why && strstr(why, "cannot be opened"));
    CHECK(corners_open(program, &why) == NULL && why && strstr(why, "another size"));
}

/* Results in tensors of ours, each with room before and after it that must stay as it is. */
static void check_own_tensors(corners_ctx *ctx, const DLTensor *const *in)
{
    static int64_t shapes[8][4];
    float out[8][8], *at[8];
    int8_t out_k[4];
    DLTensor o[8], *po[8];
    memset(out, 0x55, sizeof out);
    for (int i = 0; i < 8; i++) {
        DLManagedTensorVersioned *model_says;
        CHECK(arn_empty_dl(&corners_model, (size_t)i, &model_says) == 0);
        o[i] = model_says->dl_tensor;
        o[i].data = at[i] = out[i] + 1;
        po[i] = &o[i];
        memcpy(shapes[i], o[i].shape, (size_t)o[i].ndim * sizeof(int64_t));
        o[i].shape = shapes[i];
        o[i].strides = NULL;
        model_says->deleter(model_says);
    }
    o[7].data = out_k;
    CHECK(corners_run_dl(ctx, in, 2, po, 8) == 0);
    check_values(at, at[4], out_k);
    for (int i = 0; i < 7; i++) {
        uint32_t before, later;
        memcpy(&before, out[i], 4);
        memcpy(&later, out[i] + 7, 4);
        CHECK(before == 0x55555555u && later == 0x55555555u);
    }
}

/* Views of the context's own buffers, read after the context is closed. */
static void check_views(corners_ctx *ctx, const DLTensor *const *in)
{
    DLManagedTensorVersioned *view[8];
    CHECK(corners_run_dl(ctx, in, 2, NULL, 0) == 0);
    for (int i = 0; i < 8; i++) {
        CHECK(corners_get_dl(ctx, (size_t)i, &view[i]) == 0);
        CHECK(view[i]->flags == DLPACK_FLAG_BITMASK_READ_ONLY && view[i]->version.major == 1);
    }
    CHECK(corners_get_dl(ctx, 8, &view[0]) == -1); /* and the view is left alone */
    check_refusals(ctx);
    CHECK(corners_run_dl(ctx, in, 2, NULL, 0) == 0);
    corners_close(ctx);
    float *seen[8];
    for (int i = 0; i < 8; i++)
        seen[i] = view[i]->dl_tensor.data;
    check_values(seen, seen[4], (int8_t *)(void *)seen[7]);
    for (int i = 0; i < 8; i++)
        view[i]->deleter(view[i]);
}

static void check_empty(void)
{
    DLManagedTensorVersioned *t;
    CHECK(arn_empty_dl(&corners_model, 0, &t) == 0);
    DLManagedTensor *old = arn_legacy_dl(t);
    CHECK(old->dl_tensor.ndim == 2 && old->dl_tensor.shape[1] == 3 && old->dl_tensor.strides[0] == 3);
    old->deleter(old);
    CHECK(arn_empty_dl(&corners_model, 8, &t) == -1);
}

int main(int argc, char **argv)
{
    const char *why = "?", *weights = argc > 1 ? argv[1] : NULL;
    if (weights)
        check_open(argv[0]);
    corners_ctx *ctx = corners_open(weights, &why);
    CHECK(ctx && !why);
    if (!ctx)
        return printf("%s\n", why), 1;

    float x[7]; /* one element before the tensor, so that byte_offset counts */
    int8_t k[4];
    memcpy(x + 1, X, sizeof X);
    memcpy(k, K, sizeof K);
    DLTensor t[2];
    const DLTensor *in[2];
    t[0] = tensor(x, kDLFloat, 32, 2, shape_x);
    t[0].byte_offset = 4;
    t[1] = tensor(k, kDLInt, 8, 1, shape_k);
    in[0] = &t[0];
    in[1] = &t[1];
    check_own_tensors(ctx, in);
    CHECK(!memcmp(x + 1, X, sizeof X) && !memcmp(k, K, sizeof K)); /* inputs are only read */
    check_views(ctx, in);
    check_empty();
    corners_close(NULL);
    return failed;
}
