/* arn_cuda.h - runs a model that `arenac compile --emit cu` made, on an NVIDIA GPU, through the driver alone.
 *
 *     const char *why;
 *     kws_gpu *g = kws_open(image, NULL, &why);      image: kws.cubin or kws.ptx, read into memory
 *     kws_write_in0(g, x);                           or fill kws_in0(g), a device address
 *     kws_run(g, NULL);                              launches; does not wait
 *     kws_read_out0(g, y);                           copies and waits
 *     kws_close(g);
 *
 * The driver (libcuda.so.1) is opened at the first call; no header and no library of NVIDIA's is needed to build this.
 * Memory on the device is taken once, by arn_cuda_open: arena, state, weights and four bytes for the status.
 * arn_cuda_open_on uses another device than the first, a stream of the caller, and an arena or weights that the caller
 * or another model has on that device. The context is the device's primary one, as in programs of the CUDA runtime.
 * One thread at a time may use a model; two models are independent, unless they share an arena. arn_cuda_run takes
 * another stream as well, and then ordering is the caller's; a stream that the caller captures gets the launches.
 * Functions give 0, or an ARN_CUDA_E... with arn_cuda_why. */
#ifndef ARN_CUDA_H
#define ARN_CUDA_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

enum { ARN_CUDA_ARENA, ARN_CUDA_STATE, ARN_CUDA_WEIGHTS, ARN_CUDA_STATUS };
/* In addition to those of the generated header */
enum { ARN_CUDA_EDRIVER = 32, ARN_CUDA_EBARRIER, ARN_CUDA_ERACE, ARN_CUDA_EBOUNDS };

/* An address: bytes from the start of a memory */
struct arn_cuda_arg {
    int32_t space;
    uint64_t offset;
    uint64_t bytes; /* that the kernel may touch from there on */
};
struct arn_cuda_kernel {
    const char *name;
    uint32_t threads;                /* of a block */
    int32_t barriers;                /* threads of a block wait for each other */
    void (*twin)(void *const *args); /* on the host, for the emulation; else NULL */
    uint32_t shared;                 /* bytes of dynamic shared memory of a block */
    uint32_t cluster;                /* blocks of a cluster, from compute capability 9.0 on; 0: no clusters */
};
struct arn_cuda_launch {
    int32_t kernel, step;
    uint32_t blocks;
    int32_t first, n_args; /* in arg */
};
/* Kernels inside of the program, for one compute capability: CUBIN, which later devices of the same first digit run as
 * well, or PTX, which all later devices do. */
struct arn_cuda_image {
    int32_t capability, ptx; /* 80 for 8.0 */
    const void *data;
};
struct arn_cuda_model {
    const char *name;
    uint64_t arena_bytes, state_bytes, weights_bytes;
    const void *weights;              /* NULL: the caller's blob */
    void (*first_state)(void *state); /* NULL: no state */
    int32_t n_kernels, n_launches, n_steps;
    const struct arn_cuda_kernel *kernel;
    const struct arn_cuda_launch *launch; /* in order */
    const struct arn_cuda_arg *arg;
    int32_t early; /* a kernel waits for the one before it, and may start before that one has ended */
    int (*linked)(void **function, int32_t kernel); /* kernels that nvcc compiled into the program; NULL: none */
    int32_t n_images;
    const struct arn_cuda_image *image; /* other kernels inside of the program */
};

struct arn_cuda;
/* Where a model runs. All zero: the first device, a stream and memory of its own. */
struct arn_cuda_place {
    int32_t device;
    void *stream; /* a CUstream of the caller, which outlives the model; NULL: its own */
    /* Addresses on the device, aligned to 256, of at least arena_bytes and weights_bytes: of the caller, or of another
     * model that outlives this one. 0: its own. Models with one arena run one after another, and lose its contents. The
     * weights there are those of this model, as arn_cuda_address of another model gives them. */
    uint64_t arena, weights;
};
/* image: PTX (ends in 0) or CUBIN; NULL: the kernels inside of this program. weights: NULL when the model carries them.
 * NULL: *why is the reason, a text of this thread until its next call. */
struct arn_cuda *arn_cuda_open(const struct arn_cuda_model *m, const void *image, const void *weights,
                               const char **why);
struct arn_cuda *arn_cuda_open_on(const struct arn_cuda_model *m, const struct arn_cuda_place *place, const void *image,
                                  const void *weights, const char **why);
uint64_t arn_cuda_address(const struct arn_cuda *c, int32_t space, uint64_t offset);
int arn_cuda_write(struct arn_cuda *c, uint64_t to, const void *from, size_t n); /* `from` may be used again at once */
int arn_cuda_read(struct arn_cuda *c, uint64_t from, void *to, size_t n);
/* The same without waiting, in order with the runs of the model's stream. Copies are asynchronous only if the
 * memory is pinned (arn_cuda_pin, cuMemHostAlloc); it must stay as it is until arn_cuda_wait. */
int arn_cuda_write_async(struct arn_cuda *c, uint64_t to, const void *from, size_t n);
int arn_cuda_read_async(struct arn_cuda *c, uint64_t from, void *to, size_t n);
/* n bytes of pinned memory of the host; NULL: see arn_cuda_why. arn_cuda_unpin gives them back. */
void *arn_cuda_pin(struct arn_cuda *c, size_t n);
int arn_cuda_unpin(struct arn_cuda *c, void *at);
int arn_cuda_run(struct arn_cuda *c, void *stream); /* NULL: the model's own stream */
int arn_cuda_capture(struct arn_cuda *c);
int arn_cuda_wait(struct arn_cuda *c);
int arn_cuda_restart(struct arn_cuda *c);
const char *arn_cuda_why(const struct arn_cuda *c); /* of the last error */
void arn_cuda_close(struct arn_cuda *c);

/* One run with memory on the host, hook after each step: by the emulation (arn_cuda_emu.c), or copied to a device and
 * back (arn_cuda_steps.c). The text of a failure goes to stderr. */
struct arn_mem;
struct arn_hook;
int arn_cuda_steps(const struct arn_cuda_model *m, const struct arn_mem *mem, const struct arn_hook *hook);

#ifdef __cplusplus
}
#endif
#endif
