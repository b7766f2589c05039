/* cut.c - chooses the cut of a step for threads; see cut.h. */
#include "ir/lower/node/cut.h"

#include "ir/loop/access/traffic.h"
#include "ir/lower/node/chunk_bytes.h"

#include <string.h>

enum {
    MOST_WEIGHT = 64,
    TILE = 64,   /* instructions in the time of a product of matrices */
    WRITTEN = 2, /* bytes that come from another processor's cache in the time of an instruction, */
    READ = 8     /* and from the cache of all, or memory */
};

void ac_cut_open(ac_cut *v, ac_region *tmp, const ac_loop_fn *fn, int32_t chunks)
{
    const size_t n = (size_t)fn->code.n;
    *v = (ac_cut){.fn = fn, .chunks = chunks, .tmp = tmp, .end = ac_loop_ends(tmp, fn)};
    v->split = AC_NEW_N(tmp, bool, n);
    v->own = AC_NEW_N(tmp, bool, n);
}

bool ac_cut_stores(const ac_cut *v, ac_x x)
{
    const ac_ins *i = ac_cut_ins(v, x);
    return ac_lop_stores((ac_lop)i->op) && v->fn->buf.item[i->aux].role == AC_BUF_OUT;
}

bool ac_cut_any_result(const ac_cut *v, ac_x begin, ac_x end)
{
    for (ac_x x = begin; x < end; x++)
        if (ac_cut_stores(v, x))
            return true;
    return false;
}

int64_t ac_cut_trips(const ac_cut *v, ac_x x)
{
    bool known;
    if (ac_cut_ins(v, x)->op != AC_L_FOR || ac_cut_ins(v, x)->aux != AC_MARK_PARALLEL || ac_cut_ins(v, x)->k.i < 0)
        return 0;
    const int64_t n = ac_loop_trips(v->fn, x, &known);
    return known ? n : 0;
}

double ac_cut_cost(const ac_cut *v, ac_x begin, ac_x end)
{
    double sum = 0;
    bool known;
    for (ac_x x = begin; x < end; x++) {
        if (ac_cut_ins(v, x)->op == AC_L_FOR) {
            sum += (double)ac_loop_trips(v->fn, x, &known) * ac_cut_cost(v, x + 1, v->end[x]);
            x = v->end[x];
        } else {
            const ac_lop op = (ac_lop)ac_cut_ins(v, x)->op;
            sum += op != AC_L_CONST && op != AC_L_CONSTV && op != AC_L_GET && op != AC_L_SET;
            sum += op == AC_L_TILE ? TILE : 0;
        }
    }
    return sum;
}

/* Iterations of different loops take different times. */
static void weigh(const ac_cut *v, ac_cut_range *r)
{
    double cost[AC_CUT_LOOPS], least = 0;
    int64_t count[AC_CUT_LOOPS], length = 0;
    for (int32_t i = 0; i < r->n; i++) {
        cost[i] = ac_cut_cost(v, r->loop[i] + 1, v->end[r->loop[i]]);
        count[i] = r->first[i + 1] - r->first[i];
        least = i == 0 || cost[i] < least ? cost[i] : least;
    }
    for (int32_t i = 0; i < r->n && least > 0; i++) {
        const double w = cost[i] / least + 0.5;
        r->weight[i] = w > MOST_WEIGHT ? MOST_WEIGHT : (int64_t)w;
        length += count[i] * r->weight[i];
    }
    if (least <= 0 || length > INT32_MAX / (v->chunks + 1)) /* the product with the chunk's number has to fit */
        for (int32_t i = 0; i < r->n; i++)
            r->weight[i] = 1;
    for (int32_t i = 0; i < r->n; i++)
        r->first[i + 1] = r->first[i] + count[i] * r->weight[i];
}

ac_cut_range ac_cut_range_of(const ac_cut *v, ac_x begin, ac_x end)
{
    ac_cut_range r = {.n = 0};
    for (ac_x x = begin; x < end; x++) {
        const int64_t n = ac_cut_is_block(v, x) ? ac_cut_trips(v, x) : 0;
        if (n && r.n < AC_CUT_LOOPS && ac_cut_any_result(v, x, v->end[x])) {
            r.loop[r.n] = x;
            r.weight[r.n] = 1;
            r.first[r.n + 1] = r.first[r.n] + n;
            r.n++;
        }
        if (ac_cut_is_block(v, x))
            x = v->end[x];
    }
    weigh(v, &r);
    return r;
}

/* Iterations of loop i that begin before position `at` of the range, to the nearest. */
static int64_t iterations(const ac_cut_range *r, int32_t i, int64_t at)
{
    const int64_t in = at < r->first[i] ? 0 : at > r->first[i + 1] ? r->first[i + 1] - r->first[i] : at - r->first[i];
    return (in + r->weight[i] / 2) / r->weight[i];
}

/* The number of iterations of loop i in chunk k. */
static void part_of(const ac_cut *v, const ac_cut_range *r, int32_t i, int32_t k, int64_t *from, int64_t *to)
{
    const int64_t before = r->own ? r->first[i] : 0, n = r->first[r->own ? i + 1 : r->n] - before;
    *from = iterations(r, i, before + n * k / v->chunks);
    *to = iterations(r, i, before + n * (k + 1) / v->chunks);
}

/* The time of the slowest chunk in the loops of r. */
static double slowest(const ac_cut *v, const ac_cut_range *r)
{
    double most = 0;
    int64_t from, to;
    for (int32_t k = 0; k < v->chunks; k++) {
        double sum = 0;
        for (int32_t i = 0; i < r->n; i++) {
            part_of(v, r, i, k, &from, &to);
            sum += (double)(to - from) * ac_cut_cost(v, r->loop[i] + 1, v->end[r->loop[i]]);
        }
        most = sum > most ? sum : most;
    }
    return most;
}

/* The number of elements of a buffer that chunk 0, chunk 1, both and all chunks touch, summed over the loops of a
 * range. */
typedef struct shares {
    int64_t of[2], both, all;
} shares;

static void add_shares(const ac_cut *v, const ac_cut_range *r, int32_t i, shares *sum)
{
    const ac_loop_fn *fn = v->fn;
    ac_span *of[3];
    for (int32_t k = 0; k < 3; k++) {
        int64_t from = 0, to = (r->first[i + 1] - r->first[i]) / r->weight[i];
        if (k < 2)
            part_of(v, r, i, k, &from, &to);
        of[k] = AC_NEW_N(v->tmp, ac_span, fn->buf.n + 1);
        ac_chunk_bytes(v->tmp, fn, v->end, r->loop[i], from, to, of[k]);
    }
    for (int32_t m = 0; m < fn->buf.n; m++) {
        const ac_span *a = &of[0][m], *b = &of[1][m];
        const int64_t lo = a->lo > b->lo ? a->lo : b->lo, hi = a->hi < b->hi ? a->hi : b->hi;
        sum[m].of[0] += a->hi - a->lo;
        sum[m].of[1] += b->hi - b->lo;
        sum[m].both += lo < hi ? hi - lo : 0;
        sum[m].all += of[2][m].hi - of[2][m].lo;
    }
}

/* The time that a chunk of r waits for bytes outside of its processor's cache: operands beyond its share, which others
 * have written; results interleaved with those of others; constants that others also read. */
static double waits(const ac_cut *v, const ac_cut_range *r)
{
    const ac_loop_fn *fn = v->fn;
    const double share = 1.0 / v->chunks;
    shares *sum = AC_NEW_N(v->tmp, shares, fn->buf.n + 1);
    double wait[2] = {0, 0};
    for (int32_t i = 0; i < r->n; i++)
        add_shares(v, r, i, sum);
    for (int32_t m = 0; m < fn->buf.n; m++) {
        const ac_role role = fn->buf.item[m].role;
        const double size = (double)ac_dtype_size(fn->buf.item[m].dtype, 1);
        for (int32_t k = 0; k < 2; k++) {
            const double more = (double)sum[m].of[k] - share * (double)sum[m].all;
            if (role == AC_BUF_OUT)
                wait[k] += size * share * (1 - share) * (double)sum[m].both / WRITTEN;
            if ((role == AC_BUF_IN || role == AC_BUF_CONST) && more > 0)
                wait[k] += size * more / (role == AC_BUF_IN ? WRITTEN : READ);
        }
    }
    return wait[0] > wait[1] ? wait[0] : wait[1];
}

/* The time of the loops of r, in a block that runs `times` times: in one range, so that a chunk's elements stay
 * together, or separately if that is far better. */
static double cut_here(const ac_cut *v, ac_cut_range *r, double times)
{
    if (!r->n)
        return 0;
    const double shared = slowest(v, r) + waits(v, r) / times;
    r->own = r->n > 1;
    const double own = r->own ? slowest(v, r) + waits(v, r) / times : shared;
    r->own = own < shared * 7 / 8;
    return r->own ? own : shared;
}

static bool in_range(const ac_cut_range *r, ac_x x)
{
    for (int32_t i = 0; i < r->n; i++)
        if (r->loop[i] == x)
            return true;
    return false;
}

double ac_cut_choose(ac_cut *v, ac_x begin, ac_x end, double times)
{
    ac_cut_range r = ac_cut_range_of(v, begin, end);
    double inside = 0, around = 0; /* splitting the loops of r, or loops inside of them */
    const double here = cut_here(v, &r, times);
    bool known;
    for (ac_x x = begin; x < end; x++) {
        if (!ac_cut_is_block(v, x)) {
            around += ac_cut_cost(v, x, x + 1);
            continue;
        }
        const int64_t n = ac_cut_ins(v, x)->op == AC_L_FOR ? ac_loop_trips(v->fn, x, &known) : 1;
        const double all = n > 0 ? (double)n * ac_cut_choose(v, x + 1, v->end[x], times * (double)n) : 0;
        *(in_range(&r, x) ? &inside : &around) += all;
        x = v->end[x];
    }
    if (r.n == 0 || inside < here)
        return around + inside;
    for (int32_t i = 0; i < r.n; i++) {
        memset(v->split + r.loop[i], 0, (size_t)(v->end[r.loop[i]] - r.loop[i]) * sizeof *v->split);
        v->split[r.loop[i]] = true;
        v->own[r.loop[i]] = r.own;
    }
    return around + here;
}
