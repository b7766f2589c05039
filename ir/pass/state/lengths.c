/* lengths.c - values that a model computes from the length of its caches are computed from the position instead.
 *
 * Exporters take positions and masks from a size: arange(past, past + n), compared with arange(past + n), is the set of
 * rows that each new token sees. If the caches have their final size, these are constants of that size. The constants
 * that depend on it are found by comparison with the same model for other lengths:
 *
 *   arange(past + n)        has one more element for each row, and the same beginning. It stays as it is.
 *   past, arange(past, past + n)   integers that grow linearly: their value, minus the size, plus the position.
 *   a <= b, where(m, 0, -1e30)     values that depend on the latter are computed in each run, by the same operators.
 *   slice(x, past, past + n)       a slice that begins there gathers its rows; so does one of a table's last past + n.
 *
 * Any other use is an error that names the step. */
#include "ir/make/maker.h"
#include "ir/ops/decode/slice.h"
#include "ir/ops/shape/resolve.h"
#include "ir/pass/state/twins.h"

enum { DEEP = 1000 }; /* operators in a chain that are recomputed for one operand */

static int unlike(const ac_lengths *l)
{
    ac_error(l->cx, l->reader->at, E0502,
             "--state: the result of '%s' depends on the capacity of the cache, not on its valid rows",
             l->reader->name);
    return ac_help(
        l->cx, "positions and masks that depend on the length of the caches are computed from the position, but other "
               "uses of the length are not; omit the --state of the caches, or make the dependent value an input");
}

/* ------------------------------------------------------------------ nodes of each run */

/* A constant from which only other constants were computed is part of the graph again. */
static ac_tensor *known_again(ac_lengths *l, ac_tensor *t)
{
    if (t && !ac_graph_has(l->g, t)) {
        t->id = l->g->tensor.n;
        ac_push(l->g->region, &l->g->tensor, t);
    }
    return t;
}

static ac_tensor *position_as(ac_lengths *l, ac_dtype dtype, int32_t rank)
{
    ac_tensor **as = &l->as[dtype == AC_I64][rank == 0];
    ac_attrs attrs;
    if (!*as && rank == 0) {
        ac_tensor *y = ac_tensor_new(l->g, "position_number", dtype, 0, NULL);
        ac_maker b = ac_maker_named(l->g, y->name);
        b.unsized = true;
        *as = ac_make_into(&b, AC_OP_RESHAPE, (ac_tensor *[]){position_as(l, dtype, 1)}, 1, NULL, y);
    } else if (!*as && dtype == AC_I64) {
        ac_attrs_init(AC_OP_CAST, &attrs);
        attrs.cast.to = AC_I64;
        *as = ac_make_called(l->g, "position_wide", AC_OP_CAST, &l->position, 1, &attrs);
    } else if (!*as)
        *as = l->position;
    return *as;
}

static ac_tensor *integer_constant(ac_lengths *l, const char *name, const ac_tensor *like, const int64_t *v)
{
    const int64_t n = ac_tensor_count(like);
    int64_t *wide = AC_NEW_N(l->g->region, int64_t, n + 1);
    int32_t *narrow = AC_NEW_N(l->g->region, int32_t, n + 1);
    for (int64_t i = 0; i < n; i++)
        narrow[i] = (int32_t)(wide[i] = v[i]);
    return ac_tensor_const(l->g, name, like->dtype, like->rank, like->dim,
                           like->dtype == AC_I64 ? (const void *)wide : narrow);
}

/* first + slope * position */
static ac_tensor *of_position(ac_lengths *l, const ac_tensor *like, const int64_t *first, const int64_t *slope)
{
    const int64_t n = ac_tensor_count(like);
    bool ones = true;
    for (int64_t i = 0; i < n; i++)
        ones &= slope[i] == 1;
    ac_tensor *p = position_as(l, like->dtype, like->rank);
    if (!ones)
        p = ac_make_called(l->g, ac_strf(l->tmp, "%s_rows", like->name), AC_OP_MUL,
                           (ac_tensor *[]){integer_constant(l, "rows_each", like, slope), p}, 2, NULL);
    return ac_make_called(l->g, ac_strf(l->tmp, "%s_now", like->name), AC_OP_ADD,
                          (ac_tensor *[]){integer_constant(l, "rows_from", like, first), p}, 2, NULL);
}

/* ------------------------------------------------------------------ slices that begin elsewhere */

/* The move of a slice's begin if the cache has one more row. */
typedef struct moved {
    ac_slice now;
    int32_t axis; /* its dimension; -1: the slice does not move */
    int64_t slope;
    bool grows; /* it also takes one more element there */
} moved;

/* false: not supported. */
static bool slice_moves(const ac_lengths *l, const ac_node *const *n, moved *m)
{
    ac_slice *const now = &m->now;
    const bool plain = n[AC_HERE]->op == AC_OP_SLICE;
    const ac_tensor *x = n[AC_NOW]->in[0], *y = n[AC_OTHER]->in[0];
    ac_slice other;
    m->axis = -1;
    if (n[AC_HERE]->op == AC_OP_REVERSE_V2 || n[AC_HERE]->op == AC_OP_REVERSE_SEQUENCE)
        return ac_tensor_same_shape(x, y);
    if (!plain && n[AC_HERE]->op != AC_OP_STRIDED_SLICE)
        return true;
    if ((plain ? ac_slice_of : ac_strided_slice_of)(l->cx, n[AC_NOW], now) != AC_OK ||
        (plain ? ac_slice_of : ac_strided_slice_of)(l->cx, n[AC_OTHER], &other) != AC_OK)
        return false;
    for (int32_t d = 0; d < x->rank; d++) {
        if (other.step[d] != now->step[d] || (now->step[d] < 0 && x->dim[d] != y->dim[d]))
            return false;
        if (other.begin[d] == now->begin[d])
            continue;
        m->grows = other.extent[d] == now->extent[d] + l->more;
        if (m->axis >= 0 || (!m->grows && other.extent[d] != now->extent[d]))
            return false;
        m->axis = d;
        m->slope = (other.begin[d] - now->begin[d]) * l->more;
    }
    return true;
}

/* x, sliced along all dimensions but `axis`. NULL: the slice skips elements there. */
static ac_tensor *other_dimensions(ac_lengths *l, ac_tensor *x, const ac_slice *s, int32_t axis, const char *name)
{
    ac_attrs attrs;
    bool whole = true, fits = true;
    int64_t *begin = AC_NEW_N(l->g->region, int64_t, x->rank + 1), *size = AC_NEW_N(l->g->region, int64_t, x->rank + 1);
    for (int32_t d = 0; d < x->rank; d++) {
        begin[d] = d == axis ? 0 : s->begin[d];
        size[d] = d == axis ? x->dim[d] : s->extent[d];
        whole &= begin[d] == 0 && size[d] == x->dim[d];
        fits &= d == axis || s->step[d] == 1;
    }
    ac_attrs_init(AC_OP_SLICE, &attrs);
    attrs.slice.begin = (ac_ints){x->rank, begin};
    attrs.slice.size = (ac_ints){x->rank, size};
    if (whole || !fits)
        return fits ? x : NULL;
    return ac_make_called(l->g, name, AC_OP_SLICE, (ac_tensor *[]){known_again(l, x)}, 1, &attrs);
}

/* Invalid elements may be any element of x. */
static ac_tensor *clamped_index(ac_lengths *l, ac_tensor *index, int64_t most)
{
    const ac_tensor one = {.dtype = AC_I32, .rank = 1, .dim = {1}};
    ac_tensor *const below[] = {index, integer_constant(l, "rows_last", &one, &most)};
    ac_tensor *y = ac_make_called(l->g, index->name, AC_OP_MINIMUM, below, 2, NULL);
    ac_tensor *const above[] = {y, integer_constant(l, "rows_first", &one, &(int64_t){0})};
    return ac_make_called(l->g, index->name, AC_OP_MAXIMUM, above, 2, NULL);
}

/* The rows of x that the slice takes in this run. out: the result; NULL: a new tensor. */
static ac_tensor *gathered(ac_lengths *l, ac_tensor *x, const moved *m, const ac_tensor *like, ac_tensor *out)
{
    ac_attrs attrs;
    const ac_slice *s = &m->now;
    const int64_t n = s->extent[m->axis];
    int64_t *first = AC_NEW_N(l->tmp, int64_t, n + 1), *slopes = AC_NEW_N(l->tmp, int64_t, n + 1);
    for (int64_t i = 0; i < n; i++) {
        slopes[i] = m->slope;
        first[i] = s->begin[m->axis] + i * s->step[m->axis] - m->slope * l->rows_before;
    }
    ac_tensor index = {.name = like->name, .dtype = AC_I32, .rank = 1, .dim = {n}};
    ac_tensor *const from = like->rank == x->rank ? other_dimensions(l, x, s, m->axis, like->name) : NULL;
    ac_tensor *at = from ? of_position(l, &index, first, slopes) : NULL;
    at = at && m->grows ? clamped_index(l, at, x->dim[m->axis] - 1) : at;
    if (!at) {
        unlike(l);
        return NULL;
    }
    ac_tensor *const in[] = {known_again(l, from), at};
    ac_attrs_init(AC_OP_GATHER, &attrs);
    attrs.gather.axis = m->axis;
    if (!out)
        return ac_make_called(l->g, like->name, AC_OP_GATHER, in, 2, &attrs);
    const ac_maker b = {.cx = l->cx, .g = l->g, .name = like->name, .at = l->reader->at};
    return ac_make_into(&b, AC_OP_GATHER, in, 2, &attrs, out);
}

/* ------------------------------------------------------------------ the value of a constant in a run */

static ac_tensor *now_of(ac_lengths *l, const ac_twin *x);

/* True if operand i is only the size of the result, or the begin of a slice (slice_moves). The size does not change. */
static bool says_size(const ac_node *n, int32_t i)
{
    return ac_ops[n->op].flags & OF_VIEW || (n->op == AC_OP_BROADCAST_TO && i == 1) ||
           (n->op == AC_OP_FILL && i == 0) ||
           ((n->op == AC_OP_SLICE || n->op == AC_OP_STRIDED_SLICE) && (i == 1 || i == 2));
}

/* True if a static operand is the same for all lengths, or grows linearly. */
static bool static_agrees(const ac_lengths *l, const ac_twin *x)
{
    const int64_t *slope;
    return ac_twin_even(l, x, &slope) || (!ac_twin_depends(l, x) && ac_twin_agrees(l, x->t[AC_HERE], NULL));
}

/* The dimension of the rows in the result of n, whose operands are constants or depend on constants only. false: n
 * reads all rows as if they were valid. */
static bool rows_after(ac_lengths *l, ac_node *n, const ac_twin *x, int32_t *axis)
{
    const ac_rows_at none = {.axis = -1};
    ac_rows_at to = none;
    bool any = false, fits = ac_twin_axis(x->t[AC_HERE], x->t[AC_OTHER], axis);
    ac_rows_at *was = AC_NEW_N(l->tmp, ac_rows_at, n->n_in + 1);
    for (int32_t i = 0; i < n->n_in; i++) {
        ac_twin o;
        int32_t at = -1;
        was[i] = ac_rows_of(l->rows, n->in[i]);
        if (!n->in[i] || ac_node_is_static(n, i) || was[i].axis >= 0 || !ac_twin_operand(x, i, &o))
            continue;
        fits &= ac_twin_axis(o.t[AC_HERE], o.t[AC_OTHER], &at);
        if (at >= 0)
            ac_rows_set(l->rows, n->in[i], (ac_rows_at){.axis = at});
    }
    any = ac_rows_read(l->rows, n);
    fits = fits && (!any || (ac_rows_follow(l->rows, n, &to) && to.axis == *axis));
    for (int32_t i = 0; i < n->n_in; i++)
        if (n->in[i] && ac_rows_of(l->rows, n->in[i]).axis != was[i].axis)
            ac_rows_set(l->rows, n->in[i], was[i]);
    return fits;
}

/* The node that made x, applied to the values of its operands in a run. */
static ac_tensor *recomputed(ac_lengths *l, const ac_twin *x, bool alike)
{
    const ac_node *n[AC_TWINS];
    moved from = {0};
    int32_t axis;
    bool fits = true, any = false;
    for (int32_t k = 0; k < AC_TWINS; k++) {
        n[k] = ac_twin_maker(x->t[k]);
        fits = fits && n[k] && n[k]->op == n[AC_HERE]->op && n[k]->n_in == n[AC_HERE]->n_in;
    }
    if (!fits || ac_ops[n[AC_HERE]->op].flags & (OF_STATE | OF_FLOW) || !slice_moves(l, n, &from)) {
        unlike(l);
        return NULL;
    }
    ac_tensor **in = ac_copy(l->tmp, n[AC_HERE]->in, (size_t)(n[AC_HERE]->n_in + 1) * sizeof *in);
    for (int32_t i = 0; i < n[AC_HERE]->n_in && fits; i++) {
        ac_twin o;
        if (!ac_twin_operand(x, i, &o) || !ac_twin_depends(l, &o))
            continue;
        fits = !ac_node_is_static(n[AC_HERE], i) || (says_size(n[AC_HERE], i) && static_agrees(l, &o));
        if (fits && !ac_node_is_static(n[AC_HERE], i)) {
            in[i] = now_of(l, &o);
            if (!in[i])
                return NULL;
            any |= in[i] != o.t[AC_HERE];
        }
    }
    fits = fits && ac_twin_axis(x->t[AC_HERE], x->t[AC_OTHER], &axis) &&
           (from.axis < 0 || from.grows == (axis == from.axis));
    if (fits && from.axis >= 0) {
        ac_tensor *y = gathered(l, in[0], &from, x->t[AC_HERE], NULL);
        if (y && axis >= 0)
            ac_rows_set(l->rows, y, (ac_rows_at){.axis = axis});
        return y;
    }
    ac_node *made = AC_NEW(l->tmp, ac_node);
    *made = *n[AC_HERE];
    made->in = in;
    if (!fits || !rows_after(l, made, x, &axis) || (!any && !alike)) {
        unlike(l);
        return NULL;
    }
    if (!any) /* it differs in the number of rows only */
        return x->t[AC_HERE];
    ac_tensor **out = AC_NEW_N(l->tmp, ac_tensor *, made->n_out + 1), *found = NULL;
    for (int32_t i = 0; i < made->n_in; i++)
        known_again(l, in[i]);
    for (int32_t i = 0; i < made->n_out; i++) {
        out[i] = ac_tensor_new(l->g, ac_strf(l->tmp, "%s_now", n[AC_HERE]->out[i]->name), AC_NONE, 0, NULL);
        if (n[AC_HERE]->out[i] == x->t[AC_HERE])
            found = out[i];
    }
    if (ac_node_resolve(l->cx, l->g, ac_make_copy(l->g, n[AC_HERE], in, out)) != AC_OK)
        return NULL;
    if (!found || !ac_tensor_same_kind(found, x->t[AC_HERE])) {
        unlike(l);
        return NULL;
    }
    if (axis >= 0)
        ac_rows_set(l->rows, found, (ac_rows_at){.axis = axis});
    return found;
}

static ac_tensor *find_now(ac_lengths *l, const ac_twin *x)
{
    bool known;
    const int64_t *slope;
    if (ac_twin_same(l, x, &known))
        return x->t[AC_HERE];
    const int64_t *v = ac_twin_even(l, x, &slope);
    if (!v)
        return recomputed(l, x, !known);
    const int64_t n = ac_tensor_count(x->t[AC_NOW]);
    int64_t *first = AC_NEW_N(l->tmp, int64_t, n + 1);
    for (int64_t i = 0; i < n; i++)
        first[i] = v[i] - slope[i] * l->rows_before;
    return of_position(l, x->t[AC_HERE], first, slope);
}

static ac_tensor *now_of(ac_lengths *l, const ac_twin *x)
{
    for (int32_t i = 0; i < l->known.n; i++)
        if (l->known.item[i].t[AC_HERE] == x->t[AC_HERE])
            return l->known.item[i].t[AC_NOW];
    if (l->depth >= DEEP) {
        unlike(l);
        return NULL;
    }
    l->depth++;
    ac_tensor *y = find_now(l, x);
    l->depth--;
    if (y)
        ac_push(l->tmp, &l->known, ((ac_twin){{x->t[AC_HERE], y}}));
    return y;
}

/* ------------------------------------------------------------------ the graph */

void ac_lengths_position(ac_lengths *l, ac_tensor *position)
{
    l->position = position;
}

int ac_lengths_node(ac_lengths *l, int32_t at, bool *replaced)
{
    ac_node *n = l->node[AC_HERE][at];
    const ac_node *all[AC_TWINS];
    moved from = {0};
    *replaced = false;
    if (n->op == AC_OP_NONE || (n->n_out && l->constant[n->out[0]->id]))
        return AC_OK;
    l->reader = n;
    for (int32_t k = 0; k < AC_TWINS; k++)
        all[k] = l->node[k][at];
    if (!slice_moves(l, all, &from) || from.grows)
        return unlike(l);
    for (int32_t i = 0; i < n->n_in; i++) {
        ac_twin x;
        bool there = n->in[i] && ac_lengths_constant(l, n->in[i]);
        for (int32_t k = 0; k < AC_TWINS && there; k++)
            there = (x.t[k] = all[k]->in[i]) != NULL;
        if (!there)
            continue;
        const bool is_static = ac_node_is_static(n, i), differs = ac_twin_depends(l, &x);
        if (is_static ? !static_agrees(l, &x) || (differs && !says_size(n, i))
                      : !differs && !ac_twin_agrees(l, n->in[i], NULL))
            return unlike(l);
        ac_tensor *y = is_static || !differs ? n->in[i] : now_of(l, &x);
        if (!y)
            return AC_FAIL;
        n->in[i] = known_again(l, y);
    }
    if (from.axis < 0)
        return AC_OK;
    ac_tensor *x = n->in[0], *y = n->out[0];
    *replaced = true;
    ac_node_erase(n);
    return gathered(l, x, &from, y, y) ? AC_OK : AC_FAIL;
}

int ac_lengths_outputs(const ac_lengths *l)
{
    for (int32_t i = 0; i < l->g->output.n; i++) {
        ac_twin x = {{l->g->output.item[i]}};
        if (!ac_lengths_constant(l, x.t[AC_HERE]))
            continue;
        x.t[AC_NOW] = ac_tensor_find(l->graph[AC_NOW], x.t[AC_HERE]->name);
        x.t[AC_OTHER] = ac_tensor_find(l->graph[AC_OTHER], x.t[AC_HERE]->name);
        bool known = true;
        if (x.t[AC_NOW] && x.t[AC_OTHER] &&
            (!ac_twin_same(l, &x, &known) || !ac_tensor_same_shape(x.t[AC_NOW], x.t[AC_OTHER])))
            return ac_error(l->cx, (ac_place){.file = l->g->file}, E0502,
                            "--state: output '%s' %s depends on the capacity of the cache, not on its valid rows",
                            x.t[AC_HERE]->name, ac_tensor_str(l->cx, x.t[AC_HERE]));
    }
    return AC_OK;
}
