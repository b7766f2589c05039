 *     d4405be402a239c541b9f7058f74456164e87019ac98dc9fc7548f64de19d864); options: -t cortex-m4 --custom custom.rows
 * arena 84 B, optimal; input 'x' overwritten by custom_run. Safe to call from several threads with distinct arenas. */
#ifndef CUSTOM_H
#define CUSTOM_H
#include <stddef.h>
#include <stdint.h>
#ifdef __cplusplus
extern "C" {
#endif

#define CUSTOM_ARENA_BYTES 84u
#define CUSTOM_ARENA_ALIGN 64u
#define CUSTOM_STATE_BYTES 0u
#if !defined(__OPTIMIZE__) && defined(__GNUC__)
#define CUSTOM_STACK_BYTES 200u /* of custom_run: frames of arm-none-eabi-gcc 12.2.1 and clang 19.1.7, -O0 */
#else
#define CUSTOM_STACK_BYTES 184u /* of custom_run: frames of arm-none-eabi-gcc 12.2.1 and clang 19.1.7 */
#endif
#define CUSTOM_INPUTS 1
#define CUSTOM_OUTPUTS 3
#define CUSTOM_STEPS 3
#define CUSTOM_IN0_OFFSET 0x0000u /* x f32 [2,3] */
#define CUSTOM_IN0_BYTES 24u
#define CUSTOM_IN0_COUNT 6u
#define CUSTOM_IN0_CLOBBERED 1
#define CUSTOM_OUT0_OFFSET 0x0020u /* y f32 [2,3] */
#define CUSTOM_OUT0_BYTES 24u
#define CUSTOM_OUT0_COUNT 6u
#define CUSTOM_OUT1_OFFSET 0x0040u /* z f32 [2] */
#define CUSTOM_OUT1_BYTES 8u
#define CUSTOM_OUT1_COUNT 2u
#define CUSTOM_OUT2_OFFSET 0x0050u /* n i32 [] */
#define CUSTOM_OUT2_BYTES 4u
#define CUSTOM_OUT2_COUNT 1u

typedef struct custom_mem { /* one pointer for each memory of the plan */
    void *arena;         /* CUSTOM_ARENA_BYTES, aligned to CUSTOM_ARENA_ALIGN */
    const void *weights; /* not used: NULL */
} custom_mem;

static inline float *custom_in0(const custom_mem *m)
{
    return (float *)(void *)((uint8_t *)m->arena + CUSTOM_IN0_OFFSET);
}
static inline const float *custom_out0(const custom_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->arena + CUSTOM_OUT0_OFFSET);
}
static inline const float *custom_out1(const custom_mem *m)
{
    return (const float *)(const void *)((const uint8_t *)m->arena + CUSTOM_OUT1_OFFSET);
}
static inline const int32_t *custom_out2(const custom_mem *m)
{
    return (const int32_t *)(const void *)((const uint8_t *)m->arena + CUSTOM_OUT2_OFFSET);
}

enum { CUSTOM_OK = 0, CUSTOM_EALIGN = 1, CUSTOM_EDIM = 2, CUSTOM_EWEIGHTS = 3, CUSTOM_EINDEX = 4 };
int custom_init(const custom_mem *m); /* checks alignment */
int custom_run(const custom_mem *m);  /* no heap, no globals written, bounded loops */

/* Custom operators: you supply these functions. */
#ifndef ARN_CUSTOM_TYPE /* headers of models have the same types */
#define ARN_CUSTOM_TYPE
typedef struct arn_custom_tensor { /* an operand or a result */
    int32_t dtype;                 /* ARN_F32, ... of arn_rt.h; 0: an operand that is left out, its address is NULL */
    int32_t rank;                  /* dimensions; 0: a scalar */
    int32_t count;                 /* elements */
    const int32_t *dim;            /* outermost first */
    int32_t n_quant;               /* pairs of scale and zero point; 0: not quantised */
    int32_t axis;                  /* dimension that the pairs belong to if there are several */
    const float *scale;            /* real = scale * (stored - zero) */
    const int32_t *zero;
} arn_custom_tensor;
typedef struct arn_custom_attr { /* in the order of the file of --custom */
    int32_t n;                   /* numbers of i or f; 1 unless it is a list */
    const int32_t *i;            /* of type i32 or ints */
    const float *f;              /* of type f32 or floats */
    const char *text;            /* of type text */
} arn_custom_attr;
typedef struct arn_custom {
    int32_t n_in;
    int32_t n_out;
    int32_t n_attr;
    const arn_custom_tensor *in;
    const arn_custom_tensor *out;
    const arn_custom_attr *attr;
    const uint8_t *options; /* of a TFLite operator, as in the file */
    int32_t n_options;      /* bytes */
    int32_t scratch_bytes;  /* of the argument scratch, NULL if 0 */
} arn_custom;
#endif
void acme_scale(const void *const *in, void *const *out, void *scratch, const arn_custom *node);
void acme_look(const void *const *in, void *const *out, void *scratch, const arn_custom *node);

#ifdef __cplusplus
}
#endif
#endif
