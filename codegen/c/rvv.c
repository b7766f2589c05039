/* rvv.c - prints TILE and REQUANT in C for processors with RISC-V vectors: the assembler texts of codegen/rvv_asm.h if
 * the compiler may use vectors, else portable C. Tests compare both. */
#include "codegen/rvv_asm.h"

#include "codegen/c/dialect.h"

static const char *const OPERAND[AC_RVV_OPERANDS] = {"x", "w", "steps", "to"}, *const NUMBER[AC_RVV_NUMBERS] = {
                                                                                   "acc",  "m",  "bias", "y",
                                                                                   "zero", "lo", "hi"};

/* GCC accepts vector registers in asm since version 13. */
void ac_c_rvv_clobbers(ac_cfile *F)
{
    if (ac_c_have(F, "vector registers"))
        return;
    ac_putf(&F->helpers, "#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ > 12)\n#define %s_VECTORS",
            F->upper);
    for (int i = 0; i < 32; i++)
        ac_putf(&F->helpers, "%s \"v%d\",", i % 16 ? "" : " \\\n   ", i);
    ac_putf(&F->helpers, " \\\n    \"vl\", \"vtype\",\n#else\n#define %s_VECTORS\n#endif\n\n", F->upper);
}

const char *ac_c_rvv_static(ac_cfile *F)
{
    return ac_strf(F->region, "%s_SECTION_FAST %s_NOINLINE\nstatic ", F->upper, F->upper);
}

static void put_guard(ac_cfile *F)
{
    ac_putf(&F->helpers,
            "#if defined(__riscv_vector) && __riscv_v_min_vlen >= 128 && defined(__GNUC__) && !defined(%s_NO_ASM)\n",
            F->upper);
}

/* Names of operands in the text. */
static const char *const *in_text(ac_cfile *F, const char *const *operand, int32_t n)
{
    const char **name = AC_NEW_N(F->region, const char *, n);
    for (int32_t i = 0; i < n; i++)
        name[i] = ac_strf(F->region, "%%[%s]", operand[i]);
    return name;
}

static void put_end(ac_cfile *F)
{
    ac_putf(&F->helpers,
            "\n        : %s_VECTORS \"t0\", \"t1\", \"t2\", \"t3\", \"t4\", \"t5\", \"t6\", \"memory\");\n#else\n",
            F->upper);
}

static void put_asm(ac_cfile *F, const ac_tile *t)
{
    ac_sink *to = &F->helpers;
    put_guard(F);
    ac_put(to, "    __asm__ volatile(");
    ac_c_asm_lines(to, ac_rvv_asm(F->cx, t, in_text(F, OPERAND, AC_RVV_OPERANDS), "\n"));
    for (int change = 1; change >= 0; change--) {
        const char *between = "\n        : ";
        for (ac_rvv_operand o = 0; o < AC_RVV_OPERANDS; o++) {
            if (!ac_rvv_takes(t, o) || ac_rvv_changes(t, o) != change)
                continue;
            ac_putf(to, "%s[%s] \"%s\"(%s)", between, OPERAND[o], change ? "+&r" : "r", OPERAND[o]);
            between = ", ";
        }
        if (*between == '\n')
            ac_put(to, between);
    }
    put_end(F);
}

/* " * 3 + "; factors of 1 and summands of 0 are omitted. */
static const char *term(ac_sink *to, const char *of, int by)
{
    return by == 0   ? ""
           : by == 1 ? ac_strf(to->cx->region, "%s + ", of)
                     : ac_strf(to->cx->region, "%s * %d + ", of, by);
}

/* The definition, as in ir/loop/tiles.c. */
static void put_plain(ac_sink *to, const ac_tile *t)
{
    ac_region *r = to->cx->region;
    const bool lanes = t->form == AC_TILE_LANES, parted = t->shift > 1;
    if (t->form == AC_TILE_SPREAD) {
        ac_putf(to, "    for (int32_t i = 0; i < steps; i++)\n        to[i] = x[%s];\n", t->stride ? "i" : "0");
        return;
    }
    const int depth = lanes ? 1 : t->depth, step = lanes ? t->pitch / t->depth : t->depth, channels = t->channels;
    const int gap = (t->rows - 1) * t->pitch;
    const char *n = depth > 1 ? ac_strf(r, "steps * %d", depth) : "steps", *in = parted ? "    " : "";
    const char *part = ac_strf(r, "p * (%s%d) + ", term(to, "steps", step), gap);
    ac_putf(to,
            "    for (int32_t r = 0; r < %d; r++)\n"
            "        for (int32_t c = 0; c < %d; c++) {\n"
            "            uint32_t sum = 0;\n",
            (int)t->rows, channels);
    if (parted)
        ac_putf(to, "            for (int32_t p = 0; p < %d; p++)\n", (int)t->shift);
    ac_putf(to,
            "%s            for (int32_t k = 0; k < %s; k++) {\n"
            "%s                const int32_t v = x[%s%s%s];\n"
            "%s                sum += (uint32_t)(v * w[%s * %d + c]);\n"
            "%s            }\n"
            "            to[%sc] = (int32_t)sum;\n"
            "        }\n",
            in, n, in, parted ? part : "", term(to, "r", t->rows > 1 ? t->pitch : 0),
            lanes ? ac_strf(r, "%sc", term(to, "k", step)) : "k", in, parted ? ac_strf(r, "(p * %s + k)", n) : "k",
            channels, in, term(to, "r", t->rows > 1 ? channels : 0));
}

const char *ac_c_rvv_tile(ac_cfile *F, const ac_tile *t)
{
    static const char *const COMMENT[AC_TILE_FORMS] = {"",
                                                       "",
                                                       "",
                                                       "Bytes, one after the other.",
                                                       "Sums of products of rows, and packed weights of channels.",
                                                       "Sums of products of each channel with its own weights."};
    const bool copies = t->form == AC_TILE_SPREAD, native = ac_rvv_has(F->target, t);
    const char *how = native ? ac_c_rvv_static(F) : "static inline ", *w = copies ? "" : "const int8_t *w, ";
    const char *name = ac_rvv_name(F->cx, t);
    if (ac_c_have(F, name))
        return name;
    if (native)
        ac_c_rvv_clobbers(F);
    ac_sink *to = &F->helpers;
    ac_putf(to, "/* %s */\n%svoid %s(const int8_t *x, %sint32_t steps, %s *to)\n{\n", COMMENT[t->form], how, name, w,
            copies ? "int8_t" : "int32_t");
    if (native)
        put_asm(F, t);
    put_plain(to, t);
    ac_put(to, native ? "#endif\n}\n\n" : "}\n\n");
    return name;
}

void ac_c_rvv_requant(ac_cfile *F, const ac_requants *q)
{
    ac_sink *to = &F->helpers;
    put_guard(F);
    ac_put(to, "    __asm__ volatile(");
    ac_c_asm_lines(to, ac_rvv_requant(F->cx, q, in_text(F, NUMBER, AC_RVV_NUMBERS), "\n"));
    ac_put(to, "\n        : ");
    for (ac_rvv_number i = 0; i < AC_RVV_NUMBERS; i++)
        ac_putf(to, "%s[%s] \"r\"(%s)", i ? ", " : "\n        : ", NUMBER[i], NUMBER[i]);
    put_end(F);
}
