/* planes.h - depthwise convolutions of 3x3 taps (ir/loop/plane.h) on processors with Arm's DSP extension, a channel
 * after the other: its constants stay in registers for many outputs.
 *
 * One function, planes(x, w, out, args, m), goes over the channels, and in each over the rows of outputs that see all
 * rows of their windows, all but the first, or all but the last. For the latter two the window moves into the input,
 * its weights with it, and the zero point's share of the missing row is where sums start. For the outputs it calls a
 * kernel, whose text has the shape's numbers: 16 cycles an output.
 *
 *     input columns   a b c ..        halves of a word: rows 0 and 2 of a column
 *     sum        =  {a0,a2}.p0 + a1*q0 + {b0,b2}.p1 + b1*q1 + {c0,c2}.p2 + c1*q2
 *
 * A column is loaded once. The sums of two windows that contain it are in r9 and r10 (stride 1), and the third one
 * takes the place of the one that ends. */
#ifndef AC_CODEGEN_DSP_PLANES_H
#define AC_CODEGEN_DSP_PLANES_H
#include "ir/loop/loop.h"
#include "ir/loop/plane.h"
#include "ir/lower/target.h"

/* fn->plane, if the target has the instructions, a kernel's numbers fit into them, and the result is `restricted` (by
 * buffer: it overlaps no other one; NULL: none is); else NULL. */
const ac_plane *ac_planes_of(const ac_target *t, const ac_loop_fn *fn, const bool *restricted);
/* Names and bodies of the naked functions. The kernel is called by `planes` alone. */
const char *ac_planes_name(void);
const char *ac_planes_asm(ac_ctx *cx);
const char *ac_planes_kernel_name(ac_ctx *cx, const ac_plane *p);
const char *ac_planes_kernel_asm(ac_ctx *cx, const ac_plane *p);
enum { AC_PLANES_STACK = 80 };

/* The words of args after the kernel; bytes of a part: of its outputs. */
typedef struct ac_planes_args {
    int32_t channels, border; /* the zero point in both halves */
    int32_t first_bytes, middle_bytes, middle_x, last_bytes, last_x;
} ac_planes_args;
ac_planes_args ac_planes_args_of(const ac_plane *p);

#endif
