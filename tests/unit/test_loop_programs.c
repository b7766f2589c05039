/* test_loop_programs.c - folding, evaluation, text form, legalising, unrolling and hoisting of loops against each other
 * and against the plain interpreter below: every operator and type on random operands, then random programs (own
 * generator, fixed seeds). No framework: a failed check prints its place, the exit status is 1 when any failed.
 *
 *     test_loop_programs [programs [first seed]]        one program: its text is printed when it fails */
#include "ir/loop/builder.h"
#include "ir/loop/kernel.h"
#include "tests/unit/check.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

static uint64_t seed = 1;
static uint64_t rnd(void) /* xorshift64* */
{
    seed ^= seed >> 12;
    seed ^= seed << 25;
    seed ^= seed >> 27;
    return seed * 0x2545f4914f6cdd1du;
}
static int32_t below(int32_t n)
{
    return (int32_t)(rnd() >> 33) % n;
}

/* --- the reference: one case per kind, values in a table, blocks by recursion
 * ------------------------------------------- */

enum { WIDE = 128, CELL = WIDE * 8 }; /* lanes the tests use, bytes of a value */

typedef struct walker {
    const ac_loop_fn *fn;
    char (*value)[CELL];
    void *const *data;
    int status;
    bool fault;
} walker;

static int32_t closing(const ac_loop_fn *fn, int32_t x, bool stop_at_else)
{
    int32_t depth = 0;
    for (;; x++) {
        char cls = ac_lop_class((ac_lop)fn->code.item[x].op);
        depth += cls == 'O';
        if (cls == 'C' && --depth == 0)
            return x;
        if (cls == 'E' && depth == 1 && stop_at_else)
            return x;
    }
}

static int32_t i32_at(const walker *w, ac_x x)
{
    int32_t v;
    memcpy(&v, w->value[x], sizeof v);
    return v;
}

static void walk_value(walker *w, ac_x x)
{
    const ac_ins *i = &w->fn->code.item[x], *a = &w->fn->code.item[i->a];
    char *d = w->value[x];
    size_t size = ac_lane_size((ac_dtype)i->dtype);
    ac_lop op = (ac_lop)i->op;
    int32_t from = 0;
    bool divides = (op == AC_L_DIV || op == AC_L_MOD) && !ac_dtype_is_float((ac_dtype)i->dtype);
    for (int32_t l = 0; divides && l < i->lanes; l++)
        w->fault |= ac_lane_get((ac_dtype)i->dtype, w->value[i->b], l) == 0;
    if (op == AC_L_CONST || op == AC_L_CONSTV) {
        for (int32_t l = 0; l < i->lanes; l++)
            ac_lane_put((ac_dtype)i->dtype, d, l, ac_lb_lane_of(w->fn, i, l));
    } else if (op == AC_L_GET) {
        memcpy(d, w->value[i->aux], CELL);
    } else if (op == AC_L_LOAD) {
        from = i32_at(w, i->a);
        w->fault |= from < 0 || from + i->lanes > w->fn->buf.item[i->aux].count;
        if (!w->fault)
            memcpy(d, (char *)w->data[i->aux] + (size_t)from * size, i->lanes * size);
    } else if (op == AC_L_SPLAT || op == AC_L_LANE || op == AC_L_SHUFFLE) {
        for (int32_t l = 0; l < i->lanes; l++) {
            from = op == AC_L_LANE ? i->aux : op == AC_L_SPLAT ? 0 : (int32_t)w->fn->pool.item[i->aux + l];
            const char *source = from < a->lanes ? w->value[i->a] + (size_t)from * size
                                                 : w->value[i->b] + (size_t)(from - a->lanes) * size;
            memcpy(d + (size_t)l * size, source, size);
        }
    } else if (op == AC_L_BITCAST) {
        memcpy(d, w->value[i->a], CELL);
    } else if (op == AC_L_SELECT && a->lanes == 1) {
        memcpy(d, w->value[w->value[i->a][0] ? i->b : i->c], CELL);
    } else {
        ac_kernel k = ac_kernel_of(op, (ac_dtype)i->dtype, (ac_dtype)a->dtype);
        k(d, w->value[i->a], w->value[i->b], w->value[i->c],
          op == AC_L_SUMLANES || op == AC_L_MAXLANES ? a->lanes : i->lanes);
    }
}

/* 0: go on, 1: leave the loop, 2: leave the function. */
static int walk(walker *w, int32_t begin, int32_t end)
{
    for (int32_t x = begin; x < end && !w->fault; x++) {
        const ac_ins *i = &w->fn->code.item[x];
        ac_lop op = (ac_lop)i->op;
        if (op == AC_L_FOR) {
            int32_t last = closing(w->fn, x, false);
            int64_t hi = i32_at(w, i->b);
            for (int64_t v = i32_at(w, i->a); i->k.i > 0 ? v < hi : v > hi; v += i->k.i) {
                int32_t at = (int32_t)v;
                memcpy(w->value[x], &at, sizeof at);
                int r = walk(w, x + 1, last);
                if (r == 2)
                    return r;
                if (r == 1)
                    break;
            }
            x = last;
        } else if (op == AC_L_IF) {
            int32_t mid = closing(w->fn, x, true), last = closing(w->fn, x, false);
            int r = w->value[i->a][0] ? walk(w, x + 1, mid) : mid < last ? walk(w, mid + 1, last) : 0;
            if (r)
                return r;
            x = last;
        } else if (op == AC_L_BREAK_IF || op == AC_L_FAIL_IF) {
            if (w->value[i->a][0] && op == AC_L_FAIL_IF)
                w->status = i->aux;
            if (w->value[i->a][0])
                return op == AC_L_FAIL_IF ? 2 : 1;
        } else if (op == AC_L_VAR) {
            memcpy(w->value[x], w->value[i->a], CELL);
        } else if (op == AC_L_SET) {
            memcpy(w->value[i->aux], w->value[i->a], CELL);
        } else if (op == AC_L_STORE) {
            int32_t to = i32_at(w, i->a);
            size_t size = ac_lane_size((ac_dtype)i->dtype);
            w->fault |= to < 0 || to + i->lanes > w->fn->buf.item[i->aux].count;
            if (!w->fault)
                memcpy((char *)w->data[i->aux] + (size_t)to * size, w->value[i->b], i->lanes * size);
        } else if (op != AC_L_PREFETCH) {
            walk_value(w, x);
        }
    }
    return 0;
}

static bool reference(ac_region *r, const ac_loop_fn *fn, void *const *data, int *status)
{
    walker w = {.fn = fn, .value = ac_alloc_n(r, (size_t)fn->code.n, CELL), .data = data};
    walk(&w, 1, fn->code.n);
    *status = w.status;
    return !w.fault;
}

/* --- contexts
 * ------------------------------------------------------------------------------------------------------------ */

static ac_ctx cx;

static void fresh(void)
{
    if (cx.region)
        ac_ctx_close(&cx);
    ac_ctx_open(&cx);
    if (setjmp(cx.heap.on_oom)) {
        printf("out of memory\n");
        exit(1);
    }
    ac_ctx_start(&cx);
}

static const char *dump(const ac_loop_fn *fn)
{
    ac_sink s;
    ac_sink_open(&s, &cx);
    ac_loop_dump(&s, fn);
    return ac_sink_text(&s);
}

static ac_loop_fn *reread(const ac_loop_fn *fn)
{
    const char *text = dump(fn);
    ac_loop_fn *back = NULL;
    if (ac_loop_read(&cx, "dump", text, strlen(text), &back) != AC_OK) {
        FAILED("a dump can be read");
        ac_diags_print(&cx.diags, stdout, false);
        puts(text);
        exit(1);
    }
    if (strcmp(text, dump(back)) != 0) {
        FAILED("read(dump(f)) dumps the same");
        puts(text);
        puts(dump(back));
    }
    return back;
}

/* Equal bits, or both NaN. */
static bool same_lanes(ac_dtype d, const void *x, const void *y, int32_t n)
{
    for (int32_t l = 0; l < n; l++) {
        int64_t p = ac_lane_get(d, x, l), q = ac_lane_get(d, y, l);
        double u, v;
        memcpy(&u, &p, sizeof u);
        memcpy(&v, &q, sizeof v);
        if (p != q && !(ac_dtype_is_float(d) && isnan(u) && isnan(v)))
            return false;
    }
    return true;
}

/* --- folding equals evaluation
 * ------------------------------------------------------------------------------------------- */

static const ac_dtype TYPES[] = {AC_I8,  AC_I16, AC_I32, AC_I64, AC_U8,   AC_U16, AC_U32,
                                 AC_U64, AC_F32, AC_F64, AC_F16, AC_BF16, AC_BOOL};
enum { N_TYPES = sizeof TYPES / sizeof *TYPES };

static int64_t random_lane(ac_dtype d)
{
    static const double EDGES[] = {0.0,    -0.0,    1,      -1,       0.5,      -0.5,         1.5,
                                   2.5,    -2.5,    127,    128,      255.7,    -128.9,       32767.5,
                                   65504,  1e-40,   -1e-40, 3e38,     -3e38,    2147483648.0, -2147483649.0,
                                   9.3e18, -9.3e18, 1.9e19, HUGE_VAL, -HUGE_VAL};
    int64_t k;
    if (ac_dtype_is_float(d)) {
        double v = below(3) ? EDGES[below(sizeof EDGES / sizeof *EDGES)]
                            : ((double)(rnd() >> 11) * 0x1p-53 - 0.5) * ldexp(1, below(40) - 8);
        memcpy(&k, &v, sizeof k);
        return k;
    }
    if (d == AC_BOOL)
        return below(2);
    switch (below(5)) {
    case 0:
        k = below(5) - 2;
        break;
    case 1:
        k = ac_dtype_max(d) - below(2);
        break;
    case 2:
        k = ac_dtype_min(d) + below(2);
        break;
    default:
        k = (int64_t)(rnd() >> below(64));
        break;
    }
    char cell[8];
    ac_lane_put(d, cell, 0, k);
    return ac_lane_get(d, cell, 0);
}

typedef struct operand {
    ac_dtype dtype;
    int32_t lanes;
    char bytes[CELL];
} operand;

static operand random_operand(ac_dtype d, int32_t lanes)
{
    operand o = {.dtype = d, .lanes = lanes};
    bool equal_lanes = !below(3);
    for (int32_t l = 0; l < lanes; l++)
        ac_lane_put(d, o.bytes, l, equal_lanes && l ? ac_lane_get(d, o.bytes, 0) : random_lane(d));
    return o;
}

/* Builds one instruction, on constants or on loads, and runs it. */
static ac_loop_fn *one_op(ac_ins ins, const operand *in, const int64_t *pattern, bool constant, int32_t out_lanes)
{
    ac_lb b;
    lb_open(&b, cx.region, "one", NULL);
    ac_x x[3] = {0};
    int32_t arity = ac_lop_arity((ac_lop)ins.op);
    for (int32_t k = 0; k < 3; k++)
        lb_buf(&b, "in", in[k].dtype ? in[k].dtype : AC_I8, in[k].dtype ? in[k].lanes : 1, AC_BUF_IN, 1, NULL);
    int32_t out = lb_buf(&b, "out", (ac_dtype)ins.dtype, out_lanes, AC_BUF_OUT, 1, NULL);
    ac_x zero = lb_i32(&b, 0);
    for (int32_t k = 0; k < arity; k++) {
        int64_t lane[WIDE];
        for (int32_t l = 0; l < in[k].lanes; l++)
            lane[l] = ac_lane_get(in[k].dtype, in[k].bytes, l);
        x[k] = constant ? lb_constv(&b, in[k].dtype, lane, in[k].lanes) : lb_load(&b, k, zero, in[k].lanes);
    }
    ins.a = x[0];
    ins.b = x[1];
    ins.c = x[2];
    ac_x v = ins.op == AC_L_SHUFFLE ? lb_shuffle(&b, x[0], x[1], pattern, ins.lanes) : ac_lb_op(&b, ins);
    lb_store(&b, out, zero, v);
    return lb_close(&b);
}

static void fold_case(ac_ins ins, const operand *in, const int64_t *pattern)
{
    char got[4][CELL] = {{0}};
    int32_t kinds = 0;
    bool fails[4] = {0};
    operand memory[3];
    memcpy(memory, in, sizeof memory);
    for (int k = 0; k < 4; k++) {
        const ac_loop_fn *fn = one_op(ins, in, pattern, k == 0, ins.lanes);
        if (k == 2)
            fn = ac_loop_scalar(&cx, fn);
        int status = 0;
        void *data[] = {memory[0].bytes, memory[1].bytes, memory[2].bytes, got[k]};
        if (k == 3)
            fails[k] = !reference(cx.region, fn, data, &status);
        else
            fails[k] = ac_eval(&cx, fn, data, 4, &status) != AC_OK;
        kinds++;
    }
    for (int k = 0; k < kinds; k++)
        if (fails[k] != fails[0] || (!fails[0] && !same_lanes((ac_dtype)ins.dtype, got[0], got[k], ins.lanes))) {
            FAILED(k == 1   ? "folding equals evaluation"
                   : k == 2 ? "scalars equal vectors"
                            : "reference equals evaluation");
            puts(dump(one_op(ins, in, pattern, true, ins.lanes)));
            puts(dump(one_op(ins, in, pattern, false, ins.lanes)));
        }
}

static bool is_compare(ac_lop op)
{
    return op == AC_L_EQ || op == AC_L_NE || op == AC_L_LT || op == AC_L_LE;
}
static bool is_shift(ac_lop op)
{
    return op == AC_L_SHL || op == AC_L_SHR;
}

static void test_fold(void)
{
    static const int32_t LANES[] = {1, 4, 16};
    int32_t cases = 0;
    for (int32_t op = AC_L_ADD; op <= AC_L_MAXLANES; op++)
        for (int32_t t = 0; t < N_TYPES; t++)
            for (int32_t round = 0; round < 24; round++) {
                if (round % 8 == 0)
                    fresh();
                ac_dtype d = TYPES[t], from = TYPES[below(N_TYPES)];
                int32_t lanes = LANES[below(3)];
                ac_ins ins = {.op = (uint8_t)op, .dtype = (uint8_t)d, .lanes = (uint16_t)lanes};
                operand in[3] = {{0}};
                int64_t pattern[WIDE] = {0};
                if (op == AC_L_CAST || op == AC_L_SATCAST) {
                    if (!ac_kernel_of((ac_lop)op, d, from))
                        continue;
                    in[0] = random_operand(from, lanes);
                } else if (op == AC_L_BITCAST) {
                    if (d == AC_BOOL || from == AC_BOOL || lanes * ac_dtype_bits(d) % ac_dtype_bits(from))
                        continue;
                    in[0] = random_operand(from, lanes * ac_dtype_bits(d) / ac_dtype_bits(from));
                } else if (op == AC_L_SELECT) {
                    in[0] = random_operand(AC_BOOL, below(2) ? 1 : lanes);
                    in[1] = random_operand(d, lanes);
                    in[2] = random_operand(d, lanes);
                } else if (op == AC_L_SPLAT || op == AC_L_LANE || op == AC_L_SHUFFLE) {
                    in[0] = random_operand(d, op == AC_L_SPLAT ? 1 : lanes);
                    in[1] = random_operand(d, lanes);
                    ins.aux = op == AC_L_LANE ? below(lanes) : 0;
                    ins.lanes = op == AC_L_LANE ? 1 : (uint16_t)LANES[below(3)];
                    for (int32_t l = 0; l < WIDE; l++)
                        pattern[l] = below(2 * lanes);
                } else if (op == AC_L_DOT4 || op == AC_L_DOT2) {
                    bool four = op == AC_L_DOT4;
                    if (d != AC_I32)
                        continue;
                    in[0] = random_operand(four ? (below(2) ? AC_U8 : AC_I8) : AC_I16, lanes * (four ? 4 : 2));
                    in[1] = random_operand(four ? AC_I8 : AC_I16, lanes * (four ? 4 : 2));
                    in[2] = random_operand(AC_I32, lanes);
                } else {
                    if (!ac_kernel_of((ac_lop)op, d, d))
                        continue;
                    for (int32_t k = 0; k < ac_lop_arity((ac_lop)op); k++)
                        in[k] = random_operand(d, lanes);
                    for (int32_t l = 0; is_shift((ac_lop)op) && l < lanes; l++)
                        ac_lane_put(d, in[1].bytes, l, below(ac_dtype_bits(d)));
                    if (op == AC_L_SUMLANES || op == AC_L_MAXLANES)
                        ins.lanes = 1;
                    if (is_compare((ac_lop)op))
                        ins.dtype = AC_BOOL;
                    if (ac_dtype_is_int(d) && below(2))
                        ins.flags = AC_F_WRAP;
                }
                fold_case(ins, in, pattern);
                cases++;
            }
    CHECK(cases > 6000);
}

/* --- random programs
 * ----------------------------------------------------------------------------------------------------- */

enum { F_IN, I8_IN, I32_IN, H_IN, K_CONST, I32_OUT, F_OUT, I8_IO, N_PARAM, I32_LOCAL = N_PARAM, N_BUF, COUNT = 96 };
static const ac_dtype BUF_TYPE[N_BUF] = {AC_F32, AC_I8, AC_I32, AC_F16, AC_I32, AC_I32, AC_F32, AC_I8, AC_I32};

typedef struct gen {
    ac_lb b;
    AC_VEC(ac_x) pool; /* values in scope */
    AC_VEC(ac_x) vars; /* variables in scope */
    int32_t budget;    /* instructions left */
    int32_t loops;     /* nesting */
} gen;

static ac_x keep(gen *g, ac_x x)
{
    ac_push(cx.region, &g->pool, x);
    return x;
}

static ac_x pick(gen *g, ac_dtype d, int32_t lanes) /* 0: any */
{
    ac_x found = 0;
    int32_t seen = 0;
    for (int32_t i = 0; i < g->pool.n; i++) {
        ac_x x = g->pool.item[i];
        if ((!d || lb_dtype(&g->b, x) == d) && (!lanes || lb_lanes(&g->b, x) == lanes) && !below(++seen))
            found = x;
    }
    if (found)
        return found;
    if (!d)
        d = AC_I32;
    if (!lanes)
        lanes = 1;
    int64_t lane[WIDE];
    for (int32_t l = 0; l < lanes; l++)
        lane[l] = random_lane(d);
    return keep(g, lb_constv(&g->b, d, lane, lanes));
}

/* An index at which `lanes` elements lie inside of every buffer: mostly so. */
static ac_x index_for(gen *g, int32_t lanes)
{
    ac_x i = pick(g, AC_I32, 1);
    if (below(3) == 0)
        return lb_i32(&g->b, below(COUNT - lanes + 1));
    ac_x low = lb_clamp(&g->b, i, lb_i32(&g->b, 0), lb_i32(&g->b, 31));
    return below(2) ? lb_add(&g->b, low, lb_i32(&g->b, below(COUNT - lanes - 31))) : low;
}

static ac_x not_nan(gen *g, ac_x x)
{
    return lb_select(&g->b, lb_eq(&g->b, x, x), x, lb_like(&g->b, x, 1));
}

static void random_value(gen *g)
{
    static const int32_t LANES[] = {1, 1, 1, 4, 8, 16};
    static const ac_dtype COMMON[] = {AC_I32, AC_I32, AC_F32, AC_F32, AC_I8, AC_I64, AC_U8, AC_F64, AC_U32};
    ac_lb *b = &g->b;
    int32_t lanes = LANES[below(6)];
    ac_dtype d = COMMON[below(9)];
    switch (below(14)) {
    case 0:
    case 1: {
        int32_t buf = below(N_BUF);
        ac_x v = lb_load(b, buf, index_for(g, lanes), lanes);
        if (BUF_TYPE[buf] == AC_F16 || !below(3))
            v = lb_cast(b, v, BUF_TYPE[buf] == AC_F16 ? AC_F32 : AC_I32);
        keep(g, v);
        break;
    }
    case 2:
        keep(g, lb_cast(b, pick(g, 0, lanes), d));
        break;
    case 3:
        keep(g, lb_satcast(b, pick(g, d, lanes), below(2) ? AC_I8 : AC_U8));
        break;
    case 4:
        keep(g, lb_select(b, pick(g, AC_BOOL, below(2) ? 1 : lanes), pick(g, d, lanes), pick(g, d, lanes)));
        break;
    case 5:
        keep(g, below(2) ? lb_lt(b, pick(g, d, lanes), pick(g, d, lanes)) : lb_eq(b, pick(g, d, 1), pick(g, d, lanes)));
        break;
    case 6: {
        int64_t pattern[16];
        for (int32_t l = 0; l < 16; l++)
            pattern[l] = below(2 * lanes);
        keep(g, lb_shuffle(b, pick(g, d, lanes), pick(g, d, lanes), pattern, LANES[below(6)]));
        break;
    }
    case 7: {
        ac_x v = pick(g, d, lanes);
        keep(g, below(2) ? lb_lane(b, v, below(lanes)) : lanes == 1 ? lb_splat(b, v, LANES[below(6)]) : v);
        break;
    }
    case 8:
        keep(g, below(2) ? lb_sumlanes(b, pick(g, d, lanes)) : lb_maxlanes(b, pick(g, d, lanes)));
        break;
    case 9: {
        int32_t l4 = lanes > 4 ? 4 : 1;
        keep(g, lb_dot4(b, pick(g, below(2) ? AC_U8 : AC_I8, 4 * l4), pick(g, AC_I8, 4 * l4), pick(g, AC_I32, l4)));
        break;
    }
    case 10: {
        ac_dtype f = below(2) ? AC_F32 : AC_F64;
        if (below(2))
            keep(g, lb_fma(b, pick(g, f, lanes), pick(g, f, lanes), pick(g, f, lanes)));
        else if (lanes == 1)
            keep(g, lb_bitcast(b, not_nan(g, pick(g, AC_F32, 1)), AC_I32));
        else
            keep(g, lb_bitcast(b, pick(g, AC_I32, lanes / 4), AC_I8));
        break;
    }
    case 11: {
        if (!g->vars.n)
            break;
        keep(g, lb_get(b, g->vars.item[below(g->vars.n)]));
        break;
    }
    default: {
        static ac_x (*const F[])(ac_lb *, ac_x, ac_x) = {lb_add, lb_sub,      lb_mul,      lb_min,
                                                         lb_max, lb_add_wrap, lb_mul_wrap, lb_mul};
        ac_x x = pick(g, d, lanes), y = pick(g, d, below(4) ? lanes : 1), r = F[below(8)](b, x, y);
        if (below(2))
            r = lb_add(b, r, pick(g, d, lanes)); /* products that are added */
        if (!below(4) && ac_dtype_is_int(d))
            r = lb_div(b, r, lb_like_int(b, r, 3 + below(20)));
        keep(g, r);
        if (!below(16) && ac_dtype_is_int(d) && lanes == 1) { /* only a divisor that was looked at */
            ac_x by = lb_and(b, y, lb_like_int(b, y, 2));
            lb_for_n(b, "k", 2);
            lb_if(b, lb_ne(b, by, lb_like_int(b, by, 0)));
            lb_store(b, I32_OUT, lb_i32(b, below(COUNT)), lb_cast(b, lb_mod(b, r, by), AC_I32));
            lb_end(b);
            lb_end(b);
        }
    }
    }
}

static void random_statement(gen *g)
{
    ac_lb *b = &g->b;
    switch (below(6)) {
    case 0: {
        int32_t buf = I32_OUT + below(N_BUF - I32_OUT), lanes = below(2) ? 1 : 8;
        lb_store(b, buf, index_for(g, lanes), pick(g, BUF_TYPE[buf], lanes));
        break;
    }
    case 1:
        ac_push(cx.region, &g->vars, lb_var(b, "v", pick(g, 0, 0)));
        if (!below(4)) /* anywhere, and without effect */
            lb_prefetch(b, below(N_BUF), pick(g, AC_I32, 1));
        break;
    default: {
        if (!g->vars.n)
            break;
        ac_x var = g->vars.item[below(g->vars.n)];
        ac_dtype d = lb_dtype(b, var);
        int32_t lanes = lb_lanes(b, var);
        ac_x v = pick(g, d, lanes), old = lb_get(b, var);
        bool adds = ac_dtype_is_int(d) || d == AC_F32 || d == AC_F64;
        if (adds && below(4)) { /* accumulate */
            v = lb_add(b, old, below(2) ? v : lb_mul(b, v, pick(g, d, lanes)));
        } else if (below(2)) { /* lanes change places */
            int64_t pattern[WIDE];
            for (int32_t l = 0; l < lanes; l++)
                pattern[l] = below(lanes);
            v = lb_shuffle(b, old, 0, pattern, lanes);
        }
        if (!below(4))
            keep(g, old);
        if (!below(4))
            random_value(g); /* something between value and SET */
        if (!below(4))
            lb_store(b, I32_OUT, lb_i32(b, below(COUNT)), lb_cast(b, lb_lane(b, old, below(lanes)), AC_I32));
        if (!below(8) && g->loops)
            lb_break_if(b, pick(g, AC_BOOL, 1));
        lb_set(b, var, v);
    }
    }
}

static void random_block(gen *g, int32_t depth)
{
    int32_t n = 3 + below(14);
    while (n-- > 0 && g->budget-- > 0) {
        int32_t pool = g->pool.n, vars = g->vars.n, what = below(16);
        if (what > 2 || depth == 0) {
            if (what > 10)
                random_statement(g);
            else
                random_value(g);
            if (!below(40) && g->loops)
                lb_break_if(&g->b, pick(g, AC_BOOL, 1));
            if (!below(200))
                lb_fail_if(&g->b, pick(g, AC_BOOL, 1), 2 + below(3));
            continue;
        }
        if (what == 0) {
            lb_if(&g->b, pick(g, AC_BOOL, 1));
            random_block(g, depth - 1);
            g->pool.n = pool;
            g->vars.n = vars;
            if (below(2)) {
                lb_else(&g->b);
                random_block(g, depth - 1);
            }
        } else {
            static const char *const NAMES[] = {"oy", "ox", "ic", "int"};
            ac_mark mark = below(2) ? AC_MARK_UNROLL : AC_MARK_SERIAL;
            int64_t step = below(3) ? 1 : below(2) ? 2 : -1;
            int32_t lo = below(3), span = below(5);
            keep(g, lb_for(&g->b, NAMES[below(4)], lb_i32(&g->b, step < 0 ? lo + span : lo),
                           lb_i32(&g->b, step < 0 ? lo : lo + span), step, mark));
            g->loops++;
            random_block(g, depth - 1);
            g->loops--;
        }
        g->pool.n = pool;
        g->vars.n = vars;
        lb_end(&g->b);
    }
}

static ac_loop_fn *random_program(void)
{
    static const ac_role ROLE[] = {AC_BUF_IN,  AC_BUF_IN,  AC_BUF_IN,    AC_BUF_IN,   AC_BUF_CONST,
                                   AC_BUF_OUT, AC_BUF_OUT, AC_BUF_INOUT, AC_BUF_LOCAL};
    gen g = {.budget = 160};
    ac_lb *b = &g.b;
    lb_open(b, cx.region, "random", "a \"note\"");
    for (int32_t i = 0; i < N_BUF; i++)
        lb_buf(b, "b", BUF_TYPE[i], COUNT, ROLE[i], 16, i % 2 ? "note" : NULL);
    ac_x i = lb_for_n(b, "fill", COUNT);
    lb_store(b, I32_LOCAL, i, lb_mul(b, i, i));
    lb_end(b);
    random_block(&g, 4);
    for (int32_t k = 0; k < 12 && g.pool.n; k++) { /* what is in scope at the end is seen */
        ac_x v = g.pool.item[below(g.pool.n)];
        ac_dtype d = lb_dtype(b, v);
        bool is_float = ac_dtype_is_float(d);
        lb_store(b, is_float ? F_OUT : I32_OUT, lb_i32(b, below(COUNT - 16)),
                 lb_cast(b, v, is_float ? AC_F32 : AC_I32));
    }
    return lb_close(b);
}

typedef struct state {
    double align;
    char bytes[N_PARAM][COUNT * 4];
} state;

static void fill(state *s)
{
    memset(s, 0, sizeof *s);
    for (int32_t i = 0; i < N_PARAM; i++)
        for (int32_t k = 0; k < COUNT; k++) {
            double v = below(4) ? (double)below(2000) / 16 - 40 : (double)below(9) - 4;
            int64_t bits;
            memcpy(&bits, &v, sizeof bits);
            ac_lane_put(BUF_TYPE[i], s->bytes[i], k, ac_dtype_is_float(BUF_TYPE[i]) ? bits : below(200) - 100);
        }
}

static bool same_state(const state *x, const state *y)
{
    for (int32_t i = 0; i < N_PARAM; i++)
        if (!same_lanes(BUF_TYPE[i], x->bytes[i], y->bytes[i], COUNT))
            return false;
    return true;
}

static void test_programs(int32_t programs, uint64_t first)
{
    static const char *const WAY[] = {"reference",          "eval",    "read(dump)",     "scalar", "unrolled",
                                      "scalar of unrolled", "hoisted", "unrolled scalar"};
    enum { WAYS = sizeof WAY / sizeof *WAY };
    static state start, end[WAYS];
    int32_t faults = 0;
    for (int32_t p = 0; p < programs; p++) {
        seed = (first + (uint64_t)p) * 0x9e3779b97f4a7c15u + 1;
        fresh();
        const ac_loop_fn *fn = random_program();
        if (ac_loop_verify(&cx, fn) != AC_OK) {
            FAILED("a built program verifies");
            ac_diags_print(&cx.diags, stdout, false);
            puts(dump(fn));
            return;
        }
        const ac_loop_fn *way[WAYS] = {fn, fn, reread(fn)};
        way[3] = ac_loop_scalar(&cx, fn);
        way[4] = ac_loop_unroll(&cx, fn);
        way[5] = ac_loop_scalar(&cx, way[4]);
        way[6] = ac_loop_hoist(&cx, fn);
        way[7] = ac_loop_unroll(&cx, way[3]);
        for (int32_t i = 1; i < way[3]->code.n; i++)
            CHECK(way[3]->code.item[i].lanes <= 1);
        int status[WAYS] = {0};
        bool ok[WAYS];
        fill(&start);
        for (int k = 0; k < WAYS; k++) {
            end[k] = start;
            void *data[N_BUF];
            for (int32_t i = 0; i < N_PARAM; i++)
                data[i] = end[k].bytes[i];
            if (k == 0) {
                data[I32_LOCAL] = ac_alloc_n(cx.region, COUNT, 4);
                ok[k] = reference(cx.region, fn, data, &status[k]);
            } else {
                ok[k] = ac_eval(&cx, way[k], data, N_PARAM, &status[k]) == AC_OK;
            }
            faults += k == 0 && !ok[0];
            if (ok[k] != ok[0] || status[k] != status[0] || (ok[0] && !same_state(&end[k], &end[0]))) {
                printf("seed %llu: %s differs from the reference (status %d, %d)\n",
                       (unsigned long long)(first + (uint64_t)p), WAY[k], status[k], status[0]);
                FAILED("all ways to run a program agree");
                ac_diags_print(&cx.diags, stdout, false);
                if (programs == 1) {
                    puts(dump(fn));
                    puts(dump(way[k]));
                }
            }
        }
        if (failures > 10)
            return;
    }
    CHECK(faults * 4 < programs + 4);
}

int main(int argc, char **argv)
{
    int32_t programs = argc > 1 ? atoi(argv[1]) : 1500;
    uint64_t first = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;
    test_fold();
    test_programs(programs, first);
    ac_ctx_close(&cx);
    return check_done();
}
