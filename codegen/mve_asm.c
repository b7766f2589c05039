/* mve_asm.c - writes TILE as instructions of Arm's MVE; see mve_asm.h. */
#include "codegen/mve_asm.h"

#include "base/sink.h"

enum { MOST_EACH_ROWS = 3, MOST_DEPTH = 112, LANES = 8 };

bool ac_mve_has(const ac_target *t, const ac_tile *tile)
{
    if (!t->mve)
        return false;
    switch (tile->form) {
    case AC_TILE_BYTES:
        return tile->channels == 4 && tile->rows <= 2;
    case AC_TILE_EACH:
        return tile->channels == 4 && tile->rows <= MOST_EACH_ROWS && tile->depth <= MOST_DEPTH &&
               (tile->rows - 1) * tile->shift + tile->depth - 16 <= 127;
    case AC_TILE_SPREAD:
        return tile->channels == LANES || tile->channels == 2 * LANES || tile->channels < LANES;
    case AC_TILE_PAIRS:
    case AC_TILE_ROW:
    case AC_TILE_OUTER:
    case AC_TILE_LANES:
    case AC_TILE_UNSIGNED:
    case AC_TILE_MATRIX:
    case AC_TILE_WORDS:
    case AC_TILE_FORMS:
        break;
    }
    return false;
}

ac_mve_spread ac_mve_spread_of(const ac_tile *tile)
{
    if (tile->channels == 1 && tile->shift == 1 && tile->stride <= 1)
        return tile->stride ? AC_MVE_COPY : AC_MVE_FILL;
    return tile->depth ? AC_MVE_WORDS_4 : AC_MVE_SLOTS;
}

bool ac_mve_is_near(const ac_tile *tile)
{
    return 3 * (tile->pitch + tile->shift) <= UINT8_MAX;
}

bool ac_mve_takes(const ac_tile *tile, ac_mve_operand o)
{
    const ac_mve_spread how = ac_mve_spread_of(tile);
    const bool flat = how == AC_MVE_COPY || how == AC_MVE_FILL;
    switch (o) {
    case AC_MVE_W:
        return tile->form != AC_TILE_SPREAD;
    case AC_MVE_STEPS:
        return tile->form != AC_TILE_EACH;
    case AC_MVE_OTHER:
        return tile->form == AC_TILE_SPREAD ? !flat : tile->form != AC_TILE_BYTES || tile->rows == 2;
    case AC_MVE_AT:
        return tile->form == AC_TILE_SPREAD && !flat;
    case AC_MVE_NEXT:
        return tile->form == AC_TILE_SPREAD && (tile->channels > LANES || how == AC_MVE_WORDS_4);
    case AC_MVE_X:
    case AC_MVE_TO:
    case AC_MVE_OPERANDS:
        break;
    }
    return true;
}

const char *ac_mve_letter(const ac_tile *tile, ac_mve_operand o)
{
    const bool low = o == AC_MVE_X && tile->form == AC_TILE_SPREAD; /* of widening loads */
    return o >= AC_MVE_AT ? "w" : low ? "l" : "r";
}

bool ac_mve_changes(const ac_tile *tile, ac_mve_operand o)
{
    const bool spreads = tile->form == AC_TILE_SPREAD, bytes = tile->form == AC_TILE_BYTES;
    return ac_mve_takes(tile, o) && (o == AC_MVE_X || o == AC_MVE_W || (o == AC_MVE_STEPS && tile->rows == 2) ||
                                     (o == AC_MVE_OTHER && bytes) || (o == AC_MVE_TO && spreads));
}

const char *const *ac_mve_clobbers(const ac_tile *tile)
{
    static const char *const TWO[] = {"r0", "r2", "r4", "r6", "r8", "r10", "r12", "lr", "q0", "q1", "q2", NULL},
                             *const ONE[] = {"r0", "r2", "r4", "r12", "lr", "q0", "q1", NULL},
                             *const EACH[] = {"r0", "r2", "r4", "r8", "r10", "r12", "q0", "q1", "q2", "q3", "q4", NULL},
                             *const SPREAD[] = {"r12", "lr", "q0", "q1", NULL};
    if (tile->form == AC_TILE_SPREAD)
        return SPREAD;
    return tile->form == AC_TILE_EACH ? EACH : tile->rows == 2 ? TWO : ONE;
}

typedef struct writer {
    ac_region *r;
    ac_sink to;
    const ac_tile *t;
    const char *const *name;
    const char *end;
} writer;

/* One instruction. */
static void put(writer *o, const char *text)
{
    ac_put(&o->to, text);
    ac_put(&o->to, o->end);
}

/* Adds sums of one row, channels 0 to 3, to the accumulators. */
static void store_sums(writer *o, int32_t row, const char *const *sum)
{
    put(o, ac_strf(o->r, "vmov q%d[2], q%d[0], %s, %s", (int)row, (int)row, sum[0], sum[2]));
    put(o, ac_strf(o->r, "vmov q%d[3], q%d[1], %s, %s", (int)row, (int)row, sum[1], sum[3]));
    put(o, ac_strf(o->r, "vstrw.32 q%d, [%s, #%d]", (int)row, o->name[AC_MVE_TO], (int)(16 * row)));
}

static void bytes(writer *o)
{
    static const char *const SUM[2][4] = {{"r0", "r2", "r4", "r12"}, {"r6", "r8", "r10", "lr"}};
    const char *x = o->name[AC_MVE_X], *w = o->name[AC_MVE_W], *steps = o->name[AC_MVE_STEPS];
    const int32_t rows = o->t->rows;
    for (int32_t r = 0; r < rows; r++)
        for (int32_t c = 0; c < 4; c++)
            put(o, ac_strf(o->r, "mov %s, #0", SUM[r][c]));
    if (rows == 1)
        put(o, ac_strf(o->r, "dls lr, %s", steps));
    put(o, "1:");
    put(o, ac_strf(o->r, "vldrb.8 q0, [%s], #16", x));
    if (rows == 2)
        put(o, ac_strf(o->r, "vldrb.8 q1, [%s], #16", o->name[AC_MVE_OTHER]));
    for (int32_t c = 0; c < 4; c++) {
        put(o, ac_strf(o->r, "vldrb.8 q%d, [%s], #16", (int)rows, w));
        for (int32_t r = 0; r < rows; r++)
            put(o, ac_strf(o->r, "vmladava.s8 %s, q%d, q%d", SUM[r][c], (int)r, (int)rows));
    }
    if (rows == 2) {
        put(o, ac_strf(o->r, "subs %s, %s, #1", steps, steps));
        put(o, "bne 1b");
    } else {
        put(o, "le lr, 1b");
    }
    for (int32_t r = 0; r < rows; r++)
        store_sums(o, r, SUM[r]);
}

/* All rows of the next slot, into sum[]; x and w advance to the slot after it. */
static void each_slot(writer *o, const char *const *sum)
{
    const ac_tile *t = o->t;
    for (int32_t k = t->depth - 16; k >= 0; k -= 16) {
        const char *how = k == t->depth - 16 ? "vmladav" : "vmladava";
        put(o, ac_strf(o->r, "vldrb.8 q0, [%s, #%d]", o->name[AC_MVE_X], (int)k));
        for (int32_t r = 0; r < t->rows; r++) {
            const int32_t at = (t->rows - 1 - r) * t->shift + k;
            if (at == 0)
                put(o, ac_strf(o->r, "vldrb.8 q1, [%s], #%d", o->name[AC_MVE_W], (int)t->depth));
            else
                put(o, ac_strf(o->r, "vldrb.8 q1, [%s, #%d]", o->name[AC_MVE_W], (int)at));
            put(o, ac_strf(o->r, "%s.s8 %s, q0, q1", how, sum[r]));
        }
    }
}

/* Slots 0 and 1 are channels 0 and 2, the even lanes; 2 and 3 the odd ones. */
static void each(writer *o)
{
    static const char *const SUM[2][MOST_EACH_ROWS] = {{"r0", "r2", "r4"}, {"r8", "r10", "r12"}};
    for (int32_t odd = 0; odd < 2; odd++) {
        for (int32_t s = 0; s < 2; s++) {
            each_slot(o, SUM[s]);
            if (!(odd && s))
                put(o, ac_strf(o->r, "add %s, %s, %s", o->name[AC_MVE_X], o->name[AC_MVE_X], o->name[AC_MVE_OTHER]));
        }
        for (int32_t r = 0; r < o->t->rows; r++)
            put(o, ac_strf(o->r, "vmov q%d[%d], q%d[%d], %s, %s", (int)(2 + r), (int)(2 + odd), (int)(2 + r), (int)odd,
                           SUM[0][r], SUM[1][r]));
    }
    for (int32_t r = 0; r < o->t->rows; r++)
        put(o, ac_strf(o->r, "vstrw.32 q%d, [%s, #%d]", (int)(2 + r), o->name[AC_MVE_TO], (int)(16 * r)));
}

/* Bytes in order: sixteen at a time, the last ones predicated. */
static void flat(writer *o, bool fills)
{
    const char *x = o->name[AC_MVE_X];
    if (fills) {
        put(o, ac_strf(o->r, "ldrb r12, [%s]", x));
        put(o, "vdup.8 q0, r12");
    }
    put(o, ac_strf(o->r, "wlstp.8 lr, %s, 2f", o->name[AC_MVE_STEPS]));
    put(o, "1:");
    if (!fills)
        put(o, ac_strf(o->r, "vldrb.8 q0, [%s], #16", x));
    put(o, ac_strf(o->r, "vstrb.8 q0, [%s], #16", o->name[AC_MVE_TO]));
    put(o, "letp lr, 1b");
    put(o, "2:");
}

static void words(writer *o)
{
    const char *x = o->name[AC_MVE_X], *to = o->name[AC_MVE_TO], *next = ac_strf(o->r, "%s", o->name[AC_MVE_NEXT]);
    const bool near = ac_mve_is_near(o->t);
    const int shift = 4 * (int)o->t->shift;
    if (!near) {
        put(o, ac_strf(o->r, "movw r12, #%d", 2 * (int)o->t->pitch));
        put(o, ac_strf(o->r, "add r12, r12, %s", to));
    }
    put(o, ac_strf(o->r, "wlstp.32 lr, %s, 2f", o->name[AC_MVE_STEPS]));
    put(o, "1:");
    put(o, ac_strf(o->r, "vldrw.u32 q0, [%s, %s]", x, o->name[AC_MVE_AT]));
    put(o, ac_strf(o->r, "%s q0, [%s, %s]", near ? "vstrb.8" : "vstrb.16", to, next));
    if (!near) {
        put(o, "vshr.u16 q0, q0, #8");
        put(o, ac_strf(o->r, "vstrb.16 q0, [r12, %s]", next));
        put(o, ac_strf(o->r, "add r12, r12, #%d", shift));
    }
    put(o, ac_strf(o->r, "add %s, %s, %s, lsl #2", x, x, o->name[AC_MVE_OTHER]));
    put(o, ac_strf(o->r, "add %s, %s, #%d", to, to, shift));
    put(o, "letp lr, 1b");
    put(o, "2:");
}

static void slots(writer *o)
{
    const char *x = o->name[AC_MVE_X], *to = o->name[AC_MVE_TO];
    const bool two = o->t->channels == 2 * LANES, part = o->t->channels < LANES;
    if (part) {
        put(o, ac_strf(o->r, "mov lr, #%d", (int)o->t->channels));
        put(o, "vctp.16 lr");
    }
    put(o, ac_strf(o->r, "wls lr, %s, 2f", o->name[AC_MVE_STEPS]));
    put(o, "1:");
    if (part)
        put(o, "vpstt");
    put(o, ac_strf(o->r, "vldrb%s.u16 q0, [%s]", part ? "t" : "", x));
    if (two)
        put(o, ac_strf(o->r, "vldrb.u16 q1, [%s, #8]", x));
    put(o, ac_strf(o->r, "vstrb%s.16 q0, [%s, %s]", part ? "t" : "", to, o->name[AC_MVE_AT]));
    if (two)
        put(o, ac_strf(o->r, "vstrb.16 q1, [%s, %s]", to, o->name[AC_MVE_NEXT]));
    put(o, ac_strf(o->r, "add %s, %s, %s", x, x, o->name[AC_MVE_OTHER]));
    put(o, ac_strf(o->r, "add %s, %s, #%d", to, to, (int)o->t->shift));
    put(o, "le lr, 1b");
    put(o, "2:");
}

static void spread(writer *o)
{
    const ac_mve_spread how = ac_mve_spread_of(o->t);
    if (how == AC_MVE_WORDS_4)
        words(o);
    else if (how == AC_MVE_SLOTS)
        slots(o);
    else
        flat(o, how == AC_MVE_FILL);
}

const char *ac_mve_asm(ac_ctx *cx, const ac_tile *tile, const char *const *name, const char *end)
{
    writer o = {.r = cx->region, .t = tile, .name = name, .end = end};
    ac_sink_open(&o.to, cx);
    (tile->form == AC_TILE_BYTES ? bytes : tile->form == AC_TILE_EACH ? each : spread)(&o);
    return ac_sink_text(&o.to);
}

const char *ac_mve_requant(ac_ctx *cx, const ac_requants *q, const char *end)
{
    writer o = {.r = cx->region, .end = end};
    ac_sink_open(&o.to, cx);
    put(&o, "vldrw.32 q0, [%[acc]]");
    put(&o, "vldrw.32 q1, [%[bias]]");
    put(&o, "vadd.i32 q0, q0, q1");
    if (q->pre)
        put(&o, ac_strf(o.r, "vshl.i32 q0, q0, #%d", (int)q->pre));
    put(&o, "vldrw.32 q1, [%[m]]");
    put(&o, "vqrdmulh.s32 q0, q0, q1");
    if (q->away) {
        put(&o, "vshr.s32 q1, q0, #31");
        put(&o, "vqadd.s32 q0, q0, q1");
    }
    put(&o, "vldrw.32 q1, [%[m], #16]");
    put(&o, "vrshl.s32 q0, q0, q1");
    put(&o, "vadd.i32 q0, q0, %[zero]");
    put(&o, "vmax.s32 q0, q0, %q[low]");
    put(&o, "vmin.s32 q0, q0, %q[high]");
    put(&o, "vstrb.32 q0, [%[y]]");
    return ac_sink_text(&o.to);
}
