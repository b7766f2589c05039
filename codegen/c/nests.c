/* nests.c - prints loops that are one call of a function, which is added to the file: assembly if the processor has it,
 * else portable C. Tests compare both. They are the loops marked nest (codegen/nests.h, codegen/mve_nests.h). */
#include "codegen/nests.h"
#include "codegen/c/dialect.h"
#include "codegen/mve_nests.h"

#include <string.h>

static const char *guard_of(ac_cfile *F)
{
    return ac_strf(F->region, "defined(__ARM_FEATURE_MVE) && defined(__GNUC__) && !defined(%s_NO_ASM)", F->upper);
}

static void put_call(ac_cfile *F, const ac_nest *n, const char *name)
{
    const bool rows = n->form == AC_NEST_ROWS;
    const char *end = ac_strf(F->region, "(intptr_t)(bias + channels%s)", n->shared ? "" : " * 3");
    const char *const word[AC_MVE_WORDS] = {
        [AC_MVE_ROW] = "(intptr_t)x",
        [AC_MVE_NEXT_ROW] = rows ? "(intptr_t)(x + steps * 16)" : "(intptr_t)(x + pitch)",
        [AC_MVE_WEIGHTS] = "(intptr_t)w",
        [AC_MVE_BIASES] = "(intptr_t)bias",
        [AC_MVE_OUT] = "(intptr_t)y",
        [AC_MVE_NEXT_OUT] = rows ? "next - y" : "inner",
        [AC_MVE_END] = rows ? end : "outer",
        [AC_MVE_ROW_STEPS] = rows ? "steps" : ac_strf(F->region, "x_outer - inner * %d", (int)n->tile.shift),
        [AC_MVE_HALF] = rows ? "steps * 128 - 16" : "y_inner",
        [AC_MVE_ZERO] = "zero",
        [AC_MVE_TURNS] = rows ? n->tile.rows == 1 ? "pixels" : "pixels / 2" : "y_outer - inner * y_inner",
        [AC_MVE_ADVANCE] = rows ? ac_strf(F->region, "steps * %d", 16 * (int)n->tile.rows) : "0",
        [AC_MVE_FACTORS] = "(intptr_t)m",
        [AC_MVE_LEFT] = "left"};
    ac_sink *to = &F->helpers;
    ac_putf(to, "    intptr_t a[%d] = {", AC_MVE_WORDS);
    for (int32_t w = 0; w < AC_MVE_WORDS; w++)
        ac_putf(to, "%s%s", w == 0 ? "" : w % 6 == 0 ? ",\n        " : ", ", word[w]);
    ac_putf(to, "};\n    %s_asm(a);\n", name);
}

/* SUMS */
static const char *sum_function(ac_cfile *F, const ac_loop_fn *fn, const ac_nest *n, const char *guard)
{
    const char *text = ac_mve_nest_name(F->cx, fn, n), *name = ac_internf(F->cx, "sums_%d", (int)n->sum.post);
    const bool native = ac_mve_has_nest(F->target, n);
    const int first = (int)ac_mve_first_shift(&n->sum);
    ac_sink *to = &F->helpers;
    if (ac_c_have(F, name))
        return name;
    if (native) {
        ac_c_put_naked(F, guard, text, "intptr_t *a __attribute__((unused))", ac_mve_nest_asm(F->cx, fn, n));
        ac_put(to, "#endif\n\n");
    }
    ac_putf(
        to,
        "/* Bytes of two tensors, times numbers, and a number: sums shifted by %d. */\n"
        "static inline void %s(const int8_t *x, const int8_t *w, int8_t *y, int32_t n, int32_t by_x, int32_t by_w,\n"
        "    int32_t start)\n{\n",
        (int)n->sum.post, name);
    if (native)
        ac_putf(to,
                "#if %s\n    intptr_t a[7] = {(intptr_t)x, (intptr_t)w, (intptr_t)y, n, by_x, by_w, start - %d};\n"
                "    %s(a);\n#else\n",
                guard, (1 << (first - 1)) + (1 << (n->sum.post - 1)), text);
    ac_putf(to,
            "    for (int32_t i = 0; i < n; i++) {\n"
            "        const int32_t sum = (x[i] * by_x + w[i] * by_w + start) >> %d;\n"
            "        y[i] = (int8_t)(sum < -128 ? -128 : sum > 127 ? 127 : sum);\n    }\n%s}\n\n",
            (int)n->sum.post, native ? "#endif\n" : "");
    return name;
}

/* The loops, with sums of all rows before the first store. */
static void put_rows(ac_cfile *F, const ac_nest *n, const char *requant)
{
    const int rows = n->tile.rows;
    ac_putf(&F->helpers,
            "    for (int32_t p = 0; p < pixels; p += %d)\n"
            "        for (int32_t oc = 0; oc < channels; oc += 8) {\n"
            "            int32_t acc[%d];\n"
            "            for (int32_t i = 0; i < %d; i++) {\n"
            "                const int8_t *v = x + (p + i / 8) * steps * 16;\n"
            "                const int8_t *of = w + oc * steps * 16 + i %% 8 * 16;\n"
            "                uint32_t sum = 0;\n"
            "                for (int32_t k = 0; k < steps * 16; k++)\n"
            "                    sum += (uint32_t)(v[k] * of[k / 16 * 128 + k %% 16]);\n"
            "                acc[i] = (int32_t)sum;\n"
            "            }\n",
            rows, 8 * rows, 8 * rows);
    ac_putf(&F->helpers,
            "            for (int32_t r = 0; r < %d; r++)\n"
            "                %s(acc + 8 * r, m%s, bias + oc%s, (r == 0 ? y : next) + p * channels + oc, zero, left);\n"
            "        }\n",
            rows, requant, n->shared ? "" : " + oc * 3", n->shared ? "" : " * 3");
}

static void put_spots(ac_cfile *F, const ac_nest *n, const char *requant)
{
    ac_putf(&F->helpers,
            "    static const int32_t SLOT[4] = {0, 2, 1, 3};\n"
            "    for (int32_t i = 0; i < outer; i++)\n"
            "        for (int32_t j = 0; j < inner; j++) {\n"
            "            int32_t acc[4];\n"
            "            for (int32_t c = 0; c < 4; c++) {\n"
            "                const int8_t *v = x + i * x_outer + j * %d + SLOT[c] * pitch;\n"
            "                uint32_t sum = 0;\n"
            "                for (int32_t k = 0; k < 16; k++)\n"
            "                    sum += (uint32_t)(v[k] * w[SLOT[c] * 16 + k]);\n"
            "                acc[c] = (int32_t)sum;\n"
            "            }\n"
            "            %s(acc, m, bias, y + i * y_outer + j * y_inner, zero, left);\n"
            "        }\n",
            (int)n->tile.shift, requant);
}

/* REQUANT (ir/loop/requants.h), with its shift to the left as an argument. */
static const char *requant_of(ac_cfile *F, const ac_requants *q)
{
    const int lanes = q->lanes;
    const char *name = ac_internf(F->cx, "requantise_%d%s", lanes, q->away ? "_away" : "");
    if (ac_c_have(F, name))
        return name;
    if (F->target->mve)
        ac_putf(&F->helpers, "#if !(%s)\n", guard_of(F));
    ac_putf(
        &F->helpers,
        "/* Accumulators, their bias, multipliers and shifts: results. */\n"
        "static inline void %s(const int32_t *acc, const int32_t *m, const int32_t *bias, int8_t *y, int32_t zero,\n"
        "    int32_t left)\n{\n"
        "    for (int32_t l = 0; l < %d; l++) {\n"
        "        const int32_t v = (int32_t)(((uint32_t)acc[l] + (uint32_t)bias[l]) << (uint32_t)left);\n"
        "        int64_t p = ((int64_t)v * m[l] + 1073741824) >> 31;\n%s"
        "        p = ((m[%d + l] < 0 ? p + (INT64_C(1) << (-m[%d + l] - 1)) : p) >> -m[%d + l]) + zero;\n"
        "        y[l] = (int8_t)(p < -128 ? -128 : p > 127 ? 127 : p);\n    }\n}\n\n",
        name, lanes, q->away ? "        p -= p < 0 ? 1 : 0;\n" : "", lanes, lanes, lanes);
    ac_put(&F->helpers, F->target->mve ? "#endif\n\n" : "");
    return name;
}

static const char *function_of(ac_cfile *F, const ac_loop_fn *fn, const ac_nest *n)
{
    const char *text = ac_mve_nest_name(F->cx, fn, n);
    const char *name = ac_internf(F->cx, "%.*s", (int)(strlen(text) - strlen("_asm")), text),
               *requant = requant_of(F, &n->q);
    const bool rows = n->form == AC_NEST_ROWS, native = ac_mve_has_nest(F->target, n);
    ac_sink *to = &F->helpers;
    if (ac_c_have(F, name))
        return name;
    const char *guard = guard_of(F);
    if (native) {
        ac_c_put_naked(F, guard, text, "intptr_t *a __attribute__((unused))", ac_mve_nest_asm(F->cx, fn, n));
        ac_put(to, "#endif\n\n");
    }
    if (rows)
        ac_putf(to,
                "/* Pixels by channels, packed by eights: sums of products of %d at once, requantised. */\n"
                "static inline void %s(const int8_t *x, const int8_t *w, int32_t steps,\n"
                "    const int32_t *bias, const int32_t *m, int8_t *y, int8_t *next, int32_t pixels,\n"
                "    int32_t channels, int32_t zero, int32_t left)\n{\n",
                (int)n->tile.rows, name);
    else
        ac_putf(
            to,
            "/* Depthwise: four channels, each with its own weights and line; sixteen bytes of it at each spot. */\n"
            "static inline void %s(const int8_t *x, int32_t pitch, int32_t x_outer, const int8_t *w,\n"
            "    const int32_t *bias, const int32_t *m, int8_t *y, int32_t y_outer, int32_t y_inner, int32_t outer,\n"
            "    int32_t inner, int32_t zero, int32_t left)\n{\n",
            name);
    if (native) {
        ac_putf(to, "#if %s\n", guard);
        put_call(F, n, name);
        ac_put(to, "#else\n");
    }
    (rows ? put_rows : put_spots)(F, n, requant);
    ac_put(to, native ? "#endif\n}\n\n" : "}\n\n");
    return name;
}

/* A value that the nest needs: terms that are added, then those that are subtracted. NULL: none. */
static ac_cexpr value_of(const ac_cfn *f, const ac_nest *n, ac_nest_arg a)
{
    ac_cexpr e = {0};
    for (int32_t minus = 0; minus < 2; minus++)
        for (const ac_x *x = n->arg[a].term; *x; x++) {
            if ((*x < 0) != minus)
                continue;
            const ac_cexpr v = f->val[minus ? -*x : *x].e;
            if (!e.text && minus)
                e = ac_c_atom("0");
            e = e.text ? ac_c_binary(f->file->region, minus ? C_SUB : C_ADD, e, v) : v;
        }
    return e;
}

static const char *text_of(const ac_cfn *f, const ac_nest *n, ac_nest_arg a, const char *zero)
{
    const char *text = value_of(f, n, a).text;
    return text ? text : zero;
}

static const char *place_of(ac_cfn *f, const ac_nest *n, int32_t buf, ac_nest_arg a)
{
    const ac_cexpr e = value_of(f, n, a);
    return e.text ? ac_c_binary(f->file->region, C_ADD, ac_c_atom(f->buf[buf]), e).text : f->buf[buf];
}

static void put_sum(ac_cfn *f, const ac_nest *n)
{
    const char *name = sum_function(f->file, f->fn, n, guard_of(f->file));
    const char *a = place_of(f, n, n->sum.a, AC_NEST_X), *b = place_of(f, n, n->sum.b, AC_NEST_W),
               *y = place_of(f, n, n->sum.y, AC_NEST_Y);
    ac_c_line(f, "%s(%s, %s, %s, %s, %d, %d, %d);", name, a, b, y, text_of(f, n, AC_NEST_INNER, "0"), (int)n->sum.ma,
              (int)n->sum.mb, (int)n->sum.c);
}

void ac_c_nest(ac_cfn *f, const ac_nest *n)
{
    if (n->form == AC_NEST_SUMS) {
        put_sum(f, n);
        return;
    }
    const char *name = function_of(f->file, f->fn, n);
    const char *x = place_of(f, n, n->tile.x, AC_NEST_X), *w = place_of(f, n, n->tile.w, AC_NEST_W),
               *bias = place_of(f, n, n->q.table, AC_NEST_BIAS), *m = place_of(f, n, n->q.table, AC_NEST_M),
               *y = place_of(f, n, n->q.y, AC_NEST_Y);
    const char *outer = text_of(f, n, AC_NEST_OUTER, "0"), *inner = text_of(f, n, AC_NEST_INNER, "0");
    if (n->form == AC_NEST_ROWS) {
        const char *steps = text_of(f, n, AC_NEST_STEPS, "0");
        if (n->turns && n->tile.rows > 1)
            outer = ac_c_binary(f->file->region, C_MUL, value_of(f, n, AC_NEST_OUTER), ac_c_atom("2")).text;
        const char *next = n->tile.rows > 1 ? place_of(f, n, n->q.y, AC_NEST_Y_NEXT) : y;
        ac_c_line(f, "%s(%s, %s, %s, %s, %s, %s, %s, %s, %s, %d, %d);", name, x, w, steps, bias, m, y, next, outer,
                  inner, (int)n->q.zero, (int)n->q.pre);
        return;
    }
    ac_c_line(f, "%s(%s, %d, %s, %s, %s, %s, %s, %s, %s, %s, %s, %d, %d);", name, x, (int)n->tile.pitch,
              text_of(f, n, AC_NEST_X_OUTER, "1"), w, bias, m, y, text_of(f, n, AC_NEST_Y_OUTER, "1"),
              text_of(f, n, AC_NEST_Y_INNER, "1"), outer, inner, (int)n->q.zero, (int)n->q.pre);
}
