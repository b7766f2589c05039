/* gemm_pack.c - prepares the operands of register tiles: packs weights, and converts rows into a strip.
 *
 * Weights  [group][block of channels][run][step][channel in the block][element of the step]; channels and elements
 *          past the end of the tensor are zero, so the contents of a strip there do not matter.
 * Strip    f32: as stored
 *          i16: x - zero point (i8, u8, dynamic range), or x (i16)
 *          i8 or u8, for DOT4: as stored, or shifted by 128 if x is of the other type; the zero point, and 128, are
 *          folded into the bias (dynamic range: into the start of the accumulator) */
#include "ir/lower/conv/gemm.h"
#include "ir/lower/held.h"
#include "ir/lower/conv/spans.h"
#include "ir/lower/lower.h"

/* The offset that a strip for DOT4 adds to stored values. */
static int32_t offset(const ac_gemm_form *f, const ac_channel *c)
{
    const ac_dtype stored = c->x->dtype == AC_U8 ? AC_U8 : AC_I8; /* also what dynamic range quantises to */
    return f->strip == stored ? 0 : f->strip == AC_U8 ? 128 : f->strip == AC_I8 ? -128 : 0;
}

/* One element of the packed weights of a group: w[channel][run][k], zero outside. */
static ac_x element(ac_lower *P, const ac_gemm_form *f, const ac_channel *c, ac_x group, ac_x channel, ac_x run, ac_x k)
{
    ac_lb *b = &P->b;
    const bool whole_n = f->n % ac_gemm_width(f) == 0, whole_k = !ac_gemm_beyond(f);
    ac_x in = whole_n ? channel : ac_lb_min(b, channel, ac_lb_i32(b, f->n - 1));
    ac_x ik = whole_k ? k : ac_lb_min(b, k, ac_lb_i32(b, f->depth - 1));
    const ac_x of = ac_lb_add(b, ac_lb_mul(b, group, ac_lb_i32(b, f->n)), in);
    const bool last = c->axis > 0; /* channels are w's last dimension */
    ac_x row = last ? run : ac_lb_add(b, ac_lb_mul(b, of, ac_lb_i32(b, ac_gemm_runs(f))), run);
    ac_x at = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, f->depth)), ik);
    if (last)
        at = ac_lb_add(b, ac_lb_mul(b, at, ac_lb_i32(b, c->n)), of);
    ac_x v = ac_lb_load(b, ac_lo_operand(P, c->w), at, 1);
    if (f->w == AC_I16)
        v = ac_lb_sub(b, ac_lb_cast(b, v, AC_I16), ac_lb_int(b, AC_I16, c->zw));
    ac_x none = f->w == AC_F32 ? ac_lb_f32(b, 0) : ac_lb_int(b, f->w, 0);
    if (!whole_n)
        v = ac_lb_select(b, ac_lb_eq(b, in, channel), v, none);
    if (!whole_k)
        v = ac_lb_select(b, ac_lb_eq(b, ik, k), v, none);
    return v;
}

/* The blocks of size class s. */
static void pack_blocks(ac_lower *P, int32_t to, const ac_gemm_form *f, const ac_channel *c, int32_t s)
{
    ac_lb *b = &P->b;
    const int64_t runs = ac_gemm_runs(f), steps = ac_gemm_steps(f), width = f->block.size[s] * f->lanes;
    ac_x group = ac_lb_for_n(b, "g", f->groups), block = ac_lb_for_n(b, "block", f->block.count[s]);
    ac_x first = ac_gemm_block_channel(b, f, s, block);
    ac_x run = ac_lb_for_n(b, "run", runs), k = ac_lb_for_n(b, "k", steps), lane = ac_lb_for_n(b, "oc", width);
    ac_x step = ac_lb_add(b, ac_lb_mul(b, run, ac_lb_i32(b, steps)), k);
    ac_x at = ac_lb_add(b, ac_lb_mul(b, step, ac_lb_i32(b, width)), lane);
    at = ac_lb_add(b, ac_gemm_block_at(b, f, first), ac_lb_mul(b, at, ac_lb_i32(b, f->group)));
    at = ac_lb_add(b, at, ac_lb_mul(b, group, ac_lb_i32(b, ac_gemm_group_size(f))));
    ac_x oc = lane;
    if (f->along) {
        oc = ac_lb_div(b, lane, ac_lb_i32(b, f->lanes));
        k = ac_lb_add(b, ac_lb_mul(b, k, ac_lb_i32(b, f->lanes)), ac_lb_mod(b, lane, ac_lb_i32(b, f->lanes)));
    }
    for (int32_t g = 0; g < f->group; g++) {
        ac_x depth = ac_lb_add(b, ac_lb_mul(b, k, ac_lb_i32(b, f->group)), ac_lb_i32(b, g));
        ac_x v = element(P, f, c, group, ac_lb_add(b, first, oc), run, depth);
        ac_lb_store(b, to, ac_lb_add(b, at, ac_lb_i32(b, g)), v);
    }
    for (int i = 0; i < 5; i++)
        ac_lb_end(b);
}

/* With one group and one run, other steps can look up rows of w here. */
static void hold(ac_lower *L, const ac_gemm_form *f, const ac_channel *c, int32_t w)
{
    const int64_t width = f->lanes, blocks = f->block.size[0] * f->block.count[0];
    if (f->along || f->groups != 1 || ac_gemm_runs(f) != 1 || c->axis > 0 || c->zw)
        return;
    ac_lo_holds(L, (ac_rows_held){.matrix = c->w,
                                  .konst = ac_lo_packed(L, w),
                                  .dtype = f->w,
                                  .rows = f->n,
                                  .wide = blocks * width,
                                  .width = {f->block.size[0] * width, f->block.size[1] * width},
                                  .steps = ac_gemm_steps(f),
                                  .group = f->group});
}

int32_t ac_gemm_pack(ac_lower *L, const ac_gemm_form *f, ac_channel *c)
{
    const int64_t runs = ac_gemm_runs(f), size = f->groups * ac_gemm_group_size(f);
    const int64_t entries = (f->groups - 1) * f->n + ac_gemm_vectors(f) * ac_gemm_width(f);
    const ac_rows rows = {runs * f->depth, runs * f->depth, 1};
    c->bias_first = c->kind == AC_MACS_F32 && !L->exact;
    ac_channel_tables(c, entries, f->group == 4 ? &rows : NULL, c->zx + offset(f, c));
    if (!ac_tensor_is_const(c->w)) {
        const int32_t to = ac_lo_scratch(L, "packed", f->w, size);
        for (int32_t s = 0; s < 2; s++)
            if (f->block.count[s])
                pack_blocks(L, to, f, c, s);
        return to;
    }
    ac_lower P;
    const int32_t to = ac_lo_pack_open(L, &P, "w", f->w, size);
    for (int32_t s = 0; s < 2; s++)
        if (f->block.count[s])
            pack_blocks(&P, to, f, c, s);
    const int32_t w = ac_lo_pack_close(L, &P);
    hold(L, f, c, w);
    return w;
}

/* The strip's elements for stored elements x. */
static ac_x widen(ac_lower *L, const ac_gemm_form *f, const ac_channel *c, ac_x x)
{
    ac_lb *b = &L->b;
    const int32_t more = offset(f, c);
    if (more)
        return ac_lb_xor(b, ac_lb_bitcast(b, x, f->strip), ac_lb_int(b, f->strip, more));
    if (f->group == 4)
        return x;
    x = ac_lb_cast(b, x, f->strip);
    if (c->kind == AC_MACS_HYBRID)
        return c->zero_x ? ac_lb_sub(b, x, ac_lb_cast(b, c->zero_x, AC_I16)) : x;
    return c->zx ? ac_lb_sub(b, x, ac_lb_int(b, AC_I16, c->zx)) : x;
}

/* Elements begin .. end-1, `lanes` at a time. */
static void copy_span(ac_lower *L, const ac_gemm_form *f, const ac_channel *c, int32_t from, ac_x from_at, int32_t to,
                      ac_x to_at, int64_t begin, int64_t end, int32_t lanes)
{
    ac_lb *b = &L->b;
    ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, begin), ac_lb_i32(b, end), lanes, AC_MARK_SERIAL);
    ac_x v;
    if (from >= 0)
        v = widen(L, f, c, ac_lb_load(b, from, ac_lb_add(b, from_at, i), lanes));
    else if (f->strip == AC_F32)
        v = ac_lb_splat(b, ac_lb_f32(b, 0), lanes);
    else if (f->strip == AC_U8 && c->zero_x)
        v = ac_lb_splat(b, ac_lb_cast(b, ac_lb_add(b, c->zero_x, ac_lb_i32(b, 128)), AC_U8), lanes);
    else
        v = ac_lb_splat(b, ac_lb_int(b, f->strip, f->group == 4 ? c->zx + offset(f, c) : 0), lanes);
    ac_lb_store(b, to, ac_lb_add(b, to_at, i), v);
    ac_lb_end(b);
}

static void copy(ac_lower *L, const ac_gemm_form *f, const ac_channel *c, int32_t from, ac_x from_at, int32_t to,
                 ac_x to_at, int64_t count)
{
    ac_lane_span span[AC_MAX_SPANS];
    const int32_t spans = ac_spans(count, ac_target_lanes(L->target, f->strip), span);
    for (int32_t i = 0; i < spans; i++)
        copy_span(L, f, c, from, from_at, to, to_at, span[i].begin, span[i].end, span[i].lanes);
}

void ac_gemm_copy(ac_lower *L, const ac_gemm_form *f, const ac_channel *c, int32_t from, ac_x from_at, int32_t to,
                  ac_x to_at, int64_t count)
{
    copy(L, f, c, from, from_at, to, to_at, count);
}

void ac_gemm_clear(ac_lower *L, const ac_gemm_form *f, const ac_channel *c, int32_t to, ac_x to_at, int64_t count)
{
    copy(L, f, c, -1, 0, to, to_at, count);
}
