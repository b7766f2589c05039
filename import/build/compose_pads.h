/* compose_pads.h - composes Pad and Tile of several formats with data-dependent amounts (bounds.h), of operands that
 * may be dynamically sized (counted.h). Shapes are known.
 *
 * `result`: the name for --bound. *y is dynamically sized if its length depends on data. AC_FAIL: reported, or
 * refused. */
#ifndef AC_IMPORT_BUILD_COMPOSE_PADS_H
#define AC_IMPORT_BUILD_COMPOSE_PADS_H
#include "import/build/compose_bounded.h"

/* Pads each dimension d of x by before[d] and after[d] elements, at least 0; value NULL: 0. late: the list of pads, for
 * messages. */
int ac_make_pad_of(const ac_maker *b, ac_tensor *x, const ac_late_number *before, const ac_late_number *after,
                   ac_tensor *value, ac_tensor *late, const char *result, ac_tensor **y);
/* The same with a list of pairs, [rank, 2]. */
int ac_make_pad_pairs(const ac_maker *b, ac_tensor *x, ac_tensor *pairs, ac_tensor *value, const char *result,
                      ac_tensor **y);
/* Extends x along d by `before` copies of its first and `after` copies of its last position; wrap: by elements from the
 * other end instead. x may be NULL; NULL: reported, or refused. */
ac_tensor *ac_make_extend(const ac_maker *b, ac_tensor *x, int32_t d, int64_t before, int64_t after, bool wrap);
/* Repeats x (*times)[d] times along each dimension d. */
int ac_make_tile_of(const ac_maker *b, ac_tensor *x, ac_tensor **times, const char *result, ac_tensor **y);

#endif
