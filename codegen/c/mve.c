/* mve.c - prints TILE and REQUANT in C for processors with MVE (RISC-V: riscv.c): the assembler texts of
 * codegen/mve_asm.h if GCC compiles for such a processor, else portable C. Tests compare both. GCC 12 declares the
 * memory written by its intrinsics for narrow stores incorrectly, so they are not used. */
#include "codegen/c/dialect.h"
#include "codegen/mve_asm.h"
#include "codegen/rvv_asm.h"
#include "ir/loop/requants.h"

static const char *const OPERAND[AC_MVE_OPERANDS] = {"x", "w", "steps", "to", "other", "at", "next"};

/* "[x] "+r"(x), [w] "+r"(w)": operands that change, or that do not. */
static void put_operands(ac_sink *to, const ac_tile *t, bool change)
{
    const char *between = "";
    for (ac_mve_operand o = 0; o < AC_MVE_OPERANDS; o++) {
        if (!ac_mve_takes(t, o) || ac_mve_changes(t, o) != change)
            continue;
        ac_putf(to, "%s[%s] \"%s%s\"(%s)", between, OPERAND[o], change ? "+&" : "", ac_mve_letter(t, o), OPERAND[o]);
        between = ", ";
    }
}

static void put_asm(ac_cfile *F, ac_sink *to, const ac_tile *t)
{
    const char *name[AC_MVE_OPERANDS];
    for (ac_mve_operand o = 0; o < AC_MVE_OPERANDS; o++)
        name[o] = ac_strf(F->region, o >= AC_MVE_AT ? "%%q[%s]" : "%%[%s]", OPERAND[o]);
    ac_put(to, "    __asm__ volatile(");
    ac_c_asm_lines(to, ac_mve_asm(F->cx, t, name, "\n"));
    ac_put(to, "\n        : ");
    put_operands(to, t, true);
    ac_put(to, "\n        : ");
    put_operands(to, t, false);
    ac_put(to, "\n        : ");
    for (const char *const *c = ac_mve_clobbers(t); *c; c++)
        ac_putf(to, "\"%s\", ", *c);
    ac_put(to, "\"cc\", \"memory\");\n");
}

/* Offsets of four pixels in x, and of their bytes in the slots: of all sixteen, or of the first two slots. */
static void put_word_offsets(ac_sink *to, const ac_tile *t)
{
    const bool near = ac_mve_is_near(t);
    ac_putf(to,
            "    (void)pitch;\n"
            "    typedef uint32_t u32x4 __attribute__((vector_size(16)));\n"
            "    typedef uint%d_t bytes __attribute__((vector_size(16)));\n"
            "    const u32x4 at = (u32x4){0, 1, 2, 3} * (uint32_t)other;\n"
            "    const bytes next = {",
            near ? 8 : 16);
    for (int p = 0; p < 4; p++)
        for (int c = 0; c < 4; c += near ? 1 : 2)
            ac_putf(to, "%s%d", p + c ? ", " : "", p * (int)t->shift + (int)ac_tile_slot(c) * (int)t->pitch);
    ac_put(to, "};\n");
}

/* Values that the text needs and that are not parameters of the function. */
static void put_prepared(ac_sink *to, const ac_tile *t)
{
    if (t->form == AC_TILE_BYTES && t->rows == 2)
        ac_put(to, "    const int8_t *other = x + steps * 16;\n");
    if (t->form != AC_TILE_SPREAD)
        return;
    const ac_mve_spread how = ac_mve_spread_of(t);
    if (how == AC_MVE_WORDS_4) {
        put_word_offsets(to, t);
        return;
    }
    if (how != AC_MVE_SLOTS)
        return;
    ac_put(to, "    typedef uint16_t u16x8 __attribute__((vector_size(16)));\n"
               "    const u16x8 at = (u16x8){0, 2, 1, 3, 4, 6, 5, 7} * (uint16_t)pitch;\n");
    if (ac_mve_takes(t, AC_MVE_NEXT))
        ac_put(to, "    const u16x8 next = at + (uint16_t)(8 * pitch);\n");
}

/* The definition, as in ir/loop/tiles.c. */
static void put_plain(ac_sink *to, const ac_tile *t)
{
    const int rows = t->rows, channels = t->channels;
    const bool flat = ac_mve_spread_of(t) == AC_MVE_COPY || ac_mve_spread_of(t) == AC_MVE_FILL;
    if (t->form == AC_TILE_SPREAD && flat) {
        ac_putf(to, "    for (int32_t s = 0; s < steps; s++)\n        to[s] = %s;\n", t->stride ? "x[s]" : "*x");
        return;
    }
    if (t->form == AC_TILE_SPREAD) {
        ac_putf(to,
                "    for (int32_t s = 0; s < steps; s++)\n"
                "        for (int32_t c = 0; c < %d; c++) {\n"
                "            const int32_t slot = (c & ~3) + (c & 1) * 2 + (c >> 1 & 1);\n"
                "            to[slot * pitch + s * %d] = x[s * other + c];\n"
                "        }\n",
                channels, (int)t->shift);
        return;
    }
    ac_putf(to,
            "    for (int32_t r = 0; r < %d; r++)\n"
            "        for (int32_t c = 0; c < %d; c++) {\n"
            "            uint32_t sum = 0;\n",
            rows, channels);
    if (t->form == AC_TILE_BYTES)
        ac_putf(to,
                "            for (int32_t k = 0; k < steps * 16; k++)\n"
                "                sum += (uint32_t)(x[r * steps * 16 + k] * w[(k / 16 * %d + c) * 16 + k %% 16]);\n",
                channels);
    else
        ac_putf(to,
                "            const int32_t slot = (c & ~3) + (c & 1) * 2 + (c >> 1 & 1);\n"
                "            for (int32_t k = 0; k < %d; k++)\n"
                "                sum += (uint32_t)(x[slot * other + k] * w[slot * %d + %d + k - r * %d]);\n",
                (int)t->depth, (int)t->depth, (rows - 1) * (int)t->shift, (int)t->shift);
    ac_putf(to, "            to[r * %d + c] = (int32_t)sum;\n        }\n", channels);
}

static const char *name_of(ac_cfile *F, const ac_tile *t)
{
    const ac_mve_spread how = ac_mve_spread_of(t);
    if (t->form == AC_TILE_SPREAD && how == AC_MVE_WORDS_4)
        return ac_internf(F->cx, "tile_words_%d_%d", (int)t->pitch, (int)t->shift);
    if (t->form == AC_TILE_SPREAD && how != AC_MVE_SLOTS)
        return ac_intern(F->cx, how == AC_MVE_COPY ? "tile_copy" : "tile_fill");
    if (t->form == AC_TILE_SPREAD)
        return ac_internf(F->cx, "tile_spread_%d_%d", (int)t->channels, (int)t->shift);
    if (t->form == AC_TILE_EACH)
        return ac_internf(F->cx, "tile_each_%dx%d_%d_%d", (int)t->rows, (int)t->channels, (int)t->shift, (int)t->depth);
    return ac_internf(F->cx, "tile_bytes_%dx%d", (int)t->rows, (int)t->channels);
}

static void put_guard(ac_cfile *F)
{
    ac_putf(&F->helpers, "#if %s\n", ac_c_asm_condition(F, "__ARM_FEATURE_MVE", ""));
}

const char *ac_c_mve_tile(ac_cfile *F, const ac_tile *t)
{
    static const char *const COMMENT[AC_TILE_FORMS] = {
        "", "Sums of products: rows of 16 bytes, and packed weights of 4 channels.",
        "Sums of products of each of 4 channels with its own weights.",
        "Turns pixels of channels into channels of pixels, `pitch` apart, in the order 0, 2, 1, 3."};
    static const char *const PARAMETERS[AC_TILE_FORMS] = {
        "", "const int8_t *x, const int8_t *w, int32_t steps, int32_t *to",
        "const int8_t *x, int32_t other, const int8_t *w, int32_t *to",
        "const int8_t *x, int32_t other, int32_t steps, int8_t *to, int32_t pitch"};
    const char *name = name_of(F, t);
    if (ac_c_have(F, name))
        return name;
    const bool native = ac_mve_has(F->target, t);
    ac_sink *to = &F->helpers;
    const bool flat =
        t->form == AC_TILE_SPREAD && (ac_mve_spread_of(t) == AC_MVE_COPY || ac_mve_spread_of(t) == AC_MVE_FILL);
    ac_putf(to, "/* %s */\nstatic inline void %s(%s)\n{\n",
            flat ? "Copies bytes, or one byte to all." : COMMENT[t->form], name,
            flat ? "const int8_t *x, int32_t steps, int8_t *to" : PARAMETERS[t->form]);
    if (native) {
        put_guard(F);
        put_prepared(to, t);
        put_asm(F, to, t);
        ac_put(to, "#else\n");
    }
    put_plain(to, t);
    ac_put(to, native ? "#endif\n}\n\n" : "}\n\n");
    return name;
}

static const char *requant_function(ac_cfile *F, const ac_requants *q)
{
    const char *name = ac_rvv_requant_name(F->cx, q);
    if (ac_c_have(F, name))
        return name;
    ac_sink *to = &F->helpers;
    const int lanes = q->lanes;
    if (F->target->rvv)
        ac_c_rvv_clobbers(F);
    ac_putf(to,
            "/* Accumulators, their bias, multipliers and shifts: results. */\n"
            "%svoid %s(const int32_t *acc, const int32_t *m, const int32_t *bias, int8_t *y,\n"
            "    int32_t zero, int32_t lo, int32_t hi)\n{\n",
            F->target->rvv ? ac_c_rvv_static(F) : "static inline ", name);
    const bool native = F->target->rvv || (F->target->mve && lanes == 4);
    if (native && F->target->mve) {
        put_guard(F);
        ac_put(to, "    typedef int32_t i32x4 __attribute__((vector_size(16)));\n"
                   "    const i32x4 low = {lo, lo, lo, lo}, high = {hi, hi, hi, hi};\n"
                   "    __asm__ volatile(");
        ac_c_asm_lines(to, ac_mve_requant(F->cx, q, "\n"));
        ac_put(to,
               "\n        : : [acc] \"r\"(acc), [m] \"r\"(m), [bias] \"r\"(bias), [y] \"l\"(y), [zero] \"r\"(zero),\n"
               "          [low] \"w\"(low), [high] \"w\"(high)\n"
               "        : \"q0\", \"q1\", \"memory\");\n#else\n");
    }
    if (F->target->rvv)
        ac_c_rvv_requant(F, q);
    ac_putf(to, "    for (int32_t l = 0; l < %d; l++) {\n", lanes);
    ac_putf(to, "        const int32_t v = (int32_t)(((uint32_t)acc[l] + (uint32_t)bias[l])%s);\n",
            q->pre ? ac_strf(F->region, " << %d", (int)q->pre) : "");
    ac_put(to, "        int64_t p = ((int64_t)v * m[l] + 1073741824) >> 31;\n");
    if (q->away)
        ac_put(to, "        p -= p < 0 ? 1 : 0;\n");
    ac_putf(to,
            "        p = ((m[%d + l] < 0 ? p + (INT64_C(1) << (-m[%d + l] - 1)) : p) >> -m[%d + l]) + zero;\n"
            "        y[l] = (int8_t)(p < lo ? lo : p > hi ? hi : p);\n    }\n",
            lanes, lanes, lanes);
    ac_put(to, native ? "#endif\n}\n\n" : "}\n\n");
    return name;
}

void ac_c_requant(ac_cfn *f, const ac_ins *in)
{
    const ac_requants q = ac_ins_requant(in);
    const char *name = requant_function(f->file, &q);
    const char *acc =
        q.row ? ac_strf(f->file->region, "%s + %d", f->buf[q.acc], (int)(q.lanes * q.row)) : f->buf[q.acc];
    ac_c_line(f, "%s(%s, %s, %s, %s, %d, %d, %d);", name, acc, ac_c_place(f, q.table, in->b),
              ac_c_place(f, q.table, in->c), ac_c_place(f, q.y, in->a), (int)q.zero, (int)q.lo, (int)q.hi);
}
