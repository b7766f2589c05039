/* planted_threads.h - functions for test_prove.c as they are written for GPUs: threads that keep arrays of their own,
 * places that are taken apart into digits, conditions about rows and columns together. */
#ifndef AC_TESTS_UNIT_PROVE_PLANTED_THREADS_H
#define AC_TESTS_UNIT_PROVE_PLANTED_THREADS_H
#include "tests/unit/prove/planted.h"

/* base[t] = 4 t, row[t] = t; after a loop that fills `other`, row `base[t] + 4` of x where row[t] < rows. */
#define KEPT(other, rows)                                                                                       \
    XY "buf base local i32 16 align 4\n buf row local i32 16 align 4\n buf some local i32 16 align 4\n"         \
       "%1 = const i32 0\n %2 = const i32 16\n %3 = const i32 4\n %4 = const i32 " rows                         \
       "\n %5 = for i32 %1 .. %2 step 1\n %6 = mul i32 %5 %3\n store base[%5] %6\n store row[%5] %5\n end\n"    \
       "%10 = for i32 %1 .. %2 step 1\n store " other "[%10] %2\n end\n %13 = for i32 %1 .. %2 step 1\n"        \
       "%14 = load i32 base[%13]\n %15 = load i32 row[%13]\n %16 = lt bool %15 %4\n %17 = mul i32 %13 %3\n"     \
       "%18 = for i32 %1 .. %3 step 1\n %19 = add i32 %17 %18\n %20 = add i32 %14 %3\n %21 = add i32 %20 %18\n" \
       "if %16\n %23 = load i8 x[%21]\n store y[%19] %23\n else\n %26 = const i8 0\n store y[%19] %26\n"        \
       "end\n end\n end\n"

/* base[t] = 4 t and base[t + apart] = 4 t + 64 - 4 * 16: the first of 16 threads' two elements; x from there on. */
#define TWO_KEPT(apart)                                                                                            \
    XY "buf base local i32 48 align 4\n %1 = const i32 0\n %2 = const i32 16\n %3 = const i32 4\n"                 \
       "%4 = const i32 " apart "\n %5 = for i32 %1 .. %2 step 1\n %6 = mul i32 %5 %3\n store base[%5] %6\n"        \
       "%8 = add i32 %5 %4\n %9 = sub i32 %6 %3\n store base[%8] %9\n end\n %12 = for i32 %1 .. %2 step 1\n"       \
       "%13 = load i32 base[%12]\n %14 = for i32 %1 .. %3 step 1\n %15 = add i32 %13 %14\n %16 = mul i32 %12 %3\n" \
       "%17 = sub i32 %15 %16\n %18 = add i32 %16 %17\n %19 = load i8 x[%18]\n %20 = add i32 %16 %14\n"            \
       "store y[%20] %19\n end\n end\n"

/* Row, column and channel of an image of 4 x 4 x 4, each moved by one, where they are inside. */
#define MOVED(rows, rest)                                                                                  \
    XY "%1 = const i32 0\n %2 = const i32 64\n %3 = const i32 4\n %4 = const i32 1\n %5 = const i32 " rows \
       "\n %6 = for i32 %1 .. %2 step 1\n %7 = div i32 %6 %3\n %8 = mod i32 %6 %3\n %9 = div i32 %7 %3\n"  \
       "%10 = mod i32 %7 %3\n %11 = add i32 %9 %4\n %12 = add i32 %10 %4\n %13 = lt bool %11 %5\n"         \
       "%14 = lt bool %12 %3\n %15 = and bool %13 %14\n %16 = mul i32 %11 %3\n %17 = add i32 %16 %12\n"    \
       "%18 = mul i32 %17 %3\n %19 = add i32 %18 %8\n" rest "end\n"
#define MOVED_IF                                                                  \
    "if %15\n %21 = load i8 x[%19]\n store y[%6] %21\n else\n %24 = const i8 0\n" \
    "store y[%6] %24\n end\n"
#define MOVED_SELECT "%20 = select i32 %15 %19 %1\n %21 = load i8 x[%20]\n store y[%6] %21\n"

/* A block of 2 x 2 places for each of 16 threads: 16 (t / 4) + 8 i + 2 (t % 4) + j, %16; with the other j, %19. */
#define DIGITS(read)                                                                                         \
    XY "%1 = const i32 0\n %2 = const i32 16\n %3 = const i32 4\n %4 = const i32 2\n %5 = const i32 8\n"     \
       "%6 = for i32 %1 .. %2 step 1\n %7 = div i32 %6 %3\n %8 = mod i32 %6 %3\n %9 = mul i32 %7 %2\n"       \
       "%10 = mul i32 %8 %4\n %11 = add i32 %9 %10\n %12 = for i32 %1 .. %4 step 1\n %13 = mul i32 %12 %5\n" \
       "%14 = add i32 %11 %13\n %15 = for i32 %1 .. %4 step 1\n %16 = add i32 %14 %15\n %17 = const i32 1\n" \
       "%18 = sub i32 %17 %15\n %19 = add i32 %14 %18\n %20 = load i8 x[" read "]\n store y[%16] %20\n"      \
       "end\n end\n end\n"

/* Four elements of s for each of 16 threads, the last one `last` on; then all four of them. */
#define FOUR(last)                                                                                         \
    XY "buf s scratch i8 64 align 4\n %1 = const i32 0\n %2 = const i32 16\n %3 = const i32 4\n"           \
       "%4 = const i32 32\n %5 = const i32 " last "\n %6 = for i32 %1 .. %2 step 1\n %7 = load i8 x[%6]\n" \
       "store s[%6] %7\n %9 = add i32 %6 %2\n store s[%9] %7\n %11 = add i32 %6 %4\n store s[%11] %7\n"    \
       "%13 = add i32 %6 %5\n store s[%13] %7\n %15 = for i32 %1 .. %3 step 1\n %16 = mul i32 %15 %2\n"    \
       "%17 = add i32 %16 %6\n %18 = load i8 s[%17]\n store y[%17] %18\n end\n end\n"

/* Every sixteenth element up to `end`, from that of the thread's number on. */
#define IN_TURN(end)                                                                                              \
    XY "buf s scratch i8 64 align 4\n %1 = const i32 0\n %2 = const i32 16\n %3 = const i32 64\n"                 \
       "%4 = const i32 " end "\n %5 = for i32 %1 .. %2 step 1\n %6 = for i32 %5 .. %4 step 16\n"                  \
       "%7 = load i8 x[%6]\n store s[%6] %7\n end\n end\n %11 = for i32 %1 .. %3 step 1\n %12 = load i8 s[%11]\n" \
       "store y[%11] %12\n end\n"

/* A product of a warp: `sets` sets of 32 words are written, of six; those of the second operand begin at
 * `second`; `block` marks the loop of the product. */
#define WARP(sets, second, block)                                                                              \
    "buf x in i8 64 align 1\n buf y out i32 128 align 4\n buf words local i32 192 align 16 thread\n"           \
    "buf acc local i32 128 align 16 thread\n %1 = const i32 0\n %2 = const i32 32\n %3 = const i32 4\n"        \
    "%4 = const i32 " sets "\n %5 = for i32 %1 .. %2 step 1 as t block\n %6 = for i32 %1 .. %4 step 1\n"       \
    "%7 = mul i32 %6 %2\n %8 = add i32 %7 %5\n %9 = load i8 x[%5]\n %10 = cast i32 %9\n store words[%8] %10\n" \
    "end\n %13 = for i32 %1 .. %3 step 1\n %14 = mul i32 %13 %2\n %15 = add i32 %14 %5\n store acc[%15] %1\n"  \
    "end\n end\n %19 = const i32 " second "\n %20 = for i32 %1 .. %2 step 1 as t" block "\n"                   \
    "%21 = add i32 %20 %19\n mma i8 acc[%20] words[%20] words[%21]\n end\n"                                    \
    "%24 = for i32 %1 .. %2 step 1 as t block\n %25 = for i32 %1 .. %3 step 1\n %26 = mul i32 %25 %2\n"        \
    "%27 = add i32 %26 %24\n %28 = load i32 acc[%27]\n store y[%27] %28\n end\n end\n"

/* Position x[0] of x, which is checked once, and loaded again for each element: `again`. */
#define ASKED(most, again)                                                                                       \
    XY "%1 = const i32 0\n %2 = const i32 64\n %3 = load i8 x[%1]\n %4 = const i8 0\n %5 = lt bool %3 %4\n"      \
       "%6 = const i8 " most "\n %7 = lt bool %6 %3\n %8 = or bool %5 %7\n fail_if %8 status 4\n"                \
       "%10 = for i32 %1 .. %2 step 1\n %11 = const i32 " again "\n %12 = load i8 x[%11]\n %13 = cast i32 %12\n" \
       "%14 = load i8 x[%13]\n store y[%10] %14\n end\n"

/* The same for a local array; between the load and the check, `array` gets a 64. */
#define ASKED_OWN(array)                                                                                        \
    XY "buf own local i32 4 align 4\n buf other local i32 4 align 4\n %1 = const i32 0\n %2 = const i32 64\n"   \
       "%3 = load i8 x[%1]\n %4 = cast i32 %3\n store own[%1] %4\n %6 = load i32 own[%1]\n %7 = const i32 48\n" \
       "%8 = lt bool %7 %6\n %9 = lt bool %6 %1\n %10 = or bool %8 %9\n store " array "[%1] %2\n"               \
       "fail_if %10 status 4\n %13 = for i32 %1 .. %2 step 1\n %14 = load i32 own[%1]\n %15 = load i8 x[%14]\n" \
       "store y[%13] %15\n end\n"

/* The largest element of each of two rows of 32, found by four threads each: they compare elements up to `end` of
 * `row`, and combine the results of threads `distance` and 1 apart; in the rest, %42 is the maximum of thread %38. */
#define FOUND(distance, end, row, join, y, rest)                                                          \
    BUF_X "buf e in i8 256 align 1\n buf y out i8 " y " align 1\n buf a local i32 8 align 4\n"            \
          "buf b local i32 8 align 4\n buf c local i32 8 align 4\n %1 = const i32 0\n %2 = const i32 8\n" \
          "%3 = const i32 4\n %4 = const i32 32\n %5 = const i32 -128\n %6 = const i32 " distance "\n"    \
          "%7 = const i32 1\n %8 = for i32 %1 .. %2 step 1 as t block\n %9 = mod i32 %8 %3\n"             \
          "%10 = div i32 %8 %3\n " row "\n %12 = var i32 %5\n " end "\n %14 = add i32 %11 %13\n"          \
          "%15 = load i8 x[%14]\n %16 = cast i32 %15\n %17 = get i32 %12\n %18 = max i32 %16 %17\n"       \
          "set %18 to %12\n end\n %21 = get i32 %12\n store a[%8] %21\n end\n"                            \
          "%24 = for i32 %1 .. %2 step 1 as t block\n %25 = load i32 a[%24]\n %26 = xor i32 %24 %6\n"     \
          "%27 = load i32 a[%26]\n %28 = " join " i32 %25 %27\n store b[%24] %28\n end\n"                 \
          "%31 = for i32 %1 .. %2 step 1 as t block\n %32 = load i32 b[%31]\n %33 = xor i32 %31 %7\n"     \
          "%34 = load i32 b[%33]\n %35 = max i32 %32 %34\n store a[%31] %35\n end\n"                      \
          "%38 = for i32 %1 .. %2 step 1 as t block\n %39 = mod i32 %38 %3\n %40 = div i32 %38 %3\n"      \
          "%41 = mul i32 %40 %4\n %42 = load i32 a[%38]\n" rest
#define THREE   "x@0 e@64 y@320"
#define TO_32   "%13 = for i32 %9 .. %4 step 4"
#define ITS_ROW "%11 = mul i32 %10 %4"

/* e[largest - x[..]] of all elements, by row. */
#define LOOKED_UP(index)                                                                                         \
    "%43 = for i32 %39 .. %4 step 4\n %44 = add i32 %41 %43\n %45 = load i8 x[" index "]\n %46 = cast i32 %45\n" \
    "%47 = sub i32 %42 %46\n %48 = load i8 e[%47]\n store y[%44] %48\n end\n end\n"

/* -128 by the sum of 255 - (largest - x[..]) over a row, which is joined over `first` and 2. */
#define ADDED_UP(first)                                                                                         \
    "%43 = var i32 %1\n %44 = for i32 %39 .. %4 step 4\n %45 = add i32 %41 %44\n %46 = load i8 x[%45]\n"        \
    "%47 = cast i32 %46\n %48 = sub i32 %42 %47\n %49 = const i32 255\n %50 = sub i32 %49 %48\n"                \
    "%51 = get i32 %43\n %52 = add i32 %51 %50\n set %52 to %43\n end\n %55 = get i32 %43\n store b[%38] %55\n" \
    "end\n %58 = for i32 %1 .. %2 step 1 as t block\n %59 = load i32 b[%58]\n %60 = xor i32 %58 " first "\n"    \
    "%61 = load i32 b[%60]\n %62 = add i32 %59 %61 wrap\n store c[%58] %62\n end\n"                             \
    "%65 = for i32 %1 .. %2 step 1 as t block\n %66 = load i32 c[%65]\n %67 = xor i32 %65 %6\n"                 \
    "%68 = load i32 c[%67]\n %69 = add i32 %66 %68 wrap\n store b[%65] %69\n end\n"                             \
    "%72 = for i32 %1 .. %2 step 1 as t block\n %73 = load i32 b[%72]\n %74 = div i32 %5 %73\n"                 \
    "%75 = satcast i8 %74\n store y[%72] %75\n end\n"

#endif
