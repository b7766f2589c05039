/* gemm_tconv.c - transpose_conv in register tiles.
 *
 * Output columns of the same phase r = (ox + pad) % stride use the same filter columns on neighbouring input pixels, so
 * they are the rows of a tile: pixel i of phase f is output column f + i * stride. Filter rows that fall outside the
 * input are not visited; the input rows in use are copied into a strip with zero borders for the columns.
 *
 *     for n, output row oy:   copy its input rows
 *       for block of channels, phase, tile of pixels of that phase:   reduce, store */
#include "ir/lower/conv/gemm.h"
#include "ir/lower/conv/hybrid.h"
#include "ir/lower/lower.h"

typedef struct job {
    ac_lower *L;
    ac_channel *c;
    const ac_window *win;
    ac_gemm_form f;
    int32_t x, strip, w;
    int64_t left, cols, row_step; /* of a strip row: border columns, columns, elements */
} job;

/* Strip slot t holds input row q - t, for the rows in use. The excess elements of the last group of channels are zero
 * as well: the next slot begins there, if there is one. */
static void copy_rows(const job *j, ac_x n, const ac_phase *y)
{
    ac_lb *b = &j->L->b;
    const ac_window *w = j->win;
    const int64_t ic = w->ic, middle = w->x.in * ic, more = (j->f.group - ic % j->f.group) % j->f.group;
    ac_x t = ac_lb_for(b, "t", y->lo, y->hi, 1, AC_MARK_SERIAL);
    ac_x to = ac_lb_mul(b, t, ac_lb_i32(b, j->row_step));
    ac_x from = ac_lb_sub(b, y->q, t);
    if (j->c->kind != AC_MACS_HYBRID) /* there x is the quantised batch */
        from = ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, w->y.in)), from);
    ac_gemm_clear(j->L, &j->f, j->c, j->strip, to, j->left * ic);
    ac_gemm_copy(j->L, &j->f, j->c, j->x, ac_lb_mul(b, from, ac_lb_i32(b, middle)), j->strip,
                 ac_lb_add(b, to, ac_lb_i32(b, j->left * ic)), middle);
    ac_gemm_clear(j->L, &j->f, j->c, j->strip, ac_lb_add(b, to, ac_lb_i32(b, j->left * ic + middle)),
                  j->row_step - j->left * ic - middle + more);
    ac_lb_end(b);
}

typedef struct place {
    ac_lb *b;
    const ac_x *p; /* batch, output row */
    ac_x f, i;     /* first column of the phase, first pixel of the tile in it */
    int64_t stride;
} place;

static void place_of(const void *user, ac_x r, ac_x *idx)
{
    const place *to = user;
    ac_lb *b = to->b;
    idx[0] = to->p[0];
    idx[1] = to->p[1];
    idx[2] = ac_lb_add(b, to->f, ac_lb_mul(b, ac_lb_add(b, to->i, r), ac_lb_i32(b, to->stride)));
}

/* `rows` pixels, i .. of the phase that begins at output column f. */
static void tile(const job *j, const ac_x *p, const ac_phase *y, ac_x f, ac_x i, int32_t rows, ac_x oc, int32_t s)
{
    ac_lb *b = &j->L->b;
    const ac_window *w = j->win;
    ac_phase x;
    ac_phase_taps(b, &w->x, f, &x);
    ac_gemm_tile t = {.L = j->L,
                      .f = &j->f,
                      .c = j->c,
                      .x_buf = j->strip,
                      .w_buf = j->w,
                      .rows = rows,
                      .vecs = (int32_t)j->f.block.size[s],
                      .run_step = {j->row_step, -w->ic},
                      .oc = oc};
    ac_gemm_all_runs(&t);
    const int64_t run = t.w_step[1];
    ac_x first = ac_lb_add(b, ac_lb_mul(b, y->r, ac_lb_i32(b, w->x.taps)), x.r);
    t.w_at = ac_lb_add(b, ac_gemm_block_at(b, &j->f, oc), ac_lb_mul(b, first, ac_lb_i32(b, run)));
    t.w_step[0] = w->y.stride * w->x.taps * run;
    t.w_step[1] = w->x.stride * run;
    t.run_lo[0] = y->lo;
    t.run_hi[0] = y->hi;
    t.run_hi[1] = ac_lb_div(b, ac_lb_sub(b, ac_lb_i32(b, w->x.taps + w->x.stride - 1), x.r), ac_lb_i32(b, w->x.stride));
    ac_x base = ac_lb_mul(b, ac_lb_add(b, ac_lb_add(b, x.q, i), ac_lb_i32(b, j->left)), ac_lb_i32(b, w->ic));
    for (int32_t r = 0; r < rows; r++)
        t.row[r] = ac_lb_add(b, base, ac_lb_i32(b, r * w->ic));
    ac_x acc[GEMM_ROWS * GEMM_VECS];
    ac_gemm_reduce(&t, acc);
    const place to = {b, p, f, i, w->x.stride};
    ac_gemm_store(&t, acc, place_of, &to);
}

/* All pixels of one phase: whole tiles, then one by one. */
static void phase(const job *j, const ac_x *p, const ac_phase *y, ac_x f, ac_x oc, int32_t s)
{
    ac_lb *b = &j->L->b;
    const ac_window *w = j->win;
    const int64_t least = w->x.out / w->x.stride; /* pixels of every phase, the first ones have one more */
    const ac_gemm_cuts cuts = ac_gemm_cut(least, j->f.rows);
    for (int32_t k = 0; k < 2; k++) {
        if (!cuts.count[k])
            continue;
        ac_x i = ac_lb_for_n(b, "i", cuts.count[k]);
        i = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, cuts.size[k])), ac_lb_i32(b, cuts.first[k]));
        tile(j, p, y, f, i, (int32_t)cuts.size[k], oc, s);
        ac_lb_end(b);
    }
    if (w->x.out % w->x.stride) {
        ac_lb_if(b, ac_lb_lt(b, f, ac_lb_i32(b, w->x.out % w->x.stride)));
        tile(j, p, y, f, ac_lb_i32(b, least), 1, oc, s);
        ac_lb_end(b);
    }
}

int ac_gemm_tconv(ac_lower *L, ac_channel *c, const ac_window *win)
{
    ac_lb *b = &L->b;
    const ac_slide *sx = &win->x, *sy = &win->y;
    job j = {.L = L, .c = c, .win = win, .f = ac_gemm_form_of(L, c, 1, sy->taps, sx->taps, win->ic, false)};
    ac_gemm_form_tile(L, c, &j.f, 1, sx->out / sx->stride);
    const int64_t furthest = (sx->out - 1 + sx->pad) / sx->stride;
    j.left = (sx->taps - 1) / sx->stride;
    j.cols = j.left + (furthest + 1 > sx->in ? furthest + 1 : sx->in);
    j.row_step = j.cols * win->ic;
    const int32_t input = ac_lo_operand(L, c->x);
    const bool hybrid = c->kind == AC_MACS_HYBRID;
    const int64_t image = sy->in * sx->in * win->ic;
    j.x = hybrid ? ac_lo_scratch(L, "xq", AC_I8, image) : input;
    j.w = ac_gemm_pack(L, &j.f, c);
    j.strip = ac_lo_scratch(L, "strip", j.f.strip, (sy->taps + sy->stride - 1) / sy->stride * j.row_step + j.f.group);
    ac_phase y;
    ac_x n = ac_lb_for_each(b, "n", win->n);
    if (hybrid)
        ac_hybrid_quantize(c, input, ac_lb_mul(b, n, ac_lb_i32(b, image)), j.x, ac_lb_i32(b, 0), image, c->per_channel);
    ac_x oy = ac_lb_for_each(b, "oy", sy->out);
    const ac_x p[2] = {n, oy};
    ac_phase_taps(b, sy, oy, &y);
    copy_rows(&j, n, &y);
    for (int32_t s = 0; s < 2; s++) {
        if (!j.f.block.count[s])
            continue;
        ac_x oc = ac_gemm_block_channel(b, &j.f, s, ac_lb_for_each(b, "ob", j.f.block.count[s]));
        ac_x f = ac_lb_for_n(b, "f", sx->stride < sx->out ? sx->stride : sx->out);
        phase(&j, p, &y, f, oc, s);
        ac_lb_end(b);
        ac_lb_end(b);
    }
    ac_lb_end(b);
    ac_lb_end(b);
    return AC_OK;
}
