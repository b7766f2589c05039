/* requant_loops.c - emits requantisation by one product, and sums by two, as loops; see requant_line.h,
 * requant_plane.h. */
#include "ir/lower/requant_float.h"
#include "ir/lower/requant_line.h"
#include "ir/lower/requant_plane.h"

#include <string.h>

const char *ac_line_words(ac_region *r, const ac_line *line)
{
    static const char *const PRODUCT[] = {[AC_LINE_LONG] = "acc * m + c, 64 bits",
                                          [AC_LINE_HIGH] = "high half of acc * m, + c",
                                          [AC_LINE_WORD] = "acc * m + c, 32 bits",
                                          [AC_LINE_SPLIT] = "acc * m + c, 32 bits, m in two parts",
                                          [AC_LINE_THIRDS] = "acc * m + c, 32 bits, m in three parts"};
    return ac_strf(r, "%s%s%s%s", PRODUCT[line->product], line->kind == AC_LINE_SIGNED ? ", by sign" : "",
                   line->clip ? ", acc clamped" : "", line->vary ? ", a shift for each channel" : "");
}

void ac_lo_requant_note(ac_lower *L, const char *form)
{
    const char *now = L->out ? L->out->requant : NULL;
    const size_t n = strlen(form);
    for (const char *at = now; at; at = strstr(at, "; ") ? strstr(at, "; ") + 2 : NULL)
        if (!strncmp(at, form, n) && (!at[n] || at[n] == ';'))
            return;
    if (L->out)
        L->out->requant = now ? ac_strf(L->region, "%s; %s", now, form) : form;
}

static ac_x times(ac_lb *b, const ac_line *line, ac_x x, ac_x y)
{
    return line->wraps ? ac_lb_mul_wrap(b, x, y) : ac_lb_mul(b, x, y);
}

static ac_x plus(ac_lb *b, const ac_line *line, ac_x x, ac_x y)
{
    return line->wraps ? ac_lb_add_wrap(b, x, y) : ac_lb_add(b, x, y);
}

/* acc * part + lower >> bits */
static ac_x part_of(ac_lb *b, const ac_line *line, ac_x acc, ac_x part, ac_x lower, int32_t bits)
{
    const ac_x p = times(b, line, acc, part);
    return ac_lb_shr(b, lower ? plus(b, line, p, lower) : p, ac_lb_i32(b, bits));
}

static ac_x factor(ac_lb *b, const ac_line *line)
{
    enum { BYTE = 8 };
    if (!line->pairs || line->pre < BYTE)
        return ac_lb_shape(b, (int64_t)1 << line->pre);
    return ac_lb_mul(b, ac_lb_shape(b, (int64_t)1 << (line->pre - BYTE)), ac_lb_i32(b, 1 << BYTE));
}

static ac_x product(ac_lower *L, const ac_line *line, ac_x acc, const ac_line_values *v)
{
    ac_lb *b = &L->b;
    switch (line->product) {
    case AC_LINE_LONG:
    case AC_LINE_HIGH: {
        if (line->pre)
            acc = times(b, line, acc, factor(b, line));
        const ac_x p = ac_lb_mul(b, ac_lb_cast(b, acc, AC_I64), ac_lb_cast(b, v->m, AC_I64));
        return line->product == AC_LINE_LONG ? p : ac_lb_cast(b, ac_lb_shr(b, p, ac_lb_int(b, AC_I64, 32)), AC_I32);
    }
    case AC_LINE_WORD:
        return times(b, line, acc, v->m);
    case AC_LINE_SPLIT:
        return plus(b, line, times(b, line, acc, v->m), part_of(b, line, acc, v->low, 0, line->drop));
    case AC_LINE_THIRDS:
        break;
    }
    const int32_t bits = line->drop / 2;
    const ac_x low = part_of(b, line, acc, v->low, 0, bits);
    return plus(b, line, times(b, line, acc, v->m), part_of(b, line, acc, v->middle, low, bits));
}

void ac_line_cut(ac_lb *b, const ac_line *line, ac_line_values *v)
{
    const bool thirds = line->product == AC_LINE_THIRDS;
    if (!thirds && line->product != AC_LINE_SPLIT)
        return;
    const int32_t bits = thirds ? line->drop / 2 : line->drop;
    const ac_x m = v->m, mask = ac_lb_i32(b, (1 << bits) - 1);
    v->low = ac_lb_and(b, m, mask);
    v->middle = thirds ? ac_lb_and(b, ac_lb_shr(b, m, ac_lb_i32(b, bits)), mask) : 0;
    v->m = ac_lb_shr(b, m, ac_lb_i32(b, line->drop));
}

ac_x ac_lo_requant_line(ac_lower *L, const ac_line *line, const ac_line_of *of, const ac_line_values *given, ac_x acc)
{
    ac_lb *b = &L->b;
    ac_line_values values = *given, *v = &values;
    if (line->clip)
        acc = ac_lb_clamp(b, acc, ac_lb_i32(b, line->from), ac_lb_i32(b, line->to));
    const bool wide = line->product == AC_LINE_LONG, is_signed = line->kind == AC_LINE_SIGNED;
    const ac_dtype d = wide ? AC_I64 : AC_I32;
    if (!v->m) {
        v->m = ac_lb_i32(b, of->m);
        ac_line_cut(b, line, v);
    }
    ac_x c = v->c ? v->c : ac_lb_int(b, is_signed ? AC_I32 : d, of->c);
    if (is_signed) {
        c = ac_lb_cast(b, ac_lb_xor(b, c, ac_lb_shr(b, acc, ac_lb_i32(b, 31))), d);
        if (wide && !v->k && of->k % ((int64_t)1 << 32) == 0) /* added to the high word */
            v->k = ac_lb_shape(b, of->k >> 32);
        c = v->k ? c : plus(b, line, c, ac_lb_int(b, d, of->k));
    }
    ac_x y = plus(b, line, product(L, line, acc, v), c);
    const int32_t post = of->post - (wide ? 32 : 0);
    if (!v->post && post < 0)
        return ac_lb_cast(b, ac_lb_shr(b, y, ac_lb_int(b, d, of->post)), AC_I32);
    if (wide)
        y = ac_lb_cast(b, ac_lb_shr(b, y, ac_lb_int(b, AC_I64, 32)), AC_I32);
    return ac_lb_shr(b, v->k ? plus(b, line, y, v->k) : y, v->post ? v->post : ac_lb_shape(b, post));
}

ac_x ac_lo_requant_clamp(ac_lower *L, ac_x v, int32_t lo, int32_t hi, ac_dtype d)
{
    ac_lb *b = &L->b;
    const bool below = lo > ac_dtype_min(d), above = hi < ac_dtype_max(d);
    if (ac_lb_lane_count(b, v) > 1) { /* they narrow by instructions that saturate */
        v = below ? ac_lb_max(b, v, ac_lb_like_int(b, v, lo)) : v;
        v = above ? ac_lb_min(b, v, ac_lb_like_int(b, v, hi)) : v;
        return ac_lb_satcast(b, v, d);
    }
    if (L->target->firmware && !below && !above)
        return ac_lb_satcast(b, v, d);
    return ac_lb_cast(b, ac_lb_clamp(b, v, ac_lb_like_int(b, v, lo), ac_lb_like_int(b, v, hi)), d);
}

ac_x ac_lo_requant_steps(ac_lower *L, const ac_steps *f, ac_x acc, ac_dtype d)
{
    ac_lb *b = &L->b;
    const ac_target *t = L->target;
    ac_line line = {.kind = AC_LINE_NONE};
    ac_line_of of;
    ac_float_of flt;
    if (t->firmware && !t->vec_bytes && ac_lb_lane_count(b, acc) == 1 && !f->real)
        line = ac_line_find(f, 1, ac_target_mul(t), &of);
    ac_x v = 0;
    if (line.kind != AC_LINE_NONE) {
        ac_lo_requant_note(L, ac_line_words(L->region, &line));
        v = ac_lo_requant_line(L, &line, &of, &(ac_line_values){0}, acc);
    } else if (t->vec_bytes && !t->firmware && ac_lb_lane_count(b, acc) > 1 && ac_requant_float_find(f, t->fma, &flt)) {
        ac_lo_requant_note(L, ac_requant_float_words(ac_requant_float_by_sign(&flt)));
        v = ac_lo_requant_float_of(L, acc, &flt);
    } else {
        v = ac_lb_add_wrap(b, ac_lo_requant(L, acc, f->q), ac_lb_like_int(b, acc, f->zero));
    }
    return ac_lo_requant_clamp(L, v, f->lo, f->hi, d);
}

/* A byte of memory, widened. */
static bool is_loaded(const ac_lb *b, ac_x x)
{
    const ac_ins *i = &b->fn->code.item[x];
    return i->op == AC_L_CAST && b->fn->code.item[i->a].op == AC_L_LOAD;
}

/* The loaded operand comes last, whichever it is, so that kernels of both orders are equal. */
ac_x ac_lo_requant_plane(ac_lower *L, const ac_plane *p, ac_x y, ac_x z)
{
    ac_lb *b = &L->b;
    ac_lo_requant_note(L, "y * a + z * b + c, 32 bits");
    const bool swap = is_loaded(b, y) && !is_loaded(b, z);
    const ac_x first = ac_lb_mul(b, swap ? z : y, ac_lb_shape_like(b, y, swap ? p->b : p->a));
    const ac_x second = ac_lb_mul(b, swap ? y : z, ac_lb_shape_like(b, y, swap ? p->a : p->b));
    const ac_x sum = ac_lb_add(b, ac_lb_add(b, first, ac_lb_shape_like(b, y, p->c)), second);
    return ac_lb_shr(b, sum, ac_lb_shape_like(b, y, p->post));
}
