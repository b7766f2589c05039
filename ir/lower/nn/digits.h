/* digits.h - converts rows of floats to integers of 24 bits, in three digits of 8 bits each, so that instructions which
 * multiply bytes (DOT4) multiply them exactly by codes of a few bits.
 *
 * A row is cut into blocks of `size`. In a block with largest magnitude m,
 *
 *     x ~ unit * (65536 * digit 0 + 256 * digit 1 + digit 2),   digits in -128 .. 127
 *
 * unit is a power of two, at most 1.01 * 2^-22 * m, and x is rounded to the nearest such value, so the error is at most
 * half a unit. The integers are exact from there on. An infinity or a NaN makes unit one.
 *
 *     ac_digits d = ac_digits_open(L, x, rows, depth, 32, 8, 8);      scratch
 *     ac_digits_of_rows(&d)                                     the loops that fill it
 *     ac_digits_four(&d, 1, row, at)                            four bytes of digit 1 of row `row`
 *
 * Order: of each `word` elements (k = 0, 1, ..), byte 4 * g + j is element g + j * word / 4: the order of the bytes in
 * a word of codes after g shifts. The last block is padded with zeros to whole words. Method: block floating point;
 * digits as in multiplication of large integers. */
#ifndef AC_IR_LOWER_NN_DIGITS_H
#define AC_IR_LOWER_NN_DIGITS_H
#include "ir/lower/lower.h"

enum { AC_DIGITS = 3 };

typedef struct ac_digits {
    ac_lower *L;
    int32_t x;                       /* f32 [rows, depth] */
    int64_t rows, depth, size, word; /* word: 4, 8, 16 elements; divides size */
    int64_t blocks, width;           /* of a row; bytes of a digit of a row */
    int32_t digit, unit, sum;        /* buffers: i8 [digit][row][width], f32 [row][block], i32 [digit][row][block] */
    int32_t times;                   /* the factors of the sums of digits */
} ac_digits;

/* times: `sum` holds, for each block, `times` times the sum of a digit; times * 128 * size fits in i32. */
ac_digits ac_digits_open(ac_lower *L, int32_t x, int64_t rows, int64_t depth, int64_t size, int64_t word,
                         int32_t times);
void ac_digits_of_rows(const ac_digits *d);
/* i32: bytes at .. at + 3 of digit i of a row. */
ac_x ac_digits_four(const ac_digits *d, int32_t i, ac_x row, ac_x at);
ac_x ac_digits_unit(const ac_digits *d, ac_x row, ac_x block);
ac_x ac_digits_sum(const ac_digits *d, int32_t i, ac_x row, ac_x block);

#endif
