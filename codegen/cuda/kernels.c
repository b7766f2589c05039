/* kernels.c - cuts a step's function into kernels. At the top of a function are grid loops, and code between them: each
 * grid loop is a kernel, and so is each stretch of other code, run by one thread. Pure values at the top are recomputed
 * in every kernel that uses them; otherwise only memory connects two kernels (ir/lower/gpu/grid.c ensures that, E0901
 * otherwise).
 *
 * A grid loop with block loops in it: its iterations are blocks, theirs are threads. Without: its iterations are
 * threads. With cluster loops in it: its iterations are clusters, theirs are blocks. */
#include "codegen/cuda/cuda.h"
#include "ir/loop/builder.h"

typedef struct cutter {
    ac_ctx *cx;
    const ac_loop_fn *from;
    ac_lb b;
    ac_x *map;
    bool broken;
} cutter;

static const ac_ins *ins(const cutter *c, ac_x x)
{
    return &c->from->code.item[x];
}

/* The same wherever it is computed. */
static bool again(const cutter *c, ac_x x)
{
    const ac_ins *i = ins(c, x);
    if (i->op == AC_L_LOAD)
        return c->from->buf.item[i->aux].role == AC_BUF_IN || c->from->buf.item[i->aux].role == AC_BUF_CONST;
    return i->op == AC_L_NONE || ac_lop_pure((ac_lop)i->op);
}

static ac_x copy(cutter *c, ac_x x);

static ac_x mapped(cutter *c, ac_x x)
{
    if (!x || c->map[x])
        return x ? c->map[x] : 0;
    c->broken |= !again(c, x);
    return c->broken ? 0 : copy(c, x);
}

static ac_x copy(cutter *c, ac_x x)
{
    ac_ins i = *ins(c, x);
    const int32_t n = ac_lop_arity((ac_lop)i.op);
    i.a = n > 0 ? mapped(c, i.a) : i.a;
    i.b = n > 1 ? mapped(c, i.b) : i.b;
    i.c = n > 2 ? mapped(c, i.c) : i.c;
    if (i.op == AC_L_GET || i.op == AC_L_SET)
        i.aux = mapped(c, i.aux);
    return c->broken ? 0 : (c->map[x] = ac_lb_copy(&c->b, c->from, &i));
}

static bool outside(const ac_ins *i, ac_x begin, int32_t k, ac_x *x)
{
    *x = (const ac_x[3]){i->a, i->b, i->c}[k];
    return k < ac_lop_arity((ac_lop)i->op) && *x && *x < begin;
}

static const ac_loop_fn *part(cutter *c, ac_x begin, ac_x end)
{
    ac_x x;
    memset(c->map, 0, (size_t)c->from->code.n * sizeof *c->map);
    ac_lb_open_like(&c->b, c->cx->region, c->from);
    for (ac_x i = begin; i < end; i++) /* first, so that they are outside of the loops */
        for (int32_t k = 0; k < 3; k++)
            if (outside(ins(c, i), begin, k, &x))
                mapped(c, x);
    for (ac_x i = begin; i < end && !c->broken; i++)
        copy(c, i);
    return c->broken ? NULL : ac_lb_close(&c->b);
}

/* Threads of a block: the longest block loop. 0: no block loop. */
static int32_t block_threads(const ac_loop_fn *fn)
{
    int64_t most = 0;
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        if (i->op == AC_L_FOR && i->aux == AC_MARK_BLOCK && fn->code.item[i->b].k.i > most)
            most = fn->code.item[i->b].k.i;
    }
    return (int32_t)most;
}

/* Enough blocks to go round, whole warps. */
static int32_t flat_threads(int64_t n)
{
    enum { WARP = 32, BUSY = 1 << 15 };
    return n >= BUSY ? 8 * WARP : n >= BUSY / 8 ? 4 * WARP : WARP;
}

static void place_shared(ac_region *r, ac_cuda_kernel *k)
{
    int64_t *at = AC_NEW_N(r, int64_t, k->fn->buf.n + 1);
    for (int32_t i = 0; i < k->fn->buf.n && !k->shared; i++)
        k->shared = k->fn->buf.item[i].where == AC_WHERE_SPREAD ? AC_CUDA_BOXES : 0;
    for (int32_t i = 0; i < k->fn->buf.n; i++) {
        const ac_buf *b = &k->fn->buf.item[i];
        const bool spread = b->where == AC_WHERE_SPREAD;
        if ((b->where != AC_WHERE_SHARED && !spread) || !k->uses[i])
            continue;
        at[i] = ac_align_up(k->shared, b->align > 16 ? b->align : 16);
        k->shared = at[i] + ac_align_up(ac_dtype_size(b->dtype, b->count / (spread ? k->cluster : 1)), 16);
    }
    k->shared_at = k->shared > AC_CUDA_STATIC ? at : NULL;
}

static ac_cuda_kernel describe(cutter *c, const ac_loop_fn *fn)
{
    ac_cuda_kernel k = {.fn = fn, .blocks = 1, .threads = 1, .uses = ac_c_buffer_uses(fn, NULL, c->cx->region)};
    k.cluster = ac_loop_cluster(fn);
    place_shared(c->cx->region, &k);
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        if (i->op != AC_L_FOR || i->aux != AC_MARK_GRID)
            continue;
        k.blocks = fn->code.item[i->b].k.i * (k.cluster ? k.cluster : 1);
        k.threads = block_threads(fn);
        k.flat = !k.threads;
        if (k.flat) {
            k.threads = flat_threads(k.blocks);
            k.blocks = (k.blocks + k.threads - 1) / k.threads;
        }
        break;
    }
    return k;
}

typedef AC_VEC(ac_cuda_kernel) kernel_list;

static void add(cutter *c, ac_x begin, ac_x end, kernel_list *list)
{
    const ac_loop_fn *fn = part(c, begin, end);
    if (!fn)
        return;
    const ac_cuda_kernel k = describe(c, fn);
    ac_push(c->cx->region, list, k);
}

static int check_shared(ac_ctx *cx, const ac_target *t, const ac_loop_fn *fn, const kernel_list *list)
{
    for (int32_t i = 0; i < list->n; i++)
        if (list->item[i].shared > t->shared_bytes)
            return ac_error(cx, (ac_place){0}, E0901, "a kernel of '%s' has %lld bytes of shared memory; %s has %d",
                            fn->name, (long long)list->item[i].shared, t->name, t->shared_bytes);
    return AC_OK;
}

const ac_cuda_kernel *ac_cuda_kernels(ac_ctx *cx, const ac_target *t, const ac_loop_fn *fn, int32_t *n)
{
    kernel_list list = {0};
    cutter c = {.cx = cx, .from = fn, .map = AC_NEW_N(cx->region, ac_x, fn->code.n + 1)};
    ac_x begin = 0; /* of the present stretch; 0: none */
    for (ac_x x = 1, depth = 0, head = 0; x <= fn->code.n && !c.broken; x++) {
        const ac_ins *i = x < fn->code.n ? ins(&c, x) : NULL;
        const bool open = i && (i->op == AC_L_FOR || i->op == AC_L_IF);
        const bool grid = open && !depth && i->op == AC_L_FOR && i->aux == AC_MARK_GRID;
        if (begin && !depth && (grid || !i)) {
            add(&c, begin, x, &list);
            begin = 0;
        }
        if (!depth && open)
            head = x;
        if (i && !begin && !depth && !grid && !again(&c, x))
            begin = x;
        depth += open ? 1 : i && i->op == AC_L_END ? -1 : 0;
        if (i && i->op == AC_L_END && !depth && ins(&c, head)->aux == AC_MARK_GRID && ins(&c, head)->op == AC_L_FOR) {
            add(&c, head, x + 1, &list);
        }
    }
    *n = list.n;
    if (check_shared(cx, t, fn, &list) != AC_OK)
        return NULL;
    if (!c.broken)
        return list.item ? list.item : AC_NEW_N(cx->region, ac_cuda_kernel, 1);
    ac_error(cx, (ac_place){0}, E0901, "kernels of '%s' pass values to each other", fn->name);
    return NULL;
}
