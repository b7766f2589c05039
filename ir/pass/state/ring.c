/* ring.c - sliding windows: a state without its oldest rows, and new rows after them, or before. As a ring, a run
 * writes only the new rows, over the oldest ones:
 *
 *   before:  %rest = slice %past    %next = concatenation %rest %new             1 2 3 4 > 2 3 4 5 > 3 4 5 6
 *   after:   %next = dynamic_update_slice %past %new [.., turn * rows, ..]       1 2 3 4 > 5 2 3 4 > 5 6 3 4
 *            turn becomes (turn + 1) mod (rows of the window / new rows), a state of its own
 *
 * So the order of rows changes, in the same way for all windows of one length that slide in one direction. That is
 * allowed if no result depends on it: rows are followed until they are summed, or multiplied by rows of another such
 * window; operators on the way must not read other values that differ from row to row. Then only the order of sums of
 * floats changes. Else the window stays, and the report names the operator. */
#include "ir/make/maker.h"
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/slice.h"
#include "ir/pass/state/state.h"
#include "ir/pass/state/cache_rows.h"

typedef struct sliding {
    ac_node *slice, *join; /* join NULL: not a sliding window */
    ac_tensor *fresh;      /* the new rows */
    int32_t axis;
    int64_t rows, added;
    bool before; /* new rows come first */
    bool done;
} sliding;

typedef struct ring {
    ac_ctx *cx;
    ac_graph *g;
    ac_row_walk rows;
    ac_tensor *turn, *at; /* i32 [1]: the index of the oldest rows, in runs and in rows */
    bool failed;
} ring;

/* ------------------------------------------------------------------ which windows slide */

static int32_t readers(const ac_graph *g, const ac_tensor *t)
{
    int32_t n = t->output;
    for (int32_t i = 0; i < g->node.n; i++)
        for (int32_t k = 0; k < g->node.item[i]->n_in; k++)
            n += g->node.item[i]->in[k] == t;
    return n;
}

/* True if n takes all of `past` except `added` rows at its begin, or at its end (before). */
static bool takes_rest(ac_ctx *cx, const ac_node *n, const sliding *w)
{
    const ac_tensor *past = n->in[0];
    ac_slice s;
    if ((n->op == AC_OP_SLICE ? ac_slice_of(cx, n, &s) : ac_strided_slice_of(cx, n, &s)) != AC_OK ||
        s.out_rank != past->rank)
        return false;
    for (int32_t d = 0; d < past->rank; d++) {
        const int64_t less = d == w->axis ? w->added : 0;
        if (s.step[d] != 1 || s.extent[d] != past->dim[d] - less || s.begin[d] != (w->before ? 0 : less))
            return false;
    }
    return true;
}

static sliding sliding_of(ac_ctx *cx, const ac_graph *g, const ac_tensor *past, const ac_tensor *next)
{
    sliding w = {.join = next->def};
    const sliding none = {.join = NULL};
    if (!w.join || w.join->op != AC_OP_CONCATENATION || w.join->n_in != 2 || w.join->n_fused ||
        w.join->attrs.axis.act != AC_ACT_NONE || readers(g, past) != 1 ||
        ac_axis_norm(cx, w.join, w.join->attrs.axis.axis, next->rank, &w.axis) != AC_OK)
        return none;
    for (int32_t i = 0; i < 2; i++) {
        ac_node *n = w.join->in[i]->def;
        if (!n || (n->op != AC_OP_SLICE && n->op != AC_OP_STRIDED_SLICE) || n->in[0] != past || n->n_fused)
            continue;
        w.slice = n;
        w.before = i == 1;
        w.fresh = w.join->in[1 - i];
        w.rows = past->dim[w.axis];
        w.added = w.fresh->dim[w.axis];
    }
    return w.slice && w.added > 0 && w.rows % w.added == 0 && readers(g, w.slice->out[0]) == 1 &&
                   takes_rest(cx, w.slice, &w)
               ? w
               : none;
}

static bool together(const sliding *a, const sliding *b)
{
    return a->join && b->join && a->rows == b->rows && a->added == b->added && a->before == b->before;
}

/* ------------------------------------------------------------------ does their order matter? */

/* True if t, an operand of a map with result y, is the same for all rows, which are along dimension `axis` of y. */
static bool same_for_all(const ac_tensor *t, const ac_tensor *y, int32_t axis)
{
    const int32_t d = axis - (y->rank - t->rank);
    return d < 0 || t->dim[d] == 1 || t->splat;
}

static bool per_axis(const ac_tensor *t)
{
    return t->quant && t->quant->n > 1;
}

/* Sums, means, extremes: of all rows, or of other dimensions. */
static bool reduces(const ring *w, const ac_node *n, ac_rows_at *to)
{
    const int32_t axis = ac_rows_of(&w->rows, n->in[0]).axis;
    uint32_t mask;
    if (axis < 0 || ac_reduce_axes(w->cx, n, &mask) != AC_OK)
        return false;
    to->axis = axis;
    for (int32_t d = 0; d < axis && !n->attrs.reduce.keep_dims; d++)
        to->axis -= (int32_t)(mask >> d & 1);
    if (mask >> axis & 1)
        to->axis = -1;
    return true;
}

/* A product along the rows of both, or one that has them among its rows, columns or matrices. */
static bool multiplies(const ring *w, const ac_node *n, ac_rows_at *to)
{
    const bool adj[] = {n->attrs.matmul.adj_x, n->attrs.matmul.adj_y};
    bool along[2];
    for (int32_t i = 0; i < 2; i++) {
        const ac_tensor *t = n->in[i];
        along[i] = ac_rows_of(&w->rows, t).axis == t->rank - 1 - ((i == 0) == adj[i]);
        along[i] &= ac_rows_of(&w->rows, t).axis >= 0;
    }
    if (along[0] || along[1])
        return along[0] && along[1];
    if (!ac_rows_follow(&w->rows, n, to))
        return false;
    for (int32_t i = 0; i < 2 && to->axis < n->out[0]->rank - 2; i++)
        if (ac_rows_of(&w->rows, n->in[i]).axis < 0 && !same_for_all(n->in[i], n->out[0], to->axis))
            return false;
    return true;
}

/* True if the order of the rows changes nothing in the result of n but the order of its own rows. */
static bool any_order(const ring *w, const ac_node *n, ac_rows_at *to)
{
    const ac_tensor *y = n->out[0];
    bool apart = ac_ops[n->op].map || n->op == AC_OP_CONCATENATION;
    *to = (ac_rows_at){.axis = -1};
    if (n->n_out != 1 || n->n_fused || per_axis(y))
        return false;
    for (int32_t i = 0; i < n->n_in; i++)
        if (ac_rows_of(&w->rows, n->in[i]).axis >= 0 && per_axis(n->in[i]))
            return false;
    if (n->op == AC_OP_BATCH_MATMUL)
        return multiplies(w, n, to);
    if (n->op == AC_OP_MEAN || n->op == AC_OP_SUM || n->op == AC_OP_REDUCE_MAX || n->op == AC_OP_REDUCE_MIN)
        return reduces(w, n, to);
    if (!ac_rows_follow(&w->rows, n, to))
        return false;
    for (int32_t i = 0; i < n->n_in && apart; i++)
        if (n->in[i] && ac_rows_of(&w->rows, n->in[i]).axis < 0 && !same_for_all(n->in[i], y, to->axis))
            return false;
    return true;
}

/* The first operator that needs the rows of next[] with `of` set in order; NULL: no operator does. */
static const ac_node *in_order(ring *w, ac_tensor *const *next, const sliding *all, int32_t first, int32_t n)
{
    ac_graph *g = w->g;
    for (int32_t i = 0; i < w->rows.n; i++)
        w->rows.of[i].axis = -1;
    for (int32_t i = first; i < n; i++)
        if (together(&all[first], &all[i]))
            w->rows.of[next[i]->id].axis = all[i].axis;
    for (int32_t i = 0; i < g->node.n; i++) {
        const ac_node *m = g->node.item[i];
        ac_rows_at to;
        if (!ac_rows_read(&w->rows, m))
            continue;
        if (!any_order(w, m, &to))
            return m;
        w->rows.of[m->out[0]->id] = to;
    }
    for (int32_t i = 0; i < g->output.n; i++)
        if (ac_rows_of(&w->rows, g->output.item[i]).axis >= 0)
            return g->output.item[i]->def;
    return NULL;
}

/* ------------------------------------------------------------------ the ring */

/* The node of y, which was just made, moves to number `at`. */
static ac_tensor *placed(ring *w, ac_tensor *y, int32_t at)
{
    w->failed |= !y;
    if (y)
        ac_graph_place(w->g, w->g->node.n - 1, at);
    return y;
}

static ac_tensor *make_at(ring *w, int32_t at, ac_op op, const char *name, ac_tensor *const *in, int32_t n_in)
{
    return placed(w, ac_make_called(w->g, name, op, in, n_in, NULL), at);
}

/* The state `turn`, and its value in the next run. */
static ac_tensor *make_turn(ring *w, const sliding *s)
{
    const int64_t one = 1;
    w->turn = ac_tensor_new(w->g, "turn", AC_I32, 1, &one);
    w->turn->state = true;
    ac_tensor *const scaled[] = {w->turn, ac_make_steps(w->g, "turn_rows", 1, s->added, 0)};
    w->at = make_at(w, 0, AC_OP_MUL, "turn_row", scaled, 2);
    ac_tensor *const more[] = {w->turn, ac_make_steps(w->g, "turn_step", 1, 1, 0)};
    ac_tensor *const less[] = {w->turn, ac_make_steps(w->g, "turn_last", 1, s->rows / s->added - 1, 0)};
    ac_tensor *sum = make_at(w, 1, AC_OP_ADD, "turn_more", more, 2);
    ac_tensor *turns = make_at(w, 2, AC_OP_LESS, "turn_less", less, 2);
    ac_tensor *const next[] = {turns, sum, ac_make_steps(w->g, "turn_first", 1, 0, 0)};
    return make_at(w, 3, AC_OP_SELECT, "turn_next", next, 3);
}

static void write_new_rows(ring *w, ac_tensor *past, ac_tensor *next, const sliding *s)
{
    ac_graph *g = w->g;
    ac_tensor *part[3], *start = w->at;
    int32_t n = 0;
    if (s->axis > 0)
        part[n++] = ac_make_steps(w->g, "before", s->axis, 0, 0);
    part[n++] = w->at;
    if (s->axis + 1 < past->rank)
        part[n++] = ac_make_steps(w->g, "after", past->rank - s->axis - 1, 0, 0);
    if (n > 1)
        start = make_at(w, ac_graph_place_of(g, s->join), AC_OP_CONCATENATION, "start", part, n);
    ac_tensor *const in[] = {past, s->fresh, start};
    const int32_t place = ac_graph_place_of(g, s->join);
    const ac_maker b = ac_maker_at(g, s->join);
    ac_node_erase(s->slice);
    ac_node_erase(s->join);
    placed(w, ac_make_into(&b, AC_OP_DYNAMIC_UPDATE_SLICE, in, 3, NULL, next), place);
}

int ac_state_ring(ac_ctx *cx, ac_graph *g, ac_state_window *window, int32_t n, ac_tensor **turn, int32_t *n_turns)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    ring w = {.cx = cx, .g = g};
    sliding *all = AC_NEW_N(tmp, sliding, n + 1);
    ac_tensor **next = AC_NEW_N(tmp, ac_tensor *, n + 1);
    for (int32_t i = 0; i < n; i++) {
        next[i] = window[i].next;
        all[i] = sliding_of(cx, g, window[i].state, next[i]);
    }
    *n_turns = 0;
    for (int32_t i = 0; i < n && !w.failed; i++) {
        if (!all[i].join || all[i].done)
            continue;
        w.rows = ac_rows_open(cx, g, tmp);
        const ac_node *ordered = in_order(&w, next, all, i, n);
        const sliding first = all[i];
        if (!ordered) {
            turn[2 * *n_turns + 1] = make_turn(&w, &first);
            turn[2 * *n_turns] = w.turn;
            ++*n_turns;
        }
        for (int32_t k = i; k < n; k++) {
            if (!together(&first, &all[k]))
                continue;
            all[k].done = true;
            window[k].ordered = ordered;
            window[k].ring = !ordered;
            if (!ordered)
                write_new_rows(&w, window[k].state, next[k], &all[k]);
        }
    }
    ac_region_close(tmp);
    return w.failed ? AC_FAIL : AC_OK;
}
