/* tile_asm.c - writes one step of a TILE as instructions; see tile_asm.h. */
#include "codegen/tile_asm.h"

#include "base/sink.h"

bool ac_tile_has_asm(const ac_target *t, const ac_tile *tile)
{
    if (tile->form == AC_TILE_UNSIGNED)
        return t->isa == AC_ISA_ARM && t->mul == AC_MUL_LOW &&
               (tile->channels <= AC_TILE_LOW || (tile->channels <= 2 * AC_TILE_LOW && tile->channels % 2 == 0)) &&
               tile->channels * tile->depth <= AC_TILE_REACHED;
    const int32_t n = tile->rows * tile->channels;
    return t->dsp && (tile->form == AC_TILE_ROW ? n <= 4 : tile->form == AC_TILE_PAIRS && n <= 6) &&
           (tile->rows == 1 || tile->channels == 2);
}

typedef struct writer {
    ac_sink to;
    const ac_tile *t;
    const char *const *acc;
    const char *x, *w, *steps, *end;
} writer;

/* Two words from byte `at` of the step; the first load moves the pointer by `step` bytes. */
static void load(writer *o, const char *registers, const char *from, int32_t at, int32_t step)
{
    if (at == 0)
        ac_putf(&o->to, "ldrd %s, [%s, #%d]!%s", registers, from, (int)step, o->end);
    else
        ac_putf(&o->to, "ldrd %s, [%s, #%d]%s", registers, from, (int)at, o->end);
}

/* Both words of row r by those of channel pair p. */
static void products(writer *o, int32_t r, int32_t p)
{
    const char *even = o->acc[2 * p * o->t->rows + r], *odd = o->acc[(2 * p + 1) * o->t->rows + r];
    ac_putf(&o->to, "smlad %s, r10, r12, %s%s", even, even, o->end);
    ac_putf(&o->to, "smlad %s, r8, r12, %s%s", odd, odd, o->end);
    ac_putf(&o->to, "smlad %s, r11, lr, %s%s", even, even, o->end);
    ac_putf(&o->to, "smlad %s, r9, lr, %s%s", odd, odd, o->end);
}

static void put_pairs(writer *o)
{
    const ac_tile *tile = o->t;
    const int32_t pairs = tile->channels / 2;
    for (int32_t half = 0; half < 2; half++)
        for (int32_t p = 0; p < pairs; p++) {
            if (tile->rows == 1 && p == 0)
                load(o, "r12, lr", o->x, 8 * half, 16);
            load(o, "r8, r9", o->w, 16 * p + 8 * half, 16 * pairs);
            ac_putf(&o->to, "sxtb16 r10, r8%ssxtb16 r11, r9%s", o->end, o->end);
            for (int32_t r = 0; r < tile->rows; r++) {
                if (tile->rows > 1)
                    load(o, "r12, lr", o->x, 16 * r + 8 * half, 16 * tile->rows);
                products(o, r, p);
            }
        }
}

/* From the last words to the first, whose loads move the pointers. */
static void put_row_step(writer *o)
{
    const int32_t pairs = o->t->channels / 2;
    for (int32_t half = 1; half >= 0; half--) {
        ac_putf(&o->to, half ? "ldr r12, [%s, #4]%s" : "ldr r12, [%s], #8%s", o->x, o->end);
        ac_putf(&o->to, "sxtb16 lr, r12, ror #8%ssxtb16 r12, r12%s", o->end, o->end);
        for (int32_t p = pairs - 1; p >= 0; p--) {
            if (p + half == 0)
                ac_putf(&o->to, "ldrd r8, r9, [%s], #%d%s", o->w, (int)(16 * pairs), o->end);
            else
                ac_putf(&o->to, "ldrd r8, r9, [%s, #%d]%s", o->w, (int)(16 * p + 8 * half), o->end);
            ac_putf(&o->to, "sxtb16 r10, r8%ssxtb16 r11, r9%s", o->end, o->end);
            products(o, 0, p);
        }
    }
}

/* Replaces the number of steps by the address of the last weights. */
static void put_row(writer *o)
{
    ac_putf(&o->to, "lsls r8, %s, #31%sadd %s, %s, %s, lsl #%d%sbmi 2f%s1:%s", o->steps, o->end, o->steps, o->w,
            o->steps, o->t->channels == 4 ? 5 : 4, o->end, o->end, o->end);
    put_row_step(o);
    ac_putf(&o->to, "2:%s", o->end);
    put_row_step(o);
    ac_putf(&o->to, "cmp %s, %s%sbne 1b%s", o->w, o->steps, o->end, o->end);
}

const char *ac_tile_asm(ac_ctx *cx, const ac_tile *tile, const char *const *acc, const char *x, const char *w,
                        const char *steps, const char *end)
{
    writer o = {.t = tile, .acc = acc, .x = x, .w = w, .steps = steps, .end = end};
    ac_sink_open(&o.to, cx);
    if (tile->form == AC_TILE_ROW)
        put_row(&o);
    else
        put_pairs(&o);
    return ac_sink_text(&o.to);
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
