/* arn_host.h - a generated model (compile --host) on a host: its memory, its weights, runs on DLPack tensors without a
 * copy.
 *
 *     const char *why;
 *     arn_ctx *ctx = arn_open(&kws_model, "kws.bin", &why);         or kws_open(...) of the generated header
 *     const DLTensor *in[] = {&x};
 *     if (arn_run_dl(ctx, in, 1, NULL, 0)) puts(arn_why(ctx));
 *     DLManagedTensorVersioned *y;
 *     arn_get_dl(ctx, 0, &y);    ... use y->dl_tensor ...    y->deleter(y);
 *     arn_close(ctx);
 *
 * A tensor is taken as it is or refused, never copied: it must be in host memory (CPU, CUDA-pinned or CUDA-managed), of
 * the model's type and shape, compact and row-major (strides of dimensions of size 1 do not matter), and aligned for
 * its type. Results are written straight into the tensors given as `out`, which overlap neither each other nor an
 * input; an output that is not given is written into a buffer of the context.
 *
 * One context runs in one thread at a time; contexts share nothing. Nothing is allocated between arn_open and arn_close
 * but what arn_get_dl and arn_empty_dl return. */
#ifndef ARN_HOST_H
#define ARN_HOST_H
#include "arn_dlpack.h"
#include "arn_rt.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct arn_ctx arn_ctx;

/* Arena, state and output buffers of their sizes, the weights mapped from `weights_path` (NULL: the program holds
 * them), state at its first value. NULL: *why (if why) is one line with the reason. */
arn_ctx *arn_open(const struct arn_model *model, const char *weights_path, const char **why);
void arn_close(arn_ctx *ctx); /* NULL is fine. Views of arn_get_dl stay valid until their own deleters are called. */

/* n_in must be the number of inputs; n_out may be 0, or the number of outputs, where out[i] may be NULL. 0, or an error
 * of the generated header, or -1 if a tensor does not fit: arn_why returns which one and the reason. The tensors stay
 * the caller's. */
int arn_run_dl(arn_ctx *ctx, const DLTensor *const *in, size_t n_in, DLTensor *const *out, size_t n_out);
const char *arn_why(const arn_ctx *ctx); /* of the last -1; valid until the next call */
int arn_reset_dl(arn_ctx *ctx);          /* state as after arn_open */
/* The next run draws the random numbers of run number `run` of this seed. 0, or -1: the model draws none. */
int arn_seed_dl(arn_ctx *ctx, uint64_t seed, uint32_t run);

/* The context's own buffer of an output: read only, valid until the deleter is called, overwritten by the next run that
 * is not given a tensor for it. 0, or -1. */
int arn_get_dl(arn_ctx *ctx, size_t output, DLManagedTensorVersioned **tensor);

/* A new tensor of the type and shape of an output, for arn_run_dl and then for any consumer: the deleter frees it. 0,
 * or -1. */
int arn_empty_dl(const struct arn_model *model, size_t output, DLManagedTensorVersioned **tensor);
/* The same tensor in the form from before DLPack 1.0, for consumers that know no other; `tensor`, made by the functions
 * above and not read only, is spent. */
DLManagedTensor *arn_legacy_dl(DLManagedTensorVersioned *tensor);

#ifdef __cplusplus
}
#endif
#endif
