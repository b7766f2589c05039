/* nests.h - loops marked nest: with the TILE and the REQUANT inside, they are all of a product, which a processor may
 * have one function for (codegen/mve_nests.h). Others run them as loops.
 *
 *     ROWS    for p in 0 .. n by rows, nest
 *               for oc in 0 .. channels by 8
 *                 tile bytes rows x 8:  x at + p * steps * 16;  w the next eight channels
 *                 requant 8, of each row:  y at + p * channels + oc;  bias, and m or the same m, in order
 *     SPOTS   for i in 0 .. n, nest
 *               for j in 0 .. m
 *                 tile each 1 x 4, depth 16:  x at + i * x_outer + j * shift;  the same w
 *                 requant 4:  y at + i * y_outer + j * y_inner;  the same bias and m
 *     SUMS    for i in 0 .. n, nest, n a multiple of 8
 *               y[i] = satcast((a[i] * ma + b[i] * mb + c) >> post), bytes
 *
 * The outer loop may have lost its mark, and count by one: stripes run it as columns (access/part.h).
 *
 * Results are not clamped within i8. Weights and constants of ROWS are read in order. The lowering promises all that;
 * ac_nest_find looks at the form, and finds the values that the first iteration uses. */
#ifndef AC_CODEGEN_NESTS_H
#define AC_CODEGEN_NESTS_H
#include "ir/loop/loop.h"
#include "ir/loop/requants.h"
#include "ir/loop/tiles.h"

/* Values that a nest needs: sums of values from before it, and constants. */
typedef enum ac_nest_arg {
    AC_NEST_X, /* elements of buffers, in the first iteration; SUMS: of a, b and y */
    AC_NEST_W,
    AC_NEST_M,
    AC_NEST_BIAS,
    AC_NEST_Y,
    AC_NEST_Y_NEXT,  /* ROWS: of the second row */
    AC_NEST_OUTER,   /* ends of the loops */
    AC_NEST_INNER,   /* SUMS: n */
    AC_NEST_STEPS,   /* ROWS */
    AC_NEST_X_OUTER, /* SPOTS, and the next two */
    AC_NEST_Y_OUTER,
    AC_NEST_Y_INNER,
    AC_NEST_ARGS
} ac_nest_arg;

enum { AC_NEST_TERMS = 4 };
/* Instructions, added; negative: subtracted. 0 ends. Without any the value is 0; that of a growth of SPOTS is 1. */
typedef struct ac_nest_value {
    ac_x term[AC_NEST_TERMS + 1];
} ac_nest_value;

typedef enum ac_nest_form { AC_NEST_ROWS, AC_NEST_SPOTS, AC_NEST_SUMS } ac_nest_form;

/* SUMS: buffers and numbers. */
typedef struct ac_nest_sum {
    int32_t a, b, y;
    int64_t ma, mb, c, post;
} ac_nest_sum;

typedef struct ac_nest {
    ac_nest_form form;
    ac_x end; /* the END of the outer loop */
    ac_tile tile;
    ac_requants q; /* of the first row */
    bool shared;   /* ROWS: all channels have the same m */
    bool turns;    /* ROWS: p counts turns, not pixels */
    ac_nest_sum sum;
    ac_nest_value arg[AC_NEST_ARGS];
} ac_nest;

static inline bool ac_is_nest(const ac_loop_fn *fn, ac_x x)
{
    return fn->code.item[x].op == AC_L_FOR && fn->code.item[x].aux == AC_MARK_NEST;
}
/* The nest that begins at instruction x; false: x does not begin one of these forms. */
bool ac_nest_find(const ac_loop_fn *fn, ac_x x, ac_nest *n);

#endif
