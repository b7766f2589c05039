/* gemm_conv.c - convolutions in register tiles: conv_2d, and conv_nd of up to three dimensions.
 *
 * A strip of input rows, enough for a few output rows, is copied with its borders into scratch (converted to the
 * strip's element type), so that tiles need no border code; the copy costs about 1 / (filter rows * output channels) of
 * the work. Inputs that need neither border nor conversion are read in place; so are floats if the tiles at the borders
 * have separate code that skips elements outside.
 *
 *     for n, output plane, strip of output rows:   copy
 *       for group, block of channels, output row, tile of pixels:   reduce, store
 *
 * Weights that do not fit the second cache are read once for each strip, so strips are as tall as a part of that cache
 * allows. If one strip holds the image and rows are narrow, a tile takes several rows. The strip of a dilated window
 * has only the rows that its filter rows read. A third dimension is one more loop of the reduction, and planes of the
 * strip; those outside of the input are skipped. */
#include "ir/lower/conv/gemm.h"
#include "ir/lower/conv/hybrid.h"
#include "ir/lower/lower.h"

enum { BORDER_TILES = 4, LEAST_OUTSIDE = 66 }; /* with code of their own, in a row; one part in so many of the work */
enum { STRIP_BYTES = 48 * 1024, STRIP_ROWS = 8, NARROW = 7 };

typedef struct job {
    ac_lower *L;
    ac_channel *c;
    const ac_window *win;
    ac_gemm_form f;
    int64_t group_in;       /* input channels of a group */
    int32_t x, strip, w;    /* buffers; strip -1: x is read in place */
    bool batch;             /* x holds all images (not the quantised copy of one) */
    ac_slide z;             /* planes; 1 without them */
    bool bordered;          /* x is read in place although windows reach out of it: tiles skip elements outside */
    bool apart;             /* the strip holds the input rows of each filter row contiguously, not all rows in order */
    int64_t plane_step;     /* from plane to plane in the strip, or in x */
    int64_t out_rows;       /* of a strip */
    int64_t pixel;          /* elements from pixel to pixel in the strip, or in x */
    int64_t cols, row_step; /* of a strip row: columns, elements */
    ac_gemm_cuts tiles;     /* of a row */
    int64_t left, right;    /* the first and last tiles of a row that skip pixels and have separate code */
    ac_gemm_cuts groups;    /* of output rows that share a tile; without groups: the strip's rows, one by one */
} job;

/* Rows of a plane in the strip, for so many output rows. */
static int64_t rows_of(const job *j, int64_t out_rows)
{
    const ac_slide *y = &j->win->y;
    return j->apart ? y->taps * out_rows : (out_rows - 1) * y->stride + ac_slide_reach(y);
}

/* The position of the results: image, plane, first row. */
typedef struct from {
    ac_x n, oz, oy;
} from;

/* Position of (plane iz of image n, row iy, column 0) in x. */
static ac_x row_at(const job *j, ac_x n, ac_x iz, ac_x iy)
{
    ac_lb *b = &j->L->b;
    if (j->batch) {
        const ac_x plane = ac_lb_add(b, ac_lb_mul(b, n, ac_lb_i32(b, j->z.in)), iz);
        iy = ac_lb_add(b, ac_lb_mul(b, plane, ac_lb_i32(b, j->win->y.in)), iy);
    }
    return ac_lb_mul(b, iy, ac_lb_i32(b, j->win->x.in * j->win->ic));
}

/* `count` pixels, from element `at` of x on; all of the strip is written, including the gaps between pixels. */
static void copy_pixels(const job *j, ac_x at, ac_x to, int64_t count)
{
    ac_lb *b = &j->L->b;
    const int64_t ic = j->win->ic;
    if (j->pixel == ic) {
        ac_gemm_copy(j->L, &j->f, j->c, j->x, at, j->strip, to, count * ic);
        return;
    }
    const ac_x i = ac_lb_for_n(b, "ix", count);
    at = ac_lb_add(b, at, ac_lb_mul(b, i, ac_lb_i32(b, ic)));
    to = ac_lb_add(b, to, ac_lb_mul(b, i, ac_lb_i32(b, j->pixel)));
    ac_gemm_copy(j->L, &j->f, j->c, j->x, at, j->strip, to, ic);
    ac_gemm_clear(j->L, &j->f, j->c, j->strip, ac_lb_add(b, to, ac_lb_i32(b, ic)), j->pixel - ic);
    ac_lb_end(b);
}

/* The input rows of filter plane kz. Rows outside the input are zeros. */
static void copy_plane(const job *j, const from *p, ac_x kz)
{
    ac_lb *b = &j->L->b;
    const ac_window *w = j->win;
    const int64_t pad = w->x.pad, left = (pad < j->cols ? pad : j->cols) * j->pixel, room = j->cols - pad;
    const int64_t inner = room <= 0 ? 0 : room < w->x.in ? room : w->x.in, middle = inner * j->pixel;
    const ac_x rows = ac_lb_i32(b, j->out_rows), zero = ac_lb_i32(b, 0);
    ac_x r = ac_lb_for_n(b, "r", rows_of(j, j->out_rows));
    const ac_x row = ac_lb_mul(b, r, ac_lb_i32(b, j->row_step));
    const ac_x to = ac_lb_add(b, ac_lb_mul(b, kz, ac_lb_i32(b, j->plane_step)), row);
    const ac_x tap = j->apart ? ac_lb_div(b, r, rows) : zero;
    const ac_x first = j->apart ? ac_lb_add(b, p->oy, ac_lb_mod(b, r, rows)) : p->oy;
    const ac_x slid = ac_slide_at(b, &w->y, first, tap), iy = j->apart ? slid : ac_lb_add(b, slid, r);
    const bool rows_inside = ac_slide_inside(&w->y) && w->y.out % j->out_rows == 0;
    if (!rows_inside)
        ac_lb_if(b, ac_lb_and(b, ac_lb_ge(b, iy, zero), ac_lb_lt(b, iy, ac_lb_i32(b, w->y.in))));
    ac_gemm_clear(j->L, &j->f, j->c, j->strip, to, left);
    const ac_x inside = ac_lb_add(b, to, ac_lb_i32(b, left)); /* no compiler chooses which value comes first */
    copy_pixels(j, row_at(j, p->n, ac_slide_at(b, &j->z, p->oz, kz), iy), inside, inner);
    ac_gemm_clear(j->L, &j->f, j->c, j->strip, ac_lb_add(b, to, ac_lb_i32(b, left + middle)),
                  j->row_step - left - middle);
    if (!rows_inside) {
        ac_lb_else(b);
        ac_gemm_clear(j->L, &j->f, j->c, j->strip, to, j->row_step);
        ac_lb_end(b);
    }
    ac_lb_end(b);
}

/* Planes outside of the input are neither copied nor read. */
static void copy_strip(const job *j, const from *p)
{
    ac_lb *b = &j->L->b;
    ac_x lo, hi;
    ac_gemm_clear(j->L, &j->f, j->c, j->strip, ac_lb_i32(b, j->z.taps * j->plane_step), ac_gemm_beyond(&j->f));
    if (j->z.taps == 1 && ac_slide_inside(&j->z)) {
        copy_plane(j, p, ac_lb_i32(b, 0));
        return;
    }
    ac_slide_taps(b, &j->z, p->oz, &lo, &hi);
    copy_plane(j, p, ac_lb_for(b, "kz", lo, hi, 1, AC_MARK_SERIAL));
    ac_lb_end(b);
}

typedef struct place {
    ac_lb *b;
    from p;          /* its first row */
    int32_t dims;    /* of the result, between batch and channels */
    ac_x ox;         /* first column of the tile */
    int64_t columns; /* of each row in the tile */
} place;

static void place_of(const void *user, ac_x r, ac_x *idx)
{
    const place *to = user;
    const ac_x columns = ac_lb_i32(to->b, to->columns);
    const ac_x at[3] = {to->p.oz, ac_lb_add(to->b, to->p.oy, ac_lb_div(to->b, r, columns)),
                        ac_lb_add(to->b, to->ox, ac_lb_mod(to->b, r, columns))};
    idx[0] = to->p.n;
    for (int32_t d = 0; d < to->dims; d++)
        idx[1 + d] = at[3 - to->dims + d];
}

static int64_t count_of(const ac_gemm_cuts *c)
{
    return c->count[0] + c->count[1];
}

/* Rows of the strip (or x) from output row to output row. */
static int64_t row_stride(const job *j)
{
    return j->apart ? 1 : j->win->y.stride;
}

/* A block of channels: the first one in its group, the group, and the block's size class. */
typedef struct channels {
    ac_x oc, group;
    int32_t s;
} channels;

/* Skips runs that are outside of the input for the whole tile: planes, filter rows, and the filter columns of a dilated
 * window. If the zero point is folded into the bias, zeros count and are not skipped. */
static void inside_runs(const job *j, ac_gemm_tile *t, const from *p, ac_x ox, int32_t rows, int32_t columns)
{
    ac_lb *b = &j->L->b;
    const ac_slide *y = &j->win->y, *x = &j->win->x;
    ac_x none;
    if (j->z.taps > 1 || !ac_slide_inside(&j->z))
        ac_slide_taps(b, &j->z, p->oz, &t->run_lo[2], &t->run_hi[2]);
    if (j->f.group == 4)
        return;
    if (rows == 1 && !ac_slide_inside(y) && (y->dil > 1 || j->c->kind == AC_MACS_F32))
        ac_slide_taps(b, y, p->oy, &t->run_lo[0], &t->run_hi[0]);
    if (x->dil > 1) {
        ac_slide_taps(b, x, ac_lb_add(b, ox, ac_lb_i32(b, columns - 1)), &t->run_lo[1], &none);
        ac_slide_taps(b, x, ox, &none, &t->run_hi[1]);
    }
}

/* Pixels of a tile from column ox on that filter column kx reads outside of the input. */
static uint32_t columns_outside(const job *j, int64_t ox, int32_t rows, int32_t columns, int64_t kx)
{
    const ac_slide *x = &j->win->x;
    uint32_t out = 0;
    for (int32_t r = 0; r < rows * columns; r++) {
        const int64_t ix = (ox + r % columns) * x->stride - x->pad + kx * x->dil;
        out |= (uint32_t)(ix < 0 || ix >= x->in) << r;
    }
    return out;
}

/* The parts of a tile whose first column, ox, is known: consecutive filter columns that are inside of the input for the
 * same pixels form one part. */
static void inside_parts(const job *j, ac_gemm_tile *t, int64_t ox, int32_t rows, int32_t columns)
{
    const int32_t taps = (int32_t)j->win->x.taps;
    const uint32_t all = (uint32_t)((1ull << rows * columns) - 1);
    ac_gemm_part *part = AC_NEW_N(j->L->region, ac_gemm_part, taps);
    for (int32_t kx = 0, to; kx < taps; kx = to) {
        const uint32_t outside = columns_outside(j, ox, rows, columns, kx);
        to = kx + 1;
        while (to < taps && columns_outside(j, ox, rows, columns, to) == outside)
            to++;
        if (outside != all)
            part[t->n_parts++] = (ac_gemm_part){kx, to, outside};
    }
    t->part = part;
    t->column = j->group_in;
}

/* `columns` pixels of `rows` output rows, from {oy, ox} on; row0: element of the first input row and column 0 of oy;
 * index: of the tile in its block and strip. */
static void tile(const job *j, const from *p, ac_x row0, ac_x ox, int32_t rows, int32_t columns, const channels *of,
                 ac_x index)
{
    ac_lb *b = &j->L->b;
    const ac_window *w = j->win;
    const int64_t step = w->x.stride * j->pixel;
    ac_gemm_tile t = {
        .L = j->L,
        .f = &j->f,
        .c = j->c,
        .x_buf = j->strip >= 0 ? j->strip : j->x,
        .w_buf = j->w,
        .rows = rows * columns,
        .vecs = (int32_t)j->f.block.size[of->s],
        .run_step = {(j->apart ? j->out_rows : w->y.dil) * j->row_step, w->x.dil * j->pixel, j->plane_step},
        .w_at = ac_gemm_block_at(b, &j->f, of->oc),
        .oc = of->oc};
    ac_x base = ac_lb_add(b, row0, ac_lb_mul(b, ox, ac_lb_i32(b, step)));
    if (j->bordered)
        base = ac_lb_sub(b, base, ac_lb_i32(b, w->x.pad * j->pixel));
    if (j->f.groups > 1) {
        t.before = ac_lb_mul(b, of->group, ac_lb_i32(b, j->f.n));
        t.w_at = ac_lb_add(b, t.w_at, ac_lb_mul(b, of->group, ac_lb_i32(b, ac_gemm_group_size(&j->f))));
        base = ac_lb_add(b, base, ac_lb_mul(b, of->group, ac_lb_i32(b, j->group_in)));
    }
    for (int32_t r = 0; r < t.rows; r++)
        t.row[r] = ac_lb_add(b, base, ac_lb_i32(b, r / columns * row_stride(j) * j->row_step + r % columns * step));
    ac_gemm_all_runs(&t);
    inside_runs(j, &t, p, ox, rows, columns);
    ac_gemm_fetch_ahead(&t, index, count_of(&j->groups) * count_of(&j->tiles));
    ac_x acc[GEMM_ROWS * GEMM_VECS];
    int64_t at;
    if (j->left + j->right > 0 && ac_lb_const_int(b, ox, &at))
        inside_parts(j, &t, at, rows, columns);
    ac_gemm_reduce(&t, acc);
    const place to = {b, *p, j->c->out->rank - 2, ox, rows == 1 ? GEMM_ROWS : columns};
    ac_gemm_store(&t, acc, place_of, &to);
}

/* A row (or some) of tiles, as row_group has it. */
typedef struct row_of {
    const from *p;
    ac_x row0, number;
    int32_t rows;
    const channels *of;
} row_of;

/* Tile i of size class k. */
static void column_tile(const job *j, const row_of *row, int32_t k, ac_x i)
{
    ac_lb *b = &j->L->b;
    ac_x ox = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, j->tiles.size[k])), ac_lb_i32(b, j->tiles.first[k]));
    ac_x index = ac_lb_mul(b, row->number, ac_lb_i32(b, count_of(&j->tiles)));
    index = ac_lb_add(b, index, k ? ac_lb_add(b, i, ac_lb_i32(b, j->tiles.count[0])) : i);
    tile(j, row->p, row->row0, ox, row->rows, (int32_t)j->tiles.size[k], row->of, index);
}

/* n, not below 0. */
static int64_t at_most(int64_t n, int64_t most)
{
    return n < 0 ? 0 : n < most ? n : most;
}

/* All tiles of `rows` output rows from r on (counted in the strip), which are group number `number`, for a block of
 * channels. */
static void row_group(const job *j, const from *first, ac_x r, ac_x number, int32_t rows, const channels *of)
{
    ac_lb *b = &j->L->b;
    const ac_window *w = j->win;
    const from p = {first->n, first->oz, ac_lb_add(b, first->oy, r)};
    ac_x row0 = ac_lb_mul(b, r, ac_lb_i32(b, row_stride(j) * j->row_step));
    if (j->strip < 0)
        row0 =
            row_at(j, p.n, ac_slide_at(b, &j->z, p.oz, ac_lb_i32(b, 0)), ac_slide_at(b, &w->y, p.oy, ac_lb_i32(b, 0)));
    for (int32_t k = 0; k < 2; k++) {
        const int64_t count = j->tiles.count[k], before = k ? j->tiles.count[0] : 0;
        const int64_t last = count_of(&j->tiles) - before - j->right;
        const int64_t lo = at_most(j->left - before, count), hi = at_most(last, count);
        const row_of of_row = {&p, row0, number, rows, of};
        for (int64_t i = 0; i < lo; i++)
            column_tile(j, &of_row, k, ac_lb_i32(b, i));
        if (lo < hi) {
            const bool all = lo == 0 && hi == count;
            ac_x i = all ? ac_lb_for_each(b, "ox", count)
                         : ac_lb_for(b, "ox", ac_lb_i32(b, lo), ac_lb_i32(b, hi), 1, AC_MARK_PARALLEL);
            column_tile(j, &of_row, k, i);
            ac_lb_end(b);
        }
        for (int64_t i = lo < hi ? hi : lo; i < count; i++)
            column_tile(j, &of_row, k, ac_lb_i32(b, i));
    }
}

/* All tiles of output rows oy .. for a group's blocks of class s. */
static void block(const job *j, const from *p, ac_x group, int32_t s)
{
    ac_lb *b = &j->L->b;
    const ac_window *w = j->win;
    ac_x oc = ac_gemm_block_channel(b, &j->f, s, ac_lb_for_each(b, "ob", j->f.block.count[s]));
    const channels of = {oc, group, s};
    if (w->y.out % j->out_rows) { /* the last strip is shorter */
        ac_x rows = ac_lb_min(b, ac_lb_i32(b, j->out_rows), ac_lb_sub(b, ac_lb_i32(b, w->y.out), p->oy));
        ac_x r = ac_lb_for(b, "r", ac_lb_i32(b, 0), rows, 1, AC_MARK_PARALLEL);
        row_group(j, p, r, r, 1, &of);
        ac_lb_end(b);
        ac_lb_end(b);
        return;
    }
    for (int32_t k = 0; k < 2; k++) {
        if (!j->groups.count[k])
            continue;
        ac_x i = ac_lb_for_each(b, "r", j->groups.count[k]);
        ac_x r = ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, j->groups.size[k])), ac_lb_i32(b, j->groups.first[k]));
        row_group(j, p, r, k ? ac_lb_add(b, i, ac_lb_i32(b, j->groups.count[0])) : i, (int32_t)j->groups.size[k], &of);
        ac_lb_end(b);
    }
    ac_lb_end(b);
}

/* Strip geometry: as many output rows as fit the budget, evenly. */
static void plan_strip(job *j, bool copies)
{
    const ac_window *w = j->win;
    const bool stream = ac_gemm_weights_stream(j->L, &j->f), limited = copies || j->bordered;
    const int64_t most = stream ? w->y.out : limited ? STRIP_ROWS : 1, part = j->L->target->l2_bytes / 2;
    const int64_t bytes = stream && part > STRIP_BYTES ? part : STRIP_BYTES;
    j->cols = copies ? (w->x.out - 1) * w->x.stride + ac_slide_reach(&w->x) : w->x.in;
    j->row_step = j->cols * j->pixel;
    j->apart = copies && w->y.dil > 1;
    j->out_rows = 1;
    for (int64_t n = 2; n <= most && n <= w->y.out; n++)
        if (!limited || ac_dtype_size(j->f.strip, j->z.taps * rows_of(j, n) * j->row_step) <= bytes)
            j->out_rows = n;
    int64_t strips = (w->y.out + j->out_rows - 1) / j->out_rows;
    const int64_t threads = j->L->hint.threads,
                  shared = threads > 1 ? (strips + threads - 1) / threads * threads : strips;
    if (limited && !stream && strips > 1 && 2 * shared <= w->y.out) /* as many strips for each thread */
        strips = shared;
    j->out_rows = (w->y.out + strips - 1) / strips;
    const int64_t plane = rows_of(j, j->out_rows) * j->row_step;
    j->plane_step = copies ? plane : j->z.dil * w->y.in * j->row_step;
}

/* The part of the filter rows of all output rows that are inside of the input. */
static double rows_inside(const job *j)
{
    const ac_slide *y = &j->win->y;
    int64_t inside = 0;
    for (int64_t oy = 0; oy < y->out; oy++)
        for (int64_t ky = 0; ky < y->taps; ky++) {
            const int64_t iy = oy * y->stride - y->pad + ky * y->dil;
            inside += iy >= 0 && iy < y->in;
        }
    return (double)inside / (double)(y->out * y->taps);
}

/* The tile: pixels of a row, or whole rows where those are narrow and one strip holds them all; floats only if that
 * gains more than skipping the rows outside, which only tiles of one row can do. */
static void plan_tile(job *j)
{
    const int64_t columns = j->win->x.out, rows = j->win->y.out;
    ac_schedule *s = &j->L->out->schedule;
    double alone = 0;
    if (!j->bordered && columns <= NARROW && ac_gemm_holds(j->L, columns) && j->out_rows == rows && rows > 1 &&
        j->c->acc != AC_I64) {
        if (j->c->kind == AC_MACS_F32) {
            ac_gemm_form_tile(j->L, j->c, &j->f, 1, columns);
            alone = s->cost * rows_inside(j);
        }
        ac_gemm_form_tile(j->L, j->c, &j->f, columns, rows);
        if (alone <= 0 || s->cost <= alone) {
            j->tiles = ac_gemm_cut(columns, columns);
            j->groups = ac_gemm_cut(rows, j->f.rows / columns);
            return;
        }
    }
    ac_gemm_form_tile(j->L, j->c, &j->f, 1, columns);
    j->tiles = ac_gemm_cut(columns, j->f.rows);
    j->groups = ac_gemm_cut(j->out_rows, 1);
}

/* Computes how many first and last tiles of a row skip pixels. Each has separate code, so there must be few of them,
 * and they must save a good part of the work or of the copy. False: pixels outside are read. */
static bool plan_borders(job *j, bool always)
{
    const ac_slide *x = &j->win->x;
    const int64_t tiles = count_of(&j->tiles);
    int64_t left = 0, right = 0, out = 0;
    if (ac_slide_inside(x))
        return true;
    if (j->c->kind != AC_MACS_F32 || j->f.along)
        return false;
    for (int64_t t = 0; t < tiles; t++) {
        const int32_t k = t >= j->tiles.count[0];
        const int64_t ox = (t - (k ? j->tiles.count[0] : 0)) * j->tiles.size[k] + j->tiles.first[k];
        int64_t here = 0;
        for (int64_t kx = 0; kx < x->taps; kx++)
            for (uint32_t o = columns_outside(j, ox, 1, (int32_t)j->tiles.size[k], kx); o; o &= o - 1)
                here++;
        if (here && left == t)
            left++;
        right = here ? right + 1 : 0;
        out += here;
    }
    right = left == tiles ? 0 : right;
    if (left + right > BORDER_TILES || !(always || out * LEAST_OUTSIDE >= x->out * x->taps))
        return false;
    j->left = left;
    j->right = right;
    return true;
}

/* True if the copy into strips is a relevant part of the work. A multiply-add takes an eighth to a thirty-second of a
 * cycle, the copy of an element about half of one. */
static bool copy_counts(const job *j)
{
    enum { COPY = 100 };
    const ac_window *w = j->win;
    const double work = (double)(w->n * j->z.out * w->y.out * w->x.out) * (double)(ac_gemm_runs(&j->f) * j->f.depth) *
                        (double)(j->f.n * j->f.groups);
    return COPY * j->f.lanes * (double)ac_tensor_count(j->c->x) > work;
}

/* Strip, tile and borders. inside: windows stay inside of x; copies: it must be copied nevertheless. */
static void plan(job *j, bool inside, bool copies)
{
    j->bordered = !inside && !copies && j->c->kind == AC_MACS_F32;
    if (j->bordered) {
        plan_strip(j, false);
        plan_tile(j);
        if (plan_borders(j, copy_counts(j)))
            return;
        j->bordered = false;
    }
    copies |= !inside;
    plan_strip(j, copies);
    plan_tile(j);
    plan_borders(j, false);
    if (copies)
        j->strip = ac_lo_scratch(j->L, "strip", j->f.strip,
                                 j->z.taps * rows_of(j, j->out_rows) * j->row_step + ac_gemm_step(&j->f));
}

int ac_gemm_conv(ac_lower *L, ac_channel *c, const ac_window *win, const ac_slide *planes, int64_t group_in)
{
    const ac_slide *y = &win->y, *x = &win->x, one = {1, 1, 1, 1, 1, 0}, z = planes ? *planes : one;
    const bool inside = ac_slide_inside(y) && ac_slide_inside(x), hybrid = c->kind == AC_MACS_HYBRID;
    const int64_t groups = win->ic / group_in;
    if (groups == 1 && inside && ac_slide_inside(&z) && !hybrid && z.taps * y->taps * x->taps == 1 &&
        z.in * y->in * x->in == z.out * y->out * x->out)
        return ac_gemm_rows(L, c, win->n * z.out * y->out * x->out, win->ic);
    job j = {.L = L, .c = c, .win = win, .z = z, .group_in = group_in, .strip = -1, .batch = !hybrid, .pixel = win->ic};
    const bool apart = ac_gemm_collide(c, x->stride * win->ic, 2, x->out, c->n / groups);
    const bool joined = x->dil == 1 && groups == 1 && !apart;
    if (apart)
        j.pixel += AC_GEMM_APART;
    j.f = ac_gemm_form_of(L, c, groups, y->taps, joined ? 1 : x->taps, joined ? x->taps * group_in : group_in, true);
    j.f.runs[2] = z.taps;
    j.f.uses = win->n * z.out * y->out * x->out;
    ac_gemm_form_along(L, c, &j.f);
    const int32_t input = ac_lo_operand(L, c->x);
    const int64_t image = y->in * x->in * win->ic;
    j.x = hybrid ? ac_lo_scratch(L, "xq", AC_I8, image) : input;
    plan(&j, inside, apart || ac_gemm_copies(&j.f, c));
    j.w = ac_gemm_pack(L, &j.f, c);
    ac_lb *b = &L->b;
    from p = {.n = ac_lb_for_each(b, "n", win->n)};
    if (hybrid)
        ac_hybrid_quantize(c, input, ac_lb_mul(b, p.n, ac_lb_i32(b, image)), j.x, ac_lb_i32(b, 0), image,
                           c->per_channel);
    p.oz = ac_lb_for_each(b, "oz", z.out);
    p.oy = ac_lb_mul(b, ac_lb_for_each(b, "strip_y", (y->out + j.out_rows - 1) / j.out_rows), ac_lb_i32(b, j.out_rows));
    if (j.strip >= 0)
        copy_strip(&j, &p);
    ac_x group = ac_lb_for_each(b, "g", groups);
    for (int32_t s = 0; s < 2; s++)
        if (j.f.block.count[s])
            block(&j, &p, group, s);
    for (int i = 0; i < 4; i++)
        ac_lb_end(b);
    return AC_OK;
}
