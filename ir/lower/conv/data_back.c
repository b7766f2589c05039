/* data_back.c - conv_nd_data: the gradient of a convolution by its input, any number of dimensions, f32 or f64.
 *
 *     dy [N,OS..,O]   w [K..,O,C/groups]   ->   dx [N,S..,C]
 *     dx[p] = sum over taps k and channels o of dy[q] * w[k, o], where p = q * stride - before + k * dilation
 *
 * Positions p with the same remainder modulo the stride use the same taps, every (stride / gcd)th one: so each class of
 * remainders is a convolution with stride 1, and every tap visited is used. Neighbouring channels of a group are in
 * lanes; if each group has one channel on both sides (depthwise), neighbouring groups are. A tile of positions along
 * the innermost dimension, all of whose taps are inside of dy, by vectors of channels is summed in registers. To avoid
 * special cases at the border, the rows of dy that a row of dx reads are copied with zeros around them; if that does
 * not pay (depthwise) or is too large, border positions are computed one by one. If the number of remaining channels is
 * not a power of two, their weights are copied and padded with zeros to the next one. */
#include "ir/lower/conv/gemm.h"
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/lower/conv/spans.h"
#include "ir/lower/window.h"

enum { MOST_CLASSES = 1024 }; /* the maximum number of remainders over all dimensions: each gets its own loops */

/* One dimension, for the positions r, r + stride ..: position j of them takes q = j + first - t * step for the taps
 * t < count, which are k = tap + t * every of the filter. */
typedef struct residue {
    int64_t n, count, first, step, tap, every;
} residue;

typedef struct data {
    ac_conv_nd g;
    ac_tensor *dy, *w;
    const ac_tensor *dx;
    int32_t dy_buf, w_buf;
    int64_t in, out; /* channels of a group of dx, dy */
    bool depthwise;
    residue r[AC_CONV_ND_DIMS];
    int64_t rest[AC_CONV_ND_DIMS]; /* the remainders */
    ac_x image, j[AC_CONV_ND_DIMS], group;
    int32_t rows, vecs; /* of the tile: positions from j[m - 1] on, vectors of channels */
    bool inside;        /* the tile's taps are all inside of dy, along the innermost dimension */
    bool copies;        /* rows of dy are read from `line`: [1, taps.., positions, O] */
    ac_tensor line;
    int32_t line_buf;
    int64_t around[2]; /* zeros before and after a row */
    int64_t left;      /* remaining channels with copied weights, 0: none */
    int32_t left_lanes, left_buf;
} data;

static int64_t gcd(int64_t a, int64_t b)
{
    return b ? gcd(b, a % b) : a;
}

static residue residue_of(const ac_slide *s, int64_t rest)
{
    residue r = {.n = (s->in - rest + s->stride - 1) / s->stride, .every = s->stride / gcd(s->stride, s->dil)};
    while (r.tap < s->taps && r.tap < s->stride && (rest + s->pad - r.tap * s->dil) % s->stride)
        r.tap++;
    if (r.tap >= s->taps || (rest + s->pad - r.tap * s->dil) % s->stride)
        return r; /* count 0: nothing reaches these positions */
    r.count = (s->taps - r.tap + r.every - 1) / r.every;
    r.first = (rest + s->pad - r.tap * s->dil) / s->stride;
    r.step = r.every * s->dil / s->stride;
    return r;
}

/* Taps lo .. hi - 1 of position j have a q inside of dy. */
static void taps(ac_lb *b, const residue *r, int64_t out, ac_x j, ac_x *lo, ac_x *hi)
{
    const ac_x zero = ac_lb_i32(b, 0), step = ac_lb_i32(b, r->step ? r->step : 1);
    const ac_x q = ac_lb_add(b, j, ac_lb_i32(b, r->first + r->step));
    *lo = zero;
    *hi = ac_lb_i32(b, r->count);
    if (r->n - 1 + r->first >= out)
        *lo = ac_lb_div(b, ac_lb_max(b, ac_lb_sub(b, q, ac_lb_i32(b, out)), zero), step);
    if (r->first < (r->count - 1) * r->step)
        *hi = ac_lb_min(b, *hi, ac_lb_div(b, ac_lb_max(b, q, zero), step));
    if (r->n - 1 + r->first >= out)
        *lo = ac_lb_min(b, *lo, *hi);
}

/* The buffers and accumulators of a tile: `lanes` channels for each vector. */
typedef struct sums {
    ac_x acc[GEMM_ROWS * GEMM_VECS];
    ac_x c; /* first channel of the group, or first group */
    int32_t lanes;
    bool left; /* those that have a copy */
} sums;

/* The position of row {k.., o} of w in the copy. */
static ac_x left_at(ac_lower *L, const data *v, const ac_x *wi)
{
    ac_lb *b = &L->b;
    ac_x at = ac_lb_i32(b, 0);
    for (int32_t d = 0; d <= v->g.m; d++)
        at = ac_lb_add(b, ac_lb_mul(b, at, ac_lb_i32(b, v->w->dim[d])), wi[d]);
    return ac_lb_mul(b, at, ac_lb_i32(b, v->left_lanes));
}

/* The products of one tap: element {q.., 0} of dy is yi of the first position, {k.., 0, 0} of w is wi. */
static void products(ac_lower *L, const data *v, const sums *s, ac_x *yi, ac_x *wi)
{
    ac_lb *b = &L->b;
    const int32_t m = v->g.m;
    const int64_t to_next = v->dy->dim[m + 1];
    ac_x w[GEMM_VECS];
    if (!v->depthwise) {
        const ac_x o = ac_lb_for_n(b, "o", v->out);
        yi[m + 1] = wi[m] = ac_lb_add(b, ac_lb_mul(b, v->group, ac_lb_i32(b, v->out)), o);
        wi[m + 1] = s->c;
    } else {
        yi[m + 1] = wi[m] = s->c;
        wi[m + 1] = ac_lb_i32(b, 0);
    }
    const int32_t y_buf = v->copies ? v->line_buf : v->dy_buf;
    const ac_x y_at = ac_lo_flat(L, v->copies ? &v->line : v->dy, yi),
               w_at = s->left ? left_at(L, v, wi) : ac_lo_flat(L, v->w, wi);
    for (int32_t i = 0; i < v->vecs; i++)
        w[i] =
            ac_lb_load(b, s->left ? v->left_buf : v->w_buf, ac_lb_add(b, w_at, ac_lb_i32(b, i * s->lanes)), s->lanes);
    for (int32_t r = 0; r < v->rows; r++) {
        const ac_x at = ac_lb_add(b, y_at, ac_lb_i32(b, r * to_next));
        const ac_x y =
            v->depthwise ? ac_lb_load(b, y_buf, at, s->lanes) : ac_lb_splat(b, ac_lb_load(b, y_buf, at, 1), s->lanes);
        for (int32_t i = 0; i < v->vecs; i++) {
            const ac_x acc = s->acc[r * v->vecs + i], old = ac_lb_get(b, acc);
            ac_lb_set(b, acc, ac_lo_madd(L, y, w[i], old));
        }
    }
    if (!v->depthwise)
        ac_lb_end(b);
}

static void store(ac_lower *L, const data *v, const sums *s)
{
    ac_lb *b = &L->b;
    const int32_t m = v->g.m;
    ac_x xi[AC_MAX_RANK];
    const ac_x c = v->depthwise ? s->c : ac_lb_add(b, ac_lb_mul(b, v->group, ac_lb_i32(b, v->in)), s->c);
    xi[0] = v->image;
    for (int32_t k = 0; k < m; k++)
        xi[k + 1] = ac_lb_add(b, ac_lb_mul(b, v->j[k], ac_lb_i32(b, v->g.s[k].stride)), ac_lb_i32(b, v->rest[k]));
    const ac_x first = xi[m];
    for (int32_t r = 0; r < v->rows; r++)
        for (int32_t i = 0; i < v->vecs; i++) {
            xi[m] = ac_lb_add(b, first, ac_lb_i32(b, r * v->g.s[m - 1].stride));
            const ac_x at = ac_lb_add(b, c, ac_lb_i32(b, i * s->lanes));
            ac_gemm_store_lanes(L, ac_lb_get(b, s->acc[r * v->vecs + i]), at, s->left ? v->left : s->lanes, xi);
        }
}

/* The position of dy that tap t takes, in dimension k. */
static ac_x taken(ac_lb *b, const data *v, int32_t k, ac_x t)
{
    const residue *r = &v->r[k];
    return ac_lb_sub(b, ac_lb_add(b, v->j[k], ac_lb_i32(b, r->first)), ac_lb_mul(b, t, ac_lb_i32(b, r->step)));
}

static void tile(ac_lower *L, const data *v, ac_x c, int32_t lanes, bool left)
{
    static const char *const tap[AC_CONV_ND_DIMS] = {"k0", "k1", "k2", "k3", "k4", "k5"};
    ac_lb *b = &L->b;
    const int32_t m = v->g.m;
    ac_x yi[AC_MAX_RANK], wi[AC_MAX_RANK];
    sums s = {.c = c, .lanes = lanes, .left = left};
    for (int32_t i = 0; i < v->rows * v->vecs; i++)
        s.acc[i] = ac_lb_var(b, "acc", ac_lb_splat(b, ac_lb_num(b, v->dx->dtype, 0), lanes));
    yi[0] = v->copies ? ac_lb_i32(b, 0) : v->image;
    for (int32_t k = 0; k < m; k++) {
        const residue *r = &v->r[k];
        ac_x lo = ac_lb_i32(b, 0), hi = ac_lb_i32(b, r->count);
        if (k < m - 1 || !v->inside)
            taps(b, r, v->g.s[k].out, v->j[k], &lo, &hi);
        const ac_x t = ac_lb_for(b, tap[k], lo, hi, 1, AC_MARK_SERIAL);
        wi[k] = ac_lb_add(b, ac_lb_mul(b, t, ac_lb_i32(b, r->every)), ac_lb_i32(b, r->tap));
        yi[k + 1] = v->copies && k < m - 1 ? t : taken(b, v, k, t);
        if (v->copies && k == m - 1)
            yi[m] = ac_lb_add(b, yi[m], ac_lb_i32(b, v->around[0]));
    }
    products(L, v, &s, yi, wi);
    for (int32_t k = 0; k < m; k++)
        ac_lb_end(b);
    store(L, v, &s);
}

/* Channels begin .. end - 1, `vecs` vectors of `lanes` at a time. */
static void channels(ac_lower *L, data *v, int64_t begin, int64_t end, int32_t vecs, int32_t lanes)
{
    ac_lb *b = &L->b;
    if (begin >= end)
        return;
    v->vecs = vecs;
    tile(L, v, ac_lb_for(b, "c", ac_lb_i32(b, begin), ac_lb_i32(b, end), (int64_t)vecs * lanes, AC_MARK_SERIAL), lanes,
         false);
    ac_lb_end(b);
}

/* All channels of `rows` positions from j on of the innermost dimension. */
static void row(ac_lower *L, data *v, ac_x j, int64_t rows, bool inside)
{
    ac_lb *b = &L->b;
    const int32_t lanes = ac_lo_max_lanes(L, v->dx->dtype), registers = L->target->registers;
    const int64_t n = v->depthwise ? v->g.groups : v->in;
    int32_t vecs = v->depthwise || lanes == 1 ? 1 : registers < 32 ? 2 : GEMM_VECS;
    while (vecs > 1 && (int64_t)vecs * lanes > n)
        vecs--;
    v->j[v->g.m - 1] = j;
    v->rows = (int32_t)rows;
    v->inside = inside;
    v->group = ac_lb_for_n(b, "g", v->depthwise ? 1 : v->g.groups);
    const int64_t whole = n / ((int64_t)vecs * lanes) * vecs * lanes;
    channels(L, v, 0, whole, vecs, lanes);
    ac_lane_span span[AC_MAX_SPANS];
    const int32_t spans = ac_spans(n - whole - v->left, lanes, span);
    for (int32_t i = 0; i < spans; i++)
        channels(L, v, whole + span[i].begin, whole + span[i].end, 1, span[i].lanes);
    if (v->left) {
        v->vecs = 1;
        tile(L, v, ac_lb_i32(b, n - v->left), v->left_lanes, true);
    }
    ac_lb_end(b);
}

/* Positions of a tile, as registers allow: an accumulator for each and vector, the vectors of weights, and one more. */
static int64_t most_rows(const ac_lower *L, const data *v)
{
    const int32_t lanes = ac_target_lanes(L->target, v->dx->dtype), registers = L->target->registers;
    const int64_t vectors = lanes > 1 && !v->depthwise ? (v->in + lanes - 1) / lanes : 1;
    const int64_t vecs = vectors < 2 ? 1 : registers < 32 ? 2 : vectors < GEMM_VECS ? vectors : GEMM_VECS;
    const int64_t most = lanes > 1 ? (registers - 1 - vecs) / vecs : 2;
    return v->depthwise && most > 4 ? 4 : most < 1 ? 1 : most > GEMM_ROWS ? GEMM_ROWS : most;
}

/* One remainder of the innermost dimension: borders one by one, tiles between them. */
static void rows(ac_lower *L, data *v)
{
    ac_lb *b = &L->b;
    const int32_t k = v->g.m - 1;
    const residue *r = &v->r[k];
    int64_t begin = (r->count - 1) * r->step - r->first, end = v->g.s[k].out - r->first;
    begin = begin < 0 || !r->count ? 0 : begin < r->n ? begin : r->n;
    end = end > r->n || !r->count ? r->n : end;
    end = end < begin ? begin : end;
    if (v->copies) {
        begin = 0;
        end = r->n;
    }
    const int64_t border[2][2] = {{0, begin}, {end, r->n}};
    const ac_gemm_cuts cuts = ac_gemm_cut(end - begin, most_rows(L, v));
    for (int32_t s = 0; s < 2 && end > begin; s++)
        if (cuts.count[s]) {
            const ac_x i = ac_lb_for_each(b, "tile", cuts.count[s]), from = ac_lb_i32(b, begin + cuts.first[s]);
            row(L, v, ac_lb_add(b, ac_lb_mul(b, i, ac_lb_i32(b, cuts.size[s])), from), cuts.size[s], true);
            ac_lb_end(b);
        }
    for (int32_t s = 0; s < 2; s++)
        if (border[s][0] < border[s][1]) {
            row(L, v, ac_lb_for(b, "j", ac_lb_i32(b, border[s][0]), ac_lb_i32(b, border[s][1]), 1, AC_MARK_PARALLEL), 1,
                false);
            ac_lb_end(b);
        }
}

/* ------------------------------------------------------------------ rows of dy with zeros around them */

typedef struct part {
    int32_t from, to; /* buffers; from -1: zeros */
    ac_x from_at, to_at;
    ac_dtype type;
} part;

static void copy_some(ac_lower *L, void *with, ac_x i, int32_t lanes)
{
    const part *p = with;
    ac_lb *b = &L->b;
    const ac_x v = p->from < 0 ? ac_lb_splat(b, ac_lb_num(b, p->type, 0), lanes)
                               : ac_lb_load(b, p->from, ac_lb_add(b, p->from_at, i), lanes);
    ac_lb_store(b, p->to, ac_lb_add(b, p->to_at, i), v);
}

/* Copies those that the positions j[0] .. j[m - 2] read. */
static void copy_rows(ac_lower *L, const data *v)
{
    static const char *const tap[AC_CONV_ND_DIMS] = {"t0", "t1", "t2", "t3", "t4", "t5"};
    ac_lb *b = &L->b;
    const int32_t m = v->g.m, lanes = ac_target_lanes(L->target, v->dx->dtype);
    const int64_t o = v->dy->dim[m + 1], row = v->g.s[m - 1].out * o;
    ac_x from[AC_MAX_RANK], to[AC_MAX_RANK];
    from[0] = v->image;
    to[0] = from[m] = to[m] = from[m + 1] = to[m + 1] = ac_lb_i32(b, 0);
    for (int32_t k = 0; k < m - 1; k++) {
        ac_x lo, hi;
        taps(b, &v->r[k], v->g.s[k].out, v->j[k], &lo, &hi);
        to[k + 1] = ac_lb_for(b, tap[k], lo, hi, 1, AC_MARK_SERIAL);
        from[k + 1] = taken(b, v, k, to[k + 1]);
    }
    part p = {-1, v->line_buf, ac_lo_flat(L, v->dy, from), ac_lo_flat(L, &v->line, to), v->dx->dtype};
    ac_lo_strip(L, "z", v->around[0] * o, lanes, copy_some, &p);
    p.from = v->dy_buf;
    p.to_at = ac_lb_add(b, p.to_at, ac_lb_i32(b, v->around[0] * o));
    ac_lo_strip(L, "i", row, lanes, copy_some, &p);
    p.from = -1;
    p.to_at = ac_lb_add(b, p.to_at, ac_lb_i32(b, row));
    ac_lo_strip(L, "z", v->around[1] * o, lanes, copy_some, &p);
    for (int32_t k = 0; k < m - 1; k++)
        ac_lb_end(b);
}

/* True if there is a border and a copy pays. */
static void plan_copy(ac_lower *L, data *v)
{
    enum { MOST_BYTES = 256 * 1024 };
    const int32_t m = v->g.m;
    const ac_slide *s = &v->g.s[m - 1];
    for (int64_t rest = 0; rest < s->stride && rest < s->in; rest++) {
        const residue r = residue_of(s, rest);
        const int64_t low = r.first - (r.count - 1) * r.step, high = r.n - 1 + r.first;
        if (r.count && -low > v->around[0])
            v->around[0] = -low;
        if (r.count && high >= s->out + v->around[1])
            v->around[1] = high - s->out + 1;
    }
    v->line = (ac_tensor){.dtype = v->dx->dtype, .rank = m + 2, .dim = {1}};
    for (int32_t k = 0; k < m - 1; k++)
        v->line.dim[k + 1] = v->g.s[k].taps;
    v->line.dim[m] = v->around[0] + s->out + v->around[1];
    v->line.dim[m + 1] = v->dy->dim[m + 1];
    v->copies = v->around[0] + v->around[1] > 0 && !v->depthwise && v->in > 1 &&
                ac_target_lanes(L->target, v->dx->dtype) > 1 && ac_tensor_bytes(&v->line) <= MOST_BYTES;
    if (v->copies)
        v->line_buf = ac_lo_scratch(L, "line", v->dx->dtype, ac_tensor_count(&v->line));
}

/* All positions from dimension k on. */
static void positions(ac_lower *L, data *v, int32_t k)
{
    static const char *const name[AC_CONV_ND_DIMS] = {"j0", "j1", "j2", "j3", "j4", "j5"};
    ac_lb *b = &L->b;
    if (k >= v->g.m || k >= AC_CONV_ND_DIMS) /* no dimension left */
        return;
    if (k == v->g.m - 1 && v->copies)
        copy_rows(L, v);
    for (v->rest[k] = 0; v->rest[k] < v->g.s[k].stride && v->rest[k] < v->g.s[k].in; v->rest[k]++) {
        v->r[k] = residue_of(&v->g.s[k], v->rest[k]);
        if (k == v->g.m - 1) {
            rows(L, v);
            continue;
        }
        v->j[k] = k == 0 ? ac_lb_for_each(b, name[k], v->r[k].n) : ac_lb_for_n(b, name[k], v->r[k].n);
        positions(L, v, k + 1);
        ac_lb_end(b);
    }
}

/* Copies the weights of the remaining channels. */
static void copy_left(ac_lower *L, data *v)
{
    ac_lb *b = &L->b;
    const int32_t lanes = ac_lo_max_lanes(L, v->dx->dtype);
    const int64_t left = v->in % lanes, rows = v->in ? ac_tensor_count(v->w) / v->in : 0;
    if (v->depthwise || !(left & (left - 1)))
        return;
    v->left = left;
    v->left_lanes = 1;
    while (v->left_lanes < left)
        v->left_lanes *= 2;
    v->left_buf = ac_lo_scratch(L, "left", v->dx->dtype, rows * v->left_lanes);
    const ac_x row = ac_lb_for_n(b, "row", rows), to = ac_lb_mul(b, row, ac_lb_i32(b, v->left_lanes));
    const ac_x from = ac_lb_add(b, ac_lb_mul(b, row, ac_lb_i32(b, v->in)), ac_lb_i32(b, v->in - left));
    for (int64_t i = 0; i < v->left_lanes; i++) {
        const ac_x at = ac_lb_i32(b, i);
        const ac_x w = i < left ? ac_lb_load(b, v->w_buf, ac_lb_add(b, from, at), 1) : ac_lb_num(b, v->dx->dtype, 0);
        ac_lb_store(b, v->left_buf, ac_lb_add(b, to, at), w);
    }
    ac_lb_end(b);
}

int ac_lo_conv_nd_data(ac_lower *L)
{
    const ac_node *n = L->node;
    data v = {.dy = n->in[0], .w = n->in[1], .dx = n->out[0]};
    AC_TRY(ac_conv_back_of(L->cx, n, &v.g));
    if (!ac_mp_real(v.dy) || v.dx->dtype != v.dy->dtype)
        return ac_lower_refuse(L, "%s of %s: f32 and f64 are supported", ac_ops[n->op].text,
                               ac_dtype_name(v.dy->dtype));
    int64_t classes = 1;
    for (int32_t d = 0; d < v.g.m && classes <= MOST_CLASSES; d++)
        classes *= v.g.s[d].stride < v.g.s[d].in ? v.g.s[d].stride : v.g.s[d].in;
    if (classes > MOST_CLASSES)
        return ac_lower_refuse(L, "its strides make %lld classes of positions: supported are %d", (long long)classes,
                               MOST_CLASSES);
    ac_lo_result_buf(L);
    if (ac_tensor_count(v.dx) == 0)
        return AC_OK;
    v.dy_buf = ac_lo_operand(L, v.dy);
    v.w_buf = ac_lo_operand(L, v.w);
    v.in = v.w->dim[v.g.m + 1];
    v.out = v.w->dim[v.g.m] / v.g.groups;
    v.depthwise = v.in == 1 && v.out == 1;
    copy_left(L, &v);
    plan_copy(L, &v);
    v.image = ac_lb_for_each(&L->b, "n", v.dx->dim[0]);
    positions(L, &v, 0);
    ac_lb_end(&L->b);
    return AC_OK;
}
