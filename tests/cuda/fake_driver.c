/* fake_driver.c - a libcuda.so.1 without a device: uses host memory, and the kernels of the emulation, linked in.
 * Checks every rule of the real driver that our code could break: calls need the context, copies stay inside of
 * allocations, a capturing stream only records launches, everything is freed. */
#include "arn_cuda.h"
#include "arn_cuda_emu.h"

#include <stdio.h>
#include <stdlib.h>

extern const struct arn_cuda_model FAKE_MODEL;
enum {
    OK,
    INVALID = 1,
    OUT_OF_MEMORY = 2,
    BLOCKS = 16,
    RECORDS = 4096,
    GRAPHS = 8,
    STREAMS = 8,
    DEVICES = 2,
    FIRST = 7
};

static struct {
    char *at;
    size_t n;
    int device; /* -1: pinned memory of the host */
} block[BLOCKS];
static int retained, contexts[DEVICES], entered[8], depth, modules, after_launch, early_launches, memsets;
static struct stream {
    int device, open, capturing;
} streams[STREAMS];
static struct graph {
    int n, open; /* records; the graph, and its instances */
    struct record {
        const struct arn_cuda_launch *launch; /* NULL: a memset, or a copy */
        void *arg[64];
        char *to;
        const char *from; /* NULL: a memset */
        size_t n;
    } record[RECORDS];
} graphs[GRAPHS], *captured;
static unsigned allowed[RECORDS]; /* dynamic shared memory, by kernel */

#define RULE(holds)                                            \
    do                                                         \
        if (!(holds)) {                                        \
            fprintf(stderr, "%s: not %s\n", __func__, #holds); \
            return INVALID;                                    \
        }                                                      \
    while (0)

/* The device of the present context; -1: none */
static int device(void)
{
    return depth ? entered[depth - 1] : -1;
}
static int holds(int of, uint64_t at, size_t n)
{
    for (int i = 0; i < BLOCKS; i++)
        if (block[i].at && block[i].device == of && at >= (uintptr_t)block[i].at &&
            at + n <= (uintptr_t)block[i].at + block[i].n)
            return 1;
    return 0;
}
static int inside(uint64_t at, size_t n)
{
    return device() >= 0 && holds(device(), at, n);
}
/* A stream of the present device */
static struct stream *of(void *s)
{
    struct stream *x = s;
    return x >= streams && x < streams + STREAMS && x->open && x->device == device() ? x : NULL;
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
    return *n = DEVICES, OK;
}
int cuDeviceGet(int *number, int i)
{
    return *number = FIRST + i, i >= 0 && i < DEVICES ? OK : INVALID;
}
int cuDeviceGetAttribute(int *value, int attribute, int number)
{
    const char *text = getenv("FAKE_CAPABILITY");
    const int capability = text ? atoi(text) : 90;
    RULE((attribute == 75 || attribute == 76) && number >= FIRST && number < FIRST + DEVICES);
    if (text && !capability)
        return INVALID;
    return *value = attribute == 75 ? capability / 10 : capability % 10, OK;
}
int cuDevicePrimaryCtxRetain(void **c, int number)
{
    RULE(number >= FIRST && number < FIRST + DEVICES);
    retained++;
    *c = &contexts[number - FIRST];
    return OK;
}
int cuDevicePrimaryCtxRelease_v2(int number)
{
    RULE(number >= FIRST && number < FIRST + DEVICES && retained > 0 && !depth);
    if (--retained)
        return OK;
    for (int i = 0; i < BLOCKS; i++)
        RULE(!block[i].at);
    for (int i = 0; i < STREAMS; i++)
        RULE(!streams[i].open);
    for (int i = 0; i < GRAPHS; i++)
        RULE(!graphs[i].open);
    RULE(!modules);
    fprintf(stderr, "%d early launches, %d memsets\n", early_launches, memsets);
    fprintf(stderr, "all given back\n");
    return OK;
}
int cuCtxPushCurrent_v2(void *c)
{
    RULE((int *)c >= contexts && (int *)c < contexts + DEVICES && depth < 8);
    entered[depth++] = (int)((int *)c - contexts);
    return OK;
}
int cuCtxPopCurrent_v2(void **c)
{
    RULE(depth > 0);
    *c = &contexts[entered[--depth]];
    return OK;
}
int cuModuleLoadData(void **m, const void *image)
{
    const char *wanted = getenv("FAKE_IMAGE");
    RULE(depth && !strcmp(image, wanted ? wanted : "the image"));
    modules++;
    *m = &modules;
    return OK;
}
int cuModuleUnload(void *m)
{
    RULE(depth && m == &modules && modules-- > 0);
    return OK;
}
int cuModuleGetFunction(void **f, void *m, const char *name)
{
    RULE(depth && m == &modules);
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
    RULE(depth && attribute == 8 && value > 0 && value <= 227 << 10);
    allowed[k - FAKE_MODEL.kernel] = (unsigned)value;
    return OK;
}
int cuMemAlloc_v2(uint64_t *at, size_t n)
{
    RULE(depth && n);
    for (int i = 0; i < BLOCKS; i++)
        if (!block[i].at) {
            block[i].n = n;
            block[i].device = device();
            block[i].at = aligned_alloc(256, (n + 255) / 256 * 256);
            memset(block[i].at, 0xa5, n);
            *at = (uintptr_t)block[i].at;
            return OK;
        }
    return OUT_OF_MEMORY;
}
int cuMemFree_v2(uint64_t at)
{
    RULE(depth);
    for (int i = 0; i < BLOCKS; i++)
        if (block[i].at && block[i].device == device() && (uintptr_t)block[i].at == at) {
            free(block[i].at);
            block[i].at = NULL;
            return OK;
        }
    return INVALID;
}
int cuMemHostAlloc(void **at, size_t n, unsigned flags)
{
    RULE(depth && n && !flags);
    for (int i = 0; i < BLOCKS; i++)
        if (!block[i].at) {
            block[i].n = n;
            block[i].device = -1;
            *at = block[i].at = malloc(n);
            return OK;
        }
    return OUT_OF_MEMORY;
}
int cuMemFreeHost(void *at)
{
    RULE(depth);
    for (int i = 0; i < BLOCKS; i++)
        if (block[i].at && block[i].device == -1 && block[i].at == at) {
            free(block[i].at);
            block[i].at = NULL;
            return OK;
        }
    return INVALID;
}
int cuStreamCreate(void **s, unsigned flags)
{
    RULE(depth && flags == 1);
    for (int i = 0; i < STREAMS; i++)
        if (!streams[i].open) {
            streams[i] = (struct stream){device(), 1, 0};
            *s = &streams[i];
            return OK;
        }
    return OUT_OF_MEMORY;
}
int cuStreamDestroy_v2(void *s)
{
    RULE(of(s) && !of(s)->capturing);
    of(s)->open = 0;
    return OK;
}
int cuStreamIsCapturing(void *s, int *state)
{
    RULE(of(s));
    return *state = of(s)->capturing, OK;
}
int cuStreamSynchronize(void *s)
{
    RULE(of(s) && !of(s)->capturing);
    after_launch = 0;
    return OK;
}
static int put(void *s, const struct record *r);
/* A graph copies later: memory of the host has to stay, so it is pinned. */
int cuMemcpyHtoDAsync_v2(uint64_t to, const void *from, size_t n, void *s)
{
    const struct record r = {.to = (char *)(uintptr_t)to, .from = from, .n = n};
    RULE(of(s) && inside(to, n) && (!of(s)->capturing || holds(-1, (uintptr_t)from, n)));
    return put(s, &r);
}
int cuMemcpyDtoHAsync_v2(void *to, uint64_t from, size_t n, void *s)
{
    const struct record r = {.to = to, .from = (const char *)(uintptr_t)from, .n = n};
    RULE(of(s) && inside(from, n) && (!of(s)->capturing || holds(-1, (uintptr_t)to, n)));
    return put(s, &r);
}

static int play(const struct record *r)
{
    if (r->launch)
        return arn_emu_launch(&FAKE_MODEL, r->launch, r->arg);
    if (r->from)
        memcpy(r->to, r->from, r->n);
    else
        memset(r->to, 0, r->n);
    return OK;
}
static int put(void *s, const struct record *r)
{
    after_launch = r->launch != NULL;
    memsets += !r->launch && !r->from;
    if (!of(s)->capturing)
        return play(r);
    RULE(captured->n < RECORDS);
    captured->record[captured->n++] = *r;
    return OK;
}
int cuMemsetD8Async(uint64_t at, unsigned char byte, size_t n, void *s)
{
    RULE(of(s) && !byte && inside(at, n));
    const struct record r = {.to = (char *)(uintptr_t)at, .n = n};
    return put(s, &r);
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
    RULE(of(s) && gx && gy == 1 && gz == 1 && bx == k->threads && by == 1 && bz == 1 && !extra);
    RULE(shared == k->shared && (shared <= 48 << 10 || shared <= allowed[k - FAKE_MODEL.kernel]));
    for (int i = 0; i < FAKE_MODEL.n_launches && !r.launch; i++) {
        const struct arn_cuda_launch *l = &FAKE_MODEL.launch[i];
        if (&FAKE_MODEL.kernel[l->kernel] == k && l->blocks == gx && fits(l, args))
            r.launch = l;
    }
    RULE(r.launch);
    for (int a = 0; a < r.launch->n_args; a++)
        memcpy(&r.arg[a], args[a], sizeof r.arg[a]);
    return put(s, &r);
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
    RULE(of(s) && mode == 1 && !of(s)->capturing && !captured);
    for (int i = 0; i < GRAPHS && !captured; i++)
        if (!graphs[i].open)
            captured = &graphs[i];
    RULE(captured);
    of(s)->capturing = 1;
    captured->n = after_launch = 0;
    return OK;
}
int cuStreamEndCapture(void *s, void **graph)
{
    RULE(of(s) && of(s)->capturing && captured);
    of(s)->capturing = 0;
    captured->open = 1;
    *graph = captured;
    captured = NULL;
    return OK;
}
static int is_graph(const struct graph *g)
{
    return g >= graphs && g < graphs + GRAPHS && g->open > 0;
}
int cuGraphInstantiateWithFlags(void **exec, void *graph, unsigned long long flags)
{
    RULE(depth && is_graph(graph) && !flags);
    ((struct graph *)graph)->open++;
    *exec = graph;
    return OK;
}
int cuGraphLaunch(void *exec, void *s)
{
    const struct graph *g = exec;
    RULE(is_graph(g) && of(s) && !of(s)->capturing);
    after_launch = 0;
    for (int i = 0; i < g->n; i++)
        if (play(&g->record[i]))
            return INVALID;
    return OK;
}
int cuGraphExecDestroy(void *exec)
{
    RULE(depth && is_graph(exec));
    ((struct graph *)exec)->open--;
    return OK;
}
int cuGraphDestroy(void *graph)
{
    RULE(depth && is_graph(graph));
    ((struct graph *)graph)->open--;
    return OK;
}
