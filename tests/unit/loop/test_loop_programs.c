/* test_loop_programs.c - evaluation, text form, legalising, unrolling and hoisting of random programs against each
 * other and against a plain interpreter (own generator, fixed seeds).
 *
 *     test_loop_programs [programs [first seed]]        one program: its text is printed when it fails */
#include "tests/unit/support/loop_reference.h"
#include "ir/loop/eval/eval.h"
#include "tests/unit/support/loop_text.h"

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
        if ((!d || ac_lb_dtype(&g->b, x) == d) && (!lanes || ac_lb_lane_count(&g->b, x) == lanes) && !below(++seen))
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
    return keep(g, ac_lb_constv(&g->b, d, lane, lanes));
}

/* An index, mostly one at which `lanes` elements are inside of every buffer. */
static ac_x index_for(gen *g, int32_t lanes)
{
    ac_x i = pick(g, AC_I32, 1);
    if (below(3) == 0)
        return ac_lb_i32(&g->b, below(COUNT - lanes + 1));
    ac_x low = ac_lb_clamp(&g->b, i, ac_lb_i32(&g->b, 0), ac_lb_i32(&g->b, 31));
    return below(2) ? ac_lb_add(&g->b, low, ac_lb_i32(&g->b, below(COUNT - lanes - 31))) : low;
}

static ac_x not_nan(gen *g, ac_x x)
{
    return ac_lb_select(&g->b, ac_lb_eq(&g->b, x, x), x, ac_lb_like(&g->b, x, 1));
}

static const int32_t LANES[] = {1, 1, 1, 4, 8, 16};

/* Elements of a buffer: halves as floats, others now and then as i32. */
static ac_x loaded(gen *g, int32_t lanes)
{
    int32_t buf = below(N_BUF);
    ac_x v = ac_lb_load(&g->b, buf, index_for(g, lanes), lanes);
    if (BUF_TYPE[buf] == AC_F16 || !below(3))
        v = ac_lb_cast(&g->b, v, BUF_TYPE[buf] == AC_F16 ? AC_F32 : AC_I32);
    return v;
}

static ac_x shuffled(gen *g, ac_dtype d, int32_t lanes)
{
    int64_t pattern[16];
    for (int32_t l = 0; l < 16; l++)
        pattern[l] = below(2 * lanes);
    return ac_lb_shuffle(&g->b, pick(g, d, lanes), pick(g, d, lanes), pattern, LANES[below(6)]);
}

static ac_x lane_or_splat(gen *g, ac_dtype d, int32_t lanes)
{
    ac_x v = pick(g, d, lanes);
    return below(2) ? ac_lb_lane(&g->b, v, below(lanes)) : lanes == 1 ? ac_lb_splat(&g->b, v, LANES[below(6)]) : v;
}

static ac_x dot(gen *g, int32_t lanes)
{
    int32_t l4 = lanes > 4 ? 4 : 1;
    return ac_lb_dot4(&g->b, pick(g, below(2) ? AC_U8 : AC_I8, 4 * l4), pick(g, AC_I8, 4 * l4), pick(g, AC_I32, l4));
}

static ac_x fma_or_bits(gen *g, int32_t lanes)
{
    ac_dtype f = below(2) ? AC_F32 : AC_F64;
    if (below(2))
        return ac_lb_fma(&g->b, pick(g, f, lanes), pick(g, f, lanes), pick(g, f, lanes));
    if (lanes == 1)
        return ac_lb_bitcast(&g->b, not_nan(g, pick(g, AC_F32, 1)), AC_I32);
    return ac_lb_bitcast(&g->b, pick(g, AC_I32, lanes / 4), AC_I8);
}

/* Stores x modulo `by`, twice, in a branch with a nonzero divisor. */
static void guarded_mod(gen *g, ac_x x, ac_x by)
{
    ac_lb *b = &g->b;
    by = ac_lb_and(b, by, ac_lb_like_int(b, by, 2));
    ac_lb_for_n(b, "k", 2);
    ac_lb_if(b, ac_lb_ne(b, by, ac_lb_like_int(b, by, 0)));
    ac_lb_store(b, I32_OUT, ac_lb_i32(b, below(COUNT)), ac_lb_cast(b, ac_lb_mod(b, x, by), AC_I32));
    ac_lb_end(b);
    ac_lb_end(b);
}

static void arithmetic(gen *g, ac_dtype d, int32_t lanes)
{
    static ac_x (*const F[])(ac_lb *, ac_x, ac_x) = {ac_lb_add, ac_lb_sub,      ac_lb_mul,      ac_lb_min,
                                                     ac_lb_max, ac_lb_add_wrap, ac_lb_mul_wrap, ac_lb_mul};
    ac_lb *b = &g->b;
    ac_x x = pick(g, d, lanes), y = pick(g, d, below(4) ? lanes : 1), r = F[below(8)](b, x, y);
    if (below(2))
        r = ac_lb_add(b, r, pick(g, d, lanes)); /* products that are added */
    if (!below(4) && ac_dtype_is_int(d))
        r = ac_lb_div(b, r, ac_lb_like_int(b, r, 3 + below(20)));
    keep(g, r);
    if (!below(16) && ac_dtype_is_int(d) && lanes == 1)
        guarded_mod(g, r, y);
}

static void random_value(gen *g)
{
    static const ac_dtype COMMON[] = {AC_I32, AC_I32, AC_F32, AC_F32, AC_I8, AC_I64, AC_U8, AC_F64, AC_U32};
    ac_lb *b = &g->b;
    int32_t lanes = LANES[below(6)];
    ac_dtype d = COMMON[below(9)];
    switch (below(14)) {
    case 0:
    case 1:
        keep(g, loaded(g, lanes));
        break;
    case 2:
        keep(g, ac_lb_cast(b, pick(g, 0, lanes), d));
        break;
    case 3:
        keep(g, ac_lb_satcast(b, pick(g, d, lanes), below(2) ? AC_I8 : AC_U8));
        break;
    case 4:
        keep(g, ac_lb_select(b, pick(g, AC_BOOL, below(2) ? 1 : lanes), pick(g, d, lanes), pick(g, d, lanes)));
        break;
    case 5:
        keep(g, below(2) ? ac_lb_lt(b, pick(g, d, lanes), pick(g, d, lanes))
                         : ac_lb_eq(b, pick(g, d, 1), pick(g, d, lanes)));
        break;
    case 6:
        keep(g, shuffled(g, d, lanes));
        break;
    case 7:
        keep(g, lane_or_splat(g, d, lanes));
        break;
    case 8:
        keep(g, below(2) ? ac_lb_sumlanes(b, pick(g, d, lanes)) : ac_lb_maxlanes(b, pick(g, d, lanes)));
        break;
    case 9:
        keep(g, dot(g, lanes));
        break;
    case 10:
        keep(g, fma_or_bits(g, lanes));
        break;
    case 11:
        if (g->vars.n)
            keep(g, ac_lb_get(b, g->vars.item[below(g->vars.n)]));
        break;
    default:
        arithmetic(g, d, lanes);
    }
}

static void random_statement(gen *g)
{
    ac_lb *b = &g->b;
    switch (below(6)) {
    case 0: {
        int32_t buf = I32_OUT + below(N_BUF - I32_OUT), lanes = below(2) ? 1 : 8;
        ac_lb_store(b, buf, index_for(g, lanes), pick(g, BUF_TYPE[buf], lanes));
        break;
    }
    case 1:
        ac_push(cx.region, &g->vars, ac_lb_var(b, "v", pick(g, 0, 0)));
        if (!below(4)) /* anywhere, and without effect */
            ac_lb_prefetch(b, below(N_BUF), pick(g, AC_I32, 1));
        break;
    default: {
        if (!g->vars.n)
            break;
        ac_x var = g->vars.item[below(g->vars.n)];
        ac_dtype d = ac_lb_dtype(b, var);
        int32_t lanes = ac_lb_lane_count(b, var);
        ac_x v = pick(g, d, lanes), old = ac_lb_get(b, var);
        bool adds = ac_dtype_is_int(d) || d == AC_F32 || d == AC_F64;
        if (adds && below(4)) { /* accumulate */
            v = ac_lb_add(b, old, below(2) ? v : ac_lb_mul(b, v, pick(g, d, lanes)));
        } else if (below(2)) { /* lanes change places */
            int64_t pattern[WIDE];
            for (int32_t l = 0; l < lanes; l++)
                pattern[l] = below(lanes);
            v = ac_lb_shuffle(b, old, 0, pattern, lanes);
        }
        if (!below(4))
            keep(g, old);
        if (!below(4))
            random_value(g); /* something between value and SET */
        if (!below(4))
            ac_lb_store(b, I32_OUT, ac_lb_i32(b, below(COUNT)),
                        ac_lb_cast(b, ac_lb_lane(b, old, below(lanes)), AC_I32));
        if (!below(8) && g->loops)
            ac_lb_break_if(b, pick(g, AC_BOOL, 1));
        ac_lb_set(b, var, v);
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
                ac_lb_break_if(&g->b, pick(g, AC_BOOL, 1));
            if (!below(200))
                ac_lb_fail_if(&g->b, pick(g, AC_BOOL, 1), 2 + below(3));
            continue;
        }
        if (what == 0) {
            ac_lb_if(&g->b, pick(g, AC_BOOL, 1));
            random_block(g, depth - 1);
            g->pool.n = pool;
            g->vars.n = vars;
            if (below(2)) {
                ac_lb_else(&g->b);
                random_block(g, depth - 1);
            }
        } else {
            static const char *const NAMES[] = {"oy", "ox", "ic", "int"};
            ac_mark mark = below(2) ? AC_MARK_UNROLL : AC_MARK_SERIAL;
            int64_t step = below(3) ? 1 : below(2) ? 2 : -1;
            int32_t lo = below(3), span = below(5);
            keep(g, ac_lb_for(&g->b, NAMES[below(4)], ac_lb_i32(&g->b, step < 0 ? lo + span : lo),
                              ac_lb_i32(&g->b, step < 0 ? lo : lo + span), step, mark));
            g->loops++;
            random_block(g, depth - 1);
            g->loops--;
        }
        g->pool.n = pool;
        g->vars.n = vars;
        ac_lb_end(&g->b);
    }
}

static ac_loop_fn *random_program(void)
{
    static const ac_role ROLE[] = {AC_BUF_IN,  AC_BUF_IN,  AC_BUF_IN,    AC_BUF_IN,   AC_BUF_CONST,
                                   AC_BUF_OUT, AC_BUF_OUT, AC_BUF_INOUT, AC_BUF_LOCAL};
    gen g = {.budget = 160};
    ac_lb *b = &g.b;
    ac_lb_open(b, cx.region, "random", "a \"note\"");
    for (int32_t i = 0; i < N_BUF; i++)
        ac_lb_buf(b, "b", BUF_TYPE[i], COUNT, ROLE[i], 16, i % 2 ? "note" : NULL);
    ac_x i = ac_lb_for_n(b, "fill", COUNT);
    ac_lb_store(b, I32_LOCAL, i, ac_lb_mul(b, i, i));
    ac_lb_end(b);
    random_block(&g, 4);
    for (int32_t k = 0; k < 12 && g.pool.n; k++) { /* values in scope at the end are observable */
        ac_x v = g.pool.item[below(g.pool.n)];
        ac_dtype d = ac_lb_dtype(b, v);
        bool is_float = ac_dtype_is_float(d);
        ac_lb_store(b, is_float ? F_OUT : I32_OUT, ac_lb_i32(b, below(COUNT - 16)),
                    ac_lb_cast(b, v, is_float ? AC_F32 : AC_I32));
    }
    return ac_lb_close(b);
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
    static const char *const WAY[] = {"reference",          "eval",    "read(dump)",      "scalar", "unrolled",
                                      "scalar of unrolled", "hoisted", "unrolled scalar", "halves"};
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
        way[6] = ac_loop_hoist(cx.region, cx.region, fn);
        way[7] = ac_loop_unroll(&cx, way[3]);
        way[8] = ac_loop_halves(&cx, fn);
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
    test_programs(programs, first);
    ac_ctx_close(&cx);
    return check_done();
}
