/* rows.h - finds the loops of a convolution that one function does on processors with Arm's DSP extension: two pixels
 * by all channels, requantised in registers.
 *
 *     for oc step 4:  tile pairs 2 x 4;  out[first + oc] .. = requantised sums;  if more:  out[second + oc] .. = ..
 *
 * is the form of pairs; words.h has the other one. The printers of C and of objects look for it and print a call of a
 * function instead: the assembly of ac_rows_asm, which never stores the sums. So the loops remain the definition, and
 * everything else that reads them
 * (the evaluator, the planner, the prover) does not know the function.
 *
 *     ac_rows r;
 *     if (ac_rows_find(region, target, fn, x, &r))        x: a FOR
 *         print the values in r.needed, then the call; continue after r.end
 *
 * Requantisation (requant_line.h), acc with its bias:
 *
 *     PLAIN    sat8(((acc * factor * m >> 32) + c) >> shift)
 *     SIGNED   sat8(((acc * m + (c ^ acc >> 31) >> 32) + k) >> shift)
 *
 * m and c are neighbours in a table. Memory: the region. Nothing fails. Cost: linear in the loop. */
#ifndef AC_CODEGEN_DSP_ROWS_H
#define AC_CODEGEN_DSP_ROWS_H
#include "ir/loop/tiles.h"
#include "ir/lower/target.h"

/* The text of the function; a function for each. */
typedef struct ac_rows_form {
    bool is_signed;
    bool biased;   /* `bias` is added to each sum */
    bool split;    /* PLAIN: factor is 256 times the number that is passed */
    bool is_long;  /* SIGNED of words.h: LONG */
    int32_t shift; /* PLAIN; 0: it is passed */
} ac_rows_form;

/* A sum of values, which differ from pixel to pixel or are added to all places (strip.h). */
enum { AC_ROWS_TERMS = 4 };
typedef struct ac_rows_sum {
    ac_x term[AC_ROWS_TERMS], times[AC_ROWS_TERMS]; /* times 0: 1 */
    bool minus[AC_ROWS_TERMS];
    int32_t n;
} ac_rows_sum;

typedef struct ac_rows {
    ac_rows_form form;
    ac_x end; /* the END of the loop */
    ac_tile tile;
    int32_t y, m, bias;         /* buffers; bias -1: none */
    ac_x x_at, steps, channels; /* of the tile; the end of the loop, which begins at 0 */
    ac_rows_sum place[2];       /* of y: channel 0 of each pixel, */
    int64_t first[2];           /* ... plus this */
    ac_x more;                  /* bool: there is a second pixel; 0: always */
    ac_x number, shift;         /* factor (split: / 256) or k; shift: 0 if the form has it */
    int64_t factor;             /* split: instead of `number`, if not 0 */
    /* words.h: of y from row to row; rows that are stored; SIGNED: k */
    ac_x pitch, begin, last, term;
    int64_t pitch_number; /* pitch, if that is 0 */
    bool *needed;         /* by instruction: values of the loop that are printed before the call */
} ac_rows;

bool ac_rows_find(ac_region *region, const ac_target *t, const ac_loop_fn *fn, ac_x loop, ac_rows *r);
/* The operands of the call that are values: at most AC_ROWS_VALUES; their number. */
enum { AC_ROWS_VALUES = 10 + 4 * AC_ROWS_TERMS };
int32_t ac_rows_values(const ac_rows *r, ac_x *value);

/* rows_asm.c. The body of a naked function f(x, w, y, args): args are words: m, number, the second pixel's place (or
 * the first's, if the second pixel does not exist), steps, channels, bias, shift. */
const char *ac_rows_asm(ac_ctx *cx, const ac_rows_form *f);
const char *ac_rows_name(ac_ctx *cx, const ac_rows_form *f); /* "rows_2x4_17" */
enum { AC_ROWS_WORDS = 7 };
/* The stack of a function of the generated code that is assembly alone, from its name; 0: of any other function.
 * Compilers report no frame for it. */
ac_bytes ac_naked_stack(const char *function);

#endif
