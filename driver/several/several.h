/* several.h - several models, or several sizes of one, in one arena.
 *
 *     ac_several *s;
 *     AC_TRY(ac_several_read(w, path, n, &s));       a compilation for each part, variants of w
 *     AC_TRY(ac_several_plan(s));                     plans of all parts, then one arena around them
 *     ac_several_report(s, to);
 *
 * Outputs and messages are w's. Memory: w's region, and those of the parts, which end with w. */
#ifndef AC_DRIVER_SEVERAL_H
#define AC_DRIVER_SEVERAL_H
#include "codegen/sizes.h"
#include "driver/request/work.h"

typedef struct ac_several_part {
    ac_work *w; /* a compilation of its own */
    ac_bytes arena_at, state_at;
    ac_bytes weights;
} ac_several_part;

typedef struct ac_several {
    ac_work *w; /* outputs and messages about all of them go here */
    ac_several_part *part;
    int32_t n;
    const char *range; /* the dimension with a value for each part; NULL: a part is a model */
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

bool ac_several_wanted(const ac_options *o);
int ac_several_read(ac_work *w, const char *const *path, int32_t n, ac_several **out);
/* Each runs the stages before it that have not run yet, for all parts. */
int ac_several_check(ac_several *s);
int ac_several_plan(ac_several *s);
int ac_several_compile(ac_several *s);
int ac_several_write(ac_several *s);
void ac_several_report(ac_several *s, ac_sink *to);

/* several_packing.c: parts of a range lay out weights in one way. They are checked. */
int ac_several_pack(ac_several *s);

/* several_text.c */
void ac_several_put_text(ac_several *s, ac_sink *to);
void ac_several_put_json(ac_several *s, ac_sink *to);
void ac_several_put_header(ac_several *s, ac_sink *to);
void ac_several_put_source(ac_several *s, ac_sink *to);   /* of a range: chooses the part by the value */
void ac_several_put_selftest(ac_several *s, ac_sink *to); /* the self-tests of all parts, one after the other */

#endif
