 * Compile without -ffast-math. The API is in host.h. */
#include "host.h"

#include <limits.h>

#if INT_MAX < 2147483647
#error "int has fewer than 32 bits here; this code computes small integers in int"
#endif
#if defined(__FAST_MATH__) || (defined(__FINITE_MATH_ONLY__) && __FINITE_MATH_ONLY__)
#error "compile without -ffast-math: results and NaN would differ"
#endif

/* What arn_rt.h declares. */
#ifndef ARN_RT_H
struct arn_mem;
struct arn_hook;
struct arn_pool;
typedef void arn_step_fn(void *user, int32_t step);
typedef int arn_init_fn(const struct arn_mem *m);
typedef int arn_run_fn(const struct arn_mem *m, const struct arn_hook *hook);
typedef void arn_seed_fn(const struct arn_mem *m, uint64_t seed, uint32_t run);
struct arn_mem { /* the memory of one running model: the caller's */
    void * arena; /* arena_bytes, aligned to arena_align; NULL when there is none */
    const void * weights; /* the blob; NULL unless weights is ARN_WEIGHTS_BLOB */
    void * state; /* state_bytes, aligned to arena_align; kept between runs */
    const void *const * in; /* with ARN_IN_CALLER: the inputs, aligned for their types; only read */
    void *const * out; /* with ARN_IN_CALLER: the outputs; none overlaps another or an input */
    struct arn_pool * pool; /* runs the parts of steps when threads is above 1 (arn_pool.h); NULL: one thread */
};
struct arn_hook { /* called around every step of a run */
    arn_step_fn * begin; /* may be NULL */
    arn_step_fn * end; /* may be NULL */
    void * user; /* handed to both */
};
struct arn_tensor { /* an input or an output */
    const char * name; /* as in the model */
    const char * type; /* "f32", "i8", ... */
    int32_t dtype; /* ARN_F32, ... */
    int32_t rank; /* number of dimensions; 0: a scalar */
    const int64_t * dim; /* outermost first; NULL when rank is 0 */
    int32_t space; /* ARN_IN_ARENA, ARN_IN_STATE, ARN_IN_WEIGHTS, or ARN_IN_CALLER: a pointer of its own */
    int32_t clobbered; /* inputs: its bytes are used again before run returns */
    uint64_t offset; /* bytes from the start of its space */
    uint64_t bytes; /* its size */
    const void * data; /* ARN_IN_WEIGHTS: its bytes when they are part of the program, else NULL */
    int32_t n_quant; /* pairs of scale and zero point; 0: not quantised */
    int32_t axis; /* dimension the pairs belong to when there are several */
    const float * scale; /* real = scale * (stored - zero) */
    const int32_t * zero; /* n_quant zero points */
};
struct arn_step { /* one call of run, in order */
    const char * op; /* "CONV_2D" */
    const char * name; /* of the node */
    const char * fused; /* operators computed in the same loops, or NULL */
    int64_t macs; /* multiply-adds */
};
struct arn_model { /* a compiled model */
    uint32_t abi; /* ARN_ABI of the generator: other fields are valid only if it is yours */
    const char * name; /* prefix of its C names */
    const char * version; /* of arenac */
    const char * target; /* it was compiled for */
    uint64_t arena_bytes; /* size of the arena */
    uint64_t arena_align; /* alignment of its address, of state and of weights */
    uint64_t state_bytes; /* size of the state; 0: none */
    uint64_t weights_bytes; /* size of the blob with its header; 0 when weights are C text */
    int32_t weights; /* ARN_WEIGHTS_RODATA, ARN_WEIGHTS_ASM or ARN_WEIGHTS_BLOB */
    int32_t threads; /* chunks that a step may be cut into; 1: none */
    int32_t n_inputs; /* inputs */
    int32_t n_outputs; /* outputs */
    int32_t n_steps; /* steps */
    const struct arn_tensor * input; /* in the model's order */
    const struct arn_tensor * output; /* in the model's order */
    const struct arn_step * step; /* in execution order */
    arn_init_fn * init; /* checks memory, sets state to zero; 0 or an error of the generated header */
    arn_run_fn * run; /* hook may be NULL */
    arn_init_fn * reset; /* sets state to its first value; NULL when there is none */
    arn_seed_fn * seed; /* the next run draws the random numbers of run `run` of this seed; NULL: it draws none */
};
#endif

#if defined(__GNUC__) || defined(__clang__)
__attribute__((noinline))
#endif
static void host_hook_begin(const struct arn_hook *hook, int32_t step)
{
    if (hook && hook->begin)
        hook->begin(hook->user, step);
}

#define HOST_STEP_BEGIN(i) host_hook_begin(hook, (i))
#if defined(__GNUC__) || defined(__clang__)
__attribute__((noinline))
#endif
static void host_hook_end(const struct arn_hook *hook, int32_t step)
{
    if (hook && hook->end)
        hook->end(hook->user, step);
}

#define HOST_STEP_END(i) host_hook_end(hook, (i))
/* Where weights and code go: an attribute such as __attribute__((section(".itcm"))). */
#ifndef HOST_SECTION_RODATA
#define HOST_SECTION_RODATA
#endif
#ifndef HOST_SECTION_FAST
#define HOST_SECTION_FAST
#endif

/* Every operation rounds by itself: a * b + c is two roundings unless an fma is written. gcc 12 takes the
 * stores of a loop that makes their addresses from two pointers (2 * p - q) for stores through NULL. */
#if defined(__clang__)
#pragma STDC FP_CONTRACT OFF
#elif defined(__GNUC__)
#pragma GCC optimize("fp-contract=off,no-delete-null-pointer-checks")
#endif

static uint32_t bits_of_f32(float x)
{
    union {
        float x;
        uint32_t bits;
    } v;
    v.x = x;
    return v.bits;
}

static float of_bits_f32(uint32_t bits)
{
    union {
        uint32_t bits;
        float x;
    } v;
    v.bits = bits;
    return v.x;
}

/* exp 'y' -> f32 [2,3]
 * step 0: exp 'y': x f32 [2,3] at in0 0x0000 -> y f32 [2,3] at out0 0x0000
 *   out  f32[6]  f32 [2,3] y
 *   x    f32[6]  f32 [2,3] x */
HOST_SECTION_FAST static void host_exp_0(float *restrict out, const float *restrict x)
{
    for (int32_t i = 0; i < 6; i++) {
        const float x0 = x[i];
        const float t0 = 89.0f < x0 ? 89.0f : x0;
        const float t1 = -104.0f > t0 ? -104.0f : t0;
        const float t2 = t1 * 1.442695f + 12583166.0f;
        const float t3 = t2 - 12583166.0f;
        const float t4 = t3 * -1.4286068e-06f + (t3 * -0.69314575f + t1);
        const float t5 = t4 * t4 * ((((0.001395045f * t4 + 0.008368882f) * t4 + 0.041666206f) * t4 + 0.1666652f) * t4 + 0.5f);
        const int32_t t6 = (int32_t)bits_of_f32(t2);
        const int32_t t7 = t6 >> 1;
        const float t8 = of_bits_f32((uint32_t)(int32_t)((uint32_t)(int32_t)((uint32_t)t6 - (uint32_t)t7) * 8388608u));
        out[i] = (t5 + t4 + 1.0f) * of_bits_f32((uint32_t)(int32_t)((uint32_t)t7 * 8388608u)) * t8;
    }
}

/* dequantize 'j' -> f32 [4]
 * step 1: dequantize 'j': i i8 [4] at in1 0x0000 -> j f32 [4] at out1 0x0000
 *   out  f32[4]  f32 [4] j
 *   x    i8[4]  i8 [4] i */
HOST_SECTION_FAST static void host_dequantize_1(float *restrict out, const int8_t *restrict x)
{
    for (int32_t i = 0; i < 4; i++) {
        out[i] = (float)x[i] * 0.5f;
    }
}

int host_init(const host_mem *m)
{
    (void)m;
    return HOST_OK;
}

static int host_steps(const host_mem *m, const struct arn_hook *hook)
{
    const uint8_t *const in0 = (const uint8_t *)m->in[0];
    const uint8_t *const in1 = (const uint8_t *)m->in[1];
    uint8_t *const out0 = (uint8_t *)m->out[0];
    uint8_t *const out1 = (uint8_t *)m->out[1];

    /* 0: exp 'y': x f32 [2,3] -> y f32 [2,3] */
    HOST_STEP_BEGIN(0);
    host_exp_0((void *)(out0 + 0x0000), (const void *)(in0 + 0x0000));
    HOST_STEP_END(0);

    /* 1: dequantize 'j': i i8 [4] -> j f32 [4] */
    HOST_STEP_BEGIN(1);
    host_dequantize_1((void *)(out1 + 0x0000), (const void *)(in1 + 0x0000));
    HOST_STEP_END(1);
    return HOST_OK;
}

int host_run(const host_mem *m)
{
    return host_steps(m, NULL);
}

static int host_host_init(const struct arn_mem *a)
{
    host_mem m;
    m.weights = a->weights;
    m.arena = a->arena;
    m.in[0] = a->in ? a->in[0] : NULL;
    m.in[1] = a->in ? a->in[1] : NULL;
    m.out[0] = a->out ? a->out[0] : NULL;
    m.out[1] = a->out ? a->out[1] : NULL;
    return host_init(&m);
}

static int host_host_run(const struct arn_mem *a, const struct arn_hook *hook)
{
    host_mem m;
    m.weights = a->weights;
    m.arena = a->arena;
    m.in[0] = a->in ? a->in[0] : NULL;
    m.in[1] = a->in ? a->in[1] : NULL;
    m.out[0] = a->out ? a->out[0] : NULL;
    m.out[1] = a->out ? a->out[1] : NULL;
    return host_steps(&m, hook);
}

static const int64_t host_in0_dim[2] = {2, 3};
static const int64_t host_in1_dim[1] = {4};
static const float host_in1_scale[1] = {0.5f};
static const int32_t host_in1_zero[1] = {0};
static const struct arn_tensor host_in_tensors[2] = {
    {"x", "f32", 1, 2, host_in0_dim, 3, 0, 0u, 24u, NULL, 0, 0, NULL, NULL},
    {"i", "i8", 5, 1, host_in1_dim, 3, 0, 0u, 4u, NULL, 1, 0, host_in1_scale, host_in1_zero},
};
static const int64_t host_out0_dim[2] = {2, 3};
static const int64_t host_out1_dim[1] = {4};
static const struct arn_tensor host_out_tensors[2] = {
    {"y", "f32", 1, 2, host_out0_dim, 3, 0, 0u, 24u, NULL, 0, 0, NULL, NULL},
    {"j", "f32", 1, 1, host_out1_dim, 3, 0, 0u, 16u, NULL, 0, 0, NULL, NULL},
};
static const struct arn_step host_step_table[2] = {
    {"exp", "y", NULL, 0},
    {"dequantize", "j", NULL, 0},
};
extern const struct arn_model host_model;
const struct arn_model host_model = {
    4u, "host", "0.2.0", "generic",
    0u, 16u, HOST_STATE_BYTES, 0u, 0,
    1, 2, 2, 2,
    host_in_tensors, host_out_tensors, host_step_table,
    host_host_init, host_host_run, NULL, NULL
};

size_t host_describe(const struct arn_model **model)
{
    *model = &host_model;
    return sizeof host_model;
}

host_ctx *host_open(const char *weights_path, const char **why)
{
    return arn_open(&host_model, weights_path, why);
}

int host_run_dl(host_ctx *ctx, const DLTensor *const *in, size_t n_in, DLTensor *const *out, size_t n_out)
{
    return arn_run_dl(ctx, in, n_in, out, n_out);
}

int host_get_dl(host_ctx *ctx, size_t output, DLManagedTensorVersioned **tensor)
{
    return arn_get_dl(ctx, output, tensor);
}

void host_close(host_ctx *ctx)
{
    arn_close(ctx);
}
