/* rvv_asm.c - writes TILE and REQUANT as RISC-V vector instructions; see rvv_asm.h. */
#include "codegen/rvv_asm.h"

#include "base/sink.h"

enum { OUTER_SUMS = 28, LANES_SUMS = 24, NEAR = 2047, MOST_DEPTH = 4, TEMPORARIES = 4, AHEAD = 3 };

/* Registers of `n` words. */
static int32_t registers(int32_t n)
{
    return n > 16 ? 8 : n > 8 ? 4 : n > 4 ? 2 : 1;
}

bool ac_rvv_has(const ac_target *t, const ac_tile *tile)
{
    if (!t->rvv)
        return false;
    const int32_t sums = tile->rows * registers(tile->channels), far = (tile->rows - 1) * tile->pitch;
    switch (tile->form) {
    case AC_TILE_OUTER:
        return sums <= OUTER_SUMS && tile->depth <= MOST_DEPTH && far + tile->depth <= NEAR;
    case AC_TILE_LANES:
        return sums <= LANES_SUMS && far <= NEAR;
    case AC_TILE_SPREAD:
        return tile->channels == 1 && tile->shift == 1 && tile->stride <= 1;
    case AC_TILE_PAIRS:
    case AC_TILE_ROW:
    case AC_TILE_BYTES:
    case AC_TILE_EACH:
    case AC_TILE_UNSIGNED:
    case AC_TILE_MATRIX:
    case AC_TILE_WORDS:
    case AC_TILE_FORMS:
        break;
    }
    return false;
}

bool ac_rvv_takes(const ac_tile *tile, ac_rvv_operand o)
{
    return o != AC_RVV_W || tile->form != AC_TILE_SPREAD;
}

bool ac_rvv_changes(const ac_tile *tile, ac_rvv_operand o)
{
    return ac_rvv_takes(tile, o) && (o != AC_RVV_STEPS || tile->form == AC_TILE_SPREAD);
}

const char *ac_rvv_name(ac_ctx *cx, const ac_tile *t)
{
    if (t->form == AC_TILE_SPREAD)
        return t->stride ? "tile_copy" : "tile_fill";
    return ac_internf(cx, "tile_%s_%dx%d_%d_%d_%d", ac_tile_text[t->form], (int)t->rows, (int)t->channels,
                      (int)t->pitch, (int)t->shift, (int)t->depth);
}

const char *ac_rvv_requant_name(ac_ctx *cx, const ac_requants *q)
{
    const char *left = q->pre ? ac_strf(cx->region, "_left_%d", (int)q->pre) : "";
    return ac_internf(cx, "requant%d%s%s", (int)q->lanes, q->away ? "_away" : "", left);
}

typedef struct writer {
    ac_region *r;
    ac_sink to;
    const ac_tile *t;
    const char *x, *w, *steps, *y;
    const char *end;
} writer;

/* One instruction. */
static void put(writer *o, const char *text)
{
    ac_put(&o->to, text);
    ac_put(&o->to, o->end);
}

/* Elements of `bits` bits, one for each channel, if elements of a word take `words` registers. */
static void set_vectors(writer *o, int32_t bits, int32_t words)
{
    const int32_t parts = 32 / bits;
    const char *fraction = words < parts ? "f" : "";
    put(o, ac_strf(o->r, "vsetvli zero, t0, e%d, m%s%d, ta, ma", (int)bits, fraction,
                   (int)(words < parts ? parts / words : words / parts)));
}

/* to = from + by, using t6. */
static void add(writer *o, const char *to, const char *from, int64_t by)
{
    if (by <= NEAR) {
        if (by || to != from)
            put(o, ac_strf(o->r, "addi %s, %s, %d", to, from, (int)by));
        return;
    }
    put(o, ac_strf(o->r, "li t6, %d", (int)by));
    put(o, ac_strf(o->r, "add %s, %s, t6", to, from));
}

/* ------------------------------------------------------------------ tiles */

static void begin_sums(writer *o)
{
    const int32_t words = registers(o->t->channels);
    put(o, ac_strf(o->r, "li t0, %d", (int)o->t->channels));
    set_vectors(o, 32, words);
    for (int32_t r = 0; r < o->t->rows; r++)
        put(o, ac_strf(o->r, "vmv.v.i v%d, 0", (int)(r * words)));
    set_vectors(o, 16, words);
    if (o->t->shift > 1) {
        put(o, ac_strf(o->r, "li t2, %d", (int)o->t->shift));
        put(o, "2:");
    }
}

/* The next part of x begins after the last row of this one. */
static void end_sums(writer *o)
{
    const int32_t words = registers(o->t->channels);
    if (o->t->shift > 1) {
        add(o, o->x, o->x, (o->t->rows - 1) * (int64_t)o->t->pitch);
        put(o, "addi t2, t2, -1");
        put(o, "bnez t2, 2b");
    }
    for (int32_t r = 0; r < o->t->rows; r++) {
        put(o, ac_strf(o->r, "vse32.v v%d, (%s)", (int)(r * words), o->y));
        if (r + 1 < o->t->rows)
            add(o, o->y, o->y, 4 * (int64_t)o->t->channels);
    }
}

/* t1 = x + steps * depth */
static void find_end(writer *o)
{
    const int32_t depth = o->t->depth;
    if (depth > 1)
        put(o, ac_strf(o->r, "slli t1, %s, %d", o->steps, depth < 4 ? 1 : 2));
    if (depth % 2)
        put(o, ac_strf(o->r, "add t1, %s, %s", depth > 1 ? "t1" : o->x, o->steps));
    if (depth > 1)
        put(o, ac_strf(o->r, "add t1, t1, %s", o->x));
}

static void load_value(writer *o, int32_t k, int32_t r)
{
    put(o, ac_strf(o->r, "lb t%d, %d(%s)", (int)(3 + r % TEMPORARIES), (int)(k + r * o->t->pitch), o->x));
}

static void outer(writer *o)
{
    const ac_tile *t = o->t;
    const int32_t words = registers(t->channels), wide = words == 8 ? 24 : 28, narrow = words == 8 ? 28 : 30;
    begin_sums(o);
    find_end(o);
    put(o, "1:");
    for (int32_t k = 0; k < t->depth; k++) {
        put(o, ac_strf(o->r, "vle8.v v%d, (%s)", (int)narrow, o->w));
        add(o, o->w, o->w, t->channels);
        for (int32_t r = 0; r < t->rows && r < AHEAD; r++)
            load_value(o, k, r);
        put(o, ac_strf(o->r, "vsext.vf2 v%d, v%d", (int)wide, (int)narrow));
        for (int32_t r = 0; r < t->rows; r++) {
            if (r + AHEAD < t->rows)
                load_value(o, k, r + AHEAD);
            put(o, ac_strf(o->r, "vwmacc.vx v%d, t%d, v%d", (int)(r * words), (int)(3 + r % TEMPORARIES), (int)wide));
        }
    }
    add(o, o->x, o->x, t->depth);
    put(o, ac_strf(o->r, "bne %s, t1, 1b", o->x));
    end_sums(o);
}

/* Bytes are loaded into the upper half of the registers they are widened to. */
static void lanes(writer *o)
{
    const ac_tile *t = o->t;
    const int32_t words = registers(t->channels);
    begin_sums(o);
    put(o, ac_strf(o->r, "mv t1, %s", o->steps));
    put(o, "1:");
    put(o, ac_strf(o->r, "vle8.v v26, (%s)", o->w));
    put(o, "vsext.vf2 v24, v26");
    for (int32_t r = 0; r < t->rows; r++) {
        const char *at = r ? "t3" : o->x;
        if (r)
            add(o, at, o->x, r * (int64_t)t->pitch);
        put(o, ac_strf(o->r, "vle8.v v30, (%s)", at));
        put(o, "vsext.vf2 v28, v30");
        put(o, ac_strf(o->r, "vwmacc.vv v%d, v28, v24", (int)(r * words)));
    }
    add(o, o->w, o->w, t->channels);
    add(o, o->x, o->x, t->pitch / t->depth);
    put(o, "addi t1, t1, -1");
    put(o, "bnez t1, 1b");
    end_sums(o);
}

static void copy(writer *o)
{
    put(o, ac_strf(o->r, "blez %s, 2f", o->steps));
    if (!o->t->stride)
        put(o, ac_strf(o->r, "lb t1, 0(%s)", o->x));
    put(o, "1:");
    put(o, ac_strf(o->r, "vsetvli t0, %s, e8, m8, ta, ma", o->steps));
    put(o, o->t->stride ? ac_strf(o->r, "vle8.v v0, (%s)", o->x) : "vmv.v.x v0, t1");
    if (o->t->stride)
        put(o, ac_strf(o->r, "add %s, %s, t0", o->x, o->x));
    put(o, ac_strf(o->r, "sub %s, %s, t0", o->steps, o->steps));
    put(o, ac_strf(o->r, "vse8.v v0, (%s)", o->y));
    put(o, ac_strf(o->r, "add %s, %s, t0", o->y, o->y));
    put(o, ac_strf(o->r, "bnez %s, 1b", o->steps));
    put(o, "2:");
}

const char *ac_rvv_asm(ac_ctx *cx, const ac_tile *tile, const char *const *name, const char *end)
{
    writer o = {.r = cx->region, .t = tile, .end = end};
    o.x = name[AC_RVV_X];
    o.w = name[AC_RVV_W];
    o.steps = name[AC_RVV_STEPS];
    o.y = name[AC_RVV_TO];
    ac_sink_open(&o.to, cx);
    (tile->form == AC_TILE_OUTER ? outer : tile->form == AC_TILE_LANES ? lanes : copy)(&o);
    return ac_sink_text(&o.to);
}

/* ------------------------------------------------------------------ requantisation */

const char *ac_rvv_requant(ac_ctx *cx, const ac_requants *q, const char *const *name, const char *end)
{
    writer o = {.r = cx->region, .end = end};
    const int32_t words = registers(q->lanes);
    ac_sink_open(&o.to, cx);
    put(&o, ac_strf(o.r, "li t0, %d", (int)q->lanes));
    set_vectors(&o, 32, words);
    put(&o, "csrwi vxrm, 0"); /* to nearest, ties up */
    put(&o, ac_strf(o.r, "vle32.v v0, (%s)", name[AC_RVV_ACC]));
    put(&o, ac_strf(o.r, "vle32.v v8, (%s)", name[AC_RVV_BIAS]));
    put(&o, "vadd.vv v0, v0, v8");
    if (q->pre)
        put(&o, ac_strf(o.r, "vsll.vi v0, v0, %d", (int)q->pre));
    put(&o, ac_strf(o.r, "vle32.v v8, (%s)", name[AC_RVV_M]));
    put(&o, "vsmul.vv v0, v0, v8");
    if (q->away) {
        put(&o, "vsra.vi v8, v0, 31");
        put(&o, "vsadd.vv v0, v0, v8");
    }
    add(&o, "t1", name[AC_RVV_M], 4 * (int64_t)q->lanes);
    put(&o, "vle32.v v8, (t1)");
    put(&o, "vrsub.vi v8, v8, 0");
    put(&o, "vssra.vv v0, v0, v8");
    put(&o, ac_strf(o.r, "vsadd.vx v0, v0, %s", name[AC_RVV_ZERO]));
    put(&o, ac_strf(o.r, "vmax.vx v0, v0, %s", name[AC_RVV_LO]));
    put(&o, ac_strf(o.r, "vmin.vx v0, v0, %s", name[AC_RVV_HI]));
    set_vectors(&o, 16, words);
    put(&o, "vnsrl.wi v8, v0, 0");
    set_vectors(&o, 8, words);
    put(&o, "vnsrl.wi v0, v8, 0");
    put(&o, ac_strf(o.r, "vse8.v v0, (%s)", name[AC_RVV_Y]));
    return ac_sink_text(&o.to);
}
