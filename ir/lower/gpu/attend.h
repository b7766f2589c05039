/* attend.h - reads the operands of an attention: shared by the schedules for rows and for tiles of a GPU. */
#ifndef AC_IR_LOWER_GPU_ATTEND_H
#define AC_IR_LOWER_GPU_ATTEND_H
#include "ir/lower/lower.h"
#include "ir/ops/decode/attention.h"

/* Maxima start from it. */
#define AC_ATTEND_LEAST (-(double)3.402823466e38F)

typedef struct ac_attend {
    ac_lower *L;
    ac_attention a;
    int32_t buf[AC_ATTENTION_OPERANDS]; /* -1: the operand is not given */
} ac_attend;

void ac_attend_open(ac_attend *v); /* buffers of the operands */
/* The element of operand i at these indices; those of dimensions that it does not have may be 0, no value. */
ac_x ac_attend_at(ac_attend *v, int32_t i, ac_x batch, ac_x group, ac_x head, ac_x row, ac_x column);
/* Element `at` of operand i as f32. */
ac_x ac_attend_load(ac_attend *v, int32_t i, ac_x at);
/* sum * scale, with the mask, rounded. */
ac_x ac_attend_masked(ac_attend *v, ac_x sum, ac_x batch, ac_x group, ac_x head, ac_x row, ac_x key);
/* The index of an element of the result. */
void ac_attend_index(ac_attend *v, ac_x batch, ac_x group, ac_x head, ac_x row, ac_x column, ac_x *idx);

#endif
