 * arena 0 B, optimal. Safe to call from several threads with distinct arenas. */
#ifndef HOST_H
#define HOST_H
#include <stddef.h>
#include <stdint.h>
#include "arn_host.h" /* runtime/ of arenac: --emit rt copies it */
#ifdef __cplusplus
extern "C" {
#endif

#define HOST_ARENA_BYTES 0u
#define HOST_ARENA_ALIGN 16u
#define HOST_STATE_BYTES 0u
#define HOST_STACK_BYTES 144u /* of host_run: an estimate, measure before you rely on it */
#define HOST_INPUTS 2
#define HOST_OUTPUTS 2
#define HOST_STEPS 2
/* in[0]: x f32 [2,3], in the caller's memory, aligned for its type */
#define HOST_IN0_BYTES 24u
#define HOST_IN0_COUNT 6u
#define HOST_IN0_CLOBBERED 0
/* in[1]: i i8 [4], in the caller's memory, aligned for its type */
#define HOST_IN1_BYTES 4u
#define HOST_IN1_COUNT 4u
#define HOST_IN1_SCALE 0.5f
#define HOST_IN1_ZERO (0)
#define HOST_IN1_CLOBBERED 0
/* out[0]: y f32 [2,3], in the caller's memory, aligned for its type */
#define HOST_OUT0_BYTES 24u
#define HOST_OUT0_COUNT 6u
/* out[1]: j f32 [4], in the caller's memory, aligned for its type */
#define HOST_OUT1_BYTES 16u
#define HOST_OUT1_COUNT 4u

typedef struct host_mem { /* one pointer for each memory of the plan */
    void *arena;         /* HOST_ARENA_BYTES, aligned to HOST_ARENA_ALIGN */
    const void *weights; /* not used: NULL */
    const void *in[2];   /* the caller's, only read */
    void *out[2];        /* the caller's; none overlaps another or an input */
} host_mem;


enum { HOST_OK = 0, HOST_EALIGN = 1, HOST_EDIM = 2, HOST_EWEIGHTS = 3, HOST_EINDEX = 4 };
int host_init(const host_mem *m); /* checks alignment */
int host_run(const host_mem *m);  /* no heap, no globals written, bounded loops */
struct arn_model;
size_t host_describe(const struct arn_model **model); /* runtime/arn_rt.h; its size */

typedef arn_ctx host_ctx;
host_ctx *host_open(const char *weights_path, const char **why); /* NULL: *why tells the reason */
int host_run_dl(host_ctx *ctx, const DLTensor *const *in, size_t n_in, DLTensor *const *out, size_t n_out);
int host_get_dl(host_ctx *ctx, size_t output, DLManagedTensorVersioned **tensor);
void host_close(host_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
