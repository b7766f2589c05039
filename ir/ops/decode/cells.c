/* cells.c - recognises layers of cells; see cells.h. */
#include "ir/ops/decode/cells.h"

#include "ir/ops/decode/slice.h"

#include <string.h>

enum { UNKNOWN = -1, WRONG = -2, OPEN = -3 }; /* of a tensor: no cell computes it; it is being looked at */

typedef struct finder {
    ac_ctx *cx;
    ac_region *region;
    ac_cells *c;
} finder;

const ac_node *ac_cells_maker(const ac_tensor *t)
{
    const ac_node *n = t->def;
    for (int32_t f = -1; n && f < n->n_fused; f++) {
        const ac_node *m = f < 0 ? n : n->fused[f];
        if (m->n_out == 1 && m->out[0] == t)
            return m;
    }
    return NULL;
}

/* A constant; before pass state also a value that only depends on constants, which pass fold will compute. */
static bool is_fixed(const ac_cells *c, const ac_tensor *t, int32_t depth)
{
    const ac_node *n = t->def;
    if (ac_tensor_is_const(t))
        return true;
    bool all = n && !c->body->carry && depth > 0 && !t->input && !t->state &&
               !(ac_ops[n->op].flags & (OF_STATE | OF_RANDOM | OF_FLOW));
    for (int32_t i = 0; all && i < n->n_in; i++)
        all = !n->in[i] || is_fixed(c, n->in[i], depth - 1);
    return all;
}

enum { DEEP = 8 }; /* nodes in a row that make a constant */

static int32_t number_of(ac_tensor *const *list, int32_t n, const ac_tensor *t)
{
    for (int32_t i = 0; i < n; i++)
        if (list[i] == t)
            return i;
    return -1;
}

static bool slice_of(const finder *f, const ac_node *m, int64_t *first)
{
    ac_slice s;
    const ac_tensor *x = m->in[0];
    const ac_diags before = f->cx->diags;
    const bool known = ac_quietly(f->cx, before, ac_slice_of(f->cx, m, &s)) && x->rank > 0;
    const int32_t last = x->rank - 1;
    for (int32_t d = 0; known && d < last; d++)
        if (s.begin[d] || s.step[d] != 1 || s.extent[d] != x->dim[d])
            return false;
    *first = known ? s.begin[last] / f->c->units : 0;
    return known && s.step[last] == 1 && s.begin[last] % f->c->units == 0 && s.extent[last] % f->c->units == 0;
}

int64_t ac_cells_slice(const ac_cells *c, const ac_node *m)
{
    ac_cells own = *c;
    int64_t first = 0;
    const finder f = {.cx = c->body->cx, .c = &own};
    slice_of(&f, m, &first);
    return first;
}

/* A row's elements belong to units. */
static bool is_rows(const ac_cells *c, const ac_tensor *t)
{
    return ac_tensor_count(t) % (c->batch * c->units) == 0 && ac_tensor_count(t) > 0 && !t->narrowed &&
           ac_dtype_loops(t->dtype) == t->dtype;
}

/* An operand of an element-wise node: of the result's shape, or a constant that is one element or one row. */
static bool fits(const ac_cells *c, const ac_tensor *t, const ac_tensor *y)
{
    const int64_t count = ac_tensor_count(t);
    if (count == ac_tensor_count(y))
        return true;
    return is_fixed(c, t, DEEP) &&
           (count == 1 || (t->rank > 0 && y->rank > 0 && count == y->dim[y->rank - 1] && t->dim[t->rank - 1] == count));
}

static int32_t phase_of(finder *f, ac_tensor *t);

static int32_t map_phase(finder *f, const ac_node *m)
{
    int32_t last = 0;
    for (int32_t i = 0; i < m->n_in; i++) {
        if (!m->in[i])
            continue;
        const int32_t p = fits(f->c, m->in[i], m->out[0]) ? phase_of(f, m->in[i]) : WRONG;
        if (p == WRONG)
            return WRONG;
        last = p > last ? p : last;
    }
    return last;
}

static int32_t product_phase(finder *f, const ac_node *m)
{
    ac_cells *c = f->c;
    ac_tensor *x = m->in[0];
    const ac_tensor *w = m->in[1], *bias = ac_node_in(m, 2);
    if (w->rank != 2 || !is_fixed(c, w, DEEP) || w->dtype != AC_F32 || x->dtype != AC_F32 || w->quant || w->narrowed ||
        (bias && (!is_fixed(c, bias, DEEP) || bias->dtype != AC_F32 || ac_tensor_count(bias) != w->dim[0])) ||
        m->out[0]->dtype != AC_F32 || w->dim[0] % c->units || ac_tensor_count(x) != c->batch * w->dim[1])
        return WRONG;
    while (ac_cells_maker(x) && ac_cells_maker(x)->op == AC_OP_RESHAPE)
        x = ac_cells_maker(x)->in[0];
    ac_cell_product p = {.node = m, .x = x, .depth = w->dim[1], .groups = w->dim[0] / c->units};
    p.state = number_of(c->state, c->scan.states, x);
    const int32_t before = p.state >= 0 ? -1 : ac_cells_maker(x) ? phase_of(f, x) : WRONG;
    if (before == WRONG)
        return WRONG;
    p.phase = before + 1;
    enum { BLOCKS = 8, WIDE = 16 };
    c->weights += ac_tensor_count(w);
    c->padded += (c->units + BLOCKS - 1) / BLOCKS * BLOCKS * p.groups * ((p.depth + WIDE - 1) / WIDE * WIDE);
    ac_push(f->region, &c->product, p);
    return p.phase;
}

static int32_t new_phase(finder *f, ac_tensor *t)
{
    const ac_cells *c = f->c;
    if (is_fixed(c, t, DEEP))
        return t->narrowed || ac_dtype_loops(t->dtype) != t->dtype ? WRONG : 0;
    if (!is_rows(c, t))
        return WRONG;
    if (number_of(c->state, c->scan.states, t) >= 0 || number_of(c->input, c->scan.sequences, t) >= 0)
        return 0;
    const ac_node *m = ac_cells_maker(t);
    int64_t first;
    if (!m || ac_node_reduction(t->def))
        return WRONG;
    if (m->op == AC_OP_FULLY_CONNECTED)
        return product_phase(f, m);
    if (m->op == AC_OP_RESHAPE || m->op == AC_OP_ASSIGN)
        return phase_of(f, m->in[0]);
    if (m->op == AC_OP_SLICE)
        return slice_of(f, m, &first) ? phase_of(f, m->in[0]) : WRONG;
    return ac_ops[m->op].map && !(ac_ops[m->op].flags & OF_STATE) ? map_phase(f, m) : WRONG;
}

static int32_t phase_of(finder *f, ac_tensor *t)
{
    int32_t *p = &f->c->phase[t->id];
    if (*p == UNKNOWN) {
        *p = OPEN;
        *p = new_phase(f, t);
    }
    return *p == OPEN ? WRONG : *p;
}

/* After pass state: the value that a node stores over a state. */
static ac_tensor *assigned(const ac_graph *g, const ac_tensor *state)
{
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_node *n = g->node.item[i];
        for (int32_t k = -1; k < n->n_fused; k++) {
            const ac_node *m = k < 0 ? n : n->fused[k];
            if (m->op == AC_OP_ASSIGN && m->n_out == 1 && m->out[0]->root == state)
                return m->out[0];
        }
    }
    return NULL;
}

static bool find_states(finder *f)
{
    ac_cells *c = f->c;
    const ac_graph *g = c->body;
    const int32_t before = g->carry ? 0 : c->scan.states;
    if (!c->scan.states || g->input.n < before + c->scan.sequences || g->output.n < before + c->scan.elements)
        return false;
    c->state = g->carry ? g->carry : g->input.item;
    c->input = g->input.item + before;
    c->element = g->output.item + before;
    c->next = AC_NEW_N(f->region, ac_tensor *, c->scan.states);
    const ac_tensor *s = c->state[0];
    c->units = s->rank > 0 ? s->dim[s->rank - 1] : 0;
    c->batch = c->units > 0 ? ac_tensor_count(s) / c->units : 0;
    for (int32_t i = 0; i < c->scan.states; i++) {
        const ac_tensor *t = c->state[i];
        c->next[i] = g->carry ? assigned(g, t) : g->output.item[i];
        if (!c->next[i] || t->dtype != AC_F32 || t->narrowed || ac_tensor_count(t) != c->batch * c->units)
            return false;
    }
    return c->batch > 0;
}

bool ac_cells_of(ac_ctx *cx, ac_region *region, const ac_node *n, const ac_graph *body, ac_cells *c)
{
    *c = (ac_cells){.body = body};
    finder f = {cx, region, c};
    if (ac_scan_of(cx, n, &c->scan) != AC_OK || !find_states(&f))
        return false;
    c->phase = AC_NEW_N(region, int32_t, body->tensor.n + 1);
    memset(c->phase, 0xff, (size_t)(body->tensor.n + 1) * sizeof *c->phase);
    for (int32_t i = 0; i < c->scan.states + c->scan.elements; i++) {
        ac_tensor *t = i < c->scan.states ? c->next[i] : c->element[i - c->scan.states];
        const int32_t p = is_rows(c, t) ? phase_of(&f, t) : WRONG;
        if (p == WRONG)
            return false;
        c->phases = p >= c->phases ? p + 1 : c->phases;
    }
    return c->product.n > 0;
}

bool ac_cells_fit(const ac_cells *c, int32_t gpu)
{
    enum { CLUSTER = 8 * 256 * 150, BLOCK = 512 * 84, MOST_ROWS = 8 }; /* registers for weights */
    return gpu > 0 && c->padded <= (gpu >= 90 ? CLUSTER : BLOCK) && c->batch <= MOST_ROWS;
}
