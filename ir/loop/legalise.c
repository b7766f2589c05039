/* legalise.c - turns vectors into scalars, for targets without vectors.
 *
 * Every value of L lanes becomes L values of one lane; instructions that only move lanes disappear. On a machine that
 * works on the halves of words, instructions that halves.h names are kept; lanes are extracted from a word, or packed
 * into one, as needed. A GPU keeps blocks of 8 and 16 bytes that are loaded or stored at once (blocks.c).
 *
 *     %4 = load f32x4 x[%3]           load x[%3], x[%3 + 1], x[%3 + 2], x[%3 + 3]
 *     %5 = sumlanes f32 %4      =>    (l0 + l2) + (l1 + l3)
 *     %6 = dot4 i32 %a %b %c          c + a0*b0 + a1*b1 + a2*b2 + a3*b3, wrapping
 *
 * A variable of L lanes becomes L variables NAME_0 .. Memory order is kept: all lanes are loaded at the position of the
 * vector load. */
#include "ir/loop/builder.h"
#include "ir/loop/halves.h"
#include "ir/loop/kernel.h"

typedef struct splitter {
    const ac_loop_fn *from;
    ac_lb b;
    ac_region *tmp;
    ac_x **lane; /* by old value or variable: its lanes in the new function; NULL: it is kept as a word */
    ac_x *whole; /* the same as one word, 0: none */
} splitter;

static const ac_ins *old(const splitter *s, ac_x x)
{
    return &s->from->code.item[x];
}

/* Lane l of a word. */
static ac_x lane_of_word(splitter *s, ac_x word, int32_t l)
{
    ac_lb *b = &s->b;
    const ac_dtype d = ac_lb_dtype(b, word);
    const int32_t lanes = ac_lb_lane_count(b, word);
    if (lanes * ac_dtype_bits(d) > 32 || (lanes == 2 && d == AC_I16))
        return ac_lb_lane(b, word, l);
    const ac_x bits = ac_lb_shr(b, ac_lb_bitcast(b, word, AC_U32), ac_lb_int(b, AC_U32, l * ac_dtype_bits(d)));
    return ac_lb_cast(b, bits, d);
}

/* Lane l of old value x; values of one lane serve every l. */
static ac_x part(splitter *s, ac_x x, int32_t l)
{
    if (!x)
        return 0;
    if (!s->lane[x])
        return lane_of_word(s, s->whole[x], l);
    return s->lane[x][old(s, x)->lanes == 1 ? 0 : l];
}

/* Lanes as a block. */
static ac_x block(splitter *s, const ac_x *lane, int32_t n)
{
    static const int64_t ALL[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};
    if (n == 1)
        return lane[0];
    return ac_lb_shuffle(&s->b, block(s, lane, n / 2), block(s, lane + n / 2, n / 2), ALL, n);
}

/* Old value x, one lane, a word or a block. */
static ac_x word(splitter *s, ac_x x)
{
    ac_lb *b = &s->b;
    const int64_t both[] = {0, 1};
    if (!x || !s->lane[x])
        return s->whole[x];
    const ac_dtype d = (ac_dtype)old(s, x)->dtype;
    const int32_t lanes = old(s, x)->lanes, bits = ac_dtype_bits(d);
    if (lanes <= 1)
        return s->lane[x][0];
    if (lanes * bits > 32)
        return block(s, s->lane[x], lanes);
    if (d == AC_I16)
        return ac_lb_shuffle(b, s->lane[x][0], s->lane[x][1], both, 2);
    ac_x sum = 0;
    for (int32_t l = 0; l < lanes; l++) {
        ac_x v = ac_lb_cast(b, ac_lb_bitcast(b, s->lane[x][l], bits == 8 ? AC_U8 : AC_U16), AC_U32);
        v = ac_lb_shl(b, v, ac_lb_int(b, AC_U32, l * bits));
        sum = sum ? ac_lb_or(b, sum, v) : v;
    }
    return ac_lb_bitcast(b, sum, d);
}

static ac_x element(splitter *s, ac_x index, int32_t l)
{
    return ac_lb_add(&s->b, part(s, index, 0), ac_lb_i32(&s->b, l));
}

static ac_x wrapped(splitter *s, ac_x x, ac_x y)
{
    return ac_dtype_is_float(ac_lb_dtype(&s->b, x)) ? ac_lb_add(&s->b, x, y) : ac_lb_add_wrap(&s->b, x, y);
}

static ac_x split_dot(splitter *s, const ac_ins *i, int32_t l)
{
    int32_t k = i->op == AC_L_DOT4 ? 4 : 2;
    ac_x sum = part(s, i->c, l);
    for (int32_t j = 0; j < k; j++) {
        ac_x x = ac_lb_cast(&s->b, part(s, i->a, k * l + j), AC_I32),
             y = ac_lb_cast(&s->b, part(s, i->b, k * l + j), AC_I32);
        sum = ac_lb_add_wrap(&s->b, sum, ac_lb_mul(&s->b, x, y));
    }
    return sum;
}

static ac_x split_reduction(splitter *s, const ac_ins *i)
{
    int32_t n = old(s, i->a)->lanes;
    ac_x *x = AC_NEW_N(s->tmp, ac_x, n);
    for (int32_t l = 0; l < n; l++)
        x[l] = part(s, i->a, l);
    for (; n > 1; n /= 2)
        for (int32_t l = 0; l < n / 2; l++)
            x[l] = i->op == AC_L_SUMLANES ? wrapped(s, x[l], x[l + n / 2]) : ac_lb_max(&s->b, x[l], x[l + n / 2]);
    return x[0];
}

/* The unsigned type of as many bits. */
static ac_dtype bits_type(ac_dtype d)
{
    int bits = ac_dtype_bits(d);
    return bits == 8 ? AC_U8 : bits == 16 ? AC_U16 : bits == 32 ? AC_U32 : AC_U64;
}

/* Lane l of a bitcast: extracted from a wider lane, or combined from narrower ones, lowest first. */
static ac_x split_bitcast(splitter *s, const ac_ins *i, int32_t l)
{
    ac_lb *b = &s->b;
    ac_dtype from = (ac_dtype)old(s, i->a)->dtype, to = (ac_dtype)i->dtype;
    int32_t in = ac_dtype_bits(from), out = ac_dtype_bits(to);
    ac_dtype u_in = bits_type(from), u_out = bits_type(to);
    if (in >= out) {
        int32_t per = in / out;
        ac_x x = ac_lb_bitcast(b, part(s, i->a, l / per), u_in);
        if (per > 1)
            x = ac_lb_cast(b, ac_lb_shr(b, x, ac_lb_int(b, u_in, l % per * out)), u_out);
        return ac_lb_bitcast(b, x, to);
    }
    ac_x sum = 0;
    for (int32_t j = 0; j < out / in; j++) {
        ac_x x = ac_lb_cast(b, ac_lb_bitcast(b, part(s, i->a, l * (out / in) + j), u_in), u_out);
        x = ac_lb_shl(b, x, ac_lb_int(b, u_out, j * in));
        sum = sum ? ac_lb_or(b, sum, x) : x;
    }
    return ac_lb_bitcast(b, sum, to);
}

static ac_x split_shuffle(splitter *s, const ac_ins *i, int32_t l)
{
    int32_t from = (int32_t)s->from->pool.item[i->aux + l], n = old(s, i->a)->lanes;
    return from < n ? part(s, i->a, from) : part(s, i->b, from - n);
}

/* The scalar copy of an instruction, operands from lane l. */
static ac_x split_plain(splitter *s, const ac_ins *i, int32_t l)
{
    ac_ins one = *i;
    one.lanes = i->lanes ? 1 : 0;
    one.flags &= (uint8_t)~AC_F_ALIGNED;
    one.a = part(s, i->a, l);
    one.b = part(s, i->b, l);
    one.c = part(s, i->c, l);
    if (i->op == AC_L_GET || i->op == AC_L_SET)
        one.aux = part(s, i->aux, l);
    if (i->op == AC_L_VAR && i->lanes > 1)
        one.name = ac_strf(s->tmp, "%s_%d", i->name ? i->name : "v", l);
    if (i->op == AC_L_CONSTV) {
        one.op = AC_L_CONST;
        one.aux = 0;
        one.k.i = s->from->pool.item[i->aux + l];
    }
    if (i->op == AC_L_LOAD || i->op == AC_L_STORE)
        one.a = element(s, i->a, l);
    return ac_lb_copy(&s->b, s->from, &one);
}

static ac_x split_lane(splitter *s, const ac_ins *i, int32_t l)
{
    ac_lop op = (ac_lop)i->op;
    if (op == AC_L_SPLAT)
        return part(s, i->a, 0);
    if (op == AC_L_LANE)
        return part(s, i->a, i->aux);
    if (op == AC_L_SHUFFLE)
        return split_shuffle(s, i, l);
    if (op == AC_L_DOT4 || op == AC_L_DOT2)
        return split_dot(s, i, l);
    if (op == AC_L_SUMLANES || op == AC_L_MAXLANES)
        return split_reduction(s, i);
    if (op == AC_L_BITCAST)
        return split_bitcast(s, i, l);
    return split_plain(s, i, l);
}

/* Two elements, of the operands that they come from. */
static ac_x keep_shuffle(splitter *s, const ac_ins *i)
{
    const int64_t *k = &s->from->pool.item[i->aux], n = old(s, i->a)->lanes;
    const bool low = k[0] < n || k[1] < n, high = k[0] >= n || k[1] >= n;
    const int64_t pattern[] = {low ? k[0] : k[0] - n, low ? k[1] : k[1] - n};
    return ac_lb_shuffle(&s->b, word(s, low ? i->a : i->b), low && high ? word(s, i->b) : 0, pattern, 2);
}

/* Copies instruction x; its operands are words and scalars. */
static ac_x keep(splitter *s, ac_x x)
{
    bool odd;
    ac_ins i = *old(s, x);
    if (i.op == AC_L_SHUFFLE)
        return keep_shuffle(s, &i);
    if (i.op == AC_L_GET || i.op == AC_L_SET)
        i.aux = s->whole[i.aux];
    if (i.op == AC_L_SHR && ac_halves_widened(s->from, x, &odd) && !odd) { /* the widening of the bytes is copied as
                                                                            * well */
        ac_ins up = *old(s, i.a);
        up.a = word(s, up.a);
        up.b = word(s, up.b);
        i.a = ac_lb_copy(&s->b, s->from, &up);
    } else {
        i.a = word(s, i.a);
    }
    i.b = word(s, i.b);
    i.c = word(s, i.c);
    return ac_lb_copy(&s->b, s->from, &i);
}

static ac_loop_fn *legal(ac_ctx *cx, ac_region *tmp, const ac_loop_fn *fn, const bool *kept)
{
    splitter s = {.from = fn, .tmp = tmp};
    s.lane = AC_NEW_N(s.tmp, ac_x *, fn->code.n);
    s.whole = AC_NEW_N(s.tmp, ac_x, fn->code.n);
    ac_lb_open_like(&s.b, cx->region, fn);
    for (int32_t x = 1; x < fn->code.n; x++) {
        const ac_ins *i = old(&s, x);
        if (i->op == AC_L_PREFETCH) /* plain C has no such hint */
            continue;
        if (kept[x]) {
            s.whole[x] = keep(&s, x);
            if (i->lanes == 1 && i->op != AC_L_STORE) {
                s.lane[x] = AC_NEW_N(s.tmp, ac_x, 1);
                s.lane[x][0] = s.whole[x];
            }
            continue;
        }
        int32_t lanes = i->lanes ? i->lanes : 1;
        s.lane[x] = AC_NEW_N(s.tmp, ac_x, lanes);
        for (int32_t l = 0; l < lanes; l++)
            s.lane[x][l] = split_lane(&s, i, l);
    }
    ac_region_close(tmp);
    return ac_lb_close(&s.b);
}

ac_loop_fn *ac_loop_scalar(ac_ctx *cx, const ac_loop_fn *fn)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    return legal(cx, tmp, fn, AC_NEW_N(tmp, bool, fn->code.n));
}

ac_loop_fn *ac_loop_halves(ac_ctx *cx, const ac_loop_fn *fn)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    bool *kept = AC_NEW_N(tmp, bool, fn->code.n);
    for (ac_x x = 1; x < fn->code.n; x++)
        kept[x] = ac_halves_keep(fn, x);
    return legal(cx, tmp, fn, kept);
}

ac_loop_fn *ac_loop_blocks(ac_ctx *cx, const ac_loop_fn *fn)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    return legal(cx, tmp, fn, ac_blocks_kept(fn, tmp));
}
