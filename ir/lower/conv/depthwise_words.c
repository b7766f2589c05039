/* depthwise_words.c - a small depthwise_conv_2d of i8 on a GPU: a thread computes four channels of a pixel. It loads
 * words of four bytes, one for each tap, and the weights of a tap with all but one byte masked multiply one channel
 * (dp4a). Weights and biases come first, so that they can be on their way while the kernel before still runs. A block
 * has neighbouring pixels. Outside of the input the value is the zero point, which is a part of the bias. */
#include "ir/lower/conv/depthwise.h"
#include "ir/lower/gpu/plan.h"
#include "ir/lower/lower.h"

enum { WORD = 4, THREADS = 256, BLOCKS = 8, MOST_TAPS = 25 };

typedef struct job {
    ac_lower *L;
    ac_channel *c;
    const ac_window *win;
    int64_t quads, pixels, taps; /* of a pixel; of a block; of the filter */
    int32_t x, w, kept;
    int32_t scales; /* multipliers and shifts of the four channels; -1: loaded when they are needed */
    ac_x t, c0, p;  /* the thread's first channel and pixel */
} job;

static int64_t pixels_of(const ac_window *win)
{
    return win->n * win->y.out * win->x.out;
}

bool ac_gpu_depthwise_words_fit(const ac_lower *L, const ac_channel *c, const ac_window *win)
{
    const int64_t quads = win->oc / WORD;
    return L->target->isa == AC_ISA_CUDA && !L->variant && ac_depthwise_by_bytes(c) && win->oc == win->ic &&
           win->oc % WORD == 0 && c->out->dtype == AC_I8 && quads <= THREADS &&
           win->y.taps * win->x.taps <= MOST_TAPS && ac_lo_align(L, c->x) >= WORD &&
           pixels_of(win) <= THREADS / quads * BLOCKS && !L->hint.rows && ac_node_result(L->node)->dtype == AC_I8;
}

static ac_x num(const job *j, int64_t v)
{
    return ac_lb_i32(&j->L->b, v);
}

static void open_phase(job *j, ac_x block)
{
    ac_lb *b = &j->L->b;
    j->t = ac_lb_for(b, "t", num(j, 0), num(j, j->pixels * j->quads), 1, AC_MARK_BLOCK);
    j->c0 = ac_lb_mul(b, ac_lb_mod(b, j->t, num(j, j->quads)), num(j, WORD));
    j->p = ac_lb_add(b, ac_lb_mul(b, block, num(j, j->pixels)), ac_lb_div(b, j->t, num(j, j->quads)));
}

static ac_x own(const job *j, int64_t k)
{
    return ac_lb_add(&j->L->b, num(j, k * j->pixels * j->quads), j->t);
}

/* Words of weights and first sums into the thread's registers. */
static void keep_weights(job *j, ac_x block)
{
    ac_lb *b = &j->L->b;
    open_phase(j, block);
    for (int64_t k = 0; k < j->taps; k++) {
        const ac_x at = ac_lb_add(b, num(j, k * j->win->oc), j->c0),
                   word = ac_lb_bitcast(b, ac_lb_load_flags(b, j->w, at, WORD, AC_F_ALIGNED), AC_I32);
        ac_lb_store(b, j->kept, own(j, k), word);
    }
    for (int64_t l = 0; l < WORD; l++) {
        const ac_x ch = ac_lb_add(b, j->c0, num(j, l));
        ac_lb_store(b, j->kept, own(j, j->taps + l), ac_channel_start(j->c, ch, 1));
        if (j->scales < 0)
            continue;
        ac_lb_store(b, j->scales, own(j, 2 * l), ac_lb_load(b, j->c->m_buf, ch, 1));
        ac_lb_store(b, j->scales, own(j, 2 * l + 1), ac_lb_load(b, j->c->shift_buf, ch, 1));
    }
    ac_lb_end(b);
}

/* The word of x that tap k of pixel (n, oy, ox) meets. */
static ac_x word_of(const job *j, const ac_x *at, int64_t k)
{
    ac_lb *b = &j->L->b;
    const ac_slide *y = &j->win->y, *x = &j->win->x;
    const ac_x iy = ac_lb_add(b, ac_lb_mul(b, at[1], num(j, y->stride)), num(j, k / x->taps * y->dil - y->pad)),
               ix = ac_lb_add(b, ac_lb_mul(b, at[2], num(j, x->stride)), num(j, k % x->taps * x->dil - x->pad));
    const ac_x inside = ac_lb_and(b, ac_lo_within(b, iy, y->in), ac_lo_within(b, ix, x->in));
    const ac_x line = ac_lb_add(b, ac_lb_mul(b, at[0], num(j, y->in)), iy),
               pixel = ac_lb_add(b, ac_lb_mul(b, line, num(j, x->in)), ix);
    const ac_x from = ac_lb_select(b, inside, ac_lb_add(b, ac_lb_mul(b, pixel, num(j, j->win->ic)), j->c0), num(j, 0));
    const ac_x v = ac_lb_bitcast(b, ac_lb_load_flags(b, j->x, from, WORD, AC_F_ALIGNED), AC_I32);
    return ac_lb_select(b, inside, v, num(j, (int32_t)((uint32_t)(j->c->zx & 255) * 0x01010101U)));
}

/* The four sums. */
static void multiply(const job *j, const ac_x *at, ac_x *sum)
{
    ac_lb *b = &j->L->b;
    ac_x word[MOST_TAPS];
    for (int64_t k = 0; k < j->taps; k++)
        word[k] = word_of(j, at, k);
    for (int64_t l = 0; l < WORD; l++)
        sum[l] = ac_lb_load(b, j->kept, own(j, j->taps + l), 1);
    for (int64_t k = 0; k < j->taps; k++) {
        const ac_x weights = ac_lb_load(b, j->kept, own(j, k), 1), x = ac_lb_bitcast(b, word[k], AC_I8);
        for (int64_t l = 0; l < WORD; l++) {
            const ac_x one = ac_lb_and(b, weights, num(j, (int32_t)(255U << 8 * l)));
            sum[l] = ac_lb_dot4(b, x, ac_lb_bitcast(b, one, AC_I8), sum[l]);
        }
    }
}

static void finish(job *j, ac_x block)
{
    ac_lb *b = &j->L->b;
    const ac_window *win = j->win;
    ac_x sum[WORD], word = 0;
    open_phase(j, block);
    ac_lb_if(b, ac_lb_lt(b, j->p, num(j, pixels_of(win))));
    const ac_x line = ac_lb_div(b, j->p, num(j, win->x.out));
    ac_x idx[4] = {ac_lb_div(b, line, num(j, win->y.out)), ac_lb_mod(b, line, num(j, win->y.out)),
                   ac_lb_mod(b, j->p, num(j, win->x.out)), j->c0};
    multiply(j, idx, sum);
    for (int32_t l = 0; l < WORD; l++) {
        idx[3] = ac_lb_add(b, j->c0, num(j, l));
        if (j->scales >= 0) {
            j->c->given_m = ac_lb_load(b, j->scales, own(j, 2 * l), 1);
            j->c->given_shift = ac_lb_load(b, j->scales, own(j, 2 * l + 1), 1);
        }
        const ac_x v = ac_lo_followed(j->L, ac_channel_done(j->c, sum[l], idx[3]), idx, 1);
        if (!v)
            continue;
        const ac_x byte = ac_lb_shl(b, ac_lb_and(b, ac_lb_cast(b, v, AC_I32), num(j, 255)), num(j, 8 * l));
        word = word ? ac_lb_or(b, word, byte) : byte;
    }
    j->c->given_m = j->c->given_shift = 0;
    const ac_x to = ac_lb_add(b, ac_lb_mul(b, j->p, num(j, win->oc)), j->c0);
    if (word)
        ac_lb_store_flags(b, ac_lo_result_buf(j->L), to, ac_lb_bitcast(b, word, AC_I8), AC_F_ALIGNED);
    ac_lb_end(b);
    ac_lb_end(b);
}

int ac_gpu_depthwise_words(ac_lower *L, ac_channel *c, const ac_window *win)
{
    ac_lb *b = &L->b;
    const int64_t taps = win->y.taps * win->x.taps;
    const ac_rows rows = {taps, 1, win->oc};
    job j = {.L = L, .c = c, .win = win, .quads = win->oc / WORD, .taps = taps};
    j.pixels = THREADS / j.quads;
    ac_channel_tables(c, c->n, &rows, c->zx);
    ac_lo_result_buf(L);
    j.x = ac_lo_operand(L, c->x);
    j.w = ac_lo_operand(L, c->w);
    j.kept = ac_lo_gpu_local(L, "kept", AC_I32, (taps + WORD) * j.pixels * j.quads, AC_WHERE_THREAD);
    j.scales =
        ac_channel_loads(c) ? ac_lo_gpu_local(L, "scale", AC_I32, 2 * WORD * j.pixels * j.quads, AC_WHERE_THREAD) : -1;
    const int64_t blocks = ac_gpu_over(pixels_of(win), j.pixels);
    const ac_x block = ac_lb_for(b, "g", num(&j, 0), num(&j, blocks), 1, AC_MARK_GRID);
    keep_weights(&j, block);
    finish(&j, block);
    ac_lb_end(b);
    return AC_OK;
}
