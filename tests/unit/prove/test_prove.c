/* test_prove.c - the prover (prove/prove.h) on functions and plans written by hand: faults are found for the right
 * reason, and the same code without the fault is proven. */
#include "tests/unit/prove/planted_cases.h"
#include "tests/unit/support/in_context.h"

#include <string.h>

static ac_ctx cx;

static ac_tensor *tensor(const char *name, ac_dtype d, int64_t n)
{
    ac_tensor *t = AC_NEW(cx.region, ac_tensor);
    *t = (ac_tensor){.name = name, .dtype = d, .rank = 1, .dim = {n}};
    return t;
}

static ac_loop_fn *read_fn(const char *body)
{
    ac_loop_fn *fn = NULL;
    const char *text = ac_strf(cx.region, "fn f\n%s", body);
    if (ac_loop_read(&cx, now, text, strlen(text), &fn) != AC_OK)
        FAILED("the function can be read");
    return fn;
}

static ac_const *constant(const ac_buf *b)
{
    static const int32_t SHIFTS[8] = {0, 1, 5, 31, 7, 2, 3, 4};
    static const int8_t BYTES[8] = {0, 1, 5, 31, 7, 2, 3, 4};
    static const int8_t WIDE[8] = {64, -64, 0, 0, 0, 0, 0, -65};
    const bool bytes = b->dtype == AC_I8;
    ac_const *k = AC_NEW(cx.region, ac_const);
    *k = (ac_const){.name = b->name,
                    .dtype = bytes ? AC_I8 : AC_I32,
                    .count = 8,
                    .align = 16,
                    .data = !strcmp(b->name, "wide") ? (const void *)WIDE
                            : bytes                  ? (const void *)BYTES
                                                     : SHIFTS};
    return k;
}

enum { ARENA = 4096, MOST = 12 };

/* A module that calls functions one after the other; tensors of one name are one. */
typedef struct built {
    ac_module m;
    ac_call call[4];
    const ac_loop_fn *fn[4];
    ac_const *konst[MOST];
    ac_module_ram ram;
    ac_io input[MOST], output[MOST];
    ac_tensor *tensor[MOST];
    int32_t n_tensors;
} built;

static ac_tensor *tensor_of(built *b, const char *name, const ac_buf *buf)
{
    for (int32_t i = 0; i < b->n_tensors; i++)
        if (!strcmp(b->tensor[i]->name, name))
            return b->tensor[i];
    return b->tensor[b->n_tensors++] = tensor(name, buf->dtype, buf->count);
}

static ac_node MAKER;

/* Binds parameter `a` as its word requires. Tensors that a function reads before they are produced are inputs. */
static void bind(built *b, ac_call *c, ac_lowered *low, int32_t a, const char *word)
{
    const ac_buf *buf = &low->fn->buf.item[a];
    ac_bound_arg *arg = (ac_bound_arg *)(uintptr_t)&c->arg[a];
    char name[32];
    int offset = 0;
    ac_arg x = {.kind = AC_ARG_CONST};
    if (sscanf(word, "=%d", &offset) == 1) {
        *arg = (ac_bound_arg){.space = AC_SPACE_ARENA, .offset = offset};
        x = (ac_arg){.kind = AC_ARG_SCRATCH, .bytes = ac_dtype_size(buf->dtype, buf->count)};
    } else if (word[0] == '#') {
        *arg = (ac_bound_arg){.space = AC_SPACE_CONST, .offset = b->m.n_konst};
        b->konst[b->m.n_konst++] = constant(buf);
    } else if (sscanf(word, "%31[^@]@%d", name, &offset) == 2) {
        const int32_t known = b->n_tensors;
        *arg = (ac_bound_arg){.space = AC_SPACE_ARENA, .offset = offset, .shares = strchr(word, '!') != NULL};
        x = (ac_arg){.kind = AC_ARG_TENSOR, .tensor = tensor_of(b, ac_strdup(cx.region, name), buf)};
        if (buf->role == AC_BUF_INOUT)
            x.tensor->def = &MAKER;
        if (b->n_tensors > known && buf->role == AC_BUF_IN)
            b->input[b->m.n_inputs++] = (ac_io){
                .tensor = x.tensor, .space = AC_SPACE_ARENA, .offset = offset, .bytes = ac_tensor_bytes(x.tensor)};
    }
    ac_push(cx.region, &low->arg, x);
}

static void call(built *b, const char *body, const char *places)
{
    ac_call *c = &b->call[b->m.n_calls];
    ac_lowered *low = AC_NEW(cx.region, ac_lowered);
    char words[200], *save = NULL;
    low->fn = read_fn(body);
    c->arg = AC_NEW_N(cx.region, ac_bound_arg, low->fn->buf.n + 1);
    snprintf(words, sizeof words, "%s", places);
    for (char *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
        bind(b, c, low, c->n_arg++, w);
    c->low = low;
    c->op = c->name = "STEP";
    c->fn = b->m.n_calls;
    b->fn[b->m.n_calls++] = low->fn;
}

static built *open_module(void)
{
    built *b = AC_NEW(cx.region, built);
    b->ram = (ac_module_ram){.name = "arena", .bytes = ARENA, .align = 16};
    b->m = (ac_module){.cx = &cx,
                       .name = "m",
                       .source = "m.ag",
                       .fn = b->fn,
                       .call = b->call,
                       .konst = b->konst,
                       .input = b->input,
                       .output = b->output,
                       .ram = &b->ram,
                       .n_ram = 1,
                       .arena_bytes = ARENA};
    return b;
}

/* ------------------------------------------------------------------ strategies */

static const struct {
    const char *name, *needed_by;
} STRATEGIES[] = {
#define STRATEGY(id, name, point, applies, function, file, needed_by, proves) {name, needed_by},
#include "prove/strategies.def"
#undef STRATEGY
};
enum { N_STRATEGIES = sizeof STRATEGIES / sizeof *STRATEGIES };

static bool named[N_STRATEGIES];

/* Notes the strategies without which something of the module is not proven. */
static void note_needs(const built *b)
{
    for (int32_t s = 0; s < N_STRATEGIES; s++) {
        bool without[N_STRATEGIES] = {false};
        ac_verdict v;
        without[s] = true;
        CHECK(ac_prove(&cx, &b->m, without, &v) == AC_OK);
        if (!v.doubt.n)
            continue;
        if (!strcmp(now, STRATEGIES[s].needed_by))
            named[s] = true;
        if (getenv("NEEDS")) /* to see all */
            printf("%s: %s\n", STRATEGIES[s].name, now);
    }
}

/* The case that a row names needs its strategy; scripts/prove_needs.py checks rows that name a model. */
static void test_needs(void)
{
    for (int32_t s = 0; s < N_STRATEGIES; s++)
        if (!strchr(STRATEGIES[s].needed_by, '/') && !named[s])
            FAILED(ac_strf(cx.region, "'%s' needs the strategy %s", STRATEGIES[s].needed_by, STRATEGIES[s].name));
}

static void expect(built *b, ac_claim claim, const char *reason, bool wrong)
{
    ac_verdict v;
    b->m.n_fn = b->m.n_calls;
    CHECK(ac_prove(&cx, &b->m, NULL, &v) == AC_OK);
    if (!reason && !v.doubt.n)
        note_needs(b);
    bool found = !reason;
    for (int32_t i = 0; i < v.doubt.n; i++) {
        const ac_doubt *d = &v.doubt.item[i];
        if (!reason)
            FAILED(ac_strf(cx.region, "%%%d: %s: %s", d->ins, ac_claim_text[d->claim], d->reason));
        else if (d->claim == claim && strstr(d->reason, reason) && d->wrong == wrong)
            found = true;
    }
    if (!found) {
        for (int32_t i = 0; i < v.doubt.n; i++)
            fprintf(stderr, "  %%%d: %s%s: %s\n", v.doubt.item[i].ins, v.doubt.item[i].wrong ? "WRONG " : "",
                    ac_claim_text[v.doubt.item[i].claim], v.doubt.item[i].reason);
        FAILED(ac_strf(cx.region, "a doubt about %s with '%s'", ac_claim_text[claim], reason));
    }
}

/* ------------------------------------------------------------------ one function */

static void test_cases(void)
{
    for (size_t i = 0; i < sizeof CASES / sizeof *CASES; i++) {
        built *b = open_module();
        now = CASES[i].what;
        call(b, CASES[i].body, CASES[i].places);
        expect(b, CASES[i].claim, CASES[i].reason, CASES[i].wrong);
    }
}

/* ------------------------------------------------------------------ plans */

#define STEP XY COPY("%5 = load i8 x[%4]\n store y[%4] %5")

static void test_plan(const char *what, const char *first, const char *second, const char *third, const char *reason)
{
    built *b = open_module();
    now = what;
    call(b, STEP, first);
    call(b, STEP, second);
    call(b, STEP, third);
    expect(b, AC_CLAIM_WRITTEN, reason, true);
}

static void test_plans(void)
{
    test_plan("three steps", "a@0 b@64", "b@64 c@128", "c@128 d@0", NULL);
    test_plan("a tensor is read elsewhere", "a@0 b@64", "b@65 c@192", "c@192 d@0",
              "byte 0 of 'b' is read at 0x41, but it lies 0x1 bytes lower");
    test_plan("a tensor is read after its end", "a@0 b@64", "b@64 c@96!", "b@64 d@256",
              "byte 32 of 'b' is read at 0x60, but step 1 has written 'c' there");
    test_plan("an input is read after it was overwritten", "a@0 b@64", "b@64 c@0", "a@0 d@128",
              "byte 0 of 'a' is read at 0x0, but step 1 has written 'c' there");
    built *b = open_module();
    now = "a result that nobody made";
    call(b, STEP, "a@0 b@64");
    b->output[b->m.n_outputs++] =
        (ac_io){.tensor = tensor("z", AC_I8, 8), .space = AC_SPACE_ARENA, .offset = 512, .bytes = 8};
    expect(b, AC_CLAIM_WRITTEN, "byte 0 of 'z' is read at 0x200, but nothing has been written there", true);
}

/* Results of an operator of the step must be produced before they are read; other operands must already exist. */
static void test_own(void)
{
    static const char *const BODY = "buf x inout i8 64 align 1\n" BUF_Y COPY("%5 = load i8 x[%4]\n store y[%4] %5");
    for (int own = 0; own < 2; own++) {
        built *b = open_module();
        now = own ? "a tensor that its step makes" : "state that nobody made";
        call(b, BODY, "a@0 b@64");
        b->tensor[0]->def = own ? &MAKER : NULL;
        expect(b, AC_CLAIM_WRITTEN,
               own ? "'x' is read before it is certainly written"
                   : "byte 0 of 'a' is read at 0x0, but nothing has been written there",
               !own);
    }
}

/* A product that fits because of the values that previous steps have stored in its operand; `more` may also write
 * there. */
#define CLAMPED(hi)                                                                                             \
    XY NUMBERS "%4 = const i8 0\n %5 = const i8 " hi                                                            \
               "\n %6 = for i32 %1 .. %2 step 1\n %7 = load i8 x[%6]\n %8 = max i8 %7 %4\n %9 = min i8 %8 %5\n" \
               "store y[%6] %9\n end\n"
#define SCALED                                                                                                \
    BUF_X "buf y out i32 64 align 4\n" NUMBERS                                                                \
          "%4 = const i32 400000000\n %5 = for i32 %1 .. %2 step 1\n %6 = load i8 x[%5]\n %7 = cast i32 %6\n" \
          "%8 = mul i32 %7 %4\n store y[%5] %8\n end\n"

static void test_given(const char *what, const char *first, const char *more, const char *operand, bool fits)
{
    built *b = open_module();
    now = what;
    call(b, first, "a@0 b@64");
    if (more)
        call(b, more, "a@0 b@64");
    call(b, SCALED, operand);
    expect(b, AC_CLAIM_INTEGER, fits ? NULL : "the result may be", false);
}

static void test_between(void)
{
    test_given("a product of what was clamped", CLAMPED("5"), NULL, "b@64 c@256", true);
    test_given("a product of what was clamped, and one", CLAMPED("6"), NULL, "b@64 c@256", false);
    test_given("a product of what was clamped twice", CLAMPED("5"), CLAMPED("4"), "b@64 c@256", true);
    test_given("a product of what was written again", CLAMPED("5"), STEP, "b@64 c@256", false);
    test_given("a product of an input", CLAMPED("5"), NULL, "a@0 c@256", false);
}

/* A step that is called for each row, and keeps a counter and a window. */
static void test_rows(const char *what, const char *body, ac_claim claim, const char *reason, bool wrong)
{
    built *b = open_module();
    now = what;
    call(b, body, "part =256 =260 y@0");
    ac_lowered *low = (ac_lowered *)(uintptr_t)b->call[0].low;
    *(ac_bound_arg *)(uintptr_t)&b->call[0].arg[0] = (ac_bound_arg){.space = AC_SPACE_CHUNK};
    low->rows = 8;
    low->streamed_arg = 2;
    low->row_bytes = 8;
    expect(b, claim, reason, wrong);
}

static void test_kept(void)
{
    test_rows("a counter of rows", ROWS("1", "%1"), 0, NULL, false);
    test_rows("a counter that leaves rows out", ROWS("2", "%1"), AC_CLAIM_ACCESS, "writes elements 64 .. 71 of 'y'",
              true);
    test_rows("a counter that stands still", ROWS("0", "%1"), AC_CLAIM_WRITTEN, "result 'y'", false);
    test_rows("a counter that nobody clears", ROWS("1", "%2"), AC_CLAIM_WRITTEN, "'state' is read before", false);
}

static void tests(ac_ctx *c)
{
    (void)c;
    test_between();
    test_cases();
    test_plans();
    test_own();
    test_kept();
    test_needs();
}

int main(void)
{
    return in_context(&cx, tests);
}
