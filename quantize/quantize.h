/* quantize.h - a model of floats and samples of its inputs become a model of bytes: post-training quantisation.
 *
 *     ac_quantize_options o = {.weight_bits = 8, .activation_bits = 8};
 *     ac_quantized q;
 *     AC_TRY(ac_quantize(g, &o, sample, 128, &q));         sample[i]: 128 values of graph input i, one after the other
 *
 * g is a graph after pass `dead` (driver/quantize/verb.c names the passes that do not run). It comes back with codes in
 * the plain arithmetic of ONNX's QuantizeLinear and DequantizeLinear, as the importer writes it:
 *     codes = cast(round(x / step) + zero)     x' = (cast(codes) - zero) * step
 * so pass integers multiplies bytes, and export/ writes the operators of ONNX.
 *
 * One walk over the nodes. Every tensor has two values for each sample: of the model of floats, and of the model that
 * is quantised so far. So each choice sees the errors made before it (walk.c). Tensors are stored as bytes if products,
 * means and concatenations read them (place.c). Their steps differ by channel where the weights of all readers
 * can absorb that, and are as wide as costs least on samples that did not set the range (steps.c). Weights are rounded
 * so that the error of the result is smallest, not that of the weights (weights.c).
 *
 * Sources: cross-layer equalisation (Nagel et al. 2019), rounding by the Gram matrix of the inputs (Frantar et al.
 * 2022), bias correction (Nagel et al. 2019). Cost: some runs of the model for each sample. Memory: that of the largest
 * tensors, for all samples, in two values. The result does not depend on the number of threads. Errors: E0108 for a
 * model without products or with state, E0304 for samples that are too few or not finite. */
#ifndef AC_QUANTIZE_QUANTIZE_H
#define AC_QUANTIZE_QUANTIZE_H
#include "ir/graph/graph.h"

enum { AC_QUANTIZE_LEAST = 8 }; /* samples */

typedef struct ac_quantize_options {
    int32_t weight_bits;     /* 8 or 4 */
    int32_t activation_bits; /* 8 or 16 */
    const char *const *keep; /* patterns of tensors and nodes that stay floats */
    int32_t n_keep;
    bool outputs;            /* outputs are rounded to bytes as well */
    bool alone;              /* measures ac_quantized_row.alone: a run for each stored tensor, on some samples */
    double budget;           /* relative error of the outputs: the worst tensors get 16 bits until it holds; 0: any */
    const char *const *wide; /* names of tensors that get 16 bits */
    int32_t n_wide;
} ac_quantize_options;

/* A stored tensor, or the weights of a product. Decibels are of the signal over the error, on the samples. */
typedef struct ac_quantized_row {
    const char *tensor, *op; /* name; of the operator that makes it, "input" */
    bool weights;            /* of the product that makes `tensor` */
    int32_t bits;
    double against; /* dB against the model of floats */
    double own;     /* dB of its own rounding alone */
    double alone;   /* dB of the outputs when nothing else is quantised; HUGE_VAL: not measured */
    double clipped; /* share of values outside the range, on samples that did not set it */
    double spread;  /* largest step / smallest */
} ac_quantized_row;

typedef struct ac_quantized {
    ac_quantized_row *row; /* in the order of the model */
    int32_t n;
    double db;                     /* of all outputs together */
    int32_t products, integers;    /* products of the model; those whose operands are codes */
    const float *const *output;    /* by graph output: its values for all samples; NULL: not floats */
    const float *const *reference; /* the same of the model of floats */
} ac_quantized;

int ac_quantize(ac_graph *g, const ac_quantize_options *o, const void *const *sample, int64_t samples,
                ac_quantized *out);

#endif
