/* sparse.c - expands constants that a file stores as a tree of their non-zero elements.
 *
 *     SparsityParameters   traversal_order, block_map, dim_metadata
 *     dim_metadata[l]      level l of the tree: `dense` has all `dense_size` children, `sparse` those
 *                          whose numbers are array_indices[array_segments[p]] and on, up to but not with number
 *                          array_segments[p + 1], where p is the number of the parent
 *
 * Levels are the dimensions in the order traversal_order, and after them the dimensions of blocks: number rank + b of
 * traversal_order is inside of blocks along dimension block_map[b], whose index is then that of the block times its
 * size and the index inside. Elements are stored in the order of the leaves. After TFLite's format converter
 * (tools/optimize/sparsity). The file is not trusted: every index and segment is checked. */
#include "import/tflite/tflite.h"

#include <string.h>

enum { ORDER, BLOCK_MAP, LEVELS };
enum { FORMAT, DENSE_SIZE, SEGMENTS_TYPE, SEGMENTS, INDICES_TYPE, INDICES };
enum { MAX_LEVELS = 2 * AC_MAX_RANK };

typedef struct numbers {
    ac_fb_vec v;
    ac_fb_scalar type;
} numbers;

typedef struct level {
    bool sparse;
    int64_t size, step; /* children at most; elements of the result from one to the next */
    numbers segments, indices;
} level;

typedef struct tree {
    ac_tfl *r;
    ac_place at;
    const char *name;
    level level[MAX_LEVELS];
    int32_t n;
    int64_t unit; /* bytes of an element */
    ac_span stored;
    uint64_t taken; /* bytes of stored */
    char *dense;
} tree;

static int broken(tree *t, const char *what)
{
    return ac_error(t->r->cx, t->at, E0012, "constant '%s' is sparse, but %s", t->name, what);
}

/* A union of vectors: i32, u16 or u8. */
static numbers read_numbers(ac_fb *fb, ac_fb_table t, int type, int field)
{
    static const ac_fb_scalar SCALAR[] = {[1] = AC_FB_I32, [2] = AC_FB_U16, [3] = AC_FB_U8};
    const int64_t kind = ac_fb_int(fb, t, type, AC_FB_U8, 0);
    if (kind < 1 || kind > 3)
        return (numbers){.type = AC_FB_U8};
    const ac_fb_table values = ac_fb_child(fb, t, field, "vector of indices");
    return (numbers){ac_fb_vector(fb, values, 0, kind == 1 ? 4 : kind == 2 ? 2 : 1), SCALAR[kind]};
}

static int64_t number(tree *t, const numbers *list, int64_t i)
{
    return i >= 0 && i < list->v.n ? ac_fb_elem_int(&t->r->fb, list->v, (uint32_t)i, list->type) : -1;
}

static int leaf(tree *t, int64_t to)
{
    if (t->stored.n - t->taken < (uint64_t)t->unit)
        return broken(t, "its elements are fewer than its indices say");
    memcpy(t->dense + to * t->unit, t->stored.p + t->taken, (size_t)t->unit);
    t->taken += (uint64_t)t->unit;
    return AC_OK;
}

/* Node number `p` of level l, whose elements begin at `to`. At most MAX_LEVELS deep. */
static int walk(tree *t, int32_t l, int64_t p, int64_t to)
{
    if (l == t->n)
        return leaf(t, to);
    const level *at = &t->level[l];
    int64_t begin = 0, end = at->size;
    if (at->sparse) {
        begin = number(t, &at->segments, p);
        end = number(t, &at->segments, p + 1);
        if (begin < 0 || end < begin || end > at->indices.v.n)
            return broken(t, "a segment of its indices is none");
    }
    if (!ac_fb_spend(&t->r->fb, 1))
        return AC_FAIL;
    for (int64_t i = begin; i < end; i++) {
        const int64_t child = at->sparse ? number(t, &at->indices, i) : i;
        if (child < 0 || child >= at->size)
            return broken(t, ac_strf(t->r->cx->region, "one of its indices is %lld, expected 0 to %lld",
                                     (long long)child, (long long)at->size - 1));
        AC_TRY(walk(t, l + 1, at->sparse ? i : p * at->size + i, to + child * at->step));
    }
    return AC_OK;
}

/* Sizes and steps of the levels; the dimensions in all must be those of the tensor. */
static int read_levels(tree *t, ac_fb_table sparsity, int32_t rank, const int64_t *dim)
{
    ac_fb *fb = &t->r->fb;
    const ac_fb_vec order = ac_fb_vector(fb, sparsity, ORDER, 4), map = ac_fb_vector(fb, sparsity, BLOCK_MAP, 4),
                    levels = ac_fb_vector(fb, sparsity, LEVELS, 4);
    int64_t step[AC_MAX_RANK], left[AC_MAX_RANK], block_step[AC_MAX_RANK], inner = 1;
    if (fb->failed)
        return AC_FAIL;
    if (map.n > (uint32_t)rank || order.n != levels.n || order.n != (uint32_t)rank + map.n)
        return broken(t, "the numbers of its dimensions, blocks and levels do not go together");
    t->n = (int32_t)order.n;
    for (int32_t d = rank - 1; d >= 0; d--) {
        block_step[d] = step[d] = inner;
        left[d] = dim[d];
        inner *= dim[d];
    }
    uint32_t seen = 0;
    for (int32_t l = t->n - 1; l >= 0; l--) { /* blocks come last: they determine the step size of their dimension */
        const int64_t k = ac_fb_elem_int(fb, order, (uint32_t)l, AC_FB_I32);
        const bool block = k >= rank;
        const ac_fb_table from = ac_fb_elem_table(fb, levels, (uint32_t)l, "DimensionMetadata");
        level *to = &t->level[l];
        if (fb->failed)
            return AC_FAIL;
        if (k < 0 || k >= t->n || seen >> k & 1 || block != (l >= rank))
            return broken(t, "its traversal order is none");
        seen |= 1u << k;
        const int64_t d = block ? ac_fb_elem_int(fb, map, (uint32_t)(k - rank), AC_FB_I32) : k;
        if (d < 0 || d >= rank || (block && step[d] != block_step[d]))
            return broken(t, "its block map is none");
        to->sparse = ac_fb_int(fb, from, FORMAT, AC_FB_I8, 0) == 1;
        to->size = to->sparse ? left[d] : ac_fb_int(fb, from, DENSE_SIZE, AC_FB_I32, 0);
        to->step = step[d];
        if (to->sparse) {
            to->segments = read_numbers(fb, from, SEGMENTS_TYPE, SEGMENTS);
            to->indices = read_numbers(fb, from, INDICES_TYPE, INDICES);
        }
        if (to->size < 1 || (block ? left[d] % to->size : left[d] != to->size) || (block && to->sparse))
            return broken(t, ac_strf(t->r->cx->region, "level %d of %lld elements does not fit dimension %lld of %lld",
                                     l, (long long)to->size, (long long)d, (long long)dim[d]));
        left[d] /= to->size;
        step[d] *= to->size;
    }
    return fb->failed ? AC_FAIL : AC_OK;
}

int ac_tfl_densify(ac_tfl *r, ac_place at, const char *name, ac_fb_table sparsity, int32_t rank, const int64_t *dim,
                   int32_t bits, ac_span stored, const void **out)
{
    tree t = {.r = r, .at = at, .name = name, .unit = bits / 8, .stored = stored};
    int64_t count = 1;
    for (int32_t d = 0; d < rank; d++)
        if (dim[d] < 1 || !ac_mul_ok(count, dim[d], &count) || count > INT32_MAX)
            return broken(&t, "its shape is empty, or has too many elements");
    if (!ac_fb_spend(&r->fb, count / 64)) /* a small file cannot request much memory */
        return AC_FAIL;
    AC_TRY(read_levels(&t, sparsity, rank, dim));
    t.dense = ac_alloc(r->cx->region, (uint64_t)(count * t.unit));
    memset(t.dense, 0, (size_t)(count * t.unit));
    AC_TRY(walk(&t, 0, 0, 0));
    if (t.taken != stored.n)
        return broken(&t, "it has more elements than its indices say");
    *out = t.dense;
    return AC_OK;
}
