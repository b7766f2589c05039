/* pieces.c - constants that consist of others side by side, or of one with a border; see pieces.h. */
#include "ir/lower/recipe/pieces.h"

#include "ir/lower/recipe/recipe.h"
#include "ir/ops/decode/axis.h"

bool ac_pieces_are(const ac_node *n)
{
    return n->op == AC_OP_CONCATENATION || n->op == AC_OP_PACK || n->op == AC_OP_PAD || n->op == AC_OP_PADV2;
}

static bool is_padded(const ac_node *n)
{
    return n->op == AC_OP_PAD || n->op == AC_OP_PADV2;
}

bool ac_pieces_plain(const ac_node *n)
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

/* ------------------------------------------------------------------ positions */

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

uint32_t ac_pieces_breaks(const ac_node *n)
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

/* ------------------------------------------------------------------ values */

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

ac_x ac_pieces_value(ac_lower *L, const ac_node *n, const ac_spot *at)
{
    return is_padded(n) ? padded(L, n, *at) : joined(L, n, *at);
}
