/* dtype.h - element types of tensors and of loop values. The list is dtype.def. */
#ifndef AC_IR_DTYPE_DTYPE_H
#define AC_IR_DTYPE_DTYPE_H
#include <stdbool.h>
#include <stdint.h>

typedef enum ac_dtype {
    AC_NONE, /* no type: a zeroed struct */
#define DTYPE(id) AC_##id,
#include "ir/dtype/dtype_ids.def"
#undef DTYPE
    AC_DTYPE_COUNT
} ac_dtype;

const char *ac_dtype_name(ac_dtype d); /* "f32"; "none" for AC_NONE */
const char *ac_dtype_c(ac_dtype d);    /* C type in generated code */
const char *ac_dtype_npy(ac_dtype d);
int ac_dtype_bits(ac_dtype d);                    /* of an element in memory */
int ac_dtype_file_bits(ac_dtype d);               /* in the files of importers: fewer for i4, u2, ... */
ac_dtype ac_dtype_loops(ac_dtype d);              /* the type that loops load and store; most types are unchanged */
int64_t ac_dtype_size(ac_dtype d, int64_t count); /* bytes of `count` elements in memory; count fits */
bool ac_dtype_is_float(ac_dtype d);
bool ac_dtype_is_half(ac_dtype d);               /* f16, bf16: loops move and cast them */
bool ac_dtype_is_signed(ac_dtype d);             /* signed integers */
bool ac_dtype_is_int(ac_dtype d);                /* signed or unsigned integers, not bool */
int64_t ac_dtype_min(ac_dtype d);                /* integers and bool; U64: 0 */
int64_t ac_dtype_max(ac_dtype d);                /* U64: INT64_MAX; callers test for U64 if needed */
ac_dtype ac_dtype_find(const char *text, int n); /* AC_NONE when unknown */
ac_dtype ac_dtype_from_tflite(int32_t number);
/* Bit conversions, round to nearest even; NaN stays NaN. */
float ac_f16_to_f32(uint16_t h);
uint16_t ac_f32_to_f16(float f);
float ac_bf16_to_f32(uint16_t h);
uint16_t ac_f32_to_bf16(float f);
/* Unpacks `count` elements as files pack them, the first in the lowest bits, to one byte each. */
void ac_dtype_unpack(ac_dtype d, const void *packed, int64_t count, void *to);
/* Element i of a constant as int64 (integers, bool; floats are truncated) or as double. */
int64_t ac_dtype_get_int(ac_dtype d, const void *data, int64_t i);
double ac_dtype_get_num(ac_dtype d, const void *data, int64_t i);
/* Writes an element. put_int: the lowest bytes of v, which may be the bits of a float. put_num: v rounded to the type;
 * for integers truncated, then as put_int. */
void ac_dtype_put_int(ac_dtype d, void *to, int64_t v);
void ac_dtype_put_num(ac_dtype d, void *to, double v);

#endif
