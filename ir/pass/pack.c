/* pack.c - pass pack: weights that are integers with scales in the file do not become floats. */
#include "ir/ops/decode/axis.h"
#include "ir/ops/decode/blockwise.h"
#include "ir/ops/shape/resolve.h"
#include "ir/pass/dequantised.h"
#include "ir/pass/passes.h"

enum { MOST_ROWS = 16, WORD = 32 };

/* weight[i] = (codes[i] - zero[..]) * scale[..], element by element of a base shape, to which scale and zero broadcast;
 * a reshape makes a matrix of `rows` rows from it, `turned` if a transposition follows. */
typedef struct made {
    ac_tensor *codes, *scale, *zero; /* constants; zero NULL: 0. Of a DEQUANTIZE the codes' own: scale NULL */
    const ac_tensor *base;
    bool turned;
} made;

static bool fixed(const ac_tensor *t)
{
    return t && ac_tensor_is_const(t) && !t->weight;
}

/* Follows weights t of a product back to the file's integers. */
static bool read_chain(ac_graph *g, ac_tensor *t, made *w)
{
    int32_t perm[AC_MAX_RANK];
    const ac_node *n = ac_made_by(t, AC_OP_TRANSPOSE);
    *w = (made){.base = t};
    if (n && t->rank == 2 && ac_perm_of(g->cx, n, perm) == AC_OK && perm[0] == 1) {
        w->turned = true;
        t = n->in[0];
    }
    n = ac_made_by(t, AC_OP_RESHAPE);
    t = n && n->in[0]->rank > t->rank ? n->in[0] : t;
    w->base = t;
    n = ac_made_by(t, AC_OP_DEQUANTIZE);
    if (n) {
        w->codes = n->in[0];
        return fixed(w->codes) && ac_dtype_is_int(w->codes->dtype) && w->codes->quant;
    }
    ac_tensor *v = ac_dequantised_step(g, t, AC_OP_MUL, &w->scale), *u = ac_dequantised_step(g, v, AC_OP_SUB, &w->zero);
    n = ac_made_by(u ? u : v, AC_OP_CAST);
    if (!n || !ac_tensor_same_shape(n->in[0], t))
        return false;
    w->codes = ac_made_by(n->in[0], AC_OP_RESHAPE) ? n->in[0]->def->in[0] : n->in[0];
    return fixed(w->codes) && ac_dtype_is_int(w->codes->dtype);
}

/* How the base shape is a matrix of N rows of K: base dimension of N, those of K (block of the row, element of the
 * block; the first -1: one block), and their strides. */
typedef struct layout {
    int32_t n, block, k;
    int64_t rows, blocks, size; /* size: elements of a block */
    int64_t step[3];            /* of n, block, k in the codes */
} layout;

static int64_t stride(const ac_tensor *t, int32_t d)
{
    return d < 0 ? 0 : ac_dim_product(t->dim, d + 1, t->rank);
}

/* rows, depth: of the weights. */
static bool read_layout(const made *w, bool rows_first, int64_t rows, int64_t depth, layout *at)
{
    const ac_tensor *b = w->base;
    if (b->rank != 2 && b->rank != 3)
        return false;
    const bool first = rows_first != w->turned; /* N is the outermost dimension of the base */
    if (b->rank == 3 && b->dim[0] == 1 && b->dim[first ? 1 : 2] == rows && b->dim[first ? 2 : 1] == depth)
        *at = (layout){.n = first ? 1 : 2, .block = -1, .k = first ? 2 : 1}; /* [1,N,K]: of a recurrent layer, say */
    else
        *at = (layout){
            .n = first ? 0 : b->rank - 1, .block = b->rank == 3 ? (int32_t)first : -1, .k = b->rank - 2 + first};
    at->rows = b->dim[at->n];
    at->blocks = at->block < 0 ? 1 : b->dim[at->block];
    at->size = b->dim[at->k];
    at->step[0] = stride(b, at->n);
    at->step[1] = stride(b, at->block);
    at->step[2] = stride(b, at->k);
    return at->rows > 0 && at->blocks > 0 && at->size > 0 && at->rows == rows && at->blocks * at->size == depth;
}

/* Steps of N and of blocks in p, which is broadcast to the base. false: it differs inside of a block. */
static bool steps_of(const layout *at, const ac_tensor *base, const ac_tensor *p, int64_t step[2])
{
    const int32_t from[3] = {at->n, at->block, at->k};
    int64_t by[3] = {0, 0, 0};
    for (int32_t i = 0; i < 3; i++) {
        const int32_t d = from[i] - (base->rank - p->rank);
        by[i] = from[i] >= 0 && d >= 0 && p->dim[d] > 1 ? stride(p, d) : 0;
    }
    step[0] = by[0], step[1] = by[1];
    return p->rank <= base->rank && !by[2];
}

/* Scale and zero point of block i of row r; false: the zero point is not a code. */
typedef struct numbers {
    const float *scale, *zero;
    int64_t scale_step[2], zero_step[2];
    const ac_quant *quant;
    int32_t low, codes; /* the minimum code, and the number of codes */
} numbers;

static bool read_numbers(ac_ctx *cx, const made *w, const layout *at, numbers *of)
{
    const ac_quant *q = w->scale ? NULL : w->codes->quant;
    *of = (numbers){.quant = q, .low = (int32_t)ac_dtype_min(w->codes->dtype)};
    of->codes = (int32_t)ac_dtype_max(w->codes->dtype) - of->low + 1;
    if (q)
        return q->n == 1 || (q->axis == at->n && q->n == at->rows);
    if (!steps_of(at, w->base, w->scale, of->scale_step) || (w->zero && !steps_of(at, w->base, w->zero, of->zero_step)))
        return false;
    of->scale = ac_tensor_force(cx, w->scale);
    of->zero = w->zero ? ac_tensor_force(cx, w->zero) : NULL;
    return of->scale && (of->zero || !w->zero);
}

static bool block_numbers(const numbers *of, int64_t r, int64_t i, float *scale, uint8_t *zero)
{
    float z;
    if (of->quant) {
        const int64_t at = of->quant->n > 1 ? r : 0;
        *scale = of->quant->scale[at];
        z = (float)of->quant->zero[at];
    } else {
        *scale = of->scale[r * of->scale_step[0] + i * of->scale_step[1]];
        z = of->zero ? of->zero[r * of->zero_step[0] + i * of->zero_step[1]] : 0;
    }
    z -= (float)of->low;
    *zero = z >= 0 && z < (float)of->codes ? (uint8_t)z : 0;
    return z >= 0 && z < (float)of->codes && (float)*zero == z;
}

typedef struct packed {
    ac_tensor *codes, *scale, *zero; /* zero NULL: all are `same` */
    int32_t bits, size, same;
} packed;

/* The tables; false: these weights cannot be packed (or it was reported). */
static bool make_tables(ac_graph *g, const made *w, const layout *at, packed *to)
{
    ac_ctx *cx = g->cx;
    numbers of;
    const int32_t bits = ac_dtype_file_bits(w->codes->dtype), per = WORD / bits;
    const int64_t size = at->blocks > 1 ? at->size : (at->size + per - 1) / per * per;
    const int64_t bytes = at->blocks * size * bits / 8;
    if (bits > 8 || size % per || size > INT32_MAX || !read_numbers(cx, w, at, &of))
        return false;
    const void *from = ac_tensor_force(cx, w->codes);
    uint8_t *codes = ac_alloc_n(g->region, (uint64_t)(at->rows * bytes), 1);
    uint8_t *zero = ac_alloc_n(g->region, (uint64_t)(at->rows * at->blocks), 1);
    float *scale = ac_alloc_n(g->region, (uint64_t)(at->rows * at->blocks), sizeof *scale);
    bool same = true;
    if (!from)
        return false;
    memset(codes, 0, (size_t)(at->rows * bytes));
    for (int64_t r = 0; r < at->rows; r++)
        for (int64_t i = 0; i < at->blocks; i++) {
            const int64_t o = r * at->blocks + i, base = r * at->step[0] + i * at->step[1];
            if (!block_numbers(&of, r, i, &scale[o], &zero[o]))
                return false;
            same &= zero[o] == zero[0];
            for (int64_t k = 0; k < at->size; k++) {
                const int64_t bit = (i * size + k) * bits;
                const int64_t v = ac_dtype_get_int(w->codes->dtype, from, base + k * at->step[2]) - of.low;
                codes[r * bytes + bit / 8] |= (uint8_t)(v << bit % 8);
            }
        }
    *to = (packed){.bits = bits, .size = (int32_t)size, .same = zero[0]};
    const int64_t wide[2] = {at->rows, bytes}, few[2] = {at->rows, at->blocks};
    to->codes = ac_tensor_const(g, ac_strf(g->region, "%s_packed", w->codes->name), AC_U8, 2, wide, codes);
    to->codes->form_of = w->codes;
    to->scale = ac_tensor_const(g, ac_strf(g->region, "%s_scale", w->codes->name), AC_F32, 2, few, scale);
    to->zero = same ? NULL : ac_tensor_const(g, ac_strf(g->region, "%s_zero", w->codes->name), AC_U8, 2, few, zero);
    return true;
}

/* The weights of a product of few rows of floats; *rows_first: they are [N,K]. NULL: another operator. */
static ac_tensor *weights_of(const ac_node *n, bool *rows_first)
{
    if ((n->op != AC_OP_FULLY_CONNECTED && n->op != AC_OP_BATCH_MATMUL) || n->n_fused)
        return NULL;
    const bool dense = n->op == AC_OP_FULLY_CONNECTED;
    ac_tensor *x = n->in[0], *w = n->in[1], *y = n->out[0], *bias = dense ? ac_node_in(n, 2) : NULL;
    *rows_first = dense || n->attrs.matmul.adj_y;
    if (x->dtype != AC_F32 || w->dtype != AC_F32 || w->rank != 2 || x->rank != y->rank || x->rank < 1 ||
        (bias && !fixed(bias)) || (!dense && n->attrs.matmul.adj_x))
        return NULL;
    const int64_t depth = x->dim[x->rank - 1];
    return depth == w->dim[*rows_first] && depth > 0 && ac_tensor_count(x) / depth <= MOST_ROWS ? w : NULL;
}

static void replace_product(ac_graph *g, ac_node *n, const packed *w)
{
    const ac_act act = ac_node_act(n);
    ac_tensor *bias = n->op == AC_OP_FULLY_CONNECTED ? ac_node_in(n, 2) : NULL;
    ac_tensor **in = AC_NEW_N(g->region, ac_tensor *, 5);
    in[AC_BLOCKWISE_X] = n->in[0];
    in[AC_BLOCKWISE_CODES] = w->codes;
    in[AC_BLOCKWISE_SCALE] = w->scale;
    in[AC_BLOCKWISE_ZERO] = w->zero;
    in[AC_BLOCKWISE_BIAS] = bias;
    n->op = AC_OP_BLOCKWISE_DENSE;
    n->in = in;
    n->n_in = bias ? 5 : w->zero ? 4 : 3;
    ac_attrs_init(n->op, &n->attrs);
    n->attrs.blocks.bits = w->bits;
    n->attrs.blocks.size = w->size;
    n->attrs.blocks.zero = w->same;
    n->attrs.blocks.act = act;
}

/* ac_pass_pack: a few rows of floats times weights that are integers with scales in the file. Such a product reads
 * weights once, so their size determines the time, and always the ROM.
 *   before:  %f = cast %q: i8    %s = sub %f %zero    %w = mul %s %scale    %y = batch_matmul %x %w
 *   after:   %y = blockwise_dense %x %q_packed %q_scale %q_zero
 * or dequantize; a reshape that joins blocks, and a transposition, may be between. One scale for a row is a block.
 * needs: shapes known, no epilogues; before fold.  keeps: results but for the order of sums (not with --exact). With
 * more rows the floats are made when compiling, as they are read from the caches again and again. */
int ac_pass_pack(ac_pass *p)
{
    ac_graph *g = p->graph;
    for (int32_t i = 0; i < g->node.n; i++) {
        ac_node *n = g->node.item[i];
        bool rows_first;
        made w;
        layout at;
        packed tables;
        ac_tensor *weights = weights_of(n, &rows_first);
        if (!weights || !read_chain(g, weights, &w) ||
            !read_layout(&w, rows_first, weights->dim[!rows_first], weights->dim[rows_first], &at) ||
            !make_tables(g, &w, &at, &tables))
            continue;
        replace_product(g, n, &tables);
        p->changed++;
    }
    ac_graph_sweep(g); /* of scales and zero points that were folded */
    return AC_OK;
}
