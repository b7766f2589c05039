/* tile_asm.c - writes one step of a TILE as instructions; see tile_asm.h. */
#include "codegen/tile_asm.h"

#include "base/sink.h"

#include <string.h>

bool ac_tile_has_asm(const ac_target *t, const ac_tile *tile)
{
    if (tile->form == AC_TILE_UNSIGNED)
        return t->isa == AC_ISA_ARM && t->mul == AC_MUL_LOW &&
               (tile->channels <= AC_TILE_LOW || (tile->channels <= 2 * AC_TILE_LOW && tile->channels % 2 == 0)) &&
               tile->channels * tile->depth <= AC_TILE_REACHED;
    return t->dsp && ac_tile_pairs(tile->form) && tile->rows <= (tile->form == AC_TILE_ROW ? 1 : 2) &&
           (tile->channels == 2 || tile->channels == 4);
}

/* Word `at` / 4 of a step: two taps of each row by all channels. Word 0 is the last one, and moves the pointers. */
static void put_pairs_word(ac_sink *to, const ac_tile *t, int32_t at)
{
    static const char *const X[2] = {"r2", "r3"}, *const W[2] = {"r12", "lr"};
    const int32_t pairs = t->channels / 2;
    for (int32_t i = 1; i >= 0; i--) {
        const bool moves = i + at == 0;
        if (i < t->rows)
            ac_putf(to, moves ? "ldr %s, [r0], #%d\n" : "ldr %s, [r0, #%d]\n", X[i],
                    (int)(moves ? 16 * t->rows : 16 * i + at));
        if (i < pairs)
            ac_putf(to, moves ? "ldr %s, [r1], #%d\n" : "ldr %s, [r1, #%d]\n", W[i],
                    (int)(moves ? 16 * pairs : 16 * i + at));
    }
    for (int32_t odd = 1; odd >= 0; odd--)
        for (int32_t i = 0; i < pairs; i++) {
            if (!odd)
                ac_putf(to, "sxtb16 %s, %s\n", W[i], W[i]);
            for (int32_t r = 0; r < t->rows; r++) {
                const int acc = (int)(4 + (2 * i + odd) * t->rows + r);
                ac_putf(to, "smlad r%d, %s, %s, r%d\n", acc, W[i], X[r], acc);
            }
        }
}

void ac_tile_pairs_step(ac_sink *to, const ac_tile *t)
{
    for (int32_t at = 12; at >= 0; at -= 4)
        put_pairs_word(to, t, at);
}

/* Four taps from byte `at` of x: its words are widened once for all channels. Loads in a row take a cycle each but the
 * first; words of weights are widened in place once their odd channel has used them. */
static void put_row_half(ac_sink *to, const ac_tile *t, int32_t at)
{
    const int words = (int)t->channels; /* two of each pair of channels */
    ac_putf(to, at ? "ldr r12, [r0, #4]\n" : "ldr r12, [r0], #8\n");
    for (int i = words - 1; i >= 0; i--) {
        const int from = 16 * (i / 2) + 2 * (int)at + 4 * (i % 2);
        ac_putf(to, i + at ? "ldr r%d, [r1, #%d]\n" : "ldr r%d, [r1], #%d\n", 8 + i, i + at ? from : 8 * words);
    }
    ac_put(to, "sxtb16 lr, r12, ror #8\nsxtb16 r12, r12\n");
    for (int odd = 1; odd >= 0; odd--)
        for (int i = 0; i < words; i++) {
            const int acc = 4 + i / 2 * 2 + odd;
            if (!odd)
                ac_putf(to, "sxtb16 r%d, r%d\n", 8 + i, 8 + i);
            ac_putf(to, "smlad r%d, r%d, %s, r%d\n", acc, 8 + i, i % 2 ? "lr" : "r12", acc);
        }
}

static void put_step(ac_sink *to, const ac_tile *t)
{
    if (t->form == AC_TILE_PAIRS) {
        ac_tile_pairs_step(to, t);
        return;
    }
    put_row_half(to, t, 4);
    put_row_half(to, t, 0);
}

void ac_tile_zero(ac_sink *to, int32_t sums)
{
    for (int32_t i = 0; i < sums; i++)
        ac_putf(to, i < 4 ? "movs r%d, #0\n" : "mov r%d, r4\n", (int)(4 + i));
}

const char *ac_tile_asm(ac_ctx *cx, const ac_tile *t)
{
    const bool row = t->form == AC_TILE_ROW;
    const int32_t sums = t->rows * t->channels;
    ac_sink to;
    ac_sink_open(&to, cx);
    ac_put(&to, "push {r3-r11, lr}\nsub sp, #8\n");
    ac_tile_zero(&to, sums);
    ac_putf(&to, "lsls r12, r2, #31\nadd r2, r0, r2, lsl #%d\nstr r2, [sp]\nbmi 2f\n1:\n",
            row            ? 3
            : t->rows == 1 ? 4
                           : 5);
    put_step(&to, t);
    ac_put(&to, "2:\n");
    put_step(&to, t);
    ac_putf(&to, "ldr r2, [sp]\ncmp r0, r2\nbne 1b\nldr r0, [sp, #8]\nstmia r0, {r4-r%d}\nadd sp, #8\n",
            (int)(3 + sums));
    ac_put(&to, "pop {r3-r11, pc}\n");
    return ac_sink_text(&to);
}

const char *ac_tile_name(ac_ctx *cx, const ac_tile *t)
{
    return ac_internf(cx, "tile_%s_%dx%d", ac_tile_text[t->form], (int)t->rows, (int)t->channels);
}

ac_bytes ac_tile_stack(const char *function)
{
    return strstr(function, "tile_pairs_") || strstr(function, "tile_row_") ? AC_TILE_STACK : 0;
}

const char *ac_tile_bytes_asm(ac_ctx *cx, const ac_tile *tile, int32_t n, const char *const *acc, const char *x,
                              const char *w, const char *v, const char *t, const char *end)
{
    ac_sink to;
    ac_sink_open(&to, cx);
    for (int32_t k = 0; k < tile->depth; k++) {
        ac_putf(&to, "ldrb %s, [%s, #%d]%s", v, x, (int)k, end);
        for (int32_t c = 0; c < n; c++) {
            ac_putf(&to, "ldrb %s, [%s, #%d]%smuls %s, %s, %s%s", t, w, (int)(k * tile->channels + c), end, t, v, t,
                    end);
            if (c < AC_TILE_LOW)
                ac_putf(&to, "adds %s, %s, %s%s", acc[c], acc[c], t, end);
            else
                ac_putf(&to, "add %s, %s%s", acc[c], t, end);
        }
    }
    ac_putf(&to, "adds %s, #%d%sadds %s, #%d%s", w, (int)(tile->channels * tile->depth), end, x, (int)tile->depth, end);
    return ac_sink_text(&to);
}
