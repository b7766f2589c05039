/* frames.c - lowers the operators of audio front ends that work on frames of samples, in integers: windows, scaling
 * before a transform, and operators with state: delay, framer, overlap and add, stacker. Bit for bit as TFLite Micro's
 * kernels (signal/src/, signal/micro/kernels/), from a fresh start. Results that the kernels leave unwritten (not valid
 * yet) are 0. States are i16 and start as 0; samples in them are oldest first and move up. */
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/ops/decode/framer.h"

/* ------------------------------------------------------------------ signal_window: x * w >> shift, saturated
 *
 * [..] i16, [W] i16 -> [..] i16; the window repeats */

static int only_i16(ac_lower *L, int32_t operands)
{
    for (int32_t i = 0; i < operands; i++)
        if (L->node->in[i]->dtype != AC_I16)
            return ac_lower_refuse(L, "'%s' is %s; supported is i16", L->node->in[i]->name,
                                   ac_dtype_name(L->node->in[i]->dtype));
    return AC_OK;
}

static ac_x saturated(ac_lb *b, ac_x v)
{
    return ac_lb_cast(b, ac_lb_clamp(b, v, ac_lb_i32(b, -32768), ac_lb_i32(b, 32767)), AC_I16);
}

static ac_x sample(ac_lb *b, int32_t buf, ac_x at)
{
    return ac_lb_cast(b, ac_lb_load(b, buf, at, 1), AC_I32);
}

int ac_lo_signal_window(ac_lower *L)
{
    ac_lb *b = &L->b;
    AC_TRY(only_i16(L, 2));
    const ac_tensor *w = L->node->in[1];
    const int32_t x = ac_lo_operand(L, L->node->in[0]), by = ac_lo_operand(L, L->node->in[1]), y = ac_lo_result_buf(L);
    const ac_x row = ac_lb_for_n(b, "row", ac_tensor_count(L->node->in[0]) / w->dim[0]),
               i = ac_lb_for_n(b, "i", w->dim[0]);
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, w->dim[0])), i);
    const ac_x v = ac_lb_mul(b, sample(b, x, at), sample(b, by, i));
    ac_lb_store(b, y, at, saturated(b, ac_lb_shr(b, v, ac_lb_i32(b, L->node->attrs.signal_window.shift))));
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}

/* ------------------------------------------------------------------ signal_fft_auto_scale
 *
 * [N] i16 -> [N] i16, shifted left as far as the largest magnitude allows; and by how many bits, i32. The reference
 * stores the largest magnitude in 16 bits, so that of -32768 becomes negative; the same happens here. */

int ac_lo_signal_auto_scale(ac_lower *L)
{
    ac_lb *b = &L->b;
    AC_TRY(only_i16(L, 1));
    const int32_t x = ac_lo_operand(L, L->node->in[0]), y = ac_lo_output_buf(L, 0), bits_at = ac_lo_output_buf(L, 1);
    const int64_t count = L->node->in[0]->dim[0];
    const ac_x zero = ac_lb_i32(b, 0), max = ac_lb_var(b, "max", zero);
    ac_x i = ac_lb_for_n(b, "i", count), v = sample(b, x, i);
    const ac_x now = ac_lb_get(b, max), minus = ac_lb_neg(b, v),
               turned = ac_lb_cast(b, ac_lb_cast(b, minus, AC_I16), AC_I32);
    ac_lb_set(b, max, ac_lb_select(b, ac_lb_gt(b, v, now), v, ac_lb_select(b, ac_lb_gt(b, minus, now), turned, now)));
    ac_lb_end(b);
    const ac_x most = ac_lb_get(b, max), bits = ac_lb_var(b, "bits", zero);
    const ac_x k =
        ac_lb_for(b, "k", ac_lb_i32(b, 1), ac_lb_i32(b, 15), 1, AC_MARK_SERIAL); /* most << k still below 2^15? */
    const ac_x fits = ac_lb_and(b, ac_lb_gt(b, most, zero),
                                ac_lb_lt(b, ac_lb_shl(b, ac_lb_max(b, most, zero), k), ac_lb_i32(b, 1 << 15)));
    ac_lb_set(b, bits, ac_lb_select(b, fits, k, ac_lb_get(b, bits)));
    ac_lb_end(b);
    const ac_x shift = ac_lb_get(b, bits);
    i = ac_lb_for_n(b, "i", count);
    v = ac_lb_mul(b, sample(b, x, i), ac_lb_shl(b, ac_lb_i32(b, 1), shift));
    ac_lb_store(b, y, i, ac_lb_cast(b, v, AC_I16));
    ac_lb_end(b);
    ac_lb_store(b, bits_at, zero, shift);
    return AC_OK;
}

/* ------------------------------------------------------------------ operators with state */

/* for i < count: to[to_at + i] = from[from_at + i]; upwards, so the same buffer may be moved down */
static void copy(ac_lb *b, int32_t from, ac_x from_at, int32_t to, ac_x to_at, int64_t count)
{
    const ac_x i = ac_lb_for_n(b, "i", count);
    ac_lb_store(b, to, ac_lb_add(b, to_at, i), ac_lb_load(b, from, ac_lb_add(b, from_at, i), 1));
    ac_lb_end(b);
}

/* The samples are `state` (kept), then x (fresh). y = the first `take` samples; the state = the last `kept`. */
static void slide(ac_lb *b, int32_t state, ac_x state_at, int64_t kept, int32_t x, ac_x x_at, int64_t fresh, int32_t y,
                  ac_x y_at, int64_t take)
{
    const int64_t old = take < kept ? take : kept, stay = kept > fresh ? kept - fresh : 0, from_x = kept - stay;
    copy(b, state, state_at, y, y_at, old);
    copy(b, x, x_at, y, ac_lb_add(b, y_at, ac_lb_i32(b, old)), take - old);
    copy(b, state, ac_lb_add(b, state_at, ac_lb_i32(b, kept - stay)), state, state_at, stay);
    copy(b, x, ac_lb_add(b, x_at, ac_lb_i32(b, fresh - from_x)), state, ac_lb_add(b, state_at, ac_lb_i32(b, stay)),
         from_x);
}

/* signal_delay: [..,F] i16, state [..,D] -> [..,F], the samples of delay_length = D samples before. */
int ac_lo_signal_delay(ac_lower *L)
{
    ac_lb *b = &L->b;
    AC_TRY(only_i16(L, 1));
    ac_tensor *x = L->node->in[0];
    const int64_t frame = x->dim[x->rank - 1], delay = L->node->attrs.signal_delay.delay_length;
    const int32_t from = ac_lo_operand(L, x), state = ac_lo_state(L, L->node->in[1]), y = ac_lo_result_buf(L);
    const ac_x row = ac_lb_for_n(b, "row", ac_rows_of(x, 1)), at = ac_lb_mul(b, row, ac_lb_i32(b, frame));
    slide(b, state, ac_lb_mul(b, row, ac_lb_i32(b, delay)), delay, from, at, frame, y, at, frame);
    ac_lb_end(b);
    return AC_OK;
}

/* signal_framer: [..,n S] i16 -> [..,n,F] frames of frame_size = F samples, one every frame_step = S; and whether they
 * are valid.
 *
 * The state of a row: the number of steps received (counted up to the first valid frame), then the samples that the
 * next frame may need. prefill: zeros precede the first sample, and every frame is valid. */
int ac_lo_signal_framer(ac_lower *L)
{
    ac_lb *b = &L->b;
    AC_TRY(only_i16(L, 1));
    const ac_framer f = ac_framer_of(L->node);
    const int32_t x = ac_lo_operand(L, L->node->in[0]), state = ac_lo_state(L, L->node->in[1]);
    const int32_t y = ac_lo_output_buf(L, 0), valid = ac_lo_output_buf(L, 1);
    const ac_x zero = ac_lb_i32(b, 0), one = ac_lb_i32(b, 1), fill = ac_lb_i32(b, f.fill),
               all = ac_lb_var(b, "all", ac_lb_int(b, AC_BOOL, 1));
    const ac_x row = ac_lb_for_n(b, "row", f.rows), frame = ac_lb_for_n(b, "frame", f.frames);
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, f.frames)), frame),
               head = ac_lb_mul(b, row, ac_lb_i32(b, 1 + f.kept));
    const ac_x to = ac_lb_mul(b, at, ac_lb_i32(b, f.size));
    slide(b, state, ac_lb_add(b, head, one), f.kept, x, ac_lb_mul(b, at, ac_lb_i32(b, f.step)), f.step, y, to, f.size);
    if (f.fill) {
        const ac_x came = ac_lb_min(b, ac_lb_add(b, sample(b, state, head), one), fill);
        ac_lb_store(b, state, head, ac_lb_cast(b, came, AC_I16));
        ac_lb_if(b, ac_lb_lt(b, came, fill));
        ac_lb_set(b, all, ac_lb_int(b, AC_BOOL, 0));
        const ac_x i = ac_lb_for_n(b, "i", f.size);
        ac_lb_store(b, y, ac_lb_add(b, to, i), ac_lb_int(b, AC_I16, 0));
        ac_lb_end(b);
        ac_lb_end(b);
    }
    ac_lb_end(b);
    ac_lb_end(b);
    ac_lb_store(b, valid, zero, ac_lb_get(b, all));
    return AC_OK;
}

/* signal_overlap_add: [..,n,F] i16 or f32 -> [..,n S]: frames that follow each other by frame_step = S samples, added
 * (saturated after each addition). State: the partial sums of the next frames, [..,F - S]. */
int ac_lo_signal_overlap_add(ac_lower *L)
{
    ac_lb *b = &L->b;
    ac_tensor *x = L->node->in[0];
    const bool real = x->dtype == AC_F32;
    if (!real)
        AC_TRY(only_i16(L, 1));
    const int64_t size = x->dim[x->rank - 1], frames = x->dim[x->rank - 2],
                  step = L->node->attrs.signal_overlap.frame_step;
    const int64_t kept = size - step;
    const int32_t from = ac_lo_operand(L, x), state = ac_lo_state(L, L->node->in[1]), y = ac_lo_result_buf(L);
    const ac_x row = ac_lb_for_n(b, "row", ac_rows_of(x, 2)), frame = ac_lb_for_n(b, "frame", frames);
    const ac_x at = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, frames)), frame),
               from_at = ac_lb_mul(b, at, ac_lb_i32(b, size));
    const ac_x head = ac_lb_mul(b, row, ac_lb_i32(b, kept)), to = ac_lb_mul(b, at, ac_lb_i32(b, step));
    const int64_t part[] = {0, step < kept ? step : kept, step,
                            size}; /* into y with and without a memory, then the state */
    for (int32_t p = 0; p < 3; p++) {
        if (part[p] >= part[p + 1])
            continue;
        const ac_x i = ac_lb_for(b, "i", ac_lb_i32(b, part[p]), ac_lb_i32(b, part[p + 1]), 1, AC_MARK_SERIAL);
        ac_x v = ac_lb_load(b, from, ac_lb_add(b, from_at, i), 1);
        if (part[p + 1] <= kept || (p == 2 && kept > step)) { /* there may be a memory at i */
            const ac_x last = ac_lb_i32(b, kept - 1),
                       old = ac_lb_load(b, state, ac_lb_add(b, head, ac_lb_min(b, i, last)), 1);
            const ac_x had = ac_lb_select(b, ac_lb_le(b, i, last), old, ac_lb_like_int(b, old, 0));
            v = real ? ac_lb_add(b, had, v)
                     : saturated(b, ac_lb_add(b, ac_lb_cast(b, v, AC_I32), ac_lb_cast(b, had, AC_I32)));
        } else if (real) {
            v = ac_lb_add(b, v, ac_lb_f32(b, 0)); /* -0 becomes 0, as in the sum */
        }
        if (p < 2)
            ac_lb_store(b, y, ac_lb_add(b, to, i), v);
        else
            ac_lb_store(b, state, ac_lb_add(b, head, ac_lb_sub(b, i, ac_lb_i32(b, step))), v);
        ac_lb_end(b);
    }
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}

/* signal_stacker: frames [C] i16 -> [C * (left + 1 + right)], a frame with its left and right neighbours, every
 * stacker_step frames; and whether it is valid. The first frame replaces those missing before it.
 *
 * State: 1 + the number of frames stored (0: none received yet), then the frames, oldest first. */
int ac_lo_signal_stacker(ac_lower *L)
{
    ac_lb *b = &L->b;
    AC_TRY(only_i16(L, 1));
    const ac_attrs_signal_stacker *a = &L->node->attrs.signal_stacker;
    const int64_t frames = a->stacker_left_context + a->stacker_right_context + 1, channels = a->num_channels;
    const int32_t x = ac_lo_operand(L, L->node->in[0]), state = ac_lo_state(L, L->node->in[1]);
    const int32_t y = ac_lo_output_buf(L, 0), valid = ac_lo_output_buf(L, 1);
    const ac_x zero = ac_lb_i32(b, 0), one = ac_lb_i32(b, 1), wide = ac_lb_i32(b, channels), all = ac_lb_i32(b, frames);
    const ac_x head = sample(b, state, zero), fresh = ac_lb_eq(b, head, zero);
    const ac_x had =
        ac_lb_clamp(b, ac_lb_sub(b, head, one), zero, ac_lb_i32(b, frames - 1)); /* never full between runs */
    const ac_x times = ac_lb_select(b, fresh, ac_lb_i32(b, a->stacker_left_context + 1), one);
    const ac_x end = ac_lb_min(b, ac_lb_add(b, had, times), all);
    const ac_x frame = ac_lb_for(b, "frame", had, end, 1, AC_MARK_SERIAL);
    copy(b, x, zero, state, ac_lb_add(b, one, ac_lb_mul(b, frame, wide)), channels);
    ac_lb_end(b);
    const ac_x full = ac_lb_eq(b, end, all);
    ac_lb_store(b, valid, zero, full);
    ac_lb_if(b, full);
    copy(b, state, one, y, zero, frames * channels);
    copy(b, state, ac_lb_i32(b, 1 + a->stacker_step * channels), state, one, (frames - a->stacker_step) * channels);
    ac_lb_store(b, state, zero, ac_lb_int(b, AC_I16, 1 + frames - a->stacker_step));
    ac_lb_else(b);
    const ac_x i = ac_lb_for_n(b, "i", frames * channels);
    ac_lb_store(b, y, i, ac_lb_int(b, AC_I16, 0));
    ac_lb_end(b);
    ac_lb_store(b, state, zero, ac_lb_cast(b, ac_lb_add(b, end, one), AC_I16));
    ac_lb_end(b);
    return AC_OK;
}
