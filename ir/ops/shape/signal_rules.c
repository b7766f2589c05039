/* signal_rules.c - shape rules of operators on sound: transforms, frames, operators with state, and those from spectrum
 * to channels. */
#include "ir/ops/decode/framer.h"
#include "ir/ops/decode/operand_names.h"
#include "ir/ops/shape/entries.h"
#include "ir/ops/shape/shape.h"

/* ------------------------------------------------------------------ transforms */

int ac_sh_fft(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    const ac_tensor *x = n->n_in ? n->in[0] : NULL;
    if (x && (x->rank < 2 || x->dim[x->rank - 1] != 2 || x->dim[x->rank - 2] < 1))
        return ac_error(cx, n->at, E0104, "input '%s' is %s, expected [..,N,2]", x->name, ac_shape_str(cx, x));
    return ac_sh_same(cx, g, n);
}

static int lengths(ac_ctx *cx, ac_node *n, bool inverse)
{
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    const int64_t length = n->attrs.rfft.fft_length;
    int64_t dim[AC_MAX_RANK];
    if (length < 4 || length % 2)
        return ac_error(cx, n->at, E0103, "fft_length is %lld, expected an even number from 4 on", (long long)length);
    if (x->dtype != AC_I16 && x->dtype != AC_I32 && x->dtype != AC_F32)
        return ac_error(cx, n->at, E0108, "input '%s' is %s; supported are i16, i32 and f32", x->name,
                        ac_dtype_name(x->dtype));
    const int64_t have = x->rank ? x->dim[x->rank - 1] : 0;
    if (inverse ? have != length + 2 : have < 1 || have > length)
        return ac_error(cx, n->at, E0104, "input '%s' is %s, expected a last dimension of %s%lld", x->name,
                        ac_shape_str(cx, x), inverse ? "" : "1 to ", (long long)(inverse ? length + 2 : length));
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = x->dim[d];
    dim[x->rank - 1] = inverse ? length : length + 2;
    AC_TRY(ac_shape_result_type(cx, n, 0, x->dtype));
    return ac_shape_set(cx, n, 0, x->dtype, x->rank, dim);
}

int ac_sh_rfft(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    return lengths(cx, n, false);
}

int ac_sh_irfft(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    return lengths(cx, n, true);
}

/* ------------------------------------------------------------------ frames */

int ac_sh_signal_window(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, 1, 1, "[W]"));
    AC_TRY(ac_shape_same_type(cx, n, 0, 1));
    const ac_tensor *x = n->in[0], *w = n->in[1];
    const int32_t shift = n->attrs.signal_window.shift;
    if (shift < 0 || shift > 31)
        return ac_error(cx, n->at, E0103, "shift is %d, expected 0 to 31", shift);
    if (!w->dim[0] || ac_tensor_count(x) % w->dim[0])
        return ac_error(cx, n->at, E0104, "input '%s' is %s, expected windows of %lld samples", x->name,
                        ac_shape_str(cx, x), (long long)w->dim[0]);
    return ac_shape_set(cx, n, 0, x->dtype, x->rank, x->dim);
}

int ac_sh_signal_auto_scale(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, 0, 1, "[N]"));
    AC_TRY(ac_shape_result_type(cx, n, 0, n->in[0]->dtype));
    AC_TRY(ac_shape_result_type(cx, n, 1, AC_I32));
    AC_TRY(ac_shape_set(cx, n, 0, n->in[0]->dtype, 1, n->in[0]->dim));
    return ac_shape_set(cx, n, 1, AC_I32, 0, NULL);
}

/* The state is operand 1: rows of `each` numbers, of the type of the input. */
static int check_state(ac_ctx *cx, const ac_graph *g, const ac_node *n, int64_t rows, int64_t each)
{
    int64_t count;
    if (!ac_mul_ok(rows, each, &count))
        return ac_error(cx, n->at, E0015, "the state does not fit in 63 bits");
    return ac_shape_state_sized(cx, g, n, 1, n->in[0]->dtype, count);
}

int ac_sh_signal_delay(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    const int32_t delay = n->attrs.signal_delay.delay_length;
    if (x->rank < 1 || delay < 0)
        return ac_error(cx, n->at, E0104, "delay_length is %d, input '%s' %s; expected frames [..,F]", delay, x->name,
                        ac_shape_str(cx, x));
    AC_TRY(check_state(cx, g, n, ac_rows_of(x, 1), delay));
    return ac_shape_set(cx, n, 0, x->dtype, x->rank, x->dim);
}

int ac_sh_signal_framer(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    const ac_attrs_signal_framer *a = &n->attrs.signal_framer;
    int64_t dim[AC_MAX_RANK] = {0};
    if (a->frame_size < 1 || a->frame_step < 1 || (a->prefill && a->frame_size < a->frame_step))
        return ac_error(cx, n->at, E0103, "frames of %d samples each %d samples", a->frame_size, a->frame_step);
    if (x->rank < 1 || x->rank >= AC_MAX_RANK || !x->dim[x->rank - 1] || x->dim[x->rank - 1] % a->frame_step)
        return ac_error(cx, n->at, E0104, "input '%s' is %s, expected a last dimension of some times %d", x->name,
                        ac_shape_str(cx, x), a->frame_step);
    const ac_framer f = ac_framer_of(n);
    if (f.fill > 32767)
        return ac_error(cx, n->at, E0108, "a frame is %lld steps long; supported are 32767", (long long)f.fill);
    AC_TRY(check_state(cx, g, n, f.rows, 1 + f.kept));
    for (int32_t d = 0; d < x->rank; d++)
        dim[d] = x->dim[d];
    dim[x->rank - 1] = f.frames;
    dim[x->rank] = f.size;
    AC_TRY(ac_shape_result_type(cx, n, 1, AC_BOOL));
    AC_TRY(ac_shape_set(cx, n, 0, x->dtype, x->rank + 1, dim));
    return ac_shape_set(cx, n, 1, AC_BOOL, 0, NULL);
}

int ac_sh_signal_overlap_add(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    AC_TRY(ac_shape_operands(cx, n));
    const ac_tensor *x = n->in[0];
    const int64_t step = n->attrs.signal_overlap.frame_step;
    int64_t dim[AC_MAX_RANK] = {0};
    if (x->rank < 2 || step < 1 || x->dim[x->rank - 1] < step)
        return ac_error(cx, n->at, E0104, "frame_step is %lld, input '%s' is %s; expected [..,n,F] with F not below it",
                        (long long)step, x->name, ac_shape_str(cx, x));
    AC_TRY(check_state(cx, g, n, ac_rows_of(x, 2), x->dim[x->rank - 1] - step));
    for (int32_t d = 0; d + 2 < x->rank; d++)
        dim[d] = x->dim[d];
    if (!ac_mul_ok(x->dim[x->rank - 2], step, &dim[x->rank - 2]))
        return ac_error(cx, n->at, E0015, "the result has more samples than fit in 63 bits");
    return ac_shape_set(cx, n, 0, x->dtype, x->rank - 1, dim);
}

int ac_sh_signal_stacker(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(ac_shape_rank(cx, n, 0, 1, "[C]"));
    const ac_attrs_signal_stacker *a = &n->attrs.signal_stacker;
    const int64_t frames = (int64_t)a->stacker_left_context + a->stacker_right_context + 1;
    if (a->stacker_left_context < 0 || a->stacker_right_context < 0 || frames > 32766 || a->stacker_step < 1 ||
        a->stacker_step > frames)
        return ac_error(cx, n->at, E0103, "%d frames before, %d after, each %d frames", a->stacker_left_context,
                        a->stacker_right_context, a->stacker_step);
    if (a->num_channels < 1 || n->in[0]->dim[0] != a->num_channels)
        return ac_error(cx, n->at, E0104, "num_channels is %d, but input '%s' is %s", a->num_channels, n->in[0]->name,
                        ac_shape_str(cx, n->in[0]));
    const int64_t count = frames * a->num_channels;
    AC_TRY(check_state(cx, g, n, 1, 1 + count));
    AC_TRY(ac_shape_result_type(cx, n, 1, AC_BOOL));
    AC_TRY(ac_shape_set(cx, n, 0, n->in[0]->dtype, 1, &count));
    return ac_shape_set(cx, n, 1, AC_BOOL, 0, NULL);
}

/* ------------------------------------------------------------------ from a spectrum to channels */

enum { PCAN_TABLE = 4 * 32 - 3 }; /* of the gain: 0, 1, 2, then a parabola for each power of two */

/* Checks that the operand is a list [N] of that type: E0104, E0105. */
static int check_list(ac_ctx *cx, const ac_node *n, int32_t i, ac_dtype d)
{
    const ac_tensor *t = n->in[i];
    AC_TRY(ac_shape_rank(cx, n, i, 1, "[N]"));
    if (t->dtype != d)
        return ac_error(cx, n->at, E0105, "operand '%s' is %s, expected %s", t->name, ac_dtype_name(t->dtype),
                        ac_dtype_name(d));
    return AC_OK;
}

static int set_list(ac_ctx *cx, ac_node *n, int32_t i, ac_dtype d, int64_t count)
{
    AC_TRY(ac_shape_result_type(cx, n, i, d));
    return ac_shape_set(cx, n, i, d, 1, &count);
}

static int check_bits(ac_ctx *cx, const ac_node *n, const char *name, int32_t bits, int32_t most)
{
    if (bits < 0 || bits > most)
        return ac_error(cx, n->at, E0103, "%s is %d, expected 0 to %d", name, bits, most);
    return AC_OK;
}

int ac_sh_signal_energy(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(check_list(cx, n, 0, AC_I16));
    const ac_attrs_signal_energy *a = &n->attrs.signal_energy;
    const int64_t count = n->in[0]->dim[0] / 2;
    if (n->in[0]->dim[0] % 2 || a->start_index < 0 || a->end_index < a->start_index || a->end_index > count)
        return ac_error(cx, n->at, E0104,
                        "start_index %d and end_index %d do not go with input '%s' %s: pairs (re, im)", a->start_index,
                        a->end_index, n->in[0]->name, ac_shape_str(cx, n->in[0]));
    return set_list(cx, n, 0, AC_U32, count);
}

int ac_sh_signal_filter_bank(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    const int64_t channels = n->attrs.signal_bank.num_channels;
    ac_ints start, weight, width;
    for (int32_t i = 0; i < n->n_in; i++)
        AC_TRY(check_list(cx, n, i, i ? AC_I16 : AC_U32));
    AC_TRY(ac_node_ints(cx, n, AC_BANK_START, (ac_ints){0}, &start));
    AC_TRY(ac_node_ints(cx, n, AC_BANK_WSTART, (ac_ints){0}, &weight));
    AC_TRY(ac_node_ints(cx, n, AC_BANK_WIDTH, (ac_ints){0}, &width));
    if (channels < 1 || start.n != channels + 1 || weight.n != start.n || width.n != start.n) {
        ac_error(cx, n->at, E0104, "num_channels is %lld, so the lists of bands must have one element more",
                 (long long)channels);
        return ac_shape_show(cx, n);
    }
    for (int32_t i = 0; i < start.n; i++)
        if (start.v[i] < 0 || weight.v[i] < 0 || width.v[i] < 0 || start.v[i] + width.v[i] > n->in[AC_BANK_X]->dim[0] ||
            weight.v[i] + width.v[i] > n->in[AC_BANK_W]->dim[0] || weight.v[i] + width.v[i] > n->in[AC_BANK_UN]->dim[0])
            return ac_error(cx, n->at, E0104,
                            "band %d (%lld energies from %lld, weights from %lld) leaves its operands", i,
                            (long long)width.v[i], (long long)start.v[i], (long long)weight.v[i]);
    return set_list(cx, n, 0, AC_U64, channels);
}

int ac_sh_signal_square_root(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(check_list(cx, n, 0, AC_U64));
    const ac_tensor *bits = n->in[1];
    if (bits->dtype != AC_I32 || ac_tensor_count(bits) != 1)
        return ac_error(cx, n->at, E0104, "the shift '%s' is %s %s, expected one number of i32", bits->name,
                        ac_dtype_name(bits->dtype), ac_shape_str(cx, bits));
    return set_list(cx, n, 0, AC_U32, n->in[0]->dim[0]);
}

int ac_sh_signal_subtraction(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(check_list(cx, n, 0, AC_U32));
    AC_TRY(ac_shape_state_sized(cx, g, n, 1, AC_U32, n->in[0]->dim[0]));
    const ac_attrs_signal_subtraction *a = &n->attrs.signal_subtraction;
    AC_TRY(check_bits(cx, n, "smoothing_bits", a->smoothing_bits, 31));
    AC_TRY(check_bits(cx, n, "spectral_subtraction_bits", a->spectral_subtraction_bits, 63));
    const int64_t count = n->in[0]->dim[0];
    if (a->num_channels != count)
        return ac_error(cx, n->at, E0104, "num_channels is %d, but input '%s' is %s", a->num_channels, n->in[0]->name,
                        ac_shape_str(cx, n->in[0]));
    AC_TRY(set_list(cx, n, 0, AC_U32, count));
    return set_list(cx, n, 1, AC_U32, count);
}

int ac_sh_signal_pcan(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(check_list(cx, n, 0, AC_U32));
    AC_TRY(check_list(cx, n, 1, AC_U32));
    AC_TRY(check_list(cx, n, 2, AC_I16));
    AC_TRY(check_bits(cx, n, "snr_shift", n->attrs.signal_pcan.snr_shift, 63));
    if (n->in[1]->dim[0] != n->in[0]->dim[0] || n->in[2]->dim[0] < PCAN_TABLE) {
        ac_error(cx, n->at, E0104, "expected as many noise estimates as channels, and a table of %d", PCAN_TABLE);
        return ac_shape_show(cx, n);
    }
    return set_list(cx, n, 0, AC_U32, n->in[0]->dim[0]);
}

int ac_sh_signal_log(ac_ctx *cx, ac_graph *g, ac_node *n)
{
    (void)g;
    AC_TRY(ac_shape_operands(cx, n));
    AC_TRY(check_list(cx, n, 0, AC_U32));
    AC_TRY(check_bits(cx, n, "input_correction_bits", n->attrs.signal_log.input_correction_bits, 31));
    return set_list(cx, n, 0, AC_I16, n->in[0]->dim[0]);
}
