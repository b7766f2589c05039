/* acme.c - the operators of acme.def. */
#include "arn_custom.h"

float acme_peak(void);

enum { ALPHA }; /* attributes of acme.smooth, in the order of acme.def */

void acme_smooth(const void *const *in, void *const *out, void *scratch, const arn_custom *node)
{
    const float *x = in[0], *gain = in[1]; /* gain: NULL if it is left out */
    float *y = out[0], *last = scratch;
    const int32_t *dim = node->in[0].dim;
    const float alpha = node->attr[ALPHA].f[0];
    for (int32_t n = 0; n < dim[0]; n++) {
        for (int32_t c = 0; c < dim[2]; c++)
            last[c] = 0.0f;
        for (int32_t t = 0; t < dim[1]; t++)
            for (int32_t c = 0; c < dim[2]; c++) {
                last[c] += alpha * (*x++ - last[c]);
                *y++ = gain ? last[c] * gain[c] : last[c]; /* y may be x: read before it is written */
            }
    }
}

static float peak;

float acme_peak(void)
{
    return peak;
}

void acme_watch(const void *const *in, void *const *out, void *scratch, const arn_custom *node)
{
    const float *x = in[0];
    (void)scratch;
    for (int32_t i = 0; i < node->in[0].count; i++)
        peak = x[i] > peak ? x[i] : peak;
    *(float *)out[0] = peak;
}
