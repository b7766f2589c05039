/* words_asm.c - writes the functions of words.h. */
#include "codegen/dsp/words.h"

#include "base/sink.h"

#include <string.h>

enum { PAIRS = 2, CHANNELS = 4, TAPS = 4, SAVED = 13 };

/* Sums of a pair of pixels (low + 65536 high), and of its second pixel, by channel. */
static const char *const BOTH[PAIRS][CHANNELS] = {{"s0", "s1", "s2", "s3"}, {"s4", "s5", "s6", "s7"}};
static const char *const SECOND[PAIRS][CHANNELS] = {{"s8", "s9", "s10", "s11"}, {"a4", "a5", "a6", "a7"}};

bool ac_words_has(const ac_target *t, const ac_tile *tile)
{
    return t->isa == AC_ISA_RISCV && t->mul == AC_MUL_HIGH && !t->rvv && tile->form == AC_TILE_WORDS &&
           tile->rows == 2 * PAIRS && tile->channels == CHANNELS;
}

const char *ac_words_name(ac_ctx *cx, const ac_tile *t)
{
    return ac_internf(cx, "tile_words_%dx%d", (int)t->rows, (int)t->channels);
}

static void put_saved(ac_sink *to, const char *op)
{
    for (int i = 0; i < SAVED; i++)
        if (i)
            ac_putf(to, "%s s%d, %d(sp)\n", op, i - 1, 4 * i);
        else
            ac_putf(to, "%s ra, 0(sp)\n", op);
}

static void put_zero(ac_sink *to)
{
    for (int32_t p = 0; p < PAIRS; p++)
        for (int32_t c = 0; c < CHANNELS; c++)
            ac_putf(to, "li %s, 0\nli %s, 0\n", BOTH[p][c], SECOND[p][c]);
}

/* Two taps from tap k of the step on. */
static void put_taps(ac_sink *to, int32_t k)
{
    const int x = (int)(8 * k), w = (int)(CHANNELS * k);
    ac_putf(to, "lw t0, %d(a0)\nlw t2, %d(a0)\nlw t1, %d(a0)\nlw t3, %d(a0)\n", x, x + 4, x + 8, x + 12);
    for (int32_t c = 0; c < CHANNELS; c++) {
        ac_putf(to, "lb a2, %d(a1)\nlb a3, %d(a1)\n", w + (int)c, w + CHANNELS + (int)c);
        for (int32_t p = 0; p < PAIRS; p++)
            ac_putf(to,
                    "mul t4, t%d, a2\nmul t5, t%d, a3\nadd t4, t4, t5\nadd %s, %s, t4\nadd t4, t4, t6\n"
                    "srai t4, t4, 16\nadd %s, %s, t4\n",
                    (int)(2 * p), (int)(2 * p + 1), BOTH[p][c], BOTH[p][c], SECOND[p][c], SECOND[p][c]);
    }
}

/* Sums of x from a0 to ra, w from a1 on, which moves. */
static void put_loop(ac_sink *to)
{
    put_zero(to);
    ac_put(to, "lui t6, 8\n1:\n");
    for (int32_t k = 0; k < TAPS; k += 2)
        put_taps(to, k);
    ac_putf(to, "addi a0, a0, %d\naddi a1, a1, %d\nbne a0, ra, 1b\n", 8 * TAPS, CHANNELS * TAPS);
}

/* [row][channel], from `at` bytes after the register on. */
static void put_sums(ac_sink *to, const char *base, int32_t at)
{
    for (int32_t c = 0; c < CHANNELS; c++)
        for (int32_t p = 0; p < PAIRS; p++) {
            const int first = (int)(at + 4 * (2 * p * CHANNELS + c));
            ac_putf(to, "slli t4, %s, 16\nsub %s, %s, t4\nsw %s, %d(%s)\nsw %s, %d(%s)\n", SECOND[p][c], BOTH[p][c],
                    BOTH[p][c], BOTH[p][c], first, base, SECOND[p][c], first + 4 * CHANNELS, base);
        }
}

const char *ac_words_asm(ac_ctx *cx, const ac_tile *t)
{
    ac_sink to;
    (void)t;
    ac_sink_open(&to, cx);
    ac_putf(&to, "addi sp, sp, -%d\n", AC_WORDS_STACK);
    put_saved(&to, "sw");
    ac_put(&to, "sw a3, 52(sp)\nslli a2, a2, 5\nadd ra, a0, a2\n");
    put_loop(&to);
    ac_put(&to, "lw a3, 52(sp)\n");
    put_sums(&to, "a3", 0);
    put_saved(&to, "lw");
    ac_putf(&to, "addi sp, sp, %d\nret\n", AC_WORDS_STACK);
    return ac_sink_text(&to);
}

/* ------------------------------------------------------------------ all channels of the rows */

/* The stack: after the saved registers, then sums. */
enum { X = 52, X_END = 56, M = 60, M_END = 64, Y = 68, BIAS = 72, ARGS = 76, FROM = 80, TO = 84, TERM = 88, BACK = 92 };
enum { SUMS = 96 };
_Static_assert(SUMS + 4 * 16 <= (int)AC_WORDS_ROWS_STACK, "the stack that tile_asm.h states");

const char *ac_words_sums_name(void)
{
    return "words_sums";
}

const char *ac_words_sums_asm(ac_ctx *cx)
{
    ac_sink to;
    ac_sink_open(&to, cx);
    ac_putf(&to, "sw ra, %d(sp)\nlw a0, %d(sp)\nlw ra, %d(sp)\n", BACK, X, X_END);
    put_loop(&to);
    put_sums(&to, "sp", SUMS);
    ac_putf(&to, "lw ra, %d(sp)\nret\n", BACK);
    return ac_sink_text(&to);
}

static void put_load(ac_sink *to, const char *reg, ac_words_arg arg, const char *base)
{
    ac_putf(to, "lw %s, %d(%s)\n", reg, 4 * (int)arg, base);
}

static void put_open(ac_sink *to, const ac_rows_form *f)
{
    ac_putf(to, "addi sp, sp, -%d\n", AC_WORDS_ROWS_STACK);
    put_saved(to, "sw");
    ac_putf(to, "sw a0, %d(sp)\nsw a3, %d(sp)\n", X, ARGS);
    put_load(to, "t0", AC_WORDS_STEPS, "a3");
    ac_putf(to, "slli t0, t0, 5\nadd t0, t0, a0\nsw t0, %d(sp)\n", X_END);
    put_load(to, "t0", AC_WORDS_M, "a3");
    put_load(to, "t1", AC_WORDS_CHANNELS, "a3");
    ac_putf(to, "sw t0, %d(sp)\nslli t1, t1, 3\nadd t1, t1, t0\nsw t1, %d(sp)\n", M, M_END);
    put_load(to, "t0", AC_WORDS_BEGIN, "a3");
    put_load(to, "t1", AC_WORDS_PITCH, "a3");
    put_load(to, "t2", AC_WORDS_END, "a3");
    ac_putf(to, "mul t1, t1, t0\nadd a2, a2, t1\nsw a2, %d(sp)\naddi t1, sp, %d\nslli t0, t0, 4\nslli t2, t2, 4\n", Y,
            SUMS);
    ac_putf(to, "add t0, t0, t1\nsw t0, %d(sp)\nadd t2, t2, t1\nsw t2, %d(sp)\n", FROM, TO);
    put_load(to, "t0", AC_WORDS_SHIFT, "a3");
    ac_put(to, "li t1, 128\nsll t0, t1, t0\n"); /* results are 128 more until they are clamped */
    if (f->is_signed) {
        put_load(to, "t1", AC_WORDS_TERM, "a3");
        ac_put(to, "add t0, t0, t1\n");
    }
    ac_putf(to, "sw t0, %d(sp)\n", TERM);
    if (f->biased) {
        put_load(to, "t0", AC_WORDS_BIAS, "a3");
        ac_putf(to, "sw t0, %d(sp)\n", BIAS);
    }
}

/* The result of channel c of the row whose sums are at a0. Constants: s0, s1 and so on; biases: s8 and so on. */
static void put_result(ac_sink *to, const ac_rows_form *f, int c)
{
    ac_putf(to, "lw a4, %d(a0)\n", 4 * c);
    if (f->biased)
        ac_putf(to, "add a4, a4, s%d\n", 8 + c);
    if (f->is_signed)
        ac_putf(to, "srai a5, a4, 31\nxor a5, a5, s%d\n", 2 * c + 1);
    if (f->is_long)
        ac_putf(to,
                "mul a6, a4, s%d\nmulh a4, a4, s%d\nadd a6, a6, a5\nsltu a6, a6, a5\nsrai a5, a5, 31\nadd a4, a4, a6\n",
                2 * c, 2 * c);
    else
        ac_putf(to, "mul a4, a4, a2\nmulh a4, a4, s%d\n", 2 * c);
    if (f->is_signed)
        ac_put(to, "add a4, a4, a5\nadd a4, a4, t3\n");
    else
        ac_putf(to, "add a4, a4, s%d\n", 2 * c + 1);
    ac_put(to, "sra a4, a4, a3\nsrai a5, a4, 31\nnot a5, a5\nand a4, a4, a5\nsub a5, ra, a4\nsrai a5, a5, 31\n");
    ac_putf(to, "or a4, a4, a5\naddi a4, a4, -128\nsb a4, %d(t0)\n", c);
}

const char *ac_words_rows_asm(ac_ctx *cx, const ac_rows_form *f)
{
    ac_sink to;
    ac_sink_open(&to, cx);
    put_open(&to, f);
    ac_putf(&to, "8:\nlw t0, %d(sp)\n", ARGS);
    put_load(&to, "t0", AC_WORDS_SUMS, "t0");
    ac_putf(&to, "jalr t0\nlw a0, %d(sp)\n", ARGS);
    put_load(&to, "t4", AC_WORDS_PITCH, "a0");
    put_load(&to, "a2", AC_WORDS_FACTOR, "a0");
    put_load(&to, "a3", AC_WORDS_SHIFT, "a0");
    ac_putf(&to, "lw t1, %d(sp)\nlw t3, %d(sp)\nlw t0, %d(sp)\nlw a0, %d(sp)\nlw t2, %d(sp)\n", M, TERM, Y, FROM, TO);
    for (int i = 0; i < 2 * CHANNELS; i++)
        ac_putf(&to, "lw s%d, %d(t1)\n", i, 4 * i);
    for (int i = 1; i < 2 * CHANNELS && !f->is_signed; i += 2)
        ac_putf(&to, "add s%d, s%d, t3\n", i, i);
    if (f->biased) {
        ac_putf(&to, "lw a4, %d(sp)\n", BIAS);
        for (int i = 0; i < CHANNELS; i++)
            ac_putf(&to, "lw s%d, %d(a4)\n", 8 + i, 4 * i);
        ac_putf(&to, "addi a4, a4, %d\nsw a4, %d(sp)\n", 4 * CHANNELS, BIAS);
    }
    ac_putf(&to, "addi t1, t1, %d\nsw t1, %d(sp)\naddi a4, t0, %d\nsw a4, %d(sp)\nli ra, 255\n", 8 * CHANNELS, M,
            CHANNELS, Y);
    ac_put(&to, "3:\n");
    for (int c = 0; c < CHANNELS; c++)
        put_result(&to, f, c);
    ac_putf(&to, "add t0, t0, t4\naddi a0, a0, %d\nbne a0, t2, 3b\nlw t2, %d(sp)\nbne t1, t2, 8b\n", 4 * CHANNELS,
            M_END);
    put_saved(&to, "lw");
    ac_putf(&to, "addi sp, sp, %d\nret\n", AC_WORDS_ROWS_STACK);
    return ac_sink_text(&to);
}

const char *ac_words_rows_name(ac_ctx *cx, const ac_rows_form *f)
{
    return ac_internf(cx, "rows_4x4%s%s",
                      f->is_long     ? "_long"
                      : f->is_signed ? "_signed"
                                     : "",
                      f->biased ? "_bias" : "");
}

ac_bytes ac_words_stack(const char *function)
{
    if (strstr(function, ac_words_sums_name()))
        return 0; /* it takes that of its caller */
    return strstr(function, "rows_4x4")         ? (ac_bytes)AC_WORDS_ROWS_STACK
           : strstr(function, "tile_words_4x4") ? (ac_bytes)AC_WORDS_STACK
                                                : 0;
}
