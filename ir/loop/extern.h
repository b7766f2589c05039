/* extern.h - a loop function whose work a function of the user does (operators of --custom).
 *
 * Its code is the contract of that function: it reads every element of each IN and CONST buffer, and then writes every
 * element of each SCRATCH and OUT buffer. So everything that reads code sees which bytes the call may touch; the values
 * that it stores are unknown. Printers print the call instead; sessions on this machine call the function.
 *
 * Memory: the region of the function. */
#ifndef AC_IR_LOOP_EXTERN_H
#define AC_IR_LOOP_EXTERN_H
#include "ir/loop/loop.h"

/* An operand or a result, as runtime/arn_custom.h has it. */
typedef struct ac_extern_tensor {
    int32_t buf;    /* of the function; -1: the operand is left out, or has no elements */
    ac_dtype dtype; /* AC_NONE: left out */
    int32_t rank, count;
    const int32_t *dim;
    int32_t n_quant, axis; /* pairs of scale and zero point; 0: not quantised */
    const float *scale;
    const int32_t *zero;
} ac_extern_tensor;

typedef struct ac_extern_attr {
    int32_t n; /* numbers of i or f */
    const int32_t *i;
    const float *f;
    const char *text;
} ac_extern_attr;

typedef struct ac_extern {
    const char *name;              /* of the operator, for messages */
    const char *function;          /* C identifier */
    const char *library, *defined; /* the library with the function (NULL: none), and the file of --custom */
    int32_t n_in, n_out, n_attr, n_options;
    ac_extern_tensor *in, *out;
    ac_extern_attr *attr;
    const uint8_t *options;
    int32_t scratch, scratch_bytes; /* buffer, -1: none */
} ac_extern;

/* The same call, with the same values. */
bool ac_extern_same(const ac_extern *a, const ac_extern *b);
/* Buffer i becomes buffer to[i]; -1: it is gone. */
void ac_extern_move_buffers(ac_extern *e, const int32_t *to);

#endif
