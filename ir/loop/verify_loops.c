/* verify_loops.c - checks that a function is well formed.
 *
 * The rules of loop.h and loop.def, checked on the finished function; it shares with the builder only the list of
 * operators that exist for each type (kernel.h). Cost: O(instructions), scopes by a stack. */
#include "ir/loop/builder.h"
#include "ir/loop/kernel.h"
#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"

#include <string.h>

typedef struct checker {
    ac_ctx *cx;
    ac_region *tmp;
    const ac_loop_fn *fn;
    int32_t at; /* the instruction being checked */
    int32_t faults;
    int32_t *scope; /* by instruction: the block it is in (its FOR, IF or ELSE; 0: the function) */
    bool *left;     /* by block: it is closed */
    AC_VEC(int32_t) open;
} checker;

static void fault(checker *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void fault(checker *c, const char *fmt, ...)
{
    if (++c->faults > 20)
        return;
    va_list ap;
    va_start(ap, fmt);
    const char *text = ac_vstrf(c->cx->region, fmt, ap);
    va_end(ap);
    ac_place at = {.node = c->fn->name};
    if (c->at)
        ac_error(c->cx, at, E0901, "loop function '%s', %%%d (%s): %s", c->fn->name, c->at,
                 ac_lop_text((ac_lop)c->fn->code.item[c->at].op), text);
    else
        ac_error(c->cx, at, E0901, "loop function '%s': %s", c->fn->name, text);
}

static const ac_ins *ins(const checker *c, ac_x x)
{
    return &c->fn->code.item[x];
}

static const char *type_text(const checker *c, const ac_ins *i)
{
    const char *name = i->dtype < AC_DTYPE_COUNT ? ac_dtype_name((ac_dtype)i->dtype) : "no type";
    return i->lanes == 1 ? name : ac_strf(c->cx->region, "%sx%d", name, i->lanes);
}

static bool makes_value(const ac_ins *i)
{
    return ac_lop_class((ac_lop)i->op) == 'V' || i->op == AC_L_FOR;
}

/* True if instruction x is visible here: before this one, in a block that is still open. */
static bool visible(checker *c, ac_x x, const char *which)
{
    if (x <= 0 || x >= c->at) {
        fault(c, "%s is %%%d, which is not an earlier instruction", which, x);
        return false;
    }
    if (c->scope[x] && c->left[c->scope[x]]) {
        fault(c, "%s is %%%d, whose block is closed", which, x);
        return false;
    }
    return true;
}

static const ac_ins *operand(checker *c, ac_x x, const char *which)
{
    if (!visible(c, x, which))
        return NULL;
    if (!makes_value(ins(c, x))) {
        fault(c, "%s is %%%d (%s), which makes no value", which, x, ac_lop_text((ac_lop)ins(c, x)->op));
        return NULL;
    }
    if (ins(c, x)->op == AC_L_FOR && c->left[x]) {
        fault(c, "%s is %%%d, a loop variable outside of its loop", which, x);
        return NULL;
    }
    return ins(c, x);
}

static bool want(checker *c, const ac_ins *x, const char *which, ac_dtype d, int32_t lanes)
{
    if (x->dtype == d && x->lanes == lanes)
        return true;
    ac_ins t = {.dtype = (uint8_t)d, .lanes = (uint16_t)lanes};
    fault(c, "%s is %s, expected %s", which, type_text(c, x), type_text(c, &t));
    return false;
}

/* Pieces of rules. */

static void check_pool(checker *c, const ac_ins *i, int64_t end)
{
    if (i->aux < 0 || i->aux > c->fn->pool.n - i->lanes) {
        fault(c, "its lanes are outside of the pool");
        return;
    }
    for (int32_t l = 0; l < i->lanes && end >= 0; l++) {
        int64_t from = c->fn->pool.item[i->aux + l];
        if (from < 0 || from >= end) {
            fault(c, "lane %d takes element %lld of %lld", l, (long long)from, (long long)end);
            return;
        }
    }
}

static void check_const(checker *c, const ac_ins *i)
{
    ac_dtype d = (ac_dtype)i->dtype;
    if (i->op == AC_L_CONSTV)
        check_pool(c, i, -1);
    else if (!ac_dtype_is_float(d) && d != AC_U64 && (i->k.i < ac_dtype_min(d) || i->k.i > ac_dtype_max(d)))
        fault(c, "%lld is no %s", (long long)i->k.i, ac_dtype_name(d));
}

static void check_access(checker *c, const ac_ins *i)
{
    const ac_ins *x = operand(c, i->a, "index");
    if (i->aux < 0 || i->aux >= c->fn->buf.n) {
        fault(c, "buffer %d does not exist", i->aux);
        return;
    }
    const ac_buf *m = &c->fn->buf.item[i->aux];
    if (i->op == AC_L_PREFETCH) {
        if (x)
            want(c, x, "index", AC_I32, 1);
        return;
    }
    if (i->op != AC_L_MMA && i->op != AC_L_TILE && i->dtype != m->dtype)
        fault(c, "buffer '%s' is %s, accessed as %s", m->name, ac_dtype_name(m->dtype),
              i->dtype < AC_DTYPE_COUNT ? ac_dtype_name((ac_dtype)i->dtype) : "no type");
    if ((ac_lop_stores((ac_lop)i->op) || i->op == AC_L_MMA) && (m->role == AC_BUF_IN || m->role == AC_BUF_CONST))
        fault(c, "buffer '%s' is read-only", m->name);
    if (!x || !want(c, x, "index", AC_I32, 1) || x->op != AC_L_CONST)
        return;
    if (x->k.i < 0 || x->k.i > m->count - i->lanes)
        fault(c, "elements %lld..%lld are outside of buffer '%s' with %lld elements", (long long)x->k.i,
              (long long)(x->k.i + i->lanes - 1), m->name, (long long)m->count);
}

static void check_tile(checker *c, const ac_ins *i, const ac_ins *w_at, const ac_ins *steps)
{
    const ac_tile t = ac_ins_tile(i);
    want(c, w_at, "operand b", AC_I32, 1);
    want(c, steps, "operand c", AC_I32, 1);
    if (t.form >= AC_TILE_FORMS || t.rows < 1 || t.channels < 1 || (ac_tile_pairs(t.form) && t.channels % 2) ||
        (t.form == AC_TILE_SPREAD && t.depth && (t.channels != 4 || t.depth != 4 || t.stride % 4)) ||
        (t.form == AC_TILE_ROW && t.rows != 1) ||
        (ac_tile_is_wide(&t) && (!t.shift || !t.depth || (t.form == AC_TILE_LANES && t.pitch % t.depth))) ||
        (t.form == AC_TILE_EACH &&
         (t.channels % 4 || !t.depth || t.depth % 16 || steps->op != AC_L_CONST || steps->k.i != 1)) ||
        (t.form == AC_TILE_UNSIGNED && (t.rows != 1 || !t.depth)) ||
        (t.form == AC_TILE_WORDS && t.rows != 2 && t.rows != 4) ||
        (t.form == AC_TILE_MATRIX && (t.channels % 16 || t.shift || t.depth))) {
        fault(c, "has no such shape");
        return;
    }
    if (t.w >= c->fn->buf.n || t.acc >= c->fn->buf.n) {
        fault(c, "a buffer does not exist");
        return;
    }
    const bool spreads = t.form == AC_TILE_SPREAD;
    const ac_buf *x = &c->fn->buf.item[t.x], *w = spreads ? NULL : &c->fn->buf.item[t.w],
                 *acc = &c->fn->buf.item[t.acc];
    const ac_dtype bytes = t.form == AC_TILE_UNSIGNED ? AC_U8 : AC_I8;
    const ac_dtype row = t.form == AC_TILE_PAIRS ? AC_I16 : t.form == AC_TILE_WORDS ? AC_I32 : bytes;
    if (x->dtype != row || (w && w->dtype != bytes))
        fault(c, "does not exist for rows of %s and weights of %s", ac_dtype_name(x->dtype),
              ac_dtype_name(w ? w->dtype : bytes));
    if (spreads && (acc->dtype != AC_I8 || acc->role == AC_BUF_IN || acc->role == AC_BUF_CONST))
        fault(c, "spreads to a buffer of i8");
    if (!spreads && (acc->dtype != AC_I32 || acc->role != AC_BUF_LOCAL || acc->count < t.rows * t.channels))
        fault(c, "accumulators are a local array of i32, large enough");
}

static void check_requant(checker *c, const ac_ins *i, const ac_ins *at, const ac_ins *bias)
{
    const ac_requants q = ac_ins_requant(i);
    want(c, at, "operand b", AC_I32, 1);
    want(c, bias, "operand c", AC_I32, 1);
    if (q.acc >= c->fn->buf.n || q.table >= c->fn->buf.n) {
        fault(c, "a buffer does not exist");
        return;
    }
    const ac_buf *acc = &c->fn->buf.item[q.acc], *table = &c->fn->buf.item[q.table];
    if (acc->dtype != AC_I32 || acc->role != AC_BUF_LOCAL || acc->count < q.lanes * (q.row + 1))
        fault(c, "accumulators are a local array of i32, large enough");
    if (table->dtype != AC_I32)
        fault(c, "the table is of i32");
}

static void check_mma(checker *c, const ac_ins *i, const ac_ins *x, const ac_ins *y)
{
    const ac_dtype d = (ac_dtype)i->dtype, sum = d == AC_I8 ? AC_I32 : AC_F32;
    want(c, x, "operand b", AC_I32, 1);
    want(c, y, "operand c", AC_I32, 1);
    if (d != AC_I8 && d != AC_F16 && d != AC_BF16 && d != AC_F32)
        fault(c, "does not exist for words of this type");
    else if (i->k.i < 0 || i->k.i >= c->fn->buf.n || c->fn->buf.item[i->k.i].dtype != AC_I32)
        fault(c, "has no buffer of words");
    else if (i->aux >= 0 && i->aux < c->fn->buf.n && c->fn->buf.item[i->aux].dtype != sum)
        fault(c, "sums are %s", ac_dtype_name(sum));
}

static void check_var(checker *c, const ac_ins *i)
{
    if (!visible(c, i->aux, "variable"))
        return;
    const ac_ins *v = ins(c, i->aux);
    if (v->op != AC_L_VAR)
        fault(c, "%%%d is not a variable", i->aux);
    else if (v->dtype != i->dtype || v->lanes != i->lanes)
        fault(c, "variable '%s' is %s, not %s", v->name ? v->name : "?", type_text(c, v), type_text(c, i));
}

static bool compares(ac_lop op)
{
    return op == AC_L_EQ || op == AC_L_NE || op == AC_L_LT || op == AC_L_LE;
}

/* Operators whose operands have one type, which the kernels know. */
static void check_arith(checker *c, const ac_ins *i, const ac_ins *x, const ac_ins *y, const ac_ins *z)
{
    ac_lop op = (ac_lop)i->op;
    ac_dtype d = (ac_dtype)x->dtype;
    if (d >= AC_DTYPE_COUNT) /* reported where x is */
        return;
    if (!ac_kernel_of(op, (ac_dtype)i->dtype, d)) {
        fault(c, "does not exist for %s", ac_dtype_name(d));
        return;
    }
    if (y)
        want(c, y, "operand b", d, x->lanes);
    if (z)
        want(c, z, "operand c", d, x->lanes);
    if (compares(op))
        want(c, i, "result", AC_BOOL, x->lanes);
    else if (op == AC_L_SUMLANES || op == AC_L_MAXLANES) {
        want(c, i, "result", d, 1);
        if (x->lanes & (x->lanes - 1))
            fault(c, "%d lanes cannot be halved down to one", x->lanes);
    } else {
        want(c, i, "result", d, x->lanes);
    }
}

static void check_select(checker *c, const ac_ins *i, const ac_ins *x, const ac_ins *y, const ac_ins *z)
{
    want(c, x, "condition", AC_BOOL, x->lanes == 1 ? 1 : i->lanes);
    want(c, y, "operand b", (ac_dtype)i->dtype, i->lanes);
    want(c, z, "operand c", (ac_dtype)i->dtype, i->lanes);
}

static void check_dot(checker *c, const ac_ins *i, const ac_ins *x, const ac_ins *y, const ac_ins *z)
{
    bool four = i->op == AC_L_DOT4;
    int32_t lanes = i->lanes * (four ? 4 : 2);
    want(c, i, "result", AC_I32, i->lanes);
    want(c, x, "operand a", four && x->dtype == AC_U8 ? AC_U8 : four ? AC_I8 : AC_I16, lanes);
    want(c, y, "operand b", four ? AC_I8 : AC_I16, lanes);
    want(c, z, "operand c", AC_I32, i->lanes);
}

static void check_lanes(checker *c, const ac_ins *i, const ac_ins *x, const ac_ins *y)
{
    ac_dtype d = (ac_dtype)i->dtype;
    if (x->dtype >= AC_DTYPE_COUNT)
        return;
    if (i->op == AC_L_SPLAT) {
        want(c, x, "operand a", d, 1);
    } else if (i->op == AC_L_LANE) {
        want(c, i, "result", (ac_dtype)x->dtype, 1);
        if (i->aux < 0 || i->aux >= x->lanes)
            fault(c, "lane %d of %d", i->aux, x->lanes);
    } else if (i->op == AC_L_SHUFFLE) {
        want(c, x, "operand a", d, x->lanes);
        if (y)
            want(c, y, "operand b", d, x->lanes);
        check_pool(c, i, x->lanes * (y ? 2 : 1));
    } else { /* BITCAST */
        if (x->dtype == AC_BOOL || d == AC_BOOL)
            fault(c, "bools have no bits to reinterpret");
        else if (x->lanes * ac_dtype_bits((ac_dtype)x->dtype) != i->lanes * ac_dtype_bits(d))
            fault(c, "%s and %s differ in size", type_text(c, x), type_text(c, i));
    }
}

static void check_cast(checker *c, const ac_ins *i, const ac_ins *x)
{
    if (!ac_kernel_of((ac_lop)i->op, (ac_dtype)i->dtype, (ac_dtype)x->dtype))
        fault(c, "no conversion from %s to %s", type_text(c, x), type_text(c, i));
    if (i->lanes != x->lanes)
        fault(c, "%d lanes become %d", x->lanes, i->lanes);
}

static void close_block(checker *c)
{
    const int32_t o = c->open.item[c->open.n - 1];
    c->left[o] = true;
}

static void check_structure(checker *c, const ac_ins *i)
{
    ac_lop op = (ac_lop)i->op;
    if (op == AC_L_FOR || op == AC_L_IF) {
        ac_push(c->tmp, &c->open, c->at);
    } else if (op == AC_L_ELSE) {
        if (!c->open.n || ins(c, c->open.item[c->open.n - 1])->op != AC_L_IF) {
            fault(c, "without if");
            return;
        }
        close_block(c);
        c->open.item[c->open.n - 1] = c->at;
    } else if (op == AC_L_END) {
        if (!c->open.n) {
            fault(c, "without for or if");
            return;
        }
        close_block(c);
        c->open.n--;
    } else if (op == AC_L_BREAK_IF) {
        const ac_ins *loop = NULL;
        for (int32_t k = 0; k < c->open.n; k++)
            loop = ins(c, c->open.item[k])->op == AC_L_FOR ? ins(c, c->open.item[k]) : loop;
        if (!loop)
            fault(c, "outside of any loop");
        else if (loop->aux >= AC_MARK_PARALLEL)
            fault(c, "leaves a parallel loop");
    }
}

/* A variable that a parallel loop changes is declared inside of it. */
static void check_shared(checker *c, ac_x var)
{
    for (int32_t k = 0; k < c->open.n; k++) {
        const ac_ins *loop = ins(c, c->open.item[k]);
        if (loop->op == AC_L_FOR && loop->aux >= AC_MARK_PARALLEL && var < c->open.item[k])
            fault(c, "sets %%%d, which is outside of a parallel loop", var);
    }
}

static void check_for(checker *c, const ac_ins *i, const ac_ins *lo, const ac_ins *hi)
{
    want(c, i, "loop variable", AC_I32, 1);
    want(c, lo, "lower bound", AC_I32, 1);
    want(c, hi, "upper bound", AC_I32, 1);
    if (i->k.i == 0 || i->k.i < INT32_MIN || i->k.i > INT32_MAX)
        fault(c, "step %lld", (long long)i->k.i);
    if (i->groups && i->aux != AC_MARK_BLOCK)
        fault(c, "groups of late stores are of block loops");
    if (i->aux < AC_MARK_SERIAL || i->aux > AC_MARK_BLOCK)
        fault(c, "mark %d does not exist", i->aux);
}

static void check_one(checker *c, const ac_ins *i)
{
    ac_lop op = (ac_lop)i->op;
    if (op <= AC_L_NONE || op >= AC_L_COUNT) {
        fault(c, "unknown instruction %d", op);
        return;
    }
    if (makes_value(i) || op == AC_L_VAR) {
        ac_dtype d = (ac_dtype)i->dtype;
        if (d == AC_NONE || d >= AC_DTYPE_COUNT || ac_dtype_loops(d) != d || i->lanes < 1 || i->lanes > AC_MAX_LANES) {
            fault(c, "has no type, or one that loops do not compute with");
            return;
        }
    }
    if (ac_lop_has_buffer(op))
        check_access(c, i);
    const ac_x use[3] = {i->a, i->b, i->c};
    static const char *const WHICH[3] = {"operand a", "operand b", "operand c"};
    const ac_ins *x[3] = {0};
    for (int32_t k = 0; k < ac_lop_arity(op); k++) {
        if (op == AC_L_SHUFFLE && k == 1 && !use[k])
            continue;
        if (!(x[k] = operand(c, use[k], WHICH[k])))
            return;
    }
    switch (op) {
    case AC_L_CONST:
    case AC_L_CONSTV:
        check_const(c, i);
        break;
    case AC_L_VAR:
        want(c, x[0], "initial value", (ac_dtype)i->dtype, i->lanes);
        break;
    case AC_L_GET:
        check_var(c, i);
        break;
    case AC_L_SET:
        check_shared(c, i->aux);
        check_var(c, i);
        want(c, x[0], "value", (ac_dtype)i->dtype, i->lanes);
        break;
    case AC_L_LOAD:
    case AC_L_PREFETCH:
        break;
    case AC_L_STORE:
        want(c, x[1], "value", (ac_dtype)i->dtype, i->lanes);
        break;
    case AC_L_TILE:
        check_tile(c, i, x[1], x[2]);
        break;
    case AC_L_REQUANT:
        check_requant(c, i, x[1], x[2]);
        break;
    case AC_L_MMA:
        check_mma(c, i, x[1], x[2]);
        break;
    case AC_L_SELECT:
        check_select(c, i, x[0], x[1], x[2]);
        break;
    case AC_L_CAST:
    case AC_L_SATCAST:
        check_cast(c, i, x[0]);
        break;
    case AC_L_DOT4:
    case AC_L_DOT2:
        check_dot(c, i, x[0], x[1], x[2]);
        break;
    case AC_L_SPLAT:
    case AC_L_LANE:
    case AC_L_BITCAST:
    case AC_L_SHUFFLE:
        check_lanes(c, i, x[0], x[1]);
        break;
    case AC_L_FOR:
        check_for(c, i, x[0], x[1]);
        break;
    case AC_L_IF:
    case AC_L_BREAK_IF:
        want(c, x[0], "condition", AC_BOOL, 1);
        break;
    case AC_L_FAIL_IF:
        want(c, x[0], "condition", AC_BOOL, 1);
        if (!i->aux || !c->fn->fails)
            fault(c, !i->aux ? "status 0 means success" : "the function is not marked as one that fails");
        break;
    // clang-format off
    case AC_L_ADD: case AC_L_SUB: case AC_L_MUL: case AC_L_DIV: case AC_L_MOD: case AC_L_MIN: case AC_L_MAX:
    case AC_L_NEG: case AC_L_ABS: case AC_L_SQRT: case AC_L_FLOOR: case AC_L_CEIL: case AC_L_TRUNC: case AC_L_RINT:
    case AC_L_AND: case AC_L_OR: case AC_L_XOR: case AC_L_NOT: case AC_L_SHL: case AC_L_SHR:
    case AC_L_EQ: case AC_L_NE: case AC_L_LT: case AC_L_LE:
    case AC_L_FMA: case AC_L_SUMLANES: case AC_L_MAXLANES:
        // clang-format on
        check_arith(c, i, x[0], x[1], x[2]);
        break;
    case AC_L_ELSE:
    case AC_L_END:
    case AC_L_NONE:
    case AC_L_COUNT:
        break;
    }
    check_structure(c, i);
}

static void check_buffers(checker *c)
{
    bool locals = false;
    for (int32_t i = 0; i < c->fn->buf.n; i++) {
        const ac_buf *m = &c->fn->buf.item[i];
        if (!m->name || m->dtype == AC_NONE || m->dtype >= AC_DTYPE_COUNT || ac_dtype_loops(m->dtype) != m->dtype)
            fault(c, "buffer %d has no name or type", i);
        else if (m->count < 0 || m->count > INT32_MAX)
            fault(c, "buffer '%s' has %lld elements", m->name, (long long)m->count);
        else if (m->role != AC_BUF_LOCAL && locals)
            fault(c, "parameter '%s' is after a local", m->name);
        else if (m->role == AC_BUF_LOCAL && m->where == AC_WHERE_STACK && ac_dtype_size(m->dtype, m->count) > 4096)
            fault(c, "local '%s' is larger than 4 KiB", m->name);
        locals |= m->role == AC_BUF_LOCAL;
    }
}

int ac_loop_verify(ac_ctx *cx, const ac_loop_fn *fn)
{
    ac_region *tmp = ac_region_open(&cx->heap);
    size_t n = (size_t)(fn->code.n ? fn->code.n : 1);
    checker c = {.cx = cx, .tmp = tmp, .fn = fn, .scope = AC_NEW_N(tmp, int32_t, n), .left = AC_NEW_N(tmp, bool, n)};
    check_buffers(&c);
    for (c.at = 1; c.at < fn->code.n; c.at++) {
        c.scope[c.at] = c.open.n ? c.open.item[c.open.n - 1] : 0;
        check_one(&c, ins(&c, c.at));
    }
    c.at = 0;
    if (c.open.n)
        fault(&c, "%d blocks are not closed", c.open.n);
    const char *gpu = c.faults ? NULL : ac_loop_gpu_fault(fn);
    if (gpu)
        fault(&c, "%s", gpu);
    ac_region_close(tmp);
    return c.faults ? AC_FAIL : AC_OK;
}
