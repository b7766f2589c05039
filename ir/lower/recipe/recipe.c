/* recipe.c - elements of constants, computed from what the constants are made of; see recipe.h. */
#include "ir/lower/recipe/recipe.h"

#include "ir/lower/recipe/nibbles.h"
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/slice.h"

#include <math.h>

enum {
    MOST_NODES = 12, /* of one recipe */
    MOST_PLACES = 8, /* of the places of a look-up */
    MUCH = 2,        /* times: pieces that save less are not worth a choice for each element */
    FEW = 64,        /* elements of a constant whose bounds are read */
    SAVED = 1024     /* bytes: fewer are not worth the instructions */
};

/* ------------------------------------------------------------------ pieces */

/* Constants that consist of others side by side (CONCATENATION, PACK), or of one with a border (PAD, PADV2). */
static bool is_pieces(const ac_node *n)
{
    return n->op == AC_OP_CONCATENATION || n->op == AC_OP_PACK || n->op == AC_OP_PAD || n->op == AC_OP_PADV2;
}

static bool is_padded(const ac_node *n)
{
    return n->op == AC_OP_PAD || n->op == AC_OP_PADV2;
}

static bool is_plain_pieces(const ac_node *n)
{
    const ac_tensor *y = n->out[0];
    for (int32_t i = 0; i < n->n_in && !is_padded(n); i++)
        if ((n->in[i]->quant || y->quant) &&
            (!n->in[i]->quant || !y->quant || n->in[i]->quant->n != 1 || y->quant->n != 1 ||
             ac_quant_scale(n->in[i]) != ac_quant_scale(y) || ac_quant_zero(n->in[i]) != ac_quant_zero(y)))
            return false;
    return y->rank > 0 && ac_tensor_count(y) > 0 && ac_node_act(n) == AC_ACT_NONE;
}

/* The axis of operands side by side. */
static int32_t axis_of(const ac_node *n)
{
    const int32_t a = (int32_t)n->attrs.axis.axis;
    return a < 0 ? a + n->out[0]->rank : a;
}

/* Neighbouring dimensions of a padded tensor; only the first has a border. */
typedef struct group {
    int64_t before, extent, size; /* elements: of the border in front, of the operand, of the result */
} group;

/* The groups of n, which is padded; 0: its pads are not valid. */
static int32_t groups_of(ac_ctx *cx, const ac_node *n, group *g)
{
    int64_t before[AC_MAX_RANK], after[AC_MAX_RANK];
    int32_t count = 0;
    if (ac_pads_of(cx, n, before, after) != AC_OK)
        return 0;
    for (int32_t d = 0; d < n->out[0]->rank; d++) {
        const int64_t x = n->in[0]->dim[d], y = n->out[0]->dim[d];
        if (!count || before[d] || after[d]) {
            g[count++] = (group){.before = before[d], .extent = x, .size = y};
            continue;
        }
        g[count - 1].before *= x;
        g[count - 1].extent *= x;
        g[count - 1].size *= y;
    }
    return count;
}

/* The bit of the dimension in front of d that has more than one element; 0: all others have one. */
static uint32_t break_before(const ac_tensor *t, int32_t d)
{
    do
        d--;
    while (d >= 0 && t->dim[d] == 1);
    return d < 0 ? 0 : 1u << d;
}

static uint32_t breaks_of_pieces(const ac_node *n)
{
    const ac_tensor *y = n->out[0];
    uint32_t mask = 0;
    if (!is_padded(n))
        return break_before(y, axis_of(n));
    for (int32_t d = 0; d < y->rank; d++)
        mask |= n->in[0]->dim[d] != y->dim[d] ? break_before(y, d) : 0;
    return mask;
}

/* The positions of all lanes. */
static ac_x lanes_of(ac_lower *L, const ac_spot *at)
{
    ac_lb *b = &L->b;
    const ac_x first = ac_lb_splat(b, ac_spot_value(b, at), at->lanes);
    int64_t *lane = AC_NEW_N(L->region, int64_t, at->lanes);
    for (int32_t l = 0; l < at->lanes; l++)
        lane[l] = l;
    return at->along ? ac_lb_add(b, first, ac_lb_constv(b, AC_I32, lane, at->lanes)) : first;
}

/* True in the lanes whose position is below `end`. */
static ac_x is_below(ac_lower *L, const ac_spot *at, int64_t end)
{
    return ac_lb_lt(&L->b, lanes_of(L, at), ac_lb_splat(&L->b, ac_lb_i32(&L->b, end), at->lanes));
}

/* The position in a piece of `extent` elements from `start` on, of `size` in all; in other pieces one of its elements.
 * Failed if lanes can be in different pieces. */
static ac_spot inside(ac_lower *L, const ac_spot *at, int64_t start, int64_t extent, int64_t size)
{
    ac_lb *b = &L->b;
    const int64_t unit = at->along ? at->lanes : 1;
    ac_spot to = {.n = 1, .lanes = at->lanes, .along = at->along, .failed = at->failed};
    if (start == 0 && extent == size)
        return *at;
    to.failed |= start % unit != 0 || extent % unit != 0 || extent < 1 || (at->along && !ac_spot_in_step(at));
    if (to.failed)
        return to;
    ac_x v = ac_spot_value(b, at);
    if (start)
        v = ac_lb_max(b, ac_lb_sub(b, v, ac_lb_i32(b, start)), ac_lb_i32(b, 0));
    if (start + extent < size)
        v = ac_lb_min(b, v, ac_lb_i32(b, extent - unit));
    to.term[0] = (struct ac_spot_term){v, 1, extent - unit, unit};
    return to;
}

/* ------------------------------------------------------------------ bytes */

/* True if the elements are the whole numbers first, first + step, .. */
bool ac_recipe_progression(const ac_tensor *t, int64_t *first, int64_t *step)
{
    const int64_t count = ac_tensor_count(t);
    const ac_dtype d = t->dtype;
    const bool real = d == AC_F32 || d == AC_F64, whole = ac_dtype_is_int(d) && ac_dtype_loops(d) == d;
    const void *p = t->data;
    if (!p || t->splat || t->quant || t->narrowed || count < 2 || (!real && !whole) || d == AC_U64)
        return false;
    const double lo = ac_dtype_get_num(d, p, 0), by = ac_dtype_get_num(d, p, 1) - lo;
    const double most = fabs(lo) + fabs(by) * (double)count;
    if (!(most < (real ? 16777216.0 : 2147483647.0)) || by != floor(by) || lo != floor(lo) || (lo == 0 && signbit(lo)))
        return false;
    for (int64_t i = 0; i < count; i++) {
        const double v = ac_dtype_get_num(d, p, i);
        if (v != lo + by * (double)i || (v == 0 && signbit(v)))
            return false;
    }
    *first = (int64_t)lo;
    *step = (int64_t)by;
    return true;
}

/* Elements of a small table, at places that loops compute. The matrix of a Fourier transform is one turn of a cosine:
 *
 *     w = gather(table, floor_mod(i * k + c, n))
 *
 * Lanes of a vector would read elements that are not adjacent, so only loops of single elements look up. */

/* Sets *most to an upper bound of t, whose elements are a few constants, a progression, or sums and products of such
 * tensors. false: unknown, or an element could be negative or above 2^31 - 1. */
static bool bounds(const ac_tensor *t, int32_t *left, int64_t *most)
{
    const ac_node *n = t->made_of;
    const int64_t count = t->splat ? 1 : ac_tensor_count(t);
    int64_t first, step, a, b;
    *most = 0;
    if (t->dtype != AC_I32 || --*left < 0)
        return false;
    if (ac_recipe_progression(t, &first, &step) && first >= 0 && step >= 0)
        return ac_mul_ok(step, count - 1, most) && ac_add_ok(*most, first, most) && *most <= INT32_MAX;
    if (t->data && count <= FEW) {
        bool fits = true;
        for (int64_t i = 0; i < count; i++) {
            const int64_t v = ac_dtype_get_int(AC_I32, t->data, i);
            fits &= v >= 0;
            *most = v > *most ? v : *most;
        }
        return fits;
    }
    if (!n || (n->op != AC_OP_ADD && n->op != AC_OP_MUL) || !ac_recipe_node(t) || !bounds(n->in[0], left, &a) ||
        !bounds(n->in[1], left, &b))
        return false;
    return (n->op == AC_OP_ADD ? ac_add_ok : ac_mul_ok)(a, b, most) && *most <= INT32_MAX;
}

/* True if n looks up elements: no place is outside of the table, and no sum or product of places overflows. */
static bool is_lookup(const ac_node *n)
{
    int32_t left = MOST_PLACES;
    int64_t most;
    if (n->op != AC_OP_GATHER || n->attrs.gather.batch_dims || n->in[0]->rank != 1)
        return false;
    const ac_node *mod = n->in[1]->made_of;
    if (!mod || mod->op != AC_OP_FLOOR_MOD || n->in[1]->dtype != AC_I32 || !ac_recipe_node(n->in[1]))
        return false;
    const ac_tensor *by = mod->in[1];
    if (!by->data || !(by->splat || ac_tensor_count(by) == 1) || !bounds(mod->in[0], &left, &most))
        return false;
    const int64_t size = ac_dtype_get_int(AC_I32, by->data, 0);
    return size > 0 && size <= n->in[0]->dim[0];
}

const ac_node *ac_recipe_node(const ac_tensor *t)
{
    const ac_node *n = t->made_of;
    if (!n || t->splat || t->narrowed || t->weight || n->n_fused)
        return NULL;
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && (!ac_tensor_is_const(n->in[i]) || n->in[i]->weight || n->in[i]->narrowed))
            return NULL;
    if (n->op == AC_OP_GATHER)
        return is_lookup(n) ? n : NULL;
    if (is_pieces(n) && !is_plain_pieces(n))
        return NULL;
    return ac_node_remade(n) ? n : NULL;
}

ac_bytes ac_recipe_stored(const ac_tensor *t)
{
    int64_t first, step;
    return t->splat || ac_tensor_count(t) == 1 || ac_recipe_progression(t, &first, &step) ? 0 : ac_nibbles_bytes(t);
}

static ac_bytes bytes_of(const ac_tensor *t, int32_t *left)
{
    const ac_node *n = ac_recipe_node(t);
    const ac_bytes own = ac_recipe_stored(t);
    ac_bytes sum = 0;
    if (!n || --*left < 0)
        return own;
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && !ac_node_is_static(n, i))
            sum += bytes_of(n->in[i], left);
    const ac_quant *q = n->op == AC_OP_DEQUANTIZE ? n->in[0]->quant : NULL;
    sum += q && q->n > 1 ? q->n * 8 : 0;
    return sum < (is_pieces(n) ? own / MUCH : own) ? sum : own;
}

ac_bytes ac_recipe_bytes(const ac_tensor *t)
{
    int32_t left = MOST_NODES;
    return bytes_of(t, &left);
}

bool ac_recipe_saves(const ac_tensor *t)
{
    return (t->splat && t->data && ac_tensor_count(t) > 1) || ac_recipe_bytes(t) + SAVED < ac_tensor_bytes(t);
}

/* ------------------------------------------------------------------ positions */

/* An operand under the dimensions of a result: element `from` of each of them between neighbours. */
typedef struct box {
    int32_t n;
    int64_t extent[2 * AC_MAX_RANK], from[2 * AC_MAX_RANK]; /* outermost first */
    int64_t base;                                           /* the first element in the operand */
    bool bad;                                               /* the operand is not such a box */
} box;

/* Appends a dimension; neighbours that are one in the operand as well are joined. */
static void add_dim(box *x, int64_t extent, int64_t from)
{
    if (extent == 1)
        return;
    if (x->n && x->from[x->n - 1] == from * extent) {
        x->extent[x->n - 1] *= extent;
        x->from[x->n - 1] = from;
        return;
    }
    x->extent[x->n] = extent;
    x->from[x->n++] = from;
}

static box broadcast(const ac_tensor *y, const ac_tensor *x)
{
    box to = {0};
    for (int32_t d = 0; d < y->rank; d++) {
        const int32_t k = d - (y->rank - x->rank);
        add_dim(&to, y->dim[d], k < 0 || x->dim[k] == 1 ? 0 : ac_dim_product(x->dim, k + 1, x->rank));
    }
    return to;
}

static box tiled(const ac_tensor *y, const ac_tensor *x)
{
    box to = {0};
    for (int32_t d = 0; d < x->rank; d++) {
        add_dim(&to, y->dim[d] / x->dim[d], 0);
        add_dim(&to, x->dim[d], ac_dim_product(x->dim, d + 1, x->rank));
    }
    return to;
}

static box transposed(ac_ctx *cx, const ac_node *n)
{
    const ac_tensor *x = n->in[0], *y = n->out[0];
    int32_t perm[AC_MAX_RANK];
    box to = {.bad = ac_perm_of(cx, n, perm) != AC_OK};
    for (int32_t d = 0; d < y->rank && !to.bad; d++)
        add_dim(&to, y->dim[d], ac_dim_product(x->dim, perm[d] + 1, x->rank));
    return to;
}

static box cut(ac_ctx *cx, const ac_node *n)
{
    const ac_tensor *x = n->in[0];
    ac_slice s;
    box to = {.bad = (n->op == AC_OP_SLICE ? ac_slice_of : ac_strided_slice_of)(cx, n, &s) != AC_OK};
    for (int32_t d = 0; d < x->rank && !to.bad; d++) {
        const int64_t step = ac_dim_product(x->dim, d + 1, x->rank);
        to.base += s.begin[d] * step;
        to.bad = s.step[d] < 1;
        add_dim(&to, s.extent[d], s.step[d] * step);
    }
    return to;
}

/* The operand of a move under its result. */
static box moved(ac_ctx *cx, const ac_node *n)
{
    const ac_tensor *x = n->in[0], *y = n->out[0];
    if (n->op == AC_OP_TILE)
        return tiled(y, x);
    if (n->op == AC_OP_BROADCAST_TO)
        return broadcast(y, x);
    if (n->op == AC_OP_TRANSPOSE)
        return transposed(cx, n);
    if (n->op == AC_OP_SLICE || n->op == AC_OP_STRIDED_SLICE)
        return cut(cx, n);
    return (box){.n = 1, .extent = {ac_tensor_count(y)}, .from = {1}};
}

/* The next dimension of more than one element; the rank if no other follows. */
static int32_t next_dim(const ac_tensor *t, int32_t d)
{
    do
        d++;
    while (d < t->rank && t->dim[d] == 1);
    return d;
}

/* Breaks of x as those of t, which has the same dimensions of more than one element; 0 if it has others. */
static uint32_t reshaped_breaks(const ac_tensor *t, const ac_tensor *x, uint32_t of)
{
    uint32_t mask = 0;
    int32_t d = next_dim(t, -1), k = next_dim(x, -1);
    for (; d < t->rank && k < x->rank && t->dim[d] == x->dim[k]; d = next_dim(t, d), k = next_dim(x, k))
        mask |= (of >> k & 1) << d;
    return d == t->rank && k == x->rank ? mask : 0;
}

static uint32_t breaks_of(const ac_tensor *t, int32_t *left)
{
    const ac_node *n = ac_recipe_bytes(t) < ac_recipe_stored(t) ? ac_recipe_node(t) : NULL;
    uint32_t mask = 0;
    if (!n || --*left < 0)
        return 0;
    if (ac_ops[n->op].flags & OF_VIEW)
        return reshaped_breaks(t, n->in[0], breaks_of(n->in[0], left));
    if (!ac_ops[n->op].map && n->op != AC_OP_BROADCAST_TO && !is_pieces(n))
        return 0;
    mask = is_pieces(n) ? breaks_of_pieces(n) : 0;
    for (int32_t i = 0; i < n->n_in; i++) {
        const ac_tensor *x = n->in[i];
        if (!x || ac_node_is_static(n, i))
            continue;
        const int32_t off = t->rank - x->rank;
        for (int32_t d = next_dim(t, -1), e; (e = next_dim(t, d)) < t->rank && !is_pieces(n); d = e)
            mask |= (uint32_t)((d < off || x->dim[d - off] == 1) != (e < off || x->dim[e - off] == 1)) << d;
        mask |= breaks_of(x, left) << (off > 0 ? off : 0);
    }
    return mask;
}

uint32_t ac_recipe_breaks(const ac_tensor *t)
{
    int32_t left = MOST_NODES;
    return ac_tensor_is_const(t) && ac_recipe_saves(t) ? breaks_of(t, &left) : 0;
}

/* Where in the operand the element at `at` of the result is. */
static ac_spot through(ac_lb *b, ac_spot at, const box *x)
{
    ac_spot to = {.lanes = at.lanes, .base = x->base, .failed = x->bad};
    if (x->n == 1 && x->from[0] == 1 && !x->base)
        return at;
    for (int32_t d = 0; d < x->n; d++) {
        const ac_spot part = ac_spot_split(b, &at, ac_dim_product(x->extent, d + 1, x->n));
        to.failed |= part.failed;
        if (x->from[d])
            ac_spot_add(&to, &part, x->from[d]);
    }
    return to;
}

/* ------------------------------------------------------------------ values */

/* The value of all elements of t. */
static ac_x uniform(ac_lb *b, const ac_tensor *t, const void *data)
{
    const ac_dtype d = ac_dtype_loops(t->dtype);
    if (ac_dtype_is_half(d))
        return ac_lb_bitcast(b, ac_lb_int(b, AC_U16, ac_dtype_get_int(AC_U16, data, 0)), d);
    if (ac_dtype_is_float(d))
        return ac_lb_num(b, d, ac_dtype_get_num(d, data, 0));
    return ac_lb_int(b, d, ac_dtype_get_int(d, data, 0));
}

/* first + position * step, exactly. */
static ac_x progression(ac_lower *L, ac_dtype d, int64_t first, int64_t step, const ac_spot *at)
{
    ac_lb *b = &L->b;
    ac_x v = ac_lb_add(b, ac_lb_mul(b, ac_spot_value(b, at), ac_lb_i32(b, step)), ac_lb_i32(b, first));
    int64_t *lane = AC_NEW_N(L->region, int64_t, at->lanes);
    for (int32_t l = 0; l < at->lanes; l++)
        lane[l] = l * step;
    v = ac_lb_splat(b, v, at->lanes);
    v = at->along ? ac_lb_add(b, v, ac_lb_constv(b, AC_I32, lane, at->lanes)) : v;
    return d == AC_I32 ? v : ac_lb_cast(b, v, d);
}

static ac_x loaded(ac_lower *L, ac_tensor *t, const ac_spot *at)
{
    const ac_x code = ac_nibbles_bytes(t) < ac_tensor_bytes(t) ? ac_nibbles_load(L, t, at) : 0;
    if (code)
        return code;
    const ac_x v = ac_lb_load(&L->b, ac_lo_operand(L, t), ac_spot_value(&L->b, at), at->along ? at->lanes : 1);
    return ac_lb_splat(&L->b, v, at->lanes);
}

static ac_x map_value(ac_lower *L, const ac_node *n, const ac_spot *at)
{
    ac_tensor *list[4];
    ac_x arg[4] = {0};
    const int32_t count = ac_lo_map_operands(L, n, list);
    for (int32_t i = 0; i < count; i++) {
        if (!list[i])
            continue;
        const box x = broadcast(n->out[0], list[i]);
        const ac_spot own = through(&L->b, *at, &x);
        if (!(arg[i] = ac_recipe_value(L, list[i], &own)))
            return 0;
    }
    return L->rows[n->op].map(L, n, arg);
}

/* The element of n's result at `at`; 0: a vector, or a place that cannot be computed. */
static ac_x looked_up(ac_lower *L, const ac_node *n, const ac_spot *at)
{
    ac_lb *b = &L->b;
    const ac_node *mod = n->in[1]->made_of;
    if (at->lanes > 1 || at->failed || mod->in[0]->rank != n->out[0]->rank)
        return 0;
    for (int32_t d = 0; d < mod->in[0]->rank; d++)
        if (mod->in[0]->dim[d] != n->out[0]->dim[d])
            return 0;
    const ac_x place = ac_recipe_value(L, mod->in[0], at);
    if (!place)
        return 0;
    const int64_t size = ac_dtype_get_int(AC_I32, mod->in[1]->data, 0);
    return ac_lb_load(b, ac_lo_operand(L, n->in[0]), ac_lb_mod(b, place, ac_lb_i32(b, size)), 1);
}

static ac_x joined(ac_lower *L, const ac_node *n, ac_spot at)
{
    const ac_tensor *y = n->out[0];
    const int32_t axis = axis_of(n);
    const int64_t row = ac_dim_product(y->dim, axis, y->rank);
    const bool one = ac_tensor_count(y) == row; /* then `at` is below it, though it can be out of memory */
    const ac_spot outer = one ? (ac_spot){.lanes = at.lanes} : ac_spot_split(&L->b, &at, row);
    int64_t end = row;
    ac_x v = 0;
    for (int32_t i = n->n_in - 1; i >= 0 && !at.failed; i--) {
        ac_tensor *x = n->in[i];
        const int64_t part = ac_dim_product(x->dim, axis, x->rank), start = end - part;
        if (!part)
            continue;
        ac_spot own = inside(L, &at, start, part, row);
        ac_spot_add(&own, &outer, part);
        const ac_x piece = ac_recipe_value(L, x, &own);
        if (!piece)
            return 0;
        v = end == row ? piece : ac_lb_select(&L->b, is_below(L, &at, end), piece, v);
        end = start;
    }
    return v;
}

/* The element of the border of n's result. */
static ac_x border(ac_lower *L, const ac_node *n, const ac_spot *at)
{
    const ac_tensor *y = n->out[0];
    const ac_dtype d = ac_dtype_loops(y->dtype);
    if (n->op == AC_OP_PADV2)
        return ac_recipe_value(L, n->in[2], at);
    if (ac_dtype_is_half(d))
        return ac_lb_splat(&L->b, ac_lb_cast(&L->b, ac_lb_f32(&L->b, 0), d), at->lanes);
    return ac_lb_splat(
        &L->b, ac_dtype_is_float(d) ? ac_lb_num(&L->b, d, 0) : ac_lb_int(&L->b, d, y->quant ? ac_quant_zero(y) : 0),
        at->lanes);
}

static ac_x padded(ac_lower *L, const ac_node *n, ac_spot at)
{
    ac_lb *b = &L->b;
    group g[AC_MAX_RANK];
    const int32_t count = groups_of(L->cx, n, g);
    ac_spot own = {.lanes = at.lanes, .failed = !count};
    ac_x is_inside = 0, v = border(L, n, &at);
    int64_t left = ac_tensor_count(n->out[0]), step = ac_tensor_count(n->in[0]);
    if (!step)
        return v;
    for (int32_t i = 0; i < count; i++) {
        left /= g[i].size;
        step /= g[i].extent;
        const ac_spot part = ac_spot_split(b, &at, left);
        if (part.failed)
            return 0;
        const ac_spot within = inside(L, &part, g[i].before, g[i].extent, g[i].size);
        ac_spot_add(&own, &within, step);
        const int64_t end = g[i].before + g[i].extent;
        ac_x in[2] = {0};
        if (g[i].before)
            in[0] = ac_lb_not(b, is_below(L, &part, g[i].before));
        if (end < g[i].size)
            in[1] = is_below(L, &part, end);
        for (int k = 0; k < 2; k++)
            if (in[k])
                is_inside = is_inside ? ac_lb_and(b, is_inside, in[k]) : in[k];
    }
    const ac_x x = ac_recipe_value(L, n->in[0], &own);
    if (!x || !v)
        return 0;
    return is_inside ? ac_lb_select(b, is_inside, x, v) : x;
}

static ac_x piece_value(ac_lower *L, const ac_node *n, const ac_spot *at)
{
    return is_padded(n) ? padded(L, n, *at) : joined(L, n, *at);
}

ac_x ac_recipe_value(ac_lower *L, ac_tensor *t, const ac_spot *at)
{
    const ac_node *n = ac_recipe_bytes(t) < ac_recipe_stored(t) ? ac_recipe_node(t) : NULL;
    int64_t first, step;
    if (t->splat || ac_tensor_count(t) == 1) {
        const void *data = t->splat ? t->data : ac_tensor_force(L->cx, t);
        return data ? ac_lb_splat(&L->b, uniform(&L->b, t, data), at->lanes) : 0;
    }
    if (at->failed)
        return 0;
    if (ac_recipe_progression(t, &first, &step))
        return progression(L, t->dtype, first, step, at);
    if (!n)
        return loaded(L, t, at);
    if (n->op == AC_OP_GATHER)
        return looked_up(L, n, at);
    if (ac_ops[n->op].map)
        return map_value(L, n, at);
    if (is_pieces(n))
        return piece_value(L, n, at);
    const box x = moved(L->cx, n);
    const ac_spot own = through(&L->b, *at, &x);
    return ac_recipe_value(L, n->in[0], &own);
}
