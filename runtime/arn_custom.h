/* arn_custom.h - the call of a function that computes a custom operator (arenac --custom).
 *
 *     #include "arn_custom.h"
 *     void acme_scale(const void *const *in, void *const *out, void *scratch, const arn_custom *node)
 *     {
 *         const float *x = in[0];
 *         float *y = out[0];
 *         for (int32_t i = 0; i < node->out[0].count; i++)
 *             y[i] = x[i] * node->attr[0].f[0];
 *     }
 *
 * The function reads only its operands, and writes only its results, every element of them, and its scratch memory. It
 * keeps none of the addresses; `node` and all that it points to is constant and lives as long as the program. Tensors
 * are dense, the last dimension first, at addresses that are multiples of 16 in an arena with the default --align;
 * scratch, whose contents are undefined, is at a multiple of 16. A header of a model has the same types and the
 * prototypes of all functions that it calls. C99, no allocation. */
#ifndef ARN_CUSTOM_H
#define ARN_CUSTOM_H
#include <stddef.h>
#include <stdint.h>

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

#endif
