/* frames.h - the stack that generated code needs, from frames that a compiler states: functions, who calls whom.
 *
 *     ac_frames f = {0};
 *     int32_t run = ac_frames_add(r, &f, "kws_run"), conv = ac_frames_add(r, &f, "kws_conv_2d_0");
 *     f.item[run].bytes = 96, f.item[conv].bytes = 128;
 *     ac_frames_call(r, &f, run, conv);
 *     bytes = ac_frames_deepest(r, &f, target, run);              224
 *
 * A function whose frame nobody has stated is one of the compiler's library, or memcpy and its like: for those there is
 * a table, read off the disassembly of libgcc 12.2. Generated code has no recursion; one that
 * comes all the same counts once. Cost: each function once. Memory: the region. */
#ifndef AC_CODEGEN_FRAMES_H
#define AC_CODEGEN_FRAMES_H
#include "codegen/module.h"

typedef struct ac_frame {
    const char *name;
    ac_bytes bytes;   /* -1: not stated */
    ac_bytes deepest; /* of it and what it calls; -1: not known yet */
    AC_VEC(int32_t) calls;
} ac_frame;

typedef AC_VEC(ac_frame) ac_frames;

int32_t ac_frames_add(ac_region *r, ac_frames *f, const char *name); /* its index, also of one that is there */
void ac_frames_call(ac_region *r, ac_frames *f, int32_t from, int32_t to);
ac_bytes ac_frames_deepest(ac_region *r, ac_frames *f, const ac_target *t, int32_t root);

#endif
