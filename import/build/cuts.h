/* cuts.h - records which tensors are slices of another, so that updates.c can detect that slices are joined again. */
#ifndef AC_IMPORT_BUILD_CUTS_H
#define AC_IMPORT_BUILD_CUTS_H
#include "ir/make/maker.h"

typedef struct ac_cut {
    struct ac_cut *next;
    const ac_tensor *y;         /* x[begin:end] */
    ac_tensor *x, *begin, *end; /* begin NULL: 0 */
    int32_t dim;
} ac_cut;

/* Records that y is x[begin:end] along dimension dim. begin NULL: 0. */
void ac_note_cut(const ac_maker *b, const ac_tensor *y, ac_tensor *x, int32_t dim, ac_tensor *begin, ac_tensor *end);
/* The recorded slice along dimension dim that created y; NULL: none. */
const ac_cut *ac_cut_of(const ac_maker *b, const ac_tensor *y, int32_t dim);

#endif
