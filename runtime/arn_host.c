/* arn_host.c - contexts and DLPack: see arn_host.h. C99 and POSIX or Windows. */
#define _POSIX_C_SOURCE 200112L
#include "arn_host.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#ifdef _WIN32
#define WIN32_LEAN_AND_MEAN
#include <malloc.h>
#include <windows.h>
#else
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#endif

enum { ALIGN = 64, WHY = 256 };

/* Output buffers outlive the context while views of them are about. */
typedef struct buffers {
    long refs;
    void **out;
    int32_t n;
} buffers;

struct arn_ctx {
    const struct arn_model *model;
    struct arn_mem mem;
    void *map;
    size_t map_bytes;
    buffers *own;
    const void **in; /* of the present run */
    void **out;
    char why[WHY];
};

/* ------------------------------------------------------------------ the system */

#ifdef _WIN32
static void *aligned(size_t bytes, size_t align)
{
    return _aligned_malloc(bytes, align);
}

static void free_memory(void *p)
{
    _aligned_free(p);
}

static long count(buffers *b, long more)
{
    return InterlockedExchangeAdd(&b->refs, more) + more;
}

/* The name is in the code page of the process, as for fopen. */
static const char *map_file(const char *path, uint64_t bytes, void **map)
{
    const char *why = NULL;
    LARGE_INTEGER size;
    HANDLE view;
    const HANDLE file =
        CreateFileA(path, GENERIC_READ, FILE_SHARE_READ, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    if (file == INVALID_HANDLE_VALUE)
        return "the weights file cannot be opened";
    if (!GetFileSizeEx(file, &size) || (uint64_t)size.QuadPart != bytes) {
        why = "the weights file has another size than this model's";
    } else {
        view = CreateFileMappingA(file, NULL, PAGE_READONLY, 0, 0, NULL);
        *map = view ? MapViewOfFile(view, FILE_MAP_READ, 0, 0, 0) : NULL;
        if (view)
            CloseHandle(view);
        why = *map ? NULL : "the weights file cannot be mapped";
    }
    CloseHandle(file);
    return why;
}

static void unmap_file(void *map, size_t bytes)
{
    (void)bytes;
    UnmapViewOfFile(map);
}
#else
static void *aligned(size_t bytes, size_t align)
{
    void *p = NULL;
    return posix_memalign(&p, align, bytes) ? NULL : p;
}

static void free_memory(void *p)
{
    free(p);
}

static long count(buffers *b, long more)
{
    return __sync_add_and_fetch(&b->refs, more);
}

static const char *map_file(const char *path, uint64_t bytes, void **map)
{
    struct stat st;
    const char *why = NULL;
    const int fd = open(path, O_RDONLY);
    if (fd < 0)
        return "the weights file cannot be opened";
    if (fstat(fd, &st) || (uint64_t)st.st_size != bytes)
        why = "the weights file has another size than this model's";
    else if ((*map = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0)) == MAP_FAILED) {
        *map = NULL;
        why = "the weights file cannot be mapped";
    }
    close(fd);
    return why;
}

static void unmap_file(void *map, size_t bytes)
{
    munmap(map, bytes);
}
#endif

/* ------------------------------------------------------------------ memory */

/* An empty tensor still gets an address. */
static void *get_memory(uint64_t bytes, uint64_t align)
{
    const size_t a = align > ALIGN ? (size_t)align : ALIGN;
    return bytes > SIZE_MAX - a ? NULL : aligned(bytes ? (size_t)bytes : 1, a);
}

static void drop(buffers *b)
{
    if (!b || count(b, -1) > 0)
        return;
    for (int32_t i = 0; b->out && i < b->n; i++)
        free_memory(b->out[i]);
    free(b->out);
    free(b);
}

/* ------------------------------------------------------------------ open and close */

static const char *map_weights(arn_ctx *c, const char *path)
{
    if (c->model->weights != ARN_WEIGHTS_BLOB)
        return NULL;
    if (!path)
        return "the weights are a file of their own (--weights blob): its path is missing";
    const char *why = map_file(path, c->model->weights_bytes, &c->map);
    c->map_bytes = (size_t)c->model->weights_bytes;
    c->mem.weights = c->map;
    return why;
}

static const char *set_up(arn_ctx *c, const char *weights_path)
{
    const struct arn_model *m = c->model;
    if (m->abi != ARN_ABI)
        return "the model was generated for another version of the runtime";
    for (int32_t i = 0; i < m->n_inputs + m->n_outputs; i++) {
        const struct arn_tensor *t = i < m->n_inputs ? &m->input[i] : &m->output[i - m->n_inputs];
        if (t->space != ARN_IN_CALLER)
            return "the model was compiled without --host";
    }
    const char *why = map_weights(c, weights_path);
    if (why)
        return why;
    c->in = calloc((size_t)m->n_inputs + 1, sizeof *c->in);
    c->out = calloc((size_t)m->n_outputs + 1, sizeof *c->out);
    c->own = calloc(1, sizeof *c->own);
    if (c->own) {
        c->own->refs = 1;
        c->own->out = calloc((size_t)m->n_outputs + 1, sizeof *c->own->out);
    }
    c->mem.arena = get_memory(m->arena_bytes, m->arena_align);
    c->mem.state = get_memory(m->state_bytes, m->arena_align);
    if (!c->in || !c->out || !c->own || !c->own->out || !c->mem.arena || !c->mem.state)
        return "out of memory";
    for (; c->own->n < m->n_outputs; c->own->n++)
        if (!(c->own->out[c->own->n] = get_memory(m->output[c->own->n].bytes, ALIGN)))
            return "out of memory";
    c->mem.in = c->in;
    c->mem.out = c->out;
    return m->init(&c->mem) ? "the model refuses its memory or its weights" : NULL;
}

arn_ctx *arn_open(const struct arn_model *model, const char *weights_path, const char **why)
{
    const char *reason = "out of memory";
    arn_ctx *c = calloc(1, sizeof *c);
    if (c) {
        c->model = model;
        reason = set_up(c, weights_path);
    }
    if (why)
        *why = reason;
    if (!reason)
        return c;
    arn_close(c);
    return NULL;
}

void arn_close(arn_ctx *c)
{
    if (!c)
        return;
    if (c->map)
        unmap_file(c->map, c->map_bytes);
    free_memory(c->mem.arena);
    free_memory(c->mem.state);
    free(c->in);
    free(c->out);
    drop(c->own);
    free(c);
}

const char *arn_why(const arn_ctx *c)
{
    return c->why;
}

int arn_reset_dl(arn_ctx *c)
{
    return c->model->reset ? c->model->reset(&c->mem) : 0;
}

int arn_seed_dl(arn_ctx *c, uint64_t seed, uint32_t run)
{
    if (!c->model->seed) {
        snprintf(c->why, WHY, "the model draws no random numbers");
        return -1;
    }
    c->model->seed(&c->mem, seed, run);
    return 0;
}

/* ------------------------------------------------------------------ does a tensor fit? */

static DLDataType type_of(int32_t dtype)
{
    static const struct {
        uint8_t code, bits;
    } ROW[] = {[ARN_F32] = {kDLFloat, 32}, [ARN_F16] = {kDLFloat, 16}, [ARN_BF16] = {kDLBfloat, 16},
               [ARN_F64] = {kDLFloat, 64}, [ARN_I8] = {kDLInt, 8},     [ARN_I16] = {kDLInt, 16},
               [ARN_I32] = {kDLInt, 32},   [ARN_I64] = {kDLInt, 64},   [ARN_U8] = {kDLUInt, 8},
               [ARN_U16] = {kDLUInt, 16},  [ARN_U32] = {kDLUInt, 32},  [ARN_U64] = {kDLUInt, 64},
               [ARN_BOOL] = {kDLBool, 8}};
    DLDataType t = {kDLOpaqueHandle, 0, 1};
    if (dtype > 0 && dtype < (int32_t)(sizeof ROW / sizeof *ROW)) {
        t.code = ROW[dtype].code;
        t.bits = ROW[dtype].bits;
    }
    return t;
}

#if defined __GNUC__ || defined __clang__
__attribute__((format(printf, 5, 6)))
#endif
static int
refuse(arn_ctx *c, const char *kind, size_t i, const struct arn_tensor *t, const char *fmt, ...)
{
    int n = snprintf(c->why, WHY, "%s %u '%s': ", kind, (unsigned)i, t->name);
    va_list ap;
    va_start(ap, fmt);
    if (n >= 0 && n < WHY)
        vsnprintf(c->why + n, (size_t)(WHY - n), fmt, ap);
    va_end(ap);
    return -1;
}

/* "f64" or "2 lanes of f32"; a type that has no short name by its numbers. */
static const char *type_name(DLDataType t, char *text, size_t n)
{
    static const char *const KIND[] = {[kDLInt] = "i", [kDLUInt] = "u", [kDLFloat] = "f", [kDLBfloat] = "bf"};
    char lanes[24] = "";
    if (t.lanes != 1)
        snprintf(lanes, sizeof lanes, "%d lanes of ", t.lanes);
    if (t.code == kDLBool && t.bits == 8)
        snprintf(text, n, "%sbool", lanes);
    else if (t.code < sizeof KIND / sizeof *KIND && KIND[t.code])
        snprintf(text, n, "%s%s%d", lanes, KIND[t.code], t.bits);
    else
        snprintf(text, n, "%sDLPack code %d, %d bits", lanes, t.code, t.bits);
    return text;
}

static int check(arn_ctx *c, const char *kind, size_t i, const struct arn_tensor *t, const DLTensor *x)
{
    char found[64];
    const DLDataType want = type_of(t->dtype);
    if (x->device.device_type != kDLCPU && x->device.device_type != kDLCUDAHost &&
        x->device.device_type != kDLCUDAManaged)
        return refuse(c, kind, i, t, "device type is %d, expected host memory (1); copy it to the CPU",
                      (int)x->device.device_type);
    if (x->dtype.code != want.code || x->dtype.bits != want.bits || x->dtype.lanes != 1)
        return refuse(c, kind, i, t, "type is %s, expected %s", type_name(x->dtype, found, sizeof found), t->type);
    if (x->ndim != t->rank)
        return refuse(c, kind, i, t, "has %d dimensions, expected %d", (int)x->ndim, (int)t->rank);
    for (int32_t d = 0; d < t->rank; d++)
        if (x->shape[d] != t->dim[d])
            return refuse(c, kind, i, t, "shape[%d] is %lld, expected %lld", (int)d, (long long)x->shape[d],
                          (long long)t->dim[d]);
    int64_t stride = 1;
    for (int32_t d = t->rank - 1; d >= 0 && x->strides && t->bytes; stride *= t->dim[d--])
        if (t->dim[d] != 1 && x->strides[d] != stride)
            return refuse(c, kind, i, t,
                          "strides[%d] is %lld, expected %lld (compact, row-major); make a contiguous copy", (int)d,
                          (long long)x->strides[d], (long long)stride);
    if (t->bytes && !x->data)
        return refuse(c, kind, i, t, "data is NULL");
    if (((uintptr_t)x->data + x->byte_offset) % (want.bits / 8u))
        return refuse(c, kind, i, t, "data + byte_offset is not aligned to %d bytes; make a copy", want.bits / 8);
    return 0;
}

static void *start_of(const DLTensor *x)
{
    return x->data ? (uint8_t *)x->data + x->byte_offset : NULL;
}

static int meet(const void *a, uint64_t na, const void *b, uint64_t nb)
{
    return na && nb && (uintptr_t)a < (uintptr_t)b + nb && (uintptr_t)b < (uintptr_t)a + na;
}

/* Results are written while operands are still read. */
static int check_apart(arn_ctx *c)
{
    const struct arn_model *m = c->model;
    for (int32_t o = 0; o < m->n_outputs; o++) {
        const struct arn_tensor *t = &m->output[o];
        for (int32_t i = 0; i < m->n_inputs; i++)
            if (meet(c->out[o], t->bytes, c->in[i], m->input[i].bytes))
                return refuse(c, "output", (size_t)o, t, "shares bytes with input %d; give it memory of its own",
                              (int)i);
        for (int32_t k = 0; k < o; k++)
            if (meet(c->out[o], t->bytes, c->out[k], m->output[k].bytes))
                return refuse(c, "output", (size_t)o, t, "shares bytes with output %d; give it memory of its own",
                              (int)k);
    }
    return 0;
}

int arn_run_dl(arn_ctx *c, const DLTensor *const *in, size_t n_in, DLTensor *const *out, size_t n_out)
{
    const struct arn_model *m = c->model;
    if (n_in != (size_t)m->n_inputs || (n_out && n_out != (size_t)m->n_outputs)) {
        snprintf(c->why, WHY, "%u inputs and %u outputs given, the model has %d and %d", (unsigned)n_in,
                 (unsigned)n_out, (int)m->n_inputs, (int)m->n_outputs);
        return -1;
    }
    for (size_t i = 0; i < n_in; i++) {
        if (!in[i])
            return refuse(c, "input", i, &m->input[i], "is missing");
        if (check(c, "input", i, &m->input[i], in[i]))
            return -1;
        c->in[i] = start_of(in[i]);
    }
    for (size_t i = 0; i < (size_t)m->n_outputs; i++) {
        const DLTensor *x = n_out ? out[i] : NULL;
        if (x && check(c, "output", i, &m->output[i], x))
            return -1;
        c->out[i] = x ? start_of(x) : c->own->out[i];
    }
    if (check_apart(c))
        return -1;
    return m->run(&c->mem, NULL);
}

/* ------------------------------------------------------------------ tensors for others */

/* The memory of a managed tensor, in one block: the struct itself, its shape and strides, and perhaps its bytes. */
typedef struct owned {
    union {
        DLManagedTensorVersioned now;
        DLManagedTensor legacy;
    } tensor;
    buffers *lent; /* a view of a context's buffer */
    void *bytes;   /* or bytes of its own */
    int64_t dim[1];
} owned;

static void free_owned(owned *o)
{
    if (o->lent)
        drop(o->lent);
    free_memory(o->bytes);
    free(o);
}

static void delete_now(DLManagedTensorVersioned *t)
{
    free_owned(t->manager_ctx);
}

static void delete_legacy(DLManagedTensor *t)
{
    free_owned(t->manager_ctx);
}

static owned *describe(const struct arn_tensor *t, DLTensor *x)
{
    owned *o = calloc(1, sizeof *o + 2 * (size_t)t->rank * sizeof *o->dim);
    if (!o)
        return NULL;
    int64_t *strides = o->dim + t->rank, stride = 1;
    for (int32_t d = t->rank - 1; d >= 0; d--) {
        o->dim[d] = t->dim[d];
        strides[d] = stride;
        stride *= t->dim[d];
    }
    memset(x, 0, sizeof *x);
    x->device.device_type = kDLCPU;
    x->ndim = t->rank;
    x->dtype = type_of(t->dtype);
    x->shape = o->dim;
    x->strides = strides;
    return o;
}

static DLManagedTensorVersioned *as_now(owned *o, const DLTensor *x, uint64_t flags)
{
    DLManagedTensorVersioned *t = &o->tensor.now;
    t->version.major = DLPACK_MAJOR_VERSION;
    t->version.minor = DLPACK_MINOR_VERSION;
    t->manager_ctx = o;
    t->deleter = delete_now;
    t->flags = flags;
    t->dl_tensor = *x;
    return t;
}

int arn_get_dl(arn_ctx *c, size_t output, DLManagedTensorVersioned **tensor)
{
    DLTensor x;
    if (output >= (size_t)c->model->n_outputs) {
        snprintf(c->why, WHY, "output %u: the model has %d", (unsigned)output, (int)c->model->n_outputs);
        return -1;
    }
    owned *o = describe(&c->model->output[output], &x);
    if (!o) {
        snprintf(c->why, WHY, "out of memory");
        return -1;
    }
    x.data = c->own->out[output];
    o->lent = c->own;
    count(c->own, 1);
    *tensor = as_now(o, &x, DLPACK_FLAG_BITMASK_READ_ONLY);
    return 0;
}

int arn_empty_dl(const struct arn_model *m, size_t output, DLManagedTensorVersioned **tensor)
{
    DLTensor x;
    if (output >= (size_t)m->n_outputs)
        return -1;
    owned *o = describe(&m->output[output], &x);
    if (!o)
        return -1;
    x.data = o->bytes = get_memory(m->output[output].bytes, ALIGN);
    if (!x.data) {
        free_owned(o);
        return -1;
    }
    *tensor = as_now(o, &x, 0);
    return 0;
}

DLManagedTensor *arn_legacy_dl(DLManagedTensorVersioned *tensor)
{
    owned *o = tensor->manager_ctx;
    const DLTensor x = tensor->dl_tensor;
    o->tensor.legacy.dl_tensor = x;
    o->tensor.legacy.manager_ctx = o;
    o->tensor.legacy.deleter = delete_legacy;
    return &o->tensor.legacy;
}
