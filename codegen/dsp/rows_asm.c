/* rows_asm.c - writes the function of rows.h as instructions.
 *
 * Sums are in r4-r11, as in a tile (tile_asm.h). The stack holds pointers and numbers of a block of channels, in the
 * order of the registers that LDM and STM use. Requantised, the second pixel is stored first: where it does not exist,
 * the first one is stored over it. */
#include "base/sink.h"
#include "codegen/dsp/planes.h"
#include "codegen/dsp/rows.h"
#include "codegen/dsp/words.h"
#include "codegen/mve_nests.h"
#include "codegen/tile_asm.h"

#include <string.h>

enum { M = 0, NUMBER = 4, Y_0 = 8, Y_1 = 12, X_END = 16, Y_END = 20, X = 24, BIAS = 28, SHIFT = 32, SUMS = 40 };
enum { SAVED = 36, SIGNED_FRAME = SUMS + 20 }; /* bytes of the saved registers; of the largest frame, below them */
_Static_assert(SAVED + SIGNED_FRAME == (int)AC_ROWS_STACK, "the stack that tile_asm.h states");

static int32_t w_slot(const ac_rows_form *f)
{
    return f->biased || f->is_signed || !f->shift ? SHIFT + 4 : BIAS;
}

/* Steps are odd in bit 31 of this one. */
static int32_t odd_slot(const ac_rows_form *f)
{
    return f->is_signed ? SUMS + 16 : w_slot(f) + 4;
}

/* Bytes of the frame below the saved registers, which are nine: all are a multiple of eight. */
static int32_t frame_of(const ac_rows_form *f)
{
    return f->is_signed ? SIGNED_FRAME : w_slot(f) == BIAS ? BIAS + 8 : SUMS + 4;
}

static void put_open(ac_sink *to, const ac_rows_form *f)
{
    const bool all = w_slot(f) != BIAS;
    ac_putf(to, "push {r4-r11, lr}\nsub sp, #%d\n", (int)frame_of(f));
    ac_putf(to, "ldmia r3, {r4, r5, r7-r9%s}\n", all ? ", r11, r12" : "");
    ac_putf(to, "lsls r3, r8, #31\nstr r3, [sp, #%d]\nmov r6, r2\nadd r8, r0, r8, lsl #5\nadd r9, r9, r2\n",
            (int)odd_slot(f));
    ac_putf(to, "mov r10, r0\nstmia sp, {r4-%s}\n1:\n", all ? "r12" : "r10");
}

/* acc[c] of both pixels, plus its bias, and for PLAIN times `number`. */
static void put_sums(ac_sink *to, const ac_rows_form *f)
{
    if (f->biased)
        ac_putf(to,
                "ldr r2, [sp, #%d]\nldmia r2!, {r0, r1, r3, r12}\nstr r2, [sp, #%d]\n"
                "subs r6, r6, r4\nsubs r7, r7, r5\nsub r10, r10, r8\nsub r11, r11, r9\n"
                "adds r4, r4, r0\nadds r5, r5, r0\nadd r6, r1, r6, asr #8\nadd r7, r1, r7, asr #8\n"
                "add r8, r8, r3\nadd r9, r9, r3\nadd r10, r12, r10, asr #8\nadd r11, r12, r11, asr #8\n",
                BIAS, BIAS);
    else
        ac_put(to, "subs r6, r6, r4\nsubs r7, r7, r5\nsub r10, r10, r8\nsub r11, r11, r9\n");
    if (!f->biased && !f->split)
        ac_put(to, "asrs r6, r6, #8\nasrs r7, r7, #8\nasr r10, r10, #8\nasr r11, r11, #8\n");
}

static void put_load_constants(ac_sink *to, int32_t c)
{
    if (c)
        ac_putf(to, "ldr r2, [r0, #%d]\nldr r3, [r0, #%d]\n", (int)(8 * c), (int)(8 * c + 4));
    else
        ac_put(to, "ldr r3, [r0, #4]\nldr r2, [r0], #32\n");
}

static void put_store(ac_sink *to, int32_t reg, bool second, int32_t c)
{
    ac_putf(to, c ? "strb r%d, [%s, #%d]\n" : "strb r%d, [%s], #%d\n", (int)reg, second ? "lr" : "r12",
            (int)(c ? c : 4));
}

/* Channel c; its sums are in r(4 + 2 c) and the next register. */
static void put_plain(ac_sink *to, const ac_rows_form *f, int32_t c)
{
    const int a = (int)(4 + 2 * c), b = a + 1;
    put_load_constants(to, c);
    ac_putf(to, "mul r%d, r%d, r1\nmul r%d, r%d, r1\nsmmla r%d, r%d, r2, r3\nsmmla r%d, r%d, r2, r3\n", b, b, a, a, b,
            b, a, a);
    if (f->shift)
        ac_putf(to, "ssat r%d, #8, r%d, asr #%d\nssat r%d, #8, r%d, asr #%d\n", b, b, (int)f->shift, a, a,
                (int)f->shift);
    else
        ac_putf(to, "ldr r2, [sp, #%d]\nasr r%d, r%d, r2\nasr r%d, r%d, r2\nssat r%d, #8, r%d\nssat r%d, #8, r%d\n",
                SHIFT, b, b, a, a, b, b, a, a);
    put_store(to, b, true, c);
    put_store(to, a, false, c);
}

static void put_by_sign(ac_sink *to, int32_t reg)
{
    const int acc = (int)reg;
    ac_putf(to,
            "eor r8, r3, r%d, asr #31\nadd r9, r1, r8, asr #31\nsmlal r8, r9, r%d, r2\nasr r9, r9, r10\n"
            "ssat r9, #8, r9\n",
            acc, acc);
}

static void put_signed(ac_sink *to)
{
    static const int32_t ORDER[4] = {1, 2, 3, 0};
    ac_putf(to, "str r8, [sp, #%d]\nstr r9, [sp, #%d]\nstr r10, [sp, #%d]\nstr r11, [sp, #%d]\n", SUMS, SUMS + 4,
            SUMS + 8, SUMS + 12);
    ac_putf(to, "ldr r10, [sp, #%d]\nldmia sp, {r0, r1, r12, lr}\n", SHIFT);
    for (int32_t i = 0; i < 4; i++) {
        const int32_t c = ORDER[i], a = c > 1 ? 6 : 4 + 2 * c;
        if (c > 1)
            ac_putf(to, "ldr r6, [sp, #%d]\nldr r7, [sp, #%d]\n", (int)(SUMS + 8 * c - 16), (int)(SUMS + 8 * c - 12));
        put_load_constants(to, c);
        put_by_sign(to, a + 1);
        put_store(to, 9, true, c);
        put_by_sign(to, a);
        put_store(to, 9, false, c);
    }
}

const char *ac_rows_asm(ac_ctx *cx, const ac_rows_form *f)
{
    const ac_tile t = {.form = AC_TILE_PAIRS, .rows = 2, .channels = 4};
    const int w = (int)w_slot(f);
    ac_sink to;
    ac_sink_open(&to, cx);
    put_open(&to, f);
    ac_tile_zero(&to, 8);
    ac_put(&to, "cmp r3, #0\nbmi 3f\n2:\n");
    ac_tile_pairs_step(&to, &t);
    ac_put(&to, "3:\n");
    ac_tile_pairs_step(&to, &t);
    ac_putf(&to, "ldr r2, [sp, #%d]\ncmp r0, r2\nbne 2b\nstr r1, [sp, #%d]\n", X_END, w);
    put_sums(&to, f);
    if (f->is_signed) {
        put_signed(&to);
    } else {
        static const int32_t SPLIT[4] = {1, 3, 2, 0};
        ac_putf(&to, "ldmia sp, {r0, r1, r12, lr}\n%s", f->split && f->biased ? "lsls r1, r1, #8\n" : "");
        for (int32_t i = 0; i < 4; i++) {
            if (i == 2 && f->split && !f->biased)
                ac_put(&to, "lsls r1, r1, #8\n");
            put_plain(&to, f, SPLIT[i]);
        }
    }
    ac_putf(&to, "str r0, [sp, #%d]\nstr r12, [sp, #%d]\nstr lr, [sp, #%d]\nldr r2, [sp, #%d]\n", M, Y_0, Y_1, Y_END);
    ac_putf(&to, "ldr r3, [sp, #%d]\nldr r0, [sp, #%d]\nldr r1, [sp, #%d]\ncmp r12, r2\nbne 1b\nadd sp, #%d\n",
            (int)odd_slot(f), X, w, (int)frame_of(f));
    ac_put(&to, "pop {r4-r11, pc}\n");
    return ac_sink_text(&to);
}

ac_bytes ac_naked_stack(const char *function)
{
    static const ac_rows_form FORM[] = {{.shift = 1}, {.biased = true}, {.is_signed = true}};
    const char *at = strstr(function, "rows_2x4");
    if (strstr(function, ac_planes_name()))
        return AC_PLANES_STACK;
    const ac_bytes nest = ac_mve_nest_stack(function), words = ac_words_stack(function);
    if (!at)
        return nest ? nest : words ? words : ac_tile_stack(function);
    const char last = at[strlen(at) - 1];
    const bool shifts = at[strlen("rows_2x4")] && last >= '0' && last <= '9';
    return SAVED + frame_of(&FORM[strstr(at, "_signed") ? 2 : strstr(at, "_bias") || !shifts]);
}

const char *ac_rows_name(ac_ctx *cx, const ac_rows_form *f)
{
    return ac_internf(cx, "rows_2x4%s%s%s",
                      f->is_signed ? "_signed"
                      : f->split   ? ""
                                   : "_whole",
                      f->biased ? "_bias" : "", f->shift ? ac_strf(cx->region, "_%d", (int)f->shift) : "");
}
