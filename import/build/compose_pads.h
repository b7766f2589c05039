/* compose_pads.h - Pad and Tile of several formats, with data-dependent amounts (bounds.h) or dynamically sized
 * operands (counted.h). Shapes are known.
 *
 * `result`: its name for --bound. *y is dynamically sized if its length depends on data. AC_FAIL: reported, or
 * refused. */
#ifndef AC_IMPORT_BUILD_COMPOSE_PADS_H
#define AC_IMPORT_BUILD_COMPOSE_PADS_H
#include "import/build/compose_bounded.h"

/* Elements before and after each dimension of x, at least 0; value NULL: 0. late: what messages call their list. */
int ac_make_pad_of(const ac_maker *b, ac_tensor *x, const ac_late_number *before, const ac_late_number *after,
                   ac_tensor *value, ac_tensor *late, const char *result, ac_tensor **y);
/* The same of a list of pairs, [rank, 2]. */
int ac_make_pad_pairs(const ac_maker *b, ac_tensor *x, ac_tensor *pairs, ac_tensor *value, const char *result,
                      ac_tensor **y);
/* `before` copies of the first and `after` of the last position along d, or what comes round from the other end. x may
 * be NULL; NULL: reported, or refused. */
ac_tensor *ac_make_extend(const ac_maker *b, ac_tensor *x, int32_t d, int64_t before, int64_t after, bool wrap);
/* x as often as *times says for each of its dimensions. */
int ac_make_tile_of(const ac_maker *b, ac_tensor *x, ac_tensor **times, const char *result, ac_tensor **y);

#endif
