/* planted.h - functions for test_prove.c, written by hand: each macro is a body with one number or line that makes it
 * right or wrong. Arguments and expected claims are in that test. */
#ifndef AC_TESTS_PLANTED_H
#define AC_TESTS_PLANTED_H

#define BUF_X       "buf x in i8 64 align 1\n"
#define BUF_Y       "buf y out i8 64 align 1\n"
#define XY          BUF_X BUF_Y
#define APART       "x@0 y@128"
#define NUMBERS     "%1 = const i32 0\n %2 = const i32 64\n %3 = const i32 1\n"
#define COPY(index) NUMBERS "%4 = for i32 %1 .. %2 step 1\n" index " end\n"
#define SHIFTED(by)                                                                     \
    "buf x in i32 64 align 4\n buf y out i32 64 align 4\n" NUMBERS "%4 = const i32 " by \
    "\n %5 = for i32 %1 .. %2 step 1\n"                                                 \
    "%6 = load i32 x[%5]\n %7 = shr i32 %6 %4\n store y[%5] %7\n end\n"

/* y[i] = x[clamp(row + k - pad)]: an index with two loop variables. */
#define WINDOW(hi)                                                                                        \
    XY NUMBERS "%4 = const i32 3\n %5 = const i32 " hi                                                    \
               "\n %6 = for i32 %1 .. %2 step 1\n %7 = sub i32 %3 %6\n %8 = max i32 %7 %1\n"              \
               "%9 = sub i32 %5 %6\n %10 = min i32 %9 %4\n %11 = const i8 0\n %12 = var i8 %11 as best\n" \
               "%13 = for i32 %8 .. %10 step 1\n %14 = add i32 %6 %13\n %15 = sub i32 %14 %3\n"           \
               "%16 = load i8 x[%15]\n %17 = get i8 %12\n %18 = max i8 %16 %17\n set %18 to %12\n end\n"  \
               "%21 = get i8 %12\n store y[%6] %21\n end\n"

/* The sum of n products of bytes. */
#define SUM(n)                                                                                               \
    "buf x in i8 64 align 1\n buf y out i32 1 align 4\n %1 = const i32 0\n %2 = const i32 " n                \
    "\n %3 = const i32 63\n %4 = var i32 %1 as sum\n %5 = for i32 %1 .. %2 step 1\n %6 = and i32 %5 %3\n"    \
    "%7 = load i8 x[%6]\n %8 = cast i32 %7\n %9 = mul i32 %8 %8\n %10 = get i32 %4\n %11 = add i32 %10 %9\n" \
    "set %11 to %4\n end\n %14 = get i32 %4\n store y[%1] %14\n"

/* y[i] = x[i] << table[i % 8] */
#define TABLE(more)                                                                                    \
    "buf k const i32 8 align 16\n buf x in i32 64 align 4\n buf y out i32 64 align 4\n" NUMBERS        \
    "%4 = const i32 8\n %5 = const i32 " more "\n %6 = for i32 %1 .. %2 step 1\n %7 = mod i32 %6 %4\n" \
    "%8 = load i32 k[%7]\n %9 = add i32 %8 %5\n %10 = load i32 x[%6]\n %11 = shl i32 %10 %9\n"         \
    "store y[%6] %11\n end\n"

/* y[i] = x[i] << c[i % 8]; before, c[j] = k[j], or with "7" the bytes of a pair change places. */
#define COPIED_TABLE(count, from, more)                                                                   \
    "buf k const i8 8 align 16\n buf x in i32 64 align 4\n buf c scratch i8 8 align 4\n"                  \
    "buf y out i32 64 align 4\n" NUMBERS "%4 = const i32 8\n %5 = const i32 " count                       \
    "\n %6 = for i32 %1 .. %5 step 1\n %7 = xor i32 %6 %3\n %8 = load i8 k[%" from "]\n store c[%6] %8\n" \
    "end\n %11 = const i8 40\n" more "%13 = for i32 %1 .. %2 step 1\n %14 = mod i32 %13 %4\n"             \
    "%15 = load i8 c[%14]\n %16 = cast i32 %15\n %17 = load i32 x[%13]\n %18 = shl i32 %17 %16\n"         \
    "store y[%13] %18\n end\n"
/* The same in two blocks of four bytes; `before` is read before a block is copied, up to value `end` of its bytes. */
#define COPIED_BLOCKS(before, end)                                                                              \
    "buf k const i8 8 align 16\n buf x in i32 64 align 4\n buf c scratch i8 4 align 4\n"                        \
    "buf y out i32 64 align 4\n" NUMBERS "%4 = const i32 4\n %5 = const i32 2\n %6 = for i32 %1 .. %5 step 1\n" \
    "%7 = mul i32 %6 %4\n %8 = sub i32 %4 %6\n %9 = load i8 " before                                            \
    "[%1]\n %10 = cast i32 %9\n %11 = for i32 %1 .. %" end                                                      \
    " step 1\n %12 = add i32 %11 %7\n %13 = load i8 k[%12]\n store c[%11] %13\n end\n"                          \
    "%16 = for i32 %1 .. %2 step 1\n %17 = mod i32 %16 %4\n %18 = load i8 c[%17]\n %19 = cast i32 %18\n"        \
    "%20 = load i32 x[%16]\n %21 = shl i32 %20 %19\n %22 = xor i32 %21 %10\n store y[%16] %22\n end\n end\n"
#define NOTHING_ELSE "%12 = const i8 41\n"
#define ONE_MORE     "store c[%1] %11\n"

/* The same from a table of bytes. */
#define BYTE_TABLE(more)                                                                               \
    "buf k const i8 8 align 16\n buf x in i32 64 align 4\n buf y out i32 64 align 4\n" NUMBERS         \
    "%4 = const i32 8\n %5 = const i32 " more "\n %6 = for i32 %1 .. %2 step 1\n %7 = mod i32 %6 %4\n" \
    "%8 = load i8 k[%7]\n %9 = cast i32 %8\n %10 = add i32 %9 %5\n %11 = load i32 x[%6]\n"             \
    "%12 = shl i32 %11 %10\n store y[%6] %12\n end\n"

/* Bytes that are loaded as numbers of at most 64. */
#define NARROW(table)                                                                                       \
    "buf " table " const i8 8 align 16\n buf y out i8 8 align 8\n %1 = const i32 0\n %2 = load i8x8 " table \
    "[%1] narrow\n store y[%1] %2\n"

/* Rows in pairs; the last one has no partner. */
#define PAIRS(rows)                                                                                               \
    "buf x in i8 63 align 1\n buf y out i8 63 align 1\n %1 = const i32 0\n %2 = const i32 7\n %3 = const i32 9\n" \
    "%4 = const i32 1\n %5 = const i32 " rows "\n %6 = for i32 %1 .. %2 step 2\n %7 = mul i32 %6 %3\n"            \
    "%8 = for i32 %1 .. %3 step 1\n %9 = add i32 %7 %8\n %10 = load i8 x[%9]\n store y[%9] %10\n end\n"           \
    "%13 = add i32 %6 %4\n %14 = lt bool %13 %5\n if %14\n %16 = mul i32 %13 %3\n"                                \
    "%17 = for i32 %1 .. %3 step 1\n %18 = add i32 %16 %17\n %19 = load i8 x[%18]\n store y[%18] %19\n"           \
    "end\n end\n end\n"

/* y[c] = by * (sum over k < 4 of x[k] * table[4 c + k]); the table's rows add up to 37 and 16. */
#define CHANNELS(by)                                                                                       \
    "buf k const i32 8 align 16\n buf x in i8 64 align 1\n buf y out i32 2 align 4\n" NUMBERS              \
    "%4 = const i32 2\n %5 = const i32 4\n %6 = const i32 " by "\n %7 = for i32 %1 .. %4 step 1\n"         \
    "%8 = mul i32 %7 %5\n %9 = var i32 %1 as sum\n %10 = for i32 %1 .. %5 step 1\n %11 = load i8 x[%10]\n" \
    "%12 = cast i32 %11\n %13 = add i32 %8 %10\n %14 = load i32 k[%13]\n %15 = mul i32 %12 %14\n"          \
    "%16 = get i32 %9\n %17 = add i32 %16 %15\n set %17 to %9\n end\n %20 = get i32 %9\n"                  \
    "%21 = mul i32 %20 %6\n store y[%7] %21\n end\n"

/* The same via a local array: an accumulator, and then another one, are stored in it. */
#define STORED(first, second)                                                                               \
    "buf k const i32 8 align 16\n buf x in i8 64 align 1\n buf y out i32 2 align 4\n"                       \
    "buf acc local i32 2 align 4\n" NUMBERS "%4 = const i32 2\n %5 = const i32 4\n %6 = const i32 450000\n" \
    "%7 = for i32 %1 .. %4 step 1\n %8 = mul i32 %7 %5\n %9 = var i32 %1 as sum\n"                          \
    "%10 = for i32 %1 .. %5 step 1\n %11 = load i8 x[%10]\n %12 = cast i32 %11\n %13 = add i32 %8 %10\n"    \
    "%14 = load i32 k[%13]\n %15 = mul i32 %12 %14\n %16 = get i32 %9\n %17 = add i32 %16 %15\n"            \
    "set %17 to %9\n end\n %20 = get i32 %9\n store acc[" first "] %20\n store acc[" second "] %3\n"        \
    "%23 = load i32 acc[%1]\n %24 = mul i32 %23 %6\n store y[%7] %24\n end\n"

/* Elements by threes; the last has fewer. */
#define THREES(third)                                                                                              \
    XY NUMBERS "%4 = const i32 3\n %5 = const i32 2\n %6 = const i32 " third                                       \
               "\n %7 = for i32 %1 .. %2 step 3\n %8 = sub i32 %2 %7\n %9 = min i32 %8 %4\n %10 = load i8 x[%7]\n" \
               "store y[%7] %10\n %12 = lt bool %3 %9\n if %12\n %14 = add i32 %7 %3\n %15 = load i8 x[%14]\n"     \
               "store y[%14] %15\n end\n %18 = lt bool %6 %9\n if %18\n %20 = add i32 %7 %5\n"                     \
               "%21 = load i8 x[%20]\n store y[%20] %21\n end\n end\n"

/* y[i] = x[i + 9], where i + 9 is one row and one column on in rows of 8. */
#define NEXT_ROW(columns)                                                                                           \
    XY NUMBERS "%4 = const i32 8\n %5 = const i32 7\n %6 = const i32 9\n %7 = const i32 " columns                   \
               "\n %8 = for i32 %1 .. %2 step 1\n %9 = div i32 %8 %4\n %10 = mod i32 %8 %4\n %11 = lt bool %9 %5\n" \
               "%12 = lt bool %10 %7\n %13 = and bool %11 %12\n %14 = load i8 x[%8]\n store y[%8] %14\n if %13\n"   \
               "%17 = add i32 %8 %6\n %18 = load i8 x[%17]\n store y[%8] %18\n end\n end\n"

/* A window of four in s: first zeros where it is cut, then its existing elements. */
#define CUT_WINDOW(last)                                                                                           \
    XY "buf s scratch i8 4 align 1\n" NUMBERS "%4 = const i32 4\n %5 = const i32 " last                            \
       "\n %6 = const i8 0\n %7 = for i32 %1 .. %2 step 1\n %8 = sub i32 %7 %3\n %9 = add i32 %8 %4\n"             \
       "%10 = lt bool %8 %1\n %11 = lt bool %5 %9\n %12 = or bool %10 %11\n if %12\n"                              \
       "%14 = for i32 %1 .. %4 step 1\n store s[%14] %6\n end\n end\n %18 = max i32 %8 %1\n %19 = min i32 %9 %2\n" \
       "%20 = for i32 %18 .. %19 step 1\n %21 = sub i32 %20 %8\n %22 = load i8 x[%20]\n store s[%21] %22\n end\n"  \
       "%25 = for i32 %1 .. %4 step 1\n %26 = load i8 s[%25]\n store y[%7] %26\n end\n end\n"

/* By sixteens, which are filled where i < 1 or i > `last`: as i is 0, 16, 32, 48, that is always for 15. */
#define ALWAYS_CUT(last)                                                                                           \
    XY "buf s scratch i8 16 align 1\n" NUMBERS "%4 = const i32 " last                                              \
       "\n %5 = for i32 %1 .. %2 step 16\n %6 = lt bool %5 %3\n %7 = lt bool %4 %5\n %8 = or bool %6 %7\n if %8\n" \
       "%10 = load i8x16 x[%5]\n store s[%1] %10\n end\n %13 = load i8x16 s[%1]\n store y[%5] %13\n end\n"

/* Rows of 8, transposed by threes: columns 0 .. 5 of all rows in one loop, the last ones row by row. */
#define AT_ROW(to, row, x, more) \
    "%" x " = const i32 " row "\n %" more " = add i32 %5 %" x "\n store " to "[%" more "] %6\n"
#define WITH_REST_IN(to, bufs, lanes)                                                                                \
    XY bufs                                                                                                          \
        "%1 = const i32 0\n %2 = const i32 6\n %3 = const i32 8\n %4 = const i32 1\n %5 = for i32 %1 .. %2 step 3\n" \
        "%6 = load i8x3 x[%5]\n" AT_ROW(to, "0", "7", "8") AT_ROW(to, "8", "10", "11") AT_ROW(to, "16", "13", "14")  \
            AT_ROW(to, "24", "16", "17") AT_ROW(to, "32", "19", "20") AT_ROW(to, "40", "22", "23")                   \
                AT_ROW(to, "48", "25", "26")                                                                         \
                    AT_ROW(to, "56", "28", "29") "end\n %32 = for i32 %1 .. %3 step 1\n %33 = mul i32 %32 %3\n"      \
                                                 "%34 = add i32 %33 %2\n %35 = load i8" lanes " x[%34]\n store " to  \
                                                 "[%34] %35\n end\n"
#define WITH_REST(lanes) WITH_REST_IN("y", "", lanes)
#define ARRAY_WITH_REST(lanes)                                \
    WITH_REST_IN("s", "buf s scratch i8 64 align 4\n", lanes) \
    "%38 = const i32 64\n %39 = for i32 %1 .. %38 step 1\n %40 = load i8 s[%39]\n store y[%39] %40\n end\n"

/* 21 blocks of three; the last one has four. */
#define LAST_BLOCK(whole, lanes)                                                                                  \
    XY NUMBERS "%4 = const i32 21\n %5 = const i32 3\n %6 = const i32 2\n %7 = const i32 " whole                  \
               "\n %8 = for i32 %1 .. %4 step 1\n %9 = mul i32 %8 %5\n %10 = load i8x2 x[%9]\n store y[%9] %10\n" \
               "%12 = add i32 %9 %6\n %13 = lt bool %8 %7\n if %13\n %15 = load i8 x[%12]\n store y[%12] %15\n"   \
               "else\n %18 = load i8x" lanes " x[%1]\n %19 = const i32 62\n store y[%19] %18\n end\n end\n"

/* 43, 42, .. 1, in 44 iterations, the last of them empty; and from 43 on. */
#define DOWN(first)                                                                                          \
    XY NUMBERS "%4 = const i32 44\n %5 = const i32 43\n %6 = load i8 x[%1]\n %7 = for i32 %1 .. %4 step 1\n" \
               "%8 = lt bool %7 %5\n if %8\n %10 = sub i32 %5 %7\n store y[%10] %6\n end\n end\n"            \
               "%14 = for i32 %5 .. %2 step 1\n store y[%14] %6\n end\n store y[" first "] %6\n"

/* In place, rows of six by blocks of four: of the second block only its first half is there. */
#define HALF_BLOCK(columns)                                                                                        \
    "buf x in i8 60 align 1\n buf y out i8 60 align 1\n %1 = const i32 0\n %2 = const i32 2\n %3 = const i32 10\n" \
    "%4 = const i32 4\n %5 = const i32 6\n %6 = const i32 " columns                                                \
    "\n %7 = for i32 %1 .. %2 step 1\n %8 = mul i32 %7 %4\n %9 = add i32 %8 %2\n"                                  \
    "%10 = for i32 %1 .. %3 step 1\n %11 = mul i32 %10 %5\n %12 = add i32 %11 %8\n %13 = load i8x2 x[%12]\n"       \
    "store y[%12] %13\n %15 = add i32 %9 %2\n %16 = le bool %15 %6\n if %16\n %18 = add i32 %11 %9\n"              \
    "%19 = load i8x2 x[%18]\n store y[%18] %19\n end\n end\n end\n"

/* Nine rows of seven by fours; the last four begin earlier, and only their new elements are written. */
#define LAST_EARLIER(most)                                                                                        \
    "buf x in i8 63 align 1\n buf y out i8 63 align 1\n %1 = const i32 0\n %2 = const i32 9\n %3 = const i32 4\n" \
    "%4 = const i32 7\n %5 = const i32 " most                                                                     \
    "\n %6 = for i32 %1 .. %2 step 4\n %7 = min i32 %6 %5\n %8 = sub i32 %6 %7\n %9 = for i32 %1 .. %4 step 1\n"  \
    "%10 = for i32 %8 .. %3 step 1\n %11 = add i32 %7 %10\n %12 = mul i32 %11 %4\n %13 = add i32 %12 %9\n"        \
    "%14 = load i8 x[%13]\n store y[%13] %14\n end\n end\n end\n"

/* Four rows of 16 by vectors of six; the last one begins earlier. */
#define LAST_OVERLAPS(most)                                                                    \
    XY "%1 = const i32 0\n %2 = const i32 16\n %3 = const i32 4\n %4 = const i32 " most        \
       "\n %5 = for i32 %1 .. %2 step 6\n %6 = min i32 %5 %4\n %7 = for i32 %1 .. %3 step 1\n" \
       "%8 = mul i32 %7 %2\n %9 = add i32 %8 %6\n %10 = load i8x6 x[%9]\n store y[%9] %10\n end\n end\n"

/* Pairs of rows of six in groups of three pairs, fewer in the last group; four elements after them. */
#define PANELS(pairs)                                                                                             \
    XY "%1 = const i32 0\n %2 = const i32 2\n %3 = const i32 3\n %4 = const i32 6\n %5 = const i32 " pairs        \
       "\n %6 = const i32 12\n %7 = for i32 %1 .. %2 step 1\n %8 = mul i32 %7 %3\n %9 = add i32 %8 %3\n"          \
       "%10 = min i32 %9 %5\n %11 = for i32 %1 .. %3 step 1\n %12 = mul i32 %11 %2\n"                             \
       "%13 = for i32 %8 .. %10 step 1\n %14 = mul i32 %13 %6\n %15 = add i32 %14 %12\n %16 = load i8x2 x[%15]\n" \
       "store y[%15] %16\n %18 = add i32 %15 %4\n %19 = load i8x2 x[%18]\n store y[%18] %19\n end\n end\n end\n"  \
       "%24 = const i32 60\n %25 = load i8x4 x[%24]\n store y[%24] %25\n"

/* The same with more pairs of rows in each panel than are looked at one by one, and no rest. */
#define LONG_PANELS(pairs)                                                                                     \
    "buf x in i8 1548 align 1\n buf y out i8 1548 align 1\n %1 = const i32 0\n %2 = const i32 2\n"             \
    "%3 = const i32 65\n %4 = const i32 6\n %5 = const i32 " pairs                                             \
    "\n %6 = const i32 12\n %7 = for i32 %1 .. %2 step 1\n %8 = mul i32 %7 %3\n %9 = add i32 %8 %3\n"          \
    "%10 = min i32 %9 %5\n %11 = const i32 3\n %12 = for i32 %1 .. %11 step 1\n %13 = mul i32 %12 %2\n"        \
    "%14 = for i32 %8 .. %10 step 1\n %15 = mul i32 %14 %6\n %16 = add i32 %15 %13\n %17 = load i8x2 x[%16]\n" \
    "store y[%16] %17\n %19 = add i32 %16 %4\n %20 = load i8x2 x[%19]\n store y[%19] %20\n end\n end\n end\n"

/* Rows in pairs, columns by fours and by threes, pairs of channels in halves: writes have five loop variables, reads
 * have six. The threes begin at column `from`. */
#define TILES(from)                                                                                                  \
    "buf x in i8 160 align 1\n buf y out i8 160 align 1\n %1 = const i32 0\n %2 = const i32 2\n %3 = const i32 4\n"  \
    "%4 = const i32 3\n %5 = const i32 80\n %6 = const i32 40\n %7 = const i32 12\n %8 = const i32 " from            \
    "\n %9 = for i32 %1 .. %2 step 1\n %10 = mul i32 %9 %5\n %11 = for i32 %1 .. %2 step 1\n %12 = mul i32 %11 %2\n" \
    "%13 = for i32 %1 .. %2 step 1\n %14 = mul i32 %13 %6\n %15 = add i32 %10 %14\n %16 = add i32 %15 %12\n"         \
    "%17 = for i32 %1 .. %3 step 1\n %18 = mul i32 %17 %3\n %19 = add i32 %16 %18\n %20 = for i32 %1 .. %2 step 1\n" \
    "%21 = add i32 %19 %20\n %22 = load i8 x[%21]\n store y[%21] %22\n end\n end\n %26 = for i32 %1 .. %2 step 1\n"  \
    "%27 = mul i32 %26 %7\n %28 = add i32 %16 %27\n %29 = add i32 %28 %8\n %30 = for i32 %1 .. %4 step 1\n"          \
    "%31 = mul i32 %30 %3\n %32 = add i32 %29 %31\n %33 = for i32 %1 .. %2 step 1\n %34 = add i32 %32 %33\n"         \
    "%35 = load i8 x[%34]\n store y[%34] %35\n end\n end\n end\n end\n end\n end\n"

/* Row by row: the counts of rows done determine which of two steps is next; rows of the first one are stored in
 * rotation; the last one computes `rows`. */
#define STRIPED(bufs, ticks, kept, at, rows)                                                                    \
    bufs "buf x in i8 64 align 1\n buf y out i8 32 align 1\n buf s scratch i8 16 align 1\n %1 = const i32 0\n " \
         "%2 = const i32 2\n %3 = const i32 8\n %4 = const i32 1\n %5 = const i32 " at "\n %6 = " rows          \
         "\n %7 = const i32 " ticks "\n %8 = const i32 " kept                                                   \
         "\n %9 = var i32 %1 as made\n %10 = var i32 %1 as done\n %11 = for i32 %1 .. %7 step 1\n "             \
         "%12 = get i32 %10\n %13 = get i32 %9\n %14 = mul i32 %12 %2\n %15 = add i32 %14 %2\n "                \
         "%16 = le bool %15 %13\n %17 = lt bool %12 %6\n %18 = and bool %16 %17\n if %18\n "                    \
         "%20 = mul i32 %12 %3\n %21 = for i32 %1 .. %3 step 1\n %22 = load i8 s[%21]\n "                       \
         "%23 = add i32 %21 %3\n %24 = load i8 s[%23]\n %25 = max i8 %22 %24\n %26 = add i32 %20 %21\n "        \
         "store y[%26] %25\n end\n %29 = add i32 %12 %4\n set %29 to %10\n else\n %32 = mod i32 %13 %8\n "      \
         "%33 = mul i32 %32 %3\n %34 = mul i32 %13 %3\n %35 = for i32 %1 .. %3 step 1\n "                       \
         "%36 = add i32 %34 %35\n %37 = load i8 x[%36]\n %38 = add i32 %33 %35\n store s[%38] %37\n end\n "     \
         "%41 = add i32 %13 %4\n set %41 to %9\n end\n end\n"
#define STRIPE(ticks, kept) STRIPED("", ticks, kept, "0", "const i32 4")
#define STRIPE_OF_TABLE(at) STRIPED("buf k const i32 8 align 4\n", "12", "2", at, "load i32 k[%5]")

/* Row by row, after a step that makes nothing: many rows, each in two halves, the second one first. */
#define ROWS_IN_TURN                                                                                 \
    "buf x in i8 1200 align 1\n buf y out i8 1200 align 1\n %1 = const i32 0\n %2 = const i32 1\n "  \
    "%3 = const i32 4\n %4 = const i32 2\n %5 = const i32 600\n %6 = var i32 %1 as made\n "          \
    "%7 = var i32 %1 as done\n %8 = for i32 %1 .. %5 step 1\n %9 = get i32 %6\n %10 = get i32 %7\n " \
    "%11 = lt bool %10 %9\n if %11\n %13 = mul i32 %10 %3\n %14 = for i32 %1 .. %4 step 1\n "        \
    "%15 = add i32 %13 %14\n %16 = add i32 %15 %4\n %17 = load i8 x[%16]\n store y[%16] %17\n "      \
    "%19 = load i8 x[%15]\n store y[%15] %19\n end\n %22 = add i32 %10 %2\n set %22 to %7\n else\n " \
    "%25 = add i32 %9 %2\n set %25 to %6\n end\n end\n"

/* 1024 threads, 32 to a row of 96 elements: each reads pairs of its row from its own place on. */
#define PAIRS_OF_ROW(end)                                                                             \
    "buf x in i8 3072 align 4\n" BUF_Y "%1 = const i32 0\n %2 = const i32 1024\n %3 = const i32 32\n" \
    "%4 = const i32 " end "\n %5 = const i32 64\n %6 = const i8 0\n %7 = const i32 2\n"               \
    "%8 = var i8 %6 as all\n %9 = const i32 96\n %10 = for i32 %1 .. %2 step 1\n"                     \
    "%11 = mod i32 %10 %3\n %12 = mul i32 %11 %7\n %13 = div i32 %10 %3\n %14 = mul i32 %13 %9\n"     \
    "%15 = for i32 %12 .. %4 step 64\n %16 = add i32 %14 %15\n %17 = load i8x2 x[%16]\n"              \
    "%18 = lane i8 %17 at 1\n set %18 to %8\n end\n end\n %22 = get i8 %8\n"                          \
    "%23 = for i32 %1 .. %5 step 1\n store y[%23] %22\n end\n"

/* Row o of the result from row (o + more) / 2 of the operand. */
#define DOUBLED(order, more)                                                                              \
    XY "%1 = const i32 0\n %2 = const i32 8\n %3 = const i32 7\n %4 = const i32 -1\n %5 = const i32 2\n " \
       "%6 = const i32 " more "\n %7 = for i32 " order                                                    \
       "\n %8 = add i32 %7 %6\n %9 = div i32 %8 %5\n %10 = mul i32 %9 %2\n %11 = mul i32 %7 %2\n "        \
       "%12 = for i32 %3 .. %4 step -1\n %13 = add i32 %10 %12\n %14 = load i8 x[%13]\n "                 \
       "%15 = add i32 %11 %12\n store y[%15] %14\n end\n end\n"
#define UPWARDS   "%1 .. %2 step 1"
#define DOWNWARDS "%3 .. %4 step -1"

/* Eight rows of eight, backwards, in 16 blocks: every fourth pixel of every fourth row, from each of the first. */
#define IN_BLOCKS(last)                                                                                \
    XY "%1 = const i32 " last "\n %2 = const i32 -1\n %3 = const i32 4\n %4 = const i32 2\n"           \
       "%5 = const i32 8\n %6 = const i32 7\n %7 = for i32 %1 .. %2 step -1\n %8 = div i32 %7 %3\n"    \
       "%9 = mul i32 %8 %4\n %10 = mod i32 %7 %3\n %11 = mul i32 %10 %3\n %12 = mul i32 %7 %5\n"       \
       "%13 = for i32 %6 .. %2 step -1\n %14 = div i32 %13 %3\n %15 = add i32 %9 %14\n"                \
       "%16 = mod i32 %13 %3\n %17 = add i32 %11 %16\n %18 = mul i32 %17 %3\n %19 = add i32 %15 %18\n" \
       "%20 = add i32 %12 %13\n %21 = load i8 x[%20]\n store y[%19] %21\n end\n end\n"

/* All elements, so many times, are added to one in s. */
#define SUMMED(times, more)                                                                                            \
    "buf x in i8 64 align 1\n buf y out i32 1 align 4\n buf s scratch i32 1 align 4\n" NUMBERS "%4 = const i32 " times \
    "\n store s[%1] %1\n %6 = for i32 %1 .. %4 step 1\n"                                                               \
    "%7 = for i32 %1 .. %2 step 1\n %8 = load i8 x[%7]\n %9 = cast i32 %8\n %10 = load i32 s[%1]\n"                    \
    "%11 = add i32 %10 " more "\n store s[%1] %11\n end\n end\n %15 = load i32 s[%1]\n store y[%1] %15\n"

/* y[i] = (x[i] < 0 ? -514 : 513) + by */
#define SIGNED(by)                                                                                            \
    "buf x in i32 64 align 4\n buf y out i32 64 align 4\n" NUMBERS "%4 = const i32 31\n %5 = const i32 513\n" \
    "%6 = const i32 " by "\n %7 = for i32 %1 .. %2 step 1\n %8 = load i32 x[%7]\n %9 = shr i32 %8 %4\n"       \
    "%10 = xor i32 %9 %5\n %11 = add i32 %10 %6\n store y[%7] %11\n end\n"

/* In place: two rows of five pixels of six channels, two channels at a time; pixel 4, then 0 and 1, 2 and 3. */
#define BY_CHANNELS(from)                                                                                         \
    "buf x in i8 60 align 1\n buf y out i8 60 align 1\n %1 = const i32 0\n %2 = const i32 2\n %3 = const i32 3\n" \
    "%4 = const i32 30\n %5 = const i32 24\n %6 = const i32 12\n %7 = const i32 6\n %8 = const i32 " from         \
    "\n %9 = for i32 %1 .. %3 step 1\n %10 = mul i32 %9 %2\n %11 = for i32 %1 .. %2 step 1\n"                     \
    "%12 = mul i32 %11 %4\n %13 = add i32 %12 %10\n %14 = add i32 %13 %5\n %15 = load i8x2 x[%14]\n"              \
    "store y[%14] %15\n %17 = for i32 %1 .. %2 step 1\n %18 = mul i32 %17 %6\n %19 = add i32 %13 %18\n"           \
    "%20 = add i32 %19 %8\n %21 = load i8x2 x[%20]\n store y[%19] %21\n %23 = add i32 %19 %7\n"                   \
    "%24 = load i8x2 x[%23]\n store y[%23] %24\n end\n end\n end\n"

/* Elements that are below 0, to a list which is left when it has `room`. */
#define LIST(room)                                                                                              \
    XY NUMBERS "%4 = const i32 1000\n %5 = const i32 " room                                                     \
               "\n %6 = const i8 0\n %7 = const i32 63\n %8 = for i32 %1 .. %2 step 1\n store y[%8] %6\n end\n" \
               "%11 = var i32 %1 as count\n %12 = for i32 %1 .. %4 step 1\n %13 = and i32 %12 %7\n"             \
               "%14 = load i8 x[%13]\n %15 = lt bool %14 %6\n if %15\n %17 = get i32 %11\n store y[%17] %14\n"  \
               "%19 = add i32 %17 %3\n set %19 to %11\n end\n %22 = get i32 %11\n %23 = le bool %5 %22\n"       \
               "break_if %23\n end\n"

/* Indices up to the first one below `least`, and the elements they select. */
#define INDICES(least)                                                                                         \
    "buf i in i8 64 align 1\n buf x in i8 128 align 1\n buf y out i8 64 align 1\n buf s scratch i32 64 align " \
    "4\n" NUMBERS "%4 = const i32 " least "\n %5 = for i32 %1 .. %2 step 1\n store s[%5] %1\n end\n"           \
    "%8 = for i32 %1 .. %2 step 1\n %9 = load i8 i[%8]\n %10 = cast i32 %9\n %11 = lt bool %10 %4\n"           \
    "break_if %11\n store s[%8] %10\n end\n %15 = for i32 %1 .. %2 step 1\n %16 = load i32 s[%15]\n"           \
    "%17 = load i8 x[%16]\n store y[%15] %17\n end\n"

/* Rows by fours, by way of a copy with another pitch: as many as there are. */
#define COPIED_ROWS(copied)                                                                                   \
    "buf x in i8 56 align 1\n buf y out i8 56 align 1\n buf s scratch i8 36 align 1\n %1 = const i32 0\n"     \
    "%2 = const i32 2\n %3 = const i32 4\n %4 = const i32 7\n %5 = const i32 " copied                         \
    "\n %6 = const i32 8\n %7 = const i32 9\n %8 = for i32 %1 .. %2 step 1\n %9 = mul i32 %8 %3\n"            \
    "%10 = add i32 %9 %3\n %11 = min i32 %10 %5\n %12 = min i32 %10 %4\n %13 = for i32 %9 .. %11 step 1\n"    \
    "%14 = mul i32 %13 %6\n %15 = load i8x8 x[%14]\n %16 = sub i32 %13 %9\n %17 = mul i32 %16 %7\n"           \
    "store s[%17] %15\n end\n %20 = for i32 %9 .. %12 step 1\n %21 = sub i32 %20 %9\n %22 = mul i32 %21 %7\n" \
    "%23 = load i8x8 s[%22]\n %24 = mul i32 %20 %6\n store y[%24] %23\n end\n end\n"

/* Pixels in groups of three, fewer in the last group; image and position in it, as in a convolution of several
 * images. */
#define OF_IMAGES(pixels)                                                                                           \
    XY NUMBERS "%4 = const i32 3\n %5 = const i32 " pixels                                                          \
               "\n %6 = for i32 %1 .. %2 step 3\n %7 = sub i32 %2 %6\n %8 = min i32 %4 %7\n"                        \
               "%9 = for i32 %1 .. %8 step 1\n %10 = add i32 %6 %9\n %11 = div i32 %10 %5\n %12 = mul i32 %11 %2\n" \
               "%13 = mod i32 %10 %5\n %14 = add i32 %12 %13\n %15 = load i8 x[%14]\n store y[%14] %15\n end\n end\n"

/* x has 64 rows of one; row oy of 72 takes row oy - 4 of x, if it exists. */
#define OUTSIDE(limit)                                                                                             \
    XY NUMBERS "%4 = const i32 72\n %5 = const i32 4\n %6 = const i32 " limit                                      \
               "\n %7 = for i32 %1 .. %4 step 1\n %8 = sub i32 %5 %7\n %9 = max i32 %8 %1\n %10 = min i32 %9 %3\n" \
               "%11 = sub i32 %6 %7\n %12 = max i32 %11 %1\n %13 = min i32 %12 %3\n"                               \
               "%14 = for i32 %10 .. %13 step 1\n %15 = sub i32 %7 %5\n %16 = add i32 %15 %14\n"                   \
               "%17 = load i8 x[%16]\n store y[%1] %17\n end\n end\n"                                              \
               "%21 = for i32 %1 .. %2 step 1\n %22 = load i8 x[%21]\n store y[%21] %22\n end\n"

/* Rows oy - 1 and oy + 1 of x; where one of them is outside, two that are inside. */
#define MOVED_INSIDE(apart)                                                                                        \
    XY NUMBERS "%4 = const i32 2\n %5 = const i32 " apart "\n %6 = for i32 %1 .. %2 step 1\n %7 = sub i32 %6 %3\n" \
               "%8 = sub i32 %1 %7\n %9 = max i32 %8 %1\n %10 = add i32 %9 %3\n %11 = div i32 %10 %4\n"            \
               "%12 = sub i32 %2 %7\n %13 = add i32 %12 %3\n %14 = div i32 %13 %4\n %15 = min i32 %14 %4\n"        \
               "%16 = sub i32 %4 %15\n %17 = sub i32 %11 %16\n %18 = mul i32 %17 %4\n %19 = add i32 %7 %18\n"      \
               "%20 = add i32 %19 %5\n %21 = load i8 x[%19]\n %22 = load i8 x[%20]\n %23 = max i8 %21 %22\n"       \
               "store y[%6] %23\n end\n"

/* Called for each of 8 rows, which are stored at the end of a window of two: y gets one after the other. */
#define ROWS(by, place)                                                                                            \
    "buf part in i32 1 align 4\n buf state scratch i32 1 align 4\n buf rows scratch i8 16 align 4\n" BUF_Y         \
    "%1 = const i32 0\n %2 = const i32 8\n %3 = load i32 part[%1]\n %4 = eq bool %3 %1\n if %4\n"                  \
    "store state[" place "] %1\n %7 = const i8 0\n %8 = for i32 %1 .. %2 step 1\n store rows[%8] %7\n end\n end\n" \
    "%12 = load i32 state[%1]\n %13 = mul i32 %12 %2\n %14 = for i32 %1 .. %2 step 1\n"                            \
    "%15 = add i32 %14 %2\n %16 = load i8 rows[%15]\n %17 = add i32 %13 %14\n store y[%17] %16\n end\n"            \
    "%20 = const i32 " by "\n %21 = add i32 %12 %20\n store state[%1] %21\n"                                       \
    "%23 = for i32 %1 .. %2 step 1\n %24 = add i32 %23 %2\n %25 = load i8 rows[%24]\n store rows[%23] %25\n end\n"

/* The last one first: y[i] = x[i], from 56 on x[of - i]. */
#define MIRRORED(of)                                                                            \
    XY NUMBERS "%4 = const i32 63\n %5 = const i32 -1\n %6 = const i32 56\n %7 = const i32 " of \
               "\n %8 = for i32 %4 .. %5 step -1\n %9 = le bool %6 %8\n %10 = sub i32 %7 %8\n"  \
               "%11 = select i32 %9 %10 %8\n %12 = load i8 x[%11]\n store y[%8] %12\n end\n"

/* A sum that does not wrap next to a product that does, and `times` the sum. */
#define WRAPS_ELSEWHERE(times)                                                                           \
    "buf x in i8 64 align 1\n buf y out i32 64 align 4\n" NUMBERS "%4 = var i32 %1 as sum\n"             \
    "%5 = const i32 1073741824\n %6 = for i32 %1 .. %2 step 1\n %7 = load i8 x[%6]\n %8 = cast i32 %7\n" \
    "%9 = mul i32 %8 %8\n %10 = get i32 %4\n %11 = add i32 %10 %9 wrap\n set %11 to %4\n"                \
    "%13 = mul i32 %11 %5 wrap\n store y[%6] %13\n end\n %16 = get i32 %4\n %17 = const i32 " times      \
    "\n %18 = mul i32 %16 %17\n store y[%1] %18\n"

/* The largest of a single element, less that element, as an index. */
#define LARGEST_OF_ONE(again)                                                                                  \
    XY NUMBERS "%4 = const i8 -128\n %5 = for i32 %1 .. %2 step 1\n %6 = sub i32 %2 %5\n %7 = sub i32 %6 %3\n" \
               "%8 = var i8 %4 as max\n %9 = load i8 x[%5]\n %10 = get i8 %8\n %11 = max i8 %9 %10\n"          \
               "set %11 to %8\n %13 = get i8 %8\n %14 = cast i32 %13\n %15 = load i8 x[" again                 \
               "]\n %16 = cast i32 %15\n %17 = sub i32 %14 %16\n %18 = load i8 x[%17]\n store y[%5] %18\n end\n"

/* y[n] = x[i[n] / 4], if 0 <= i[n] < END */
#define QUOTIENT(END)                                                                                                  \
    "buf i in i32 64 align 4\n" XY NUMBERS                                                                             \
    "%4 = const i32 4\n %5 = for i32 %1 .. %2 step 1\n %6 = load i32 i[%5]\n %7 = lt bool %6 %1\n %8 = const i32 " END \
    "\n %9 = le bool %8 %6\n %10 = or bool %7 %9\n fail_if %10 status 4\n %12 = div i32 %6 %4\n"                       \
    "%13 = load i8 x[%12]\n store y[%5] %13\n end\n"

/* A copy by way of a ring of 8: each element goes to y eight iterations later, the last eight at the end. */
#define RING(after, of)                                                                                           \
    XY "buf s scratch i8 16 align 4\n" NUMBERS "%4 = const i32 8\n %5 = const i32 " after                         \
       "\n %6 = for i32 %1 .. %2 step 1\n %7 = mod i32 %6 %4\n %8 = le bool %5 %6\n if %8\n"                      \
       "%10 = sub i32 %6 %4\n %11 = mod i32 %10 %4\n %12 = load i8 s[%11]\n store y[%10] %12\n end\n"             \
       "%15 = load i8 x[%6]\n store s[%7] %15\n end\n %18 = const i32 " of                                        \
       "\n %19 = sub i32 %2 %4\n %20 = for i32 %19 .. %2 step 1\n %21 = mod i32 %20 %18\n %22 = load i8 s[%21]\n" \
       "store y[%20] %22\n end\n"

/* The largest of the copies s of four x, less each of them, as an index of x; `since` is one instruction between, and
 * `round` one in each iteration of the last loop. */
/* y: x of how far below the largest of s, a copy of the first four, each of these is; and three instructions; with
 * NOTHING, no element of s changes. */
#define NOTHING "store y[%1] %13\n"
#define LARGEST_OF_COPIES(found, since, round)                                                                         \
    XY "buf s scratch i8 4 align 4\n" NUMBERS "%4 = const i32 4\n %5 = for i32 %1 .. %2 step 1\n %6 = load i8 x[%5]\n" \
       "store y[%5] %6\n end\n %9 = for i32 %1 .. %4 step 1\n %10 = load i8 x[%9]\n store s[%9] %10\n end\n"           \
       "%13 = const i8 -128\n %14 = var i8 %13 as max\n %15 = for i32 %1 .. %4 step 1\n %16 = load i8 s[%15]\n"        \
       "%17 = get i8 %14\n %18 = max i8 %16 %17\n set %18 to %14\n" found "end\n %22 = get i8 %14\n"                   \
       "%23 = cast i32 %22\n %24 = load i8 x[%4]\n" since "%26 = for i32 %1 .. %4 step 1\n %27 = load i8 s[%26]\n"     \
       "%28 = cast i32 %27\n %29 = sub i32 %23 %28\n %30 = const i32 63\n %31 = min i32 %29 %30\n"                     \
       "%32 = add i32 %26 %3\n %33 = load i8 x[%31]\n store y[%26] %33\n" round "end\n"

/* One copy after the other, of x, y and s, which the step both writes and reads. */
#define MADE_HERE(from, to, from_2, to_2)                                                                 \
    XY "buf s inout i8 64 align 1\n" NUMBERS "%4 = for i32 %1 .. %2 step 1\n %5 = load i8 " from "[%4]\n" \
       "store " to "[%4] %5\n end\n %8 = for i32 %1 .. %2 step 1\n %9 = load i8 " from_2 "[%8]\n"         \
       "store " to_2 "[%8] %9\n end\n"

/* y[i] = x[3 * i % 8], from the last on. */
#define MIXED                                                                                                    \
    "buf x in i8 8 align 1\n buf y out i8 8 align 1\n %1 = const i32 7\n %2 = const i32 -1\n %3 = const i32 3\n" \
    "%4 = const i32 8\n %5 = for i32 %1 .. %2 step -1\n %6 = mul i32 %5 %3\n %7 = mod i32 %6 %4\n"               \
    "%8 = load i8 x[%7]\n store y[%5] %8\n end\n"

#endif
