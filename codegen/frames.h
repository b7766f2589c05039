/* frames.h - computes the stack that generated code needs from the frame sizes of a compiler and the call graph.
 *
 *     ac_frames f = {0};
 *     int32_t run = ac_frames_add(r, &f, "kws_run"), conv = ac_frames_add(r, &f, "kws_conv_2d_0");
 *     f.item[run].bytes = 96, f.item[conv].bytes = 128;
 *     ac_frames_call(r, &f, run, conv);
 *     bytes = ac_frames_deepest(r, &f, target, run);              224
 *
 * A function without a frame size belongs to the compiler's library, or is memcpy or similar: their sizes are in a
 * table, read off the disassembly of libgcc 12.2. Generated code has no recursion; any recursion counts once. Cost:
 * each function once. Memory: the region. */
#ifndef AC_CODEGEN_FRAMES_H
#define AC_CODEGEN_FRAMES_H
#include "codegen/module.h"

typedef struct ac_frame {
    const char *name;
    ac_bytes bytes;   /* -1: not stated */
    ac_bytes deepest; /* of it and its callees; -1: not computed yet */
    AC_VEC(int32_t) calls;
} ac_frame;

typedef AC_VEC(ac_frame) ac_frames;

int32_t ac_frames_add(ac_region *r, ac_frames *f, const char *name); /* its index, also if it already exists */
void ac_frames_call(ac_region *r, ac_frames *f, int32_t from, int32_t to);
ac_bytes ac_frames_deepest(ac_region *r, ac_frames *f, const ac_target *t, int32_t root);

#endif
