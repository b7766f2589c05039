/* exact_lanes.c - computes values of instructions by lanes for fixed loop variables; see exact_lanes.h. */
#include "prove/strategy/exact_lanes.h"

#include "prove/facts/contents.h"

#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"
#include "prove/facts/evaluate.h"
#include "prove/facts/structure.h"
#include "prove/facts/survey.h"

/* Operators that compute masks of 64 bits. */
static bool takes_words(const ac_ins *i)
{
    return i->op == AC_L_CONST || i->op == AC_L_CAST || i->op == AC_L_SHL || i->op == AC_L_SHR || i->op == AC_L_AND ||
           i->op == AC_L_OR || i->op == AC_L_XOR;
}

static bool is_followed(const ac_ins *i, bool words)
{
    return i->lanes <= AC_LANES && !ac_dtype_is_float((ac_dtype)i->dtype) && (i->dtype != AC_U64 || words);
}

static bool has_room(const ac_prover *p, ac_x x)
{
    const ac_ins *i = ac_p_ins(p, x);
    const ac_x operand[3] = {i->a, i->b, i->c};
    const bool words = takes_words(i);
    bool room = is_followed(i, words);
    for (int k = 0; k < 3; k++)
        if (operand[k] > 0)
            room &= is_followed(ac_p_ins(p, operand[k]), words);
    return room;
}

void ac_lanes_open(ac_lanes *e, const ac_prover *p)
{
    const int32_t n = p->fn->code.n;
    *e = (ac_lanes){.p = p};
    e->lane = AC_NEW_N(p->keep, ac_interval *, n);
    e->lane[0] = AC_NEW_N(p->keep, ac_interval, AC_LANES); /* of missing operands */
    e->fixed = AC_NEW_N(p->keep, bool, n);
    e->counter = AC_NEW_N(p->keep, ac_interval, n);
    e->tile = AC_NEW_N(p->keep, ac_x, n);
    e->var = AC_NEW_N(p->keep, ac_lanes_var, n);
    e->data = AC_NEW_N(p->keep, const void *, p->fn->buf.n + 1);
    e->base = AC_NEW_N(p->keep, ac_x, p->fn->buf.n + 1);
    e->count = AC_NEW_N(p->keep, int64_t, p->fn->buf.n + 1);
    ac_interval *known = AC_NEW_N(p->keep, ac_interval, n);
    bool *can = AC_NEW_N(p->keep, bool, n);
    for (ac_x x = 1; x < n; x++) {
        const ac_dtype d = (ac_dtype)ac_p_ins(p, x)->dtype;
        const int32_t lanes = ac_p_ins(p, x)->lanes;
        e->lane[x] = AC_NEW_N(p->keep, ac_interval, lanes < 1 ? 1 : lanes > AC_LANES ? AC_LANES : lanes);
        e->tile[x] = -1;
        known[x] = ac_dtype_is_float(d) ? (ac_interval){0, 0} : ac_interval_meet(p->survey->refined[x], ac_p_range(d));
        if (d == AC_U64 && known[x].hi == INT64_MAX)
            known[x].lo = 0; /* it may be 2^64 - 1 */
        can[x] = has_room(p, x);
    }
    e->known = known;
    e->can = can;
    for (int32_t b = 0; b < p->call->n_arg; b++) {
        const ac_copied c = ac_p_copied(p, b);
        ac_const *k = c.konst ? c.konst : ac_p_constant(p, b);
        const ac_dtype d = p->fn->buf.item[b].dtype;
        if (!k || !ac_dtype_is_int(d) || k->dtype != d)
            continue;
        e->data[b] = ac_const_data(p->cx, k);
        e->count[b] = k->count;
        e->base[b] = c.base;
    }
}

bool ac_lanes_constant(const ac_lanes *e, int32_t buf)
{
    return e->data[buf] != NULL;
}

/* ------------------------------------------------------------------ values */

static bool is_number(ac_interval a)
{
    return a.lo == a.hi;
}

/* `in` after conversion to the type: a number wraps; an interval that does not fit becomes the whole type. */
static ac_interval wrap_to(ac_interval in, ac_dtype d)
{
    const ac_interval range = ac_p_range(d);
    const int bits = ac_dtype_bits(d);
    if (ac_interval_inside(in, range))
        return in;
    if (!is_number(in) || bits >= 64)
        return range;
    const int64_t low = in.lo & (((int64_t)1 << bits) - 1),
                  v = ac_dtype_is_signed(d) && low > range.hi ? low - ((int64_t)1 << bits) : low;
    return (ac_interval){v, v};
}

static ac_interval compare(ac_lop op, ac_interval a, ac_interval b)
{
    const ac_interval no = {0, 0}, yes = {1, 1}, maybe = {0, 1};
    switch ((int)op) {
    case AC_L_LT:
        return a.hi < b.lo ? yes : a.lo >= b.hi ? no : maybe;
    case AC_L_LE:
        return a.hi <= b.lo ? yes : a.lo > b.hi ? no : maybe;
    default: {
        const bool apart = a.hi < b.lo || b.hi < a.lo, equal = is_number(a) && is_number(b) && a.lo == b.lo;
        return apart ? (op == AC_L_NE ? yes : no) : equal ? (op == AC_L_EQ ? yes : no) : maybe;
    }
    }
}

/* Numbers of 64 bits without a sign are their bits, as numbers with a sign. */
static ac_interval shifted_word(ac_lop op, ac_interval a, ac_interval b)
{
    if (!is_number(a) || !is_number(b) || b.lo < 0 || b.lo > 63)
        return ac_p_range(AC_U64);
    const int64_t v = (int64_t)(op == AC_L_SHL ? (uint64_t)a.lo << b.lo : (uint64_t)a.lo >> b.lo);
    return (ac_interval){v, v};
}

/* Operators of two operands, in exact integers; bits and shifts of the type. */
static ac_interval binary_op(ac_lop op, ac_dtype d, ac_interval a, ac_interval b)
{
    const bool numbers = is_number(a) && is_number(b);
    switch ((int)op) {
    case AC_L_ADD:
        return ac_interval_add(a, b);
    case AC_L_SUB:
        return ac_interval_sub(a, b);
    case AC_L_MUL:
        return ac_interval_mul(a, b);
    case AC_L_DIV:
        return is_number(b) && b.lo > 0 ? (ac_interval){a.lo / b.lo, a.hi / b.lo} : ac_p_range(d);
    case AC_L_MOD:
        if (!is_number(b) || b.lo <= 0)
            return ac_p_range(d);
        if (a.lo >= 0 && a.lo / b.lo == a.hi / b.lo)
            return (ac_interval){a.lo % b.lo, a.hi % b.lo};
        return (ac_interval){a.lo < 0 ? 1 - b.lo : 0, b.lo - 1};
    case AC_L_MIN:
        return (ac_interval){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
    case AC_L_MAX:
        return (ac_interval){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
    case AC_L_SHL:
        if (d == AC_U64)
            return shifted_word(op, a, b);
        return is_number(b) && b.lo >= 0 && b.lo < 62
                   ? ac_interval_mul(a, (ac_interval){(int64_t)1 << b.lo, (int64_t)1 << b.lo})
                   : ac_p_range(d);
    case AC_L_SHR:
        if (d == AC_U64)
            return shifted_word(op, a, b);
        return is_number(b) && b.lo >= 0 && b.lo < 63 ? (ac_interval){a.lo >> b.lo, a.hi >> b.lo} : ac_p_range(d);
    case AC_L_AND:
        if (numbers)
            return (ac_interval){a.lo & b.lo, a.lo & b.lo};
        return a.lo >= 0 || b.lo >= 0 ? (ac_interval){0, b.lo < 0 || (a.lo >= 0 && a.hi < b.hi) ? a.hi : b.hi}
                                      : ac_p_range(d);
    case AC_L_OR:
        return numbers ? (ac_interval){a.lo | b.lo, a.lo | b.lo} : ac_p_range(d);
    case AC_L_XOR:
        if (is_number(a) && b.lo == -1 && b.hi == 0) /* by a sign */
            return ac_interval_join(a, (ac_interval){~a.lo, ~a.lo});
        if (is_number(b) && a.lo == -1 && a.hi == 0)
            return ac_interval_join(b, (ac_interval){~b.lo, ~b.lo});
        return numbers ? (ac_interval){a.lo ^ b.lo, a.lo ^ b.lo} : ac_p_range(d);
    default:
        return compare(op, a, b);
    }
}

/* The same bytes as other lanes: numbers where all bytes of a lane are known. */
static void cast_bits(ac_lanes *e, ac_x x)
{
    enum { BYTES = AC_LANES * 8 };
    const ac_ins *i = ac_p_ins(e->p, x), *a = ac_p_ins(e->p, i->a);
    const ac_dtype to = (ac_dtype)i->dtype;
    const int32_t from = ac_dtype_bits((ac_dtype)a->dtype) / 8, size = ac_dtype_bits(to) / 8;
    uint8_t byte[BYTES] = {0};
    bool is_known[BYTES] = {false};
    for (int32_t l = 0; l < a->lanes; l++)
        for (int32_t k = 0; k < from; k++) {
            byte[l * from + k] = (uint8_t)((uint64_t)e->lane[i->a][l].lo >> (8 * k));
            is_known[l * from + k] = is_number(e->lane[i->a][l]);
        }
    for (int32_t l = 0; l < i->lanes; l++) {
        uint64_t v = 0;
        bool all = from > 0 && size > 0 && size < 8;
        for (int32_t k = 0; k < size && all; k++) {
            v |= (uint64_t)byte[l * size + k] << (8 * k);
            all = is_known[l * size + k];
        }
        e->lane[x][l] = all ? wrap_to((ac_interval){(int64_t)v, (int64_t)v}, to) : ac_p_range(to);
    }
}

/* Load x of elements `at` of a local array: the last stores to them. */
static void load_stored(ac_lanes *e, ac_x x, ac_interval at)
{
    enum { MOST = 64 };
    ac_interval all = {INT64_MAX, INT64_MIN};
    for (int64_t k = at.lo; k <= at.hi; k++) {
        const ac_x s = at.hi - at.lo < MOST ? ac_lanes_store(e, x, k) : 0;
        if (!s)
            return;
        all = ac_interval_join(all, e->lane[ac_p_ins(e->p, s)->b][0]);
    }
    e->lane[x][0] = all;
}

/* Any accumulator of a tile whose rows have the same weights. */
static bool load_any(ac_lanes *e, ac_x x, ac_x tile, ac_interval element, int64_t *work)
{
    const ac_tile t = ac_ins_tile(ac_p_ins(e->p, tile));
    if (t.form != AC_TILE_WORDS || element.lo < 0 || element.hi >= t.rows * (int64_t)t.channels)
        return false;
    ac_interval all = {INT64_MAX, INT64_MIN}, sum, apart;
    for (int32_t c = 0; c < t.channels; c++) {
        *work += ac_lanes_sum(e, tile, c, &sum, &apart);
        all = ac_interval_join(all, sum);
    }
    e->lane[x][0] = all;
    return true;
}

static void load(ac_lanes *e, ac_x x, int64_t *work)
{
    const ac_prover *p = e->p;
    const ac_ins *i = ac_p_ins(p, x);
    const ac_interval at = e->lane[i->a][0], element = e->known[i->a];
    const ac_interval from = ac_lanes_in_constant(e, i->aux, at);
    const ac_x tile = ac_lanes_tile(e, x);
    ac_interval apart;
    if (e->fixed[x])
        e->lane[x][0] = e->counter[x];
    if (tile && load_any(e, x, tile, element, work))
        return;
    if (tile && is_number(element))
        *work += ac_lanes_sum(e, tile, element.lo, &e->lane[x][0], &apart);
    if (!tile && ac_lanes_next_store(e, x, 0))
        load_stored(e, x, at);
    if (e->data[i->aux] && is_number(from) && from.lo >= 0 && from.lo <= e->count[i->aux] - i->lanes)
        for (int32_t l = 0; l < i->lanes; l++) {
            const int64_t v = ac_dtype_get_int((ac_dtype)i->dtype, e->data[i->aux], from.lo + l);
            e->lane[x][l] = (ac_interval){v, v};
        }
}

/* odd - even of a pair of channels is 256 times the sum of the odd one, whatever wrapped. */
static void odd_minus_even(ac_lanes *e, ac_x x, int64_t *work)
{
    const ac_prover *p = e->p;
    const ac_ins *i = ac_p_ins(p, x), *a = ac_p_ins(p, i->a), *b = ac_p_ins(p, i->b);
    if (i->op != AC_L_SUB || a->op != AC_L_LOAD || b->op != AC_L_LOAD || a->aux != b->aux)
        return;
    const ac_x tile = ac_lanes_tile(e, i->a);
    if (!tile || tile != ac_lanes_tile(e, i->b))
        return;
    const ac_tile t = ac_ins_tile(ac_p_ins(p, tile));
    const ac_interval odd = e->known[a->a], even = e->known[b->a];
    if (!ac_tile_pairs(t.form) || !is_number(odd) || !is_number(even) || odd.lo - even.lo != t.rows ||
        even.lo / t.rows % 2)
        return;
    ac_interval sum, apart;
    *work += ac_lanes_sum(e, tile, odd.lo, &sum, &apart);
    if (ac_interval_inside(apart, ac_p_range(AC_I32)))
        e->lane[x][0] = apart;
}

static void rearrange(ac_lanes *e, ac_x x)
{
    const ac_prover *p = e->p;
    const ac_ins *i = ac_p_ins(p, x);
    const int32_t n = ac_p_ins(p, i->a)->lanes;
    ac_interval sum = e->lane[i->a][0];
    for (int32_t l = 1; l < n; l++) {
        const ac_interval v = e->lane[i->a][l];
        sum = i->op == AC_L_SUMLANES ? ac_interval_add(sum, v) : binary_op(AC_L_MAX, (ac_dtype)i->dtype, sum, v);
    }
    for (int32_t l = 0; l < i->lanes; l++) {
        if (i->op == AC_L_SPLAT)
            e->lane[x][l] = e->lane[i->a][0];
        else if (i->op == AC_L_LANE)
            e->lane[x][l] = e->lane[i->a][i->aux];
        else if (i->op == AC_L_SHUFFLE) {
            const int64_t from = p->fn->pool.item[i->aux + l];
            e->lane[x][l] = from < n ? e->lane[i->a][from] : e->lane[i->b][from - n];
        } else
            e->lane[x][l] = wrap_to(sum, (ac_dtype)i->dtype);
    }
}

static void dot_product(ac_lanes *e, ac_x x)
{
    const ac_ins *i = ac_p_ins(e->p, x);
    const int32_t n = i->op == AC_L_DOT4 ? 4 : 2;
    for (int32_t l = 0; l < i->lanes; l++) {
        ac_interval sum = e->lane[i->c][l];
        for (int32_t k = 0; k < n; k++)
            sum = ac_interval_add(sum, ac_interval_mul(e->lane[i->a][n * l + k], e->lane[i->b][n * l + k]));
        e->lane[x][l] = wrap_to(sum, AC_I32);
    }
}

static ac_interval loop_counter(const ac_lanes *e, ac_x x)
{
    const ac_ins *i = ac_p_ins(e->p, x);
    const ac_interval a = e->lane[i->a][0], b = e->lane[i->b][0];
    if (e->fixed[x])
        return e->counter[x];
    return i->k.i > 0 ? (ac_interval){a.lo, b.hi - 1} : (ac_interval){b.lo + 1, a.hi};
}

/* Lane l of an operand; one that has a single lane has it for all. */
static ac_interval lane_of(const ac_lanes *e, ac_x operand, int32_t l)
{
    return e->lane[operand][operand && ac_p_ins(e->p, operand)->lanes == 1 ? 0 : l];
}

static void each_lane(ac_lanes *e, ac_x x)
{
    const ac_ins *i = ac_p_ins(e->p, x);
    const ac_dtype d = (ac_dtype)i->dtype, from = (ac_dtype)ac_p_ins(e->p, i->a)->dtype;
    for (int32_t l = 0; l < i->lanes; l++) {
        const ac_interval a = lane_of(e, i->a, l), b = lane_of(e, i->b, l), c = lane_of(e, i->c, l);
        ac_interval in;
        if ((d == AC_U64 || from == AC_U64) &&
            !(is_number(a) && is_number(b))) { /* their ends would be taken as signed */
            e->lane[x][l] = e->known[x];
            continue;
        }
        switch ((int)i->op) {
        case AC_L_SELECT:
            in = is_number(a) ? (a.lo ? b : c) : ac_interval_join(b, c);
            break;
        case AC_L_CAST:
            in = d == AC_BOOL ? compare(AC_L_NE, a, (ac_interval){0, 0}) : a;
            break;
        case AC_L_SATCAST:
            in = ac_interval_clamp(a, ac_p_range(d));
            break;
        case AC_L_NEG:
            in = ac_interval_sub((ac_interval){0, 0}, a);
            break;
        case AC_L_ADD:
        case AC_L_SUB:
        case AC_L_MUL:
        case AC_L_DIV:
        case AC_L_MOD:
        case AC_L_MIN:
        case AC_L_MAX:
        case AC_L_SHL:
        case AC_L_SHR:
        case AC_L_AND:
        case AC_L_OR:
        case AC_L_XOR:
        case AC_L_EQ:
        case AC_L_NE:
        case AC_L_LT:
        case AC_L_LE:
            in = binary_op((ac_lop)i->op, i->op >= AC_L_EQ && i->op <= AC_L_LE ? from : d, a, b);
            break;
        default:
            in = e->known[x];
        }
        e->lane[x][l] = in;
    }
}

/* A value that does not fit the type of x wraps, or violates a claim of x itself. */
static ac_interval convert_to_type(const ac_lanes *e, ac_x x, ac_interval in)
{
    const ac_ins *i = ac_p_ins(e->p, x);
    if (i->dtype == AC_U64 && is_number(in))
        return in;
    if (!ac_p_promises(i))
        in = wrap_to(in, (ac_dtype)i->dtype);
    return ac_interval_meet(in, e->known[x]);
}

static void compute(ac_lanes *e, ac_x x, int64_t *work)
{
    const ac_ins *i = ac_p_ins(e->p, x);
    switch ((int)i->op) {
    case AC_L_FOR:
        e->lane[x][0] = loop_counter(e, x);
        return;
    case AC_L_CONST:
    case AC_L_CONSTV:
        for (int32_t l = 0; l < i->lanes; l++) {
            const int64_t v = i->op == AC_L_CONST ? i->k.i : e->p->fn->pool.item[i->aux + l];
            e->lane[x][l] = (ac_interval){v, v};
        }
        return;
    case AC_L_LOAD:
        load(e, x, work);
        return;
    case AC_L_GET: {
        const ac_lanes_var *v = &e->var[i->aux];
        for (int32_t l = 0; l < i->lanes; l++)
            e->lane[x][l] = v->lane[l];
        return;
    }
    case AC_L_BITCAST:
        cast_bits(e, x);
        return;
    case AC_L_SPLAT:
    case AC_L_LANE:
    case AC_L_SHUFFLE:
    case AC_L_SUMLANES:
    case AC_L_MAXLANES:
        rearrange(e, x);
        return;
    case AC_L_DOT2:
    case AC_L_DOT4:
        dot_product(e, x);
        return;
    default:
        each_lane(e, x);
        if (i->flags & AC_F_WRAP && i->lanes == 1)
            odd_minus_even(e, x, work);
    }
}

int64_t ac_lanes_value(ac_lanes *e, ac_x x)
{
    const int32_t lanes = ac_p_ins(e->p, x)->lanes;
    int64_t work = lanes;
    for (int32_t l = 0; l < lanes && l < AC_LANES; l++)
        e->lane[x][l] = e->known[x];
    if (e->can[x])
        compute(e, x, &work);
    e->result = e->lane[x][0];
    for (int32_t l = 0; l < lanes && l < AC_LANES; l++) {
        e->result = ac_interval_join(e->result, e->lane[x][l]);
        e->lane[x][l] = convert_to_type(e, x, e->lane[x][l]);
    }
    return work;
}
