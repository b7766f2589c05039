/* cells_values.c - the values of a unit in a phase of a step: those that other units read, outputs, and states after
 * the step. One thread computes them, from sums of the block and elements of sequences that it has loaded. */
#include "ir/lower/gpu/cells_parts.h"

ac_x ac_cells_item(cells *k, int64_t round)
{
    ac_lb *b = &k->L->b;
    const int64_t rows = k->units * k->c->batch;
    ac_x item = plus(k, k->t, num(k, round * k->threads));
    ac_x live = ac_lb_lt(b, item, num(k, k->items));
    item = k->items < k->threads * k->rounds ? ac_lb_min(b, item, num(k, k->items - 1)) : item;
    k->round = round;
    k->d = k->ranks > 1 ? ac_lb_div(b, item, num(k, rows)) : num(k, 0);
    k->b = ac_lb_mod(b, ac_lb_div(b, item, num(k, k->units)), num(k, k->c->batch));
    k->j = plus(k, times(k, k->r, k->units), ac_lb_mod(b, item, num(k, k->units)));
    if (k->units * k->ranks > k->c->units) {
        live = ac_lb_and(b, live, ac_lb_lt(b, k->j, num(k, k->c->units)));
        k->j = ac_lb_min(b, k->j, num(k, k->c->units - 1));
    }
    return live;
}

static ac_x value(cells *k, ac_tensor *t, const ac_tensor *like, int64_t q);

/* Element of row b, group q of groups, unit j. */
static ac_x flat(cells *k, int64_t groups, int64_t q)
{
    return plus(k, plus(k, times(k, k->b, groups * k->c->units), num(k, q * k->c->units)), k->j);
}

static int64_t groups_of(const cells *k, const ac_tensor *t)
{
    return ac_tensor_count(t) / (k->c->batch * k->c->units);
}

static ac_x constant(cells *k, ac_tensor *t, const ac_tensor *like, int64_t q)
{
    const int64_t count = ac_tensor_count(t);
    const ac_x at = count == 1                       ? num(k, 0)
                    : count == ac_tensor_count(like) ? flat(k, groups_of(k, t), q)
                                                     : plus(k, num(k, q * k->c->units), k->j);
    return ac_lo_load_at(k->L, t, at, false, 1);
}

/* Group q of product p of this phase, at the unit. */
static ac_x sum_of(cells *k, int32_t p, int64_t q)
{
    const ac_x local = ac_lb_sub(&k->L->b, k->j, times(k, k->r, k->units));
    const int64_t first = (k->share[p].sum + q * k->units) * k->c->batch;
    const ac_x at = plus(k, num(k, first), times(k, local, k->c->batch));
    return ac_lb_load(&k->L->b, k->all, plus(k, at, k->b), 1);
}

static ac_x product_value(cells *k, const ac_node *m, int64_t q)
{
    const ac_cells *c = k->c;
    int32_t p = 0;
    while (c->product.item[p].node != m)
        p++;
    ac_x v = c->product.item[p].phase < k->phase ? ac_lb_load(&k->L->b, k->state, kept_at(k, m->out[0], q, k->round), 1)
                                                 : sum_of(k, p, q);
    ac_tensor *bias = ac_node_in(m, 2);
    if (bias)
        v = plus(k, v, ac_lo_load_at(k->L, bias, plus(k, num(k, q * c->units), k->j), false, 1));
    return ac_lo_act(k->L, v, ac_node_act(m));
}

static ac_x state_value(cells *k, const ac_tensor *t)
{
    ac_lb *b = &k->L->b;
    if (k->row[t->id])
        return ac_lb_load(b, k->rows, in_part(k, k->r, in_row(k, t, true, k->now, k->b, k->j)), 1);
    return ac_lb_load(b, k->state, kept_at(k, t, 0, k->round), 1);
}

static ac_x map_value(cells *k, const ac_node *m, int64_t q)
{
    ac_tensor *list[4];
    ac_x arg[4] = {0};
    const int32_t n = ac_lo_map_operands(k->L, m, list);
    for (int32_t i = 0; i < n; i++)
        if (list[i] && !(arg[i] = value(k, list[i], m->out[0], q)))
            return 0;
    return k->L->rows[m->op].map(k->L, m, arg);
}

static int32_t input_of(const cells *k, const ac_tensor *t)
{
    for (int32_t i = 0; i < k->c->scan.sequences; i++)
        if (k->c->input[i] == t)
            return i;
    return -1;
}

static int32_t state_of(const cells *k, const ac_tensor *t)
{
    for (int32_t i = 0; i < k->c->scan.states; i++)
        if (k->c->state[i] == t)
            return i;
    return -1;
}

static int32_t *loaded(cells *k, const ac_tensor *t, int64_t q)
{
    return &k->loaded[t->id * k->groups + q];
}

/* Group q of the row of t, at the unit. 0: an operator refused. */
static ac_x value(cells *k, ac_tensor *t, const ac_tensor *like, int64_t q)
{
    if (ac_tensor_is_const(t))
        return constant(k, t, like, q);
    ac_x *known = &k->value[t->id * k->groups + q];
    if (*known)
        return *known;
    const ac_node *m = ac_cells_maker(t);
    if (state_of(k, t) >= 0)
        return *known = state_value(k, t);
    if (input_of(k, t) >= 0)
        return *known = ac_lb_load(&k->L->b, k->seq, mine(k, (*loaded(k, t, q) - 1) * k->rounds + k->round), 1);
    if (m->op == AC_OP_FULLY_CONNECTED)
        return *known = product_value(k, m, q);
    if (m->op == AC_OP_RESHAPE || m->op == AC_OP_ASSIGN)
        return *known = value(k, m->in[0], t, q);
    if (m->op == AC_OP_SLICE)
        return *known = value(k, m->in[0], m->in[0], q + ac_cells_slice(k->c, m));
    return *known = map_value(k, m, q);
}

/* Numbers the elements of sequences that group q of t needs. */
static void find_inputs(cells *k, ac_tensor *t, int64_t q)
{
    ac_x *seen = &k->value[t->id * k->groups + q];
    if (ac_tensor_is_const(t) || *seen || state_of(k, t) >= 0)
        return;
    *seen = 1;
    const ac_node *m = ac_cells_maker(t);
    if (input_of(k, t) >= 0) {
        *loaded(k, t, q) = ++k->n_loaded;
        return;
    }
    if (m->op == AC_OP_FULLY_CONNECTED)
        return;
    const int64_t first = m->op == AC_OP_SLICE ? ac_cells_slice(k->c, m) : 0;
    for (int32_t i = 0; i < (ac_ops[m->op].map && m->op != AC_OP_ASSIGN ? m->n_in : 1); i++)
        if (m->in[i])
            find_inputs(k, m->in[i], q + first);
}

static void forget(cells *k)
{
    memset(k->value, 0, (size_t)(k->c->body->tensor.n + 1) * (size_t)k->groups * sizeof *k->value);
}

void ac_cells_number_inputs(cells *k)
{
    const ac_cells *c = k->c;
    forget(k);
    for (int32_t i = 0; i < c->scan.states; i++)
        find_inputs(k, c->next[i], 0);
    for (int32_t i = 0; i < c->scan.elements; i++)
        for (int64_t q = 0; q < groups_of(k, c->element[i]); q++)
            find_inputs(k, c->element[i], q);
    for (int32_t i = 0; i < c->product.n; i++)
        if (c->product.item[i].state < 0)
            find_inputs(k, (ac_tensor *)(uintptr_t)c->product.item[i].x, 0);
}

/* The elements of sequences that the values of this step need, loaded early. */
void ac_cells_load_inputs(cells *k)
{
    ac_lb *b = &k->L->b;
    const ac_cells *c = k->c;
    for (int64_t round = 0; round < k->rounds; round++) {
        ac_cells_item(k, round);
        for (int32_t i = 0; i < c->scan.sequences; i++) {
            ac_tensor *all = k->n->in[c->scan.states + i];
            const ac_tensor *t = c->input[i];
            int64_t first;
            const int64_t pace = ac_scan_pace(&c->scan, ac_scan_goes_back(k->n, i), ac_tensor_count(t), &first);
            for (int64_t q = 0; q < groups_of(k, t); q++)
                if (*loaded(k, t, q)) {
                    const ac_x at = plus(k, plus(k, times(k, k->s, pace), num(k, first)), flat(k, groups_of(k, t), q));
                    ac_lb_store(b, k->seq, mine(k, (*loaded(k, t, q) - 1) * k->rounds + round),
                                ac_lo_load_at(k->L, all, at, false, 1));
                }
        }
    }
}

/* v for the copy of block d, in the place for this value or for the state after the step. */
static void push(cells *k, const ac_tensor *t, bool two, ac_x v)
{
    ac_lb *b = &k->L->b;
    const ac_x turn = ac_lb_sub(b, num(k, 1), k->now);
    ac_lb_store(b, k->rows, in_part(k, k->d, in_row(k, t, two, turn, k->b, k->j)), v);
}

static int collect(cells *k)
{
    ac_lb *b = &k->L->b;
    const ac_cells *c = k->c;
    int64_t before = 0;
    for (int32_t i = 0; i < c->scan.elements; i++) {
        ac_tensor *t = c->element[i];
        const int32_t o = c->scan.states + i / c->scan.parts;
        const int64_t groups = groups_of(k, t), pitch = ac_tensor_count(k->n->out[o]) / c->scan.steps;
        before = i % c->scan.parts ? before + ac_tensor_count(c->element[i - 1]) : 0;
        int64_t first;
        const int64_t pace = ac_scan_pace(&c->scan, ac_scan_goes_back(k->n, c->scan.sequences + i), pitch, &first);
        for (int64_t q = 0; q < groups; q++) {
            const ac_x v = value(k, t, t, q);
            if (!v)
                return AC_FAIL;
            const ac_x at = plus(k, plus(k, times(k, k->s, pace), num(k, first + before)), flat(k, groups, q));
            ac_lb_if(b, ac_lb_eq(b, k->d, num(k, 0)));
            ac_lb_store(b, ac_lo_output_buf(k->L, o), at, v);
            ac_lb_end(b);
        }
    }
    return AC_OK;
}

/* The states after the step, and after the last one. */
static int next_states(cells *k)
{
    ac_lb *b = &k->L->b;
    const ac_cells *c = k->c;
    ac_x *v = AC_NEW_N(k->L->region, ac_x, c->scan.states);
    for (int32_t i = 0; i < c->scan.states; i++) /* before one of them changes */
        if (!(v[i] = value(k, c->next[i], c->next[i], 0)))
            return AC_FAIL;
    for (int32_t i = 0; i < c->scan.states; i++) {
        const ac_tensor *t = c->state[i];
        if (k->row[t->id])
            push(k, t, true, v[i]);
        else
            ac_lb_store(b, k->state, kept_at(k, t, 0, k->round), v[i]);
        ac_lb_if(b, ac_lb_and(b, ac_lb_eq(b, k->s, num(k, c->scan.steps - 1)), ac_lb_eq(b, k->d, num(k, 0))));
        ac_lb_store(b, ac_lo_output_buf(k->L, i), flat(k, 1, 0), v[i]);
        ac_lb_end(b);
    }
    return AC_OK;
}

/* Values that products of the next phase read, and results that a later phase uses. */
static int hand_on(cells *k)
{
    ac_lb *b = &k->L->b;
    const ac_cells *c = k->c;
    for (int32_t p = 0; p < c->product.n; p++) {
        const ac_cell_product *m = &c->product.item[p];
        if (m->phase == k->phase + 1 && m->state < 0) {
            const ac_x v = value(k, (ac_tensor *)(uintptr_t)m->x, m->x, 0);
            if (!v)
                return AC_FAIL;
            push(k, m->x, false, v);
        }
        for (int64_t q = 0; q < m->groups && m->phase == k->phase; q++) {
            const ac_x sum = sum_of(k, p, q);
            ac_lb_store(b, k->state, kept_at(k, m->node->out[0], q, k->round), sum);
        }
    }
    return AC_OK;
}

int ac_cells_values(cells *k)
{
    int rc = AC_OK;
    open_block(k);
    for (int64_t round = 0; round < k->rounds && rc == AC_OK; round++) {
        ac_lb_if(&k->L->b, ac_cells_item(k, round));
        forget(k);
        if (k->phase == k->c->phases - 1)
            rc = collect(k) == AC_OK && next_states(k) == AC_OK ? AC_OK : AC_FAIL;
        else
            rc = hand_on(k);
        ac_lb_end(&k->L->b);
    }
    close_block(k);
    return rc;
}
