/* bytecode.c - compiles loop functions to bytecode for the evaluator.
 *
 * Steps: verify, hoist, select (select.h, copy_loop.h), assign registers to the remaining values, write instructions.
 * Registers are reused after a value's last use, so that long straight-line code stays in the cache. Cost: O(n log
 * n). */
#include "ir/loop/builder.h"
#include "ir/loop/eval/bytecode.h"
#include "ir/loop/eval/select.h"

#include <string.h>

enum { CLASSES = 14 }; /* register sizes: 8 bytes << class, up to 1024 lanes of 8 bytes */

/* A jump whose target was not written yet */
typedef struct patch {
    int32_t bc;
    ac_x to;
    bool after; /* after the code of `to`, not before it */
} patch;

typedef struct compiler {
    const ac_loop_fn *fn;
    ac_region *r, *tmp;
    ac_ins *code;
    int32_t n;
    ac_selected *s;
    uint32_t *reg; /* by value or variable: byte offset */
    uint32_t zero; /* a register that holds 0 */
    AC_VEC(uint32_t) spare[CLASSES];
    int32_t *expire, *chain; /* by position: list of values not needed after it */
    size_t top;              /* bytes of registers so far */
    AC_VEC(ac_bc) out;
    AC_VEC(patch) patches;
    int32_t *start, *after; /* by instruction: start and end of its bytecode */
    ac_bc_copy **copy;      /* by FOR: set if the loop only moves elements; else NULL */
} compiler;

/* Registers. */

static size_t bytes_of(const ac_ins *i)
{
    return i->lanes * ac_lane_size((ac_dtype)i->dtype);
}

static int class_of(size_t bytes)
{
    int k = 0;
    while (((size_t)8 << k) < bytes)
        k++;
    return k;
}

static uint32_t bump(compiler *c, size_t bytes)
{
    size_t align = bytes < 64 ? bytes : 64;
    c->top = (c->top + align - 1) / align * align;
    size_t at = c->top;
    c->top += bytes;
    if (c->top > UINT32_MAX - 4096)
        c->top = UINT32_MAX; /* reported at the end */
    return (uint32_t)at;
}

/* Constants come first and stay. */
static void place_constants(compiler *c)
{
    c->zero = bump(c, 8);
    for (int32_t x = 1; x < c->n; x++)
        if (ac_ins_const(&c->code[x]))
            c->reg[x] = bump(c, (size_t)8 << class_of(bytes_of(&c->code[x])));
}

static void fill_constants(const compiler *c, char *image)
{
    for (int32_t x = 1; x < c->n; x++)
        for (int32_t l = 0; ac_ins_const(&c->code[x]) && l < c->code[x].lanes; l++)
            ac_lane_put((ac_dtype)c->code[x].dtype, image + c->reg[x], l, ac_lb_lane_of(c->fn, &c->code[x], l));
}

static bool has_register(const compiler *c, ac_x x)
{
    const ac_ins *i = &c->code[x];
    char cls = ac_lop_class((ac_lop)i->op);
    bool named = cls == 'V' || i->op == AC_L_FOR || i->op == AC_L_VAR;
    return named && !ac_ins_const(i) && c->s[x].root == x && c->s[x].how != AC_HOW_NOTHING;
}

/* A result never shares with an operand: it is placed before they are given back. */
static void place(compiler *c, ac_x x)
{
    ac_ins i = c->code[x];
    if (has_register(c, x)) {
        if (c->s[x].how == AC_HOW_LOADCAST)
            i.dtype = (uint8_t)c->s[x].to;
        int k = class_of(bytes_of(&i));
        c->reg[x] = c->spare[k].n ? c->spare[k].item[--c->spare[k].n] : bump(c, (size_t)8 << k);
        c->chain[x] = c->expire[c->s[x].last];
        c->expire[c->s[x].last] = x;
    }
    for (ac_x e = c->expire[x]; e; e = c->chain[e]) {
        i = c->code[e];
        if (c->s[e].how == AC_HOW_LOADCAST)
            i.dtype = (uint8_t)c->s[e].to;
        ac_push(c->tmp, &c->spare[class_of(bytes_of(&i))], c->reg[e]);
    }
}

static uint32_t at(const compiler *c, ac_x x)
{
    return x ? c->reg[c->s[x].root] + c->s[x].offset : c->zero;
}

/* Writing. */

static ac_bc *put(compiler *c, enum ac_bcop op, uint32_t d, uint32_t a, uint32_t b)
{
    ac_push(c->r, &c->out, ((ac_bc){.op = (uint16_t)op, .n = 1, .d = d, .a = a, .b = b}));
    return &c->out.item[c->out.n - 1];
}

static void jump_to(compiler *c, ac_x to, bool after)
{
    ac_push(c->tmp, &c->patches, ((patch){c->out.n - 1, to, after}));
}

/* The scalar opcode of an operator; 0 (STOP): it needs a kernel. */
static enum ac_bcop scalar_op(ac_lop op, ac_dtype type, ac_dtype from)
{
// clang-format off
#define ARITH(name, T, t) [AC_L_##name][AC_##T] = BC_##name##_##T,
#define INT(T, t, w, bits, lo, hi) AC_INT_BINARY(ARITH, T, t) AC_INT_UNARY(ARITH, T, t) AC_COMPARE(ARITH, T, t)
#define FLOAT(T, t, s) AC_FLOAT_BINARY(ARITH, T, t) AC_FLOAT_UNARY(ARITH, T, t) AC_COMPARE(ARITH, T, t) ARITH(FMA, T, t)
    static const uint16_t OPS[AC_L_COUNT][AC_DTYPE_COUNT] = {AC_INT_TYPES(INT) AC_FLOAT_TYPES(FLOAT)
                                                                 AC_BC_BOOL(ARITH, BOOL, uint8_t)};
#undef ARITH
#undef INT
#undef FLOAT
    static const struct {
        ac_lop op;
        ac_dtype from, to;
        enum ac_bcop bc;
    } CASTS[] = {
#define HOW_cast AC_L_CAST
#define HOW_sat AC_L_SATCAST
#define CAST(how, S, s, T, t) {HOW_##how, AC_##S, AC_##T, BC_##how##_##S##_##T},
        AC_BC_CASTS(CAST)
#undef CAST
    };
    // clang-format on
    if (op != AC_L_CAST && op != AC_L_SATCAST)
        return (enum ac_bcop)OPS[op][from];
    for (size_t i = 0; i < sizeof CASTS / sizeof *CASTS; i++)
        if (CASTS[i].op == op && CASTS[i].from == from && CASTS[i].to == type)
            return CASTS[i].bc;
    return BC_STOP;
}

static enum ac_bcop muladd_op(ac_dtype d)
{
#define INT(T, t, w, bits, lo, hi) [AC_##T] = BC_MULADD_##T,
#define FLOAT(T, t, s)             [AC_##T] = BC_MULADD_##T,
    static const uint16_t OPS[AC_DTYPE_COUNT] = {AC_INT_TYPES(INT) AC_FLOAT_TYPES(FLOAT)};
#undef INT
#undef FLOAT
    return (enum ac_bcop)OPS[d];
}

static void write_kernel(compiler *c, const ac_ins *i, uint32_t d, ac_kernel kernel, int32_t n)
{
    ac_bc *o = put(c, BC_KERNEL, d, at(c, i->a), at(c, i->b));
    o->c = at(c, i->c);
    o->n = (uint16_t)n;
    o->u.kernel = kernel;
}

/* Operators with a kernel; scalars use the opcode if there is one. */
static void write_arith(compiler *c, const ac_ins *i, uint32_t d)
{
    ac_lop op = (ac_lop)i->op;
    const ac_ins *x = &c->code[i->a], *y = &c->code[i->b];
    ac_dtype from = (ac_dtype)x->dtype;
    if ((op == AC_L_DIV || op == AC_L_MOD) && !ac_dtype_is_float(from) && !(y->op == AC_L_CONST && y->k.i)) {
        ac_bc *o = put(c, BC_NONZERO, 0, at(c, i->b), 0);
        o->n = i->lanes;
        o->c = (uint32_t)ac_lane_size(from);
    }
    bool reduces = op == AC_L_SUMLANES || op == AC_L_MAXLANES, one = i->lanes == 1 && x->lanes == 1 && !reduces;
    enum ac_bcop scalar = one ? scalar_op(op, (ac_dtype)i->dtype, from) : BC_STOP;
    if (scalar) {
        ac_bc *o = put(c, scalar, d, at(c, i->a), at(c, i->b));
        o->c = at(c, i->c);
    } else {
        write_kernel(c, i, d, ac_kernel_of(op, (ac_dtype)i->dtype, from), reduces ? x->lanes : i->lanes);
    }
}

static enum ac_bcop by_size(enum ac_bcop first, size_t size) /* four opcodes in a row, for 1, 2, 4 and 8 bytes */
{
    return first + (size == 1 ? 0 : size == 2 ? 1 : size == 4 ? 2 : 3);
}

static void write_access(compiler *c, const ac_ins *i, uint32_t d, const ac_selected *s)
{
    bool load = i->op == AC_L_LOAD;
    size_t size = ac_lane_size((ac_dtype)i->dtype), bytes = bytes_of(i);
    enum ac_bcop op = load ? BC_LOADV : BC_STOREV;
    if (s->how == AC_HOW_LOADCAST) {
        op = BC_LOADK;
#define LOADX(S, t)                                             \
    if (i->lanes == 1 && i->dtype == AC_##S && s->to == AC_I32) \
        op = BC_LOAD_##S##_I32;
        AC_BC_LOADS(LOADX)
#undef LOADX
    } else if (bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8) {
        op = by_size(load ? BC_LOAD1 : BC_STORE1, bytes);
    } else if (bytes == 16 || bytes == 32 || bytes == 64) {
        op = (load ? BC_LOAD16 : BC_STORE16) + (bytes == 16 ? 0 : bytes == 32 ? 1 : 2);
    }
    ac_bc *o = put(c, op, load ? d : at(c, i->b), at(c, i->a), at(c, i->c));
    o->c = (uint32_t)i->aux;
    o->n = i->lanes;
    if (op == BC_LOADK)
        o->u.kernel = ac_kernel_of(AC_L_CAST, s->to, (ac_dtype)i->dtype);
    else
        o->u.imm = (int64_t)(i->lanes * size);
}

static void write_move(compiler *c, uint32_t to, uint32_t from, size_t bytes)
{
    if (to != from)
        put(c, bytes <= 8 ? BC_MOV : BC_MOVV, to, from, 0)->u.imm = (int64_t)bytes;
}

static void write_lanes(compiler *c, const ac_ins *i, uint32_t d)
{
    size_t size = ac_lane_size((ac_dtype)i->dtype);
    if (i->op == AC_L_SPLAT) {
        put(c, by_size(BC_SPLAT1, size), d, at(c, i->a), 0)->n = i->lanes;
        return;
    }
    uint32_t *offset = AC_NEW_N(c->r, uint32_t, i->lanes);
    int64_t lanes = c->code[i->a].lanes;
    for (int32_t l = 0; l < i->lanes; l++) {
        int64_t from = c->fn->pool.item[i->aux + l];
        offset[l] = from < lanes ? at(c, i->a) + (uint32_t)from * (uint32_t)size
                                 : at(c, i->b) + (uint32_t)(from - lanes) * (uint32_t)size;
    }
    ac_bc *o = put(c, by_size(BC_SHUFFLE1, size), d, 0, 0);
    o->n = i->lanes;
    o->u.offset = offset;
}

static void write_select(compiler *c, const ac_ins *i, uint32_t d)
{
    if (c->code[i->a].lanes > 1) {
        write_kernel(c, i, d, ac_kernel_of(AC_L_SELECT, (ac_dtype)i->dtype, AC_BOOL), i->lanes);
        return;
    }
    ac_bc *o = put(c, i->lanes == 1 ? BC_SELECT : BC_SELECTV, d, at(c, i->a), at(c, i->b));
    o->c = at(c, i->c);
    o->u.imm = (int64_t)bytes_of(i);
}

static void write_mma(compiler *c, ac_x x, const ac_ins *i)
{
    while (c->code[x].op != AC_L_FOR || c->code[x].aux != AC_MARK_BLOCK) /* the phase around it: they do not nest */
        x--;
    ac_bc *o = put(c, BC_MMA, at(c, i->a), at(c, i->b), at(c, i->c));
    o->c = (uint32_t)i->aux;
    o->n = i->dtype;
    const int64_t threads = c->code[c->code[x].b].k.i; /* of all blocks that have elements, below 2^14 */
    o->u.imm = i->k.i | (threads * ac_thread_blocks(c->fn, i->aux)) << 32 |
               (threads * ac_thread_blocks(c->fn, (int32_t)i->k.i)) << 48;
}

static void write_tile(compiler *c, const ac_ins *i)
{
    ac_bc *o = put(c, BC_TILE, at(c, i->c), at(c, i->a), at(c, i->b));
    o->c = (uint32_t)i->aux;
    o->u.imm = i->k.i;
}

static void write_requant(compiler *c, const ac_ins *i)
{
    ac_bc *o = put(c, BC_REQUANT, at(c, i->a), at(c, i->b), at(c, i->c));
    o->c = (uint32_t)i->aux;
    o->u.imm = i->k.i;
}

static void write_for(compiler *c, ac_x x, const ac_ins *i)
{
    put(c, i->k.i > 0 ? BC_FOR_UP : BC_FOR_DOWN, c->reg[x], at(c, i->a), at(c, i->b));
    jump_to(c, c->s[x].end, true);
}

/* The end of a loop that moves elements does its loads and stores. */
static void find_copies(compiler *c)
{
    c->copy = AC_NEW_N(c->tmp, ac_bc_copy *, c->n);
    for (int32_t x = 1; x < c->n; x++) {
        ac_copy_loop l;
        if (c->code[x].op != AC_L_FOR || !ac_copy_loop_of(c->tmp, c->code, c->s, x, &l))
            continue;
        const ac_ins *first = &c->code[l.load[0]];
        ac_bc_copy *to = c->copy[x] = AC_NEW(c->r, ac_bc_copy);
        *to = (ac_bc_copy){l.n, (uint32_t)bytes_of(first), first->lanes, c->code[x].k.i, {{0}}, {{0}}};
        for (int32_t p = 0; p < l.n; p++) { /* registers come when they are known */
            to->from[p] = (ac_bc_place){(uint32_t)l.load[p], 0, (uint32_t)c->code[l.load[p]].aux, l.from[p]};
            to->to[p] = (ac_bc_place){(uint32_t)l.store[p], 0, (uint32_t)c->code[l.store[p]].aux, l.to[p]};
        }
    }
}

static void give_registers(const compiler *c, ac_bc_place *p)
{
    const ac_ins *i = &c->code[p->a];
    p->a = at(c, i->a);
    p->b = at(c, i->c);
}

static void write_copy(compiler *c, ac_x opener)
{
    ac_bc_copy *copy = c->copy[opener];
    for (int32_t p = 0; p < copy->n; p++) {
        give_registers(c, &copy->from[p]);
        give_registers(c, &copy->to[p]);
    }
    put(c, BC_COPY, c->reg[opener], 0, at(c, c->code[opener].b))->u.copy = copy;
}

static void write_end(compiler *c, ac_x x, ac_x opener)
{
    const ac_ins *i = &c->code[opener];
    if (i->op != AC_L_FOR)
        return;
    if (c->copy[opener]) {
        write_copy(c, opener);
        return;
    }
    put(c, i->k.i > 0 ? BC_NEXT_UP : BC_NEXT_DOWN, c->reg[opener], 0, at(c, i->b))->u.imm = i->k.i;
    jump_to(c, opener, true);
    (void)x;
}

/* Operators without kernel, and statements. */
static void write_one(compiler *c, ac_x x, ac_x opener)
{
    const ac_ins *i = &c->code[x];
    const ac_selected *s = &c->s[x];
    uint32_t d = c->reg[s->root];
    switch ((ac_lop)i->op) {
    case AC_L_CONST:
    case AC_L_CONSTV:
    case AC_L_LANE:
    case AC_L_BITCAST:
    case AC_L_PREFETCH:
    case AC_L_NONE:
    case AC_L_COUNT:
        break;
    case AC_L_VAR:
        write_move(c, d, at(c, i->a), bytes_of(i));
        break;
    case AC_L_GET:
        write_move(c, d, c->reg[i->aux], bytes_of(i));
        break;
    case AC_L_SET:
        write_move(c, c->reg[i->aux], at(c, i->a), bytes_of(i));
        break;
    case AC_L_LOAD:
    case AC_L_STORE:
        write_access(c, i, d, s);
        break;
    case AC_L_MMA:
        write_mma(c, x, i);
        break;
    case AC_L_TILE:
        write_tile(c, i);
        break;
    case AC_L_REQUANT:
        write_requant(c, i);
        break;
    case AC_L_SELECT:
        write_select(c, i, d);
        break;
    case AC_L_SPLAT:
    case AC_L_SHUFFLE:
        write_lanes(c, i, d);
        break;
    case AC_L_FOR:
        write_for(c, x, i);
        break;
    case AC_L_IF:
        put(c, BC_IF, 0, at(c, i->a), 0);
        jump_to(c, s->middle ? s->middle : s->end, s->middle != 0);
        break;
    case AC_L_ELSE:
        put(c, BC_JUMP, 0, 0, 0);
        jump_to(c, s->end, false);
        break;
    case AC_L_END:
        write_end(c, x, opener);
        break;
    case AC_L_BREAK_IF:
        put(c, BC_BREAK_IF, 0, at(c, i->a), 0);
        jump_to(c, c->s[s->loop].end, true);
        break;
    case AC_L_FAIL_IF:
        put(c, BC_FAIL_IF, 0, at(c, i->a), 0)->u.imm = i->aux;
        break;
    // clang-format off
    case AC_L_ADD: case AC_L_SUB: case AC_L_MUL: case AC_L_DIV: case AC_L_MOD: case AC_L_MIN: case AC_L_MAX:
    case AC_L_NEG: case AC_L_ABS: case AC_L_SQRT: case AC_L_FLOOR: case AC_L_CEIL: case AC_L_TRUNC: case AC_L_RINT:
    case AC_L_AND: case AC_L_OR: case AC_L_XOR: case AC_L_NOT: case AC_L_SHL: case AC_L_SHR:
    case AC_L_EQ: case AC_L_NE: case AC_L_LT: case AC_L_LE:
    case AC_L_CAST: case AC_L_SATCAST: case AC_L_FMA: case AC_L_DOT4: case AC_L_DOT2: case AC_L_SUMLANES:
    case AC_L_MAXLANES:
        // clang-format on
        write_arith(c, i, d);
        break;
    }
}

static void write_muladd(compiler *c, const ac_ins *i, uint32_t d)
{
    if (i->lanes > 1) {
        write_kernel(c, i, d, ac_kernel_muladd((ac_dtype)i->dtype), i->lanes);
        return;
    }
    put(c, muladd_op((ac_dtype)i->dtype), d, at(c, i->a), at(c, i->b))->c = at(c, i->c);
}

static void write_all(compiler *c)
{
    AC_VEC(int32_t) open = {0};
    for (int32_t x = 1; x < c->n; x++) {
        ac_lop op = (ac_lop)c->code[x].op;
        int32_t opener = 0;
        place(c, x);
        c->start[x] = c->out.n;
        if (op == AC_L_END)
            opener = open.item[--open.n];
        if (op == AC_L_FOR || op == AC_L_IF)
            ac_push(c->tmp, &open, x);
        if (c->s[x].how == AC_HOW_MULADD)
            write_muladd(c, &c->code[x], c->reg[c->s[x].root]);
        else if (c->s[x].how != AC_HOW_NOTHING)
            write_one(c, x, opener);
        c->after[x] = c->out.n;
    }
    put(c, BC_STOP, 0, 0, 0);
    for (int32_t k = 0; k < c->patches.n; k++) {
        const patch *p = &c->patches.item[k];
        c->out.item[p->bc].c = (uint32_t)(p->after ? c->after[p->to] : c->start[p->to]);
    }
}

static ac_program *finish(compiler *c)
{
    ac_program *p = AC_NEW(c->r, ac_program);
    p->name = ac_strdup(c->r, c->fn->name);
    p->code = c->out.item;
    p->n = c->out.n;
    ac_buf *buf = AC_NEW_N(c->r, ac_buf, c->fn->buf.n);
    for (int32_t i = 0; i < c->fn->buf.n; i++) {
        buf[i] = c->fn->buf.item[i];
        buf[i].name = ac_strdup(c->r, buf[i].name);
        if (buf[i].role == AC_BUF_LOCAL)
            p->locals += (size_t)ac_align_up(ac_dtype_size(buf[i].dtype, buf[i].count), 16);
        else
            p->n_param++;
    }
    p->buf = buf;
    p->n_buf = c->fn->buf.n;
    p->registers = c->top;
    return p;
}

ac_program *ac_eval_compile(ac_ctx *cx, ac_region *region, const ac_loop_fn *fn)
{
    if (ac_loop_verify(cx, fn) != AC_OK)
        return NULL;
    ac_region *tmp = ac_region_open(&cx->heap);
    compiler c = {.fn = ac_loop_hoist(tmp, tmp, fn), .r = region, .tmp = tmp};
    size_t n = (size_t)c.fn->code.n;
    c.n = c.fn->code.n;
    c.code = ac_copy(tmp, c.fn->code.item, n * sizeof *c.code);
    c.s = ac_select(tmp, c.code, c.n);
    find_copies(&c);
    c.reg = AC_NEW_N(tmp, uint32_t, n);
    c.expire = AC_NEW_N(tmp, int32_t, n);
    c.chain = AC_NEW_N(tmp, int32_t, n);
    c.start = AC_NEW_N(tmp, int32_t, n);
    c.after = AC_NEW_N(tmp, int32_t, n);
    place_constants(&c);
    size_t constants = c.top;
    write_all(&c);
    ac_program *p = NULL;
    if (c.top < UINT32_MAX) {
        p = finish(&c);
        p->constants = constants;
        p->image = ac_alloc(region, constants);
        fill_constants(&c, p->image);
    } else {
        ac_error(cx, (ac_place){.node = fn->name}, E0901, "loop function '%s' needs 4 GiB of registers", fn->name);
    }
    ac_region_close(tmp);
    return p;
}
