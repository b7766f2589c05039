/* mve_nests.c - writes nests as functions of Arm's MVE; see mve_nests.h. */
#include "codegen/mve_nests.h"

#include "base/sink.h"

#include <string.h>

enum { UNROLLED = 4, REACH = 127 };

/* Registers of vmladav's sums: four of one row, four of the other; or eight channels. */
static const char *const SUM[8] = {"r0", "r2", "r4", "r6", "r8", "r10", "r12", "lr"};

/* How ROWS runs through the steps of a quad. */
typedef enum walk { BY_ONE, BY_TWO, BY_THREE, STRAIGHT } walk;

typedef struct writer {
    ac_sink to;
    const ac_nest *n;
    walk walk;
    int64_t steps; /* 0: not known */
} writer;

/* The constant of an argument; -1: another value, or a different one in each call. */
static int64_t number(const ac_loop_fn *fn, const ac_nest_value *v)
{
    const ac_x x = v->term[0];
    return x > 0 && !v->term[1] && fn->code.item[x].op == AC_L_CONST ? fn->code.item[x].k.i : -1;
}

static bool is_rows(const ac_nest *n)
{
    return n->form == AC_NEST_ROWS;
}

static int64_t steps_of(const ac_loop_fn *fn, const ac_nest *n)
{
    const int64_t steps = number(fn, &n->arg[AC_NEST_STEPS]);
    return steps > 0 ? steps : 0;
}

static walk walk_of(const ac_loop_fn *fn, const ac_nest *n)
{
    const int64_t steps = steps_of(fn, n);
    if (n->tile.rows > 1 && steps && steps <= UNROLLED)
        return STRAIGHT;
    if (n->tile.rows > 1 && steps && steps % 3 == 0)
        return BY_THREE;
    return steps && steps % 2 == 0 ? BY_TWO : BY_ONE;
}

/* The distance of spots in y, if it is a constant within reach, else 0. */
static int32_t y_of_spot(const ac_loop_fn *fn, const ac_nest *n)
{
    const int64_t by = n->arg[AC_NEST_Y_INNER].term[0] ? number(fn, &n->arg[AC_NEST_Y_INNER]) : 1;
    return by > 0 && by <= REACH ? (int32_t)by : 0;
}

bool ac_mve_has_nest(const ac_target *t, const ac_nest *n)
{
    return t->mve && (!is_rows(n) || n->tile.rows <= 2);
}

const char *ac_mve_nest_name(ac_ctx *cx, const ac_loop_fn *fn, const ac_nest *n)
{
    ac_sink to;
    ac_sink_open(&to, cx);
    if (n->form == AC_NEST_SUMS) {
        ac_putf(&to, "sums_%d", (int)n->sum.post);
    } else if (is_rows(n)) {
        static const char *const WALK[] = {"", "_by_two", "_by_three", "_of_"};
        const walk w = walk_of(fn, n);
        ac_putf(&to, "rows_%dx8%s", (int)n->tile.rows, WALK[w]);
        if (w == STRAIGHT)
            ac_putf(&to, "%d", (int)steps_of(fn, n));
    } else {
        ac_putf(&to, "spots_%d_%d", (int)n->tile.shift, (int)y_of_spot(fn, n));
    }
    ac_put(&to, n->shared && is_rows(n) ? "_shared" : "");
    ac_put(&to, n->q.away ? "_away" : "");
    ac_put(&to, n->q.pre ? "_left" : "");
    ac_put(&to, "_asm");
    return ac_intern(cx, ac_sink_text(&to));
}

/* ------------------------------------------------------------------ requantisation */

/* Sums in q[first], q[first + 1], ... of `count` vectors; bias, factor and shift of vector v are in register constants
 * `k[v]`, loaded before each use. */
typedef struct sums {
    int32_t q[4], k[4]; /* of each vector: its register, and that of its constants */
    int32_t n;
} sums;

static void each_sum(writer *o, const sums *s, const char *what)
{
    for (int32_t v = 0; v < s->n; v++)
        ac_putf(&o->to, "%s q%d, q%d, q%d\n", what, (int)s->q[v], (int)s->q[v], (int)s->k[v]);
}

/* The constants of eight channels at r9, which goes on to the next: even ones to the first register, odd ones to the
 * last. */
static void put_constants(writer *o, const sums *s)
{
    const int even = (int)s->k[0], odd = (int)s->k[s->n - 1];
    ac_putf(&o->to, "vld20.32 {q%d, q%d}, [r9]\nvld21.32 {q%d, q%d}, [r9]!\n", even, odd, even, odd);
}

/* A factor or a shift: those of eight channels, or the one of all, at byte `at` of r11. */
static void put_scales(writer *o, sums *s, int32_t at)
{
    if (!o->n->shared) {
        put_constants(o, s);
        return;
    }
    for (int32_t v = 0; v < s->n; v++)
        s->k[v] = s->k[0];
    ac_putf(&o->to, "vldrw.32 q%d, [r11, #%d]\n", (int)s->k[0], (int)at);
}

/* r0: the array; r9: biases; r11, if all channels have the same: factors. */
static void put_requant(writer *o, sums *s, int32_t spare)
{
    put_constants(o, s);
    each_sum(o, s, "vadd.i32");
    if (o->n->q.pre)
        ac_putf(&o->to, "ldr r6, [r0, #%d]\n", 4 * AC_MVE_LEFT);
    for (int32_t v = 0; v < s->n && o->n->q.pre; v++)
        ac_putf(&o->to, "vshl.s32 q%d, r6\n", (int)s->q[v]);
    put_scales(o, s, 0);
    each_sum(o, s, "vqrdmulh.s32");
    for (int32_t v = 0; v < s->n && o->n->q.away; v++)
        ac_putf(&o->to, "vshr.s32 q%d, q%d, #31\nvqadd.s32 q%d, q%d, q%d\n", (int)spare, (int)s->q[v], (int)s->q[v],
                (int)s->q[v], (int)spare);
    put_scales(o, s, 32);
    each_sum(o, s, "vrshl.s32");
}

/* Even channels in `even`, odd ones in `odd`: eight bytes to the address `to`. */
static void put_bytes(writer *o, int32_t even, int32_t odd, const char *zero, const char *to)
{
    const int e = (int)even;
    ac_putf(&o->to, "vqmovnb.s32 q%d, q%d\nvqmovnt.s32 q%d, q%d\nvqadd.s16 q%d, q%d, %s\n", e, e, e, (int)odd, e, e,
            zero);
    ac_putf(&o->to, "vqmovnb.s16 q%d, q%d\nvstrb.16 q%d, %s\n", e, e, e, to);
}

/* ------------------------------------------------------------------ two rows */

/* q0, q1 by the weights of every other channel; `last`: from the last of them to the next. */
static void put_products(writer *o, bool first, int32_t last)
{
    const char *a = first ? "vmladav" : "vmladava";
    for (int32_t c = 0; c < 4; c++)
        ac_putf(&o->to, "vldrb.8 q2, [r5], #%d\n%s.s8 %s, q0, q2\n%s.s8 %s, q1, q2\n", (int)(c < 3 ? 32 : last), a,
                SUM[c], a, SUM[4 + c]);
}

static void put_step(writer *o, bool first, int32_t last)
{
    ac_put(&o->to, "vldrb.8 q0, [r1], #16\nvldrb.8 q1, [r3], #16\n");
    put_products(o, first, last);
}

static void put_steps(writer *o, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        put_step(o, false, 32);
}

/* All steps of a half of the channels, 0: the even ones. r5 goes on to the other half, or to the next eight. */
static void put_walk(writer *o, int32_t half)
{
    static const char *const LAST[] = {"subs r11, #1\n", "subs r11, #2\n", "subs r11, #3\n"};
    ac_sink *to = &o->to;
    if (o->walk == STRAIGHT) {
        for (int64_t s = 0; s < o->steps; s++)
            put_step(o, s == 0, half && s == o->steps - 1 ? 16 : 32);
        if (!half)
            ac_putf(to, "sub r5, r5, #%d\n", (int)o->steps * 128 - 16);
        return;
    }
    if (half)
        ac_putf(to, "ldr r11, [r0, #%d]\nsub r5, r5, r11\n", 4 * AC_MVE_HALF);
    const int32_t n = o->walk == BY_THREE ? 3 : o->walk == BY_TWO ? 2 : 1;
    ac_putf(to, "ldr r11, [r0, #%d]\n", 4 * AC_MVE_ROW_STEPS);
    if (n == 1)
        ac_put(to, "subs r11, #1\n");
    put_step(o, true, 32);
    ac_put(to, n == 1 ? "beq 2f\n1:\n" : "b 2f\n1:\n");
    put_step(o, false, 32);
    ac_put(to, n == 1 ? "" : "2:\n");
    put_steps(o, n - 1);
    ac_putf(to, "%sbne 1b\n", LAST[n - 1]);
    ac_putf(to, "%s%s", n == 1 ? "2:\n" : "", half ? "sub r5, #16\n" : "");
}

static void put_rows(writer *o)
{
    ac_sink *to = &o->to;
    const bool same = o->walk == STRAIGHT && o->steps == 1 && !o->n->q.away;
    sums s = {{4, 5, 6, 7}, {same ? 2 : 0, same ? 2 : 0, same ? 3 : 1, same ? 3 : 1}, 4};
    ac_put(to, "push {r4-r11, lr}\nvpush {d8-d15}\nsub sp, #4\nstr r0, [sp]\n");
    ac_putf(to, "ldr r7, [r0, #%d]\n7:\nldrd r5, r9, [r0, #%d]\n", 4 * AC_MVE_OUT, 4 * AC_MVE_WEIGHTS);
    if (same) /* pixels stay in registers */
        ac_put(to, "ldrd r1, r3, [r0]\nvldrb.8 q0, [r1]\nvldrb.8 q1, [r3]\n");
    ac_put(to, "8:\n");
    for (int32_t half = 0; half < 2; half++) {
        const int a = 4 + 2 * (int)half;
        if (same) {
            put_products(o, true, half ? 16 : -80);
        } else {
            ac_put(to, "ldr r0, [sp]\nldrd r1, r3, [r0]\n");
            put_walk(o, half);
        }
        ac_putf(to, "vmov q%d[2], q%d[0], r0, r4\nvmov q%d[3], q%d[1], r2, r6\n", a, a, a, a);
        ac_putf(to, "vmov q%d[2], q%d[0], r8, r12\nvmov q%d[3], q%d[1], r10, lr\n", a + 1, a + 1, a + 1, a + 1);
    }
    ac_putf(to, "ldr r0, [sp]\n");
    if (o->n->shared)
        ac_putf(to, "ldr r11, [r0, #%d]\n", 4 * AC_MVE_FACTORS);
    put_requant(o, &s, 2);
    ac_putf(to, "ldrd r2, r4, [r0, #%d]\nldr r6, [r0, #%d]\nadd r2, r7\n", 4 * AC_MVE_NEXT_OUT, 4 * AC_MVE_ZERO);
    put_bytes(o, 4, 6, "r6", "[r7], #8");
    put_bytes(o, 5, 7, "r6", "[r2]");
    ac_put(to, "cmp r9, r4\nbne 8b\n");
    ac_putf(to, "ldrd r2, r4, [r0, #%d]\nsubs r2, #1\nstr r2, [r0, #%d]\nbeq 9f\n", 4 * AC_MVE_TURNS, 4 * AC_MVE_TURNS);
    ac_putf(to, "ldrd r1, r3, [r0]\nadd r1, r4\nadd r3, r4\nstrd r1, r3, [r0]\nldr r2, [r0, #%d]\nadd r7, r2\n",
            4 * AC_MVE_NEXT_OUT);
    ac_put(to, "b 7b\n9:\nadd sp, #4\nvpop {d8-d15}\npop {r4-r11, pc}\n");
}

/* ------------------------------------------------------------------ one row */

static void put_row_step(writer *o, bool first)
{
    ac_put(&o->to, "vldrb.8 q0, [r1], #16\n");
    for (int32_t c = 0; c < 8; c++)
        ac_putf(&o->to, "vldrb.8 q1, [r3], #16\nvmladav%s.s8 %s, q0, q1\n", first ? "" : "a", SUM[c % 2 * 4 + c / 2]);
}

/* r1: x, r3: weights, r5: y, r7: steps, r9: biases, r11: factors that all channels have */
static void put_row(writer *o)
{
    ac_sink *to = &o->to;
    const bool two = o->walk == BY_TWO;
    sums s = {{2, 3}, {0, 1}, 2};
    ac_putf(to, "push {r0, r4-r11, lr}\nldrd r3, r9, [r0, #%d]\nldr r5, [r0, #%d]\nldr r11, [r0, #%d]\n8:\n",
            4 * AC_MVE_WEIGHTS, 4 * AC_MVE_OUT, 4 * AC_MVE_FACTORS);
    ac_putf(to, "ldr r1, [r0]\nldr r7, [r0, #%d]\n", 4 * AC_MVE_ROW_STEPS);
    ac_put(to, two ? "" : "subs r7, #1\n");
    put_row_step(o, true);
    ac_put(to, two ? "b 2f\n1:\n" : "beq 2f\n1:\n");
    put_row_step(o, false);
    if (two) {
        ac_put(to, "2:\n");
        put_row_step(o, false);
    }
    ac_put(to, two ? "subs r7, #2\nbne 1b\n" : "subs r7, #1\nbne 1b\n2:\n");
    ac_put(to, "vmov q2[2], q2[0], r0, r4\nvmov q2[3], q2[1], r2, r6\n"
               "vmov q3[2], q3[0], r8, r12\nvmov q3[3], q3[1], r10, lr\nldr r0, [sp]\n");
    put_requant(o, &s, 0);
    ac_putf(to, "ldr r6, [r0, #%d]\nldr r4, [r0, #%d]\n", 4 * AC_MVE_ZERO, 4 * AC_MVE_END);
    put_bytes(o, 2, 3, "r6", "[r5], #8");
    ac_put(to, "cmp r9, r4\nbne 8b\npop {r0, r4-r11, pc}\n");
}

/* ------------------------------------------------------------------ spots */

static void put_spots(writer *o, int32_t y_step)
{
    static const char *const LINE[4] = {"r1", "r3", "r5", "r7"}, *const OF[4] = {"r8", "r10", "r12", "r6"};
    ac_sink *to = &o->to;
    const ac_requants *q = &o->n->q;
    ac_putf(to, "push {r4-r11, lr}\nvpush {d8-d15}\nldr r2, [r0, #%d]\nldr r3, [r0, #%d]\nldr r4, [r0, #%d]\n",
            4 * AC_MVE_WEIGHTS, 4 * AC_MVE_BIASES, 4 * AC_MVE_FACTORS);
    for (int i = 0; i < 4; i++)
        ac_putf(to, "vldrb.8 q%d, [r2, #%d]\n", 4 + i, 16 * i);
    ac_put(to, "vldrw.32 q1, [r3]\nvldrw.32 q2, [r4]\nvldrw.32 q3, [r4, #16]\n");
    ac_putf(to,
            "ldrd r1, r3, [r0]\nsub r2, r3, r1\nadd r5, r3, r2\nadd r7, r5, r2\nldr r4, [r0, #%d]\n"
            "ldrd r9, r11, [r0, #%d]\npush {r0}\nldr r2, [r0, #%d]\nldr r0, [r0, #%d]\n3:\ndls lr, r9\n1:\n",
            4 * AC_MVE_OUT, 4 * AC_MVE_NEXT_OUT, 4 * AC_MVE_ZERO, 4 * AC_MVE_HALF);
    for (int i = 0; i < 4; i++)
        ac_putf(to, "vldrb.8 q0, [%s], #%d\nvmladav.s8 %s, q0, q%d\n", LINE[i], (int)o->n->tile.shift, OF[i], 4 + i);
    /* lines are slots: channels 0, 2, 1, 3 */
    ac_put(to, "vmov q0[2], q0[0], r8, r10\nvmov q0[3], q0[1], r12, r6\nvadd.i32 q0, q0, q1\n");
    if (q->pre)
        ac_putf(to, "ldr r6, [sp]\nldr r6, [r6, #%d]\nvshl.s32 q0, r6\n", 4 * AC_MVE_LEFT);
    ac_put(to, "vqrdmulh.s32 q0, q0, q2\n");
    if (q->away) /* no vector is free: negative values are decremented before the shift */
        ac_put(to, "vmov r8, r10, q0[2], q0[0]\nadd r8, r8, r8, asr #31\nadd r10, r10, r10, asr #31\n"
                   "vmov q0[2], q0[0], r8, r10\nvmov r8, r10, q0[3], q0[1]\nadd r8, r8, r8, asr #31\n"
                   "add r10, r10, r10, asr #31\nvmov q0[3], q0[1], r8, r10\n");
    ac_put(to, "vrshl.s32 q0, q0, q3\nvadd.i32 q0, q0, r2\nvqmovnb.s32 q0, q0\nvqmovnb.s16 q0, q0\n");
    if (y_step)
        ac_putf(to, "vstrb.32 q0, [r4], #%d\nle lr, 1b\n", (int)y_step);
    else
        ac_put(to, "vstrb.32 q0, [r4]\nadd r4, r0\nle lr, 1b\n");
    ac_putf(to,
            "ldr r6, [sp]\nldr r8, [r6, #%d]\nldr r10, [r6, #%d]\nadd r1, r8\nadd r3, r8\nadd r5, r8\nadd r7, r8\n"
            "add r4, r10\nsubs r11, #1\nbne 3b\npop {r0}\nvpop {d8-d15}\npop {r4-r11, pc}\n",
            4 * AC_MVE_ROW_STEPS, 4 * AC_MVE_TURNS);
}

/* ------------------------------------------------------------------ sums of two bytes */

int32_t ac_mve_first_shift(const ac_nest_sum *s)
{
    return s->post > 16 ? 16 : (int32_t)s->post - 1;
}

int64_t ac_mve_sum_start(const ac_nest_sum *s)
{
    return s->c - ((int64_t)1 << (ac_mve_first_shift(s) - 1)) - ((int64_t)1 << (s->post - 1));
}

static void put_sums(writer *o)
{
    const int first = (int)ac_mve_first_shift(&o->n->sum), last = (int)o->n->sum.post - first;
    ac_putf(&o->to,
            "push {r4-r6, lr}\nldrd r1, r2, [r0]\nldrd r3, r12, [r0, #8]\nldrd r4, r5, [r0, #16]\nldr r6, [r0, #24]\n"
            "lsr r12, r12, #3\ndls lr, r12\n1:\nvldrb.s16 q0, [r1], #8\nvldrb.s16 q1, [r2], #8\n"
            "vmovlb.s16 q2, q0\nvmovlt.s16 q0, q0\nvmul.i32 q2, q2, r4\nvmul.i32 q0, q0, r4\n"
            "vmovlb.s16 q3, q1\nvmovlt.s16 q1, q1\nvmla.s32 q2, q3, r5\nvmla.s32 q0, q1, r5\n"
            "vadd.i32 q2, q2, r6\nvadd.i32 q0, q0, r6\n"
            "vqrshrnb.s32 q2, q2, #%d\nvqrshrnt.s32 q2, q0, #%d\nvqrshrnb.s16 q2, q2, #%d\n"
            "vstrb.16 q2, [r3], #8\nle lr, 1b\npop {r4-r6, pc}\n",
            first, first, last);
}

const char *ac_mve_nest_asm(ac_ctx *cx, const ac_loop_fn *fn, const ac_nest *n)
{
    writer o = {.n = n};
    ac_sink_open(&o.to, cx);
    if (n->form == AC_NEST_SUMS) {
        put_sums(&o);
        return ac_sink_text(&o.to);
    }
    if (!is_rows(n)) {
        put_spots(&o, y_of_spot(fn, n));
        return ac_sink_text(&o.to);
    }
    o.walk = walk_of(fn, n);
    o.steps = steps_of(fn, n);
    if (n->tile.rows == 1)
        put_row(&o);
    else
        put_rows(&o);
    return ac_sink_text(&o.to);
}

ac_bytes ac_mve_nest_stack(const char *function)
{
    if (!strstr(function, "_asm"))
        return 0;
    static const struct {
        const char *name;
        ac_bytes bytes;
    } STACK[] = {{"rows_2x8", 104}, {"rows_1x8", 40}, {"spots_", 104}, {"sums_", 16}};
    for (size_t k = 0; k < sizeof STACK / sizeof *STACK; k++)
        if (strstr(function, STACK[k].name))
            return STACK[k].bytes;
    return 0;
}
