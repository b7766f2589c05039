/* step_inputs.c - operands of each step, how their values are chosen, and what comes out; see step_inputs.h. */
#include "driver/emit/step_inputs.h"

#include "driver/stage/inputs.h"
#include "ir/loop/requants.h"

#include <string.h>

/* ------------------------------------------------------------------ tiles of weights */

enum { TILES = 4, TILE_BITS = 1 << 16 };

/* Extents with the leading ones multiplied together, so that STEP_DIMS are left. */
static void put_extents(uint32_t *to, const ac_tensor *t, int32_t from)
{
    for (int d = 0; d < STEP_DIMS; d++)
        to[d] = 1;
    for (int32_t d = from; d < t->rank; d++) {
        const int32_t at = STEP_DIMS - t->rank + d;
        to[at > 0 ? at : 0] *= (uint32_t)t->dim[d];
    }
}

/* The value above which a weight is positive. */
static int64_t middle_of(const ac_tensor *w, int64_t i)
{
    const ac_quant *q = w->quant;
    if (!q)
        return ac_dtype_is_float(w->dtype) || ac_dtype_min(w->dtype) < 0 ? 0 : 128;
    if (q->n == 1)
        return q->zero[0];
    return q->zero[i / ac_dim_product(w->dim, q->axis + 1, w->rank) % q->n];
}

static bool is_positive(const ac_tensor *w, const void *data, int64_t i)
{
    return ac_dtype_is_float(w->dtype) ? ac_dtype_get_num(w->dtype, data, i) > 0
                                       : ac_dtype_get_int(w->dtype, data, i) > middle_of(w, i);
}

/* Weights of some channels (dimension `axis` of w), whose other dimensions repeat over x. */
static void put_tiles(ac_ctx *cx, step_operand *o, ac_tensor *w, int32_t axis)
{
    const void *data = ac_tensor_force(cx, w);
    const int64_t channels = w->dim[axis], inner = ac_dim_product(w->dim, axis + 1, w->rank);
    const int64_t count = ac_tensor_count(w), size = channels ? count / channels : 0;
    if (!data || !size || size * TILES > TILE_BITS)
        return;
    put_extents(o->tile, w, axis ? 0 : 1);
    o->tile[axis ? STEP_DIMS - 1 : 0] = 1; /* a matrix whose columns are channels: its rows run over x */
    if (axis) {
        o->tile[STEP_DIMS - 1] = (uint32_t)w->dim[0];
        o->tile[STEP_DIMS - 2] = 1;
    }
    o->tiles = (uint32_t)(channels < TILES ? channels : TILES);
    uint8_t *bits = AC_NEW_N(cx->region, uint8_t, size * TILES / 8 + 1);
    for (int64_t t = 0, at = 0; t < o->tiles; t++)
        for (int64_t i = 0; i < count; i++)
            if (i / inner % channels == t * channels / o->tiles) {
                if (is_positive(w, data, i))
                    bits[at / 8] |= (uint8_t)(1 << at % 8);
                at++;
            }
    o->bits = bits;
}

/* Constants of the node that run along the innermost dimension of x. */
static void find_tiles(ac_ctx *cx, const ac_node *n, const ac_tensor *x, step_operand *o)
{
    put_extents(o->dim, x, 0);
    for (int d = 0; d < STEP_DIMS; d++)
        o->tile[d] = 1;
    for (int32_t i = 0; i < n->n_in && x->rank && !o->tiles; i++) {
        ac_tensor *w = n->in[i];
        const int64_t along = x->dim[x->rank - 1];
        if (!w || !ac_tensor_is_const(w) || w->rank < 2 || w->rank > STEP_DIMS || !ac_dtype_is_int(w->dtype))
            continue;
        if (w->dim[w->rank - 1] == along)
            put_tiles(cx, o, w, 0);
        else if (w->rank == 2 && w->dim[0] == along)
            put_tiles(cx, o, w, 1);
    }
}

/* ------------------------------------------------------------------ operands */

static bool has_bytes(const ac_bound_arg *at)
{
    return at->space == AC_SPACE_ARENA || at->space == AC_SPACE_STATE;
}

static int use_of(ac_role role)
{
    return role == AC_BUF_IN      ? STEP_READ
           : role == AC_BUF_OUT   ? STEP_WRITTEN
           : role == AC_BUF_INOUT ? STEP_READ | STEP_WRITTEN
                                  : 0;
}

/* Values of the tensor's type where it has fewer than its elements in memory. */
static ac_dtype values_of(const ac_buf *b, const ac_tensor *t)
{
    return t && (ac_dtype_is_int(t->dtype) || t->dtype == AC_BOOL) &&
                   ac_dtype_size(t->dtype, 1) == ac_dtype_size(b->dtype, 1)
               ? t->dtype
               : b->dtype;
}

static step_operand operand_of(ac_step_inputs *x, const ac_call *c, int32_t i)
{
    const ac_module *m = x->a->module;
    const ac_buf *b = &c->low->fn->buf.item[i];
    const ac_tensor *t = c->low->arg.item[i].kind == AC_ARG_TENSOR ? c->low->arg.item[i].tensor : NULL;
    const ac_dtype d = values_of(b, t);
    step_operand o = {.memory = (uint8_t)(c->arg[i].space == AC_SPACE_STATE ? m->n_ram : c->arg[i].index),
                      .bytes = (uint8_t)ac_dtype_size(b->dtype, 1),
                      .use = (uint8_t)use_of(b->role),
                      .offset = (uint32_t)c->arg[i].offset,
                      .count = (uint32_t)b->count,
                      .dim = {1, 1, 1, 1},
                      .tile = {1, 1, 1, 1}};
    if (ac_dtype_is_int(d) || d == AC_BOOL) {
        o.lo = d == AC_BOOL ? 0 : ac_dtype_min(d);
        o.hi = d == AC_BOOL ? 1 : ac_dtype_max(d);
        if (t && c->low->node && !c->low->chain && (o.use & STEP_READ) && ac_tensor_count(t) == b->count)
            find_tiles(x->a->cx, c->low->node, t, &o);
    }
    return o;
}

static void put_operands(ac_step_inputs *x)
{
    const ac_module *m = x->a->module;
    ac_region *r = x->a->cx->region;
    AC_VEC(step_operand) all = {0};
    x->tests.first = AC_NEW_N(r, int32_t, m->n_calls + 1);
    x->integer = AC_NEW_N(r, bool, m->n_calls + 1);
    for (int32_t s = 0; s < m->n_calls; s++) {
        const ac_call *c = &m->call[s];
        bool integer = s != m->streamed_call || !m->streamed;
        for (int32_t i = 0; i < c->low->arg.n; i++) { /* a shared kernel's table of numbers comes after them */
            const ac_buf *b = &c->low->fn->buf.item[i];
            if (!has_bytes(&c->arg[i]) || !use_of(b->role))
                continue;
            integer &= ac_dtype_is_int(b->dtype) || b->dtype == AC_BOOL;
            ac_push(r, &all, operand_of(x, c, i));
        }
        x->integer[s] = integer;
        x->n_integer += integer;
        x->tests.first[s + 1] = all.n;
    }
    ac_push(r, &all, (step_operand){0});
    x->tests.operand = all.item;
}

/* ------------------------------------------------------------------ bytes without a value, or not to be written */

typedef AC_VEC(ac_range) range_list;
typedef AC_VEC(step_range) range_all;

/* Bytes of memory k that call s may write. */
static range_list written_ranges(ac_region *r, const ac_module *m, int32_t s, int32_t k)
{
    const ac_call *c = &m->call[s];
    range_list out = {0};
    for (int32_t i = 0; i < c->low->arg.n; i++) {
        const ac_buf *b = &c->low->fn->buf.item[i];
        const int32_t memory = c->arg[i].space == AC_SPACE_STATE ? m->n_ram : c->arg[i].index;
        if (has_bytes(&c->arg[i]) && memory == k &&
            (b->role != AC_BUF_IN || c->low->arg.item[i].kind == AC_ARG_SCRATCH))
            ac_push(r, &out, ((ac_range){c->arg[i].offset, c->arg[i].offset + ac_dtype_size(b->dtype, b->count), k}));
    }
    return out;
}

static bool has(const range_list *list, ac_bytes at)
{
    for (int32_t i = 0; i < list->n; i++)
        if (list->item[i].begin <= at && at < list->item[i].end)
            return true;
    return false;
}

/* The first byte above `at` where a range begins or ends; at most `best`. */
static ac_bytes next_edge(const range_list *list, ac_bytes at, ac_bytes best)
{
    for (int32_t i = 0; i < list->n; i++) {
        if (list->item[i].begin > at && list->item[i].begin < best)
            best = list->item[i].begin;
        if (list->item[i].end > at && list->item[i].end < best)
            best = list->item[i].end;
    }
    return best;
}

static void put_ranges_of(ac_step_inputs *x, int32_t s, range_all *all)
{
    const ac_module *m = x->a->module;
    const ac_dead *dead = &m->dead[s];
    int32_t d = 0; /* the first dead range that ends after `at` */
    for (int32_t k = 0; k <= m->n_ram; k++) {
        const ac_bytes end = k < m->n_ram ? m->ram[k].bytes : m->state_bytes;
        const range_list w = written_ranges(x->a->cx->region, m, s, k);
        for (ac_bytes at = 0, to; at < end; at = to) {
            while (d < dead->n && (dead->range[d].ram < k || (dead->range[d].ram == k && dead->range[d].end <= at)))
                d++;
            const bool more = d < dead->n && dead->range[d].ram == k, is_dead = more && dead->range[d].begin <= at;
            to = next_edge(&w, at, is_dead ? dead->range[d].end : more ? dead->range[d].begin : end);
            const int use = (is_dead ? STEP_DEAD : 0) | (has(&w, at) ? 0 : STEP_KEPT);
            if (use)
                ac_push(x->a->cx->region, all, ((step_range){(uint8_t)k, (uint8_t)use, (uint32_t)at, (uint32_t)to}));
        }
    }
}

static void put_ranges(ac_step_inputs *x)
{
    const ac_module *m = x->a->module;
    range_all all = {0};
    x->tests.first_range = AC_NEW_N(x->a->cx->region, int32_t, m->n_calls + 1);
    for (int32_t s = 0; s < m->n_calls; s++) {
        put_ranges_of(x, s, &all);
        x->tests.first_range[s + 1] = all.n;
    }
    x->tests.range = all.item;
}

/* ------------------------------------------------------------------ clamps */

static bool is_const(const ac_loop_fn *fn, ac_x x, int64_t *k)
{
    const ac_ins *i = &fn->code.item[x];
    if (i->op == AC_L_SPLAT)
        i = &fn->code.item[i->a];
    *k = i->k.i;
    return i->op == AC_L_CONST;
}

/* Follows a stored value to the minimum, maximum or saturation that made it; an end that nothing cuts is the type's. */
static void take_clamp(const ac_loop_fn *fn, ac_x x, ac_step_ends *e)
{
    const ac_dtype d = (ac_dtype)fn->code.item[x].dtype;
    bool lo = false, hi = false;
    int64_t k;
    if (!ac_dtype_is_int(d))
        return;
    e->lo = ac_dtype_min(d);
    e->hi = ac_dtype_max(d);
    for (const ac_ins *i = &fn->code.item[x];; i = &fn->code.item[i->a]) {
        if (i->op == AC_L_SATCAST && i->dtype == d) {
            e->clamped = true;
            return;
        }
        if (i->op == AC_L_MIN && !hi && is_const(fn, i->b, &k))
            e->hi = k, hi = true;
        else if (i->op == AC_L_MAX && !lo && is_const(fn, i->b, &k))
            e->lo = k, lo = true;
        else if (i->op != AC_L_CAST)
            break;
    }
    e->clamped = lo || hi;
}

static ac_step_ends ends_of(const ac_loop_fn *fn)
{
    ac_step_ends e = {.least = INT64_MAX, .most = INT64_MIN};
    for (ac_x x = 1; x < fn->code.n; x++) {
        const ac_ins *i = &fn->code.item[x];
        if (!ac_lop_stores((ac_lop)i->op) || fn->buf.item[i->aux].role != AC_BUF_OUT)
            continue;
        if (i->op == AC_L_REQUANT) {
            const ac_requants q = ac_ins_requant(i);
            e.lo = q.lo, e.hi = q.hi, e.clamped = true;
        } else {
            take_clamp(fn, i->b, &e);
        }
        break;
    }
    return e;
}

static void see(ac_step_ends *e, const step_operand *o, const uint8_t *at)
{
    for (uint32_t i = 0; i < o->count && e->clamped; i++) {
        const uint64_t bits = step_get(at + (size_t)i * o->bytes, o->bytes), sign = 1ull << (o->bytes * 8 - 1);
        const int64_t v = o->lo < 0 ? (int64_t)((bits ^ sign) - sign) : (int64_t)bits;
        e->least = v < e->least ? v : e->least;
        e->most = v > e->most ? v : e->most;
    }
}

/* ------------------------------------------------------------------ a set */

static uint8_t *place(const ac_step_inputs *x, const step_operand *o)
{
    const ac_module *m = x->a->module;
    return o->memory == m->n_ram ? x->session->state + o->offset
                                 : x->session->arena + ac_module_at(m, o->memory, o->offset);
}

static void fill(const ac_step_inputs *x, int32_t set, int32_t s)
{
    const ac_step_tests *t = &x->tests;
    for (int32_t i = t->first_range[s]; i < t->first_range[s + 1]; i++) {
        const step_range *r = &t->range[i];
        if (r->use & STEP_DEAD)
            step_poison(x->session->arena + ac_module_at(x->a->module, r->memory, r->begin), r->begin, r->end,
                        (uint32_t)s);
    }
    const uint32_t kind = t->kind[set][s];
    for (int32_t i = t->first[s]; kind && i < t->first[s + 1]; i++)
        if (t->operand[i].use & STEP_READ)
            step_fill(place(x, &t->operand[i]), &t->operand[i], kind,
                      step_seed((uint32_t)set, (uint32_t)(i - t->first[s])));
}

/* One step of a set. An index that was out of range becomes 0, for good. */
static int run_step(ac_step_inputs *x, int32_t set, int32_t s, int *status)
{
    uint8_t *kind = &x->tests.kind[set][s];
    fill(x, set, s);
    AC_TRY(ac_session_step(x->session, s, status));
    if (!*status || *kind == STEP_KEEP || *kind == STEP_ZERO)
        return AC_OK;
    *kind = STEP_ZERO;
    fill(x, set, s);
    return ac_session_step(x->session, s, status);
}

/* The memory as a set begins with it. */
static int begin(ac_step_inputs *x, int32_t set)
{
    const ac_module *m = x->a->module;
    const int32_t whole = set % x->tests.whole.n;
    memset(x->session->arena, 0, (size_t)m->arena_bytes);
    AC_TRY(ac_session_reset(x->session));
    for (int32_t i = 0; i < m->n_inputs; i++)
        if (m->input[i].space != AC_SPACE_CONST && m->input[i].bytes)
            memcpy(ac_session_at(x->session, &m->input[i]), x->tests.whole.input[whole * m->n_inputs + i],
                   (size_t)m->input[i].bytes);
    return AC_OK;
}

static int run_set(ac_step_inputs *x, int32_t set)
{
    const ac_step_tests *t = &x->tests;
    AC_TRY(begin(x, set));
    for (int32_t s = 0; s < x->a->module->n_calls && !t->status[set]; s++) {
        AC_TRY(run_step(x, set, s, &t->status[set]));
        for (int32_t i = t->first[s]; i < t->first[s + 1]; i++)
            if (t->operand[i].use & STEP_WRITTEN) {
                t->hash[set][i] = step_hash(place(x, &t->operand[i]), &t->operand[i]);
                see(&x->ends[s], &t->operand[i], place(x, &t->operand[i]));
            }
    }
    return AC_OK;
}

int ac_step_inputs_again(ac_step_inputs *x, int32_t set, int32_t step, int32_t operand, const uint8_t **bytes)
{
    int status = 0;
    AC_TRY(begin(x, set));
    for (int32_t s = 0; s <= step && !status; s++)
        AC_TRY(run_step(x, set, s, &status));
    *bytes = place(x, &x->tests.operand[x->tests.first[step] + operand]);
    return AC_OK;
}

/* ------------------------------------------------------------------ all sets */

static uint8_t kind_of(int32_t k)
{
    static const uint8_t FIRST[] = {STEP_TILE, STEP_ANTITILE, STEP_EXTREMES, STEP_RANDOM,
                                    STEP_RAMP, STEP_LOW,      STEP_HIGH,     STEP_MIDDLE},
                         THEN[] = {STEP_TILE, STEP_ANTITILE, STEP_RANDOM, STEP_EXTREMES, STEP_MIDDLE};
    const int32_t n = (int32_t)sizeof FIRST;
    return k < n ? FIRST[k] : THEN[(k - n) % (int32_t)sizeof THEN];
}

/* --vectors, or the number that the evaluator runs in a few seconds. */
static int32_t sets_of(const ac_made *a)
{
    enum { LEAST = 8, MOST = 1000 };
    const int64_t work = 200000000;
    int64_t one = 1, sets;
    for (int32_t s = 0; s < a->module->n_calls; s++) {
        const ac_lowered *low = a->module->call[s].low;
        one += low->macs + 16 * ac_tensor_count(ac_node_result(low->node)) + a->module->arena_bytes / 2;
    }
    sets = work / one;
    return a->opt->vectors > 0 ? (int32_t)a->opt->vectors : sets < LEAST ? LEAST : sets > MOST ? MOST : (int32_t)sets;
}

static int record(ac_step_inputs *x, int32_t sets)
{
    const ac_module *m = x->a->module;
    ac_region *r = x->a->cx->region;
    ac_step_tests *t = &x->tests;
    t->sets = sets + t->whole.n;
    t->kind = AC_NEW_N(r, uint8_t *, t->sets);
    t->hash = AC_NEW_N(r, uint32_t *, t->sets);
    t->status = AC_NEW_N(r, int32_t, t->sets);
    x->ends = AC_NEW_N(r, ac_step_ends, m->n_calls + 1);
    for (int32_t s = 0; s < m->n_calls; s++)
        x->ends[s] = ends_of(m->call[s].low->fn);
    for (int32_t k = 0; k < t->sets; k++) {
        t->kind[k] = AC_NEW_N(r, uint8_t, m->n_calls + 1);
        t->hash[k] = AC_NEW_N(r, uint32_t, t->first[m->n_calls] + 1);
        for (int32_t s = 0; s < m->n_calls && k >= t->whole.n; s++)
            t->kind[k][s] = x->integer[s] ? kind_of(k - t->whole.n) : STEP_KEEP;
        AC_TRY(run_set(x, k));
    }
    return AC_OK;
}

int ac_step_inputs_possible(const ac_made *a, const char *option)
{
    const ac_module *m = a->module;
    const char *against = m->caller_io                    ? "--host"
                          : m->learning || m->n_parts > 1 ? "--train"
                          : m->target->isa == AC_ISA_CUDA ? "a target with kernels"
                                                          : NULL;
    return against ? ac_error(a->cx, (ac_place){0}, E0502, "%s does not go with %s", option, against) : AC_OK;
}

int ac_step_inputs_make(const ac_made *a, ac_step_inputs *x)
{
    enum { WHOLE = 2 };
    *x = (ac_step_inputs){.a = a, .session = a->evaluator};
    AC_TRY(ac_inputs_draw(a, WHOLE, &x->tests.whole));
    put_operands(x);
    put_ranges(x);
    AC_TRY(ac_session_open(x->session, a->module, a->source->path, "eval"));
    return record(x, x->n_integer ? sets_of(a) : 0);
}

void ac_step_inputs_close(ac_step_inputs *x)
{
    if (x->session) /* it was made */
        ac_session_close(x->session);
}
