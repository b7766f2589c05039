/* riscv.c - prints TILE and REQUANT in C for RISC-V, and the loops of codegen/dsp/words.h: the assembler texts of
 * codegen/rvv_asm.h and words.h if the compiler may use them, else portable C. Tests compare both. */
#include "codegen/c/dialect.h"
#include "codegen/dsp/words.h"
#include "codegen/rvv_asm.h"

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

/* ------------------------------------------------------------------ two pixels in a word */

#define UNUSED " __attribute__((unused))"

static const char *words_condition(const ac_cfile *F)
{
    return ac_strf(F->region,
                   "defined(__riscv_mul) && __riscv_xlen == 32 && !defined(__riscv_32e) && defined(__GNUC__) && \\\n"
                   "    !defined(%s_NO_ASM)",
                   F->upper);
}

/* For the portable forms. */
static void put_byte(ac_cfile *F)
{
    if (!ac_c_have(F, "byte_of_word"))
        ac_putf(&F->helpers,
                "#if !(%s)\n"
                "/* One of the bytes a and b in a + 65536 b. */\n"
                "static inline int32_t byte_of_word(int32_t word, int32_t second)\n{\n"
                "    return (second != 0) ? ((word + 128) >> 16) : (((word + 128) & 255) - 128);\n}\n#endif\n\n",
                words_condition(F));
}

static const char *words_tile(ac_cfile *F, const ac_tile *t)
{
    const char *name = ac_words_name(F->cx, t);
    if (ac_c_have(F, name))
        return name;
    const bool native = ac_words_has(F->target, t);
    ac_sink *to = &F->helpers;
    put_byte(F);
    ac_putf(to,
            "/* %d sums: %d rows, two in a word, by %d channels of packed weights, 4 elements of each in a step. */\n",
            (int)(t->rows * t->channels), (int)t->rows, (int)t->channels);
    if (native) {
        ac_c_put_naked(F, words_condition(F), name,
                       "const int32_t *x" UNUSED ", const int8_t *w" UNUSED ",\n"
                       "    int32_t steps" UNUSED ", int32_t *acc" UNUSED,
                       ac_words_asm(F->cx, t));
        ac_put(to, "#else\n");
    }
    ac_putf(to,
            "static void %s(const int32_t *x, const int8_t *w, int32_t steps, int32_t *acc)\n{\n"
            "    for (int32_t i = 0; i < %d; i++) {\n"
            "        acc[i] = 0;\n"
            "        for (int32_t k = 0; k < steps * 4; k++) {\n"
            "            const int32_t word = x[k * %d + i / %d];\n"
            "            acc[i] += byte_of_word(word, i / %d %% 2) * w[k * %d + i %% %d];\n"
            "        }\n    }\n}\n%s\n",
            name, (int)(t->rows * t->channels), (int)(t->rows / 2), (int)(2 * t->channels), (int)t->channels,
            (int)t->channels, (int)t->channels, native ? "#endif\n" : "");
    return name;
}

void ac_c_words(ac_cfn *f, const ac_ins *in)
{
    const ac_tile t = ac_ins_tile(in);
    ac_c_line(f, "%s(%s, %s, %s, %s);", words_tile(f->file, &t), ac_c_place(f, t.x, in->a), ac_c_place(f, t.w, in->b),
              f->val[in->c].e.text, f->buf[t.acc]);
}

static const char *words_function(ac_cfile *F, const ac_rows_form *f)
{
    const char *name = ac_words_rows_name(F->cx, f);
    if (ac_c_have(F, name))
        return name;
    put_byte(F);
    ac_sink *to = &F->helpers;
    if (!ac_c_have(F, "words_args"))
        ac_put(to, "/* m: of each channel a factor and a term; pitch: from a row of results to the next; begin, end: "
                   "the rows\n * that are stored. */\n"
                   "typedef struct words_args {\n"
                   "    void (*sums)(void);\n    const int32_t *m;\n    int32_t factor;\n    int32_t pitch;\n    "
                   "int32_t steps;\n"
                   "    int32_t channels;\n    const int32_t *bias;\n    int32_t shift;\n    int32_t term;\n"
                   "    int32_t begin;\n    int32_t end;\n} words_args;\n\n");
    if (!ac_c_have(F, ac_words_sums_name())) {
        ac_put(to, "/* The sums of four pixels by four channels, for functions of all channels. */\n");
        ac_c_put_naked(F, words_condition(F), ac_words_sums_name(), "void", ac_words_sums_asm(F->cx));
        ac_putf(to, "#else\nstatic void %s(void)\n{\n}\n#endif\n\n", ac_words_sums_name());
    }
    ac_put(to, "/* Four pixels, two in a word, by all channels of packed weights, four at a time, requantised. */\n");
    ac_c_put_naked(F, words_condition(F), name,
                   "const int32_t *x" UNUSED ", const int8_t *w" UNUSED ",\n"
                   "    int8_t *y" UNUSED ", const words_args *a" UNUSED,
                   ac_words_rows_asm(F->cx, f));
    ac_putf(to,
            "#else\nstatic void %s(const int32_t *x, const int8_t *w, int8_t *y, const words_args *a)\n{\n"
            "    for (int32_t oc = 0; oc < a->channels; oc++) {\n"
            "        const int8_t *const from = &w[oc / 4 * 16 * a->steps + oc %% 4];\n"
            "        for (int32_t r = a->begin; r < a->end; r++) {\n"
            "            int32_t acc = %s;\n"
            "            for (int32_t k = 0; k < a->steps * 4; k++) {\n"
            "                acc += byte_of_word(x[k * 2 + r / 2], r %% 2) * from[k * 4];\n"
            "            }\n"
            "            const int64_t by = %s;\n"
            "            int32_t v = (int32_t)(by >> 32) + %s;\n"
            "            v >>= a->shift;\n"
            "            v = (v > -128) ? v : -128;\n"
            "            y[r * a->pitch + oc] = (int8_t)((v < 127) ? v : 127);\n"
            "        }\n    }\n}\n#endif\n\n",
            name, f->biased ? "a->bias[oc]" : "0",
            f->is_long ? "(int64_t)acc * a->m[2 * oc] + (a->m[2 * oc + 1] ^ (acc >> 31))"
                       : "(int64_t)(acc * a->factor) * a->m[2 * oc]",
            f->is_long     ? "a->term"
            : f->is_signed ? "(a->m[2 * oc + 1] ^ (acc >> 31)) + a->term"
                           : "a->m[2 * oc + 1]");
    return name;
}

static const char *number_of(ac_cfn *f, ac_x x, int64_t otherwise)
{
    return x ? f->val[x].e.text : ac_strf(f->file->region, "%d", (int)otherwise);
}

void ac_c_words_rows(ac_cfn *f, const ac_rows *r)
{
    const char *name = words_function(f->file, &r->form);
    ac_c_line(f, "%s(%s, %s, %s, &(const words_args){%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s});", name,
              ac_c_place(f, r->tile.x, r->x_at), f->buf[r->tile.w], ac_c_rows_place(f, r, 0), ac_words_sums_name(),
              f->buf[r->m], number_of(f, r->number, 1), number_of(f, r->pitch, r->pitch_number),
              f->val[r->steps].e.text, f->val[r->channels].e.text, r->bias < 0 ? "NULL" : f->buf[r->bias],
              f->val[r->shift].e.text, number_of(f, r->term, 0), f->val[r->begin].e.text, f->val[r->last].e.text);
}
