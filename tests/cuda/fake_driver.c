/* fake_driver.c - a libcuda.so.1 without a device: uses host memory, and the kernels of the emulation, linked in.
 * Checks every rule of the real driver that our code could break: calls need the context, copies stay inside of
 * allocations, a capturing stream only records launches, everything is freed. */
#include "arn_cuda.h"
#include "arn_cuda_emu.h"

#include <stdio.h>
#include <stdlib.h>

extern const struct arn_cuda_model FAKE_MODEL;
enum { OK, INVALID = 1, OUT_OF_MEMORY = 2, BLOCKS = 16, RECORDS = 4096 };

static struct {
    char *at;
    size_t n;
} block[BLOCKS];
static int retained, context, streams, modules, graphs, capturing, records, after_launch, early_launches, memsets;
static struct record {
    const struct arn_cuda_launch *launch; /* NULL: a memset */
    void *arg[64];
    char *at;
    size_t n;
} record[RECORDS];

static unsigned allowed[RECORDS]; /* dynamic shared memory, by kernel */

#define RULE(holds)                                            \
    do                                                         \
        if (!(holds)) {                                        \
            fprintf(stderr, "%s: not %s\n", __func__, #holds); \
            return INVALID;                                    \
        }                                                      \
    while (0)

static int inside(uint64_t at, size_t n)
{
    for (int i = 0; i < BLOCKS; i++)
        if (block[i].at && at >= (uintptr_t)block[i].at && at + n <= (uintptr_t)block[i].at + block[i].n)
            return 1;
    return 0;
}

int cuInit(unsigned flags)
{
    return flags ? INVALID : OK;
}
int cuDriverGetVersion(int *version)
{
    return *version = getenv("FAKE_OLD_DRIVER") ? 12020 : 12030, OK;
}
int cuGetErrorName(int error, const char **name)
{
    return *name = error == INVALID ? "INVALID" : "OTHER", OK;
}
int cuDeviceGetCount(int *n)
{
    return *n = 1, OK;
}
int cuDeviceGet(int *device, int i)
{
    return *device = 7, i ? INVALID : OK;
}
int cuDevicePrimaryCtxRetain(void **c, int device)
{
    RULE(device == 7);
    retained++;
    *c = &context;
    return OK;
}
int cuDevicePrimaryCtxRelease_v2(int device)
{
    RULE(device == 7 && retained > 0);
    retained--;
    for (int i = 0; i < BLOCKS; i++)
        RULE(!block[i].at);
    RULE(!context && !streams && !modules && !graphs);
    fprintf(stderr, "%d early launches, %d memsets\n", early_launches, memsets);
    fprintf(stderr, "all given back\n");
    return OK;
}
int cuCtxPushCurrent_v2(void *c)
{
    RULE(c == &context);
    context++;
    return OK;
}
int cuCtxPopCurrent_v2(void **c)
{
    RULE(context > 0);
    context--;
    *c = &context;
    return OK;
}
int cuModuleLoadData(void **m, const void *image)
{
    RULE(context && !strcmp(image, "the image"));
    modules++;
    *m = &modules;
    return OK;
}
int cuModuleUnload(void *m)
{
    RULE(context && m == &modules && modules-- > 0);
    return OK;
}
int cuModuleGetFunction(void **f, void *m, const char *name)
{
    RULE(context && m == &modules);
    for (int i = 0; i < FAKE_MODEL.n_kernels; i++)
        if (!strcmp(FAKE_MODEL.kernel[i].name, name)) {
            *f = (void *)(uintptr_t)&FAKE_MODEL.kernel[i];
            return OK;
        }
    return INVALID;
}
/* 227 KiB are a block's of compute capability 9.0 */
int cuFuncSetAttribute(void *f, int attribute, int value)
{
    const struct arn_cuda_kernel *k = f;
    RULE(context && attribute == 8 && value > 0 && value <= 227 << 10);
    allowed[k - FAKE_MODEL.kernel] = (unsigned)value;
    return OK;
}
int cuMemAlloc_v2(uint64_t *at, size_t n)
{
    RULE(context && n);
    for (int i = 0; i < BLOCKS; i++)
        if (!block[i].at) {
            block[i].n = n;
            block[i].at = aligned_alloc(256, (n + 255) / 256 * 256);
            memset(block[i].at, 0xa5, n);
            *at = (uintptr_t)block[i].at;
            return OK;
        }
    return OUT_OF_MEMORY;
}
int cuMemFree_v2(uint64_t at)
{
    RULE(context);
    for (int i = 0; i < BLOCKS; i++)
        if (block[i].at && (uintptr_t)block[i].at == at) {
            free(block[i].at);
            block[i].at = NULL;
            return OK;
        }
    return INVALID;
}
int cuStreamCreate(void **s, unsigned flags)
{
    RULE(context && flags == 1);
    streams++;
    *s = &streams;
    return OK;
}
int cuStreamDestroy_v2(void *s)
{
    RULE(context && s == &streams && streams-- > 0);
    return OK;
}
int cuStreamSynchronize(void *s)
{
    RULE(context && s == &streams && !capturing);
    after_launch = 0;
    return OK;
}
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *s)
{
    RULE(context && s == &streams && !capturing && inside(to, n));
    memcpy((void *)(uintptr_t)to, from, n);
    return OK;
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *s)
{
    RULE(context && s == &streams && !capturing && inside(from, n));
    memcpy(to, (void *)(uintptr_t)from, n);
    return OK;
}

static int play(const struct record *r)
{
    if (r->launch)
        return arn_emu_launch(&FAKE_MODEL, r->launch, r->arg);
    memset(r->at, 0, r->n);
    return OK;
}
static int put(const struct record *r)
{
    after_launch = r->launch != NULL;
    memsets += !r->launch;
    if (!capturing)
        return play(r);
    RULE(records < RECORDS);
    record[records++] = *r;
    return OK;
}
int cuMemsetD8Async(uint64_t at, unsigned char byte, size_t n, void *s)
{
    RULE(context && s && !byte && inside(at, n));
    const struct record r = {.at = (char *)(uintptr_t)at, .n = n};
    return put(&r);
}
/* The addresses are those of the row: each its offset from one allocation for each space. */
static int fits(const struct arn_cuda_launch *l, void **args)
{
    uint64_t base[4] = {0};
    for (int a = 0; a < l->n_args; a++) {
        const struct arn_cuda_arg *arg = &FAKE_MODEL.arg[l->first + a];
        uint64_t at;
        memcpy(&at, args[a], sizeof at);
        at -= arg->offset;
        if (!inside(at + arg->offset, arg->bytes) || (base[arg->space] && base[arg->space] != at))
            return 0;
        base[arg->space] = at;
    }
    for (int s = 0; s < 4; s++) {
        int known = !base[s];
        for (int i = 0; i < BLOCKS; i++)
            known |= block[i].at && (uintptr_t)block[i].at == base[s];
        if (!known)
            return 0;
    }
    return 1;
}
int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *s, void **args, void **extra)
{
    const struct arn_cuda_kernel *k = f;
    struct record r = {0};
    RULE(context && s && gx && gy == 1 && gz == 1 && bx == k->threads && by == 1 && bz == 1 && !extra);
    RULE(shared == k->shared && (shared <= 48 << 10 || shared <= allowed[k - FAKE_MODEL.kernel]));
    for (int i = 0; i < FAKE_MODEL.n_launches && !r.launch; i++) {
        const struct arn_cuda_launch *l = &FAKE_MODEL.launch[i];
        if (&FAKE_MODEL.kernel[l->kernel] == k && l->blocks == gx && fits(l, args))
            r.launch = l;
    }
    RULE(r.launch);
    for (int a = 0; a < r.launch->n_args; a++)
        memcpy(&r.arg[a], args[a], sizeof r.arg[a]);
    return put(&r);
}
/* Only a launch right after another launch may start early. */
struct config {
    unsigned blocks[3], threads[3], shared;
    void *stream;
    const struct {
        unsigned id, pad;
        int yes;
        char rest[60];
    } * attribute;
    unsigned n;
};
int cuLaunchKernelEx(const struct config *c, void *f, void **args, void **extra)
{
    RULE(FAKE_MODEL.early && !getenv("FAKE_OLD_DRIVER"));
    RULE(c->n == 1 && c->attribute->id == 6 && c->attribute->yes == 1 && after_launch);
    early_launches++;
    return cuLaunchKernel(f, c->blocks[0], c->blocks[1], c->blocks[2], c->threads[0], c->threads[1], c->threads[2],
                          c->shared, c->stream, args, extra);
}
int cuStreamBeginCapture_v2(void *s, int mode)
{
    RULE(context && s == &streams && mode == 1 && !capturing);
    capturing = 1;
    records = after_launch = 0;
    return OK;
}
int cuStreamEndCapture(void *s, void **graph)
{
    RULE(context && s == &streams && capturing);
    capturing = 0;
    graphs++;
    *graph = record;
    return OK;
}
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
    RULE(context && graph == record && !flags);
    graphs++;
    *exec = record;
    return OK;
}
int cuGraphLaunch(void *exec, void *s)
{
    RULE(context && exec == record && s && !capturing);
    for (int i = 0; i < records; i++)
        if (play(&record[i]))
            return INVALID;
    return OK;
}
int cuGraphExecDestroy(void *exec)
{
    RULE(context && exec == record && graphs-- > 0);
    return OK;
}
int cuGraphDestroy(void *graph)
{
    RULE(context && graph == record && graphs-- > 0);
    return OK;
}
