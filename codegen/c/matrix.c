/* matrix.c - prints TILE of matrices in C: with AMX registers if the target has them, else portable C. Tests compare
 * both.
 *
 *     registers 0 to 3   sums of rows 0-15 and 16-31 by channels 0-15 and 16-31
 *     registers 4, 5     rows: 64 bytes of each
 *     registers 6, 7     weights: 16 rows of four bytes of 16 channels */
#include "codegen/c/dialect.h"
#include "codegen/matrix_tile.h"

static void put_products(ac_sink *to, const ac_tile *t, const ac_matrix_tile *m)
{
    const int32_t blocks = t->channels / 16;
    ac_put(to, "    static const uint8_t config[64] = {");
    for (int32_t i = 0; i < AC_MATRIX_CONFIG; i++)
        ac_putf(to, "%s%d", i ? ", " : "", (int)m->config[i]);
    /* gcc 12's intrinsics do not declare that they read memory: stores before them could move past them */
    ac_put(to, "};\n    __asm__ volatile(\"\" : : : \"memory\");\n    _tile_loadconfig(config);\n");
    for (int32_t i = 0; i < m->parts * blocks; i++)
        ac_putf(to, "    _tile_zero(%d);\n", (int)ac_matrix_sum(i / blocks, i % blocks));
    ac_put(to, "    for (int32_t k = 0; k < steps; k++) {\n");
    for (int32_t p = 0; p < m->parts; p++)
        ac_putf(to, "        _tile_loadd(%d, x + %sk * 64, pitch);\n", (int)(AC_MATRIX_X + p),
                p ? ac_strf(to->cx->region, "%d * pitch + ", (int)m->rows[0]) : "");
    for (int32_t c = 0; c < blocks; c++)
        ac_putf(to, "        _tile_loadd(%d, w + k * %d%s, %d);\n", (int)(AC_MATRIX_W + c), (int)(64 * t->channels),
                c ? " + 64" : "", (int)(4 * t->channels));
    for (int32_t p = 0; p < m->parts; p++)
        for (int32_t c = 0; c < blocks; c++)
            ac_putf(to, "        _tile_dpbssd(%d, %d, %d);\n", (int)ac_matrix_sum(p, c), (int)(AC_MATRIX_X + p),
                    (int)(AC_MATRIX_W + c));
    ac_put(to, "    }\n");
    for (int32_t p = 0; p < m->parts; p++)
        for (int32_t c = 0; c < blocks; c++)
            ac_putf(to, "    _tile_stored(%d, acc + %d, %d);\n", (int)ac_matrix_sum(p, c),
                    (int)(p * m->rows[0] * t->channels + c * 16), (int)(4 * t->channels));
    ac_put(to, "    _tile_release();\n");
}

const char *ac_c_matrix_tile(ac_cfile *F, const ac_tile *t)
{
    const char *name = ac_internf(F->cx, "tile_matrix_%dx%d", (int)t->rows, (int)t->channels);
    if (ac_c_have(F, name))
        return name;
    ac_sink *to = &F->helpers;
    ac_putf(to,
            "/* %d sums: %d rows of i8 by %d channels of packed weights, 64 elements of each in a step. */\n"
            "%sstatic inline void %s(const int8_t *x, int32_t pitch, const int8_t *w, int32_t steps,\n"
            "    int32_t *acc)\n{\n",
            (int)(t->rows * t->channels), (int)t->rows, (int)t->channels,
            F->target->vec_bytes ? ac_strf(F->region, "%s_SIMD ", F->upper) : "", name);
    const bool native = F->target->amx;
    if (native) {
        const ac_matrix_tile m = ac_matrix_tile_of(t);
        ac_putf(to, "#if !defined(%s_NO_ASM)\n", F->upper);
        put_products(to, t, &m);
        ac_put(to, "#else\n");
    }
    ac_putf(to,
            "    for (int32_t r = 0; r < %d; r++)\n"
            "        for (int32_t c = 0; c < %d; c++) {\n"
            "            uint32_t sum = 0;\n"
            "            for (int32_t k = 0; k < steps * 64; k++) {\n"
            "                const int32_t v = x[r * pitch + k];\n"
            "                sum += (uint32_t)(v * w[(k / 4 * %d + c) * 4 + k %% 4]);\n"
            "            }\n"
            "            acc[r * %d + c] = (int32_t)sum;\n"
            "        }\n",
            (int)t->rows, (int)t->channels, (int)t->channels, (int)t->channels);
    ac_put(to, native ? "#endif\n}\n\n" : "}\n\n");
    return name;
}
