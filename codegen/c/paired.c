/* paired.c - prints words of two halves or four bytes as C: a word is a uint32_t, and the machine's instructions are
 * small functions that also have a portable body, so that the same text compiles for every machine with equal results.
 *
 *     DOT2      dot2_i16x2(a, b, c)          smlad
 *     SHR       even_i16x2(w), odd_i16x2(w)  sxtb16, and of the word rotated by a byte
 *     SHUFFLE   pair_i16x2(a, b)             pkhbt; others: tops_i16x2 is pkhtb
 *     LOAD      word_of(&w[i])               ldr, at any address
 *     MIN       clamp_i8(v), clamp_i16(v)    ssat */
#include "codegen/c/printer.h"
#include "ir/loop/halves.h"

#include <string.h>

enum { WORD_OF, PUT_WORD, DOT2_I16X2, EVEN_I16X2, ODD_I16X2, PAIR_I16X2, TOPS_I16X2, CLAMP_I8, CLAMP_I16 };
static const struct {
    const char *name, *text;
} HELPERS[] = {
    [WORD_OF] = {"word_of", "static inline uint32_t word_of(const void *from)\n"
                            "{\n"
                            "    uint32_t w;\n"
                            "    (void)memcpy(&w, from, sizeof w);\n"
                            "    return w;\n"
                            "}\n\n"},
    [PUT_WORD] = {"put_word", "static inline void put_word(void *to, uint32_t w)\n"
                              "{\n"
                              "    (void)memcpy(to, &w, sizeof w);\n"
                              "}\n\n"},
    [DOT2_I16X2] = {"dot2_i16x2",
                    "/* c + the products of the halves of a and b, wrapping. */\n"
                    "static inline int32_t dot2_i16x2(uint32_t a, uint32_t b, int32_t c)\n"
                    "{\n"
                    "#if defined(__ARM_FEATURE_DSP)\n"
                    "    return __smlad((int16x2_t)a, (int16x2_t)b, c);\n"
                    "#else\n"
                    "    const int32_t low = (int16_t)a * (int16_t)b, high = (int16_t)(a >> 16) * (int16_t)(b >> 16);\n"
                    "    return (int32_t)((uint32_t)c + (uint32_t)low + (uint32_t)high);\n"
                    "#endif\n"
                    "}\n\n"},
    [EVEN_I16X2] = {"even_i16x2", "/* Bytes 0 and 2 of w, widened to halves. */\n"
                                  "static inline uint32_t even_i16x2(uint32_t w)\n"
                                  "{\n"
                                  "#if defined(__ARM_FEATURE_DSP)\n"
                                  "    return (uint32_t)__sxtb16((int8x4_t)w);\n"
                                  "#else\n"
                                  "    return (uint16_t)(int8_t)w | (uint32_t)(uint16_t)(int8_t)(w >> 16) << 16;\n"
                                  "#endif\n"
                                  "}\n\n"},
    /* gcc would rotate the word in a separate instruction, so this is inline assembly. */
    [ODD_I16X2] = {"odd_i16x2", "/* Bytes 1 and 3 of w, widened to halves. */\n"
                                "static inline uint32_t odd_i16x2(uint32_t w)\n"
                                "{\n"
                                "#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__) && !defined(__clang__)\n"
                                "    uint32_t v;\n"
                                "    __asm__(\"sxtb16 %0, %1, ror #8\" : \"=r\"(v) : \"r\"(w));\n"
                                "    return v;\n"
                                "#elif defined(__ARM_FEATURE_DSP)\n"
                                "    return (uint32_t)__sxtb16((int8x4_t)(w >> 8 | w << 24));\n"
                                "#else\n"
                                "    return (uint16_t)(int8_t)(w >> 8) | (uint32_t)(uint16_t)(int8_t)(w >> 24) << 16;\n"
                                "#endif\n"
                                "}\n\n"},
    /* gcc 12 has no pattern for pkhbt and pkhtb; clang has. */
    [PAIR_I16X2] = {"pair_i16x2", "/* The low halves of a and b: a below. */\n"
                                  "static inline uint32_t pair_i16x2(uint32_t a, uint32_t b)\n"
                                  "{\n"
                                  "#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__) && !defined(__clang__)\n"
                                  "    uint32_t v;\n"
                                  "    __asm__(\"pkhbt %0, %1, %2, lsl #16\" : \"=r\"(v) : \"r\"(a), \"r\"(b));\n"
                                  "    return v;\n"
                                  "#else\n"
                                  "    return (a & 0xffffu) | b << 16;\n"
                                  "#endif\n"
                                  "}\n\n"},
    [TOPS_I16X2] = {"tops_i16x2", "/* The high halves of a and b: a's below. */\n"
                                  "static inline uint32_t tops_i16x2(uint32_t a, uint32_t b)\n"
                                  "{\n"
                                  "#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__) && !defined(__clang__)\n"
                                  "    uint32_t v;\n"
                                  "    __asm__(\"pkhtb %0, %2, %1, asr #16\" : \"=r\"(v) : \"r\"(a), \"r\"(b));\n"
                                  "    return v;\n"
                                  "#else\n"
                                  "    return a >> 16 | (b & 0xffff0000u);\n"
                                  "#endif\n"
                                  "}\n\n"},
    [CLAMP_I8] = {"clamp_i8", "static inline int32_t clamp_i8(int32_t v)\n"
                              "{\n"
                              "#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__) /* its __ssat warns */\n"
                              "    return (int32_t)__builtin_arm_ssat(v, 8);\n"
                              "#elif defined(__ARM_FEATURE_DSP)\n"
                              "    return (int32_t)__ssat(v, 8);\n"
                              "#else\n"
                              "    return v < -128 ? -128 : v > 127 ? 127 : v;\n"
                              "#endif\n"
                              "}\n\n"},
    [CLAMP_I16] = {"clamp_i16", "static inline int32_t clamp_i16(int32_t v)\n"
                                "{\n"
                                "#if defined(__ARM_FEATURE_DSP) && defined(__GNUC__) /* its __ssat warns */\n"
                                "    return (int32_t)__builtin_arm_ssat(v, 16);\n"
                                "#elif defined(__ARM_FEATURE_DSP)\n"
                                "    return (int32_t)__ssat(v, 16);\n"
                                "#else\n"
                                "    return v < -32768 ? -32768 : v > 32767 ? 32767 : v;\n"
                                "#endif\n"
                                "}\n\n"},
};

/* The name of a helper; its text is added to the file at the first call. */
static const char *helper(ac_cfn *f, int which)
{
    ac_cfile *F = f->file;
    if (!ac_c_have(F, HELPERS[which].name))
        ac_put(&F->helpers, HELPERS[which].text);
    return HELPERS[which].name;
}

static ac_cexpr place(const ac_cfn *f, int32_t buf, ac_x index)
{
    const ac_cexpr at = ac_c_index(f->file->region, f->buf[buf], f->val[index].e);
    return (ac_cexpr){ac_strf(f->file->region, "&%s", at.text), C_UNARY, true};
}

void ac_c_word_store(ac_cfn *f, ac_x store)
{
    const ac_ins *in = c_ins(f, store);
    const char *put = helper(f, PUT_WORD);
    ac_c_line(f, "%s(%s, %s);", put, place(f, in->aux, in->a).text, f->val[in->b].e.text);
}

/* A number as a word with an arbitrary high half. */
static ac_cexpr number(const ac_cfn *f, ac_x x)
{
    ac_region *r = f->file->region;
    return c_is_const(f, x) ? ac_c_uint(r, (uint16_t)c_ins(f, x)->k.i) : ac_c_cast(r, "uint32_t", f->val[x].e);
}

/* Element k of a followed by b, as a word with it in the low half. */
static ac_cexpr element(const ac_cfn *f, const ac_ins *in, int64_t k)
{
    ac_region *r = f->file->region;
    const int32_t n = c_ins(f, in->a)->lanes;
    const ac_x x = k < n ? in->a : in->b;
    if (n == 1)
        return number(f, x);
    return k % n ? ac_c_binary(r, C_SHR, f->val[x].e, ac_c_int(r, 16)) : f->val[x].e;
}

static ac_cexpr pack(ac_cfn *f, const ac_ins *in)
{
    ac_region *r = f->file->region;
    const int64_t *k = &f->fn->pool.item[in->aux];
    const int32_t n = c_ins(f, in->a)->lanes;
    if (n == 2 && k[0] % 2 && k[1] % 2)
        return ac_c_call2(r, helper(f, TOPS_I16X2), f->val[k[0] < n ? in->a : in->b].e,
                          f->val[k[1] < n ? in->a : in->b].e);
    return ac_c_call2(r, helper(f, PAIR_I16X2), element(f, in, k[0]), element(f, in, k[1]));
}

static ac_cexpr lane(const ac_cfn *f, const ac_ins *in)
{
    ac_region *r = f->file->region;
    ac_cexpr e = f->val[in->a].e;
    if (in->aux)
        e = ac_c_binary(r, C_SHR, e, ac_c_int(r, 16));
    return ac_c_cast(r, "int16_t", e);
}

static ac_cexpr bits(const ac_cfn *f, const ac_ins *in)
{
    ac_region *r = f->file->region;
    const ac_ins *a = c_ins(f, in->a);
    if (in->lanes == 1 && in->dtype == AC_I32)
        return ac_c_cast(r, "int32_t", f->val[in->a].e);
    return a->lanes == 1 && a->dtype == AC_I32 ? ac_c_cast(r, "uint32_t", f->val[in->a].e) : f->val[in->a].e;
}

ac_cexpr ac_c_clamped(ac_cfn *f, ac_x x)
{
    int32_t bits = 0;
    const ac_x v = ac_target_halves(f->file->target) ? ac_halves_clamped(f->fn, x, &bits) : 0;
    return v ? ac_c_call(f->file->region, helper(f, bits == 8 ? CLAMP_I8 : CLAMP_I16), f->val[v].e) : (ac_cexpr){0};
}

ac_cexpr ac_c_word(ac_cfn *f, ac_x x)
{
    ac_region *r = f->file->region;
    const ac_ins *in = c_ins(f, x);
    const ac_cexpr a = in->a ? f->val[in->a].e : (ac_cexpr){0}, b = in->b ? f->val[in->b].e : (ac_cexpr){0};
    bool odd = false;
    switch ((ac_lop)in->op) {
    case AC_L_CONST:
    case AC_L_CONSTV:
        return ac_c_atom(ac_strf(r, "0x%08xu", (unsigned)ac_halves_bits(f->fn, x)));
    case AC_L_GET:
        return f->val[in->aux].e;
    case AC_L_LOAD:
        return ac_c_call(r, helper(f, WORD_OF), place(f, in->aux, in->a));
    case AC_L_AND:
        return ac_c_binary(r, C_AND, a, b);
    case AC_L_OR:
        return ac_c_binary(r, C_OR, a, b);
    case AC_L_XOR:
        return ac_c_binary(r, C_XOR, a, b);
    case AC_L_BITCAST:
        return bits(f, in);
    case AC_L_SHR: {
        const ac_x word = ac_halves_widened(f->fn, x, &odd);
        return ac_c_call(r, helper(f, odd ? ODD_I16X2 : EVEN_I16X2), f->val[word].e);
    }
    case AC_L_SHUFFLE:
        return pack(f, in);
    case AC_L_LANE:
        return lane(f, in);
    case AC_L_DOT2:
        return ac_c_call3(r, helper(f, DOT2_I16X2), a, b, f->val[in->c].e);
    // clang-format off
    case AC_L_NONE: case AC_L_VAR: case AC_L_SET: case AC_L_STORE: case AC_L_PREFETCH: case AC_L_ADD: case AC_L_SUB:
    case AC_L_MUL: case AC_L_DIV: case AC_L_MOD: case AC_L_MIN: case AC_L_MAX: case AC_L_NEG: case AC_L_ABS:
    case AC_L_SQRT: case AC_L_FLOOR: case AC_L_CEIL: case AC_L_TRUNC: case AC_L_RINT: case AC_L_NOT: case AC_L_SHL:
    case AC_L_EQ: case AC_L_NE: case AC_L_LT: case AC_L_LE: case AC_L_SELECT: case AC_L_CAST: case AC_L_SATCAST:
    case AC_L_FMA: case AC_L_DOT4: case AC_L_MMA: case AC_L_TILE: case AC_L_REQUANT: case AC_L_SPLAT:
    case AC_L_SUMLANES: case AC_L_MAXLANES: case AC_L_FOR: case AC_L_IF: case AC_L_ELSE: case AC_L_END:
    case AC_L_BREAK_IF: case AC_L_FAIL_IF: case AC_L_COUNT:
        break;
        // clang-format on
    }
    return (ac_cexpr){0};
}
