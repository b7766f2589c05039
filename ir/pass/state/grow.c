/* grow.c - caches that grow by a few rows with each run get a fixed size, and a position: the number of valid rows.
 *
 *     next = concatenation(past, new)    becomes    next = dynamic_update_slice(state, new, [.., position, ..])
 *
 * Rows from position + new on are invalid. They must not reach a result, so they are followed through the graph: a
 * softmax along them gives them weight 0, a product of matrices along them sums zeros, and any other reader is an
 * error. So the results are those of a model with caches of exactly this length. */
#include "ir/make/maker.h"
#include "ir/ops/decode/axis.h"
#include "ir/pass/state/cache_rows.h"
#include "ir/pass/state/other_lengths.h"
#include "ir/pass/state/state.h"

#include <float.h>
#include <string.h>

typedef struct growing {
    ac_ctx *cx;
    ac_graph *g;
    ac_region *tmp;
    ac_row_walk rows;            /* rows that may be invalid; new nodes of this file have none */
    int64_t past, added;         /* maximum number of rows before a run; rows that a run adds */
    ac_tensor *position, *there; /* i32 [1], checked; bool [past + added]: valid rows */
    ac_tensor *start;            /* the latest result of start_of, for start_axis; NULL: none so far */
    int32_t start_axis;
    bool failed;
    ac_lengths *lengths; /* NULL: unknown */
} growing;

/* ------------------------------------------------------------------ nodes */

/* The input with the number of valid rows. If the new rows do not fit, the run ends with an error. */
static void make_position(growing *w)
{
    const int64_t one = 1;
    ac_tensor *t = ac_tensor_new(w->g, "position", AC_I32, 1, &one);
    t->input = true;
    ac_push(w->g->region, &w->g->input, t);
    ac_tensor *const checked[] = {ac_make_steps(w->g, "positions", w->past + 1, 0, 1), t};
    w->position = ac_make_called(w->g, "position_checked", AC_OP_GATHER, checked, 2, NULL);
    ac_tensor *const end[] = {w->position, ac_make_steps(w->g, "rows_added", 1, w->added, 0)};
    ac_tensor *rows = ac_make_steps(w->g, "rows", w->past + w->added, 0, 1);
    ac_tensor *const less[] = {rows, ac_make_called(w->g, "rows_end", AC_OP_ADD, end, 2, NULL)};
    w->there = ac_make_called(w->g, "rows_there", AC_OP_LESS, less, 2, NULL);
    w->failed = !w->there;
}

/* The index of the first new row: the position, and zeros for all other dimensions. */
static ac_tensor *start_of(growing *w, int32_t rank, int32_t axis)
{
    ac_tensor *part[3];
    ac_attrs attrs;
    int32_t n = 0;
    if (w->start && w->start->dim[0] == rank && w->start_axis == axis)
        return w->start;
    if (axis > 0)
        part[n++] = ac_make_steps(w->g, "before", axis, 0, 0);
    part[n++] = w->position;
    if (axis + 1 < rank)
        part[n++] = ac_make_steps(w->g, "after", rank - axis - 1, 0, 0);
    ac_attrs_init(AC_OP_CONCATENATION, &attrs);
    w->start = n == 1 ? part[0] : ac_make_called(w->g, "start", AC_OP_CONCATENATION, part, n, &attrs);
    w->start_axis = axis;
    return w->start;
}

/* x, with the lowest float in place of invalid rows along its last dimension. */
static ac_tensor *masked(growing *w, ac_tensor *x)
{
    float *least = AC_NEW(w->g->region, float);
    *least = -FLT_MAX;
    ac_tensor *const in[] = {w->there, x, ac_tensor_const(w->g, "least", AC_F32, 0, NULL, least)};
    return ac_make_called(w->g, x->name, AC_OP_SELECT, in, 3, NULL);
}

/* ------------------------------------------------------------------ readers of invalid rows */

static void refuse(growing *w, const ac_node *n)
{
    w->failed = true;
    ac_error(w->cx, n->at, E0502, "--state: a result of '%s' would depend on rows that the cache does not have yet",
             n->name);
    ac_help(w->cx, "only element-wise operators, matrix products and softmax along its rows may read a cache that "
                   "grows; omit its --state, or export the model with a cache of a fixed size");
}

static void follow_rows(growing *w, ac_node *n)
{
    ac_rows_at to;
    if (!ac_rows_read(&w->rows, n)) {
        ac_push(w->g->region, &w->g->node, n);
        return;
    }
    const ac_tensor *x = n->in[0];
    const bool weighs = n->op == AC_OP_SOFTMAX && ac_rows_of(&w->rows, x).axis == x->rank - 1;
    if (!ac_rows_follow(&w->rows, n, &to) || n->n_out != 1 || (weighs && x->dtype != AC_F32)) {
        refuse(w, n);
        return;
    }
    if (weighs) {
        n->in[0] = masked(w, n->in[0]);
        w->failed |= !n->in[0];
        to.zero = true;
    }
    w->rows.of[n->out[0]->id] = to;
    ac_push(w->g->region, &w->g->node, n);
}

/* ------------------------------------------------------------------ the caches */

static void update(growing *w, ac_tensor *past, ac_node *n, int32_t axis)
{
    ac_tensor *next = n->out[0], *const in[] = {past, n->in[1], start_of(w, next->rank, axis)};
    const ac_maker b = ac_maker_at(w->g, n);
    memcpy(past->dim, next->dim, sizeof past->dim);
    memset(past->dim_name, 0, sizeof past->dim_name);
    ac_node_erase(n);
    w->failed |= !ac_make_into(&b, AC_OP_DYNAMIC_UPDATE_SLICE, in, 3, NULL, next);
    w->rows.of[next->id] = (ac_rows_at){.axis = axis};
}

/* Node k of the graph before, as it is in each run. false: another node has replaced it. */
static bool of_length(growing *w, int32_t k)
{
    bool replaced = false;
    if (w->lengths && !w->failed)
        w->failed = ac_lengths_node(w->lengths, k, &replaced) != AC_OK;
    return !replaced && !w->failed;
}

int ac_state_grow(ac_ctx *cx, ac_graph *g, ac_tensor *const *past, ac_tensor *const *next, int32_t n,
                  const ac_other_lengths *lengths, const ac_tensor **position)
{
    growing w = {.cx = cx, .g = g, .tmp = ac_region_open(&cx->heap)};
    ac_node **node = ac_copy(w.tmp, g->node.item, (size_t)(g->node.n + 1) * sizeof *node),
            **by = AC_NEW_N(w.tmp, ac_node *, n + 1);
    const int32_t n_nodes = g->node.n;
    int32_t *axis = AC_NEW_N(w.tmp, int32_t, n + 1);
    w.rows = ac_rows_open(cx, g, w.tmp);
    for (int32_t i = 0; i < n; i++) {
        by[i] = ac_state_grower(g, past[i], next[i], &axis[i]);
        const int64_t rows_past = past[i]->dim[axis[i]], added = next[i]->dim[axis[i]] - rows_past;
        if (i > 0 && (rows_past != w.past || added != w.added)) {
            ac_region_close(w.tmp);
            return ac_error(
                cx, (ac_place){.file = g->file}, E0502,
                "--state: '%s' has %lld rows and gets %lld, '%s' has %lld and gets %lld; expected the same numbers",
                past[0]->name, (long long)w.past, (long long)w.added, past[i]->name, (long long)rows_past,
                (long long)added);
        }
        w.past = rows_past;
        w.added = added;
    }
    if (ac_lengths_open(cx, w.tmp, g, lengths, w.past, &w.rows, &w.lengths) != AC_OK) {
        ac_region_close(w.tmp);
        return AC_FAIL;
    }
    g->node.n = 0;
    make_position(&w);
    *position = g->input.item[g->input.n - 1];
    if (w.lengths)
        ac_lengths_position(w.lengths, w.position);
    for (int32_t k = 0; k < n_nodes; k++) {
        int32_t i = 0;
        while (i < n && by[i] != node[k])
            i++;
        if (!of_length(&w, k))
            continue;
        if (i < n)
            update(&w, past[i], node[k], axis[i]);
        else
            follow_rows(&w, node[k]);
    }
    if (w.lengths && !w.failed)
        w.failed = ac_lengths_outputs(w.lengths) != AC_OK;
    for (int32_t i = 0; i < g->output.n && !w.failed; i++)
        if (ac_rows_of(&w.rows, g->output.item[i]).axis >= 0) {
            w.failed = true;
            ac_error(cx, (ac_place){.file = g->file}, E0502,
                     "--state: output '%s' %s has a row for each row of the cache, but not all of them are filled",
                     g->output.item[i]->name, ac_tensor_str(cx, g->output.item[i]));
        }
    ac_region_close(w.tmp);
    return w.failed ? AC_FAIL : AC_OK;
}
