/* loop.c - functions, buffers, blocks and statements of the builder; the properties of instructions from loop.def. */
#include "ir/loop/builder.h"

#include <string.h>

enum cls { V = 'V', S = 'S', O = 'O', C = 'C', E = 'E' };

static const struct {
    const char *text;
    char cls;
    int8_t arity;
} ROWS[AC_L_COUNT] = {
    {"none", S, 0},
#define LOP(id, text, cls, abc, meaning) [AC_L_##id] = {text, cls, abc},
#include "ir/loop/loop.def"
#undef LOP
};

/* Accepts any number: the verifier also checks invalid instructions. */
static ac_lop known(ac_lop op)
{
    return op < AC_L_COUNT ? op : AC_L_NONE;
}

int32_t ac_lop_arity(ac_lop op)
{
    return ROWS[known(op)].arity;
}
const char *ac_lop_text(ac_lop op)
{
    return ROWS[known(op)].text;
}
char ac_lop_class(ac_lop op)
{
    return ROWS[known(op)].cls;
}
bool ac_lop_pure(ac_lop op)
{
    return ac_lop_class(op) == V && op != AC_L_GET && op != AC_L_LOAD;
}

/* Functions and buffers. */

ac_loop_fn *ac_lb_open(ac_lb *b, ac_region *region, const char *name, const char *note)
{
    *b = (ac_lb){.region = region, .fn = AC_NEW(region, ac_loop_fn)};
    b->fn->name = ac_strdup(region, name);
    b->fn->note = note ? ac_strdup(region, note) : NULL;
    b->cse = ac_lb_cse_new(region);
    ac_push(region, &b->fn->code, ((ac_ins){0}));
    return b->fn;
}

int32_t ac_lb_buf(ac_lb *b, const char *name, ac_dtype dtype, int64_t count, ac_role role, int32_t align,
                  const char *note)
{
    ac_loop_fn *fn = b->fn;
    assert((role == AC_BUF_LOCAL || !fn->buf.n || fn->buf.item[fn->buf.n - 1].role != AC_BUF_LOCAL) &&
           "parameters come before locals");
    assert(count >= 0 && count <= INT32_MAX && "index values are i32");
    int32_t size = (int32_t)ac_dtype_size(dtype, 1);
    ac_buf buf = {.name = ac_lb_unique(b, name, true),
                  .dtype = dtype,
                  .count = count,
                  .role = role,
                  .align = align > size ? align : size,
                  .note = note ? ac_strdup(b->region, note) : NULL};
    ac_push(b->region, &fn->buf, buf);
    ac_push(b->region, &b->cse->local_time, 0);
    return fn->buf.n - 1;
}

ac_x ac_lb_append(ac_lb *b, ac_ins ins)
{
    ac_push(b->region, &b->fn->code, ins);
    return b->fn->code.n - 1;
}

ac_x ac_lb_op(ac_lb *b, ac_ins ins)
{
    ac_x same = b->missing.op ? 0 : ac_lb_fold(b, &ins);
    return same ? same : ac_lb_pure(b, ins, 0);
}

static const ac_ins *at(const ac_lb *b, ac_x x)
{
    assert(x > 0 && x < b->fn->code.n && "a value made by this builder");
    return &b->fn->code.item[x];
}

/* One lane of type d? For assertions. */
__attribute__((unused)) static bool is_one(const ac_lb *b, ac_x x, ac_dtype d)
{
    return at(b, x)->dtype == d && at(b, x)->lanes == 1;
}

static bool const_bool(const ac_lb *b, ac_x x, bool v)
{
    int64_t k;
    return ac_lb_const_int(b, x, &k) && (k != 0) == v;
}

/* Memory. Parameters may be planned onto the same bytes, so a store to one may change what a load from another sees;
 * constants and locals do not overlap. Entering a loop counts as a change: later iterations see the stores of earlier
 * ones.
 */

ac_x ac_lb_load(ac_lb *b, int32_t buf, ac_x index, int32_t lanes)
{
    return ac_lb_load_flags(b, buf, index, lanes, 0);
}

ac_x ac_lb_load_flags(ac_lb *b, int32_t buf, ac_x index, int32_t lanes, uint8_t flags)
{
    assert(buf >= 0 && buf < b->fn->buf.n && "lb_buf made it");
    assert(is_one(b, index, AC_I32) && "an index is an i32 with one lane");
    assert(lanes >= 1 && lanes <= AC_MAX_LANES);
    const ac_buf *m = &b->fn->buf.item[buf];
    int64_t stamp = 0;
    if (m->role != AC_BUF_CONST) {
        stamp = m->role == AC_BUF_LOCAL ? b->cse->local_time.item[buf] : b->cse->param_time;
        if (stamp < b->cse->loop_time)
            stamp = b->cse->loop_time;
    }
    ac_ins ins = {
        .op = AC_L_LOAD, .dtype = (uint8_t)m->dtype, .flags = flags, .lanes = (uint16_t)lanes, .a = index, .aux = buf};
    return ac_lb_pure(b, ins, stamp);
}

/* Later loads from `buf` read a new value. */
void ac_lb_written(ac_lb *b, int32_t buf)
{
    b->cse->clock++;
    if (b->fn->buf.item[buf].role == AC_BUF_LOCAL)
        b->cse->local_time.item[buf] = b->cse->clock;
    else
        b->cse->param_time = b->cse->clock;
}

void ac_lb_store(ac_lb *b, int32_t buf, ac_x index, ac_x value)
{
    ac_lb_store_flags(b, buf, index, value, 0);
}

void ac_lb_store_flags(ac_lb *b, int32_t buf, ac_x index, ac_x value, uint8_t flags)
{
    assert(buf >= 0 && buf < b->fn->buf.n && "lb_buf made it");
    assert(is_one(b, index, AC_I32) && "an index is an i32 with one lane");
    const ac_ins *v = at(b, value);
    ac_lb_exists(b, AC_L_STORE, (ac_dtype)v->dtype, (ac_dtype)v->dtype);
    assert(ac_lb_fits(b, v->dtype == b->fn->buf.item[buf].dtype) && "the value has the buffer's type");
    assert(b->fn->buf.item[buf].role != AC_BUF_IN && b->fn->buf.item[buf].role != AC_BUF_CONST &&
           "inputs and constants are never written");
    ac_ins ins = {
        .op = AC_L_STORE, .dtype = v->dtype, .flags = flags, .lanes = v->lanes, .a = index, .b = value, .aux = buf};
    ac_lb_append(b, ins);
    ac_lb_written(b, buf);
}

void ac_lb_store_late(ac_lb *b, int32_t buf, ac_x index, ac_x value)
{
    ac_lb_store_flags(b, buf, index, value, AC_F_ALIGNED | AC_F_LATE);
}

void ac_lb_groups(ac_lb *b, ac_x phase, int32_t left)
{
    assert(at(b, phase)->op == AC_L_FOR && at(b, phase)->aux == AC_MARK_BLOCK && left >= 0 && left <= AC_GROUPS_OPEN);
    b->fn->code.item[phase].groups = (uint8_t)(left + 1);
}

void ac_lb_mma(ac_lb *b, ac_dtype type, int32_t acc, ac_x a, int32_t words, ac_x x, ac_x y)
{
    assert(acc >= 0 && acc < b->fn->buf.n && words >= 0 && words < b->fn->buf.n && "lb_buf made them");
    assert(is_one(b, a, AC_I32) && is_one(b, x, AC_I32) && is_one(b, y, AC_I32) && "an index is an i32 with one lane");
    ac_lb_append(b, (ac_ins){.op = AC_L_MMA, .dtype = (uint8_t)type, .a = a, .b = x, .c = y, .aux = acc, .k.i = words});
    ac_lb_written(b, acc);
}

void ac_lb_prefetch(ac_lb *b, int32_t buf, ac_x index)
{
    assert(buf >= 0 && buf < b->fn->buf.n && "lb_buf made it");
    assert(is_one(b, index, AC_I32) && "an index is an i32 with one lane");
    ac_lb_append(b, (ac_ins){.op = AC_L_PREFETCH, .a = index, .aux = buf});
}

/* Variables. While building, the declaration's k.i holds the time of the last SET; ac_lb_close clears it. */

ac_x ac_lb_var(ac_lb *b, const char *name, ac_x init)
{
    const ac_ins *v = at(b, init);
    ac_ins ins = {.op = AC_L_VAR,
                  .dtype = v->dtype,
                  .lanes = v->lanes,
                  .a = init,
                  .name = ac_lb_unique(b, name ? name : "v", true)};
    return ac_lb_append(b, ins);
}

ac_x ac_lb_get(ac_lb *b, ac_x var)
{
    const ac_ins *v = at(b, var);
    assert(v->op == AC_L_VAR && "lb_var made it");
    int64_t stamp = v->k.i > b->cse->loop_time ? v->k.i : b->cse->loop_time;
    return ac_lb_pure(b, (ac_ins){.op = AC_L_GET, .dtype = v->dtype, .lanes = v->lanes, .aux = var}, stamp);
}

void ac_lb_set(ac_lb *b, ac_x var, ac_x value)
{
    assert(at(b, var)->op == AC_L_VAR && "lb_var made it");
    if (at(b, value)->lanes == 1)
        value = ac_lb_splat(b, value, at(b, var)->lanes);
    const ac_ins *x = at(b, value);
    assert(ac_lb_fits(b, x->dtype == at(b, var)->dtype) && x->lanes == at(b, var)->lanes &&
           "the value has the variable's type");
    ac_lb_append(b, (ac_ins){.op = AC_L_SET, .dtype = x->dtype, .lanes = x->lanes, .a = value, .aux = var});
    b->fn->code.item[var].k.i = ++b->cse->clock;
}

/* Blocks. */

static void open_block(ac_lb *b, ac_x x)
{
    ac_push(b->region, &b->open, x);
    ac_lb_enter(b);
}

/* A loop of exactly one iteration, or 0 / more. */
static int64_t trips(const ac_lb *b, ac_x lo, ac_x hi, int64_t step)
{
    int64_t from, to;
    if (!ac_lb_const_int(b, lo, &from) || !ac_lb_const_int(b, hi, &to))
        return -1;
    int64_t span = step > 0 ? to - from : from - to, by = step > 0 ? step : -step;
    return span <= 0 ? 0 : (span + by - 1) / by;
}

ac_x ac_lb_for(ac_lb *b, const char *name, ac_x lo, ac_x hi, int64_t step, ac_mark mark)
{
    assert(is_one(b, lo, AC_I32) && is_one(b, hi, AC_I32) && "bounds are i32 with one lane");
    assert(step != 0 && step >= INT32_MIN && step <= INT32_MAX && "the loop must end");
    bool once =
        trips(b, lo, hi, step) == 1 && (mark == AC_MARK_SERIAL || mark == AC_MARK_UNROLL || mark == AC_MARK_PARALLEL);
    ac_ins ins = {.op = AC_L_FOR,
                  .dtype = AC_I32,
                  .flags = once ? AC_F_ONCE : 0,
                  .lanes = 1,
                  .a = lo,
                  .b = hi,
                  .aux = (int32_t)mark,
                  .k.i = step,
                  .name = ac_lb_unique(b, name ? name : "i", false)};
    ac_x x = ac_lb_append(b, ins);
    open_block(b, x);
    if (once)
        return lo;
    b->cse->loop_time = ++b->cse->clock;
    return x;
}

ac_x ac_lb_for_n(ac_lb *b, const char *name, int64_t n)
{
    ac_x lo = ac_lb_i32(b, 0), hi = ac_lb_i32(b, n);
    return ac_lb_for(b, name, lo, hi, 1, AC_MARK_SERIAL);
}

ac_x ac_lb_for_each(ac_lb *b, const char *name, int64_t n)
{
    ac_x lo = ac_lb_i32(b, 0), hi = ac_lb_i32(b, n);
    return ac_lb_for(b, name, lo, hi, 1, AC_MARK_PARALLEL);
}

void ac_lb_if(ac_lb *b, ac_x cond)
{
    assert(is_one(b, cond, AC_BOOL) && "a bool with one lane");
    open_block(b, ac_lb_append(b, (ac_ins){.op = AC_L_IF, .a = cond}));
}

void ac_lb_else(ac_lb *b)
{
    assert(b->open.n && at(b, b->open.item[b->open.n - 1])->op == AC_L_IF && "lb_else belongs to lb_if");
    ac_lb_append(b, (ac_ins){.op = AC_L_ELSE});
    ac_lb_leave(b, false);
}

void ac_lb_end(ac_lb *b)
{
    assert(b->open.n && "lb_end without a block");
    const ac_ins *o = at(b, b->open.item[--b->open.n]);
    if (o->op == AC_L_FOR)
        ac_lb_release(b, o->name);
    ac_lb_append(b, (ac_ins){.op = AC_L_END});
    ac_lb_leave(b, true);
}

void ac_lb_break_if(ac_lb *b, ac_x cond)
{
    assert(is_one(b, cond, AC_BOOL) && "a bool with one lane");
    int32_t i = b->open.n - 1;
    while (i >= 0 && at(b, b->open.item[i])->op != AC_L_FOR)
        i--;
    assert(i >= 0 && "break_if inside a loop");
    b->fn->code.item[b->open.item[i]].flags &= (uint8_t)~AC_F_ONCE; /* break_if needs a loop even for one iteration */
    if (!const_bool(b, cond, false))
        ac_lb_append(b, (ac_ins){.op = AC_L_BREAK_IF, .a = cond});
}

void ac_lb_fail_if(ac_lb *b, ac_x cond, int32_t status)
{
    assert(is_one(b, cond, AC_BOOL) && "a bool with one lane");
    assert(status != 0 && "0 means success");
    if (const_bool(b, cond, false))
        return;
    ac_lb_append(b, (ac_ins){.op = AC_L_FAIL_IF, .a = cond, .aux = status});
}

ac_loop_fn *ac_lb_close(ac_lb *b)
{
    assert(!b->open.n && "every block is closed");
    ac_loop_fn *fn = b->fn;
    ac_lb_sweep(fn, b->region);
    ac_lb_order(fn, b->region);
    fn->fails = false;
    for (int32_t i = 1; i < fn->code.n; i++)
        fn->fails |= fn->code.item[i].op == AC_L_FAIL_IF;
    b->fn = NULL;
    b->cse = NULL;
    return fn;
}

int32_t *ac_loop_ends(ac_region *region, const ac_loop_fn *fn)
{
    AC_VEC(int32_t) open = {0};
    int32_t *end = AC_NEW_N(region, int32_t, fn->code.n);
    for (int32_t x = 1; x < fn->code.n; x++) {
        const ac_lop op = (ac_lop)fn->code.item[x].op;
        if (op == AC_L_FOR || op == AC_L_IF)
            ac_push(region, &open, x);
        else if (op == AC_L_END)
            end[open.item[--open.n]] = x;
    }
    return end;
}
