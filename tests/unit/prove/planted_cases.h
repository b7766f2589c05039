/* planted_cases.h - functions of one step, right ones and those with a planted fault, and what the prover must say. */
#ifndef AC_TESTS_UNIT_PROVE_PLANTED_CASES_H
#define AC_TESTS_UNIT_PROVE_PLANTED_CASES_H
#include "prove/prove.h"
#include "tests/unit/prove/planted.h"
#include "tests/unit/prove/planted_threads.h"

/* An argument: "x@64" a tensor at byte 64 of the arena, "=16" scratch, "#3" constant 3 of the case. */
typedef struct planted {
    const char *what;
    const char *body;   /* of a function, see text() */
    const char *places; /* of its arguments, one word each */
    ac_claim claim;     /* of the doubt that is wanted ... */
    const char *reason; /* ... and words of it; NULL: all is proven */
    bool wrong;
} planted;

/* 64 / %by of each x, after more, which ends before number %n; q is the one after n. */
#define DIVIDED(type, more, by, n, q)                                                               \
    "buf x in " type " 64 align 8\n buf y out " type " 64 align 8\n" NUMBERS                        \
    "%4 = for i32 %1 .. %2 step 1\n %5 = load " type " x[%4]\n" more "%" n " = const " type " 64\n" \
    "%" q " = div " type " %" n " %" by "\n store y[%4] %" q "\n end\n"
/* %10: %5, or %than where %of is 0; %6 is 0, %7 1, %8 the first x. */
#define UNLESS_0(of, than)                                                                  \
    "%6 = const i64 0\n %7 = const i64 1\n %8 = load i64 x[%1]\n %9 = eq bool %" of " %6\n" \
    "%10 = select i64 %9 %" than " %5\n"

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
    {"a division by what may be 0", DIVIDED("i32", "", "5", "6", "7"), "x@0 y@256", AC_CLAIM_INTEGER,
     "the divisor may be 0", false},
    {"a division by what is 1 where it would be 0", DIVIDED("i64", UNLESS_0("5", "7"), "10", "11", "12"), "x@0 y@512",
     0, NULL, false},
    {"a division by what is 0 where it would be 0", DIVIDED("i64", UNLESS_0("5", "6"), "10", "11", "12"), "x@0 y@512",
     AC_CLAIM_INTEGER, "the divisor may be 0", false},
    {"a division by what is 1 where another one is 0", DIVIDED("i64", UNLESS_0("8", "7"), "10", "11", "12"),
     "x@0 y@512", AC_CLAIM_INTEGER, "the divisor may be 0", false},
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
    {"a result that begins 16 bytes before its operand", XY COPY("%5 = load i8 x[%4]\n store y[%4] %5"), "x@16! y@0!",
     0, NULL, false},
    {"a result that begins 16 bytes after its operand", XY COPY("%5 = load i8 x[%4]\n store y[%4] %5"), "x@0! y@16!",
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
    {"the largest of copies", LARGEST_OF_COPIES(NOTHING, NOTHING, NOTHING), APART " =256", 0, NULL, false},
    {"the largest of copies that are replaced while it is looked for",
     LARGEST_OF_COPIES("store s[%15] %13\n", NOTHING, NOTHING), APART " =256", AC_CLAIM_ACCESS,
     "reads elements -255 .. 63 of 'x'", false},
    {"the largest of copies of which one has changed", LARGEST_OF_COPIES(NOTHING, "store s[%3] %24\n", NOTHING),
     APART " =256", AC_CLAIM_ACCESS, "reads elements -255 .. 63 of 'x'", false},
    {"the largest of copies that change meanwhile", LARGEST_OF_COPIES(NOTHING, NOTHING, "store s[%1] %24\n"),
     APART " =256", AC_CLAIM_ACCESS, "reads elements -255 .. 63 of 'x'", false},
    {"the largest of copies that are replaced one by one", LARGEST_OF_COPIES(NOTHING, NOTHING, "store s[%26] %33\n"),
     APART " =256", 0, NULL, false},
    {"the largest of copies of which the next is replaced", LARGEST_OF_COPIES(NOTHING, NOTHING, "store s[%32] %33\n"),
     APART " =256", AC_CLAIM_ACCESS, "reads elements -255 .. 63 of 'x'", false},
    {"the largest of another element", LARGEST_OF_ONE("%7"), APART, AC_CLAIM_ACCESS, "reads elements", false},
    {"a tensor that is made, then read", MADE_HERE("x", "s", "s", "y"), "x@0 y@128 s@256", 0, NULL, false},
    {"a tensor that is read, then made", MADE_HERE("s", "y", "x", "s"), "x@0 y@128 s@256", AC_CLAIM_WRITTEN,
     "'s' is read before it is certainly written", false},
    {"a tensor that is read where another one was made", MADE_HERE("x", "y", "s", "y"), "x@0 y@128 s@256",
     AC_CLAIM_WRITTEN, "result 's' is not certainly written", false},
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
    {"rows that threads keep", KEPT("some", "15"), APART, 0, NULL, false},
    {"rows that threads keep, one too many", KEPT("some", "16"), APART, AC_CLAIM_ACCESS, "of 'x'", true},
    {"rows that threads keep, and another loop stores to", KEPT("base", "15"), APART, AC_CLAIM_ACCESS, "of 'x'", false},
    {"what threads keep of two elements", TWO_KEPT("16"), APART, 0, NULL, false},
    {"what threads keep of two elements that are one", TWO_KEPT("1"), APART, AC_CLAIM_ACCESS, "of 'x'", false},
    {"rows and columns moved where they are inside", MOVED("4", MOVED_IF), APART, 0, NULL, false},
    {"rows and columns moved, a row too many", MOVED("5", MOVED_IF), APART, AC_CLAIM_ACCESS, "of 'x'", false},
    {"rows and columns moved, or the first", MOVED("4", MOVED_SELECT), APART, 0, NULL, false},
    {"rows and columns moved, or the first, a row too many", MOVED("5", MOVED_SELECT), APART, AC_CLAIM_ACCESS, "of 'x'",
     false},
    {"blocks of threads in place", DIGITS("%16"), "x@0! y@0!", 0, NULL, false},
    {"blocks of threads in place, each with its neighbour", DIGITS("%19"), "x@0! y@0!", AC_CLAIM_ORDER,
     "'x' may be read where 'y'", false},
    {"four elements of each thread", FOUR("48"), APART " =256", 0, NULL, false},
    {"four elements of each thread, the last ones elsewhere", FOUR("40"), APART " =256", AC_CLAIM_WRITTEN,
     "'s' is read before", false},
    {"elements in turn", IN_TURN("64"), APART " =256", 0, NULL, false},
    {"elements in turn, without the last", IN_TURN("63"), APART " =256", AC_CLAIM_WRITTEN, "'s' is read before", false},
    {"a product of a warp", WARP("6", "128", " block"), "x@0 y@256", 0, NULL, false},
    {"a product of a warp, in no block of threads", WARP("6", "128", ""), "x@0 y@256", AC_CLAIM_ACCESS,
     "not in a block of threads", false},
    {"a product of a warp, words beyond its array", WARP("6", "160", " block"), "x@0 y@256", AC_CLAIM_ACCESS,
     "of 'words'", true},
    {"a product of a warp, words that are not written", WARP("5", "128", " block"), "x@0 y@256", AC_CLAIM_WRITTEN,
     "'words' is read before", false},
    {"an argument beyond the arena", XY COPY("%5 = load i8 x[%4]\n store y[%4] %5"), "x@0 y@4033", AC_CLAIM_ACCESS,
     "argument 'y' takes bytes 4033 .. 4096 of a memory of 4096", true},
};

#endif
