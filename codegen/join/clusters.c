/* clusters.c - joins kernels; see clusters.h. */
#include "codegen/join/clusters.h"

#include "ir/loop/gpu_loops.h"
#include "ir/loop/ins_fields.h"

#include <string.h>

enum { LEAST_THREADS = 256, MOST_ROUNDS = 4, ROUND_CYCLES = 500, FLAT_CYCLES = 300 };

/* A function as it is copied. */
typedef struct part {
    const ac_loop_fn *from;
    const int32_t *end; /* FOR, IF: its END */
    ac_x *map;
    int32_t *buf;
    int32_t kernels, level;
    ac_x early;    /* the block loop that loads constants into registers; 0: none */
    bool *lasting; /* by buffer: registers that loop stores to, which last from phase to phase */
    const ac_gpu_flow *flow;
} part;

/* A tensor that blocks keep. */
typedef struct kept {
    ac_gives gives;
    int32_t buf;
    int32_t loop, last; /* cluster loops: that stores it, and the last one that loads it */
} kept;

typedef struct joiner {
    ac_lb b;
    int64_t threads;
    ac_x rank; /* in the open cluster loop; 0: none is open */
    kept *kept;
    int32_t n_kept;
} joiner;

static const ac_ins *ins(const ac_loop_fn *fn, ac_x x)
{
    return &fn->code.item[x];
}

/* Threads of the longest block loop of begin .. end; 0: it has none. */
static int64_t threads_in(const ac_loop_fn *fn, ac_x begin, ac_x end)
{
    int64_t most = 0;
    for (ac_x x = begin; x < end; x++)
        if (ac_gpu_is_loop(fn, x, AC_MARK_BLOCK) && ac_gpu_trips(fn, x) > most)
            most = ac_gpu_trips(fn, x);
    return most;
}

static bool is_pure(const ac_loop_fn *fn, ac_x x)
{
    const ac_ins *i = ins(fn, x);
    if (i->op == AC_L_LOAD)
        return fn->buf.item[i->aux].role == AC_BUF_IN || fn->buf.item[i->aux].role == AC_BUF_CONST;
    return i->op == AC_L_NONE || ac_lop_pure((ac_lop)i->op);
}

static bool is_param(const ac_loop_fn *fn, int32_t buf)
{
    return fn->buf.item[buf].role != AC_BUF_LOCAL;
}

static bool has_grid(const ac_loop_fn *fn)
{
    for (ac_x x = 1; x < fn->code.n; x++)
        if (ac_gpu_is_loop(fn, x, AC_MARK_GRID))
            return true;
    return false;
}

bool ac_gpu_phase_fits(const ac_loop_fn *fn, int64_t *lost, int32_t *kernels)
{
    bool good = !fn->fails && !fn->call && !ac_loop_cluster(fn);
    const bool grid = has_grid(fn);
    *lost = 0;
    *kernels = !grid;
    for (ac_x x = 1, depth = 0, head = 0; x < fn->code.n && good; x++) {
        const ac_ins *i = ins(fn, x);
        const bool open = i->op == AC_L_FOR || i->op == AC_L_IF;
        good &= !(i->op == AC_L_STORE && i->flags & AC_F_LATE);
        if (!depth && ac_gpu_is_loop(fn, x, AC_MARK_GRID))
            head = x;
        else if (!depth && grid)
            good &= is_pure(fn, x);
        depth += open ? 1 : i->op == AC_L_END ? -1 : 0;
        if (i->op != AC_L_END || depth || !grid)
            continue;
        const bool flat = !threads_in(fn, head, x);
        const int64_t units = flat ? AC_CLUSTER_BLOCKS * LEAST_THREADS : AC_CLUSTER_BLOCKS;
        const int64_t rounds = (ac_gpu_trips(fn, head) + units - 1) / units;
        good &= rounds <= MOST_ROUNDS;
        *lost += (rounds - 1) * (flat ? FLAT_CYCLES : ROUND_CYCLES);
        ++*kernels;
    }
    return good;
}

/* Element k of thread t, as all blocks of the cluster have it. */
static ac_x lasting(joiner *j, const part *p, ac_x index, int64_t threads)
{
    ac_lb *b = &j->b;
    int64_t constant;
    ac_x k;
    int32_t mask;
    ac_x t = 0;
    if (!ac_thread_element(p->from, index, &constant, &k, &mask))
        return p->map[index];
    for (ac_x x = index; !t; x--)
        t = ac_gpu_is_loop(p->from, x, AC_MARK_BLOCK) ? x : 0;
    const ac_x all = ac_lb_i32(b, AC_CLUSTER_BLOCKS * threads), of = k ? p->map[k] : ac_lb_i32(b, constant);
    const ac_x lane = mask ? ac_lb_xor(b, p->map[t], ac_lb_i32(b, mask)) : p->map[t];
    return ac_lb_add(b, ac_lb_mul(b, of, all), ac_lb_add(b, ac_lb_mul(b, j->rank, ac_lb_i32(b, threads)), lane));
}

static void copy(joiner *j, part *p, ac_x x)
{
    ac_ins i = *ins(p->from, x);
    const ac_ins old = i;
    const int32_t words = i.op == AC_L_MMA ? (int32_t)i.k.i : 0;
    ac_ins_move_values(&i, p->map);
    ac_ins_move_buffers(&i, p->buf);
    if ((i.op == AC_L_LOAD || i.op == AC_L_STORE) && is_param(p->from, old.aux) && p->flow[old.aux].tensor >= 0) {
        const ac_gpu_flow *f = &p->flow[old.aux];
        i.a = ac_gives_at(&j->b, &j->kept[f->tensor].gives, j->rank, ac_lb_add(&j->b, i.a, ac_lb_i32(&j->b, f->at)));
    }
    if (p->early) {
        const int64_t threads = ac_gpu_trips(p->from, p->early);
        if ((i.op == AC_L_LOAD || i.op == AC_L_STORE || i.op == AC_L_MMA) && p->lasting[old.aux])
            i.a = lasting(j, p, old.a, threads);
        if (i.op == AC_L_MMA && p->lasting[words]) {
            i.b = lasting(j, p, old.b, threads);
            i.c = lasting(j, p, old.c, threads);
        }
    }
    p->map[x] = ac_lb_copy(&j->b, p->from, &i);
}

/* Values at the top of the function that come before `end`: each kernel computes its own. */
static void copy_top(joiner *j, part *p, ac_x end)
{
    for (ac_x x = 1; x < end; x++) {
        if (p->end[x])
            x = p->end[x];
        else
            copy(j, p, x);
    }
}

static ac_x block(joiner *j, int64_t threads)
{
    return ac_lb_for(&j->b, "t", ac_lb_i32(&j->b, 0), ac_lb_i32(&j->b, threads), 1, AC_MARK_BLOCK);
}

/* The code of a kernel from begin to end, and the values before it. Its blocks are shared: neighbours stay together. */
static void copy_blocks(joiner *j, part *p, ac_x grid, ac_x begin, ac_x end)
{
    ac_lb *b = &j->b;
    const int64_t blocks = ac_gpu_trips(p->from, grid), each = (blocks + AC_CLUSTER_BLOCKS - 1) / AC_CLUSTER_BLOCKS;
    const ac_x v = ac_lb_for_n(b, "v", each), g = ac_lb_add(b, ac_lb_mul(b, j->rank, ac_lb_i32(b, each)), v);
    const bool some = blocks % AC_CLUSTER_BLOCKS != 0;
    if (some)
        ac_lb_if(b, ac_lb_lt(b, g, ac_lb_i32(b, blocks)));
    p->map[grid] = g;
    for (ac_x x = grid + 1; x < end; x++) {
        if (x >= begin || (is_pure(p->from, x) && !p->end[x]))
            copy(j, p, x);
        else if (p->end[x])
            x = p->end[x];
    }
    if (some)
        ac_lb_end(b);
    ac_lb_end(b);
}

static void copy_threads(joiner *j, part *p, ac_x grid)
{
    ac_lb *b = &j->b;
    const int64_t n = ac_gpu_trips(p->from, grid), all = AC_CLUSTER_BLOCKS * j->threads;
    const ac_x t = block(j, j->threads), first = ac_lb_add(b, ac_lb_mul(b, j->rank, ac_lb_i32(b, j->threads)), t);
    if (n > all)
        p->map[grid] = ac_lb_for(b, "i", first, ac_lb_i32(b, n), all, AC_MARK_SERIAL);
    else
        ac_lb_if(b, ac_lb_lt(b, p->map[grid] = first, ac_lb_i32(b, n)));
    for (ac_x x = grid + 1; x < p->end[grid]; x++)
        copy(j, p, x);
    ac_lb_end(b);
    ac_lb_end(b);
}

static void open_cluster(joiner *j)
{
    j->rank = ac_lb_for(&j->b, "r", ac_lb_i32(&j->b, 0), ac_lb_i32(&j->b, AC_CLUSTER_BLOCKS), 1, AC_MARK_CLUSTER);
}

static void close_cluster(joiner *j)
{
    if (j->rank)
        ac_lb_end(&j->b);
    j->rank = 0;
}

static void forget(part *p)
{
    memset(p->map, 0, (size_t)p->from->code.n * sizeof *p->map);
}

static ac_x grid_of(const ac_loop_fn *fn, ac_x from)
{
    while (from < fn->code.n && !ac_gpu_is_loop(fn, from, AC_MARK_GRID))
        from++;
    return from;
}

/* The loop that loads constants, in the cluster loop of the phase before. */
static void copy_early(joiner *j, part *p)
{
    if (!p->early)
        return;
    const ac_x grid = grid_of(p->from, 1);
    forget(p);
    copy_top(j, p, grid);
    copy_blocks(j, p, grid, grid, p->end[p->early] + 1);
}

/* early: the loop that loads constants has been copied. */
static void copy_part(joiner *j, part *p, bool early)
{
    ac_lb *b = &j->b;
    const ac_loop_fn *fn = p->from;
    for (ac_x x = grid_of(fn, 1); x < fn->code.n; x = grid_of(fn, x + 1)) {
        if (!j->rank)
            open_cluster(j);
        forget(p);
        copy_top(j, p, x);
        if (threads_in(fn, x, p->end[x]))
            copy_blocks(j, p, x, early ? p->end[p->early] + 1 : x, p->end[x]);
        else
            copy_threads(j, p, x);
        if (p->kernels > 1)
            close_cluster(j);
    }
    if (has_grid(fn))
        return;
    if (!j->rank)
        open_cluster(j);
    forget(p);
    block(j, 1);
    ac_lb_if(b, ac_lb_eq(b, j->rank, ac_lb_i32(b, 0)));
    for (ac_x x = 1; x < fn->code.n; x++)
        copy(j, p, x);
    ac_lb_end(b);
    ac_lb_end(b);
}

/* Does the block loop only load constants into registers? */
static bool is_early(const ac_loop_fn *fn, ac_x loop, ac_x end)
{
    for (ac_x x = loop; x < end; x++) {
        const ac_ins *i = ins(fn, x);
        if (!ac_lop_has_buffer((ac_lop)i->op))
            continue;
        const ac_buf *m = &fn->buf.item[i->aux];
        if (i->op == AC_L_MMA || (i->op == AC_L_LOAD && m->role != AC_BUF_CONST) ||
            (i->op == AC_L_STORE && m->where != AC_WHERE_THREAD))
            return false;
    }
    return true;
}

/* Finds the loop that loads constants: the first one of the only kernel, whose blocks are at most those of the
 * cluster. All block loops that use the same registers have as many threads. */
static void find_early(part *p)
{
    const ac_loop_fn *fn = p->from;
    const ac_x grid = grid_of(fn, 1);
    if (p->kernels > 1 || grid == fn->code.n || ac_gpu_trips(fn, grid) > AC_CLUSTER_BLOCKS)
        return;
    ac_x x = grid + 1;
    while (x < p->end[grid] && !p->end[x] && is_pure(fn, x))
        x++;
    if (x == p->end[grid] || !ac_gpu_is_loop(fn, x, AC_MARK_BLOCK) || !is_early(fn, x, p->end[x]))
        return;
    for (ac_x k = x; k < p->end[x]; k++)
        if (ins(fn, k)->op == AC_L_STORE)
            p->lasting[ins(fn, k)->aux] = true;
    p->early = x;
    for (ac_x k = x, t = 0; k < p->end[grid]; k++) {
        t = ac_gpu_is_loop(fn, k, AC_MARK_BLOCK) ? (ac_x)ac_gpu_trips(fn, k) : t;
        for (int32_t i = 0; i < fn->buf.n && t != ac_gpu_trips(fn, x); i++)
            if (p->lasting[i] && ac_ins_uses_buffer(ins(fn, k), i))
                p->early = 0;
    }
}

static part part_of(joiner *j, ac_region *region, const ac_gpu_phase *phase)
{
    const ac_loop_fn *fn = phase->fn;
    int64_t lost;
    part p = {.from = fn,
              .end = ac_loop_ends(region, fn),
              .map = AC_NEW_N(region, ac_x, fn->code.n + 1),
              .buf = AC_NEW_N(region, int32_t, fn->buf.n + 1),
              .lasting = AC_NEW_N(region, bool, fn->buf.n + 1),
              .flow = phase->flow,
              .level = phase->level};
    ac_gpu_phase_fits(fn, &lost, &p.kernels);
    find_early(&p);
    for (int32_t i = 0; i < fn->buf.n; i++) {
        ac_buf like = fn->buf.item[i];
        like.count *= p.early && p.lasting[i] ? AC_CLUSTER_BLOCKS : 1;
        p.buf[i] = like.role == AC_BUF_LOCAL ? ac_lb_buf_like(&j->b, &like) : phase->param[i];
    }
    const int64_t threads = threads_in(fn, 1, fn->code.n);
    j->threads = threads > j->threads ? threads : j->threads;
    return p;
}

/* True if only the first block runs the function. */
static bool is_lone(const ac_loop_fn *fn)
{
    const ac_x grid = grid_of(fn, 1);
    return grid == fn->code.n || (threads_in(fn, 1, fn->code.n) && ac_gpu_trips(fn, grid) == 1);
}

/* True if the phases from .. end - 1, of one level, need no other block after cluster loop `loop`. */
static bool goes_on(const joiner *j, const part *p, int32_t from, int32_t end, int32_t loop)
{
    bool good = j->n_kept > 0;
    for (int32_t k = from; k < end && good; k++) {
        good = is_lone(p[k].from);
        for (int32_t i = 0; i < p[k].from->buf.n && is_param(p[k].from, i) && good; i++) {
            const kept *t = p[k].flow[i].tensor >= 0 ? &j->kept[p[k].flow[i].tensor] : NULL;
            good = !t || t->loop != loop || t->gives.lone || p[k].from->buf.item[i].role != AC_BUF_IN;
        }
    }
    return good;
}

static int32_t end_of_level(const part *p, int32_t from, int32_t n)
{
    int32_t end = from;
    while (end < n && p[end].level == p[from].level)
        end++;
    return end;
}

/* Which cluster loop each phase is in. */
static void number_loops(joiner *j, const part *p, int32_t n, int32_t *loop)
{
    for (int32_t i = 0, at = -1, end; i < n; i = end) {
        end = end_of_level(p, i, n);
        at += !(i && goes_on(j, p, i, end, at));
        for (int32_t k = i; k < end; k++) {
            loop[k] = at;
            for (int32_t a = 0; a < p[k].from->buf.n && is_param(p[k].from, a); a++) {
                kept *t = p[k].flow[a].tensor >= 0 ? &j->kept[p[k].flow[a].tensor] : NULL;
                if (t && p[k].from->buf.item[a].role == AC_BUF_IN)
                    t->last = at;
                else if (t)
                    t->loop = at;
            }
        }
    }
}

/* Copies of the tensors. False: blocks cannot give them, or have too little memory. */
static bool keep(joiner *j, ac_region *region, ac_gpu_kept *tensor, const part *p, int32_t n, int64_t shared)
{
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < p[i].from->buf.n; k++) {
            const ac_buf *m = &p[i].from->buf.item[k];
            shared -= m->where == AC_WHERE_SHARED ? ac_align_up(ac_dtype_size(m->dtype, m->count), 16) : 0;
        }
    for (int32_t i = 0; i < j->n_kept; i++) {
        kept *t = &j->kept[i];
        const part *from = &p[tensor[i].phase];
        const bool flat = has_grid(from->from) && !threads_in(from->from, 1, from->from->code.n);
        const ac_buf *m = &from->from->buf.item[tensor[i].param];
        if (!ac_gives_of(region, from->from, tensor[i].param, flat ? j->threads : 0, &t->gives))
            return false;
        const ac_buf like = {.name = m->name,
                             .dtype = m->dtype,
                             .count = AC_CLUSTER_BLOCKS * t->gives.part,
                             .role = AC_BUF_LOCAL,
                             .align = 16,
                             .where = AC_WHERE_SPREAD};
        tensor[i].buf = t->buf = ac_lb_buf_like(&j->b, &like);
        shared -= ac_align_up(ac_dtype_size(m->dtype, t->gives.part), 16);
    }
    return shared >= 0;
}

/* Gives the results of cluster loop `loop` to all blocks, and closes it. */
static void close_loop(joiner *j, int32_t loop)
{
    ac_lb *b = &j->b;
    bool some = false;
    for (int32_t i = 0; i < j->n_kept; i++)
        some |= j->kept[i].loop == loop && j->kept[i].last > loop;
    if (some) {
        const ac_x t = block(j, j->threads);
        for (int32_t i = 0; i < j->n_kept; i++)
            if (j->kept[i].loop == loop && j->kept[i].last > loop)
                ac_gives_give(b, &j->kept[i].gives, j->kept[i].buf, j->rank, t, j->threads);
        ac_lb_end(b);
    }
    close_cluster(j);
}

ac_loop_fn *ac_gpu_join(ac_region *region, const ac_gpu_phase *phase, int32_t n, const ac_buf *like, int32_t n_params,
                        ac_gpu_kept *kept_of, int32_t n_kept, int64_t shared, const char *name, const char *note)
{
    joiner j = {.threads = LEAST_THREADS, .kept = AC_NEW_N(region, kept, n_kept + 1), .n_kept = n_kept};
    part *p = AC_NEW_N(region, part, n + 1);
    int32_t *loop = AC_NEW_N(region, int32_t, n + 1);
    ac_lb_open(&j.b, region, name, note);
    for (int32_t i = 0; i < n_params; i++)
        ac_lb_buf_like(&j.b, &like[i]);
    for (int32_t i = 0; i < n; i++)
        p[i] = part_of(&j, region, &phase[i]);
    const bool fits = keep(&j, region, kept_of, p, n, shared);
    for (int32_t i = 0; i < n && fits; i++)
        for (int32_t k = 0; k < p[i].from->buf.n && is_param(p[i].from, k); k++)
            if (p[i].flow[k].tensor >= 0)
                p[i].buf[k] = j.kept[p[i].flow[k].tensor].buf;
    number_loops(&j, p, fits ? n : 0, loop);
    ac_lb_for(&j.b, "g", ac_lb_i32(&j.b, 0), ac_lb_i32(&j.b, 1), 1, AC_MARK_GRID);
    for (int32_t i = 0, next; i < n && fits; i = next) {
        const bool early = j.rank != 0; /* the phase before is open, and has loaded this one's constants */
        next = end_of_level(p, i, n);
        for (int32_t k = i; k < next && early; k++)
            copy_early(&j, &p[k]);
        if (early && loop[i] != loop[i - 1])
            close_loop(&j, loop[i - 1]);
        for (int32_t k = i; k < next; k++)
            copy_part(&j, &p[k], early && p[k].early);
    }
    close_cluster(&j);
    ac_lb_end(&j.b);
    ac_loop_fn *fn = ac_lb_close(&j.b);
    return fits ? fn : NULL;
}
