/* test_prove.c - the prover (prove/prove.h) on functions and plans written by hand: faults are found for the right
 * reason, and the same code without the fault is proven. */
#include "prove/prove.h"
#include "tests/unit/prove/planted.h"
#include "tests/unit/support/in_context.h"

#include <string.h>

static ac_ctx cx;

/* An argument: "x@64" a tensor at byte 64 of the arena, "=16" scratch, "#3" constant 3 of the case. */
typedef struct planted {
    const char *what;
    const char *body;   /* of a function, see text() */
    const char *places; /* of its arguments, one word each */
    ac_claim claim;     /* of the doubt that is wanted ... */
    const char *reason; /* ... and words of it; NULL: all is proven */
    bool wrong;
} planted;

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

/* Binds parameter `a` as the word says. Tensors that a function takes before anyone made them are inputs. */
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

static void expect(built *b, ac_claim claim, const char *reason, bool wrong)
{
    ac_verdict v;
    b->m.n_fn = b->m.n_calls;
    CHECK(ac_prove(&cx, &b->m, &v) == AC_OK);
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

static const planted CASES[] = {
    {"a copy", XY COPY("%5 = load i8 x[%4]\n store y[%4] %5"), APART, 0, NULL, false},
    {"a load one element too far", XY COPY("%5 = add i32 %4 %3\n %6 = load i8 x[%5]\n store y[%4] %6"), APART,
     AC_CLAIM_ACCESS, "reads elements 1 .. 64 of 'x', which has 0 .. 63", true},
    {"a store one element too early", XY COPY("%5 = sub i32 %4 %3\n %6 = load i8 x[%4]\n store y[%5] %6"), APART,
     AC_CLAIM_ACCESS, "writes elements -1 .. 62 of 'y'", true},
    {"a loop one iteration too long",
     XY "%1 = const i32 0\n %2 = const i32 65\n %3 = for i32 %1 .. %2 step 1\n %4 = load i8 x[%3]\n store y[%3] %4\n "
        "end\n",
     APART, AC_CLAIM_ACCESS, "reads elements 0 .. 64", true},
    {"lanes up to the end",
     XY "%1 = const i32 0\n %2 = const i32 64\n %3 = for i32 %1 .. %2 step 16\n %4 = load i8x16 x[%3]\n store y[%3] "
        "%4\n end\n",
     APART, 0, NULL, false},
    {"lanes beyond the end",
     XY "%1 = const i32 0\n %2 = const i32 64\n %3 = for i32 %1 .. %2 step 12\n %4 = load i8x12 x[%3]\n store y[%3] "
        "%4\n end\n",
     APART, AC_CLAIM_ACCESS, "reads elements 0 .. 71", true},
    {"a window inside its rows", WINDOW("65"), APART, 0, NULL, false},
    {"a window of one row too many", WINDOW("66"), APART, AC_CLAIM_ACCESS, "of 'x'", false},
    {"a window of one row that leaves out what is outside", OUTSIDE("68"), APART, 0, NULL, false},
    {"a window of one row that leaves out too little", OUTSIDE("69"), APART, AC_CLAIM_ACCESS, "of 'x'", false},
    {"rows that are moved inside", MOVED_INSIDE("2"), APART, 0, NULL, false},
    {"rows that are not moved far enough", MOVED_INSIDE("3"), APART, AC_CLAIM_ACCESS, "of 'x'", false},
    {"a ring", RING("8", "8"), APART " =256", 0, NULL, false},
    {"a ring that is read an iteration too early", RING("7", "8"), APART " =256", AC_CLAIM_ACCESS, "of 's'", false},
    {"a ring of which results are left out", RING("9", "8"), APART " =256", AC_CLAIM_WRITTEN, "result 'y'", false},
    {"a ring that ends as a longer one", RING("8", "16"), APART " =256", AC_CLAIM_WRITTEN, "'s' is read before", false},
    {"an index out of memory",
     "buf i in i32 64 align 4\n" XY NUMBERS
     "%4 = for i32 %1 .. %2 step 1\n %5 = load i32 i[%4]\n %6 = load i8 x[%5]\n store y[%4] %6\n end\n",
     "i@256 x@0 y@128", AC_CLAIM_ACCESS, "of 'x'", false},
    {"the same index, clamped",
     "buf i in i32 64 align 4\n" XY NUMBERS
     "%4 = const i32 63\n %5 = for i32 %1 .. %2 step 1\n %6 = load i32 i[%5]\n %7 = max i32 %6 %1\n"
     "%8 = min i32 %7 %4\n %9 = load i8 x[%8]\n store y[%5] %9\n end\n",
     "i@256 x@0 y@128", 0, NULL, false},
    {"a negative index that counts from the end",
     "buf i in i32 64 align 4\n" XY NUMBERS
     "%4 = const i32 63\n %5 = const i32 -64\n %6 = for i32 %1 .. %2 step 1\n %7 = load i32 i[%6]\n"
     "%8 = max i32 %7 %5\n %9 = min i32 %8 %4\n %10 = lt bool %9 %1\n %11 = add i32 %9 %2\n"
     "%12 = select i32 %10 %11 %9\n %13 = load i8 x[%12]\n store y[%6] %13\n end\n",
     "i@256 x@0 y@128", 0, NULL, false},
    {"an index checked by if",
     "buf i in i32 64 align 4\n" XY NUMBERS
     "%4 = for i32 %1 .. %2 step 1\n %5 = load i32 i[%4]\n %6 = le bool %1 %5\n %7 = lt bool %5 %2\n"
     "%8 = and bool %6 %7\n %9 = const i8 0\n %10 = var i8 %9 as v\n if %8\n %12 = load i8 x[%5]\n set %12 to %10\n"
     "end\n %15 = get i8 %10\n store y[%4] %15\n end\n",
     "i@256 x@0 y@128", 0, NULL, false},
    {"an index checked by if on one side",
     "buf i in i32 64 align 4\n" XY NUMBERS
     "%4 = for i32 %1 .. %2 step 1\n %5 = load i32 i[%4]\n %6 = lt bool %5 %2\n %7 = const i8 0\n"
     "%8 = var i8 %7 as v\n if %6\n %10 = load i8 x[%5]\n set %10 to %8\n end\n %13 = get i8 %8\n"
     "store y[%4] %13\n end\n",
     "i@256 x@0 y@128", AC_CLAIM_ACCESS, "of 'x'", false},
    {"a shift of 31", SHIFTED("31"), "x@0 y@256", 0, NULL, false},
    {"a shift of 32", SHIFTED("32"), "x@0 y@256", AC_CLAIM_SHIFT, "the count may be 32 .. 32, the type has 32 bits",
     true},
    {"shifts of a table", TABLE("0"), "#0 x@0 y@256", 0, NULL, false},
    {"shifts of a table, and one", TABLE("1"), "#0 x@0 y@256", AC_CLAIM_SHIFT, "the count may be 1 .. 32", false},
    {"bytes that are narrow", NARROW("k"), "#0 y@256", 0, NULL, false},
    {"bytes that are not", NARROW("wide"), "#0 y@256", AC_CLAIM_INTEGER, "element 7 is -65", true},
    {"shifts of a table of bytes", BYTE_TABLE("0"), "#0 x@0 y@256", 0, NULL, false},
    {"shifts of a table of bytes, and one", BYTE_TABLE("1"), "#0 x@0 y@256", AC_CLAIM_SHIFT, "the count may be 1 .. 32",
     false},
    {"a sum that fits", SUM("131071"), "x@0 y@128", 0, NULL, false},
    {"a sum that may not fit", SUM("131073"), "x@0 y@128", AC_CLAIM_INTEGER, "beyond i32", false},
    {"a division by what may be 0",
     "buf x in i32 64 align 4\n buf y out i32 64 align 4\n" NUMBERS
     "%4 = for i32 %1 .. %2 step 1\n %5 = load i32 x[%4]\n %6 = div i32 %2 %5\n store y[%4] %6\n end\n",
     "x@0 y@256", AC_CLAIM_INTEGER, "the divisor may be 0", false},
    {"a float that may not fit",
     "buf x in f32 64 align 4\n buf y out i32 64 align 4\n" NUMBERS
     "%4 = for i32 %1 .. %2 step 1\n %5 = load f32 x[%4]\n %6 = cast i32 %5\n store y[%4] %6\n end\n",
     "x@0 y@256", AC_CLAIM_INTEGER, "may not fit i32", false},
    {"a float that was clamped",
     "buf x in f32 64 align 4\n buf y out i32 64 align 4\n" NUMBERS
     "%4 = const f32 -128\n %5 = const f32 127\n %6 = for i32 %1 .. %2 step 1\n %7 = load f32 x[%6]\n"
     "%8 = max f32 %7 %4\n %9 = min f32 %8 %5\n %10 = cast i32 %9\n store y[%6] %10\n end\n",
     "x@0 y@256", 0, NULL, false},
    {"a counter that passes the end of its type",
     XY "%1 = const i32 0\n %2 = const i32 2147483647\n %3 = const i32 63\n %4 = for i32 %1 .. %2 step 2\n"
        "%5 = and i32 %4 %3\n %6 = load i8 x[%5]\n store y[%5] %6\n end\n",
     APART, AC_CLAIM_LOOP, "the counter may pass the end of i32", false},
    {"a result with a hole",
     XY "%1 = const i32 0\n %2 = const i32 64\n %3 = for i32 %1 .. %2 step 2\n %4 = load i8 x[%3]\n store y[%3] %4\n "
        "end\n",
     APART, AC_CLAIM_WRITTEN, "result 'y' is not certainly written", false},
    {"a result in two interleaved parts",
     XY NUMBERS "%4 = for i32 %1 .. %2 step 2\n %5 = load i8 x[%4]\n store y[%4] %5\n %7 = add i32 %4 %3\n"
                "store y[%7] %5\n end\n",
     APART, 0, NULL, false},
    {"a transposed result",
     XY "%1 = const i32 0\n %2 = const i32 8\n %3 = for i32 %1 .. %2 step 1\n %4 = for i32 %1 .. %2 step 1\n"
        "%5 = mul i32 %3 %2\n %6 = add i32 %5 %4\n %7 = mul i32 %4 %2\n %8 = add i32 %7 %3\n %9 = load i8 x[%6]\n"
        "store y[%8] %9\n end\n end\n",
     APART, 0, NULL, false},
    {"a result in pairs of rows", PAIRS("7"), APART, 0, NULL, false},
    {"a result in pairs of rows, without one", PAIRS("5"), APART, AC_CLAIM_WRITTEN, "result 'y'", false},
    {"scratch that is written first",
     XY "buf s scratch i8 64 align 1\n" COPY(
         "%5 = load i8 x[%4]\n store s[%4] %5") " %8 = for i32 %1 .. %2 step 1\n %9 = load i8 s[%8]\n store y[%8] %9\n "
                                                "end\n",
     APART " =256", 0, NULL, false},
    {"scratch of which an element is never written",
     XY "buf s scratch i8 64 align 1\n" NUMBERS
        "%4 = for i32 %3 .. %2 step 1\n %5 = load i8 x[%4]\n store s[%4] %5\n end\n"
        "%8 = for i32 %1 .. %2 step 1\n %9 = load i8 s[%8]\n store y[%8] %9\n end\n",
     APART " =256", AC_CLAIM_WRITTEN, "'s' is read before it is certainly written", false},
    {"in place, element by element", XY COPY("%5 = load i8 x[%4]\n store y[%4] %5"), "x@0! y@0!", 0, NULL, false},
    {"in place, an element that was overwritten before",
     XY NUMBERS "%4 = const i8 0\n store y[%1] %4\n %6 = for i32 %3 .. %2 step 1\n %7 = sub i32 %6 %3\n"
                "%8 = load i8 x[%7]\n store y[%6] %8\n end\n",
     "x@0! y@0!", AC_CLAIM_ORDER, "'x' may be read where 'y'", false},
    {"a result one element behind its operand", XY COPY("%5 = load i8 x[%4]\n store y[%4] %5"), "x@16! y@0!", 0, NULL,
     false},
    {"a result that runs before its operand", XY COPY("%5 = load i8 x[%4]\n store y[%4] %5"), "x@0! y@16!",
     AC_CLAIM_ORDER, "16 bytes on", false},
    {"restrict, and in place", XY COPY("%5 = load i8 x[%4]\n store y[%4] %5"), "x@0 y@0", AC_CLAIM_RESTRICT,
     "parameter 'x' is restrict and shares bytes with 'y'", true},
    {"restrict, and two buffers that overlap", XY COPY("%5 = load i8 x[%4]\n store y[%4] %5"), "x@0 y@63",
     AC_CLAIM_RESTRICT, "shares bytes", true},
    {"sums that fit, each with the weights of its channel", CHANNELS("450000"), "#3 x@0 y@128", 0, NULL, false},
    {"a sum of one channel that does not", CHANNELS("460000"), "#3 x@0 y@128", AC_CLAIM_INTEGER, "the result may be",
     false},
    {"sums that fit, stored and loaded again", STORED("%1", "%3"), "#3 x@0 y@128", 0, NULL, false},
    {"a sum that is stored elsewhere", STORED("%3", "%3"), "#3 x@0 y@128", AC_CLAIM_WRITTEN,
     "'acc' is read before it is certainly written", false},
    {"elements by threes", THREES("2"), APART, 0, NULL, false},
    {"elements by threes, the third is left out", THREES("3"), APART, AC_CLAIM_WRITTEN,
     "'y' is not certainly written as a whole", false},
    {"the next row and column, where there are both", NEXT_ROW("7"), APART, 0, NULL, false},
    {"the next row and column, where there is a row", NEXT_ROW("8"), APART, AC_CLAIM_ACCESS,
     "reads elements 9 .. 72 of 'x'", false},
    {"a transposed result whose rest comes row by row", WITH_REST("x2"), APART, 0, NULL, false},
    {"a transposed result whose rest is too narrow", WITH_REST(""), APART, AC_CLAIM_WRITTEN, "result 'y'", false},
    {"many blocks, of which the last one is another", LAST_BLOCK("20", "2"), APART, 0, NULL, false},
    {"many blocks, of which the last one is too short", LAST_BLOCK("20", "1"), APART, AC_CLAIM_WRITTEN, "result 'y'",
     false},
    {"many blocks, of which two are the last", LAST_BLOCK("19", "2"), APART, AC_CLAIM_WRITTEN, "result 'y'", false},
    {"downwards, the first by itself", DOWN("%1"), APART, 0, NULL, false},
    {"downwards, without the first", DOWN("%3"), APART, AC_CLAIM_WRITTEN, "result 'y'", false},
    {"in place, blocks of which one is cut", HALF_BLOCK("4"), "x@0! y@0!", 0, NULL, false},
    {"in place, blocks of which one goes on in the next row", HALF_BLOCK("8"), "x@0! y@0!", AC_CLAIM_ORDER,
     "'x' may be read where 'y'", false},
    {"rows by fours, the last four begin earlier", LAST_EARLIER("5"), APART, 0, NULL, false},
    {"rows by fours, the last four begin too early", LAST_EARLIER("4"), APART, AC_CLAIM_WRITTEN, "result 'y'", false},
    {"vectors of a row, the last one begins earlier", LAST_OVERLAPS("10"), APART, 0, NULL, false},
    {"vectors of a row, the last one begins too early", LAST_OVERLAPS("9"), APART, AC_CLAIM_WRITTEN, "result 'y'",
     false},
    {"panels, the last is shorter", PANELS("5"), APART, 0, NULL, false},
    {"panels, the last is too short", PANELS("4"), APART, AC_CLAIM_WRITTEN, "result 'y'", false},
    {"long panels, the last is shorter", LONG_PANELS("129"), "x@0 y@2048", 0, NULL, false},
    {"long panels, the last is too short", LONG_PANELS("128"), "x@0 y@2048", AC_CLAIM_WRITTEN, "result 'y'", false},
    {"the image and the place of a pixel, of one image", OF_IMAGES("64"), APART, 0, NULL, false},
    {"the image and the place of a pixel, which is of the next", OF_IMAGES("63"), APART, AC_CLAIM_ACCESS,
     "reads elements 0 ..", false},
    {"a number with the sign of another", SIGNED("2147483134"), "x@0 y@256", 0, NULL, false},
    {"a number with the sign of another, and one", SIGNED("2147483135"), "x@0 y@256", AC_CLAIM_INTEGER,
     "the result may be", false},
    {"in place, pixel by pixel of some channels", BY_CHANNELS("0"), "x@0! y@0!", 0, NULL, false},
    {"in place, of other channels", BY_CHANNELS("4"), "x@0! y@0!", AC_CLAIM_ORDER, "'x' may be read where 'y'", false},
    {"in place, tiles in eleven loops", TILES("16"), "x@0! y@0!", 0, NULL, false},
    {"in place, tiles of which some meet", TILES("14"), "x@0! y@0!", AC_CLAIM_ORDER, "'x' may be read where 'y'",
     false},
    {"a stripe of two steps", STRIPE("12", "2"), APART " =256", 0, NULL, false},
    {"a stripe that stops too early", STRIPE("11", "2"), APART " =256", AC_CLAIM_WRITTEN, "result 'y'", false},
    {"a stripe that reads a row too many", STRIPE("13", "2"), APART " =256", AC_CLAIM_ACCESS,
     "reads elements 64 .. 71 of 'x'", true},
    {"a stripe that keeps a row too many", STRIPE("12", "3"), APART " =256", AC_CLAIM_ACCESS,
     "writes elements 16 .. 23 of 's'", true},
    {"a stripe of as many rows as a constant says", STRIPE_OF_TABLE("7"), "#0 x@0 y@128 =256", 0, NULL, false},
    {"a stripe of fewer rows, as a constant says", STRIPE_OF_TABLE("5"), "#0 x@0 y@128 =256", AC_CLAIM_ACCESS,
     "reads elements 64 .. 71 of 'x'", true},
    {"in place, many rows in turn", ROWS_IN_TURN, "x@0! y@0!", 0, NULL, false},
    {"in place, many rows in turn, one element on", ROWS_IN_TURN, "x@0! y@1!", AC_CLAIM_ORDER,
     "'x' may be read where 'y'", false},
    {"in place, rows that are doubled, the last one first", DOUBLED(DOWNWARDS, "1"), "x@0! y@0!", 0, NULL, false},
    {"in place, rows that are doubled one element too early", DOUBLED(DOWNWARDS, "1"), "x@1! y@0!", AC_CLAIM_ORDER,
     "'x' may be read where 'y'", false},
    {"in place, rows that are doubled and rounded up", DOUBLED(DOWNWARDS, "2"), "x@0! y@0!", AC_CLAIM_ORDER,
     "'x' may be read where 'y'", false},
    {"rows that are doubled, the first one first", DOUBLED(UPWARDS, "0"), "x@0! y@8!", AC_CLAIM_ORDER,
     "'x' may be read where 'y'", false},
    {"in place, mirrored at the end, the last one first", MIRRORED("110"), "x@0! y@0!", 0, NULL, false},
    {"in place, mirrored four elements too late", MIRRORED("118"), "x@0! y@0!", AC_CLAIM_ORDER,
     "'x' may be read where 'y'", false},
    {"a sum beside what wraps", WRAPS_ELSEWHERE("2000"), "x@0 y@256", 0, NULL, false},
    {"a sum beside what wraps, times more", WRAPS_ELSEWHERE("2100"), "x@0 y@256", AC_CLAIM_INTEGER, "the result may be",
     false},
    {"the largest of one element", LARGEST_OF_ONE("%5"), APART, 0, NULL, false},
    {"the largest of another element", LARGEST_OF_ONE("%7"), APART, AC_CLAIM_ACCESS, "reads elements", false},
    {"pixels in blocks, the last one first", IN_BLOCKS("7"), APART, 0, NULL, false},
    {"pixels in blocks, but the last row", IN_BLOCKS("6"), APART, AC_CLAIM_WRITTEN, "result 'y'", false},
    {"in place, pixels in blocks", IN_BLOCKS("7"), "x@0! y@33!", 0, NULL, false},
    {"in place, pixels in blocks one element too early", IN_BLOCKS("7"), "x@0! y@32!", AC_CLAIM_ORDER,
     "'x' may be read where 'y'", false},
    {"sums in memory", SUMMED("262143", "%9"), "x@0 y@128 =256", 0, NULL, false},
    {"sums in memory of too many", SUMMED("262145", "%9"), "x@0 y@128 =256", AC_CLAIM_INTEGER, "the result may be",
     false},
    {"a number in memory that is doubled", SUMMED("262143", "%10"), "x@0 y@128 =256", AC_CLAIM_INTEGER,
     "the result may be", false},
    {"a list that is left when it is full", LIST("64"), APART, 0, NULL, false},
    {"a list that is left one element too late", LIST("65"), APART, AC_CLAIM_ACCESS, "writes elements 0 .. 64 of 'y'",
     false},
    {"indices of which none is below 0", INDICES("0"), "i@0 x@128 y@256 =512", 0, NULL, false},
    {"indices of which one may be below 0", INDICES("-1"), "i@0 x@128 y@256 =512", AC_CLAIM_ACCESS,
     "reads elements -1 .. 127 of 'x'", false},
    {"rows of a copy, as many as there are", COPIED_ROWS("7"), APART " =256", 0, NULL, false},
    {"rows of a copy, one too few", COPIED_ROWS("3"), APART " =256", AC_CLAIM_WRITTEN,
     "'s' is read before it is certainly written", false},
    {"a window that is filled where it is cut", CUT_WINDOW("64"), APART " =256", 0, NULL, false},
    {"a window that is filled at one end only", CUT_WINDOW("66"), APART " =256", AC_CLAIM_WRITTEN,
     "'s' is read before it is certainly written", false},
    {"what is filled unless a loop's variable is where it never is", ALWAYS_CUT("15"), APART " =256", 0, NULL, false},
    {"what is filled unless a loop's variable is where it once is", ALWAYS_CUT("16"), APART " =256", AC_CLAIM_WRITTEN,
     "'s' is read before", false},
    {"an argument beyond the arena", XY COPY("%5 = load i8 x[%4]\n store y[%4] %5"), "x@0 y@4033", AC_CLAIM_ACCESS,
     "argument 'y' takes bytes 4033 .. 4096 of a memory of 4096", true},
};

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

/* A step of several operators may make what it takes and gives back; one of a single operator has to find it. */
static void test_own(void)
{
    static const char *const BODY = "buf x inout i8 64 align 1\n" BUF_Y COPY("%5 = load i8 x[%4]\n store y[%4] %5");
    ac_node node = {0};
    for (int own = 0; own < 2; own++) {
        built *b = open_module();
        now = own ? "a tensor that its step makes" : "state that nobody made";
        call(b, BODY, "a@0 b@64");
        b->tensor[0]->def = own ? &node : NULL;
        expect(b, AC_CLAIM_WRITTEN, "byte 0 of 'a' is read at 0x0, but nothing has been written there", !own);
    }
}

/* A product that fits because of what steps before have left in its operand; `more` may write there, too. */
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
}

int main(void)
{
    return in_context(&cx, tests);
}
