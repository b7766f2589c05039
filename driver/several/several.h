/* several.h - several models in one arena: what several.c makes and several_text.c prints. For driver/ only. */
#ifndef AC_DRIVER_SEVERAL_H
#define AC_DRIVER_SEVERAL_H
#include "codegen/sizes.h"
#include "driver/stage/stage.h"

typedef struct ac_several_part {
    arenac *a; /* a compilation of its own */
    ac_bytes arena_at, state_at;
    ac_bytes weights;
} ac_several_part;

typedef struct ac_several {
    arenac *a; /* outputs and messages about all of them go here */
    ac_several_part *part;
    int32_t n;
    const char *range; /* the dimension of which each part is a value; NULL: a part is a model */
    int64_t lo, hi;
    bool one;                 /* of a range: one program for all values */
    ac_module *whole;         /* that program, after compile */
    const char *name, *upper; /* C prefix of the whole; in capitals */
    const char *dir, *stem;   /* of the files of the whole */
    ac_bytes arena, state, align;
    ac_bytes apart;                  /* arenas of the parts by themselves, added up */
    ac_merged rom;                   /* constants of all, equal ones once; after compile */
    bool compiled, packed, packings; /* packings: weights are laid out in one way */
} ac_several;

/* One file of all: of part k, or, from k == n on, of the whole: "c" (of a range: the file that chooses), "h" or
 * "selftest". One program is part 0, whose header is that of the whole. It appears with the outputs of all. */
int ac_several_emit(ac_several *s, int32_t k, const char *kind, const char *path);

/* several_packing.c: parts of a range lay out weights in one way. They are checked. */
int ac_several_pack(ac_several *s);

/* several_text.c */
void ac_several_put_text(ac_several *s, ac_sink *to);
void ac_several_put_json(ac_several *s, ac_sink *to);
void ac_several_put_header(ac_several *s, ac_sink *to);
void ac_several_put_source(ac_several *s, ac_sink *to);   /* of a range: chooses the part by the value */
void ac_several_put_selftest(ac_several *s, ac_sink *to); /* the self-tests of all parts, one after the other */

#endif
