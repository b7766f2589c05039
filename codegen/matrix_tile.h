/* matrix_tile.h - assigns AMX registers to a TILE of matrices, and computes their configuration, for the printers of C
 * and of objects: sums in registers 0 to 3, rows in 4 and 5, weights in 6 and 7.
 *
 *     const ac_matrix_tile m = ac_matrix_tile_of(&t);      25 rows: parts of 13 and 12 */
#ifndef AC_CODEGEN_MATRIX_TILE_H
#define AC_CODEGEN_MATRIX_TILE_H
#include "ir/loop/tiles.h"

enum { AC_MATRIX_X = 4, AC_MATRIX_W = 6, AC_MATRIX_CONFIG = 64 };

typedef struct ac_matrix_tile {
    int32_t parts, rows[2];           /* one or two registers of rows */
    uint8_t config[AC_MATRIX_CONFIG]; /* palette 1: from 16 on bytes of a row (u16), from 48 on rows, by register */
} ac_matrix_tile;

ac_matrix_tile ac_matrix_tile_of(const ac_tile *t);

/* The register of a part's sums with a block of 16 channels. */
static inline int32_t ac_matrix_sum(int32_t part, int32_t block)
{
    return 2 * part + block;
}

#endif
