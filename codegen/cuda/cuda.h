/* cuda.h - the internal interface of the CUDA backend.
 *
 *     cuda.c         the interface of the backend
 *     kernels.c      cuts a step's function at its grid loops: one function for each kernel
 *     kernel_text.c  CUDA as a dialect of the C printer
 *     block_text.c   ... blocks of 8 and 16 bytes, late stores, the end of a phase
 *     phases.c       where threads and blocks wait for each other
 *     mail.c         where blocks wait for bytes of others instead
 *     cu_file.c      the .cu file: kernels, the table of launches, what a host calls
 *     gpu_header.c   the .h: sizes and offsets, and the API of runtime/arn_cuda.h under the model's name
 *     images.c       kernels of several targets inside of the file
 *     nvrtc.c        --emit ptx,cubin: the kernels through NVIDIA's compiler library, opened at run time
 *
 * Memory: the context's region. */
#ifndef AC_CODEGEN_CUDA_CUDA_H
#define AC_CODEGEN_CUDA_CUDA_H
#include "codegen/backend.h"
#include "codegen/c/dialect.h"
#include "codegen/c/emit.h"

typedef struct ac_cuda_kernel {
    const ac_loop_fn *fn; /* the same buffers as the step's function; used ones are parameters */
    int64_t blocks;
    int32_t threads;     /* of a block */
    int64_t cluster;     /* blocks of a cluster, which is an iteration of the grid loop; 0: no clusters */
    bool flat;           /* a thread for each iteration of the grid loop; else a block */
    const uint8_t *uses; /* of each buffer, see ac_c_buffer_uses */
    int64_t shared;      /* bytes of shared memory of a block */
    /* By buffer, if that is more than AC_CUDA_STATIC: its place in dynamic memory. NULL: each is a static array. */
    const int64_t *shared_at;
} ac_cuda_kernel;

extern const ac_dialect ac_dialect_cuda; /* kernel_text.c */

/* block_text.c. True for a vector made of lanes; the value that lane *lane of x is, and its lane there; the vector as
 * text, of type `type`; a late store. */
bool ac_cuda_joins(const ac_ins *i);
ac_x ac_cuda_lane(const ac_loop_fn *fn, ac_x x, int32_t *lane);
ac_cexpr ac_cuda_join(ac_cfn *f, ac_x x, const char *type);
const char *ac_cuda_lane_text(ac_cfn *f, ac_x x, int32_t l); /* lane l of a block */
const char *ac_cuda_late(ac_cfn *f, ac_x x);
/* lanes_text.c: opens such a loop, false: it is another one. The rounds of a loop that is to be unrolled, which has two
 * braces at its end; else 0. */
bool ac_cuda_open_lanes(ac_cfn *f, ac_x x);
int64_t ac_cuda_rounds(const ac_cfn *f, ac_x x);
ac_x ac_cuda_end_of(const ac_loop_fn *fn, ac_x x); /* the END of the FOR or IF at x */
/* True if a late store copies the value of this load: it is read until that has arrived. */
bool ac_cuda_is_copied(const ac_loop_fn *fn, ac_x load);
void ac_cuda_end_phase(ac_cfn *f, ac_x phase, bool waits); /* the lines after a phase; waits: its threads do */
/* The first phase if it only copies weights, late: it need not wait for the kernel before. Else 0. */
ac_x ac_cuda_weights_first(const ac_loop_fn *fn);

/* phases.c. True if threads wait for each other after this block loop, or blocks after this cluster loop. */
bool ac_cuda_waits(const ac_loop_fn *fn, ac_x loop);
/* The loop where blocks of a cluster wait for each other's start: before the grid loop, or after a phase; 0: none. */
ac_x ac_cuda_cluster_begins(const ac_loop_fn *fn);

/* mail.c. By cluster loop, and by store to another block's memory: the bytes that each block gets in that phase. It
 * waits for them after the phase; 0: the blocks wait for each other. NULL: all are 0. */
const int64_t *ac_cuda_mail(const ac_loop_fn *fn, ac_region *region);
typedef struct ac_cuda_mails {
    const ac_loop_fn *fn; /* whose they are; NULL: not computed */
    const int64_t *bytes;
} ac_cuda_mails;
enum { AC_CUDA_BOXES = 16 }; /* bytes of shared memory for the counters */

/* Static shared memory of a block, at most, on every GPU */
enum { AC_CUDA_STATIC = 48 << 10 };

/* The kernels of a function, in order. NULL: diagnostic; also when a kernel shares more memory than the target has. */
const ac_cuda_kernel *ac_cuda_kernels(ac_ctx *cx, const ac_target *t, const ac_loop_fn *fn, int32_t *n);

/* The whole file, or, without names, only the part for the GPU (for NVRTC). */
int ac_cuda_source(ac_module *m, const ac_emit_names *names, ac_sink *to);

/* The header. */
int ac_cuda_header(const ac_module *m, ac_sink *to);

/* PTX or CUBIN of `source` for target t. E0502: no NVRTC, or a version that does not support the target. */
int ac_cuda_compile(ac_module *m, const ac_target *t, const char *source, bool binary, ac_sink *to);

/* The images of `source` for the module's targets, and the macro UPPER_IMAGES: their number and their table. */
int ac_cuda_images(ac_module *m, const char *source, const char *upper, ac_sink *to);

extern const ac_backend ac_backend_cuda; /* cuda.c */

#endif
