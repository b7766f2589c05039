/* matrix_tile.c - the configuration of AMX's registers for a tile; see matrix_tile.h. */
#include "codegen/matrix_tile.h"

static void shape(ac_matrix_tile *m, int32_t reg, int32_t rows)
{
    enum { BYTES_OF_ROWS = 16, ROWS = 48, BYTES = 64 };
    m->config[BYTES_OF_ROWS + 2 * reg] = BYTES;
    m->config[ROWS + reg] = (uint8_t)rows;
}

ac_matrix_tile ac_matrix_tile_of(const ac_tile *t)
{
    enum { MOST = 16 };
    ac_matrix_tile m = {.parts = t->rows > MOST ? 2 : 1, .config = {1}};
    m.rows[0] = (t->rows + m.parts - 1) / m.parts;
    m.rows[1] = t->rows - m.rows[0];
    for (int32_t c = 0; c < t->channels / MOST; c++)
        shape(&m, AC_MATRIX_W + c, MOST);
    for (int32_t p = 0; p < m.parts; p++) {
        shape(&m, AC_MATRIX_X + p, m.rows[p]);
        for (int32_t c = 0; c < t->channels / MOST; c++)
            shape(&m, ac_matrix_sum(p, c), m.rows[p]);
    }
    return m;
}
