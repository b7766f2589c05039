/* copy_loop.h - turns loops that only move elements into one instruction of the evaluator. Such loops pack weights, and
 * are most of the evaluator's work.
 *
 *     for %5 = 0 .. 16                              (%7 and %9 for %5 = 0)
 *       %7 = add i32 %6 %5                          COPY  16 times: x[%7], then x[%7 + 64], .. to w[%9], w[%9 + 1], ..
 *       %8 = load f32 x[%7 * 64]          =>
 *       store %8 to w[%9]
 *
 * The body is a load and a store of the value, up to AC_COPY_PAIRS times, of one size, at positions that advance by a
 * constant number of elements per iteration. */
#ifndef AC_IR_LOOP_EVAL_COPY_LOOP_H
#define AC_IR_LOOP_EVAL_COPY_LOOP_H
#include "ir/loop/eval/select.h"

enum { AC_COPY_PAIRS = 4 };

typedef struct ac_copy_loop {
    int32_t n; /* pairs, in their order */
    ac_x load[AC_COPY_PAIRS], store[AC_COPY_PAIRS];
    int64_t from[AC_COPY_PAIRS], to[AC_COPY_PAIRS]; /* elements from one iteration to the next */
} ac_copy_loop;

/* True if the FOR at position x of `code`, after ac_select, is such a loop. Its loads and stores then need no
 * instructions (s[].how), and their registers stay reserved until its END. */
bool ac_copy_loop_of(ac_region *r, const ac_ins *code, ac_selected *s, ac_x x, ac_copy_loop *out);

#endif
