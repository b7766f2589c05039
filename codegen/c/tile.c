/* tile.c - prints TILE, and the loops of codegen/dsp/rows.h, in C: a function for each shape, added to the file before
 * its first use. It is assembly if the target has the instructions and the compiler takes them, else portable C. Tests
 * compare both. */
#include "codegen/c/dialect.h"
#include "codegen/dsp/planes.h"
#include "codegen/dsp/rows.h"
#include "codegen/matrix_tile.h"
#include "codegen/rvv_asm.h"
#include "codegen/tile_asm.h"

const char *ac_c_asm_condition(ac_cfile *F, const char *feature, const char *more)
{
    return ac_strf(F->region,
                   "defined(%s) && defined(__GNUC__) && %sdefined(__OPTIMIZE__) && \\\n"
                   "    !defined(%s_NO_ASM)",
                   feature, more, F->upper);
}

void ac_c_asm_lines(ac_sink *to, const char *text)
{
    for (const char *p = text; *p;) {
        size_t len = 0;
        while (p[len] != '\n')
            len++;
        ac_putf(to, "\n        \"%.*s\\n\"", (int)len, p);
        p += len + 1;
    }
}

static const char AT_ANY[] = "defined(__ARM_FEATURE_UNALIGNED) && ";
#define UNUSED " __attribute__((unused))"

/* After #if: the compiler takes functions of assembly alone; more: "" or "X && ". */
static const char *naked_condition(const ac_cfile *F, const char *more)
{
    return ac_strf(F->region,
                   "defined(__ARM_FEATURE_DSP) && defined(__thumb2__) && defined(__GNUC__) && \\\n"
                   "    %s!defined(%s_NO_ASM)",
                   more, F->upper);
}

void ac_c_put_naked(ac_cfile *F, const char *condition, const char *name, const char *params, const char *text)
{
    ac_sink *to = &F->helpers;
    ac_putf(to,
            "#if %s\n"
            "#if defined(__clang__)\n__attribute__((naked, noinline))\n#else\n__attribute__((naked, noipa))\n#endif\n"
            "static void %s(%s)\n{\n    __asm__ volatile(",
            condition, name, params);
    ac_c_asm_lines(to, text);
    ac_put(to, ");\n}\n");
}

/* UNSIGNED: n channels from c on at once. GCC assembles texts for Armv6-M in an older syntax unless they select the
 * unified one. */
static void put_bytes_asm(ac_cfile *F, ac_sink *to, const ac_tile *t, int32_t n)
{
    const char **acc = AC_NEW_N(F->region, const char *, n);
    for (int32_t i = 0; i < n; i++)
        acc[i] = ac_strf(F->region, "%%[c%d]", (int)i);
    ac_putf(to,
            "    const uint8_t *const end = x + steps * %d;\n"
            "    for (int32_t c = 0; c < %d; c += %d) {\n"
            "        const uint8_t *at = x, *from = &w[c];\n"
            "        uint32_t v, t;\n",
            (int)t->depth, (int)t->channels, (int)n);
    for (int32_t i = 0; i < n; i++)
        ac_putf(to, "        int32_t c%d = acc[c + %d];\n", (int)i, (int)i);
    ac_put(to, "        __asm__ volatile(\n        \".syntax unified\\n\"\n        \"1:\\n\"");
    ac_c_asm_lines(to, ac_tile_bytes_asm(F->cx, t, n, acc, "%[x]", "%[w]", "%[v]", "%[t]", "\n"));
    ac_c_asm_lines(to, "cmp %[x], %[end]\nbne 1b\n");
    ac_put(to, "\n        : ");
    for (int32_t i = 0; i < n; i++)
        ac_putf(to, "[c%d] \"+%c\"(c%d), ", (int)i, i < AC_TILE_LOW ? 'l' : 'h', (int)i);
    ac_put(to, "[x] \"+l\"(at), [w] \"+l\"(from),\n          [v] \"=&l\"(v), [t] \"=&l\"(t)\n"
               "        : [end] \"h\"(end)\n        : \"cc\", \"memory\");\n");
    for (int32_t i = 0; i < n; i++)
        ac_putf(to, "        acc[c + %d] = c%d;\n", (int)i, (int)i);
    ac_put(to, "    }\n");
}

/* With -Os GCC does not use r8-r11: two halves then. */
static void put_bytes_asms(ac_cfile *F, ac_sink *to, const ac_tile *t)
{
    const bool halves = t->channels > AC_TILE_LOW;
    const char *may = ac_c_asm_condition(F, "__thumb__", "!defined(__clang__) && ");
    ac_putf(to, "#if %s%s\n", may, halves ? " && !defined(__OPTIMIZE_SIZE__)" : "");
    put_bytes_asm(F, to, t, t->channels);
    if (halves) {
        ac_putf(to, "#elif %s\n", may);
        put_bytes_asm(F, to, t, t->channels / 2);
    }
    ac_put(to, "#else\n");
}

static const char *bytes_function(ac_cfile *F, const ac_tile *t)
{
    const char *name = ac_internf(F->cx, "tile_%s_%dx%d", ac_tile_text[t->form], (int)t->channels, (int)t->depth);
    if (ac_c_have(F, name))
        return name;
    const bool native = ac_tile_has_asm(F->target, t);
    ac_sink *to = &F->helpers;
    ac_putf(to,
            "/* Adds to %d accumulators: a row by %d channels of packed weights, %d elements of each in a step. */\n"
            "static inline void %s(const uint8_t *x, const uint8_t *w, int32_t steps, int32_t *acc)\n{\n",
            (int)t->channels, (int)t->channels, (int)t->depth, name);
    if (native)
        put_bytes_asms(F, to, t);
    ac_putf(to,
            "    for (int32_t k = 0; k < steps * %d; k++) {\n"
            "        for (int32_t c = 0; c < %d; c++) {\n"
            "            const int32_t by = (int32_t)x[k] * (int32_t)w[k * %d + c];\n"
            "            const uint32_t sum = (uint32_t)acc[c] + (uint32_t)by;\n"
            "            acc[c] = (int32_t)sum;\n"
            "        }\n"
            "    }\n%s}\n\n",
            (int)t->depth, (int)t->channels, (int)t->channels, native ? "#endif\n" : "");
    return name;
}

/* " * 3"; nothing for 1 */
static const char *times(ac_sink *to, int n)
{
    return n == 1 ? "" : ac_strf(to->cx->region, " * %d", n);
}

/* The definition, as in ir/loop/tiles.c. ROW is one row of bytes, whose weights have elements 1 and 2 of each four
 * swapped. */
static void put_plain(ac_sink *to, const ac_tile *t)
{
    const int rows = t->rows, pairs = t->channels / 2;
    const bool row = t->form == AC_TILE_ROW;
    const char *element = row ? ac_strf(to->cx->region, "s / %d * 8 + k / 4 * 4 + k %% 2 * 2 + k / 2 %% 2", pairs)
                              : ac_strf(to->cx->region, "(s / %d%s + r) * 8 + k", pairs, times(to, rows));
    const char *in = row ? "            " : "                ";
    ac_putf(to,
            "    for (int32_t i = 0; i < %d; i++) {\n"
            "        acc[i] = 0;\n"
            "    }\n"
            "    for (int32_t s = 0; s < steps%s; s++)\n"
            "        for (int32_t k = 0; k < 8; k++) {\n"
            "            const int32_t low = w[s * 16 + k * 2];\n"
            "            const int32_t whole = w[s * 16 + k * 2 + 1] * 256 + (low & 255);\n",
            rows * 2 * pairs, times(to, pairs));
    if (!row)
        ac_putf(to, "            for (int32_t r = 0; r < %d; r++) {\n", rows);
    ac_putf(to,
            "%sconst int32_t v = x[%s];\n"
            "%sint32_t *const c = &acc[s %% %d * %d%s];\n"
            "%sconst int32_t by_low = v * low;\n"
            "%sconst int32_t by_whole = v * whole;\n"
            "%sconst uint32_t first = (uint32_t)c[0] + (uint32_t)by_low;\n"
            "%sconst uint32_t second = (uint32_t)c[%d] + (uint32_t)by_whole;\n"
            "%sc[0] = (int32_t)first;\n"
            "%sc[%d] = (int32_t)second;\n",
            in, element, in, pairs, 2 * rows, row ? "" : " + r", in, in, in, in, rows, in, in, rows);
    ac_put(to, row ? "        }\n" : "            }\n        }\n");
}

/* ------------------------------------------------------------------ matrices

 * With AMX:
 *     registers 0 to 3   sums of rows 0-15 and 16-31 by channels 0-15 and 16-31
 *     registers 4, 5     rows: 64 bytes of each
 *     registers 6, 7     weights: 16 rows of four bytes of 16 channels */

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

static const char *matrix_function(ac_cfile *F, const ac_tile *t)
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

static const char *function_of(ac_cfile *F, const ac_tile *t)
{
    if (t->form == AC_TILE_UNSIGNED)
        return bytes_function(F, t);
    if (t->form == AC_TILE_MATRIX)
        return matrix_function(F, t);
    if (ac_tile_is_wide(t) || ac_rvv_has(F->target, t))
        return ac_c_rvv_tile(F, t);
    if (!ac_tile_pairs(t->form))
        return ac_c_mve_tile(F, t);
    const char *name = ac_tile_name(F->cx, t);
    if (ac_c_have(F, name))
        return name;
    const char *type = t->form == AC_TILE_ROW ? "int8_t" : "int16_t";
    const bool native = ac_tile_has_asm(F->target, t);
    ac_sink *to = &F->helpers;
    ac_putf(to, "/* %d sums: %d rows by %d channels of packed weights, %d elements of each in a step. */\n",
            (int)(t->rows * t->channels), (int)t->rows, (int)t->channels, (int)ac_tile_depth(t));
    if (native) {
        const char *params = ac_strf(F->region,
                                     "const %s *x" UNUSED ", const int8_t *w" UNUSED ",\n"
                                     "    int32_t steps" UNUSED ", int32_t *acc" UNUSED,
                                     type);
        ac_c_put_naked(F, naked_condition(F, t->form == AC_TILE_ROW ? AT_ANY : ""), name, params,
                       ac_tile_asm(F->cx, t));
        ac_put(to, "#else\n");
    }
    ac_putf(to, "static inline void %s(const %s *x, const int8_t *w, int32_t steps, int32_t *acc)\n{\n", name, type);
    put_plain(to, t);
    ac_put(to, native ? "}\n#endif\n\n" : "}\n\n");
    return name;
}

const char *ac_c_place(ac_cfn *f, int32_t buf, ac_x index)
{
    if (c_is_const(f, index) && c_ins(f, index)->k.i == 0)
        return f->buf[buf];
    return ac_c_binary(f->file->region, C_ADD, ac_c_atom(f->buf[buf]), f->val[index].e).text;
}

void ac_c_tile(ac_cfn *f, const ac_ins *in)
{
    const ac_tile t = ac_ins_tile(in);
    const char *name = function_of(f->file, &t), *x = ac_c_place(f, t.x, in->a);
    const char *steps = f->val[in->c].e.text;
    const bool flat = t.channels == 1 && t.shift == 1 && t.stride <= 1; /* copies, or fills */
    if (t.form == AC_TILE_SPREAD && (flat || ac_rvv_has(f->file->target, &t)))
        ac_c_line(f, "%s(%s, %s, %s);", name, x, steps, ac_c_place(f, t.acc, in->b));
    else if (t.form == AC_TILE_SPREAD)
        ac_c_line(f, "%s(%s, %d, %s, %s, %d);", name, x, (int)t.stride, steps, ac_c_place(f, t.acc, in->b),
                  (int)t.pitch);
    else if (t.form == AC_TILE_MATRIX)
        ac_c_line(f, "%s(%s, %d, %s, %s, %s);", name, x, (int)t.pitch, ac_c_place(f, t.w, in->b), steps, f->buf[t.acc]);
    else if (t.form == AC_TILE_EACH)
        ac_c_line(f, "%s(%s, %d, %s, %s);", name, x, (int)t.pitch, ac_c_place(f, t.w, in->b), f->buf[t.acc]);
    else
        ac_c_line(f, "%s(%s, %s, %s, %s);", name, x, ac_c_place(f, t.w, in->b), steps, f->buf[t.acc]);
}

/* ------------------------------------------------------------------ all channels of two pixels */

ac_rows **ac_c_find_rows(ac_cfile *F, const ac_loop_fn *fn)
{
    ac_rows **row = NULL;
    for (ac_x x = 1; x < fn->code.n; x++) {
        ac_rows r;
        if (!ac_rows_find(F->region, F->target, fn, x, &r))
            continue;
        if (!row)
            row = AC_NEW_N(F->region, ac_rows *, fn->code.n);
        ac_rows *own = AC_NEW(F->region, ac_rows);
        *own = r;
        for (ac_x k = x; k <= r.end; k++)
            row[k] = own;
        x = r.end;
    }
    return row;
}

const ac_rows *ac_c_rows_at(ac_rows *const *row, ac_x x)
{
    return row && row[x] && row[x]->end == x ? row[x] : NULL;
}

/* The definition, as in codegen/dsp/rows.h. */
static void put_plain_rows(ac_sink *to, const ac_rows_form *f)
{
    ac_putf(to,
            "    for (int32_t oc = 0; oc < a->channels; oc++) {\n"
            "        const int8_t *const from = &w[oc / 4 * 32 * a->steps + oc %% 4 / 2 * 16];\n"
            "        for (int32_t r = 1; r >= 0; r--) { /* the second pixel may have the place of the first */\n"
            "            int8_t *const to = (r != 0) ? a->second : y;\n"
            "            int32_t acc = %s;\n"
            "            for (int32_t k = 0; k < a->steps * 8; k++) {\n"
            "                const int8_t *const pair = &from[k / 8 * 32 + k %% 8 * 2];\n"
            "                const int32_t odd = pair[1] + ((pair[0] < 0) ? 1 : 0);\n"
            "                acc += x[(k / 8 * 2 + r) * 8 + k %% 8] * (((oc %% 2) == 0) ? pair[0] : odd);\n"
            "            }\n",
            f->biased ? "a->bias[oc]" : "0");
    if (f->is_signed)
        ac_put(to, "            const int64_t by = (int64_t)acc * a->m[2 * oc];\n"
                   "            const int64_t sum = by + (a->m[2 * oc + 1] ^ (acc >> 31));\n"
                   "            int32_t v = ((int32_t)(sum >> 32) + a->number) >> a->shift;\n");
    else
        ac_putf(to,
                "            acc *= a->number%s;\n"
                "            const int64_t by = (int64_t)acc * a->m[2 * oc];\n"
                "            int32_t v = ((int32_t)(by >> 32) + a->m[2 * oc + 1]) >> %s;\n",
                f->split ? " * 256" : "", f->shift ? ac_strf(to->cx->region, "%d", (int)f->shift) : "a->shift");
    ac_put(to, "            v = (v > -128) ? v : -128;\n"
               "            to[oc] = (int8_t)((v < 127) ? v : 127);\n"
               "        }\n    }\n}\n");
}

static void put_args_type(ac_cfile *F)
{
    if (!ac_c_have(F, "rows_args"))
        ac_put(&F->helpers, "/* m: of each channel a factor and a term; second: the results of the second pixel, y: it "
                            "does not exist. */\n"
                            "typedef struct rows_args {\n"
                            "    const int32_t *m;\n    int32_t number;\n    int8_t *second;\n    int32_t steps;\n"
                            "    int32_t channels;\n    const int32_t *bias;\n    int32_t shift;\n} rows_args;\n\n");
}

static const char *rows_function(ac_cfile *F, const ac_rows_form *f)
{
    const char *name = ac_rows_name(F->cx, f);
    put_args_type(F);
    if (ac_c_have(F, name))
        return name;
    ac_sink *to = &F->helpers;
    ac_put(to, "/* Two pixels by all channels of packed weights, four at a time, requantised. */\n");
    ac_c_put_naked(F, naked_condition(F, ""), name,
                   "const int16_t *x" UNUSED ", const int8_t *w" UNUSED ",\n"
                   "    int8_t *y" UNUSED ", const rows_args *a" UNUSED,
                   ac_rows_asm(F->cx, f));
    ac_putf(to, "#else\nstatic void %s(const int16_t *x, const int8_t *w, int8_t *y, const rows_args *a)\n{\n", name);
    put_plain_rows(to, f);
    ac_put(to, "#endif\n\n");
    return name;
}

/* A term of a sum. */
static ac_cexpr term_of(ac_cfn *f, const ac_rows_sum *sum, int32_t i)
{
    const ac_cexpr e = f->val[sum->term[i]].e;
    return sum->times[i] ? ac_c_binary(f->file->region, C_MUL, e, f->val[sum->times[i]].e) : e;
}

const char *ac_c_rows_place(ac_cfn *f, const ac_rows *r, int32_t pixel)
{
    ac_region *region = f->file->region;
    const ac_rows_sum *sum = &r->place[pixel];
    const int64_t first = r->first[pixel];
    if (!sum->n)
        return first ? ac_strf(region, "%s + %lld", f->buf[r->y], (long long)first) : f->buf[r->y];
    ac_cexpr at = term_of(f, sum, 0);
    if (sum->minus[0])
        at = ac_c_binary(region, C_SUB, ac_c_atom("0"), at);
    for (int32_t i = 1; i < sum->n; i++)
        at = ac_c_binary(region, sum->minus[i] ? C_SUB : C_ADD, at, term_of(f, sum, i));
    const char *y = ac_c_binary(region, C_ADD, ac_c_atom(f->buf[r->y]), at).text;
    return first ? ac_strf(region, "%s + %lld", y, (long long)first) : y;
}

void ac_c_rows(ac_cfn *f, const ac_rows *r)
{
    ac_region *region = f->file->region;
    const char *name = rows_function(f->file, &r->form), *y = ac_c_rows_place(f, r, 0),
               *second = ac_c_rows_place(f, r, 1);
    const char *number = r->factor ? ac_strf(region, "%d", (int)r->factor) : f->val[r->number].e.text;
    if (r->more)
        second = ac_strf(region, "(%s) ? (%s) : (%s)", f->val[r->more].e.text, second, y);
    ac_c_line(f, "%s(%s, %s, %s, &(const rows_args){%s, %s, %s, %s, %s, %s, %s});", name,
              ac_c_place(f, r->tile.x, r->x_at), f->buf[r->tile.w], y, f->buf[r->m], number, second,
              f->val[r->steps].e.text, f->val[r->channels].e.text, r->bias < 0 ? "NULL" : f->buf[r->bias],
              r->shift ? f->val[r->shift].e.text : "0");
}

/* ------------------------------------------------------------------ depthwise convolutions, channel by channel */

static void put_kernel(ac_cfile *F, const ac_plane *p)
{
    const char *name = ac_planes_kernel_name(F->cx, p);
    if (ac_c_have(F, name))
        return;
    ac_put(&F->helpers, "/* The outputs of a channel that see all rows of their windows. */\n");
    ac_c_put_naked(F, naked_condition(F, AT_ANY), name, "void", ac_planes_kernel_asm(F->cx, p));
    ac_put(&F->helpers, "#endif\n\n");
}

static void put_planes(ac_cfile *F)
{
    const char *name = ac_planes_name();
    ac_sink *to = &F->helpers;
    if (ac_c_have(F, name))
        return;
    ac_put(to,
           "/* A depthwise convolution of 3x3 taps. Bytes: of the outputs whose first row of the window lies outside, "
           "of those\n * between, and of those whose last row does; x: where the windows of these begin. */\n");
    ac_c_put_naked(F, naked_condition(F, AT_ANY), name,
                   "const int8_t *x" UNUSED ", const int8_t *w" UNUSED ",\n"
                   "    int8_t *out" UNUSED ", const void *args" UNUSED ", const int32_t *m" UNUSED,
                   ac_planes_asm(F->cx));
    ac_put(to, "typedef struct planes_args {\n    void (*kernel)(void);\n"
               "    int32_t channels;\n    int32_t border;\n    int32_t first_bytes;\n    int32_t middle_bytes;\n"
               "    int32_t middle_x;\n    int32_t last_bytes;\n    int32_t last_x;\n} planes_args;\n#endif\n\n");
}

bool ac_c_plane(ac_cfn *f, const ac_loop_fn *fn)
{
    ac_cfile *F = f->file;
    const ac_plane *p = ac_planes_of(F->target, fn, f->sig->restricted);
    if (!p)
        return false;
    put_kernel(F, p);
    put_planes(F);
    const ac_planes_args a = ac_planes_args_of(p);
    ac_putf(f->to, "#if %s\n", naked_condition(F, AT_ANY));
    ac_c_line(f, "static const planes_args args = {%s, %d, %d, %d, %d, %d, %d, %d};", ac_planes_kernel_name(F->cx, p),
              (int)a.channels, (int)a.border, (int)a.first_bytes, (int)a.middle_bytes, (int)a.middle_x,
              (int)a.last_bytes, (int)a.last_x);
    ac_c_line(f, "%s(%s, %s, %s, &args, %s);", ac_planes_name(), f->buf[p->x], f->buf[p->w], f->buf[p->out],
              f->buf[p->m]);
    ac_put(f->to, "#else\n");
    return true;
}
