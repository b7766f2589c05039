/* pieces.h - turns loops marked apart into separate functions, called in place of the loop.
 *
 *     before   for tick .. { if (..) { for 0 .. 1 apart { conv: x -> rows } } else { for 0 .. 1 apart { .. } } }
 *     after    piece: { conv: x -> rows }        outer: for tick .. { if (..) { at[0] = next; piece } else { .. } }
 *
 * A function of many bodies (strip.h) is too large for a compiler of firmware: it keeps values derived from all bodies'
 * addresses in one frame, and spills in the inner loops. Printers of firmware print the pieces as functions.
 *
 * In `outer` such a loop is empty and represents a call of the next piece in order. The parameters of a piece are the
 * buffers that it uses and, last, the values from outside if it needs any: i32 values, which `outer` stores in a local
 * array before the call. A loop whose body needs more than that (it sets a variable of outside, or uses an array on the
 * stack that others use, or other types) is not turned into a piece.
 *
 *     const ac_pieces p = ac_loop_pieces(cx, region, fn);        p.n: 0, and p.outer is fn, if no loop is marked
 *
 * Cost: linear for each piece. Memory: the region given. */
#ifndef AC_IR_LOOP_PIECES_H
#define AC_IR_LOOP_PIECES_H
#include "ir/loop/loop.h"

typedef struct ac_piece {
    const ac_loop_fn *fn;
    int32_t *buf; /* by its parameter: buffer of outer */
    int32_t like; /* the first piece with this function; its own index if it is the first one */
} ac_piece;

typedef struct ac_pieces {
    const ac_loop_fn *outer;
    ac_piece *item;
    int32_t n;
} ac_pieces;

ac_pieces ac_loop_pieces(ac_ctx *cx, ac_region *region, const ac_loop_fn *fn);
/* True if instruction x of outer is the call of a piece. Its END is the next instruction. */
static inline bool ac_is_piece(const ac_loop_fn *outer, ac_x x)
{
    return outer->code.item[x].op == AC_L_FOR && outer->code.item[x].aux == AC_MARK_APART;
}

#endif
