/* node.c - lowers one node with the lowering of its row, then derives properties from the loops (scratch,
 * multiply-adds, operands the result may overwrite). */
#include "ir/lower/node/node.h"
#include "ir/loop/access/distance.h"
#include "ir/lower/buffers.h"
#include "ir/lower/entries.h"
#include "ir/lower/map/map.h"
#include "ir/lower/node/computed.h"
#include "ir/lower/node/narrowed.h"
#include "ir/ops/custom.h"
#include "ir/ops/shape/shape.h"

/* The column `loops` of ops.def. */
static const ac_loops_row ROWS[AC_OP_COUNT] = {
#define MAP(f)       \
    {                \
        ac_lo_map, f \
    }
#define LOOPS(f) \
    {            \
        f, NULL  \
    }
#define OP(id, text, tfl, imin, imax, outs, attrs, shape, macs, filter, loops, ...) [AC_OP_##id] = loops,
#include "ir/ops/ops.def"
#undef OP
#undef LOOPS
#undef MAP
};

/* True if every read of t by node m (one element at a time, before the element is written) lets the result overwrite t,
 * or the row of a custom operator does. *rows: m reads whole rows of it, so it depends on the order of its loops. */
static bool reads_allow(const ac_ctx *cx, const ac_node *m, const ac_tensor *t, bool *rows)
{
    const ac_op_row *row = &ac_ops[m->op];
    const ac_custom *own = m->op == AC_OP_CUSTOM ? ac_custom_find(cx, m->attrs.custom.call) : NULL;
    const uint32_t overwrite = own ? own->inplace : row->overwrite;
    for (int32_t i = 0; i < m->n_in; i++) {
        if (m->in[i] != t || ac_node_is_static(m, i))
            continue;
        if (i >= 32 || !(overwrite & AC_IN(i)))
            return false;
        *rows |= !row->map && !own;
    }
    return true;
}

/* True if the loops read no byte of t after writing the result there. */
static bool loops_allow(ac_ctx *cx, const ac_lowered *out, const ac_tensor *t, const ac_tensor *result)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    ac_distance *of = AC_NEW_N(tmp, ac_distance, out->arg.n + 1);
    bool once, ok = t->dtype == result->dtype;
    for (int32_t o = 0; o < out->arg.n && ok; o++) {
        if (out->arg.item[o].tensor != result)
            continue;
        ok = ac_loop_distances(cx, out->fn, o, of, &once);
        for (int32_t i = 0; i < out->arg.n && ok; i++)
            ok = out->arg.item[i].tensor != t || (of[i].below <= 0 || of[i].above <= 0);
    }
    ac_region_close(tmp);
    return ok;
}

/* Operands the result may be placed over exactly: same shape, same bytes per element, and head and followers read them
 * only element-wise, or row by row, through inputs that ops.def allows. */
static void list_overwrites(ac_ctx *cx, const ac_target *target, ac_lowered *out, const ac_node *n)
{
    ac_tensor *read[64];
    const ac_tensor *result = ac_node_result(n);
    int32_t count = ac_node_reads(n, read, 64);
    if (count > 64)
        count = 64; /* operands past this are not offered for overwriting, which is always safe */
    for (int32_t k = 0; k < count && out->n_overwrite < 8; k++) {
        ac_tensor *t = read[k];
        bool rows = false, ok = !ac_node_reduction(n) && ac_tensor_same_shape(t, result) &&
                                ac_dtype_bits(t->dtype) == ac_dtype_bits(result->dtype);
        for (int32_t f = -1; f < n->n_fused && ok; f++)
            ok = reads_allow(cx, f < 0 ? n : n->fused[f], t, &rows);
        if (rows && target->isa == AC_ISA_CUDA) /* a row's threads have no order */
            ok = false;
        if (ok && (!rows || loops_allow(cx, out, t, result)))
            out->overwrite[out->n_overwrite++] = t;
    }
}

ac_lowered *ac_lower_node(ac_ctx *cx, ac_region *region, const ac_node *n, const ac_target *t, int32_t variant,
                          bool exact)
{
    return ac_lower_hinted(cx, region, n, t, variant, exact, NULL);
}

static void open_lowering(ac_lower *L, const ac_node *n)
{
    L->rows = ROWS;
    L->result_buf = -1;
    L->out = AC_NEW(L->region, ac_lowered);
    L->out->node = n;
    const char *text = ac_ops[n->op].text;
    const char *note = ac_strf(L->region, "%s '%s' -> %s", text, n->name, ac_tensor_str(L->cx, ac_node_result(n)));
    ac_lb_open(&L->b, L->region, ac_strf(L->region, "%s_%d", text, (int)n->id), note);
}

/* The loops are complete. */
static int close_lowering(ac_lower *L)
{
    const char *missing = ac_lb_missing(&L->b);
    if (missing)
        return ac_lower_refuse(L, "loops have no %s", missing);
    L->out->fn = ac_lb_close(&L->b);
    ac_lo_computed(L);
    ac_lo_settle(L->out, -1);
    return AC_OK;
}

ac_lowered *ac_lower_hinted(ac_ctx *cx, ac_region *region, const ac_node *n, const ac_target *t, int32_t variant,
                            bool exact, const ac_schedule *hint)
{
    ac_shadows shadows = {.cx = cx, .region = region};
    const ac_node *m = ac_shadow_node(&shadows, n);
    ac_lower L = {.cx = cx, .region = region, .target = t, .node = m, .variant = variant, .exact = exact};
    if (hint)
        L.hint = *hint;
    open_lowering(&L, n);
    const ac_node *last = ac_node_reduction(m);
    if (ROWS[last ? last->op : n->op].lower(&L) != AC_OK || L.refused || close_lowering(&L) != AC_OK ||
        ac_shadows_leave(&shadows, L.out) != AC_OK)
        return NULL;
    L.out->macs = ac_op_macs(n);
    if (ac_loop_verify(cx, L.out->fn) != AC_OK)
        return NULL;
    list_overwrites(cx, t, L.out, n);
    return L.out;
}

ac_lowered *ac_lower_cells(ac_ctx *cx, ac_region *region, const ac_node *n, const struct ac_cells *c,
                           const ac_target *t)
{
    ac_lower L = {.cx = cx, .region = region, .target = t, .node = n};
    open_lowering(&L, n);
    if (ac_gpu_cells(&L, c) != AC_OK || L.refused || close_lowering(&L) != AC_OK)
        return NULL;
    return ac_loop_verify(cx, L.out->fn) == AC_OK ? L.out : NULL;
}
