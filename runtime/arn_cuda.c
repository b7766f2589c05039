/* arn_cuda.c - the driver's functions by name, one context (the device's primary one) pushed around every call. */
#include "arn_cuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <windows.h>
#else
#include <dlfcn.h>
#endif

typedef uint64_t address;
typedef struct stream_of_driver *stream;

#ifdef _WIN32
static void *open_library(void)
{
    return (void *)LoadLibraryA("nvcuda.dll");
}

static void *find_symbol(void *so, const char *name)
{
    const FARPROC f = GetProcAddress((HMODULE)so, name);
    void *p;
    memcpy(&p, &f, sizeof p);
    return p;
}

static const char *why_not(void)
{
    return "nvcuda.dll cannot be loaded";
}
#else
static void *open_library(void)
{
    return dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
}

static void *find_symbol(void *so, const char *name)
{
    return dlsym(so, name);
}

static const char *why_not(void)
{
    return dlerror();
}
#endif

/* Of the driver API, version 11.2 or later. */
#define DRIVER(X)                                                                                               \
    X(cuInit, (unsigned))                                                                                       \
    X(cuDriverGetVersion, (int *))                                                                              \
    X(cuGetErrorName, (int, const char **))                                                                     \
    X(cuDeviceGetCount, (int *))                                                                                \
    X(cuDeviceGetAttribute, (int *, int, int))                                                                  \
    X(cuDeviceGet, (int *, int))                                                                                \
    X(cuDevicePrimaryCtxRetain, (void **, int))                                                                 \
    X(cuDevicePrimaryCtxRelease_v2, (int))                                                                      \
    X(cuCtxPushCurrent_v2, (void *))                                                                            \
    X(cuCtxPopCurrent_v2, (void **))                                                                            \
    X(cuModuleLoadData, (void **, const void *))                                                                \
    X(cuModuleUnload, (void *))                                                                                 \
    X(cuModuleGetFunction, (void **, void *, const char *))                                                     \
    X(cuFuncSetAttribute, (void *, int, int))                                                                   \
    X(cuMemAlloc_v2, (address *, size_t))                                                                       \
    X(cuMemFree_v2, (address))                                                                                  \
    X(cuMemcpyHtoDAsync_v2, (address, const void *, size_t, stream))                                            \
    X(cuMemcpyDtoHAsync_v2, (void *, address, size_t, stream))                                                  \
    X(cuMemsetD8Async, (address, unsigned char, size_t, stream))                                                \
    X(cuMemHostAlloc, (void **, size_t, unsigned))                                                              \
    X(cuMemFreeHost, (void *))                                                                                  \
    X(cuStreamIsCapturing, (stream, int *))                                                                     \
    X(cuStreamCreate, (stream *, unsigned))                                                                     \
    X(cuStreamDestroy_v2, (stream))                                                                             \
    X(cuStreamSynchronize, (stream))                                                                            \
    X(cuLaunchKernel,                                                                                           \
      (void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, stream, void **, void **)) \
    X(cuStreamBeginCapture_v2, (stream, int))                                                                   \
    X(cuStreamEndCapture, (stream, void **))                                                                    \
    X(cuGraphInstantiateWithFlags, (void **, void *, unsigned long long))                                       \
    X(cuGraphLaunch, (void *, stream))                                                                          \
    X(cuGraphExecDestroy, (void *))                                                                             \
    X(cuGraphDestroy, (void *))

/* The structs of cuLaunchKernelEx */
struct attribute {
    uint32_t id, pad;
    union {
        int32_t yes;
        char bytes[64];
    } value;
};
struct launch_config {
    uint32_t blocks[3], threads[3], shared;
    stream stream;
    const struct attribute *attribute;
    uint32_t n;
};

struct arn_cuda {
    const struct arn_cuda_model *model;
    void *so, *context, *module, *graph, *exec;
    void **function; /* by kernel */
    stream stream;
    int (*launch_ex)(const struct launch_config *, void *, void **, void **); /* NULL: no kernel starts early */
    address base[4];                                                          /* by ARN_CUDA_ARENA, ... */
    int lent[4];                                                              /* base is not the model's */
    int lent_stream;
    int device;
    char why[160];
#define POINTER(name, args) int(*name) args;
    DRIVER(POINTER)
#undef POINTER
};

static int failed(struct arn_cuda *c, int error, const char *what)
{
    const char *name = NULL;
    if (c->cuGetErrorName)
        c->cuGetErrorName(error, &name);
    snprintf(c->why, sizeof c->why, "%s: %s", what, name ? name : "unknown error");
    return ARN_CUDA_EDRIVER;
}

#define TRY(c, what, call)                    \
    do {                                      \
        const int error_ = (c)->call;         \
        if (error_)                           \
            return failed((c), error_, what); \
    } while (0)

/* Kernels that start early: if the model's wait, and the driver supports them in graphs. */
static void find_early(struct arn_cuda *c)
{
    enum { CUDA_12_3 = 12030 };
    int version = 0;
    void *p = find_symbol(c->so, "cuLaunchKernelEx");
    if (c->model->early && p && !c->cuDriverGetVersion(&version) && version >= CUDA_12_3)
        memcpy(&c->launch_ex, &p, sizeof p);
}

static int say(struct arn_cuda *c, const char *what)
{
    snprintf(c->why, sizeof c->why, "%s", what);
    return ARN_CUDA_EDRIVER;
}

static int open_device(struct arn_cuda *c, int32_t number)
{
    int n = 0;
    TRY(c, "there is no device", cuDeviceGetCount(&n));
    if (number < 0 || number >= n) {
        snprintf(c->why, sizeof c->why, "no device %d, only %d", number, n);
        return ARN_CUDA_EDRIVER;
    }
    TRY(c, "there is no device", cuDeviceGet(&c->device, number));
    TRY(c, "no context on the device", cuDevicePrimaryCtxRetain(&c->context, c->device));
    return 0;
}

static int open_driver(struct arn_cuda *c, int32_t device)
{
    c->so = open_library();
    if (!c->so) {
        snprintf(c->why, sizeof c->why, "no NVIDIA driver: %s", why_not());
        return ARN_CUDA_EDRIVER;
    }
    void *p;
#define LOOK_UP(name, args)                                                                   \
    if (!(p = find_symbol(c->so, #name))) {                                                   \
        snprintf(c->why, sizeof c->why, "the NVIDIA driver is too old: it has no %s", #name); \
        return ARN_CUDA_EDRIVER;                                                              \
    }                                                                                         \
    memcpy(&c->name, &p, sizeof p);
    DRIVER(LOOK_UP)
#undef LOOK_UP
    TRY(c, "the driver does not start", cuInit(0));
    find_early(c);
    return open_device(c, device);
}

/* lent: an address of the caller, or 0 */
static int take(struct arn_cuda *c, int32_t space, uint64_t bytes, uint64_t lent)
{
    enum { ALIGN = 256 };
    if (lent % ALIGN)
        return say(c, "memory of the caller is not aligned to 256 bytes");
    c->base[space] = lent;
    c->lent[space] = lent != 0;
    if (bytes && !lent)
        TRY(c, "no memory on the device", cuMemAlloc_v2(&c->base[space], (size_t)bytes));
    return 0;
}

static int copy_in(struct arn_cuda *c, uint64_t to, const void *from, size_t n)
{
    TRY(c, "copying to the device", cuMemcpyHtoDAsync_v2(to, from, n, c->stream));
    return 0;
}

static int copy_out(struct arn_cuda *c, uint64_t from, void *to, size_t n)
{
    TRY(c, "copying from the device", cuMemcpyDtoHAsync_v2(to, from, n, c->stream));
    return 0;
}

static int is_capturing(struct arn_cuda *c, stream on)
{
    int state = 0;
    return !c->cuStreamIsCapturing(on, &state) && state;
}

/* Work on a stream that the caller captures becomes a part of a graph, and cannot be waited for. */
static int may_wait(struct arn_cuda *c)
{
    return is_capturing(c, c->stream) ? say(c, "the stream is captured: use the functions with _async") : 0;
}

static int finish(struct arn_cuda *c)
{
    TRY(c, "the work on the device", cuStreamSynchronize(c->stream));
    return 0;
}

static int write_now(struct arn_cuda *c, uint64_t to, const void *from, size_t n)
{
    int status = may_wait(c);
    if (!status)
        status = copy_in(c, to, from, n);
    return status ? status : finish(c);
}

static int read_now(struct arn_cuda *c, uint64_t from, void *to, size_t n)
{
    int status = may_wait(c);
    if (!status)
        status = copy_out(c, from, to, n);
    return status ? status : finish(c);
}

static int first_state(struct arn_cuda *c)
{
    const struct arn_cuda_model *m = c->model;
    if (!m->state_bytes)
        return 0;
    void *state = calloc(1, (size_t)m->state_bytes);
    if (!state)
        return say(c, "no memory");
    if (m->first_state)
        m->first_state(state);
    const int status = write_now(c, c->base[ARN_CUDA_STATE], state, (size_t)m->state_bytes);
    free(state);
    return status;
}

/* Its handle; a kernel may have more than 48 KiB of shared memory only if the driver permits it. */
static int find_kernel(struct arn_cuda *c, int32_t i, int image)
{
    enum { MAX_DYNAMIC_SHARED_SIZE_BYTES = 8 };
    const struct arn_cuda_kernel *k = &c->model->kernel[i];
    if (image) {
        TRY(c, k->name, cuModuleGetFunction(&c->function[i], c->module, k->name));
    } else if (c->model->linked(&c->function[i], i)) {
        snprintf(c->why, sizeof c->why, "%s: the kernels of this program are for another GPU", k->name);
        return ARN_CUDA_EDRIVER;
    }
    if (k->shared)
        TRY(c, "the device has too little shared memory",
            cuFuncSetAttribute(c->function[i], MAX_DYNAMIC_SHARED_SIZE_BYTES, (int)k->shared));
    return 0;
}

/* Of the images inside of the program: the CUBIN that the device runs, of the highest capability, else PTX. */
static const void *own_image(struct arn_cuda *c)
{
    enum { MAJOR = 75, MINOR = 76 };
    const struct arn_cuda_image *best = NULL;
    int major = 0, minor = 0;
    if (c->cuDeviceGetAttribute(&major, MAJOR, c->device) || c->cuDeviceGetAttribute(&minor, MINOR, c->device)) {
        say(c, "the driver does not tell the compute capability of the device");
        return NULL;
    }
    for (int32_t i = 0; i < c->model->n_images; i++) {
        const struct arn_cuda_image *x = &c->model->image[i];
        if (x->capability > major * 10 + minor || (!x->ptx && x->capability / 10 != major))
            continue;
        if (!best || x->ptx < best->ptx || (x->ptx == best->ptx && x->capability > best->capability))
            best = x;
    }
    if (!best)
        snprintf(c->why, sizeof c->why, "the program has no kernels for compute capability %d.%d", major, minor);
    return best ? best->data : NULL;
}

static int load_kernels(struct arn_cuda *c, const void *image)
{
    const struct arn_cuda_model *m = c->model;
    int status = 0;
    if (!image && !m->linked && !m->n_images)
        return say(c, "no image, and the program has no kernels: give one, or compile with nvcc or several targets");
    if (!image && !m->linked && !(image = own_image(c)))
        return ARN_CUDA_EDRIVER;
    if (image)
        TRY(c, "the image cannot be loaded (made for another GPU?)", cuModuleLoadData(&c->module, image));
    if (!(c->function = calloc((size_t)m->n_kernels + 1, sizeof *c->function)))
        return say(c, "no memory");
    for (int32_t i = 0; i < m->n_kernels && !status; i++)
        status = find_kernel(c, i, image != NULL);
    return status;
}

static int load(struct arn_cuda *c, const struct arn_cuda_place *place, const void *image, const void *weights)
{
    const struct arn_cuda_model *m = c->model;
    const void *bytes = m->weights ? m->weights : weights;
    int status = load_kernels(c, image);
    if (status)
        return status;
    c->stream = place->stream;
    c->lent_stream = place->stream != NULL;
    if (!c->stream)
        TRY(c, "no stream", cuStreamCreate(&c->stream, 1)); /* apart from the default stream */
    if ((status = take(c, ARN_CUDA_ARENA, m->arena_bytes, place->arena)) ||
        (status = take(c, ARN_CUDA_STATE, m->state_bytes, 0)) ||
        (status = take(c, ARN_CUDA_WEIGHTS, m->weights_bytes, place->weights)) ||
        (status = take(c, ARN_CUDA_STATUS, 4, 0)))
        return status;
    const int copies = m->weights_bytes && !c->lent[ARN_CUDA_WEIGHTS];
    if (copies && !bytes)
        return say(c, "the model was compiled with --weights blob: the blob is missing");
    if (copies)
        TRY(c, "copying the weights",
            cuMemcpyHtoDAsync_v2(c->base[ARN_CUDA_WEIGHTS], bytes, (size_t)m->weights_bytes, c->stream));
    TRY(c, "clearing the status", cuMemsetD8Async(c->base[ARN_CUDA_STATUS], 0, 4, c->stream));
    TRY(c, "copying the weights", cuStreamSynchronize(c->stream));
    return first_state(c);
}

static int enter(struct arn_cuda *c)
{
    TRY(c, "the context is lost", cuCtxPushCurrent_v2(c->context));
    return 0;
}

static int leave(struct arn_cuda *c, int status)
{
    void *old;
    c->cuCtxPopCurrent_v2(&old);
    return status;
}

struct arn_cuda *arn_cuda_open_on(const struct arn_cuda_model *m, const struct arn_cuda_place *place, const void *image,
                                  const void *weights, const char **why)
{
    static __thread char reason[sizeof((struct arn_cuda *)0)->why];
    struct arn_cuda *c = calloc(1, sizeof *c);
    if (!c) {
        *why = "no memory";
        return NULL;
    }
    c->model = m;
    if (!open_driver(c, place->device) && !enter(c) && !leave(c, load(c, place, image, weights)))
        return c;
    memcpy(reason, c->why, sizeof reason);
    *why = reason;
    arn_cuda_close(c);
    return NULL;
}

struct arn_cuda *arn_cuda_open(const struct arn_cuda_model *m, const void *image, const void *weights, const char **why)
{
    const struct arn_cuda_place first = {0};
    return arn_cuda_open_on(m, &first, image, weights, why);
}

uint64_t arn_cuda_address(const struct arn_cuda *c, int32_t space, uint64_t offset)
{
    return c->base[space] + offset;
}

const char *arn_cuda_why(const struct arn_cuda *c)
{
    return c->why;
}

/* early: it may start while the one before it runs */
static int launch(struct arn_cuda *c, const struct arn_cuda_launch *l, void **arg, int early, stream on)
{
    enum { PROGRAMMATIC_STREAM_SERIALIZATION = 6 };
    const struct arn_cuda_kernel *k = &c->model->kernel[l->kernel];
    const struct attribute attribute = {.id = PROGRAMMATIC_STREAM_SERIALIZATION, .value = {.yes = 1}};
    const struct launch_config config = {.blocks = {l->blocks, 1, 1},
                                         .threads = {k->threads, 1, 1},
                                         .shared = k->shared,
                                         .stream = on,
                                         .attribute = &attribute,
                                         .n = 1};
    if (early && c->launch_ex)
        TRY(c, k->name, launch_ex(&config, c->function[l->kernel], arg, NULL));
    else
        TRY(c, k->name,
            cuLaunchKernel(c->function[l->kernel], l->blocks, 1, 1, k->threads, 1, 1, k->shared, on, arg, NULL));
    return 0;
}

static int may_fail(const struct arn_cuda_model *m)
{
    for (int32_t i = 0; i < m->n_launches; i++)
        for (int32_t a = 0; a < m->launch[i].n_args; a++)
            if (m->arg[m->launch[i].first + a].space == ARN_CUDA_STATUS)
                return 1;
    return 0;
}

/* The first launch is not early: before it come copies, or another run. */
static int launch_all(struct arn_cuda *c, stream on)
{
    enum { ARGS = 256 };
    const struct arn_cuda_model *m = c->model;
    if (may_fail(m))
        TRY(c, "clearing the status", cuMemsetD8Async(c->base[ARN_CUDA_STATUS], 0, 4, on));
    for (int32_t i = 0; i < m->n_launches; i++) {
        const struct arn_cuda_launch *l = &m->launch[i];
        address at[ARGS];
        void *arg[ARGS];
        for (int32_t a = 0; a < l->n_args && a < ARGS; a++) {
            at[a] = c->base[m->arg[l->first + a].space] + m->arg[l->first + a].offset;
            arg[a] = &at[a];
        }
        const int status = launch(c, l, arg, i > 0, on);
        if (status)
            return status;
    }
    return 0;
}

/* A graph cannot be launched into a stream that is captured: then its launches become part of the caller's graph. */
static int run(struct arn_cuda *c, stream on)
{
    if (!c->exec || is_capturing(c, on))
        return launch_all(c, on);
    TRY(c, "launching the graph", cuGraphLaunch(c->exec, on));
    return 0;
}

static int capture(struct arn_cuda *c)
{
    enum { THREAD_LOCAL = 1 };
    if (c->exec)
        return 0;
    if (is_capturing(c, c->stream))
        return say(c, "the stream is captured already");
    TRY(c, "capturing", cuStreamBeginCapture_v2(c->stream, THREAD_LOCAL));
    const int status = launch_all(c, c->stream), error = c->cuStreamEndCapture(c->stream, &c->graph);
    if (status)
        return status;
    if (error)
        return failed(c, error, "capturing");
    TRY(c, "making a graph", cuGraphInstantiateWithFlags(&c->exec, c->graph, 0));
    return 0;
}

static int wait_for_stream(struct arn_cuda *c)
{
    int32_t status = 0;
    const int wrong = read_now(c, c->base[ARN_CUDA_STATUS], &status, sizeof status);
    return wrong ? wrong : status;
}

int arn_cuda_write(struct arn_cuda *c, uint64_t to, const void *from, size_t n)
{
    return enter(c) ? ARN_CUDA_EDRIVER : leave(c, write_now(c, to, from, n));
}
int arn_cuda_read(struct arn_cuda *c, uint64_t from, void *to, size_t n)
{
    return enter(c) ? ARN_CUDA_EDRIVER : leave(c, read_now(c, from, to, n));
}
int arn_cuda_write_async(struct arn_cuda *c, uint64_t to, const void *from, size_t n)
{
    return enter(c) ? ARN_CUDA_EDRIVER : leave(c, copy_in(c, to, from, n));
}
int arn_cuda_read_async(struct arn_cuda *c, uint64_t from, void *to, size_t n)
{
    return enter(c) ? ARN_CUDA_EDRIVER : leave(c, copy_out(c, from, to, n));
}
static int pin(struct arn_cuda *c, void **at, size_t n)
{
    TRY(c, "no pinned memory", cuMemHostAlloc(at, n, 0));
    return 0;
}
static int unpin(struct arn_cuda *c, void *at)
{
    TRY(c, "no pinned memory", cuMemFreeHost(at));
    return 0;
}
void *arn_cuda_pin(struct arn_cuda *c, size_t n)
{
    void *at = NULL;
    return enter(c) || leave(c, pin(c, &at, n)) ? NULL : at;
}
int arn_cuda_unpin(struct arn_cuda *c, void *at)
{
    return enter(c) ? ARN_CUDA_EDRIVER : leave(c, unpin(c, at));
}
int arn_cuda_run(struct arn_cuda *c, void *on)
{
    return enter(c) ? ARN_CUDA_EDRIVER : leave(c, run(c, on ? (stream)on : c->stream));
}
int arn_cuda_capture(struct arn_cuda *c)
{
    return enter(c) ? ARN_CUDA_EDRIVER : leave(c, capture(c));
}
int arn_cuda_wait(struct arn_cuda *c)
{
    return enter(c) ? ARN_CUDA_EDRIVER : leave(c, wait_for_stream(c));
}
int arn_cuda_restart(struct arn_cuda *c)
{
    return enter(c) ? ARN_CUDA_EDRIVER : leave(c, first_state(c));
}

void arn_cuda_close(struct arn_cuda *c)
{
    if (!c)
        return;
    if (c->context && !enter(c)) {
        if (c->stream)
            c->cuStreamSynchronize(c->stream);
        if (c->exec)
            c->cuGraphExecDestroy(c->exec);
        if (c->graph)
            c->cuGraphDestroy(c->graph);
        for (int i = 0; i < 4; i++)
            if (c->base[i] && !c->lent[i])
                c->cuMemFree_v2(c->base[i]);
        if (c->stream && !c->lent_stream)
            c->cuStreamDestroy_v2(c->stream);
        if (c->module)
            c->cuModuleUnload(c->module);
        leave(c, 0);
        c->cuDevicePrimaryCtxRelease_v2(c->device);
    }
    free(c->function);
    free(c); /* the driver stays open: it does not like to be closed */
}
