/* element_walk.c - runs the loops around a buffer with numbers, to show that its elements are written before they are
 * read. For arguments that share bytes: that each is read before it is overwritten.
 *
 * The last resort for results and rings. Loops whose bodies access the buffer run with numbers for their variables and
 * for all values that follow from these and from constants; no other code runs. So the pattern of places is irrelevant:
 * places of a ring, `line[p % 9]`, are written nine iterations before they are read. Of a data-dependent branch, reads
 * count and writes do not. Other scratch is excluded: there an iteration must read its own writes, and an older element
 * is a fault. Cost: the iterations of those loops. */
#include "ir/loop/builder.h"
#include "ir/loop/ins_fields.h"
#include "prove/facts/contents.h"
#include "prove/facts/evaluate.h"
#include "prove/facts/structure.h"
#include "prove/strategy/strategies.h"

#include <stdlib.h>

enum { MOST_WORK = 1 << 27, MOST_IN_ORDER = 1 << 23, UNASKED = 0, NOT_SHOWN, FINE, WHOLE };

typedef struct walker {
    ac_prover *p;
    int32_t buf;
    bool *need;      /* by instruction: it accesses the buffer, or determines a place or a branch */
    bool *touch;     /* by instruction: it accesses the buffer */
    ac_x *next;      /* the first of those from an instruction on */
    int64_t *number; /* by instruction, if `known` */
    bool *known;
    uint64_t *written; /* by element; by byte for the order with `other` */
    int64_t work, most;
    bool is_ring; /* a place is a remainder */
    /* For the order: the argument that is read, which begins `distance` bytes before the buffer; else -1. */
    int32_t other;
    int64_t distance;
} walker;

static bool touches(const walker *w, const ac_ins *i)
{
    return (ac_ins_uses_buffer(i, w->buf) || (w->other >= 0 && ac_ins_uses_buffer(i, w->other))) &&
           i->op != AC_L_PREFETCH;
}

/* Finds the slice of the accesses. False if one is not a load or store, or a loop may end early. */
static bool find_slice(walker *w)
{
    const ac_prover *p = w->p;
    const int32_t n = p->fn->code.n;
    for (ac_x x = n - 1; x > 0; x--) {
        const ac_ins *i = ac_p_ins(p, x);
        const bool is_access = touches(w, i);
        if (is_access && i->op != AC_L_LOAD && i->op != AC_L_STORE)
            return false;
        if (i->op == AC_L_FOR || i->op == AC_L_IF)
            for (ac_x k = x + 1; k < ac_p_end(p, x) && !w->need[x]; k++)
                w->need[x] = w->need[k];
        w->need[x] |= w->touch[x] = is_access;
        if (w->need[x] && i->op == AC_L_FOR && ac_p_breaks_off(p, x))
            return false;
        if (!w->need[x] || i->op == AC_L_GET)
            continue;
        w->is_ring |= i->op == AC_L_MOD;
        w->need[i->a] = true;
        if (i->op != AC_L_LOAD && i->op != AC_L_STORE && i->op != AC_L_IF)
            w->need[i->b] = w->need[i->c] = true;
    }
    w->need[0] = false;
    w->next[n] = n;
    for (ac_x x = n - 1; x >= 0; x--)
        w->next[x] = w->need[x] ? x : w->next[x + 1];
    return true;
}

/* An integer of a constant, as shapes are that calls of a shared kernel take. */
static bool load_number(const walker *w, const ac_ins *i, int64_t *v)
{
    ac_const *k = ac_p_constant(w->p, i->aux);
    const int64_t at = w->number[i->a];
    if (!k || !w->known[i->a] || i->lanes > 1 || !ac_dtype_is_int(k->dtype) || at < 0 || at >= k->count)
        return false;
    const void *data = ac_const_data(w->p->cx, k);
    *v = data ? ac_dtype_get_int(k->dtype, data, at) : 0;
    return data != NULL;
}

static bool compute_number(const walker *w, const ac_ins *i, int64_t *v)
{
    const int64_t a = w->number[i->a], b = w->number[i->b], c = w->number[i->c];
    const ac_lop op = (ac_lop)i->op;
    if (op == AC_L_CONST)
        return *v = i->k.i, true;
    if (op == AC_L_LOAD)
        return load_number(w, i, v);
    if (!w->known[i->a] || (ac_lop_arity(op) > 1 && !w->known[i->b]) || (ac_lop_arity(op) > 2 && !w->known[i->c]))
        return false;
    switch ((int)op) {
    case AC_L_ADD:
        return !__builtin_add_overflow(a, b, v);
    case AC_L_SUB:
        return !__builtin_sub_overflow(a, b, v);
    case AC_L_MUL:
        return !__builtin_mul_overflow(a, b, v);
    case AC_L_DIV:
        return *v = b > 0 ? a / b : 0, b > 0;
    case AC_L_MOD:
        return *v = b > 0 ? a % b : 0, b > 0;
    case AC_L_MIN:
        return *v = a < b ? a : b, true;
    case AC_L_MAX:
        return *v = a > b ? a : b, true;
    case AC_L_NEG:
        return !__builtin_sub_overflow(INT64_C(0), a, v);
    case AC_L_AND:
        return *v = a & b, true;
    case AC_L_OR:
        return *v = a | b, true;
    case AC_L_EQ:
        return *v = a == b, true;
    case AC_L_NE:
        return *v = a != b, true;
    case AC_L_LT:
        return *v = a < b, true;
    case AC_L_LE:
        return *v = a <= b, true;
    case AC_L_SELECT:
        return *v = a ? b : c, true;
    case AC_L_CAST:
        return *v = a, true;
    default:
        return false;
    }
}

/* Results outside their type, floats and vectors are unknown. */
static void compute(walker *w, ac_x x)
{
    const ac_ins *i = ac_p_ins(w->p, x);
    const ac_dtype d = (ac_dtype)i->dtype;
    const bool is_number = i->lanes <= 1 && (ac_dtype_is_int(d) || d == AC_BOOL) && d != AC_U64;
    w->known[x] = is_number && compute_number(w, i, &w->number[x]) &&
                  ac_interval_inside((ac_interval){w->number[x], w->number[x]}, ac_p_range(d));
    if (!w->known[x])
        w->number[x] = 0;
}

/* False if a read may see a byte that was written to the buffer before. */
static bool access_in_order(walker *w, const ac_ins *i)
{
    const ac_prover *p = w->p;
    const bool reads = i->op == AC_L_LOAD;
    const int64_t size = ac_dtype_size(p->fn->buf.item[i->aux].dtype, 1),
                  lanes = reads ? i->lanes : ac_p_ins(p, i->b)->lanes,
                  all = ac_dtype_size(p->fn->buf.item[w->buf].dtype, p->count[w->buf]);
    if (reads && i->aux == w->buf)
        return true;
    if (!w->known[i->a] || w->number[i->a] < 0 || w->number[i->a] + lanes > p->count[i->aux])
        return false;
    const int64_t at = w->number[i->a] * size - (i->aux == w->buf ? 0 : w->distance);
    for (int64_t k = at < 0 ? 0 : at; k < at + lanes * size && k < all; k++) {
        const uint64_t bit = UINT64_C(1) << (k % 64);
        if (reads && w->written[k / 64] & bit)
            return false;
        if (!reads)
            w->written[k / 64] |= bit;
    }
    return true;
}

static bool check_access(walker *w, const ac_ins *i, bool certain)
{
    const int64_t from = w->number[i->a], lanes = i->lanes > 1 ? i->lanes : 1;
    bool all = w->known[i->a] && from >= 0 && from + lanes <= w->p->count[w->buf];
    for (int64_t k = from; k < from + lanes && all; k++) {
        const uint64_t bit = UINT64_C(1) << (k % 64);
        if (i->op == AC_L_LOAD)
            all = (w->written[k / 64] & bit) != 0;
        else if (certain)
            w->written[k / 64] |= bit;
    }
    return all;
}

/* False if an access is not proven. */
static bool run_code(walker *w, ac_x from, ac_x to, bool certain)
{
    const ac_prover *p = w->p;
    for (ac_x x = w->next[from]; x < to; x = w->next[x + 1]) {
        const ac_ins *i = ac_p_ins(p, x);
        if (++w->work > w->most)
            return false;
        if (i->op == AC_L_FOR) {
            const int64_t step = i->k.i, hi = w->number[i->b];
            if (!step || !w->known[i->a] || !w->known[i->b] ||
                llabs(hi - w->number[i->a]) / llabs(step) > w->most - w->work)
                return false;
            w->known[x] = true;
            for (int64_t v = w->number[i->a]; step > 0 ? v < hi : v > hi; v += step) {
                w->number[x] = v;
                if (!run_code(w, x + 1, p->end[x], certain))
                    return false;
            }
            x = p->end[x];
        } else if (i->op == AC_L_IF) {
            const bool known = w->known[i->a], taken = w->number[i->a] != 0;
            const ac_x middle = p->end[x], end = ac_p_end(p, x);
            if (((!known || taken) && !run_code(w, x + 1, middle, certain && known)) ||
                ((!known || !taken) && !run_code(w, middle, end, certain && known)))
                return false;
            x = end;
        } else if (w->touch[x]) {
            if (w->other < 0 ? !check_access(w, i, certain) : !access_in_order(w, i))
                return false;
        } else {
            compute(w, x);
        }
    }
    return true;
}

static bool all_written(const walker *w)
{
    const int64_t n = w->p->count[w->buf];
    int64_t k = 0;
    while (k < n && w->written[k / 64] >> (k % 64) & 1)
        k++;
    return k == n;
}

/* `marks`: bits of `written`. */
static walker open_walker(ac_prover *p, ac_region *r, int32_t buf, int64_t marks)
{
    const int32_t n = p->fn->code.n;
    return (walker){.p = p,
                    .buf = buf,
                    .need = AC_NEW_N(r, bool, n + 1),
                    .touch = AC_NEW_N(r, bool, n + 1),
                    .next = AC_NEW_N(r, ac_x, n + 1),
                    .number = AC_NEW_N(r, int64_t, n + 1),
                    .known = AC_NEW_N(r, bool, n + 1),
                    .written = AC_NEW_N(r, uint64_t, marks / 64 + 1),
                    .most = MOST_WORK,
                    .other = -1};
}

/* By buffer: one of UNASKED .. WHOLE. */
typedef struct ac_elements {
    uint8_t *shown;
} ac_elements;

bool ac_p_can_walk_elements(ac_prover *p, int32_t buf)
{
    const ac_role role = p->fn->buf.item[buf].role;
    return (role == AC_BUF_SCRATCH || role == AC_BUF_LOCAL || role == AC_BUF_OUT) && p->count[buf] <= MOST_WORK;
}

static uint8_t prove_buffer(ac_prover *p, int32_t buf)
{
    ac_region *r = ac_region_open(ac_region_heap(p->keep));
    walker w = open_walker(p, r, buf, p->count[buf]);
    const bool fine = find_slice(&w) && (w.is_ring || p->fn->buf.item[buf].role == AC_BUF_OUT) &&
                      run_code(&w, 1, p->fn->code.n, true);
    const uint8_t shown = !fine ? NOT_SHOWN : all_written(&w) ? WHOLE : FINE;
    ac_region_close(r);
    return shown;
}

static uint8_t proven(ac_prover *p, int32_t buf)
{
    if (!p->elements) {
        p->elements = AC_NEW(p->keep, ac_elements);
        p->elements->shown = AC_NEW_N(p->keep, uint8_t, p->fn->buf.n + 1);
    }
    uint8_t *known = &p->elements->shown[buf];
    if (*known == UNASKED)
        *known = prove_buffer(p, buf);
    return *known;
}

bool ac_p_inside_by_elements(ac_prover *p, int32_t buf, const ac_pvalue *index, const ac_affine *n)
{
    (void)index, (void)n;
    return proven(p, buf) >= FINE;
}

bool ac_p_written_by_elements(ac_prover *p, int32_t buf, const ac_affine *index, const ac_affine *n)
{
    (void)index, (void)n;
    return proven(p, buf) >= FINE;
}

bool ac_p_result_by_elements(ac_prover *p, int32_t buf)
{
    return proven(p, buf) == WHOLE;
}

bool ac_p_reads_by_elements(ac_prover *p, int32_t read, int32_t written, int64_t distance)
{
    const int64_t bytes = ac_dtype_size(p->fn->buf.item[written].dtype, p->count[written]);
    if (bytes > MOST_IN_ORDER)
        return false;
    ac_region *r = ac_region_open(ac_region_heap(p->keep));
    walker w = open_walker(p, r, written, bytes);
    w.other = read;
    w.most = MOST_IN_ORDER;
    w.distance = distance;
    const bool fine = find_slice(&w) && run_code(&w, 1, p->fn->code.n, true);
    ac_region_close(r);
    return fine;
}
