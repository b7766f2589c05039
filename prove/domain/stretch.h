/* stretch.h - a set of elements of a buffer: `base` + any sum of strides + 0 .. len - 1.
 *
 *     base 64*oc, len 1, strides 1024 x 8        elements 64*oc, 64*oc + 1024, .. 64*oc + 7168
 *
 * Memory: fixed size; guards are the caller's. */
#ifndef AC_PROVE_STRETCH_H
#define AC_PROVE_STRETCH_H
#include "prove/domain/affine.h"

enum { AC_STRIDES = 5 };

typedef struct ac_stride {
    int64_t by, n;
    const ac_affine *many; /* a sum in the place of n: may be 0 or less, then there is nothing; NULL: n */
} ac_stride;

typedef struct ac_stretch {
    ac_affine base, len;
    ac_stride stride[AC_STRIDES]; /* ascending, none within len */
    int32_t n;
    int32_t buf;
    const ac_affine *guard; /* it is written where all of these are 0 or more */
    int32_t n_guard;
} ac_stretch;

void ac_stretch_by(ac_stretch *s, int64_t by, int64_t n);                  /* one more stride; there is room */
void ac_stretch_by_many(ac_stretch *s, int64_t by, const ac_affine *many); /* ... `many` times; there is room */
bool ac_stretch_is_many(const ac_stretch *s);                              /* has it such a stride? */
void ac_stretch_settle(ac_stretch *s); /* strides that meet become len, or one stride */
bool ac_stretch_strides_equal(const ac_stretch *a, const ac_stretch *b);
bool ac_stretch_guards_equal(const ac_stretch *a, const ac_stretch *b);
/* Does b go on where a ends? Then a becomes both. Of one buffer. */
bool ac_stretch_join(ac_stretch *a, const ac_stretch *b);
/* Does s hold index .. index + n - 1? */
bool ac_stretch_holds(ac_knowledge *know, const ac_stretch *s, const ac_affine *index, const ac_affine *n);

#endif
